"""Several models in one table: files side by side, or one long table with a row per model, joined on (user, item)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import MISSING, Issue, Segment, pair_codes
from recmetrics.errors import RecmetricsError
from recmetrics.schema.ids import Ids, merge
from recmetrics.schema.part import Part
from recmetrics.text import N_

N_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of all models together, in one vocabulary of ids. Fields as in `Dataset`."""

    users: NDArray[np.object_]
    items: NDArray[np.object_]
    user: NDArray[np.int32] | None
    item: NDArray[np.int32] | None
    label: NDArray[np.float64] | None
    scores: Mapping[str, NDArray[Any]]
    row_number: NDArray[np.int64]
    scored: Mapping[str, NDArray[np.bool_]]
    segments: Mapping[str, Segment]
    values: Mapping[str, NDArray[np.float64]]
    issues: tuple[Issue, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class _Piece:
    """The rows of some models in the common vocabulary; `rows` are their indices in the file."""

    name: str
    user: NDArray[np.int32]
    item: NDArray[np.int32]
    label: NDArray[np.float64] | None
    scores: Mapping[str, NDArray[Any]]
    segments: Mapping[str, Segment]
    values: Mapping[str, NDArray[np.float64]]
    rows: NDArray[np.int64]


def join(parts: list[Part]) -> Rows:
    """Return the rows of all files; one file that is no long table passes through as it is.

    Raises
    ------
    RecmetricsError
        `no_user_column` or `no_item_column` when files cannot be matched, `duplicates` when they disagree on labels.
    """
    issues = tuple(issue for part in parts for issue in part.issues)
    if len(parts) == 1 and parts[0].models is None:
        return _single(parts[0], issues)
    users, user_codes = merge([_required(part, "user") for part in parts])
    items, item_codes = merge([_required(part, "item") for part in parts])
    names = _model_names(parts)
    pieces = []
    for part, user, item, renamed in zip(parts, user_codes, item_codes, names, strict=True):
        pieces.extend(_pieces(part, user, item, renamed))
    if _are_aligned(pieces):
        place = [np.arange(len(piece.user)) for piece in pieces]
        n_rows = len(pieces[0].user)
    else:
        place, n_rows = _places(pieces, len(items))
    return _joined(pieces, place, n_rows, users, items, issues)


def _single(part: Part, issues: tuple[Issue, ...]) -> Rows:
    empty = np.empty(0, dtype=object)
    is_run = part.source.kind == "run"
    scores = {part.source.stem: next(iter(part.scores.values()))} if is_run else part.scores
    return Rows(
        users=part.user.texts if part.user else empty,
        items=part.item.texts if part.item else empty,
        user=part.user.codes if part.user else None,
        item=part.item.codes if part.item else None,
        label=part.label.values if part.label else None,
        scores=scores,
        row_number=np.arange(1, part.n_rows + 1, dtype=np.int64),
        scored={},
        segments=part.segments,
        values=part.values,
        issues=issues,
    )


def _required(part: Part, role: str) -> Ids:
    found: Ids | None = getattr(part, role)
    if found is None:
        raise RecmetricsError(
            f"no_{role}_column",
            N_("{file} has no {role} column; models of several files or rows are matched by user and item. Name it."),
            file=part.source.name,
            role=role,
        )
    return found


def _model_names(parts: list[Part]) -> list[dict[str, str]]:
    """Return for each file: score column → name of the model, unique over all files."""
    if len(parts) == 1:
        return [{column: column for column in parts[0].scores}]
    found: list[dict[str, str]] = []
    taken: set[str] = set()
    for part in parts:
        stem = part.source.stem
        if sum(other.source.stem == stem for other in parts) > 1 and Path(part.source.name).suffix:
            stem = Path(part.source.name).name
        own = {}
        for column in part.scores:
            wanted = stem if len(part.scores) == 1 else f"{stem}/{column}"
            name, n = wanted, 2
            while name in taken:
                name, n = f"{wanted} ({n})", n + 1
            taken.add(name)
            own[column] = name
        found.append(own)
    return found


def _pieces(part: Part, user: NDArray[np.int32], item: NDArray[np.int32], names: Mapping[str, str]) -> list[_Piece]:
    """Return the file as one piece, or one piece for each model of a long table."""
    label = part.label.values if part.label else None
    scores = {names[column]: array for column, array in part.scores.items()}
    whole = np.arange(part.n_rows, dtype=np.int64)
    if part.models is None:
        return [_Piece(part.source.name, user, item, label, scores, part.segments, part.values, whole)]
    found = []
    for code, model in enumerate(part.models.labels):
        rows = np.flatnonzero(part.models.codes == code)
        found.append(
            _Piece(
                name=model,
                user=user[rows],
                item=item[rows],
                label=None if label is None else label[rows],
                scores={_long_name(model, column, scores): array[rows] for column, array in scores.items()},
                segments={name: Segment(s.codes[rows], s.labels) for name, s in part.segments.items()},
                values={name: array[rows] for name, array in part.values.items()},
                rows=rows,
            )
        )
    return found


def _long_name(model: str, column: str, scores: Mapping[str, Any]) -> str:
    return model if len(scores) == 1 else f"{model}/{column}"


def _are_aligned(pieces: list[_Piece]) -> bool:
    """Whether all pieces hold the same pairs in the same order, rows without an id included."""
    first = pieces[0]
    return all(
        np.array_equal(first.user, piece.user) and np.array_equal(first.item, piece.item) for piece in pieces[1:]
    )


def _places(pieces: list[_Piece], n_items: int) -> tuple[list[NDArray[np.int64]], int]:
    """Return for each piece the joined row of each of its rows, and the number of joined rows.

    The n-th occurrence of a pair meets the n-th occurrence in the other pieces; rows without an id meet nobody.
    """
    import pandas as pd  # lazily: only several models need it

    keys = []
    n_occurrences = 1
    occurrences = []
    for piece in pieces:
        pair = pair_codes(piece.user, piece.item, n_items)
        occurrence = pd.Series(pair).groupby(pair).cumcount().to_numpy() if pd.Series(pair).duplicated().any() else 0
        n_occurrences = max(n_occurrences, int(np.max(occurrence, initial=0)) + 1)
        keys.append(pair)
        occurrences.append(occurrence)
    anonymous = 0
    for i, piece in enumerate(pieces):
        keys[i] = keys[i] * n_occurrences + occurrences[i]
        without = np.flatnonzero((piece.user == MISSING) | (piece.item == MISSING))
        keys[i][without] = -1 - anonymous - np.arange(len(without))
        anonymous += len(without)
    codes, distinct = pd.factorize(np.concatenate(keys))
    ends = np.cumsum([len(key) for key in keys])
    return list(np.split(codes.astype(np.int64), ends[:-1])), len(distinct)


def _joined(
    pieces: list[_Piece],
    place: list[NDArray[np.int64]],
    n_rows: int,
    users: NDArray[np.object_],
    items: NDArray[np.object_],
    issues: tuple[Issue, ...],
) -> Rows:
    user, item = (np.full(n_rows, MISSING, dtype=np.int32) for _ in range(2))
    row_number = np.zeros(n_rows, dtype=np.int64)
    for piece, at in zip(reversed(pieces), reversed(place), strict=True):  # the first file has the last word
        user[at], item[at], row_number[at] = piece.user, piece.item, piece.rows + 1
    scores, scored = _spread_scores(pieces, place, n_rows)
    return Rows(
        users=users,
        items=items,
        user=user,
        item=item,
        label=_common_labels(pieces, place, n_rows, users, items, user, item),
        scores=scores,
        row_number=row_number,
        scored=scored,
        segments=_common_segments(pieces, place, n_rows),
        values=_common_values(pieces, place, n_rows),
        issues=issues + _different_sets(pieces, scored, n_rows, users),
    )


def _spread_scores(
    pieces: list[_Piece], place: list[NDArray[np.int64]], n_rows: int
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[np.bool_]]]:
    scores: dict[str, NDArray[Any]] = {}
    scored: dict[str, NDArray[np.bool_]] = {}
    for piece, at in zip(pieces, place, strict=True):
        held = np.zeros(n_rows, dtype=bool)
        held[at] = True
        for name, array in piece.scores.items():
            scores[name] = np.full(n_rows, np.nan, dtype=array.dtype)
            scores[name][at] = array
            if not held.all():
                scored[name] = held
    return scores, scored


def _common_labels(
    pieces: list[_Piece],
    place: list[NDArray[np.int64]],
    n_rows: int,
    users: NDArray[np.object_],
    items: NDArray[np.object_],
    user: NDArray[np.int32],
    item: NDArray[np.int32],
) -> NDArray[np.float64] | None:
    label = np.full(n_rows, np.nan)
    labelled = [(piece, at) for piece, at in zip(pieces, place, strict=True) if piece.label is not None]
    for piece, at in labelled:
        before, now = label[at], piece.label
        assert now is not None  # only pieces with labels are here
        apart = ~np.isnan(before) & ~np.isnan(now) & (before != now)
        if apart.any():
            rows = at[np.flatnonzero(apart)[:N_EXAMPLES]]
            raise RecmetricsError(
                "duplicates",
                N_(
                    "{first} and {file} give different labels to {count} user–item pairs ({pairs}). One pair has one "
                    "truth: mend the labels, or give the truth in a file of its own."
                ),
                first=labelled[0][0].name,
                file=piece.name,
                count=int(apart.sum()),
                pairs=", ".join(f"({_text(users, user[row])}, {_text(items, item[row])})" for row in rows),
            )
        label[at] = np.where(np.isnan(before), now, before)
    return label if labelled else None


def _text(texts: NDArray[np.object_], code: int) -> str:
    return str(texts[code])[:40] if code >= 0 else "–"


def _common_segments(pieces: list[_Piece], place: list[NDArray[np.int64]], n_rows: int) -> dict[str, Segment]:
    """Return every segment column; where two files fill the same cell, the first file's value stands."""
    found: dict[str, Segment] = {}
    for name in dict.fromkeys(name for piece in pieces for name in piece.segments):
        holders = [
            (piece.segments[name], at) for piece, at in zip(pieces, place, strict=True) if name in piece.segments
        ]
        labels = tuple(sorted({label for segment, _ in holders for label in segment.labels}))
        index = {label: i for i, label in enumerate(labels)}
        codes = np.full(n_rows, MISSING, dtype=np.int32)
        for segment, at in reversed(holders):
            own = np.array([*(index[label] for label in segment.labels), MISSING], dtype=np.int32)
            filled = segment.codes >= 0
            codes[at[filled]] = own[segment.codes[filled]]
        found[name] = Segment(codes, labels)
    return found


def _common_values(pieces: list[_Piece], place: list[NDArray[np.int64]], n_rows: int) -> dict[str, NDArray[np.float64]]:
    found: dict[str, NDArray[np.float64]] = {}
    for piece, at in reversed(list(zip(pieces, place, strict=True))):
        for name, array in piece.values.items():
            column = found.setdefault(name, np.full(n_rows, np.nan))
            filled = ~np.isnan(array)
            column[at[filled]] = array[filled]
    return found


def _different_sets(
    pieces: list[_Piece], scored: Mapping[str, NDArray[np.bool_]], n_rows: int, users: NDArray[np.object_]
) -> tuple[Issue, ...]:
    if not scored:
        return ()
    by_all = np.ones(n_rows, dtype=bool)
    for held in scored.values():
        by_all &= held
    count = int(n_rows - by_all.sum())
    template = N_(
        "{count} of {rows} user–item pairs are not scored by every model; each model keeps its own candidates."
    )
    found = [Issue("candidate_sets_differ", count, template, {"count": count, "rows": n_rows}, severity="doubt")]
    held_by = np.zeros((len(pieces), len(users)), dtype=bool)
    for i, piece in enumerate(pieces):
        held_by[i, piece.user[piece.user >= 0]] = True
    partly = int((held_by.any(axis=0) & ~held_by.all(axis=0)).sum())
    if partly:
        template = N_("{count} users are in the rows of some models and not of others.")
        facts = {"count": partly, "in_all": int(held_by.all(axis=0).sum())}
        found.append(Issue("query_sets_differ", partly, template, facts, severity="doubt"))
    return tuple(found)
