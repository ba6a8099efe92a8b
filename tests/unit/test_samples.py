"""Every bundled sample loads without a word of help and raises exactly the alarm that its gallery card announces."""

from __future__ import annotations

from functools import lru_cache

import pytest

from recmetrics.dataset import Dataset
from recmetrics.diagnose import diagnose
from recmetrics.load import load
from recmetrics.results import Finding
from recmetrics.samples import SAMPLES

ALL = list(SAMPLES)
# Severities as sample_data/README.md names them.
SEVERITY = {
    "leak": "critical",
    "p_equals_r": "warning",
    "sampled_1_99": "critical",
    "row_shift": "critical",
    "who_clicks": "critical",
    "ten_rows": "warning",
    "lightgbm": "warning",
}
# LightGBM's file has a second score on purpose, full of ties; the sample takes the first.
GUESSED_ALIKE = [name for name in ALL if name != "lightgbm"]


@lru_cache
def dataset(name: str) -> Dataset:
    return load(*SAMPLES[name].paths, **SAMPLES[name].load_options)


@lru_cache
def findings(name: str) -> tuple[Finding, ...]:
    return diagnose(dataset(name))


def alarm(name: str) -> Finding:
    (only,) = [finding for finding in findings(name) if finding.is_alarm]
    return only


@pytest.mark.parametrize("name", ALL)
def test_a_sample_loads_completely_and_without_doubt(name: str) -> None:
    loaded = dataset(name)
    assert loaded.account.read == loaded.account.used == loaded.n_rows
    assert [issue for issue in loaded.issues if issue.severity != "info"] == []


@pytest.mark.parametrize("name", GUESSED_ALIKE)
def test_guessed_roles_are_those_of_the_gallery(name: str) -> None:
    assert load(*SAMPLES[name].paths).fingerprint == dataset(name).fingerprint


@pytest.mark.parametrize("name", ALL)
def test_a_sample_raises_exactly_its_alarm(name: str) -> None:
    expected = SAMPLES[name].fires
    found = [(finding.code, finding.severity) for finding in findings(name) if finding.is_alarm]
    assert found == ([] if expected is None else [(expected, SEVERITY[name])])


@pytest.mark.parametrize("name", ALL)
def test_no_check_crashes_on_a_sample(name: str) -> None:
    assert [finding.code for finding in findings(name) if finding.status == "error"] == []


def test_the_leak_is_certain_that_its_auc_is_above_095() -> None:
    assert alarm("leak").facts["low"] > 0.95
    assert alarm("leak").facts["confirmed"]


def test_precision_equals_recall_because_k_is_the_number_of_relevant_documents() -> None:
    assert alarm("p_equals_r").scope == "top_k"
    assert alarm("p_equals_r").facts["share"] == 1.0


def test_the_sampled_lists_are_one_positive_and_99_negatives() -> None:
    facts = alarm("sampled_1_99").facts
    assert (facts["list_positives"], facts["list_negatives"]) == (1, 99)


def test_the_shifted_rows_are_repaired_by_taking_the_label_of_the_next_row() -> None:
    (repair,) = [cause for cause in alarm("row_shift").causes if cause.name == "row_shift"]
    assert repair.outcome == "supports"
    assert repair.facts["rows_moved"] == 1


def test_the_score_that_knows_who_clicks_is_explained_by_the_mean_score_of_the_user() -> None:
    assert alarm("who_clicks").causes[0].name == "knows_who_clicks"
    assert alarm("who_clicks").causes[0].outcome == "supports"


def test_of_the_healthy_models_b_is_better_and_all_business_columns_are_there() -> None:
    healthy = dataset("healthy_clicks")
    assert healthy.models == ("score_a", "score_b")
    assert set(healthy.segments) == {"city", "device"}
    assert {"click", "purchase", "amount", "dwell_seconds", "position"} <= set(healthy.values)
