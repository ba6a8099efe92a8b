"""Counts at a threshold: the only place where rows are split into flagged and not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recmetrics.tables import ScoreTable


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix in rows: true and false positives, false and true negatives."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def n(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def positives(self) -> int:
        return self.tp + self.fn

    @property
    def negatives(self) -> int:
        return self.fp + self.tn

    @property
    def flagged(self) -> int:
        return self.tp + self.fp


def confusion_at(scores: ScoreTable, threshold: float, rule: Literal["ge", "gt"] = "ge") -> Confusion:
    """Return the counts when rows with score ≥ threshold (> under `gt`) are flagged. Two look-ups, whatever the size."""
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
