"""Figures of the evidence behind a finding: one drawing and one sentence per kind of exhibit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from recmetrics.evidence import AtK, Bars, Dot, Dots, Exhibit, Lengths, PrecisionRecall, Roc, Scores
from recmetrics.figures import theme
from recmetrics.figures.ranking import LABELS, curve_alt, lengths_alt, lengths_figure
from recmetrics.figures.segments import segments_alt, segments_figure
from recmetrics.figures.threshold import (
    histogram_alt,
    histogram_figure,
    pr_alt,
    pr_figure,
    roc_alt,
    roc_figure,
)
from recmetrics.segments import SegmentTable
from recmetrics.text import Text


def evidence_figure(exhibit: Exhibit, text: Text) -> go.Figure:
    """Draw an exhibit. KeyError for rows, which are listed and not drawn."""
    return _DRAWN[type(exhibit)][0](exhibit, text)


def evidence_alt(exhibit: Exhibit, text: Text) -> str:
    """Return the same in one sentence."""
    return _DRAWN[type(exhibit)][1](exhibit, text)


def _roc(exhibit: Roc, text: Text) -> go.Figure:
    fig = roc_figure(exhibit.curve, text, auc=exhibit.auc, height=theme.HEIGHT)
    if exhibit.mirrored:
        shape = {"color": theme.VERMILLION, "dash": "dot", "width": theme.LINE_WIDTH}
        name = text._("reversed score: AUC {auc}", auc=text.metric(1.0 - exhibit.auc))
        # Reversing a score mirrors its curve at the centre of the square.
        x, y = 1.0 - exhibit.curve.x[::-1], 1.0 - exhibit.curve.y[::-1]
        fig.add_trace(go.Scatter(x=x, y=y, mode="lines", line=shape, name=name, hoverinfo="skip"))
    return fig


def _roc_alt(exhibit: Roc, text: Text) -> str:
    return roc_alt(text, exhibit.model, auc=exhibit.auc)


def _precision_recall(exhibit: PrecisionRecall, text: Text) -> go.Figure:
    return pr_figure(
        exhibit.curve,
        text,
        prevalence=exhibit.prevalence,
        auprc=exhibit.auprc,
        now=exhibit.point,
        height=theme.HEIGHT,
    )


def _precision_recall_alt(exhibit: PrecisionRecall, text: Text) -> str:
    return pr_alt(text, exhibit.model, prevalence=exhibit.prevalence, auprc=exhibit.auprc, now=exhibit.point)


def _scores(exhibit: Scores, text: Text) -> go.Figure:
    return histogram_figure(exhibit.histogram, text)


def _scores_alt(exhibit: Scores, text: Text) -> str:
    return histogram_alt(exhibit.histogram, text, exhibit.model)


def _bars(exhibit: Bars, text: Text) -> go.Figure:
    fig = theme.figure(theme.HEIGHT_SMALL)
    counts = np.asarray(exhibit.counts, dtype=np.int64)
    # Places, not names, are the axis: names such as "1" would become numbers and bars of unequal distance.
    place = np.arange(len(counts))
    fig.add_trace(
        go.Bar(
            x=place,
            y=counts,
            marker={"color": theme.BLUE},
            text=[text.count(n) for n in exhibit.counts],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    theme.axis("x", text._(exhibit.axis), fig, tickvals=place, ticktext=_names(exhibit, text))
    theme.axis("y", text._("rows") if exhibit.axis != "users" else text._("users"), fig)
    if exhibit.log:
        fig.update_yaxes(type="log", dtick=1)
    fig.update_layout(showlegend=False)
    return fig


def _bars_alt(exhibit: Bars, text: Text) -> str:
    listed = [f"{name}: {text.count(n)}" for name, n in zip(_names(exhibit, text), exhibit.counts, strict=True)]
    return text._("Counts by {axis}: {listed}.", axis=text._(exhibit.axis), listed=text._("; ").join(listed))


def _names(exhibit: Bars, text: Text) -> list[str]:
    return [theme.escaped(text._(name)) for name in exhibit.names]


def _dots(exhibit: Dots, text: Text) -> go.Figure:
    dots = exhibit.dots
    fig = theme.figure(90 + 34 * len(dots))
    value = np.asarray([dot.value for dot in dots], dtype=np.float64)
    reach = {
        "type": "data",
        "symmetric": False,
        "array": np.asarray([_or_zero(dot.high, dot.value) for dot in dots]),
        "arrayminus": np.asarray([-_or_zero(dot.low, dot.value) for dot in dots]),
        "color": theme.BLUE,
        "thickness": 1.5,
        "width": 4,
    }
    place = np.arange(len(dots))
    marker = {"color": theme.BLUE, "size": 10}
    fig.add_trace(
        go.Scatter(
            x=value,
            y=place,
            mode="markers",
            marker=marker,
            error_x=reach,
            hovertemplate="%{x:.3f}<extra></extra>",
        )
    )
    if exhibit.chance is not None:
        fig.add_vline(x=exhibit.chance, line={"color": theme.GREY, "dash": "dash", "width": 1})
        theme.note(fig, text._("chance"), exhibit.chance, 1.0, yref="paper", yanchor="bottom")
    names = [_dot_name(dot, text) for dot in dots]
    theme.axis("y", "", fig, tickvals=place, ticktext=names, range=[len(dots) - 0.5, -0.5])
    theme.axis("x", text._(exhibit.axis), fig, range=[-0.02, 1.02], tickformat=".1f")
    fig.update_layout(showlegend=False)
    return fig


def _dots_alt(exhibit: Dots, text: Text) -> str:
    listed = [
        f"{_dot_name(dot, text)} {text.metric(dot.value)} {text.interval(dot.low, dot.high)}".strip()
        for dot in exhibit.dots
    ]
    return text._("{axis}: {listed}.", axis=text._(exhibit.axis), listed=text._("; ").join(listed))


def _or_zero(end: float | None, value: float) -> float:
    return 0.0 if end is None else end - value


def _dot_name(dot: Dot, text: Text) -> str:
    facts = {name: ("+" if n > 0 else "−") + text.count(abs(n)) for name, n in (dot.facts or {}).items()}
    return text._(dot.name, **facts)


def _lengths(exhibit: Lengths, text: Text) -> go.Figure:
    fig = lengths_figure(exhibit.curves, text)
    if exhibit.k is not None:
        for row in (1, 2):
            fig.add_vline(x=exhibit.k, line={"color": theme.VERMILLION, "dash": "dash", "width": 2}, row=row, col=1)
    return fig


def _lengths_alt(exhibit: Lengths, text: Text) -> str:
    return lengths_alt(exhibit.curves, text)


def _at_k(exhibit: AtK, text: Text) -> go.Figure:
    """Draw the metrics against K; one metric alone comes with its ceiling and random line."""
    curves = exhibit.curves
    fig = theme.figure(theme.HEIGHT_SMALL + 40)
    styles = zip(exhibit.metrics, theme.LINES, theme.DASHES, strict=False)
    for metric, color, dash in styles:
        found = curves.curves[metric]
        lines = [(text._(LABELS[metric]), found.value, color, dash)]
        if len(exhibit.metrics) == 1:
            lines.append((text._("perfect order"), found.ceiling, theme.GREY, "dash"))
            lines.append((text._("random order"), found.random, theme.GREY, "dot"))
        for name, values, colour, stroke in lines:
            shape = {"color": colour, "dash": stroke, "width": theme.LINE_WIDTH}
            fig.add_trace(go.Scatter(x=curves.ks, y=values, mode="lines", line=shape, name=name))
    fig.add_vline(x=exhibit.k, line={"color": theme.GREY, "dash": "dash", "width": 1})
    theme.note(fig, text._("K = {k}", k=text.count(exhibit.k)), exhibit.k, 0.98, xanchor="left", yref="paper")
    theme.axis("x", text._("K, places shown"), fig, tickformat="d")
    theme.axis("y", "", fig, range=[-0.01, 1.02], tickformat=".1f")
    return fig


def _at_k_alt(exhibit: AtK, text: Text) -> str:
    return " ".join(curve_alt(exhibit.curves, metric, exhibit.k, text) for metric in exhibit.metrics)


def _segments(exhibit: SegmentTable, text: Text) -> go.Figure:
    return segments_figure(exhibit, text._("AUC"), text)


def _segments_alt(exhibit: SegmentTable, text: Text) -> str:
    return segments_alt(exhibit, text._("AUC"), text)


_DRAWN: Mapping[type[Any], tuple[Callable[[Any, Text], go.Figure], Callable[[Any, Text], str]]] = {
    Roc: (_roc, _roc_alt),
    PrecisionRecall: (_precision_recall, _precision_recall_alt),
    Scores: (_scores, _scores_alt),
    Bars: (_bars, _bars_alt),
    Dots: (_dots, _dots_alt),
    Lengths: (_lengths, _lengths_alt),
    AtK: (_at_k, _at_k_alt),
    SegmentTable: (_segments, _segments_alt),
}
