"""The JSON object that others build on."""

import json
from datetime import date

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.json_contract import document, plain, to_text
from recmetrics.results import Finding, MetricValue, Report
from tests.build import dataset

DATA = dataset([("u", "a", 1, 0.9), ("u", "b", 0, 0.1), ("v", "a", 0, 0.4)])
VALUE = MetricValue("ndcg@10", "score", None, "no users with relevant items", k=10)
REPORT = Report((VALUE,), EvalConfig(), DATA.fingerprint, {"users_averaged": 0})


def test_numbers_of_numpy_become_plain_ones() -> None:
    assert plain({"a": np.int64(3), "b": np.float32(0.5), "c": np.array([1, 2]), "d": np.bool_(True)}) == {
        "a": 3,
        "b": 0.5,
        "c": [1, 2],
        "d": True,
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_what_json_has_no_number_for_is_null(value: float) -> None:
    assert plain([value]) == [None]


def test_dates_and_tuples_have_their_json_form() -> None:
    assert plain((date(2026, 3, 22), None, "x")) == ["2026-03-22", None, "x"]


def test_an_evaluation_carries_values_and_no_findings() -> None:
    found = document("evaluate", DATA, EvalConfig(), report=REPORT)
    assert list(found) == ["schema", "command", "version", "config", "config_hash", "dataset", "values"]
    assert found["schema"] == "recmetrics/1"
    assert found["config_hash"] == EvalConfig().hash


def test_a_diagnosis_carries_findings_and_no_values() -> None:
    finding = Finding("RM-501", "leakage", "fired", "critical", "score", facts={"auc": np.float64(0.99)})
    found = document("diagnose", DATA, EvalConfig(), findings=[finding])
    assert list(found) == ["schema", "command", "version", "config", "config_hash", "dataset", "findings"]
    assert found["findings"][0]["facts"] == {"auc": 0.99}


def test_the_dataset_is_described_with_sizes_counts_and_issues() -> None:
    described = document("evaluate", DATA, EvalConfig(), report=REPORT)["dataset"]
    assert list(described) == ["fingerprint", "rows", "users", "items", "positives", "counts", "issues"]
    assert (described["rows"], described["users"], described["items"], described["positives"]) == (3, 2, 2, 1)
    assert described["counts"]["users_averaged"] == 0


def test_an_undefined_value_is_null_with_its_reason() -> None:
    value = document("evaluate", DATA, EvalConfig(), report=REPORT)["values"][0]
    assert (value["value"], value["undefined"]) == (None, "no users with relevant items")


def test_the_text_is_valid_json_and_keeps_chinese_readable() -> None:
    assert json.loads(to_text({"城市": "北京"})) == {"城市": "北京"}
    assert "北京" in to_text({"城市": "北京"})
