"""Ranking @K: the first K in a sentence and six tiles, and how every metric moves with K."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from recmetrics.figures import ranking as figures
from recmetrics.rank_curves import Counts, RankCurves, as_one_list, k_range, rank_curves, user_values, value_counts
from recmetrics.text import N_, Text
from recmetrics.ui import controls, show, state
from recmetrics.ui.page import Frame

KEPT = 16
K_MAX_AT_FIRST = 50
OTHER_GAIN = {"linear": "exp2", "exp2": "linear"}
MOST = 0.5  # "most users": more than half

QUESTIONS = {
    "precision": N_("How much of what is shown is relevant?"),
    "recall": N_("How much of what is relevant is shown?"),
    "hit_rate": N_("How many users see anything relevant?"),
    "mrr": N_("How early does the first relevant item stand?"),
    "map": N_("Do the relevant items stand early, all of them?"),
    "ndcg": N_("Do the best items stand first?"),
}
TIES = {
    "average": N_("expected over all orders"),
    "best": N_("best order"),
    "worst": N_("worst order"),
}
OTHER_TIES = N_("as the convention says: {rule}")
# What average precision is divided by, in symbols that need no translation.
AP_DENOMINATORS = {
    "min_r_k": "min(R, K)",
    "r": "R",
    "min_r_n": "min(R, n, K)",
    "hits": "h(K)",
    "k": "K",
    "mean_p": "K",
}
BARREN = {"skip": N_("left out"), "zero": N_("counted as 0"), "one": N_("counted as 1")}


def curves(frame: Frame) -> None:
    """Draw the view: sentence and tiles at K, then the curves and whom they are about."""
    ready = _with_lists(frame)
    if ready is None:
        return
    _rules(ready)
    _at_k(ready)
    _against_k(ready)


# Lists --------------------------------------------------------------------------------------------------------------


def _with_lists(frame: Frame) -> Frame | None:
    """Return the frame with lists to rank; None while a file without users waits for an answer."""
    if frame.data.user is not None:
        return frame
    text = frame.text
    if st.session_state.get(state.ONE_LIST) != frame.raw.fingerprint:
        st.info(
            text._(
                "This file has no user column, so there is no list per user. The whole file can be ranked as one list: "
                "then every number describes one single list, and no interval can be given."
            ),
            icon=":material/person_off:",
        )
        st.button(
            text._("Rank the whole file as one list"),
            key=state.ASK_ONE_LIST,
            on_click=state.put,
            kwargs={state.ONE_LIST: frame.raw.fingerprint},
        )
        st.page_link("pages/10_Data.py", label=text._("Name the user column"), icon=":material/table_view:")
        return None
    st.caption(text._("The whole file is ranked as one list."))
    return replace(frame, data=as_one_list(frame.data))


def _rules(frame: Frame) -> None:
    """Offer the two rules of the convention that this page depends on most; they hold on every page."""
    text, config = frame.text, frame.config
    ties = {**TIES} if config.ties in TIES else {**TIES, config.ties: OTHER_TIES}
    left, right = st.columns(2)
    with left:
        _rule("ties", config.ties, ties, text._("Equal scores"), state.TIES, text)
    with right:
        barren = {
            rule: words for rule, words in BARREN.items() if rule != "one" or config.users_without_relevant == rule
        }
        _rule(
            "users_without_relevant",
            config.users_without_relevant,
            barren,
            text._("Users without relevant items"),
            state.BARREN,
            text,
        )


def _rule(field: str, now: str, options: Mapping[str, str], label: str, key: str, text: Text) -> None:
    st.session_state[key] = now
    st.segmented_control(
        label,
        list(options),
        key=key,
        persist_state="session",
        required=True,
        wrap=True,
        format_func=lambda rule: text._(options[rule], **({"rule": rule} if options[rule] is OTHER_TIES else {})),
        on_change=_change_rule,
        args=(field, key),
    )


def _change_rule(field: str, key: str) -> None:
    state.put(**{state.CONFIG: state.current().config.replace(**{field: st.session_state[key]})})


# At K ---------------------------------------------------------------------------------------------------------------


@st.fragment
def _at_k(frame: Frame) -> None:
    text = frame.text
    with st.container(key="ranking_k"):
        k = controls.k(text)
    with frame.guard():
        here = _curves(frame, (k,))
        sentence = _sentence(here, k, text)
        show.sentence(sentence)
        _tiles(frame, here, k)
        for words in edge_sentences(here, k, frame.config.precision_denominator == "k", text):
            show.caption(words)
        _spread(frame, k)
    frame.sync()


def _sentence(found: RankCurves, k: int, text: Text) -> str:
    hit, at = found.curves["hit_rate"], found.at(k)
    if np.isnan(hit.value[at]):
        return text._("No user has a relevant item here, so no ranking metric is defined.")
    return text._(
        "With {k} places, {hit} of the users see at least one relevant item; "
        "a perfect ranking would reach {ceiling}, a random one {random}.",
        k=text.count(k),
        hit=text.percent(hit.value[at]),
        ceiling=text.percent(hit.ceiling[at]),
        random=text.percent(hit.random[at]),
    )


def _tiles(frame: Frame, found: RankCurves, k: int) -> None:
    text, at = frame.text, found.at(k)
    values = frame.report([f"{name}@{k}" for name in found.curves]).values
    sampled = frame.config.candidates == "sampled"
    rows = [st.columns(3), st.columns(3)]
    for i, (value, curve) in enumerate(zip(values, found.curves.values(), strict=True)):
        label = text._(figures.LABELS_AT[curve.metric], k=text.count(k))
        if sampled:
            label = text._("{metric}, sampled candidates", metric=label)
        note = text._(
            "perfect {ceiling} · random {random}",
            ceiling=text.metric(curve.ceiling[at]),
            random=text.metric(curve.random[at]),
        )
        if curve.metric == "ndcg":
            note = " · ".join(filter(None, [note, _other_gain(frame, k)]))
        with rows[i // 3][i % 3]:
            show.tile(label, value, text, key=f"ranking_{curve.metric}", note=note if value.value is not None else "")


def _other_gain(frame: Frame, k: int) -> str:
    """Return NDCG under the other gain where grades above 1 make it another number; an empty text elsewhere."""
    grades, gain = frame.tables().hits.ideal_grade, frame.config.gain
    if gain not in OTHER_GAIN or not np.any(grades > 1):
        return ""
    other = OTHER_GAIN[gain]
    value = frame.value(f"ndcg@{k}", frame.config.replace(gain=other))
    return frame.text._("with gain {gain} {value}", gain=other, value=frame.text.metric(value.value))


def edge_sentences(found: RankCurves, k: int, divided_by_k: bool, text: Text) -> list[str]:
    """Return what has to be said about this K: short lists, no cut at all, metrics that are one by construction."""
    at, n = found.at(k), found.n_users
    if n == 0:
        return []
    said = []
    short, exact = int(found.n_shorter[at]), int(found.n_exactly_k_relevant[at])
    if k >= found.longest:
        said.append(
            text._(
                "No list is longer than {k} items (the longest holds {longest}): nothing is cut. Hit rate and recall "
                "are fixed whatever the order, and precision only counts relevant items.",
                k=text.count(k),
                longest=text.count(found.longest),
            )
        )
    if short:
        words = N_("{n} of {total} users have fewer than {k} items in their list; precision is still divided by {k}.")
        plain = N_("{n} of {total} users have fewer than {k} items in their list.")
        facts = {"n": text.count(short), "total": text.count(n), "k": text.count(k)}
        said.append(text._(words if divided_by_k else plain, **facts))
    if exact > MOST * n:
        said.append(
            text._(
                "{share} of the users have exactly {k} relevant items: there precision equals recall by construction.",
                share=text.percent(exact / n),
                k=text.count(k),
            )
        )
    if found.n_one_relevant == n:
        said.append(text._("Every user has one relevant item, so hit rate and recall are the same number."))
    decided = [text._(figures.LABELS[c.metric]) for c in found.curves.values() if c.ties_decide[at]]
    if decided:
        said.append(
            text._(
                "The order of equal scores moves {metrics} by more than the interval is wide: "
                "read the range over orders, not the value.",
                metrics=", ".join(decided),
            )
        )
    return said


def _spread(frame: Frame, k: int) -> None:
    text = frame.text
    show.heading(text._("How different are the users?"))
    chosen = st.session_state.get(state.SPREAD)
    st.session_state[state.SPREAD] = chosen if chosen in figures.LABELS else "ndcg"
    metric = st.segmented_control(
        text._("Metric"),
        list(figures.LABELS),
        key=state.SPREAD,
        persist_state="session",
        required=True,
        wrap=True,
        format_func=lambda name: text._(figures.LABELS[name]),
    )
    values = user_values(frame.tables().hits, frame.config, str(metric), k)
    known = values[~np.isnan(values)]
    if not len(known):
        show.caption(text._("No user to show."))
        return
    counts, label = value_counts(known), text._(figures.LABELS_AT[str(metric)], k=text.count(k))
    mean = float(known.mean())
    show.plotly(
        figures.user_values_figure(counts, label, mean, text),
        key="ranking_spread_chart",
        alt=figures.user_values_alt(counts, label, mean, text),
        caption=text._("{n} users, each counted once; bins of 0.05.", n=text.count(len(known))),
        table=lambda: spread_table(counts, text),
        text=text,
    )


# Against K ----------------------------------------------------------------------------------------------------------


def _against_k(frame: Frame) -> None:
    text = frame.text
    show.heading(text._("How do the metrics move with K?"))
    with frame.guard():
        longest = max(int(frame.tables().hits.n_candidates.max(initial=1)), 1)
        k_max = _k_max(min(longest, state.HIGHEST_K), text)
        found = _curves(frame, k_range(k_max))
    if found.n_users == 0:
        show.caption(text._("No user to show."))
        return
    k = min(max(state.current().k, 1), k_max)
    # A row of two at a time, so that a narrow page keeps the order.
    rows = [st.columns(2) for _ in range(0, len(found.curves), 2)]
    for i, metric in enumerate(found.curves):
        with rows[i // 2][i % 2]:
            show.plotly(
                figures.curve_figure(found, metric, text),
                key=f"ranking_curve_{metric}",
                title=text._(QUESTIONS[metric]),
                alt=figures.curve_alt(found, metric, k, text),
                caption=_curve_caption(frame, found, metric),
                table=partial(_curve_table, found, metric, text),
                text=text,
            )
    show.plotly(
        figures.lengths_figure(found, text),
        key="ranking_lengths",
        title=text._("How long are the lists, and how much in them is relevant?"),
        alt=figures.lengths_alt(found, text),
        caption=_lengths_caption(found, text),
        table=lambda: _lengths_table(found, text),
        text=text,
    )


def _k_max(longest: int, text: Text) -> int:
    if longest == 1:
        return 1
    now = st.session_state.get(state.K_MAX) or min(longest, K_MAX_AT_FIRST)
    st.session_state[state.K_MAX] = min(max(int(now), 2), longest)
    return (
        int(st.slider(text._("Largest K on the axis"), 2, longest, key=state.K_MAX, persist_state="session"))
        if longest > 2
        else 2
    )


def _curve_caption(frame: Frame, found: RankCurves, metric: str) -> str:
    text = frame.text
    left_out = sum(found.skipped.values())
    parts = [
        text._("{n} / {total} users", n=text.count(found.n_users), total=text.count(found.n_users + left_out)),
        text._("band: worst to best order of equal scores, wider than the interval")
        if found.curves[metric].ties_decide.any()
        else text._("{share} interval over users", share=text.percent(frame.config.confidence, 0)),
    ]
    if metric == "ndcg":
        parts.append(text._("gain {gain}", gain=frame.config.gain))
    if metric == "map":
        parts.append(text._("divided by {denominator}", denominator=AP_DENOMINATORS[frame.config.map_denominator]))
    if found.shortest < found.ks[-1]:
        words = N_("shaded: K beyond the shortest list ({shortest}); {n} users have fewer than {last} items")
        facts = {"shortest": found.shortest, "n": found.n_shorter[-1], "last": found.ks[-1]}
        parts.append(text._(words, **{name: text.count(n) for name, n in facts.items()}))
    return " · ".join(parts)


def _curve_table(found: RankCurves, metric: str, text: Text) -> Any:
    curve = found.curves[metric]
    columns = {
        text._(figures.LABELS[metric]): curve.value,
        text._("low"): curve.low,
        text._("high"): curve.high,
        text._("perfect order"): curve.ceiling,
        text._("random order"): curve.random,
        text._("worst order of equal scores"): curve.tie_low,
        text._("best order of equal scores"): curve.tie_high,
    }
    made = pd.DataFrame({"K": found.ks, **columns})
    return show.printed(made, {"K": text.count, **dict.fromkeys(columns, text.metric)})


def spread_table(counts: Counts, text: Text) -> Any:
    """Return a histogram of users over 0..1 as a table: where each bin starts, and how many users are in it."""
    start, users = text._("from"), text._("users")
    made = pd.DataFrame({start: counts.left, users: counts.n})
    return show.printed(made, {start: lambda edge: text.metric(edge, 2), users: text.count})


def _lengths_caption(found: RankCurves, text: Text) -> str:
    beyond = (found.lengths.n_beyond, found.positives.n_beyond)
    return text._(
        "{n} users. Beyond the axis: {longer} users with a longer list, {more} with more relevant items.",
        n=text.count(found.n_users),
        longer=text.count(beyond[0]),
        more=text.count(beyond[1]),
    )


def _lengths_table(found: RankCurves, text: Text) -> Any:
    made = pd.DataFrame(
        {
            text._("from"): found.lengths.left + 0.5,
            text._("to"): found.lengths.left + found.lengths.width - 0.5,
            text._("users with such a list"): found.lengths.n,
            text._("users with so many relevant items"): found.positives.n,
        }
    )
    return show.printed(made, dict.fromkeys(made.columns, text.count))


def _curves(frame: Frame, ks: tuple[int, ...]) -> RankCurves:
    key = f"{frame.data.fingerprint}|{frame.config.hash}|{frame.config.confidence}|{frame.model}|{ks}"
    return _kept_curves(key, frame, ks)


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _kept_curves(key: str, _frame: Frame, _ks: tuple[int, ...]) -> RankCurves:
    return rank_curves(_frame.tables().hits, _frame.config, _frame.model, _ks)
