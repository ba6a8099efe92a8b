"""Files before they are parsed: packed, damaged, changing, too large, or no files at all."""

from __future__ import annotations

import bz2
import errno
import gzip
import os
from pathlib import Path

import pyarrow as pa
import pytest

from recmetrics import raw as raw_module
from recmetrics.errors import RecmetricsError
from recmetrics.load import load, read_source
from recmetrics.raw import Raw

LINES = b"user,item,label,score\n" + b"".join(
    b"u%d,i%d,%d,%.4f\n" % (i % 9, i, i % 3 == 0, i / 997) for i in range(997)
)


def packed(name: str) -> bytes:
    """Return the lines packed as a suffix says."""
    if name.endswith(".gz"):
        return gzip.compress(LINES)
    if name.endswith(".bz2"):
        return bz2.compress(LINES)
    return bytes(pa.Codec("zstd").compress(LINES, asbytes=True)) if name.endswith(("zst", "zstd")) else LINES


def kind_of(name: str, data: bytes) -> str:
    with pytest.raises(RecmetricsError) as caught:
        load((name, data))
    assert caught.value.facts["file"] == name
    return caught.value.kind


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.bz2", "a.csv.zst", "a.csv.zstd", "a.csv"])
def test_a_packed_table_is_the_table_whatever_its_name(name: str, tmp_path: Path) -> None:
    plain = load(("a.csv", LINES)).fingerprint
    (tmp_path / name).write_bytes(packed(name))
    assert load(tmp_path / name).fingerprint == plain
    assert load((name, packed(name))).fingerprint == plain
    assert load(("a.csv", packed(name))).fingerprint == plain
    assert read_source((name, packed(name))).stem == "a"


def test_a_packed_parquet_file_and_a_packed_run_are_read() -> None:
    import pyarrow.parquet as pq

    table = read_source(("a.csv", LINES)).table
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    assert read_source(("a.parquet.gz", gzip.compress(sink.getvalue().to_pybytes()))).n_rows == 997
    run = b"".join(b"q1 Q0 d%d %d %.3f tag\n" % (i, i + 1, 1 - i / 100) for i in range(50))
    assert read_source(("a.run.gz", gzip.compress(run))).kind == "run"


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.bz2", "a.csv.zst"])
def test_a_packed_file_that_is_cut_off_or_damaged_is_refused_and_never_read_in_part(name: str) -> None:
    whole = packed(name)
    assert kind_of(name, whole[:-40]) == "format"
    middle = len(whole) // 2
    damaged = whole[:middle] + bytes(255 - byte for byte in whole[middle : middle + 64]) + whole[middle + 64 :]
    assert kind_of(name, damaged) == "format"


def test_a_packed_file_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_module, "BOMB_BYTES", 1 << 20)
    bomb = b"user,item,label,score\n" + b"u1,a,1,0.5\n" * 400_000
    assert kind_of("bomb.csv.gz", gzip.compress(bomb)) == "too_large"


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(LINES)
    raw = Raw("a.csv", path=path)
    raw.read()
    raw.refuse_changed()
    path.write_bytes(LINES + b"u1,late,1,0.5\n")
    with pytest.raises(RecmetricsError, match="changed while it was read"):
        raw.refuse_changed()


def test_a_file_that_vanishes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(LINES)
    raw = Raw("a.csv", path=path)
    raw.read()
    path.unlink()
    with pytest.raises(RecmetricsError, match="no file"):
        raw.refuse_changed()


def test_a_file_over_the_cap_is_refused_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(LINES)

    def opened(_self: Raw) -> bytes:
        raise AssertionError("nothing may be read")

    monkeypatch.setattr(Raw, "read", opened)
    monkeypatch.setattr(Raw, "head", opened)
    with pytest.raises(RecmetricsError) as caught:
        load(path, max_bytes=len(LINES) - 1)
    assert caught.value.kind == "too_large"
    assert "Parquet" in str(caught.value)
    assert "sample" in str(caught.value)


def test_a_folder_a_missing_file_and_a_pipe_are_told_apart(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for name, words in (("", "is a folder"), ("none.csv", "no file"), ("pipe.csv", "no ordinary file|not an ordinary")):
        with pytest.raises(RecmetricsError, match=words):
            load(tmp_path / name)


def test_what_unpacks_beyond_the_cap_is_not_read_on(tmp_path: Path) -> None:
    data = gzip.compress(LINES)
    with pytest.raises(RecmetricsError) as caught:
        load(("a.csv.gz", data), max_bytes=len(data) + 1)
    assert caught.value.kind == "too_large"


def test_a_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(LINES)

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")  # what the system says to anyone but its superuser

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(RecmetricsError, match="permissions"):
        load(path)
