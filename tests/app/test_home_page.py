"""Home: four ways in, what is loaded in a sentence, and a stage that decides what is read first."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from recmetrics.config import EvalConfig
from recmetrics.evaluate import evaluate
from recmetrics.load import load
from recmetrics.samples import SAMPLES
from recmetrics.text import Text
from recmetrics.ui import state
from tests.app.opening import APP, answer, written


def home(language: str = "en", **query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=60)
    for key, value in {"v": "1", "lang": language, **query}.items():
        at.query_params[key] = value
    return at.run()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("source", ["", "sample:healthy_clicks", "sample:ten_rows", "upload:000000000000"])
def test_home_opens_whatever_is_loaded(source: str, language: str) -> None:
    at = home(language, **({"d": source} if source else {}))
    assert not at.exception
    assert not re.search(r"\bnan\b|\bNone\b|\{\w+\}", written(at))


def test_home_offers_four_doors() -> None:
    shown = written(home())
    for door in ("I have a file", "I want to look around", "A number looks wrong", "What does this metric mean?"):
        assert f"**{door}**" in shown


def test_the_sample_door_opens_a_sample() -> None:
    at = home()
    at.button(key=state.open_key("first")).click().run()
    assert at.session_state[state.SOURCE] == "sample:healthy_clicks"
    assert "3,783 rows, 160 users" in written(at)  # counted in the file, with a user id in each row


def test_the_headline_holds_the_numbers_of_the_library() -> None:
    sample, text = SAMPLES["leak"], Text("en")
    data = load(*sample.paths, **sample.load_options)
    report = evaluate(data, EvalConfig(), metrics=["roc_auc", "precision@10"])
    told = answer(home(d="sample:leak"))
    assert text.percent(report.find("roc_auc").value) in told
    assert text.percent(report.find("precision@10").value) in told


def test_the_findings_are_counted() -> None:
    assert "Do not use the number." in written(home(d="sample:leak"))


@pytest.mark.parametrize(
    ("stage", "ks"), [("recall", (100, 500, 1000)), ("ranking", (5, 10, 20)), ("ctr", (5, 10, 20)), ("push", (1, 3))]
)
def test_the_stage_sets_the_convention_and_the_numbers_that_lead(stage: str, ks: tuple[int, ...]) -> None:
    at = home(d="sample:healthy_clicks")
    before = written(at)
    at.segmented_control(key=state.STAGE).set_value(stage).run()
    config = at.session_state[state.CONFIG]
    assert (config.stage, config.ks) == (stage, ks)
    assert not at.exception
    assert written(at) != before


def test_a_k_that_somebody_chose_stays_when_the_stage_changes() -> None:
    at = home(d="sample:healthy_clicks", cfg="default,ks=7")
    at.segmented_control(key=state.STAGE).set_value("push").run()
    assert at.session_state[state.CONFIG].ks == (7,)


def test_home_says_what_it_does_not_do() -> None:
    assert "It trains nothing, sees no online traffic" in written(home())
