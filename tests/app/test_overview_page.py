"""Overview: headline, six numbers equal to the API's, findings and pictures, in both languages and on odd data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from recmetrics.evaluate import evaluate
from recmetrics.load import load
from recmetrics.samples import SAMPLES
from tests.app import opening
from tests.app.opening import write_rows, written

WriteFile = Callable[..., Path]


@pytest.fixture
def file_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteFile:
    """Start the app with a file of rows."""

    def write(rows: Sequence[Sequence[Any]], header: str = "user,item,label,score") -> Path:
        return write_rows(tmp_path, monkeypatch, rows, header)

    return write


def opened(language: str = "en", **query: str) -> AppTest:
    return opening.opened("20_Overview", language, **query)


def test_the_tiles_show_the_numbers_of_evaluate() -> None:
    sample = SAMPLES["healthy_clicks"]
    data = load(*sample.paths, **sample.load_options)
    names = ["roc_auc", "gauc", "auprc", "ndcg@10", "precision@10", "recall@10"]
    at = opened(d="sample:healthy_clicks")
    assert not at.exception
    page = written(at)
    for value in evaluate(data, models=[data.models[0]], metrics=names).values:
        assert f"### {value.value:.3f}" in page
        if value.low is not None:
            assert f"[{value.low:.3f}, {value.high:.3f}]" in page


def test_the_headline_names_the_model_and_says_that_nothing_speaks_against_it() -> None:
    page = written(opened(d="sample:healthy_clicks"))
    assert "score\\_a puts a random positive above a random negative 71.5% of the time" in page
    assert "No check speaks against quoting them" in page
    assert "AUC over all pairs 0.715 [0.691, 0.739], usual in industry; inside users (GAUC) 0.698" in page


def test_a_leak_is_called_by_its_code_and_the_numbers_must_not_be_quoted() -> None:
    page = written(opened(d="sample:leak"))
    assert "do not quote these numbers" in page
    assert "RM-501" in page
    assert "assume leakage until it is disproved" in page


def test_the_stage_of_the_convention_chooses_the_tiles() -> None:
    page = written(opened(d="sample:healthy_clicks", cfg="default,stage=push", tm="score", tv="0.3"))
    for label in ("Precision", "Recall", "F0.5", "False positive rate"):
        assert f"\n{label}\n" in page
    assert "at score ≥ 0.300" in page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_three_pictures_are_drawn_and_told_in_words(language: str) -> None:
    charts = opened(language, d="sample:healthy_clicks").get("plotly_chart")
    assert len(charts) == 3
    assert all(chart.proto.alt for chart in charts)


def test_everything_is_there_in_chinese() -> None:
    page = written(opened("zh", d="sample:leak"))
    for words in ("不要引用这些数字", "分用户 AUC", "在证伪之前按泄漏处理", "检查发现了什么", "严重：1"):
        assert words in page


ODD = {
    "no positives": [("u", f"i{n}", 0, n / 10) for n in range(10)],
    "no negatives": [("u", f"i{n}", 1, n / 10) for n in range(10)],
    "constant": [(f"u{n % 3}", f"i{n}", n % 2, 0.3) for n in range(12)],
    "one row": [("u", "i", 1, 0.7)],
    "raw scores": [(f"u{n % 5}", f"i{n}", n % 2, n * 7 - 50) for n in range(50)],
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ODD)
def test_odd_data_give_reasons_and_no_empty_number(file_of: WriteFile, name: str, language: str) -> None:
    file_of(ODD[name])
    at = opened(language)
    assert not at.exception
    page = written(at)
    for word in ("NaN", "None", "nan"):
        assert word not in page


def test_without_users_there_is_no_per_user_number_and_accuracy_has_its_baseline(file_of: WriteFile) -> None:
    file_of([(n % 4 == 0, n / 80) for n in range(80)], "label,score")
    page = written(opened())
    assert "GAUC" not in page
    assert "flagging nothing: 0.750" in page


def test_few_data_are_warned_about(file_of: WriteFile) -> None:
    file_of([(f"u{n % 3}", f"i{n}", n % 2, n / 20) for n in range(20)])
    assert "do not rank models on this." in written(opened())


def test_a_file_that_needs_a_decision_gets_a_red_box_and_no_number(file_of: WriteFile) -> None:
    file_of([("u", "i", 1, 0.5), ("u", "i", 0, 0.4), ("v", "i", 0, 0.1)])
    at = opened()
    assert not at.exception
    assert "repeats" in at.error[0].value
    assert not at.get("plotly_chart")


def test_without_data_the_page_offers_samples() -> None:
    at = opened()
    assert not at.exception
    assert [button.key for button in at.button if button.key.startswith("open_")]
