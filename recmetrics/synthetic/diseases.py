"""Diseased sets D1 to D24: each has one fault and must raise exactly the alarm it is registered with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from recmetrics.synthetic.base import (
    TEST_DAYS,
    TRAIN_DAYS,
    Draft,
    Floats,
    Ints,
    Pairs,
    bernoulli,
    clicks,
    distinct_items,
    expit,
    logit_of,
    synthetic_set,
    with_segment,
    with_time,
    with_train,
)
from recmetrics.synthetic.reported import mean_ndcg

QUADRATURE_NODES = 60


@synthetic_set("D1", "RM-501")
def leak(rng: np.random.Generator, intercept: float = -6.0, sd_row: float = 5.5, **base: Any) -> Draft:
    """Return a score that is almost certain of every label, and right."""
    return clicks(rng, intercept=intercept, sd_row=sd_row, **base)


@synthetic_set("D2", "RM-203")
def constant_score(rng: np.random.Generator, **base: Any) -> Draft:
    """Return the base rate as everybody's score."""
    draft = clicks(rng, **base)
    return draft.rescored(np.full(draft.n_rows, draft.label.mean()))


@synthetic_set("D3", "RM-202")
def shifted_rows(rng: np.random.Generator, sd_user: float = 0.05, shift: int = 1, **base: Any) -> Draft:
    """Return labels that slipped by some rows; giving each row the label `shift` rows below repairs them."""
    draft = clicks(rng, sd_user=sd_user, **base)
    return replace(draft, label=np.roll(draft.label, shift))


@synthetic_set("D4", "RM-201")
def inverted_labels(rng: np.random.Generator, **base: Any) -> Draft:
    """Return 0 and 1 exchanged."""
    draft = clicks(rng, **base)
    return replace(draft, label=1.0 - draft.label)


@synthetic_set("D5", "RM-301")
def low_threshold(rng: np.random.Generator, intercept: float = -3.4, threshold: float = 0.004, **base: Any) -> Draft:
    """Return a threshold that lets nearly every row in."""
    return clicks(rng, intercept=intercept, **base).configured(threshold=threshold)


@synthetic_set("D6", "RM-302")
def solved_threshold(rng: np.random.Generator, **base: Any) -> Draft:
    """Return a threshold chosen so that as many rows are flagged as are positive."""
    draft = clicks(rng, **base)
    return draft.configured(threshold=threshold_flagging_as_many_as_positive(draft))


def threshold_flagging_as_many_as_positive(draft: Draft) -> float:
    """Return the P-th largest score, P being the number of positives; the largest one when there is none."""
    n_positives = max(int(draft.label.sum()), 1)
    return float(np.sort(draft.score)[-n_positives])


@synthetic_set("D7", "RM-401")
def one_positive_among_sampled(
    rng: np.random.Generator, n_users: int = 500, n_negatives: int = 99, n_items: int = 20_000, lead: float = 1.2
) -> Draft:
    """Return one relevant item and sampled negatives for every user."""
    user = np.repeat(np.arange(n_users), n_negatives + 1)
    item = distinct_items(rng, user, n_items)
    label = np.zeros(len(user))
    label[:: n_negatives + 1] = 1.0
    score = rng.normal(size=len(user)) + lead * label
    nothing = np.zeros(len(user))
    return Draft(user, item, label, {"score": score}, nothing, nothing, score)


@synthetic_set("D8", "RM-401")
def thinned_to_a_ratio(rng: np.random.Generator, n_users: int = 1_500, ratio: int = 4, **base: Any) -> Draft:
    """Return all positives and exactly `ratio` times as many negatives, drawn over the whole file."""
    draft = clicks(rng, n_users=n_users, **base)
    positives = np.flatnonzero(draft.label == 1)
    negatives = rng.choice(np.flatnonzero(draft.label == 0), size=ratio * len(positives), replace=False)
    return rows_of(draft, np.sort(np.concatenate([positives, negatives]))).configured(score_kind="raw")


def rows_of(draft: Draft, rows: Ints) -> Draft:
    """Return some rows of a draft that has neither columns nor models beyond the base."""
    return replace(
        draft,
        user=draft.user[rows],
        item=draft.item[rows],
        label=draft.label[rows],
        scores={model: score[rows] for model, score in draft.scores.items()},
        effect=draft.effect[rows],
        signal=draft.signal[rows],
        logit=draft.logit[rows],
    )


@synthetic_set("D9", "RM-502")
def train_holds_test_rows(rng: np.random.Generator, share: float = 0.1, **base: Any) -> Draft:
    """Return training pairs that hold a share of the test rows, dated back among the training days."""
    draft = with_train(rng, with_time(rng, clicks(rng, **base)))
    rows = rng.choice(draft.n_rows, size=round(share * draft.n_rows), replace=False)
    return replace(draft, train=joined_pairs(rng, draft, rows, draft.label[rows]))


def joined_pairs(rng: np.random.Generator, draft: Draft, rows: Ints, label: Floats) -> Pairs:
    """Return the training pairs of a draft and, after them, some of its test rows at training times."""
    train = draft.train
    assert train is not None  # with_train gives it, with times
    assert train.time is not None
    return Pairs(
        np.concatenate([train.user, draft.user[rows]]),
        np.concatenate([train.item, draft.item[rows]]),
        np.concatenate([train.label, label]),
        np.concatenate([train.time, rng.uniform(*TRAIN_DAYS, size=len(rows))]),
    )


@synthetic_set("D10", "RM-503")
def train_from_the_future(rng: np.random.Generator, share: float = 0.25, **base: Any) -> Draft:
    """Return training rows of which a share happened during the test days."""
    draft = with_train(rng, with_time(rng, clicks(rng, **base)))
    train = draft.train
    assert train is not None  # with_train gives it, with times
    assert train.time is not None
    rows = rng.choice(len(train.time), size=round(share * len(train.time)), replace=False)
    time = train.time.copy()
    time[rows] = rng.uniform(*TEST_DAYS, size=len(rows))
    return replace(draft, train=replace(train, time=time))


@synthetic_set("D11", "RM-505")
def users_not_isolated(rng: np.random.Generator, **base: Any) -> Draft:
    """Return the same users in train and test although they are declared isolated."""
    return with_train(rng, with_time(rng, clicks(rng, **base))).configured(user_isolation="isolated")


@synthetic_set("D12", "RM-601")
def negatives_downsampled(rng: np.random.Generator, keep: float = 0.1, **base: Any) -> Draft:
    """Return the probabilities of a model that saw only a share of the negatives."""
    draft = clicks(rng, **base)
    return draft.rescored(draft.score / (draft.score + keep * (1.0 - draft.score)))


@synthetic_set("D13", "RM-304")
def accuracy_at_baseline(
    rng: np.random.Generator, intercept: float = -4.5, threshold: float = 0.5, **base: Any
) -> Draft:
    """Return rare clicks judged by accuracy."""
    draft = clicks(rng, intercept=intercept, **base).configured(threshold=threshold)
    return replace(draft, options={"headline": ("accuracy",)})


@synthetic_set("D14", "RM-402")
def four_score_values(rng: np.random.Generator, n_values: int = 4, **base: Any) -> Draft:
    """Return scores rounded to the base rates of their quantile groups."""
    draft = clicks(rng, **base)
    group = np.argsort(np.argsort(draft.score, kind="stable")) * n_values // draft.n_rows
    rate = np.bincount(group, weights=draft.label) / np.bincount(group)
    return draft.rescored(rate[group])


@synthetic_set("D15", "RM-408")
def position_bias(
    rng: np.random.Generator,
    n_users: int = 1_500,
    n: int = 10,
    intercept: float = -0.5,
    k: int = 5,
    noise: float = 0.3,
    **base: Any,
) -> Draft:
    """Return clicks that are seen with probability 1/position under an older order much like the score's."""
    draft = clicks(rng, n_users=n_users, n=n, fixed=True, intercept=intercept, **base)
    shown = draft.score + rng.normal(0.0, noise, size=draft.n_rows)
    place = np.argsort(np.argsort(-shown.reshape(-1, n), axis=1), axis=1)
    position = (place.ravel() + 1).astype(np.float64)
    label = draft.label * bernoulli(rng, 1.0 / position)
    return replace(draft, label=label, values={"position": position}).configured(ks=(k,), score_kind="raw")


@synthetic_set("D16", "RM-507")
def score_drift(rng: np.random.Generator, step: float = 1.1, **base: Any) -> Draft:
    """Return clicks that become more likely in the later half, and scores that follow."""
    draft = with_time(rng, clicks(rng, **base))
    logit = draft.logit + step * (draft.values["time"] >= sum(TEST_DAYS) / 2)
    score = expit(logit)
    return replace(draft, logit=logit, label=bernoulli(rng, score)).rescored(score)


@synthetic_set("D17", "RM-701")
def blind_to_new_users(
    rng: np.random.Generator, n_users: int = 1_200, every: int = 4, kept: float = 0.15, **base: Any
) -> Draft:
    """Return a score that hardly orders the rows of every fourth user."""
    draft = clicks(rng, n_users=n_users, **base)
    is_new = draft.user % every == 0
    rate = np.atleast_1d(draft.label[is_new].mean())
    blind = logit_of(rate) + kept * draft.signal + rng.normal(0.0, 0.5, size=draft.n_rows)
    score = np.where(is_new, expit(blind), draft.score)
    labelled = with_segment(draft.rescored(score), "segment", is_new.astype(np.int64), ("old", "new"))
    return labelled.configured(score_kind="raw")


@synthetic_set("D18", "RM-702")
def knows_who_clicks(
    rng: np.random.Generator,
    n_users: int = 1_500,
    sd_user: float = 1.5,
    sd_row: float = 0.9,
    intercept: float = -2.2,
    spread: float = 0.01,
    **base: Any,
) -> Draft:
    """Return the click rate of the user as the score of all the user's rows, but for a tiny spread."""
    draft = clicks(rng, n_users=n_users, sd_user=sd_user, sd_row=sd_row, intercept=intercept, **base)
    rate = mean_over_signal(intercept + draft.effect, sd_row)
    return draft.rescored(rate * rng.lognormal(0.0, spread, size=draft.n_rows))


def mean_over_signal(known: Floats, sd_row: float) -> Floats:
    """Return the probability when only `known` of the logit is seen: its mean over x ~ N(0, sd_row)."""
    node, weight = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    return np.asarray(expit(known[:, None] + sd_row * node) @ (weight / weight.sum()), dtype=np.float64)


@synthetic_set("D19", "RM-802")
def hits_against_order(rng: np.random.Generator, n_users: int = 4_000, n: int = 60, n_items: int = 5_000) -> Draft:
    """Return two models of which A places some users' first item at the very top, and B reaches more users."""
    user = np.repeat(np.arange(n_users), n)
    item = distinct_items(rng, user, n_items)
    first = np.arange(n_users) * n
    second = first[rng.random(n_users) < 0.5] + 1
    label = np.zeros(n_users * n)
    label[first] = label[second] = 1.0
    scores = {model: rng.normal(size=len(user)) for model in ("A", "B")}
    scores["A"][first] += np.where(rng.random(n_users) < 0.55, 3.2, -0.3)
    scores["B"][first] += 1.45
    for score in scores.values():
        score[second] += 0.6
    nothing = np.zeros(len(user))
    return Draft(user, item, label, scores, nothing, nothing, nothing).configured(score_kind="raw")


@synthetic_set("D20", "RM-801")
def twin_models(rng: np.random.Generator, noise: float = 0.05, **base: Any) -> Draft:
    """Return two models that differ by next to nothing."""
    draft = clicks(rng, **base)
    twin = expit(draft.logit + rng.normal(0.0, noise, size=draft.n_rows))
    return replace(draft, scores={"A": draft.score, "B": twin})


@synthetic_set("D21", "RM-407")
def ideal_of_retrieved(
    rng: np.random.Generator, n_users: int = 500, unseen: float = 3.0, k: int = 10, **base: Any
) -> Draft:
    """Return relevant items that were never retrieved, and a reported NDCG whose ideal list does not know them."""
    draft = clicks(rng, n_users=n_users, **base)
    extra = np.repeat(np.arange(n_users), rng.poisson(unseen, size=n_users))
    beyond = draft.item.max() + 1 + np.arange(len(extra))
    truth = Pairs(
        np.concatenate([draft.user, extra]),
        np.concatenate([draft.item, beyond]),
        np.concatenate([draft.label, np.ones(len(extra))]),
    )
    has_relevant = np.bincount(truth.user, weights=truth.label, minlength=n_users) > 0
    value = mean_ndcg(draft.user, draft.label, draft.score, k, has_relevant)
    return replace(draft, truth=truth, options={"reported": {f"ndcg@{k}": f"{value:.4f}"}})


@synthetic_set("D22", "RM-508")
def leak_in_one_segment(rng: np.random.Generator, n_users: int = 900, every: int = 10, **base: Any) -> Draft:
    """Return one app version whose score has seen the label."""
    draft = clicks(rng, n_users=n_users, **base)
    leaks = draft.user % every == 0
    leaked = 6.0 * draft.label - 4.0 + 0.2 * draft.logit + rng.normal(0.0, 0.5, size=draft.n_rows)
    score = np.where(leaks, expit(leaked), draft.score)
    codes = np.where(leaks, 2, rng.integers(0, 2, size=n_users)[draft.user])
    labelled = with_segment(draft.rescored(score), "platform", codes, ("ios", "android", "app_v2"))
    return labelled.configured(score_kind="raw")


@synthetic_set("D23", "RM-107")
def few_positives(
    rng: np.random.Generator, n_users: int = 40, n: int = 12, intercept: float = -4.1, k: int = 5, **base: Any
) -> Draft:
    """Return some ten to twenty positives, and a threshold that makes precision equal recall."""
    draft = clicks(rng, n_users=n_users, n=n, intercept=intercept, **base)
    return draft.configured(ks=(k,), threshold=threshold_flagging_as_many_as_positive(draft))


@synthetic_set("D24", "RM-803")
def simpson_reversal(
    rng: np.random.Generator,
    n_users: int = 1_500,
    sd_user: float = 1.2,
    sd_row: float = 1.0,
    intercept: float = -2.0,
    **base: Any,
) -> Draft:
    """Return model A that orders pages and model B that orders users: B wins pooled, A inside every page."""
    draft = clicks(rng, n_users=n_users, sd_user=sd_user, sd_row=sd_row, intercept=intercept, **base)
    scores = {
        "A": draft.signal + 0.4 * draft.effect + rng.normal(0.0, 0.5, size=draft.n_rows),
        "B": 0.5 * draft.signal + 1.5 * draft.effect + rng.normal(0.0, 0.5, size=draft.n_rows),
    }
    return replace(draft, scores=scores).configured(score_kind="raw")
