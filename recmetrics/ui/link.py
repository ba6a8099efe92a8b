"""The link: shared state to address and back, in canonical ASCII ids. No row data, no ids, no segment labels in it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import streamlit as st

from recmetrics.config import EvalConfig, whole_k
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.metrics.names import printed, typed
from recmetrics.presets import PRESETS
from recmetrics.samples import SAMPLES
from recmetrics.text import LANGUAGES, N_, Text
from recmetrics.ui import menu, state
from recmetrics.ui.state import State

VERSION = "1"
MODES = ("score", "share", "topk", "precision", "recall", "cost")
BASE = "default"  # what a convention in a link starts from when no preset is named
PRIVATE = ("name", "note", "schema_version")  # typed by people, or constant: never in an address
_SOURCE = re.compile(r"sample:[A-Za-z0-9_-]+|file:0|server:.{1,400}|upload:[0-9a-f]{12}")
_HERE = Path(__file__).parent
_frame = st.components.v2.component(
    "recmetrics.frame",
    js=(_HERE / "frame.js").read_text(encoding="utf-8"),
    css=(_HERE / "frame.css").read_text(encoding="utf-8"),
)

Notice = tuple[str, dict[str, str]]
NOT_HERE = N_("This link asks for {key} = {value}, which is not available here.")


@dataclass
class Asked:
    """What an address asks for: the state, what only the data can answer (`later`), and what could not be honoured."""

    state: State
    columns: dict[str, Any] | None = None
    label_map: dict[str, float] | None = None
    later: dict[str, str] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)


def label_code(label: str) -> str:
    """Return 8 hex digits that stand for a segment label: labels are data and stay out of addresses."""
    return hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:8]


# State to address ---------------------------------------------------------------------------------------------------


def encode(
    now: State,
    view: str = "",
    columns: Mapping[str, Any] | None = None,
    label_map: Mapping[str, float] | None = None,
) -> dict[str, str]:
    """Return the query of a state; whatever stands at its default is left out, `v` never."""
    found = {"v": VERSION}
    if now.source:
        found["d"] = now.source
    if columns:
        found["map"] = encode_columns(columns)
    if label_map:
        found["labels"] = ",".join(f"{_safe(text)}:{printed(float(value))}" for text, value in label_map.items())
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


def encode_columns(columns: Mapping[str, Any]) -> str:
    """Return `role:name` pairs; several columns of a role are several pairs, `role:` says that there is none."""
    pairs = []
    for role, given in columns.items():
        names = [""] if given is None else given if isinstance(given, list | tuple) else [given]
        pairs += [f"{role}:{_safe(str(name))}" for name in names]
    return ",".join(pairs)


def encode_config(config: EvalConfig) -> str:
    """Return `default,gain=exp2`: the fields that differ from the defaults; empty when none does."""
    values = config.to_json()
    changed = [name for name in config.changed() if name not in PRIVATE]
    parts = [f"{name}={_safe(_written(values[name]))}" for name in sorted(changed)]
    return ",".join([BASE, *parts]) if parts else ""


def _written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")) if isinstance(value, list | dict) else printed(value)


def _safe(text: str) -> str:
    """Escape what separates: names hold commas, colons and anything else."""
    return quote(text, safe="")


# Address to state ---------------------------------------------------------------------------------------------------


def decode(query: Mapping[str, str]) -> Asked:
    """Return what an address asks for.

    Unknown keys are ignored; a value that cannot be honoured falls back to its default and is named in a notice.
    """
    asked = Asked(State())
    language = _honoured(asked, query, "lang", _language) or state.browser_language()
    mode = _honoured(asked, query, "tm", _mode)
    value = _honoured(asked, query, "tv", _finite) if mode else None
    asked.columns = _honoured(asked, query, "map", decode_columns)
    asked.label_map = _honoured(asked, query, "labels", decode_labels)
    asked.state = State(
        source=_honoured(asked, query, "d", _source) or "",
        mode=mode if mode and value is not None else "",
        value=value,
        k=_honoured(asked, query, "k", _k) or state.DEFAULT_K,
        config=_honoured(asked, query, "cfg", decode_config) or EvalConfig(),
        language=language,
    )
    asked.later = {key: query[key] for key in ("model", "seg", "view") if key in query}
    return asked


def _honoured(asked: Asked, query: Mapping[str, str], key: str, read: Any) -> Any:
    """Return what `read` makes of a value; None and a notice when it refuses."""
    if key not in query:
        return None
    try:
        return read(query[key])
    except (RecmetricsError, ValueError, OverflowError, RecursionError):  # the last: brackets nested without end
        asked.notices.append((NOT_HERE, {"key": key, "value": query[key][:60]}))
        return None


def _language(text: str) -> str:
    return _one_of(text, LANGUAGES)


def _mode(text: str) -> str:
    return _one_of(text, MODES)


def _one_of(text: str, known: Any) -> str:
    if text not in known:
        raise ValueError(text)
    return text


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _k(text: str) -> int:
    k = whole_k(text)
    if k > state.HIGHEST_K:
        raise ValueError(text)
    return k


def _source(text: str) -> str:
    if not _SOURCE.fullmatch(text):
        raise ValueError(text)
    kind, _, name = text.partition(":")
    return text if kind != "sample" else f"sample:{_one_of(name, SAMPLES)}"


def decode_columns(text: str) -> dict[str, Any]:
    """Read what `encode_columns` wrote."""
    found: dict[str, list[str]] = {}
    for part in text.split(","):
        role, separator, name = part.partition(":")
        if not separator or not role:
            raise ValueError(part)
        found.setdefault(role, []).append(unquote(name))
    return {role: (names if len(names) > 1 else names[0] or None) for role, names in found.items()}


def decode_labels(text: str) -> dict[str, float]:
    """Read `label:number` pairs."""
    pairs = [part.rpartition(":") for part in text.split(",")]
    return {unquote(label): _finite(value) for label, _, value in pairs}


def decode_config(text: str) -> EvalConfig:
    """Read what `encode_config` wrote; the first word may be a preset as well."""
    base, *parts = text.split(",")
    config = EvalConfig() if base == BASE else PRESETS[base].config()
    changes: dict[str, Any] = {}
    for part in parts:
        name, _, value = part.partition("=")
        value = unquote(value)
        changes[name] = json.loads(value) if value[:1] in ("[", "{") else typed(value)
    return config.replace(**changes)


# One session --------------------------------------------------------------------------------------------------------


def restore(page: str) -> None:
    """Take over the address on the first run of a session, and on a page switch that brings `v` (Back, Forward).

    What waits for the data stays in the session until they are there; notices are kept for the page to show.
    """
    query = {key: str(value) for key, value in st.query_params.items()}
    before = st.session_state.get(state.ARRIVED)
    st.session_state[state.ARRIVED] = page
    if before is not None and (before == page or "v" not in query):
        return
    asked = decode(query)
    now = asked.state
    state.put(
        **{
            state.LANGUAGE: now.language,
            state.NOTICES: asked.notices,
            state.SOURCE: now.source or _default_source(),
            state.MODE: now.mode,
            state.VALUE: now.value,
            state.K: now.k,
            state.CONFIG: now.config,
            state.MODEL: "",
            state.SEGMENT: None,
            state.COLUMNS: asked.columns,
            state.LABEL_MAP: asked.label_map,
            state.PENDING: {**asked.later, **({"map": ""} if asked.columns or asked.label_map else {})},
        }
    )


def _default_source() -> str:
    """Return the files named on the command line when there are any: that is what the user started us for."""
    return "file:0" if os.environ.get("RECMETRICS_FILES") else ""


def drop_mapping() -> bool:
    """Fall back to the automatic guess when the link's mapping does not fit; return whether there was one."""
    pending = dict(st.session_state.get(state.PENDING) or {})
    if pending.pop("map", None) is None:
        return False
    state.put(**{state.PENDING: pending, state.COLUMNS: None, state.LABEL_MAP: None})
    _notice(N_("The columns that this link names are not in these data; they were guessed instead."))
    return True


def resolve(dataset: Dataset) -> None:
    """Honour what only the data can answer: the model and the segment of the link."""
    pending = dict(st.session_state.get(state.PENDING) or {})
    pending.pop("map", None)
    model, segment = pending.pop("model", None), pending.pop("seg", None)
    st.session_state[state.PENDING] = pending
    if model is not None and model in dataset.scores:
        state.put(**{state.MODEL: model})
    elif model is not None:
        _notice(N_("This link asks for model {value}, which this file does not have."), value=model[:60])
    if segment is None:
        return
    column, _, code = segment.rpartition("~")
    labels = dataset.segments[column].labels if column in dataset.segments else ()
    matching = [label for label in labels if label_code(label) == code]
    if matching:
        state.put(**{state.SEGMENT: (column, matching[0])})
    else:
        _notice(N_("This link asks for a group of {value}, which this file does not have."), value=column[:60])


def _notice(template: str, **facts: str) -> None:
    st.session_state[state.NOTICES] = [*(st.session_state.get(state.NOTICES) or []), (template, facts)]


def open_view(page: str) -> None:
    """Open the view that the link names, when the page has it."""
    pending = dict(st.session_state.get(state.PENDING) or {})
    view = pending.pop("view", None)
    st.session_state[state.PENDING] = pending
    if view in [name for name, _ in menu.entry(page).views]:
        state.put(**{state.view_key(page): view})


def query_of(page: str) -> str:
    """Return the query string of the state as it stands, for this page."""
    entry, kept = menu.entry(page), st.session_state
    view = kept.get(state.view_key(page), "") if entry.views else ""
    shown = view if entry.views and view != entry.views[0][0] else ""
    now = state.current()
    if now.model == kept.get(state.FIRST_MODEL):
        now = replace(now, model="")
    query = encode(now, shown or "", kept.get(state.COLUMNS), kept.get(state.LABEL_MAP))
    return urlencode(query, quote_via=quote, safe=":,~=")


def sync(page: str, text: Text, *, button: bool = False) -> None:
    """Write the address bar; the frame mounts it with the button, a fragment with a shared control ends with it."""
    data = {
        "stamp": int(time.time() * 1000),
        "lang": {"zh": "zh-CN"}.get(text.language, text.language),
        "query": query_of(page),
        "button": button,
        "label": text._("Copy link"),
        "done": text._("Link copied"),
    }
    _frame(data=data, key=f"frame_{'page' if button else 'fragment'}", height="content")
