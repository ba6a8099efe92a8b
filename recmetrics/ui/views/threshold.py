"""Threshold, view operate: one decision point in all its units, with the matrix, the curves and what they cost."""

from __future__ import annotations

import streamlit as st

from recmetrics.metrics.base import Measured
from recmetrics.metrics.classification import f_beta_of, fpr_of
from recmetrics.operating_point import OperatingPoint
from recmetrics.text import Text
from recmetrics.ui import decision as decide
from recmetrics.ui import markup, show, state
from recmetrics.ui.decision import Decision
from recmetrics.ui.page import Frame
from recmetrics.ui.views import threshold_controls as controls
from recmetrics.ui.views import threshold_curves as curves
from recmetrics.ui.views.readout import MODE_LABELS, Readout


def operate(frame: Frame) -> None:
    """Show the decision point: what moves with it first, then the curves that stand still."""
    with frame.guard():
        made = decide.decision(frame)
    _moving(frame, made)
    curves.standing(frame, made)


@st.fragment
def _moving(frame: Frame, made: Decision) -> None:
    text, words = frame.text, decide.words_of(made, frame.text)
    answer = st.container(key="point_answer")
    mode = controls.choose_mode(made, text)
    along, exact = st.columns([5, 2], vertical_alignment="bottom")
    with along:
        controls.choose_position(made, mode, text)
    with exact:
        controls.choose_exactly(made, mode, text, words.decimals)
    with st.container(horizontal=True, key="presets"):
        controls.choose_preset(made, text)
        locked = controls.lock(made, text)
    point = decide.current_point(made)
    with answer:
        show.sentence(words.sentence(point))
    for remark in [*_refused(made, words, point), *_solved_again(frame, made, words, point), *words.remarks(point)]:
        show.caption(remark)
    _numbers(frame, words, point)
    if locked is not None:
        _compared(words, locked, point)
    curves.moving(frame, made, point, locked)
    frame.sync()


def _refused(made: Decision, words: Readout, point: OperatingPoint) -> list[str]:
    """Say when what the session asks for cannot be had on these rows, so that a default stands in."""
    now = state.current()
    if now.mode not in MODE_LABELS or now.value is None or (now.mode, now.value) == decide.asked(made):
        return []
    return [
        words.text._(
            "{mode} = {value} cannot be had here; the page starts at {t}.",
            mode=words.text._(MODE_LABELS[now.mode]),
            value=f"{now.value:g}",
            t=words.place(point),
        )
    ]


def _solved_again(frame: Frame, made: Decision, words: Readout, point: OperatingPoint) -> list[str]:
    """Say once that other rows or another model moved the point."""
    before = st.session_state.get(state.SOLVED_FOR)
    st.session_state[state.SOLVED_FOR] = made.key
    if before in (None, made.key) or point.mode in ("score", "topk"):
        return []
    return [
        frame.text._("Solved again for these rows and this model: the point now stands at {t}.", t=words.place(point))
    ]


def _numbers(frame: Frame, words: Readout, point: OperatingPoint) -> None:
    text = frame.text
    show.heading(text._("The same point in six units"))
    with st.container(key="units"):
        st.html(markup.tile_grid(words.units(point)))
    counts, rates = st.columns(2)
    with counts, st.container(key="matrix"):
        st.html(markup.matrix(point.confusion, text))
    with rates, st.container(key="rates"):
        st.html(markup.tile_grid(words.tiles(point, frame.config.beta)))
    with st.popover(text._("Explain"), type="tertiary"):
        for line in _explained(words, point):
            st.markdown(line)


def _explained(words: Readout, point: OperatingPoint) -> list[str]:
    text, table = words.text, words.table
    return [
        text._("Counted over {n} rows with a label, all users together.", n=text.count(point.confusion.n)),
        text._("A row is flagged when its score is {sign} the threshold.", sign=table.sign),
        text._("Rows of equal score are flagged together; under top K their expected number counts."),
        text._("Accuracy stands beside what flagging nothing would give; lift is precision over the base rate."),
        text._(
            "FP : FN is what a false alarm costs against a miss. A range: there no point is cheaper than this one. "
            "With ≈ no ratio picks this point; at the one shown the points on either side are the cheapest."
        ),
    ]


def _compared(words: Readout, locked: OperatingPoint, now: OperatingPoint) -> None:
    text = words.text
    rows = [(text._("Decided by"), words.place(locked), words.place(now), "")]
    rows += [_row(name, a, b, text) for name, a, b in _measures(words, locked, now)]
    for name, a, b in (
        (text._("Flagged rows"), locked.confusion.flagged, now.confusion.flagged),
        (text._("False positives"), locked.confusion.fp, now.confusion.fp),
        (text._("False negatives"), locked.confusion.fn, now.confusion.fn),
    ):
        rows.append((name, words.rows(a), words.rows(b), text.signed(b - a, 0 if (b - a) == int(b - a) else 1)))
    with st.container(key="compare"):
        st.html(markup.table(text._("A and B"), ("", "A", "B", text._("B minus A")), rows))


def _measures(words: Readout, a: OperatingPoint, b: OperatingPoint) -> list[tuple[str, Measured, Measured]]:
    text = words.text
    return [
        (text._("Precision"), a.precision, b.precision),
        (text._("Recall"), a.recall, b.recall),
        ("F1", f_beta_of(a.confusion, 1), f_beta_of(b.confusion, 1)),
        (text._("False positive rate"), fpr_of(a.confusion), fpr_of(b.confusion)),
    ]


def _row(name: str, a: Measured, b: Measured, text: Text) -> tuple[str, str, str, str]:
    change = None if a.value is None or b.value is None else b.value - a.value
    return name, text.metric(a.value), text.metric(b.value), text.signed(change)
