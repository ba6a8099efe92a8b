"""What a metric is: a name, the layer it belongs to, the config fields that shape its formula, and one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recmetrics.registry import Registry

Layer = Literal["classification", "calibration", "ranking", "exposure", "business"]


@dataclass(frozen=True)
class Measured:
    """A value, or the reason why there is none, with its named companions."""

    value: float | None
    undefined: str | None = None
    extra: Mapping[str, float] = field(default_factory=dict)


def undefined(reason: str) -> Measured:
    """Return no value, with one of `results.REASONS`."""
    return Measured(None, reason)


def missing_class(n_positives: int, n_negatives: int) -> str | None:
    """Return why a value that needs both classes is undefined; None when both are there."""
    if n_positives == 0:
        return "no positives" if n_negatives else "no rows"
    return None if n_negatives else "no negatives"


@dataclass(frozen=True)
class Metric:
    """One entry of the catalogue.

    Attributes
    ----------
    name
        Name of the mean or of the pooled value: `map`.
    per_user_name
        Name of one user's value (`average_precision`); equal to `name` where it has none of its own.
    layer, label
        What it looks at, and its printed English name, marked for translation.
    options
        Option in the metric string → field of EvalConfig. The field's default is the option's.
    cutoff
        `never` (row metrics), `always` (`precision@10`), `optional` (`mrr`, `mrr@10`).
    low, high
        Range of a defined value.
    source
        Literature, or the library whose numbers it gives.
    needs
        Column roles, or `train`, without which it is undefined.
    function
        Computes it from what its layer looks at: `classification` and `calibration` ScoreTable, `ranking` Lists (gauc:
        HitTable), `exposure` Exposures and K, `business` ExposureLog; each with the config.
    """

    name: str
    per_user_name: str
    layer: Layer
    label: str
    options: Mapping[str, str]
    cutoff: Literal["never", "always", "optional"]
    low: float
    high: float
    source: str
    needs: tuple[str, ...]
    function: Callable[..., Any]

    @property
    def key(self) -> str:
        """Name in the registry: `precision` counts rows, `precision@k` lists."""
        return self.name if self.cutoff == "never" else f"{self.name}@k"

    @property
    def has_k(self) -> bool:
        return self.cutoff != "never"


METRICS: Registry[Metric] = Registry("metric")


def metric(
    name: str,
    layer: Layer,
    label: str,
    *,
    per_user_name: str = "",
    options: Mapping[str, str] | None = None,
    cutoff: Literal["never", "always", "optional"] = "never",
    low: float = 0.0,
    high: float = 1.0,
    source: str = "",
    needs: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a metric; see `Metric` for the parameters."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        entry = Metric(
            name, per_user_name or name, layer, label, options or {}, cutoff, low, high, source, needs, function
        )
        METRICS.add(entry.key, entry)
        return function

    return register
