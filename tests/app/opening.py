"""Opens a page of the app as the first request of a session, on a file written by the test."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).parents[2] / "app.py")


def opened(page: str, language: str = "en", **query: str) -> AppTest:
    """Open a page such as `40_Ranking` as the first request of a session."""
    at = AppTest.from_file(APP, default_timeout=60)
    for key, value in {"v": "1", "lang": language, **query}.items():
        at.query_params[key] = value
    at.switch_page(f"pages/{page}.py")
    return at.run()


def write_rows(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: Sequence[Sequence[Any]],
    header: str = "user,item,label,score",
) -> Path:
    """Start the app with a CSV file of these rows; the query `d=file:0` opens it."""
    path = folder / "rows.csv"
    lines = [header, *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("RECMETRICS_FILES", str(path))
    return path


def answer(at: AppTest) -> str:
    """Return the sentence that answers the page's question."""
    found = next(block for block in at.main.children.values() for block in _below(block) if _key(block) == "answer")
    return str(next(element for element in _below(found) if element.type == "markdown").value)


def _below(block: Any) -> list[Any]:
    children = getattr(block, "children", {})
    return [block, *(inner for child in children.values() for inner in _below(child))]


def _key(block: Any) -> str:
    return str(getattr(getattr(block, "proto", None), "id", "")).rpartition("-")[2]


def written(at: AppTest) -> str:
    """Return everything written on the page, figures and tables left out."""
    boxes = [*at.markdown, *at.caption, *at.info, *at.subheader, *at.title, *at.error, *at.warning]
    folds = [getattr(fold, "label", "") for fold in at.expander]
    return "\n".join([str(box.value) for box in boxes] + [str(label) for label in folds])


def figure(at: AppTest, key: str) -> dict[str, Any]:
    """Return the Plotly specification of the chart with this key."""
    found = next(chart for chart in at.get("plotly_chart") if chart.proto.id.endswith(key))
    return dict(json.loads(found.proto.spec))


def numbers(given: Any) -> NDArray[np.float64]:
    """Return the numbers of an axis of a trace, which travel as a typed array or as a list."""
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"]).astype(float)
    return np.asarray(given, dtype=float)
