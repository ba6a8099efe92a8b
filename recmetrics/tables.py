"""The two small tables that carry everything: HitTable for rankings, ScoreTable for thresholds.

An engine scans the rows once and makes them; metrics, curves, tests and sliders look at nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class HitTable:
    """One row per scored item that can gain something, sorted by user, then rank.

    Attributes
    ----------
    user, lo, hi
        int32[h]: user code, first and last 1-based rank of the item's block of equal scores.
    grade, relevant
        float64[h] label of the item and bool[h], whether it counts as relevant. Rows that gain but are not relevant
        exist only under `grades = all`.
    n_candidates, n_relevant
        int64[u] per user code: scored candidates, relevant items in the truth (scored or not).
    in_truth
        bool[u]: users with at least one truth row.
    ideal_user, ideal_grade, ideal_relevant
        The ideal list: all judged items that can gain, sorted by user, then grade descending.
    """

    user: NDArray[np.int32]
    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    grade: NDArray[np.float64]
    relevant: NDArray[np.bool_]
    n_candidates: NDArray[np.int64]
    n_relevant: NDArray[np.int64]
    in_truth: NDArray[np.bool_]
    ideal_user: NDArray[np.int32]
    ideal_grade: NDArray[np.float64]
    ideal_relevant: NDArray[np.bool_]

    @property
    def n_users(self) -> int:
        return len(self.n_candidates)


@dataclass(frozen=True, eq=False)
class Levels:
    """Distinct scores ascending: p float64[d], n and n_positive float64[d] rows and positives at each."""

    p: NDArray[np.float64]
    n: NDArray[np.float64]
    n_positive: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of positives and of negatives, each sorted ascending, as order-preserving uint32 codes.

    `values` maps a code to its score: None for float32 scores, whose code is their bit pattern; else the sorted
    distinct float64 scores, whose code is their index.
    """

    positives: NDArray[np.uint32]
    negatives: NDArray[np.uint32]
    values: NDArray[np.float64] | None

    @property
    def n_positives(self) -> int:
        return len(self.positives)

    @property
    def n_negatives(self) -> int:
        return len(self.negatives)

    @property
    def n_rows(self) -> int:
        return len(self.positives) + len(self.negatives)

    @cached_property
    def levels(self) -> Levels:
        """The distinct scores with their counts, as calibration needs them; curves and thresholds never do."""
        codes = np.concatenate([self.negatives, self.positives])
        codes.sort()
        first = np.flatnonzero(np.concatenate([np.ones(min(len(codes), 1), dtype=bool), codes[1:] != codes[:-1]]))
        distinct = codes[first]
        n = np.diff(np.append(first, len(codes))).astype(np.float64)
        left = np.searchsorted(self.positives, distinct, side="left")
        right = np.searchsorted(self.positives, distinct, side="right")
        return Levels(self.decode(distinct), n, (right - left).astype(np.float64))

    def decode(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Return the scores of codes, float64."""
        if self.values is not None:
            return self.values[codes]
        return decode_float32(codes)

    def code_at(self, threshold: float, strictly_above: bool = False) -> int:
        """Return the smallest code whose score is ≥ the threshold (> when `strictly_above`); 2³² when none is."""
        if self.values is not None:
            return int(np.searchsorted(self.values, threshold, side="right" if strictly_above else "left"))
        with np.errstate(over="ignore"):  # a threshold beyond float32 becomes ±∞, which is the right neighbour
            nearest = np.float32(threshold)
            # As Python numbers: NumPy would round a plain float to float32 before it compares.
            below = float(nearest) <= float(threshold) if strictly_above else float(nearest) < float(threshold)
            if below and nearest == np.inf:
                return 2**32
            if below:
                nearest = np.nextafter(nearest, np.float32(np.inf), dtype=np.float32)
        return int(encode_float32(np.asarray([nearest], dtype=np.float32))[0])


SIGN = np.uint32(0x80000000)


def encode_float32(scores: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Return uint32 codes in the order of the scores; −0.0 and 0.0 get one code. NaN must not occur."""
    bits = (scores + np.float32(0.0)).view(np.uint32)
    if bits.max(initial=0) < SIGN:
        bits |= SIGN  # no negative score, as with probabilities: one pass instead of four
        return bits
    mask = (bits.view(np.int32) >> 31).view(np.uint32) | np.uint32(0x80000000)
    bits ^= mask
    return bits


def decode_float32(codes: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return the float64 scores of `encode_float32`."""
    codes = np.asarray(codes, dtype=np.uint32)
    mask = np.where(codes >> 31 == 1, np.uint32(0x80000000), np.uint32(0xFFFFFFFF))
    return (codes ^ mask).view(np.float32).astype(np.float64)


def frozen(*arrays: NDArray[Any]) -> None:
    """Switch writing off for arrays that are shared."""
    for array in arrays:
        array.setflags(write=False)
