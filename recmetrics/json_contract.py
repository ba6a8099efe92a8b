"""The JSON object that `--json` prints and that reports will carry: schema `recmetrics/1`, and never a NaN."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.results import Finding, Report
from recmetrics.schema.audit import Step, counting_steps, reading_steps
from recmetrics.usable import positive_rows, usable

SCHEMA = "recmetrics/1"
NO_ROWS = ("blank_lines", "comment_lines")  # issues about lines that hold no row
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
    return {
        "fingerprint": dataset.fingerprint,
        "rows": dataset.n_rows,
        "users": dataset.n_users,
        "items": dataset.n_items,
        "positives": int(np.count_nonzero(positive_rows(dataset, config))),
        "counts": {**_account(dataset, config), **counts},
        "issues": [issue.to_json() for issue in dataset.issues],
    }


def _account(dataset: Dataset, config: EvalConfig) -> dict[str, Any]:
    """Return the account as totals and, under `steps`, line by line; a line with `sum` states what those above are."""
    told = dataset.account
    return {
        "read": told.read,
        "merged": told.merged,
        "dropped": dict(told.dropped),
        "used": told.used,
        "steps": [_step(step, dataset) for step in row_steps(dataset, config)],
    }


def _step(step: Step, dataset: Dataset) -> dict[str, Any]:
    found: dict[str, Any] = {"step": step.code, "rows": step.rows}
    if step.is_sum:
        found["sum"] = True
    if step.code == "file":
        found["file"] = step.file
        found |= passed_over(dataset, step.file)
    return found


def row_steps(dataset: Dataset, config: EvalConfig) -> tuple[Step, ...]:
    """Return the account line by line, from the rows of every file to the rows in row metrics and in lists.

    It ends at the rows that can be used where the convention refuses to treat duplicates or odd scores.
    """
    read = reading_steps(dataset)
    try:
        kept = _kept(dataset, config)
    except RecmetricsError:
        return read
    return read + counting_steps(dataset, kept, config)


def _kept(dataset: Dataset, config: EvalConfig) -> NDArray[np.bool_]:
    """Return bool[n]: the rows that the convention's treatment of duplicates and odd scores leaves."""
    kept = np.ones(dataset.n_rows, dtype=bool)
    if usable(dataset, config).n_rows == dataset.n_rows:
        return kept
    # Row numbers repeat when files were joined; places do not, and tell which rows are left.
    numbered = replace(dataset, row_number=np.arange(dataset.n_rows, dtype=np.int64))
    kept[:] = False
    kept[usable(numbered, config).row_number] = True
    return kept


def passed_over(dataset: Dataset, file: str) -> dict[str, int]:
    """Return the lines of a file that are no rows, by kind: `blank_lines`, `comment_lines`."""
    found = (issue for issue in dataset.issues if issue.code in NO_ROWS and issue.facts.get("file") == file)
    return {issue.code: issue.count for issue in found}


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
