"""Every preset gives the numbers that its library gave on one small input with every trap in it.

Source: tests/data/convention_golden.json, outputs of the libraries named there (`presets[…].library`).
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.evaluate import evaluate, make_tables, per_user
from recmetrics.metrics import METRICS
from recmetrics.presets import PRESETS
from tests.build import dataset

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "convention_golden.json").read_text(encoding="utf-8"))
TOLERANCE = GOLDEN["tolerance"]["default"]
MEAN_NAMES = {"average_precision": "map", "reciprocal_rank": "mrr"}
# AUC over a part of the list is no metric of ours: values that exist only to reproduce one library are not offered yet.
NOT_OFFERED = "user_auc"


def golden_input(unjudged: float | None = None) -> Dataset:
    """Return the input; `unjudged` is the label of rows without a judgment."""
    given = GOLDEN["input"]
    truth = [(user, item, grade) for user, items in given["truth"].items() for item, grade in items.items()]
    rows = [
        (user, item, given["truth"].get(user, {}).get(item, unjudged), given["scores"][user][item])
        for user, item in given["row_order"]
    ]
    return dataset(rows, truth=truth)


def asked(preset: str, text: str) -> tuple[EvalConfig, str]:
    """Return the preset's convention changed as the brackets say, and the metric's bare name."""
    found = re.fullmatch(r"(\w+)(?:\[(.*)\])?(@\d+)?", text)
    assert found is not None
    name, brackets, cutoff = found.groups()
    name, cutoff = MEAN_NAMES.get(name, name), cutoff or ""
    entry = METRICS[f"{name}@k" if cutoff or f"{name}@k" in METRICS else name]
    changes = dict(part.split("=") for part in brackets.split(",")) if brackets else {}
    config = PRESETS[preset].config(**{entry.options[option]: value for option, value in changes.items()})
    return config, name + cutoff


def cells(part: str) -> list[tuple[str, str]]:
    return [
        (preset, text)
        for preset, metrics in GOLDEN[part].items()
        if preset in PRESETS
        for text in metrics
        if not text.startswith(NOT_OFFERED)
    ]


@pytest.mark.parametrize(("preset", "text"), cells("values"))
def test_each_user_has_the_value_that_the_library_reports(preset: str, text: str) -> None:
    data = golden_input()
    config, metric = asked(preset, text)
    values = per_user(make_tables(data, config, "score"), config, metric).values
    expected = GOLDEN["values"][preset][text]
    for user, value in zip(data.users, values, strict=True):
        if expected[user] is None:
            assert math.isnan(value), user
        else:
            assert value == pytest.approx(expected[user], abs=TOLERANCE), user


@pytest.mark.parametrize(("preset", "text"), cells("mean"))
def test_the_mean_and_who_is_counted_are_those_that_the_library_reports(preset: str, text: str) -> None:
    config, metric = asked(preset, text)
    value = evaluate(golden_input(), config, metrics=[metric]).values[0]
    expected: dict[str, Any] = GOLDEN["mean"][preset][text]
    assert value.value == pytest.approx(expected["value"], abs=TOLERANCE)
    assert value.n_users == expected["n_users"]


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("default, users_without_relevant=zero", {"users_without_relevant": "zero"}),
        ("default, users_missing_from_run=skip", {"users_missing_from_run": "skip"}),
    ],
)
def test_a_changed_population_rule_gives_the_published_means(rule: str, changes: dict[str, str]) -> None:
    for text, expected in GOLDEN["variants"][rule].items():
        config, metric = asked("default", text)
        value = evaluate(golden_input(), config.replace(**changes), metrics=[metric]).values[0]
        assert value.value == pytest.approx(expected["value"], abs=TOLERANCE), text
        assert value.n_users == expected["n_users"], text


def test_recbole_weights_each_users_auc_by_positives() -> None:
    value = evaluate(golden_input(unjudged=0.0), PRESETS["recbole"].config(), metrics=["gauc"]).values[0]
    assert value.value == pytest.approx(GOLDEN["globals"]["recbole gauc (= weight=positives)"], abs=TOLERANCE)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_holds_the_options_that_were_recorded_for_its_library(name: str) -> None:
    spelled = {"precision": "precision_denominator", "recall": "recall_denominator", "map": "map_denominator"}
    options = {
        spelled.get(key, key): value for key, value in GOLDEN["presets"][name]["options"].items() if key != "warn"
    }
    made = PRESETS[name].config()
    assert {field: getattr(made, field) for field in options} == options


def test_the_shared_input_is_the_one_that_the_libraries_were_given() -> None:
    data = golden_input()
    assert sorted(data.users) == GOLDEN["input"]["users"]
    assert np.count_nonzero(data.label >= 1) == 5  # globals: 15 scored rows, 5 positives
    assert data.n_rows == 15
