"""What a grade is worth and what a rank takes off."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.errors import RecmetricsError
from recmetrics.text import N_

HIGHEST_GRADE = 1000.0  # 2^1024 is no double any more


def gain_of(grade: NDArray[np.float64], config: EvalConfig) -> NDArray[np.float64]:
    """Return the gain of the grades of gaining items under the config; a negative grade gains nothing.

    `linear` the grade itself, `exp2` 2^grade − 1 (Burges 2005), `exp2_shift` 2^(grade − threshold + 1) − 1, `binary` 1
    (for a relevant item of grade 0 as well: under `row_present` it is the row that counts).
    """
    positive = np.maximum(grade, 0.0)
    if config.gain in ("exp2", "exp2_shift") and len(grade) and positive.max() > HIGHEST_GRADE:
        raise RecmetricsError(
            "gain_overflow",
            N_("Grade {grade} is too large for 2^grade − 1. Use gain=linear, or map the labels to a few grades."),
            grade=f"{positive.max():g}",
        )
    if config.gain == "exp2":
        return np.asarray(np.exp2(positive) - 1.0)
    if config.gain == "exp2_shift":
        shifted = np.exp2(positive - config.relevance_threshold + 1.0) - 1.0
        return np.where(positive > 0, np.maximum(shifted, 0.0), 0.0)
    if config.gain == "binary":
        return (grade >= 0).astype(np.float64)
    return positive


def discounts(depth: int, config: EvalConfig) -> NDArray[np.float64]:
    """Return float64[depth+1]: the weight of rank i at index i, 0 at index 0.

    `log2` 1/log_b(i+1); `max2` 1/log_b(max(i, 2)), which leaves ranks 1 and 2 alike (Järvelin and Kekäläinen 2002).
    """
    return _discounts(depth, config.discount, config.log_base)


@lru_cache(maxsize=32)
def _discounts(depth: int, discount: str, log_base: int | str) -> NDArray[np.float64]:
    rank = np.arange(1, depth + 1, dtype=np.float64)
    shifted = np.maximum(rank, 2.0) if discount == "max2" else rank + 1.0
    base = np.log(np.e if log_base == "e" else float(log_base))
    steps = np.concatenate([[0.0], base / np.log(shifted)])
    steps.setflags(write=False)
    return steps


def full_k_too_long(longest: int) -> RecmetricsError:
    """Return the refusal of an ideal list of more places than can be summed."""
    return RecmetricsError(
        "invalid_k",
        N_("With ideal=full_k the ideal list has K places, at most {longest}. Give a smaller K."),
        longest=longest,
    )


def full_k_needs_binary() -> RecmetricsError:
    """Return the refusal of `ideal = full_k` beside grades: K items of which grade would the ideal list hold?"""
    return RecmetricsError(
        "invalid_config",
        N_("ideal=full_k is defined for gain=binary only, because the ideal list has K items without a grade."),
    )
