"""Data: what files leave open is asked, with the default that was taken, and the answer reads the file again."""

import ast
from pathlib import Path
from typing import get_args

import pytest
from streamlit.testing.v1 import AppTest

from recmetrics.config import EvalConfig
from recmetrics.ui import state
from recmetrics.ui.views.data_questions import QUESTIONS
from tests.app.opening import opened, written

PAGE = "10_Data"
SOURCES = Path(__file__).parents[2] / "recmetrics"
TIMES = "user,item,label,score,time\nu1,a,1,0.9,1700000000\nu1,b,0,0.4,1700000060\nu2,a,0,0.7,1700086400\n"


def started(folder: Path, monkeypatch: pytest.MonkeyPatch, content: str | bytes, view: str = "quality") -> AppTest:
    path = folder / "rows.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.setenv("RECMETRICS_FILES", str(path))
    return opened(PAGE, d="file:0", view=view)


def config_of(at: AppTest) -> EvalConfig:
    return at.session_state[state.CONFIG] if state.CONFIG in at.session_state else EvalConfig()


def asked_by_code() -> set[str]:
    """Return every field that an issue of the code asks for."""
    found = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "asks" and isinstance(node.value, ast.Constant):
                found.add(str(node.value.value))
    return found - {""}


def test_every_question_of_the_code_has_words() -> None:
    assert asked_by_code() <= set(QUESTIONS)


@pytest.mark.parametrize("field", [field for field, (_, options) in QUESTIONS.items() if options])
def test_every_answer_that_a_field_takes_has_words(field: str) -> None:
    annotation = EvalConfig.model_fields[field].annotation
    optional = {""} if type(None) in get_args(annotation) else set()
    inner = {value for given in get_args(annotation) for value in (get_args(given) or (given,))}
    assert set(QUESTIONS[field][1]) == {value for value in inner if isinstance(value, str)} | optional


@pytest.mark.parametrize("field", ["encoding", "header_line", "number_format", "id_spelling", "score_kind", "sheet"])
def test_reading_questions_name_fields_of_the_convention(field: str) -> None:
    assert field in EvalConfig.model_fields
    assert field in QUESTIONS


def test_the_default_is_in_force_until_another_answer_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = started(tmp_path, monkeypatch, TIMES)
    assert "Questions that these files leave open: 1." in written(at)
    control = at.selectbox(key=state.fact_key("time_unit"))
    assert control.value == "auto"
    assert "were read as seconds" in written(at)
    control.set_value("ms").run()
    # 1,700,000,000 ms are 19.7 days after 1970: another reading of the same cells.
    assert config_of(at).time_unit == "ms"
    assert not at.exception
    assert "were read as milliseconds" in written(at)
    assert "Every question that these files leave open is answered" in written(at)
    assert "time\\_unit=ms" in written(at)


def test_an_answer_no_issue_asks_for_any_more_can_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("user,item,label,score\nu1,a,1,0.9\nu1,b,0,0.4\nu2,a,0,0.7\n", encoding="utf-8")
    monkeypatch.setenv("RECMETRICS_FILES", str(path))
    at = opened(PAGE, d="file:0", view="quality", cfg="default,number_format=point")
    assert "How these files are read" in written(at)
    at.radio(key=state.fact_key("number_format")).set_value("auto").run()
    assert config_of(at).number_format == "auto"
    assert "How these files are read" not in written(at)


def test_an_answer_that_makes_the_file_unreadable_can_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("user,item,label,score\nu1,a,1,0.9\nu1,b,0,0.4\nu2,a,0,0.7\n", encoding="utf-8")
    monkeypatch.setenv("RECMETRICS_FILES", str(path))
    at = opened(PAGE, d="file:0", view="quality", cfg="default,header_line=no")
    # Without its header the columns have no names, so nothing says which one is the label.
    assert at.error
    at.radio(key=state.fact_key("header_line")).set_value("auto").run()
    assert not at.error
    assert not at.exception


def test_a_field_is_asked_once_even_where_the_treatment_asks_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = started(tmp_path, monkeypatch, TIMES + "u1,a,1,0.8,1700000000\n")
    keys = [control.key for control in (*at.radio, *at.selectbox)]
    assert keys.count(state.fact_key("duplicates")) == 1
    assert keys.count(state.fact_key("time_unit")) == 1
    assert "Questions that these files leave open: 2." in written(at)


def test_the_mapping_shows_the_first_rows_letter_by_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"00{i},i{i},{i % 2},0.50,{'' if i else 'x'}\n" for i in range(12))
    at = started(tmp_path, monkeypatch, "user,item,label,score,note\n" + rows, view="mapping")
    shown = at.dataframe[0].value
    assert shown.shape == (10, 5)
    assert shown["1 · user"].tolist()[:3] == ["000", "001", "002"]
    assert shown["4 · score"].tolist()[0] == "0.50"
    assert "Rows 1 to 10 of 12; columns 1 to 5 of 5." in written(at)


def test_at_most_twelve_columns_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ",".join(f"f{i}" for i in range(20))
    cells = ",".join("0.5" for _ in range(20))
    content = f"user,item,label,score,{names}\nu1,a,1,0.9,{cells}\nu1,b,0,0.4,{cells}\n"
    at = started(tmp_path, monkeypatch, content, view="mapping")
    assert at.dataframe[0].value.shape == (2, 12)
    assert "columns 1 to 12 of 24" in written(at)
