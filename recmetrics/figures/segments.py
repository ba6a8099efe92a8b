"""Dot and interval per group of a segment column, beside the value of all rows."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from recmetrics.figures import theme
from recmetrics.segments import Group, SegmentTable
from recmetrics.text import Text

ROW_HEIGHT = 26
LONGEST_LABEL = 28


def group_name(group: Group, text: Text) -> str:
    """Return the name of a line as plain text: the label of the data, or what the line stands for."""
    if group.kind == "all":
        return text._("all rows")
    if group.kind == "missing":
        return text._("(no entry)")
    if group.kind == "other":
        return text._n("other ({n} value)", "other ({n} values)", group.n_values)
    return group.label


def segments_figure(table: SegmentTable, label: str, text: Text) -> go.Figure:
    """Draw value and interval of each group, first line on top; too small groups hollow and grey.

    Groups without a value keep their line and say so, so that the figure has the lines of the table.
    """
    groups = [table.overall, *table.groups]
    fig = theme.figure(theme.HEIGHT_SMALL // 3 + ROW_HEIGHT * len(groups) + 40)
    place = np.arange(len(groups))
    judged = [i for i, group in enumerate(groups) if not group.small and group.kind != "all"]
    small = [i for i, group in enumerate(groups) if group.small]
    for at, name, color, symbol in (
        ([0], text._("all rows"), theme.GREY, "diamond"),
        (judged, text._("group"), theme.BLUE, "circle"),
        (small, text._("too small to judge"), theme.GREY, "circle-open"),
    ):
        shown = [i for i in at if groups[i].value is not None]
        if shown:
            fig.add_trace(_dots([groups[i] for i in shown], place[shown], name, color, symbol))
    if table.overall.value is not None:
        fig.add_vline(x=table.overall.value, line={"color": theme.GREY, "dash": "dash", "width": 1})
    for i, group in enumerate(groups):
        if group.value is None:
            theme.note(fig, "–", 0.0, i, xref="paper", xanchor="left")
    names = [_short(group_name(group, text)) for group in groups]
    theme.axis("y", "", fig, tickvals=place, ticktext=names, range=[len(groups) - 0.5, -0.5])
    theme.axis("x", label, fig)
    return fig


def segments_alt(table: SegmentTable, label: str, text: Text) -> str:
    """Say in one sentence what `segments_figure` shows."""
    known = [group for group in table.groups if group.value is not None and not group.small]
    if not known:
        return text._(
            "{metric} of all rows is {value}; no group is large enough to judge.", **_whole(table, label, text)
        )
    low, high = min(known, key=lambda g: g.value or 0.0), max(known, key=lambda g: g.value or 0.0)
    return text._(
        "{metric} of {n} groups: lowest {low} in {low_name}, highest {high} in {high_name}; all rows {value}.",
        n=text.count(len(known)),
        low=text.metric(low.value),
        low_name=group_name(low, text),
        high=text.metric(high.value),
        high_name=group_name(high, text),
        **_whole(table, label, text),
    )


def _whole(table: SegmentTable, label: str, text: Text) -> dict[str, str]:
    return {"metric": label, "value": text.metric(table.overall.value)}


def _dots(groups: list[Group], place: np.ndarray, name: str, color: str, symbol: str) -> go.Scatter:
    value = np.asarray([group.value for group in groups], dtype=np.float64)
    low = np.asarray([np.nan if group.low is None else group.low for group in groups], dtype=np.float64)
    high = np.asarray([np.nan if group.high is None else group.high for group in groups], dtype=np.float64)
    reach = {"type": "data", "symmetric": False, "array": high - value, "arrayminus": value - low, "width": 3}
    return go.Scatter(
        x=value,
        y=place,
        mode="markers",
        name=name,
        marker={"color": color, "symbol": symbol, "size": 10},
        error_x={**reach, "color": color, "thickness": 1.5},
        hovertemplate="%{x:.3f}<extra></extra>",
    )


def _short(name: str) -> str:
    return theme.escaped(name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…")
