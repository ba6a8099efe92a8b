"""F, written once: for the counts at a threshold, for lists, for curves and for groups of rows."""

from __future__ import annotations

from typing import Any


def f_beta_parts(hits: Any, flagged: Any, positives: Any, beta: float) -> tuple[Any, Any]:
    """Return (1+β²)·hits and flagged + β²·positives, whose quotient is F; numbers or arrays of one shape.

    F is the harmonic mean of precision (hits over flagged) and recall (hits over positives) in which recall weighs β²
    times as much (van Rijsbergen 1979); in 0..1, undefined where the second part is 0. Both parts add up over rows.
    """
    weight = beta**2
    return (1 + weight) * hits, flagged + weight * positives
