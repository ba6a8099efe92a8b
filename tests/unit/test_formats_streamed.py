"""A large table read in one pass is the table read as a whole; what one pass cannot tell gets a closer look."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recmetrics.config import EvalConfig
from recmetrics.errors import RecmetricsError
from recmetrics.formats import delimited
from recmetrics.load import read_source
from recmetrics.raw import SAMPLE_BYTES
from recmetrics.source import Source

N = 6000
HEADER = "user,item,label,score,city"
ROWS = [f"u{i % 97},i{i},{i % 3 % 2},0.{i:05d},north" for i in range(N)]


def table(*, header: str = HEADER, rows: list[str] = ROWS, end: str = "\n") -> str:
    return end.join([header, *rows]) + end


def changed(row: int, text: str) -> list[str]:
    """Return the rows with one of them replaced."""
    return [*ROWS[:row], text, *ROWS[row + 1 :]]


def with_line(row: int, text: str) -> list[str]:
    """Return the rows with a line before one of them."""
    return [*ROWS[:row], text, *ROWS[row:]]


FAR = N - 10  # beyond the sample
QUOTED = [f'"u{i % 97}","i{i}",{i % 3 % 2},0.{i:05d},"no\nrth"' for i in range(N)]

ONE_PASS: dict[str, bytes] = {
    "plain": table().encode(),
    "no line end at the end": table().encode()[:-1],
    "CRLF": table(end="\r\n").encode(),
    "byte order mark": table().encode("utf-8-sig"),
    "UTF-16": table().encode("utf-16"),
    "GB18030": table(rows=[row.replace("north", "北方城市") for row in ROWS]).encode("gb18030"),
    "semicolons and decimal commas": table().replace(",", ";").replace("0.", "0,").encode(),
    "blank lines": table(rows=with_line(FAR, "\n\n")).encode(),
    "quoted header": table(header='"user","item","label","score","city"').encode(),
    "quoted cells with line ends": table(rows=QUOTED).encode(),
    "quoted cells and blank lines": table(rows=[*QUOTED[:50], "", "", *QUOTED[50:]]).encode(),
}
CLOSER_LOOK: dict[str, bytes] = {
    "the first quote beyond the sample": table(rows=changed(FAR, 'u1,"a,b",1,0.5,"no\nrth"')).encode(),
    "the first odd byte beyond the sample": table(rows=changed(FAR, "u1,i1,1,0.5,Orléans")).encode("latin-1"),
    "CR alone": table(end="\r").encode(),
    "lines of blanks": table(rows=with_line(FAR, "   ")).encode(),
    "blank lines first": b"\n\n" + table().encode(),
    "any blanks between fields": table().replace(",", "  ").encode(),
    "another UTF-8 character cut by a block": table(rows=[row.replace("north", "北" * 7) for row in ROWS]).encode(),
}


@pytest.fixture
def as_a_whole(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Source]:
    """Return the reader that never takes one pass."""

    def read(data: bytes) -> Source:
        with monkeypatch.context() as patch:
            patch.setattr(delimited, "_in_one_pass", lambda *_: None)
            return read_source(("a.csv", data))

    return read


def told(source: Source) -> list[tuple[str, int]]:
    return [(issue.code, issue.count) for issue in source.issues]


@pytest.mark.parametrize("name", [*ONE_PASS, *CLOSER_LOOK])
def test_one_pass_gives_what_the_whole_gives(name: str, as_a_whole: Callable[[bytes], Source]) -> None:
    data = {**ONE_PASS, **CLOSER_LOOK}[name]
    assert len(data) > SAMPLE_BYTES
    found, expected = read_source(("a.csv", data)), as_a_whole(data)
    assert found.table.equals(expected.table)
    assert (found.encoding, found.delimiter, found.decimal, found.has_header) == (
        expected.encoding,
        expected.delimiter,
        expected.decimal,
        expected.has_header,
    )
    assert told(found) == told(expected)


@pytest.mark.parametrize("name", ONE_PASS)
def test_a_sound_table_is_read_in_one_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_as_a_whole", lambda *_: pytest.fail("looked at as a whole"))
    assert read_source(("a.csv", ONE_PASS[name])).n_rows == N


def test_blank_lines_are_counted_beside_quoted_cells_with_line_ends() -> None:
    assert told(read_source(("a.csv", ONE_PASS["quoted cells and blank lines"]))) == [("blank_lines", 2)]
    assert told(read_source(("a.csv", ONE_PASS["quoted cells with line ends"]))) == []


def test_a_line_with_too_many_fields_far_down_is_named() -> None:
    with pytest.raises(RecmetricsError) as caught:
        read_source(("a.csv", table(rows=changed(FAR, "u1,i1,1,0.5,north,more")).encode()))
    assert caught.value.kind == "malformed_line"
    assert caught.value.facts["line"] == FAR + 2  # the header is line 1


def test_binary_data_far_down_is_refused() -> None:
    with pytest.raises(RecmetricsError) as caught:
        read_source(("a.csv", table(rows=changed(FAR, "u1,\x00,1,0.5,north")).encode()))
    assert caught.value.kind == "format"


def test_a_header_that_the_convention_denies_is_a_row() -> None:
    assert read_source(("a.csv", ONE_PASS["plain"]), config=EvalConfig(header_line="no")).n_rows == N + 1
