"""Metric strings: `ndcg[gain=exp2]@10` fixes a formula; parsing and printing are inverse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from recmetrics.config import EvalConfig, whole_k
from recmetrics.errors import RecmetricsError
from recmetrics.metrics.base import METRICS, Metric
from recmetrics.registry import nearest
from recmetrics.text import N_

_SHAPE = re.compile(r"^(?P<name>[a-z_0-9.]+)(\[(?P<options>[^\[\]]*)\])?(@(?P<k>.+))?$")
_F_NAME = re.compile(r"^f(?P<beta>[0-9]+(\.[0-9]+)?)$")
_DEFAULTS = EvalConfig()


@dataclass(frozen=True)
class MetricName:
    """A metric with its options and cutoff; `str()` gives the canonical string.

    `options` are (key, printed value), in alphabetical order, only those that differ from the project's default.
    """

    name: str
    options: tuple[tuple[str, str], ...] = ()
    k: int | None = None

    def __str__(self) -> str:
        options = "[" + ",".join(f"{key}={value}" for key, value in self.options) + "]" if self.options else ""
        return f"{self.name}{options}" + (f"@{self.k}" if self.k is not None else "")

    @property
    def entry(self) -> Metric:
        """The catalogue entry behind the name: `precision` and `precision@10` are different ones."""
        return entry_of(self.name, self.k is not None)

    def fixed(self, config: EvalConfig) -> EvalConfig:
        """Return the config under which this string is computed: it alone fixes the formula.

        Options that it leaves out are the defaults; everything that is no option of the metric stays as it is.
        """
        defaults = {field: getattr(_DEFAULTS, field) for field in self.entry.options.values()}
        given = {self.entry.options[key]: typed(value) for key, value in self.options}
        changes = {f: v for f, v in {**defaults, **given}.items() if getattr(config, f) != v}
        return config.replace(**changes) if changes else config


def entry_of(name: str, has_k: bool) -> Metric:
    """Return the catalogue entry for a bare name, with or without a cutoff.

    Raises
    ------
    RecmetricsError
        `unknown_name` when there is no such metric, `invalid_k` when the cutoff is missing or out of place.
    """
    with_k, without = f"{name}@k", name
    if has_k and with_k in METRICS:
        return METRICS[with_k]
    if not has_k and without in METRICS:
        return METRICS[without]
    if not has_k and with_k in METRICS:
        if METRICS[with_k].cutoff == "optional":
            return METRICS[with_k]
        raise RecmetricsError(
            "invalid_k", N_("'{name}' is counted over the first K places: write {name}@10, for example."), name=name
        )
    if has_k and without in METRICS:
        raise RecmetricsError("invalid_k", N_("'{name}' has no cutoff: write {name} without @."), name=name)
    known = list(dict.fromkeys(key.removesuffix("@k") for key in METRICS))
    raise RecmetricsError(
        "unknown_name",
        N_("There is no metric called '{name}'. The nearest is '{nearest}'. Known: {known}."),
        name=name[:80],
        nearest=nearest(name, known) or "roc_auc",
        known=", ".join(known),
    )


def parse_metric(text: str) -> MetricName:
    """Read a metric string; spaces are ignored and `f1`, `f2`, `f0.5` stand for `f_beta` with that beta.

    Raises
    ------
    RecmetricsError
        `unknown_name`, `invalid_k` or `invalid_config`: what is wrong in the string, and what would be right.
    """
    return asked_for(text, _DEFAULTS)


def asked_for(text: str, config: EvalConfig) -> MetricName:
    """Read a metric string as asked under a config: options that it names win, the others are the config's.

    Raises
    ------
    RecmetricsError
        As `parse_metric`.
    """
    found = _SHAPE.match("".join(text.split()))
    if not found:
        raise RecmetricsError(
            "unknown_name",
            N_("'{text}' is no metric. Write a name, options in brackets and a cutoff: ndcg[gain=exp2]@10."),
            text=text[:80],
        )
    name, given = found["name"], _given_options(found["options"] or "")
    f_name = _F_NAME.match(name)
    if f_name and "beta" in given:
        raise RecmetricsError(
            "invalid_config", N_("'{text}' names beta twice. Write f_beta[beta=2] or f2, not both."), text=text[:80]
        )
    if f_name:
        name, given = "f_beta", {"beta": f_name["beta"], **given}
    k = None if found["k"] is None else whole_k(found["k"])
    entry = entry_of(name, k is not None)
    return canonical(entry, config.replace(**_changes(entry, given)), k)


def canonical(entry: Metric, config: EvalConfig, k: int | None = None) -> MetricName:
    """Return the metric string of an entry under a config: options at their default are left out."""
    options = []
    for key, field in sorted(entry.options.items()):
        value = getattr(config, field)
        if value != getattr(_DEFAULTS, field):
            options.append((key, printed(value)))
    return MetricName(entry.name, tuple(options), k)


def _given_options(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, separator, value = part.partition("=")
        if not separator or not value or key in given:
            raise RecmetricsError(
                "invalid_config",
                N_("'{part}' is no option of a metric: write key=value, each key once."),
                part=part[:80],
            )
        given[key] = value
    return given


def _changes(entry: Metric, given: dict[str, str]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, value in given.items():
        if key not in entry.options:
            raise _wrong_option(entry, key)
        changes[entry.options[key]] = typed(value)
    return changes


def _wrong_option(entry: Metric, key: str) -> RecmetricsError:
    if key == "threshold" and entry.has_k:
        template = N_(
            "'{metric}' counts the first K places of a list, so it has no threshold. Leave one of the two out."
        )
    elif key == "log_base" and entry.name == "ndcg":
        template = N_("'{metric}' has no log base: it cancels between the list and its ideal. It matters for dcg only.")
    else:
        template = N_("'{metric}' has no option '{option}'. Its options: {known}.")
    known = sorted(entry.options)
    close = nearest(key, known)
    return RecmetricsError(
        "invalid_config",
        template,
        metric=entry.key,
        option=key[:80],
        known=", ".join([close, *[k for k in known if k != close]] if close else known) or "–",
    )


def typed(value: str) -> Any:
    """Return a number where the text is one, else the text: config fields are checked by EvalConfig itself."""
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() and "." not in value and "e" not in value.lower() else number


def printed(value: Any) -> str:
    """Return an option's value as metric strings write it: whole numbers without a point, `typed` reads it back."""
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
