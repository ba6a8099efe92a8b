"""Findings in words: the one place where facts become sentences, for pages, reports and the command line.

Everything comes from the catalogue under `check.<code>.<part>[.<enum>]`; numbers are printed by `Text`. What comes back
may hold text from the data (a segment's name): whoever shows it treats it as plain text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recmetrics.checks import CHECKS
from recmetrics.results import Finding
from recmetrics.text import PLAIN_BELOW, UNDEFINED, Text

MAX_LISTED = 12

# How a fact is printed, by its name; names that begin like a key of `_PREFIXES` follow it, all others are metrics.
_KINDS: Mapping[str, str] = {
    "base_rate_sd": "metric",
    "catalogue": "count",
    "conflicting": "count",
    "digits": "count",
    "expected": "number",
    "fn": "count",
    "fp": "count",
    "gain": "signed",
    "gap": "signed",
    "gap_high": "signed",
    "gap_low": "signed",
    "k": "count",
    "k_full": "count",
    "largest_class": "count",
    "largest_group": "count",
    "lift": "number",
    "longest": "count",
    "maximum": "number",
    "median_relevant": "number",
    "minimum": "number",
    "negatives_per_positive": "number",
    "popularity_ratio": "number",
    "relevance_threshold": "number",
    "rows_moved": "moved",
    "sd_over_halves": "number",
    "shortest": "count",
    "slope": "number",
    "tail": "number",
    "threshold": "number",
    "value": "number",
    "values": "number",
    "counts": "count",
    "ceiling": "metric",
    "prevalence": "share",
    "w_in": "share",
}
_PREFIXES: Mapping[str, str] = {
    "n_": "count",
    "count": "count",
    "list_": "count",
    "share": "share",
    "top_share": "share",
    "p_": "p",
}


@dataclass(frozen=True)
class Line:
    """A label with its printed value."""

    label: str
    value: str


@dataclass(frozen=True)
class CauseLine:
    """A likely cause in words: `outcome` as in `results.Cause`, `verdict` its word, and what its test measured."""

    text: str
    outcome: str
    verdict: str
    measured: tuple[Line, ...]


@dataclass(frozen=True)
class NextStep:
    """What to do, and the page that helps with it (None: outside of this tool)."""

    text: str
    page: str | None


def title(code: str, text: Text) -> str:
    """Return the name of a check."""
    return text.content(f"check.{code}.title")


def question(code: str, text: Text) -> str:
    """Return what the check asks of the data."""
    return text.content(f"check.{code}.question")


def status(finding: Finding, text: Text) -> str:
    """Return the word for the status."""
    return text.content(f"finding.status.{finding.status}")


def severity(finding: Finding, text: Text) -> str:
    """Return the word for the severity, with what it means for the number."""
    return text.content(f"finding.severity.{finding.severity}")


def sentence(finding: Finding, text: Text) -> str:
    """Return the finding in one sentence with its numbers; for the other statuses, why there is nothing to read."""
    if finding.status == "error":
        return text.content("finding.crashed")
    if finding.status in ("not_applicable", "skipped"):
        return reason(finding, text)
    if finding.status == "passed":
        return text.content(f"check.{finding.code}.empty")
    variant = _variant(finding)
    key = f"check.{finding.code}.sentence" + (f".{variant}" if variant is not None else "")
    return text.content(key, **_printed(finding.code, finding.facts, text))


def _variant(finding: Finding) -> str | None:
    chosen_by = CHECKS[finding.code].sentence_by
    if chosen_by is None:
        return None
    return str(finding.scope if chosen_by == "scope" else finding.facts[chosen_by])


def reason(finding: Finding, text: Text) -> str:
    """Return why a check did not apply; an empty text when it did."""
    if not finding.reason:
        return ""
    name, _, detail = finding.reason.partition(":")
    if name == "no_column":
        return text.content("reason.no_column", role=text.content(f"role.{detail}"))
    return text.content(f"reason.{name}", **({"kind": detail} if detail else {}))


def explained(finding: Finding, text: Text) -> str:
    """Return which finding explains this one; an empty text when none does."""
    if finding.explained_by is None:
        return ""
    return text.content("finding.explained_by", code=finding.explained_by, title=title(finding.explained_by, text))


def muted(finding: Finding, text: Text) -> str:
    """Return who muted the finding and why; an empty text when nobody did."""
    if finding.status != "muted":
        return ""
    told = {name: str(finding.facts[name]) for name in ("muted_by", "muted_because")}
    return text.content("finding.muted_by", **told)


def causes(finding: Finding, text: Text) -> tuple[CauseLine, ...]:
    """Return the likely causes in order, each with the outcome of its test."""
    found = []
    for cause in finding.causes:
        missing = cause.facts.get("missing")
        told = {"missing": text.content(f"missing.{missing}")} if missing else {}
        found.append(
            CauseLine(
                text.content(f"check.{finding.code}.cause.{cause.name}"),
                cause.outcome,
                text.content(f"finding.outcome.{cause.outcome}", **told),
                _lines(finding.code, {n: v for n, v in cause.facts.items() if n != "missing"}, text),
            )
        )
    return tuple(found)


def disproof(finding: Finding, text: Text) -> str:
    """Return the observation that would make the finding wrong; an empty text when it carries none."""
    return text.content(f"check.{finding.code}.disproof.{finding.disproof}") if finding.disproof else ""


def next_steps(finding: Finding, text: Text) -> tuple[NextStep, ...]:
    """Return what to do about it, in order."""
    pages = CHECKS[finding.code].next_steps
    return tuple(
        NextStep(text.content(f"check.{finding.code}.next.{step}"), pages[step]) for step in finding.next_steps
    )


def measured(finding: Finding, text: Text) -> tuple[Line, ...]:
    """Return every fact with its label, limits left out."""
    return _lines(finding.code, {n: v for n, v in finding.facts.items() if not n.startswith("limit_")}, text)


def limits(finding: Finding, text: Text) -> tuple[Line, ...]:
    """Return what the finding was held against: the limit in words, and where it comes from."""
    found = []
    for name, source in finding.limit_source.items():
        printed = _printed(finding.code, {f"limit_{name}": finding.facts.get(f"limit_{name}")}, text)
        words = text.content(f"limit.{name}", value=printed[f"limit_{name}"])
        found.append(Line(words, text.content(f"finding.source.{source}")))
    return tuple(found)


def _lines(code: str, facts: Mapping[str, Any], text: Text) -> tuple[Line, ...]:
    printed = _printed(code, facts, text)
    return tuple(Line(text.content(f"fact.{name}"), value) for name, value in printed.items())


def _printed(code: str, facts: Mapping[str, Any], text: Text) -> dict[str, str]:
    return {name: _print(_kind(code, name), name, value, text) for name, value in facts.items()}


def _kind(code: str, name: str) -> str:
    if name.startswith("limit_"):
        limit = CHECKS[code].limits.get(name.removeprefix("limit_"))
        return limit.unit if limit else "number"
    if name == "n":
        return "count"
    prefixed = (kind for prefix, kind in _PREFIXES.items() if name.startswith(prefix))
    return _KINDS.get(name) or next(prefixed, "metric")


def _print(kind: str, name: str, value: Any, text: Text) -> str:
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return text.content("finding.flag.yes" if value else "finding.flag.no")
    if isinstance(value, str) or text.has_content(f"enum.{name}.{value}"):
        key = f"enum.{name}.{value}"
        return text.content(key) if text.has_content(key) else str(value)
    if isinstance(value, list | tuple):
        shown = [_print(kind, name, item, text) for item in value[:MAX_LISTED]]
        return ", ".join(shown) + (", …" if len(value) > MAX_LISTED else "")
    return _number(kind, value, text)


def _number(kind: str, value: float, text: Text) -> str:
    if kind == "count":
        return text.count(value)
    if kind == "share":
        # A share that rounds to 0.0 % is not nothing, and one that rounds to 100.0 % not all.
        return text.percent(value, 1 if value in (0, 1) or 0.0005 <= value < 0.9995 else 3)
    if kind == "p":
        return f"{value:.1e}" if 0 < value < 0.001 else text.metric(value)
    if kind == "moved":
        return ("+" if value > 0 else "−") + text.count(abs(value))
    if kind == "signed":
        return text.signed(value)
    return text.metric(value) if kind == "metric" else plain_number(value, text)


def plain_number(value: float, text: Text) -> str:
    """Return a number of any size: whole ones in full, others to four significant digits without trailing zeros."""
    if not math.isfinite(value) or abs(value) >= PLAIN_BELOW:
        return text.metric(value)
    if float(value).is_integer():
        return text.count(value)
    size = math.floor(math.log10(abs(value)))
    if size < -5:
        return f"{value:.3g}"
    decimals = min(max(3 - size, 0), 8)
    shown = text.metric(value, decimals)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
