"""The shared control of the decision point: mode, exact value, slider and presets, all setting (mode, value)."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from recmetrics.operating_point import PRESETS, Mode, OperatingPoint, preset, solve, value_in
from recmetrics.text import N_, UNDEFINED, Text
from recmetrics.ui import state
from recmetrics.ui.decision import RANGES, Decision, Slider, ask, asked, slider, words_of
from recmetrics.ui.views.readout import MODE_LABELS, PRESET_LABELS, ratio_words

EXACT_LABELS: dict[Mode, str] = {
    "score": N_("Exact score"),
    "share": N_("Exact share, %"),
    "topk": N_("Exact K"),
    "precision": N_("Exact precision"),
    "recall": N_("Exact recall"),
    "cost": N_("Misses that one false alarm costs"),
}
SLIDER_LABELS: dict[Mode, str] = {
    "score": N_("Threshold: rows from this score on are flagged"),
    "share": N_("Share of rows that is flagged, highest scores first"),
    "topk": N_("First K of every user"),
    "precision": N_("Precision to reach, with the most recall"),
    "recall": N_("Recall to reach, with the highest threshold"),
    "cost": N_("Cost of a false alarm : cost of a miss"),
}


def choose_mode(made: Decision, text: Text) -> Mode:
    """Choose in which unit the point is asked for; the point stays where it is."""
    mode, _ = asked(made)
    _set(state.MODE_CHOSEN, mode)
    st.segmented_control(
        text._("Decide by"),
        made.modes,
        format_func=lambda name: text._(MODE_LABELS[name]),
        key=state.MODE_CHOSEN,
        on_change=_mode_chosen,
        args=(made,),
        required=True,
        wrap=True,
    )
    off = [(m, made.unavailable(m)) for m in MODE_LABELS if made.unavailable(m)]
    for name, reason in off:
        st.caption(text._("{mode} is off: {reason}.", mode=text._(MODE_LABELS[name]), reason=text._(reason)))
    return mode


def _mode_chosen(made: Decision) -> None:
    mode: Mode = st.session_state[state.MODE_CHOSEN]
    point = solve(made.positions, *asked(made))
    ask(mode, value_in(made.positions, point, mode))


def choose_position(made: Decision, mode: Mode, text: Text) -> None:
    """Move along the places of a mode, from the keyboard or by dragging."""
    places = _places(made, mode, text)
    if len(places.labels) < 2:
        st.caption(text._("Only one value is possible here: {value}.", value=", ".join(places.labels) or UNDEFINED))
        return
    key = state.position_key(mode)
    _set(key, _label(made, mode, text))
    st.select_slider(
        text._(SLIDER_LABELS[mode]), places.labels, key=key, on_change=_position_chosen, args=(made, mode, text)
    )


def _position_chosen(made: Decision, mode: Mode, text: Text) -> None:
    ask(mode, _places(made, mode, text).value_of(st.session_state[state.position_key(mode)]))


def _places(made: Decision, mode: Mode, text: Text) -> Slider:
    """Return the places of a mode with one for the present value, which may have been typed."""
    places = slider(made, mode, text)
    constant = mode == "score" and len(made.positions.code) == 1
    return places if constant else places.holding(asked(made)[1], _label(made, mode, text))


def _label(made: Decision, mode: Mode, text: Text) -> str:
    places, value = slider(made, mode, text), asked(made)[1]
    if mode == "score" and len(made.positions.code) == 1:
        return places.labels[int(np.argmin(np.abs(places.values - value)))]
    return words_of(made, text).value(mode, value)


def choose_exactly(made: Decision, mode: Mode, text: Text, decimals: int) -> None:
    """Type a value; this reaches thresholds between the places of the slider.

    The field is a form: a field of its own would be sent along with every move of the slider, late, and its old value
    would pull the point back.
    """
    value = asked(made)[1]
    scale = 100.0 if mode == "share" else 1.0
    low, high = (bound * scale if math.isfinite(bound) else None for bound in RANGES[mode])
    key = state.exact_key(mode)
    shown: float = int(value) if mode == "topk" else value * scale
    _set(key, shown)
    with st.form(state.EXACT_FORM, border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            text._(EXACT_LABELS[mode]),
            min_value=1 if mode == "topk" else low,
            max_value=made.positions.topk.k_max if mode == "topk" and made.positions.topk else high,
            step=1 if mode == "topk" else _step(mode, decimals),
            format="%d" if mode == "topk" else _format(mode, decimals),
            key=key,
        )
        st.form_submit_button(text._("Set"), key=state.EXACT_SET, on_click=_exactly_chosen, args=(mode, scale))


def _exactly_chosen(mode: Mode, scale: float) -> None:
    value = st.session_state[state.exact_key(mode)]
    if value is not None:
        ask(mode, value / scale)


def _step(mode: Mode, decimals: int) -> float:
    return 10.0 ** (1 - decimals) if mode == "score" else {"share": 0.1, "cost": 0.05}.get(mode, 0.01)


def _format(mode: Mode, decimals: int) -> str:
    return f"%.{decimals + 2}f" if mode == "score" else {"share": "%.3f", "cost": "%.4g"}.get(mode, "%.3f")


def choose_preset(made: Decision, text: Text) -> None:
    """Jump to a named threshold."""
    for name in PRESETS:
        st.button(
            text._(PRESET_LABELS[name]),
            key=state.preset_key(name),
            on_click=_preset_chosen,
            args=(made, name),
            disabled=made.points.n_positives == 0 or (name == "youden" and made.points.n_negatives == 0),
            help=text._(PRESET_HELP[name]),
        )


PRESET_HELP = {
    "max_f1": N_("The threshold with the largest F1: precision and recall count alike."),
    "max_f05": N_("The threshold with the largest F0.5: precision counts more, as for push messages."),
    "max_f2": N_("The threshold with the largest F2: recall counts more, as for candidate generation."),
    "youden": N_("The threshold with the largest distance of recall above the false positive rate."),
    "break_even": N_("As many rows flagged as there are positives: precision equals recall by construction."),
}


def _preset_chosen(made: Decision, name: str) -> None:
    point = preset(made.positions, name)
    if point is not None:
        ask("score", point.value)


def lock(made: Decision, text: Text) -> OperatingPoint | None:
    """Keep the present point as A, or let it go; return A as it stands on these rows."""
    kept = st.session_state.get(state.LOCKED)
    if kept is not None and kept[0] not in made.modes:
        kept = None
    st.button(
        text._("Release A") if kept else text._("Keep as A"),
        key=state.LOCK,
        icon=":material/lock_open:" if kept else ":material/lock:",
        on_click=_lock_pressed,
        args=(None if kept else asked(made),),
        help=text._("Keep this point, move on, and compare the two."),
    )
    return solve(made.positions, *kept) if kept else None


def _lock_pressed(kept: tuple[Mode, float] | None) -> None:
    st.session_state[state.LOCKED] = kept


def _set(key: str, value: object) -> None:
    # Only what differs: setting a widget on every run would pull it back under a user who is already further on.
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def cost_ratio(text: Text, ratios: tuple[float, ...]) -> float:
    """Choose the ratio of the cost curve."""
    if st.session_state.get(state.COST_RATIO) not in ratios:
        st.session_state[state.COST_RATIO] = 1.0
    return float(
        st.select_slider(
            text._(SLIDER_LABELS["cost"]),
            ratios,
            format_func=lambda ratio: ratio_words(ratio, text),
            key=state.COST_RATIO,
            persist_state="session",
        )
    )
