"""A group against the rest: values and standard errors against scipy and against sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from recmetrics.inference.auc import auc_estimate, row_influence
from recmetrics.segment_measures import AucMeasure, Part, RatioMeasure, UserMeasure, gap, holm, units

# `multiplicity` of the specification: p = (.01, .04, .03, .005) becomes (.03, .06, .06, .02) under Holm.


def test_holm_adjusts_as_in_the_specification() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_does_not_count_groups_that_cannot_be_judged() -> None:
    assert holm([0.02, None, 0.9, None]) == pytest.approx([0.04, None, 0.9, None])


def user_measure(values: np.ndarray, weights: np.ndarray | None = None) -> UserMeasure:
    weight = np.ones(len(values)) if weights is None else weights
    return UserMeasure(lambda rows: (values, np.where(rows, weight, 0.0)), 0.95, "no users with relevant items")


def test_groups_without_a_common_user_are_compared_by_welchs_t() -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(0.4, 0.2, 12), rng.normal(0.55, 0.05, 40)])
    rows = np.arange(52) < 12
    measure = user_measure(values)
    found = gap(measure.part(rows), measure.rest(rows), 0.95)
    expected = stats.ttest_ind(values[rows], values[~rows], equal_var=False)
    low, high = expected.confidence_interval(0.95)
    assert found.value == pytest.approx(values[rows].mean() - values[~rows].mean(), abs=1e-12)
    assert (found.low, found.high, found.p) == pytest.approx((low, high, expected.pvalue), abs=1e-9)


def test_a_user_in_both_groups_counts_as_one_unit() -> None:
    # Every user is in the group and in the rest with the same value plus .1: the difference has no spread at all,
    # though both means vary widely from user to user.
    values = np.random.default_rng(2).normal(0.5, 0.2, 30)
    group = Part(float(values.mean() + 0.1), (values - values.mean()) / 30, 30)
    rest = Part(float(values.mean()), (values - values.mean()) / 30, 30)
    found = gap(group, rest, 0.95)
    assert found.value == pytest.approx(0.1)
    assert (found.low, found.high, found.p) == (None, None, None)


def test_one_unit_gives_a_difference_without_an_interval() -> None:
    measure = user_measure(np.array([0.2, 0.5, 0.9]))
    rows = np.array([True, False, False])
    found = gap(measure.part(rows), measure.rest(rows), 0.95)
    assert (found.value, found.low, found.p) == (pytest.approx(-0.5), None, None)


def test_the_auc_of_a_group_and_of_the_rest_equal_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    positive, score = rng.random(400) < 0.3, np.round(rng.normal(size=400), 1)
    user = rng.integers(0, 25, 400).astype(np.int32)
    user[:20] = -1
    rows = rng.random(400) < 0.4
    measure = AucMeasure(np.ones(400, dtype=bool), positive, score, user, 25, 0.95)
    assert measure.part(rows).value == pytest.approx(roc_auc_score(positive[rows], score[rows]), abs=1e-12)
    assert measure.rest(rows).value == pytest.approx(roc_auc_score(positive[~rows], score[~rows]), abs=1e-12)


def test_the_auc_of_a_group_has_the_interval_and_influence_of_the_auc_module() -> None:
    rng = np.random.default_rng(4)
    positive, score = rng.random(300) < 0.3, np.round(rng.normal(size=300), 1)
    user = rng.integers(0, 20, 300).astype(np.int32)
    rows = rng.random(300) < 0.5
    part = AucMeasure(np.ones(300, dtype=bool), positive, score, user, 20, 0.95).part(rows)
    estimate = auc_estimate(positive[rows], score[rows], user[rows], 0.95, 20)
    assert (part.low, part.high) == (estimate.low, estimate.high)
    assert part.influence == pytest.approx(estimate.influence, abs=1e-12)
    _, psi = row_influence(positive[rows], score[rows])
    assert part.influence == pytest.approx(np.bincount(user[rows], psi, 20), abs=1e-12)


def test_the_lost_auc_sums_to_what_the_auc_lacks() -> None:
    rng = np.random.default_rng(5)
    positive, score = rng.random(200) < 0.3, np.round(rng.normal(size=200), 1)
    lost = AucMeasure(np.ones(200, dtype=bool), positive, score, None, 0, 0.95).lost()
    assert lost.sum() == pytest.approx(positive.sum() * (1 - roc_auc_score(positive, score)), abs=1e-9)
    assert not np.any(lost[~positive])


def test_one_class_has_no_auc_and_says_which_class_is_missing() -> None:
    positive, score = np.array([True, True, False]), np.array([1.0, 2.0, 3.0])
    measure = AucMeasure(np.ones(3, dtype=bool), positive, score, None, 0, 0.95)
    assert measure.part(np.array([True, True, False])).undefined == "no negatives"
    assert measure.part(np.array([False, False, True])).undefined == "no positives"
    assert measure.part(np.zeros(3, dtype=bool)).undefined == "no rows"


def test_a_ratio_has_the_cluster_standard_error_written_out() -> None:
    # Hits 1, 0, 2 over flags 2, 1, 3 of three users: 3/6 = .5; residuals 0, −.5, .5 over 6; n/(n−1) = 1.5.
    above, below = np.array([1.0, 0, 0, 1, 1, 0]), np.ones(6)
    user = np.array([0, 0, 1, 2, 2, 2], dtype=np.int32)
    part = RatioMeasure(above, below, user, 3, 0.95, "no predicted positives").part(np.ones(6, dtype=bool))
    se = np.sqrt(1.5 * (0.5**2 + 0.5**2) / 36)
    assert part.value == 0.5
    assert part.high == pytest.approx(0.5 + stats.t.ppf(0.975, 2) * se, abs=1e-12)


def test_rows_without_a_user_stand_for_themselves() -> None:
    unit, n_units = units(np.array([0, -1, 1, -1], dtype=np.int32), 2, 4)
    assert (list(unit), n_units) == ([0, 2, 1, 3], 4)
    assert units(None, 0, 3)[1] == 3
