"""What a finding refers to, made from the data: the curve, histogram, counts or rows that let a reader see it.

A check stores references only (`Evidence`). Here a reference becomes a result that `figures.diagnose` draws, or rows
that a page lists. Kinds are entries of `EXHIBITS`; a new kind is one decorated function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.checks.options import DiagnoseOptions
from recmetrics.checks.subject import Subject, subjects
from recmetrics.config import EvalConfig
from recmetrics.curves import Curve, Histogram, curve_points, pr_curve, roc_curve, score_histogram
from recmetrics.dataset import Dataset
from recmetrics.metrics.classification import auprc
from recmetrics.operating_point import OperatingPoint, position_table, solve
from recmetrics.rank_curves import RankCurves, k_range, rank_curves
from recmetrics.registry import Registry
from recmetrics.results import Evidence
from recmetrics.segments import SegmentTable, segment_table
from recmetrics.text import N_

MAX_BARS = 20
MAX_ROWS = 20


@dataclass(frozen=True, eq=False)
class Roc:
    """ROC curve; with `mirrored` the AUC of the reversed score belongs beside it."""

    model: str
    curve: Curve
    auc: float
    mirrored: bool


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """Precision–recall curve with the threshold in question."""

    model: str
    curve: Curve
    prevalence: float
    auprc: float
    point: OperatingPoint


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores by class."""

    model: str
    histogram: Histogram


@dataclass(frozen=True)
class Bars:
    """Counts by name; `axis` is what the names are. Names that are sentences are marked for translation."""

    axis: str
    names: tuple[str, ...]
    counts: tuple[int, ...]
    n_left_out: int = 0
    log: bool = False


@dataclass(frozen=True)
class Dot:
    """One value with its interval; the name is a marked sentence with facts."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    facts: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Dots:
    """Values on one axis, `chance` is drawn as a line."""

    axis: str
    dots: tuple[Dot, ...]
    chance: float | None = None


@dataclass(frozen=True, eq=False)
class Lengths:
    """List lengths and relevant items per user; `k` is marked where a check looked at it."""

    curves: RankCurves
    k: int | None


@dataclass(frozen=True, eq=False)
class AtK:
    """Metrics of `RankCurves` against K in one figure, with K marked."""

    curves: RankCurves
    metrics: tuple[str, ...]
    k: int


@dataclass(frozen=True)
class Rows:
    """Rows of the file as text: the roles that it has, then one score per model; `n_left_out` more are not listed."""

    roles: tuple[str, ...]
    models: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    n_left_out: int = 0


Exhibit = Roc | PrecisionRecall | Scores | Bars | Dots | Lengths | AtK | SegmentTable | Rows
Maker = Callable[[Subject, Mapping[str, Any]], "Exhibit | None"]
EXHIBITS: Registry[Maker] = Registry("kind of evidence")


def exhibit(
    evidence: Evidence,
    dataset: Dataset,
    config: EvalConfig,
    options: DiagnoseOptions | None = None,
    model: str | None = None,
) -> Exhibit | None:
    """Return what a reference stands for; None when these data leave nothing to show.

    Parameters
    ----------
    dataset, config, options
        Those that `diagnose` was given.
    model
        The score of the finding, where the reference itself names none.
    """
    named = evidence.facts.get("model", model)
    chosen = None if named is None else (str(named),)
    subject = subjects(dataset, config, options or DiagnoseOptions(), chosen)[0]
    return EXHIBITS[evidence.kind](subject, evidence.facts)


def _kind(name: str) -> Callable[[Maker], Maker]:
    def add(maker: Maker) -> Maker:
        return EXHIBITS.add(name, maker)

    return add


def _both_classes(subject: Subject) -> bool:
    return subject.model is not None and min(subject.n_positives, subject.n_negatives) > 0


def _lower(subject: Subject) -> bool:
    return subject.config.score_direction == "lower"


# Rows and scores ----------------------------------------------------------------------------------------------------


@_kind("roc")
def _roc(subject: Subject, facts: Mapping[str, Any]) -> Roc | None:
    if not _both_classes(subject):
        return None
    curve = roc_curve(curve_points(subject.table, lower_is_better=_lower(subject)))
    return Roc(str(subject.model), curve, subject.auc.value, bool(facts.get("mirrored")))


@_kind("precision_recall")
def _precision_recall(subject: Subject, facts: Mapping[str, Any]) -> PrecisionRecall | None:
    if subject.model is None or not subject.n_positives:
        return None
    table, lower = subject.table, _lower(subject)
    curve = pr_curve(curve_points(table, lower_is_better=lower))
    positions = position_table(table, rule=subject.config.threshold_rule, lower_is_better=lower)
    point = solve(positions, "score", float(facts["threshold"]))
    area = auprc(table, subject.config).value
    return PrecisionRecall(subject.model, curve, subject.prevalence, area, point)


@_kind("score_histogram")
def _score_histogram(subject: Subject, facts: Mapping[str, Any]) -> Scores | None:
    if subject.model is None or not len(subject.score):
        return None
    return Scores(subject.model, score_histogram(subject.table, lower_is_better=_lower(subject)))


@_kind("score_values")
def _score_values(subject: Subject, facts: Mapping[str, Any]) -> Bars | None:
    if subject.model is None:
        return None
    values, counts = subject.score_values
    if not len(values):
        return None
    largest = np.sort(np.argsort(-counts, kind="stable")[:MAX_BARS])
    return _bars(N_("score"), values[largest], counts[largest], len(values) - len(largest))


@_kind("label_values")
def _label_values(subject: Subject, facts: Mapping[str, Any]) -> Bars:
    return _bars(N_("label"), np.asarray(facts["values"]), np.asarray(facts["counts"]), 0)


@_kind("label_histogram")
def _label_histogram(subject: Subject, facts: Mapping[str, Any]) -> Bars | None:
    label = subject.raw.label[~np.isnan(subject.raw.label)]
    if not len(label):
        return None
    values, counts = np.unique(label, return_counts=True)
    largest = np.sort(np.argsort(-counts, kind="stable")[:MAX_BARS])
    left_out = len(values) - len(largest)
    return _bars(N_("label"), values[largest], counts[largest], left_out, log=bool(facts.get("log_axis")))


def _bars(axis: str, values: NDArray[Any], counts: NDArray[Any], n_left_out: int, *, log: bool = False) -> Bars:
    return Bars(axis, tuple(f"{float(v):.6g}" for v in values), tuple(int(n) for n in counts), n_left_out, log)


@_kind("rows")
def _rows(subject: Subject, facts: Mapping[str, Any]) -> Rows:
    numbers = list(facts["row_numbers"])
    data = subject.raw
    position = {int(number): at for at, number in enumerate(data.row_number)} if numbers else {}
    cells = [_row(data, position[int(number)]) for number in numbers[:MAX_ROWS] if int(number) in position]
    return Rows((N_("row"), *_present(data)), data.models, tuple(cells), max(len(numbers) - MAX_ROWS, 0))


def _present(data: Dataset) -> list[str]:
    roles = [(N_("user"), data.user is not None), (N_("item"), data.item is not None), (N_("label"), True)]
    return [role for role, there in roles if there]


def _row(data: Dataset, at: int) -> tuple[str, ...]:
    cells = [str(data.row_number[at])]
    for codes, names in ((data.user, data.users), (data.item, data.items)):
        if codes is not None:
            cells.append(str(names[codes[at]]) if codes[at] >= 0 else "")
    numbers = [data.label[at], *(scores[at] for scores in data.scores.values())]
    return (*cells, *("" if math.isnan(number) else f"{float(number):.6g}" for number in numbers))


# AUC ----------------------------------------------------------------------------------------------------------------

AUC_AXIS = N_("share of pairs in the right order (AUC)")


@_kind("auc_interval")
def _auc_interval(subject: Subject, facts: Mapping[str, Any]) -> Dots | None:
    if not _both_classes(subject):
        return None
    return Dots(AUC_AXIS, (_auc(subject),), 0.5)


@_kind("auc_and_gauc")
def _auc_and_gauc(subject: Subject, facts: Mapping[str, Any]) -> Dots | None:
    if not _both_classes(subject):
        return None
    inside = subject.gauc
    dots = [_auc(subject)]
    if not math.isnan(inside.value):
        dots.append(Dot(N_("per-user AUC (GAUC)"), inside.value, inside.low, inside.high))
    return Dots(AUC_AXIS, tuple(dots), 0.5)


@_kind("repaired_auc")
def _repaired_auc(subject: Subject, facts: Mapping[str, Any]) -> Dots | None:
    if not _both_classes(subject):
        return None
    along = {
        "file": N_("labels shifted along the file by {rows}"),
        "user": N_("labels shifted within each user by {rows}"),
    }
    tried = [Dot(along[way], value, facts={"rows": moved}) for way, moved, value in facts["repairs"]]
    return Dots(AUC_AXIS, (_auc(subject), *tried), 0.5)


def _auc(subject: Subject) -> Dot:
    found = subject.auc
    return Dot(N_("AUC as it stands"), found.value, found.low, found.high)


# Lists --------------------------------------------------------------------------------------------------------------


def _curves(subject: Subject, k: int, *, whole: bool = False) -> RankCurves | None:
    """Return curves over K and some places more; over the longest list when `whole`."""
    if subject.rows.user is None or subject.model is None or not len(subject.n_candidates):
        return None
    longest = int(subject.n_candidates.max())
    ks = k_range(max(longest if whole else min(longest, 5 * k), k), always=(k,))
    return rank_curves(subject.hits, subject.config, subject.model, ks)


@_kind("list_lengths")
def _list_lengths(subject: Subject, facts: Mapping[str, Any]) -> Lengths | None:
    curves = _curves(subject, int(facts.get("k", subject.k)), whole=True)
    return None if curves is None else Lengths(curves, facts.get("k"))


@_kind("precision_at_k")
def _precision_at_k(subject: Subject, facts: Mapping[str, Any]) -> AtK | None:
    curves = _curves(subject, int(facts["k"]))
    return None if curves is None else AtK(curves, ("precision",), int(facts["k"]))


@_kind("precision_recall_at_k")
def _precision_recall_at_k(subject: Subject, facts: Mapping[str, Any]) -> AtK | None:
    curves = _curves(subject, int(facts["k"]))
    return None if curves is None else AtK(curves, ("precision", "recall"), int(facts["k"]))


@_kind("tie_range")
def _tie_range(subject: Subject, facts: Mapping[str, Any]) -> Dots | None:
    k = int(facts["k"])
    curves = _curves(subject, k)
    if curves is None:
        return None
    found, at = curves.curves["ndcg"], curves.at(k)
    mean = Dot(N_("mean with its interval"), *_numbers(found.value[at], found.low[at], found.high[at]))
    ties = Dot(
        N_("worst to best order of equal scores"), *_numbers(found.value[at], found.tie_low[at], found.tie_high[at])
    )
    return Dots(f"NDCG@{k}", (mean, ties))


def _numbers(value: float, low: float, high: float) -> tuple[float, float | None, float | None]:
    return float(value), None if math.isnan(low) else float(low), None if math.isnan(high) else float(high)


@_kind("users_counted")
def _users_counted(subject: Subject, facts: Mapping[str, Any]) -> Bars:
    n, positives = subject.user_rows, subject.user_positives
    some = n > 0
    counts = (
        int((some & (positives > 0) & (positives < n)).sum()),
        int((some & (positives == 0)).sum()),
        int((some & (positives == n)).sum()),
    )
    return Bars(N_("users"), (N_("both classes"), N_("no relevant item"), N_("only relevant items")), counts)


@_kind("users_by_file")
def _users_by_file(subject: Subject, facts: Mapping[str, Any]) -> Bars:
    counts = tuple(int(facts[name]) for name in ("n_both", "n_only_run", "n_only_truth"))
    return Bars(N_("users"), (N_("in both files"), N_("in the scored rows only"), N_("in the truth only")), counts)


@_kind("segment_table")
def _segment_table(subject: Subject, facts: Mapping[str, Any]) -> SegmentTable | None:
    if subject.model is None:
        return None
    return segment_table(subject.rows, str(facts["column"]), "roc_auc", _settled(subject), model=subject.model)


def _settled(subject: Subject) -> EvalConfig:
    """The rows are usable already: their scores must not be turned round a second time."""
    return subject.config.replace(score_direction="higher")
