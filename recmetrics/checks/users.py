"""RM-7xx: does one number stand for every user and every segment?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.base import Check, Limit, Limits, Outcome, Part, register, supported, tested
from recmetrics.checks.subject import CONFIDENCE, Subject
from recmetrics.decomposition import UserSplit, split_by_users
from recmetrics.inference.auc import auc_estimate
from recmetrics.inference.means import mean_influence, t_quantile
from recmetrics.results import Cause, Evidence, Severity

# RM-702 ------------------------------------------------------------------------------------------------------------


def auc_gauc_gap(subject: Subject, limits: Limits) -> list[Outcome]:
    """The pooled order and the order inside a user's list tell different stories."""
    gauc = subject.gauc
    facts: dict[str, Any] = {"n_users_both": gauc.n}
    if gauc.n < limits["users_least"]:
        return [Outcome(None, facts, reason="few_users_both_classes")]
    gap, low, high = _gap(subject)
    facts.update(auc=subject.auc.value, gauc=gauc.value, gap=gap, gap_low=low, gap_high=high)
    severity, scope = _gap_severity(facts, limits)
    if severity is None:
        return [Outcome(None, facts)]
    split = split_by_users(subject.judged_hits, subject.table, subject.config)
    facts["w_in"] = split.w_in
    facts["base_rate_sd"] = _spread_of_base_rates(subject)
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported([_knows_who(subject), _incomparable(scope), _weights(split)])),
            evidence=(Evidence("auc_and_gauc", {"model": subject.model}),),
            disproof="pairs_weight_agrees",
            next_steps=("judge_within_users", "look_at_split"),
            scope=scope,
        )
    ]


def _gap(subject: Subject) -> tuple[float, float, float]:
    """Return AUC − GAUC with its joint interval: what a user moves the one by, minus what he moves the other by."""
    found, gauc = subject.user_auc, subject.gauc
    counted = found.counted
    assert subject.auc.influence is not None
    influence = subject.auc.influence.copy()
    influence[counted] -= mean_influence(found.auc[counted], found.weight[counted], gauc.value)
    n = int(np.count_nonzero(subject.user_rows))
    se = math.sqrt(n / (n - 1) * float(influence @ influence))
    gap, reach = subject.auc.value - gauc.value, t_quantile(CONFIDENCE, n - 1) * se
    return gap, gap - reach, gap + reach


def _gap_severity(facts: dict[str, Any], limits: Limits) -> tuple[Severity | None, str | None]:
    gap, low, high = facts["gap"], facts["gap_low"], facts["gap_high"]
    blind = facts["auc"] >= limits["auc"] and facts["gauc"] <= limits["gauc"]
    if blind and low > limits["critical_low"]:
        return "critical", "pooled_higher"
    if facts["n_users_both"] >= limits["users"]:
        if gap > limits["gap"] and low > limits["warning_low"]:
            return "warning", "pooled_higher"
        if gap < -limits["gap"] and high < -limits["warning_low"]:
            return "warning", "pooled_lower"
    return None, None


def _user_means(subject: Subject) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_]]:
    """Return each labelled row's mean score of its user, the user, and whether the row is positive."""
    assert subject.user is not None
    known = subject.user >= 0
    user, score = subject.user[known], subject.score[known].astype(np.float64)
    size = len(subject.rows.users)
    mean = np.bincount(user, score, minlength=size) / np.maximum(np.bincount(user, minlength=size), 1)
    return mean[user], user, subject.positive[known]


def _knows_who(subject: Subject) -> Cause:
    """Test whether the mean score of the user alone orders the rows as well as the score itself."""
    if not np.isfinite(subject.score).all():
        return Cause("knows_who_clicks", "not_testable", {"missing": "finite_scores"})
    mean, _, positive = _user_means(subject)
    value = auc_estimate(positive, mean, None).value
    return tested("knows_who_clicks", value >= subject.auc.value - 0.02, auc_of_user_mean=value, auc=subject.auc.value)


def _incomparable(scope: str | None) -> Cause:
    return tested("comparable_within_users_only", scope == "pooled_lower")


def _weights(split: UserSplit) -> Cause:
    """Test whether GAUC with every pair counted alike agrees with AUC: then only the weights differ."""
    assert split.auc is not None  # both classes are there, or the check would not apply
    assert split.within is not None
    return tested("weights", abs(split.within - split.auc) <= 0.02, gauc_pairs=split.within)


def _spread_of_base_rates(subject: Subject) -> float:
    """Return the standard deviation over users of their share of positives."""
    listed = subject.user_rows > 0
    return float(np.std(subject.user_positives[listed] / subject.user_rows[listed]))


register(
    Check(
        "RM-702",
        "auc_gauc_gap",
        (Part(auc_gauc_gap, needs=("user", "label", "score"), gates=("one_class", "few_30")),),
        "model",
        limits={
            "users_least": Limit(10, "P", "count"),
            "users": Limit(50, "P", "count"),
            "auc": Limit(0.65, "P"),
            "gauc": Limit(0.55, "P"),
            "critical_low": Limit(0.10, "P"),
            "gap": Limit(0.06, "P"),
            "warning_low": Limit(0.04, "P"),
        },
        sentence_by="scope",
        variants=("pooled_higher", "pooled_lower"),
        causes=("knows_who_clicks", "comparable_within_users_only", "weights"),
        disproofs=("pairs_weight_agrees",),
        next_steps={"judge_within_users": "Ranking", "look_at_split": "Overview"},
    )
)


# RM-704 ------------------------------------------------------------------------------------------------------------

MAX_LISTED = 50


def small_segment(subject: Subject, limits: Limits) -> list[Outcome]:
    """Values of a segment column with too few rows of one class for a firm number; one outcome per column."""
    found = []
    for column, segment in subject.rows.segments.items():
        n_labels = len(segment.labels)
        smaller = np.minimum(*subject.class_counts(subject.of_judged(segment.codes), n_labels))
        present = np.bincount(segment.codes[segment.codes >= 0], minlength=n_labels) > 0
        small = np.flatnonzero(present & (smaller < limits["each"]))
        facts: dict[str, Any] = {"column": column, "count": len(small), "n_segments": int(np.count_nonzero(present))}
        if not len(small):
            found.append(Outcome(None, facts, scope=column))
            continue
        names = [segment.labels[code] for code in small[np.lexsort((small, smaller[small]))][:MAX_LISTED]]
        facts.update(segments=names, n_one_class=int(np.count_nonzero(smaller[small] == 0)))
        if len(names) == 1:
            facts["segment"] = names[0]
        found.append(
            Outcome(
                "info",
                facts,
                causes=(tested("short_period", True, largest_class=int(smaller[small].max())),),
                evidence=(Evidence("segment_table", {"column": column}),),
                disproof="longer_period",
                next_steps=("merge_or_collect",),
                scope=column,
            )
        )
    return found


register(
    Check(
        "RM-704",
        "small_segment",
        (Part(small_segment, needs=("segment", "label")),),
        "rows",
        limits={"each": Limit(30, "P", "count")},
        causes=("short_period",),
        disproofs=("longer_period",),
        next_steps={"merge_or_collect": "Segments"},
    )
)
