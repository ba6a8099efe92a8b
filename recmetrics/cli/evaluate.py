"""`recmetrics evaluate`: every metric that applies, with its interval and who was counted."""

from __future__ import annotations

from itertools import groupby

import typer

from recmetrics.cli import options
from recmetrics.cli.printing import ENGLISH, table
from recmetrics.cli.reading import heading, read_data
from recmetrics.evaluate import evaluate
from recmetrics.json_contract import document, to_text
from recmetrics.metrics.names import parse_metric
from recmetrics.results import MetricValue, Report

LAYERS = {
    "classification": "Classification: rows",
    "calibration": "Calibration: scores as probabilities",
    "ranking": "Ranking: one list per user",
    "exposure": "Exposure: all lists together",
    "business": "Business: what was shown and done",
}
HEAD = ("metric", "model", "segment", "value", "interval", "users", "rows", "ties", "remark")
LEFT_OUT = {
    "without_relevant": "without relevant items",
    "missing_from_run": "missing from the run",
    "one_class": "with one class only",
    "undefined": "whose relevant items gain nothing",
}
# Reasons that lie in the data as a whole and would fill a table with dashes.
LACKING = frozenset({"outside 0..1", "no catalogue size", "no training counts"})
# Companions without which a value is easily misread.
BESIDE = {"baseline_majority": "majority class", "baseline": "baseline", "lift": "lift", "null_high": "by chance up to"}
NUMBERS = frozenset({"value", "interval", "users", "rows", "ties"})


def evaluate_command(
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
    segment: options.Segment = "",
    engine: options.EngineName = "numpy",
    as_json: options.AsJson = False,
) -> None:
    """Compute every metric that the columns allow."""
    config = options.convention(config_file, preset, settings or [], cutoffs, threshold)
    dataset, config = read_data(files, truth, train, columns, label_map, config)
    report = evaluate(dataset, config, by=segment or None, engine=engine)
    if as_json:
        typer.echo(to_text(document("evaluate", dataset, config, report=report)))
    else:
        typer.echo("\n".join([*heading(dataset, config, preset), *_counts(report), *_sections(report)]))


def _counts(report: Report) -> list[str]:
    counted = [f"{name.replace('_', ' ')} {ENGLISH.count(n)}" for name, n in report.counts.items()]
    return ["Counted: " + ", ".join(counted)]


def _sections(report: Report) -> list[str]:
    """Return one table per layer, each metric's values together; what the data cannot give is named in one line."""
    lines: list[str] = []
    layers, names = list(LAYERS), list(dict.fromkeys(value.metric for value in report.values))
    ordered = sorted(report.values, key=lambda value: (layers.index(_layer(value)), names.index(value.metric)))
    for layer, values in groupby(ordered, key=_layer):
        given = list(values)
        rows = [_row(value) for value in given if not _is_lacking(value)]
        lines += ["", LAYERS[layer], *([table(HEAD, rows, NUMBERS)] if rows else []), *_lacking(given)]
    return lines


def _is_lacking(value: MetricValue) -> bool:
    reason = value.undefined or ""
    return reason in LACKING or reason.startswith("missing column")


def _lacking(values: list[MetricValue]) -> list[str]:
    """Return one line per reason that lies in the data as a whole, with the metrics that it concerns."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for value in filter(_is_lacking, values):
        found.setdefault((value.undefined or "", value.model), {})[value.metric] = None
    return [
        f"Not defined for {model or 'the log'} ({reason}): {', '.join(metrics)}"
        for (reason, model), metrics in found.items()
    ]


def _layer(value: MetricValue) -> str:
    return parse_metric(value.metric).entry.layer


def _row(value: MetricValue) -> tuple[str, ...]:
    return (
        value.metric,
        value.model,
        "=".join(value.segment) if value.segment else "",
        _number(value),
        ENGLISH.interval(value.low, value.high, 4),
        "" if value.n_users is None else ENGLISH.count(value.n_users),
        ENGLISH.count(value.n_rows),
        _tie_range(value),
        _remark(value),
    )


def _number(value: MetricValue) -> str:
    is_count = value.value is not None and value.value.is_integer() and _layer(value) == "business"
    return ENGLISH.count(value.value or 0) if is_count else ENGLISH.metric(value.value, 4)


def _tie_range(value: MetricValue) -> str:
    low, high = ENGLISH.metric(value.tie_low, 4), ENGLISH.metric(value.tie_high, 4)
    return "" if low == high else f"{low} to {high}"


def _remark(value: MetricValue) -> str:
    """Return why there is no value, or who was left out and what to read the value against."""
    if value.undefined:
        return value.undefined
    skipped = [f"left out: {ENGLISH.count(n)} users {LEFT_OUT[reason]}" for reason, n in value.skipped.items() if n]
    if value.zero_filled is not None:
        skipped.append(f"{ENGLISH.metric(value.zero_filled, 4)} with them as 0")
    beside = [
        f"{words} {ENGLISH.metric(value.extra[name], 4)}" for name, words in BESIDE.items() if name in value.extra
    ]
    return ", ".join(beside + skipped)
