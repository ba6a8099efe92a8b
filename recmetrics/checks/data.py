"""RM-101, 102, 104 and 109: are the rows complete, and does each pair stand once?"""

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
    by_share,
    example_rows,
    register,
    supported,
    tested,
    untested,
)
from recmetrics.checks.subject import Subject
from recmetrics.dataset import pair_codes
from recmetrics.results import Cause, Severity

# A fault that lies in one part of the file: that part has most of it and is not most of the file anyway.
PART_HOLDS, PART_IS = 0.8, 0.5


def _share(selected: NDArray[np.bool_], among: NDArray[np.bool_]) -> float | None:
    n = int(np.count_nonzero(among))
    return int(np.count_nonzero(selected & among)) / n if n else None


def _one_segment(subject: Subject, selected: NDArray[np.bool_], among: NDArray[np.bool_]) -> Cause:
    """Test whether the selected raw rows come from one value of a segment column."""
    segments = subject.raw.segments
    if not segments:
        return untested("one_segment", "segment")
    found: tuple[float, float, str, str] | None = None
    for column, segment in segments.items():
        inside = selected & among & (segment.codes >= 0)
        if not inside.any():
            continue
        counts = np.bincount(segment.codes[inside], minlength=len(segment.labels))
        largest = int(counts.argmax())
        holds = float(counts[largest] / np.count_nonzero(selected & among))
        size = float(np.count_nonzero(among & (segment.codes == largest)) / np.count_nonzero(among))
        candidate = (holds - size, holds, column, segment.labels[largest])
        found = max(found, candidate) if found else candidate
    if found is None:
        return tested("one_segment", False)
    excess, holds, column, value = found
    supports = holds >= PART_HOLDS and holds - excess <= PART_IS
    return tested(
        "one_segment", supports, column=column, segment=value, share_of_fault=holds, share_of_rows=holds - excess
    )


# RM-101 ------------------------------------------------------------------------------------------------------------


def missing_scores(subject: Subject, limits: Limits) -> list[Outcome]:
    """Scores that are no finite numbers, and whether they depend on the label."""
    held, label = subject.held, subject.raw.label
    missing = held & np.isnan(subject.raw_score)
    infinite = held & np.isinf(subject.raw_score)
    bad = missing | infinite
    positive = held & subject.raw_positive
    negative = held & ~subject.raw_positive & ~np.isnan(label)
    facts: dict[str, Any] = {
        "count": int(np.count_nonzero(missing)),
        "count_infinite": int(np.count_nonzero(infinite)),
        "n": int(np.count_nonzero(held)),
        "share": _share(bad, held) or 0.0,
        "share_positives": _share(bad, positive),
        "share_negatives": _share(bad, negative),
        "p_label": _two_proportions_p(bad, positive, negative),
    }
    facts["treatment"] = subject.config.missing_scores
    severity = by_share(facts["share"], limits)
    tied = _tied_to_label(facts, limits)
    if tied:
        severity = "critical"
    if severity == "critical" and _declared_scores(subject, facts):
        severity = "warning"
    if severity is None:
        return [Outcome(None, facts)]
    causes = [
        _one_segment(subject, bad, held),
        _new_users(subject, bad),
        tested("selection", tied, p_label=facts["p_label"])
        if facts["p_label"] is not None
        else untested("selection", "both_classes"),
    ]
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(example_rows(subject, np.flatnonzero(bad)),),
            disproof="independent",
            next_steps=("repair_export", "declare_missing_scores"),
        )
    ]


def _declared_scores(subject: Subject, facts: dict[str, Any]) -> bool:
    """Return whether the convention says what becomes of every unusable score that occurs."""
    missing = facts["count"] == 0 or subject.declared.missing_scores != "error"
    return missing and (facts["count_infinite"] == 0 or subject.declared.infinite_scores != "error")


def _tied_to_label(facts: dict[str, Any], limits: Limits) -> bool:
    if facts["p_label"] is None or facts["count"] + facts["count_infinite"] < limits["label_count"]:
        return False
    low, high = sorted((facts["share_positives"], facts["share_negatives"]))
    return bool(high > limits["label_ratio"] * low and facts["p_label"] < limits["label_p"])


def _two_proportions_p(
    bad: NDArray[np.bool_], positive: NDArray[np.bool_], negative: NDArray[np.bool_]
) -> float | None:
    """Return the two-sided normal p of "the share is the same in both classes"; None with one class or no case."""
    n1, n0 = int(np.count_nonzero(positive)), int(np.count_nonzero(negative))
    x1, x0 = int(np.count_nonzero(bad & positive)), int(np.count_nonzero(bad & negative))
    if not n1 or not n0 or x1 + x0 in (0, n1 + n0):
        return None
    pooled = (x1 + x0) / (n1 + n0)
    z = abs(x1 / n1 - x0 / n0) / math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n0))
    return math.erfc(z / math.sqrt(2))


def _new_users(subject: Subject, bad: NDArray[np.bool_]) -> Cause:
    """Test whether the rows without a score belong to users that training never saw."""
    train, user = subject.raw.train, subject.raw.user
    if train is None or user is None:
        return untested("new_users", "train")
    seen = np.zeros(len(subject.raw.users) + 1, dtype=bool)
    seen[train.user[train.user >= 0]] = True
    new = (user >= 0) & ~seen[user]
    among_bad, among_all = _share(new, bad) or 0.0, _share(new, subject.held) or 0.0
    supports = among_bad >= PART_HOLDS and among_all <= PART_IS
    return tested("new_users", supports, share_of_fault=among_bad, share_of_rows=among_all)


register(
    Check(
        "RM-101",
        "missing_scores",
        (Part(missing_scores, needs=("score",)),),
        "model",
        limits={
            "warning": Limit(0.001, "P", "share"),
            "critical": Limit(0.05, "P", "share"),
            "label_ratio": Limit(2.0, "P", "number"),
            "label_p": Limit(0.001, "P", "number"),
            "label_count": Limit(30, "P", "count"),
        },
        causes=("one_segment", "new_users", "selection"),
        disproofs=("independent",),
        next_steps={"repair_export": None, "declare_missing_scores": "Data"},
    )
)


# RM-102 ------------------------------------------------------------------------------------------------------------


def missing_ids(subject: Subject, limits: Limits) -> list[Outcome]:
    """Rows that belong to no user or no item."""
    columns = {"user": subject.raw.user, "item": subject.raw.item}
    missing = {role: codes < 0 for role, codes in columns.items() if codes is not None}
    if not missing:
        return [Outcome(None, {}, reason="no_column:user")]
    either = np.logical_or.reduce(list(missing.values()))
    count = int(np.count_nonzero(either))
    facts = {
        "count": count,
        "count_user": int(np.count_nonzero(missing["user"])) if "user" in missing else 0,
        "count_item": int(np.count_nonzero(missing["item"])) if "item" in missing else 0,
        "n": len(either),
        "share": count / max(len(either), 1),
    }
    severity = by_share(facts["share"], limits)
    if severity is None:
        return [Outcome(None, facts)]
    return [
        Outcome(
            severity,
            facts,
            causes=(untested("reader", "source"), untested("anonymous", "source")),
            evidence=(example_rows(subject, np.flatnonzero(either)),),
            disproof="ids_as_text",
            next_steps=("ids_as_text", "exclude_anonymous"),
        )
    ]


register(
    Check(
        "RM-102",
        "missing_ids",
        (Part(missing_ids),),
        "data",
        limits={"warning": Limit(0.001, "P", "share"), "critical": Limit(0.05, "P", "share")},
        causes=("reader", "anonymous"),
        disproofs=("ids_as_text",),
        next_steps={"ids_as_text": "Data", "exclude_anonymous": None},
    )
)


# RM-104 ------------------------------------------------------------------------------------------------------------


def duplicates(subject: Subject, limits: Limits) -> list[Outcome]:
    """Rows of one user and item that stand more than once, and whether they contradict each other."""
    groups = _groups(subject)
    raw, n = subject.raw, max(subject.raw.n_rows, 1)
    conflicting = int(np.count_nonzero(_varies(raw.label, groups)))
    facts: dict[str, Any] = {
        "count": len(groups.row) - len(groups.start),
        "conflicting": conflicting,
        "n_groups": len(groups.start),
        "n": raw.n_rows,
        "share": len(groups.row) / n,
        "share_conflicting": conflicting / n,
        "largest_group": int(groups.size.max(initial=0)),
        "treatment": subject.config.duplicates,
    }
    if not facts["count"]:
        return [Outcome(None, facts)]
    severity: Severity = "warning" if facts["share"] > limits["warning"] else "info"
    if facts["share_conflicting"] > limits["conflicting"]:
        severity = "critical"
    if subject.options.repeat_consumption and "time" not in raw.values:
        severity = "info"
    scores_vary = _any_varies([raw.scores[m] for m in raw.models], groups)
    same_size = bool(groups.size.min() == groups.size.max())
    causes = [
        tested("join", same_size and not conflicting and not scores_vary, largest_group=facts["largest_group"]),
        tested("several_events", conflicting > 0, conflicting=conflicting),
        tested("versions", scores_vary),
    ]
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(example_rows(subject, np.sort(groups.row), 10),),
            disproof="request_id",
            next_steps=("declare_duplicates", "fix_join"),
        )
    ]


class _Groups:
    """Rows that share a key with another row: `row` grouped, `start` of each group in it, `size` of each."""

    def __init__(self, row: NDArray[np.int64], start: NDArray[np.int64]) -> None:
        self.row, self.start = row, start
        self.size = np.diff(np.append(start, len(row)))


def _groups(subject: Subject) -> _Groups:
    raw = subject.raw
    assert raw.user is not None
    assert raw.item is not None
    if len(raw.surplus_rows) == 0:
        return _Groups(np.empty(0, np.int64), np.empty(0, np.int64))
    keyed = np.flatnonzero((raw.user >= 0) & (raw.item >= 0))
    parts: list[NDArray[Any]] = [pair_codes(raw.user[keyed], raw.item[keyed], len(raw.items))]
    if subject.options.repeat_consumption and "time" in raw.values:
        parts.append(raw.values["time"][keyed])
    order = np.lexsort(parts[::-1])
    same = np.ones(len(order) - 1, dtype=bool)
    for part in parts:
        same &= part[order][1:] == part[order][:-1]
    inside = np.append(same, False) | np.append(False, same)
    opens = inside & ~np.append(False, same)
    return _Groups(keyed[order[inside]], np.flatnonzero(opens[inside]))


def _varies(column: NDArray[Any], groups: _Groups) -> NDArray[np.bool_]:
    """Return bool[g]: whether a column has more than one value in a group; missing values count as one."""
    if not len(groups.start):
        return np.empty(0, dtype=bool)
    values = column[groups.row]
    known = np.where(np.isnan(values), np.inf, values)
    return np.asarray(np.maximum.reduceat(known, groups.start) != np.minimum.reduceat(known, groups.start))


def _any_varies(columns: list[NDArray[Any]], groups: _Groups) -> bool:
    return any(bool(_varies(column, groups).any()) for column in columns)


register(
    Check(
        "RM-104",
        "duplicates",
        (Part(duplicates, needs=("user", "item")),),
        "data",
        limits={"warning": Limit(0.001, "P", "share"), "conflicting": Limit(0.001, "P", "share")},
        causes=("join", "several_events", "versions"),
        disproofs=("request_id",),
        next_steps={"declare_duplicates": "Data", "fix_join": None},
    )
)


# RM-109 ------------------------------------------------------------------------------------------------------------


def missing_labels(subject: Subject, limits: Limits) -> list[Outcome]:
    """Rows without a label, unless they are candidates that nobody judged."""
    missing = subject.held & np.isnan(subject.raw.label)
    n, count = int(np.count_nonzero(subject.held)), int(np.count_nonzero(missing))
    declared = subject.raw.truth is not None or subject.declared.unjudged == "skip"
    facts: dict[str, Any] = {"count": count, "n": n, "share": count / max(n, 1), "declared": declared}
    severity = by_share(facts["share"], limits)
    if severity is None:
        return [Outcome(None, facts)]
    if declared:
        severity = "info"
    causes = [_last_days(subject, missing), _one_segment(subject, missing, subject.held)]
    return [
        Outcome(
            severity,
            facts,
            causes=tuple(supported(causes)),
            evidence=(example_rows(subject, np.flatnonzero(missing)),),
            disproof="unjudged_candidates",
            next_steps=("wait_for_labels", "declare_unjudged"),
        )
    ]


def _last_days(subject: Subject, missing: NDArray[np.bool_]) -> Cause:
    """Test whether the last day of the file holds most of the rows without a label."""
    time = subject.raw.values.get("time")
    if time is None or not np.isfinite(time).any():
        return untested("not_mature", "time")
    last = subject.held & (time >= np.nanmax(time) - 1.0)
    holds, size = _share(last, missing) or 0.0, _share(last, subject.held) or 0.0
    supports = holds >= PART_HOLDS and size <= PART_IS
    return tested("not_mature", supports, share_of_fault=holds, share_of_rows=size)


register(
    Check(
        "RM-109",
        "missing_labels",
        (Part(missing_labels, needs=("label",)),),
        "rows",
        limits={"warning": Limit(0.001, "P", "share"), "critical": Limit(0.05, "P", "share")},
        causes=("not_mature", "one_segment"),
        disproofs=("unjudged_candidates",),
        next_steps={"wait_for_labels": None, "declare_unjudged": "Data"},
    )
)
