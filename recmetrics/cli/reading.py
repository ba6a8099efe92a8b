"""From the command line's files to a Dataset, and the lines that say what was read."""

from __future__ import annotations

from pathlib import Path

from recmetrics.cli.options import parse_columns, parse_label_map
from recmetrics.cli.printing import ENGLISH
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset, Issue
from recmetrics.json_contract import row_steps
from recmetrics.load import load
from recmetrics.presets import PRESETS
from recmetrics.schema.audit import STEPS


def read_data(
    files: list[Path], truth: Path | None, train: Path | None, columns: str, label_map: str, config: EvalConfig
) -> tuple[Dataset, EvalConfig]:
    """Load what the common options name; RecmetricsError for anything that cannot be read.

    The convention says how files are read; `--label-map` wins over its grade map. The convention returned holds the
    one used, so that what is archived with the numbers reads the file the same way again.
    """
    worth = parse_label_map(label_map)
    config = config.replace(grade_map=worth) if worth else config
    return load(*files, truth=truth, train=train, columns=parse_columns(columns) or None, config=config), config


def heading(dataset: Dataset, config: EvalConfig, preset: str = "") -> list[str]:
    """Return what was read, what was doubtful in it, and the convention that holds for every number below."""
    account = dataset.account
    sizes = f"{ENGLISH.count(account.read)} rows read, {ENGLISH.count(account.used)} used"
    dropped = [f"{ENGLISH.count(n)} {reason.replace('_', ' ')}" for reason, n in account.dropped.items() if n]
    users = f"{ENGLISH.count(dataset.n_users)} users" if dataset.user is not None else "no user column"
    items = f"{ENGLISH.count(dataset.n_items)} items" if dataset.item is not None else "no item column"
    changed = ", ".join(f"{field}={value}" for field, value in config.changed().items())
    return [
        f"{dataset.name}: {sizes}" + (f" (left out: {', '.join(dropped)})" if dropped else "") + f"; {users}, {items}.",
        _steps(dataset, config),
        *(_note(issue) for issue in dataset.issues if issue.template),
        f"Convention: {changed or 'the defaults'}. Config hash {config.hash[:12]}.",
        *_traps(preset),
    ]


def _steps(dataset: Dataset, config: EvalConfig) -> str:
    """Return the account of the rows as one sum, every term with its reason."""
    told: list[str] = []
    for step in row_steps(dataset, config):
        sign = "= " if step.is_sum else "− " if step.rows < 0 else "+ " if told else ""
        told.append(f"{sign}{ENGLISH.count(abs(step.rows))} {ENGLISH._(STEPS[step.code], file=step.file)}")
    return f"Rows: {', '.join(told)}."


def _note(issue: Issue) -> str:
    """Return an issue in words and, where the convention can answer it, the option that does."""
    way_out = f" Change it with --set {issue.asks}=value." if issue.asks else ""
    return f"Note: {ENGLISH._(issue.template, **issue.facts)}{way_out}"


def _traps(preset: str) -> list[str]:
    """Return whose numbers a preset gives, and what to know about them."""
    if not preset:
        return []
    chosen = PRESETS[preset]
    return [" ".join([f"Preset {chosen.name}: as {chosen.library} counts.", *map(ENGLISH._, chosen.warnings)])]
