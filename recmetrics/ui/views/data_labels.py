"""Data, labels: what the values of the label column mean as numbers, asked where two readings are possible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from recmetrics.schema.labels import label_texts
from recmetrics.source import Source
from recmetrics.text import N_, Text
from recmetrics.ui import data_source, show, state
from recmetrics.ui.page import Frame

MOST_VALUES = 20
IN_A_ROW = 4


def meaning(
    frame: Frame, files: data_source.Parsed, columns: Mapping[str, Any] | None
) -> tuple[dict[str, float] | None, bool]:
    """Ask what the label values mean.

    Returns the label map, None where the file's own reading serves, and whether nothing is left open.
    """
    problem = frame.problem
    is_asked = problem is not None and problem.kind == "label_mapping_needed"
    found = _column(frame, files, columns)
    if found is None:
        return None, True
    file, column = found
    # The question in the red box is about one column; with another one chosen it may not arise.
    is_needed = is_asked and problem is not None and column == problem.facts["column"]
    texts = label_texts(file.table.column(column), column, file.name)
    if not 1 <= len(texts) <= MOST_VALUES:
        if is_needed:
            words = N_(
                "The label column has {n} different values, too many to give each a meaning. Choose another column."
            )
            show.caption(frame.text._(words, n=frame.text.count(len(texts))))
        return None, not is_needed
    _start(f"{state.current().source}|{file.name}|{column}", texts, _known(frame, texts))
    show.heading(frame.text._("What do the label values mean?"))
    given = _two(texts, frame.text) if len(texts) == 2 and is_needed else _several(texts, frame.text)
    if None in given.values():
        return None, not is_needed
    chosen = {text: float(value) for text, value in given.items() if value is not None}
    unchanged = frame.raw.n_rows > 0 and chosen == _known(frame, texts)
    return (st.session_state.get(state.LABEL_MAP) if unchanged else chosen), True


def _column(frame: Frame, files: data_source.Parsed, columns: Mapping[str, Any] | None) -> tuple[Source, str] | None:
    """Return the file and the column whose values have to be read."""
    problem = frame.problem
    chosen = None if columns is None else columns.get("label")
    if problem is not None and problem.kind == "label_mapping_needed":
        file = files.named(str(problem.facts["file"]))
        if file is not files.scored[0] or chosen is None:
            return file, str(problem.facts["column"])
    if chosen is None or files.scored[0].kind != "table":
        return None
    return files.scored[0], str(chosen)


def _known(frame: Frame, texts: list[str]) -> dict[str, float]:
    """Return the meaning in force of these values, as far as there is one."""
    known = {**(frame.raw.label_coding or {}), **(st.session_state.get(state.LABEL_MAP) or {})}
    return {text: known[text] for text in texts if text in known}


def _start(stamp: str, texts: list[str], known: Mapping[str, float]) -> None:
    if st.session_state.get(state.LABELS_OF) == stamp:
        return
    st.session_state[state.LABELS_OF] = stamp
    st.session_state[state.POSITIVE_VALUE] = next((text for text in texts if known.get(text) == 1), None)
    for place, text in enumerate(texts):
        st.session_state[state.label_key(place)] = known.get(text)


def _two(texts: list[str], text: Text) -> dict[str, float | None]:
    positive = st.radio(
        text._("Which value marks a positive row?"),
        texts,
        key=state.POSITIVE_VALUE,
        persist_state="session",
        format_func=show.plain,
        horizontal=True,
    )
    return {value: None if positive is None else float(value == positive) for value in texts}


def _several(texts: list[str], text: Text) -> dict[str, float | None]:
    show.caption(text._("The number is the grade: 0 = not relevant, 1 and more = relevant, higher is better."))
    found: dict[str, float | None] = {}
    for start in range(0, len(texts), IN_A_ROW):
        for column, place in zip(st.columns(IN_A_ROW), range(start, min(start + IN_A_ROW, len(texts))), strict=False):
            with column:
                found[texts[place]] = st.number_input(
                    show.plain(texts[place]),
                    key=state.label_key(place),
                    persist_state="session",
                    step=1.0,
                    format="%g",
                    placeholder=text._("grade"),
                )
    return found
