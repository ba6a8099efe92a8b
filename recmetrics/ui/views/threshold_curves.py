"""The charts of the Threshold page: ROC and precision–recall move with the point, the others stand still."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from recmetrics.curves import cost_curve, gain_curve, threshold_curve
from recmetrics.figures import threshold as figures
from recmetrics.figures.theme import HEIGHT_SQUARE
from recmetrics.operating_point import COST_RATIOS, OperatingPoint, solve
from recmetrics.text import Text
from recmetrics.ui import decision as decide
from recmetrics.ui import show
from recmetrics.ui.decision import Decision
from recmetrics.ui.page import Frame
from recmetrics.ui.views import threshold_controls as controls
from recmetrics.ui.words import reason_in_words

TABLE_ROWS = 200  # of the drawn thresholds, evenly chosen: a table is read, not plotted

Columns = Mapping[str, tuple[NDArray[Any], Callable[[float], str]]]


def moving(frame: Frame, made: Decision, point: OperatingPoint, locked: OperatingPoint | None) -> None:
    """Show ROC and precision–recall with the same point."""
    roc, pr = st.columns(2)
    with roc:
        roc_card(frame, made, now=point, locked=locked)
    with pr:
        pr_card(frame, made, now=point, locked=locked)


def roc_card(
    frame: Frame,
    made: Decision,
    *,
    now: OperatingPoint | None = None,
    locked: OperatingPoint | None = None,
    height: int = HEIGHT_SQUARE,
) -> None:
    """Show the ROC curve, or why there is none."""
    text, auc, curve = frame.text, made.auc.value, made.roc
    words = decide.words_of(made, text)
    _card(
        frame,
        made,
        curve.undefined,
        key="roc",
        title=text._("What share of the positives and of the negatives is flagged?"),
        figure=lambda: figures.roc_figure(curve, text, auc=auc, now=now, locked=locked, height=height),
        alt=lambda: figures.roc_alt(text, show.clean(frame.model), auc=auc, now=now),
        columns={
            text._("Threshold"): (curve.threshold, words.score),
            text._("False positive rate"): (curve.x, text.metric),
            text._("True positive rate (recall)"): (curve.y, text.metric),
        },
    )


def pr_card(
    frame: Frame,
    made: Decision,
    *,
    now: OperatingPoint | None = None,
    locked: OperatingPoint | None = None,
    height: int = HEIGHT_SQUARE,
) -> None:
    """Show precision against recall, or why there is none."""
    text, area, curve, prevalence = frame.text, made.auprc.value, made.pr, made.prevalence
    words = decide.words_of(made, text)
    _card(
        frame,
        made,
        curve.undefined,
        key="pr",
        title=text._("How right are the flags as more positives are found?"),
        figure=lambda: figures.pr_figure(
            curve, text, prevalence=prevalence, auprc=area, now=now, locked=locked, height=height
        ),
        alt=lambda: figures.pr_alt(text, show.clean(frame.model), prevalence=prevalence, auprc=area, now=now),
        columns={
            text._("Threshold"): (curve.threshold, words.score),
            text._("Recall"): (curve.x, text.metric),
            text._("Precision"): (curve.y, text.metric),
        },
    )


def standing(frame: Frame, made: Decision) -> None:
    """Show what every threshold would give: rates, scores by class, gain, cost."""
    rates, scores = st.columns(2)
    with rates:
        _rates(frame, made)
    with scores:
        histogram_card(frame, made)
    gain, cost = st.columns(2)
    with gain:
        _gain(frame, made)
    with cost:
        _cost(frame, made)


def _rates(frame: Frame, made: Decision) -> None:
    text, curve = frame.text, threshold_curve(made.points, frame.config.beta)
    _card(
        frame,
        made,
        curve.undefined,
        key="rates_curve",
        title=text._("What does each threshold give?"),
        figure=lambda: figures.threshold_figure(curve, text, made.span),
        alt=lambda: figures.threshold_alt(curve, text, show.clean(frame.model)),
        columns={
            text._("Threshold"): (curve.threshold, decide.words_of(made, text).score),
            text._("Precision"): (curve.precision, text.metric),
            text._("Recall"): (curve.recall, text.metric),
            f"F{curve.beta:g}": (curve.f_beta, text.metric),
        },
    )


def histogram_card(frame: Frame, made: Decision, threshold: float | None = None) -> None:
    """Show the scores by class; with a threshold as a line where it does not move."""
    text, histogram = frame.text, made.histogram
    title = text._("How far apart are the scores of the two classes?")
    caption = text._(
        "{n} rows in {bins} bins, {outside} beyond the axis; each class adds up to 100%.",
        n=text.count(made.points.n_rows),
        bins=text.count(len(histogram.positives)),
        outside=text.count(histogram.n_outside),
    )
    words = decide.words_of(made, text)
    show.plotly(
        figures.histogram_figure(histogram, text, threshold=threshold, sign=made.positions.sign),
        key="histogram",
        alt=figures.histogram_alt(histogram, text, show.clean(frame.model)),
        caption=caption,
        title=title,
        table=lambda: _styled(
            {
                text._("Score"): (histogram.edges[:-1], words.score),
                text._("Positives"): (histogram.positives, text.count),
                text._("Negatives"): (histogram.negatives, text.count),
            }
        ),
        text=text,
    )


def _gain(frame: Frame, made: Decision) -> None:
    text, curve = frame.text, gain_curve(made.points)
    _card(
        frame,
        made,
        curve.undefined,
        key="gain",
        title=text._("How many positives are in the first rows?"),
        figure=lambda: figures.gain_figure(curve, text, prevalence=made.prevalence),
        alt=lambda: figures.gain_alt(curve, text, show.clean(frame.model)),
        columns={
            text._("Share of rows"): (curve.x, lambda share: text.percent(share, 2)),
            text._("Share of positives found"): (curve.y, text.percent),
        },
    )


def _cost(frame: Frame, made: Decision) -> None:
    text = frame.text
    st.markdown(f"**{text._('Which threshold is the cheapest?')}**")
    ratio = controls.cost_ratio(text, COST_RATIOS)
    curve, cheapest = cost_curve(made.points, ratio), solve(made.positions, "cost", ratio)
    _card(
        frame,
        made,
        curve.undefined,
        key="cost",
        title="",
        figure=lambda: figures.cost_figure(curve, text, made.span, cheapest=cheapest),
        alt=lambda: figures.cost_alt(curve, text, show.clean(frame.model), cheapest=cheapest),
        columns={
            text._("Threshold"): (curve.threshold, decide.words_of(made, text).score),
            text._("Cost in missed positives"): (curve.cost, lambda cost: text.metric(cost, 1)),
        },
    )


def _card(
    frame: Frame,
    made: Decision,
    undefined: str | None,
    *,
    key: str,
    title: str,
    figure: Callable[[], go.Figure],
    alt: Callable[[], str],
    columns: Columns,
) -> None:
    """Show one chart with how much of it is drawn, or say why it cannot be drawn."""
    text = frame.text
    if undefined:
        if title:
            st.markdown(f"**{title}**")
        st.info(text._("Not drawn: {reason}.", reason=reason_in_words(undefined, text)), icon=":material/info:")
        return
    show.plotly(
        figure(), key=key, alt=alt(), caption=_drawn(made, text), title=title, table=lambda: _styled(columns), text=text
    )


def _drawn(made: Decision, text: Text) -> str:
    return text._(
        "{drawn} of {distinct} thresholds drawn; every number uses all {n} rows.",
        drawn=text.count(made.points.n_drawn),
        distinct=text.count(made.points.n_distinct),
        n=text.count(made.points.n_rows),
    )


def _styled(columns: Columns) -> Any:
    """Return a table of numbers printed in the chosen language; the cells stay numbers, so sorting works."""
    length = len(next(iter(columns.values()))[0])
    rows = np.unique(np.linspace(0, length - 1, min(TABLE_ROWS, length)).astype(np.int64))
    table = pd.DataFrame({name: values[rows] for name, (values, _) in columns.items()})
    formats: dict[str, Any] = {name: printed for name, (_, printed) in columns.items()}
    return table.style.format(formats)
