"""The shared controls. Each is made by one function, checks its value against the data first, and survives the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import streamlit as st

from recmetrics.dataset import Dataset
from recmetrics.text import LANGUAGES, Text
from recmetrics.ui import menu, state
from recmetrics.ui.show import clean


def _keep(key: str, allowed: Collection[Any], default: Any) -> None:
    """Put the value of a control back before it is made, its default when the data do not offer it.

    Always, not only when it is wrong: after a page switch the control is a new element to the browser, and what was put
    into the session without it would lose against the element's own empty start.
    """
    now = st.session_state.get(key)
    st.session_state[key] = now if now in allowed else default


def language() -> None:
    """Choose the language, each offered in its own."""
    _keep(state.LANGUAGE, LANGUAGES, state.current().language)
    st.segmented_control(
        "Language · 语言",
        list(LANGUAGES),
        format_func=lambda code: LANGUAGES[code],
        key=state.LANGUAGE,
        persist_state="session",
        label_visibility="collapsed",
        required=True,
        wrap=True,
    )


def model(data: Dataset, text: Text) -> None:
    """Choose the model; the first when the one chosen is not there."""
    _keep(state.MODEL, data.models, data.models[0])
    st.selectbox(
        text._("Model"),
        data.models,
        key=state.MODEL,
        persist_state="session",
        format_func=clean,
        disabled=len(data.models) == 1,
        help=text._("This file has one score column.") if len(data.models) == 1 else None,
    )


def segment(data: Dataset, text: Text) -> None:
    """Filter to one group of one segment column."""
    options: list[Any] = [state.EVERYTHING]
    for column, found in data.segments.items():
        options += [(column, label) for label in found.labels[:50]]
    _keep(state.SEGMENT, options, state.EVERYTHING)
    st.selectbox(
        text._("Segment filter"),
        options,
        key=state.SEGMENT,
        persist_state="session",
        format_func=lambda option: (
            text._("Everything") if option == state.EVERYTHING else f"{clean(option[0])} = {clean(option[1])}"
        ),
        disabled=len(options) == 1,
        help=text._("This file has no segment column.") if len(options) == 1 else None,
    )


def k(text: Text) -> int:
    """Choose the cutoff K, a whole number from 1 on."""
    now = int(st.session_state.get(state.K) or state.DEFAULT_K)
    st.session_state[state.K] = min(max(now, 1), state.HIGHEST_K)
    return int(
        st.number_input(
            text._("K: places a user sees"),
            1,
            state.HIGHEST_K,
            key=state.K,
            persist_state="session",
            step=1,
            format="%d",
        )
    )


def view(page: str, text: Text) -> str:
    """Choose the view of a page; only its code runs."""
    views = dict(menu.entry(page).views)
    key = state.view_key(page)
    _keep(key, views, next(iter(views)))
    chosen = st.segmented_control(
        text._("View"),
        list(views),
        format_func=lambda name: text._(views[name]),
        key=key,
        persist_state="session",
        label_visibility="collapsed",
        required=True,
        wrap=True,
    )
    return str(chosen or next(iter(views)))


def jump(label: str, page: str, *, key: str, icon: str | None = None, **changes: Any) -> None:
    """Offer a button that changes shared state and opens a page."""
    if st.button(label, key=key, icon=icon, on_click=_apply, args=(changes,)):
        st.switch_page(menu.entry(page).file)


def _apply(changes: Mapping[str, Any]) -> None:
    state.put(**changes)
