"""Home: the four doors, and a line on what is loaded."""

from __future__ import annotations

import streamlit as st

from recmetrics.ui import show
from recmetrics.ui.page import Frame


def doors(frame: Frame) -> None:
    """Offer the ways in: a file, a sample, an odd number, a definition."""
    text = frame.text
    file, number, lesson = st.columns(3)
    with file, st.container(border=True):
        st.markdown(f"**{text._('I have a file')}**")
        st.caption(text._("CSV, TSV, Parquet, JSON lines or TREC runs: scores and labels of your recommender."))
        st.page_link("pages/10_Data.py", label=text._("Open a file"), icon=":material/upload_file:")
    with number, st.container(border=True):
        st.markdown(f"**{text._('A number looks wrong')}**")
        st.caption(text._("A checklist with evidence: leakage, sampled candidates, ties, P = R and more."))
        st.page_link("pages/50_Diagnose.py", label=text._("Diagnose it"), icon=":material/troubleshoot:")
    with lesson, st.container(border=True):
        st.markdown(f"**{text._('What does this metric mean?')}**")
        st.caption(text._("Every metric with its question, formula, blind spots and source."))
        st.page_link("pages/110_Learn.py", label=text._("Look it up"), icon=":material/school:")
    show.heading(text._("Or try a sample"))
    show.sample_cards(text, ("healthy_clicks", "leak", "sampled_1_99"))


def loaded(frame: Frame) -> None:
    """Say what is loaded and where to go from here."""
    text = frame.text
    if not frame.raw.n_rows:
        return
    show.heading(text._("Loaded"))
    st.markdown(
        text._(
            "{name}: {rows} rows, {users} users, models: {models}.",
            name=show.plain(frame.raw.name),
            rows=text.count(frame.raw.n_rows),
            users=text.count(frame.raw.n_users),
            models=", ".join(show.plain(model) for model in frame.raw.models),
        )
    )
    st.page_link("pages/20_Overview.py", label=text._("See the overview"), icon=":material/dashboard:")


def limits(frame: Frame) -> None:
    """Say what this is not."""
    text = frame.text
    st.caption(
        text._(
            "recmetrics evaluates scores that you already have. It trains nothing, sends nothing anywhere, and a file "
            "you upload stays in the memory of this session."
        )
    )
