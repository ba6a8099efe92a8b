"""Data: files are opened from everywhere, mapped by hand where a guess is not enough, and mended where they are odd."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from recmetrics.config import EvalConfig
from recmetrics.samples import SAMPLES
from recmetrics.ui import state
from recmetrics.ui.views import data_open
from tests.app.opening import answer, opened, write_rows, written

PAGE = "10_Data"
VIEWS = ("source", "mapping", "facts", "quality")
PLAIN = [("u1", "a", 1, 0.9), ("u1", "b", 0, 0.4), ("u2", "a", 0, 0.7), ("u2", "c", 1, 0.6)]


def upload(at: AppTest, name: str, content: str | bytes, which: str = state.FILES) -> AppTest:
    raw = content.encode() if isinstance(content, str) else content
    at.file_uploader(key=which).set_value(
        [(name, raw, "text/csv")] if which == state.FILES else (name, raw, "text/csv")
    )
    return at.run()


def use_mapping(at: AppTest) -> AppTest:
    return next(button for button in at.button if button.label == "Use this mapping").click().run()


def config_of(at: AppTest) -> EvalConfig:
    return at.session_state[state.CONFIG] if state.CONFIG in at.session_state else EvalConfig()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_with_and_without_data(view: str, language: str) -> None:
    for query in ({}, {"d": "sample:healthy_clicks"}, {"d": "sample:ten_rows"}, {"d": "sample:lightgbm"}):
        at = opened(PAGE, language, view=view, **query)
        assert not at.exception
        assert not at.error
        assert not re.search(r"\bnan\b|\bNone\b|\{\w+\}", written(at))


def test_what_was_loaded_is_counted() -> None:
    at = opened(PAGE, d="sample:ten_rows")
    # Ten rows, five of them positive, no user column: counted in the file.
    assert "10 rows, 5 of them positive; there is no user column, so no lists." in answer(at)
    shown = {metric.label: metric.value for metric in at.metric}
    assert (shown["Rows"], shown["Users"], shown["Positive rows"], shown["Models"]) == ("10", "–", "5", "1")


def test_all_samples_are_offered() -> None:
    at = opened(PAGE)
    assert sum(button.label == "Open this sample" for button in at.button) == len(SAMPLES)


def test_an_upload_is_opened_at_once_and_kept_over_pages() -> None:
    at = upload(opened(PAGE), "mine.csv", data_open.EXAMPLE)
    # The example: 12 rows of 3 users, 4 with label 1, 9 items; counted by hand.
    assert "12 rows of 3 users and 9 items, 4 of them positive" in answer(at)
    at.query_params.clear()
    at.switch_page("pages/20_Overview.py").run()
    assert not at.exception
    assert "12 rows · 3 users · 4 positives" in written(at)


def test_several_uploads_are_several_models() -> None:
    at = opened(PAGE)
    rows = "user,item,label,score\nu1,a,1,0.9\nu1,b,0,0.4\n"
    files = [("one.csv", rows.encode(), "text/csv"), ("two.csv", rows.replace("0.9", "0.2").encode(), "text/csv")]
    at.file_uploader(key=state.FILES).set_value(files).run()
    assert not at.error
    assert {metric.label: metric.value for metric in at.metric}["Models"] == "2"


def test_a_truth_file_and_training_data_are_read_beside_the_scores() -> None:
    at = upload(opened(PAGE), "run.csv", "user,item,score\nu1,a,0.9\nu1,b,0.4\nu2,a,0.3\n")
    assert "has no label column" in at.error[0].value
    at = upload(at, "truth.csv", "user,item,label\nu1,a,1\nu1,z,1\nu2,a,0\n", state.TRUTH_FILE)
    assert not at.error
    at = upload(at, "train.csv", "user,item\nu1,b\nu9,a\n", state.TRAIN_FILE)
    at.segmented_control(key=state.view_key("data")).set_value("quality").run()
    assert "The truth adds 3 judged pairs" in written(at)
    assert "Training data: 2 pairs" in written(at)


def test_labels_with_two_readings_are_asked_for_and_the_answer_solves_it() -> None:
    at = upload(opened(PAGE), "classes.csv", "item,truth,p\n1,yes please,0.8\n2,never,0.3\n3,yes please,0.6\n")
    assert "can be read in more than one way" in at.error[0].value
    assert next(button for button in at.button if button.label == "Use this mapping").disabled
    at.radio(key=state.POSITIVE_VALUE).set_value("yes please").run()
    at = use_mapping(at)
    assert not at.error
    assert {metric.label: metric.value for metric in at.metric}["Positive rows"] == "2"


def test_the_question_about_labels_can_be_answered_with_another_column() -> None:
    content = "user,item,truth,clicked_it,score\nu1,a,good,1,0.8\nu1,b,bad,0,0.3\n"
    at = upload(opened(PAGE), "two.csv", content)
    assert at.error
    at.selectbox(key=state.draft_key("label")).set_value("clicked_it").run()
    at = use_mapping(at)
    assert not at.error
    assert "2 rows of 1 users and 2 items, 1 of them positive" in answer(at)


def test_graded_labels_take_a_number_for_each_value() -> None:
    at = upload(opened(PAGE), "grades.csv", "user,item,label,score\nu,a,bad,1\nu,b,fair,2.5\nu,c,good,3\n")
    for place, grade in enumerate((0, 1, 2)):
        at.number_input(key=state.label_key(place)).set_value(grade)
    at = use_mapping(at.run())
    assert not at.error
    assert {metric.label: metric.value for metric in at.metric}["Positive rows"] == "2"


def test_nothing_changes_before_the_mapping_is_used() -> None:
    at = opened(PAGE, d="sample:lightgbm", view="mapping")
    at.number_input(key=state.draft_key("relevance_threshold")).set_value(3.0).run()
    assert config_of(at).relevance_threshold == 1.0
    changed = next(caption.value for caption in at.caption if "change class" in caption.value)
    assert not changed.startswith("Under this rule 0 of")
    at = use_mapping(at)
    assert config_of(at).relevance_threshold == 3.0
    assert "0 rows change class" in written(at)


def test_every_guess_stands_with_its_reason_and_five_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, PLAIN)
    shown = written(opened(PAGE, d="file:0", view="mapping"))
    assert shown.count("is usual for this.") == 4
    assert "First values: u1 · u1 · u2 · u2" in shown


def test_a_corrected_role_is_used_and_said_to_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(*row, 1.0 - row[3]) for row in PLAIN]
    write_rows(tmp_path, monkeypatch, rows, "user,item,label,score,other")
    at = opened(PAGE, d="file:0", view="mapping")
    at.multiselect(key=state.draft_key("score")).set_value(["other"]).run()
    assert "Chosen by you." in written(at)
    at = use_mapping(at)
    assert at.session_state[state.MODEL] == "other"


@pytest.mark.parametrize(
    ("rows", "field", "choice", "left"),
    [
        ([*PLAIN, ("u1", "a", 1, 0.8)], "duplicates", "keep_first", 4),
        ([*PLAIN, ("u2", "d", 0, None)], "missing_scores", "drop", 4),
        ([*PLAIN, ("u2", "d", 0, None)], "missing_scores", "last", 5),
        ([*PLAIN, ("u2", "d", 0, "inf")], "infinite_scores", "drop", 4),
    ],
)
def test_rows_that_no_metric_can_use_are_treated_as_chosen(
    rows: list[tuple[object, ...]],
    field: str,
    choice: str,
    left: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_rows(tmp_path, monkeypatch, rows)
    at = opened(PAGE, d="file:0")
    assert at.error
    at.radio(key=state.fact_key(field)).set_value(choice).run()
    assert not at.error
    assert getattr(config_of(at), field) == choice
    at.segmented_control(key=state.view_key("data")).set_value("quality").run()
    assert at.radio(key=state.fact_key(field)).value == choice
    assert at.dataframe[0].value["rows"].iloc[-1] == left


def test_other_pages_lead_to_the_data_page_when_a_treatment_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path, monkeypatch, [*PLAIN, PLAIN[0]])
    at = opened("20_Overview", d="file:0")
    assert "repeats 1" in at.error[0].value
    assert not at.exception


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("split", "time", "time"),
        ("user_isolation", "isolated", "isolated"),
        ("candidates", "full", "full"),
        ("seen_items", "filtered", "filtered"),
        ("stage", "push", "push"),
        ("catalogue_size", 500, 500),
        ("gap_days", 2.0, 2.0),
    ],
)
def test_a_declared_fact_changes_the_convention(field: str, value: object, wanted: object) -> None:
    at = opened(PAGE, d="sample:healthy_clicks", view="facts")
    before = config_of(at).to_json()
    boxes = at.number_input if field in ("catalogue_size", "gap_days") else at.selectbox
    boxes(key=state.fact_key(field)).set_value(value).run()
    assert getattr(config_of(at), field) == wanted
    assert config_of(at).to_json() != before


def test_sampling_can_be_declared_only_for_sampled_candidates() -> None:
    at = opened(PAGE, view="facts")
    assert at.number_input(key=state.fact_key("per_positive")).disabled
    at.selectbox(key=state.fact_key("candidates")).set_value("sampled").run()
    at.number_input(key=state.fact_key("per_positive")).set_value(99.0).run()
    negatives = config_of(at).negatives
    assert negatives is not None
    assert negatives.per_positive == 99
    at.selectbox(key=state.fact_key("candidates")).set_value("full").run()
    assert config_of(at).negatives is None


def test_a_convention_file_is_taken_over_and_a_broken_one_is_refused() -> None:
    at = opened(PAGE, view="facts")
    given = json.dumps({"split": "time", "ks": [3]})
    at.file_uploader(key=state.CONFIG_FILE).set_value(("eval_config.json", given.encode(), "application/json")).run()
    assert (config_of(at).split, config_of(at).ks) == ("time", (3,))
    at.file_uploader(key=state.CONFIG_FILE).set_value(("x.json", b'{"splitt": "time"}', "application/json")).run()
    assert "no field 'splitt'" in at.error[0].value.replace("\\", "")
    assert config_of(at).split == "time"


def test_quality_counts_every_row_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, [*PLAIN, ("u3", "a", None, 0.5), ("u3", "b", None, 0.2)])
    at = opened(PAGE, d="file:0", view="quality")
    account = at.dataframe[0].value
    # Six rows read, two of them without a label: four can be used and make the row metrics. In lists all six stand.
    assert account["rows"].tolist() == [6, -2, 4, 4, 2, 6]
    is_sum = account["step"].str.startswith("= ")
    assert account["rows"][~is_sum].sum() == account["rows"].iloc[-1]
    assert answer(at).startswith("**4 of 6 rows can be used")


def test_columns_without_a_role_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(*row, 0.5 + i) for i, row in enumerate(PLAIN)]
    write_rows(tmp_path, monkeypatch, rows, "user,item,label,score,weather")
    assert "Ignored, because no role was given to them: weather." in written(opened(PAGE, d="file:0", view="quality"))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02\xff", b"only words\nand no table\n", b"a,b\n1,2\n"])
def test_a_broken_file_gets_a_sentence_and_no_number(content: bytes, view: str) -> None:
    at = upload(opened(PAGE), "broken.csv", content)
    at.segmented_control(key=state.view_key("data")).set_value(view).run()
    assert not at.exception
    assert len(at.error) == 1
    assert not at.metric


def test_a_lost_upload_is_asked_for_again() -> None:
    at = opened(PAGE, d="upload:0123456789ab")
    assert "Upload the same file again" in at.error[0].value


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "$x$ **b** :red[x]",
    "[a](javascript:1)",
    "{n}",
    "=1+1",
    "\u202eabc",
    "x" * 300,
)


def test_names_from_a_file_are_shown_letter_by_letter() -> None:
    lines = [f'"{name}",i{i},{i % 2},0.{i + 1},"{name}"' for i, name in enumerate(HOSTILE * 2)]
    content = "user,item,label,score,**segment** $s$\n" + "\n".join(lines) + "\n"
    at = upload(opened(PAGE), "**bold** <b>.csv", content)
    for view in VIEWS:
        at.segmented_control(key=state.view_key("data")).set_value(view).run()
        assert not at.exception
        shown = written(at)
        assert not re.search(r"(?<!\\)<img|(?<!\\)\$x|(?<!\\)\[a\]|\u202e|x{100}|\*\*b\*\*(?!\*)", shown)


def test_the_server_folder_is_offered_only_when_the_operator_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Files on the server" not in written(opened(PAGE))
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "rows.csv").write_text(data_open.EXAMPLE, encoding="utf-8")
    (tmp_path / "secret.key").write_text("no data", encoding="utf-8")
    monkeypatch.setenv("RECMETRICS_DATA_DIR", str(tmp_path))
    at = opened(PAGE)
    assert at.selectbox(key=state.SERVER_FILE).options == ["inside/rows.csv"]
    at.selectbox(key=state.SERVER_FILE).set_value("inside/rows.csv").run()
    at.button(key=state.open_key("server")).click().run()
    assert "12 rows of 3 users" in answer(at)


@pytest.mark.parametrize("path", ["../outside.csv", "/etc/hostname", "missing.csv", "secret.key"])
def test_a_path_outside_the_server_folder_is_refused_like_a_missing_one(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "outside.csv").write_text(data_open.EXAMPLE, encoding="utf-8")
    (tmp_path / "data" / "secret.key").write_text("no data", encoding="utf-8")
    monkeypatch.setenv("RECMETRICS_DATA_DIR", str(tmp_path / "data"))
    at = opened(PAGE, d=f"server:{path}")
    assert at.error[0].value == "The server has no such data file. Choose one from the list, or upload it."
