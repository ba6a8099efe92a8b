"""JSON lines: one object per line. Fast through Arrow; digit by digit through the standard library where it matters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample
from recmetrics.formats.encoding import to_utf8
from recmetrics.raw import Raw
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

EXACT_IN_FLOAT = 2.0**53
MAX_DEPTH = 100  # lists and records in one another; from some ten thousands on, parsers end the process
BLOCK_BYTES = 1 << 20
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_RECORDS_BY_COLUMN = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')

_CUT = N_(
    "{file}, line {line} ends in the middle of an object: the file is cut off, or an object goes over several lines. "
    "Export it again, one object per line."
)
_NO_OBJECT = N_("{file}, line {line} is no JSON object. Write one object per line.")
# What the standard library says → what is wrong, in plain words.
_REASONS = {
    "Expecting value": N_(
        "{file}, line {line}, place {place}: here should be a value. "
        'Write a number, "text", true, false, null, a list or an object.'
    ),
    "Expecting property name": N_(
        '{file}, line {line}, place {place}: here should be a key in double quotation marks, such as "user". '
        "Check for single quotation marks and for a comma too many."
    ),
    "Expecting ':'": N_("{file}, line {line}, place {place}: behind a key should be a colon. Export it again."),
    "Expecting ','": N_(
        "{file}, line {line}, place {place}: here should be a comma or the end of the object or list. Export it again."
    ),
    "Extra data": N_("{file}, line {line}, place {place}: something follows the object. Write one object per line."),
    "Unterminated string": N_(
        "{file}, line {line}, place {place}: the text that begins here has no end. The file is cut off, or a quotation "
        "mark or line end inside the text lacks its backslash."
    ),
    "Invalid control character": N_(
        "{file}, line {line}, place {place}: a text holds a tab or another control character as it is. "
        "Export it with a JSON writer, which writes such characters with a backslash."
    ),
    "Invalid \\": N_(
        "{file}, line {line}, place {place}: behind a backslash stands what JSON does not know. "
        "Export it with a JSON writer; a backslash itself is written twice."
    ),
}


def _looks_like(sample: Sample) -> float:
    if not sample.lines or not sample.lines[0].lstrip().startswith(("{", "[")):
        return 0.0
    if sample.lines[0].lstrip().startswith("["):
        return 0.6 if "{" in "".join(sample.lines[:3]) else 0.0
    return 0.95


def read_jsonl(raw: Raw, options: ReadOptions) -> Source:
    """Parse JSON lines, a JSON list of objects, or one object of columns; see `Source`.

    Raises
    ------
    RecmetricsError
        `malformed_line` naming the line that is no JSON object, `format`, `encoding`, `no_rows`, `too_large`.
    """
    data, encoding, issues = to_utf8(raw, options.encoding)
    _refuse_deep(raw.name, data)
    told: tuple[Issue, ...] = ()
    table = _fast(data)
    if table is None:
        table, told = _exact(raw.name, data.decode())
    table = _by_column(raw.name, table)
    if table.num_rows == 0 or table.num_columns == 0:
        raise RecmetricsError("no_rows", N_("{file} has no rows of data. Export it again."), file=raw.name)
    refuse_too_many(raw.name, table.num_rows, options)
    return Source(raw.name, "jsonl", table, size=raw.size, encoding=encoding, issues=(*issues, *told))


def _refuse_deep(name: str, data: bytes) -> None:
    """Refuse nesting that no table has, before a parser follows it down."""
    if _first_deep(data) is None:
        return
    bare = _STRING.sub(b"", data)  # brackets inside texts nest nothing; a text holds no line end
    at = _first_deep(bare)
    if at is not None:
        raise RecmetricsError(
            "format",
            N_(
                "{file}, line {line}: lists or records stand in one another more than {cap} deep, as in no table. "
                "Write one flat object per line."
            ),
            file=name,
            line=bare.count(b"\n", 0, at) + 1,
            cap=MAX_DEPTH,
        )


def _first_deep(data: bytes) -> int | None:
    depth, found = 0, np.frombuffer(data, dtype=np.uint8)
    for start in range(0, len(found), BLOCK_BYTES):
        depths = np.cumsum(_STEPS[found[start : start + BLOCK_BYTES]], dtype=np.int32)
        if depth + int(depths.max()) > MAX_DEPTH:
            return start + int(np.argmax(depths + depth > MAX_DEPTH))
        depth += int(depths[-1])
    return None


def _fast(data: bytes) -> Any:
    """Return Arrow's table, or None when it fails or would change what is written: digits, dates, mixed types."""
    import pyarrow as pa  # lazily: the package must import quickly
    import pyarrow.json as arrow_json

    start = data[:64].lstrip()
    if not start.startswith(b"{") or _RECORDS_BY_COLUMN.match(data[:1024]):
        return None
    options = arrow_json.ReadOptions(block_size=len(data) + 1 if len(data) < 1 << 22 else 1 << 22)
    try:
        table = arrow_json.read_json(pa.py_buffer(data), read_options=options)
    except (pa.ArrowException, OSError):
        return None
    if data.count(b"\n", 0, len(data.rstrip())) + 1 < table.num_rows:
        return None  # several objects in a line: not what this format promises, so look closely
    return None if any(_is_changed(column) for column in table.columns) else table


def _is_changed(column: Any) -> bool:
    """Whether Arrow read texts as times, or whole numbers beyond 2^53 as fractions; in lists and records too."""
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = column.type
    if types.is_list(kind):
        return _is_changed(pc.list_flatten(column))
    if types.is_struct(kind):
        return any(_is_changed(pc.struct_field(column, [i])) for i in range(kind.num_fields))
    return bool(types.is_temporal(kind) or (types.is_floating(kind) and _has_long_numbers(column)))


def _has_long_numbers(column: Any) -> bool:
    values = column.to_numpy()
    with np.errstate(invalid="ignore"):
        return bool(np.any(np.abs(values[np.isfinite(values)]) >= EXACT_IN_FLOAT))


class _Repeats:
    """Makes objects of their pairs and keeps note of keys that occur again, with the line where lines are objects."""

    def __init__(self) -> None:
        self.line = 0
        self.keys: dict[str, None] = {}
        self.lines: list[int] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            self.keys.update((key, None) for key in found if keys.count(key) > 1)
            self.lines.append(self.line)
        return found

    def issues(self, file: str) -> tuple[Issue, ...]:
        if not self.lines:
            return ()
        facts: dict[str, Any] = {"file": file, "count": len(self.lines)}
        facts["keys"] = ", ".join(f"'{_printable(key)}'" for key in list(self.keys)[:3])
        if not all(self.lines):  # one object or list over all lines
            template = N_("{file}: {count} objects name a key more than once ({keys}); the last value was taken.")
        else:
            facts["lines"] = ", ".join(str(line) for line in self.lines[:3])
            template = N_(
                "{file}: {count} objects name a key more than once ({keys}; lines {lines}); the last value was taken."
            )
        return (Issue("repeated_keys", len(self.lines), template, facts, tuple(self.keys)[:3], "doubt"),)


def _exact(name: str, text: str) -> tuple[Any, tuple[Issue, ...]]:
    repeats = _Repeats()
    rows = _objects(name, text, repeats)
    return _table(name, _of_columns(rows) or _cells(rows)), repeats.issues(name)


def _of_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]] | None:
    """Return the columns of a single object {column: {row: value}}, which is what pandas writes unless told else."""
    columns = list(rows[0].values()) if len(rows) == 1 else []
    if len(columns) < 2 or not all(
        isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns
    ):
        return None
    return {key: list(column.values()) for key, column in rows[0].items()}


def _cells(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for i, row in enumerate(rows):
        for key, value in row.items():
            if key not in columns:
                columns[key] = [None] * i
            columns[key].append(value)
        for cells in columns.values():
            if len(cells) <= i:
                cells.append(None)
    return columns


def _objects(name: str, text: str, repeats: _Repeats) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        return _listed(name, text, repeats)
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        repeats.line = number
        try:
            row = _parsed(line, repeats)
        except json.JSONDecodeError as error:
            if not rows:
                return [_whole(name, text, number, error, repeats)]
            raise _malformed(name, number, error) from error
        if not isinstance(row, dict):
            raise RecmetricsError(
                "malformed_line",
                N_("{file}, line {line} holds no JSON object. Write one object per line."),
                file=name,
                line=number,
            )
        rows.append(row)
    return rows


def _whole(name: str, text: str, first: int, error: json.JSONDecodeError, repeats: _Repeats) -> dict[str, Any]:
    """Return the one object that a file holds over several lines, else refuse the first line, or the place within."""
    rest = text.split("\n", first)[first:]
    goes_on = _is_cut(error) and bool(rest) and not rest[0].lstrip().startswith("{")
    repeats.line = 0
    try:
        found = _parsed(text, repeats)
    except json.JSONDecodeError as inside:
        raise _malformed(name, inside.lineno if goes_on else first, inside if goes_on else error) from error
    return dict(found)


def _parsed(text: str, repeats: _Repeats) -> Any:
    return json.loads(text, parse_int=str, parse_float=_without_zero, parse_constant=str, object_pairs_hook=repeats)


def _without_zero(number: str) -> str:
    """Return a JSON number's text; 7.0 is 7, as in the columns that Arrow reads."""
    return number.removesuffix(".0")


def _listed(name: str, text: str, repeats: _Repeats) -> list[dict[str, Any]]:
    try:
        rows = _parsed(text, repeats)
    except json.JSONDecodeError as error:
        raise _malformed(name, error.lineno, error) from error
    if not all(isinstance(row, dict) for row in rows):
        raise RecmetricsError(
            "format", N_("{file} is a JSON list whose entries are no objects. Write one object per row."), file=name
        )
    return list(rows)


def _is_cut(error: json.JSONDecodeError) -> bool:
    return error.pos >= len(error.doc.rstrip())


def _malformed(name: str, line: int, error: json.JSONDecodeError) -> RecmetricsError:
    reason = next((said for start, said in _REASONS.items() if error.msg.startswith(start)), _NO_OBJECT)
    template = _CUT if _is_cut(error) else reason
    return RecmetricsError("malformed_line", template, file=name, line=line, place=error.colno)


def _table(name: str, columns: Mapping[str, list[Any]]) -> Any:
    import pyarrow as pa

    found = {}
    for key, cells in columns.items():
        try:
            found[key] = _column(cells)
            key.encode()
        except UnicodeEncodeError as error:
            raise RecmetricsError(
                "encoding",
                N_(
                    "{file}: a text of '{column}' holds half of a character ({found}); its other half was cut off. "
                    "Export it again."
                ),
                file=name,
                column=_printable(key),
                found=_printable(error.object[error.start : error.start + 1]),
            ) from error
    return pa.table(found)


def _printable(text: str) -> str:
    return text[:40].encode("utf-8", "backslashreplace").decode()


def _column(cells: list[Any]) -> Any:
    """Return booleans as booleans, plain cells as their text, lists as lists, records as records."""
    import pyarrow as pa

    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, bool) for cell in present):
        return pa.array(cells, pa.bool_())
    if not any(isinstance(cell, dict | list) for cell in present):
        return pa.array([_shown(cell) for cell in cells], pa.string())
    found = _list_column(cells) if all(isinstance(cell, list) for cell in present) else None
    if found is not None:
        return found
    # Never used as a column of values; kept so that the mapping can show that it is there.
    return pa.array([None if cell is None else {"json": json.dumps(cell)} for cell in cells])


def _list_column(cells: list[Any]) -> Any:
    """Return lists of plain values or of records as they are; None for lists of lists and of both."""
    import pyarrow as pa

    entries = [entry for cell in cells if cell is not None for entry in cell]
    present = [entry for entry in entries if entry is not None]
    if present and all(isinstance(entry, dict) for entry in present):
        fields = {key: _column(values) for key, values in _cells([entry or {} for entry in entries]).items()}
        if not fields:
            return None
        inner = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    elif any(isinstance(entry, dict | list) for entry in present):
        return None
    else:
        inner = _column(entries)
    offsets = np.cumsum([0, *(len(cell or ()) for cell in cells)])
    mask = pa.array([cell is None for cell in cells])
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), inner, mask=mask)


def _shown(cell: Any) -> str | None:
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell)


def _by_column(name: str, table: Any) -> Any:
    """Return the columns of a file that is one object of lists, {"user": […], "score": […]}; else the table itself.

    A single list of records, {"data": [{…}, …]}, holds its rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    kinds = [column.type for column in table.columns]
    if table.num_rows != 1 or not all(types.is_list(kind) or types.is_large_list(kind) for kind in kinds):
        return table
    lists = {key: pc.list_flatten(table.column(key)) for key in table.column_names}
    if len(lists) == 1 and types.is_struct(kinds[0].value_type):
        (records,) = lists.values()
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(chunk) for chunk in records.chunks])
    lengths = {key: len(cells) for key, cells in lists.items()}
    if len(set(lengths.values())) > 1:
        raise RecmetricsError(
            "format",
            N_(
                "{file} is one object of columns, and they have different lengths ({lengths}). "
                "Export it again, as one object per row."
            ),
            file=name,
            lengths=", ".join(f"'{key[:40]}' {length}" for key, length in list(lengths.items())[:5]),
        )
    return pa.table(lists)


FORMATS = (Format("jsonl", (".jsonl", ".ndjson", ".json"), _looks_like, read_jsonl),)
