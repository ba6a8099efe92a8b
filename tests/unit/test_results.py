"""Reports, values and findings: what they find and what they write."""

from __future__ import annotations

import pytest

from recmetrics.evaluate import evaluate
from recmetrics.results import Cause, Evidence, Finding, MetricValue
from tests.build import dataset

ROWS = [("u", "a", 1, 0.9), ("u", "b", 0, 0.8), ("v", "a", 0, 0.7), ("v", "b", 1, 0.6)]
ROWS += [("w", "a", 0, 0.5), ("w", "b", 0, 0.4)]


def test_a_report_finds_by_name_model_and_group_and_says_what_it_lacks() -> None:
    data = dataset([row[:3] for row in ROWS], scores={"old": [6, 5, 4, 3, 2, 1], "new": [5, 6, 3, 4, 2, 1]})
    report = evaluate(data, metrics=["precision@1"])
    assert report.find("precision@1", model="new").model == "new"
    for missing in ({"metric": "recall@1"}, {"metric": "precision@1", "segment": ("city", "北京")}):
        with pytest.raises(KeyError):
            report.find(**missing)


def test_a_report_becomes_a_frame_of_one_row_per_value() -> None:
    data = dataset(ROWS, segments={"city": ["x"] * 3 + ["y"] * 3})
    frame = evaluate(data, metrics=["prevalence"], by="city").to_frame()
    assert frame["metric"].tolist() == ["prevalence"] * 3
    assert frame["segment"].tolist()[1:] == ["city=x", "city=y"]
    assert frame["value"].tolist() == pytest.approx([2 / 6, 1 / 3, 1 / 3])


def test_a_value_as_json_holds_what_it_has() -> None:
    bare = MetricValue("roc_auc", "score", None, "no positives").to_json()
    assert bare == {
        "metric": "roc_auc",
        "model": "score",
        "segment": None,
        "k": None,
        "value": None,
        "low": None,
        "high": None,
        "n_users": None,
        "n_rows": 0,
        "undefined": "no positives",
    }
    rich = MetricValue(
        "ndcg@3", "s", 0.5, k=3, segment=("c", "x"), skipped={"one_class": 2}, tie_low=0.4, extra={"a": 1}
    )
    found = rich.to_json()
    assert found["segment"] == {"column": "c", "value": "x"}
    assert (found["skipped"], found["tie_low"], found["extra"]) == ({"one_class": 2}, 0.4, {"a": 1})
    assert "tie_high" not in found


def test_only_a_fired_finding_above_information_is_an_alarm() -> None:
    fired = Finding("RM-501", "leakage_auc", "fired", "critical")
    assert fired.is_alarm
    assert not Finding("RM-501", "leakage_auc", "passed", "critical").is_alarm
    assert not Finding("RM-502", "seen", "fired", "info").is_alarm


def test_a_finding_as_json_names_its_evidence_and_causes() -> None:
    finding = Finding(
        "RM-501",
        "leakage_auc",
        "fired",
        "critical",
        model="score",
        facts={"auc": 0.97},
        evidence=(Evidence("roc"),),
        causes=(Cause("label_in_features", "supports", {"n": 1}),),
        next_steps=("look",),
    )
    found = finding.to_json()
    assert (found["code"], found["status"], found["facts"]) == ("RM-501", "fired", {"auc": 0.97})
    assert found["evidence"] == ["roc"]
    assert found["causes"] == [{"name": "label_in_features", "outcome": "supports", "facts": {"n": 1}}]
