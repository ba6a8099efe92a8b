"""Holding an answer against what a case expects: one entry for every key of `expect`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recmetrics.errors import RecmetricsError
from tests.cases.answers import Answer, Flag, answer, flags
from tests.cases.case_files import Question

ALARMS = ("warning", "critical", "doubt", "dropped")
NOTES = ("note", "details", "tolerance")  # read together with another key, or for the reader only


@dataclass(frozen=True)
class Outcome:
    """What the product did: it answered, or refused with a sentence."""

    answer: Answer | None = None
    refusal: RecmetricsError | None = None

    def __str__(self) -> str:
        if self.refusal is not None:
            return f"refused ({self.refusal.kind}: {self.refusal})"
        if self.answer is None:
            return "no number was asked for"
        if self.answer.texts:
            return f"texts {self.answer.texts[:8]}"
        return f"undefined ({self.answer.undefined})" if self.answer.value is None else f"value {self.answer.value!r}"


def complaints(question: Question) -> list[str]:
    """Return what is not as expected; an empty list when the check passes."""
    return _unmet(question, question.expect, _outcome(question))


def _outcome(question: Question) -> Outcome:
    try:
        if question.metric != "flag":
            return Outcome(answer(question))
        flags(question)
        return Outcome()
    except RecmetricsError as refusal:
        sentence = str(refusal)
        if "\n" in sentence.strip() or "Traceback" in sentence or not sentence.strip():
            raise AssertionError(f"no sentence: {sentence!r}") from refusal
        return Outcome(refusal=refusal)


def _unmet(question: Question, expect: Mapping[str, Any], outcome: Outcome) -> list[str]:
    found = []
    for key, wanted in expect.items():
        if key in NOTES:
            continue
        if not MEETS[key](question, expect, wanted, outcome):
            found.append(f"expected {key} {wanted!r}, got {_got(question, key, outcome)}")
    return found


def _got(question: Question, key: str, outcome: Outcome) -> str:
    if question.metric == "flag" or "flag" in key or key == "hint_only":
        try:
            return f"flags {sorted({flag.word for flag in flags(question)})}"
        except RecmetricsError as refusal:
            return str(Outcome(refusal=refusal))
    return str(outcome)


def _finite(outcome: Outcome) -> float | None:
    value = outcome.answer.value if outcome.answer else None
    return value if value is not None and math.isfinite(value) else None


def _value(question: Question, expect: Mapping[str, Any], wanted: float, outcome: Outcome) -> bool:
    value = _finite(outcome)
    return value is not None and abs(value - wanted) <= expect.get("tolerance", 0)


def _between(question: Question, expect: Mapping[str, Any], wanted: list[float], outcome: Outcome) -> bool:
    value = _finite(outcome)
    return value is not None and wanted[0] - 1e-9 <= value <= wanted[1] + 1e-9


def _not_value(question: Question, expect: Mapping[str, Any], wanted: float, outcome: Outcome) -> bool:
    value = _finite(outcome)
    return value is not None and abs(value - wanted) > expect.get("tolerance", 1e-9)


def _same_as(question: Question, expect: Mapping[str, Any], wanted: Mapping[str, str], outcome: Outcome) -> bool:
    value, other = _finite(outcome), _finite(_outcome(question.asked_of(wanted)))
    return value is not None and other is not None and abs(value - other) <= 1e-12


def _undefined(question: Question, expect: Mapping[str, Any], wanted: str, outcome: Outcome) -> bool:
    if outcome.refusal is not None:
        return wanted == "no rows" and outcome.refusal.kind == "no_rows"  # an empty table is refused when it is read
    return outcome.answer is not None and outcome.answer.value is None and bool(outcome.answer.undefined)


def _error(question: Question, expect: Mapping[str, Any], wanted: str, outcome: Outcome) -> bool:
    return outcome.refusal is not None and outcome.refusal.kind == wanted


def _contains(question: Question, expect: Mapping[str, Any], wanted: str, outcome: Outcome) -> bool:
    return outcome.answer is not None and wanted in outcome.answer.texts


def _flag(question: Question, expect: Mapping[str, Any], wanted: str, outcome: Outcome) -> bool:
    details = expect.get("details") or {}
    raised = _flags_beside(question, outcome)
    return raised is not None and any(flag.word == wanted and _agrees(flag.facts, details) for flag in raised)


def _no_flag(question: Question, expect: Mapping[str, Any], wanted: str, outcome: Outcome) -> bool:
    raised = _flags_beside(question, outcome)
    return raised is not None and all(flag.word != wanted for flag in raised)


def _hint_only(question: Question, expect: Mapping[str, Any], wanted: str, outcome: Outcome) -> bool:
    raised = _flags_beside(question, outcome)
    return raised is not None and all(flag.severity not in ALARMS for flag in raised if flag.word == wanted)


def _flags_beside(question: Question, outcome: Outcome) -> list[Flag] | None:
    """Return the flags of an input; beside a number only when there is a number."""
    if outcome.refusal is not None or (question.metric != "flag" and _finite(outcome) is None):
        return None
    return flags(question)


def _agrees(facts: Mapping[str, Any], details: Mapping[str, Any]) -> bool:
    """Whether the facts that both report are equal."""
    return all(_equal(facts[name], wanted) for name, wanted in details.items() if facts.get(name) is not None)


def _equal(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return abs(ours - theirs) <= 1e-9
    return str(ours) == str(theirs)


def _any(question: Question, expect: Mapping[str, Any], wanted: list[Mapping[str, Any]], outcome: Outcome) -> bool:
    return any(not _unmet(question, one, outcome) for one in wanted)


MEETS: Mapping[str, Callable[[Question, Mapping[str, Any], Any, Outcome], bool]] = {
    "value": _value,
    "between": _between,
    "not_value": _not_value,
    "same_as": _same_as,
    "undefined": _undefined,
    "error": _error,
    "contains": _contains,
    "flag": _flag,
    "no_flag": _no_flag,
    "hint_only": _hint_only,
    "any": _any,
}
