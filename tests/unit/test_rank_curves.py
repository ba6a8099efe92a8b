"""Curves against K, their ceiling and their random line, against every order written out and closed forms."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import stats

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.engines import NumpyEngine
from recmetrics.rank_curves import (
    CURVES,
    RankCurves,
    as_one_list,
    k_range,
    rank_curves,
    user_values,
    value_counts,
    whole_counts,
)
from recmetrics.tables import HitTable
from tests import build, oracle

# Three users: graded labels, a tie that K = 2 cuts, a list shorter than most K, a user without relevant items.
ROWS = [
    ("u", "a", 0, 0.9),
    ("u", "b", 2, 0.8),
    ("u", "c", 0, 0.8),
    ("u", "d", 1, 0.3),
    ("u", "e", 0, 0.1),
    ("v", "a", 1, 0.7),
    ("v", "b", 0, 0.2),
    ("w", "a", 0, 0.5),
    ("w", "b", 0, 0.4),
]
KS = (1, 2, 3, 4, 5, 6)


def hits_of(data: Dataset, config: EvalConfig) -> HitTable:
    return NumpyEngine().hit_table(data, config, data.models[0])


def curves_of(data: Dataset, ks: tuple[int, ...] = KS, **fields: object) -> RankCurves:
    config = EvalConfig(**fields)
    return rank_curves(hits_of(data, config), config, data.models[0], ks)


def by_orders(rows: list[tuple[str, str, float, float]], metric: str, k: int, **fields: object) -> float | None:
    """The mean over users, every order of equal scores written out."""
    return oracle.mean(oracle.Case(rows), EvalConfig(**fields), f"{metric}@{k}")


@pytest.mark.parametrize("metric", list(CURVES))
def test_the_line_is_the_mean_over_users(metric: str) -> None:
    found = curves_of(build.dataset(ROWS)).curves[metric]
    assert found.value == pytest.approx([by_orders(ROWS, metric, k) for k in KS], abs=1e-12)


@pytest.mark.parametrize("metric", list(CURVES))
@pytest.mark.parametrize("fields", [{}, {"users_without_relevant": "zero"}, {"gain": "exp2", "map_denominator": "r"}])
def test_the_random_line_is_the_mean_over_all_orders_of_each_list(metric: str, fields: dict[str, str]) -> None:
    shuffled = [(user, item, label, 0.0) for user, item, label, _ in ROWS]
    found = curves_of(build.dataset(ROWS), **fields).curves[metric]
    assert found.random == pytest.approx([by_orders(shuffled, metric, k, **fields) for k in KS], abs=1e-12)


@pytest.mark.parametrize("metric", list(CURVES))
@pytest.mark.parametrize("fields", [{}, {"users_without_relevant": "zero"}, {"precision_denominator": "min_k_n"}])
def test_the_ceiling_is_the_value_of_scores_that_know_the_labels(metric: str, fields: dict[str, str]) -> None:
    knowing = [(user, item, label, float(label)) for user, item, label, _ in ROWS]
    found = curves_of(build.dataset(ROWS), **fields).curves[metric]
    assert found.ceiling == pytest.approx([by_orders(knowing, metric, k, **fields) for k in KS], abs=1e-12)


def test_the_ceiling_of_precision_and_recall_are_their_closed_forms() -> None:
    # Relevant items R = 2 (u) and 1 (v); w has none and is left out.
    found = curves_of(build.dataset(ROWS)).curves
    assert found["precision"].ceiling == pytest.approx([(min(2, k) + min(1, k)) / k / 2 for k in KS])
    assert found["recall"].ceiling == pytest.approx([(min(2, k) / 2 + 1) / 2 for k in KS])
    for metric in ("hit_rate", "mrr", "map", "ndcg"):
        assert found[metric].ceiling == pytest.approx(np.ones(len(KS)))


def test_the_random_hit_rate_and_precision_are_hypergeometric() -> None:
    # One user, 50 candidates, 4 relevant: hits in K places are hypergeometric (scipy, and C(46, K) / C(50, K)).
    rows = [("u", f"i{n}", int(n < 4), -float(n)) for n in range(50)]
    found = curves_of(build.dataset(rows), (1, 5, 20, 50)).curves
    expected = [1 - stats.hypergeom(50, 4, k).pmf(0) for k in (1, 5, 20, 50)]
    assert found["hit_rate"].random == pytest.approx(expected, abs=1e-12)
    assert found["hit_rate"].random[1] == pytest.approx(1 - comb(46, 5) / comb(50, 5), abs=1e-12)
    assert found["precision"].random == pytest.approx([4 / 50] * 4, abs=1e-12)
    assert found["recall"].random == pytest.approx([k / 50 for k in (1, 5, 20, 50)], abs=1e-12)


def test_one_relevant_item_in_a_list_of_1_and_99_gives_the_published_random_baseline() -> None:
    # metrics.md §1.5: HR@10 .1000, NDCG@10 .0454, MRR@10 .0293 for a random scorer on lists of 1 + 99.
    rows = [("u", f"i{n}", int(n == 0), -float(n)) for n in range(100)]
    found = curves_of(build.dataset(rows), (10,)).curves
    assert found["hit_rate"].random[0] == pytest.approx(0.1, abs=1e-12)
    assert found["ndcg"].random[0] == pytest.approx(0.0454, abs=5e-5)
    assert found["mrr"].random[0] == pytest.approx(sum(1 / rank for rank in range(1, 11)) / 100, abs=1e-12)


@pytest.mark.parametrize("metric", list(CURVES))
def test_shuffling_lists_again_and_again_comes_close_to_the_random_line(metric: str) -> None:
    data = build.dataset(ROWS)
    rng = np.random.default_rng(7)
    drawn = []
    for _ in range(400):
        scores = dict(zip(range(len(ROWS)), rng.permutation(len(ROWS)), strict=True))
        rows = [(user, item, label, float(scores[i])) for i, (user, item, label, _) in enumerate(ROWS)]
        drawn.append(by_orders(rows, metric, 2))
    expected = curves_of(data).curves[metric].random[1]
    assert abs(np.mean(drawn) - expected) < 4 * np.std(drawn) / np.sqrt(len(drawn)) + 1e-9


def test_relevant_items_that_were_never_scored_lift_the_ceiling_and_not_the_random_line() -> None:
    # One scored hit at rank 2 of two rows, three relevant items in the truth: a perfect list would fill three places.
    data = build.one_list([0, 1], unscored=[1, 1])
    found = curves_of(data, (1, 3)).curves
    assert found["precision"].ceiling == pytest.approx([1, 1])
    assert found["recall"].ceiling == pytest.approx([1 / 3, 1])
    assert found["recall"].random == pytest.approx([1 / 6, 1 / 3])


def test_a_user_missing_from_the_run_counts_zero_but_could_have_been_served_perfectly() -> None:
    data = build.dataset([("u", "a", 1, 1.0)], truth=[("u", "a", 1), ("v", "a", 1)])
    found = curves_of(data, (1,)).curves["hit_rate"]
    assert (found.value[0], found.ceiling[0], found.random[0]) == (0.5, 1.0, 0.5)


@pytest.mark.parametrize("metric", list(CURVES))
def test_the_tie_band_runs_from_the_worst_to_the_best_order(metric: str) -> None:
    found = curves_of(build.dataset(ROWS)).curves[metric]
    assert found.tie_low == pytest.approx([by_orders(ROWS, metric, k, ties="worst") for k in KS], abs=1e-12)
    assert found.tie_high == pytest.approx([by_orders(ROWS, metric, k, ties="best") for k in KS], abs=1e-12)


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_a_chosen_order_of_equal_scores_moves_the_line_and_not_the_band(ties: str) -> None:
    average, chosen = curves_of(build.dataset(ROWS)), curves_of(build.dataset(ROWS), ties=ties)
    end = "tie_high" if ties == "best" else "tie_low"
    for metric in CURVES:
        assert chosen.curves[metric].value == pytest.approx(getattr(average.curves[metric], end))
        assert chosen.curves[metric].tie_low == pytest.approx(average.curves[metric].tie_low)


def test_without_equal_scores_no_order_decides_anything() -> None:
    found = curves_of(build.one_list([0, 1, 0, 1])).curves["ndcg"]
    assert not found.ties_decide.any()
    assert found.tie_low is found.value


def test_a_constant_score_is_decided_by_its_ties_alone() -> None:
    rows = [(user, f"i{n}", int(n == 0), 1.0) for user in "uvw" for n in range(4)]
    found = curves_of(build.dataset(rows), (1, 4)).curves["hit_rate"]
    assert list(found.ties_decide) == [True, False]


def test_the_interval_is_the_t_interval_over_users() -> None:
    # P@1 of u, v with relevant items: .5·0 + … — u: a (0.9) is no hit, so 0; v: a hit, so 1. Mean .5, sd √.5.
    found = curves_of(build.dataset(ROWS)).curves["precision"]
    reach = stats.t.ppf(0.975, 1) * np.std([0, 1], ddof=1) / np.sqrt(2)
    assert reach > 0.5  # so both ends are cut at the range of the metric
    assert (found.low[0], found.high[0]) == (0.0, 1.0)
    # R@2, ties averaged: u has one of its two in half of the orders, so .25; v has 1. A narrow interval is not cut.
    reach = stats.t.ppf(0.65, 1) * np.std([0.25, 1], ddof=1) / np.sqrt(2)
    recall = curves_of(build.dataset(ROWS), confidence=0.3).curves["recall"]
    assert (recall.low[1], recall.high[1]) == pytest.approx((0.625 - reach, 0.625 + reach))


def test_a_single_user_has_no_interval() -> None:
    found = curves_of(build.one_list([0, 1, 1]), (1, 2)).curves["recall"]
    assert np.isnan(found.low).all()


def test_users_are_counted_by_what_limits_their_value() -> None:
    found = curves_of(build.dataset(ROWS))
    # Lists of u and v hold 5 and 2 items; they have 2 and 1 relevant ones; w has none.
    assert (found.n_users, dict(found.skipped)) == (2, {"without_relevant": 1})
    assert list(found.n_shorter) == [0, 0, 1, 1, 1, 2]
    assert list(found.n_exactly_k_relevant) == [1, 1, 0, 0, 0, 0]
    assert (found.shortest, found.longest, found.n_one_relevant) == (2, 5, 1)
    assert list(found.lengths.n) == [0, 0, 1, 0, 0, 1, 0]
    assert list(found.positives.n) == [0, 1, 1, 0, 0, 0, 0]


def test_nobody_to_average_leaves_every_line_undefined() -> None:
    found = curves_of(build.dataset([("u", "a", 0, 1.0)]), (1, 2))
    assert found.n_users == 0
    assert (found.shortest, found.longest) == (0, 0)
    for curve in found.curves.values():
        assert np.isnan(curve.value).all()
        assert np.isnan(curve.ceiling).all()


def test_data_without_users_can_be_ranked_as_one_list() -> None:
    data = as_one_list(build.dataset([(None, "a", 1, 0.9), (None, "a", 0, 0.8), (None, "b", 1, 0.1)]))
    found = curves_of(data, (1, 2, 3)).curves
    assert list(found["recall"].value) == [0.5, 0.5, 1.0]
    assert data.n_users == 1


def test_what_is_kept_for_all_viewers_cannot_be_written_to() -> None:
    found = curves_of(build.dataset(ROWS))
    for array in (found.ks, found.n_shorter, found.lengths.n, found.curves["map"].value):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_values_per_user_are_those_behind_the_line() -> None:
    config = EvalConfig()
    values = user_values(hits_of(build.dataset(ROWS), config), config, "recall", 4)
    assert list(values) == [1.0, 1.0]
    worst = EvalConfig(ties="worst")
    assert list(user_values(hits_of(build.dataset(ROWS), worst), worst, "recall", 2)) == [0.0, 1.0]


def test_a_value_on_an_edge_belongs_to_the_bin_above() -> None:
    # 3/10 · 20 is 5.999… in floating point and must still be bin 6.
    found = value_counts(np.array([0.0, 0.3, 1.0, 0.04, np.nan]))
    assert {int(i): int(found.n[i]) for i in np.flatnonzero(found.n)} == {0: 2, 6: 1, 19: 1}


def test_whole_numbers_beyond_the_axis_are_counted_apart() -> None:
    found = whole_counts(np.array([0, 1, 1, 7]), 2)
    assert (list(found.n), list(found.left), found.width, found.n_beyond) == ([1, 2, 0], [-0.5, 0.5, 1.5], 1.0, 1)


def test_a_long_axis_of_whole_numbers_has_wider_bins() -> None:
    found = whole_counts(np.array([0, 1, 2, 119, 120]), 119)
    assert (found.width, len(found.n), found.n[0], found.n[1], found.n[-1], found.n_beyond) == (2.0, 60, 2, 1, 1, 1)


def test_cutoffs_are_all_up_to_sixty_and_then_denser_at_the_top() -> None:
    assert k_range(4) == (1, 2, 3, 4)
    many = k_range(1000, always=(137, 5000))
    assert many[:20] == tuple(range(1, 21))
    assert (many[-1], len(many) <= 62, 137 in many, 5000 in many) == (1000, True, True, False)
