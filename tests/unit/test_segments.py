"""The segment table: who is in which line, values equal to evaluate's, gaps, shares of errors, small groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.evaluate import evaluate, make_tables, per_user
from recmetrics.results import MetricValue, Report
from recmetrics.segments import Group, SegmentTable, segment_metrics, segment_table
from tests import build

N_USERS, N_ITEMS = 60, 12
METRICS = (
    "roc_auc",
    "gauc",
    "precision",
    "recall",
    "f_beta",
    "log_loss",
    "brier",
    "ndcg@3",
    "precision@3",
    "recall@3",
    "hit_rate@3",
    "mrr@3",
    "map@3",
)


def log(seed: int = 0) -> Dataset:
    """60 users × 12 rows; `city` divides users, `hour` divides rows; two users have no city."""
    rng = np.random.default_rng(seed)
    rows, city, hour = [], [], []
    for user in range(N_USERS):
        home = None if user >= 58 else ("north", "south", "west")[user % 3]
        for item in range(N_ITEMS):
            score = round(float(rng.random()), 2)
            luck = 0.5 if home == "south" else 0.9
            label = int(rng.random() < (score if rng.random() < luck else 0.4))
            rows.append((f"u{user}", f"i{item}", label, score))
            city.append(home)
            hour.append("day" if item % 2 else "night")
    return build.dataset(rows, segments={"city": city, "hour": hour})


DATA = log()


def named(table: SegmentTable, label: str, kind: str = "value") -> Group:
    return next(group for group in table.groups if (group.kind, group.label) == (kind, label))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("column", ["city", "hour"])
def test_every_value_and_interval_is_the_one_of_evaluate(metric: str, column: str) -> None:
    config = EvalConfig()
    table = segment_table(DATA, column, metric, config)
    report = evaluate(DATA, config, metrics=[metric], by=column)
    for group in (table.overall, *table.groups):
        expected = report.find(metric, segment=None if group.kind == "all" else (column, group.label))
        assert group.value == pytest.approx(expected.value, abs=1e-12)
        if expected.low is not None:
            assert (group.low, group.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "fields"),
    [
        ("log_loss", {"log_loss_clip": 0.2}),
        ("f_beta", {"beta": 2.0}),
        ("recall", {"threshold": 0.3, "threshold_rule": "gt"}),
        ("gauc", {"gauc_weight": "positives"}),
        ("ndcg@3", {"gain": "binary", "discount": "max2"}),
        ("precision@3", {"precision_denominator": "min_r_k", "ties": "worst"}),
    ],
)
def test_the_convention_reaches_every_group_and_the_name_of_the_metric(metric: str, fields: dict[str, Any]) -> None:
    config = EvalConfig(**fields)
    table = segment_table(DATA, "hour", metric, config)
    report = evaluate(DATA, config, metrics=[metric], by="hour")
    for group, expected in zip((table.overall, *table.groups), by_group(report, table), strict=True):
        assert table.metric == expected.metric
        assert group.value == pytest.approx(expected.value, abs=1e-12)


def by_group(report: Report, table: SegmentTable) -> list[MetricValue]:
    """Return evaluate's values in the order of the lines of the table."""
    whole, *groups = report.values
    named_groups = {value.segment[1]: value for value in groups if value.segment is not None}
    return [whole, *(named_groups[group.label] for group in table.groups)]


@pytest.mark.parametrize("metric", ["roc_auc", "recall", "ndcg@3", "gauc"])
@pytest.mark.parametrize(("column", "label"), [("city", "south"), ("hour", "day")])
def test_the_gap_is_the_distance_to_all_other_rows(metric: str, column: str, label: str) -> None:
    group = named(segment_table(DATA, column, metric, EvalConfig(), min_class=1), label)
    segment = DATA.segments[column]
    others = DATA.where(segment.codes != segment.labels.index(label))
    rest = evaluate(others, EvalConfig(), metrics=[metric]).values[0].value
    assert group.gap.value == pytest.approx(group.value - rest, abs=1e-12)


def test_the_gap_of_a_mean_over_users_of_a_user_segment_is_welchs() -> None:
    tables = make_tables(DATA, EvalConfig(), "score")
    values = per_user(tables, EvalConfig(), "recall@3").values
    south = np.array([int(user[1:]) < 58 and int(user[1:]) % 3 == 1 for user in DATA.users])
    known = ~np.isnan(values)
    expected = stats.ttest_ind(values[south & known], values[~south & known], equal_var=False)
    gap = named(segment_table(DATA, "city", "recall@3", EvalConfig(), min_class=1), "south").gap
    assert gap.p == pytest.approx(expected.pvalue, abs=1e-9)
    assert (gap.low, gap.high) == pytest.approx(tuple(expected.confidence_interval(0.95)), abs=1e-9)


def test_a_missing_entry_is_a_group_of_its_own() -> None:
    group = named(segment_table(DATA, "city", "roc_auc", EvalConfig()), "", "missing")
    assert (group.n_rows, group.n_users) == (2 * N_ITEMS, 2)


def test_counts_shares_and_base_rates_add_up_to_the_overall_row() -> None:
    table = segment_table(DATA, "city", "roc_auc", EvalConfig())
    for name in ("n_rows", "n_positives", "n_negatives", "n_users", "share_rows", "share_errors"):
        total = sum(getattr(group, name) for group in table.groups)
        assert total == pytest.approx(getattr(table.overall, name))
    assert table.overall.base_rate == table.overall.n_positives / table.overall.n_rows
    assert (table.overall.share_rows, table.overall.share_errors) == (1.0, 1.0)


def test_small_groups_are_shown_and_never_judged() -> None:
    table = segment_table(DATA, "city", "roc_auc", EvalConfig())
    small = named(table, "", "missing")
    assert small.small
    assert small.value is not None
    assert (small.gap.value, small.gap.p, small.p_adjusted) == (None, None, None)
    assert table.n_small == 1
    assert segment_table(DATA, "city", "roc_auc", EvalConfig(), min_class=1).n_small == 0


def test_a_metric_over_users_also_needs_enough_users() -> None:
    # Each of the three cities has 19 or 20 users and far more than 30 positives and negatives.
    assert all(group.small for group in segment_table(DATA, "city", "recall@3", EvalConfig()).groups)
    assert not named(segment_table(DATA, "city", "roc_auc", EvalConfig()), "north").small


def test_p_values_are_adjusted_for_the_groups_judged() -> None:
    table = segment_table(DATA, "city", "roc_auc", EvalConfig())
    judged = sorted((group.gap.p, group.p_adjusted) for group in table.groups if not group.small)
    running = 0.0
    for rank, (p, adjusted) in enumerate(judged):
        running = max(running, min(1.0, (3 - rank) * p))
        assert adjusted == pytest.approx(running)


def test_one_class_in_a_group_leaves_a_reason_and_no_gap() -> None:
    rows = [("u", "a", 1, 0.9), ("u", "b", 0, 0.2), ("v", "a", 0, 0.5), ("v", "b", 0, 0.1)]
    table = segment_table(build.dataset(rows, segments={"g": ["x", "x", "y", "y"]}), "g", "roc_auc", EvalConfig())
    group = named(table, "y")
    assert (group.value, group.undefined, group.gap.value) == (None, "no positives", None)
    # The rest of x has no AUC either.
    assert named(table, "x").gap.value is None


def test_of_more_than_fifty_values_the_largest_stay_and_the_others_are_one_group() -> None:
    sizes = [3] * 50 + [1] * 4
    cells = [f"v{i}" for i, n in enumerate(sizes) for _ in range(n)]
    rows = [(f"u{i}", "a", i % 2, float(i)) for i in range(len(cells))]
    table = segment_table(build.dataset(rows, segments={"g": cells}), "g", "roc_auc", EvalConfig())
    other = named(table, "", "other")
    assert (len(table.groups), other.n_values, other.n_rows, table.n_values) == (51, 4, 4, 54)


def test_errors_are_lost_order_for_auc_wrong_flags_at_a_threshold_and_loss_for_log_loss() -> None:
    # Positives .9 and .3, negatives .5 and .2. AUC 3/4: the one lost pair belongs to .3 in y. At ≥ .5 the wrong ones
    # are .5 (x) and .3 (y). Log loss: −ln .9, −ln .5 in x; −ln .3, −ln .8 in y.
    rows = [("u", "a", 1, 0.9), ("u", "b", 0, 0.5), ("v", "a", 1, 0.3), ("v", "b", 0, 0.2)]
    data = build.dataset(rows, segments={"g": ["x", "x", "y", "y"]})
    found = {
        metric: (table.errors, named(table, "x").share_errors)
        for metric in ("roc_auc", "precision", "log_loss", "brier")
        for table in [segment_table(data, "g", metric, EvalConfig())]
    }
    losses = -np.log([0.9, 0.5, 0.3, 0.8])
    squares = np.array([0.1, 0.5, 0.7, 0.2]) ** 2
    assert found["roc_auc"] == ("order", 0.0)
    assert found["precision"] == ("flags", 0.5)
    assert found["log_loss"] == ("loss", pytest.approx(losses[:2].sum() / losses.sum()))
    assert found["brier"] == ("loss", pytest.approx(squares[:2].sum() / squares.sum()))
    chosen = segment_table(data, "g", "roc_auc", EvalConfig(), errors_at_threshold=True)
    assert (chosen.errors, named(chosen, "x").share_errors) == ("flags", 0.5)


def test_a_float32_score_is_not_lifted_onto_the_threshold() -> None:
    # float32(.7) is .69999999, below .7 (as `confusion_at` has it), although NumPy would call float32(.7) >= .7 true.
    rows = [("u", "a", 1, 0.7), ("u", "b", 1, 0.9)]
    data = build.dataset(rows, segments={"g": ["x", "x"]}, dtype=np.float32)
    table = segment_table(data, "g", "recall", EvalConfig(threshold=0.7))
    assert table.overall.value == 0.5


def test_the_weakest_group_is_the_furthest_on_the_bad_side() -> None:
    assert segment_table(DATA, "city", "roc_auc", EvalConfig()).weakest.label == "south"
    loss = segment_table(DATA, "city", "log_loss", EvalConfig())
    assert not loss.higher_is_better
    assert loss.weakest.gap.value == max(group.gap.value for group in loss.groups if not group.small)


def test_scores_that_are_no_probabilities_have_no_log_loss() -> None:
    data = replace(DATA, scores={"score": DATA.scores["score"] * 3}, fingerprint="")
    table = segment_table(data, "city", "log_loss", EvalConfig())
    assert {group.undefined for group in (table.overall, *table.groups)} == {"outside 0..1"}
    assert table.weakest is None


def test_rows_that_a_model_did_not_score_are_in_no_group() -> None:
    rows = [("u", "a", 1, 0.9), ("u", "b", 0, 0.5), ("v", "a", 1, 0.3), ("v", "b", 0, 0.2)]
    held = [True, True, False, False]
    data = build.dataset(rows, segments={"g": ["x", "x", "y", "y"]}, scored={"score": held})
    table = segment_table(data, "g", "roc_auc", EvalConfig())
    assert [group.label for group in table.groups] == ["x"]
    assert table.overall.n_rows == 2


def test_rows_without_a_label_are_listed_and_not_measured() -> None:
    rows = [("u", "a", 1, 0.9), ("u", "b", None, 0.95), ("u", "c", 0, 0.5)]
    table = segment_table(build.dataset(rows, segments={"g": ["x"] * 3}), "g", "roc_auc", EvalConfig())
    assert (table.overall.n_rows, table.overall.n_positives, table.overall.n_negatives) == (3, 1, 1)
    assert table.overall.value == 1.0


def test_unscored_relevant_items_go_with_their_user() -> None:
    # u finds 1 of 2 relevant items, v its only one.
    rows = [("u", "a", 1, 0.9), ("u", "b", 0, 0.5), ("v", "a", 1, 0.3)]
    truth = [("u", "a", 1), ("u", "z", 1), ("v", "a", 1)]
    data = build.dataset(rows, truth=truth, segments={"g": ["x", "x", "y"]})
    table = segment_table(data, "g", "recall@2", EvalConfig())
    assert (table.overall.value, named(table, "x").value, named(table, "y").value) == (0.75, 0.5, 1.0)


def test_metrics_over_users_are_offered_with_users_only() -> None:
    assert segment_metrics(DATA, EvalConfig(), 7)["ndcg@k"] == "ndcg@7"
    assert segment_metrics(DATA, EvalConfig(threshold=0.3), 7)["recall"] == "recall[threshold=0.3]"
    without = replace(DATA, user=None, fingerprint="")
    assert not any("@" in metric or metric == "gauc" for metric in segment_metrics(without, EvalConfig(), 7))


def test_without_users_each_row_stands_for_itself() -> None:
    without = replace(DATA, user=None, fingerprint="")
    group = named(segment_table(without, "city", "recall", EvalConfig()), "south")
    assert group.n_users is None
    hit = (DATA.label == 1) & (DATA.scores["score"] >= 0.5) & (DATA.segments["city"].codes == 1)
    n = group.n_positives
    value = hit.sum() / n
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt(value * (1 - value) / (n - 1))
    assert (group.low, group.high) == pytest.approx((value - reach, value + reach), abs=1e-9)


def test_the_threshold_turns_with_the_direction_of_the_score() -> None:
    # Lower is better: ≤ .5 is flagged, which is the positive .2 and the negative .5.
    rows = [("u", "a", 1, 0.2), ("u", "b", 0, 0.5), ("v", "a", 1, 0.8), ("v", "b", 0, 0.9)]
    data = build.dataset(rows, segments={"g": ["x", "x", "y", "y"]})
    table = segment_table(data, "g", "precision", EvalConfig(score_direction="lower"))
    assert (table.overall.value, named(table, "x").value, named(table, "y").undefined) == (
        0.5,
        0.5,
        "no predicted positives",
    )
