"""Tables with one row per user and lists in their cells: one row per entry of the lists instead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.roles import rank_as, resembles_score
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

BATCH_ROWS = 10_000  # rows unfolded at once, so that texts of a batch stay below the 2 GB that 32-bit offsets reach
N_ROWS_SHOWN = 3
# What people put before or behind the usual name of an item column when its cells are lists.
_LIST_PREFIXES = ("relevant", "recommended", "predicted", "ranked", "true", "top", "test", "positive", "pred", "rec")
_LIST_ENDINGS = ("list", "s")


@dataclass(frozen=True, eq=False)
class _Lists:
    """One list column: the role of each of its fields (one field, named like the column, for a plain list)."""

    name: str
    fields: dict[str, str | None]
    lengths: NDArray[np.int64]
    is_record: bool

    @property
    def roles(self) -> set[str]:
        return {role for role in self.fields.values() if role}


def unfold(source: Source, max_rows: int | None = None) -> Source:
    """Return the source with one row per entry of its lists of items, scores and labels; itself without such lists.

    Raises
    ------
    RecmetricsError
        `format` when the lists of one row have different lengths, `no_rows` when all are empty, `too_large` when
        there are more entries than `max_rows`.
    """
    lists = [_look(source.table.column(name), name) for name in _list_columns(source)]
    if not lists:
        return source
    core = _core(source, lists)
    if not core:
        return source
    lengths = core[0].lengths
    _refuse_unequal(source, core)
    if not lengths.sum():
        raise _all_empty(source, core)
    refuse_too_many(source.name, int(lengths.sum()), ReadOptions(max_rows=max_rows))
    agreeing = [one for one in lists if one in core or _goes_along(one, core)]
    table = _unfolded(source.table, agreeing, lengths)
    return replace(source, table=table, issues=(*source.issues, *_issues(source, lists, agreeing, core)))


def _list_columns(source: Source) -> list[str]:
    if source.kind != "table":
        return []
    return [field.name for field in source.table.schema if _is_list(field.type)]


def _is_list(kind: Any) -> bool:
    import pyarrow.types as types  # lazily: the package must import quickly

    tests = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(test(kind) for test in tests)


def _look(column: Any, name: str) -> _Lists:
    import pyarrow.compute as pc
    import pyarrow.types as types

    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy().astype(np.int64)
    inner = column.type.value_type
    if types.is_struct(inner):
        fields = {field.name: None if types.is_nested(field.type) else _role(field.name) for field in inner}
        return _Lists(name, fields, lengths, is_record=True)
    return _Lists(name, {name: None if types.is_nested(inner) else _role(name)}, lengths, is_record=False)


def _role(name: str) -> str | None:
    """Return which of item, score and label a list's name says it holds."""
    for role in ("item", "score", "label"):
        if rank_as(role, name) is not None:
            return role
    if resembles_score(name):
        return "score"
    return "item" if _says_items(name) else None


def _says_items(name: str) -> bool:
    """Whether a name is an item's with what lists add to it: `relevant_items`, `item_ids`, `movie_list`."""
    bare = "".join(mark for mark in name.casefold() if mark not in " _-.")
    starts = [bare, *(bare.removeprefix(prefix) for prefix in _LIST_PREFIXES if bare.startswith(prefix))]
    cut = [start.removesuffix(ending) for start in starts for ending in ("", *_LIST_ENDINGS)]
    return any(len(word) > 1 and rank_as("item", word) is not None for word in cut)


def _core(source: Source, lists: list[_Lists]) -> list[_Lists]:
    """Return the lists that make rows: the best list of items with all lists of scores and labels.

    Nothing when a plain column names the item of each row: its lists are then class probabilities, histories, vectors.
    """
    named = {one.name for one in lists}
    plain = [name for name in source.columns if name not in named]
    if any(rank_as("item", name) is not None for name in plain):
        return []
    items = sorted((one for one in lists if "item" in one.roles), key=_item_rank)
    others = [one for one in lists if one.roles & {"score", "label"} and one not in items]
    roles = set[str]().union(*(one.roles for one in others))
    if items:
        return [items[0], *others]
    return others if roles == {"score", "label"} else []


def _item_rank(one: _Lists) -> tuple[bool, int]:
    """Sort lists with scores beside their items first, then the usual names."""
    ranks = [rank for name in one.fields if (rank := rank_as("item", name)) is not None]
    return "score" not in one.roles, min(ranks, default=1 << 10)


def _refuse_unequal(source: Source, core: list[_Lists]) -> None:
    first = core[0]
    for other in core[1:]:
        rows = np.flatnonzero(first.lengths != other.lengths)
        if not len(rows):
            continue
        shown = rows[:N_ROWS_SHOWN]
        raise RecmetricsError(
            "format",
            N_(
                "{file}: the lists in '{first}' and '{second}' have different lengths in {count} rows (rows {rows}: "
                "{lengths}). Each entry of one belongs to the entry at the same place in the other: write lists of "
                "equal length, or put the relevant items into a file of their own (--truth)."
            ),
            file=source.name,
            first=first.name[:40],
            second=other.name[:40],
            count=len(rows),
            rows=_numbered(shown),
            lengths=", ".join(f"{first.lengths[row]} / {other.lengths[row]}" for row in shown),
        )


def _numbered(rows: NDArray[np.int64]) -> str:
    return ", ".join(str(row + 1) for row in rows[:N_ROWS_SHOWN])


def _all_empty(source: Source, core: list[_Lists]) -> RecmetricsError:
    return RecmetricsError(
        "no_rows",
        N_("{file}: every list in {columns} is empty, so there is no row of data. Export it again."),
        file=source.name,
        columns=_quoted(core),
    )


def _quoted(lists: list[_Lists]) -> str:
    return ", ".join(f"'{one.name[:40]}'" for one in lists[:8])


def _goes_along(one: _Lists, core: list[_Lists]) -> bool:
    """Whether a list of something else (times, places) is as long as the core's in every row; a second list of items
    is another list of the user, whatever its length."""
    return "item" not in one.roles and bool(np.array_equal(one.lengths, core[0].lengths))


def _unfolded(table: Any, lists: list[_Lists], lengths: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    batches, start = [], 0
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        batches.append(_unfolded_batch(batch, lists, lengths[start : start + batch.num_rows]))
        start += batch.num_rows
    return pa.Table.from_batches(batches)


def _unfolded_batch(batch: Any, lists: list[_Lists], lengths: NDArray[np.int64]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    by_name = {one.name: one for one in lists}
    parents = pa.array(np.repeat(np.arange(batch.num_rows), lengths))
    columns: dict[str, Any] = {}
    for name in batch.schema.names:
        cells = batch.column(name)
        if name not in by_name:
            columns[_free(name, columns)] = cells.take(parents)
            continue
        entries = pc.list_flatten(cells)
        if not by_name[name].is_record:
            columns[_free(name, columns)] = entries
            continue
        for field in by_name[name].fields:
            taken = {*columns, *(other for other in batch.schema.names if other != name)}
            unique = field if field not in taken else f"{name}.{field}"
            columns[_free(unique, columns)] = pc.struct_field(entries, field)
    return pa.record_batch(columns)


def _free(name: str, taken: dict[str, Any]) -> str:
    unique, n = name, 2
    while unique in taken:
        unique, n = f"{name} ({n})", n + 1
    return unique


def _issues(source: Source, lists: list[_Lists], used: list[_Lists], core: list[_Lists]) -> list[Issue]:
    lengths = core[0].lengths
    n_rows = int(lengths.sum())
    facts = {"file": source.name, "columns": _quoted(used), "before": source.n_rows, "count": n_rows}
    template = N_(
        "{file}: the lists in {columns} were unfolded: {before} rows became {count}, one for each entry. "
        "Row numbers count the new rows."
    )
    found = [Issue("unfolded_lists", n_rows, template, facts)]
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        template = N_(
            "{file}: {count} rows hold no entry in {columns} (rows {rows} of the file); they have no candidates and "
            "make no row."
        )
        told: dict[str, Any] = {
            "file": source.name,
            "columns": _quoted(core),
            "count": len(empty),
            "rows": _numbered(empty),
        }
        found.append(Issue("empty_lists", len(empty), template, told, severity="dropped"))
    left = [one for one in lists if one.roles and one not in used]
    if left:
        template = N_(
            "{file}: the lists in {columns} are not those of {used} and stay lists, which cannot be used here. "
            "Relevant items belong into a file of their own (--truth)."
        )
        told = {"file": source.name, "columns": _quoted(left), "used": _quoted(core)}
        found.append(Issue("lists_left", len(left), template, told, severity="doubt"))
    return found
