"""`recmetrics diagnose`: what looks wrong, and how that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from recmetrics.cli import options
from recmetrics.cli.printing import ENGLISH, printable, table
from recmetrics.cli.reading import heading, read_data
from recmetrics.diagnose import diagnose
from recmetrics.json_contract import document, plain, to_text
from recmetrics.results import Finding

ALARM = 1


class Level(StrEnum):
    """The severity from which `--fail-on` exits with 1."""

    warning = "warning"
    critical = "critical"


FailOn = Annotated[
    Level | None, typer.Option("--fail-on", help="Exit with 1 when a finding of this severity or above stands.")
]


def diagnose_command(
    files: options.Files,
    truth: options.TruthFile = None,
    train: options.TrainFile = None,
    columns: options.Columns = "",
    label_map: options.LabelMap = "",
    config_file: options.ConfigFile = None,
    preset: options.PresetName = "",
    settings: options.Settings = None,
    cutoffs: options.Cutoffs = "",
    threshold: options.Threshold = None,
    fail_on: FailOn = None,
    as_json: options.AsJson = False,
) -> int:
    """Run every check and list what was found."""
    config = options.convention(config_file, preset, settings or [], cutoffs, threshold)
    dataset = read_data(files, truth, train, columns, label_map)
    findings = diagnose(dataset, config)
    if as_json:
        typer.echo(to_text(document("diagnose", dataset, config, findings=findings)))
    else:
        typer.echo("\n".join([*heading(dataset, config), "", *_alarms(findings), *_the_rest(findings)]))
    return ALARM if fail_on and stands(findings, fail_on) else 0


def stands(findings: Sequence[Finding], level: Level) -> bool:
    """Return whether a fired finding has this severity or a higher one."""
    severities = {"critical"} if level is Level.critical else {"warning", "critical"}
    return any(finding.status == "fired" and finding.severity in severities for finding in findings)


def _alarms(findings: Sequence[Finding]) -> list[str]:
    """Return the fired findings, the gravest first, each with its sentence, its numbers and what to do next."""
    order = ("critical", "warning", "info")
    fired = sorted((f for f in findings if f.status == "fired"), key=lambda f: order.index(f.severity))
    lines = []
    for finding in fired:
        where = " ".join(filter(None, (finding.model, finding.scope)))
        lines.append(printable(f"{finding.severity.upper()}  {finding.code} {_title(finding.code)}  ({where})"))
        lines.append(printable(f"    {_facts(finding)}"))
    return lines or ["Nothing stands out."]


def _title(code: str) -> str:
    return ENGLISH.content(f"check.{code}.title")


def _facts(finding: Finding) -> str:
    return ", ".join(f"{name}={_fact(value)}" for name, value in plain(finding.facts).items())


def _fact(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _the_rest(findings: Sequence[Finding]) -> list[str]:
    """Return how many checks passed, and why the others said nothing."""
    counted = Counter((f.status, f.explained_by or f.reason or "") for f in findings if f.status != "fired")
    rows = [(ENGLISH.count(n), status.replace("_", " "), reason) for (status, reason), n in sorted(counted.items())]
    return ["", table(("checks", "status", "reason"), rows, frozenset({"checks"}))] if rows else []
