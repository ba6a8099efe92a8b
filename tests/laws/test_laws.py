"""Laws that hold for every metric of the registry: metric specification §8, laws 1–4, 9 and 10.

They run over all metric strings that the registry offers, so that a metric added later is covered by being registered.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from recmetrics.dataset import Dataset
from recmetrics.metrics import METRICS
from recmetrics.metrics.names import parse_metric
from recmetrics.results import REASONS
from tests.build import dataset
from tests.laws.measured import CONFIG, N_CASES, measured, numbers, rearranged, rich, same, with_scores
from tests.laws.small_data import cases
from tests.metric_strings import all_strings
from tests.oracle import Case

# 1. Bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, -3.0])
def test_every_value_lies_in_its_range_or_is_undefined_for_a_listed_reason(shift: float) -> None:
    strings = all_strings()
    for given in cases(N_CASES):
        data = rich(given)
        for text, found in measured(with_scores(data, data.scores["score"] + shift), strings).items():
            entry = parse_metric(text).entry
            if found.value is None:
                assert found.undefined in REASONS or str(found.undefined).startswith("missing column: "), text
            else:
                assert found.undefined is None
                assert entry.low - 1e-12 <= found.value <= entry.high + 1e-12, text


@pytest.mark.parametrize(
    "data",
    [
        dataset([("u", "a", 0, 0.5), ("u", "b", 0, 0.4)]),
        dataset([("u", "a", 1, 0.5), ("u", "b", 1, 0.4)]),
        dataset([("u", "a", 1, 0.5)]),
        dataset([("u", "a", None, 0.5), ("v", "b", None, 0.4)]),
        dataset([("u", "a", 1, 7.0), ("u", "b", 0, -7.0)]),
        dataset([("u", "a", 1, 0.5), ("u", "b", 0, 0.5), ("v", "a", 0, 0.5)]),
        dataset([], scores={"score": []}),
        dataset([], scores={"score": []}, truth=[("u", "a", 1)]),
        dataset([("u", "a", 0, 1.0), ("u", "b", 1, 0.0)]),
    ],
    ids=["negatives", "positives", "one row", "no labels", "outside 0..1", "constant", "no rows", "no list", "certain"],
)
def test_degenerate_data_give_numbers_or_reasons_and_never_an_exception(data: Dataset) -> None:
    for text, found in measured(data, all_strings()).items():
        if found.value is None:
            assert found.undefined in REASONS or str(found.undefined).startswith("missing column: "), text
        else:
            assert math.isfinite(found.value), text
            assert parse_metric(text).entry.low <= found.value <= parse_metric(text).entry.high, text


# 2. Row order -------------------------------------------------------------------------------------------------------


def test_the_order_of_rows_changes_no_ranking_value_by_a_bit_and_no_other_beyond_rounding() -> None:
    lists = [text for text in all_strings("ranking") if "file_order" not in text]
    others = [text for text in all_strings() if text not in lists and "file_order" not in text]
    for seed, given in enumerate(cases(N_CASES)):
        data = rich(given)
        other = rearranged(data, np.random.default_rng(seed).permutation(data.n_rows))
        same(numbers(data, lists), numbers(other, lists))
        same(numbers(data, others), numbers(other, others), 1e-12)


def test_the_order_in_which_users_appear_changes_no_ranking_value_by_a_bit() -> None:
    # Loading gives codes by first appearance, so that other rows in front mean other codes for users and items.
    lists = [text for text in all_strings("ranking") if "file_order" not in text]
    rng = np.random.default_rng(4)
    rows = [(f"u{u}", f"i{i}", int(rng.random() < 0.3), int(rng.integers(9))) for u in range(60) for i in range(7)]
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    one, other = measured(dataset(rows), lists), measured(dataset(shuffled), lists)
    for text in lists:
        for name in ("value", "low", "high", "tie_low", "tie_high", "zero_filled"):
            assert getattr(one[text], name) == getattr(other[text], name), (text, name)


def test_file_order_does_follow_the_rows() -> None:
    rows = [("u", "a", 1, 0.5), ("u", "b", 0, 0.5)]
    strings = ["precision[ties=file_order]@1"]
    assert numbers(dataset(rows), strings) == {strings[0]: 1.0}
    assert numbers(dataset(rows[::-1]), strings) == {strings[0]: 0.0}


def renamed(given: Case, users: bool, items: bool) -> Case:
    """Return the case with ids whose order as text is reversed."""

    def swap(text: str) -> str:
        return "".join(chr(ord("a") + ord("z") - ord(c)) if c.islower() else str(9 - int(c)) for c in text)

    def row(one: Any) -> Any:
        return (swap(one[0]) if users else one[0], swap(one[1]) if items else one[1], *one[2:])

    return Case([row(one) for one in given.rows], [row(one) for one in given.truth or []])


@pytest.mark.parametrize(("users", "items"), [(True, False), (False, True)])
def test_other_names_of_users_and_items_change_nothing(users: bool, items: bool) -> None:
    # item_asc and item_desc follow the item's text, and so does coverage where a block of equal scores is cut.
    strings = [text for text in all_strings() if not (items and ("item_" in text or text.startswith("coverage")))]
    for given in cases(N_CASES):
        other = renamed(given, users, items)
        same(numbers(rich(given), strings), numbers(rich(other), strings), 1e-12)


# 3. Transforms of the score -----------------------------------------------------------------------------------------


def order_only() -> list[str]:
    """Return the strings whose value depends on the order of the scores alone."""
    entries = [
        entry for entry in METRICS.values() if entry.layer == "classification" and "threshold" not in entry.options
    ]
    rows = [text for text in all_strings("classification") if parse_metric(text).entry in entries]
    return [*rows, *all_strings("ranking", "exposure")]


TRANSFORMS = {
    "doubled": lambda s: s * 2,
    "shifted below zero": lambda s: s - 4,
    "negative and stretched": lambda s: s * 1024 - 4096,
    "ranks": lambda s: np.unique(s, return_inverse=True)[1].astype(np.float64),
    "single precision": lambda s: s.astype(np.float32),
    "no single precision": lambda s: s + 2.0**40 + 2.0**-6 * (s > 0.5),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=list(TRANSFORMS))
def test_increasing_transforms_of_the_score_leave_what_looks_at_order_alone(transform: Any) -> None:
    strings = order_only()
    for given in cases(N_CASES):
        data = rich(given)
        other = with_scores(data, transform(data.scores["score"]))
        same(numbers(data, strings), numbers(other, strings))


def test_threshold_metrics_follow_when_the_threshold_moves_along() -> None:
    entries = [entry for entry in METRICS.values() if "threshold" in entry.options]
    for given, threshold in itertools.product(cases(6), [0.25, 0.5, 0.6]):
        data = rich(given)
        other = with_scores(data, data.scores["score"] * 8 - 4)
        strings = [entry.name for entry in entries]
        moved = CONFIG.replace(threshold=threshold * 8 - 4)
        same(numbers(data, strings, CONFIG.replace(threshold=threshold)), numbers(other, strings, moved))


def test_turning_the_scores_and_the_direction_changes_nothing() -> None:
    strings = [text for text in order_only() if "floor_mean_rank" not in text]
    for given in cases(N_CASES):
        data = rich(given)
        other = with_scores(data, -data.scores["score"])
        same(numbers(data, strings), numbers(other, strings, CONFIG.replace(score_direction="lower")))


# 4. Growing k -------------------------------------------------------------------------------------------------------

NEVER_FALLING = ("recall@", "hit_rate@", "mrr@", "dcg@", "map[denominator=r]@", "coverage@")


@pytest.mark.parametrize("ties", ["average", "best", "worst", "item_asc"])
def test_what_counts_hits_found_never_falls_with_k(ties: str) -> None:
    strings = [f"{start}{k}" for start in NEVER_FALLING for k in range(1, 9)]
    for given in cases(N_CASES):
        found = numbers(rich(given), strings, CONFIG.replace(ties=ties))
        for start in NEVER_FALLING:
            values = [found[f"{start}{k}"] for k in range(1, 9)]
            assert all(b >= a - 1e-12 for a, b in itertools.pairwise(values)) or math.isnan(values[0]), (start, values)


@pytest.mark.parametrize(
    ("labels", "unscored", "metric", "at_1", "at_2"),
    [
        ([0, 1], [], "precision", 0, 1 / 2),  # precision may rise
        ([1, 0], [1], "ndcg", 1, 1 / (1 + 1 / math.log2(3))),  # ideal grows from 1 to 1.6309: .6131
        ([1, 0], [1], "map", 1, 1 / 2),  # denominator min(R,K) grows from 1 to 2
        ([1, 0], [1], "recall[denominator=min_r_k]", 1, 1 / 2),
    ],
)
def test_the_others_may_rise_or_fall(
    labels: list[int], unscored: list[int], metric: str, at_1: float, at_2: float
) -> None:
    rows = [("u", f"i{n}", label, -n) for n, label in enumerate(labels)]
    truth = [("u", item, label) for _, item, label, _ in rows] + [("u", f"z{n}", 1) for n, _ in enumerate(unscored)]
    found = numbers(dataset(rows, truth=truth), [f"{metric}@1", f"{metric}@2"])
    assert list(found.values()) == [pytest.approx(at_1), pytest.approx(at_2)]


# 9. Ties ------------------------------------------------------------------------------------------------------------


def test_the_worst_and_the_best_order_enclose_the_average() -> None:
    lists = [text for text in all_strings("ranking") if "ties=" not in text and "denominator=hits" not in text]
    for given in cases(N_CASES):
        for text, found in measured(rich(given), lists).items():
            if found.tie_low is not None and found.tie_high is not None and found.value is not None:
                assert found.tie_low - 1e-12 <= found.value <= found.tie_high + 1e-12, text


def test_without_equal_scores_every_tie_rule_gives_one_number() -> None:
    plain = [text for text in all_strings("ranking") if "ties=" not in text]
    for given in cases(N_CASES, ties=False):
        data = rich(given)
        for text, found in measured(data, plain).items():
            assert found.tie_low is None or found.tie_low == pytest.approx(found.value, abs=1e-12), text
            assert found.tie_high is None or found.tie_high == pytest.approx(found.value, abs=1e-12), text
        for rule in ("best", "worst", "file_order", "item_asc", "item_desc", "floor_mean_rank"):
            same(numbers(data, plain), numbers(data, plain, CONFIG.replace(ties=rule)), 1e-12)


# 10. Copies ---------------------------------------------------------------------------------------------------------


def repeated(given: Case, times: int, only_negatives: bool) -> Dataset:
    """Return rows without ids, each row (or each negative) several times."""
    found = [
        (None, None, label, score)
        for _, _, label, score in given.rows
        for _ in range(1 if only_negatives and (label or 0) >= 1 else times)
    ]
    return dataset(found)


def test_copies_of_all_rows_change_no_row_metric() -> None:
    # Not ece with bins of equal mass: where its bin edges fall among three distinct scores is a matter of counts.
    strings = [text for text in all_strings("classification", "calibration") if not text.startswith("ece")]
    strings += ["ece[bins=10,binning=width]"]
    for given in cases(N_CASES):
        same(numbers(repeated(given, 1, False), strings), numbers(repeated(given, 3, False), strings), 1e-9)


def test_copies_of_negatives_leave_auc_tpr_and_fpr_and_thin_precision() -> None:
    kept = ["roc_auc", "partial_auc", "recall", "fpr", "specificity", "balanced_accuracy"]
    for given in cases(N_CASES):
        one, many = repeated(given, 1, True), repeated(given, 5, True)
        same(numbers(one, kept), numbers(many, kept), 1e-12)
        tp = sum(label >= 1 and score >= 0.5 for _, _, label, score in given.rows)
        fp = sum(label < 1 and score >= 0.5 for _, _, label, score in given.rows)
        if tp + fp:
            assert numbers(many, ["precision"])["precision"] == pytest.approx(tp / (tp + 5 * fp), abs=1e-12)
