"""Data, mapping: which column plays which role and why, what the labels mean, and which rows are positive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.roles import ROLES
from recmetrics.schema.guess import Guess, guess_columns
from recmetrics.source import Source
from recmetrics.text import N_, Text
from recmetrics.ui import data_source, show, state
from recmetrics.ui.page import Frame
from recmetrics.ui.views import data_labels, data_turns
from recmetrics.usable import positive_rows

MOST_LINES, MOST_COLUMNS = 10, 12
FIRST = ("user", "item", "label", "score")
RULE_FIELDS = ("relevance_threshold", "positive_rule", "score_direction")
# Role → its title, and what goes wrong with the wrong column.
ROLE_WORDS: Mapping[str, tuple[str, str]] = {
    "user": (N_("User"), N_("Wrong: lists, per-user AUC and intervals are about the wrong groups.")),
    "item": (N_("Item"), N_("Wrong: duplicates, coverage and the join with other files are wrong.")),
    "label": (N_("Label"), N_("Wrong: every number is about another question.")),
    "score": (N_("Scores"), N_("One column per model. Wrong: a feature or an id is evaluated as if it were a model.")),
    "model": (N_("Model name"), N_("For long tables with one row per model. Wrong: models are mixed.")),
    "time": (N_("Time"), N_("Wrong: leaks across time stay unseen.")),
    "split": (N_("Split"), N_("Wrong: rows of training and test are not told apart.")),
    "position": (N_("Screen position"), N_("Wrong: position bias stays unseen.")),
    "propensity": (N_("Propensity"), N_("Wrong: weights by exposure probability are wrong.")),
    "click": (N_("Click"), N_("Wrong: click rates count something else.")),
    "purchase": (N_("Purchase"), N_("Wrong: conversion rates count something else.")),
    "amount": (N_("Amount"), N_("Wrong: sales are in the wrong unit or missing.")),
    "dwell_seconds": (N_("Dwell time in seconds"), N_("Wrong: dwell time is in the wrong unit or missing.")),
    "rating": (N_("Rating"), N_("Wrong: satisfaction is the mean of something else.")),
    "segment": (N_("Segments"), N_("Wrong: groups are compared that mean nothing.")),
}
RULES = {
    "label_ge": N_("By the label"),
    "row_present": N_("Any row with a label"),
}
SIGNS = {
    ",": N_("comma"),
    ";": N_("semicolon"),
    "\t": N_("tab"),
    " ": N_("space"),
    "|": N_("vertical bar"),
    ".": N_("point"),
}
DIRECTIONS = {"higher": N_("Higher scores are better"), "lower": N_("Lower scores are better")}


def mapping(frame: Frame) -> None:
    """Draw the view; nothing changes before its button is pressed."""
    text, source = frame.text, state.current().source
    if not source:
        data_turns.nothing_yet(text._("Here stands which column plays which role, once a file is open."), text)
        return
    try:
        files = data_source.parsed(source, frame.config)
    except RecmetricsError:
        show.caption(text._("The file cannot be read, so there are no columns to map."))
        return
    first = files.scored[0]
    _about(files, text)
    base, now = _guesses(first, files.options.get("columns"))
    _start_draft(source, now, frame.config)
    columns = _roles(first, base, guess_columns(first), text) if first.kind == "table" else None
    _first_rows(first, text)
    label_map, is_complete = data_labels.meaning(frame, files, columns)
    changes = _rules(frame, text)
    st.button(
        text._("Use this mapping"),
        icon=":material/check:",
        disabled=not is_complete,
        help=None if is_complete else text._("First say what every label value means."),
        on_click=_use,
        args=(None if columns is None or columns == _as_draft(base) else columns, label_map, changes),
    )


def _guesses(first: Source, given: Mapping[str, Any] | None) -> tuple[Guess, Guess]:
    """Return the guess without what the user said here, and the roles in force."""
    base = guess_columns(first, given)
    chosen = st.session_state.get(state.COLUMNS)
    if chosen is None:
        return base, base
    try:
        return base, guess_columns(first, chosen)
    except RecmetricsError:  # a link names columns that this file does not have; the red box says so
        return base, base


def _about(files: data_source.Parsed, text: Text) -> None:
    for file in (*files.scored, *([files.truth] if files.truth else [])):
        known = [
            show.plain(file.format),
            text._("encoding: {name}", name=show.plain(file.encoding)) if file.encoding else "",
            text._("delimiter: {name}", name=_sign(file.delimiter, text)) if file.delimiter else "",
            text._("decimal sign: {name}", name=_sign(file.decimal, text)) if file.decimal else "",
            text._("no header line") if file.has_header is False else "",
            text._n("{n} row", "{n} rows", file.n_rows),
        ]
        st.caption(f"**{show.plain(file.name)}** · " + " · ".join(part for part in known if part))
    if len(files.scored) > 1:
        show.caption(text._("The mapping holds for all files; what is shown is the first."))


def _sign(sign: str, text: Text) -> str:
    return text._(SIGNS[sign]) if sign in SIGNS else show.plain(sign)


def _as_draft(guess: Guess) -> dict[str, Any]:
    """Return every role with its column, its list of columns, or None."""
    return {role: list(guess.all_columns(role)) if found.many else guess.column(role) for role, found in ROLES.items()}


def _start_draft(source: str, now: Guess, config: EvalConfig) -> None:
    """Fill the controls with what is in force, once per source and after every use."""
    rules = {field: getattr(config, field) for field in RULE_FIELDS}
    stamp = json.dumps([source, _as_draft(now), rules], default=str)
    if st.session_state.get(state.DRAFT_OF) == stamp:
        return
    st.session_state[state.DRAFT_OF] = stamp
    for part, value in {**_as_draft(now), **rules}.items():
        st.session_state[state.draft_key(part)] = value


# Roles --------------------------------------------------------------------------------------------------------------


def _roles(first: Source, base: Guess, guess: Guess, text: Text) -> dict[str, Any]:
    show.heading(text._("Which column is what?"))
    columns = {role: _role(role, first, base, guess, text) for role in FIRST}
    others = [role for role in ROLES if role not in FIRST]
    used = sum(bool(st.session_state.get(state.draft_key(role))) for role in others)
    with st.expander(text._("More columns: time, business, segments ({n} in use)", n=text.count(used))):
        columns |= {role: _role(role, first, base, guess, text) for role in others}
    return {role: columns[role] for role in ROLES}


def _role(role: str, first: Source, base: Guess, guess: Guess, text: Text) -> Any:
    """Draw one role: the column, why it was guessed, five of its values, and what a wrong choice would do."""
    title, consequence = ROLE_WORDS[role]
    key = state.draft_key(role)
    choose, tell = st.columns([2, 3], vertical_alignment="center")
    with choose:
        if ROLES[role].many:
            chosen: Any = st.multiselect(
                text._(title),
                first.columns,
                key=key,
                persist_state="session",
                format_func=show.clean,
                placeholder=text._("no such column"),
                help=text._(consequence),
            )
        else:
            chosen = st.selectbox(
                text._(title),
                first.columns,
                index=None,
                key=key,
                persist_state="session",
                format_func=show.clean,
                placeholder=text._("no such column"),
                help=text._(consequence),
            )
    with tell:
        for column in [chosen] if isinstance(chosen, str) else chosen or []:
            st.caption(f"{_reason(role, column, base, guess, text)}  \n{_samples(column, guess, text)}")
    return chosen


def _reason(role: str, column: str, base: Guess, guess: Guess, text: Text) -> str:
    choice = guess.choices.get(role)
    if choice is None or column not in choice.columns:
        named = column in base.all_columns(role)
        return text._("Named with the source, not guessed.") if named else text._("Chosen by you.")
    template, facts = choice.reasons[choice.columns.index(column)]
    return text._(template, **{name: show.plain(value) for name, value in facts.items()})


def _samples(column: str, guess: Guess, text: Text) -> str:
    if column not in guess.looks:
        return ""
    values = [show.plain(value) if value.strip() else text._("(empty)") for value in guess.looks[column].first]
    return text._("First values: {values}", values=" · ".join(values))


def _first_rows(first: Source, text: Text) -> None:
    """Show the first rows letter by letter, before anything is made of them."""
    shown = first.table.select(first.columns[:MOST_COLUMNS]).slice(0, MOST_LINES)
    cells = {
        f"{place + 1} · {show.clean(name)}": [None if cell is None else show.clean(cell) for cell in column.to_pylist()]
        for place, (name, column) in enumerate(zip(shown.column_names, shown.columns, strict=True))
    }
    show.heading(text._("The first rows as read"))
    show.table(pd.DataFrame(cells, dtype=object), key="data_first_rows")
    words = N_(
        "Rows 1 to {n} of {total}; columns 1 to {columns} of {all}. Cells stand as in the file, long ones cut short."
    )
    told = {"n": shown.num_rows, "total": first.n_rows, "columns": shown.num_columns, "all": len(first.columns)}
    show.caption(text._(words, **{name: text.count(count) for name, count in told.items()}))


# Rules --------------------------------------------------------------------------------------------------------------


def _rules(frame: Frame, text: Text) -> dict[str, Any]:
    show.heading(text._("Which rows are positive, and which scores are good?"))
    rule, number, direction = st.columns(3)
    with rule:
        chosen = st.selectbox(
            text._("Positive rule"),
            list(RULES),
            key=state.draft_key("positive_rule"),
            persist_state="session",
            format_func=lambda name: text._(RULES[name]),
        )
    with number:
        threshold = st.number_input(
            text._("Positive from this label on"),
            key=state.draft_key("relevance_threshold"),
            persist_state="session",
            step=1.0,
            format="%g",
            disabled=chosen == "row_present",
            help=text._("With this rule every judged row counts, so the number does nothing.")
            if chosen == "row_present"
            else text._("With grades such as 0 to 4 a higher number asks for better items."),
        )
    with direction:
        way = st.selectbox(
            text._("Direction of the score"),
            list(DIRECTIONS),
            key=state.draft_key("score_direction"),
            persist_state="session",
            format_func=lambda name: text._(DIRECTIONS[name]),
        )
    changes = {"positive_rule": chosen, "relevance_threshold": float(threshold), "score_direction": way}
    if frame.raw.n_rows:
        show.caption(_switching(frame.raw, frame.config, frame.config.replace(**changes), text))
    return changes


def _switching(data: Dataset, now: EvalConfig, then: EvalConfig, text: Text) -> str:
    before, after = positive_rows(data, now), positive_rows(data, then)
    return text._(
        "Under this rule {n} of {total} rows are positive ({share}); {moved} rows change class from the rule in use.",
        n=text.count(int(after.sum())),
        total=text.count(data.n_rows),
        share=text.percent(float(after.mean())),
        moved=text.count(int((before != after).sum())),
    )


def _use(columns: Mapping[str, Any] | None, label_map: Mapping[str, float] | None, changes: Mapping[str, Any]) -> None:
    grades = dict(label_map) if label_map else state.current().config.grade_map
    state.put(
        **{
            state.COLUMNS: columns,
            state.LABEL_MAP: label_map,
            # Archived with the convention, so that an eval_config.json reads the labels the same way again.
            state.CONFIG: state.current().config.replace(grade_map=grades, **changes),
            state.DRAFT_OF: None,
            state.LABELS_OF: None,
        }
    )
