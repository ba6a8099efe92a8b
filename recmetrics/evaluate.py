"""evaluate(): every metric of a dataset under one convention, with who was counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recmetrics.bundle import LOG_COLUMNS, Tables, make_tables
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.measuring import PerUser, measure
from recmetrics.measuring import per_user as per_user_by_name
from recmetrics.metrics import METRICS, MetricName, asked_for, canonical
from recmetrics.metrics.base import Metric
from recmetrics.metrics.population import population
from recmetrics.registry import nearest
from recmetrics.results import MetricValue, Report
from recmetrics.text import N_
from recmetrics.usable import usable

__all__ = ["PerUser", "Tables", "evaluate", "make_tables", "metric_names", "part", "per_user"]

EXACT_GRADES = 52  # up to here 2^grade − 1 is exact; beyond it the second gain says nothing
EMPTY_GROUP = ""  # shown for rows whose segment cell is empty


def evaluate(
    dataset: Dataset,
    config: EvalConfig | None = None,
    *,
    models: Sequence[str] | None = None,
    metrics: Iterable[str] | None = None,
    by: str | None = None,
    tables: Mapping[str, Tables] | None = None,
    engine: str = "numpy",
) -> Report:
    """Return all asked values of all models.

    Parameters
    ----------
    dataset
        As loaded; rows are treated as the config says.
    config
        The convention; the project's defaults when not given.
    models
        Names of score columns; all when not given.
    metrics
        Metric strings; `ndcg@k` stands for all cutoffs of the config. Everything that applies when not given.
    by
        A segment column: its groups follow the overall values, each with `segment` set.
    tables
        Tables made earlier for these models under this convention, so that rows are not scanned again. Their rows
        have been through `usable` and do not go through it again.
    engine
        Name in `ENGINES` of what scans the rows; all engines give the same values.

    Raises
    ------
    RecmetricsError
        For unusable rows (duplicates, missing scores), unknown metrics, models or segment columns.
    """
    config = config or EvalConfig()
    chosen, given = _models(dataset, models), tables or {}
    # A second pass would take rows ranked last for infinite scores, and turn round what lower-is-better turned.
    rows = next((given[model].dataset for model in chosen if model in given), None) or usable(dataset, config)
    names = metric_names(rows, config, metrics)
    made = {model: given.get(model) or make_tables(rows, config, model, engine) for model in chosen}
    values = _measured(made, names, config, None)
    for label, group in _groups(rows, by):
        values += _measured({m: make_tables(group, config, m, engine) for m in chosen}, names, config, (str(by), label))
    counts = _counts(dataset, rows, made[chosen[0]], config)
    return Report(tuple(values), config, dataset.fingerprint, counts)


def per_user(tables: Tables, config: EvalConfig, metric: str) -> PerUser:
    """Return one ranking metric for every user: values float64[u], NaN where not counted, and counted bool[u]."""
    return per_user_by_name(tables, config, asked_for(metric, config))


def _models(dataset: Dataset, models: Sequence[str] | None) -> list[str]:
    for model in models or ():
        if model not in dataset.scores:
            raise RecmetricsError(
                "unknown_name",
                N_("There is no model '{name}' in {file}. Its score columns: {known}."),
                name=str(model)[:80],
                file=dataset.name,
                known=", ".join(dataset.models),
            )
    chosen = list(models or dataset.models)
    if not chosen:
        raise RecmetricsError(
            "no_score_column",
            N_("{file} has no score column. Name it, for example score=prediction."),
            file=dataset.name,
        )
    return chosen


def metric_names(dataset: Dataset, config: EvalConfig, metrics: Iterable[str] | None) -> list[MetricName]:
    """Return the metric names asked for, in order; all that apply to this data when none is named."""
    if metrics is None:
        return _all_names(dataset, config)
    found: list[MetricName] = []
    for text in metrics:
        if text.endswith("@k"):
            found += [asked_for(f"{text[:-1]}{k}", config) for k in config.ks]
        else:
            found.append(asked_for(text, config))
    return found


def _all_names(dataset: Dataset, config: EvalConfig) -> list[MetricName]:
    logged = any(name in dataset.values for name in LOG_COLUMNS)
    names: list[MetricName] = []
    for entry in METRICS.values():
        if entry.layer == "business" and not logged:
            continue
        if entry.layer == "exposure" and any(n in LOG_COLUMNS and n not in dataset.values for n in entry.needs):
            continue
        for under in _gains(entry, dataset, config):
            names += [canonical(entry, under, k) for k in _cutoffs(entry, config)]
    return names


def _cutoffs(entry: Metric, config: EvalConfig) -> list[int | None]:
    if not entry.has_k:
        return [None]
    cut: list[int | None] = [] if entry.name == "mrr" and config.mrr_cutoff == "none" else list(config.ks)
    return cut if entry.cutoff == "always" else [*cut, None]


def _gains(entry: Metric, dataset: Dataset, config: EvalConfig) -> list[EvalConfig]:
    """Return the configs to compute an entry under: linear and exp2 gain side by side where grades above 1 exist."""
    if "gain" not in entry.options or config.gain not in ("linear", "exp2"):
        return [config]
    top = float(np.nanmax(dataset.label)) if len(dataset.label) and not np.isnan(dataset.label).all() else 0.0
    if dataset.truth is not None and len(dataset.truth.grade):
        top = max(top, float(np.nanmax(dataset.truth.grade)))
    if not 1 < top <= EXACT_GRADES:
        return [config]
    return [config, config.replace(gain="exp2" if config.gain == "linear" else "linear")]


def _measured(
    tables: Mapping[str, Tables], names: list[MetricName], config: EvalConfig, segment: tuple[str, str] | None
) -> list[MetricValue]:
    found: list[MetricValue] = []
    for i, made in enumerate(tables.values()):
        # Business values belong to the log, not to a model: they are given once.
        asked = [name for name in names if i == 0 or name.entry.layer != "business"]
        found += [replace(value, segment=segment) for value in measure(made, asked, config)]
    return found


def _groups(dataset: Dataset, by: str | None) -> list[tuple[str, Dataset]]:
    if by is None:
        return []
    if by not in dataset.segments:
        known = list(dataset.segments)
        raise RecmetricsError(
            "no_column",
            N_(
                "{file} has no segment column '{name}'. It has: {known}. "
                "Name one of these, or give the column that role: --columns segment={name}."
            ),
            file=dataset.name,
            name=str(by)[:80],
            known=", ".join([close for close in [nearest(by, known)] if close] or known) or "–",
        )
    segment = dataset.segments[by]
    present = np.unique(segment.codes)
    return [(segment.labels[c] if c >= 0 else EMPTY_GROUP, part(dataset, segment.codes == c)) for c in present]


def part(dataset: Dataset, rows: NDArray[np.bool_]) -> Dataset:
    """Return some rows as a dataset of their own, with the part of the truth that belongs to them.

    Where these rows are all rows of their users, the truth beyond the scored rows comes along; where users are divided
    between groups, unscored relevant items belong to no group and are left out.
    """
    cut = dataset.where(rows)
    if dataset.truth is None or dataset.user is None or cut.user is None:
        return cut
    inside = np.zeros(len(dataset.users), dtype=bool)
    outside = np.zeros(len(dataset.users), dtype=bool)
    inside[cut.user[cut.user >= 0]] = True
    rest = dataset.user[~rows]
    outside[rest[rest >= 0]] = True
    if np.any(inside & outside):
        return replace(cut, truth=None)
    held = inside[dataset.truth.user]
    truth = replace(
        dataset.truth,
        user=dataset.truth.user[held],
        item=dataset.truth.item[held],
        grade=dataset.truth.grade[held],
    )
    return replace(cut, truth=truth)


def _counts(raw: Dataset, rows: Dataset, tables: Tables, config: EvalConfig) -> dict[str, int]:
    """Return who and what was counted, for the first model."""
    used = tables.row_mask
    counts = {
        "rows": raw.n_rows,
        "rows_used": int(used.sum()),
        "positives": tables.scores.n_positives,
        "negatives": tables.scores.n_negatives,
        "users": raw.n_users,
        "items": raw.n_items,
    }
    if rows.user is None:
        return counts
    hits = tables.hits
    listed = hits.n_candidates > 0
    users = METRICS["gauc"].function(tables.judged, config.replace(single_class_users="skip"))
    counts |= {
        "users_averaged": population(hits, config).n_users,
        "users_without_relevant": int((hits.in_truth & (hits.n_relevant == 0)).sum()),
        "users_missing_from_run": int((hits.in_truth & ~listed).sum()),
        "users_one_class": users.n_one_class,
        "users_with_both_classes": int(users.counted.sum()),
    }
    if rows.truth is not None:
        counts |= {
            "users_only_in_run": int((listed & ~hits.in_truth).sum()),
            "users_only_in_truth": int((hits.in_truth & ~listed).sum()),
        }
    return counts
