"""RM-206, 207 and 209: labels that are no grades, below zero, or too large for an exponential gain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, cause, lists, said


def grades(*values: float) -> Dataset:
    """Return one list of these labels and a 0."""
    return dataset([("u", f"i{n}", value, -float(n)) for n, value in enumerate([*values, 0.0])])


def test_watch_seconds_are_no_grades() -> None:
    made = make("E6")
    found = ask("RM-206", made.dataset, made.config)
    assert said(found) == "warning"
    assert cause(found, "duration_or_price").outcome == "supports"
    assert found.facts["n_distinct"] > 20


@pytest.mark.parametrize(
    ("values", "severity"),
    [
        (range(1, 11), "passed"),
        ([i / 2 for i in range(1, 11)], "passed"),
        (range(1, 21), "passed"),
        (range(1, 22), "warning"),
        ([1, 2, 20], "passed"),
        ([1, 2, 21], "warning"),
        ([i / 2 for i in range(1, 12)], "warning"),
    ],
    ids=["1 to 10", "half stars", "20 values", "21 values", "largest 20", "largest 21", "11 values with halves"],
)
def test_labels_are_no_grades_when_too_many_too_large_or_fractional(values: list[float], severity: str) -> None:
    assert said(ask("RM-206", grades(*values))) == severity


def test_the_top_item_of_amounts_holds_most_of_the_ideal_gain() -> None:
    # Ideal list 30, 1: linear 30/(30 + 1/log2 3) = .9794; exponential gains differ by 2^29, so the share is 1.
    facts = ask("RM-206", grades(30, 1)).facts
    assert abs(facts["top_share_linear"] - 30 / (30 + 0.6309297535714575)) < 1e-12
    assert abs(facts["top_share_exp2"] - 1) < 1e-8


def test_binary_labels_are_no_grades_to_judge() -> None:
    assert ask("RM-206", grades(1, 1)).reason == "binary_labels"


def test_grades_of_the_truth_are_judged_as_well() -> None:
    data = dataset([("u", "i0", 1.0, 0.2), ("u", "i1", 0.0, 0.1)], truth=[("u", "i0", 1), ("u", "i9", 300)])
    assert ask("RM-206", data).facts["maximum"] == 300


def test_labels_below_zero_are_critical_until_a_map_is_declared() -> None:
    made = make("E7")
    found = ask("RM-207", made.dataset, made.config)
    assert said(found) == "critical"
    assert found.facts["count"] == int((made.dataset.label < 0).sum()) > 0
    mapped = replace(made.dataset, label_coding={"bad": -1.0, "0": 0.0, "1": 1.0})
    assert said(ask("RM-207", mapped)) == "info"
    assert said(ask("RM-207", replace(made.dataset, label_coding={"-1": -1.0, "0": 0.0, "1": 1.0}))) == "critical"
    assert said(ask("RM-207", made.dataset, EvalConfig(grade_map={"-1": 0.0}))) == "info"


def test_minus_one_and_one_are_a_coding_of_two_classes() -> None:
    found = ask("RM-207", labelled([-1, 1, -1], [0.1, 0.2, 0.3]))
    assert said(found) == "info"
    assert cause(found, "binary_coding").outcome == "supports"


def test_zero_is_not_below_zero() -> None:
    assert said(ask("RM-207", labelled([0, 1], [0.1, 0.2]))) == "passed"


@pytest.mark.parametrize(("largest", "severity"), [(20, "passed"), (21, "warning"), (52, "warning"), (53, "critical")])
def test_exponential_gain_is_refused_by_size_of_the_largest_grade(largest: float, severity: str) -> None:
    found = ask("RM-209", grades(1, largest), EvalConfig(gain="exp2"))
    assert (said(found), found.facts["maximum"]) == (severity, largest)


def test_labels_that_are_no_grades_explain_the_overflow() -> None:
    assert ask("RM-209", grades(1, 2, 300), EvalConfig(gain="exp2")).explained_by == "RM-206"


def test_linear_gain_never_overflows() -> None:
    assert ask("RM-209", lists([300, 1])).reason == "linear_gain"
