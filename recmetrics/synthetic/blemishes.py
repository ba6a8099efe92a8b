"""Blemished sets E1 to E25: smaller faults of export, declaration and report, one alarm each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.synthetic.base import (
    Draft,
    Floats,
    Ints,
    bernoulli,
    clicks,
    expit,
    synthetic_set,
    with_segment,
    with_time,
    with_train,
)
from recmetrics.synthetic.diseases import joined_pairs, rows_of
from recmetrics.synthetic.reported import mean_ndcg


def some_rows(rng: np.random.Generator, n_rows: int, share: float) -> Ints:
    """Return the indices of a share of the rows, ascending."""
    return np.sort(rng.choice(n_rows, size=round(share * n_rows), replace=False))


def set_at(array: Floats, rows: Ints | NDArray[np.bool_], value: float) -> Floats:
    """Return a copy with one value at some rows."""
    changed = array.copy()
    changed[rows] = value
    return changed


@synthetic_set("E1", "RM-101")
def missing_scores(rng: np.random.Generator, share: float = 0.02, **base: Any) -> Draft:
    """Return scores that are missing here and there, declared to be dropped."""
    draft = clicks(rng, **base)
    score = set_at(draft.score, some_rows(rng, draft.n_rows, share), np.nan)
    return draft.rescored(score).configured(missing_scores="drop")


@synthetic_set("E2", "RM-103")
def padded_train_users(rng: np.random.Generator, digits: int = 6, **base: Any) -> Draft:
    """Return training pairs that write the same users with leading zeros."""
    return replace(with_train(rng, with_time(rng, clicks(rng, **base))), train_user_digits=digits)


@synthetic_set("E3", "RM-104")
def repeated_rows(rng: np.random.Generator, share: float = 0.01, **base: Any) -> Draft:
    """Return rows of which some stand twice, declared to keep the first."""
    draft = clicks(rng, **base)
    rows = np.sort(np.concatenate([np.arange(draft.n_rows), some_rows(rng, draft.n_rows, share)]))
    return rows_of(draft, rows).configured(duplicates="keep_first")


@synthetic_set("E4", "RM-204")
def hard_labels(rng: np.random.Generator, cut: float = 0.2, **base: Any) -> Draft:
    """Return decisions in place of scores."""
    draft = clicks(rng, **base)
    return draft.rescored((draft.score > cut).astype(np.float64))


@synthetic_set("E5", "RM-205")
def logits_declared_probability(rng: np.random.Generator, **base: Any) -> Draft:
    """Return logits that are declared to be probabilities."""
    draft = clicks(rng, **base)
    return draft.rescored(draft.logit).configured(score_kind="probability")


@synthetic_set("E6", "RM-206")
def seconds_as_labels(rng: np.random.Generator, **base: Any) -> Draft:
    """Return watch seconds in place of grades."""
    draft = clicks(rng, **base)
    seconds = np.round(np.exp(rng.normal(3.0, 1.0, size=draft.n_rows)), 1)
    return replace(draft, label=np.where(draft.label == 1, seconds, 0.0))


@synthetic_set("E7", "RM-207")
def negative_labels(rng: np.random.Generator, share: float = 0.05, **base: Any) -> Draft:
    """Return some labels −1 beside 0 and 1."""
    draft = clicks(rng, **base)
    negatives = np.flatnonzero(draft.label == 0)
    return replace(draft, label=set_at(draft.label, negatives[some_rows(rng, len(negatives), share)], -1.0))


@synthetic_set("E8", "RM-208")
def default_probability(rng: np.random.Generator, share: float = 0.01, default: float = 1e-6, **base: Any) -> Draft:
    """Return a tiny default where the features were missing."""
    draft = clicks(rng, **base)
    return draft.rescored(set_at(draft.score, some_rows(rng, draft.n_rows, share), default))


@synthetic_set("E9", "RM-303")
def heap_on_threshold(rng: np.random.Generator, share: float = 0.03, threshold: float = 0.1, **base: Any) -> Draft:
    """Return a heap of equal scores exactly at the threshold."""
    draft = clicks(rng, **base)
    score = set_at(draft.score, some_rows(rng, draft.n_rows, share), threshold)
    return draft.rescored(score).configured(threshold=threshold, score_kind="raw")


@synthetic_set("E10", "RM-403")
def short_lists(rng: np.random.Generator, n_users: int = 1_500, n: int = 14, **base: Any) -> Draft:
    """Return lists of which many are shorter than ten."""
    return clicks(rng, n_users=n_users, n=n, **base)


@synthetic_set("E11", "RM-404")
def lists_no_longer_than_k(
    rng: np.random.Generator, n_users: int = 2_000, n: int = 10, k: int = 10, **base: Any
) -> Draft:
    """Return lists of exactly K candidates."""
    return clicks(rng, n_users=n_users, n=n, fixed=True, **base).configured(ks=(k,))


@synthetic_set("E12", "RM-405")
def users_without_clicks(
    rng: np.random.Generator, n_users: int = 2_000, n: int = 12, intercept: float = -4.0, k: int = 5, **base: Any
) -> Draft:
    """Return clicks so rare that most users have none."""
    return clicks(rng, n_users=n_users, n=n, intercept=intercept, **base).configured(ks=(k,))


@synthetic_set("E13", "RM-406")
def precision_beyond_reach(rng: np.random.Generator, k: int = 20, **base: Any) -> Draft:
    """Return a headline precision@20 for users with a handful of clicks."""
    return replace(clicks(rng, **base).configured(ks=(k,)), options={"headline": (f"precision@{k}",)})


@synthetic_set("E14", "RM-302")
def as_many_relevant_as_places(rng: np.random.Generator, n_users: int = 400, k: int = 5, **base: Any) -> Draft:
    """Return exactly K relevant items for every user, so that precision@K is recall@K."""
    draft = clicks(rng, n_users=n_users, **base)
    worth = draft.logit + rng.logistic(size=draft.n_rows)
    order = np.lexsort((-worth, draft.user))
    start = np.searchsorted(draft.user, draft.user)
    label = np.zeros(draft.n_rows)
    label[order] = (np.arange(draft.n_rows) - start) < k
    return replace(draft, label=label).configured(ks=(k,), score_kind="raw")


@synthetic_set("E15", "RM-409")
def tiny_propensities(rng: np.random.Generator, share: float = 0.01, tiny: float = 0.001, **base: Any) -> Draft:
    """Return propensities of which a few are so small that they carry all the weight."""
    draft = clicks(rng, **base)
    position = rng.integers(1, 11, size=draft.n_rows).astype(np.float64)
    propensity = set_at(np.full(draft.n_rows, 0.5), some_rows(rng, draft.n_rows, share), tiny)
    return replace(
        draft,
        values={"position": position, "propensity": propensity},
        options={"propensity_kind": "examination"},
    )


@synthetic_set("E16", "RM-410")
def popularity_proxy(
    rng: np.random.Generator, n_users: int = 800, n_items: int = 2_000, n: int = 40, exponent: float = 0.8
) -> Draft:
    """Return a score that is the item's exposure count in disguise, where popular items are indeed liked more."""
    popularity = np.arange(1, n_items + 1, dtype=np.float64) ** -exponent
    popularity /= popularity.sum()
    length = rng.integers(n // 2, 3 * n // 2, size=n_users)
    user = np.repeat(np.arange(n_users), length)
    # The first of exponential waiting times with rates q: draws without replacement in proportion to q.
    waiting = rng.exponential(size=(n_users, n_items)) / popularity
    in_order = np.argsort(waiting, axis=1)[:, : int(length.max())]
    item = in_order[np.arange(in_order.shape[1]) < length[:, None]]
    logit = -2.6 + exponent * np.log(n_items * popularity[item]) + rng.normal(0.0, 0.6, size=len(user))
    exposures = np.bincount(item, minlength=n_items)[item]
    score = np.log(exposures) + rng.normal(0.0, 0.3, size=len(user))
    nothing = np.zeros(len(user))
    draft = Draft(user, item, bernoulli(rng, expit(logit)), {"score": score}, nothing, nothing, logit)
    return draft.configured(score_kind="raw")


@synthetic_set("E17", "RM-504")
def wrong_split_declared(rng: np.random.Generator, split: str = "leave_last_out", **base: Any) -> Draft:
    """Return a split by time that is declared to be another one."""
    return with_train(rng, with_time(rng, clicks(rng, **base))).configured(split=split)


@synthetic_set("E18", "RM-506")
def seen_items_left_in(rng: np.random.Generator, share: float = 0.02, **base: Any) -> Draft:
    """Return candidates that the user clicked before, though such items are declared to be filtered."""
    draft = with_train(rng, with_time(rng, clicks(rng, **base)))
    negatives = np.flatnonzero(draft.label == 0)
    rows = negatives[some_rows(rng, len(negatives), share)]
    train = joined_pairs(rng, draft, rows, np.ones(len(rows)))
    return replace(draft, train=train).configured(seen_items="filtered")


@synthetic_set("E19", "RM-509")
def segment_is_label(
    rng: np.random.Generator, among_positives: float = 0.8, among_negatives: float = 0.1, **base: Any
) -> Draft:
    """Return a segment that was assigned after the click."""
    draft = clicks(rng, **base)
    share = np.where(draft.label == 1, among_positives, among_negatives)
    in_s1 = bernoulli(rng, share).astype(np.int64)
    return with_segment(draft, "segment", 1 - in_s1, ("s1", "s2")).configured(score_kind="raw")


@synthetic_set("E20", "RM-601")
def overconfident(rng: np.random.Generator, slope: float = 1.6, step: float = 1.2, **base: Any) -> Draft:
    """Return logits that were stretched."""
    draft = clicks(rng, **base)
    return draft.rescored(expit(slope * draft.logit + step))


@synthetic_set("E21", "RM-602")
def wavy_calibration(rng: np.random.Generator, n_users: int = 1_200, height: float = 0.65, **base: Any) -> Draft:
    """Return probabilities that run above and below the truth in turn, right on average."""
    draft = clicks(rng, n_users=n_users, **base)
    share = (np.argsort(np.argsort(draft.score, kind="stable")) + 1.0) / draft.n_rows
    wave = draft.score * (1.0 + height * np.sin(6.0 * np.pi * share))
    # At the top the wave passes 1 for a handful of rows; a score above 1 would be no probability any more.
    return draft.rescored(np.minimum(wave * (draft.score.mean() / wave.mean()), 0.99))


@synthetic_set("E22", "RM-603")
def one_segment_overestimated(
    rng: np.random.Generator, n_users: int = 1_500, every: int = 10, step: float = 0.6, **base: Any
) -> Draft:
    """Return one device whose probabilities are all too high."""
    draft = clicks(rng, n_users=n_users, **base)
    is_tv = draft.user % every == 0
    score = expit(draft.logit + step * is_tv)
    return with_segment(draft.rescored(score), "device", is_tv.astype(np.int64), ("web", "tv"))


@synthetic_set("E23", "RM-703")
def one_huge_user(
    rng: np.random.Generator, n_rows: int = 4_000, n_users: int = 600, n_items: int = 5_000, **base: Any
) -> Draft:
    """Return one user more who has thousands of rows."""
    draft = clicks(rng, n_users=n_users, n_items=n_items, **base)
    huge = clicks(rng, n_users=1, n=n_rows, fixed=True, n_items=n_items, **base)

    def both(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([one, other])

    return replace(
        draft,
        user=both(draft.user, huge.user + n_users),
        item=both(draft.item, huge.item),
        label=both(draft.label, huge.label),
        scores={"score": both(draft.score, huge.score)},
        effect=both(draft.effect, huge.effect),
        signal=both(draft.signal, huge.signal),
        logit=both(draft.logit, huge.logit),
    )


@synthetic_set("E24", "RM-804")
def other_candidates(rng: np.random.Generator, share: float = 0.1, noise: float = 0.5, **base: Any) -> Draft:
    """Return a second model that did not score all the rows."""
    draft = clicks(rng, **base)
    absent = some_rows(rng, draft.n_rows, share)
    second = set_at(expit(draft.logit + rng.normal(0.0, noise, size=draft.n_rows)), absent, np.nan)
    return replace(draft, scores={"A": draft.score, "B": second}, scored={"B": np.isfinite(second)})


@synthetic_set("E25", "RM-901")
def another_cutoff_reported(rng: np.random.Generator, k: int = 10, used: int = 9, **base: Any) -> Draft:
    """Return a reported NDCG@10 that was cut at nine."""
    draft = clicks(rng, **base)
    has_relevant = np.bincount(draft.user, weights=draft.label) > 0
    value = mean_ndcg(draft.user, draft.label, draft.score, used, has_relevant)
    return replace(draft, options={"reported": {f"ndcg@{k}": f"{value:.4f}"}})
