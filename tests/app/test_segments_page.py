"""Segments: the table's numbers are the API's, small groups stay grey, names from data stay text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recmetrics.evaluate import evaluate
from recmetrics.load import load
from recmetrics.samples import SAMPLES
from tests.app.opening import answer, figure, opened, write_rows, written

PAGE = "70_Segments"
SAMPLE = "sample:healthy_clicks"
HEADER = "user,item,label,score,city"


@pytest.fixture
def healthy():
    sample = SAMPLES["healthy_clicks"]
    return load(*sample.paths, **sample.load_options)


def rows(n: int = 40, *, weak: str = "south") -> list[tuple[object, ...]]:
    """n users per city, each with a hit and a miss; in the weak city three of four users are ranked the wrong way."""
    found = []
    for city in ("north", "south"):
        for i in range(n):
            right = city != weak or i % 4 == 0
            found += [(f"{city}{i}", "a", 1, 0.9 if right else 0.1, city), (f"{city}{i}", "b", 0, 0.5, city)]
    return found


def table(at):
    return at.dataframe[0].value


@pytest.mark.parametrize("metric", ["roc_auc", "gauc", "recall", "ndcg@k"])
def test_every_value_of_the_table_is_the_one_of_evaluate(healthy, metric: str) -> None:
    at = opened(PAGE, d=SAMPLE, tm="score", tv="0.5")
    at.selectbox(key="segments_metric").set_value(metric).run()
    assert not at.exception
    column, label = next(iter(healthy.segments)), table(at).columns[4]
    asked = metric.replace("@k", "@10")
    report = evaluate(healthy, metrics=[asked], by=column, models=[healthy.models[0]])
    expected = {value.segment[1] if value.segment else "all rows": value.value for value in report.values}
    for name, value in zip(table(at)["group"], table(at)[label], strict=True):
        assert value == pytest.approx(expected[name], abs=1e-12)


def test_the_weakest_group_is_named_with_its_gap_and_its_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # AUC: north 1, south 1/4 (a quarter of its positives beats the misses), so a gap of .750 and all of the lost pairs.
    write_rows(tmp_path, monkeypatch, rows(), HEADER)
    at = opened(PAGE, d="file:0")
    assert not at.exception
    words = answer(at)
    assert words.startswith("**south lies 0.750 below the rest in AUC [")
    assert words.endswith("and holds 100.0% of all errors with 50.0% of the rows.**")


def test_the_sentence_is_there_in_chinese_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, rows(), HEADER)
    assert answer(opened(PAGE, "zh", d="file:0")).startswith("**south 的 AUC 比其余低 0.750 [")


def test_groups_without_a_difference_are_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, rows(weak="none"), HEADER)
    assert answer(opened(PAGE, d="file:0")) == "**No group lies behind the rest.**"


def test_too_few_rows_are_said_and_the_limit_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, rows(n=12), HEADER)
    at = opened(PAGE, d="file:0")
    assert answer(at) == "**No group has enough rows of both classes to be judged.**"
    assert set(table(at)["remark"][1:]) == {"too small to judge"}
    at.number_input(key="segments_least").set_value(5).run()
    assert answer(at).startswith("**south lies 0.750 below the rest")
    assert "remark" not in table(at)


def test_one_class_is_a_dash_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, [*rows(), ("x", "a", 0, 0.3, "empty")], HEADER)
    found = table(opened(PAGE, d="file:0"))
    last = found[found["group"] == "empty"].iloc[0]
    assert last["remark"] == "no positives"
    assert last.isna()["AUC"]


def test_a_file_without_segments_says_where_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, [("u", "a", 1, 0.5), ("u", "b", 0, 0.2)])
    at = opened(PAGE, d="file:0")
    assert not at.exception
    assert "no segment column" in written(at)


def test_a_chosen_threshold_decides_what_an_error_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # At ≥ .95 nothing is flagged: every positive is an error, as many in north as in south.
    write_rows(tmp_path, monkeypatch, rows(), HEADER)
    at = opened(PAGE, d="file:0", tm="score", tv="0.95")
    assert list(table(at)["share of errors"]) == [1.0, 0.5, 0.5]
    assert "wrong side of the threshold" in written(at)


def test_metrics_at_the_threshold_use_the_one_of_the_threshold_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path, monkeypatch, rows(), HEADER)
    at = opened(PAGE, d="file:0", tm="score", tv="0.05")
    at.selectbox(key="segments_metric").set_value("recall").run()
    assert set(table(at)[table(at).columns[4]]) == {1.0}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_names_from_the_data_are_shown_letter_by_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    hostile = {"north": "<img src=x onerror=alert(1)>", "south": "**b** :red[x] $x$ {n} [a](javascript:1)"}
    named = [(*row[:4], hostile[str(row[4])]) for row in rows()]
    write_rows(tmp_path, monkeypatch, named, "user,item,label,score,{n}<b>")
    at = opened(PAGE, language, d="file:0")
    assert not at.exception
    assert r"\*\*b\*\* \:red\[x\] \$x\$ \{n\} \[a\]\(javascript\:1\)" in answer(at)
    labels = figure(at, "segments_chart")["layout"]["yaxis"]["ticktext"]
    assert not [label for label in labels if "<" in label]


def test_empty_cells_are_a_group_of_their_own_and_many_values_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [(f"u{i}", item, int(item == "a"), 0.1 * i, f"c{i % 60}" if i else "") for i in range(120) for item in "ab"]
    write_rows(tmp_path, monkeypatch, many, HEADER)
    # A column of so many values is no segment by itself: the link says that it is one.
    at = opened(PAGE, d="file:0", map="user:user,item:item,label:label,score:score,segment:city")
    assert not at.exception
    names = list(table(at)["group"])
    assert "(no entry)" in names
    assert "other (10 values)" in names
    assert len(names) == 1 + 50 + 2


def test_the_segment_filter_is_ignored_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, rows(), HEADER)
    at = opened(PAGE, d="file:0")
    at.selectbox(key="segment").set_value(("city", "north")).run()
    assert "This page ignores the segment filter" in written(at)
    assert list(table(at)["rows"]) == [160, 80, 80]
    assert not re.search(r"\bnan\b|\bNone\b", written(at))
