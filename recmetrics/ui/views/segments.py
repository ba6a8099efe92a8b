"""Segments: one metric per group of a column, held against the rest of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from recmetrics.config import EvalConfig
from recmetrics.figures.segments import group_name, segments_alt, segments_figure
from recmetrics.metrics import METRICS, parse_metric
from recmetrics.segments import MIN_CLASS, Group, SegmentTable, segment_metrics, segment_table
from recmetrics.text import N_, Text
from recmetrics.ui import show, state
from recmetrics.ui.page import Frame
from recmetrics.ui.views import chosen
from recmetrics.ui.words import reason_in_words

KEPT = 16
LARGEST_MIN = 1000
# Grey behind the words and not in them: no grey text is readable on a light and on a dark page.
GREY = "background-color: rgba(118, 118, 118, 0.2)"
CHANCE = 0.05  # a gap with a larger adjusted p is not called one

ERRORS = {
    "flags": N_("errors: rows on the wrong side of the threshold {threshold}"),
    "order": N_("errors: lost AUC, the share of pairs in the wrong order"),
    "loss": N_("errors: the summed loss"),
}


def segments(frame: Frame) -> None:
    """Draw the page: controls, the sentence, the figure and the table."""
    text = frame.text
    if not frame.raw.segments:
        st.info(
            text._(
                "This file has no segment column. Give a column the role segment on the Data page to compare groups."
            ),
            icon=":material/info:",
        )
        st.page_link("pages/10_Data.py", label=text._("Choose segment columns"), icon=":material/table_view:")
        return
    if frame.state.segment is not None:
        show.caption(text._("This page ignores the segment filter: a group is compared with all other rows."))
    with frame.guard():
        config = chosen.config_at_threshold(frame)
        column, metric, least = _controls(frame, config)
        table = _table(frame, config, column, metric, least)
        label = metric_label(metric, text)
        show.sentence(sentence(table, label, text))
        _figure(frame, table, label)
        show.table(_styled(table, label, text), key="segments_table")
        show.caption(_caption(table, config, least, text))


def _controls(frame: Frame, config: EvalConfig) -> tuple[str, str, int]:
    text = frame.text
    columns, metrics = list(frame.raw.segments), segment_metrics(frame.raw, config, frame.state.k)
    for key, offered in ((state.GROUPS_OF, columns), (state.GROUPS_BY, list(metrics))):
        now = st.session_state.get(key)
        st.session_state[key] = now if now in offered else offered[0]
    st.session_state[state.GROUPS_LEAST] = int(st.session_state.get(state.GROUPS_LEAST) or MIN_CLASS)
    first, second, third = st.columns(3)
    with first:
        column = st.selectbox(
            text._("Column"), columns, key=state.GROUPS_OF, persist_state="session", format_func=show.clean
        )
    with second:
        metric = st.selectbox(
            text._("Metric"),
            list(metrics),
            key=state.GROUPS_BY,
            persist_state="session",
            format_func=lambda name: metric_label(metrics[name], text),
        )
    with third:
        least = st.number_input(
            text._("Fewest positives and negatives"),
            1,
            LARGEST_MIN,
            key=state.GROUPS_LEAST,
            persist_state="session",
            help=text._("Groups with fewer are shown in grey and not judged."),
        )
    return str(column), metrics[str(metric)], int(least or MIN_CLASS)


def metric_label(metric: str, text: Text) -> str:
    """Return the printed name of a metric string: `Recall@10`, `Precision at ≥ 0.30`."""
    name = parse_metric(metric)
    label = text._(METRICS[name.entry.key].label)
    if name.k is not None:
        return text._("{metric}@{k}", metric=label, k=text.count(name.k))
    if "threshold" not in name.entry.options:
        return label
    return text._("{metric} at the threshold", metric=label)


def sentence(table: SegmentTable, label: str, text: Text) -> str:
    """Return what the table says first: the weakest group, how far behind, and how much of the errors it holds."""
    weakest = table.weakest
    if weakest is None:
        if all(group.small or group.value is None for group in table.groups):
            return text._("No group has enough rows of both classes to be judged.")
        return text._("No group lies behind the rest.")
    facts = {
        "segment": show.plain(group_name(weakest, text)),
        "metric": label,
        "gap": text.metric(abs(weakest.gap.value or 0.0)),
        "interval": text.interval(*sorted_ends(weakest)),
        "share": text.percent(weakest.share_errors),
        "rows": text.percent(weakest.share_rows),
    }
    if weakest.p_adjusted is None or weakest.p_adjusted > CHANCE:
        return text._(
            "No group is clearly behind the rest. Furthest is {segment}: {metric} worse by {gap} {interval}, "
            "adjusted {p}, with {share} of all errors and {rows} of the rows.",
            p=text.p_value(weakest.p_adjusted),
            **facts,
        )
    if table.higher_is_better:
        return text._(
            "{segment} lies {gap} below the rest in {metric} {interval} and holds {share} of all errors "
            "with {rows} of the rows.",
            **facts,
        )
    return text._(
        "{segment} lies {gap} above the rest in {metric} {interval}, where less is better, and holds {share} of all "
        "errors with {rows} of the rows.",
        **facts,
    )


def sorted_ends(group: Group) -> tuple[float | None, float | None]:
    """Return the interval of the distance to the rest, as a distance: the smaller end first."""
    low, high = group.gap.low, group.gap.high
    if low is None or high is None:
        return None, None
    return (-high, -low) if (group.gap.value or 0.0) < 0 else (low, high)


def _figure(frame: Frame, table: SegmentTable, label: str) -> None:
    text = frame.text
    show.plotly(
        segments_figure(table, label, text),
        key="segments_chart",
        title=text._("Which groups lie apart from all rows?"),
        alt=segments_alt(table, label, text),
        caption=text._(
            "{n} groups of {column}; {share} intervals, users as units; the dashed line is the value of all rows.",
            n=text.count(len(table.groups)),
            column=show.plain(table.column),
            share=text.percent(frame.config.confidence, 0),
        ),
    )


def _styled(table: SegmentTable, label: str, text: Text) -> Any:
    lines = [table.overall, *table.groups]
    columns: dict[str, tuple[list[Any], Any]] = {
        text._("group"): ([show.clean(group_name(group, text)) for group in lines], None),
        text._("rows"): ([group.n_rows for group in lines], text.count),
        text._("positives"): ([group.n_positives for group in lines], text.count),
        text._("base rate"): ([group.base_rate for group in lines], text.percent),
        label: ([group.value for group in lines], text.metric),
        text._("interval"): ([text.interval(group.low, group.high) or None for group in lines], None),
        text._("gap to rest"): ([group.gap.value for group in lines], text.signed),
        text._("gap interval"): ([_signed(group, text) for group in lines], None),
        text._("share of errors"): ([group.share_errors for group in lines], text.percent),
        text._("share of rows"): ([group.share_rows for group in lines], text.percent),
        text._("p, adjusted"): ([group.p_adjusted for group in lines], _p(text)),
    }
    remarks = [_remark(group, text) for group in lines]
    if any(remarks):
        columns[text._("remark")] = (remarks, None)
    frame = pd.DataFrame({name: cells for name, (cells, _) in columns.items()})
    printed = {name: how for name, (_, how) in columns.items() if how is not None}
    grey = np.asarray([group.small or group.kind == "all" for group in lines])
    return show.printed(frame, printed).apply(lambda row: [GREY if grey[row.name] else ""] * len(row), axis=1)


def _signed(group: Group, text: Text) -> str | None:
    if group.gap.low is None or group.gap.high is None:
        return None
    return f"[{text.signed(group.gap.low)}, {text.signed(group.gap.high)}]"


def _p(text: Text) -> Any:
    return lambda p: text.p_value(p).removeprefix("p ").removeprefix("= ")


def _remark(group: Group, text: Text) -> str:
    if group.kind == "all":
        return ""
    if group.undefined:
        return reason_in_words(group.undefined, text)
    return text._("too small to judge") if group.small else ""


def _caption(table: SegmentTable, config: EvalConfig, least: int, text: Text) -> str:
    parts = [
        text._("{n} values", n=text.count(table.n_values)),
        text._(ERRORS[table.errors], threshold=text.metric(config.threshold))
        if table.errors == "flags"
        else text._(ERRORS[table.errors]),
        text._("p by Holm over the groups judged"),
    ]
    if table.n_small:
        words = N_("{n} groups with fewer than {least} positives, negatives or users are grey and not judged")
        parts.append(text._(words, n=text.count(table.n_small), least=text.count(least)))
    return " · ".join(parts)


def _table(frame: Frame, config: EvalConfig, column: str, metric: str, least: int) -> SegmentTable:
    by_flags = bool(frame.state.mode)
    key = f"{config.hash}|{config.confidence}|{frame.model}|{column}|{metric}|{least}|{by_flags}"
    return _kept_table(f"{frame.raw.fingerprint}|{key}", frame, config, column, metric, least)


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _kept_table(key: str, _frame: Frame, _config: EvalConfig, _column: str, _metric: str, _least: int) -> SegmentTable:
    return segment_table(
        _frame.raw,
        _column,
        _metric,
        _config,
        model=_frame.model,
        min_class=_least,
        errors_at_threshold=bool(_frame.state.mode),
    )
