"""RM-5xx: does the score know what it could not know when it was needed?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, register, supported, tested, untested
from recmetrics.checks.subject import Subject
from recmetrics.dataset import pair_codes
from recmetrics.inference.auc import auc_estimate
from recmetrics.metrics.calibration import cox
from recmetrics.results import Cause, Evidence, Severity

MIN_USERS = 50  # users with both classes on which a GAUC may rest


def leakage(subject: Subject, limits: Limits) -> list[Outcome]:
    """AUC too good to be true, with every test that the loaded columns allow."""
    facts: dict[str, Any] = {
        "auc": subject.auc.value,
        "low": subject.auc.low,
        "high": subject.auc.high,
        "n_positives": subject.n_positives,
        "n_negatives": subject.n_negatives,
    }
    measure, value, low = _larger(subject, facts)
    if value <= limits["warning"]:
        return [Outcome(None, facts)]
    severity: Severity = "critical" if value > limits["critical"] else "warning"
    passed = limits[severity]
    facts.update(measure=measure, measured=value, measured_low=low, confirmed=low is not None and low > passed)
    causes = [*_claim(subject), _top_percent(subject), _telling_values(subject), _segments(subject), _overlap(subject)]
    # Nothing that was loaded can tell these two; both need what produced the scores.
    causes += [untested("late_feature", "features"), untested("easy_negatives", "features")]
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("roc", {"model": subject.model}), Evidence("score_histogram", {"model": subject.model})),
            disproof="survives_gap_and_negatives",
            next_steps=("look_for_late_features", "look_for_ids", "rebuild_with_gap"),
        )
    ]


def _larger(subject: Subject, facts: dict[str, Any]) -> tuple[str, float, float | None]:
    """Return AUC, or GAUC when that is larger and rests on enough users: name, value, lower bound."""
    if subject.user is not None:
        gauc = subject.gauc
        if gauc.n:
            facts.update(gauc=gauc.value, n_users_both=gauc.n)
        if gauc.n >= MIN_USERS and gauc.value > subject.auc.value:
            return "gauc", gauc.value, gauc.low
    return "auc", subject.auc.value, subject.auc.low


def _claim(subject: Subject) -> list[Cause]:
    """Hold the AUC against the one that the scores claim for themselves."""
    implied = subject.implied
    names = ("coherent", "late_information", "overconfident")
    if implied is None or math.isnan(implied):
        return [untested(name, "probability") for name in names]
    excess = subject.auc.value - implied
    facts: dict[str, Any] = {"implied_auc": implied, "auc": subject.auc.value, "tolerance": subject.implied_tolerance}
    beats = excess > subject.implied_tolerance
    slope = _slope(subject) if beats else None
    if slope is not None:
        facts["slope"] = slope
    # A slope above 1 says that the scores are too timid; then the order may beat them honestly.
    timid = slope is not None and slope > 1
    return [
        tested("coherent", abs(excess) <= subject.implied_tolerance, **facts),
        tested("late_information", beats and not timid, **facts),
        tested("overconfident", -excess > subject.implied_tolerance, **facts),
    ]


def _slope(subject: Subject) -> float | None:
    fitted = cox(subject.table, subject.config.log_loss_clip)
    return fitted[1] if isinstance(fitted, tuple) else None


def _top_percent(subject: Subject) -> Cause:
    """Test whether the best-scored 1 % of the rows are positives without exception."""
    n_top = max(len(subject.score) // 100, 1)
    edge = np.partition(subject.score, -n_top)[-n_top]
    top = subject.score >= edge
    precision = float(np.mean(subject.positive[top]))
    return tested("pure_top", precision == 1.0, precision_of_top=precision, n_top=int(np.count_nonzero(top)))


def _telling_values(subject: Subject) -> Cause:
    """Test whether a score value that stands often occurs with positives only."""
    values, inverse = np.unique(subject.score, return_inverse=True)
    n_pos = np.bincount(inverse[subject.positive], minlength=len(values))
    n_all = np.bincount(inverse, minlength=len(values))
    # As often as five times by chance is rare enough unless nearly every row is a positive.
    telling = (n_all >= 5) & (n_pos == n_all)
    share = float(n_pos[telling].sum() / max(subject.n_positives, 1))
    if subject.prevalence > 0.5:
        telling[:] = False
    return tested("telling_values", bool(telling.any()), n_values=int(telling.sum()), share_of_positives=share)


def _segments(subject: Subject) -> Cause:
    """Test whether one segment has a far better AUC than the others."""
    if not subject.rows.segments:
        return untested("one_segment", "segment")
    best: tuple[float, dict[str, Any]] | None = None
    for column, segment in subject.rows.segments.items():
        values = subject.auc_of_groups(subject.of_judged(segment.codes), len(segment.labels))
        if len(values) < 2:
            continue
        code = max(values, key=lambda c: values[c])
        others = float(np.median([v for c, v in values.items() if c != code]))
        facts = {"column": column, "segment": segment.labels[code], "auc_segment": values[code], "auc_others": others}
        if best is None or values[code] - others > best[0]:
            best = (values[code] - others, facts)
    if best is None:
        return untested("one_segment", "segment")
    return tested("one_segment", best[0] > 0.1, **best[1])


def _overlap(subject: Subject) -> Cause:
    """Test whether the AUC falls when pairs that training knows as positives are left out."""
    train, rows = subject.rows.train, subject.rows
    if train is None or rows.user is None or rows.item is None:
        return untested("train_overlap", "train")
    known = (train.user >= 0) & (train.item >= 0)
    if train.label is not None:
        known &= train.label >= subject.config.relevance_threshold
    seen = np.unique(pair_codes(train.user[known], train.item[known], len(rows.items)))
    pair = pair_codes(subject.of_judged(rows.user), subject.of_judged(rows.item), len(rows.items))
    shared = np.isin(pair, seen)
    rest = auc_estimate(subject.positive[~shared], subject.score[~shared], None).value
    count = int(np.count_nonzero(shared))
    auc_rest = None if math.isnan(rest) else rest
    falls = auc_rest is not None and subject.auc.value - auc_rest > 0.02
    return tested("train_overlap", bool(count) and falls, n_shared=count, auc_rest=auc_rest)


register(
    Check(
        "RM-501",
        "leakage",
        (Part(leakage, needs=("label", "score"), gates=("one_class",)),),
        "model",
        limits={"warning": Limit(0.90, "H"), "critical": Limit(0.95, "H")},
        sentence_by="measure",
        variants=("auc", "gauc"),
        causes=(
            "coherent",
            "late_information",
            "overconfident",
            "pure_top",
            "telling_values",
            "one_segment",
            "train_overlap",
            "late_feature",
            "easy_negatives",
        ),
        disproofs=("survives_gap_and_negatives",),
        next_steps={"look_for_late_features": None, "look_for_ids": None, "rebuild_with_gap": None},
    )
)
