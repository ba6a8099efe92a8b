"""What a check is: a code, gates that say when it means anything, limits that can be replaced, and a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from recmetrics.checks.subject import Subject
from recmetrics.registry import Registry
from recmetrics.results import Cause, Evidence, Severity

Source = Literal["H", "L", "P"]  # the customer's handbook, the literature, this project
Unit = Literal["share", "metric", "count", "number"]


@dataclass(frozen=True)
class Limit:
    """A number that a statistic is held against; `unit` says how it is printed."""

    value: float
    source: Source
    unit: Unit = "metric"


@dataclass(frozen=True)
class Outcome:
    """What a check saw: nothing wrong (`severity` None) or a fault, with all facts either way.

    `reason` makes it "not applicable" instead; `scope` tells several outcomes of one code apart.
    """

    severity: Severity | None
    facts: Mapping[str, Any]
    causes: tuple[Cause, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    disproof: str | None = None
    next_steps: tuple[str, ...] = ()
    scope: str | None = None
    reason: str | None = None


Limits = Mapping[str, float]
Examine = Callable[[Subject, Limits], list[Outcome]]


@dataclass(frozen=True)
class Part:
    """One scope of a check: what it needs, when it applies, and the function that looks.

    `needs` are column roles, `gates` names in `GATES`; the first that fails is the reason for not applying.
    """

    examine: Examine
    needs: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    scope: str | None = None


@dataclass(frozen=True)
class Check:
    """One entry of the catalogue.

    Attributes
    ----------
    looks_at
        `data` once per dataset; `rows` once, or per model where models scored different rows; `model` every score.
    variants
        Kinds of sentence that the check can need; `sentence_by` names the fact (or `scope`) that chooses among them.
    causes, disproofs, next_steps
        Every enum value that a finding may carry; a next step leads to a page, or to none.
    """

    code: str
    name: str
    parts: tuple[Part, ...]
    looks_at: Literal["data", "rows", "model"]
    limits: Mapping[str, Limit] = field(default_factory=dict)
    cost: Literal["fast", "slow"] = "fast"
    sentence_by: str | None = None
    variants: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    disproofs: tuple[str, ...] = ()
    next_steps: Mapping[str, str | None] = field(default_factory=dict)


CHECKS: Registry[Check] = Registry("check")


def register(check: Check) -> Check:
    """Add a check to the catalogue."""
    return CHECKS.add(check.code, check)


# Gates: the name is the reason that is shown ----------------------------------------------------------------------


def _few(subject: Subject, minimum: int) -> bool:
    return min(subject.n_positives, subject.n_negatives) < minimum


def median_list_length(subject: Subject) -> float:
    """Return the median number of candidates of a user; 0 without lists."""
    lengths = subject.n_candidates
    return float(np.median(lengths)) if len(lengths) else 0.0


GATES: Mapping[str, Callable[[Subject], bool]] = {
    "one_class": lambda s: _few(s, 1),
    "few_30": lambda s: _few(s, 30),
    "no_lists": lambda s: median_list_length(s) < 2,
    "not_probability": lambda s: not s.is_probability or not s.in_unit_range,
    "no_chosen_threshold": lambda s: not s.chosen_threshold,
}

_HAS_COLUMN: Mapping[str, Callable[[Subject], bool]] = {
    "user": lambda s: s.raw.user is not None,
    "item": lambda s: s.raw.item is not None,
    "label": lambda s: bool((~np.isnan(s.raw.label)).any()),
    "score": lambda s: s.model is not None,
    "segment": lambda s: bool(s.raw.segments),
}


def not_applicable(part: Part, subject: Subject) -> str | None:
    """Return why this part of a check means nothing here; None when it applies."""
    for role in part.needs:
        if not _HAS_COLUMN[role](subject):
            return f"no_column:{role}"
    return next((gate for gate in part.gates if GATES[gate](subject)), None)


# Small things that many checks need ------------------------------------------------------------------------------


def tested(name: str, supports: bool, **facts: Any) -> Cause:
    """Return a cause whose decisive test was made."""
    return Cause(name, "supports" if supports else "contradicts", facts)


def untested(name: str, missing: str) -> Cause:
    """Return a cause whose decisive test needs what is not there."""
    return Cause(name, "not_testable", {"missing": missing})


def supported(causes: list[Cause]) -> list[Cause]:
    """Return the causes with the supported ones first, otherwise in the order given."""
    return sorted(causes, key=lambda cause: cause.outcome != "supports")


def example_rows(subject: Subject, at: Any, n: int = 3) -> Evidence:
    """Return a reference to the first rows of a selection, by their number in the file."""
    chosen = np.asarray(at)[:n]
    return Evidence("rows", {"row_numbers": [int(i) for i in subject.raw.row_number[chosen]]})


def by_share(share: float, limits: Limits) -> Severity | None:
    """Return the severity of a share that is info when above 0, else from the limits `warning` and `critical`."""
    if share <= 0:
        return None
    if share > limits["critical"]:
        return "critical"
    return "warning" if share > limits["warning"] else "info"
