"""Parquet, JSON lines, TREC files, and finding out which of them a file is."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recmetrics.errors import RecmetricsError
from recmetrics.formats import FORMATS
from recmetrics.load import guess_columns, load, read_source
from recmetrics.source import Source


def read(text: str | bytes, name: str, **options: Any) -> Source:
    data = text.encode() if isinstance(text, str) else text
    return read_source((name, data), **options)


def refused(text: str | bytes, name: str, **options: Any) -> RecmetricsError:
    with pytest.raises(RecmetricsError) as caught:
        read(text, name, **options)
    return caught.value


def parquet(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


RUN = "q1 Q0 d1 1 3.5 tag\nq1\tQ0  d2\t2 2.5 tag\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\n"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("x.csv", "user,item\nu,i\n", "csv"),
        ("x.tsv", "user\titem\nu\ti\n", "tsv"),
        ("x.unknown", "user,item\nu,i\n", "csv"),
        ("x", '{"user": 1}\n', "jsonl"),
        ("x.txt", RUN, "trec_run"),
        ("x.test", QRELS, "trec_qrels"),
        ("x.txt", "T1 E2 D1 1 4.3 R1\nT1 E1 D3 3 4.1 R1\n", "trec_run"),
        ("cwl.qrels", "T1 00 D1 1\nT1 00 D2 0\n", "trec_qrels"),
        ("u.data", "196\t242\t3\t881250949\n186\t302\t3\t891717742\n", "tsv"),
        ("x.csv", parquet(user=["u"]), "parquet"),
    ],
)
def test_the_kind_of_a_file_is_found_from_its_content(name: str, text: str | bytes, found: str) -> None:
    assert read(text, name).format == found


def test_an_unknown_kind_is_refused_as_a_format() -> None:
    error = refused("u,i\n", "x.svm", format="svmlight")
    assert error.kind == "format"
    assert "parquet" in str(error)


def test_every_format_has_a_suffix() -> None:
    assert all(entry.suffixes for entry in FORMATS.values())


# TREC


def test_a_run_has_six_fields_between_any_blanks_and_words_after_the_tag_are_passed_over() -> None:
    source = read("q1 Q0 d1 1 3.5 tag more words\nq2\tQ0\td2 2   -2.5 tag\n", "r.txt")
    assert source.kind == "run"
    assert source.table.column("item").to_pylist() == ["d1", "d2"]
    assert source.table.column("score").to_pylist() == ["3.5", "-2.5"]
    assert source.table.column("tag").to_pylist() == ["tag", "tag"]


def test_comments_in_judgments_are_counted() -> None:
    source = read("# comment here\n" + QRELS + "  # and here\n", "q.txt")
    assert source.table.column("label").to_pylist() == ["1", "0"]
    assert [(issue.code, issue.count) for issue in source.issues] == [("comment_lines", 2)]


def test_a_malformed_trec_line_is_named_by_its_line_in_the_file() -> None:
    run = refused("# made today\n\n" + RUN + "q2 Q0 d9 1 1.5\n", "r.txt", format="trec_run")
    assert (run.kind, run.facts["line"], run.facts["found"]) == ("malformed_line", 5, 5)
    qrels = refused(QRELS + "q2 0 d1 1 extra\n", "q.txt", format="trec_qrels")
    assert (qrels.kind, qrels.facts["line"], qrels.facts["found"]) == ("malformed_line", 3, 5)


def test_a_short_line_is_found_even_when_another_has_as_many_words_too_much() -> None:
    error = refused("q1 Q0 d1 1 3.5 tag extra\nq1 Q0 d2 2 2.5\n", "r.txt", format="trec_run")
    assert (error.kind, error.facts["line"]) == ("malformed_line", 2)


def test_a_trec_file_of_comments_only_is_refused() -> None:
    assert refused("# nothing\n", "q.txt", format="trec_qrels").kind == "format"


def test_quotation_marks_in_document_numbers_stay() -> None:
    source = read('q1 Q0 "d1 1 3.5 tag\nq1 Q0 d2 2 2.5 tag\n', "r.txt")
    assert source.table.column("item").to_pylist() == ['"d1', "d2"]


# JSON lines


def test_json_numbers_keep_their_digits() -> None:
    source = read('{"user":12345678901234567890,"item":7}\n{"user":1,"item":1234567890123456789}\n', "x.jsonl")
    assert [str(cell) for cell in source.table.column("user").to_pylist()] == ["12345678901234567890", "1"]
    assert [str(cell) for cell in source.table.column("item").to_pylist()] == ["7", "1234567890123456789"]


def test_dates_in_json_stay_as_written() -> None:
    assert read('{"user":"2020-01-01"}\n', "x.jsonl").table.column("user").to_pylist() == ["2020-01-01"]


def test_text_and_numbers_may_be_mixed_in_json_and_keys_may_be_absent() -> None:
    source = read('{"user":1,"item":"a"}\n\n{"user":"u2","score":0.5}\n', "x.jsonl")
    assert source.table.column("user").to_pylist() == ["1", "u2"]
    assert source.table.column("item").to_pylist() == ["a", None]
    assert source.n_rows == 2


def test_a_json_list_of_objects_is_read() -> None:
    source = read('[{"user": 1, "score": NaN},\n {"user": null, "score": 0.5}]', "x.json")
    assert source.table.column("user").to_pylist() == ["1", None]


@pytest.mark.parametrize(
    ("text", "line"),
    [('{"user":1}\n{"user":2\n', 2), ('{"user":1}\n[2]\n', 2), ('{"user":1}{"user":2}\n', 1), ('[{"user":1},\n', 2)],
)
def test_a_line_that_is_no_json_object_is_named(text: str, line: int) -> None:
    error = refused(text, "x.jsonl", format="jsonl")
    assert (error.kind, error.facts["line"]) == ("malformed_line", line)


def test_a_json_list_of_numbers_is_no_table() -> None:
    assert refused("[1, 2]", "x.json", format="jsonl").kind == "format"
    assert refused("[]", "x.json", format="jsonl").kind == "no_rows"


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ('{"user":1,"item":}', 18, "a value"),
        ("{'user':1}", 2, "double quotation marks"),
        ('{"user":1,}', 11, "double quotation marks"),
        ('{"user" 1}', 9, "colon"),
        ('{"user":1 "item":2}', 11, "comma"),
        ('{"user":1} x', 12, "follows the object"),
        ('{"user":"a}', 9, "has no end"),
        ('{"user":"a\tb"}', 11, "control character"),
        (r'{"user":"a\d"}', 11, "backslash"),
        ('{"user":1', 10, "middle of an object"),
        ('{"user":', 9, "middle of an object"),
    ],
)
def test_what_is_wrong_in_a_json_line_is_said_in_plain_words(line: str, place: int, words: str) -> None:
    error = refused('{"user":1}\n' + line + '\n{"user":3}\n', "x.jsonl")
    assert (error.kind, error.facts["line"], error.facts["place"]) == ("malformed_line", 2, place)
    assert words in str(error)
    assert not any(jargon in str(error) for jargon in ("Expecting", "delimiter", "property", "char "))


def test_an_object_over_several_lines_is_read_and_its_mistake_is_named_by_line() -> None:
    columns = '{\n "user": ["u1", "u2"],\n "score": [0.5, 1234567890123456789]\n}\n'
    assert read(columns, "x.json").table.to_pydict() == {"user": ["u1", "u2"], "score": ["0.5", "1234567890123456789"]}
    error = refused(columns.replace("],\n", "]\n"), "x.json")
    assert (error.kind, error.facts["line"]) == ("malformed_line", 3)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":', "\n["])
def test_deep_nesting_is_refused_before_a_parser_follows_it(opening: str) -> None:
    error = refused('{"user":1}\n{"user":' + opening * 100_000, "x.jsonl")
    assert error.kind == "format"
    assert "deep" in str(error)
    assert error.facts["line"] == (2 if opening != "\n[" else 102)  # one record on line 2, 100 lists on 3 … 102


def test_brackets_inside_texts_nest_nothing() -> None:
    text = "".join(f'{{"user":"{i}","title":"[[[{{ \\"[["}}\n' for i in range(300))
    assert read(text, "x.jsonl").n_rows == 300


def test_a_key_that_occurs_again_is_a_doubt() -> None:
    found = read('{"user":1,"score":0.5}\n{"user":2,"score":0.5,"score":0.75}\n', "x.jsonl")
    assert found.table.column("score").to_pylist() == ["0.5", "0.75"]
    (issue,) = found.issues
    assert (issue.code, issue.count, issue.severity) == ("repeated_keys", 1, "doubt")
    assert (issue.facts["keys"], issue.facts["lines"]) == ("'score'", "2")


@pytest.mark.parametrize("big", ["3", "12345678901234567890"], ids=["fast", "exact"])
def test_an_object_of_lists_is_read_as_columns(big: str) -> None:
    found = read('{"user":["u1","u2","u3"],"item":[1,2,' + big + '],"label":[true,false,null]}', "x.json")
    assert [str(cell) for cell in found.table.column("item").to_pylist()] == ["1", "2", big]
    assert found.table.column("label").to_pylist() == [True, False, None]
    assert found.table.column("user").to_pylist() == ["u1", "u2", "u3"]


def test_an_object_of_lists_of_different_lengths_is_refused() -> None:
    error = refused('{"user":["u1","u2"],"score":[0.5]}', "x.json")
    assert (error.kind, error.facts["lengths"]) == ("format", "'user' 2, 'score' 1")


def test_what_pandas_writes_when_it_is_told_nothing_is_read() -> None:
    frame = pa.table({"user": ["u1", "u2"], "item": [7, 8], "score": [0.5, 0.25]}).to_pandas()
    found = read(frame.to_json(), "x.json").table.to_pydict()
    assert found == {"user": ["u1", "u2"], "item": ["7", "8"], "score": ["0.5", "0.25"]}


def test_records_in_a_wrapper_are_the_rows() -> None:
    found = read('{"data":[{"user":"u1","score":1},{"user":"u2","score":2}]}', "x.json")
    assert found.table.column("user").to_pylist() == ["u1", "u2"]


def test_lists_in_json_keep_their_digits_and_texts() -> None:
    line = '{"user":1,"items":[12345678901234567890,2],"scores":[0.10,3e-1],"labels":[true,null]}\n'
    found = read(line + '{"user":2,"items":[],"scores":null,"labels":[]}\n', "x.jsonl").table
    assert found.to_pydict() == {
        "user": ["1", "1"],
        "items": ["12345678901234567890", "2"],
        "scores": ["0.10", "3e-1"],
        "labels": [True, None],
    }
    dates = read('{"user":1,"items":["2020-01-01","2020-01-02"],"scores":[1,2]}\n', "x.jsonl").table
    assert dates.column("items").to_pylist() == ["2020-01-01", "2020-01-02"]


def test_records_in_lists_of_json_keep_their_digits() -> None:
    line = '{"user":1,"recs":[{"item":12345678901234567890,"score":0.5},{"item":2}]}\n'
    assert read(line, "x.jsonl").table.to_pydict() == {
        "user": ["1", "1"],
        "item": ["12345678901234567890", "2"],
        "score": ["0.5", None],
    }


def test_records_and_mixed_cells_in_json_are_kept_but_are_no_values() -> None:
    text = '{"user":1,"where":{"city":"x"},"odd":["a"]}\n{"user":"b","where":null,"odd":"a"}\n'
    found = read(text, "x.jsonl")
    assert found.n_rows == 2
    assert guess_columns(found).ignored == ("where", "odd")


def test_half_a_character_in_json_is_refused() -> None:
    error = refused('{"user":"a\\ud83d"}\n', "x.jsonl")
    assert (error.kind, error.facts["column"], error.facts["found"]) == ("encoding", "user", "\\ud83d")
    assert refused('{"a\\ud83d":1}\n', "x.jsonl").kind == "encoding"


# Parquet


def test_parquet_keeps_its_types() -> None:
    source = read(parquet(user=pa.array([1]), score=pa.array([0.5], pa.float32())), "x.parquet")
    assert [str(column.type) for column in source.table.columns] == ["int64", "float"]


def test_a_damaged_parquet_file_is_refused_in_one_sentence() -> None:
    whole = parquet(user=[1, 2], score=[0.5, 0.7])
    for broken in (whole[:-9], whole[:40], b"PAR1", b"no parquet at all\n"):
        error = refused(broken, "x.parquet")
        assert error.kind == "format"
        assert "\n" not in str(error)


def test_columns_of_no_use_are_passed_over_and_refused_only_when_they_are_chosen() -> None:
    source = read(
        parquet(
            user=["u1", "u2"],
            label=[1, 0],
            score=[0.5, 0.25],
            nothing=pa.nulls(2),
            vectors=[[1.0], [2.0]],
            raw=pa.array([b"\xff", b"\xfe"]),
            clock=pa.array([1, 2], pa.time32("s")),
        ),
        "x.parquet",
    )
    assert guess_columns(source).ignored == ("nothing", "vectors", "raw", "clock")
    assert load(source, columns={"item": "nothing"}).n_items == 0
    assert np.isnan(load(source, columns={"time": "clock"}).values["time"]).all()
    for column, kind in (("vectors", "format"), ("raw", "encoding")):
        with pytest.raises(RecmetricsError) as caught:
            load(source, columns={"item": column})
        assert caught.value.kind == kind


def test_the_cap_on_rows_is_checked_in_the_footer() -> None:
    assert refused(parquet(user=[1, 2]), "x.parquet", max_rows=1).kind == "too_large"
    assert refused(parquet(user=pa.array([], pa.int64())), "x.parquet").kind == "no_rows"
