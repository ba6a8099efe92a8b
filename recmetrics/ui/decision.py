"""The decision point of the session: what is asked for, and everything that answering looks up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from recmetrics.bundle import Tables
from recmetrics.config import EvalConfig
from recmetrics.curves import Curve, CurvePoints, Histogram, curve_points, pr_curve, roc_curve, score_histogram
from recmetrics.metrics.base import Measured
from recmetrics.metrics.classification import auprc, roc_auc
from recmetrics.operating_point import (
    MODES,
    Mode,
    OperatingPoint,
    PositionTable,
    default_choice,
    ladder,
    position_table,
    solve,
)
from recmetrics.text import N_, Text
from recmetrics.ui import state
from recmetrics.ui.page import Frame
from recmetrics.ui.views.readout import Readout, readout, slider_labels

KEPT = 24
# What a mode can be asked for: lowest and highest value.
RANGES: dict[Mode, tuple[float, float]] = {
    "score": (-math.inf, math.inf),
    "share": (0.0, 1.0),
    "topk": (1.0, math.inf),
    "precision": (0.0, 1.0),
    "recall": (0.0, 1.0),
    "cost": (0.0, math.inf),
}


@dataclass(frozen=True, eq=False)
class Decision:
    """Look-ups of one model on one selection of rows under one convention; `key` names them in caches."""

    key: str
    positions: PositionTable
    points: CurvePoints
    roc: Curve
    pr: Curve
    histogram: Histogram
    auc: Measured
    auprc: Measured

    @property
    def prevalence(self) -> float:
        n = self.points.n_rows
        return self.points.n_positives / n if n else math.nan

    @property
    def span(self) -> tuple[float, float]:
        """The part of the score axis that charts show."""
        return float(self.histogram.edges[0]), float(self.histogram.edges[-1])

    def unavailable(self, mode: Mode) -> str:
        """Return why a mode cannot apply to these rows; an empty text when it can."""
        topk = self.positions.topk
        if mode == "topk" and (topk is None or topk.k_max == 0):
            return N_("there is no user column")
        if mode in ("precision", "recall") and self.points.n_positives == 0:
            return N_("there are no positives")
        return ""

    @property
    def modes(self) -> tuple[Mode, ...]:
        return tuple(mode for mode in MODES if not self.unavailable(mode))


@dataclass(frozen=True, eq=False)
class Slider:
    """Places of a slider: values float64[n] and their labels, all different."""

    values: NDArray[np.float64]
    labels: tuple[str, ...]

    def holding(self, value: float, label: str) -> Slider:
        """Return the places with one for a value of its own, unless one of them prints like it already."""
        if label in self.labels:
            return self
        at = int(np.searchsorted(self.values, value))
        return Slider(np.insert(self.values, at, value), (*self.labels[:at], label, *self.labels[at:]))

    def value_of(self, label: str) -> float:
        return float(self.values[self.labels.index(label)])


def decision(frame: Frame) -> Decision:
    """Return the look-ups for the chosen model, made once; a slider only reads them."""
    tables = frame.tables()
    key = f"{tables.dataset.fingerprint}|{frame.config.hash}|{tables.model}"
    return _decision(key, tables, frame.config)


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _decision(key: str, _tables: Tables, _config: EvalConfig) -> Decision:
    lower = _config.score_direction == "lower"
    hits = None if _tables.dataset.user is None else _tables.judged
    points = curve_points(_tables.scores, lower_is_better=lower)
    return Decision(
        key,
        position_table(_tables.scores, hits, rule=_config.threshold_rule, lower_is_better=lower),
        points,
        roc_curve(points),
        pr_curve(points),
        score_histogram(_tables.scores, lower_is_better=lower),
        roc_auc(_tables.scores, _config),
        auprc(_tables.scores, _config),
    )


def slider(made: Decision, mode: Mode, text: Text) -> Slider:
    """Return the places of a mode's slider with their labels in the chosen language."""
    return _slider(f"{made.key}|{mode}|{text.language}", made, mode, text)


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False, scope="session")
def _slider(key: str, _made: Decision, _mode: Mode, _text: Text) -> Slider:
    words = readout(_made.positions, _text)
    if _mode == "score" and len(_made.positions.code) == 1:
        return _two_places(_made, _text, words)
    return Slider(*slider_labels(ladder(_made.positions, _mode), lambda value: words.value(_mode, value)))


def _two_places(made: Decision, text: Text, words: Readout) -> Slider:
    """A constant score prints alike at both of its places, so they are told apart by what they flag."""
    values = ladder(made.positions, "score")
    flagged = [solve(made.positions, "score", float(value)).confusion.flagged for value in values]
    templates = [N_("{score}: every row") if n else N_("{score}: no row") for n in flagged]
    return Slider(values, tuple(text._(t, score=words.score(float(v))) for t, v in zip(templates, values, strict=True)))


def words_of(made: Decision, text: Text) -> Readout:
    """Return the words for this model's points."""
    return _words(f"{made.key}|{text.language}", made, text)


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _words(key: str, _made: Decision, _text: Text) -> Readout:
    return readout(_made.positions, _text)


def asked(made: Decision) -> tuple[Mode, float]:
    """Return mode and value of the session; the default of §2.4 when none is set or it cannot apply here."""
    now = state.current()
    if now.mode in made.modes and now.value is not None and math.isfinite(now.value):
        low, high = RANGES[now.mode]
        if low <= now.value <= high:
            return now.mode, now.value
    return default_choice(made.positions)


def ask(mode: Mode, value: float) -> None:
    """Set mode and value of the session; for callbacks."""
    state.put(**{state.MODE: mode, state.VALUE: float(value)})


def current_point(made: Decision) -> OperatingPoint:
    """Return the point that the session asks for."""
    return solve(made.positions, *asked(made))
