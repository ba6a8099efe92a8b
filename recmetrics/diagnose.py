"""Run the checks: gates, statuses, mutes, and one alarm per cause."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recmetrics.checks import CHECKS, EXPLANATIONS, Check, DiagnoseOptions, Explanation, Mute, Part
from recmetrics.checks.base import Outcome, not_applicable
from recmetrics.checks.subject import Subject, subjects
from recmetrics.config import EvalConfig, whole_k
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.metrics.names import parse_metric
from recmetrics.results import Finding
from recmetrics.text import N_

__all__ = ["CHECKS", "DiagnoseOptions", "Mute", "diagnose"]

logger = logging.getLogger(__name__)


def diagnose(
    dataset: Dataset,
    config: EvalConfig | None = None,
    options: DiagnoseOptions | None = None,
    models: Iterable[str] | None = None,
) -> tuple[Finding, ...]:
    """Return what every check saw, in the order of the catalogue.

    Parameters
    ----------
    dataset
        Scored rows as loaded; data that `evaluate` refuses (missing scores, repeated pairs) are examined as well.
    config
        The convention; what it declares is held against what the data show.
    options
        Headline metrics, limits and mutes.
    models
        Scores to look at; None = all.

    Returns
    -------
    tuple of Finding
        Fired, passed, not applicable, muted, explained by another finding, or error: a check that crashed.

    Raises
    ------
    RecmetricsError
        `unknown_name` for a model, a check code, a limit or a headline metric that does not exist; `invalid_k`.
    """
    config, options = config or EvalConfig(), options or DiagnoseOptions()
    _known(options)
    chosen = None if models is None else tuple(models)
    for model in chosen or ():
        _refuse_unknown("model", model, list(dataset.models))
    asked = subjects(dataset, config, options, chosen)
    in_order = sorted(CHECKS.values(), key=lambda check: check.code)
    findings = [finding for check in in_order for finding in _run(check, asked)]
    return explain(mute(findings, options.mutes, dataset.fingerprint), EXPLANATIONS)


def _known(options: DiagnoseOptions) -> None:
    for code, limits in options.limits.items():
        for name in limits:
            _refuse_unknown("limit", name, list(CHECKS[code].limits))
    for muted in options.mutes:
        CHECKS[muted.code]  # raises when there is none, as do the next two
    for metric in options.headline or ():
        parse_metric(metric)
    if options.k is not None:
        whole_k(options.k)


def _refuse_unknown(kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise RecmetricsError(
            "unknown_name",
            N_("There is no {kind} called '{name}'; known: {known}."),
            kind=kind,
            name=name[:80],
            known=", ".join(known) or "–",
        )


def _run(check: Check, asked: list[Subject]) -> list[Finding]:
    """Run a check on each subject that it looks at separately."""
    same_rows = check.looks_at == "data" or (check.looks_at == "rows" and not asked[0].raw.scored)
    found = []
    for subject in asked[:1] if same_rows else asked:
        model = None if same_rows else subject.model
        for part in check.parts:
            found += [replace(finding, model=model) for finding in _examine(check, part, subject)]
    return found


def _examine(check: Check, part: Part, subject: Subject) -> list[Finding]:
    limits = {name: limit.value for name, limit in check.limits.items()}
    limits |= subject.options.limits.get(check.code, {})
    blank = Finding(check.code, check.name, "not_applicable", scope=part.scope)
    try:
        reason = not_applicable(part, subject)
        if reason:
            return [replace(blank, reason=reason)]
        return [_finding(check, part, limits, outcome) for outcome in part.examine(subject, limits)]
    except RecmetricsError as refusal:
        return [replace(blank, reason=f"refused:{refusal.kind}")]
    except Exception:
        # Whatever goes wrong in a check is our bug, and must never look like a pass.
        logger.exception("%s crashed", check.code)
        return [replace(blank, status="error")]


def _finding(check: Check, part: Part, limits: Mapping[str, float], outcome: Outcome) -> Finding:
    if outcome.reason:
        return Finding(check.code, check.name, "not_applicable", scope=outcome.scope, reason=outcome.reason)
    facts = {**outcome.facts, **{f"limit_{name}": value for name, value in limits.items()}}
    return Finding(
        check.code,
        check.name,
        "passed" if outcome.severity is None else "fired",
        severity=outcome.severity or "info",
        scope=outcome.scope or part.scope,
        facts={name: _plain(value) for name, value in facts.items()},
        limit_source={name: limit.source for name, limit in check.limits.items()},
        evidence=outcome.evidence,
        causes=tuple(replace(cause, facts={n: _plain(v) for n, v in cause.facts.items()}) for cause in outcome.causes),
        disproof=outcome.disproof,
        next_steps=outcome.next_steps,
    )


def _plain(value: Any) -> Any:
    """Return Python's own numbers, with None for what is undefined."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def mute(findings: list[Finding], mutes: Iterable[Mute], fingerprint: str) -> list[Finding]:
    """Return the findings with fired ones set aside where somebody judged them, for these data."""
    by_code = {m.code: m for m in mutes if m.fingerprint in (None, fingerprint)}
    found = []
    for finding in findings:
        muted = by_code.get(finding.code) if finding.status == "fired" else None
        if muted:
            finding = replace(
                finding, status="muted", facts={**finding.facts, "muted_by": muted.who, "muted_because": muted.why}
            )
        found.append(finding)
    return found


def explain(findings: list[Finding], explanations: Iterable[Explanation]) -> tuple[Finding, ...]:
    """Return the findings with consequences marked by their cause, walking the list of explanations from the top.

    A cause explains only while it is an alarm itself, neither explained nor muted; the first cause is kept.
    """
    found = list(findings)
    for edge in explanations:
        causes = [f for f in found if f.code == edge.cause and f.is_alarm]
        for i, finding in enumerate(found):
            fired = finding.status == "fired" and finding.code == edge.consequence
            if fired and any(_explains(edge, cause, finding) for cause in causes):
                found[i] = replace(finding, status="explained", explained_by=edge.cause)
    return tuple(found)


def _explains(edge: Explanation, cause: Finding, finding: Finding) -> bool:
    same_model = cause.model is None or cause.model == finding.model
    in_scope = edge.scope is None or edge.scope == finding.scope
    return same_model and in_scope and edge.condition(cause, finding)
