"""A slow, obvious reference of the row metrics: pairs counted one by one, thresholds tried one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from recmetrics.config import EvalConfig

Score = float


def is_positive(label: float, config: EvalConfig) -> bool:
    return config.positive_rule == "row_present" or label >= config.relevance_threshold


def auc(rows: Sequence[tuple[float, Score]], config: EvalConfig) -> float | None:
    """Count pairs: a positive above a negative is 1, beside it ½."""
    sign = -1 if config.score_direction == "lower" else 1
    positives = [sign * score for label, score in rows if is_positive(label, config)]
    negatives = [sign * score for label, score in rows if not is_positive(label, config)]
    if not positives or not negatives:
        return None
    won = sum(1.0 if p > n else 0.5 if p == n else 0.0 for p in positives for n in negatives)
    return won / (len(positives) * len(negatives))


@dataclass(frozen=True)
class Rows:
    """Labelled rows as (is positive, score), higher scores better."""

    rows: tuple[tuple[bool, float], ...]
    config: EvalConfig = field(default_factory=EvalConfig)

    @classmethod
    def of(cls, rows: Sequence[tuple[float | None, Score]], config: EvalConfig) -> Rows:
        return cls(tuple((is_positive(y, config), s) for y, s in rows if y is not None), config)

    @property
    def p(self) -> int:
        return sum(y for y, _ in self.rows)

    @property
    def n(self) -> int:
        return len(self.rows)

    def counts(self, threshold: float, rule: str = "ge") -> tuple[int, int, int, int]:
        """TP, FP, FN, TN, row by row."""
        tp = fp = fn = tn = 0
        for y, s in self.rows:
            flagged = s >= threshold if rule == "ge" else s > threshold
            tp, fp = tp + (flagged and y), fp + (flagged and not y)
            fn, tn = fn + (not flagged and y), tn + (not flagged and not y)
        return tp, fp, fn, tn

    def at_threshold(self, name: str) -> float | str:
        tp, fp, fn, tn = self.counts(self.config.threshold, self.config.threshold_rule)
        square = self.config.beta**2
        margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        if name == "accuracy":
            return (tp + tn) / self.n if self.n else "no rows"
        if name == "precision":
            return tp / (tp + fp) if tp + fp else "no predicted positives"
        if name == "recall":
            return tp / (tp + fn) if tp + fn else "no positives"
        if name == "f_beta":
            below = (1 + square) * tp + square * fn + fp
            return (1 + square) * tp / below if below else "no positives"
        if name == "fpr":
            return fp / (fp + tn) if fp + tn else "no negatives"
        if name == "specificity":
            return tn / (fp + tn) if fp + tn else "no negatives"
        if name == "balanced_accuracy":
            if not tp + fn:
                return "no positives"
            return (tp / (tp + fn) + tn / (tn + fp)) / 2 if tn + fp else "no negatives"
        assert name == "mcc"
        return (tp * tn - fp * fn) / math.sqrt(margins) if margins else "empty margin"

    def roc_points(self) -> list[tuple[float, float]]:
        """(FPR, TPR) from (0, 0) to (1, 1), one point per distinct score."""
        points = [(0.0, 0.0)]
        for threshold in sorted({s for _, s in self.rows}, reverse=True):
            tp, fp, fn, tn = self.counts(threshold)
            points.append((fp / (fp + tn), tp / (tp + fn)))
        return points

    def area(self, max_fpr: float) -> float:
        """Trapezoids under the ROC curve for FPR up to `max_fpr`."""
        total = 0.0
        for (x0, y0), (x1, y1) in itertools.pairwise(self.roc_points()):
            right = min(x1, max_fpr)
            if right > x0:
                y_right = y0 + (y1 - y0) * (right - x0) / (x1 - x0)
                total += (right - x0) * (y0 + y_right) / 2
        return total

    def partial_auc(self) -> float:
        m = self.config.max_fpr
        return self.area(1.0) if m == 1 else 0.5 * (1 + (self.area(m) - m * m / 2) / (m - m * m / 2))

    def auprc(self) -> float:
        total, r0, p0 = 0.0, 0.0, 1.0
        for threshold in sorted({s for _, s in self.rows}, reverse=True):
            tp, fp, _, _ = self.counts(threshold)
            r1, p1 = tp / self.p, tp / (tp + fp)
            total += (r1 - r0) * (p1 if self.config.auprc_method == "step" else (p0 + p1) / 2)
            r0, p0 = r1, p1
        return total

    # Probabilities

    def log_loss(self) -> float:
        c = self.config.log_loss_clip
        said = [(y, min(max(s, c), 1 - c)) for y, s in self.rows]
        return math.fsum(-math.log(p if y else 1 - p) for y, p in said) / self.n

    def normalized_entropy(self) -> float:
        share = self.p / self.n
        return self.log_loss() / -(share * math.log(share) + (1 - share) * math.log(1 - share))

    def brier(self) -> float:
        return math.fsum((s - y) ** 2 for y, s in self.rows) / self.n

    def calibration_ratio(self) -> float:
        return math.fsum(s for _, s in self.rows) / self.p

    def isotonic(self) -> dict[float, float]:
        """Pool adjacent violators, starting from the share of positives at every distinct score."""
        pools: list[list[Any]] = []
        for score in sorted({s for _, s in self.rows}):
            outcome = [y for y, s in self.rows if s == score]
            pools.append([sum(outcome), len(outcome), [score]])
            while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
                last = pools.pop()
                pools[-1] = [pools[-1][i] + last[i] for i in range(3)]
        return {score: positives / n for positives, n, scores in pools for score in scores}

    def corp(self) -> tuple[float, float, float]:
        """Miscalibration, discrimination, uncertainty."""
        fitted, share = self.isotonic(), self.p / self.n
        best = math.fsum((fitted[s] - y) ** 2 for y, s in self.rows) / self.n
        base = math.fsum((share - y) ** 2 for y, _ in self.rows) / self.n
        return self.brier() - best, base - best, base

    def ece(self) -> float:
        """Bins of equal width, or of equal numbers of rows; a score's first row decides the bin of all its rows."""
        bins: dict[int, list[tuple[bool, float]]] = {}
        ordered = sorted(self.rows, key=lambda row: row[1])
        first = {s: min(i for i, row in enumerate(ordered) if row[1] == s) for _, s in ordered}
        n_bins = self.config.ece_bins
        for y, s in ordered:
            wide = min(math.floor(s * n_bins), n_bins - 1)
            bins.setdefault(wide if self.config.ece_binning == "width" else first[s] * n_bins // self.n, []).append(
                (y, s)
            )
        gaps = (abs(math.fsum(s for _, s in rows) - sum(y for y, _ in rows)) for rows in bins.values())
        return math.fsum(gaps) / self.n
