"""Options and files that nobody gives on purpose end with one sentence, never with a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from recmetrics.cli import run
from recmetrics.cli.app import environment
from recmetrics.config import EvalConfig
from recmetrics.errors import RecmetricsError

TEN_ROWS = "sample_data/ten_rows.csv"


@pytest.mark.parametrize("content", ["[" * 100_000, '{"self": 1}', '{"ks": [' + "9" * 6000 + "]}", "", "{", "null"])
def test_a_broken_convention_file_is_refused_in_a_sentence(content: str) -> None:
    with pytest.raises(RecmetricsError) as refused:
        EvalConfig.from_bytes("eval_config.json", content.encode())
    assert refused.value.kind == "invalid_config"
    assert len(str(refused.value)) < 400


def test_samples_for_a_place_that_cannot_be_written_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for option in ([], ["--make"]):
        assert run(["samples", str(tmp_path / "file" / "below"), *option]) == 2
        said = capsys.readouterr().err
        assert "Name a folder that you may write to" in said
        assert len(said.splitlines()) == 1


def test_the_app_does_not_start_for_a_role_that_does_not_exist() -> None:
    with pytest.raises(RecmetricsError, match="no role 'scroe'"):
        environment([Path(TEN_ROWS)], None, "scroe=score", "")
    assert environment([Path(TEN_ROWS)], None, "value=paid", "")["RECMETRICS_COLUMNS"] == '{"value": "paid"}'


def test_an_unknown_segment_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "sample_data/healthy_clicks.csv", "--by", "planet"]) == 2
    said = capsys.readouterr().err
    assert "It has: city, device. Name one of these, or give the column that role: --columns segment=planet." in said
