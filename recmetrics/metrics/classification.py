"""Row metrics at a threshold and over all thresholds, from the ScoreTable."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.metrics.base import Measured, metric, missing_class, undefined
from recmetrics.metrics.confusion import Confusion, confusion_at
from recmetrics.metrics.f_beta import f_beta_parts
from recmetrics.tables import ScoreTable
from recmetrics.text import N_
from recmetrics.usable import usable_threshold

_AT = {"threshold": "threshold", "rule": "threshold_rule"}


def _counts(scores: ScoreTable, config: EvalConfig) -> Confusion:
    return confusion_at(scores, usable_threshold(config), config.threshold_rule)


def accuracy_of(c: Confusion) -> Measured:
    """(TP+TN)/n, with the larger class share and the all-negative baseline beside it."""
    if c.n == 0:
        return undefined("no rows")
    prevalence = c.positives / c.n
    majority = max(prevalence, 1 - prevalence)
    value = (c.tp + c.tn) / c.n
    baselines = {"baseline_majority": majority, "baseline_all_negative": 1 - prevalence}
    return Measured(
        value, extra={**baselines, "over_majority": value - majority, "over_all_negative": value - 1 + prevalence}
    )


def precision_of(c: Confusion) -> Measured:
    """TP/(TP+FP), with lift over the prevalence and the share of rows flagged."""
    if c.flagged == 0:
        return undefined("no predicted positives")
    value = c.tp / c.flagged
    extra = {"predicted_share": c.flagged / c.n, "predicted_positives": float(c.flagged)}
    if c.positives:
        extra["lift"] = value / (c.positives / c.n)
    return Measured(value, extra=extra)


def recall_of(c: Confusion) -> Measured:
    """TP/(TP+FN), the true positive rate."""
    return Measured(c.tp / c.positives) if c.positives else undefined("no positives")


def f_beta_of(c: Confusion, beta: float) -> Measured:
    """(1+β²)TP / ((1+β²)TP + β²FN + FP)."""
    above, below = f_beta_parts(c.tp, c.flagged, c.positives, beta)
    return Measured(above / below) if below else undefined("no positives")


def fpr_of(c: Confusion) -> Measured:
    """FP/(FP+TN)."""
    return Measured(c.fp / c.negatives) if c.negatives else undefined("no negatives")


def specificity_of(c: Confusion) -> Measured:
    """TN/(TN+FP)."""
    return Measured(c.tn / c.negatives) if c.negatives else undefined("no negatives")


def balanced_accuracy_of(c: Confusion) -> Measured:
    """(TPR+TNR)/2."""
    if c.positives == 0:
        return undefined("no positives" if c.n else "no rows")
    if c.negatives == 0:
        return undefined("no negatives")
    return Measured((c.tp / c.positives + c.tn / c.negatives) / 2)


def mcc_of(c: Confusion) -> Measured:
    """Correlation of flag and label (Matthews 1975)."""
    margins = (c.flagged, c.positives, c.negatives, c.tn + c.fn)
    if 0 in margins:
        return undefined("empty margin")
    # Python integers: the product of four margins overflows 64 bits from a few hundred thousand rows on.
    return Measured((c.tp * c.tn - c.fp * c.fn) / math.sqrt(math.prod(margins)))


@metric("accuracy", "classification", N_("Accuracy"), options=_AT, source="scikit-learn accuracy_score")
def accuracy(scores: ScoreTable, config: EvalConfig) -> Measured:
    return accuracy_of(_counts(scores, config))


@metric("precision", "classification", N_("Precision"), options=_AT, source="scikit-learn precision_score")
def precision(scores: ScoreTable, config: EvalConfig) -> Measured:
    return precision_of(_counts(scores, config))


@metric("recall", "classification", N_("Recall"), options=_AT, source="scikit-learn recall_score")
def recall(scores: ScoreTable, config: EvalConfig) -> Measured:
    return recall_of(_counts(scores, config))


@metric("f_beta", "classification", N_("F-score"), options={**_AT, "beta": "beta"}, source="van Rijsbergen 1979")
def f_beta(scores: ScoreTable, config: EvalConfig) -> Measured:
    return f_beta_of(_counts(scores, config), config.beta)


@metric("fpr", "classification", N_("False positive rate"), options=_AT, source="scikit-learn roc_curve")
def fpr(scores: ScoreTable, config: EvalConfig) -> Measured:
    return fpr_of(_counts(scores, config))


@metric("specificity", "classification", N_("Specificity"), options=_AT, source="1 − false positive rate")
def specificity(scores: ScoreTable, config: EvalConfig) -> Measured:
    return specificity_of(_counts(scores, config))


@metric("balanced_accuracy", "classification", N_("Balanced accuracy"), options=_AT, source="balanced_accuracy_score")
def balanced_accuracy(scores: ScoreTable, config: EvalConfig) -> Measured:
    return balanced_accuracy_of(_counts(scores, config))


@metric("mcc", "classification", N_("MCC"), options=_AT, low=-1.0, source="Matthews 1975")
def mcc(scores: ScoreTable, config: EvalConfig) -> Measured:
    return mcc_of(_counts(scores, config))


@metric("prevalence", "classification", N_("Prevalence"), source="share of positive rows")
def prevalence(scores: ScoreTable, config: EvalConfig) -> Measured:
    """P/n."""
    return Measured(scores.n_positives / scores.n_rows) if scores.n_rows else undefined("no rows")


@metric("roc_auc", "classification", N_("AUC"), source="Mann and Whitney 1947; scikit-learn roc_auc_score")
def roc_auc(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Share of positive–negative pairs in the right order, ties ½; the share of tied pairs beside it."""
    reason = missing_class(scores.n_positives, scores.n_negatives)
    if reason:
        return undefined(reason)
    below = np.searchsorted(scores.negatives, scores.positives, side="left")
    wins, ties = int(below.sum()), 0
    # Only positives that do meet an equal negative need the second look-up.
    at = np.minimum(below, scores.n_negatives - 1)
    tied = scores.positives[scores.negatives[at] == scores.positives]
    if len(tied):
        above = np.searchsorted(scores.negatives, tied, side="right")
        ties = int(above.sum() - np.searchsorted(scores.negatives, tied, side="left").sum())
    pairs = scores.n_positives * scores.n_negatives
    return Measured((wins + ties / 2) / pairs, extra={"tied_pairs": ties / pairs})


@metric(
    "partial_auc",
    "classification",
    N_("Partial AUC"),
    options={"max_fpr": "max_fpr"},
    source="McClish 1989; scikit-learn roc_auc_score(max_fpr=)",
)
def partial_auc(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Area under the ROC curve up to `max_fpr`, standardised so that chance is ½; max_fpr = 1 is the AUC."""
    reason = missing_class(scores.n_positives, scores.n_negatives)
    if reason:
        return undefined(reason)
    m = config.max_fpr
    budget = m * scores.n_negatives
    # Only the highest negatives, up to the budget and its ties, shape this part of the curve.
    take = min(math.ceil(budget), scores.n_negatives)
    edge = scores.negatives[scores.n_negatives - take]
    top = scores.negatives[int(np.searchsorted(scores.negatives, edge, side="left")) :]
    values, counts = np.unique(top, return_counts=True)
    values, counts = values[::-1], counts[::-1].astype(np.float64)
    above = scores.n_positives - np.searchsorted(scores.positives, values, side="right").astype(np.float64)
    equal = scores.n_positives - np.searchsorted(scores.positives, values, side="left") - above
    start = np.cumsum(counts) - counts
    width = np.clip(budget - start, 0.0, counts)
    area = float(np.sum(width * (above + equal * width / counts / 2)) / scores.n_positives / scores.n_negatives)
    if m == 1:
        return Measured(area)
    chance = m**2 / 2
    return Measured(0.5 * (1 + (area - chance) / (m - chance)))


@metric(
    "auprc",
    "classification",
    N_("AUPRC"),
    options={"method": "auprc_method"},
    source="scikit-learn average_precision_score",
)
def auprc(scores: ScoreTable, config: EvalConfig) -> Measured:
    """Area under the precision–recall curve, one step per distinct score; baseline and lift beside it."""
    if scores.n_positives == 0:
        return undefined("no positives" if scores.n_rows else "no rows")
    tp, fp, gained, fp_before = _precision_recall_steps(scores)
    precision_at = tp / (tp + fp)
    if config.auprc_method == "step":
        value = float(np.sum(gained * precision_at) / scores.n_positives)
    else:
        before = tp - gained
        flagged = before + fp_before
        left = np.where(flagged > 0, before / np.maximum(flagged, 1), 1.0)
        value = float(np.sum(gained * (precision_at + left) / 2) / scores.n_positives)
    baseline = scores.n_positives / scores.n_rows
    return Measured(value, extra={"baseline": baseline, "lift": value / baseline})


def _precision_recall_steps(
    scores: ScoreTable,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return TP, FP at each distinct positive score, the positives gained there, and FP just above it."""
    p, negatives = scores.positives, scores.negatives
    first = np.flatnonzero(np.concatenate([[True], p[1:] != p[:-1]]))
    values = p[first]
    tp = (len(p) - first).astype(np.float64)
    gained = np.diff(np.append(first, len(p))).astype(np.float64)
    fp = (len(negatives) - np.searchsorted(negatives, values, side="left")).astype(np.float64)
    fp_above = (len(negatives) - np.searchsorted(negatives, values, side="right")).astype(np.float64)
    return tp, fp, gained, fp_above
