"""Overview, view verdict: what the numbers say, whether they may be quoted, and the three pictures behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from recmetrics import wording
from recmetrics.config import EvalConfig
from recmetrics.figures.theme import HEIGHT
from recmetrics.operating_point import OperatingPoint
from recmetrics.results import Finding, MetricValue
from recmetrics.text import N_
from recmetrics.ui import decision as decide
from recmetrics.ui import menu, show, state
from recmetrics.ui.decision import Decision
from recmetrics.ui.page import Frame
from recmetrics.ui.views import threshold_curves as curves
from recmetrics.ui.views import verdict
from recmetrics.ui.views.chosen import config_at_threshold
from recmetrics.ui.views.diagnose import ICONS, findings_of

KEPT = 24
MOST_NAMED = 5
COLOURS: Mapping[str, Literal["red", "orange", "blue", "gray"]] = {
    "critical": "red",
    "warning": "orange",
    "info": "blue",
    "passed": "gray",
    "not_applicable": "gray",
}
WORDS = {
    "critical": N_("critical: {n}"),
    "warning": N_("warnings: {n}"),
    "info": N_("hints: {n}"),
    "passed": N_("passed: {n}"),
    "not_applicable": N_("not applicable: {n}"),
}


def draw(frame: Frame) -> None:
    """Draw the page: the headline, the six numbers, the findings, the pictures."""
    with frame.guard():
        made = decide.decision(frame)
        point = decide.current_point(made)
        tiles, values = _values(frame, point)
        findings = findings_of(frame)
    _answer(frame, made, values, findings)
    _tiles(frame, {name: values[name] for name in tiles}, made.positions.sign)
    _strip(frame, findings)
    _pictures(frame, made, point)


def _values(frame: Frame, point: OperatingPoint) -> tuple[list[str], Mapping[str, MetricValue]]:
    """Return the names of the six tiles, and all values that the page shows."""
    has_users, k = frame.data.user is not None, frame.state.k
    top_k = int(point.value) if point.threshold is None else None
    tiles = verdict.tile_names(frame.config, k, has_users=has_users, top_k=top_k)
    names = tuple(dict.fromkeys([*tiles, "roc_auc", *(["gauc", f"precision@{k}"] if has_users else [])]))
    config = config_at_threshold(frame)
    key = f"{frame.data.fingerprint}|{config.hash}|{config.confidence}|{frame.model}|{names}"
    return tiles, _measured(key, frame, names, config)


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _measured(key: str, _frame: Frame, _names: tuple[str, ...], _config: EvalConfig) -> Mapping[str, MetricValue]:
    return dict(zip(_names, _frame.report(_names, _config).values, strict=True))


def _answer(frame: Frame, made: Decision, values: Mapping[str, MetricValue], findings: Sequence[Finding]) -> None:
    text, auc, gauc = frame.text, values["roc_auc"], values.get("gauc")
    precision = values.get(f"precision@{frame.state.k}")
    words = verdict.headline(show.plain(frame.model), auc, precision, text)
    show.sentence(text._("{first} {second}", first=words, second=verdict.quoting(findings, text)))
    counted = None if gauc is None else frame.data.n_users
    few = verdict.few(made.points.n_positives, made.points.n_negatives, counted, text)
    if few:
        st.warning(few, icon=":material/warning:")
    both = verdict.both_aucs(auc, gauc, text)
    if both:
        show.caption(both)


def _tiles(frame: Frame, values: Mapping[str, MetricValue], sign: str) -> None:
    text, config = frame.text, config_at_threshold(frame)
    named = list(values.items())
    for start in (0, 3):
        for column, (name, value) in zip(st.columns(3), named[start : start + 3], strict=False):
            with column:
                show.tile(
                    verdict.label(value.metric, text),
                    value,
                    text,
                    key=state.tile_key(name),
                    note=verdict.note(value, text, config, sign),
                )


def _strip(frame: Frame, findings: Sequence[Finding]) -> None:
    """Show how many findings there are of each severity, and name the ones that stand against the numbers."""
    text, counted = frame.text, verdict.tally(findings)
    show.heading(text._("What the checks found"))
    with st.container(horizontal=True, key=state.STRIP):
        for kind, words in WORDS.items():
            st.badge(text._(words, n=text.count(counted[kind])), icon=ICONS[kind], color=COLOURS[kind])
    alarms = [f for severity in ("critical", "warning") for f in findings if f.is_alarm and f.severity == severity]
    for finding in alarms[:MOST_NAMED]:
        st.markdown(
            text._(
                "**{code} · {title}** ({severity}): {sentence}",
                code=finding.code,
                title=show.words(wording.title(finding.code, text)),
                severity=show.words(wording.severity(finding, text)),
                sentence=show.words(wording.sentence(finding, text)),
            )
        )
    if len(alarms) > MOST_NAMED:
        show.caption(text._("{n} more stand on the page Diagnose.", n=text.count(len(alarms) - MOST_NAMED)))
    st.page_link(
        menu.entry("diagnose").file, label=text._("See evidence, causes and ways out"), icon=":material/troubleshoot:"
    )


def _pictures(frame: Frame, made: Decision, point: OperatingPoint) -> None:
    finite = point.threshold is not None and math.isfinite(point.threshold)
    curves.histogram_card(frame, made, threshold=point.threshold if finite else None)
    roc, pr = st.columns(2)
    with roc:
        curves.roc_card(frame, made, height=HEIGHT)
    with pr:
        curves.pr_card(frame, made, height=HEIGHT)
