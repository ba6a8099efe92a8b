"""Learn, glossary: one entry per registered metric, worked out on the loaded data where there are some."""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st

from recmetrics.errors import RecmetricsError
from recmetrics.metrics import METRICS, Metric
from recmetrics.text import LANGUAGES, N_, UNDEFINED, Text
from recmetrics.ui import show, state
from recmetrics.ui.page import Frame
from recmetrics.ui.views import chosen
from recmetrics.ui.words import reason_in_words

LAYERS: Mapping[str, str] = {
    "classification": N_("Rows: right or wrong"),
    "calibration": N_("Rows: probabilities"),
    "ranking": N_("Lists of users"),
    "exposure": N_("What is shown"),
    "business": N_("Business"),
}
PARTS = ("name", "asks", "formula", "undefined", "blind", "example")


def glossary(frame: Frame) -> None:
    """Draw the page: search, layer, and the entries that fit, each opened on demand."""
    text = frame.text
    words, layer = _asked(text)
    found = [entry for entry in METRICS.values() if _is_wanted(entry, words, layer)]
    show.sentence(
        text._n("{n} metric fits what you asked for.", "{n} metrics fit what you asked for.", len(found))
        if found
        else text._(
            "No metric fits. Search in English or Chinese for a name, an abbreviation or a word of its question."
        )
    )
    counting = _with_rows(frame)
    for name, title in LAYERS.items():
        entries = [entry for entry in found if entry.layer == name]
        if entries:
            show.heading(text._(title))
        for entry in entries:
            _entry(entry, counting, text)


def _asked(text: Text) -> tuple[str, str]:
    field, layer = st.columns([2, 3], vertical_alignment="bottom")
    with field:
        words = st.text_input(
            text._("Search in English or Chinese"),
            key=state.LEARN_SEARCH,
            persist_state="session",
            placeholder="NDCG · 召回率",
        )
    with layer:
        chosen_layer = st.pills(
            text._("Layer"),
            list(LAYERS),
            key=state.LEARN_LAYER,
            persist_state="session",
            wrap=True,
            format_func=lambda name: text._(LAYERS[name]),
        )
    return words.strip().casefold(), str(chosen_layer or "")


def _is_wanted(entry: Metric, words: str, layer: str) -> bool:
    if layer and entry.layer != layer:
        return False
    spoken = [Text(language).content(f"glossary.{entry.key}.{part}") for language in LANGUAGES for part in PARTS[:2]]
    spoken += [entry.key, entry.label, entry.per_user_name, *(Text(language)._(entry.label) for language in LANGUAGES)]
    return not words or any(words in said.casefold() for said in spoken)


def _with_rows(frame: Frame) -> Frame | None:
    """Return the frame with the rows that count and the threshold in force; None when there are none."""
    if not frame.raw.n_rows:
        return None
    try:
        return frame.counting()
    except RecmetricsError:
        show.caption(frame.text._("The loaded data wait for a decision on the Data page, so examples are small ones."))
        return None


# One entry ------------------------------------------------------------------------------------------------------------


def _entry(entry: Metric, frame: Frame | None, text: Text) -> None:
    names = list(dict.fromkeys(Text(language).content(f"glossary.{entry.key}.name") for language in LANGUAGES))
    if text.language == "zh":
        names.reverse()
    box = st.expander(" · ".join(names), key=state.learn_key(entry.key), on_change="rerun")
    if not box.open:
        return
    with box:
        st.markdown(f"**{_part(entry, 'asks', text)}**")
        for title, words in _lines(entry, frame, text):
            st.markdown(f"**{title}** · {words}")


def _lines(entry: Metric, frame: Frame | None, text: Text) -> list[tuple[str, str]]:
    return [
        (text._("Formula"), _part(entry, "formula", text)),
        (text._("Range"), _range(entry, text)),
        (text._("Undefined or left out"), _part(entry, "undefined", text)),
        (text._("Options in force"), _options(entry, frame, text)),
        *([(text._("On the loaded data"), _worked(entry, frame))] if frame is not None else []),
        (text._("Example"), _part(entry, "example", text)),
        (text._("When it misleads"), _part(entry, "blind", text)),
        (text._("Taken from"), show.plain(entry.source)),
        (text._("Written as"), f"`{_written(entry, state.current().k)}`"),
    ]


def _part(entry: Metric, part: str, text: Text) -> str:
    return show.words(text.content(f"glossary.{entry.key}.{part}"))


def _range(entry: Metric, text: Text) -> str:
    low, high = (_end(end, text) for end in (entry.low, entry.high))
    if math.isinf(entry.low) and math.isinf(entry.high):
        return text._("Any number.")
    if math.isinf(entry.high):
        return text._("From {low} upwards.", low=low)
    return text._("From {low} to {high}.", low=low, high=high)


def _end(value: float, text: Text) -> str:
    return text.count(value) if float(value).is_integer() else text.metric(value, 2)


def _options(entry: Metric, frame: Frame | None, text: Text) -> str:
    config = state.current().config
    if frame is not None and "threshold" in entry.options:
        config = chosen.config_at_threshold(frame)
    shown = [f"`{option} = {getattr(config, field)}`" for option, field in entry.options.items()]
    return " · ".join(shown) if shown else text._("none")


def _written(entry: Metric, k: int) -> str:
    return f"{entry.name}@{k}" if entry.has_k else entry.name


def _worked(entry: Metric, frame: Frame) -> str:
    """Return the value of the chosen model with its interval and who was counted, or why there is none."""
    text = frame.text
    try:
        config = chosen.config_at_threshold(frame) if "threshold" in entry.options else frame.config
        value = frame.value(_written(entry, frame.state.k), config)
    except RecmetricsError as problem:
        return text._(problem.template, **{name: show.plain(fact) for name, fact in problem.facts.items()})
    if value.value is None:
        return f"{UNDEFINED} ({reason_in_words(value.undefined or '', text)})"
    counted = (
        text._n("{n} user", "{n} users", value.n_users)
        if value.n_users is not None
        else text._n("{n} row", "{n} rows", value.n_rows)
    )
    about = [show.plain(frame.model), text.interval(value.low, value.high), counted]
    return f"**{text.metric(value.value)}** · " + " · ".join(part for part in about if part)
