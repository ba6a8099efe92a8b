"""Figures of one decision point: ROC, precision–recall, curves against the threshold, scores by class, gain, cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from recmetrics.curves import CostCurve, Curve, Histogram, ThresholdCurve
from recmetrics.figures.theme import (
    BASELINE,
    BLUE,
    GREEN,
    HEIGHT,
    HEIGHT_SQUARE,
    LINE_WIDTH,
    NEGATIVE,
    POSITIVE,
    VERMILLION,
    axis,
    figure,
    note,
    shares,
    unit_square,
)
from recmetrics.metrics.classification import fpr_of
from recmetrics.operating_point import OperatingPoint
from recmetrics.text import Text

HOVER_SCORE = "%{customdata:.4~g}"


def roc_figure(
    curve: Curve,
    text: Text,
    *,
    auc: float | None = None,
    now: OperatingPoint | None = None,
    locked: OperatingPoint | None = None,
    height: int = HEIGHT_SQUARE,
) -> go.Figure:
    """Draw the ROC curve with the diagonal of a random score; `now` is the current point, `locked` the one kept as A.

    A hollow dot is a rule per user, which may lie off the curve.
    """
    fig = unit_square(height, text._("False positive rate"), text._("True positive rate (recall)"))
    fig.add_scatter(x=np.array([0.0, 1.0]), y=np.array([0.0, 1.0]), **_baseline(text._("Random order: AUC 0.5")))
    fig.add_scatter(
        x=curve.x,
        y=curve.y,
        customdata=curve.threshold,
        name=text._("This score: AUC {auc}", auc=text.metric(auc)),
        hovertemplate=text._("threshold {score}: {y} of positives, {x} of negatives", **_HOVER_SHARES),
        **_line(BLUE),
    )
    for point, letter in _points(now, locked):
        _dot(fig, fpr_of(point.confusion).value, point.recall.value, letter, hollow=point.threshold is None)
    return fig


def roc_alt(text: Text, model: str, *, auc: float | None = None, now: OperatingPoint | None = None) -> str:
    """Return the ROC figure in words."""
    if now is None:
        return text._("ROC curve of {model}: AUC {auc}.", model=model, auc=text.metric(auc))
    return text._(
        "ROC curve of {model}: AUC {auc}; "
        "the current point stands at {tpr} of the positives and {fpr} of the negatives.",
        model=model,
        auc=text.metric(auc),
        tpr=text.percent(now.recall.value),
        fpr=text.percent(fpr_of(now.confusion).value),
    )


def pr_figure(
    curve: Curve,
    text: Text,
    *,
    prevalence: float,
    auprc: float | None = None,
    now: OperatingPoint | None = None,
    locked: OperatingPoint | None = None,
    height: int = HEIGHT_SQUARE,
) -> go.Figure:
    """Draw precision against recall in steps, with the base rate that a random order has at every recall."""
    fig = unit_square(height, text._("Recall"), text._("Precision"))
    fig.add_scatter(
        x=np.array([0.0, 1.0]),
        y=np.array([prevalence, prevalence]),
        **_baseline(text._("Random order: base rate {share}", share=text.percent(prevalence))),
    )
    fig.add_scatter(
        x=curve.x,
        y=curve.y,
        customdata=curve.threshold,
        name=text._("This score: AUPRC {auprc}", auprc=text.metric(auprc)),
        hovertemplate=text._("threshold {score}: precision {y}, recall {x}", **_HOVER_SHARES),
        **_line(BLUE, shape="vh"),
    )
    for point, letter in _points(now, locked):
        _dot(fig, point.recall.value, point.precision.value, letter, hollow=point.threshold is None)
    return fig


def pr_alt(
    text: Text,
    model: str,
    *,
    prevalence: float,
    auprc: float | None = None,
    now: OperatingPoint | None = None,
) -> str:
    """Return the precision–recall figure in words."""
    facts = {"model": model, "auprc": text.metric(auprc), "share": text.percent(prevalence)}
    if now is None:
        return text._("Precision–recall curve of {model}: AUPRC {auprc}, base rate {share}.", **facts)
    return text._(
        "Precision–recall curve of {model}: AUPRC {auprc}, base rate {share}; "
        "the current point stands at precision {precision} and recall {recall}.",
        precision=text.metric(now.precision.value),
        recall=text.metric(now.recall.value),
        **facts,
    )


def threshold_figure(curve: ThresholdCurve, text: Text, span: tuple[float, float]) -> go.Figure:
    """Draw precision, recall and F against the threshold; `span` is the part of the score axis that is shown."""
    fig = figure(HEIGHT)
    axis("x", text._("Threshold"), fig, range=list(span))
    shares(fig, "y", text._("Rate"), text)
    lines = (
        (text._("Precision"), curve.precision, BLUE, "solid"),
        (text._("Recall"), curve.recall, VERMILLION, "dash"),
        (f"F{curve.beta:g}", curve.f_beta, GREEN, "dot"),
    )
    for name, values, colour, dash in lines:
        fig.add_scatter(
            x=curve.threshold,
            y=values,
            name=name,
            hovertemplate=text._("threshold {x}: {name} {y}", x="%{x:.4~g}", y="%{y:.3f}", name=name)
            + "<extra></extra>",
            **_line(colour, dash=dash, shape="vh"),
        )
    return fig


def threshold_alt(curve: ThresholdCurve, text: Text, model: str) -> str:
    """Return the figure of precision, recall and F against the threshold in words."""
    return text._(
        "Precision, recall and F{beta} of {model} against the threshold, from {low} to {high}: "
        "recall falls from {recall_low} to {recall_high}, precision goes from {precision_low} to {precision_high}.",
        beta=f"{curve.beta:g}",
        model=model,
        low=text.metric(float(curve.threshold[0])),
        high=text.metric(float(curve.threshold[-1])),
        recall_low=text.metric(float(curve.recall[0])),
        recall_high=text.metric(float(curve.recall[-1])),
        precision_low=text.metric(float(curve.precision[0])),
        precision_high=text.metric(float(curve.precision[-1])),
    )


def histogram_figure(histogram: Histogram, text: Text, *, threshold: float | None = None, sign: str = "≥") -> go.Figure:
    """Draw the scores of positives and of negatives as shares of their class, and the threshold as a line if given."""
    fig = figure(HEIGHT)
    axis("x", text._("Score"), fig, range=[histogram.edges[0], histogram.edges[-1]])
    axis("y", text._("Share of the class"), fig, tickformat=".0%", rangemode="tozero")
    fig.update_layout(barmode="overlay", bargap=0)
    classes = (
        (text._("Negatives"), histogram.share_of_negatives, histogram.negatives, NEGATIVE, "/"),
        (text._("Positives"), histogram.share_of_positives, histogram.positives, POSITIVE, ""),
    )
    for name, heights, counts, colour, hatch in classes:
        fig.add_bar(
            x=histogram.edges[:-1],
            y=heights,
            width=np.diff(histogram.edges),
            offset=0,
            customdata=counts,
            name=name,
            opacity=0.7,
            marker={"color": colour, "line": {"width": 0}, "pattern": {"shape": hatch, **_HATCH}},
            hovertemplate=text._("score from {x}: {n} rows, {y} of {name}", **_HOVER_BIN, name=name)
            + "<extra></extra>",
        )
    if threshold is not None:
        fig.add_vline(x=threshold, line={"color": BASELINE, "width": LINE_WIDTH, "dash": "dash"})
        words = text._("flagged: {sign} {score}", sign=sign, score=text.metric(threshold))
        note(fig, words, threshold, 1, yref="paper", xanchor="left", yanchor="top", xshift=4)
    return fig


def histogram_alt(histogram: Histogram, text: Text, model: str) -> str:
    """Return the figure of the scores by class in words."""
    peaks = [
        text.metric(float(histogram.edges[int(np.argmax(counts))]))
        for counts in (histogram.positives, histogram.negatives)
    ]
    return text._(
        "Scores of {model} by class, {n_positives} positives and {n_negatives} negatives: "
        "the fullest bin of the positives starts at {positives}, that of the negatives at {negatives}.",
        model=model,
        n_positives=text.count(histogram.n_positives),
        n_negatives=text.count(histogram.n_negatives),
        positives=peaks[0],
        negatives=peaks[1],
    )


def gain_figure(curve: Curve, text: Text, *, prevalence: float) -> go.Figure:
    """Draw which share of the positives the first rows hold, between a random order and a perfect one."""
    fig = figure(HEIGHT)
    shares(fig, "x", text._("Share of rows, highest scores first"), text)
    shares(fig, "y", text._("Share of positives found"), text)
    fig.add_scatter(x=np.array([0.0, 1.0]), y=np.array([0.0, 1.0]), **_baseline(text._("Random order")))
    fig.add_scatter(
        x=np.array([0.0, prevalence, 1.0]),
        y=np.array([0.0, 1.0, 1.0]),
        **_baseline(text._("Perfect order"), dash="dash"),
    )
    fig.add_scatter(
        x=curve.x,
        y=curve.y,
        customdata=curve.threshold,
        name=text._("This score"),
        hovertemplate=text._("first {x} of rows: {y} of positives", x="%{x:.1%}", y="%{y:.1%}") + "<extra></extra>",
        **_line(BLUE),
    )
    return fig


def gain_alt(curve: Curve, text: Text, model: str) -> str:
    """Return the gain figure in words: what the first tenth of the rows holds at least."""
    at = int(np.searchsorted(curve.x, 0.1, side="right")) - 1
    return text._(
        "Cumulative gain of {model}: the first {share} of the rows hold {found} of the positives.",
        model=model,
        share=text.percent(float(curve.x[at])),
        found=text.percent(float(curve.y[at])),
    )


def cost_figure(curve: CostCurve, text: Text, span: tuple[float, float], *, cheapest: OperatingPoint) -> go.Figure:
    """Draw the cost against the threshold with the cheapest threshold and the cost of flagging nothing."""
    fig = figure(HEIGHT)
    axis("x", text._("Threshold"), fig, range=list(span))
    axis("y", text._("Cost in missed positives"), fig, rangemode="tozero", tickformat=",~r")
    fig.add_scatter(
        x=np.array(span),
        y=np.full(2, curve.flag_none),
        **_baseline(text._("Flag nothing: {cost}", cost=text.count(curve.flag_none))),
    )
    fig.add_scatter(
        x=curve.threshold,
        y=curve.cost,
        name=text._("FP × {ratio} + FN", ratio=f"{curve.ratio:.3g}"),
        hovertemplate=text._("threshold {x}: cost {y}", x="%{x:.4~g}", y="%{y:,.1f}") + "<extra></extra>",
        **_line(BLUE, shape="vh"),
    )
    if cheapest.threshold is not None and np.isfinite(cheapest.threshold):
        _dot(fig, cheapest.threshold, curve.cost_of(cheapest.confusion), text._("cheapest"), hollow=False)
    return fig


def cost_alt(curve: CostCurve, text: Text, model: str, *, cheapest: OperatingPoint) -> str:
    """Return the cost figure in words."""
    return text._(
        "Cost of {model} against the threshold when a false alarm costs {ratio} missed positives: "
        "least at {threshold} with {cost}; flagging nothing costs {none}.",
        model=model,
        ratio=f"{curve.ratio:.3g}",
        threshold=text.metric(cheapest.threshold),
        cost=text.metric(curve.cost_of(cheapest.confusion), 1),
        none=text.count(curve.flag_none),
    )


_HOVER_SHARES = {"score": HOVER_SCORE, "x": "%{x:.1%}", "y": "%{y:.1%}"}
# The hatch lies over the fill; the page's theme would leave the fill out.
_HATCH = {"fillmode": "overlay", "fgcolor": "#FFFFFF", "fgopacity": 0.7, "size": 6, "solidity": 0.2}
_HOVER_BIN = {"x": "%{x:.4~g}", "y": "%{y:.1%}", "n": "%{customdata:,}"}


def _line(colour: str, *, dash: str = "solid", shape: str = "linear") -> dict[str, Any]:
    return {"mode": "lines", "line": {"color": colour, "width": LINE_WIDTH, "dash": dash, "shape": shape}}


def _baseline(name: str, *, dash: str = "dot") -> dict[str, Any]:
    return {"name": name, "hoverinfo": "skip", **_line(BASELINE, dash=dash)}


def _points(now: OperatingPoint | None, locked: OperatingPoint | None) -> list[tuple[OperatingPoint, str]]:
    if now is None:
        return []
    return [(now, "")] if locked is None else [(locked, "A"), (now, "B")]


def _dot(fig: go.Figure, x: float | None, y: float | None, letter: str, *, hollow: bool) -> None:
    """Mark a point; nothing when it is undefined, as precision is with no row flagged."""
    if x is None or y is None:
        return
    symbol = "square" if letter == "A" else "circle"
    for end in ({"x1": x, "y1": 0}, {"x1": 0, "y1": y}):
        fig.add_shape(
            type="line", x0=x, y0=y, layer="below", line={"color": BASELINE, "width": 1, "dash": "dot"}, **end
        )
    fig.add_scatter(
        x=np.array([x]),
        y=np.array([y]),
        mode="markers+text" if letter else "markers",
        text=[letter],
        textposition="bottom right",
        marker={
            "size": 14,
            "color": BLUE,
            "symbol": f"{symbol}-open" if hollow else symbol,
            "line": {"width": 3 if hollow else 2, "color": BLUE if hollow else "#FFFFFF"},
        },
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
    )
