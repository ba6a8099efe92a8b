"""Diagnose: what failed first, with evidence, causes and ways out; then what passed, did not apply or was muted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import pandas as pd
import streamlit as st

from recmetrics import wording
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.diagnose import DiagnoseOptions, Mute, diagnose
from recmetrics.evidence import Exhibit, Rows
from recmetrics.evidence import exhibit as exhibit_of
from recmetrics.figures.diagnose import evidence_alt, evidence_figure
from recmetrics.results import Evidence, Finding
from recmetrics.text import N_, Text
from recmetrics.ui import controls, data_source, menu, show, state
from recmetrics.ui.page import Frame
from recmetrics.ui.views import chosen

KEPT = 16
SEVERITIES = ("critical", "warning", "info")
ICONS = {
    "critical": ":material/dangerous:",
    "warning": ":material/warning:",
    "info": ":material/info:",
    "passed": ":material/check_circle:",
    "not_applicable": ":material/block:",
    "skipped": ":material/hourglass_disabled:",
    "muted": ":material/notifications_off:",
    "error": ":material/bug_report:",
}
COLOURS: dict[str, Literal["red", "orange", "blue"]] = {"critical": "red", "warning": "orange", "info": "blue"}
OUTCOME_ICONS = {
    "supports": ":material/thumb_up:",
    "contradicts": ":material/thumb_down:",
    "not_testable": ":material/help:",
}
GROUPS = {
    "passed": N_("Passed ({n})"),
    "not_applicable": N_("Not applicable ({n})"),
    "skipped": N_("Skipped ({n})"),
}
# Where a step leads to a view that is not the first of its page.
VIEWS = {("RM-702", "ranking"): "users"}
SHOWN = {"all": N_("all"), "warning": N_("critical and warnings"), "critical": N_("critical only")}


def findings(frame: Frame) -> None:
    """Draw the page: the answer in a sentence, failed checks as cards, the other groups folded."""
    text = frame.text
    with frame.guard():
        found = findings_of(frame)
    show.sentence(summary(found, text))
    for finding in found:
        if finding.status == "error":
            _bug(finding, text)
    _fired(frame, [finding for finding in found if finding.status == "fired"], found)
    for status, words in GROUPS.items():
        _folded(status, words, [finding for finding in found if finding.status == status], text)
    _muted([finding for finding in found if finding.status == "muted"], text)


def summary(found: Iterable[Finding], text: Text) -> str:
    """Return the answer to the page's question: how many checks stand against the numbers, and what proves nothing."""
    found = list(found)
    counted = dict.fromkeys(SEVERITIES, 0)
    for finding in found:
        if finding.status == "fired":
            counted[finding.severity] += 1
    status = {name: sum(finding.status == name for finding in found) for name in ("not_applicable", "skipped")}
    proof = {"n": text.count(status["not_applicable"]), "m": text.count(status["skipped"])}
    numbers = {severity: text.count(n) for severity, n in counted.items()}
    if counted["critical"]:
        words = N_("Do not use the number. Critical findings: {critical}, warnings: {warning}, hints: {info}.")
        return text._(words, **numbers)
    if counted["warning"]:
        words = N_("Read before quoting. Warnings: {warning}, hints: {info}; nothing critical.")
        return text._(words, warning=numbers["warning"], info=numbers["info"])
    if any(finding.status == "error" for finding in found):
        return text._("Some checks crashed, which is a fault of this program; the others raise no alarm.")
    if counted["info"]:
        return text._(
            "No alarm. Hints: {info}. {n} checks did not apply and {m} were skipped, so this is no proof.",
            info=numbers["info"],
            **proof,
        )
    return text._("Nothing failed. {n} checks did not apply and {m} were skipped, so this is no proof.", **proof)


# Failed -------------------------------------------------------------------------------------------------------------


def _fired(frame: Frame, fired: list[Finding], found: Iterable[Finding]) -> None:
    """Show alarms as failed, in full; hints below them, folded, since they change no number."""
    text = frame.text
    if not fired:
        return
    shown = [finding for severity in _wanted(text) for finding in fired if finding.severity == severity]
    headings = {True: N_("Failed ({n})"), False: N_("Hints ({n})")}
    for number, finding in enumerate(shown):
        if number == 0 or finding.is_alarm != shown[number - 1].is_alarm:
            alike = sum(other.is_alarm == finding.is_alarm for other in shown)
            show.heading(text._(headings[finding.is_alarm], n=text.count(alike)))
        explained = [f for f in found if f.explained_by == finding.code and f.model in (None, finding.model)]
        _card(frame, finding, explained, number)
    if len(shown) < len(fired):
        show.caption(text._("{n} / {total} findings shown.", n=text.count(len(shown)), total=text.count(len(fired))))


def _wanted(text: Text) -> tuple[str, ...]:
    """Offer how much to show; return the severities wanted, the worst first."""
    chosen = st.session_state.get(state.SHOWN)
    st.session_state[state.SHOWN] = chosen if chosen in SHOWN else "all"
    least = st.segmented_control(
        text._("Show"),
        list(SHOWN),
        key=state.SHOWN,
        persist_state="session",
        required=True,
        wrap=True,
        format_func=lambda choice: text._(SHOWN[choice]),
    )
    return SEVERITIES[: {"critical": 1, "warning": 2}.get(str(least), 3)]


def _card(frame: Frame, finding: Finding, explained: list[Finding], number: int) -> None:
    text = frame.text
    with st.container(border=True, key=state.finding_key(number, "card")):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(
                wording.severity(finding, text),
                icon=ICONS[finding.severity],
                color=COLOURS[finding.severity],
            )
            st.markdown(f"**{finding.code} · {show.words(wording.title(finding.code, text))}**")
        st.markdown(show.words(wording.sentence(finding, text)))
        details = state.finding_key(number, f"details_{finding.code}")
        if not finding.is_alarm and not st.toggle(text._("Details"), key=details):
            return
        _facts(finding, text)
        _evidence(frame, finding, number)
        _causes(finding, text)
        disproof = wording.disproof(finding, text)
        if disproof:
            st.markdown(f"**{text._('What would disprove it')}** — {show.words(disproof)}")
        _next_steps(finding, text, number)
        for consequence in explained:
            st.caption(_consequence(consequence, text))
        _mute(frame, finding, number)


def _facts(finding: Finding, text: Text) -> None:
    """Show what was measured, and what it was held against."""
    measured, limits = wording.measured(finding, text), wording.limits(finding, text)
    observed = " · ".join(f"{show.words(line.label)} **{show.words(line.value)}**" for line in measured)
    held = " · ".join(
        text._("{limit} ({source})", limit=show.words(line.label), source=show.words(line.value)) for line in limits
    )
    if observed:
        st.caption(text._("Observed: {facts}", facts=observed))
    if held:
        st.caption(text._("Held against: {limits}", limits=held))


def _evidence(frame: Frame, finding: Finding, number: int) -> None:
    """Show figures and rows: at once for an alarm, on request for a hint."""
    if not finding.evidence:
        return
    text = frame.text
    fold = st.expander(
        text._("Evidence"),
        expanded=finding.is_alarm,
        key=state.finding_key(number, "evidence"),
        on_change="rerun",
        icon=":material/query_stats:",
    )
    if not fold.open:
        return
    with fold:
        columns = st.columns(min(len(finding.evidence), 2))
        for i, reference in enumerate(finding.evidence):
            with columns[i % 2]:
                _shown(frame, finding, reference, state.finding_key(number, f"evidence_{i}"))


def _shown(frame: Frame, finding: Finding, reference: Evidence, key: str) -> None:
    text = frame.text
    found = _exhibit(frame, finding, reference)
    if found is None:
        show.caption(text._("These data leave nothing to show."))
    elif isinstance(found, Rows):
        show.table(_listed(found, text), key=key)
        if found.n_left_out:
            show.caption(text._("{n} more rows are not listed.", n=text.count(found.n_left_out)))
    else:
        show.plotly(evidence_figure(found, text), key=key, alt=evidence_alt(found, text))


def _causes(finding: Finding, text: Text) -> None:
    causes = wording.causes(finding, text)
    if not causes:
        return
    st.markdown(f"**{text._('Likely causes, most likely first')}**")
    lines = []
    for cause in causes:
        verdict = f"{OUTCOME_ICONS[cause.outcome]} *{show.words(cause.verdict)}*"
        measured = text._("; ").join(f"{line.label} {line.value}" for line in cause.measured)
        if measured:
            verdict = text._("{verdict} ({measured})", verdict=verdict, measured=show.words(measured))
        lines.append(f"1. {show.words(cause.text)} — {verdict}")
    st.markdown("\n".join(lines))


def _next_steps(finding: Finding, text: Text, number: int) -> None:
    steps = wording.next_steps(finding, text)
    if not steps:
        return
    st.markdown(f"**{text._('Next steps')}**")
    st.markdown("\n".join(f"- {show.words(step.text)}" for step in steps))
    pages = {entry.name: entry for entry in menu.MENU}
    wanted = dict.fromkeys((step.page or "").lower() for step in steps)
    targets = [pages[page] for page in wanted if page in pages]
    if targets:
        with st.container(horizontal=True):
            for entry in targets:
                label = text._("Open {page}", page=text._(entry.title))
                view = VIEWS.get((finding.code, entry.name))
                controls.jump(
                    label,
                    entry.name,
                    key=state.finding_key(number, f"open_{entry.name}"),
                    icon=":material/arrow_forward:",
                    **({state.view_key(entry.name): view} if view else {}),
                )


def _consequence(finding: Finding, text: Text) -> str:
    title, why = wording.title(finding.code, text), wording.explained(finding, text)
    return f"{finding.code} · {show.words(title)} — {show.words(why)}"


# Muting -------------------------------------------------------------------------------------------------------------


def _mute(frame: Frame, finding: Finding, number: int) -> None:
    text = frame.text
    with st.popover(text._("Mute"), icon=ICONS["muted"], type="tertiary", key=state.finding_key(number, "mute")):
        key = state.reason_key(finding.code)
        st.session_state[key] = st.session_state.get(key, "")
        st.text_input(text._("Why is this no problem here?"), key=key, persist_state="session", max_chars=200)
        reason = str(st.session_state.get(key) or "").strip()
        st.button(
            text._("Mute {code} for these data", code=finding.code),
            key=state.finding_key(number, "mute_now"),
            disabled=not reason,
            help=None if reason else text._("Give a reason first; it is shown with the muted finding."),
            on_click=_add_mute,
            args=(finding.code, reason, _rows(frame).fingerprint, text._("you, in this session")),
        )


def _add_mute(code: str, why: str, fingerprint: str, who: str) -> None:
    kept = [muted for muted in st.session_state.get(state.MUTES) or () if muted.code != code]
    state.put(**{state.MUTES: (*kept, Mute(code, who, why, fingerprint))})


def _unmute(code: str) -> None:
    kept = tuple(muted for muted in st.session_state.get(state.MUTES) or () if muted.code != code)
    state.put(**{state.MUTES: kept})


def _muted(muted: list[Finding], text: Text) -> None:
    if not muted:
        return
    with st.expander(text._("Muted ({n})", n=text.count(len(muted))), expanded=True, icon=ICONS["muted"]):
        for number, finding in enumerate(muted):
            st.markdown(f"**{finding.code} · {show.words(wording.title(finding.code, text))}**")
            st.markdown(show.words(wording.sentence(finding, text)))
            st.caption(show.words(wording.muted(finding, text)))
            st.button(text._("Unmute"), key=state.finding_key(number, "unmute"), on_click=_unmute, args=(finding.code,))


# The other groups ---------------------------------------------------------------------------------------------------


def _bug(finding: Finding, text: Text) -> None:
    title = show.words(wording.title(finding.code, text))
    st.error(f"**{finding.code} · {title}** — {show.words(wording.sentence(finding, text))}", icon=ICONS["error"])


def _folded(status: str, words: str, listed: list[Finding], text: Text) -> None:
    if not listed:
        return
    with st.expander(text._(words, n=text.count(len(listed))), icon=ICONS[status]):
        lines = []
        for finding in listed:
            where = f" ({show.plain(finding.scope)})" if finding.scope else ""
            title = show.words(wording.title(finding.code, text))
            lines.append(f"- **{finding.code} · {title}**{where} — {show.words(wording.sentence(finding, text))}")
        st.markdown("\n".join(lines))


# What is looked at --------------------------------------------------------------------------------------------------


def _options(frame: Frame) -> DiagnoseOptions:
    mutes = tuple(st.session_state.get(state.MUTES) or ())
    return DiagnoseOptions(k=frame.state.k, threshold_set=chosen.was_chosen(frame), mutes=mutes)


def _convention(frame: Frame) -> EvalConfig:
    return chosen.config_at_threshold(frame) if chosen.was_chosen(frame) else frame.config


def _rows(frame: Frame) -> Dataset:
    """Return the rows as loaded, under the segment filter: checks look at duplicates and missing scores themselves."""
    return _kept_rows(f"{frame.raw.fingerprint}|{frame.state.segment}", frame)


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _kept_rows(key: str, _frame: Frame) -> Dataset:
    return data_source.segment_part(_frame.raw, _frame.state.segment)


def findings_of(frame: Frame) -> tuple[Finding, ...]:
    """Return what every check saw for the chosen model on the rows in view; made once."""
    rows, config, options = _rows(frame), _convention(frame), _options(frame)
    return _kept_findings(
        f"{rows.fingerprint}|{config.hash}|{frame.model}|{options}", rows, config, options, frame.model
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _kept_findings(
    key: str, _rows: Dataset, _config: EvalConfig, _options: DiagnoseOptions, _model: str
) -> tuple[Finding, ...]:
    return diagnose(_rows, _config, _options, [_model])


def _exhibit(frame: Frame, finding: Finding, reference: Evidence) -> Exhibit | None:
    rows, config, options = _rows(frame), _convention(frame), _options(frame)
    key = f"{rows.fingerprint}|{config.hash}|{config.confidence}|{finding.model or frame.model}|{options.k}|{reference}"
    return _kept_exhibit(key, reference, rows, config, options, finding.model or frame.model)


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False, scope="session")
def _kept_exhibit(
    key: str, _reference: Evidence, _rows: Dataset, _config: EvalConfig, _options: DiagnoseOptions, _model: str
) -> Exhibit | None:
    return exhibit_of(_reference, _rows, _config, _options, _model)


def _listed(found: Rows, text: Text) -> pd.DataFrame:
    names = [text._(role) for role in found.roles]
    for model in found.models:
        name = show.clean(model)
        # A column of the file may be called like a role, or two may be cut to one name.
        while name in names:
            name += " ′"
        names.append(name)
    return pd.DataFrame([[show.clean(cell) for cell in row] for row in found.cells], columns=names)
