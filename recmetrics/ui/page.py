"""The frame of every page, and how to write one.

A page file is thin: `frame = page("threshold")` first, then controls, calls and rendering; at most 60 lines, no
arithmetic, no text outside `frame.text._()`. What does not fit goes to `recmetrics/ui/views/<page>.py`. Shared controls
come from `recmetrics.ui.controls`, drawing from `recmetrics.ui.show`, shared keys from `recmetrics.ui.state`. What
moves often sits in one `st.fragment` that ends with `frame.sync()` when it holds a shared control. Input errors raised
while the page runs are shown by `with frame.guard():`.

    frame = page("threshold")                 # stops here with the empty state when there is no data
    tables = frame.tables()                   # ScoreTable and HitTable of the chosen model, cached
    value = frame.value("roc_auc")            # MetricValue, the API's own number
    show.sentence(frame.text._("…", auc=frame.text.metric(value.value)))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from recmetrics.bundle import Tables
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import evaluate
from recmetrics.results import MetricValue, Report
from recmetrics.text import Text
from recmetrics.ui import controls, data_source, link, menu, show, state
from recmetrics.usable import positive_rows

_HERE = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Frame:
    """What a page works with.

    Attributes
    ----------
    raw
        The dataset as loaded, all rows.
    data
        The rows that count under the convention and the segment filter.
    problem
        Why the chosen source could not be opened; None when it was, or when none is chosen.
    """

    name: str
    text: Text
    state: state.State
    raw: Dataset
    data: Dataset
    problem: RecmetricsError | None = None

    @property
    def config(self) -> EvalConfig:
        return self.state.config

    @property
    def model(self) -> str:
        return self.state.model

    def tables(self, model: str | None = None) -> Tables:
        """Return a model's tables; the chosen model's when none is named."""
        return data_source.tables_of(self.data, self.config, model or self.model)

    def report(self, metrics: Iterable[str], config: EvalConfig | None = None) -> Report:
        """Return values of the chosen model from its cached tables, by the same function as the API."""
        tables = {self.model: self.tables()}
        return evaluate(self.data, config or self.config, models=[self.model], metrics=metrics, tables=tables)

    def value(self, metric: str, config: EvalConfig | None = None) -> MetricValue:
        """Return one value of the chosen model."""
        return self.report([metric], config).values[0]

    def counting(self) -> Frame:
        """Return the frame with the rows that count, for a page that also opens without data.

        Raises
        ------
        RecmetricsError
            When the convention does not say how to treat duplicates or odd scores.
        """
        rows = data_source.usable_rows(self.raw, self.config, self.state.segment)
        return replace(self, data=rows)

    def sync(self) -> None:
        """Write the address bar again; a fragment that holds a shared control ends with it."""
        link.sync(self.name, self.text)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Show an input error in a red box and end the page there."""
        with guarded(self.text):
            yield


@contextmanager
def guarded(text: Text) -> Iterator[None]:
    """Show an input error in a red box and end the page there."""
    try:
        yield
    except RecmetricsError as problem:
        show.error(problem, text)
        st.stop()


def page(name: str, *, needs_data: bool = True, needs_treatment: bool = True) -> Frame:
    """Draw the frame of a page and return what it works with; without data a page that needs them ends here.

    Rows that the convention refuses (duplicates, missing scores) end the page too, unless it works on the rows as they
    are (`needs_treatment` False): then the refusal is a notice and `data` are all rows.
    """
    entry = menu.entry(name)
    link.restore(name)
    text = Text(state.current().language)
    st.set_page_config(
        page_title=f"{text._(entry.title)} · recmetrics",
        page_icon=str(_HERE / "icon.png"),
        layout="wide",
        initial_sidebar_state="auto",
    )
    st.html(_HERE / "style.css")
    link.open_view(name)
    raw, problem = _opened(text)
    _sidebar(name, text)
    st.title(text._(entry.title), anchor=False)
    st.caption(text._(entry.question))
    with st.container():
        show.notices(st.session_state.pop(state.NOTICES, None) or [], text)
    if raw is None:
        _address(name, text)
        if needs_data and problem is not None:
            show.error(problem, text)
            _way_to_data(text)
            st.stop()
        if needs_data:
            show.empty(text, text._("This page answers its question from your data. Open a sample or a file first."))
            st.stop()
        return Frame(name, text, state.current(), _no_data(), _no_data(), problem)
    data = _context_bar(name, raw, text, needs_treatment) if needs_data else raw
    _address(name, text)
    return Frame(name, text, state.current(), raw, data)


def _way_to_data(text: Text) -> None:
    """Lead to the page where the input can be mended."""
    st.page_link(menu.entry("data").file, label=text._("Mend it on the Data page"), icon=":material/build:")


def _opened(text: Text) -> tuple[Dataset | None, RecmetricsError | None]:
    now = state.current()
    if not now.source:
        return None, None
    try:
        with st.spinner(text._("Reading the data…"), show_time=False):
            columns = st.session_state.get(state.COLUMNS)
            raw = data_source.open_dataset(now.source, columns, state.label_map(), now.config)
    except RecmetricsError as problem:
        return _opened(text) if link.drop_mapping() else (None, problem)
    link.resolve(raw)
    state.put(**{state.FIRST_MODEL: raw.models[0] if raw.models else ""})
    if raw.models and state.current().model not in raw.scores:
        state.put(**{state.MODEL: raw.models[0]})
    return raw, None


def _sidebar(name: str, text: Text) -> None:
    with st.sidebar:
        st.markdown("**recmetrics**")
        for section, title in menu.SECTIONS.items():
            pages = [entry for entry in menu.MENU if entry.section == section]
            if pages:
                st.caption(text._(title))
            for entry in pages:
                st.page_link(entry.file, label=text._(entry.title), icon=entry.icon)
        controls.language()


def _address(name: str, text: Text) -> None:
    """Write the address once the controls have put their values right."""
    with st.sidebar:
        link.sync(name, text, button=True)


def _context_bar(name: str, raw: Dataset, text: Text, needs_treatment: bool) -> Dataset:
    """Show what is looked at: dataset, model, filter, and shown / total of rows, users and positives."""
    with st.container(border=True, key="context"):
        about, model, segment = st.columns([2, 1, 1], vertical_alignment="bottom")
        with model:
            controls.model(raw, text)
        with segment:
            controls.segment(raw, text)
        now = state.current()
        try:
            data = data_source.usable_rows(raw, now.config, now.segment)
        except RecmetricsError as problem:
            show.error(problem, text)
            _way_to_data(text)
            if needs_treatment:
                _address(name, text)
                st.stop()
            data = data_source.segment_part(raw, now.segment)
        with about:
            st.markdown(f"**{show.plain(raw.name)}**")
            st.caption(_counts(raw, data, now.config, text))
    # A place that is always there: a line that comes and goes would move what stands below it, and the browser then
    # makes those controls anew, without the focus and without what is being typed.
    remark = st.empty()
    if now.segment is not None:
        remark.caption(
            text._("A segment filter is on: every number below is for {group} only.", group=_group(now.segment))
        )
    return data


def _group(segment: tuple[str, str]) -> str:
    return f"{show.plain(segment[0])} = {show.plain(segment[1])}"


def _counts(raw: Dataset, data: Dataset, config: EvalConfig, text: Text) -> str:
    def of(part: int, whole: int) -> str:
        return text.count(whole) if part == whole else f"{text.count(part)} / {text.count(whole)}"

    positives = [int(positive_rows(d, config).sum()) for d in (data, raw)]
    return " · ".join(
        [
            text._("{n} rows", n=of(data.n_rows, raw.n_rows)),
            text._("{n} users", n=of(data.n_users, raw.n_users)) if raw.user is not None else text._("no user column"),
            text._("{n} positives", n=of(*positives)),
        ]
    )


def _no_data() -> Dataset:
    import numpy as np

    nothing = np.empty(0, dtype=object)
    return Dataset("", nothing, nothing, None, None, np.empty(0), {}, np.empty(0, dtype=np.int64), fingerprint="none")
