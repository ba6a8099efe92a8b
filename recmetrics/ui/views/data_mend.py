"""Data, mending: why nothing can be computed yet, and the controls that change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
import streamlit as st

from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.text import N_, Text
from recmetrics.ui import data_source, show, state
from recmetrics.ui.page import Frame
from recmetrics.ui.views import data_mapping, data_turns

# What a change of the mapping can mend; every other problem lies in the file itself.
MAPPABLE = frozenset(
    {
        "label_mapping_needed",
        "no_label_column",
        "no_score_column",
        "no_user_column",
        "no_item_column",
        "no_column",
        "score_not_numeric",
        "ids_do_not_match",
        "format",
    }
)
COPIES = {
    "error": N_("Stop and say so"),
    "keep_best": N_("Keep the row with the best score"),
    "keep_first": N_("Keep the first row"),
    "keep_last": N_("Keep the last row"),
}
JUDGED_COPIES = {**COPIES, "keep_best": N_("Keep the highest grade")}
ODD_SCORES = {
    "error": N_("Stop and say so"),
    "drop": N_("Leave the rows out"),
    "last": N_("Rank them last in their list"),
}
TREATMENTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "duplicates": (N_("When a user–item pair occurs more than once"), COPIES),
    "truth_duplicates": (N_("When the truth judges a pair more than once"), JUDGED_COPIES),
    "missing_scores": (N_("When a score is missing"), ODD_SCORES),
    "infinite_scores": (N_("When a score is infinite"), ODD_SCORES),
}


def mend(frame: Frame, view: str) -> Frame:
    """Show what stands in the way with the controls that change it; return the frame with the rows that count."""
    if frame.problem is not None:
        _unopened(frame, frame.problem, view)
        return frame
    if not frame.raw.n_rows:
        return frame
    try:
        return replace(frame, data=data_source.usable_rows(frame.raw, frame.config, None))
    except RecmetricsError as problem:
        show.error(problem, frame.text)
        if view != "quality":
            treatments(frame)
        return frame


def _unopened(frame: Frame, problem: RecmetricsError, view: str) -> None:
    text = frame.text
    show.error(problem, text)
    if problem.kind not in MAPPABLE:
        if view != "source":
            data_turns.turn_to("source", text._("Choose other data"))
        return
    if view == "source":
        with suppress(RecmetricsError):  # a file that cannot be parsed has no columns; the red box says so
            data_source.parsed(frame.state.source, frame.config)
            data_mapping.mapping(frame)
    elif view != "mapping":
        data_turns.turn_to("mapping", text._("Correct the mapping"))


def treatments(frame: Frame) -> None:
    """Offer what to do about rows that no metric can use as they are; nothing when there are none."""
    text = frame.text
    needed = fields_needed(frame.raw)
    if not needed:
        return
    show.heading(text._("How to treat these rows"))
    for field in needed:
        title, options = TREATMENTS[field]
        key = state.fact_key(field)
        st.session_state[key] = getattr(frame.config, field)
        st.radio(
            text._(title),
            list(options),
            key=key,
            horizontal=True,
            format_func=words(options, text),
            on_change=change,
            args=(field,),
        )
    show.caption(text._("The choice becomes part of the convention and stands in every export."))


def words(options: Mapping[str, str], text: Text) -> Callable[[str], str]:
    """Return the function that says an option in the chosen language."""
    return lambda option: text._(options[option])


def fields_needed(data: Dataset) -> list[str]:
    """Return the fields of the convention that decide about rows of these data."""
    scores = [array[data.rows_of(model)] for model, array in data.scores.items()]
    found = {
        "duplicates": len(data.surplus_rows) > 0,
        "truth_duplicates": any(issue.code == "truth_duplicates" for issue in data.issues),
        "missing_scores": any(np.isnan(array).any() for array in scores),
        "infinite_scores": any(np.isinf(array).any() for array in scores),
    }
    return [field for field in TREATMENTS if found[field]]


def change(field: str) -> None:
    """Write the control of a field into the convention."""
    state.put(**{state.CONFIG: state.current().config.replace(**{field: st.session_state[state.fact_key(field)]})})
