"""Implied AUC: how well a probability would order the rows if it were exactly right about itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def implied_auc(probability: NDArray[Any]) -> float:
    """Return Σᵢⱼ pᵢ(1−pⱼ)[1{pᵢ>pⱼ} + ½·1{pᵢ=pⱼ}] / (Σp · Σ(1−p)).

    Parameters
    ----------
    probability
        float[n] in 0..1.

    Returns
    -------
    float
        0.5..1; NaN when no row could be a positive or none a negative.
    """
    p = np.sort(probability.astype(np.float64))
    positives, negatives = float(p.sum()), float((1 - p).sum())
    if not len(p) or positives <= 0 or negatives <= 0:
        return math.nan
    starts = np.flatnonzero(np.concatenate([[True], p[1:] != p[:-1]]))
    positive_mass = np.add.reduceat(p, starts)
    negative_mass = np.add.reduceat(1 - p, starts)
    below = np.cumsum(negative_mass) - negative_mass
    return float(positive_mass @ (below + 0.5 * negative_mass)) / (positives * negatives)
