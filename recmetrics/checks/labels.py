"""RM-2xx, the labels alone: are they grades, and do gains of them stay finite?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, example_rows, register, supported, tested
from recmetrics.checks.subject import Subject
from recmetrics.results import Evidence, Severity


def _grades(subject: Subject) -> NDArray[np.float64]:
    """Return every grade above 0 of the scored rows and of the truth."""
    parts = [subject.raw.label[subject.held]]
    if subject.raw.truth is not None:
        parts.append(subject.raw.truth.grade)
    grades = np.concatenate(parts)
    return grades[grades > 0]


# RM-206 ------------------------------------------------------------------------------------------------------------


def label_not_grade(subject: Subject, limits: Limits) -> list[Outcome]:
    """Labels that are seconds, prices or counts rather than grades."""
    grades = _grades(subject)
    distinct = np.unique(grades)
    if len(distinct) <= 1:
        return [Outcome(None, {"n_distinct": len(distinct)}, reason="binary_labels")]
    share_whole = float(np.mean(grades == np.floor(grades)))
    facts: dict[str, Any] = {
        "n_distinct": len(distinct),
        "maximum": float(distinct[-1]),
        "share_fractional": 1.0 - share_whole,
        "n": len(grades),
    }
    many = len(distinct) > limits["distinct"]
    large = distinct[-1] > limits["maximum"]
    fractional = share_whole < 1.0 and len(distinct) > limits["fractional_distinct"]
    if not (many or large or fractional):
        return [Outcome(None, facts)]
    facts.update(top_share_linear=_top_share(subject, "linear"), top_share_exp2=_top_share(subject, "exp2"))
    median = float(np.median(grades))
    # A right tail: the largest is far above the middle, as with seconds and prices and never with a scale of grades.
    tail = float(distinct[-1]) / median
    causes = [tested("duration_or_price", tail > 5, tail=tail), tested("long_scale", tail <= 5, tail=tail)]
    return [
        Outcome(
            "warning",
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("label_histogram", {"log_axis": True}),),
            disproof="scale_documented",
            next_steps=("map_to_grades", "set_relevance_threshold"),
        )
    ]


def _top_share(subject: Subject, gain: str) -> float | None:
    """Return which part of the ideal DCG the best item holds, on average over users; None without lists."""
    if subject.raw.user is None or subject.model is None:
        return None
    user, grade = subject.hits.ideal_user, subject.hits.ideal_grade
    first = np.append(True, user[1:] != user[:-1])
    starts = np.flatnonzero(first)
    top = np.repeat(grade[starts], np.diff(np.append(starts, len(user))))
    rank = np.arange(len(user)) - np.repeat(starts, np.diff(np.append(starts, len(user)))) + 1
    # Relative to the best item, so that 2 to the power of seconds does not overflow; its −1 no longer matters there.
    relative = np.exp2(grade - top) if gain == "exp2" else grade / top
    summed = np.add.reduceat(relative / np.log2(rank + 1), starts)
    return float(np.mean(1.0 / summed))


register(
    Check(
        "RM-206",
        "label_not_grade",
        (Part(label_not_grade, needs=("label",)),),
        "rows",
        limits={
            "distinct": Limit(20, "P", "count"),
            "maximum": Limit(20, "P", "number"),
            "fractional_distinct": Limit(10, "P", "count"),
        },
        causes=("duration_or_price", "long_scale"),
        disproofs=("scale_documented",),
        next_steps={"map_to_grades": "Data", "set_relevance_threshold": "Data"},
    )
)


# RM-207 ------------------------------------------------------------------------------------------------------------


def negative_relevance(subject: Subject, limits: Limits) -> list[Outcome]:
    """Labels below 0, until somebody says what they mean."""
    label = subject.raw.label
    below = subject.held & (label < 0)
    count = int(np.count_nonzero(below))
    if subject.raw.truth is not None and not count:
        count = int(np.count_nonzero(subject.raw.truth.grade < 0))
    facts: dict[str, Any] = {"count": count, "n": int(np.count_nonzero(subject.held))}
    if not count:
        return [Outcome(None, facts)]
    values = np.unique(label[subject.held & ~np.isnan(label)])
    binary = bool(len(values) == 2 and values[0] == -1 and values[1] == 1)
    declared = subject.declared.grade_map is not None or _was_mapped(subject)
    facts.update(values=[float(v) for v in values[:5]], declared=declared)
    severity: Severity = "info" if binary or declared else "critical"
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported([tested("binary_coding", binary), tested("dislike_or_missing", not binary)])),
            evidence=(example_rows(subject, np.flatnonzero(below)),),
            disproof="map_declared",
            next_steps=("declare_label_map",),
        )
    ]


def _was_mapped(subject: Subject) -> bool:
    """Return whether somebody said what the labels mean: then a text stands for another number than its own."""
    return any(_number(text) != value for text, value in (subject.raw.label_coding or {}).items())


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


register(
    Check(
        "RM-207",
        "negative_relevance",
        (Part(negative_relevance, needs=("label",)),),
        "rows",
        causes=("binary_coding", "dislike_or_missing"),
        disproofs=("map_declared",),
        next_steps={"declare_label_map": "Data"},
    )
)


# RM-209 ------------------------------------------------------------------------------------------------------------


def gain_overflow(subject: Subject, limits: Limits) -> list[Outcome]:
    """Grades too large for a gain of 2 to their power."""
    if subject.config.gain not in ("exp2", "exp2_shift"):
        return [Outcome(None, {}, reason="linear_gain")]
    grades = _grades(subject)
    largest = float(grades.max(initial=0.0))
    facts: dict[str, Any] = {"maximum": largest, "n": len(grades)}
    severity: Severity | None = "warning" if largest > limits["warning"] else None
    if largest > limits["critical"]:
        severity = "critical"
    if severity is None:
        return [Outcome(None, facts)]
    facts.update(top_share_linear=_top_share(subject, "linear"), top_share_exp2=_top_share(subject, "exp2"))
    return [
        Outcome(
            severity,
            facts,
            causes=(tested("long_scale", bool(np.all(grades == np.floor(grades))), maximum=largest),),
            evidence=(Evidence("label_histogram", {"log_axis": True}),),
            disproof="linear_agrees",
            next_steps=("use_linear_gain", "shorter_map"),
        )
    ]


register(
    Check(
        "RM-209",
        "gain_overflow",
        (Part(gain_overflow, needs=("label",)),),
        "rows",
        limits={"warning": Limit(20, "P", "number"), "critical": Limit(52, "P", "number")},
        causes=("long_scale",),
        disproofs=("linear_agrees",),
        next_steps={"use_linear_gain": "Data", "shorter_map": "Data"},
    )
)
