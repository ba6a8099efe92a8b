"""A sample of users holds all rows of the users it takes, the same users from every file, and says how many."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recmetrics.cli import run
from recmetrics.errors import RecmetricsError
from recmetrics.load import load
from recmetrics.user_sample import sample_users

N_USERS = 1000
ROWS = [f'u{i % N_USERS},"a ""b"", {i}",{i % 2},0.{i:04d}' for i in range(5000)]
TABLE = "\n".join(["user,item,label,score", *ROWS]) + "\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "all.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_about_the_share_of_users_is_taken_each_with_all_rows(file: Path, tmp_path: Path) -> None:
    taken = sample_users(file, tmp_path / "part.csv", 0.1)
    assert (taken.n_users_read, taken.n_rows_read) == (N_USERS, 5000)
    assert 60 < taken.n_users < 140  # 100 ± 4 standard deviations of 9.5
    assert taken.n_rows == 5 * taken.n_users
    whole, part = load(file), load(tmp_path / "part.csv")
    assert (part.n_rows, part.n_users) == (taken.n_rows, taken.n_users)
    kept = set(part.users)
    assert [item for user, item in pairs(whole) if user in kept] == [item for _, item in pairs(part)]


def pairs(dataset: object) -> list[tuple[str, str]]:
    from recmetrics.dataset import Dataset

    assert isinstance(dataset, Dataset)
    assert dataset.user is not None
    assert dataset.item is not None
    return list(zip(dataset.users[dataset.user], dataset.items[dataset.item], strict=True))


def test_every_kind_of_file_gives_the_same_users(file: Path, tmp_path: Path) -> None:
    (tmp_path / "all.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    table = pa.table({"user": [f"u{i % N_USERS}" for i in range(5000)], "label": [1, 0] * 2500, "score": [0.5] * 5000})
    pq.write_table(table, tmp_path / "all.parquet")
    users = []
    for name, suffix in (("all.csv", "csv"), ("all.csv.gz", "csv"), ("all.parquet", "parquet")):
        out = tmp_path / f"part of {name}.{suffix}"
        sample_users(tmp_path / name, out, 0.2)
        users.append(sorted(load(out).users))
    assert users[0] == users[1] == users[2]


def test_rows_without_a_user_are_left_out_and_counted_as_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("user,item,label,score\n,i1,1,0.5\nu1,i1,1,0.5\n", encoding="utf-8")
    taken = sample_users(path, tmp_path / "b.csv", 0.999999)
    assert (taken.n_rows, taken.n_rows_read) == (1, 2)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_outside_zero_and_one_is_refused(share: float, file: Path, tmp_path: Path) -> None:
    with pytest.raises(RecmetricsError, match="between 0 and 1"):
        sample_users(file, tmp_path / "b.csv", share)


def test_nothing_is_overwritten_and_nothing_unfinished_is_left(file: Path, tmp_path: Path) -> None:
    with pytest.raises(RecmetricsError, match="not overwritten"):
        sample_users(file, file, 0.5)
    assert file.read_text(encoding="utf-8") == TABLE
    bad = tmp_path / "bad.csv"
    bad.write_text(TABLE + "u1,too few\n", encoding="utf-8")
    with pytest.raises(RecmetricsError) as caught:
        sample_users(bad, tmp_path / "b.csv", 0.5)
    assert caught.value.kind == "malformed_line"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.csv", "bad.csv"]


def test_other_kinds_of_files_and_files_without_users_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"user": 1, "label": 1, "score": 0.5}\n', encoding="utf-8")
    (tmp_path / "b.csv").write_text("label,score\n1,0.5\n0,0.25\n", encoding="utf-8")
    with pytest.raises(RecmetricsError, match="text tables with a header line"):
        sample_users(tmp_path / "a.jsonl", tmp_path / "c.csv", 0.5)
    with pytest.raises(RecmetricsError) as caught:
        sample_users(tmp_path / "b.csv", tmp_path / "c.csv", 0.5)
    assert caught.value.kind == "no_user_column"


def test_the_command_says_what_was_taken(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sample-users", str(file), str(tmp_path / "part.csv"), "--share", "0.1"]) == 0
    said = capsys.readouterr().out
    assert "of 5,000 rows" in said
    assert "of 1,000 users of all.csv" in said
