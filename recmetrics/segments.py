"""One metric per group of a segment column: value, gap to the rest, share of the errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset, Segment
from recmetrics.evaluate import make_tables, part, per_user
from recmetrics.metrics.base import Metric
from recmetrics.metrics.calibration import log_losses, square_losses
from recmetrics.metrics.confusion import flagged_rows
from recmetrics.metrics.f_beta import f_beta_parts
from recmetrics.metrics.names import MetricName, asked_for
from recmetrics.metrics.per_user_auc import user_auc
from recmetrics.segment_measures import AucMeasure, Gap, Measure, Part, RatioMeasure, Rows, UserMeasure, gap, holm
from recmetrics.usable import positive_rows, usable, usable_threshold

MAX_GROUPS = 50
MIN_CLASS = 30  # fewer positives or negatives: shown in grey and never judged

LOWER_IS_BETTER = frozenset({"log_loss", "brier"})
AT_THRESHOLD = ("precision", "recall", "f_beta")
ROW_METRICS = ("roc_auc", *AT_THRESHOLD, "log_loss", "brier")
LIST_METRICS = ("ndcg", "precision", "recall", "hit_rate", "mrr", "map")


@dataclass(frozen=True)
class Group:
    """One line of the table.

    Attributes
    ----------
    kind, label
        `all` (the overall row), `value` with the label of the data, `missing` (no entry), `other` (all values beyond
        the largest ones, `n_values` of them).
    n_rows, n_positives, n_negatives, n_users
        Rows of the model in the group, labelled ones by class, users with a row; `n_users` None without users.
    value, low, high, undefined
        The metric with its interval, or the reason why there is none.
    gap
        Group − all other rows, None for small groups; its p is that of this group alone, `p_adjusted` is adjusted for
        all groups judged.
    share_rows, share_errors
        Share of the labelled rows and of the errors, 0..1; None where there are none.
    small
        Too few positives, negatives or users to be judged: shown, never compared.
    """

    kind: str
    label: str
    n_values: int
    n_rows: int
    n_positives: int
    n_negatives: int
    n_users: int | None
    value: float | None
    undefined: str | None
    low: float | None
    high: float | None
    gap: Gap
    p_adjusted: float | None
    share_rows: float | None
    share_errors: float | None
    small: bool

    @property
    def base_rate(self) -> float | None:
        n = self.n_positives + self.n_negatives
        return self.n_positives / n if n else None


@dataclass(frozen=True)
class SegmentTable:
    """Groups of one column, those first that hold more of the errors than of the rows.

    `errors` says what an error is: `flags` (wrong side of the threshold), `order` (lost AUC) or `loss` (summed loss).
    """

    column: str
    metric: str
    model: str
    overall: Group
    groups: tuple[Group, ...]
    n_values: int
    errors: str
    higher_is_better: bool

    @property
    def n_small(self) -> int:
        return sum(group.small for group in self.groups)

    @property
    def weakest(self) -> Group | None:
        """The judged group that lies furthest on the bad side of the rest; None when none does."""
        sign = 1.0 if self.higher_is_better else -1.0
        behind = [(sign * g.gap.value, i) for i, g in enumerate(self.groups) if g.gap.value is not None]
        worst = min(behind, default=(0.0, -1))
        return self.groups[worst[1]] if worst[0] < 0 else None


def segment_metrics(dataset: Dataset, config: EvalConfig, k: int) -> dict[str, str]:
    """Return what the table offers for these data: a name that stays (`ndcg@k`) → the metric string now (`ndcg@10`)."""
    offered = {name: name for name in ROW_METRICS}
    if dataset.user is not None:
        offered |= {"gauc": "gauc", **{f"{name}@k": f"{name}@{k}" for name in LIST_METRICS}}
    return {stays: str(asked_for(now, config)) for stays, now in offered.items()}


def segment_table(
    dataset: Dataset,
    column: str,
    metric: str,
    config: EvalConfig,
    *,
    model: str | None = None,
    min_class: int = MIN_CLASS,
    errors_at_threshold: bool = False,
) -> SegmentTable:
    """Return the groups of a segment column under one metric.

    Parameters
    ----------
    metric
        A string of `segment_metrics`; options that it leaves open are the config's.
    min_class
        Groups with fewer positives or negatives (for metrics per user also: fewer users) are `small`.
    errors_at_threshold
        Count errors at the config's threshold also for metrics that need none: a threshold was chosen.

    Raises
    ------
    RecmetricsError
        `duplicates` or `missing_scores` as `usable` says; `unknown_name` and the like for a metric string.
    KeyError
        When the dataset has no such segment column or model.
    """
    data = usable(dataset, config)
    model = model or data.models[0]
    name = asked_for(metric, config)
    config = name.fixed(config)
    codes, kinds = _grouping(data.segments[column], data.rows_of(model))
    by_auc = _auc_measure(data, config, model)
    measure = by_auc if name.name == "roc_auc" else _measure(data, config, model, name, codes)
    errors, kind = _errors(data, config, model, name, by_auc, errors_at_threshold)
    line = _Line(data, config, model, measure, errors, min_class, name.entry)
    everything = line.of(data.rows_of(model), ("all", "", 0))
    groups = [line.of(codes == i, which) for i, which in enumerate(kinds)]
    adjusted = holm([group.gap.p for group in groups])
    groups = [replace(group, p_adjusted=p) for group, p in zip(groups, adjusted, strict=True)]
    groups.sort(key=lambda g: -((g.share_errors or 0.0) - (g.share_rows or 0.0)))
    n_values = sum(max(n, 1) for which, _, n in kinds if which != "missing")
    better = name.name not in LOWER_IS_BETTER
    return SegmentTable(column, str(name), model, everything, tuple(groups), n_values, kind, better)


def _grouping(segment: Segment, listed: Rows) -> tuple[NDArray[np.int64], list[tuple[str, str, int]]]:
    """Return int64[n] group of each row (−1 = the model has no such row) and (kind, label, values) per group."""
    n = np.bincount(segment.codes[listed & (segment.codes >= 0)], minlength=len(segment.labels))
    present = np.flatnonzero(n)
    by_size = present[np.argsort(-n[present], kind="stable")]
    kept, merged = by_size[:MAX_GROUPS], by_size[MAX_GROUPS:]
    group = np.full(len(segment.labels) + 1, -1)
    group[kept] = np.arange(len(kept))
    kinds = [("value", segment.labels[code], 1) for code in kept]
    if len(merged):
        group[merged] = len(kinds)
        kinds.append(("other", "", len(merged)))
    if np.any(listed & (segment.codes < 0)):
        group[-1] = len(kinds)  # the code of a missing entry, −1, is the last place
        kinds.append(("missing", "", 0))
    return np.where(listed, group[segment.codes], -1), kinds


class _Line:
    """Makes one line of the table from a row mask."""

    def __init__(
        self,
        data: Dataset,
        config: EvalConfig,
        model: str,
        measure: Measure,
        errors: NDArray[np.float64],
        min_class: int,
        entry: Metric,
    ) -> None:
        self._data, self._config, self._measure, self._errors = data, config, measure, errors
        self._min_class, self._entry = min_class, entry
        self._listed = data.rows_of(model)
        self._labelled = self._listed & ~np.isnan(data.label)
        self._positive = positive_rows(data, config) & self._labelled

    def of(self, rows: Rows, which: tuple[str, str, int]) -> Group:
        found = self._measure.part(rows)
        n_labelled = int((rows & self._labelled).sum())
        n_positives = int((rows & self._positive).sum())
        n_negatives = n_labelled - n_positives
        small = min(n_positives, n_negatives) < self._min_class or (
            self._entry.layer == "ranking" and found.n_units < self._min_class
        )
        whole = which[0] == "all"
        return Group(
            *which,
            n_rows=int(rows.sum()),
            n_positives=n_positives,
            n_negatives=n_negatives,
            n_users=self._n_users(rows),
            value=found.value,
            undefined=found.undefined,
            low=None if found.low is None else max(found.low, self._entry.low),
            high=None if found.high is None else min(found.high, self._entry.high),
            gap=Gap(None) if whole or small else self._gap(found, rows),
            p_adjusted=None,
            share_rows=_share(n_labelled, int(self._labelled.sum())),
            share_errors=_share(float(self._errors[rows].sum()), float(self._errors.sum())),
            small=small and not whole,
        )

    def _gap(self, found: Part, rows: Rows) -> Gap:
        if found.value is None:
            return Gap(None)
        return gap(found, self._measure.rest(rows | ~self._listed), self._config.confidence)

    def _n_users(self, rows: Rows) -> int | None:
        user = self._data.user
        return None if user is None else len(np.unique(user[rows & (user >= 0)]))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _flagged(data: Dataset, config: EvalConfig, model: str) -> NDArray[np.bool_]:
    return flagged_rows(data.scores[model], usable_threshold(config), config.threshold_rule)


def _losses(data: Dataset, config: EvalConfig, model: str, name: str) -> NDArray[np.float64]:
    """Return float64[n]: each labelled row's part of the sum behind log loss or the Brier score; 0 elsewhere."""
    labelled = ~np.isnan(data.label) & data.rows_of(model)
    p = data.scores[model]
    losses = square_losses(p) if name == "brier" else log_losses(p, config.log_loss_clip)
    return np.where(labelled, np.where(positive_rows(data, config), *losses), 0.0)


def _outside(data: Dataset, model: str) -> bool:
    score = data.scores[model][~np.isnan(data.label) & data.rows_of(model)]
    return bool(len(score)) and not (score.min() >= 0 and score.max() <= 1)


def _errors(
    data: Dataset, config: EvalConfig, model: str, name: MetricName, by_auc: AucMeasure, at_threshold: bool
) -> tuple[NDArray[np.float64], str]:
    labelled = ~np.isnan(data.label) & data.rows_of(model)
    if name.name in LOWER_IS_BETTER and not _outside(data, model):
        return _losses(data, config, model, name.name), "loss"
    if at_threshold or (name.name in AT_THRESHOLD and name.k is None):
        return (labelled & (_flagged(data, config, model) != positive_rows(data, config))).astype(np.float64), "flags"
    return by_auc.lost(), "order"


def _auc_measure(data: Dataset, config: EvalConfig, model: str) -> AucMeasure:
    labelled = ~np.isnan(data.label) & data.rows_of(model)
    positive, score = positive_rows(data, config), data.scores[model]
    return AucMeasure(labelled, positive, score, data.user, len(data.users), config.confidence)


def _measure(data: Dataset, config: EvalConfig, model: str, name: MetricName, codes: NDArray[np.int64]) -> Measure:
    if name.k is not None or name.name == "gauc":
        reason = "no users with both classes" if name.name == "gauc" else "no users with relevant items"
        return UserMeasure(_by_user(data, config, model, name, codes), config.confidence, reason)
    above, below, reason = _ratio(data, config, model, name.name)
    return RatioMeasure(above, below, data.user, len(data.users), config.confidence, reason)


def _ratio(
    data: Dataset, config: EvalConfig, model: str, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    labelled = ~np.isnan(data.label) & data.rows_of(model)
    if name in LOWER_IS_BETTER:
        if _outside(data, model):
            return np.zeros(data.n_rows), np.zeros(data.n_rows), "outside 0..1"
        return _losses(data, config, model, name), labelled.astype(np.float64), "no rows"
    flagged, positive = _flagged(data, config, model) & labelled, positive_rows(data, config) & labelled
    hit = (flagged & positive).astype(np.float64)
    if name == "precision":
        return hit, flagged.astype(np.float64), "no predicted positives"
    if name == "recall":
        return hit, positive.astype(np.float64), "no positives"
    return *f_beta_parts(hit, flagged.astype(np.float64), positive.astype(np.float64), config.beta), "no positives"


def _by_user(
    data: Dataset, config: EvalConfig, model: str, name: MetricName, codes: NDArray[np.int64]
) -> Callable[[Rows], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the function rows → (value, weight) per user.

    Where every user's rows lie in one group, a group's lists are whole lists and are ranked once for all groups; else
    the rows of each group and of its rest are ranked by themselves.
    """
    assert data.user is not None  # metrics per user are offered for data with users only

    def measured(some: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        tables = make_tables(some, config, model)
        if name.name == "gauc":
            found = user_auc(tables.judged, config)
            return found.auc, np.where(found.counted, found.weight, 0.0)
        values = per_user(tables, config, str(name))
        return values.values, values.counted.astype(np.float64)

    whole = measured(data)
    if not _one_group_each(data.user, codes):
        return lambda rows: whole if rows.all() else measured(part(data, rows))

    user, n_users = data.user, len(data.users)

    def restricted(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if rows.all():
            return whole
        present = np.bincount(user[rows & (user >= 0)], minlength=n_users) > 0
        return whole[0], np.where(present, whole[1], 0.0)

    return restricted


def _one_group_each(user: NDArray[np.int32], codes: NDArray[np.int64]) -> bool:
    at = np.flatnonzero((user >= 0) & (codes >= 0))
    first = np.full(int(user.max(initial=-1)) + 1, -1)
    first[user[at]] = codes[at]  # one of the user's groups; which one does not matter
    return bool(np.all(first[user[at]] == codes[at]))
