"""Parquet files of strangers: every type that holds ids, labels and scores; damage; files larger than memory."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recmetrics.errors import RecmetricsError
from recmetrics.formats.parquet import MAX_COLUMNS
from recmetrics.load import load, read_source
from recmetrics.source import Source


def written(table: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def read(data: bytes, name: str = "x.parquet", **options: Any) -> Source:
    return read_source((name, data), **options)


def refused(data: bytes, **options: Any) -> RecmetricsError:
    with pytest.raises(RecmetricsError) as caught:
        read(data, **options)
    error = caught.value
    # One sentence in plain words.
    for jargon in ("\n", "thrift", "Thrift", "C++", "Arrow", "footer", "deserialize", "Invalid", "magic"):
        assert jargon not in str(error)
    assert str(error).startswith("x.parquet")
    return error


ROWS = 2000
SCORES = np.random.default_rng(0).random(ROWS)
TABLE = pa.table(
    {"user": [f"u{i}" for i in range(ROWS)], "item": ["i"] * ROWS, "label": [0, 1] * 1000, "score": SCORES}
)
WHOLE = written(TABLE)


# Damage


@pytest.mark.parametrize(
    "data", [WHOLE[:-9], WHOLE[:40], b"PAR1", b"PAR1PAR1", WHOLE + b"more"], ids=["tail", "head", "4", "8", "more"]
)
def test_a_file_that_is_cut_off_or_continued_is_refused_by_its_end(data: bytes) -> None:
    error = refused(data)
    assert (error.kind, error.facts["size"]) == ("format", len(data))


def test_a_file_that_is_only_named_like_one_is_refused() -> None:
    assert "is none" in str(refused(b"user,item\nu,i\n" * 10))


@pytest.mark.parametrize("at", [-8, -5], ids=["shorter", "longer"])
def test_a_damaged_list_of_columns_is_refused(at: int) -> None:
    data = bytearray(WHOLE)
    data[at] ^= 0x7F
    assert refused(bytes(data)).kind == "format"


@pytest.mark.parametrize(("at", "name"), [(slice(-4, None), "footer"), (slice(0, 4), "both")])
def test_an_encrypted_file_is_refused_as_one(at: slice, name: str) -> None:
    data = bytearray(WHOLE)
    data[at] = b"PARE"
    assert "encrypted" in str(refused(bytes(data)))


def test_an_unknown_compression_is_refused_by_its_column_and_name() -> None:
    # In the footer a column's path is followed by its codec: field type 0x15, zigzag number; SNAPPY = 1, LZO = 3.
    assert WHOLE.count(b"score\x15\x02\x16") == 1
    error = refused(WHOLE.replace(b"score\x15\x02\x16", b"score\x15\x06\x16"))
    assert (error.kind, error.facts["column"], error.facts["codec"]) == ("format", "score", " (LZO)")
    error = refused(WHOLE.replace(b"score\x15\x02\x16", b"score\x15\x7e\x16"))  # codec 63 does not exist
    assert error.kind == "format"


def test_a_damaged_page_is_refused_with_its_column_and_rows() -> None:
    data = bytearray(written(TABLE, row_group_size=500, use_dictionary=False))
    chunk = pq.ParquetFile(io.BytesIO(bytes(data))).metadata.row_group(2).column(3)
    start = chunk.data_page_offset
    data[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    error = refused(bytes(data))
    assert (error.kind, error.facts["column"], error.facts["first"], error.facts["last"]) == (
        "format",
        "score",
        1001,
        1500,
    )


def test_damage_that_decodes_to_other_numbers_is_found_by_the_checksum() -> None:
    data = bytearray(written(TABLE, write_page_checksum=True, compression="none", use_dictionary=False))
    chunk = pq.ParquetFile(io.BytesIO(bytes(data))).metadata.row_group(0).column(3)
    data[chunk.data_page_offset + chunk.total_compressed_size - 8] ^= 1
    assert refused(bytes(data)).facts["column"] == "score"


# Caps


def test_a_file_of_too_many_columns_is_refused_before_it_is_read() -> None:
    data = written(pa.table({f"c{i}": [0] for i in range(MAX_COLUMNS + 1)}))
    error = refused(data)
    assert (error.kind, error.facts["columns"], error.facts["cap"]) == ("too_large", MAX_COLUMNS + 1, MAX_COLUMNS)


def test_a_file_that_unpacks_to_more_than_half_the_free_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # A million equal numbers are a few hundred bytes on disk and 8 MB in memory.
    data = written(pa.table({"score": np.zeros(1_000_000)}), use_dictionary=False, compression="zstd")
    size = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).total_byte_size
    assert (len(data) < 20_000, size > 8_000_000) == (True, True)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2 * size))
    assert read(data).n_rows == 1_000_000
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2 * size - 2))
    error = refused(data)
    assert (error.kind, error.facts["size"], error.facts["free"]) == (
        "too_large",
        f"{size / 1e6:.1f}",
        f"{(2 * size - 2) / 1e6:.1f}",
    )


def test_a_packed_parquet_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet.gz"
    with pa.CompressedOutputStream(str(path), "gzip") as out:
        out.write(WHOLE)
    assert read_source(path).n_rows == ROWS


# Columns


def test_an_unnamed_index_of_pandas_is_left_out_and_told() -> None:
    frame = TABLE.to_pandas()
    frame.index = np.arange(ROWS) / 7  # fractions: a score by its content, were it not for its name
    table = pa.Table.from_pandas(frame[["user", "item", "label"]])
    assert "__index_level_0__" in table.column_names
    found = read(written(table))
    assert found.columns == ("user", "item", "label")
    assert [(issue.code, issue.count) for issue in found.issues] == [("index_column", 1)]


def test_a_named_index_of_pandas_is_a_column_like_any_other() -> None:
    frame = TABLE.to_pandas().set_index("user")
    found = load(("x.parquet", written(pa.Table.from_pandas(frame))))
    assert found.user is not None
    assert found.users[found.user[:2]].tolist() == ["u0", "u1"]
    assert not [issue for issue in found.issues if issue.code == "index_column"]


def test_columns_of_the_same_name_are_numbered_and_told() -> None:
    table = pa.table([["u"], [1], [0.5], [0.25]], names=["user", "label", "score", "score"])
    found = read(written(table))
    assert found.columns == ("user", "label", "score", "score (2)")
    assert [(issue.code, issue.examples) for issue in found.issues] == [("renamed_columns", ("score (2)",))]


@pytest.mark.parametrize("table", [pa.table({}), TABLE.slice(0, 0)], ids=["columns", "rows"])
def test_a_file_without_columns_or_rows_is_refused(table: Any) -> None:
    assert refused(written(table)).kind == "no_rows"


# Types, end to end


def loaded(**columns: Any) -> Any:
    return load(("x.parquet", written(pa.table({**BASE, **columns}))))


BASE: dict[str, Any] = {
    "user": ["u1", "u1", "u2", "u2"],
    "item": ["a", "b", "a", "c"],
    "label": [1, 0, 0, 1],
    "score": [0.5, 0.25, 0.125, 0.75],
}
IDS = ["7", "8", "7", "9"]


def as_type(values: list[Any], kind: Any) -> Any:
    return pa.array(values, kind)


IDS_OF_TYPE = {
    "dictionary of text": (pa.array(IDS).dictionary_encode(), IDS),
    "dictionary of numbers": (pa.array([7, 8, 7, 9]).dictionary_encode(), IDS),
    "large_string": (as_type(IDS, pa.large_string()), IDS),
    "string_view": (as_type(IDS, pa.string_view()), IDS),
    "binary": (as_type([b"7", b"8", b"7", "é".encode()], pa.binary()), ["7", "8", "7", "é"]),
    "fixed binary": (as_type([b"7a", b"8a", b"7a", b"9a"], pa.binary(2)), ["7a", "8a", "7a", "9a"]),
    "int8": (as_type([7, 8, 7, 9], pa.int8()), IDS),
    "uint64": (
        as_type([2**64 - 1, 2**63, 2**64 - 1, 9], pa.uint64()),
        ["18446744073709551615", "9223372036854775808", "18446744073709551615", "9"],
    ),
    "decimal with zeros": (as_type([12, 8, 12, 9], pa.decimal128(10, 2)), ["12", "8", "12", "9"]),
    "long decimal": (
        as_type([10**22 + 1, 10**22 + 2, 10**22 + 1, 9], pa.decimal128(30, 0)),
        ["10000000000000000000001", "10000000000000000000002", "10000000000000000000001", "9"],
    ),
    "long decimal with zeros": (
        as_type([10**22 + 1, 10**22 + 2, 10**22 + 1, 9], pa.decimal128(30, 2)),
        ["10000000000000000000001", "10000000000000000000002", "10000000000000000000001", "9"],
    ),
    "float16": (as_type([np.float16(7), np.float16(8), np.float16(7), np.float16(9)], pa.float16()), IDS),
    "date32": (as_type([0, 1, 0, 2], pa.date32()), ["1970-01-01", "1970-01-02", "1970-01-01", "1970-01-03"]),
    "duration": (as_type([7, 8, 7, 9], pa.duration("s")), IDS),
}


@pytest.mark.parametrize("role", ["user", "item"])
@pytest.mark.parametrize("name", IDS_OF_TYPE)
def test_ids_of_every_type_are_read_digit_by_digit(name: str, role: str) -> None:
    cells, expected = IDS_OF_TYPE[name]
    found = loaded(**{role: cells})
    assert getattr(found, f"{role}s")[getattr(found, role)].tolist() == expected


LABELS_OF_TYPE = {
    "bool": as_type([True, False, False, True], pa.bool_()),
    "int8": as_type([1, 0, 0, 1], pa.int8()),
    "uint8": as_type([1, 0, 0, 1], pa.uint8()),
    "float16": as_type([np.float16(n) for n in (1, 0, 0, 1)], pa.float16()),
    "float32": as_type([1, 0, 0, 1], pa.float32()),
    "decimal": as_type([1, 0, 0, 1], pa.decimal128(10, 2)),
    "words in a dictionary": pa.array(["yes", "no", "no", "yes"]).dictionary_encode(),
    "numbers in a dictionary": pa.array([1, 0, 0, 1]).dictionary_encode(),
    "string_view": as_type(["1", "0", "0", "1"], pa.string_view()),
    "large_string": as_type(["true", "false", "false", "true"], pa.large_string()),
    "binary": as_type([b"1", b"0", b"0", b"1"], pa.binary()),
}


@pytest.mark.parametrize("name", list(LABELS_OF_TYPE))
def test_labels_of_every_type_are_read(name: str) -> None:
    assert loaded(label=LABELS_OF_TYPE[name]).label.tolist() == [1, 0, 0, 1]


SCORES_OF_TYPE = {
    "float16": as_type([np.float16(n) for n in BASE["score"]], pa.float16()),
    "float32": as_type(BASE["score"], pa.float32()),
    "decimal128": pa.array(BASE["score"]).cast(pa.decimal128(20, 6)),
    "decimal256": pa.array(BASE["score"]).cast(pa.decimal256(40, 6)),
    "dictionary": pa.array(BASE["score"]).dictionary_encode(),
    "text": pa.array(["0.5", "0.25", "0.125", "0.75"], pa.string_view()),
}


@pytest.mark.parametrize("name", list(SCORES_OF_TYPE))
def test_scores_of_every_type_are_read_exactly(name: str) -> None:
    assert loaded(score=SCORES_OF_TYPE[name]).scores["score"].tolist() == BASE["score"]


def test_whole_scores_of_any_width_are_read() -> None:
    assert loaded(score=as_type([2**63, 3, 2, 1], pa.uint64())).scores["score"].tolist() == [2.0**63, 3, 2, 1]
    assert loaded(score=as_type([-4, 3, 2, 1], pa.int8())).scores["score"].tolist() == [-4, 3, 2, 1]


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.int64(), pa.int8(), pa.float32(), pa.float64(), pa.decimal128(10, 0)),
        pa.decimal128(10, 2),
    ],
    ids=str,
)
def test_nulls_in_numbers_are_missing_and_leave_the_others_as_they_are(kind: Any) -> None:
    ids = as_type([7, None, 8, 9], kind)
    found = loaded(user=ids, item=ids, label=as_type([1, 0, None, 1], kind), score=as_type([3, 2, None, 1], kind))
    assert [found.users[code] if code >= 0 else None for code in found.user] == ["7", None, "8", "9"]
    assert [found.items[code] if code >= 0 else None for code in found.item] == ["7", None, "8", "9"]
    assert found.label[[0, 1, 3]].tolist() == [1, 0, 1]
    assert np.isnan(found.label[2])
    assert found.scores["score"][[0, 1, 3]].tolist() == [3, 2, 1]
    assert np.isnan(found.scores["score"][2])
    counts = {issue.code: issue.count for issue in found.issues}
    assert (counts["missing_ids"], counts["missing_labels"], counts["missing_scores"]) == (1, 1, 1)


def test_large_nullable_whole_ids_do_not_pass_through_floats() -> None:
    found = loaded(user=as_type([2**53 + 1, None, 2**53, 9], pa.int64()))
    assert found.users.tolist() == ["9007199254740993", "9007199254740992", "9"]


def test_times_of_every_type_are_days() -> None:
    # 1970-01-02 00:00 in Shanghai (UTC+8) is 1970-01-01 16:00 UTC: 2/3 of a day.
    seconds = [57_600, 86_400, 0, 172_800]
    days = pytest.approx([2 / 3, 1, 0, 2])
    for kind in (pa.timestamp("s"), pa.timestamp("ns", "Asia/Shanghai"), pa.timestamp("us", "UTC")):
        assert loaded(time=pa.array(seconds, pa.timestamp("s")).cast(kind)).values["time"].tolist() == days
    assert loaded(time=as_type([1, 2, 0, None], pa.date32())).values["time"][:3].tolist() == [1, 2, 0]
    assert loaded(time=pa.array([1, 2, 0, 3], pa.date32()).cast(pa.date64())).values["time"].tolist() == [1, 2, 0, 3]


def test_a_duration_is_no_point_in_time_and_says_so() -> None:
    found = loaded(time=as_type([1, 2, 3, 4], pa.duration("s")))
    assert np.isnan(found.values["time"]).all()
    assert [issue.count for issue in found.issues if issue.code == "time_unreadable"] == [4]


def test_categories_of_pandas_are_read_as_what_they_hold() -> None:
    frame = pa.table(BASE).to_pandas()
    frame = frame.astype({"user": "category", "item": "category", "label": "category"})
    found = load(("x.parquet", written(pa.Table.from_pandas(frame))))
    assert found.users[found.user].tolist() == BASE["user"]
    assert found.items[found.item].tolist() == BASE["item"]
    assert found.label.tolist() == BASE["label"]


def test_nullable_types_of_pandas_are_read() -> None:
    frame = pa.table(BASE).to_pandas()
    frame = frame.astype({"user": "string", "label": "boolean", "score": "Float64"})
    frame.loc[0, "label"] = None
    found = load(("x.parquet", written(pa.Table.from_pandas(frame))))
    assert np.isnan(found.label[0])
    assert found.label[1:].tolist() == [0, 0, 1]


def test_bytes_that_are_no_text_are_refused_as_ids() -> None:
    table = pa.table({**BASE, "user": as_type([b"\xff", b"a", b"b", b"c"], pa.binary())})
    with pytest.raises(RecmetricsError) as caught:
        load(("x.parquet", written(table)), columns={"user": "user"})
    assert caught.value.kind == "encoding"
