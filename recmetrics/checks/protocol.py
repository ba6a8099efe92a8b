"""RM-4xx, how the lists were made: drawn negatives, and equal scores that leave the order open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, register, supported, tested
from recmetrics.checks.subject import Subject
from recmetrics.engines.packing import score_codes
from recmetrics.metrics.lists import Lists
from recmetrics.metrics.ranking import ndcg
from recmetrics.metrics.tie_orders import resolved
from recmetrics.results import Cause, Evidence, Severity

# RM-401 ------------------------------------------------------------------------------------------------------------

# From here on liked items appear too often among negatives for a uniform draw.
LIKED_MORE = 1.25
RATIOS = (1, 2, 3, 4, 5, 9, 10, 20, 50, 99, 100)


def sampled_evaluation(subject: Subject, limits: Limits) -> list[Outcome]:
    """Candidate lists of a shape that only drawing negatives makes; a candidate that nobody judged is a negative."""
    hits = subject.hits
    listed = hits.n_candidates > 0
    n = hits.n_candidates[listed]
    positives = np.bincount(hits.user[hits.relevant], minlength=len(listed))[listed]
    if positives.sum() in (0, n.sum()):
        return [Outcome(None, {}, reason="one_class")]
    catalogue = subject.config.catalogue_size or subject.rows.n_items
    rule = _rule(n, positives, catalogue, limits)
    facts: dict[str, Any] = {"n_users": len(n), "catalogue": catalogue, "candidates": subject.config.candidates}
    if rule is None:
        return [Outcome(None, facts)]
    facts.update(rule=rule, negatives_per_positive=float((n - positives).sum() / positives.sum()))
    if rule == "constant_lists":
        n_list, n_positive = int(n[0]), int(positives[0])
        facts.update(list_length=n_list, list_positives=n_positive, list_negatives=n_list - n_positive)
        if subject.config.catalogue_size:
            # Which place among all items the K of the sampled list asks about (Li et al. 2020).
            asked = 1 + (subject.k - 1) * (catalogue - 1) / (n_list - n_positive)
            facts.update(k=subject.k, k_full=min(round(asked), catalogue))
    return [
        Outcome(
            _sampled_severity(subject, rule, len(n), limits),
            facts,
            causes=tuple(supported(_samplers(subject))),
            evidence=(Evidence("list_lengths", {"model": subject.model}),),
            disproof="full_catalogue",
            next_steps=("rank_full_catalogue", "share_negatives", "declare_sampled"),
        )
    ]


def _rule(n: NDArray[np.int64], positives: NDArray[np.int64], catalogue: int, limits: Limits) -> str | None:
    negatives = n - positives
    same_lists = len(n) >= limits["users_least"] and _constant(n) and _constant(positives)
    if same_lists and 0 < positives[0] < n[0] < limits["catalogue_share"] * catalogue:
        return "constant_lists"
    both = len(n) >= limits["users"] and positives.min() > 0 and negatives.min() > 0
    if both and not _constant(n) and np.all(negatives * positives[0] == negatives[0] * positives):
        return "user_ratio"
    n_positives, n_negatives = int(positives.sum()), int(negatives.sum())
    if n_positives >= limits["positives"] and any(n_negatives == ratio * n_positives for ratio in RATIOS):
        return "global_ratio"
    return None


def _constant(values: NDArray[np.int64]) -> bool:
    return bool(values.min() == values.max())


def _sampled_severity(subject: Subject, rule: str, n_users: int, limits: Limits) -> Severity:
    declared = subject.config.candidates
    if declared == "full":
        return "critical"
    if declared == "sampled" and not subject.has_list_headline:
        return "info"
    if declared == "impressions" and rule == "constant_lists":
        return "info"
    if rule == "global_ratio" or (rule == "constant_lists" and n_users < limits["users"]):
        return "warning"
    return "critical"


def _samplers(subject: Subject) -> list[Cause]:
    """Test how negatives were drawn: do the items that users like appear among others' negatives more than the rest?"""
    declared = subject.config.negatives
    rows = subject.rows
    assert rows.item is not None
    assert rows.user is not None
    held = (rows.item >= 0) & (rows.user >= 0)
    if subject.model is not None:
        held &= rows.rows_of(subject.model)
    item, positive = rows.item[held], subject.positive_label(rows.label[held])
    as_negative = np.bincount(item[~positive], minlength=len(rows.items))
    as_positive = np.bincount(item[positive], minlength=len(rows.items))
    occurring = (as_negative + as_positive) > 0
    liked = float(as_negative @ as_positive) / max(float(as_positive.sum()), 1.0)
    ratio = liked / float(as_negative[occurring].mean())
    return [
        tested("declared_sampler", declared is not None and declared.sampler != "ratio"),
        tested("uniform_sampler", ratio <= LIKED_MORE, popularity_ratio=ratio),
        tested("popularity_sampler", ratio > LIKED_MORE, popularity_ratio=ratio),
    ]


register(
    Check(
        "RM-401",
        "sampled_evaluation",
        (Part(sampled_evaluation, needs=("user", "item", "label", "score"), gates=("no_lists",)),),
        "rows",
        limits={
            "users_least": Limit(10, "P", "count"),
            "users": Limit(30, "P", "count"),
            "catalogue_share": Limit(0.5, "P", "share"),
            "positives": Limit(1000, "P", "count"),
        },
        sentence_by="rule",
        variants=("constant_lists", "user_ratio", "global_ratio"),
        causes=("declared_sampler", "uniform_sampler", "popularity_sampler"),
        disproofs=("full_catalogue",),
        next_steps={"rank_full_catalogue": None, "share_negatives": None, "declare_sampled": "Data"},
    )
)


# RM-402 ------------------------------------------------------------------------------------------------------------


def ties(subject: Subject, limits: Limits) -> list[Outcome]:
    """Equal scores inside a list, and how far NDCG@K moves between their best and their worst order."""
    count, n_rows, n_distinct = _tied_rows(subject)
    facts: dict[str, Any] = {"count": count, "n": n_rows, "n_distinct": n_distinct, "k": subject.k}
    if not count:
        return [Outcome(None, facts)]
    low, high = _ndcg_range(subject)
    facts.update(
        ndcg_low=low,
        ndcg_high=high,
        gap=high - low if low is not None and high is not None else 0.0,
        share_straddling=_straddling(subject),
        treatment=subject.config.ties,
    )
    severity: Severity = "warning" if facts["gap"] > limits["warning"] else "info"
    if facts["gap"] > limits["critical"]:
        severity = "critical"
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(_causes_of_ties(subject, n_distinct))),
            evidence=(Evidence("tie_range", {"model": subject.model, "k": subject.k}),),
            disproof="more_digits",
            next_steps=("declare_tie_rule", "export_more_digits"),
        )
    ]


def _tied_rows(subject: Subject) -> tuple[int, int, int]:
    """Return rows minus distinct scores, summed over users; rows in lists; distinct scores over all rows."""
    assert subject.model is not None
    user = subject.rows.list_user
    assert user is not None
    score = subject.rows.scores[subject.model]
    listed = (user >= 0) & subject.rows.rows_of(subject.model)
    if not listed.all():
        user, score = user[listed], score[listed]
    codes, _ = score_codes(score)
    keys = np.sort((user.astype(np.uint64) << np.uint64(32)) | codes)
    tied = int(np.count_nonzero(keys[1:] == keys[:-1]))
    return tied, len(keys), len(subject.score_values[0])


def _ndcg_range(subject: Subject) -> tuple[float | None, float | None]:
    """Return mean NDCG@K over users with relevant items, under the worst and the best order of equal scores."""
    worst = ndcg(Lists(resolved(subject.hits, "worst"), (subject.k,)), subject.config)[:, 0]
    best = ndcg(Lists(resolved(subject.hits, "best"), (subject.k,)), subject.config)[:, 0]
    known = ~np.isnan(best)
    return (float(worst[known].mean()), float(best[known].mean())) if known.any() else (None, None)


def _straddling(subject: Subject) -> float | None:
    """Return the share of relevant hits whose block of equal scores begins within K and ends beyond it."""
    hits = subject.hits
    if not hits.relevant.any():
        return None
    across = (hits.lo <= subject.k) & (hits.hi > subject.k)
    return float(np.mean(across[hits.relevant]))


def _causes_of_ties(subject: Subject, n_distinct: int) -> list[Cause]:
    values, counts = subject.score_values
    if not len(values):  # every row was ranked last for want of a score
        return [tested("few_distinct_scores", True, n_distinct=n_distinct)]
    largest = int(counts.argmax())
    share = float(counts[largest] / counts.sum())
    return [
        tested("few_distinct_scores", n_distinct <= 100, n_distinct=n_distinct),
        tested("default_score", share > 0.01 and n_distinct > 100, value=float(values[largest]), share_of_rows=share),
    ]


register(
    Check(
        "RM-402",
        "ties",
        (Part(ties, needs=("user", "score"), gates=("no_lists",)),),
        "model",
        limits={"warning": Limit(0.02, "P"), "critical": Limit(0.1, "P")},
        causes=("few_distinct_scores", "default_score"),
        disproofs=("more_digits",),
        next_steps={"declare_tie_rule": "Data", "export_more_digits": None},
    )
)
