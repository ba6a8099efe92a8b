"""Everything that a page draws: sentences, tiles, charts with caption and table, notices, errors, the empty state."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from recmetrics.errors import RecmetricsError
from recmetrics.results import MetricValue
from recmetrics.samples import SAMPLES
from recmetrics.text import UNDEFINED, Text
from recmetrics.ui import state
from recmetrics.ui.words import explain_lines, reason_in_words

LONGEST = 80
MOST_ROWS = 5000
_LONG_WORD = re.compile(rf"[^\s，。；：、！？（）“”]{{{LONGEST + 1},}}")
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>()#+-.!|~$:&"})


def clean(value: object) -> str:
    """Return text from data without control and direction characters, at most 80 characters; not escaped."""
    kept = "".join(c for c in str(value) if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))
    return kept if len(kept) <= LONGEST else kept[: LONGEST - 1] + "…"


def plain(value: object) -> str:
    """Return text from data so that Markdown shows it letter by letter."""
    return clean(value).translate(_MARKDOWN)


def words(value: str) -> str:
    """Return a whole sentence that may hold text from data, so that Markdown shows it letter by letter.

    The sentence stays whole; a single word of more than 80 characters, which only data hold, is cut like a name.
    """
    kept = "".join(c for c in value if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co"))
    return _LONG_WORD.sub(lambda found: found[0][: LONGEST - 1] + "…", kept).translate(_MARKDOWN)


def sentence(words: str) -> None:
    """Show the one sentence that answers the page's question."""
    with st.container(key="answer"):
        st.markdown(f"**{words}**")


def caption(words: str) -> None:
    st.caption(words)


def heading(words: str) -> None:
    st.subheader(words, anchor=False)


def error(problem: RecmetricsError, text: Text) -> None:
    """Show what is wrong with the input and what to do: a red box, never a traceback."""
    facts = {name: plain(value) for name, value in problem.facts.items()}
    st.error(text._(problem.template, **facts), icon=":material/error:")


def tile(label: str, value: MetricValue, text: Text, *, key: str, note: str = "", decimals: int = 3) -> None:
    """Show a metric: value, interval, n, and how it was made one click away."""
    with st.container(border=True, key=f"tile_{key}"):
        st.caption(label)
        st.markdown(f"### {text.metric(value.value, decimals)}")
        below = text.interval(value.low, value.high, decimals) if value.value is not None else ""
        if value.value is None:
            below = reason_in_words(value.undefined or "", text)
        counted = (
            text._n("{n} user", "{n} users", value.n_users)
            if value.n_users is not None
            else text._n("{n} row", "{n} rows", value.n_rows)
        )
        st.caption(" · ".join(part for part in (below, counted, note) if part))
        with st.popover(text._("Explain"), type="tertiary"):
            for line in explain_lines(value, text):
                st.markdown(line)


def plotly(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    caption: str = "",
    title: str = "",
    table: pd.DataFrame | Callable[[], Any] | None = None,
    text: Text | None = None,
) -> None:
    """Show a chart with its question, its caption, and the same numbers as a table.

    `key` keeps zoom over reruns; `alt` says in words what the chart shows. The table is made and sent only while it is
    open; a function that returns a frame or a Styler spares the making too.
    """
    if title:
        st.markdown(f"**{title}**")
    figure.update_layout(uirevision=key)
    st.plotly_chart(figure, key=key, alt=alt, config={"displaylogo": False, "displayModeBar": False})
    if caption:
        st.caption(caption)
    if table is not None and text is not None:
        shown = st.expander(text._("Show as table"), key=f"{key}_open", on_change="rerun")
        if shown.open:
            made = table() if callable(table) else table.head(MOST_ROWS)
            shown.dataframe(made, hide_index=True, key=f"{key}_table", placeholder=UNDEFINED)


def table(
    frame: pd.DataFrame | Any, *, key: str, columns: Mapping[str, Any] | None = None, height: int | None = None
) -> None:
    """Show a table; a Styler brings its own number formats."""
    size: dict[str, Any] = {} if height is None else {"height": height}
    st.dataframe(frame, hide_index=True, key=key, column_config=columns, placeholder=UNDEFINED, **size)


def printed(frame: pd.DataFrame, formats: Mapping[str, Any]) -> Any:
    """Return a frame whose columns are printed by functions of `Text`; the cells stay numbers, so sorting works."""
    return frame.style.format(dict(formats), na_rep=UNDEFINED)


def notices(found: Iterable[tuple[str, Mapping[str, str]]], text: Text) -> None:
    """Say what of a link could not be restored, once."""
    for template, facts in found:
        st.warning(text._(template, **{name: plain(v) for name, v in facts.items()}), icon=":material/link_off:")


def sample_cards(text: Text, ids: Iterable[str]) -> None:
    """Offer samples: a card each with what it teaches."""
    names = list(ids)
    for row in (names[start : start + 3] for start in range(0, len(names), 3)):
        for column, name in zip(st.columns(3), row, strict=False):
            sample = SAMPLES[name]
            with column, st.container(border=True, height="stretch"):
                st.markdown(f"**{text._(sample.title)}**")
                st.caption(text._(sample.teaches))
                st.button(
                    text._("Open this sample"),
                    key=state.open_key(name),
                    on_click=state.open_source,
                    args=(f"sample:{name}",),
                )


def empty(text: Text, what: str) -> None:
    """Say what the page would show, and offer three samples and the way to the data."""
    st.info(what, icon=":material/info:")
    sample_cards(text, ("healthy_clicks", "leak", "sampled_1_99"))
    st.page_link("pages/10_Data.py", label=text._("Open your own file"), icon=":material/upload_file:")
