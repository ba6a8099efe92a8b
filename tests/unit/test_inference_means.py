"""Means over users and their t intervals."""

from __future__ import annotations

import math

import numpy as np

from recmetrics.inference.means import column_means, weighted_mean_interval


def test_eight_users_reproduce_the_golden_t_interval() -> None:
    # diagnostics_golden.json `paired_eight_users`
    values = np.array([0.3, -0.1, 0.2, 0.0, 0.5, 0.1, -0.2, 0.4])
    found = weighted_mean_interval(values, np.ones(8))
    assert abs(found.value - 0.15) < 1e-12
    assert found.n == 8
    assert found.low is not None
    assert found.high is not None
    assert found.se is not None
    assert abs(found.se - 0.2449489743 / math.sqrt(8)) < 1e-9
    assert abs(found.low + 0.0547824672) < 1e-9
    assert abs(found.high - 0.3547824672) < 1e-9
    columns = column_means(np.column_stack([values, 2 * values]))
    assert columns.n.tolist() == [8, 8]
    np.testing.assert_allclose(columns.value, [0.15, 0.3], rtol=0, atol=1e-12)
    np.testing.assert_allclose(columns.value[0] - columns.reach[0], -0.0547824672, rtol=0, atol=1e-9)
    np.testing.assert_allclose(columns.reach[1], 2 * columns.reach[0], rtol=1e-12)


def test_users_that_are_not_counted_play_no_part() -> None:
    found = column_means(np.array([[1.0, np.nan], [np.nan, np.nan], [0.0, np.nan]]))
    assert (found.value[0], found.n.tolist()) == (0.5, [2, 0])
    assert np.isnan(found.value[1])
    # Two values, 1 and 0: s = √½, SE = s/√2 = ½, t(.975; 1) = 12.7062047364.
    assert math.isclose(found.reach[0], 0.5 * 12.7062047364, rel_tol=1e-10)
    assert np.isnan(found.reach[1])


def test_equal_weights_are_the_plain_mean() -> None:
    values = np.array([0.2, 0.9, 0.4])
    weighted, plain = weighted_mean_interval(values, np.full(3, 7.0)), column_means(values[:, None])
    assert weighted.low is not None
    assert math.isclose(weighted.value, plain.value[0])
    assert math.isclose(weighted.low, plain.value[0] - plain.reach[0])


def test_a_ratio_has_the_linearised_standard_error() -> None:
    # Σwv/Σw = (1·1 + 3·0)/4 = 1/4; influences 1·(3/4)/4 = 3/16 and 3·(−1/4)/4 = −3/16; SE² = 2/1·2·(3/16)² = 9/64.
    found = weighted_mean_interval(np.array([1.0, 0.0]), np.array([1.0, 3.0]))
    assert found.value == 0.25
    assert found.se is not None
    assert math.isclose(found.se, 3 / 8)


def test_users_without_weight_or_value_are_not_counted() -> None:
    found = weighted_mean_interval(np.array([1.0, 0.0, 0.5, np.nan]), np.array([1.0, 3.0, 0.0, 2.0]))
    assert found.value == 0.25
    assert found.n == 2


def test_too_few_users_or_no_spread_give_a_value_without_an_interval() -> None:
    for values in ([0.4], [1.0, 1.0, 1.0], [0.1] * 7):  # seven times .1 add up to .7 but for the last bit
        found = weighted_mean_interval(np.array(values), np.ones(len(values)))
        columns = column_means(np.array(values)[:, None])
        assert found.low is None
        assert math.isclose(columns.value[0], values[0])
        assert np.isnan(columns.reach[0])
    empty = weighted_mean_interval(np.empty(0), np.empty(0))
    assert math.isnan(empty.value)
    assert empty.low is None
    assert empty.n == 0
    nobody = column_means(np.empty((0, 2)))
    assert np.isnan(nobody.value).all()
    assert (nobody.n.tolist(), np.isnan(nobody.reach).tolist()) == ([0, 0], [True, True])
