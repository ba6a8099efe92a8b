"""JSON lines: one object per line. Fast through Arrow; digit by digit through the standard library where it matters."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample
from recmetrics.formats.encoding import to_utf8
from recmetrics.raw import Raw
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

EXACT_IN_FLOAT = 2.0**53


def _looks_like(sample: Sample) -> float:
    if not sample.lines or not sample.lines[0].lstrip().startswith(("{", "[")):
        return 0.0
    if sample.lines[0].lstrip().startswith("["):
        return 0.6 if "{" in "".join(sample.lines[:3]) else 0.0
    return 0.95


def read_jsonl(raw: Raw, options: ReadOptions) -> Source:
    """Parse JSON lines, or a JSON list of objects; see `Source`.

    Raises
    ------
    RecmetricsError
        `malformed_line` naming the line that is no JSON object, `format`, `encoding`, `no_rows`, `too_large`.
    """
    data, encoding, issues = to_utf8(raw)
    table = _fast(data)
    if table is None:
        table = _exact(raw.name, data)
    if table.num_rows == 0 or table.num_columns == 0:
        raise RecmetricsError("no_rows", N_("{file} has no rows of data. Export it again."), file=raw.name)
    refuse_too_many(raw.name, table.num_rows, options)
    return Source(raw.name, "jsonl", table, size=raw.size, encoding=encoding, issues=issues)


def _fast(data: bytes) -> Any:
    """Return Arrow's table, or None when it fails or would change what is written: digits, dates, mixed types."""
    import pyarrow as pa  # lazily: the package must import quickly
    import pyarrow.json as arrow_json
    import pyarrow.types as types

    start = data[:64].lstrip()
    if not start.startswith(b"{"):
        return None
    options = arrow_json.ReadOptions(block_size=len(data) + 1 if len(data) < 1 << 22 else 1 << 22)
    try:
        table = arrow_json.read_json(pa.py_buffer(data), read_options=options)
    except (pa.ArrowException, OSError):
        return None
    if data.count(b"\n", 0, len(data.rstrip())) + 1 < table.num_rows:
        return None  # several objects in a line: not what this format promises, so look closely
    for column in table.columns:
        if types.is_temporal(column.type) or (types.is_floating(column.type) and _has_long_numbers(column)):
            return None
    return table


def _has_long_numbers(column: Any) -> bool:
    values = column.to_numpy()
    with np.errstate(invalid="ignore"):
        return bool(np.any(np.abs(values[np.isfinite(values)]) >= EXACT_IN_FLOAT))


def _exact(name: str, data: bytes) -> Any:
    rows = _objects(name, data.decode())
    columns: dict[str, list[Any]] = {}
    for i, row in enumerate(rows):
        for key, value in row.items():
            if key not in columns:
                columns[key] = [None] * i
            columns[key].append(value)
        for cells in columns.values():
            if len(cells) <= i:
                cells.append(None)
    return _table(columns)


def _objects(name: str, text: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        return _listed(name, text)
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _parsed(line)
        except (ValueError, RecursionError) as error:
            raise _malformed(name, number, str(error)[:80]) from error
        if not isinstance(row, dict):
            raise RecmetricsError(
                "malformed_line",
                N_("{file}, line {line} holds no JSON object. Write one object per line."),
                file=name,
                line=number,
            )
        rows.append(row)
    return rows


def _parsed(text: str) -> Any:
    return json.loads(text, parse_int=str, parse_float=_without_zero, parse_constant=str)


def _without_zero(number: str) -> str:
    """Return a JSON number's text; 7.0 is 7, as in the columns that Arrow reads."""
    return number.removesuffix(".0")


def _listed(name: str, text: str) -> list[dict[str, Any]]:
    try:
        rows = _parsed(text)
    except (ValueError, RecursionError) as error:
        number = getattr(error, "lineno", 1)
        raise _malformed(name, number, str(error)[:80]) from error
    if not all(isinstance(row, dict) for row in rows):
        raise RecmetricsError(
            "format", N_("{file} is a JSON list whose entries are no objects. Write one object per row."), file=name
        )
    return list(rows)


def _malformed(name: str, line: int, reason: str) -> RecmetricsError:
    return RecmetricsError(
        "malformed_line",
        N_("{file}, line {line} is no JSON object: {reason}. Write one object per line."),
        file=name,
        line=line,
        reason=reason,
    )


def _table(columns: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    return pa.table({name: _column(cells) for name, cells in columns.items()})


def _column(cells: list[Any]) -> Any:
    """Return booleans as booleans, plain cells as their text, records as records."""
    import pyarrow as pa

    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, bool) for cell in present):
        return pa.array(cells, pa.bool_())
    if any(isinstance(cell, dict | list) for cell in present):
        # Never used as a column of values; kept so that the mapping can show that it is there.
        return pa.array([None if cell is None else [json.dumps(cell)] for cell in cells], pa.list_(pa.string()))
    return pa.array([_shown(cell) for cell in cells], pa.string())


def _shown(cell: Any) -> str | None:
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell)


FORMATS = (Format("jsonl", (".jsonl", ".ndjson", ".json"), _looks_like, read_jsonl),)
