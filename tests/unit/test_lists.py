"""Sums over the first places of many lists at once, and what a grade is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.engines import ENGINES
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import evaluate
from recmetrics.metrics.base import METRICS
from recmetrics.metrics.business import ExposureLog
from recmetrics.metrics.gains import discounts, gain_of
from recmetrics.metrics.lists import Lists
from recmetrics.metrics.tie_orders import resolved
from recmetrics.tables import HitTable
from tests.build import dataset, one_list


def hits_of(*labels: float, scores: list[float] | None = None) -> HitTable:
    found = scores or [-float(n) for n in range(len(labels))]
    data = dataset([("u", f"i{n}", y, s) for n, (y, s) in enumerate(zip(labels, found, strict=True))])
    return ENGINES["numpy"].hit_table(data, EvalConfig(), "score")


def test_cutoffs_may_come_in_any_order() -> None:
    lists = Lists(hits_of(1, 0, 1, 1), (3, 1, None, 2))
    assert lists.n_hits.tolist() == [[2, 1, 3, 1]]
    assert lists.reciprocal_rank.tolist() == [[1, 1, 1, 1]]
    expected = [(1 + 2 / 3), 1, 1 + 2 / 3 + 3 / 4, 1]
    assert lists.precision_sum.tolist() == [pytest.approx(expected)]


def test_a_cutoff_beyond_every_list_is_the_whole_list() -> None:
    lists = Lists(hits_of(0, 1), (100, None))
    assert lists.n_hits.tolist() == [[1, 1]]
    assert lists.any_hit.tolist() == [[1, 1]]


def test_one_cutoff_is_the_same_alone_and_among_others() -> None:
    hits = hits_of(1, 0, 1, 1, 0, 2, scores=[3, 3, 2, 2, 2, 1])
    together = Lists(hits, (1, 2, 3, 5, None))
    for column, k in enumerate((1, 2, 3, 5, None)):
        alone = Lists(hits, (k,))
        for name in ("n_hits", "any_hit", "reciprocal_rank", "precision_sum", "precision_sum_over_hits"):
            assert getattr(alone, name)[:, 0].tolist() == getattr(together, name)[:, column].tolist(), (name, k)
        assert alone.dcg(EvalConfig())[:, 0].tolist() == together.dcg(EvalConfig())[:, column].tolist()


GRADES = np.asarray([-2.0, 0.0, 1.0, 2.0, 3.5])


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ("linear", [0, 0, 1, 2, 3.5]),
        ("exp2", [0, 0, 1, 3, 2**3.5 - 1]),
        ("binary", [0, 1, 1, 1, 1]),
        ("exp2_shift", [0, 0, 0, 1, 2**2.5 - 1]),  # threshold 2: 2^(grade − 1) − 1
    ],
)
def test_gains_of_gaining_items(gain: str, expected: list[float]) -> None:
    config = EvalConfig(gain=gain, relevance_threshold=2)
    assert gain_of(GRADES, config).tolist() == pytest.approx(expected)


def test_a_grade_too_large_for_a_power_of_two_is_refused() -> None:
    data = one_list([2000, 1, 0])
    with pytest.raises(RecmetricsError) as refused:
        evaluate(data, metrics=["ndcg[gain=exp2]@3"])
    assert refused.value.kind == "gain_overflow"
    assert "2000" in str(refused.value)
    assert evaluate(data, metrics=["ndcg@3"]).values[0].value == pytest.approx(1)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, [1 / math.log2(i + 1) for i in range(1, 5)]),
        ({"discount": "max2"}, [1, 1, 1 / math.log2(3), 1 / 2]),
        ({"log_base": "e"}, [1 / math.log(i + 1) for i in range(1, 5)]),
        ({"log_base": 10, "discount": "max2"}, [1 / math.log10(max(i, 2)) for i in range(1, 5)]),
    ],
)
def test_discounts_by_rank(config: dict[str, object], expected: list[float]) -> None:
    found = discounts(4, EvalConfig(**config))
    assert found[0] == 0
    assert found[1:].tolist() == pytest.approx(expected)


def test_the_best_order_puts_high_grades_first_and_the_worst_puts_them_last() -> None:
    # A block of four at ranks 1 … 4 holds grades 1 and 3; after it rank 5 is alone.
    hits = hits_of(1, 0, 3, 0, 2, scores=[5, 5, 5, 5, 1])
    best, worst = resolved(hits, "best"), resolved(hits, "worst")
    assert (best.grade.tolist(), best.lo.tolist()) == ([3, 1, 2], [1, 2, 5])
    assert (worst.grade.tolist(), worst.lo.tolist()) == ([1, 3, 2], [3, 4, 5])
    assert best.lo.tolist() == best.hi.tolist()
    assert resolved(hits_of(1, 0), "best").lo.tolist() == [1]


def test_a_log_without_users_has_no_value_per_user() -> None:
    log = ExposureLog({"click": np.asarray([1.0, 0.0])}, None, 2)
    assert log.n_users == 0
    assert METRICS["clicks_per_user"].function(log, EvalConfig()).undefined == "missing column: user"


@pytest.mark.parametrize("k", [4, 1000, 10**9])
def test_k_far_beyond_every_list_costs_nothing_and_is_exact(k: int) -> None:
    # Relevant at ranks 1 and 3 of 3; R = 2. P@K = 2/K; MAP ÷ K: (1 + 2/3)/K.
    data = dataset([("u", "a", 1, 0.9), ("u", "b", 0, 0.8), ("u", "c", 1, 0.7)])
    found = evaluate(data, metrics=[f"precision@{k}", f"recall@{k}", f"map[denominator=k]@{k}"]).values
    assert [value.value for value in found] == pytest.approx([2 / k, 1, (5 / 3) / k], rel=1e-12)


def test_mean_precision_beyond_the_list_goes_on_counting_the_hits() -> None:
    # One relevant item at rank 1 of 1: P@1 … P@4 = 1, 1/2, 1/3, 1/4; their mean is 25/48.
    data = dataset([("u", "a", 1, 0.9)])
    assert evaluate(data, metrics=["map[denominator=mean_p]@4"]).values[0].value == pytest.approx(25 / 48, rel=1e-12)
