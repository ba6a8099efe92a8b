"""Counts at a threshold: the only place where rows are split into flagged and not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recmetrics.tables import ScoreTable


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix in rows: true and false positives, false and true negatives.

    Whole numbers at a threshold; under a rule per user, expected counts over the orders of equal scores.
    """

    tp: float
    fp: float
    fn: float
    tn: float

    @property
    def n(self) -> float:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def positives(self) -> float:
        return self.tp + self.fn

    @property
    def negatives(self) -> float:
        return self.fp + self.tn

    @property
    def flagged(self) -> float:
        return self.tp + self.fp


def confusion_at(scores: ScoreTable, threshold: float, rule: Literal["ge", "gt"] = "ge") -> Confusion:
    """Return the counts when rows with score ≥ threshold (> under `gt`) are flagged; two look-ups."""
    return confusion_at_code(scores, scores.code_at(threshold, strictly_above=rule == "gt"))


def confusion_at_code(scores: ScoreTable, code: int) -> Confusion:
    """Return the counts when rows with a score code ≥ `code` are flagged."""
    if code > np.iinfo(np.uint32).max:
        missed, passed = scores.n_positives, scores.n_negatives
    else:
        edge = np.uint32(code)
        missed = int(np.searchsorted(scores.positives, edge, side="left"))
        passed = int(np.searchsorted(scores.negatives, edge, side="left"))
    return Confusion(scores.n_positives - missed, scores.n_negatives - passed, missed, passed)


def flagged_rows(score: NDArray[Any], threshold: float, rule: Literal["ge", "gt"] = "ge") -> NDArray[np.bool_]:
    """Return bool[n]: rows with score ≥ threshold (> under `gt`), the same that `confusion_at` counts."""
    exact = score.astype(np.float64)  # NumPy would round the threshold to float32 before it compares
    return np.asarray(exact > threshold if rule == "gt" else exact >= threshold)


def counts_at_codes(scores: ScoreTable, codes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return TP and FP, int64[c] each, when rows with a score code ≥ each of `codes` are flagged."""
    tp = scores.n_positives - np.searchsorted(scores.positives, codes, side="left")
    fp = scores.n_negatives - np.searchsorted(scores.negatives, codes, side="left")
    return tp.astype(np.int64), fp.astype(np.int64)
