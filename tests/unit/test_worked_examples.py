"""The worked examples R1–R29 of the metric specification, §6.1, each with its arithmetic.

A number with fewer decimals than the arithmetic gives is one that the specification prints rounded.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.engines import ENGINES
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import evaluate
from recmetrics.inference.auc import auc_estimate, exact_p, hanley_mcneil_se
from recmetrics.metrics.confusion import Confusion, confusion_at
from recmetrics.metrics.gains import discounts
from recmetrics.metrics.names import parse_metric
from recmetrics.results import MetricValue
from tests.build import dataset, labelled, one_list

LETTERS = "ABCDEFGHIJ"
TEN_LABELS = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
TEN_SCORES = [0.90, 0.80, 0.75, 0.68, 0.55, 0.50, 0.42, 0.35, 0.20, 0.10]
TEN = labelled(TEN_LABELS, TEN_SCORES)


def measure(data: Dataset, metric: str, **config: Any) -> MetricValue:
    """Return the one value asked for."""
    (found,) = evaluate(data, EvalConfig(**config), metrics=[metric]).values
    return found


def value(data: Dataset, metric: str, **config: Any) -> float:
    found = measure(data, metric, **config).value
    assert found is not None, (metric, config)
    return found


def near(expected: float, decimals: int = 9) -> Any:
    """Compare to 1e-9, or to half a unit of the last printed decimal."""
    return pytest.approx(expected, rel=0, abs=1e-9 if decimals >= 9 else 0.5 * 10**-decimals + 1e-12)


def lists(*grades: Sequence[float], unscored: Sequence[Sequence[float]] = ()) -> Dataset:
    """Return one list per user, best first, and the grades of relevant items that were never scored."""
    rows = [(f"u{u}", f"i{rank}", g, -rank) for u, one in enumerate(grades) for rank, g in enumerate(one, 1)]
    truth = [(user, item, grade) for user, item, grade, _ in rows]
    truth += [(f"u{u}", f"z{n}", grade) for u, more in enumerate(unscored) for n, grade in enumerate(more)]
    return dataset(rows, truth=truth)


def test_r1_four_good_of_ten_shown_is_a_precision_of_0_4() -> None:
    assert value(labelled([1] * 4 + [0] * 6, [0.9] * 10), "precision") == near(4 / 10)


def test_r2_six_found_of_twenty_liked_is_a_recall_of_0_3() -> None:
    assert value(labelled([1] * 20, [0.9] * 6 + [0.1] * 14), "recall") == near(6 / 20)


def test_r3_three_hits_in_ten_of_five_relevant() -> None:
    data = one_list([1, 0, 0, 1, 0, 0, 1, 0, 0, 0], unscored=[1, 1])
    assert value(data, "precision@10") == near(3 / 10)
    assert value(data, "recall@10") == near(3 / 5)


def test_r4_ten_letters_against_six_wanted() -> None:
    wanted = set("BEIKMP")  # B, E and I are in the list
    rows = [("u", letter, 1 if letter in wanted else 0, -rank) for rank, letter in enumerate(LETTERS)]
    data = dataset(rows, truth=[("u", letter, 1) for letter in sorted(wanted)])
    assert value(data, "precision@10") == near(3 / 10)
    assert value(data, "recall@10") == near(3 / 6)


def test_r5_the_three_f_scores_of_precision_0_8_and_recall_0_4() -> None:
    # TP 8, FP 2, FN 12. F = (1+β²)PR/(β²P+R): .64/1.2; 1.25·.32/(.25·.8+.4) = .4/.6; 5·.32/(4·.8+.4) = 1.6/3.6.
    data = labelled([1] * 8 + [0] * 2 + [1] * 12, [0.9] * 10 + [0.1] * 12)
    assert (value(data, "precision"), value(data, "recall")) == (near(0.8), near(0.4))
    assert value(data, "f_beta") == near(0.64 / 1.2)
    assert value(data, "f_beta[beta=0.5]") == near(0.4 / 0.6)
    assert value(data, "f_beta[beta=2]") == near(1.6 / 3.6)


def test_r6_f1_punishes_what_the_arithmetic_mean_forgives() -> None:
    data = labelled([1] * 10, [0.9] + [0.1] * 9)  # P = 1, R = .1: F1 = .2/1.1, mean .55
    assert value(data, "f1") == near(0.2 / 1.1)
    assert (value(data, "precision") + value(data, "recall")) / 2 == near(0.55)


def test_r7_flagging_nothing_is_98_percent_accurate_and_useless() -> None:
    data = labelled([1] * 20 + [0] * 980, [0.1] * 1000)
    accuracy = measure(data, "accuracy")
    assert accuracy.value == near(0.98)
    assert accuracy.extra["baseline_all_negative"] == near(0.98)
    assert accuracy.extra["baseline_majority"] == near(0.98)
    assert accuracy.extra["over_all_negative"] == near(0)
    assert accuracy.extra["over_majority"] == near(0)
    precision = measure(data, "precision")
    assert (precision.value, precision.undefined) == (None, "no predicted positives")
    assert value(data, "recall") == 0


def test_r8_the_true_positive_rate_is_recall() -> None:
    for threshold in TEN_SCORES:
        tp = sum(y for y, s in zip(TEN_LABELS, TEN_SCORES, strict=True) if s >= threshold)
        assert value(TEN, "recall", threshold=threshold) == near(tp / 5)


R9 = [  # K, TP, FP, precision, recall, F1, F0.5, F2
    (20, 12, 8, 0.60, 0.40, 0.48, 0.5455, 0.4286),
    (50, 20, 30, 0.40, 0.6667, 0.50, 0.4348, 0.5882),
    (100, 26, 74, 0.26, 0.8667, 0.40, 0.3023, 0.5909),
    (300, 30, 270, 0.10, 1, 0.1818, 0.1220, 0.3571),
]


def thousand() -> list[int]:
    """1,000 candidates with 30 positives: 12 in the first 20, 20 in 50, 26 in 100, all in 300."""
    return [1] * 12 + [0] * 8 + [1] * 8 + [0] * 22 + [1] * 6 + [0] * 44 + [1] * 4 + [0] * 196 + [0] * 700


@pytest.mark.parametrize(("k", "tp", "fp", "p", "r", "f1", "f_half", "f2"), R9)
def test_r9_a_thousand_candidates_cut_at_four_depths(
    k: int, tp: int, fp: int, p: float, r: float, f1: float, f_half: float, f2: float
) -> None:
    data = one_list(thousand())
    cut = {"threshold": -float(k)}  # the K-th score of one_list
    table = ENGINES["numpy"].score_table(data, EvalConfig(), "score")
    assert confusion_at(table, -k) == Confusion(tp, fp, 30 - tp, 970 - fp)
    for suffix, config in ((f"@{k}", {}), ("", cut)):
        assert value(data, f"precision{suffix}", **config) == near(tp / k)
        assert value(data, f"recall{suffix}", **config) == near(tp / 30)
        assert value(data, f"f_beta{suffix}", **config) == near(2 * tp / (30 + k))
        assert value(data, f"f_beta[beta=0.5]{suffix}", **config) == near(1.25 * tp / (0.25 * 30 + k))
        assert value(data, f"f_beta[beta=2]{suffix}", **config) == near(5 * tp / (4 * 30 + k))
    printed = (p, r, f1, f_half, f2)
    exact = (tp / k, tp / 30, 2 * tp / (30 + k), 1.25 * tp / (7.5 + k), 5 * tp / (120 + k))
    assert printed == tuple(near(one, 4) for one in exact)


R10 = [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (4, 2), (4, 3), (5, 3), (5, 4), (5, 5)]


@pytest.mark.parametrize("place", range(10))
def test_r10_true_and_false_positives_at_each_score(place: int) -> None:
    table = ENGINES["numpy"].score_table(TEN, EvalConfig(), "score")
    above = confusion_at(table, TEN_SCORES[place], "gt")
    at = confusion_at(table, TEN_SCORES[place], "ge")
    assert (above.tp, above.fp) == R10[place]
    assert (at.tp, at.fp) == R10[place + 1]


def test_r11_areas_of_the_ten_samples() -> None:
    # Beaten negatives: A 5, B 5, D 4, F 3, H 2 → U = 19 of 25.
    assert value(TEN, "roc_auc") == near(19 / 25)
    # Steps at the positives: (1 + 1 + 3/4 + 4/6 + 5/8)/5.
    assert value(TEN, "auprc") == near((1 + 1 + 3 / 4 + 4 / 6 + 5 / 8) / 5)
    assert value(TEN, "auprc") == near(0.8083, 4)
    # Trapezoids: each step takes the mean of the precision at its score and at the score before it.
    steps = [(1 + 1) / 2, (1 + 1) / 2, (2 / 3 + 3 / 4) / 2, (3 / 5 + 4 / 6) / 2, (4 / 7 + 5 / 8) / 2]
    assert value(TEN, "auprc[method=trapezoid]") == near(sum(steps) / 5)
    assert value(TEN, "auprc[method=trapezoid]") == near(0.7880, 4)
    # The ROC curve has TPR .4 to FPR .2, .6 to .4: areas .2·.4 + .2·.6 = .20 (m = .4), + .1·.8 = .28 (m = .5).
    assert value(TEN, "partial_auc[max_fpr=0.4]") == near(0.5 * (1 + (0.20 - 0.08) / (0.4 - 0.08)))
    assert value(TEN, "partial_auc[max_fpr=0.5]") == near(0.5 * (1 + (0.28 - 0.125) / (0.5 - 0.125)))
    assert value(TEN, "partial_auc[max_fpr=0.4]") == near(0.6875, 4)
    assert value(TEN, "partial_auc[max_fpr=0.5]") == near(0.7067, 4)


def test_r11_probabilities_of_the_ten_samples() -> None:
    said = [s if y else 1 - s for y, s in zip(TEN_LABELS, TEN_SCORES, strict=True)]
    loss = -sum(math.log(p) for p in said) / 10
    assert value(TEN, "log_loss") == near(loss)
    assert value(TEN, "log_loss") == near(0.5515, 4)
    assert value(TEN, "normalized_entropy") == near(loss / math.log(2))  # π = ½
    assert value(TEN, "normalized_entropy") == near(0.7957, 4)
    assert value(TEN, "brier") == near(sum((1 - p) ** 2 for p in said) / 10)
    assert value(TEN, "brier") == near(0.1916, 4)
    assert value(TEN, "calibration_ratio") == near(5.25 / 5)


def test_r11_standard_errors_of_the_ten_samples() -> None:
    positive, scores = np.asarray(TEN_LABELS, dtype=bool), np.asarray(TEN_SCORES)
    # DeLong 1988: share of negatives that each positive beats, share of positives that beat each negative.
    beaten = np.asarray([1, 1, 0.8, 0.6, 0.4])  # A, B, D, F, H
    beating = np.asarray([0.4, 0.6, 0.8, 1, 1])  # C, E, G, I, J
    expected = math.sqrt(beaten.var(ddof=1) / 5 + beating.var(ddof=1) / 5)
    assert expected == near(0.1649, 4)
    assert auc_estimate(positive, scores, None).se == near(expected)
    # Hanley and McNeil: Q₁ = A/(2−A), Q₂ = 2A²/(1+A), SE² = [A(1−A) + 4(Q₁−A²) + 4(Q₂−A²)]/25.
    a = 0.76
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    hanley = math.sqrt((a * (1 - a) + 4 * (q1 - a * a) + 4 * (q2 - a * a)) / 25)
    assert hanley_mcneil_se(a, 5, 5) == near(hanley)
    assert hanley_mcneil_se(a, 5, 5) == near(0.1598, 4)


def test_r11_exact_rank_test_of_the_ten_samples() -> None:
    # Of the C(10,5) = 252 orders 28 have U ≥ 19, as many U ≤ 6: p = 56/252.
    at_least = sum(sum(sorted(chosen)) - 10 >= 19 for chosen in itertools.combinations(range(10), 5))
    p = exact_p(np.asarray(TEN_LABELS, dtype=bool), np.asarray(TEN_SCORES), None)
    assert p == near(2 * at_least / 252)
    assert p == near(0.2222, 4)


def test_r12_the_row_on_the_threshold_is_flagged_by_ge_and_not_by_gt() -> None:
    ge = {"precision": 4 / 6, "recall": 4 / 5, "f_beta": 8 / 11, "accuracy": 7 / 10, "mcc": 10 / math.sqrt(600)}
    for metric, expected in ge.items():  # TP 4, FP 2, FN 1, TN 3; MCC (12−2)/√(6·5·5·4)
        assert value(TEN, metric) == near(expected)
    assert value(TEN, "mcc") == near(0.4082, 4)
    for metric in ("precision", "recall", "f_beta"):  # TP 3, FP 2, FN 2, TN 3: an accidental P = R
        assert value(TEN, metric, threshold_rule="gt") == near(0.6)


def test_r13_a_click_above_an_order() -> None:
    data = one_list([1, 5])
    second = 1 / math.log2(3)
    assert value(data, "ndcg@2") == near((1 + 5 * second) / (5 + second))
    assert value(data, "ndcg@2") == near(0.7378, 4)
    assert value(data, "ndcg[gain=exp2]@2") == near((1 + 31 * second) / (31 + second))
    assert value(data, "ndcg[gain=exp2]@2") == near(0.6500, 4)


R14 = [("i9", 0), ("i1", 1), ("i7", 0), ("i2", 1), ("i5", 0), ("i3", 1)]
SIX = dataset([("u", item, grade, -rank) for rank, (item, grade) in enumerate(R14)])
DCG14 = 1 / math.log2(3) + 1 / math.log2(5) + 1 / math.log2(7)
IDCG14 = 1 + 1 / math.log2(3) + 1 / 2


def test_r14_the_six_item_list() -> None:
    assert value(SIX, "hit_rate@3") == 1
    assert value(SIX, "hit_rate@6") == 1
    assert value(SIX, "mrr") == near(1 / 2)
    assert value(SIX, "map") == near((1 / 2 + 2 / 4 + 3 / 6) / 3)
    assert value(SIX, "dcg@6") == near(DCG14)
    assert value(SIX, "ndcg@6") == near(DCG14 / IDCG14)
    assert value(SIX, "dcg@6") == near(1.4178, 4)
    assert value(one_list([1, 1, 1, 0, 0, 0]), "dcg@6") == near(2.1309, 4)
    assert value(SIX, "ndcg@6") == near(0.66535, 5)


def test_r14_the_ideal_order_of_the_six_items_gains_half_as_much_again() -> None:
    ideal = one_list([1, 1, 1, 0, 0, 0])
    assert [value(ideal, metric) for metric in ("map", "mrr", "ndcg@6")] == [near(1), near(1), near(1)]
    assert 1 / value(SIX, "ndcg@6") - 1 == near(0.503, 3)


def test_r15_discounts_of_the_first_six_ranks() -> None:
    printed = [1, 1.585, 2, 2.322, 2.585, 2.807]  # log2(2) … log2(7)
    assert (1 / discounts(6, EvalConfig())[1:]).tolist() == [near(one, 3) for one in printed]


def first_hits() -> Dataset:
    """Five users with one relevant item each, at rank 1, 2, 5, 10, and not scored."""
    rows = [(u, f"i{rank}", int(rank == at), -rank) for u, at in enumerate([1, 2, 5, 10, 99]) for rank in range(1, 11)]
    truth = [(user, item, grade) for user, item, grade, _ in rows]
    return dataset(rows, truth=[*truth, (4, "z", 1)])


def test_r16_r17_first_hits_at_1_2_5_10_and_never() -> None:
    assert value(first_hits(), "mrr") == near((1 + 0.5 + 0.2 + 0.1 + 0) / 5)
    assert value(first_hits(), "mrr@10") == near(0.36)
    assert value(first_hits(), "hit_rate@10") == near(4 / 5)


def test_r19_map_is_the_mean_of_the_average_precisions() -> None:
    # One relevant item each, so that average precision is the reciprocal rank: (1+.5+.2+.1+0)/5.
    assert value(first_hits(), "map") == near(0.36)
    # R14 (AP .5) beside a perfect list (AP 1).
    assert value(lists([0, 1, 0, 1, 0, 1], [1, 1, 1]), "map") == near((0.5 + 1) / 2)


def test_r18_the_denominator_of_average_precision_decides_below_r() -> None:
    assert value(SIX, "map[denominator=r]@2") == near((1 / 2) / 3)
    assert value(SIX, "map@2") == near((1 / 2) / 2)
    assert value(SIX, "map[denominator=r]@3") == near((1 / 2) / 3)
    assert value(SIX, "map@3") == near((1 / 2) / 3)


def test_r20_the_ideal_list_holds_relevant_items_that_were_not_retrieved() -> None:
    # R = 5, K = 3: IDCG 1 + 1/log2 3 + 1/2. From the retrieved ones alone it would read 1.0 and .6309.
    assert value(one_list([1, 0, 0], unscored=[1] * 4), "ndcg@3") == near(1 / IDCG14)
    assert value(one_list([1, 0, 0], unscored=[1] * 4), "ndcg@3") == near(0.4693, 4)
    assert value(one_list([0, 1, 0], unscored=[1] * 4), "ndcg@3") == near((1 / math.log2(3)) / IDCG14)
    assert value(one_list([0, 1, 0], unscored=[1] * 4), "ndcg@3") == near(0.2961, 4)


@pytest.mark.parametrize("left_over", [[1, 1], [2, 1, 1], [2, 2, 2]])
@pytest.mark.parametrize("gain", ["linear", "exp2"])
def test_r21_grades_left_over_below_the_k_best_change_nothing(left_over: list[float], gain: str) -> None:
    assert value(one_list([5, 3, 2], unscored=left_over), f"ndcg[gain={gain}]@3") == near(1)


R22 = [  # grades in ranked order, K, linear, exp2
    ([1, 3], 2, 0.7967, 0.7098),
    ([1, 5], 2, 0.7378, 0.6500),
    ([1, 2, 3], 3, 0.7900, 0.6806),
]


@pytest.mark.parametrize(("grades", "k", "linear", "exp2"), R22)
def test_r22_two_gains_of_one_list(grades: list[float], k: int, linear: float, exp2: float) -> None:
    def ratio(gains: list[float]) -> float:
        weights = [1 / math.log2(rank + 1) for rank in range(1, k + 1)]
        best = sum(g * w for g, w in zip(sorted(gains, reverse=True), weights, strict=True))
        return sum(g * w for g, w in zip(gains, weights, strict=True)) / best

    data = one_list(grades)
    assert value(data, f"ndcg@{k}") == near(ratio(grades))
    assert value(data, f"ndcg@{k}") == near(linear, 4)
    assert value(data, f"ndcg[gain=exp2]@{k}") == near(ratio([2**g - 1 for g in grades]))
    assert value(data, f"ndcg[gain=exp2]@{k}") == near(exp2, 4)


def test_r23_the_log_base_scales_dcg_and_leaves_ndcg() -> None:
    for base, logarithm in (("e", 1.0), ("10", math.log(10))):
        assert value(SIX, f"dcg[log_base={base}]@6") == near(DCG14 * logarithm / math.log(2))
        assert value(SIX, "ndcg@6", log_base=base if base == "e" else 10) == near(DCG14 / IDCG14)
        with pytest.raises(RecmetricsError, match="cancels"):
            parse_metric(f"ndcg[log_base={base}]@6")


def test_r23_the_form_that_leaves_ranks_1_and_2_alike() -> None:
    # Hits at 2, 4, 6: (1 + 1/2 + 1/log2 6)/(1 + 1 + 1/log2 3) = .7172, decision M4.
    expected = (1 + 1 / 2 + 1 / math.log2(6)) / (2 + 1 / math.log2(3))
    assert value(SIX, "ndcg[discount=max2]@6") == near(expected)
    assert value(SIX, "ndcg[discount=max2]@6") == near(0.7172, 4)


def test_r23_a_list_counted_from_zero_is_the_same_list() -> None:
    assert value(SIX, "ndcg@6", position_start=0) == near(DCG14 / IDCG14)


def test_r24_three_hits_at_the_top_or_at_the_end() -> None:
    assert value(one_list([1, 1, 1] + [0] * 7), "ndcg@10") == near(1)
    late = (1 / math.log2(9) + 1 / math.log2(10) + 1 / math.log2(11)) / IDCG14
    assert value(one_list([0] * 7 + [1, 1, 1]), "ndcg@10") == near(late)
    assert value(one_list([0] * 7 + [1, 1, 1]), "ndcg@10") == near(0.42496, 5)


@pytest.mark.parametrize(
    ("copies", "auprc", "precision"), [(1, 0.8083, 0.6667), (10, 0.5081, 0.1667), (100, 0.4130, 0.0196)]
)
def test_r25_more_negatives_change_precision_and_not_auc(copies: int, auprc: float, precision: float) -> None:
    pairs = [(y, s) for y, s in zip(TEN_LABELS, TEN_SCORES, strict=True) for _ in range(1 if y else copies)]
    data = labelled(*zip(*pairs, strict=True))
    assert value(data, "roc_auc") == near(0.76)
    assert value(data, "recall") == near(0.8)
    assert value(data, "fpr") == near(0.4)
    # Negatives above the five positives: 0, 0, 1, 2, 3 of them, each c times.
    steps = [tp / (tp + copies * fp) for tp, fp in zip([1, 2, 3, 4, 5], [0, 0, 1, 2, 3], strict=True)]
    assert value(data, "auprc") == near(sum(steps) / 5)
    assert value(data, "auprc") == near(auprc, 4)
    assert value(data, "precision") == near(4 / (4 + 2 * copies))
    assert value(data, "precision") == near(precision, 4)


@pytest.mark.parametrize("threshold", TEN_SCORES)
def test_r26_precision_is_recall_exactly_when_false_alarms_equal_misses(threshold: float) -> None:
    table = ENGINES["numpy"].score_table(TEN, EvalConfig(), "score")
    counts = confusion_at(table, threshold)
    same = value(TEN, "precision", threshold=threshold) == value(TEN, "recall", threshold=threshold)
    assert same is (counts.fp == counts.fn)


def test_r27_recall_never_falls_with_k_and_precision_may_rise() -> None:
    data = one_list([0, 1, 0, 1, 1])
    recall = [value(data, f"recall@{k}") for k in range(1, 6)]
    assert recall == [0, near(1 / 3), near(1 / 3), near(2 / 3), near(1)]
    precision = [value(data, f"precision@{k}") for k in range(1, 6)]
    assert precision == [0, near(1 / 2), near(1 / 3), near(2 / 4), near(3 / 5)]


def test_r28_no_exposures_and_no_clicks_are_reasons_and_no_zeros() -> None:
    nothing = dataset([], values={"click": [], "purchase": []}, scores={"score": []})
    assert measure(nothing, "ctr").undefined == "no exposures"
    quiet = dataset(
        [("u", "a", 0, 0.5), ("u", "b", 0, 0.4)], values={"click": [0, 0], "purchase": [0, 0], "amount": [0, 0]}
    )
    assert value(quiet, "ctr") == 0
    assert measure(quiet, "cvr").undefined == "no clicks"
    assert measure(quiet, "cvr").value is None
    assert value(quiet, "gmv") == 0


def test_r29_the_area_under_precision_recall_comes_with_its_baseline() -> None:
    # 1 positive in 1,000, ranked fifth: AUPRC 1/5, baseline 1/1000, lift 200.
    labels = [0] * 4 + [1] + [0] * 995
    found = measure(labelled(labels, [-n for n in range(1000)]), "auprc")
    assert found.value == near(1 / 5)
    assert found.extra["baseline"] == near(1 / 1000)
    assert found.extra["lift"] == near(200)
