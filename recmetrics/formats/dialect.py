"""How a text table is laid out: delimiter, quoting, decimal sign, header. Found from its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass

from recmetrics.roles import is_known_name

DELIMITERS = (",", ";", "\t", "|")
N_LOOKED_AT = 100
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?%?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """`is_blank`: any run of blanks separates fields (then `delimiter` is one blank and nothing is quoted)."""

    delimiter: str
    decimal: str
    has_header: bool
    is_blank: bool = False

    @property
    def quoted(self) -> bool:
        return not self.is_blank


def find_dialect(text: str, prefer: str | None = None) -> Dialect | None:
    """Return the layout, or None when nothing splits the lines into the same number of fields, two or more."""
    candidates = []
    for delimiter in DELIMITERS:
        records = _records(text, delimiter)
        quality = _quality(records)
        if quality is not None:
            candidates.append((quality[0], delimiter == prefer, quality[1], records, delimiter))
    if candidates:
        *_, records, delimiter = max(candidates, key=lambda found: found[:3])
        return _dialect(records, delimiter, is_blank=False)
    records = [line.split() for line in text.splitlines() if line.strip()][:N_LOOKED_AT]
    quality = _quality(records)
    # Prose splits at blanks too: ask for more columns than a sentence in two words has, or for lines all alike.
    return _dialect(records, " ", is_blank=True) if quality and (quality[0] or quality[1] > 2) else None


def _records(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    found: list[list[str]] = []
    try:
        for record in reader:
            if any(cell.strip() for cell in record) or len(record) > 1:
                found.append(record)
            if len(found) == N_LOOKED_AT:
                break
    except csv.Error:  # a cell beyond the reader's limit: what was read so far has to do
        pass
    return found


def _quality(records: list[list[str]]) -> tuple[bool, int] | None:
    """Return (nearly all lines alike, fields per line), or None when the lines do not split alike."""
    if not records:
        return None
    n_fields, n_alike = Counter(map(len, records)).most_common(1)[0]
    share = n_alike / len(records)
    if share < 0.5 or n_fields < 2:
        # Two lines that differ: the first one, a header as a rule, says how many fields there ought to be.
        n_fields = len(records[0])
        share = sum(len(record) == n_fields for record in records) / len(records)
        if n_fields < 2 or share < 0.3:
            return None
    return share > 0.9, n_fields


def _dialect(records: list[list[str]], delimiter: str, is_blank: bool) -> Dialect:
    cells = [[cell.strip() for cell in record] for record in records]
    decimal = "," if delimiter != "," and _has_decimal_comma(cells) else "."
    return Dialect(delimiter, decimal, _has_header(cells), is_blank)


def _has_decimal_comma(records: list[list[str]]) -> bool:
    flat = [cell for record in records for cell in record]
    return any(_DECIMAL_COMMA.fullmatch(cell) for cell in flat) and not any(
        re.fullmatch(r"[+-]?\d*\.\d+", cell) for cell in flat
    )


def _has_header(records: list[list[str]]) -> bool:
    """Whether the first line names columns: known names in it, or text over numbers, or text over mere text."""
    first, rest = records[0], records[1:]
    n_known = sum(map(is_known_name, first))
    if n_known > 1:
        return True
    if any(_NUMBER.fullmatch(cell) for cell in first):
        return False
    if n_known:
        return True
    if len(set(first)) < len(first):
        return False
    numeric_below = [
        all(len(record) > i and _NUMBER.fullmatch(record[i]) for record in rest) for i in range(len(first))
    ]
    if rest and any(numeric_below):
        return True
    return all(cell not in {record[i] for record in rest if len(record) > i} for i, cell in enumerate(first))


def first_record(data: bytes, dialect: Dialect) -> tuple[list[str], int]:
    """Return the cells of the first line and how many bytes it takes, line end included."""
    end = _record_end(data, dialect.quoted)
    text = data[:end].decode()
    if dialect.is_blank:
        return text.split(), end
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter)
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return next(reader, []), end


def _record_end(data: bytes, quoted: bool) -> int:
    """Return the offset behind the first line end outside quotes."""
    inside = False
    for found in re.finditer(rb'\r\n|[\r\n"]' if quoted else rb"\r\n|[\r\n]", data):
        if found.group() == b'"':
            inside = not inside
        elif not inside:
            return found.end()
    return len(data)


def column_names(fields: list[str], has_header: bool) -> tuple[list[str], list[str]]:
    """Return unique column names, and those that had to be made unique. Without a header: "0", "1", …."""
    if not has_header:
        return [str(i) for i in range(len(fields))], []
    names: list[str] = []
    renamed: list[str] = []
    taken = {field.strip() for field in fields}
    for i, field in enumerate(fields):
        name = field.strip() or f"column {i + 1}"
        if name in names:
            n = 2
            while f"{name} ({n})" in taken or f"{name} ({n})" in names:
                n += 1
            name = f"{name} ({n})"
            renamed.append(name)
        names.append(name)
    return names, renamed
