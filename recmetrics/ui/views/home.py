"""Home: the four doors, the stage, and a line on what is loaded."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from recmetrics.config import STAGE_KS, EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.text import N_, Text
from recmetrics.ui import decision, show, state
from recmetrics.ui.page import Frame
from recmetrics.ui.views import chosen, diagnose, verdict

STAGES: Mapping[str, str] = {
    "recall": N_("Candidate recall"),
    "ranking": N_("Ranking"),
    "ctr": N_("Click prediction"),
    "push": N_("Push messages"),
}
N_TILES = 3


def doors(frame: Frame) -> None:
    """Offer the four ways in: a file, a sample, an odd number, a definition."""
    text = frame.text
    rows = [*st.columns(2), *st.columns(2)]
    with rows[0], st.container(border=True, height="stretch"):
        st.markdown(f"**{text._('I have a file')}**")
        st.caption(text._("CSV, TSV, Parquet, JSON lines or TREC runs: scores and labels of your recommender."))
        st.page_link("pages/10_Data.py", label=text._("Open a file"), icon=":material/upload_file:")
    with rows[1], st.container(border=True, height="stretch"):
        st.markdown(f"**{text._('I want to look around')}**")
        st.caption(text._("A small click log with two models and groups, ready to open; more samples are below."))
        st.button(
            text._("Open the sample"),
            key=state.open_key("first"),
            on_click=state.open_source,
            args=("sample:healthy_clicks",),
            type="tertiary",
            icon=":material/play_arrow:",
        )
    with rows[2], st.container(border=True, height="stretch"):
        st.markdown(f"**{text._('A number looks wrong')}**")
        st.caption(text._("A checklist with evidence: leakage, sampled candidates, ties, P = R and more."))
        st.page_link("pages/50_Diagnose.py", label=text._("Diagnose it"), icon=":material/troubleshoot:")
    with rows[3], st.container(border=True, height="stretch"):
        st.markdown(f"**{text._('What does this metric mean?')}**")
        st.caption(text._("Every metric with its question, formula, blind spots and source."))
        st.page_link("pages/110_Learn.py", label=text._("Look it up"), icon=":material/school:")


def loaded(frame: Frame) -> None:
    """Say what is loaded, the headline, and how many checks fired."""
    text = frame.text
    if frame.problem is not None:
        show.error(frame.problem, text)
        _mend(text)
    if not frame.raw.n_rows:
        return
    show.heading(text._("Loaded"))
    st.markdown(_what(frame.raw, text))
    try:
        counting = frame.counting()
        _findings(counting)  # first: whether the numbers below may be quoted at all
        _headline(counting)
    except RecmetricsError as problem:
        show.error(problem, text)
        _mend(text)
        return
    st.page_link("pages/20_Overview.py", label=text._("See the overview"), icon=":material/dashboard:")


def _what(data: Dataset, text: Text) -> str:
    told = {"name": show.plain(data.name), "rows": text.count(data.n_rows), "users": text.count(data.n_users)}
    told["models"] = " · ".join(show.plain(model) for model in data.models)
    if data.user is None:
        return text._("{name}: {rows} rows without users, models: {models}.", **told)
    return text._("{name}: {rows} rows, {users} users, models: {models}.", **told)


def _mend(text: Text) -> None:
    st.page_link("pages/10_Data.py", label=text._("Mend it on the Data page"), icon=":material/build:")


def _headline(frame: Frame) -> None:
    """Say what the score does, then the numbers that the stage reads first."""
    text, has_users = frame.text, frame.data.user is not None
    precision = frame.value(f"precision@{frame.state.k}") if has_users else None
    show.sentence(verdict.headline(show.plain(frame.model), frame.value("roc_auc"), precision, text))
    config, sign = chosen.config_at_threshold(frame), decision.decision(frame).positions.sign
    names = verdict.tile_names(config, frame.state.k, has_users=has_users, top_k=None)[:N_TILES]
    for column, name in zip(st.columns(N_TILES), names, strict=True):
        with column:
            value = frame.value(name, config)
            note = verdict.note(value, text, config, sign)
            show.tile(verdict.label(name, text), value, text, key=state.home_key(name), note=note)


def _findings(frame: Frame) -> None:
    text = frame.text
    st.markdown(f"**{diagnose.summary(diagnose.findings_of(frame), text)}**")
    st.page_link("pages/50_Diagnose.py", label=text._("Read the findings"), icon=":material/troubleshoot:")


def stage(frame: Frame) -> None:
    """Choose which stage made the scores: it decides which metrics are read first and at which K."""
    text = frame.text
    st.session_state[state.STAGE] = frame.config.stage
    st.segmented_control(
        text._("Which stage makes these scores?"),
        list(STAGES),
        key=state.STAGE,
        format_func=lambda name: text._(STAGES[name]),
        on_change=_change_stage,
        wrap=True,
        help=text._("It decides which metrics are read first, and the K of reports. Press again to leave it open."),
    )


def _change_stage() -> None:
    config, new = state.current().config, st.session_state[state.STAGE]
    usual = EvalConfig(stage=config.stage).ks
    # K that somebody chose stay; K that came with the former stage go with it.
    ks = STAGE_KS.get(new or "", EvalConfig().ks) if config.ks == usual else config.ks
    state.put(**{state.CONFIG: config.replace(stage=new, ks=ks)})


def samples(frame: Frame) -> None:
    """Offer three samples."""
    show.heading(frame.text._("Or try a sample"))
    show.sample_cards(frame.text, ("healthy_clicks", "leak", "sampled_1_99"))


def limits(frame: Frame) -> None:
    """Say what this is not."""
    text = frame.text
    st.caption(
        text._(
            "recmetrics evaluates scores that you already have. It trains nothing, sees no online traffic, and sends "
            "nothing anywhere; a file you upload stays in the memory of this session."
        )
    )
