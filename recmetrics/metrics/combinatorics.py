"""Logarithms of binomial coefficients, from one growing table of log factorials."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


@lru_cache(maxsize=4)
def _log_factorials(size: int) -> NDArray[np.float64]:
    table = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size + 1)))])
    table.setflags(write=False)
    return table


def log_choose(n: Any, k: Any) -> NDArray[np.float64]:
    """Return ln C(n, k), −inf where k < 0 or k > n; arrays broadcast, n ≥ 0."""
    n, k = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(k, dtype=np.int64))
    # Tables are built in powers of two, so that few sizes ever occur.
    table = _log_factorials(1 << max(int(n.max(initial=1)), 1).bit_length())
    possible = (k >= 0) & (k <= n)
    low = np.where(possible, k, 0)
    found = table[np.maximum(n, 0)] - table[low] - table[np.where(possible, n - k, 0)]
    return np.where(possible, found, -np.inf)
