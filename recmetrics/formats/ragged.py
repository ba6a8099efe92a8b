"""The slow look at a text table that does not parse: which line is at fault, and are they only blank lines?"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from recmetrics.errors import RecmetricsError
from recmetrics.formats.dialect import Dialect
from recmetrics.text import N_


def _records(text: str, dialect: Dialect) -> Iterator[tuple[int, int]]:
    """Yield (line in which the record begins, number of fields); blank lines have 0 fields."""
    if dialect.is_blank:
        for number, row in enumerate(text.splitlines(), start=1):
            yield number, len(row.split())
        return
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter)
    line = 1
    for record in reader:
        is_blank = len(record) <= 1 and not any(cell.strip() for cell in record)
        yield line, 0 if is_blank else len(record)
        line = reader.line_num + 1


def without_blank_lines(body: bytes, dialect: Dialect) -> tuple[bytes, int]:
    """Return the text without lines of mere blanks, and how many there were; untouched where cells may be quoted."""
    if dialect.quoted and b'"' in body:
        return body, 0
    lines = body.splitlines(keepends=True)
    kept = [line for line in lines if line.strip(b" \t\r\n" if dialect.delimiter != "\t" else b" \r\n")]
    return b"".join(kept), len(lines) - len(kept)


def malformed_line(name: str, body: bytes, dialect: Dialect, expected: int, n_before: int) -> RecmetricsError:
    """Return the error that names the first line with another number of fields, and how many there are."""
    wrong = [(line, n) for line, n in _records(body.decode(errors="replace"), dialect) if n not in (0, expected)]
    line, found = wrong[0] if wrong else (1, 0)
    if not wrong or (dialect.quoted and body.count(b'"') % 2):
        return RecmetricsError(
            "malformed_line",
            N_("{file}: a quotation mark in line {line} or below is not closed. Close or remove it."),
            file=name,
            line=line + n_before,
        )
    return RecmetricsError(
        "malformed_line",
        N_(
            "{file}, line {line}: found {found} fields, expected {expected} (lines with a wrong number: {count}). "
            "Quote cells that hold the delimiter, or mend the line."
        ),
        file=name,
        line=line + n_before,
        found=found,
        expected=expected,
        count=len(wrong),
    )
