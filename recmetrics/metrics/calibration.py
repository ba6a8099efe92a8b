"""Are scores usable as probabilities? From the distinct scores with their positives and negatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.metrics.base import Measured, metric, missing_class, undefined
from recmetrics.tables import Levels, ScoreTable
from recmetrics.text import N_

N_DRAWS = 1000
NORMAL_FROM = 5.0  # a bin's variance from which its count is taken as normal


def _unusable(scores: ScoreTable, *, both_classes: bool = False) -> Measured | None:
    if scores.n_rows == 0:
        return undefined("no rows")
    ends = [a[i] for a in (scores.positives, scores.negatives) if len(a) for i in (0, -1)]
    values = scores.decode(np.asarray(ends, dtype=np.uint32))
    if values.min() < 0 or values.max() > 1:
        return undefined("outside 0..1")
    reason = missing_class(scores.n_positives, scores.n_negatives) if both_classes else None
    return undefined(reason) if reason else None


def _entropy(share: float) -> float:
    return -sum(q * math.log(q) for q in (share, 1 - share) if q > 0)


def log_losses(p: NDArray[Any], clip: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return −ln p and −ln(1−p), what a positive and a negative lose at p; p is clipped to [clip, 1−clip]."""
    # In float64 also for float32 scores: there 1 − 1e-15 is 1, and the clip would do nothing.
    clipped = np.clip(p.astype(np.float64), clip, 1.0 - clip)
    return -np.log(clipped), -np.log(1.0 - clipped)


def square_losses(p: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (1−p)² and p², what a positive and a negative lose at p."""
    exact = p.astype(np.float64)
    return (1 - exact) ** 2, exact**2


def _mean_loss(table: Levels, losses: tuple[NDArray[np.float64], NDArray[np.float64]]) -> float:
    of_positive, of_negative = losses
    total = table.n_positive * of_positive + (table.n - table.n_positive) * of_negative
    return float(total.sum() / table.n.sum())


@metric(
    "log_loss",
    "calibration",
    N_("Log loss"),
    options={"clip": "log_loss_clip"},
    high=float("inf"),
    source="scikit-learn log_loss, there clipped at the dtype's epsilon",
)
def log_loss(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Mean of −ln of the probability given to what happened, p clipped to [clip, 1−clip]; rows clipped beside it."""
    missing = _unusable(scores)
    if missing:
        return missing
    table = scores.levels
    clip = config.log_loss_clip
    clipped = float(table.n[(table.p < clip) | (table.p > 1 - clip)].sum())
    return Measured(_mean_loss(table, log_losses(table.p, clip)), extra={"clipped": clipped})


@metric(
    "normalized_entropy",
    "calibration",
    N_("Normalised entropy"),
    options={"clip": "log_loss_clip"},
    high=float("inf"),
    source="He et al. 2014, ADKDD",
)
def normalized_entropy(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Log loss over the log loss of always saying the base rate; 1 = no better than that."""
    missing = _unusable(scores, both_classes=True)
    if missing:
        return missing
    table = scores.levels
    loss = _mean_loss(table, log_losses(table.p, config.log_loss_clip))
    return Measured(loss / _entropy(scores.n_positives / scores.n_rows))


@metric("brier", "calibration", N_("Brier score"), source="Brier 1950; scikit-learn brier_score_loss")
def brier(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Mean squared difference of probability and outcome; π(1−π), the value of the base rate, beside it."""
    missing = _unusable(scores)
    if missing:
        return missing
    share = scores.n_positives / scores.n_rows
    table = scores.levels
    return Measured(_mean_loss(table, square_losses(table.p)), extra={"baseline": share * (1 - share)})


def isotonic(table: Levels) -> NDArray[np.float64]:
    """Return the pool-adjacent-violators fit of the outcome on the score, one value per distinct score."""
    from scipy.optimize import isotonic_regression  # lazily: SciPy costs a third of the import time

    return np.asarray(isotonic_regression(table.n_positive / table.n, weights=table.n).x)


def _corp(scores: ScoreTable) -> Measured | tuple[float, float, float]:
    """Return Brier score of the scores, of their isotonic fit, and of the base rate; or why not."""
    missing = _unusable(scores)
    if missing:
        return missing
    table = scores.levels
    share = scores.n_positives / scores.n_rows
    own, best = (_mean_loss(table, square_losses(p)) for p in (table.p, isotonic(table)))
    return own, best, share * (1 - share)


@metric("miscalibration", "calibration", N_("Miscalibration"), source="Dimitriadis, Gneiting and Jordan 2021 (CORP)")
def miscalibration(scores: ScoreTable, config: EvalConfig) -> Measured:
    """What the Brier score would lose by the best monotone recalibration of these very rows."""
    parts = _corp(scores)
    return parts if isinstance(parts, Measured) else Measured(max(parts[0] - parts[1], 0.0))


@metric("discrimination", "calibration", N_("Discrimination"), source="Dimitriadis, Gneiting and Jordan 2021 (CORP)")
def discrimination(scores: ScoreTable, config: EvalConfig) -> Measured:
    """What the recalibrated scores gain over always saying the base rate."""
    parts = _corp(scores)
    return parts if isinstance(parts, Measured) else Measured(max(parts[2] - parts[1], 0.0))


@metric(
    "uncertainty", "calibration", N_("Uncertainty"), high=0.25, source="Dimitriadis, Gneiting and Jordan 2021 (CORP)"
)
def uncertainty(scores: ScoreTable, config: EvalConfig) -> Measured:
    """π(1−π): the Brier score of the base rate."""
    parts = _corp(scores)
    return parts if isinstance(parts, Measured) else Measured(parts[2])


def bin_of(table: Levels, n_bins: int, binning: str) -> NDArray[np.int64]:
    """Return int64[d]: the bin of each distinct score. `mass`: equal rows per bin, equal scores together; `width`."""
    if binning == "width":
        return np.minimum((table.p * n_bins).astype(np.int64), n_bins - 1)
    before = np.cumsum(table.n) - table.n
    return np.asarray((before * n_bins / table.n.sum()).astype(np.int64))


@metric(
    "ece",
    "calibration",
    N_("ECE"),
    options={"bins": "ece_bins", "binning": "ece_binning"},
    source="Naeini, Cooper and Hauskrecht 2015; null band Bröcker and Smith 2007",
)
def ece(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Mean over bins of |mean p − share of positives|, beside what calibrated scores of this size would show."""
    missing = _unusable(scores)
    if missing:
        return missing
    table = scores.levels
    which = bin_of(table, config.ece_bins, config.ece_binning)
    gap = np.abs(np.bincount(which, table.n * table.p) - np.bincount(which, table.n_positive))
    mean, deviation, high = ece_null(table, which, config.random_state)
    extra = {"null_mean": mean, "null_sd": deviation, "null_high": high}
    return Measured(float(gap.sum() / table.n.sum()), extra=extra)


def ece_null(table: Levels, which: NDArray[np.int64], random_state: int) -> tuple[float, float, float]:
    """Return mean, standard deviation and 95 % bound of the ECE when y ~ Bernoulli(p).

    Closed form where every occupied bin has a variance of at least 5, else 1,000 draws.
    """
    n = float(table.n.sum())
    variance = np.bincount(which, table.n * table.p * (1 - table.p))[np.bincount(which) > 0]
    mean = math.sqrt(2 / math.pi) * float(np.sqrt(variance).sum()) / n
    deviation = math.sqrt((1 - 2 / math.pi) * float(variance.sum())) / n
    if variance.min() >= NORMAL_FROM:
        return mean, deviation, mean + 1.6448536269514722 * deviation
    drawn = _drawn_gaps(table, which, np.random.default_rng(random_state)) / n
    return float(drawn.mean()), float(drawn.std()), float(np.quantile(drawn, 0.95))


def _drawn_gaps(table: Levels, which: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Return float64[draws]: summed |positives drawn − expected| over bins."""
    total = np.zeros(N_DRAWS)
    edges = np.flatnonzero(np.diff(which, prepend=which[0] - 1))
    for begin, end in zip(edges, np.append(edges[1:], len(which)), strict=True):
        n, p = table.n[begin:end].astype(np.int64), table.p[begin:end]
        expected, variance = float(np.sum(n * p)), float(np.sum(n * p * (1 - p)))
        gap: NDArray[np.floating[Any]]
        if variance >= NORMAL_FROM:
            gap = generator.normal(0.0, math.sqrt(variance), N_DRAWS)
        elif len(p) > 2000:
            # Thousands of scores with so little variance are all near 0 or 1: rare events, so Poisson.
            rare = np.minimum(p, 1 - p)
            gap = generator.poisson(float(np.sum(n * rare)), N_DRAWS) - float(np.sum(n * rare))
        else:
            gap = generator.binomial(n, p, (N_DRAWS, len(p))).sum(axis=1) - expected
        total += np.abs(gap)
    return total


@metric(
    "calibration_ratio",
    "calibration",
    N_("Predicted / observed"),
    high=float("inf"),
    source="He et al. 2014, ADKDD; PCOC",
)
def calibration_ratio(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Sum of probabilities over positives; z of the difference beside it."""
    missing = _unusable(scores)
    if missing:
        return missing
    if scores.n_positives == 0:
        return undefined("no positives")
    table = scores.levels
    promised = float(np.sum(table.n * table.p))
    spread = math.sqrt(float(np.sum(table.n * table.p * (1 - table.p))))
    extra = {"z": (promised - scores.n_positives) / spread} if spread > 0 else {}
    return Measured(promised / scores.n_positives, extra=extra)


def cox(scores: ScoreTable, clip: float) -> Measured | tuple[float, float, float, float]:
    """Fit logit y = a + b·logit p (Cox 1958) by Newton's method; return a, b and their standard errors, or why not."""
    missing = _unusable(scores, both_classes=True)
    if missing:
        return missing
    table = scores.levels
    p = np.clip(table.p, clip, 1 - clip)
    x = np.log(p) - np.log1p(-p)
    share = scores.n_positives / scores.n_rows
    a, b = math.log(share / (1 - share)), 0.0
    for _ in range(50):
        fitted = 1 / (1 + np.exp(-np.clip(a + b * x, -700, 700)))
        weight = table.n * fitted * (1 - fitted)
        rest = table.n_positive - table.n * fitted
        s0, s1, s2 = float(weight.sum()), float((weight * x).sum()), float((weight * x * x).sum())
        g0, g1 = float(rest.sum()), float((rest * x).sum())
        determinant = s0 * s2 - s1 * s1
        if determinant <= 1e-12 * s0 * s2 or not math.isfinite(determinant):
            return undefined("no slope")
        step_a, step_b = (s2 * g0 - s1 * g1) / determinant, (s0 * g1 - s1 * g0) / determinant
        a, b = a + step_a, b + step_b
        if abs(step_a) + abs(step_b) < 1e-10 * (1 + abs(a) + abs(b)):
            return a, b, math.sqrt(s2 / determinant), math.sqrt(s0 / determinant)
    return undefined("no slope")


@metric(
    "calibration_slope",
    "calibration",
    N_("Calibration slope"),
    options={"clip": "log_loss_clip"},
    source="Cox 1958",
    low=-math.inf,
    high=math.inf,
)
def calibration_slope(scores: ScoreTable, config: EvalConfig) -> Measured:
    """b of logit y = a + b·logit p; below 1 the scores are overconfident."""
    fit = cox(scores, config.log_loss_clip)
    return fit if isinstance(fit, Measured) else Measured(fit[1], extra={"se": fit[3]})


@metric(
    "calibration_intercept",
    "calibration",
    N_("Calibration intercept"),
    options={"clip": "log_loss_clip"},
    source="Cox 1958",
    low=-math.inf,
    high=math.inf,
)
def calibration_intercept(scores: ScoreTable, config: EvalConfig) -> Measured:
    """a of logit y = a + b·logit p; far below 0 with b ≈ 1 the prior has shifted."""
    fit = cox(scores, config.log_loss_clip)
    return fit if isinstance(fit, Measured) else Measured(fit[0], extra={"se": fit[2]})
