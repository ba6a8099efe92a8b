"""The base generator: a healthy click log whose score is the true probability, and what a set is made of.

User effect a ~ N(0, sd_user) and row signal x ~ N(0, sd_row) give the logit intercept + a + x; the label is drawn from
it and the score is its probability. Effect and signal stay hidden from whoever looks at the dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import MISSING, Account, Dataset, Segment, TrainPairs, Truth
from recmetrics.registry import Registry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Make = TypeVar("Make", bound="Callable[..., Draft]")

# The test rows happen on days 20 to 25, the training rows before.
TEST_DAYS = (20.0, 25.0)
TRAIN_DAYS = (0.0, 20.0)
TRAIN_SHARE = 0.8
TRAIN_ITEM_SHIFT = 100_000


@dataclass(frozen=True, eq=False)
class Pairs:
    """User–item pairs with a label and, for training pairs, a time in days. All arrays have one length."""

    user: Ints
    item: Ints
    label: Floats
    time: Floats | None = None


@dataclass(frozen=True, eq=False)
class Draft:
    """A set in the making: raw numbers of users and items, before they are coded as a `Dataset`.

    Attributes
    ----------
    effect, signal, logit
        float64[n], the hidden causes of each row; `effect` and `signal` are 0 where a set has its own score model.
    segments
        Column → (codes int[n], labels).
    train_user_digits
        Train ids of users are written with at least so many digits; 1 writes them like the scored ids.
    options
        Fields of DiagnoseOptions that belong to the set.
    """

    user: Ints
    item: Ints
    label: Floats
    scores: Mapping[str, Floats]
    effect: Floats
    signal: Floats
    logit: Floats
    scored: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    segments: Mapping[str, tuple[Ints, tuple[str, ...]]] = field(default_factory=dict)
    values: Mapping[str, Floats] = field(default_factory=dict)
    truth: Pairs | None = None
    train: Pairs | None = None
    train_user_digits: int = 1
    config: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(self.user)

    @property
    def score(self) -> Floats:
        """The scores of the only model."""
        (only,) = self.scores.values()
        return only

    def rescored(self, score: Floats) -> Draft:
        """Return the same rows with another score of the only model."""
        return replace(self, scores=dict.fromkeys(self.scores, score))

    def configured(self, **fields: Any) -> Draft:
        """Return the same rows with more fields of the convention declared."""
        return replace(self, config={**self.config, **fields})


@dataclass(frozen=True, eq=False)
class Synthetic:
    """A generated dataset and what is known about it.

    `options` maps fields of DiagnoseOptions to values; `alarm` is the code of the one check that must stand as an
    alarm, None for a healthy set.
    """

    name: str
    dataset: Dataset
    config: EvalConfig
    options: Mapping[str, Any]
    alarm: str | None


@dataclass(frozen=True)
class SyntheticSet:
    """One entry of the registry: `make` draws the raw rows from a generator; its parameters are free."""

    name: str
    alarm: str | None
    make: Callable[..., Draft]


SETS: Registry[SyntheticSet] = Registry("synthetic set")


def synthetic_set(name: str, alarm: str | None = None) -> Callable[[Make], Make]:
    """Register the decorated function as a set; `alarm` is the code that it must raise."""

    def register(make: Make) -> Make:
        SETS.add(name, SyntheticSet(name, alarm, make))
        return make

    return register


def expit(logit: Floats) -> Floats:
    """Return 1/(1+exp(−logit)), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logit)), dtype=np.float64)


def logit_of(probability: Floats) -> Floats:
    """Return ln(p/(1−p))."""
    return np.asarray(np.log(probability) - np.log1p(-probability), dtype=np.float64)


def list_lengths(rng: np.random.Generator, n_users: int, n: int, fixed: bool) -> Ints:
    """Return int64[n_users]: exactly `n`, or uniform on the integers of [n/2, 3n/2)."""
    if fixed:
        return np.full(n_users, n, dtype=np.int64)
    return rng.integers(n // 2, 3 * n // 2, size=n_users)


def distinct_items(rng: np.random.Generator, user: Ints, n_items: int) -> Ints:
    """Return int64[n] items, uniform and without replacement inside each user.

    Repeated draws are redrawn until none is left; as no item is treated unlike another, every set of items is equally
    likely.
    """
    item = rng.integers(0, n_items, size=len(user))
    while True:
        repeated = repeated_pairs(user, item, n_items)
        if len(repeated) == 0:
            return item
        item[repeated] = rng.integers(0, n_items, size=len(repeated))


def repeated_pairs(user: Ints, item: Ints, n_items: int) -> Ints:
    """Return the rows beyond the first of each (user, item) pair."""
    key = user * n_items + item
    order: Ints = np.argsort(key, kind="stable")
    return np.asarray(order[1:][key[order][1:] == key[order][:-1]], dtype=np.int64)


def bernoulli(rng: np.random.Generator, probability: Floats) -> Floats:
    """Return float64[n] of 0 and 1, independently drawn."""
    return (rng.random(len(probability)) < probability).astype(np.float64)


def clicks(
    rng: np.random.Generator,
    *,
    n_users: int = 600,
    n: int = 40,
    fixed: bool = False,
    n_items: int = 5_000,
    sd_user: float = 0.5,
    sd_row: float = 1.1,
    intercept: float = -2.6,
) -> Draft:
    """Return the base set: by default 600 users with 20 to 59 items each, AUC about .78, one click in ten."""
    user = np.repeat(np.arange(n_users), list_lengths(rng, n_users, n, fixed))
    item = distinct_items(rng, user, n_items)
    effect = rng.normal(0.0, sd_user, size=n_users)[user]
    signal = rng.normal(0.0, sd_row, size=len(user))
    logit = intercept + effect + signal
    score = expit(logit)
    return Draft(user, item, bernoulli(rng, score), {"score": score}, effect, signal, logit)


def with_time(rng: np.random.Generator, draft: Draft) -> Draft:
    """Add a time to every row, uniform on the test days."""
    return replace(draft, values={**draft.values, "time": rng.uniform(*TEST_DAYS, size=draft.n_rows)})


def with_train(rng: np.random.Generator, draft: Draft) -> Draft:
    """Add training pairs: 80 % of the rows copied, with other items and earlier times."""
    rows = rng.choice(draft.n_rows, size=round(TRAIN_SHARE * draft.n_rows), replace=False)
    time = rng.uniform(*TRAIN_DAYS, size=len(rows))
    return replace(draft, train=Pairs(draft.user[rows], draft.item[rows] + TRAIN_ITEM_SHIFT, draft.label[rows], time))


def with_segment(draft: Draft, column: str, codes: Ints, labels: tuple[str, ...]) -> Draft:
    """Add a segment column."""
    return replace(draft, segments={**draft.segments, column: (codes, labels)})


def build(name: str, draft: Draft) -> Dataset:
    """Return the dataset of a draft; ids are text, codes are dense and follow the raw numbers."""
    coder = _Coder(draft)
    return Dataset(
        name=name,
        users=coder.user_ids(),
        items=np.array([f"i{number}" for number in coder.item_numbers], dtype=object),
        user=coder.users(draft.user),
        item=coder.items(draft.item),
        label=draft.label.copy(),
        scores={model: score.copy() for model, score in draft.scores.items()},
        row_number=np.arange(1, draft.n_rows + 1),
        scored=dict(draft.scored),
        segments={
            column: Segment(codes.astype(np.int32), labels) for column, (codes, labels) in draft.segments.items()
        },
        values={role: column.copy() for role, column in draft.values.items()},
        truth=coder.truth(),
        train=coder.train(),
        account=Account(draft.n_rows, draft.n_rows),
    )


class _Coder:
    """Raw numbers of users and items → codes. Items that only the training pairs hold have no code."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        truth = [] if draft.truth is None else [draft.truth]
        self.user_numbers = np.unique(np.concatenate([draft.user, *(pairs.user for pairs in truth)]))
        self.item_numbers = np.unique(np.concatenate([draft.item, *(pairs.item for pairs in truth)]))

    @property
    def _has_own_train_ids(self) -> bool:
        return self.draft.train is not None and self.draft.train_user_digits > 1

    def user_ids(self) -> NDArray[np.object_]:
        ids = [str(number) for number in self.user_numbers]
        if self._has_own_train_ids:
            # Ids that are written differently are other ids; keeping them lets a check see both spellings.
            ids += [str(number).zfill(self.draft.train_user_digits) for number in self.user_numbers]
        return np.array(ids, dtype=object)

    def users(self, numbers: Ints) -> NDArray[np.int32]:
        return _codes(self.user_numbers, numbers)

    def items(self, numbers: Ints) -> NDArray[np.int32]:
        return _codes(self.item_numbers, numbers)

    def truth(self) -> Truth | None:
        pairs = self.draft.truth
        if pairs is None:
            return None
        return Truth(self.users(pairs.user), self.items(pairs.item), pairs.label.copy())

    def train(self) -> TrainPairs | None:
        pairs = self.draft.train
        if pairs is None:
            return None
        user = self.users(pairs.user)
        if self._has_own_train_ids:
            user = np.where(user == MISSING, user, user + len(self.user_numbers)).astype(np.int32)
        n_users = len(np.unique(pairs.user))
        return TrainPairs(user, self.items(pairs.item), pairs.label.copy(), pairs.time, n_users)


def _codes(known: Ints, numbers: Ints) -> NDArray[np.int32]:
    place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[place] == numbers, place, MISSING).astype(np.int32)
