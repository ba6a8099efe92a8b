"""From tables to values: one MetricValue with who was counted, for every kind of metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recmetrics.bundle import Tables
from recmetrics.config import EvalConfig
from recmetrics.inference.means import column_means, weighted_mean_interval
from recmetrics.metrics import MetricName
from recmetrics.metrics.base import METRICS, Measured, Metric
from recmetrics.metrics.lists import Lists
from recmetrics.metrics.per_user_auc import UserAuc
from recmetrics.metrics.population import Population
from recmetrics.results import MetricValue, missing_column

Ks = tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class PerUser:
    """One metric for every user: values float64[u], NaN where the user is not counted; counted bool[u]."""

    values: NDArray[np.float64]
    counted: NDArray[np.bool_]


def measure(tables: Tables, names: Iterable[MetricName], config: EvalConfig) -> list[MetricValue]:
    """Return one value per name, in their order; names that differ in K only are computed together."""
    in_order = list(names)
    asked = list(dict.fromkeys(in_order))
    ks: Ks = tuple(sorted({name.k for name in asked if name.entry.layer == "ranking"}, key=lambda k: k or math.inf))
    found: dict[MetricName, MetricValue] = {}
    for _, group in groupby(sorted(asked, key=_without_k), key=_without_k):
        same = list(group)
        for name, value in zip(same, _measure_group(tables, same, config, ks), strict=True):
            found[name] = value
    return [found[name] for name in in_order]


def _without_k(name: MetricName) -> tuple[str, tuple[tuple[str, str], ...], bool]:
    return name.name, name.options, name.k is None


def _measure_group(tables: Tables, names: list[MetricName], config: EvalConfig, ks: Ks) -> list[MetricValue]:
    entry = names[0].entry
    under = names[0].fixed(config)
    missing = _missing(tables, entry)
    if missing:
        return [MetricValue(str(name), tables.model, None, missing, name.k) for name in names]
    return _BY_LAYER[entry.layer](tables.under(under), names, under, ks)


def _missing(tables: Tables, entry: Metric) -> str | None:
    """Return the reason when the data has no column for this metric."""
    data = tables.dataset
    needs_user = entry.layer in ("ranking", "exposure") or "user" in entry.needs
    if needs_user and data.user is None:
        return missing_column("user")
    return missing_column("item") if "item" in entry.needs and data.item is None else None


# Rows ---------------------------------------------------------------------------------------------------------------


def _rows(tables: Tables, names: list[MetricName], config: EvalConfig, ks: Ks) -> list[MetricValue]:
    (name,) = names
    measured: Measured = name.entry.function(tables.scores, config)
    low = high = None
    if name.name == "roc_auc" and measured.value is not None:
        estimate = tables.auc(config.confidence)
        low, high = estimate.low, estimate.high
    n_rows = tables.scores.n_rows
    value = _rounded(measured.value, config)
    extra = dict(measured.extra)
    return [
        MetricValue(
            str(name), tables.model, value, measured.undefined, None, None, low, high, None, n_rows, extra=extra
        )
    ]


def _log(tables: Tables, names: list[MetricName], config: EvalConfig, ks: Ks) -> list[MetricValue]:
    (name,) = names
    log = tables.log
    measured: Measured = name.entry.function(log, config)
    users = log.n_users or None
    return [
        MetricValue(
            str(name), "", measured.value, measured.undefined, n_users=users, n_rows=log.n_rows, extra=measured.extra
        )
    ]


def _exposed(tables: Tables, names: list[MetricName], config: EvalConfig, ks: Ks) -> list[MetricValue]:
    found = []
    k_max = max(name.k or 1 for name in names)
    shown = tables.exposures(k_max)
    users = len(np.unique(shown.user))
    for name in names:
        measured: Measured = name.entry.function(shown, config, name.k)
        n_rows = int(np.count_nonzero(shown.lo <= (name.k or 1)))
        value = _rounded(measured.value, config)
        found.append(
            MetricValue(
                str(name),
                tables.model,
                value,
                measured.undefined,
                name.k,
                n_users=users,
                n_rows=n_rows,
                extra=measured.extra,
            )
        )
    return found


def _rounded(value: float | None, config: EvalConfig) -> float | None:
    return value if value is None or config.rounding is None else round(value, config.rounding.decimals)


# Lists --------------------------------------------------------------------------------------------------------------


def _lists(tables: Tables, names: list[MetricName], config: EvalConfig, ks: Ks) -> list[MetricValue]:
    entry = names[0].entry
    if entry.name == "gauc":
        return [_gauc(tables, names[0], config)]
    who = tables.population(config)
    if who.n_users == 0:
        return [_nobody(tables, name, who) for name in names]
    lists = tables.lists(ks, config.ties)
    columns = [ks.index(name.k) for name in names] if entry.has_k else [0]
    means = _of_means if entry.name == "f_beta" and config.f_average == "of_means" else _mean_over_users
    found = means(tables, entry, lists, config, who, columns)
    return [
        MetricValue(
            str(name),
            tables.model,
            _rounded(found.value[i], config),
            found.undefined[i],
            name.k,
            None,
            found.low[i],
            found.high[i],
            found.n[i],
            int(tables.hits.n_candidates.sum()),
            {**who.skipped, **({"undefined": who.n_users - found.n[i]} if who.n_users > found.n[i] else {})},
            found.zero_filled[i],
            found.tie_low[i],
            found.tie_high[i],
            found.extra[i],
        )
        for i, name in enumerate(names)
    ]


def _nobody(tables: Tables, name: MetricName, who: Population) -> MetricValue:
    reason = "no users with relevant items"
    return MetricValue(str(name), tables.model, None, reason, name.k, n_users=0, skipped=who.skipped)


@dataclass
class _Means:
    value: list[float | None]
    undefined: list[str | None]
    low: list[float | None]
    high: list[float | None]
    n: list[int]
    zero_filled: list[float | None]
    tie_low: list[float | None]
    tie_high: list[float | None]
    extra: list[Mapping[str, float]]


def _matrix(entry: Metric, lists: Lists, config: EvalConfig, columns: list[int]) -> NDArray[np.float64]:
    found = entry.function(lists, config)[:, columns]
    if config.rounding is not None and config.rounding.per_user:
        found = np.round(found, config.rounding.decimals)
    return np.asarray(found)


def _mean_over_users(
    tables: Tables, entry: Metric, lists: Lists, config: EvalConfig, who: Population, columns: list[int]
) -> _Means:
    matrix = _matrix(entry, lists, config, columns)
    found = column_means(who.apply(matrix), config.confidence)
    mean, reach, n = found.value, found.reach, found.n
    missing = int((who.counted & (tables.hits.n_candidates == 0)).sum())
    low_tie, high_tie = _tie_range(tables, entry, config, who, lists.ks, columns, matrix, mean, n)
    return _Means(
        [None if math.isnan(v) else float(v) for v in mean],
        ["no users with relevant items" if math.isnan(v) else None for v in mean],
        [None if math.isnan(d) else max(float(v - d), entry.low) for v, d in zip(mean, reach, strict=True)],
        [
            None if math.isnan(d) else min(float(v + d), max(entry.high, float(v)))
            for v, d in zip(mean, reach, strict=True)
        ],
        [int(count) for count in n],
        [_zero_filled(float(v), int(count), who) for v, count in zip(mean, n, strict=True)],
        low_tie,
        high_tie,
        [
            _beside(tables, lists, config, who, missing, float(v), int(count), column)
            for v, count, column in zip(mean, n, columns, strict=True)
        ],
    )


def _zero_filled(mean: float, n: int, who: Population) -> float | None:
    left_out = who.skipped.get("without_relevant", 0)
    return mean * n / (n + left_out) if left_out and not math.isnan(mean) else None


def _beside(
    tables: Tables, lists: Lists, config: EvalConfig, who: Population, missing: int, mean: float, n: int, column: int
) -> Mapping[str, float]:
    """Return companions: the mean without users who got no list, and how many users' K-th place lies inside a tie."""
    found = {}
    if missing and config.users_missing_from_run == "zero":
        found["missing_as_zero"] = float(missing)
        if n > missing:
            found["without_missing"] = mean * n / (n - missing)
    k = lists.k[column]
    if config.ties == "average" and np.isfinite(k) and len(tables.tied):
        lo, hi = tables.hits.lo[tables.tied], tables.hits.hi[tables.tied]
        cut = tables.hits.user[tables.tied[(lo <= k) & (hi > k)]]
        if len(cut):
            found["users_cut_inside_tie"] = float(len(np.unique(cut[who.counted[cut]])))
    return found


def _tie_range(
    tables: Tables,
    entry: Metric,
    config: EvalConfig,
    who: Population,
    ks: Ks,
    columns: list[int],
    matrix: NDArray[np.float64],
    mean: NDArray[np.float64],
    n: NDArray[np.int64],
) -> tuple[list[float | None], list[float | None]]:
    """Return the mean under the worst and the best order of equal scores; only users with ties are computed again."""
    if config.ties != "average":
        return [None] * len(mean), [None] * len(mean)
    ends: dict[Literal["worst", "best"], NDArray[np.float64]] = {"worst": mean, "best": mean}
    orders: tuple[Literal["worst", "best"], ...] = ("worst", "best")
    if len(tables.tied):
        users = tables.tied_users
        in_order = tables.tied_order
        held = in_order[who.counted[users[in_order]] & np.isnan(who.fixed[users[in_order]])]
        before = np.nansum(matrix[users[held]], axis=0)
        for order in orders:
            again = _matrix(entry, tables.tied_lists(ks, order), config, columns)
            after = np.nansum(again[held], axis=0)
            ends[order] = mean + np.divide(after - before, n, out=np.zeros(len(n)), where=n > 0)
    as_list = {order: [None if math.isnan(v) else float(v) for v in end] for order, end in ends.items()}
    return as_list["worst"], as_list["best"]


def _of_means(
    tables: Tables, entry: Metric, lists: Lists, config: EvalConfig, who: Population, columns: list[int]
) -> _Means:
    """F of the mean precision and the mean recall, as libraries that average first report it."""
    parts = [_mean_over_users(tables, METRICS[key], lists, config, who, columns) for key in ("precision@k", "recall@k")]
    weight = config.beta**2

    def combine(p: float | None, r: float | None) -> float | None:
        if p is None or r is None:
            return None
        return (1 + weight) * p * r / (weight * p + r) if p + r else 0.0

    def both(name: str) -> list[float | None]:
        return [combine(p, r) for p, r in zip(getattr(parts[0], name), getattr(parts[1], name), strict=True)]

    none: list[float | None] = [None] * len(columns)
    ties = (both("tie_low"), both("tie_high"))
    return _Means(both("value"), parts[0].undefined, none, none, parts[0].n, both("zero_filled"), *ties, parts[0].extra)


def _gauc(tables: Tables, name: MetricName, config: EvalConfig) -> MetricValue:
    users: UserAuc = name.entry.function(tables.judged, config)
    order = tables.dataset.user_order
    held = order[users.counted[order]]
    estimate = weighted_mean_interval(users.auc[held], users.weight[held], config.confidence)
    skipped = {"one_class": users.n_one_class} if users.n_one_class else {}
    n_rows = int(tables.judged.n_candidates[users.counted].sum())
    common: dict[str, Any] = {
        "n_users": estimate.n,
        "n_rows": n_rows,
        "skipped": skipped,
        "extra": {"rows_skipped": float(users.n_rows_skipped)},
    }
    if estimate.n == 0:
        return MetricValue(str(name), tables.model, None, "no users with both classes", **common)
    low = None if estimate.low is None else max(estimate.low, 0.0)
    high = None if estimate.high is None else min(estimate.high, 1.0)
    return MetricValue(str(name), tables.model, _rounded(estimate.value, config), low=low, high=high, **common)


_BY_LAYER: Mapping[str, Callable[[Tables, list[MetricName], EvalConfig, Ks], list[MetricValue]]] = {
    "classification": _rows,
    "calibration": _rows,
    "ranking": _lists,
    "exposure": _exposed,
    "business": _log,
}


def per_user(tables: Tables, config: EvalConfig, name: MetricName) -> PerUser:
    """Return one metric of the ranking layer for every user under the population rules of the config."""
    under = name.fixed(config)
    tables = tables.under(under)
    if name.name == "gauc":
        users: UserAuc = name.entry.function(tables.judged, under)
        return PerUser(np.where(users.counted, users.auc, np.nan), users.counted)
    who = tables.population(under)
    values = _matrix(name.entry, tables.lists((name.k,), under.ties), under, [0])[:, 0]
    values = np.where(np.isnan(who.fixed), values, who.fixed)
    return PerUser(np.where(who.counted, values, np.nan), who.counted)
