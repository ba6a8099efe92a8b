"""Values as somebody may have reported them: for sets whose fault is in the report, not in the rows.

This is on purpose no part of the metrics: it plays the colleague with a convention of his own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recmetrics.synthetic.base import Floats, Ints


def mean_ndcg(user: Ints, label: Floats, score: Floats, k: int, counted: NDArray[np.bool_]) -> float:
    """Return the mean binary NDCG@k over the counted users (bool[u]), in 0..1.

    The ideal list holds the relevant items among the given rows only; a user without any has the value 0. Equal scores
    stand in the order of the rows.
    """
    n_users = len(counted)
    order = np.lexsort((-score, user))
    start = np.searchsorted(user[order], np.arange(n_users))
    rank = np.arange(len(user)) - start[user[order]] + 1
    weight = np.where(rank <= k, 1.0 / np.log2(rank + 1.0), 0.0)
    gained = np.bincount(user[order], weights=weight * label[order], minlength=n_users)
    n_relevant = np.bincount(user, weights=label, minlength=n_users).astype(np.int64)
    ideal = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, k + 2)))])[np.minimum(n_relevant, k)]
    value = np.divide(gained, ideal, out=np.zeros(n_users), where=ideal > 0)
    return float(value[counted].mean())
