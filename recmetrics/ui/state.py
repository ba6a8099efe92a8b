"""What the pages share: one frozen State, and the keys under which Streamlit keeps its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from recmetrics.config import EvalConfig
from recmetrics.text import LANGUAGES

# Keys of shared controls; a key literal in a page is refused by a test.
SOURCE = "source"
MODEL = "model"
FIRST_MODEL = "first_model"  # of the data that are open: the default, left out of the address
SEGMENT = "segment"
MODE = "threshold_mode"
VALUE = "threshold_value"
K = "k"
CONFIG = "config"
LANGUAGE = "language"
COLUMNS = "columns"
LABEL_MAP = "label_map"
UPLOADS = "uploads"
MUTES = "mutes"
NOTICES = "notices"
ARRIVED = "arrived"
PENDING = "pending"  # what a link asks for and only the data can answer

# Keys of controls that one page has to itself.
ONE_LIST = "ranking_one_list"
ASK_ONE_LIST = "ranking_ask_one_list"
K_MAX = "ranking_k_max"
TIES = "ranking_ties"
BARREN = "ranking_users_without_relevant"
SPREAD = "ranking_spread"
GROUPS_OF = "segments_column"
GROUPS_BY = "segments_metric"
GROUPS_LEAST = "segments_least"
SHOWN = "diagnose_shown"
MODE_CHOSEN = "threshold_mode_chosen"
EXACT_FORM = "threshold_exact"
EXACT_SET = "threshold_exact_set"
LOCKED = "threshold_locked"
LOCK = "threshold_lock"
SOLVED_FOR = "threshold_solved_for"
COST_RATIO = "threshold_cost_ratio"
STRIP = "overview_strip"
FILES = "data_files"
TRUTH_FILE = "data_truth_file"
TRAIN_FILE = "data_train_file"
SERVER_FILE = "data_server_file"
CONFIG_FILE = "data_config_file"
CONFIG_PROBLEM = "data_config_problem"
DRAFT_OF = "data_draft_of"
LABELS_OF = "data_labels_of"
POSITIVE_VALUE = "data_positive_value"
LEARN_SEARCH = "learn_search"
LEARN_LAYER = "learn_layer"
STAGE = "home_stage"


def exact_key(mode: str) -> str:
    """Return the key of the field for an exact value; each mode has its own range."""
    return f"threshold_exact_{mode}"


def position_key(mode: str) -> str:
    """Return the key of the slider; each mode has its own places."""
    return f"threshold_position_{mode}"


def preset_key(name: str) -> str:
    """Return the key of a preset's button."""
    return f"threshold_preset_{name}"


def tile_key(metric: str) -> str:
    """Return the key of a metric's tile: its string without what a key cannot hold."""
    return "".join(letter if letter.isalnum() else "_" for letter in metric)


def draft_key(part: str) -> str:
    """Return the key of a part of the mapping that is not yet in use: a role, or a field of the convention."""
    return f"data_draft_{part}"


def label_key(place: int) -> str:
    """Return the key of what one value of the label column means."""
    return f"data_label_{place}"


def fact_key(field: str) -> str:
    """Return the key of a declared fact, a field of the convention."""
    return f"data_fact_{field}"


def home_key(metric: str) -> str:
    """Return the key of a metric's tile on Home; keys become class names, so only letters and digits stay."""
    return "home_" + "".join(c if c.isalnum() else "_" for c in metric)


def learn_key(metric: str) -> str:
    """Return the key of a glossary entry that can be opened."""
    return f"learn_{metric}"


def open_key(sample: str) -> str:
    """Return the key of the button that opens a sample."""
    return f"open_{sample}"


def finding_key(number: int, part: str) -> str:
    """Return the key of a part of the card of a finding, by its place on the page."""
    return f"finding_{number}_{part}"


def reason_key(code: str) -> str:
    """Return the key of the reason that is being typed for muting a check."""
    return f"diagnose_reason_{code}"


DEFAULT_K, HIGHEST_K = 10, 1000
EVERYTHING = "everything"  # the segment control with no filter on; None would read as "nothing chosen"


def view_key(page: str) -> str:
    """Return the key of a page's active view."""
    return f"view_{page}"


@dataclass(frozen=True)
class State:
    """What a link restores. A derived value is never stored: (mode, value) stands for the threshold.

    Attributes
    ----------
    source
        `sample:<id>`, `file:0`, `upload:<12 hex>`, `server:<path>`; empty = no data.
    segment
        (column, label) of the filter, or None for everything.
    mode, value
        Threshold mode (`score share topk precision recall cost`) and its value; None = the page's default.
    """

    source: str = ""
    model: str = ""
    segment: tuple[str, str] | None = None
    mode: str = ""
    value: float | None = None
    k: int = DEFAULT_K
    config: EvalConfig = field(default_factory=EvalConfig)
    language: str = "en"


def browser_language() -> str:
    """Return the language that the browser asks for, among ours."""
    asked = str(st.context.locale or "").lower()
    return "zh" if asked.startswith("zh") else "en"


def current() -> State:
    """Return the shared state of this session."""
    kept = st.session_state
    language, segment = kept.get(LANGUAGE), kept.get(SEGMENT)
    return State(
        source=kept.get(SOURCE, ""),
        model=kept.get(MODEL) or "",
        segment=segment if isinstance(segment, tuple) else None,
        mode=kept.get(MODE) or "",
        value=kept.get(VALUE),
        k=int(kept.get(K) or DEFAULT_K),
        config=kept.get(CONFIG) or EvalConfig(),
        language=str(language) if language in LANGUAGES else browser_language(),
    )


def label_map() -> dict[str, float] | None:
    """Return what label words are worth: as mapped in this session, else as the convention's grade map says."""
    return st.session_state.get(LABEL_MAP) or dict(current().config.grade_map or ()) or None


def put(**changes: Any) -> None:
    """Change parts of the shared state; call it from callbacks, before the widgets of a run exist."""
    for key, value in changes.items():
        st.session_state[key] = value


def open_source(source: str) -> None:
    """Choose other data: model, segment, threshold and mapping start anew; language, K and convention stay."""
    if st.session_state.get(SOURCE) == source:
        return
    put(**{SOURCE: source, MODEL: "", SEGMENT: None, MODE: "", VALUE: None, COLUMNS: None, LABEL_MAP: None})
