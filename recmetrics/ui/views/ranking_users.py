"""Ranking @K, view users: how much of the pooled AUC is about one user's list, and whose pairs it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from recmetrics.decomposition import UserSplit, split_by_users
from recmetrics.figures import ranking as figures
from recmetrics.rank_curves import value_counts
from recmetrics.text import Text
from recmetrics.ui import show
from recmetrics.ui.page import Frame
from recmetrics.ui.views.ranking import spread_table

KEPT = 16
LISTED = 10


def users(frame: Frame) -> None:
    """Draw the view: the split in a sentence, a figure and tiles, the users counted and dropped, the largest shares."""
    text = frame.text
    if frame.data.user is None:
        st.info(
            text._(
                "This file has no user column, so pairs cannot be split by users. Name the column on the Data page."
            ),
            icon=":material/person_off:",
        )
        st.page_link("pages/10_Data.py", label=text._("Name the user column"), icon=":material/table_view:")
        return
    with frame.guard():
        found = _split(frame)
        show.sentence(_sentence(found, text))
        _tiles(frame)
        _figures(frame, found)
        _counted(found, text)
        _largest(frame, found)


def _sentence(found: UserSplit, text: Text) -> str:
    if found.auc is None:
        return text._("One class only: there is no pair of a positive and a negative row, so there is no AUC to split.")
    if found.within is None:
        return text._(
            "No user has both classes: all pairs join two users, and the AUC says nothing about one user's list."
        )
    if found.across is None:
        return text._(
            "All pairs lie within one user, so the AUC of {auc} is about that list alone.", auc=text.metric(found.auc)
        )
    return text._(
        "{share} of the pairs lie within one user, where the AUC is {within}; over the other pairs, which join two "
        "users, it is {across}. A user's page depends on the first number only.",
        share=text.percent(found.w_in, 1 if (found.w_in or 0) >= 0.001 else 3),
        within=text.metric(found.within),
        across=text.metric(found.across),
    )


def _tiles(frame: Frame) -> None:
    text = frame.text
    pooled, mean, pairs = frame.report(["roc_auc", "gauc", "gauc[weight=pairs]"]).values
    columns = st.columns(3)
    with columns[0]:
        show.tile(text._("AUC over all pairs"), pooled, text, key="users_auc")
    with columns[1]:
        show.tile(text._("Per-user AUC (GAUC), as the convention weighs it"), mean, text, key="users_gauc")
    with columns[2]:
        show.tile(text._("AUC of the pairs within users"), pairs, text, key="users_pairs")


def _figures(frame: Frame, found: UserSplit) -> None:
    text = frame.text
    left, right = st.columns(2)
    if found.auc is not None:
        with left:
            show.plotly(
                figures.split_figure(found, text),
                key="users_split",
                title=text._("Is the order right within a user, or only between users?"),
                alt=figures.split_alt(found, text),
                caption=text._(
                    "all pairs = {within_share} within users + {across_share} across users, exactly",
                    within_share=text.percent(found.w_in, 2),
                    across_share=text.percent(1.0 - (found.w_in or 0.0), 2),
                ),
                table=lambda: _split_table(found, text),
                text=text,
            )
    known = found.user_auc[~np.isnan(found.user_auc)]
    if len(known):
        counts, label, mean = value_counts(known), text._("AUC of one user"), float(known.mean())
        with right:
            show.plotly(
                figures.user_values_figure(counts, label, mean, text),
                key="users_auc_chart",
                title=text._("How different are the users?"),
                alt=figures.user_values_alt(counts, label, mean, text),
                caption=text._(
                    "{n} users with both classes, each counted once; bins of 0.05.", n=text.count(len(known))
                ),
                table=lambda: spread_table(counts, text),
                text=text,
            )


def _split_table(found: UserSplit, text: Text) -> Any:
    share = found.w_in or 0.0
    values = [found.within, found.across, found.auc]
    of_pairs, auc = text._("share of pairs"), text._("AUC")
    made = pd.DataFrame(
        {
            text._("pairs"): [text._("pairs within a user"), text._("pairs across users"), text._("all pairs")],
            of_pairs: [share, 1.0 - share, 1.0],
            auc: np.asarray(values, dtype=np.float64),
        }
    )
    return show.printed(made, {of_pairs: lambda part: text.percent(part, 3), auc: lambda value: text.metric(value, 6)})


def _counted(found: UserSplit, text: Text) -> None:
    show.heading(text._("Who is counted?"))
    lines = [
        text._(
            "{n} / {total} users have both classes and count.",
            n=text.count(found.n_both),
            total=text.count(found.n_users),
        ),
        text._(
            "Left out: {negative} users with negatives only, {positive} with positives only; together {rows} rows.",
            negative=text.count(found.n_only_negative),
            positive=text.count(found.n_only_positive),
            rows=text.count(found.n_rows_one_class),
        ),
    ]
    if found.n_rows_without_user:
        lines.append(
            text._(
                "{n} labelled rows have no user id; their pairs all lie across.",
                n=text.count(found.n_rows_without_user),
            )
        )
    if found.w_in:
        lines.append(
            text._n(
                "{n} user holds half of the pairs within users.",
                "{n} users together hold half of the pairs within users.",
                found.users_with_half_the_pairs,
            )
        )
    st.markdown("\n".join(f"- {line}" for line in lines))


def _largest(frame: Frame, found: UserSplit) -> None:
    text = frame.text
    if not found.w_in:
        return
    show.heading(text._("Who contributes most?"))
    order = np.argsort(-found.lost_share if found.lost_share.any() else -found.pair_share, kind="stable")[:LISTED]
    order = order[found.pair_share[order] > 0]
    table = pd.DataFrame(
        {
            text._("user"): [show.clean(frame.data.users[code]) for code in order],
            text._("rows"): found.n_rows[order],
            text._("positives"): found.n_positives[order],
            text._("AUC"): found.user_auc[order],
            text._("share of pairs within users"): found.pair_share[order],
            text._("share of lost pairs"): found.lost_share[order],
            text._("share of all positives"): found.positive_share[order],
        }
    )
    show.table(_styled(table, text), key="users_largest")
    show.caption(
        text._(
            "The {n} users who lose most pairs: pairs of theirs in which the negative row stands first, ties half. "
            "{n} / {total} users shown.",
            n=text.count(len(order)),
            total=text.count(found.n_both),
        )
    )


def _styled(table: pd.DataFrame, text: Text) -> Any:
    names = list(table.columns)
    formats: dict[str, Any] = dict.fromkeys(names[1:3], text.count)
    formats[names[3]] = text.metric
    formats.update(dict.fromkeys(names[4:], text.percent))
    return show.printed(table, formats)


def _split(frame: Frame) -> UserSplit:
    key = f"{frame.data.fingerprint}|{frame.config.hash}|{frame.model}"
    return _kept_split(key, frame)


@st.cache_resource(max_entries=KEPT, show_spinner=False, scope="session")
def _kept_split(key: str, _frame: Frame) -> UserSplit:
    tables = _frame.tables()
    return split_by_users(tables.judged, tables.scores, _frame.config)
