"""`recmetrics evaluate`: every metric that applies, with its interval and who was counted."""

from __future__ import annotations

from itertools import groupby

import typer

from recmetrics.cli import options
from recmetrics.cli.printing import ENGLISH, table
from recmetrics.cli.reading import heading, read_data
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
    from recmetrics.evaluate import evaluate

    config = options.convention(config_file, preset, settings or [], cutoffs, threshold)
    dataset = read_data(files, truth, train, columns, label_map)
    report = evaluate(dataset, config, by=segment or None)
    if as_json:
        typer.echo(to_text(document("evaluate", dataset, config, report=report)))
    else:
        typer.echo("\n".join([*heading(dataset, config), *_counts(report), *_sections(report)]))


def _counts(report: Report) -> list[str]:
    counted = [f"{name.replace('_', ' ')} {ENGLISH.count(n)}" for name, n in report.counts.items()]
    return ["Counted: " + ", ".join(counted)]


def _sections(report: Report) -> list[str]:
    lines: list[str] = []
    order = list(LAYERS)
    ranked = sorted(report.values, key=lambda value: order.index(_layer(value)))
    for layer, values in groupby(ranked, key=_layer):
        lines += ["", LAYERS[layer], table(HEAD, [_row(value) for value in values], NUMBERS)]
    return lines


def _layer(value: MetricValue) -> str:
    return parse_metric(value.metric).entry.layer


def _row(value: MetricValue) -> tuple[str, ...]:
    return (
        value.metric,
        value.model,
        "=".join(value.segment) if value.segment else "",
        ENGLISH.metric(value.value, 4),
        ENGLISH.interval(value.low, value.high, 4),
        "" if value.n_users is None else ENGLISH.count(value.n_users),
        ENGLISH.count(value.n_rows),
        _tie_range(value),
        _remark(value),
    )


def _tie_range(value: MetricValue) -> str:
    if value.tie_low is None or value.tie_high is None or value.tie_low == value.tie_high:
        return ""
    return f"{ENGLISH.metric(value.tie_low, 4)} to {ENGLISH.metric(value.tie_high, 4)}"


def _remark(value: MetricValue) -> str:
    if value.undefined:
        return value.undefined
    left_out = [f"{ENGLISH.count(n)} users {reason.replace('_', ' ')}" for reason, n in value.skipped.items() if n]
    as_zero = [] if value.zero_filled is None else [f"{ENGLISH.metric(value.zero_filled, 4)} with them as 0"]
    return "without " + ", ".join(left_out + as_zero) if left_out else ""
