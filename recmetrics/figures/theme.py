"""What all figures share: colours that read on a light and on a dark page, and a frame without a colour of its own.

Axes, grid, text and background come from the page; lines, marks, heights and the place of the legend are set here.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Literal

import plotly.graph_objects as go

from recmetrics.text import Text

# Okabe and Ito 2008, those with a contrast of 3 : 1 or more against both page backgrounds, in the order of use.
BLUE, VERMILLION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#767676"
LINES = (BLUE, VERMILLION, GREEN, PURPLE)
DASHES = ("solid", "dash", "dot", "dashdot")
POSITIVE, NEGATIVE = BLUE, VERMILLION
BASELINE = GREY
LINE_WIDTH = 2
HEIGHT, HEIGHT_SMALL, HEIGHT_SQUARE = 320, 240, 420


def figure(height: int = HEIGHT, **layout: Any) -> go.Figure:
    """Return an empty figure: transparent, legend in a row above the plot, room for the axis titles."""
    return go.Figure(
        layout={
            **layout,
            "height": height,
            "margin": {"l": 8, "r": 12, "t": 40, "b": 8},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "separators": ".,",
            "hovermode": "closest",
            "legend": {
                "orientation": "h",
                "x": 0,
                "xanchor": "left",
                "y": 1.02,
                "yanchor": "bottom",
                "bgcolor": "rgba(0,0,0,0)",
                "itemclick": False,
                "itemdoubleclick": False,
            },
        }
    )


def axis(which: Literal["x", "y"], title: str, fig: go.Figure, **settings: Any) -> None:
    """Name an axis; it grows its own margin so that long tick labels are never cut."""
    fig.layout[f"{which}axis"].update(title={"text": title}, automargin=True, zeroline=False, **settings)


def unit_square(height: int, x: str, y: str) -> go.Figure:
    """Return an empty figure whose axes run from 0 to 1 with equal length."""
    # A little beyond 0 and 1, so that a line on the edge keeps its full width. All in one layout: a slider makes these
    # figures again with every move, and an axis that is changed afterwards costs several times as much.
    shared = {"range": [-0.01, 1.01], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "constrain": "domain"}
    plain = {**shared, "automargin": True, "zeroline": False}
    square = {"scaleanchor": "x", "scaleratio": 1}
    return figure(height, xaxis={**plain, "title": {"text": x}}, yaxis={**plain, **square, "title": {"text": y}})


def shares(fig: go.Figure, which: Literal["x", "y"], title: str, text: Text, **settings: Any) -> None:
    """Name an axis of shares and print its ticks as percentages."""
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    labels = [text.percent(tick, 0) for tick in ticks]
    axis(which, title, fig, range=[-0.01, 1.01], tickvals=ticks, ticktext=labels, **settings)


def note(fig: go.Figure, words: str, x: float, y: float, **settings: Any) -> None:
    """Write words beside a line; their colour is the page's, which every background can carry."""
    fig.add_annotation(text=words, x=x, y=y, showarrow=False, font={"size": 12}, **settings)


def escaped(name: str) -> str:
    """Return a name from data as plain text of at most 80 characters: Plotly reads a part of HTML."""
    printable = "".join(letter for letter in name if not unicodedata.category(letter).startswith("C"))
    cut = printable if len(printable) <= 80 else printable[:79] + "…"
    return cut.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
