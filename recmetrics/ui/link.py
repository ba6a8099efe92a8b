"""The link: shared state to address and back, in canonical ASCII ids. No row data, no ids, no labels travel in it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import streamlit as st

from recmetrics.config import EvalConfig, whole_k
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.metrics.names import printed, typed
from recmetrics.presets import PRESETS
from recmetrics.text import LANGUAGES, N_, Text
from recmetrics.ui import menu, state
from recmetrics.ui.state import State

VERSION = "1"
MODES = ("score", "share", "topk", "precision", "recall", "cost")
_HERE = Path(__file__).parent
_frame = st.components.v2.component(
    "recmetrics.frame",
    js=(_HERE / "frame.js").read_text(encoding="utf-8"),
    css=(_HERE / "frame.css").read_text(encoding="utf-8"),
)


def label_code(label: str) -> str:
    """Return 8 hex digits that stand for a segment label: labels are data and stay out of addresses."""
    return hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def encode(now: State, view: str = "", columns: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return the query of a state; whatever stands at its default is left out, `v` never."""
    found = {"v": VERSION}
    if now.source:
        found["d"] = now.source
    if columns:
        found["map"] = ",".join(f"{role}:{name}" for role, name in columns.items() if isinstance(name, str))
    if now.model:
        found["model"] = now.model
    if now.segment:
        found["seg"] = f"{now.segment[0]}~{label_code(now.segment[1])}"
    if now.mode and now.value is not None:
        found["tm"], found["tv"] = now.mode, printed(float(now.value))
    if now.k != state.DEFAULT_K:
        found["k"] = str(now.k)
    config = encode_config(now.config)
    if config:
        found["cfg"] = config
    if now.language:
        found["lang"] = now.language
    if view:
        found["view"] = view
    return found


def encode_config(config: EvalConfig) -> str:
    """Return `default,gain=exp2`: a preset's id and the plain fields that differ from it; empty at the default."""
    changed = config.changed()
    plain = {
        k: v for k, v in changed.items() if isinstance(v, str | int | float) and k not in ("name", "note", "threshold")
    }
    if "ks" in changed:
        plain["ks"] = " ".join(str(k) for k in config.ks)
    return ",".join(["default", *(f"{key}={printed(value)}" for key, value in sorted(plain.items()))]) if plain else ""


def decode(query: Mapping[str, str]) -> tuple[State, dict[str, str], list[tuple[str, dict[str, str]]]]:
    """Return the state asked for, what can be resolved only once data are there (model, seg, map), and notices.

    Unknown keys are ignored; a value that cannot be honoured falls back to its default and is named in a notice.
    """
    notices: list[tuple[str, dict[str, str]]] = []

    def refuse(key: str) -> None:
        notices.append(
            (
                N_("This link asks for {key} = {value}, which is not available here."),
                {"key": key, "value": query[key][:60]},
            )
        )

    language = query.get("lang", "")
    if language and language not in LANGUAGES:
        refuse("lang")
        language = ""
    mode, value = query.get("tm", ""), None
    try:
        value = float(query["tv"]) if "tv" in query and mode in MODES else None
    except ValueError:
        refuse("tv")
    if mode and mode not in MODES:
        refuse("tm")
    k = state.DEFAULT_K
    if "k" in query:
        try:
            k = whole_k(query["k"])
        except RecmetricsError:
            refuse("k")
    config = EvalConfig()
    if "cfg" in query:
        try:
            config = decode_config(query["cfg"])
        except RecmetricsError:
            refuse("cfg")
    known = mode if mode in MODES and value is not None else ""
    asked = State(query.get("d", ""), "", None, known, value, k, config, language or state.browser_language())
    return asked, {key: query[key] for key in ("model", "seg", "map", "view") if key in query}, notices


def decode_config(text: str) -> EvalConfig:
    """Read what `encode_config` wrote."""
    base, *parts = text.split(",")
    config = PRESETS[base].config() if base != "default" else EvalConfig()
    changes: dict[str, Any] = {}
    for part in parts:
        key, _, value = part.partition("=")
        changes[key] = tuple(value.split()) if key == "ks" else typed(value)
    return config.replace(**changes)


def restore(page: str) -> dict[str, str]:
    """Take over the address on the first run of a session, and on a page switch that brings `v`.

    Returns what waits for the data (`model`, `seg`, `map`); notices are kept for the page to show.
    """
    query = {key: str(value) for key, value in st.query_params.items()}
    before = st.session_state.get(state.ARRIVED)
    st.session_state[state.ARRIVED] = page
    if before is not None and (before == page or "v" not in query):
        return {}
    asked, later, notices = decode(query)
    state.put(
        **{
            state.LANGUAGE: asked.language,
            state.NOTICES: notices,
            state.SOURCE: asked.source or _default_source(),
            state.MODE: asked.mode,
            state.VALUE: asked.value,
            state.K: asked.k,
            state.CONFIG: asked.config,
            state.MODEL: "",
            state.SEGMENT: None,
            state.COLUMNS: _mapping(query.get("map", "")),
        }
    )
    return later


def _default_source() -> str:
    """Return the files named on the command line when there are any: that is what the user started us for."""
    return "file:0" if os.environ.get("RECMETRICS_FILES") else ""


def _mapping(text: str) -> dict[str, str] | None:
    pairs = [part.partition(":") for part in text.split(",") if ":" in part]
    return {role: name for role, _, name in pairs} or None


def resolve(later: Mapping[str, str], dataset: Dataset) -> None:
    """Honour what only the data can answer: the model and the segment of the link."""
    notices = list(st.session_state.get(state.NOTICES) or [])
    if "model" in later:
        if later["model"] in dataset.scores:
            state.put(**{state.MODEL: later["model"]})
        else:
            notices.append(
                (N_("This link asks for model {value}, which this file does not have."), {"value": later["model"][:60]})
            )
    if "seg" in later:
        column, _, code = later["seg"].rpartition("~")
        labels = dataset.segments[column].labels if column in dataset.segments else ()
        matching = [label for label in labels if label_code(label) == code]
        if matching:
            state.put(**{state.SEGMENT: (column, matching[0])})
        else:
            notices.append(
                (N_("This link asks for a group of {value}, which this file does not have."), {"value": column[:60]})
            )
    st.session_state[state.NOTICES] = notices


def view_asked(page: str, later: Mapping[str, str]) -> None:
    """Open the view that the link names, when the page has it."""
    views = [view for view, _ in menu.entry(page).views]
    if later.get("view") in views:
        state.put(**{state.view_key(page): later["view"]})


def query_of(page: str) -> str:
    """Return the query string of the state as it stands, for this page."""
    entry = menu.entry(page)
    view = st.session_state.get(state.view_key(page), "") if entry.views else ""
    shown = view if entry.views and view != entry.views[0][0] else ""
    return urlencode(
        encode(state.current(), shown or "", st.session_state.get(state.COLUMNS)), quote_via=quote, safe=":,~="
    )


def sync(page: str, text: Text, *, button: bool = False) -> None:
    """Write the address bar. The frame mounts it once with the button; every fragment with a shared control ends with it."""
    data = {
        "stamp": int(time.time() * 1000),
        "lang": {"zh": "zh-CN"}.get(text.language, text.language),
        "query": query_of(page),
        "button": button,
        "label": text._("Copy link"),
        "done": text._("Link copied"),
    }
    _frame(data=data, key=f"frame_{'page' if button else 'fragment'}", height="content")
