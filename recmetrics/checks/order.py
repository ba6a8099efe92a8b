"""RM-201 and RM-202: an order of the labels that is upside down, or no better than chance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, register, supported, tested, untested
from recmetrics.checks.subject import Subject
from recmetrics.results import Cause, Evidence, Severity


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
    """Test whether some segments are upside down and others not."""
    parts = [
        auc
        for segment in subject.rows.segments.values()
        for auc in subject.auc_of_groups(subject.of_judged(segment.codes), len(segment.labels)).values()
    ]
    if not parts:
        return untested("one_segment", "segment")
    below = sum(auc < 0.5 for auc in parts)
    return tested("one_segment", 0 < below < len(parts), n_segments=len(parts), n_inverted=below)


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
    repairs = _repairs(subject)
    causes = [constant, _row_shift(subject, repairs), *_wrong_rows(subject), _only_within_users(subject)]
    causes.append(tested("no_signal", not any(cause.outcome == "supports" for cause in causes)))
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(
                Evidence("score_histogram", {"model": subject.model}),
                Evidence("repaired_auc", {"model": subject.model, "repairs": repairs}),
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
    _, inverse, counts = np.unique(subject.score, return_inverse=True, return_counts=True)
    midrank = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
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


def _row_shift(subject: Subject, repairs: list[tuple[str, int, float]]) -> Cause:
    """Test whether labels moved by a few rows fit the scores far better."""
    along, moved, value = max(repairs, key=lambda repair: repair[2])
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
