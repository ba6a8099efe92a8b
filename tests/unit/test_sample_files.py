"""The files of sample_data/ are what the recorded command writes, small, and named in their README."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from recmetrics import samples
from recmetrics.errors import RecmetricsError
from recmetrics.samples import SAMPLES, sample_path
from recmetrics.shipped import shipped
from recmetrics.synthetic.__main__ import main
from recmetrics.synthetic.files import GENERATED
from recmetrics.text import Text

FOLDER = shipped("sample_data")
ALL = list(SAMPLES)
MAX_BYTES = 300_000


def header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def test_the_recorded_command_writes_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(path.name for path in FOLDER.glob("*.csv"))
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / f"{name}.csv") for name in GENERATED]
    for name in names:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name


def test_the_recorded_command_asks_for_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "python -m recmetrics.synthetic sample_data" in capsys.readouterr().err


def test_every_sample_is_registered_with_an_existing_small_file() -> None:
    files = {path for sample in SAMPLES.values() for path in sample.paths}
    assert files == set(FOLDER.rglob("*.csv"))
    assert all(path.stat().st_size < MAX_BYTES for path in files)
    assert sample_path("leak") == FOLDER / "leak.csv"


@pytest.mark.parametrize("name", ALL)
def test_the_columns_of_a_sample_are_in_its_file(name: str) -> None:
    sample = SAMPLES[name]
    named = sample.load_options["columns"].values()
    wanted = {column for entry in named for column in ([entry] if isinstance(entry, str) else entry)}
    assert wanted <= set(header(sample.paths[0]))


def test_the_readme_has_one_line_for_every_file_and_names_its_check() -> None:
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    for sample in SAMPLES.values():
        (line,) = [line for line in lines if line.startswith(f"| `{sample.files[0]}`")]
        assert line.endswith("| none |") if sample.fires is None else sample.fires in line


def test_the_licence_of_the_real_sample_stands_beside_it() -> None:
    licence = (SAMPLES["lightgbm"].paths[0].parent / "LICENSE").read_text(encoding="utf-8")
    assert "MIT" in licence
    assert "Microsoft" in licence


@pytest.mark.parametrize("name", ALL)
def test_a_sample_has_a_chinese_title_and_lesson(name: str) -> None:
    english, chinese = Text("en"), Text("zh")
    for sentence in (SAMPLES[name].title, SAMPLES[name].teaches):
        assert english._(sentence) == sentence
        assert chinese._(sentence) != sentence


def test_a_sample_that_was_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(samples, "shipped", lambda name: tmp_path / name)
    with pytest.raises(RecmetricsError, match=r"leak\.csv"):
        sample_path("leak")
