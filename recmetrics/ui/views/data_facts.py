"""Data, declared facts: what only the user knows about these rows; each is a field of the convention."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from recmetrics.config import EvalConfig, Negatives
from recmetrics.errors import RecmetricsError
from recmetrics.text import N_, Text
from recmetrics.ui import show, state
from recmetrics.ui.page import Frame

UNKNOWN = N_("I don't know")
HASH_SHOWN = 12
CONFIG_NAME = "eval_config.json"
CHOICES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "split": (
        N_("How were training and test split?"),
        {
            "unknown": UNKNOWN,
            "time": N_("By one date for all"),
            "random": N_("At random by row"),
            "user": N_("By user"),
            "user_time": N_("By date within each user"),
            "leave_last_out": N_("Last item of each user"),
        },
    ),
    "user_isolation": (
        N_("Do test users occur in training?"),
        {"unknown": UNKNOWN, "isolated": N_("No, they are new"), "overlap": N_("Yes, some or all")},
    ),
    "candidates": (
        N_("Which items were scored for a user?"),
        {
            "unknown": UNKNOWN,
            "full": N_("The whole catalogue"),
            "impressions": N_("What was shown"),
            "sampled": N_("Positives and sampled negatives"),
        },
    ),
    "seen_items": (
        N_("Were items that a user already knew filtered out?"),
        {"unknown": UNKNOWN, "filtered": N_("Yes, filtered"), "kept": N_("No, kept")},
    ),
    "stage": (
        N_("Which stage makes these scores?"),
        {
            "": UNKNOWN,
            "recall": N_("Candidate recall"),
            "ranking": N_("Ranking"),
            "ctr": N_("Click prediction"),
            "push": N_("Push messages"),
        },
    ),
}
SAMPLERS = {
    "uniform": N_("Uniform over the catalogue"),
    "popularity": N_("By popularity"),
    "in_batch": N_("From the same batch"),
    "ratio": N_("A fixed share of all negatives"),
}


def facts(frame: Frame) -> None:
    """Draw the view: facts left, the convention as a file right."""
    text = frame.text
    show.caption(
        text._(
            "Say what you know and leave the rest. Diagnose holds these facts against the rows, and what is declared "
            "is archived with every number."
        )
    )
    left, right = st.columns(2)
    for place, field in enumerate(CHOICES):
        with (left, right)[place % 2]:
            _choice(field, frame.config, text)
    with right:
        _number("catalogue_size", text._("Items in the whole catalogue"), frame.config.catalogue_size, 1, text)
    _sampling(frame.config, text)
    _when(frame.config, text)
    _file(frame.config, text)


def _choice(field: str, config: EvalConfig, text: Text) -> None:
    title, options = CHOICES[field]
    key = state.fact_key(field)
    st.session_state[key] = getattr(config, field) or ""
    st.selectbox(
        text._(title),
        list(options),
        key=key,
        format_func=lambda option: text._(options[option]),
        on_change=_change,
        args=(field,),
    )


def _number(field: str, label: str, value: float | None, least: float, text: Text) -> None:
    key = state.fact_key(field)
    st.session_state[key] = value
    st.number_input(
        label,
        min_value=least,
        step=type(least)(1),
        key=key,
        format="%d" if isinstance(least, int) else "%g",
        placeholder=text._(UNKNOWN),
        on_change=_change,
        args=(field,),
    )


def _sampling(config: EvalConfig, text: Text) -> None:
    is_sampled = config.candidates == "sampled"
    why_not = None if is_sampled else text._("Only for sampled candidates: choose them above first.")
    now = config.negatives or Negatives()
    sampler, number = st.columns(2)
    with sampler:
        key = state.fact_key("sampler")
        st.session_state[key] = now.sampler
        st.selectbox(
            text._("How were negatives sampled?"),
            list(SAMPLERS),
            key=key,
            format_func=lambda option: text._(SAMPLERS[option]),
            on_change=_change_negatives,
            disabled=not is_sampled,
            help=why_not,
        )
    with number:
        key = state.fact_key("per_positive")
        st.session_state[key] = now.per_positive
        st.number_input(
            text._("Negatives per positive"),
            min_value=0.01,
            step=1.0,
            format="%g",
            key=key,
            placeholder=text._(UNKNOWN),
            on_change=_change_negatives,
            disabled=not is_sampled,
            help=why_not,
        )


def _when(config: EvalConfig, text: Text) -> None:
    first, last, gap = st.columns(3)
    for column, field, label in (
        (first, "period_start", text._("First day of the evaluation")),
        (last, "period_end", text._("Last day of the evaluation")),
    ):
        with column:
            key = state.fact_key(field)
            st.session_state[key] = getattr(config, field)
            st.date_input(label, key=key, format="YYYY-MM-DD", on_change=_change, args=(field,))
    with gap:
        _number("gap_days", text._("Days between training and test"), config.gap_days, 0.0, text)
    if config.period_start and config.period_end and config.period_start > config.period_end:
        st.warning(text._("The last day lies before the first."), icon=":material/event_busy:")


def _change(field: str) -> None:
    value = st.session_state[state.fact_key(field)]
    changes: dict[str, Any] = {field: None if value == "" else value}
    if field == "candidates" and value != "sampled":
        changes["negatives"] = None
    state.put(**{state.CONFIG: state.current().config.replace(**changes)})


def _change_negatives() -> None:
    sampler = st.session_state[state.fact_key("sampler")]
    number = st.session_state[state.fact_key("per_positive")]
    negatives = Negatives(sampler=sampler, per_positive=number)
    state.put(**{state.CONFIG: state.current().config.replace(negatives=negatives)})


# The convention as a file ---------------------------------------------------------------------------------------------


def _file(config: EvalConfig, text: Text) -> None:
    show.heading(text._("The convention as a file"))
    show.caption(
        text._(
            "Hash {code} of every field that can change a number: results with the same hash follow the same rules.",
            code=config.hash[:HASH_SHOWN],
        )
    )
    problem = st.session_state.pop(state.CONFIG_PROBLEM, None)
    if problem is not None:
        show.error(problem, text)
    st.download_button(
        text._("Download eval_config.json"),
        data=as_json(config),
        file_name=CONFIG_NAME,
        mime="application/json",
        on_click="ignore",
        icon=":material/download:",
    )
    st.file_uploader(
        text._("Use the convention of an eval_config.json"), ["json"], key=state.CONFIG_FILE, on_change=_take
    )


def as_json(config: EvalConfig) -> str:
    """Return the content of an `eval_config.json`, which gives the same convention back."""
    return json.dumps(config.to_json(), ensure_ascii=False, indent=1) + "\n"


def _take() -> None:
    given = st.session_state.get(state.CONFIG_FILE)
    if given is None:
        return
    try:
        state.put(**{state.CONFIG: EvalConfig.from_bytes(given.name, given.getvalue())})
    except RecmetricsError as problem:
        st.session_state[state.CONFIG_PROBLEM] = problem
