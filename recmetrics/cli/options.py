"""The options that commands share, and what their texts mean."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from recmetrics.config import EvalConfig
from recmetrics.engines import ENGINES
from recmetrics.errors import RecmetricsError
from recmetrics.presets import PRESETS
from recmetrics.roles import ROLES

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="Scored rows or TREC runs; several files are several models.")
]
TruthFile = Annotated[Path | None, typer.Option("--truth", metavar="FILE", help="What was relevant: a table or qrels.")]
TrainFile = Annotated[Path | None, typer.Option("--train", metavar="FILE", help="Interactions of the training period.")]
Columns = Annotated[
    str, typer.Option("--columns", metavar="role=name,…", help=f"Which column is what. Roles: {' '.join(ROLES)}.")
]
LabelMap = Annotated[
    str, typer.Option("--label-map", metavar="yes=1,no=0", help="What the words in the label column are worth.")
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="eval_config.json", help="An archived convention.")
]
PresetName = Annotated[
    str, typer.Option("--preset", metavar="NAME", help=f"The convention of a library: {', '.join(PRESETS)}.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="field=value", help="Change one field of the convention; repeatable."),
]
Cutoffs = Annotated[str, typer.Option("--k", metavar="1,5,10", help="Cutoffs for @K metrics.")]
Threshold = Annotated[float | None, typer.Option("--threshold", metavar="T", help="Score from which a row is a yes.")]
Segment = Annotated[str, typer.Option("--by", metavar="SEGMENT", help="Also one value per group of this column.")]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help=f"What scans the rows: {', '.join(ENGINES)}.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def pairs(text: str, option: str, example: str) -> list[tuple[str, str]]:
    """Read `a=b,c=d`; RecmetricsError (`invalid_config`) names the part that is no pair."""
    found = []
    for part in filter(None, text.split(",")):
        found.append(pair(part, option, example))
    return found


def pair(text: str, option: str, example: str) -> tuple[str, str]:
    """Read `a=b`; RecmetricsError (`invalid_config`) when it is no pair."""
    name, _, value = (part.strip() for part in text.partition("="))
    if not name or not value:
        raise RecmetricsError(
            "invalid_config",
            "'{part}' in {option} is no pair. Write {example}.",
            part=text[:80],
            option=option,
            example=f"{option} {example}",
        )
    return name, value


def parse_columns(text: str) -> dict[str, str | list[str]]:
    """Read role=name pairs; a role that comes twice has a list of names. `load` knows which roles there are."""
    found: dict[str, str | list[str]] = {}
    for role, name in pairs(text, "--columns", "user=uid,score=model_a"):
        before = found.get(role)
        names = [] if before is None else [before] if isinstance(before, str) else before
        found[role] = [*names, name] if names else name
    return found


def parse_label_map(text: str) -> dict[str, float] | None:
    """Read word=number pairs; None when there are none."""
    found = {}
    for word, number in pairs(text, "--label-map", "yes=1,no=0"):
        try:
            found[word] = float(number)
        except ValueError:
            raise RecmetricsError(
                "invalid_config",
                "--label-map gives '{word}' the worth '{number}', which is no number. Write {example}.",
                word=word[:80],
                number=number[:80],
                example="--label-map yes=1,no=0",
            ) from None
    return found or None


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Read the `field=value` texts of --set; a value is JSON where the field is no text and it can be read so."""
    given = (pair(setting, "--set", "gain=exp2") for setting in settings)
    return {field: _value(field, value) for field, value in given}


def _value(field: str, text: str) -> Any:
    known = EvalConfig.model_fields.get(field)
    if known is not None and known.annotation is str:
        return text
    if field == "ks":
        return text.strip("[]").split(",")
    try:
        return json.loads(text)
    except ValueError:
        return text


def convention(
    config_file: Path | None, preset: str, settings: Iterable[str], cutoffs: str, threshold: float | None
) -> EvalConfig:
    """Return the convention that the options describe: a file or a preset, then --set, then --k and --threshold."""
    if config_file is not None and preset:
        raise RecmetricsError(
            "invalid_config", "--config and --preset each give a whole convention. Give one of them, and --set."
        )
    changes = parse_settings(settings)
    if cutoffs:
        changes["ks"] = cutoffs.split(",")
    if threshold is not None:
        changes["threshold"] = threshold
    if config_file is not None:
        return EvalConfig.load(config_file).replace(**changes)
    return PRESETS[preset or "default"].config(**changes)
