"""CSV, TSV and other text tables: encoding, delimiter, decimal sign and header are found out, cells stay text."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample, take_sample
from recmetrics.formats.dialect import Dialect, column_names, find_dialect, first_record
from recmetrics.formats.encoding import to_utf8, told_about
from recmetrics.formats.ragged import malformed_line, without_blank_lines
from recmetrics.formats.streamed import header_of, line_ends_inside, parse_lines, read_streamed
from recmetrics.raw import BLOCK_BYTES, SAMPLE_BYTES, Raw
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

_BLANK_LINE = re.compile(rb"(?<=\n)\r?\n")
_BLANK_LINE_CR = re.compile(rb"(?<=\r)\r")  # files whose lines end in CR alone
_LEADING_BLANKS = re.compile(rb"(?:[ \t]*\r?\n|[ \t]*\r)+")


def _looks_like(sample: Sample, tabs: bool) -> float:
    if not sample.lines:
        return 0.0
    dialect = find_dialect(sample.text)
    if dialect is None:
        return 0.0
    return 0.5 if (dialect.delimiter == "\t") == tabs else 0.3


def read_delimited(raw: Raw, options: ReadOptions, name: str) -> Source:
    """Parse a text table; see `Source` for what comes back.

    Raises
    ------
    RecmetricsError
        `malformed_line` for a line with too many or too few fields, `format` when no delimiter splits the lines,
        `no_rows` when there is a header only, `encoding`, `too_large`.
    """
    sample = take_sample(raw, options.encoding)
    prefer = "\t" if name == "tsv" else None
    return _in_one_pass(raw, options, sample, name, prefer) or _as_a_whole(raw, options, sample, name, prefer)


def _in_one_pass(raw: Raw, options: ReadOptions, sample: Sample, name: str, prefer: str | None) -> Source | None:
    """Return a large table that parses as its beginning promises, else None."""
    dialect = None if sample.is_whole else find_dialect(sample.text, prefer)
    header = None if dialect is None else header_of(sample, dialect)
    if dialect is None or header is None:
        return None
    has_header = dialect.has_header if options.header is None else options.header
    fields, n_bytes = header
    names, renamed = column_names(fields, has_header)
    found = read_streamed(raw, sample, dialect, names, n_bytes if has_header else 0, options.encoding)
    if found is None:
        return None
    told = told_about(raw.name, found.encoding, options.encoding)
    layout = _Layout(dialect, fields, has_header, renamed)
    return _source(raw, options, name, layout, found.table, found.encoding.name, told, found.n_blank_lines)


def _as_a_whole(raw: Raw, options: ReadOptions, sample: Sample, name: str, prefer: str | None) -> Source:
    """Return a table after looking at all of it; errors name the line."""
    data, encoding, told = to_utf8(raw, options.encoding)
    text = sample.text or data[:SAMPLE_BYTES].decode(errors="ignore")
    dialect = find_dialect(text, prefer)
    if dialect is None:
        raise RecmetricsError(
            "format",
            N_("{file} holds only one column: no comma, semicolon, tab, bar or blank splits its lines alike."),
            file=raw.name,
        )
    data, n_leading = _without_leading_blanks(data)
    if dialect.is_blank:
        data = _single_blanks(data)
    has_header = dialect.has_header if options.header is None else options.header
    fields, header_bytes = first_record(data, dialect)
    names, renamed = column_names(fields, has_header)
    body = memoryview(data)[header_bytes:] if has_header else memoryview(data)
    _refuse_by_lines(raw.name, data, options)
    table, repaired = _parse(raw.name, body, data, dialect, names)
    n_blank = repaired or n_leading + _count_blank_lines(data, len(data) - len(body), dialect, table)
    layout = _Layout(dialect, fields, has_header, renamed)
    return _source(raw, options, name, layout, table, encoding, told, n_blank)


@dataclass(frozen=True)
class _Layout:
    """How the lines of a file are laid out; `renamed` are the columns whose names were made unique."""

    dialect: Dialect
    fields: list[str]
    has_header: bool
    renamed: list[str]


def _source(
    raw: Raw,
    options: ReadOptions,
    name: str,
    layout: _Layout,
    table: Any,
    encoding: str,
    told: tuple[Issue, ...],
    n_blank: int,
) -> Source:
    if table.num_rows == 0:
        raise RecmetricsError(
            "no_rows", N_("{file} has a header line and no rows of data. Export it again."), file=raw.name
        )
    refuse_too_many(raw.name, table.num_rows, options)
    return Source(
        name=raw.name,
        format=name,
        table=_without_unnamed(table, layout.fields, layout.has_header),
        size=raw.size,
        encoding=encoding,
        delimiter=layout.dialect.delimiter,
        decimal=layout.dialect.decimal,
        has_header=layout.has_header,
        issues=told + _issues(raw.name, n_blank, layout.renamed),
    )


def _without_leading_blanks(data: bytes) -> tuple[bytes, int]:
    found = _LEADING_BLANKS.match(data)
    if not found:
        return data, 0
    return data[found.end() :], len(found.group().splitlines())


def _single_blanks(data: bytes) -> bytes:
    """Return the text with every run of blanks between fields made one blank."""
    data = data.replace(b"\t", b" ")
    data = re.sub(rb"  +", b" ", data)
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", data)


def _refuse_by_lines(name: str, data: bytes, options: ReadOptions) -> None:
    """Refuse before parsing where every line end must end a row."""
    if options.max_rows is None or b'"' in data or b"\n\n" in data or b"\n\r" in data:
        return
    refuse_too_many(name, data.count(b"\n") - 1, options)


def _parse(name: str, body: memoryview, data: bytes, dialect: Dialect, names: list[str]) -> tuple[Any, int]:
    """Return the table and the number of blank lines that stood in the way of parsing (0 as a rule)."""
    import pyarrow as pa  # lazily: the package must import quickly

    if not len(body):
        return pa.table({column: pa.array([], pa.string()) for column in names}), 0
    try:
        return _parse_strictly(body, dialect, names), 0
    except pa.ArrowInvalid as error:
        cleaned, n_blank = without_blank_lines(bytes(body), dialect)
        if n_blank:
            try:
                return _parse_strictly(memoryview(cleaned), dialect, names), n_blank
            except pa.ArrowInvalid:
                pass
        n_before = data.count(b"\n", 0, len(data) - len(body))
        raise malformed_line(name, bytes(body), dialect, len(names), n_before) from error


def _parse_strictly(body: memoryview, dialect: Dialect, names: list[str]) -> Any:
    import pyarrow as pa

    assert isinstance(body.obj, bytes)  # looked at in place: a copy would double the memory of a large file
    # A block must hold the longest line; whole files up to 4 MB are one block, so that hostile long lines pass.
    block = len(body) + 1 if len(body) < BLOCK_BYTES else BLOCK_BYTES
    return parse_lines(pa.py_buffer(body), dialect, names, dialect.quoted and b'"' in body.obj, block)


def _count_blank_lines(data: bytes, start: int, dialect: Dialect, table: Any) -> int:
    if dialect.quoted and b'"' in data:  # a quoted cell may hold blank lines of its own, which are data
        n_lines = data.count(b"\n", start) + (not data.endswith(b"\n"))
        return max(n_lines - line_ends_inside(table) - int(table.num_rows), 0)
    if b"\n" not in data:
        return len(_BLANK_LINE_CR.findall(data))
    return len(_BLANK_LINE.findall(data)) if b"\n\n" in data or b"\n\r\n" in data else 0


def _without_unnamed(table: Any, fields: list[str], has_header: bool) -> Any:
    """Drop columns that have neither a name nor a value: what a delimiter at the end of each line leaves."""
    import pyarrow.compute as pc

    if not has_header:
        return table
    unnamed = [i for i, field in enumerate(fields) if not field.strip()]
    empty = [i for i in unnamed if pc.all(pc.equal(table.column(i), "")).as_py()]
    return table.drop_columns([table.column_names[i] for i in empty]) if empty else table


def _issues(name: str, n_blank: int, renamed: list[str]) -> tuple[Issue, ...]:
    found = []
    if n_blank:
        found.append(Issue("blank_lines", n_blank, N_("{file}: blank lines were passed over."), {"file": name}))
    if renamed:
        found.append(
            Issue(
                "renamed_columns",
                len(renamed),
                N_("{file}: columns with the same name were numbered: {columns}."),
                {"file": name, "columns": ", ".join(renamed[:3])},
                examples=tuple(renamed[:3]),
                severity="doubt",
            )
        )
    return tuple(found)


FORMATS = (
    Format(
        "csv",
        (".csv",),
        functools.partial(_looks_like, tabs=False),
        functools.partial(read_delimited, name="csv"),
    ),
    Format(
        "tsv",
        (".tsv", ".tab"),
        functools.partial(_looks_like, tabs=True),
        functools.partial(read_delimited, name="tsv"),
    ),
)
