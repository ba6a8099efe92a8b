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


@dataclass(frozen=True, eq=False)
class ColumnMeans:
    """Means over users, one per column.

    Attributes
    ----------
    value
        float64[c]; NaN where no user has a value.
    reach
        float64[c]: half the width of the t interval with n − 1 degrees of freedom; NaN where there is no interval, as
        with `MeanEstimate`.
    n
        int64[c]: users with a value.
    """

    value: NDArray[np.float64]
    reach: NDArray[np.float64]
    n: NDArray[np.int64]


def column_means(values: NDArray[np.float64], confidence: float = 0.95) -> ColumnMeans:
    """Return the mean over users of each column of float64[u, c] with its interval; NaN is a user without a value."""
    defined = ~np.isnan(values)
    whole = bool(defined.all())
    n = np.full(values.shape[1], len(values)) if whole else defined.sum(axis=0)
    total = (values if whole else np.where(defined, values, 0.0)).sum(axis=0)
    mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    away = values - mean
    if not whole:
        away[~defined] = 0.0
    squares = np.einsum("ij,ij->j", away, away)
    reach = np.full(len(n), np.nan)
    for i in np.flatnonzero(_differs(values, defined, whole)):
        reach[i] = t_quantile(confidence, int(n[i]) - 1) * math.sqrt(squares[i] / (n[i] - 1) / n[i])
    return ColumnMeans(mean, reach, n)


def _differs(values: NDArray[np.float64], defined: NDArray[np.bool_], whole: bool) -> NDArray[np.bool_]:
    """Return bool[c]: columns whose defined values are not all one value.

    Compared, not subtracted: the mean of equal values may miss them by the last bit, which is no spread.
    """
    if len(values) == 0:
        return np.zeros(values.shape[1], dtype=bool)
    first = values[0] if whole else values[defined.argmax(axis=0), np.arange(values.shape[1])]
    return np.asarray(((values != first) & defined).any(axis=0))


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
