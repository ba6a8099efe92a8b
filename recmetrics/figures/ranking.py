"""Figures of the ranking page: metrics against K between a perfect and a random order, and who the lists belong to."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from recmetrics.decomposition import UserSplit
from recmetrics.figures import theme
from recmetrics.rank_curves import Counts, RankCurves
from recmetrics.text import N_, Text

# Short names for axes and titles; the sentences on the page say what they mean.
LABELS = {
    "precision": N_("Precision@K"),
    "recall": N_("Recall@K"),
    "hit_rate": N_("Hit rate@K"),
    "mrr": N_("MRR@K"),
    "map": N_("MAP@K"),
    "ndcg": N_("NDCG@K"),
}
LABELS_AT = {
    "precision": N_("Precision@{k}"),
    "recall": N_("Recall@{k}"),
    "hit_rate": N_("Hit rate@{k}"),
    "mrr": N_("MRR@{k}"),
    "map": N_("MAP@{k}"),
    "ndcg": N_("NDCG@{k}"),
}
BAND = "rgba(0, 114, 178, 0.35)"
ZONE = "rgba(118, 118, 118, 0.14)"


def curve_figure(curves: RankCurves, metric: str, text: Text) -> go.Figure:
    """Draw one metric against K: the model with its interval, the perfect-ranker ceiling and the random line.

    Where the order of equal scores moves the value by more than the interval is wide, the band of the orders stands in
    place of the line.
    """
    found, ks = curves.curves[metric], curves.ks
    fig = theme.figure(theme.HEIGHT_SMALL + 30)
    decided = found.ties_decide
    if decided.any():
        _band(fig, ks, found.tie_low, found.tie_high, text._("tie range"))
    else:
        _band(fig, ks, found.low, found.high, text._("interval"))
    _line(fig, ks, found.ceiling, text._("perfect order"), color=theme.GREY, dash="dash")
    _line(fig, ks, found.random, text._("random order"), color=theme.GREY, dash="dot")
    _line(fig, ks, np.where(decided, np.nan, found.value), text._("this ranking"), color=theme.BLUE, dash="solid")
    if curves.shortest < ks[-1]:
        fig.add_vrect(x0=max(curves.shortest, 1), x1=int(ks[-1]), fillcolor=ZONE, line_width=0, layer="below")
    _k_axis(fig, ks, text)
    theme.axis("y", text._(LABELS[metric]), fig, range=[-0.01, 1.02], tickformat=".1f")
    return fig


def curve_alt(curves: RankCurves, metric: str, k: int, text: Text) -> str:
    """Say in one sentence what `curve_figure` shows at K, or at the next K that is drawn."""
    found, at = curves.curves[metric], min(curves.at(k), len(curves.ks) - 1)
    return text._(
        "{metric} from K = {first} to {last}. At K = {k}: {value}; a perfect order would reach {ceiling}, "
        "a random order {random}.",
        metric=text._(LABELS[metric]),
        first=text.count(curves.ks[0]),
        last=text.count(curves.ks[-1]),
        k=text.count(curves.ks[at]),
        value=text.metric(found.value[at]),
        ceiling=text.metric(found.ceiling[at]),
        random=text.metric(found.random[at]),
    )


def lengths_figure(curves: RankCurves, text: Text) -> go.Figure:
    """Draw how many users have a list of each length, and each number of relevant items, over the same axis of K."""
    titles = [text._("Users by length of their list"), text._("Users by number of relevant items")]
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.2, subplot_titles=titles)
    fig.update_layout(theme.figure(theme.HEIGHT + 20).layout, overwrite=False)
    for row, (counts, color) in enumerate([(curves.lengths, theme.GREY), (curves.positives, theme.BLUE)], 1):
        fig.add_trace(_bars(counts, color), row=row, col=1)
        if counts.n_beyond:
            words = text._("{n} users beyond the axis →", n=text.count(counts.n_beyond))
            place = {"x": 1.0, "y": 0.9, "xref": "x domain", "yref": "y domain", "xanchor": "right"}
            fig.add_annotation(text=words, showarrow=False, font={"size": 12}, **place, row=row, col=1)
        fig.update_yaxes(title_text=text._("users"), automargin=True, rangemode="tozero", row=row, col=1)
    fig.update_xaxes(range=[-0.5, float(curves.ks[-1]) + 0.5])
    fig.update_xaxes(title_text=text._("K, items"), automargin=True, row=2, col=1)
    fig.update_layout(showlegend=False, bargap=0.1)
    fig.update_annotations(font_size=13)
    return fig


def lengths_alt(curves: RankCurves, text: Text) -> str:
    """Say in one sentence what `lengths_figure` shows."""
    return text._(
        "Lists of {n} users hold {shortest} to {longest} items; {one} of them have exactly one relevant item.",
        n=text.count(curves.n_users),
        shortest=text.count(curves.shortest),
        longest=text.count(curves.longest),
        one=text.count(curves.n_one_relevant),
    )


def user_values_figure(counts: Counts, label: str, mean: float | None, text: Text) -> go.Figure:
    """Draw how a metric is spread over users, twenty bins between 0 and 1; the mean is a dashed line."""
    fig = theme.figure(theme.HEIGHT_SMALL)
    fig.add_trace(_bars(counts, theme.BLUE))
    if mean is not None and not np.isnan(mean):
        fig.add_vline(x=mean, line={"color": theme.VERMILLION, "dash": "dash", "width": theme.LINE_WIDTH})
        theme.note(fig, text._("mean {value}", value=text.metric(mean)), mean, 1.0, yref="paper", yanchor="bottom")
    theme.axis("x", label, fig, range=[-0.01, 1.01], tickformat=".1f")
    theme.axis("y", text._("users"), fig, rangemode="tozero")
    fig.update_layout(showlegend=False, bargap=0.05)
    return fig


def user_values_alt(counts: Counts, label: str, mean: float | None, text: Text) -> str:
    """Say in one sentence what `user_values_figure` shows."""
    return text._(
        "{label} of {n} users: {lowest} lie below 0.05, {highest} at 0.95 or above, the mean is {mean}.",
        label=label,
        n=text.count(counts.n.sum()),
        lowest=text.count(counts.n[0]),
        highest=text.count(counts.n[-1]),
        mean=text.metric(mean),
    )


def split_figure(found: UserSplit, text: Text) -> go.Figure:
    """Draw the pooled AUC and its two parts as dots on one axis; chance is the dashed line at one half."""
    rows = [
        (text._("pairs within a user"), found.within, theme.BLUE, "circle"),
        (text._("pairs across users"), found.across, theme.VERMILLION, "square"),
        (text._("all pairs"), found.auc, theme.GREY, "diamond"),
    ]
    fig = theme.figure(theme.HEIGHT_SMALL)
    for place, (name, value, color, symbol) in enumerate(rows):
        if value is not None:
            fig.add_trace(
                go.Scatter(
                    x=np.asarray([value]),
                    y=np.asarray([place]),
                    name=name,
                    mode="markers+text",
                    marker={"color": color, "symbol": symbol, "size": 13},
                    text=[text.metric(value)],
                    textposition="top center",
                    hoverinfo="skip",
                )
            )
    fig.add_vline(x=0.5, line={"color": theme.GREY, "dash": "dash", "width": 1})
    theme.note(fig, text._("chance"), 0.5, 1.0, yref="paper", yanchor="bottom")
    theme.axis("x", text._("share of pairs in the right order (AUC)"), fig, range=[-0.04, 1.04], tickformat=".1f")
    # Room above the first line for the number over its dot.
    names = [name for name, *_ in rows]
    theme.axis("y", "", fig, tickvals=np.arange(len(rows)), ticktext=names, range=[len(rows) - 0.5, -0.8])
    fig.update_layout(showlegend=False)
    return fig


def split_alt(found: UserSplit, text: Text) -> str:
    """Say in one sentence what `split_figure` shows."""
    return text._(
        "AUC over all pairs {auc}; over the {share} of pairs within one user {within}; over the others {across}.",
        auc=text.metric(found.auc),
        share=text.percent(found.w_in),
        within=text.metric(found.within),
        across=text.metric(found.across),
    )


def _band(fig: go.Figure, x: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64], name: str) -> None:
    known = ~(np.isnan(low) | np.isnan(high))
    if not known.any():
        return
    # One closed outline: two traces with a fill between them break where a value is missing.
    fig.add_trace(
        go.Scatter(
            x=np.concatenate([x[known], x[known][::-1]]),
            y=np.concatenate([high[known], low[known][::-1]]),
            fill="toself",
            fillcolor=BAND,
            line={"width": 0},
            mode="lines",
            name=name,
            hoverinfo="skip",
        )
    )


def _line(fig: go.Figure, x: NDArray[np.int64], y: NDArray[np.float64], name: str, *, color: str, dash: str) -> None:
    # A curve with one point has no line to see.
    mode = "lines+markers" if len(x) < 2 else "lines"
    shape = {"color": color, "dash": dash, "width": theme.LINE_WIDTH}
    fig.add_trace(
        go.Scatter(
            x=x, y=y, mode=mode, line=shape, name=name, hovertemplate="K = %{x}: %{y:.3f}<extra>" + name + "</extra>"
        )
    )


def _k_axis(fig: go.Figure, ks: NDArray[np.int64], text: Text) -> None:
    first, last = float(ks[0]), float(ks[-1])
    room = max((last - first) * 0.02, 0.5)
    theme.axis("x", text._("K, places shown"), fig, range=[first - room, last + room], tickformat="d")


def _bars(counts: Counts, color: str) -> go.Bar:
    return go.Bar(
        x=counts.left + counts.width / 2.0,
        y=counts.n,
        width=np.full(len(counts.n), counts.width * 0.9),
        marker={"color": color},
        hovertemplate="%{x}: %{y}<extra></extra>",
    )
