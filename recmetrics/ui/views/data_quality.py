"""Data, quality: what was dropped, repaired or is doubtful, and what the columns hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from recmetrics.dataset import Dataset, Issue
from recmetrics.errors import RecmetricsError
from recmetrics.figures import ranking as figures
from recmetrics.json_contract import passed_over
from recmetrics.load import profile
from recmetrics.rank_curves import rank_curves
from recmetrics.schema.audit import STEPS, Step
from recmetrics.schema.look import Look
from recmetrics.text import N_, Text
from recmetrics.ui import data_source, show
from recmetrics.ui.page import Frame
from recmetrics.ui.views import data_mapping, data_mend, data_questions, data_turns
from recmetrics.usable import positive_rows

SEVERITIES = {
    "dropped": N_("Rows not used"),
    "doubt": N_("A number may depend on it"),
    "info": N_("For your information"),
}
LONGEST_AXIS = 1000
ICONS = {"dropped": ":material/block:", "doubt": ":material/help:", "info": ":material/info:"}
NO_ROWS = {
    "blank_lines": N_("{file}: blank lines hold no row and are not counted: {n}."),
    "comment_lines": N_("{file}: comment lines hold no row and are not counted: {n}."),
}
ROW_PIXELS = 35  # height of a line of a table
KINDS = {
    "fraction": N_("numbers with fractions"),
    "whole": N_("whole numbers"),
    "word": N_("text"),
    "other": N_("cannot be used"),
    "empty": N_("empty"),
}


def quality(frame: Frame) -> None:
    """Draw the view."""
    text = frame.text
    if not frame.raw.n_rows:
        data_questions.answers_in_force(frame)
        if frame.problem is None:
            data_turns.nothing_yet(
                text._("Here stands what was dropped, repaired or doubtful, once a file is open."), text
            )
        return
    _answer(frame.raw, text)
    _questions(frame, text)
    data_mend.treatments(frame)
    _issues(frame, text)
    _account(frame, text)
    _lists(frame, text)
    _columns(frame, text)


def _answer(data: Dataset, text: Text) -> None:
    account = data.account
    words = N_("{used} of {read} rows can be used, and nothing looked odd while they were read.")
    if data.issues:
        words = N_("{used} of {read} rows can be used; {n} things were dropped, repaired or are doubtful.")
    told = {"used": text.count(account.used), "read": text.count(account.read)}
    show.sentence(text._(words, **told, **({"n": text.count(len(data.issues))} if data.issues else {})))


def _questions(frame: Frame, text: Text) -> None:
    """Say how many questions the files leave open."""
    asked, still_open = data_questions.n_open(frame)
    if still_open:
        words = N_("Questions that these files leave open: {n}. Each stands below with the answer in force; change it.")
        show.caption(text._(words, n=text.count(still_open)))
    elif asked:
        show.caption(text._("Every question that these files leave open is answered; the answers stand below."))


def _issues(frame: Frame, text: Text) -> None:
    """Draw a card for each issue, with its question where none above asks the same."""
    asked = set(data_mend.fields_needed(frame.raw))
    for issue in sorted(frame.raw.issues, key=lambda issue: list(SEVERITIES).index(issue.severity)):
        with st.container(border=True):
            _issue(issue, text)
            if issue.asks and issue.asks not in asked:
                data_questions.ask(issue.asks, frame, data_questions.choices_of(issue))
            elif issue.asks:
                show.caption(text._("The question above decides about this too."))
            asked.add(issue.asks)
    data_questions.answers_in_force(frame, asked)


def _issue(issue: Issue, text: Text) -> None:
    head = text._(SEVERITIES[issue.severity])
    st.markdown(f"{ICONS[issue.severity]} **{head}** · {text.count(issue.count)}")
    facts: Mapping[str, str] = {name: _printed(value, text) for name, value in issue.facts.items()}
    st.markdown(text._(issue.template, **facts))
    told = "; ".join(str(value) for value in issue.facts.values())
    listed = " · ".join(show.plain(example) for example in issue.examples if example not in told)
    if listed:
        st.caption(text._("For example: {listed}", listed=listed))


def _printed(value: object, text: Text) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return text.count(value)
    if isinstance(value, list | tuple):
        return ", ".join(show.plain(one) for one in value)
    return show.plain(value)


# Account ------------------------------------------------------------------------------------------------------------


def _account(frame: Frame, text: Text) -> None:
    show.heading(text._("Where did the rows go?"))
    raw = frame.raw
    steps = data_source.account_steps(raw, frame.config)
    lines = [(_step(step, text), step.rows) for step in steps]
    frame_shown = pd.DataFrame(lines, columns=[text._("step"), text._("rows")])
    # As high as its lines: a sum that has to be scrolled to is not seen to add up.
    height = (len(lines) + 1) * ROW_PIXELS + 3
    show.table(frame_shown.style.format({text._("rows"): _signed(text)}), key="data_account", height=height)
    if steps[-1].code == "used":
        show.caption(text._("The account ends here until it is said above how to treat these rows."))
    for name, _ in raw.account.files:
        _passed_over(name, raw, text)
    if raw.scored:
        counted = (f"{show.plain(model)} {text.count(int(raw.rows_of(model).sum()))}" for model in raw.models)
        words = N_("A row counts when at least one model scores it; each model is measured on its own rows: {listed}.")
        show.caption(text._(words, listed=" · ".join(counted)))
    if raw.truth is not None:
        show.caption(text._("The truth adds {n} judged pairs, scored or not.", n=text.count(len(raw.truth.grade))))
    if raw.train is not None:
        show.caption(text._("Training data: {n} pairs.", n=text.count(len(raw.train.user))))


def _step(step: Step, text: Text) -> str:
    """Return a line of the account in words; sums start with an equals sign."""
    told = text._(STEPS[step.code], file=show.clean(step.file))
    return f"= {told}" if step.is_sum else told


def _passed_over(name: str, raw: Dataset, text: Text) -> None:
    """Say which lines of a file hold no row and are therefore not in the account."""
    for kind, count in passed_over(raw, name).items():
        show.caption(text._(NO_ROWS[kind], file=show.plain(name), n=text.count(count)))


def _signed(text: Text) -> Callable[[Any], str]:
    return lambda n: text.count(n) if n >= 0 else f"−{text.count(-n)}"


# Lists --------------------------------------------------------------------------------------------------------------


def _lists(frame: Frame, text: Text) -> None:
    show.heading(text._("How long are the lists, and how many positives has a user?"))
    data = frame.data
    user = data.list_user
    if user is None:
        show.caption(text._("This file has no user column, so there are no lists."))
        return
    known = user >= 0
    positive = positive_rows(data, frame.config) & known
    rows = np.bincount(user[known], minlength=len(data.users))
    has_list = rows > 0
    positives = np.bincount(user[positive], minlength=len(data.users))
    table = pd.DataFrame(
        [
            _spread(text._("rows of a user"), rows[has_list], text),
            _spread(text._("positive rows of a user"), positives[has_list], text),
        ]
    )
    show.table(table, key="data_spread")
    show.caption(
        text._(
            "{none} of {total} users have no positive row.",
            none=text.count(int((positives[has_list] == 0).sum())),
            total=text.count(int(has_list.sum())),
        )
    )
    _histograms(frame, text)


def _spread(name: str, counts: NDArray[np.int64], text: Text) -> dict[str, str]:
    if not len(counts):
        counts = np.zeros(1, dtype=np.int64)
    return {
        text._("count"): name,
        text._("smallest"): text.count(int(counts.min())),
        text._("median"): text.metric(float(np.median(counts)), 1),
        text._("mean"): text.metric(float(counts.mean()), 1),
        text._("largest"): text.count(int(counts.max())),
    }


def _histograms(frame: Frame, text: Text) -> None:
    model = frame.raw.models[0] if frame.model not in frame.raw.scores else frame.model
    try:
        rows = data_source.usable_rows(frame.raw, frame.config, None)
        hits = data_source.tables_of(rows, frame.config, model).hits
        # The axis reaches as far as the longest list, within what a figure can show.
        longest = min(max(int(hits.n_candidates.max(initial=1)), 1), LONGEST_AXIS)
        found = rank_curves(hits, frame.config, model, (longest,))
    except RecmetricsError:  # the red box above says why there are no lists yet
        return
    if found.n_users == 0:
        return
    show.plotly(
        figures.lengths_figure(found, text),
        key="data_lengths",
        alt=figures.lengths_alt(found, text),
        caption=text._("Lists of {model}, users with at least one relevant item.", model=show.plain(model)),
    )


# Columns ------------------------------------------------------------------------------------------------------------


def _columns(frame: Frame, text: Text) -> None:
    show.heading(text._("What do the columns hold?"))
    files = data_source.parsed(frame.state.source, frame.config)
    looks = profile(files.scored[0])
    roles = _roles(frame.raw.columns)
    table = pd.DataFrame([_profile(name, look, roles.get(name, ""), text) for name, look in looks.items()])
    show.table(table, key="data_profile")
    ignored = [name for name in looks if name not in roles]
    if ignored and files.scored[0].kind == "table":
        listed = ", ".join(show.plain(name) for name in ignored)
        show.caption(text._("Ignored, because no role was given to them: {names}.", names=listed))
    else:
        show.caption(text._("Every column has a role."))


def _roles(columns: Mapping[str, str | Sequence[str] | None]) -> dict[str, str]:
    """Return column → the roles it plays."""
    found: dict[str, list[str]] = {}
    for role, named in columns.items():
        for name in [named] if isinstance(named, str) else named or ():
            found.setdefault(name, []).append(role)
    return {name: ", ".join(roles) for name, roles in found.items()}


def _profile(name: str, look: Look, roles: str, text: Text) -> dict[str, str]:
    words = [text._(data_mapping.ROLE_WORDS[role][0]) for role in roles.split(", ") if role]
    return {
        text._("column"): show.clean(name),
        text._("role"): " · ".join(words),
        text._("holds"): text._(KINDS[look.kind]),
        text._("different values"): text.count(look.n_distinct),
        text._("empty cells"): text.count(look.n_missing),
        text._("first values"): " · ".join(show.clean(value) for value in look.first),
    }
