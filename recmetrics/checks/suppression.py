"""One cause, one alarm: which finding explains which, as data, in the order in which causes are considered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recmetrics.results import Finding

Condition = Callable[[Finding, Finding], bool]


def always(cause: Finding, consequence: Finding) -> bool:
    """The cause makes the consequence meaningless whatever its size."""
    return True


def interval_contains_half(cause: Finding, consequence: Finding) -> bool:
    """An AUC that may be anything explains itself by few data; one that is surely above .5 does not."""
    return bool(consequence.facts.get("contains_half"))


def not_surely_high(cause: Finding, consequence: Finding) -> bool:
    """The lower bound does not pass the limit of the warning, so few data may be all there is to it."""
    low = consequence.facts.get("measured_low")
    return low is None or low <= consequence.facts["limit_warning"]


@dataclass(frozen=True)
class Explanation:
    """One edge. `scope` None = every scope of the consequence."""

    cause: str
    consequence: str
    scope: str | None = None
    condition: Condition = always


# A cause stands before everything that could be the cause of it. RM-302 is explained in the scope of the threshold
# only: that K equals the number of relevant items is true whatever the scores are.
_T = "threshold"
EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation("RM-206", "RM-209"),
    Explanation("RM-203", "RM-201"),
    Explanation("RM-203", "RM-202"),
    Explanation("RM-203", "RM-204"),
    Explanation("RM-203", "RM-301"),
    Explanation("RM-203", "RM-302", _T),
    Explanation("RM-203", "RM-402"),
    Explanation("RM-203", "RM-702"),
    Explanation("RM-204", "RM-402"),
    Explanation("RM-204", "RM-208"),
    Explanation("RM-205", "RM-208"),
    Explanation("RM-107", "RM-202", None, interval_contains_half),
    Explanation("RM-107", "RM-301"),
    Explanation("RM-107", "RM-302", _T),
    Explanation("RM-107", "RM-405"),
    Explanation("RM-107", "RM-501", None, not_surely_high),
    Explanation("RM-202", "RM-208"),
    Explanation("RM-202", "RM-301"),
    Explanation("RM-202", "RM-302", _T),
    Explanation("RM-202", "RM-402"),
    Explanation("RM-202", "RM-702"),
    Explanation("RM-201", "RM-208"),
    Explanation("RM-201", "RM-301"),
    Explanation("RM-201", "RM-302", _T),
    Explanation("RM-201", "RM-402"),
    Explanation("RM-201", "RM-702"),
    Explanation("RM-401", "RM-302", _T),
    Explanation("RM-401", "RM-406"),
    Explanation("RM-403", "RM-404"),
)
