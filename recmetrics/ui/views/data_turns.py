"""Data, turns: the ways from one view of the page to another."""

from __future__ import annotations

import streamlit as st

from recmetrics.text import Text
from recmetrics.ui import state


def turn_to(view: str, label: str, *, icon: str = ":material/build:") -> None:
    """Offer a button that opens another view of the page."""
    st.button(label, on_click=state.put, kwargs={state.view_key("data"): view}, icon=icon)


def nothing_yet(words: str, text: Text) -> None:
    """Say what the view would show, and lead to where data are opened."""
    st.info(words, icon=":material/info:")
    turn_to("source", text._("Open a sample or a file"), icon=":material/upload_file:")
