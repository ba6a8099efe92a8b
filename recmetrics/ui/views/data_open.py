"""Data, source: where the rows come from, and what was loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable

import streamlit as st

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.samples import SAMPLES
from recmetrics.text import N_, UNDEFINED, Text
from recmetrics.ui import data_source, show, state
from recmetrics.ui.page import Frame
from recmetrics.usable import positive_rows

KIBIBYTE, MEBIBYTE = 1 << 10, 1 << 20
FINGERPRINT_SHOWN = 12
EXAMPLE_NAME = "example.csv"
EXAMPLE = """user,item,label,score,city
u01,i101,1,0.91,north
u01,i102,0,0.74,north
u01,i103,1,0.55,north
u01,i104,0,0.12,north
u02,i101,0,0.83,south
u02,i105,1,0.67,south
u02,i106,0,0.40,south
u02,i107,0,0.05,south
u03,i102,0,0.58,north
u03,i105,1,0.58,north
u03,i108,0,0.31,north
u03,i109,0,0.22,north
"""


def source(frame: Frame) -> None:
    """Draw the view: what is loaded first, then every way to other data."""
    text = frame.text
    if frame.raw.n_rows:
        _loaded(frame.raw, frame.config, text)
    show.heading(text._("Open your own files"))
    _uploaders(text)
    _command_line(text)
    _server(text)
    show.heading(text._("Samples"))
    show.caption(
        text._("Each small file teaches one thing; all of them were made for this purpose or are free to use.")
    )
    show.sample_cards(text, SAMPLES)


def _loaded(data: Dataset, config: EvalConfig, text: Text) -> None:
    positives = int(positive_rows(data, config).sum())
    told = {"name": show.plain(data.name), "rows": text.count(data.n_rows), "positives": text.count(positives)}
    told |= {"users": text.count(data.n_users), "items": text.count(data.n_items)}
    if data.user is not None and data.item is not None:
        words = N_("{name}: {rows} rows of {users} users and {items} items, {positives} of them positive.")
    elif data.user is not None:
        words = N_("{name}: {rows} rows of {users} users, {positives} of them positive; there is no item column.")
    else:
        words = N_("{name}: {rows} rows, {positives} of them positive; there is no user column, so no lists.")
    show.sentence(text._(words, **told))
    facts = {
        text._("Rows"): text.count(data.n_rows),
        text._("Users"): text.count(data.n_users) if data.user is not None else UNDEFINED,
        text._("Items"): text.count(data.n_items) if data.item is not None else UNDEFINED,
        text._("Positive rows"): text.count(positives),
        text._("Models"): text.count(len(data.models)),
        text._("Memory"): _size(data_source.bytes_held(data), text),
    }
    shown = list(facts.items())
    for start in range(0, len(shown), 3):
        for column, (name, value) in zip(st.columns(3), shown[start : start + 3], strict=True):
            column.metric(name, value, border=True)
    show.caption(
        text._(
            "Fingerprint {code}: whoever sees the same fingerprint looks at the same rows.",
            code=data.fingerprint[:FINGERPRINT_SHOWN],
        )
    )


def _size(n_bytes: int, text: Text) -> str:
    if n_bytes < MEBIBYTE:
        return f"{text.metric(n_bytes / KIBIBYTE, 1)} KiB"
    return f"{text.metric(n_bytes / MEBIBYTE, 1)} MiB"


def _uploaders(text: Text) -> None:
    kinds = [suffix.removeprefix(".") for suffix in data_source.SUFFIXES]
    st.file_uploader(
        text._("Scored rows: CSV, Excel, Parquet, JSON lines or TREC run; several files are several models"),
        kinds,
        accept_multiple_files=True,
        key=state.FILES,
        on_change=_keep,
        help=text._("One row per user and item with a label and a score. Up to {n} files.", n=data_source.MOST_FILES),
    )
    with st.expander(text._("Add a truth file or training data")):
        st.file_uploader(
            text._("Truth: judged or relevant user–item pairs, also of items that no row scores"),
            kinds,
            key=state.TRUTH_FILE,
            on_change=_keep,
        )
        st.file_uploader(
            text._("Training data: the user–item pairs that the model learned from, for popularity and leakage"),
            kinds,
            key=state.TRAIN_FILE,
            on_change=_keep,
        )
    show.caption(
        text._(
            "An uploaded file stays in the memory of this session and is never written to disk. Reloading the page "
            "starts a new session: upload the file again then. A link to an upload works for whoever has the same file."
        )
    )
    st.download_button(
        text._("Download an example file of 12 rows"),
        data=EXAMPLE,
        file_name=EXAMPLE_NAME,
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


def _keep() -> None:
    """Take over what the uploaders hold, as soon as there are scored rows among it."""
    files = list(st.session_state.get(state.FILES) or [])
    if not files:
        return
    if len(files) > data_source.MOST_FILES:
        words = N_("At most {n} files are read together. Remove some of them.")
        state.put(**{state.NOTICES: [(words, {"n": str(data_source.MOST_FILES)})]})
        return
    truth, train = st.session_state.get(state.TRUTH_FILE), st.session_state.get(state.TRAIN_FILE)
    kept = data_source.keep_upload(
        [(file.name, file.getvalue()) for file in files],
        None if truth is None else (truth.name, truth.getvalue()),
        None if train is None else (train.name, train.getvalue()),
    )
    state.open_source(kept)


def _command_line(text: Text) -> None:
    files = data_source.command_line_files()
    if not files:
        return
    show.heading(text._("Files named on the command line"))
    st.markdown(_listed(path.name for path in files))
    st.button(
        text._("Open these files"),
        key=state.open_key("command_line"),
        on_click=state.open_source,
        args=("file:0",),
        icon=":material/terminal:",
    )


def _listed(names: Iterable[str]) -> str:
    return "\n".join(f"- {show.plain(name)}" for name in names)


def _server(text: Text) -> None:
    if not os.environ.get("RECMETRICS_DATA_DIR"):
        return
    show.heading(text._("Files on the server"))
    files = data_source.server_files()
    if not files:
        show.caption(text._("The server's data folder holds no file that can be read."))
        return
    chosen = st.selectbox(
        text._("File"), files, index=None, key=state.SERVER_FILE, format_func=show.clean, placeholder=text._("Choose")
    )
    st.button(
        text._("Open this file"),
        key=state.open_key("server"),
        on_click=state.open_source,
        args=(f"server:{chosen}",),
        disabled=chosen is None,
    )
