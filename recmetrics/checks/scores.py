"""RM-2xx: can labels and scores be what they are taken for?"""

from __future__ import annotations

import math
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
from recmetrics.inference.auc import auc_estimate
from recmetrics.results import Cause, Evidence, Severity

MIN_CLASS = 30  # positives and negatives from which a part of the file has an AUC of its own


def _auc_facts(subject: Subject) -> dict[str, Any]:
    found = subject.auc
    return {
        "auc": found.value,
        "low": found.low,
        "high": found.high,
        "n_positives": found.n_positives,
        "n_negatives": found.n_negatives,
    }


# RM-201 ------------------------------------------------------------------------------------------------------------


def inverted(subject: Subject, limits: Limits) -> list[Outcome]:
    """The order is upside down by more than chance."""
    facts = _auc_facts(subject)
    value, high = subject.auc.value, subject.auc.high
    severity: Severity | None = None
    if high is not None and high < 0.5 and value < limits["warning_below"]:
        severity = "critical" if value < limits["critical_below"] else "warning"
    if severity is None:
        return [Outcome(None, facts)]
    facts["auc_mirrored"] = 1.0 - value
    causes = [_rank_column(subject), *_one_flip(subject), _one_part_inverted(subject)]
    if subject.user is not None and subject.gauc.n:
        facts.update(gauc=subject.gauc.value, gauc_low=subject.gauc.low, gauc_high=subject.gauc.high)
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("roc", {"model": subject.model, "mirrored": True}),),
            disproof="gauc_above_half",
            next_steps=("set_score_direction", "check_label_map"),
        )
    ]


def _rank_column(subject: Subject) -> Cause:
    """Test whether the scores are the numbers 1..n of every list: then they are places, not scores."""
    user = subject.user
    if user is None:
        return untested("rank_column", "user")
    score = np.abs(subject.score.astype(np.float64))
    order = np.lexsort((score, user))
    who, ordered = user[order], score[order]
    starts = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
    place = np.arange(len(who)) - np.repeat(starts, np.diff(np.append(starts, len(who)))) + 1
    return tested("rank_column", bool(np.array_equal(place, ordered)))


def _one_flip(subject: Subject) -> list[Cause]:
    """Test whether one flip makes score and label consistent, and which of the two is upside down."""
    implied = subject.implied
    if implied is None or math.isnan(implied):
        return [untested("label_coding", "probability"), untested("score_sign", "probability")]
    mirrored = 1.0 - subject.auc.value
    consistent = abs(implied - mirrored) <= 0.02
    rare = subject.prevalence < 0.5
    facts = {"implied_auc": implied, "auc_mirrored": mirrored, "prevalence": subject.prevalence}
    return [
        tested("label_coding", consistent and not rare, **facts),
        tested("score_sign", consistent and rare, **facts),
    ]


def _one_part_inverted(subject: Subject) -> Cause:
    parts = _auc_by_segment(subject)
    if not parts:
        return untested("one_segment", "segment")
    below = [part for part in parts if part[0] < 0.5]
    supports = 0 < len(below) < len(parts)
    return tested("one_segment", supports, n_segments=len(parts), n_inverted=len(below))


def _auc_by_segment(subject: Subject) -> list[tuple[float, str, str]]:
    """Return (auc, column, value) of every segment with enough rows of both classes."""
    found = []
    for column, segment in subject.rows.segments.items():
        codes = subject.of_judged(segment.codes)
        n_labels = len(segment.labels)
        inside = codes >= 0
        n_pos = np.bincount(codes[inside & subject.positive], minlength=n_labels)
        n_all = np.bincount(codes[inside], minlength=n_labels)
        for code in np.flatnonzero((n_pos >= MIN_CLASS) & (n_all - n_pos >= MIN_CLASS)):
            here = codes == code
            value = auc_estimate(subject.positive[here], subject.score[here], None).value
            found.append((value, column, segment.labels[code]))
    return found


register(
    Check(
        "RM-201",
        "inverted",
        (Part(inverted, needs=("label", "score"), gates=("one_class",)),),
        "model",
        limits={"critical_below": Limit(0.45, "P"), "warning_below": Limit(0.48, "P")},
        causes=("rank_column", "label_coding", "score_sign", "one_segment"),
        disproofs=("gauc_above_half",),
        next_steps={"set_score_direction": "Data", "check_label_map": "Data"},
    )
)


# RM-202 ------------------------------------------------------------------------------------------------------------

SHIFTS = (1, -1, 2, -2, 3, -3)


def chance_auc(subject: Subject, limits: Limits) -> list[Outcome]:
    """The order is no better than chance, or hardly; and whether moving the labels by some rows repairs it."""
    facts = {**_auc_facts(subject), "n": len(subject.positive)}
    value, low, high = facts["auc"], facts["low"], facts["high"]
    contains = low is not None and high is not None and low <= 0.5 <= high
    severity: Severity | None = None
    if contains:
        severity = "critical" if facts["n"] > limits["many_rows"] else "warning"
    elif low is not None and low > 0.5 and value < limits["warning_below"]:
        severity = "warning"
    if severity is None:
        return [Outcome(None, facts)]
    facts["contains_half"] = contains
    constant = tested("constant", len(subject.score_values[0]) == 1, n_distinct=len(subject.score_values[0]))
    causes = [constant, _row_shift(subject), *_wrong_rows(subject), _only_within_users(subject)]
    causes.append(tested("no_signal", not any(cause.outcome == "supports" for cause in causes)))
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(
                Evidence("score_histogram", {"model": subject.model}),
                Evidence("repaired_auc", {"model": subject.model, "repairs": _repairs(subject)}),
            ),
            disproof="subperiod",
            next_steps=("print_label_counts", "join_on_key", "compare_row_counts"),
        )
    ]


def _repairs(subject: Subject) -> list[tuple[str, int, float]]:
    """Return (along, rows moved, AUC) for labels moved along the file, and along each user's rows.

    Moved by k, row i has the label of row i + k; the ends meet, so that no row is without one. The midranks of the
    scores stay, so each AUC is one sum over positives.
    """
    positive = subject.positive
    n, n_positives = len(positive), subject.n_positives
    distinct, inverse, counts = np.unique(subject.score, return_inverse=True, return_counts=True)
    midrank = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    del distinct
    least = n_positives * (n_positives + 1) / 2.0
    pairs = n_positives * float(n - n_positives)

    def auc_at(rows: NDArray[np.int64]) -> float:
        return (float(midrank[rows].sum()) - least) / pairs

    at = np.flatnonzero(positive)
    found = [("file", k, auc_at((at - k) % n)) for k in SHIFTS]
    if subject.user is not None:
        order = np.argsort(subject.user, kind="stable")
        who = subject.user[order]
        starts = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
        size = np.diff(np.append(starts, n))
        block = np.repeat(np.arange(len(starts)), size)
        at = np.flatnonzero(positive[order])
        start, length = starts[block[at]], size[block[at]]
        found += [("user", k, auc_at(order[start + (at - start - k) % length])) for k in SHIFTS]
    return found


def _row_shift(subject: Subject) -> Cause:
    """Test whether labels moved by a few rows fit the scores far better."""
    along, moved, value = max(_repairs(subject), key=lambda repair: repair[2])
    gain = value - subject.auc.value
    needed = max(0.05, 4 * (subject.auc.se or 0.0))
    return tested(
        "row_shift", gain > needed, rows_moved=moved, along=along, auc_repaired=value, gain=gain, needed=needed
    )


def _wrong_rows(subject: Subject) -> list[Cause]:
    implied = subject.implied
    if implied is None or math.isnan(implied):
        return [untested("wrong_join", "probability"), untested("constant_features", "probability")]
    facts = {"implied_auc": implied, "auc": subject.auc.value}
    return [
        tested("wrong_join", implied - subject.auc.value > 0.05, **facts),
        tested("constant_features", abs(implied - 0.5) <= 0.02, **facts),
    ]


def _only_within_users(subject: Subject) -> Cause:
    if subject.user is None:
        return untested("only_within_users", "user")
    found = subject.gauc
    supports = found.low is not None and found.low > 0.55
    return tested("only_within_users", supports, gauc=found.value, gauc_low=found.low, gauc_high=found.high)


register(
    Check(
        "RM-202",
        "chance_auc",
        (Part(chance_auc, needs=("label", "score"), gates=("one_class",)),),
        "model",
        limits={"warning_below": Limit(0.52, "P"), "many_rows": Limit(1000, "H", "count")},
        sentence_by="contains_half",
        variants=("True", "False"),
        causes=("constant", "row_shift", "wrong_join", "constant_features", "only_within_users", "no_signal"),
        disproofs=("subperiod",),
        next_steps={"print_label_counts": "Data", "join_on_key": None, "compare_row_counts": None},
    )
)


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
    user = subject.rows.user
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
    said = np.where(positive, p, 1 - p.astype(np.float64))
    loss = -np.log(np.maximum(said, clip))
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
