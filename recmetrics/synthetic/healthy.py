"""Healthy sets H1 to H6: no check may raise an alarm on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from recmetrics.synthetic.base import (
    Draft,
    clicks,
    expit,
    synthetic_set,
    with_segment,
    with_time,
    with_train,
)


@synthetic_set("H1")
def base_with_threshold(rng: np.random.Generator, threshold: float = 0.3, **base: Any) -> Draft:
    """Return the base set, read at a chosen threshold."""
    return clicks(rng, **base).configured(threshold=threshold)


@synthetic_set("H2")
def time_split(rng: np.random.Generator, split: str = "time", **base: Any) -> Draft:
    """Return a set whose training rows all lie before its test rows, as declared."""
    return with_train(rng, with_time(rng, clicks(rng, **base))).configured(split=split)


@synthetic_set("H3")
def full_ranking(
    rng: np.random.Generator, n_users: int = 300, n_items: int = 400, lead: float = 1.1, candidates: str = "full"
) -> Draft:
    """Return one relevant item per user, ranked among the whole catalogue."""
    user = np.repeat(np.arange(n_users), n_items)
    item = np.tile(np.arange(n_items), n_users)
    label = np.zeros(n_users * n_items)
    label[np.arange(n_users) * n_items + rng.integers(0, n_items, size=n_users)] = 1.0
    score = rng.normal(size=len(user)) + lead * label
    nothing = np.zeros(len(user))
    return Draft(user, item, label, {"score": score}, nothing, nothing, score).configured(candidates=candidates)


@synthetic_set("H4")
def random_positions(rng: np.random.Generator, n_positions: int = 10, **base: Any) -> Draft:
    """Return clicks at random positions by users of two random segments."""
    draft = clicks(rng, **base)
    position = rng.integers(1, n_positions + 1, size=draft.n_rows).astype(np.float64)
    is_old = rng.integers(0, 2, size=draft.user.max() + 1)[draft.user]
    return with_segment(replace(draft, values={"position": position}), "segment", is_old, ("new", "old"))


@synthetic_set("H5")
def better_model(rng: np.random.Generator, n_users: int = 1_500, noise: float = 1.0, **base: Any) -> Draft:
    """Return two models of which B is clearly the better one."""
    draft = clicks(rng, n_users=n_users, **base)
    worse = expit(draft.logit + rng.normal(0.0, noise, size=draft.n_rows))
    return replace(draft, scores={"A": worse, "B": draft.score}).configured(score_kind="raw")


@synthetic_set("H6")
def fixed_slates(rng: np.random.Generator, n_users: int = 2_000, n: int = 10, k: int = 5, **base: Any) -> Draft:
    """Return slates of ten with varying numbers of clicks, cut at five."""
    return clicks(rng, n_users=n_users, n=n, fixed=True, **base).configured(ks=(k,))
