"""Small logs for tests of the checks, and one question: what does this check say about these data?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.diagnose import DiagnoseOptions, diagnose
from recmetrics.results import Cause, Finding
from tests.build import dataset


def ask(
    code: str,
    data: Dataset,
    config: EvalConfig | None = None,
    *,
    scope: str | None = None,
    model: str | None = None,
    **options: Any,
) -> Finding:
    """Return the one finding of a check, among several the one of this scope or model."""
    found = [f for f in diagnose(data, config, DiagnoseOptions(**options)) if f.code == code]
    if scope is not None:
        found = [f for f in found if f.scope == scope]
    if model is not None:
        found = [f for f in found if f.model == model]
    assert len(found) == 1, [(f.scope, f.model, f.status) for f in found]
    return found[0]


def cause(finding: Finding, name: str) -> Cause:
    """Return the cause of this name."""
    (found,) = [c for c in finding.causes if c.name == name]
    return found


def said(finding: Finding) -> str:
    """Return `info`, `warning` or `critical` when the finding was raised, else its status."""
    return finding.severity if finding.status in ("fired", "explained") else finding.status


def log(n: int, *, per_user: int = 10, every: int = 4, noise: float = 1.0, seed: int = 1) -> list[list[Any]]:
    """Return n rows [user, item, label, score]: every few-th is a positive, all scores differ, AUC is about .76."""
    rng = np.random.default_rng(seed)
    label = (np.arange(n) % every == 0).astype(float)
    # A shuffled order, or the positives would stand at the same places of every list.
    label = rng.permuted(label)
    score = noise * rng.normal(size=n) + label
    return [[f"u{i // per_user}", f"i{i % per_user}", label[i], score[i]] for i in range(n)]


def lists(*users: Sequence[float], scores: Sequence[Sequence[float]] | None = None) -> Dataset:
    """Return one list per argument: its labels, best score first, unless scores are given."""
    rows = []
    for u, labels in enumerate(users):
        for i, label in enumerate(labels):
            score = -float(i) - u / 1000 if scores is None else scores[u][i]
            rows.append((f"u{u}", f"i{i}", label, score))
    return dataset(rows)
