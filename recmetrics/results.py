"""What comes out: values with who was counted, and findings with their facts. No prose, no formatting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

    from recmetrics.config import EvalConfig

# Every reason why a value can be undefined. Shown translated; never another text.
REASONS = (
    "no rows",
    "no positives",
    "no negatives",
    "no predicted positives",
    "empty margin",
    "outside 0..1",
    "no users with relevant items",
    "no users with both classes",
    "no catalogue size",
    "no training counts",
    "no exposures",
    "no clicks",
    "no slope",
)


def missing_column(name: str) -> str:
    """Return the reason `missing column: NAME`, the only one that carries a name."""
    return f"missing column: {name}"


@dataclass(frozen=True)
class MetricValue:
    """One number with everything needed to quote it.

    Attributes
    ----------
    metric
        Canonical metric string such as `ndcg[gain=exp2]@10`.
    value
        The number, or None when undefined; then `undefined` holds one of `REASONS`.
    low, high
        Interval at the config's confidence, users as units; None when there is none.
    n_users, n_rows
        Users averaged (None for pooled row metrics) and rows counted.
    skipped
        Users left out of the mean by reason: `without_relevant`, `missing_from_run`, `one_class`, and `undefined` where
        the formula gives a counted user no value (relevant items that gain nothing).
    zero_filled
        The mean with the users without relevant items counted as 0.
    tie_low, tie_high
        The value under the worst and the best order of equal scores; None where ties cannot matter.
    extra
        Named companions of the value, such as `baseline`, `lift`, `null_low`, `null_high`, `clipped`, `tied_pairs`.
    """

    metric: str
    model: str
    value: float | None
    undefined: str | None = None
    k: int | None = None
    segment: tuple[str, str] | None = None
    low: float | None = None
    high: float | None = None
    n_users: int | None = None
    n_rows: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    zero_filled: float | None = None
    tie_low: float | None = None
    tie_high: float | None = None
    extra: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the object of the JSON contract; absent companions are absent keys."""
        found: dict[str, Any] = {
            "metric": self.metric,
            "model": self.model,
            "segment": {"column": self.segment[0], "value": self.segment[1]} if self.segment else None,
            "k": self.k,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n_users": self.n_users,
            "n_rows": self.n_rows,
            "undefined": self.undefined,
        }
        for name in ("zero_filled", "tie_low", "tie_high"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        if self.skipped:
            found["skipped"] = dict(self.skipped)
        if self.extra:
            found["extra"] = dict(self.extra)
        return found


@dataclass(frozen=True)
class Report:
    """All values of one evaluation, with the convention and the data they belong to.

    Attributes
    ----------
    values
        Model by model in the order asked; overall values first, then those of each segment.
    fingerprint
        Of the dataset as it was loaded.
    counts
        Rows, positives, negatives, users and items, and how many users the first model's means count or leave out.
    """

    values: tuple[MetricValue, ...]
    config: EvalConfig
    fingerprint: str
    counts: Mapping[str, int]

    def find(self, metric: str, model: str | None = None, segment: tuple[str, str] | None = None) -> MetricValue:
        """Return the value with this canonical metric string; the first model when none is named.

        Raises
        ------
        KeyError
            When this report does not hold it.
        """
        for value in self.values:
            if value.metric == metric and value.segment == segment and model in (None, value.model):
                return value
        raise KeyError(metric)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per value: metric, model, segment, k, value, low, high, n_users, n_rows, undefined.

        The segment is a text `column=value`; `zero_filled`, `tie_low` and `tie_high` are columns where any value has
        them. `skipped` and `extra` are left to `find` and `to_json`.
        """
        import pandas as pd  # lazily: frames are for the edge

        rows = []
        for value in self.values:
            row = value.to_json()
            column, label = value.segment or (None, None)
            row["segment"] = None if column is None else f"{column}={label}"
            row.pop("skipped", None)
            row.pop("extra", None)
            rows.append(row)
        return pd.DataFrame(rows)


Severity = Literal["critical", "warning", "info"]
Status = Literal["fired", "passed", "not_applicable", "skipped", "muted", "explained", "error"]


@dataclass(frozen=True)
class Evidence:
    """A reference to what to draw or list: `kind` names a figure or table, `facts` say which."""

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cause:
    """A likely cause with the outcome of the test that would decide it."""

    name: str
    outcome: Literal["supports", "contradicts", "not_testable"]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """The result of one check for one model: facts only, worded at the edge.

    `severity` is what it is when fired; `reason` says why a check did not apply; `explained_by` names the code of the
    cause when the finding is only its consequence.
    """

    code: str
    name: str
    status: Status
    severity: Severity = "info"
    model: str | None = None
    scope: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    limit_source: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    causes: tuple[Cause, ...] = ()
    disproof: str | None = None
    next_steps: tuple[str, ...] = ()
    explained_by: str | None = None

    @property
    def is_alarm(self) -> bool:
        """Whether it stands by itself and must be read before a number is quoted."""
        return self.status == "fired" and self.severity != "info"

    def to_json(self) -> dict[str, Any]:
        """Return the object of the JSON contract; evidence by reference."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "status": self.status,
            "model": self.model,
            "scope": self.scope,
            "facts": dict(self.facts),
            "reason": self.reason,
            "limit_source": dict(self.limit_source),
            "evidence": [item.kind for item in self.evidence],
            "causes": [{"name": c.name, "outcome": c.outcome, "facts": dict(c.facts)} for c in self.causes],
            "disproof": self.disproof,
            "next_steps": list(self.next_steps),
            "explained_by": self.explained_by,
        }
