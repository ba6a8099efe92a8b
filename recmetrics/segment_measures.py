"""A metric on some of the rows, with what each user moves it by, so that a group and the rest can be compared fairly.

A user may have rows in the group and in the rest. The standard error of their difference therefore comes from the
difference of the two influences, summed by user; for groups that share no user it is the one of Welch's t test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recmetrics.inference.auc import auc_estimate
from recmetrics.inference.means import mean_influence, t_quantile, weighted_mean_interval

Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Part:
    """A metric on some rows.

    Attributes
    ----------
    value, low, high
        The value and its interval, units as clusters; None where there is none, `undefined` then holds the reason.
    influence
        float64[units]: what each unit moves the value by; sums to 0 and is 0 outside the rows.
    n_units
        Units (users; rows without a user stand for themselves) that the value is made of.
    """

    value: float | None
    influence: NDArray[np.float64]
    n_units: int
    undefined: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Gap:
    """Difference group − rest with its interval and two-sided p; None where it cannot be judged."""

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None


class Measure(Protocol):
    """Measures rows: bool[n] over the rows of the dataset."""

    def part(self, rows: Rows) -> Part:
        """Return the value on these rows."""

    def rest(self, rows: Rows) -> Part:
        """Return the value on all other rows; its interval may be left out."""


def gap(group: Part, rest: Part, confidence: float) -> Gap:
    """Return group − rest. Degrees of freedom after Welch 1947 and Satterthwaite 1946."""
    if group.value is None or rest.value is None:
        return Gap(None)
    difference = group.value - rest.value
    if group.n_units < 2 or rest.n_units < 2:
        return Gap(difference)
    own = group.influence * math.sqrt(group.n_units / (group.n_units - 1))
    other = rest.influence * math.sqrt(rest.n_units / (rest.n_units - 1))
    own_variance, other_variance = float(own @ own), float(other @ other)
    se = float(np.linalg.norm(own - other))
    # Rounding leaves a trace of variance among equal values; a sample without spread proves nothing.
    if se <= 1e-12:
        return Gap(difference)
    below = own_variance**2 / (group.n_units - 1) + other_variance**2 / (rest.n_units - 1)
    degrees = (own_variance + other_variance) ** 2 / below
    from scipy import special  # lazily: an import of half a second that most uses of the package never need

    reach = t_quantile(confidence, degrees) * se
    p = 2 * float(special.stdtr(degrees, -abs(difference) / se))
    return Gap(difference, difference - reach, difference + reach, p)


def holm(p: list[float | None]) -> list[float | None]:
    """Return the p values adjusted for testing all that are given (Holm 1979); None stays None and does not count."""
    order = sorted((value, i) for i, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for rank, (value, i) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * value))
        adjusted[i] = largest
    return adjusted


def units(user: NDArray[np.int32] | None, n_users: int, n_rows: int) -> tuple[NDArray[np.int64], int]:
    """Return int64[n] the unit of each row and the number of units: users, and rows without one by themselves."""
    if user is None:
        return np.arange(n_rows), n_rows
    alone = user < 0
    unit = user.astype(np.int64)
    unit[alone] = n_users + np.arange(int(alone.sum()))
    return unit, n_users + int(alone.sum())


class AucMeasure:
    """Pooled AUC. `rows_used` bool[n] says which rows of the dataset have a label and a score."""

    def __init__(
        self,
        rows_used: Rows,
        positive: NDArray[np.bool_],
        score: NDArray[Any],
        user: NDArray[np.int32] | None,
        n_users: int,
        confidence: float,
    ) -> None:
        self._used, self._positive, self._score, self._user = rows_used, positive, score, user
        self._confidence = confidence
        distinct, code = np.unique(score[rows_used], return_inverse=True)
        unit, self._n_units = units(user, n_users, len(score))
        self._n_codes = len(distinct)
        self._at = [np.flatnonzero(rows_used & positive), np.flatnonzero(rows_used & ~positive)]
        place = np.cumsum(rows_used) - 1
        self._code = [code[place[at]] for at in self._at]
        self._unit = [unit[at] for at in self._at]

    def _beaten(self, asked: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of `other` codes below each asked code, equal ones counting one half."""
        # Counting by code replaces a sort per group: all groups share the order of the scores.
        held = np.bincount(other, minlength=self._n_codes)
        return np.asarray((np.cumsum(held) - held / 2.0)[asked] / len(other), dtype=np.float64)

    def part(self, rows: Rows) -> Part:
        found = self._compared(rows)
        if found.value is None:
            return found
        use = rows & self._used
        user = None if self._user is None else self._user[use]
        estimate = auc_estimate(self._positive[use], self._score[use], user, self._confidence)
        return Part(found.value, found.influence, found.n_units, low=estimate.low, high=estimate.high)

    def rest(self, rows: Rows) -> Part:
        return self._compared(~rows)

    def _compared(self, rows: Rows) -> Part:
        keep = [rows[at] for at in self._at]
        code = [codes[kept] for codes, kept in zip(self._code, keep, strict=True)]
        unit = [codes[kept] for codes, kept in zip(self._unit, keep, strict=True)]
        nothing = np.zeros(self._n_units)
        if len(code[0]) == 0 or len(code[1]) == 0:
            reason = "no positives" if len(code[1]) else "no negatives" if len(code[0]) else "no rows"
            return Part(None, nothing, 0, reason)
        beaten, beating = self._beaten(code[0], code[1]), 1.0 - self._beaten(code[1], code[0])
        value = float(beaten.mean())
        influence = _summed(unit[0], (beaten - value) / len(beaten), self._n_units)
        influence += _summed(unit[1], (beating - value) / len(beating), self._n_units)
        held = np.bincount(unit[0], minlength=self._n_units) + np.bincount(unit[1], minlength=self._n_units)
        return Part(value, influence, int(np.count_nonzero(held)))

    def lost(self) -> NDArray[np.float64]:
        """Return float64[n]: share of the negatives that each positive does not beat; sums to P(1−AUC)."""
        loss = np.zeros(len(self._used))
        if all(len(at) for at in self._at):
            loss[self._at[0]] = 1.0 - self._beaten(self._code[0], self._code[1])
        return loss


class RatioMeasure:
    """Σ above / Σ below over rows, such as hits over flags; `undefined` says why when nothing is below."""

    def __init__(
        self,
        above: NDArray[np.float64],
        below: NDArray[np.float64],
        user: NDArray[np.int32] | None,
        n_users: int,
        confidence: float,
        undefined: str,
    ) -> None:
        self._above, self._below, self._confidence, self._undefined = above, below, confidence, undefined
        self._unit, self._n_units = units(user, n_users, len(above))

    def part(self, rows: Rows) -> Part:
        unit, below = self._unit[rows], self._below[rows]
        total = float(below.sum())
        if total == 0:
            return Part(None, np.zeros(self._n_units), 0, self._undefined)
        value = float(self._above[rows].sum()) / total
        influence = _summed(unit, (self._above[rows] - value * below) / total, self._n_units)
        n_units = int(np.count_nonzero(np.bincount(unit, below != 0, self._n_units)))
        return _with_interval(value, influence, n_units, self._confidence)

    def rest(self, rows: Rows) -> Part:
        return self.part(~rows)


class UserMeasure:
    """A weighted mean over users; `of` returns value, weight float64[u] on some rows: NaN or weight 0 = not counted."""

    def __init__(
        self, of: Callable[[Rows], tuple[NDArray[np.float64], NDArray[np.float64]]], confidence: float, undefined: str
    ) -> None:
        self._of, self._confidence, self._undefined = of, confidence, undefined

    def part(self, rows: Rows) -> Part:
        values, weights = self._of(rows)
        counted = np.isfinite(values) & (weights > 0)
        if not counted.any():
            return Part(None, np.zeros(len(values)), 0, self._undefined)
        influence = np.zeros(len(values))
        values, weights = values[counted], weights[counted]
        found = weighted_mean_interval(values, weights, self._confidence)
        influence[counted] = mean_influence(values, weights, found.value)
        return Part(found.value, influence, found.n, low=found.low, high=found.high)

    def rest(self, rows: Rows) -> Part:
        return self.part(~rows)


def _summed(unit: NDArray[np.int64], amount: NDArray[np.float64], n_units: int) -> NDArray[np.float64]:
    # Without any row, bincount forgets that it was given weights and returns whole numbers.
    return np.bincount(unit, amount, n_units).astype(np.float64, copy=False)


def _with_interval(value: float, influence: NDArray[np.float64], n_units: int, confidence: float) -> Part:
    spread = float(np.linalg.norm(influence))
    if n_units < 2 or spread <= 1e-12:
        return Part(value, influence, n_units)
    reach = t_quantile(confidence, n_units - 1) * spread * math.sqrt(n_units / (n_units - 1))
    return Part(value, influence, n_units, low=value - reach, high=value + reach)
