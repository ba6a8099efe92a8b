"""Dataset: integer-coded, read-only columns. After it nobody looks at types, spellings or order again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = -1  # code of a row without this id; such rows never form a group


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array with writing switched off; what is shared between viewers cannot change."""
    array.setflags(write=False)
    return array


def n_codes(codes: NDArray[np.int32]) -> int:
    """Return how many distinct codes occur, `MISSING` left out."""
    return int(np.count_nonzero(np.bincount(codes[codes >= 0])))


def pair_codes(user: NDArray[np.int32], item: NDArray[np.int32], n_items: int) -> NDArray[np.int64]:
    """Return int64[n]: one number per pair of a user and one of `n_items` items; both codes must be ≥ 0 to mean one."""
    found = user.astype(np.int64)
    found *= max(n_items, 1)
    found += item
    return found


@dataclass(frozen=True)
class Issue:
    """Something that loading found, repaired or doubts. `code` is a word of the case vocabulary or of the loader.

    `template` is the English sentence (marked with `N_`), filled from `facts`; `examples` are at most three values as
    they stand in the file. `severity` says what it does: `info` nothing, `doubt` a number may depend on it, `dropped`
    rows are not used. `asks` is the field of the convention whose value answers the doubt, empty where there is none;
    its default is what was done.
    """

    code: str
    count: int
    template: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[str, ...] = ()
    severity: str = "info"
    asks: str = ""

    def to_json(self) -> dict[str, Any]:
        found = {"code": self.code, "count": self.count, "examples": list(self.examples), "facts": dict(self.facts)}
        return {**found, "asks": self.asks} if self.asks else found


@dataclass(frozen=True, eq=False)
class Segment:
    """One segment column: `codes` int32[n] into `labels`; `MISSING` where the cell is empty."""

    codes: NDArray[np.int32]
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Truth:
    """Judged pairs beyond or beside the scored rows, duplicates removed: user, item int32[m], grade float64[m]."""

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    grade: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrainPairs:
    """Training interactions: user and item int32[t] in the codes of the dataset.

    An item that the dataset does not have is `MISSING`; a user that it does not have has a code of its own from
    `len(users)` on, because popularity counts distinct users.
    """

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    label: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None
    n_users: int = 0


@dataclass(frozen=True)
class Account:
    """Where the rows went while they were read: `read` = `merged` + all of `dropped` + `used`.

    `files` are the scored files with their data rows, which add up to `read`; `merged` rows hold a pair that another
    file, or another model of a long table, holds too, and became one row with it.
    """

    read: int
    used: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    files: tuple[tuple[str, int], ...] = ()
    merged: int = 0


_PLAIN_ARRAYS = ("users", "items", "user", "item", "label", "row_number")


def _bytes(texts: Iterable[str]) -> bytes:
    return "\x00".join([*map(str, texts), ""]).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Scored rows of one or more models with one truth.

    Attributes
    ----------
    users, items
        Ids as text, digit by digit; object arrays of str. A code is an index into them. Truth-only users and items
        have codes as well.
    user, item
        int32[n] codes, `MISSING` where the row has no id; None when the file has no such column.
    label
        float64[n] grades after label coding; NaN = no label.
    scores
        Model → float32[n] or float64[n]; NaN = missing. `scored[model]` is False on rows that the model's file does
        not hold; a model without an entry there scored every row.
    values
        Numeric columns by role: `time` (days), `position`, `propensity`, `click`, `purchase`, `amount`,
        `dwell_seconds`, `rating`; float64[n], NaN = missing.
    row_number
        int64[n], the 1-based data row in the file; the order of rows is the order of the file.
    """

    name: str
    users: NDArray[np.object_]
    items: NDArray[np.object_]
    user: NDArray[np.int32] | None
    item: NDArray[np.int32] | None
    label: NDArray[np.float64]
    scores: Mapping[str, NDArray[Any]]
    row_number: NDArray[np.int64]
    scored: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    segments: Mapping[str, Segment] = field(default_factory=dict)
    values: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    truth: Truth | None = None
    train: TrainPairs | None = None
    issues: tuple[Issue, ...] = ()
    account: Account = Account(0, 0)
    columns: Mapping[str, Any] = field(default_factory=dict)
    label_coding: Mapping[str, float] | None = None
    fingerprint: str = ""

    def __post_init__(self) -> None:
        for array in self._arrays().values():
            read_only(array)
        if not self.fingerprint:
            object.__setattr__(self, "fingerprint", self._make_fingerprint())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return every array that is there, by what it is: a column of users is another thing than one of items."""
        found: dict[str, NDArray[Any] | None] = {name: getattr(self, name) for name in _PLAIN_ARRAYS}
        for name in ("scores", "scored", "values"):
            found |= {f"{name}/{key}": array for key, array in getattr(self, name).items()}
        found |= {f"segments/{name}": segment.codes for name, segment in self.segments.items()}
        for name, pairs in (("truth", self.truth), ("train", self.train)):
            arrays = {} if pairs is None else vars(pairs)
            found |= {f"{name}/{key}": array for key, array in arrays.items() if isinstance(array, np.ndarray)}
        return {name: array for name, array in found.items() if array is not None}

    def _make_fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name, array in self._arrays().items():
            digest.update(_bytes([name, str(array.dtype), str(len(array))]))
            digest.update(_bytes(array) if array.dtype == object else np.ascontiguousarray(array).view(np.uint8).data)
        for name, segment in self.segments.items():
            digest.update(_bytes([name, *segment.labels]))
        return digest.hexdigest()

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.scores)

    @property
    def n_rows(self) -> int:
        return len(self.label)

    @cached_property
    def user_order(self) -> NDArray[np.int64]:
        """int64[u]: user codes in the order of their ids, so that sums over users do not depend on the file's order."""
        return read_only(np.argsort(self.users, kind="stable"))

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """bool[n]: rows with a label."""
        return read_only(~np.isnan(self.label))

    @cached_property
    def all_labelled(self) -> bool:
        """Whether no row lacks a label."""
        return bool(self.labelled.all())

    @cached_property
    def n_users(self) -> int:
        """Distinct users with at least one scored row; 0 without a user column."""
        if self.user is None:
            return 0
        return n_codes(self.user)

    @cached_property
    def list_user(self) -> NDArray[np.int32] | None:
        """int32[n]: the user in whose list a row stands; `MISSING` for rows without a user or, where there are items,
        without an item. None without a user column."""
        if self.user is None or self.item is None or self.item.min(initial=0) >= 0:
            return self.user
        return read_only(np.where(self.item >= 0, self.user, np.int32(MISSING)).astype(np.int32))

    @cached_property
    def n_items(self) -> int:
        """Distinct items with at least one scored row; 0 without an item column."""
        if self.item is None:
            return 0
        return n_codes(self.item)

    def rows_of(self, model: str) -> NDArray[np.bool_]:
        """Return bool[n]: the rows that this model's file holds."""
        return self.scored.get(model, np.ones(self.n_rows, dtype=bool))

    @cached_property
    def repeated_rows(self) -> NDArray[np.int64]:
        """Row indices of all pairs of user and item that occur more than once, pair by pair, each in file order; rows
        without an id never count."""
        if self.user is None or self.item is None:
            return np.empty(0, dtype=np.int64)
        pair = self._pairs(slice(None))
        pair.sort()
        repeated = pair[1:][(pair[1:] == pair[:-1]) & (pair[1:] >= 0)]
        del pair
        if not len(repeated):
            return np.empty(0, dtype=np.int64)
        repeated = np.unique(repeated)
        found, keys = [], []
        for start in range(0, self.n_rows, 1 << 20):  # in pieces: most rows are looked up and not found
            pair = self._pairs(slice(start, start + (1 << 20)))
            rows = np.flatnonzero(repeated[np.searchsorted(repeated[:-1], pair)] == pair)
            found.append(rows + start)
            keys.append(pair[rows])
        return read_only(np.concatenate(found)[np.argsort(np.concatenate(keys), kind="stable")])

    def _pairs(self, rows: slice) -> NDArray[np.int64]:
        """Return one number per row and pair; −1 where an id is missing."""
        assert self.user is not None
        assert self.item is not None
        user, item = self.user[rows], self.item[rows]
        pair = pair_codes(user, item, len(self.items))
        pair[(user < 0) | (item < 0)] = -1
        return pair

    @cached_property
    def surplus_rows(self) -> NDArray[np.int64]:
        """Row indices beyond the first of each (user, item) pair, in file order; rows without an id never count."""
        rows = self.repeated_rows
        if not len(rows):
            return rows
        assert self.user is not None
        assert self.item is not None
        pair = pair_codes(self.user[rows], self.item[rows], len(self.items))
        return read_only(np.sort(rows[1:][pair[1:] == pair[:-1]]))

    def where(self, rows: NDArray[np.bool_]) -> Dataset:
        """Return the dataset restricted to some rows; codes, vocabularies and truth stay the same."""

        def cut(array: NDArray[Any] | None) -> Any:
            return None if array is None else array[rows]

        return replace(
            self,
            user=cut(self.user),
            item=cut(self.item),
            label=cut(self.label),
            row_number=cut(self.row_number),
            scores={name: cut(array) for name, array in self.scores.items()},
            scored={name: cut(array) for name, array in self.scored.items()},
            segments={name: Segment(cut(s.codes), s.labels) for name, s in self.segments.items()},
            values={name: cut(array) for name, array in self.values.items()},
            fingerprint=self._part_fingerprint(rows),
        )

    def _part_fingerprint(self, rows: NDArray[np.bool_]) -> str:
        # The rows chosen and the whole they come from say the same as all values again, at a fraction of the cost.
        return hashlib.sha256(self.fingerprint.encode() + np.packbits(rows).tobytes()).hexdigest()
