"""AUC inside each user, straight from the ranks of the hits, and its weighted mean (GAUC)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.metrics.base import metric
from recmetrics.tables import HitTable
from recmetrics.text import N_


@dataclass(frozen=True, eq=False)
class UserAuc:
    """Per user: auc float64[u] (NaN with one class), weight float64[u], counted bool[u]; users and rows left out."""

    auc: NDArray[np.float64]
    weight: NDArray[np.float64]
    counted: NDArray[np.bool_]
    n_one_class: int
    n_rows_skipped: int


@metric(
    "gauc",
    "ranking",
    N_("GAUC"),
    per_user_name="user_auc",
    options={"weight": "gauc_weight"},
    source="Zhu 2017; Zhou 2018 (DIN)",
)
def user_auc(judged: HitTable, config: EvalConfig) -> UserAuc:
    """Return every user's AUC over labelled rows, ties ½: with midranks, the rank-sum form of Mann and Whitney 1947."""
    users = len(judged.n_candidates)
    hits = judged if judged.relevant.all() else None
    user = judged.user if hits else judged.user[judged.relevant]
    lo = judged.lo if hits else judged.lo[judged.relevant]
    hi = judged.hi if hits else judged.hi[judged.relevant]
    n = judged.n_candidates.astype(np.float64)
    positives = np.bincount(user, minlength=users).astype(np.float64)
    negatives = n - positives
    # Midranks count from the top; from the bottom they are n + 1 − midrank.
    midranks = np.bincount(user, (lo.astype(np.int64) + hi) / 2.0, minlength=users)
    beaten = positives * (n + 1) - midranks - positives * (positives + 1) / 2.0
    both = (positives > 0) & (negatives > 0)
    auc = np.divide(beaten, positives * negatives, out=np.full(users, np.nan), where=both)
    one_class = (n > 0) & ~both
    counted = both
    if config.single_class_users != "skip":
        auc[one_class] = {"zero": 0.0, "half": 0.5, "one": 1.0}[config.single_class_users]
        counted = n > 0
    weight = {"rows": n, "positives": positives, "equal": np.ones(users), "pairs": positives * negatives}
    skipped = one_class if config.single_class_users == "skip" else np.zeros(users, dtype=bool)
    return UserAuc(auc, weight[config.gauc_weight], counted, int(skipped.sum()), int(n[skipped].sum()))
