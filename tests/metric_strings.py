"""Every metric string that the registry offers: each metric with each of its options at each other value."""

from __future__ import annotations

from typing import Any, get_args

from recmetrics.config import EvalConfig
from recmetrics.metrics import METRICS
from recmetrics.metrics.base import Metric

# Options that hold numbers: values other than the default. A new one has to be added here.
NUMBERS: dict[str, tuple[Any, ...]] = {
    "threshold": (0.25, 0, -1.5),
    "beta": (0.5, 2),
    "max_fpr": (0.5, 1),
    "log_loss_clip": (1e-07, 2.220446049250313e-16),
    "ece_bins": (3, 10),
}
# Options that are defined only beside another one.
COMPANION = {("ideal", "full_k"): ("gain", "binary")}


def alternatives(field: str) -> tuple[Any, ...]:
    """Return the values of a config field other than its default."""
    declared = EvalConfig.model_fields[field]
    if field in NUMBERS:
        return NUMBERS[field]
    return tuple(value for value in get_args(declared.annotation) if value != declared.default)


def strings_of(entry: Metric, k: int = 3) -> list[str]:
    """Return the strings of one metric: plain, and with every option; with `@k` where it has a cutoff."""
    ends = {"never": [""], "always": [f"@{k}"], "optional": ["", f"@{k}"]}[entry.cutoff]
    brackets = [""]
    for key, field in entry.options.items():
        for value in alternatives(field):
            pairs = {key: value}
            if (key, value) in COMPANION:
                pairs.update([COMPANION[key, value]])
            brackets.append("[" + ",".join(f"{name}={pairs[name]}" for name in sorted(pairs)) + "]")
    return [entry.name + bracket + end for bracket in brackets for end in ends]


def all_strings(*layers: str, k: int = 3) -> list[str]:
    """Return the strings of every metric, or of those in some layers."""
    entries = [entry for entry in METRICS.values() if not layers or entry.layer in layers]
    return [text for entry in entries for text in strings_of(entry, k)]
