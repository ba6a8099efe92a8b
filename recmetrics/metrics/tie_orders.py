"""The best and the worst order of equal scores, as tables in which every hit has a rank of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recmetrics.tables import HitTable


def has_ties(hits: HitTable) -> bool:
    """Whether any hit shares its score with another row of its user."""
    return bool(np.any(hits.hi > hits.lo))


def resolved(hits: HitTable, order: Literal["best", "worst"]) -> HitTable:
    """Return the table with equal scores put in order: grade descending (`best`) or ascending (`worst`) in a block."""
    if not has_ties(hits):
        return hits
    gain_order = -hits.grade if order == "best" else hits.grade
    at = np.lexsort((gain_order, hits.lo, hits.user))
    user, lo, hi = hits.user[at], hits.lo[at], hits.hi[at]
    new = np.ones(len(user), dtype=bool)
    new[1:] = (user[1:] != user[:-1]) | (lo[1:] != lo[:-1])
    start = np.flatnonzero(new)
    size = np.diff(np.append(start, len(user)))
    index = np.arange(len(user)) - np.repeat(start, size)
    rank = lo + index if order == "best" else hi - np.repeat(size, size) + 1 + index
    rank = rank.astype(np.int32)
    return replace(hits, user=user, lo=rank, hi=rank, grade=hits.grade[at], relevant=hits.relevant[at])


def take_users(hits: HitTable, users: NDArray[np.int32]) -> HitTable:
    """Return the table of some users (sorted codes), renumbered 0, 1, …"""
    code = np.full(hits.n_users, -1, dtype=np.int32)
    code[users] = np.arange(len(users), dtype=np.int32)
    held, ideal = code[hits.user] >= 0, code[hits.ideal_user] >= 0
    return HitTable(
        code[hits.user[held]],
        hits.lo[held],
        hits.hi[held],
        hits.grade[held],
        hits.relevant[held],
        hits.n_candidates[users],
        hits.n_relevant[users],
        hits.in_truth[users],
        code[hits.ideal_user[ideal]],
        hits.ideal_grade[ideal],
        hits.ideal_relevant[ideal],
    )
