"""One point asked for in six ways: each way finds the point that its definition names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.engines.numpy_engine import NumpyEngine
from recmetrics.metrics.classification import accuracy_of, f_beta_of, mcc_of
from recmetrics.metrics.confusion import Confusion
from recmetrics.operating_point import (
    COST_RATIOS,
    MODES,
    PRESETS,
    Mode,
    PositionTable,
    default_choice,
    ladder,
    position_table,
    preset,
    solve,
    value_in,
)
from recmetrics.tables import ScoreTable
from tests.build import dataset

# metrics.md §6.1, R10: ten rows A…J.
LABELS = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
SCORES = [0.90, 0.80, 0.75, 0.68, 0.55, 0.50, 0.42, 0.35, 0.20, 0.10]


def scores_of(labels: Iterable[float], scores: Sequence[float]) -> ScoreTable:
    rows = [(None, None, label, None) for label in labels]
    return NumpyEngine().score_table(dataset(rows, scores={"score": scores}), EvalConfig(), "score")


def table(labels: Iterable[float] = LABELS, scores: Sequence[float] = SCORES, **options: Any) -> PositionTable:
    return position_table(scores_of(labels, scores), **options)


def thousand_candidates() -> PositionTable:
    """R9: the first 20/50/100/300 of 1,000 rows hold 12/20/26/30 of the 30 positives; five plateaus of equal scores."""
    labels: list[int] = []
    scores: list[float] = []
    for tp, fp, score in ((12, 8, 0.8), (8, 22, 0.6), (6, 44, 0.4), (4, 196, 0.2), (0, 700, 0.1)):
        labels += [1] * tp + [0] * fp
        scores += [score] * (tp + fp)
    return table(labels, scores)


def lists(*users: Sequence[tuple[int, float]]) -> PositionTable:
    """One list per user of (label, score)."""
    rows = [(f"u{u}", f"i{i}", label, score) for u, user in enumerate(users) for i, (label, score) in enumerate(user)]
    data, config, engine = dataset(rows), EvalConfig(), NumpyEngine()
    hits = engine.hit_table(data, config, "score", labelled_only=True)
    return position_table(engine.score_table(data, config, "score"), hits)


def random_table(decimals: int | None, seed: int = 5, n: int = 3_000) -> tuple[PositionTable, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.15).astype(float)
    scores = 1 / (1 + np.exp(-rng.normal(size=n) - 1.2 * labels))
    scores = scores if decimals is None else scores.round(decimals)
    return table(labels, list(scores)), labels, scores


def all_confusions(labels: np.ndarray, scores: np.ndarray) -> list[tuple[float, Confusion]]:
    """Brute force: the counts at every distinct score, highest first."""
    found = []
    for t in np.unique(scores)[::-1]:
        flagged = scores >= t
        tp, fp = int(labels[flagged].sum()), int((1 - labels[flagged]).sum())
        n_positives = int(labels.sum())
        found.append((float(t), Confusion(tp, fp, n_positives - tp, len(labels) - n_positives - fp)))
    return found


# Score


def test_at_one_half_the_ten_rows_give_the_matrix_of_the_handbook_with_row_f_flagged() -> None:
    # R12: `>=` TP4 FP2 FN1 TN3, P .6667 R .8 F1 .7273 accuracy .7 MCC .4082; `>` 3 2 2 3, P = R = F1 = .6.
    point = solve(table(), "score", 0.5)
    assert point.confusion == Confusion(4, 2, 1, 3)
    assert (point.threshold, point.share) == (0.5, 0.6)
    assert (point.precision.value, point.recall.value) == (4 / 6, 4 / 5)
    assert f_beta_of(point.confusion, 1).value == pytest.approx(8 / 11, abs=1e-12)
    assert accuracy_of(point.confusion).value == 0.7
    assert mcc_of(point.confusion).value == pytest.approx(0.4082, abs=5e-5)
    assert point.n_on_threshold == 1
    assert point.other_rule == Confusion(3, 2, 2, 3)


def test_under_the_other_sign_the_same_two_matrices_change_places() -> None:
    point = solve(table(rule="gt"), "score", 0.5)
    assert point.confusion == Confusion(3, 2, 2, 3)
    assert point.other_rule == Confusion(4, 2, 1, 3)
    assert point.n_on_threshold == 1


def test_a_threshold_between_two_scores_has_no_row_on_it() -> None:
    point = solve(table(), "score", 0.6)
    assert point.confusion == Confusion(3, 1, 2, 4)
    assert point.n_on_threshold == 0
    assert point.other_rule == point.confusion


def test_above_every_score_nothing_is_flagged_and_precision_has_its_reason() -> None:
    point = solve(table(), "score", 2.0)
    assert point.confusion == Confusion(0, 0, 5, 5)
    assert point.precision.undefined == "no predicted positives"
    assert point.k_equivalent is None


def test_a_file_of_clicks_all_predicted_negative_has_accuracy_at_its_baseline() -> None:
    # R7: 1,000 exposures, 20 clicks: accuracy .98 = baseline, difference 0; recall 0.
    clicks = table([1] * 20 + [0] * 980, [0.1] * 1_000)
    point = solve(clicks, "score", 0.5)
    accuracy = accuracy_of(point.confusion)
    assert accuracy.value == 0.98
    assert accuracy.extra["over_majority"] == 0
    assert point.recall.value == 0


# Share


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.02, Confusion(12, 8, 18, 962)), (0.05, Confusion(20, 30, 10, 940)), (0.1, Confusion(26, 74, 4, 896))],
)
def test_a_share_of_the_thousand_candidates_cuts_at_the_end_of_its_plateau(share: float, expected: Confusion) -> None:
    # R9: P .60 .40 .26, R .40 .6667 .8667 at the first 20, 50, 100.
    assert solve(thousand_candidates(), "share", share).confusion == expected


def test_all_rows_tied_with_the_last_one_of_a_share_are_flagged_and_both_shares_are_told() -> None:
    # 3 % of 1,000 rows is the 30th, which stands among the 30 rows at .6: 20 + 30 rows are flagged.
    point = solve(thousand_candidates(), "share", 0.03)
    assert (point.value, point.share, point.threshold) == (0.03, 0.05, 0.6)


@pytest.mark.parametrize("decimals", [2, None])
def test_a_share_gives_the_score_at_that_rank(decimals: int | None) -> None:
    positions, _, scores = random_table(decimals)
    for rank in (1, 2, 77, 1_500, 3_000):
        assert solve(positions, "share", rank / 3_000).threshold == np.sort(scores)[::-1][rank - 1]


# Precision


def test_a_target_precision_takes_the_most_recall_among_the_thresholds_that_reach_it() -> None:
    # Precision down the ten rows: 1 1 .667 .75 .6 .667 .571 .625 .556 .5. At least .65 holds last at .50 (4/6).
    point = solve(table(), "precision", 0.65)
    assert (point.threshold, point.reached) == (0.5, True)
    assert point.confusion == Confusion(4, 2, 1, 3)
    # .7 fails at .75 (2/3) but holds again at .68 (3/4).
    assert solve(table(), "precision", 0.7).threshold == 0.68


def test_a_precision_out_of_reach_says_so_and_stands_at_the_best_there_is() -> None:
    point = solve(thousand_candidates(), "precision", 0.9)
    assert not point.reached
    assert point.precision.value == 12 / 20
    assert point.threshold == 0.8


@pytest.mark.parametrize("decimals", [2, None])
@pytest.mark.parametrize("target", [0.1, 0.2, 0.3, 0.5])
def test_target_precision_agrees_with_a_search_over_every_threshold(decimals: int | None, target: float) -> None:
    positions, labels, scores = random_table(decimals)
    reaching = [(c.tp, t) for t, c in all_confusions(labels, scores) if c.tp / c.flagged >= target]
    most = max(tp for tp, _ in reaching)
    point = solve(positions, "precision", target)
    assert point.confusion.tp == most
    # Of equal recall the highest threshold flags the fewest negatives.
    assert point.threshold == max(t for tp, t in reaching if tp == most)


# Recall


@pytest.mark.parametrize(("target", "threshold"), [(0.2, 0.9), (0.21, 0.8), (0.8, 0.5), (0.81, 0.35), (1.0, 0.35)])
def test_a_target_recall_takes_the_highest_threshold_that_reaches_it(target: float, threshold: float) -> None:
    point = solve(table(), "recall", target)
    assert point.threshold == threshold
    assert (point.recall.value or 0) >= target


# Cost


@pytest.mark.parametrize("decimals", [1, 2, None])
@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 10.0])
def test_the_cost_mode_finds_the_least_cost_of_all_thresholds_and_of_flagging_nothing(
    decimals: int | None, ratio: float
) -> None:
    positions, labels, scores = random_table(decimals)
    choices = [(math.inf, Confusion(0, 0, int(labels.sum()), 0)), *all_confusions(labels, scores)]
    least = min(c.fp * ratio + c.fn for _, c in choices)
    point = solve(positions, "cost", ratio)
    assert point.confusion.fp * ratio + point.confusion.fn == pytest.approx(least, abs=1e-9)
    assert point.threshold == max(t for t, c in choices if c.fp * ratio + c.fn <= least + 1e-9)


def test_equal_costs_go_to_the_higher_threshold() -> None:
    # One positive at .9, then one positive and one negative at .5: at 1 : 1 both cost 1.
    point = solve(table([1, 1, 0], [0.9, 0.5, 0.5]), "cost", 1.0)
    assert (point.threshold, point.confusion) == (0.9, Confusion(1, 0, 1, 1))


def test_when_false_alarms_cost_too_much_the_cheapest_is_to_flag_nothing() -> None:
    point = solve(table([0, 1], [0.9, 0.5]), "cost", 2.0)
    assert point.threshold == math.inf
    assert point.confusion.flagged == 0


def test_the_range_of_ratios_shown_for_a_point_is_the_range_that_picks_it() -> None:
    positions, _, _ = random_table(None)
    for ratio in COST_RATIOS:
        point = solve(positions, "cost", ratio)
        assert point.is_cheapest
        assert point.cost_low is not None
        assert point.cost_high is not None
        assert point.cost_low <= ratio < point.cost_high
        if point.cost_low > 0:
            assert solve(positions, "cost", point.cost_low).confusion == point.confusion
            assert solve(positions, "cost", point.cost_low * 0.999).confusion != point.confusion


def test_a_point_that_no_ratio_picks_carries_the_ratio_at_which_its_neighbours_are_cheapest() -> None:
    # Two negatives at .75 and .55 keep .75 off the hull: from (0, 2) the hull rises 2 positives for 2 negatives.
    point = solve(table(), "score", 0.75)
    assert not point.is_cheapest
    assert point.cost_low == point.cost_high == pytest.approx(1.0)


# Top K


def test_top_k_flags_the_first_k_of_every_user_and_counts_short_lists() -> None:
    three = [(1, 0.9), (0, 0.8), (1, 0.1)]
    positions = lists(three, [(0, 0.95)], [(1, 0.5), (0, 0.4)])
    point = solve(positions, "topk", 2)
    # First two of three, one of one, two of two: 5 flagged, hits at ranks 1 and 1; the positive at rank 3 is missed.
    assert point.confusion == Confusion(2, 3, 1, 0)
    assert point.threshold is None
    assert point.n_short_lists == 1
    assert solve(positions, "topk", 9).confusion == Confusion(3, 3, 0, 0)
    assert solve(positions, "topk", 9).n_short_lists == 3


def test_top_k_counts_the_expected_hits_of_a_tie() -> None:
    # One relevant among 4 items at .5: each is among the first 2 in half of the orders (app.md §3.2, ties).
    point = solve(lists([(1, 0.5), (0, 0.5), (0, 0.5), (0, 0.5)]), "topk", 2)
    assert point.confusion == Confusion(0.5, 1.5, 0.5, 1.5)
    assert point.precision.value == 0.25


def test_top_k_equals_the_sum_over_users_of_their_first_k_rows() -> None:
    rng = np.random.default_rng(2)
    users = [list(zip(rng.integers(0, 2, n), rng.permutation(n) / n, strict=True)) for n in (1, 4, 7, 30)]
    positions = lists(*users)
    for k in (1, 3, 5, 29, 30):
        first = [sorted(user, key=lambda row: -row[1])[:k] for user in users]
        point = solve(positions, "topk", k)
        assert point.confusion.flagged == sum(min(k, len(user)) for user in users)
        assert point.confusion.tp == sum(label for user in first for label, _ in user)


def test_a_threshold_is_told_with_the_k_that_flags_about_as_many_rows() -> None:
    # Three lists of two: K = 1 flags 3 rows, K = 2 all 6.
    positions = lists(*[[(1, 0.9), (0, 0.1)]] * 3)
    assert solve(positions, "score", 0.5).k_equivalent == 1
    assert solve(positions, "score", 0.0).k_equivalent == 2


def test_without_users_there_is_no_top_k_and_its_ladder_is_empty() -> None:
    assert len(ladder(table(), "topk")) == 0
    assert solve(table(), "score", 0.5).k_equivalent is None
    with pytest.raises(ValueError, match="users"):
        solve(table(), "topk", 3)


# Ladders


@pytest.mark.parametrize("decimals", [1, 3, None])
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "topk"])
def test_every_value_of_a_ladder_is_met_exactly_by_its_point(decimals: int | None, mode: Mode) -> None:
    positions, _, _ = random_table(decimals)
    values = ladder(positions, mode)
    assert 0 < len(values) <= 1_000
    assert (np.diff(values) > 0).all()
    for value in values[:: max(len(values) // 60, 1)]:
        point = solve(positions, mode, float(value))
        assert point.reached
        shown = {
            "score": point.threshold,
            "share": point.share,
            "precision": point.precision.value,
            "recall": point.recall.value,
            "cost": point.value,
        }
        assert shown[mode] == value


def test_the_ladder_of_scores_holds_real_scores_with_both_ends() -> None:
    positions, _, scores = random_table(None)
    values = ladder(positions, "score")
    assert np.isin(values, scores).all()
    assert (values[0], values[-1]) == (scores.min(), scores.max())


def test_the_ladder_of_k_is_every_k_for_usual_lists() -> None:
    assert ladder(lists([(1, float(s)) for s in range(20)]), "topk").tolist() == list(range(1, 21))


# From one mode to another


@pytest.mark.parametrize("decimals", [1, None])
@pytest.mark.parametrize("mode", ["score", "share", "recall"])
def test_changing_the_mode_keeps_the_point_where_the_mode_can_name_it(decimals: int | None, mode: Mode) -> None:
    positions, _, scores = random_table(decimals)
    for threshold in np.quantile(scores, [0.05, 0.5, 0.9, 0.99]):
        point = solve(positions, "score", float(threshold))
        again = solve(positions, mode, value_in(positions, point, mode))
        assert again.confusion.tp == point.confusion.tp
        if mode != "recall":
            assert again.confusion == point.confusion


def test_changing_to_precision_keeps_it_and_may_find_more_recall() -> None:
    positions, _, _ = random_table(None)
    point = solve(positions, "score", 0.8)
    again = solve(positions, "precision", value_in(positions, point, "precision"))
    assert again.confusion.tp >= point.confusion.tp
    assert (again.precision.value or 0) >= (point.precision.value or 0)


def test_changing_to_cost_and_back_keeps_a_cheapest_point() -> None:
    positions, _, _ = random_table(None)
    point = solve(positions, "cost", 0.3)
    assert solve(positions, "cost", value_in(positions, point, "cost")).confusion == point.confusion


def test_leaving_top_k_keeps_the_number_of_flagged_rows() -> None:
    positions = lists(*[[(1, 0.9 + u / 100), (0, 0.5 + u / 100), (0, 0.1 + u / 100)] for u in range(4)])
    point = solve(positions, "topk", 2)
    assert solve(positions, "score", value_in(positions, point, "score")).confusion.flagged == 8
    assert value_in(positions, point, "topk") == 2


def test_leaving_a_point_that_flags_nothing_lands_on_the_highest_score() -> None:
    positions = table([0, 1], [0.9, 0.5])
    nothing = solve(positions, "cost", 5.0)
    assert value_in(positions, nothing, "score") == 0.9
    assert value_in(positions, nothing, "share") == 0.5
    assert value_in(positions, nothing, "precision") == 0


@pytest.mark.parametrize("mode", ["score", "share", "precision", "recall", "cost"])
@pytest.mark.parametrize("labels", [[1, 1], [0, 0], []])
def test_every_mode_has_a_value_to_start_from_on_poor_data(mode: Mode, labels: list[int]) -> None:
    positions = table(labels, [0.2, 0.9][: len(labels)])
    for start in ("score", "cost"):
        assert math.isfinite(value_in(positions, solve(positions, start, 0.5), mode))


# Presets and default


@pytest.mark.parametrize("decimals", [2, None])
@pytest.mark.parametrize(("name", "beta"), [("max_f1", 1.0), ("max_f05", 0.5), ("max_f2", 2.0)])
def test_the_f_presets_find_the_largest_f_of_all_thresholds(decimals: int | None, name: str, beta: float) -> None:
    positions, labels, scores = random_table(decimals)
    best = max(f_beta_of(c, beta).value or 0 for _, c in all_confusions(labels, scores))
    point = preset(positions, name)
    assert point is not None
    assert f_beta_of(point.confusion, beta).value == pytest.approx(best, abs=1e-12)
    assert (point.mode, point.value) == ("score", point.threshold)


@pytest.mark.parametrize("decimals", [2, None])
def test_youden_finds_the_largest_distance_from_the_diagonal(decimals: int | None) -> None:
    positions, labels, scores = random_table(decimals)
    n_positives, n_negatives = labels.sum(), (1 - labels).sum()
    best = max(c.tp / n_positives - c.fp / n_negatives for _, c in all_confusions(labels, scores))
    point = preset(positions, "youden")
    assert point is not None
    assert point.confusion.tp / n_positives - point.confusion.fp / n_negatives == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("decimals", [1, 2, None])
def test_break_even_flags_as_many_rows_as_there_are_positives_or_as_near_as_ties_allow(decimals: int | None) -> None:
    positions, labels, scores = random_table(decimals)
    nearest = min(abs(c.flagged - labels.sum()) for _, c in all_confusions(labels, scores))
    point = preset(positions, "break_even")
    assert point is not None
    assert abs(point.confusion.flagged - labels.sum()) == nearest
    if nearest == 0:
        assert point.precision.value == point.recall.value


def test_break_even_of_the_ten_rows_is_at_55_where_precision_and_recall_are_60() -> None:
    # app.md §3.2 `p-equals-r`: at ≥ .55 TP 3, FP 2, FN 2.
    point = preset(table(), "break_even")
    assert point is not None
    assert (point.threshold, point.confusion) == (0.55, Confusion(3, 2, 2, 3))


@pytest.mark.parametrize(("labels", "missing"), [([1, 1], {"youden"}), ([0, 0], set(PRESETS)), ([], set(PRESETS))])
def test_with_one_class_presets_that_need_the_other_are_not_offered(labels: list[int], missing: set[str]) -> None:
    positions = table(labels, [0.1, 0.2][: len(labels)])
    assert {name for name in PRESETS if preset(positions, name) is None} == missing


def test_the_default_is_one_half_for_scores_around_it_and_five_percent_otherwise() -> None:
    assert default_choice(table()) == ("score", 0.5)
    assert default_choice(table([1, 0], [3.0, 7.0])) == ("share", 0.05)
    # One row in 200 above ½ is less than 1 %.
    assert default_choice(table([1] + [0] * 199, [0.9] + [0.1] * 199)) == ("share", 0.05)
    assert default_choice(table([], [])) == ("share", 0.05)


# Edges


@pytest.mark.parametrize(
    "options", [{}, {"rule": "gt"}, {"lower_is_better": True}, {"rule": "gt", "lower_is_better": True}]
)
@pytest.mark.parametrize("score", [0.3, 0.25, 0.0])
def test_a_constant_score_has_two_positions_that_flag_every_row_and_none(score: float, options: dict[str, Any]) -> None:
    positions = table([1, 0, 0, 0], [-score if "lower_is_better" in options else score] * 4, **options)
    values = ladder(positions, "score")
    assert len(values) == 2
    assert score in values
    assert {solve(positions, "score", float(value)).confusion for value in values} == {
        Confusion(1, 3, 0, 0),
        Confusion(0, 0, 1, 3),
    }


@pytest.mark.parametrize("mode", ["score", "share", "precision", "recall", "cost"])
@pytest.mark.parametrize("labels", [[1, 1, 1], [0, 0, 0], []])
def test_with_one_class_or_no_rows_every_mode_gives_a_matrix(mode: Mode, labels: list[int]) -> None:
    point = solve(table(labels, [0.2, 0.5, 0.9][: len(labels)]), mode, 0.5)
    assert point.confusion.n == len(labels)
    assert point.confusion.positives == sum(labels)
    assert (point.cost_low, point.cost_high) == (None, None)


def test_without_positives_no_precision_and_no_recall_is_reached() -> None:
    assert not solve(table([0, 0], [0.1, 0.2]), "precision", 0.5).reached
    assert not solve(table([0, 0], [0.1, 0.2]), "recall", 0.5).reached


def test_with_lower_scores_better_thresholds_stand_in_the_direction_of_the_file() -> None:
    # `usable` hands negated scores on: distances 1, 2 (positives), 3.
    positions = table([1, 1, 0], [-1.0, -2.0, -3.0], lower_is_better=True)
    assert solve(positions, "score", 2.0).confusion == Confusion(2, 0, 0, 1)
    assert solve(positions, "recall", 0.5).threshold == 1.0
    assert solve(positions, "cost", 0.0).threshold == 2.0
    assert ladder(positions, "score").tolist() == [1.0, 2.0, 3.0]


def test_under_the_strict_sign_a_solved_threshold_is_the_next_score_below() -> None:
    positions = table(rule="gt")
    point = solve(positions, "recall", 0.8)
    # The four positives down to .50 are flagged by `> .42`.
    assert (point.threshold, point.confusion) == (0.42, Confusion(4, 2, 1, 3))
    assert solve(positions, "recall", 0.8).confusion == solve(positions, "score", 0.42).confusion
    assert solve(positions, "share", 1.0).threshold == -math.inf


def test_scores_that_single_precision_cannot_hold_are_kept_exactly() -> None:
    scores = [0.1 + 1e-12, 0.1, 0.1 - 1e-12]
    point = solve(table([1, 0, 0], scores), "score", 0.1)
    assert point.confusion == Confusion(1, 1, 0, 1)
    assert solve(table([1, 0, 0], scores), "precision", 1.0).threshold == scores[0]
