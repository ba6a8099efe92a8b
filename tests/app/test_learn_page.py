"""Learn: an entry for every registered metric in both languages, with a number worked out on the loaded data."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.evaluate import evaluate
from recmetrics.load import load
from recmetrics.metrics import METRICS
from recmetrics.samples import SAMPLES
from recmetrics.text import LANGUAGES, Text
from recmetrics.ui import state
from recmetrics.ui.views.learn import PARTS
from tests.app.opening import answer, opened, written

PAGE = "110_Learn"
LETTERS = "ABCDEFGHIJ"
LABELS = (1, 1, 0, 1, 0, 1, 0, 1, 0, 0)
SCORES = (0.9, 0.8, 0.75, 0.68, 0.55, 0.5, 0.42, 0.35, 0.2, 0.1)
SIX = ("i9", "i1", "i7", "i2", "i5", "i3")


def ten_rows() -> Dataset:
    lines = [f"{item},{label},{score}" for item, label, score in zip(LETTERS, LABELS, SCORES, strict=True)]
    return load(("ten.csv", "\n".join(["item,label,score", *lines]).encode()))


def six_list() -> Dataset:
    lines = [f"u,{item},{int(item in ('i1', 'i2', 'i3'))},{0.9 - 0.1 * i:.1f}" for i, item in enumerate(SIX)]
    return load(("six.csv", "\n".join(["user,item,label,score", *lines]).encode()))


def open_entry(at: AppTest, key: str) -> AppTest:
    at.session_state[state.learn_key(key)] = True
    return at.run()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_registered_metric_has_a_complete_entry(language: str) -> None:
    text = Text(language)
    missing = [f"{key}.{part}" for key in METRICS for part in PARTS if not text.has_content(f"glossary.{key}.{part}")]
    assert missing == []


# Worked by hand from four counts, 25 pairs and six places: metrics.md §5 and app.md §3.2; the glossary prints them.
ON_TEN = {
    "accuracy": 7 / 10,
    "precision": 4 / 6,
    "recall": 4 / 5,
    "f_beta": 8 / 11,
    "fpr": 2 / 5,
    "specificity": 3 / 5,
    "balanced_accuracy": 0.7,
    "mcc": 10 / 600**0.5,
    "prevalence": 0.5,
    "roc_auc": 19 / 25,
    "partial_auc": 0.5 * (1 + 0.035 / 0.095),
    "auprc": (1 + 1 + 3 / 4 + 4 / 6 + 5 / 8) / 5,
    "calibration_ratio": 5.25 / 5,
    "ece": 3.79 / 10,
    "uncertainty": 0.25,
    "discrimination": 0.25 - 6 * 0.25 / 10,
}
ON_SIX = {
    "hit_rate@3": 1.0,
    "precision@3": 1 / 3,
    "recall@3": 1 / 3,
    "f_beta@6": 6 / 9,
    "mrr@6": 1 / 2,
    "map@6": (1 / 2 + 2 / 4 + 3 / 6) / 3,
    "r_precision": 1 / 3,
}


@pytest.mark.parametrize("metric", ON_TEN)
def test_the_example_of_ten_rows_is_what_the_library_computes(metric: str) -> None:
    value = evaluate(ten_rows(), EvalConfig(), metrics=[metric]).values[0].value
    assert value == pytest.approx(ON_TEN[metric], abs=1e-12)
    assert f"{ON_TEN[metric]:.3f}" in Text("en").content(f"glossary.{metric}.example")


@pytest.mark.parametrize("metric", ON_SIX)
def test_the_example_of_six_items_is_what_the_library_computes(metric: str) -> None:
    value = evaluate(six_list(), EvalConfig(), metrics=[metric]).values[0].value
    assert value == pytest.approx(ON_SIX[metric], abs=1e-12)
    key = metric if metric in METRICS else re.sub("@.*", "@k", metric)
    assert f"{ON_SIX[metric]:.3f}" in Text("en").content(f"glossary.{key}.example")


@pytest.mark.parametrize("key", METRICS)
def test_both_languages_work_the_example_with_the_same_numbers(key: str) -> None:
    english, chinese = (Text(language).content(f"glossary.{key}.example") for language in ("en", "zh"))
    assert re.findall(r"\d+\.\d{2,3}", english) == re.findall(r"\d+\.\d{2,3}", chinese)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_entries_open_on_loaded_data(language: str) -> None:
    at = opened(PAGE, language, d="sample:healthy_clicks")
    for key in METRICS:
        at.session_state[state.learn_key(key)] = True
    at.run()
    assert not at.exception
    assert not re.search(r"\bnan\b|\bNone\b|glossary\.", written(at))


def test_an_entry_shows_the_value_of_the_loaded_data() -> None:
    sample = SAMPLES["healthy_clicks"]
    value = evaluate(load(*sample.paths, **sample.load_options), EvalConfig(), metrics=["ndcg@10"]).values[0]
    shown = written(open_entry(opened(PAGE, d="sample:healthy_clicks"), "ndcg@k"))
    assert f"**{Text('en').metric(value.value)}** · score\\_a" in shown
    assert f"{value.n_users} users" in shown


def test_options_are_shown_with_the_value_in_force() -> None:
    shown = written(open_entry(opened(PAGE, d="sample:lightgbm", cfg="default,gain=exp2"), "ndcg@k"))
    assert "`gain = exp2`" in shown


def test_without_data_the_small_example_stands_alone() -> None:
    shown = written(open_entry(opened(PAGE), "roc_auc"))
    assert "19 / 25 = 0" in shown
    assert "On the loaded data" not in shown


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("words", ["精确率", "Precision", "precision"])
def test_search_works_in_either_language(words: str, language: str) -> None:
    at = opened(PAGE, language)
    at.text_input(key=state.LEARN_SEARCH).set_value(words).run()
    labels = [fold.label for fold in at.expander]
    assert any("Precision@K" in label for label in labels)
    assert len(labels) < len(METRICS)


def test_a_search_without_a_match_says_so() -> None:
    at = opened(PAGE)
    at.text_input(key=state.LEARN_SEARCH).set_value("xyzzy").run()
    assert answer(at).startswith("**No metric fits.")
    assert not at.expander
