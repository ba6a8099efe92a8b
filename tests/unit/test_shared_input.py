"""The shared input of the metric specification, §4.1, under the project's own convention: §4.2–§4.4 with arithmetic.

Truth: u1 {a 3, b 2, c 1, z 2}, u2 {c 1}, u3 {a 0}, u4 {a 1, b 1}, u5 {c 1}. Lists: u1 a x c y b (z never scored);
u2 a, b, c tied, then d, e; u3 a b c; u4 none; u5 d c. At K = 3 u1 has hits at ranks 1 and 3, u5 at 2, u2 anywhere.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import evaluate, make_tables, per_user
from recmetrics.metrics import parse_metric
from recmetrics.results import MetricValue
from tests.build import dataset

TRUTH = {
    "u1": {"a": 3, "b": 2, "c": 1, "z": 2},
    "u2": {"c": 1},
    "u3": {"a": 0},
    "u4": {"a": 1, "b": 1},
    "u5": {"c": 1},
}
SCORES = {
    "u1": {"a": 0.9, "x": 0.8, "c": 0.7, "y": 0.6, "b": 0.5},
    "u2": {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.2, "e": 0.1},
    "u3": {"a": 0.9, "b": 0.8, "c": 0.7},
    "u5": {"d": 0.9, "c": 0.4},
}
SECOND, THIRD = 1 / math.log2(3), 1 / 2  # discounts of ranks 2 and 3


def shared(unjudged: float | None = None) -> Dataset:
    """Return the input; rows without a judgement get the label `unjudged`."""
    rows = [(u, i, TRUTH[u].get(i, unjudged), s) for u, items in SCORES.items() for i, s in items.items()]
    return dataset(rows, truth=[(user, item, grade) for user, items in TRUTH.items() for item, grade in items.items()])


def measure(data: Dataset, metric: str, **config: Any) -> MetricValue:
    (found,) = evaluate(data, EvalConfig(**config), metrics=[metric]).values
    return found


def near(expected: float) -> Any:
    return pytest.approx(expected, rel=0, abs=1e-9)


DEFAULT = {  # metric: u1, u2, u4, u5; u3 has no relevant item and is not averaged, u4 has no list and counts 0
    "precision@3": (2 / 3, 1 / 3, 0, 1 / 3),
    "recall@3": (2 / 4, 1, 0, 1),
    "hit_rate@3": (1, 1, 0, 1),
    "f_beta@3": (2 * 2 / (4 + 3), 2 / (1 + 3), 0, 2 / (1 + 3)),
    "map@3": ((1 + 2 / 3) / 3, (1 + 1 / 2 + 1 / 3) / 3, 0, 1 / 2),
    "map[ties=worst]@3": ((1 + 2 / 3) / 3, 1 / 3, 0, 1 / 2),
    "map[ties=best]@3": ((1 + 2 / 3) / 3, 1, 0, 1 / 2),
    "map[denominator=r]@3": ((1 + 2 / 3) / 4, (1 + 1 / 2 + 1 / 3) / 3, 0, 1 / 2),
    "mrr@3": (1, (1 + 1 / 2 + 1 / 3) / 3, 0, 1 / 2),
    "mrr[ties=worst]@3": (1, 1 / 3, 0, 1 / 2),
    "mrr[ties=best]@3": (1, 1, 0, 1 / 2),
    "dcg@3": (3 + 1 * THIRD, (1 + SECOND + THIRD) / 3, 0, SECOND),
    "dcg[ties=worst]@3": (3 + 1 * THIRD, THIRD, 0, SECOND),
    "dcg[ties=best]@3": (3 + 1 * THIRD, 1, 0, SECOND),
    "dcg[gain=exp2]@3": (7 + 1 * THIRD, (1 + SECOND + THIRD) / 3, 0, SECOND),
    "ndcg@3": (3.5 / (3 + 2 * SECOND + 2 * THIRD), (1 + SECOND + THIRD) / 3, 0, SECOND),  # ideal 3, 2, 2
    "ndcg[ties=worst]@3": (3.5 / (4 + 2 * SECOND), THIRD, 0, SECOND),
    "ndcg[ties=best]@3": (3.5 / (4 + 2 * SECOND), 1, 0, SECOND),
    "ndcg[gain=exp2]@3": (7.5 / (7 + 3 * SECOND + 3 * THIRD), (1 + SECOND + THIRD) / 3, 0, SECOND),
    "ndcg[gain=binary]@3": (1.5 / (1 + SECOND + THIRD), (1 + SECOND + THIRD) / 3, 0, SECOND),
    "r_precision": (2 / 4, 1 / 3, 0, 0),  # first R: a x c y; one of three tied; d
    "r_precision[ties=worst]": (2 / 4, 0, 0, 0),
    "r_precision[ties=best]": (2 / 4, 1, 0, 0),
}

PRINTED = {  # §4.2 and §4.3: mean with four decimals
    "precision@3": 0.3333,
    "recall@3": 0.6250,
    "hit_rate@3": 0.7500,
    "f_beta@3": 0.3929,
    "map@3": 0.4167,
    "map[ties=worst]@3": 0.3472,
    "map[ties=best]@3": 0.5139,
    "map[denominator=r]@3": 0.3819,
    "mrr@3": 0.5278,
    "mrr[ties=worst]@3": 0.4583,
    "mrr[ties=best]@3": 0.6250,
    "dcg@3": 1.2103,
    "dcg[ties=worst]@3": 1.1577,
    "dcg[ties=best]@3": 1.2827,
    "dcg[gain=exp2]@3": 2.2103,
    "ndcg@3": 0.5016,
    "ndcg[ties=worst]@3": 0.4490,
    "ndcg[ties=best]@3": 0.5740,
    "ndcg[gain=exp2]@3": 0.5157,
    "ndcg[gain=binary]@3": 0.5113,
    "r_precision": 0.2083,
    "r_precision[ties=worst]": 0.1250,
    "r_precision[ties=best]": 0.3750,
}


@pytest.mark.parametrize("metric", DEFAULT)
def test_each_user_and_the_mean_have_their_value(metric: str) -> None:
    u1, u2, u4, u5 = DEFAULT[metric]
    data = shared()
    config = parse_metric(metric).fixed(EvalConfig())
    values = per_user(make_tables(data, config, "score"), config, metric).values
    by_user = dict(zip(data.users, values, strict=True))
    assert [by_user[user] for user in ("u1", "u2", "u4", "u5")] == [near(u1), near(u2), near(u4), near(u5)]
    assert math.isnan(by_user["u3"])
    found = measure(data, metric)
    assert (found.value, found.n_users) == (near((u1 + u2 + u4 + u5) / 4), 4)
    assert found.value == pytest.approx(PRINTED[metric], abs=0.5e-4)
    assert found.skipped == {"without_relevant": 1}


@pytest.mark.parametrize("metric", DEFAULT)
def test_users_without_relevant_items_or_without_a_list_are_counted_as_told(metric: str) -> None:
    total = sum(DEFAULT[metric])
    zero = measure(shared(), metric, users_without_relevant="zero")
    assert (zero.value, zero.n_users) == (near(total / 5), 5)
    one = measure(shared(), metric, users_without_relevant="one")
    assert (one.value, one.n_users) == (near((total + 1) / 5), 5)
    skipped = measure(shared(), metric, users_missing_from_run="skip")
    assert (skipped.value, skipped.n_users) == (near(total / 3), 3)
    assert skipped.skipped == {"without_relevant": 1, "missing_from_run": 1}
    plain = measure(shared(), metric)
    assert plain.zero_filled == near(total / 5)
    assert plain.extra["without_missing"] == near(total / 3)


def test_three_ties_at_the_top_are_seen_as_a_cut_block_only_where_k_cuts_them() -> None:
    assert measure(shared(), "ndcg@2").extra["users_cut_inside_tie"] == 1
    assert "users_cut_inside_tie" not in measure(shared(), "ndcg@3").extra


# §4.4: the 15 scored rows, those without a judgement as negatives, 5 positives.
# Positives .9 .7 .5 (u1), .5 (u2), .4 (u5); negatives .8 .6 .5 .5 .2 .1 .9 .8 .7 .9.
UP = [0.9, 0.7, 0.5, 0.5, 0.4]
DOWN = [0.8, 0.6, 0.5, 0.5, 0.2, 0.1, 0.9, 0.8, 0.7, 0.9]


def rows(metric: str) -> float:
    found = measure(shared(0.0), metric)
    assert found.value is not None
    return found.value


def test_areas_over_the_rows() -> None:
    won = sum((p > n) + 0.5 * (p == n) for p in UP for n in DOWN)
    assert rows("roc_auc") == near(won / 50)
    assert rows("roc_auc") == near(0.45)
    steps = [(0.9, 1, 2), (0.8, 1, 4), (0.7, 2, 5), (0.6, 2, 6), (0.5, 4, 8), (0.4, 5, 8)]  # score, TP, FP
    precision = [1.0] + [tp / (tp + fp) for _, tp, fp in steps]
    gained = [1 / 5, 0, 1 / 5, 0, 2 / 5, 1 / 5]
    assert rows("auprc") == near(sum(g * p for g, p in zip(gained, precision[1:], strict=True)))
    trapezoid = sum(g * (precision[i] + precision[i + 1]) / 2 for i, g in enumerate(gained))
    assert rows("auprc[method=trapezoid]") == near(trapezoid)
    assert rows("auprc") == pytest.approx(0.3341, abs=0.5e-4)
    assert rows("auprc[method=trapezoid]") == pytest.approx(0.3704, abs=0.5e-4)
    # ROC: (0,0) (.2,.2) (.4,.2) (.5,.4): area .02 + .04 + .03 up to FPR ½.
    assert rows("partial_auc[max_fpr=0.5]") == near(0.5 * (1 + (0.09 - 0.125) / 0.375))


def test_auc_inside_users_under_four_weights() -> None:
    # u1: a beats both, c beats y, b none: 3 of 6; u2: c ties two and beats two: 3 of 4; u5: 0 of 1.
    auc = {"u1": 3 / 6, "u2": 3 / 4, "u5": 0.0}
    weights = {"rows": (5, 5, 2), "positives": (3, 1, 1), "equal": (1, 1, 1), "pairs": (6, 4, 1)}
    for weight, w in weights.items():
        found = measure(shared(0.0), f"gauc[weight={weight}]")
        expected = sum(a * b for a, b in zip(auc.values(), w, strict=True)) / sum(w)
        assert found.value == near(expected)
        assert (found.n_users, found.n_rows, found.skipped) == (3, 12, {"one_class": 1})
        assert found.extra["rows_skipped"] == 3
    assert rows("gauc") == pytest.approx(0.5208, abs=0.5e-4)


def test_probabilities_over_the_rows() -> None:
    loss = -(sum(math.log(p) for p in UP) + sum(math.log(1 - n) for n in DOWN)) / 15
    assert rows("log_loss") == near(loss)
    assert rows("log_loss") == pytest.approx(0.9616, abs=0.5e-4)
    assert rows("brier") == near((sum((1 - p) ** 2 for p in UP) + sum(n**2 for n in DOWN)) / 15)
    assert rows("brier") == pytest.approx(0.3507, abs=0.5e-4)


def test_decisions_at_one_half() -> None:
    # TP .9 .7 .5 .5, FN .4; TN .2 .1, FP the other eight.
    expected = {"precision": 4 / 12, "recall": 4 / 5, "f_beta": 8 / 17, "accuracy": 6 / 15, "fpr": 8 / 10, "mcc": 0}
    assert {metric: rows(metric) for metric in expected} == {metric: near(v) for metric, v in expected.items()}
    assert rows("balanced_accuracy") == near((4 / 5 + 2 / 10) / 2)


def test_a_judged_row_of_grade_0_can_be_the_positive_of_a_binary_gain() -> None:
    # u3's `a` stands first: 1. Others as with gain=binary, u2 in file order at rank 3: (.7039 + .5 + 1 + 0 + .6309)/5.
    config = {"positive_rule": "row_present", "gain": "binary", "ties": "file_order"}
    found = measure(shared(), "ndcg@3", **config)
    assert found.value == near((1.5 / (1 + SECOND + THIRD) + THIRD + 1 + 0 + SECOND) / 5)
    assert found.value == pytest.approx(0.5670, abs=0.5e-4)


def test_an_item_twice_in_a_list_is_refused_or_kept_once() -> None:
    # List a, a, b with truth {a, z}: once kept, a at 1 and b at 2: P 1/3, R 1/2, AP 1/2, NDCG 1/(1 + 1/log2 3) = .6131.
    data = dataset(
        [("u", "a", 1, 0.9), ("u", "a", 1, 0.8), ("u", "b", None, 0.7)], truth=[("u", "a", 1), ("u", "z", 1)]
    )
    with pytest.raises(RecmetricsError) as refused:
        evaluate(data)
    assert refused.value.kind == "duplicates"
    expected = {"precision@3": 1 / 3, "recall@3": 1 / 2, "map@3": 1 / 2, "ndcg@3": 1 / (1 + SECOND)}
    for metric, number in expected.items():
        assert measure(data, metric, duplicates="keep_best").value == near(number)
