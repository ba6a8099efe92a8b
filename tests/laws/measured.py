"""Evaluate small random data and compare the numbers of two evaluations."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset, Segment
from recmetrics.evaluate import evaluate
from recmetrics.results import MetricValue
from tests.build import dataset
from tests.oracle import Case

N_CASES = 8
CONFIG = EvalConfig(ks=(3,), catalogue_size=20)


def rich(given: Case, **how: Any) -> Dataset:
    """Return the case with every column that some metric needs."""
    n = len(given.rows)
    relevant = [float((row[2] or 0) >= 1) for row in given.rows]
    values = {
        "click": relevant,
        "purchase": [float((row[2] or 0) >= 2) for row in given.rows],
        "amount": [10.0 * (row[2] or 0) for row in given.rows],
        "dwell_seconds": [float(i % 7) for i in range(n)],
        "rating": [float(i % 5) for i in range(n)],
    }
    train = [(user, item) for i, (user, item, _, _) in enumerate(given.rows) if i % 2]
    return dataset(given.rows, truth=given.truth, train=train, values=values, **how)


def measured(data: Dataset, strings: list[str], config: EvalConfig = CONFIG) -> dict[str, MetricValue]:
    """Return string → value, all from one evaluation."""
    return dict(zip(strings, evaluate(data, config, metrics=strings).values, strict=True))


def numbers(data: Dataset, strings: list[str], config: EvalConfig = CONFIG) -> dict[str, float]:
    """Return string → number, NaN when undefined."""
    return {
        text: math.nan if found.value is None else found.value
        for text, found in measured(data, strings, config).items()
    }


def same(one: dict[str, float], other: dict[str, float], tolerance: float = 0.0) -> None:
    """Assert that two evaluations give the same numbers."""
    for text, number in one.items():
        if tolerance == 0.0:
            assert number == other[text] or (math.isnan(number) and math.isnan(other[text])), text
        else:
            assert other[text] == pytest.approx(number, rel=0, abs=tolerance, nan_ok=True), text


def rearranged(data: Dataset, order: Any) -> Dataset:
    """Return the dataset with its rows in another order."""
    return replace(
        data,
        user=data.user[order],
        item=data.item[order],
        label=data.label[order],
        scores={model: array[order] for model, array in data.scores.items()},
        values={role: array[order] for role, array in data.values.items()},
        segments={name: Segment(s.codes[order], s.labels) for name, s in data.segments.items()},
        row_number=data.row_number[order],
        fingerprint="",
    )


def with_scores(data: Dataset, scores: Any) -> Dataset:
    return replace(data, scores={"score": np.asarray(scores)}, fingerprint="")
