"""Intervals for means over users: the user is the unit, its rows are not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class MeanEstimate:
    """A mean over users.

    Attributes
    ----------
    value
        The mean; NaN without a counted user.
    se, low, high
        Standard error and t interval with n − 1 degrees of freedom; None with fewer than two users, and when all users
        have one value, because a sample without spread does not say how large the spread is.
    n
        Users counted.
    """

    value: float
    se: float | None
    low: float | None
    high: float | None
    n: int


def mean_interval(
    values: NDArray[np.float64], counted: NDArray[np.bool_] | None = None, confidence: float = 0.95
) -> MeanEstimate:
    """Return the mean of the counted users' values (float64[u]) with its t interval."""
    used = values if counted is None else values[counted]
    return weighted_mean_interval(used, np.ones(len(used)), confidence)


def weighted_mean_interval(
    values: NDArray[np.float64], weights: NDArray[np.float64], confidence: float = 0.95
) -> MeanEstimate:
    """Return Σ w·v / Σ w over users with its interval, as a ratio whose weights vary from sample to sample too.

    Parameters
    ----------
    values, weights
        float64[u]; users with weight 0 or an undefined value are not counted.
    """
    used = np.isfinite(values) & (weights > 0)
    values, weights = values[used].astype(np.float64), weights[used].astype(np.float64)
    n = len(values)
    if n == 0:
        return MeanEstimate(math.nan, None, None, None, 0)
    mean = float(values @ weights / weights.sum())
    influence = mean_influence(values, weights, mean)
    if n < 2 or np.ptp(values) == 0:
        return MeanEstimate(mean, None, None, None, n)
    se = math.sqrt(n / (n - 1) * float(influence @ influence))
    reach = t_quantile(confidence, n - 1) * se
    return MeanEstimate(mean, se, mean - reach, mean + reach, n)


def mean_influence(values: NDArray[np.float64], weights: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Return float64[u]: what each user moves the weighted mean by; sums to 0."""
    return np.asarray(weights * (values - mean) / weights.sum(), dtype=np.float64)


def t_quantile(confidence: float, degrees: float) -> float:
    """Return the two-sided quantile of Student's t; `degrees` above 0, whole or not."""
    from scipy import special  # lazily: an import of half a second that most uses of the package never need

    return float(special.stdtrit(degrees, 0.5 + confidence / 2))
