"""RM-4xx, the shape of the lists: shorter than K, without positives, with a single candidate."""

from __future__ import annotations

from typing import Any

import numpy as np

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, register, supported, tested, untested
from recmetrics.checks.subject import Subject
from recmetrics.metrics.lists import Lists
from recmetrics.metrics.ranking import ndcg
from recmetrics.results import Evidence, Severity

# RM-403 ------------------------------------------------------------------------------------------------------------


def lists_shorter_than_k(subject: Subject, limits: Limits) -> list[Outcome]:
    """Users with fewer candidates than places."""
    lengths = subject.n_candidates
    count = int(np.count_nonzero(lengths < subject.k))
    facts: dict[str, Any] = {
        "count": count,
        "n_users": len(lengths),
        "share": count / len(lengths),
        "k": subject.k,
        "longest": int(lengths.max()),
    }
    if not count:
        return [Outcome(None, facts)]
    # Many lists of exactly the greatest length: they were cut there.
    at_longest = float(np.mean(lengths == lengths.max()))
    causes = [
        tested("truncated_export", at_longest > 0.5, longest=facts["longest"], share_at_longest=at_longest),
        tested("small_catalogue", subject.rows.n_items <= 2 * subject.k, n_items=subject.rows.n_items),
    ]
    return [
        Outcome(
            "warning" if facts["share"] > limits["warning"] else "info",
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("list_lengths", {"model": subject.model, "k": subject.k}),),
            disproof="longer_lists",
            next_steps=("lower_k", "export_full_lists"),
        )
    ]


register(
    Check(
        "RM-403",
        "lists_shorter_than_k",
        (Part(lists_shorter_than_k, needs=("user", "score"), gates=("no_lists",)),),
        "rows",
        limits={"warning": Limit(0.05, "P", "share")},
        causes=("truncated_export", "small_catalogue"),
        disproofs=("longer_lists",),
        next_steps={"lower_k": "Ranking", "export_full_lists": None},
    )
)


# RM-404 ------------------------------------------------------------------------------------------------------------


def k_not_smaller_than_lists(subject: Subject, limits: Limits) -> list[Outcome]:
    """No list is longer than K: everything is in the top K, whatever the order."""
    lengths = subject.n_candidates
    facts: dict[str, Any] = {
        "k": subject.k,
        "n_users": len(lengths),
        "longest": int(lengths.max()),
        "shortest": int(lengths.min()),
    }
    if subject.k < facts["longest"]:
        return [Outcome(None, facts)]
    slates = subject.config.candidates == "impressions"
    causes = [
        tested("fixed_slates", slates, candidates=subject.config.candidates),
        tested("cut_by_export", not slates and facts["longest"] == facts["shortest"]),
    ]
    return [
        Outcome(
            "warning",
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("list_lengths", {"model": subject.model, "k": subject.k}),),
            disproof="longer_lists",
            next_steps=("lower_k", "export_full_lists"),
        )
    ]


register(
    Check(
        "RM-404",
        "k_not_smaller_than_lists",
        (Part(k_not_smaller_than_lists, needs=("user", "score"), gates=("no_lists",)),),
        "rows",
        causes=("fixed_slates", "cut_by_export"),
        disproofs=("longer_lists",),
        next_steps={"lower_k": "Ranking", "export_full_lists": None},
    )
)


# RM-405 ------------------------------------------------------------------------------------------------------------


def users_dropped(subject: Subject, limits: Limits) -> list[Outcome]:
    """Users that no mean counts, or that GAUC leaves out: nothing relevant, or nothing else."""
    listed = subject.user_rows > 0
    n, positives = subject.user_rows[listed], subject.user_positives[listed]
    without, only = int(np.count_nonzero(positives == 0)), int(np.count_nonzero(positives == n))
    facts: dict[str, Any] = {
        "count": without + only,
        "n_without_positives": without,
        "n_only_positives": only,
        "n_users": len(n),
        "share": (without + only) / len(n),
    }
    if not facts["count"]:
        return [Outcome(None, facts)]
    facts.update(_means_with_and_without(subject), k=subject.k)
    declared = subject.declared.users_without_relevant != "skip" or subject.declared.single_class_users != "skip"
    many = facts["share"] > limits["share"] and len(n) >= limits["users"]
    severity: Severity = "warning" if many and subject.has_list_headline and not declared else "info"
    rare = subject.prevalence < limits["rare"]
    causes = [
        tested("rare_positives", rare, prevalence=subject.prevalence),
        tested("filtered_by_activity", not rare, prevalence=subject.prevalence),
    ]
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(Evidence("users_counted", {"model": subject.model}),),
            disproof="longer_period",
            next_steps=("print_policy", "longer_period"),
        )
    ]


def _means_with_and_without(subject: Subject) -> dict[str, float | None]:
    """Return mean NDCG@K over the users with relevant items, and with the others counted as 0."""
    hits = subject.hits
    values = ndcg(Lists(hits, (subject.k,)), subject.config)[:, 0]
    known = values[~np.isnan(values)]
    n_base = int(np.count_nonzero(hits.in_truth))
    if not len(known) or not n_base:
        return {"ndcg_skip": None, "ndcg_zero": None}
    return {"ndcg_skip": float(known.mean()), "ndcg_zero": float(known.sum() / n_base)}


register(
    Check(
        "RM-405",
        "users_dropped",
        (Part(users_dropped, needs=("user", "label", "score"), gates=("one_class",)),),
        "rows",
        limits={
            "share": Limit(0.5, "P", "share"),
            "users": Limit(100, "P", "count"),
            "rare": Limit(0.05, "P", "share"),
        },
        causes=("rare_positives", "filtered_by_activity"),
        disproofs=("longer_period",),
        next_steps={"print_policy": "Data", "longer_period": None},
    )
)


# RM-406 ------------------------------------------------------------------------------------------------------------


def precision_ceiling(subject: Subject, limits: Limits) -> list[Outcome]:
    """Users have fewer relevant items than places, so that precision@K cannot reach 1."""
    quoted = [name.k for name in subject.headline if name.name == "precision" and name.k is not None]
    k = max(quoted, default=subject.k)
    relevant = subject.hits.n_relevant[subject.hits.n_relevant > 0]
    facts: dict[str, Any] = {"k": k, "n_users": len(relevant), "is_headline": bool(quoted)}
    if not len(relevant):
        return [Outcome(None, facts, reason="one_class")]
    facts.update(count=int(np.count_nonzero(relevant < k)), ceiling=float(np.mean(np.minimum(relevant, k) / k)))
    if facts["ceiling"] >= 1:
        return [Outcome(None, facts)]
    return [
        Outcome(
            "warning" if quoted and facts["ceiling"] < limits["warning_below"] else "info",
            facts,
            causes=(tested("few_relevant", True, median_relevant=float(np.median(relevant))),),
            evidence=(Evidence("precision_at_k", {"model": subject.model, "k": k}),),
            disproof="other_k",
            next_steps=("recall_or_r_precision", "lower_k"),
        )
    ]


register(
    Check(
        "RM-406",
        "precision_ceiling",
        (Part(precision_ceiling, needs=("user", "label", "score"), gates=("no_lists",)),),
        "rows",
        limits={"warning_below": Limit(0.5, "P")},
        causes=("few_relevant",),
        disproofs=("other_k",),
        next_steps={"recall_or_r_precision": "Ranking", "lower_k": "Ranking"},
    )
)


# RM-411 ------------------------------------------------------------------------------------------------------------


def trivial_users(subject: Subject, limits: Limits) -> list[Outcome]:
    """Users with a single candidate, for whom every order is perfect."""
    lengths = subject.n_candidates
    count = int(np.count_nonzero(lengths == 1))
    if not len(lengths) or count == len(lengths):
        return [Outcome(None, {"count": count, "n_users": len(lengths)}, reason="no_lists")]
    facts: dict[str, Any] = {"count": count, "n_users": len(lengths), "share": count / len(lengths)}
    if not count:
        return [Outcome(None, facts)]
    single = np.flatnonzero(subject.hits.n_candidates == 1)
    in_truth = subject.hits.n_relevant[single] > 0
    return [
        Outcome(
            "warning" if facts["share"] > limits["warning"] and subject.has_list_headline else "info",
            facts,
            causes=(
                tested("candidates_lost", bool(in_truth.all()), share_with_relevant=float(in_truth.mean())),
                untested("thin_users", "source"),
            ),
            evidence=(Evidence("list_lengths", {"model": subject.model}),),
            disproof="longer_lists",
            next_steps=("exclude_trivial", "export_full_lists"),
        )
    ]


register(
    Check(
        "RM-411",
        "trivial_users",
        (Part(trivial_users, needs=("user", "score")),),
        "rows",
        limits={"warning": Limit(0.05, "P", "share")},
        causes=("candidates_lost", "thin_users"),
        disproofs=("longer_lists",),
        next_steps={"exclude_trivial": None, "export_full_lists": None},
    )
)
