"""Threshold: the page shows the API's own numbers, in every mode, in both languages, on odd data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from recmetrics.config import EvalConfig
from recmetrics.evaluate import evaluate
from recmetrics.load import load
from tests.app import opening
from tests.app.opening import answer, figure, numbers, write_rows, written

WriteFile = Callable[..., Path]
# metrics.md §6.1, R10: ten rows A…J.
LABELS = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
SCORES = [0.90, 0.80, 0.75, 0.68, 0.55, 0.50, 0.42, 0.35, 0.20, 0.10]


def ten_rows() -> list[tuple[Any, ...]]:
    return [("u1", f"i{n}", label, score) for n, (label, score) in enumerate(zip(LABELS, SCORES, strict=True))]


@pytest.fixture
def file_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteFile:
    """Start the app with a file of (user, item, label, score) rows."""

    def write(rows: Sequence[Sequence[Any]], header: str = "user,item,label,score") -> Path:
        return write_rows(tmp_path, monkeypatch, rows, header)

    return write


def opened(language: str = "en", **query: str) -> AppTest:
    return opening.opened("30_Threshold", language, **query)


def texts(at: AppTest) -> str:
    """Return everything written on the page, the small tables among it."""
    return "\n".join([written(at), *(html.proto.body for html in at.get("html"))])


def dots(at: AppTest, chart: str) -> list[tuple[float, float]]:
    """Return the marked points of a chart."""
    marked = [trace for trace in figure(at, chart)["data"] if "markers" in trace.get("mode", "")]
    return [(numbers(trace["x"])[0], numbers(trace["y"])[0]) for trace in marked]


def test_the_page_says_the_point_of_the_handbook_and_both_curves_carry_the_same_dot(file_of: WriteFile) -> None:
    file_of(ten_rows())
    at = opened(tm="score", tv="0.5")
    assert not at.exception
    assert answer(at) == (
        "**At score ≥ 0.500, 60.0% of the rows are flagged; 80.0% of all positives are among them, "
        "and about 6.7 of every 10 flags are right.**"
    )
    assert dots(at, "roc") == [(0.4, 0.8)]
    assert dots(at, "pr") == [(0.8, pytest.approx(4 / 6))]
    assert "1 row sits on 0.500 itself and counts as flagged; otherwise TP 3, FP 2, FN 2, TN 3." in texts(at)
    assert "flagging nothing: 0.500" in texts(at)


def test_every_number_of_the_tiles_is_the_one_that_evaluate_gives(file_of: WriteFile) -> None:
    path = file_of(ten_rows())
    report = evaluate(load(path), metrics=[f"{m}[threshold=0.42]" for m in ("precision", "recall", "fpr", "accuracy")])
    page = texts(opened(tm="score", tv="0.42"))
    for value in report.values:
        assert f"<strong>{value.value:.3f}</strong>" in page


@pytest.mark.parametrize(
    ("mode", "value", "said"),
    [
        ("share", "0.4", "At score ≥ 0.680, 40.0% of the rows"),
        ("precision", "0.65", "At score ≥ 0.500, 60.0% of the rows"),
        ("recall", "0.81", "At score ≥ 0.350, 80.0% of the rows"),
        ("cost", "1", "At score ≥ 0.800, 20.0% of the rows"),
        ("topk", "3", "At the first 3 places of every user, 30.0% of the rows"),
    ],
)
def test_a_link_opens_every_mode_at_its_point(file_of: WriteFile, mode: str, value: str, said: str) -> None:
    file_of(ten_rows())
    at = opened(tm=mode, tv=value)
    assert said in answer(at)
    # All six units stand beside each other, whatever the mode.
    for unit in ("Score", "Share of rows", "Top K per user", "Precision", "Recall", "Cost FP : FN"):
        assert f"<dt>{unit}</dt>" in texts(at)


def test_the_slider_moves_the_matrix_and_the_link_carries_the_value(file_of: WriteFile) -> None:
    file_of(ten_rows())
    at = opened(tm="score", tv="0.5")
    assert at.select_slider(key="threshold_position_score").options == [f"{score:.3f}" for score in reversed(SCORES)]
    at.select_slider(key="threshold_position_score").set_value("0.800").run()
    assert "At score ≥ 0.800" in answer(at)
    assert '<abbr title="true positives">TP</abbr> <strong>2</strong>' in texts(at)
    assert (at.session_state["threshold_mode"], at.session_state["threshold_value"]) == ("score", 0.8)


def test_a_typed_value_between_the_places_is_kept_exactly_and_gets_a_place_of_its_own(file_of: WriteFile) -> None:
    file_of(ten_rows())
    at = opened(tm="score", tv="0.5")
    at.number_input(key="threshold_exact_score").set_value(0.6)
    at.button(key="threshold_exact_set").click().run()
    assert at.session_state["threshold_value"] == 0.6
    assert at.select_slider(key="threshold_position_score").value == "0.600"
    assert "At score ≥ 0.600, 40.0%" in answer(at)
    assert "sits on" not in texts(at)


def test_changing_the_mode_keeps_the_point(file_of: WriteFile) -> None:
    file_of(ten_rows())
    at = opened(tm="score", tv="0.68")
    before = answer(at)
    for mode in ("share", "recall", "score"):
        at.button_group(key="threshold_mode_chosen").set_value(mode).run()
        assert answer(at) == before
        assert at.session_state["threshold_mode"] == mode


def test_a_preset_sets_the_score_and_says_its_threshold(file_of: WriteFile) -> None:
    file_of(ten_rows())
    at = opened(tm="share", tv="0.1")
    at.button(key="threshold_preset_break_even").click().run()
    assert at.session_state["threshold_mode"] == "score"
    assert "At score ≥ 0.550, 50.0% of the rows are flagged; 60.0%" in answer(at)


def test_a_kept_point_is_compared_with_the_present_one(file_of: WriteFile) -> None:
    file_of(ten_rows())
    at = opened(tm="score", tv="0.5")
    at.button(key="threshold_lock").click().run()
    at.select_slider(key="threshold_position_score").set_value("0.800").run()
    assert dots(at, "roc") == [(0.4, 0.8), (0.0, 0.4)]
    # Precision 4/6 → 2/2.
    assert "<td>0.667</td><td>1.000</td><td>+0.333</td>" in texts(at)
    at.button(key="threshold_lock").click().run()
    assert dots(at, "roc") == [(0.0, 0.4)]


def test_without_a_value_the_page_starts_at_one_half_or_at_five_percent(file_of: WriteFile) -> None:
    file_of(ten_rows())
    assert "At score ≥ 0.500" in answer(opened())
    file_of([("u", f"i{n}", n % 2, 3 + n) for n in range(40)])
    assert "5.0% of the rows" in answer(opened())


@pytest.mark.parametrize(
    ("mode", "value", "name"),
    [("share", "7", "Share of rows"), ("precision", "-1", "Target precision"), ("cost", "-3", "Cost FP : FN")],
)
def test_a_value_out_of_range_in_the_link_gives_the_default_and_is_named(
    file_of: WriteFile, mode: str, value: str, name: str
) -> None:
    file_of(ten_rows())
    at = opened(tm=mode, tv=value)
    assert not at.exception
    assert "At score ≥ 0.500" in answer(at)
    assert f"{name} = {value} cannot be had here; the page starts at score ≥ 0.500." in texts(at)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "abc"])
def test_a_value_that_is_no_number_gives_the_default(file_of: WriteFile, value: str) -> None:
    file_of(ten_rows())
    at = opened(tm="score", tv=value)
    assert not at.exception
    assert "At score ≥ 0.500" in answer(at)


ODD = {
    "one class": ([("u", f"i{n}", 0, n / 10) for n in range(10)], ("Not drawn: no positives.", "Costs need rows")),
    "all positive": ([("u", f"i{n}", 1, n / 10) for n in range(10)], ("Not drawn: no negatives.",)),
    "constant": ([("u", f"i{n}", n % 2, 0.3) for n in range(10)], ("Every row has the same score",)),
    "one row": ([("u", "i", 1, 0.7)], ("Not drawn: no negatives.",)),
    "negative scores": ([("u", f"i{n}", n % 2, -n) for n in range(60)], ("score ≥ −2.000", "At score")),
    "tiny scores": ([("u", f"i{n}", n % 2, n * 1e-7) for n in range(60)], ("0.0000057",)),
    "unreachable": ([("u", "a", 0, 0.9), ("u", "b", 1, 0.5)], ("At score",)),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ODD)
def test_odd_data_give_a_matrix_and_a_reason_and_no_empty_number(file_of: WriteFile, name: str, language: str) -> None:
    rows, said = ODD[name]
    file_of(rows)
    at = opened(language)
    assert not at.exception
    assert not at.error
    page = texts(at)
    assert "<table>" in page
    for word in ("NaN", "None", "nan", "inf"):
        assert word not in page.replace("information", "")
    if language == "en":
        assert any(sentence.replace("−", "-") in page for sentence in said)


def test_a_target_out_of_reach_names_the_best_one(file_of: WriteFile) -> None:
    file_of(ODD["unreachable"][0])
    page = texts(opened(tm="precision", tv="0.9"))
    assert "No threshold reaches a precision of 0.900. The best precision here is 0.500, at score ≥ 0.500." in page


def test_a_constant_score_offers_two_places(file_of: WriteFile) -> None:
    file_of(ODD["constant"][0])
    at = opened(tm="score", tv="0.3")
    places = at.select_slider(key="threshold_position_score")
    assert places.options == ["0.300: every row", "0.300: no row"]
    places.set_value("0.300: no row").run()
    assert "no row is flagged" in answer(at)


def test_without_users_top_k_is_off_with_its_reason(file_of: WriteFile) -> None:
    file_of([(label, score) for label, score in zip(LABELS, SCORES, strict=True)], "label,score")
    at = opened()
    assert "Top K per user is off: there is no user column." in texts(at)
    assert "Top K per user" not in at.button_group(key="threshold_mode_chosen").options
    # A link that asks for it anyway gets the default.
    assert "At score ≥ 0.500" in answer(opened(tm="topk", tv="3"))


def test_everything_is_there_in_chinese(file_of: WriteFile) -> None:
    file_of(ten_rows())
    at = opened("zh", tm="score", tv="0.5")
    assert answer(at) == (
        "**以“分数 ≥ 0.500”为准，60.0% 的行被标记，其中包含全部正样本的 80.0%；每 10 个标记中约有 6.7 个是对的。**"
    )
    page = texts(at)
    for word in ("混淆矩阵", "真正例", "精确率", "召回率", "准确率", "提升度", "阈值"):
        assert word in page
    for chart in at.get("plotly_chart"):
        assert any("\u4e00" <= letter <= "\u9fff" for letter in chart.proto.alt)


def test_another_model_solves_a_target_again_and_says_so(file_of: WriteFile) -> None:
    rows = [(*row, 1 - n / 10) for n, row in enumerate(ten_rows())]
    file_of(rows, "user,item,label,model_a,model_b")
    at = opened(tm="recall", tv="0.8")
    assert "Solved again" not in texts(at)
    at.selectbox(key="model").set_value("model_b").run()
    assert "Solved again for these rows and this model" in texts(at)
    at.run()
    assert "Solved again" not in texts(at)


def test_a_hostile_model_name_reaches_the_page_as_plain_text(file_of: WriteFile) -> None:
    file_of(ten_rows(), "user,item,label,<img src=x onerror=alert(1)>")
    at = opened(tm="score", tv="0.5")
    assert not at.exception
    assert all("<img" not in html.proto.body for html in at.get("html"))


def test_with_lower_scores_better_the_sign_turns_and_the_numbers_are_those_of_evaluate(file_of: WriteFile) -> None:
    path = file_of([(user, item, 1 - label, score) for user, item, label, score in ten_rows()])
    config = EvalConfig(score_direction="lower", threshold=0.42)
    precision = evaluate(load(path), config, metrics=["precision"]).values[0].value
    page = texts(opened(cfg="default,score_direction=lower", tm="score", tv="0.42"))
    # At most .42 are .42 .35 .20 .10, of which .35 is a negative here.
    assert precision == 0.75
    assert "At score ≤ 0.420, 40.0% of the rows are flagged; 60.0%" in page
    assert "<strong>0.750</strong>" in page
