"""Excel workbooks: one sheet becomes a table; what Excel lost or hides is told."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample
from recmetrics.formats.dialect import N_LOOKED_AT, _has_header, column_names
from recmetrics.raw import Raw
from recmetrics.registry import nearest
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

SUFFIXES = (".xlsx", ".xlsm")
EXACT_IN_EXCEL = 10**15  # Excel keeps 15 digits of a number
MAGIC = b"PK\x03\x04"
MOST_BYTES, MOST_RATIO, RATIO_FROM_BYTES = 1 << 30, 200, 1 << 26
MOST_CELLS = 1 << 26  # of the rectangle from A1 to the last cell, all of which the reader keeps in memory
Row = list[Any]

# Every run is bounded, so that a hostile sheet cannot make the search slow.
_PLACE = re.compile(rb"""\sr=["']([A-Z]{1,3})(\d{1,7})["'][^<>]{0,300}(?<!/)>""")
_ERROR = re.compile(
    rb"""<(?:\w+:)?c\s[^<>]{0,300}\bt=["']e["'][^<>]{0,300}>(?:<(?:\w+:)?f\b[^<]*</(?:\w+:)?f>|<f[^<>]{0,300}/>)?<(?:\w+:)?v>([^<]*)"""
)
_UNCOMPUTED = re.compile(
    rb"<(?:\w+:)?f\b[^<>]{0,300}(?:/>|>[^<]*</(?:\w+:)?f>)\s{0,9}(?:<(?:\w+:)?v\s{0,9}/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s{0,9}</(?:\w+:)?c>"
)
_SHEET = re.compile(rb"""<(?:\w+:)?sheet\s[^<>]{0,300}\br?:?id=["']([^"']*)["']""")


def _looks_like(sample: Sample) -> float:
    # A file that is only named like one goes here too, so that its damage is told; text and old XLS go elsewhere.
    named = sample.suffix in SUFFIXES and not sample.text and sample.packed in ("", "ZIP/XLSX")
    inside = sample.data.startswith(MAGIC) and any(name in sample.data for name in (b"xl/workbook", b"xl/worksheets/"))
    return 1.0 if named or inside else 0.0


def read_xlsx(raw: Raw, options: ReadOptions) -> Source:
    """Parse one sheet of a workbook; see `Source`.

    Raises
    ------
    RecmetricsError
        `format` for a damaged or locked workbook and for a sheet that it has not, `too_large`, `no_rows`, `file`.
    """
    data = raw.read()
    _check_package(raw.name, data)
    sheet, position, rows, choices = _choose(raw.name, data, options.sheet)
    n_all = len(rows)
    rows = [row for row in rows if not _is_blank(row)]
    n_blank = n_all - len(rows)
    shown = [[(_text(cell) or "").strip() for cell in row] for row in rows[:N_LOOKED_AT]]
    has_header = _has_header(shown) if options.header is None else options.header
    names, renamed = column_names(shown[0], has_header)
    body = rows[1:] if has_header else rows
    if not body:
        raise RecmetricsError(
            "no_rows",
            N_("{file}: sheet '{sheet}' has a header and no rows of data. Export it again, or choose another sheet."),
            file=raw.name,
            sheet=sheet,
        )
    refuse_too_many(raw.name, len(body), options)
    table, rounded = _table(names, shown[0], body, has_header)
    issues = (
        *_sheet_issue(raw.name, sheet, choices, options),
        *_blank_issue(raw.name, n_blank),
        *_renamed_issue(raw.name, renamed),
        *_rounded_issues(raw.name, rounded),
        *_empty_issues(raw.name, sheet, _count_cells(data, position)),
    )
    return Source(raw.name, "xlsx", table, size=raw.size, has_header=has_header, issues=issues)


def _check_package(name: str, data: bytes) -> None:
    """Refuse what is no sound workbook, or unpacks to more than the memory should hold."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            members = package.infolist()
            _refuse_bomb(name, sum(member.file_size for member in members), len(data))
            if not any(member.filename.lower().startswith("xl/workbook") for member in members):
                raise _no_workbook(name)
            if any(member.flag_bits & 1 for member in members):
                raise _damaged(name, "it is locked with a password")
            n_bytes = 0
            for member in members:
                n_bytes = _look_through(name, data, member, n_bytes)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, IndexError) as error:
        raise _damaged(name, error) from error


def _refuse_bomb(name: str, unpacked: int, packed: int) -> None:
    if unpacked > MOST_BYTES or (unpacked > RATIO_FROM_BYTES and unpacked > MOST_RATIO * packed):
        raise RecmetricsError(
            "too_large",
            N_(
                "{file} has {size} MB and unpacks to {unpacked} MB or more; at most {cap} MB and {ratio} times the "
                "size are read. Save the sheet as CSV or Parquet."
            ),
            file=name,
            size=f"{packed / 1e6:.1f}",
            unpacked=f"{unpacked / 1e6:.0f}",
            cap=f"{MOST_BYTES / 1e6:.0f}",
            ratio=MOST_RATIO,
        )


def _look_through(name: str, data: bytes, member: zipfile.ZipInfo, n_before: int) -> int:
    """Return the bytes unpacked so far; the sizes that a package tells of itself may be false."""
    last_column, last_row, tail = 0, 0, b""
    for block in _unpacked(data, member):
        n_before += len(block)
        _refuse_bomb(name, n_before, len(data))
        if not member.filename.lower().startswith("xl/worksheets/"):
            continue
        text = tail + block
        places = set(_PLACE.findall(text))
        last_column = max([last_column, *map(_column_number, {column for column, _ in places})])
        last_row = max([last_row, *(int(row) for _, row in places)])
        tail = text[-400:]
        if last_column * last_row > MOST_CELLS:
            raise RecmetricsError(
                "too_large",
                N_(
                    "{file}: the cells of a sheet reach to row {row} and column {column}, {cells} cells; at most {cap} "
                    "are read. Delete stray cells far from the rows, or save the sheet as CSV or Parquet."
                ),
                file=name,
                row=last_row,
                column=last_column,
                cells=last_column * last_row,
                cap=MOST_CELLS,
            )
    return n_before


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _unpacked(data: bytes, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield what a member really unpacks to, block by block."""
    header = data[member.header_offset : member.header_offset + 30]
    if len(header) < 30:
        raise zipfile.BadZipFile("a part of it is missing")
    start = (
        member.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    )
    packed = data[start : start + member.compress_size]
    if member.compress_type == zipfile.ZIP_STORED:
        yield packed
        return
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise zipfile.BadZipFile("a part of it is packed in a way that is not read")
    inflating = zlib.decompressobj(-15)
    while packed and not inflating.eof:
        block = inflating.decompress(packed, 1 << 22)
        packed = inflating.unconsumed_tail
        if block:
            yield block


def _no_workbook(name: str) -> RecmetricsError:
    return RecmetricsError(
        "format",
        N_("{file} is a ZIP file without a workbook in it. Save it as Excel workbook (.xlsx), CSV or Parquet."),
        file=name,
    )


def _damaged(name: str, reason: object) -> RecmetricsError:
    lines = str(reason).splitlines()
    return RecmetricsError(
        "format",
        N_("{file} is no sound Excel workbook: {reason}. Copy it again, or save it again as .xlsx, CSV or Parquet."),
        file=name,
        reason=(lines[0] if lines else "unknown")[:120].rstrip("."),
    )


@dataclass(frozen=True)
class CellCounts:
    """Cells of a sheet that the reader gives as empty and that are not: errors, formulas without a stored result."""

    errors: int = 0
    uncomputed: int = 0
    examples: tuple[str, ...] = ()


def _count_cells(data: bytes, position: int) -> CellCounts:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        try:
            text = package.read(_sheet_path(package, position))
        except (KeyError, IndexError, zipfile.BadZipFile, zlib.error, OSError, ValueError):
            return CellCounts()  # the reader found the sheet where this simple look did not
    errors = [found.decode(errors="replace") for found in _ERROR.findall(text)]
    uncomputed = sum(1 for _ in _UNCOMPUTED.finditer(text))
    return CellCounts(len(errors), uncomputed, tuple(dict.fromkeys(errors))[:3])


def _sheet_path(package: zipfile.ZipFile, position: int) -> str:
    """Return the name of the part that holds a sheet: the workbook names an id, its relations the part."""
    ids = _SHEET.findall(package.read("xl/workbook.xml"))
    for relation in re.findall(rb"<(?:\w+:)?Relationship\s[^<>]{0,2000}>", package.read("xl/_rels/workbook.xml.rels")):
        told = dict(re.findall(rb"""(\w+)=["']([^"']*)["']""", relation))
        if told.get(b"Id") == ids[position]:
            target: str = told[b"Target"].decode()
            return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    raise KeyError(position)


def _choose(name: str, data: bytes, wanted: str) -> tuple[str, int, list[Row], list[str]]:
    """Return the sheet to read, its place, its rows, and the sheets that have rows (of those that were looked at)."""
    from python_calamine import CalamineWorkbook  # lazily: the package must import quickly

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        known = workbook.sheet_names
        if wanted and wanted not in known:
            raise _unknown_sheet(name, wanted, known)
        read = {sheet: workbook.get_sheet_by_name(sheet).to_python() for sheet in ([wanted] if wanted else known)}
    except RecmetricsError:
        raise
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the reader is no Exception
        raise _damaged(name, error) from error
    n_rows = {sheet: sum(not _is_blank(row) for row in rows) for sheet, rows in read.items()}
    filled = [sheet for sheet in read if n_rows[sheet]]
    if not filled:
        raise RecmetricsError(
            "no_rows",
            N_("{file} has no row of data in: {sheets}. Choose another sheet, or export it again."),
            file=name,
            sheets=_listed(list(read)),
        )
    sheet = next((sheet for sheet in filled if n_rows[sheet] > 1), filled[0])
    return sheet, known.index(sheet), read[sheet], filled


def _unknown_sheet(name: str, wanted: str, known: list[str]) -> RecmetricsError:
    lower = {sheet.lower(): sheet for sheet in known}
    likely = lower.get(nearest(wanted, list(lower)), known[0] if known else "")
    return RecmetricsError(
        "format",
        N_("{file} has no sheet '{wanted}'. It has: {sheets}. Name one of these, such as '{likely}'."),
        file=name,
        wanted=wanted[:80],
        sheets=_listed(known),
        likely=likely,
    )


def _listed(sheets: list[str]) -> str:
    return ", ".join(sheets[:20]) + (", …" if len(sheets) > 20 else "")


def _is_blank(row: Row) -> bool:
    return all(isinstance(cell, str) and not cell.strip() for cell in row)


def _table(names: list[str], fields: list[str], body: list[Row], has_header: bool) -> tuple[Any, dict[str, list[str]]]:
    """Return the table, and the numbers of 16 or more digits by column."""
    import pyarrow as pa  # lazily: the package must import quickly

    columns: dict[str, Any] = {}
    rounded: dict[str, list[str]] = {}
    for i, name in enumerate(names):
        cells = [row[i] if i < len(row) and row[i] != "" else None for row in body]
        if has_header and not fields[i] and all(cell is None for cell in cells):
            continue  # neither a name nor a value
        columns[name] = _column(cells)
        long = [_text(cell) or "" for cell in cells if _is_whole(cell) and abs(float(cell or 0)) >= EXACT_IN_EXCEL]
        if long and not pa.types.is_floating(columns[name].type):
            rounded[name] = long
    return pa.table(columns), rounded


def _column(cells: Row) -> Any:
    """Return the cells as the narrowest type that keeps all of them: mixed kinds and long numbers become text."""
    import pyarrow as pa

    present = [cell for cell in cells if cell is not None]
    kinds = {type(cell) for cell in present}
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds and kinds <= {int, float}:
        if not all(map(_is_whole, present)):
            return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
        if all(abs(cell) < EXACT_IN_EXCEL for cell in present):
            return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    if kinds and kinds <= {dt.date, dt.datetime}:
        return pa.array([None if cell is None else _moment(cell) for cell in cells], pa.timestamp("us"))
    return pa.array([_text(cell) for cell in cells], pa.string())


def _is_whole(cell: Any) -> bool:
    return not isinstance(cell, bool) and isinstance(cell, int | float) and float(cell).is_integer()


def _moment(cell: dt.date) -> dt.datetime:
    return cell if isinstance(cell, dt.datetime) else dt.datetime.combine(cell, dt.time())


def _text(cell: Any) -> str | None:
    """Return a cell as Excel shows it without a number format: 7.0 is 7, 1.5e18 is written out."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if _is_whole(cell):
        return str(int(Decimal(repr(cell))))
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    return str(cell)


def _sheet_issue(name: str, sheet: str, choices: list[str], options: ReadOptions) -> tuple[Issue, ...]:
    if options.sheet or len(choices) < 2:
        return ()
    facts = {"file": name, "sheet": sheet, "n": len(choices), "sheets": _listed(choices), "choices": choices}
    template = N_("{file} has rows in {n} sheets ({sheets}); only '{sheet}' was read.")
    return (Issue("sheets", len(choices), template, facts, tuple(choices[:3]), "doubt", asks="sheet"),)


def _blank_issue(name: str, n_blank: int) -> tuple[Issue, ...]:
    if not n_blank:
        return ()
    template = N_("{file}: blank lines hold no row and are not counted: {n}.")
    return (Issue("blank_lines", n_blank, template, {"file": name, "n": n_blank}),)


def _renamed_issue(name: str, renamed: list[str]) -> tuple[Issue, ...]:
    if not renamed:
        return ()
    template = N_("{file}: columns with the same name were numbered: {columns}.")
    facts = {"file": name, "columns": ", ".join(renamed[:3])}
    return (Issue("renamed_columns", len(renamed), template, facts, tuple(renamed[:3]), "doubt"),)


def _rounded_issues(name: str, rounded: dict[str, list[str]]) -> tuple[Issue, ...]:
    template = N_(
        "{file}: numbers of 16 or more digits in '{column}': {n}. Excel keeps 15 digits, so different ids may have "
        "merged. Export them again as text."
    )
    return tuple(
        Issue(
            "ids_from_floats",
            len(long),
            template,
            {"file": name, "column": column, "n": len(long)},
            tuple(dict.fromkeys(long))[:3],
            "doubt",
        )
        for column, long in rounded.items()
    )


def _empty_issues(name: str, sheet: str, counts: CellCounts) -> tuple[Issue, ...]:
    found = []
    if counts.errors:
        template = N_("{file}: error cells such as #N/A in sheet '{sheet}' were read as empty: {n}.")
        facts = {"file": name, "sheet": sheet, "n": counts.errors}
        found.append(Issue("error_cells", counts.errors, template, facts, counts.examples, "doubt"))
    if counts.uncomputed:
        template = N_(
            "{file}: formulas without a stored result in sheet '{sheet}' were read as empty: {n}. Open the workbook "
            "in Excel and save it."
        )
        facts = {"file": name, "sheet": sheet, "n": counts.uncomputed}
        found.append(Issue("formulas_without_value", counts.uncomputed, template, facts, (), "doubt"))
    return tuple(found)


FORMATS = (Format("xlsx", SUFFIXES, _looks_like, read_xlsx),)
