"""Text tables: encoding, delimiter, decimal sign, header, blank and malformed lines."""

from typing import Any

import pytest

from recmetrics.errors import RecmetricsError
from recmetrics.load import read_source
from recmetrics.source import Source

HEADER = "user,item,label,score\n"


def read(text: str | bytes, name: str = "a.csv", **options: Any) -> Source:
    data = text.encode() if isinstance(text, str) else text
    return read_source((name, data), **options)


def refused(text: str | bytes, name: str = "a.csv", **options: Any) -> RecmetricsError:
    with pytest.raises(RecmetricsError) as caught:
        read(text, name, **options)
    return caught.value


def cells(source: Source) -> list[list[str]]:
    return [list(row.values()) for row in source.table.to_pylist()]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    source = read("user,item,label,score\nu1,a,1,0.5\nu2,b,0,0.25\n".replace(",", delimiter))
    assert source.delimiter == delimiter
    assert cells(source) == [["u1", "a", "1", "0.5"], ["u2", "b", "0", "0.25"]]


def test_any_run_of_blanks_separates_fields_where_nothing_else_does() -> None:
    source = read("user item label score\nu1   a 1\t0.5\n  u2 b 0 0.25  \n")
    assert source.columns == ("user", "item", "label", "score")
    assert cells(source) == [["u1", "a", "1", "0.5"], ["u2", "b", "0", "0.25"]]


def test_a_comma_inside_cells_of_a_semicolon_table_is_a_decimal_sign() -> None:
    assert read("user;item;label;score\nu1;a;1;0,5\nu2;b;0;0,25\n").decimal == ","
    assert read("user;item;label;score\nu1;a;1;0.5\n").decimal == "."


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-32", "utf-32"),
    ],
)
def test_unicode_is_read_with_and_without_a_mark(encoding: str, named: str) -> None:
    source = read((HEADER + "张三,a,1,0.5\nu2,b,0,1\nu3,c,0,1\n").encode(encoding))
    assert source.encoding == named
    assert source.columns == ("user", "item", "label", "score")
    assert cells(source)[0] == ["张三", "a", "1", "0.5"]


def test_gb18030_is_found_and_said() -> None:
    source = read("用户ID,商品ID,是否点击,预测分数,城市\nu1,a,1,0.9,北京\n".encode("gb18030"))
    assert source.columns == ("用户ID", "商品ID", "是否点击", "预测分数", "城市")
    assert cells(source)[0][4] == "北京"
    assert [(issue.code, issue.facts["encoding"]) for issue in source.issues] == [("encoding", "gb18030")]


def test_latin_1_is_the_last_resort_and_a_doubt() -> None:
    source = read((HEADER + "Müller,é1,1,0.5\nu2,b,0,1\n").encode("latin-1"))
    assert cells(source)[0][:2] == ["Müller", "é1"]
    assert [(issue.code, issue.severity) for issue in source.issues] == [("encoding", "doubt")]


def test_a_broken_byte_in_utf_8_is_refused_with_its_line() -> None:
    error = refused((HEADER + "张三张三张三,a,1,0.5\n").encode() + b"\xff,b,0,1\n")
    # 22 bytes of header, 18 + 9 of the first row, then the broken byte.
    assert (error.kind, error.facts["line"], error.facts["position"]) == ("encoding", 3, 50)


def test_line_ends_of_all_systems_are_read() -> None:
    unix = cells(read(HEADER + "u1,a,1,0.5\nu2,b,0,1\n"))
    assert cells(read((HEADER + "u1,a,1,0.5\nu2,b,0,1\n").replace("\n", "\r\n"))) == unix
    assert cells(read((HEADER + "u1,a,1,0.5\nu2,b,0,1\n").replace("\n", "\r"))) == unix
    assert cells(read(HEADER + "u1,a,1,0.5\nu2,b,0,1")) == unix


def test_blank_lines_are_no_rows_and_are_counted() -> None:
    source = read("\n" + HEADER + "u1,a,1,0.5\r\n\r\n   \nu2,b,0,1\n\n")
    assert len(cells(source)) == 2
    assert [issue.code for issue in source.issues] == ["blank_lines"]
    crlf = read((HEADER + "u1,a,1,0.5\n\nu2,b,0,1\n").replace("\n", "\r\n"))
    assert [(issue.code, issue.count) for issue in crlf.issues] == [("blank_lines", 1)]


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends() -> None:
    source = read(HEADER + '"u\n1","a,""b""",1,0.5\nu2,b,0,1\n')
    assert cells(source)[0] == ["u\n1", 'a,"b"', "1", "0.5"]
    assert source.n_rows == 2


def test_a_line_with_too_few_or_too_many_fields_is_named() -> None:
    few = refused(HEADER + "u1,a,1\nu2,b,0,1\n")
    assert (few.kind, few.facts["line"], few.facts["found"], few.facts["expected"]) == ("malformed_line", 2, 3, 4)
    many = refused(HEADER + '"u\n1",a,1,0.5\nu2,b,0,1,9\nu3,c,0,1\nu4,d\n')
    # The quoted line end makes the second record begin in line 4 of the file.
    assert (many.facts["line"], many.facts["found"], many.facts["count"]) == (4, 5, 2)


def test_an_open_quotation_mark_is_named() -> None:
    error = refused(HEADER + '"u1,a,1,0.5\nu2,b,0,1\n')
    assert (error.kind, error.facts["line"]) == ("malformed_line", 2)
    assert "quotation mark" in str(error)


@pytest.mark.parametrize("text", ["u1,a,1,0.5\nu2,b,0,0.7\n", "1,2,1,0.5\n1,3,0,0.7\n", "u1,video,1,0.5\nu2,b,0,0.7\n"])
def test_a_first_line_with_numbers_is_data(text: str) -> None:
    source = read(text)
    assert source.has_header is False
    assert source.columns == ("0", "1", "2", "3")
    assert source.n_rows == 2


def test_the_header_can_be_said() -> None:
    assert read("alpha,beta\ngamma,delta\n", header=False).n_rows == 2
    assert read("1,2\n3,4\n", header=True).columns == ("1", "2")


def test_repeated_column_names_are_numbered_and_said() -> None:
    source = read("user,item,label,score,label\nu1,a,1,0.5,0\n")
    assert source.columns == ("user", "item", "label", "score", "label (2)")
    assert [issue.code for issue in source.issues] == ["renamed_columns"]


def test_a_delimiter_at_the_end_of_each_line_makes_no_column() -> None:
    assert read("user,item,label,score,\nu1,a,1,0.5,\n").columns == ("user", "item", "label", "score")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"", "format"),
        (b"\n \n", "format"),
        (b"one column\nonly\n", "format"),
        (b"\x00\x01\x02\x03 abc", "format"),
        (b"\x1f\x8b\x08 packed", "format"),
        (b"user,item,label,score\n", "no_rows"),
        (b"user,item,label,score", "no_rows"),
    ],
)
def test_what_is_no_table_is_refused(text: bytes, kind: str) -> None:
    assert refused(text).kind == kind


def test_the_cap_on_rows_refuses_and_names_it() -> None:
    text = HEADER + "u1,a,1,0.5\nu2,b,0,1\n"
    assert read(text, max_rows=2).n_rows == 2
    error = refused(text, max_rows=1)
    assert (error.kind, error.facts["cap"]) == ("too_large", 1)
    quoted = refused(HEADER + '"u1",a,1,0.5\nu2,b,0,1\n', max_rows=1)
    assert (quoted.kind, quoted.facts["rows"]) == ("too_large", 2)


def test_a_cell_longer_than_the_usual_block_is_read() -> None:
    source = read(HEADER + f"{'u' * 300_000},a,1,0.5\nu2,b,0,1\n")
    assert len(cells(source)[0][0]) == 300_000
