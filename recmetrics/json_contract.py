"""The JSON object that `--json` prints and that reports will carry: schema `recmetrics/1`, and never a NaN."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date
from importlib.metadata import version
from typing import Any

import numpy as np

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.results import Finding, Report
from recmetrics.usable import positive_rows

SCHEMA = "recmetrics/1"
DISTRIBUTION = "recmetrics-dashboard"


def document(
    command: str,
    dataset: Dataset,
    config: EvalConfig,
    *,
    report: Report | None = None,
    findings: Iterable[Finding] | None = None,
) -> dict[str, Any]:
    """Return the object of one command; keys that do not apply are absent."""
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "command": command,
        "version": version(DISTRIBUTION),
        "config": config.to_json(),
        "config_hash": config.hash,
        "dataset": describe(dataset, config, report.counts if report else {}),
    }
    if report is not None:
        found["values"] = [value.to_json() for value in report.values]
    if findings is not None:
        found["findings"] = [finding.to_json() for finding in findings]
    return dict(plain(found))


def describe(dataset: Dataset, config: EvalConfig, counts: Mapping[str, int]) -> dict[str, Any]:
    """Return what was read: fingerprint, sizes, where the rows went, and what was found doubtful."""
    account = dataset.account
    return {
        "fingerprint": dataset.fingerprint,
        "rows": dataset.n_rows,
        "users": dataset.n_users,
        "items": dataset.n_items,
        "positives": int(np.count_nonzero(positive_rows(dataset, config))),
        "counts": {"read": account.read, "used": account.used, "dropped": dict(account.dropped), **counts},
        "issues": [issue.to_json() for issue in dataset.issues],
    }


def plain(value: Any) -> Any:
    """Return JSON values only: NumPy scalars become Python's, a NaN or infinity becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


def to_text(found: Mapping[str, Any]) -> str:
    """Return the object as text, UTF-8, readable by a person too."""
    return json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1)
