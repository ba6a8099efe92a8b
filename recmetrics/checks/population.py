"""RM-105, 106 and 107: the same users on all sides, both classes, and enough of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, by_share, register, tested, untested
from recmetrics.checks.subject import Subject
from recmetrics.dataset import Dataset
from recmetrics.inference.auc import exact_p
from recmetrics.results import Evidence, Severity

# 80 % power at the two-sided 5 % level: z(.975) + z(.8).
MDE_FACTOR = 2.8015852181

# RM-105 ------------------------------------------------------------------------------------------------------------


def query_sets_differ(subject: Subject, limits: Limits) -> list[Outcome]:
    """Users that only one side knows: the truth and the run, or one model's file and another's."""
    sides = _sides(subject.raw)
    if sides is None:
        return [Outcome(None, {}, reason="one_file")]
    truth, run = sides
    union = int(np.count_nonzero(truth | run))
    only_run, only_truth = int(np.count_nonzero(run & ~truth)), int(np.count_nonzero(truth & ~run))
    facts: dict[str, Any] = {
        "count": only_run + only_truth,
        "n_only_run": only_run,
        "n_only_truth": only_truth,
        "n_both": int(np.count_nonzero(truth & run)),
        "n": union,
        "share": (only_run + only_truth) / max(union, 1),
        "compared": "truth_and_run" if subject.raw.truth is not None else "models",
    }
    severity = by_share(facts["share"], limits)
    if severity is None:
        return [Outcome(None, facts)]
    if subject.declared.user_base != "truth":
        severity = "info"
    return [
        Outcome(
            severity,
            facts,
            causes=(untested("missing_lists", "source"), tested("ids_fail_to_join", facts["n_both"] == 0)),
            evidence=(
                Evidence("users_by_file", {name: facts[name] for name in ("n_only_run", "n_only_truth", "n_both")}),
            ),
            disproof="declared_population",
            next_steps=("choose_population", "check_files"),
        )
    ]


def _sides(raw: Dataset) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return bool[u] twice: users of the truth and of the run; of all models' files and of some model's only."""
    assert raw.user is not None
    if raw.truth is not None:
        return _users_of(raw.truth.user, raw), _users_of(raw.user, raw)
    if not raw.scored or len(raw.models) < 2:
        return None
    each = [_users_of(raw.user[raw.rows_of(model)], raw) for model in raw.models]
    # Users of every model on one side, of any model on the other: they differ by those that some model lacks.
    return np.logical_and.reduce(each), np.logical_or.reduce(each)


def _users_of(codes: NDArray[np.int32], raw: Dataset) -> NDArray[np.bool_]:
    found = np.zeros(len(raw.users), dtype=bool)
    found[codes[codes >= 0]] = True
    return found


register(
    Check(
        "RM-105",
        "query_sets_differ",
        (Part(query_sets_differ, needs=("user",)),),
        "data",
        limits={"warning": Limit(0.01, "P", "share"), "critical": Limit(0.20, "P", "share")},
        sentence_by="compared",
        variants=("truth_and_run", "models"),
        causes=("missing_lists", "ids_fail_to_join"),
        disproofs=("declared_population",),
        next_steps={"choose_population": "Data", "check_files": "Data"},
    )
)


# RM-106 ------------------------------------------------------------------------------------------------------------


def single_class(subject: Subject, limits: Limits) -> list[Outcome]:
    """All labels positive, or none."""
    facts: dict[str, Any] = {
        "n_positives": subject.n_positives,
        "n_negatives": subject.n_negatives,
        "relevance_threshold": subject.config.relevance_threshold,
    }
    if subject.n_positives and subject.n_negatives:
        return [Outcome(None, facts)]
    values, counts = np.unique(subject.of_judged(subject.rows.label), return_counts=True)
    n_unjudged = int(np.count_nonzero(subject.held)) - len(subject.positive)
    # A truth may name relevant items only: all other candidates count as not relevant, and lists are judged as ever.
    relevant_only = subject.raw.truth is not None and subject.n_positives > 0 and n_unjudged > 0
    scope = "no_negatives" if subject.n_positives else "no_positives"
    facts.update({"class": 1 if subject.n_positives else 0, "n_label_values": len(values), "n_unjudged": n_unjudged})
    return [
        Outcome(
            "info" if relevant_only else "critical",
            facts,
            causes=(
                tested("positive_rule", len(values) > 1, n_label_values=len(values)),
                tested("constant_label", len(values) <= 1 and not relevant_only, n_label_values=len(values)),
                tested("relevant_only", relevant_only, n_unjudged=n_unjudged),
            ),
            evidence=(Evidence("label_values", {"values": values[:20].tolist(), "counts": counts[:20].tolist()}),),
            disproof="other_rule",
            next_steps=("check_relevance_threshold", "check_label_coding"),
            scope="relevant_only" if relevant_only else scope,
        )
    ]


register(
    Check(
        "RM-106",
        "single_class",
        (Part(single_class, needs=("label",)),),
        "rows",
        sentence_by="scope",
        variants=("no_positives", "no_negatives", "relevant_only"),
        causes=("positive_rule", "constant_label", "relevant_only"),
        disproofs=("other_rule",),
        next_steps={"check_relevance_threshold": "Data", "check_label_coding": "Data"},
    )
)


# RM-107 ------------------------------------------------------------------------------------------------------------


def few_users_or_positives(subject: Subject, limits: Limits) -> list[Outcome]:
    """Too few users, positives or negatives for a firm number."""
    # A class that is absent altogether is the matter of RM-106.
    smaller = min((n for n in (subject.n_positives, subject.n_negatives) if n), default=0)
    facts: dict[str, Any] = {"n_positives": subject.n_positives, "n_negatives": subject.n_negatives, "units": "rows"}
    fewest = smaller
    if subject.rows.user is not None:
        facts.update(n_users=subject.rows.n_users, units="users")
        fewest = min(smaller, subject.rows.n_users)
    severity: Severity | None = "info" if fewest < limits["few_info"] else None
    if fewest < limits["few_warning"]:
        severity = "warning"
    if severity is None:
        return [Outcome(None, facts)]
    return [
        Outcome(
            severity,
            facts,
            causes=(untested("short_period", "source"),),
            evidence=_doubt(subject),
            disproof="more_data",
            next_steps=("do_not_rank", "collect", "small_sample_rules"),
        )
    ]


def _doubt(subject: Subject) -> tuple[Evidence, ...]:
    """Return how wide the AUC's interval is here, and the smallest difference that could be seen."""
    if subject.model is None or not subject.n_positives or not subject.n_negatives:
        return ()
    found = subject.auc
    facts = {
        "auc": found.value,
        "low": found.low,
        "high": found.high,
        "p_exact": exact_p(subject.positive, subject.score, subject.user),
        "mde": MDE_FACTOR * found.se if found.se is not None else None,
        "model": subject.model,
    }
    return (Evidence("auc_interval", facts),)


register(
    Check(
        "RM-107",
        "few_users_or_positives",
        (Part(few_users_or_positives, needs=("label",)),),
        "rows",
        limits={"few_info": Limit(100, "L", "count"), "few_warning": Limit(30, "L", "count")},
        sentence_by="units",
        variants=("rows", "users"),
        causes=("short_period",),
        disproofs=("more_data",),
        next_steps={"do_not_rank": None, "collect": None, "small_sample_rules": None},
    )
)
