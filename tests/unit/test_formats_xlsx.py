"""Excel workbooks: which sheet is read, what cells become, and what is refused. The workbooks are openpyxl's."""

import contextlib
import datetime as dt
import io
import random
import time
import zipfile
from typing import Any

import numpy as np
import openpyxl  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset, Issue
from recmetrics.errors import RecmetricsError
from recmetrics.load import load, read_source
from recmetrics.source import Source

HEADER: list[Any] = ["user_id", "item_id", "label", "score"]
ROWS: list[list[Any]] = [
    HEADER,
    ["u1", "i1", 1, 0.9],
    ["u1", "i2", 0, 0.25],
    ["u2", "i1", 0, 0.5],
    ["u2", "i3", 1, 0.75],
]


def workbook(*, hidden: tuple[str, ...] = (), **sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        if title in hidden:
            sheet.sheet_state = "hidden"
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def read(data: bytes, name: str = "w.xlsx", **config: Any) -> Source:
    return read_source((name, data), config=EvalConfig(**config))


def read_rows(*rows: list[Any], **config: Any) -> Source:
    return read(workbook(Sheet=list(rows)), **config)


def refused(data: bytes, name: str = "w.xlsx", **config: Any) -> RecmetricsError:
    with pytest.raises(RecmetricsError) as caught:
        read(data, name, **config)
    return caught.value


def issue(source: Source, code: str) -> Issue:
    return next(found for found in source.issues if found.code == code)


def codes(source: Source) -> list[str]:
    return [found.code for found in source.issues]


def repacked(data: bytes, replace: dict[str, bytes]) -> bytes:
    """Return the package with some of its parts replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, replace.get(name, old.read(name)))
    return buffer.getvalue()


def test_a_workbook_gives_the_same_data_as_its_csv() -> None:
    text = "\n".join(",".join(map(str, row)) for row in ROWS)
    ours, theirs = load(("m.xlsx", workbook(Data=ROWS))), load(("m.csv", text.encode()))
    assert ours.users.tolist() == theirs.users.tolist() == ["u1", "u2"]
    assert ours.items.tolist() == theirs.items.tolist()
    np.testing.assert_array_equal(ours.user, theirs.user)
    np.testing.assert_array_equal(ours.item, theirs.item)
    np.testing.assert_array_equal(ours.label, theirs.label)
    np.testing.assert_array_equal(ours.scores["score"], theirs.scores["score"])


def test_a_workbook_on_disk_reads_as_one_in_memory(tmp_path: Any) -> None:
    path = tmp_path / "w.xlsx"
    path.write_bytes(workbook(Data=ROWS))
    source = read_source(path)
    assert source.format == "xlsx"
    assert source.table.equals(read(path.read_bytes()).table)


def test_cells_keep_their_kind() -> None:
    day, moment = dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 3, 4, 5, 6)
    source = read_rows(["n", "x", "yes", "day"], [1, 0.5, True, day.date()], [2, 3, False, moment])
    assert source.table.to_pydict() == {"n": [1, 2], "x": [0.5, 3.0], "yes": [True, False], "day": [day, moment]}
    assert source.table.schema.types == [pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us")]
    assert source.issues == ()


def test_ids_written_as_text_stay_letter_by_letter() -> None:
    source = read_rows(["user_id", "score"], ["001", 1], ["1234567890123456789", 2])
    assert source.table.column("user_id").to_pylist() == ["001", "1234567890123456789"]
    assert source.issues == ()


def test_ids_of_nineteen_digits_written_as_numbers_are_doubted() -> None:
    source = read_rows(["user_id", "score"], [1234567890123450000, 1], [7, 2])
    assert source.table.column("user_id").to_pylist() == ["1234567890123450000", "7"]
    doubt = issue(source, "ids_from_floats")
    assert (doubt.count, doubt.severity, doubt.facts["column"]) == (1, "doubt", "user_id")


def test_numbers_among_text_lose_no_digit_and_gain_none() -> None:
    source = read_rows(["item_id", "score"], ["a", 1], [7, 2], [0.5, 3], [True, 4])
    assert source.table.column("item_id").to_pylist() == ["a", "7", "0.5", "true"]


def test_a_sheet_without_header_names_columns_by_their_places() -> None:
    source = read_rows(*ROWS[1:])
    assert source.has_header is False
    assert (source.columns, source.n_rows) == (("0", "1", "2", "3"), 4)


def test_the_caller_says_whether_there_is_a_header() -> None:
    source = read_source(("w.xlsx", workbook(Data=ROWS)), header=False)
    assert source.n_rows == 5
    assert source.table.column("2").to_pylist() == ["label", "1", "0", "0", "1"]


def test_rows_in_two_sheets_ask_which_one_is_meant() -> None:
    data = workbook(Notes=[["made by me"]], First=ROWS, Second=ROWS[:3], Empty=[])
    source = read(data)
    assert source.n_rows == 4
    doubt = issue(source, "sheets")
    assert (doubt.asks, doubt.severity, doubt.facts["sheet"]) == ("sheet", "doubt", "First")
    assert list(doubt.facts["choices"]) == ["Notes", "First", "Second"]
    chosen = read(data, sheet="Second")
    assert (chosen.n_rows, codes(chosen)) == (2, [])


def test_a_hidden_sheet_counts_too() -> None:
    source = read(workbook(hidden=("Old",), Old=ROWS[:3], New=ROWS))
    assert (source.n_rows, issue(source, "sheets").facts["sheet"]) == (2, "Old")


def test_an_unknown_sheet_is_refused_with_the_nearest_name() -> None:
    error = refused(workbook(Train=ROWS, Test=ROWS), sheet="test")
    assert (error.kind, error.facts["likely"], error.facts["sheets"]) == ("format", "Test", "Train, Test")


def test_blank_rows_and_columns_around_the_table_are_no_data() -> None:
    padded = [[], [], *[[None, *row] for row in ROWS[:3]], [], ["  "], *[[None, *row] for row in ROWS[3:]]]
    source = read(workbook(Sheet=padded))
    assert issue(source, "blank_lines").count == 2
    assert (source.columns, source.n_rows) == (tuple(HEADER), 4)


def test_names_are_trimmed_and_repeated_ones_numbered() -> None:
    source = read_rows([" user_id ", "score", "score", None], ["a", 1, 2, None], ["b", 3, 4, "stray"])
    assert source.columns == ("user_id", "score", "score (2)", "column 4")
    assert issue(source, "renamed_columns").examples == ("score (2)",)


def test_error_cells_are_empty_and_counted() -> None:
    source = read_rows(["user_id", "score"], ["a", 0.5], ["b", "#N/A"], ["c", "#DIV/0!"])
    assert source.table.column("score").to_pylist() == [0.5, None, None]
    told = issue(source, "error_cells")
    assert (told.count, told.examples) == (2, ("#N/A", "#DIV/0!"))


def test_formulas_that_were_never_computed_are_counted() -> None:
    source = read_rows(["user_id", "score"], ["a", 0.5], ["b", "=1+1"])
    assert source.table.column("score").to_pylist() == [0.5, None]
    assert issue(source, "formulas_without_value").count == 1


def test_merged_cells_are_not_filled_in() -> None:
    book = openpyxl.Workbook()
    for row in (["user_id", "score"], ["a", 1], [None, 2], ["b", 3]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    buffer = io.BytesIO()
    book.save(buffer)
    assert read(buffer.getvalue()).table.column("user_id").to_pylist() == ["a", None, "b"]


def test_no_rows_and_too_many_rows_are_refused() -> None:
    assert refused(workbook(Data=[HEADER])).kind == "no_rows"
    assert refused(workbook(Data=[])).kind == "no_rows"
    with pytest.raises(RecmetricsError) as caught:
        read_source(("w.xlsx", workbook(Data=ROWS)), max_rows=3)
    assert (caught.value.kind, caught.value.facts["rows"]) == ("too_large", 4)


def test_a_cut_off_workbook_is_refused() -> None:
    data = workbook(Data=ROWS)
    assert refused(data[: len(data) // 2]).kind == "format"


def test_other_packages_are_refused_as_what_they_are() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("word/document.xml", "<w/>")
    assert "which is not read" in str(refused(buffer.getvalue(), "letter.docx"))
    assert "without a workbook" in str(refused(buffer.getvalue(), "letter.xlsx"))
    assert "XLS file" in str(refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 999, "locked.xlsx"))


def test_text_that_is_only_named_a_workbook_is_read_as_text() -> None:
    assert read(b"user_id,score\na,1\nb,2\n").format == "csv"


def test_a_workbook_that_unpacks_to_too_much_is_refused() -> None:
    n_blanks = 123_456_789
    bomb = repacked(workbook(Data=ROWS), {"xl/worksheets/sheet1.xml": b" " * n_blanks})
    error = refused(bomb)
    assert (error.kind, error.facts["ratio"]) == ("too_large", 200)
    told = len(bomb).to_bytes(4, "little")
    false = bomb.replace(n_blanks.to_bytes(4, "little"), told)
    assert false != bomb
    assert refused(false).kind == "too_large"


def test_a_stray_cell_in_the_last_corner_is_refused_before_it_fills_the_memory() -> None:
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    book.active["XFD1048576"] = 1
    buffer = io.BytesIO()
    book.save(buffer)
    error = refused(buffer.getvalue())
    assert (error.kind, error.facts["row"], error.facts["column"]) == ("too_large", 1_048_576, 16_384)


@pytest.mark.parametrize("packed", [True, False])
def test_damaged_bytes_are_read_or_refused_and_nothing_else(packed: bool) -> None:
    chance = random.Random(7)
    data = workbook(Data=ROWS)
    sheet = zipfile.ZipFile(io.BytesIO(data)).read("xl/worksheets/sheet1.xml")
    for _ in range(200):
        damaged = bytearray(data if packed else sheet)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        changed = bytes(damaged) if packed else repacked(data, {"xl/worksheets/sheet1.xml": bytes(damaged)})
        with contextlib.suppress(RecmetricsError):
            assert isinstance(load(("w.xlsx", changed)), Dataset)


@pytest.mark.parametrize("filling", [b' r="A1"' * 100_000, b"<f/>" + b" " * 500_000, b'<c t="e"' * 50_000])
def test_a_sheet_made_to_be_slow_is_refused_or_read_at_once(filling: bytes) -> None:
    data = workbook(Data=ROWS)
    sheet = zipfile.ZipFile(io.BytesIO(data)).read("xl/worksheets/sheet1.xml")
    hostile = repacked(data, {"xl/worksheets/sheet1.xml": sheet.replace(b"</sheetData>", filling + b"</sheetData>")})
    began = time.perf_counter()
    with contextlib.suppress(RecmetricsError):
        read(hostile)
    assert time.perf_counter() - began < 5  # a search that goes back over the text takes minutes
