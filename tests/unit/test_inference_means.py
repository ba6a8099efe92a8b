"""Means over users and their t intervals."""

from __future__ import annotations

import math

import numpy as np

from recmetrics.inference.means import mean_interval, weighted_mean_interval


def test_eight_users_reproduce_the_golden_t_interval() -> None:
    # diagnostics_golden.json `paired_eight_users`
    found = mean_interval(np.array([0.3, -0.1, 0.2, 0.0, 0.5, 0.1, -0.2, 0.4]))
    assert abs(found.value - 0.15) < 1e-12
    assert found.n == 8
    assert found.low is not None
    assert found.high is not None
    assert found.se is not None
    assert abs(found.se - 0.2449489743 / math.sqrt(8)) < 1e-9
    assert abs(found.low + 0.0547824672) < 1e-9
    assert abs(found.high - 0.3547824672) < 1e-9


def test_users_that_are_not_counted_play_no_part() -> None:
    values = np.array([1.0, np.nan, 0.0, 9.0])
    found = mean_interval(values, np.array([True, True, True, False]))
    assert found.value == 0.5
    assert found.n == 2


def test_equal_weights_are_the_plain_mean() -> None:
    values = np.array([0.2, 0.9, 0.4])
    weighted, plain = weighted_mean_interval(values, np.full(3, 7.0)), mean_interval(values)
    assert weighted.low is not None
    assert plain.low is not None
    assert math.isclose(weighted.value, plain.value)
    assert math.isclose(weighted.low, plain.low)


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
    assert mean_interval(np.array([0.4])).low is None
    assert mean_interval(np.array([1.0, 1.0, 1.0])).low is None
    empty = mean_interval(np.empty(0))
    assert math.isnan(empty.value)
    assert empty.low is None
    assert empty.n == 0
