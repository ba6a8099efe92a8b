"""`recmetrics diagnose`: what looks wrong, and how that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from recmetrics import wording
from recmetrics.cli import options
from recmetrics.cli.printing import ENGLISH, printable, table
from recmetrics.cli.reading import heading, read_data
from recmetrics.diagnose import DiagnoseOptions, diagnose
from recmetrics.json_contract import document, to_text
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
    dataset, config = read_data(files, truth, train, columns, label_map, config)
    findings = diagnose(dataset, config, DiagnoseOptions(threshold_set=threshold is not None))
    if as_json:
        typer.echo(to_text(document("diagnose", dataset, config, findings=findings)))
    else:
        typer.echo("\n".join([*heading(dataset, config, preset), *_fired(findings), *_the_rest(findings)]))
    return ALARM if fail_on and stands(findings, fail_on) else 0


def stands(findings: Sequence[Finding], level: Level) -> bool:
    """Return whether a fired finding has this severity or a higher one."""
    severities = {"critical"} if level is Level.critical else {"warning", "critical"}
    return any(finding.status == "fired" and finding.severity in severities for finding in findings)


def _fired(findings: Sequence[Finding]) -> list[str]:
    """Return the fired findings, the gravest first, each with its sentence, its causes and what to do next."""
    order = ("critical", "warning", "info")
    fired = sorted((f for f in findings if f.status == "fired"), key=lambda f: order.index(f.severity))
    lines = [line for finding in fired for line in ["", *_about(finding, findings)]]
    return [printable(line) for line in lines] or ["", "Nothing stands out."]


def _about(finding: Finding, findings: Sequence[Finding]) -> list[str]:
    """Return one finding; what is only worth knowing is said in one sentence."""
    head = f"{finding.severity.upper()}  {finding.code} {wording.title(finding.code, ENGLISH)}"
    causes = [f"  - {cause.text} ({cause.verdict})" for cause in wording.causes(finding, ENGLISH)]
    steps = [f"  Next: {step.text}" for step in wording.next_steps(finding, ENGLISH)]
    disproof = wording.disproof(finding, ENGLISH)
    consequences = [
        f"  Explains {other.code} {wording.title(other.code, ENGLISH)}"
        for other in findings
        if other.explained_by == finding.code and finding.model in (None, other.model)
    ]
    says = [head + (f"  [{finding.model}]" if finding.model else ""), f"  {wording.sentence(finding, ENGLISH)}"]
    if finding.severity == "info":
        return says
    return [
        *says,
        *causes,
        *([f"  Would disprove it: {disproof}"] if disproof else []),
        *steps,
        *dict.fromkeys(consequences),
    ]


def _the_rest(findings: Sequence[Finding]) -> list[str]:
    """Return how many checks passed, and why the others said nothing."""
    silent = [f for f in findings if f.status not in ("fired", "explained")]
    counted = Counter((f.status, wording.reason(f, ENGLISH)) for f in silent)
    rows = [(ENGLISH.count(n), status.replace("_", " "), reason) for (status, reason), n in sorted(counted.items())]
    return ["", table(("checks", "status", "reason"), rows, frozenset({"checks"}))] if rows else []
