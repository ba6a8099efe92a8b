"""Datasets for tests, written where they are used: a row is (user, item, label, score)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import MISSING, Account, Dataset, Issue, Segment, TrainPairs, Truth


def dataset(
    rows: Iterable[Sequence[Any]] = (),
    *,
    scores: Mapping[str, Sequence[float | None]] | None = None,
    segments: Mapping[str, Sequence[str | None]] | None = None,
    truth: Iterable[Sequence[Any]] | None = None,
    train: Iterable[Sequence[Any]] | None = None,
    values: Mapping[str, Sequence[float | None]] | None = None,
    scored: Mapping[str, Sequence[bool]] | None = None,
    issues: Sequence[Issue] = (),
    model: str = "score",
    name: str = "data.csv",
    dtype: type[np.floating[Any]] = np.float64,
) -> Dataset:
    """Return a Dataset whose rows stand in the order given.

    Parameters
    ----------
    rows
        (user, item, label, score). None is a missing cell; a column of users or items that is None throughout is no
        column at all. The score may be left out when `scores` is given.
    scores
        Model → one score per row, beside or instead of the fourth entry of the rows, which belongs to `model`.
    segments
        Column → one text per row.
    truth
        (user, item, grade) of a truth of its own.
    train
        (user, item), (user, item, label) or (user, item, label, time) of the training data.
    values
        Role (`click`, `time`, …) → one number per row.
    scored
        Model → whether its file holds the row.
    """
    given = [tuple(row) for row in rows]
    judged = [tuple(row) for row in truth] if truth is not None else None
    known = [tuple(row) for row in train] if train is not None else None
    users = _vocabulary([row[0] for row in [*given, *(judged or [])]])
    items = _vocabulary([row[1] for row in [*given, *(judged or [])]])
    columns: dict[str, Sequence[float | None]] = {}
    if scores is None or (given and all(len(row) > 3 for row in given)):
        columns[model] = [row[3] for row in given]
    columns.update(scores or {})
    return Dataset(
        name=name,
        users=_texts(users),
        items=_texts(items),
        user=_codes([row[0] for row in given], users),
        item=_codes([row[1] for row in given], items),
        label=_floats([row[2] for row in given]),
        scores={column: _floats(array).astype(dtype) for column, array in columns.items()},
        row_number=np.arange(1, len(given) + 1, dtype=np.int64),
        scored={column: np.asarray(held, dtype=bool) for column, held in (scored or {}).items()},
        segments={column: _segment(cells) for column, cells in (segments or {}).items()},
        values={role: _floats(array) for role, array in (values or {}).items()},
        truth=None if judged is None else _truth(judged, users, items),
        train=None if known is None else _train(known, users, items),
        issues=tuple(issues),
        account=Account(len(given), len(given)),
    )


def labelled(labels: Sequence[float | None], scores: Sequence[float | None]) -> Dataset:
    """Return a Dataset of labels and scores alone: no users, no items."""
    found = dataset([(None, None, label, score) for label, score in zip(labels, scores, strict=True)])
    return replace(found, user=None, item=None, fingerprint="")  # also when there is no row at all


def one_list(labels: Sequence[float | None], user: str = "u", unscored: Sequence[float] = ()) -> Dataset:
    """Return one user's list, best first, with items i1, i2, …; `unscored` are grades of items that were not scored."""
    rows = [(user, f"i{rank}", label, -float(rank)) for rank, label in enumerate(labels, 1)]
    if not unscored:
        return dataset(rows)
    truth = [(user, item, label) for user, item, label, _ in rows if label is not None]
    truth += [(user, f"unscored{n}", grade) for n, grade in enumerate(unscored, 1)]
    return dataset(rows, truth=truth)


def _vocabulary(ids: Iterable[Any]) -> dict[str, int]:
    distinct = dict.fromkeys(str(one) for one in ids if one is not None)
    return {text: code for code, text in enumerate(distinct)}


def _texts(vocabulary: Mapping[str, int]) -> NDArray[np.object_]:
    found = np.empty(len(vocabulary), dtype=object)
    found[:] = list(vocabulary)
    return found


def _codes(ids: Sequence[Any], vocabulary: Mapping[str, int]) -> NDArray[np.int32] | None:
    if all(one is None for one in ids) and ids:
        return None
    return np.asarray([MISSING if one is None else vocabulary.get(str(one), MISSING) for one in ids], dtype=np.int32)


def _floats(cells: Sequence[Any]) -> NDArray[np.float64]:
    return np.asarray([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def _segment(cells: Sequence[str | None]) -> Segment:
    labels = _vocabulary(cells)
    codes = [MISSING if cell is None else labels[str(cell)] for cell in cells]
    return Segment(np.asarray(codes, dtype=np.int32), tuple(labels))


def _truth(rows: Sequence[Sequence[Any]], users: Mapping[str, int], items: Mapping[str, int]) -> Truth:
    return Truth(
        np.asarray([users[str(row[0])] for row in rows], dtype=np.int32),
        np.asarray([items[str(row[1])] for row in rows], dtype=np.int32),
        _floats([row[2] for row in rows]),
    )


def _train(rows: Sequence[Sequence[Any]], users: Mapping[str, int], items: Mapping[str, int]) -> TrainPairs:
    labels = [row[2] for row in rows if len(row) > 2]
    times = [row[3] for row in rows if len(row) > 3]
    return TrainPairs(
        np.asarray([users.get(str(row[0]), MISSING) for row in rows], dtype=np.int32),
        np.asarray([items.get(str(row[1]), MISSING) for row in rows], dtype=np.int32),
        _floats(labels) if labels else None,
        _floats(times) if times else None,
        n_users=len({str(row[0]) for row in rows}),
    )
