"""Data, questions: what the files leave open, answered with a default that anybody can change here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import streamlit as st

from recmetrics.config import READING_FIELDS, EvalConfig
from recmetrics.dataset import Issue
from recmetrics.text import N_, Text
from recmetrics.ui import show, state
from recmetrics.ui.page import Frame
from recmetrics.ui.views import data_facts, data_mapping, data_mend

MOST_SIDE_BY_SIDE = 4
FIND_OUT = N_("Find out from the file")
FIRST_SHEET = N_("The first sheet with rows")
# Kind of refusal → the field whose value may let the file be read after all.
MAY_MEND = {"ids_do_not_match": "id_spelling", "encoding": "encoding", "score_not_numeric": "number_format"}
# Field of the convention → the question, and every answer in words; a field without answers takes a number or a name.
QUESTIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    **data_facts.CHOICES,
    **data_mend.TREATMENTS,
    "encoding": (
        N_("How is the text encoded?"),
        {
            "auto": FIND_OUT,
            "gb18030": N_("Simplified Chinese (GB18030, GBK)"),
            "big5": N_("Traditional Chinese (Big5)"),
            "shift_jis": N_("Japanese (Shift JIS)"),
            "euc_jp": N_("Japanese (EUC-JP)"),
            "euc_kr": N_("Korean (EUC-KR)"),
            "cp1250": N_("Central European (Windows-1250)"),
            "cp1251": N_("Cyrillic (Windows-1251)"),
            "cp1252": N_("Western European (Windows-1252)"),
            "latin-1": N_("Western European (Latin-1)"),
        },
    ),
    "header_line": (
        N_("Does the first line name the columns?"),
        {"auto": FIND_OUT, "yes": N_("Yes, it holds names"), "no": N_("No, it is a row already")},
    ),
    "sheet": (N_("Which sheet of the workbook holds the rows?"), {}),
    "number_format": (
        N_("Which sign separates the decimals?"),
        {"auto": FIND_OUT, "point": N_("A point, as in 0.75"), "comma": N_("A comma, as in 0,75")},
    ),
    "time_unit": (
        N_("Which unit do the time numbers count?"),
        {
            "auto": N_("Find out from their size"),
            "d": N_("Days"),
            "s": N_("Seconds"),
            "ms": N_("Milliseconds"),
            "us": N_("Microseconds"),
            "ns": N_("Nanoseconds"),
        },
    ),
    "id_spelling": (
        N_("When are two ids the same?"),
        {
            "exact": N_("When they are spelt alike, letter by letter"),
            "normalised": N_("Also when only blanks, letter case, leading zeros or '.0' differ"),
        },
    ),
    "relevance_threshold": (N_("From which label on is a row positive?"), {}),
    "positive_rule": (N_("Which rows are positive?"), data_mapping.RULES),
    "score_direction": (N_("Which scores are good?"), data_mapping.DIRECTIONS),
    "score_kind": (
        N_("What are the scores?"),
        {
            "auto": FIND_OUT,
            "probability": N_("Probabilities"),
            "raw": N_("Numbers of any size"),
            "rank": N_("Ranks"),
        },
    ),
    "truth_scope": (
        N_("Do relevant items that no row scores count?"),
        {"all": N_("Yes, as missed"), "scored_only": N_("No, only scored ones")},
    ),
    "unjudged": (
        N_("What are rows without a label?"),
        {"non_relevant": N_("Not relevant"), "skip": N_("Left out of the lists")},
    ),
}


def n_open(frame: Frame) -> tuple[int, int]:
    """Return how many questions these data ask, and how many of them still stand with their default."""
    asked = {issue.asks for issue in frame.raw.issues if issue.asks} | set(data_mend.fields_needed(frame.raw))
    changed = frame.config.changed()
    return len(asked), sum(field not in changed for field in asked)


def ask(field: str, frame: Frame, choices: Iterable[str] = ()) -> None:
    """Draw the control of a field; its value is the one in force, and a change is part of the convention at once."""
    text, value = frame.text, getattr(frame.config, field)
    title = text._(QUESTIONS[field][0]) if field in QUESTIONS else field
    key = state.fact_key(field)
    args = (field,)
    options = _options(field, str(value or ""), choices)
    if options:
        st.session_state[key] = value or ""
        words = _words(field, text)
        if len(options) <= MOST_SIDE_BY_SIDE:
            st.radio(title, options, key=key, horizontal=True, format_func=words, on_change=answer, args=args)
        else:
            st.selectbox(title, options, key=key, format_func=words, on_change=answer, args=args)
    elif isinstance(value, float):
        st.session_state[key] = value
        st.number_input(title, key=key, step=1.0, format="%g", on_change=answer, args=args)
    else:
        return
    show.caption(text._("The answer becomes part of the convention: {answer}", answer=show.plain(f"{field}={value}")))


def _options(field: str, value: str, choices: Iterable[str]) -> list[str]:
    """Return the values that a field can take, empty when it is no choice; the value in force is always among them."""
    if field == "sheet":
        return list(dict.fromkeys(["", *choices, value]))
    known = list(QUESTIONS[field][1]) if field in QUESTIONS else []
    annotation = EvalConfig.model_fields[field].annotation
    return known or [option for option in get_args(annotation) if isinstance(option, str)]


def _words(field: str, text: Text) -> Any:
    """Return the function that says an answer in the chosen language; names from a file are shown as they are."""
    told = {"": FIRST_SHEET} if field == "sheet" else QUESTIONS[field][1] if field in QUESTIONS else {}
    return lambda option: text._(told[option]) if option in told else show.plain(option)


def answer(field: str) -> None:
    """Write the answer into the convention; other names of columns make a mapping by name void."""
    given = st.session_state[state.fact_key(field)]
    value = None if given == "" and field != "sheet" else given
    state.put(**{state.CONFIG: state.current().config.replace(**{field: value})})
    if field in ("encoding", "header_line", "sheet"):
        state.put(**{state.COLUMNS: None})


def choices_of(issue: Issue) -> list[str]:
    """Return the names that an issue offers as answers, such as the sheets of a workbook."""
    offered = issue.facts.get("choices", ())
    return offered.split(", ") if isinstance(offered, str) else [str(name) for name in offered]


def answers_in_force(frame: Frame, asked: Iterable[str] = ()) -> None:
    """Draw the answers about reading that no issue asks for any more, so that each can be taken back.

    Where the files were refused, the answer that may let them be read is among them.
    """
    wanted = set(frame.config.changed()) | ({MAY_MEND.get(frame.problem.kind, "")} if frame.problem else set())
    fields = [field for field in READING_FIELDS if field in wanted - set(asked) and field != "grade_map"]
    if not fields:
        return
    with st.container(border=True):
        st.markdown(f"**{frame.text._('How these files are read')}**")
        for field in fields:
            ask(field, frame)
