"""RM-203, 204, 205 and 208: scores that are constant, coarse, no probabilities, or too sure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.base import (
    Check,
    Limit,
    Limits,
    Outcome,
    Part,
    example_rows,
    register,
    supported,
    tested,
    untested,
)
from recmetrics.checks.subject import Subject
from recmetrics.metrics.calibration import log_losses
from recmetrics.results import Cause, Evidence, Severity

# RM-203 ------------------------------------------------------------------------------------------------------------


def constant_score(subject: Subject, limits: Limits) -> list[Outcome]:
    """One score for every row, or one for all rows of a user."""
    values, counts = subject.score_values
    n = int(counts.sum())
    facts: dict[str, Any] = {"n_distinct": len(values), "n": n}
    if n < 2:
        return [Outcome(None, facts, reason="fewer_than_two_rows")]
    evidence = (Evidence("score_values", {"model": subject.model}),)
    steps = ("check_export", "check_default_value")
    if len(values) == 1:
        causes = (untested("default_value", "source"), untested("rounded_export", "source"))
        facts["value"] = float(values[0])
        return [Outcome("critical", facts, causes, evidence, "more_digits", steps, scope="file")]
    if _constant_inside_users(subject):
        inside = (tested("user_level_score", True, auc=subject.auc.value),)
        facts["n_users"] = len(subject.n_candidates)
        return [Outcome("critical", facts, inside, evidence, "more_digits", steps, scope="user")]
    return [Outcome(None, facts)]


def _constant_inside_users(subject: Subject) -> bool:
    """Return whether lists exist and no user has two different scores."""
    user = subject.rows.list_user
    if user is None or subject.model is None or len(subject.n_candidates) < 2 or np.median(subject.n_candidates) < 2:
        return False
    score = subject.rows.scores[subject.model]
    listed = (user >= 0) & subject.rows.rows_of(subject.model)
    first = np.full(len(subject.rows.users), np.nan)
    first[user[listed][::-1]] = score[listed][::-1]
    return bool(np.all(first[user[listed]] == score[listed]))


register(
    Check(
        "RM-203",
        "constant_score",
        (Part(constant_score, needs=("score",)),),
        "model",
        sentence_by="scope",
        variants=("file", "user"),
        causes=("default_value", "rounded_export", "user_level_score"),
        disproofs=("more_digits",),
        next_steps={"check_export": None, "check_default_value": None},
    )
)


# RM-204 ------------------------------------------------------------------------------------------------------------


def hard_labels(subject: Subject, limits: Limits) -> list[Outcome]:
    """Two distinct scores, or a handful: decisions or rounded values instead of scores."""
    values, counts = subject.score_values
    n = int(counts.sum())
    facts: dict[str, Any] = {"n_distinct": len(values), "n": n}
    # A few rows have few scores without being coarse: every score must have stood twice on average.
    coarse = 2 <= len(values) <= limits["coarse_info"] and n >= 2 * len(values)
    if not coarse:
        return [Outcome(None, facts)]
    facts.update(values=[float(v) for v in values], counts=[int(c) for c in counts])
    decisions = len(values) == 2 and values[0] == 0 and values[1] == 1
    return [
        Outcome(
            "warning" if len(values) <= limits["coarse_warning"] else "info",
            facts,
            causes=tuple(supported([tested("decisions", decisions), tested("rounding", not decisions)])),
            evidence=(Evidence("score_values", {"model": subject.model}),),
            disproof="more_digits",
            next_steps=("export_before_threshold", "export_more_digits"),
            scope="two" if len(values) == 2 else "few",
        )
    ]


register(
    Check(
        "RM-204",
        "hard_labels",
        (Part(hard_labels, needs=("score",)),),
        "model",
        limits={"coarse_warning": Limit(2, "P", "count"), "coarse_info": Limit(20, "P", "count")},
        sentence_by="scope",
        variants=("two", "few"),
        causes=("decisions", "rounding"),
        disproofs=("more_digits",),
        next_steps={"export_before_threshold": None, "export_more_digits": None},
    )
)


# RM-205 ------------------------------------------------------------------------------------------------------------


def not_probability(subject: Subject, limits: Limits) -> list[Outcome]:
    """Scores outside 0..1, and whether somebody takes them for probabilities."""
    values, counts = subject.score_values
    outside = (values < 0) | (values > 1)
    count, n = int(counts[outside].sum()), int(counts.sum())
    facts: dict[str, Any] = {"count": count, "n": n, "share": count / max(n, 1)}
    if len(values):
        facts.update(minimum=float(values[0]), maximum=float(values[-1]))
    used = subject.config.score_kind == "probability" or subject.has_probability_headline
    facts["used_as_probability"] = used
    if not count or (subject.config.score_kind in ("raw", "rank") and not used):
        return [Outcome(None, facts)]
    return [
        Outcome(
            "critical" if used else "info",
            facts,
            causes=tuple(
                supported([_logits(values, counts, subject), tested("mixed_range", count < n, share=facts["share"])])
            ),
            evidence=(
                Evidence("score_histogram", {"model": subject.model}),
                example_rows(
                    subject, np.flatnonzero(subject.finite & ((subject.raw_score < 0) | (subject.raw_score > 1)))
                ),
            ),
            disproof="scale_documented",
            next_steps=("declare_raw", "export_probabilities"),
        )
    ]


def _logits(values: NDArray[Any], counts: NDArray[np.int64], subject: Subject) -> Cause:
    """Test whether the logistic of the scores promises as many positives as there are."""
    if not subject.n_positives:
        return untested("logits", "positives")
    logistic = 0.5 * (1.0 + np.tanh(0.5 * values.astype(np.float64)))
    mean = float(logistic @ counts / counts.sum())
    ratio = mean / subject.prevalence
    return tested("logits", 0.9 <= ratio <= 1.1, mean_logistic=mean, prevalence=subject.prevalence)


register(
    Check(
        "RM-205",
        "not_probability",
        (Part(not_probability, needs=("score",)),),
        "model",
        sentence_by="used_as_probability",
        variants=("True", "False"),
        causes=("logits", "mixed_range"),
        disproofs=("scale_documented",),
        next_steps={"declare_raw": "Data", "export_probabilities": None},
    )
)


# RM-208 ------------------------------------------------------------------------------------------------------------

EXTREME = 1e-3  # how near to 0 or 1 a probability is called extreme


def extreme_probabilities(subject: Subject, limits: Limits) -> list[Outcome]:
    """Nearly certain probabilities that are wrong more often than they say themselves."""
    p, positive = subject.score, subject.positive
    sure_no, sure_yes = p <= EXTREME, p >= 1 - EXTREME
    wrong = (sure_no & positive) | (sure_yes & ~positive)
    certain = ((p == 0) & positive) | ((p == 1) & ~positive)
    n_wrong = int(np.count_nonzero(wrong))
    expected = float(p[sure_no].sum(dtype=np.float64) + (1 - p[sure_yes].astype(np.float64)).sum())
    facts: dict[str, Any] = {
        "count": int(np.count_nonzero(certain)),
        "n_wrong": n_wrong,
        "n_extreme": int(np.count_nonzero(sure_no | sure_yes)),
        "expected": expected,
        "p_poisson": _at_least(n_wrong, expected),
    }
    severity = _extreme_severity(subject, facts, limits)
    if severity is None:
        return [Outcome(None, facts)]
    facts["share_of_log_loss"] = _loss_share(p, positive, wrong, subject.config.log_loss_clip)
    atoms, atom_counts = np.unique(p[wrong], return_counts=True)
    share = float(atom_counts.max() / n_wrong)
    one_value = share >= 0.8
    largest = float(atoms[atom_counts.argmax()])
    causes = [
        tested("default_value", one_value, value=largest, share_of_fault=share),
        tested("overconfident", not one_value, n_distinct=len(atoms)),
    ]
    rows = np.flatnonzero(subject.judged)[wrong]
    numbers = [int(i) for i in subject.rows.row_number[rows[:3]]]
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("rows", {"row_numbers": numbers}),),
            disproof="within_poisson",
            next_steps=("fix_default", "report_clip"),
        )
    ]


def _at_least(n: int, expected: float) -> float:
    """Return P(Poisson(expected) ≥ n)."""
    if n == 0:
        return 1.0
    from scipy import special  # lazily: an import of half a second that most uses of the package never need

    return float(special.gammainc(n, expected)) if expected > 0 else 0.0


def _extreme_severity(subject: Subject, facts: dict[str, Any], limits: Limits) -> Severity | None:
    loss_matters = subject.config.score_kind == "probability" or subject.has_probability_headline
    if facts["count"] and loss_matters:
        return "critical"
    if facts["n_wrong"] >= limits["n_wrong"] and facts["p_poisson"] < limits["p_poisson"]:
        return "warning"
    return "info" if facts["count"] else None


def _loss_share(p: NDArray[Any], positive: NDArray[np.bool_], wrong: NDArray[np.bool_], clip: float) -> float:
    loss = np.where(positive, *log_losses(p, clip))
    return float(loss[wrong].sum() / loss.sum())


register(
    Check(
        "RM-208",
        "extreme_probabilities",
        (Part(extreme_probabilities, needs=("label", "score"), gates=("not_probability",)),),
        "model",
        limits={"n_wrong": Limit(5, "P", "count"), "p_poisson": Limit(1e-6, "P", "number")},
        causes=("default_value", "overconfident"),
        disproofs=("within_poisson",),
        next_steps={"fix_default": None, "report_clip": None},
    )
)
