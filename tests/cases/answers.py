"""Answering a question with the product's public functions: one entry for every word of the vocabulary."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from recmetrics.config import EvalConfig, whole_k
from recmetrics.dataset import MISSING, Dataset
from recmetrics.diagnose import DiagnoseOptions, diagnose
from recmetrics.evaluate import evaluate, make_tables
from recmetrics.inference.auc import auc_estimate
from recmetrics.load import load, read_source
from recmetrics.rank_curves import rank_curves
from recmetrics.results import MetricValue, Report
from recmetrics.usable import usable
from tests.cases.case_files import Question

TEXT_TABLES = ("csv", "tsv")
SPELLINGS = {"exponential": "exp2", "none": "equal", "averaged": "average"}
NO_CUT = 10**9

ROW_METRICS = {
    "auc": "roc_auc",
    "auprc": "auprc",
    "logloss": "log_loss",
    "gauc": "gauc",
    "base_rate": "prevalence",
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "f_beta",
    "r_precision": "r_precision",
}
LIST_METRICS = {
    "ndcg_at_k": "ndcg",
    "map_at_k": "map",
    "mrr_at_k": "mrr",
    "hr_at_k": "hit_rate",
    "precision_at_k": "precision",
    "recall_at_k": "recall",
}
NEEDS_A_CUT = ("hit_rate", "precision", "recall")


class NotOfferedError(Exception):
    """The product does not answer this word of the vocabulary."""


@dataclass(frozen=True)
class Answer:
    """A number, or the reason why there is none, or a list of texts."""

    value: float | None = None
    undefined: str | None = None
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flag:
    """Something that the user is told: an issue of loading or a finding that fired, explained or not."""

    word: str
    severity: str
    facts: Mapping[str, Any]


def answer(question: Question) -> Answer:
    """Return what the product says; RecmetricsError when it refuses."""
    if question.metric in LIST_METRICS:
        return _metric(question, _list_metric(question))
    if question.metric in ROW_METRICS:
        return _metric(question, ROW_METRICS[question.metric])
    if question.metric in COUNTS:
        return COUNTS[question.metric](question)
    raise NotOfferedError(question.metric)


# What is asked of: files, convention, rows --------------------------------------------------------------------------


def dataset_of(question: Question) -> Dataset:
    """Return the input as loaded, all rows of it."""
    wanted = {name: question.columns[name] for name in question.columns if name != "segment"}
    segments = [*_several(question.columns.get("segment")), *_group_columns(question)]
    if segments:
        wanted["segment"] = list(dict.fromkeys(segments))
    key = json.dumps([str(question.folder), dict(question.input), wanted, question.label_map, question.case["files"]])
    return _loaded(key)


@lru_cache(maxsize=64)
def _loaded(key: str) -> Dataset:
    folder, given, columns, label_map, files = json.loads(key)
    described = {file["path"]: file for file in files}

    def source(path: str) -> Any:
        said = described.get(path, {})
        kind = said.get("format")
        return read_source(f"{folder}/{path}", header=said.get("header"), format=None if kind in TEXT_TABLES else kind)

    truth = source(given["truth"]) if "truth" in given else None
    scored = source(given["run"] if "run" in given else given["scored"])
    return load(scored, truth=truth, columns=columns or None, label_map=label_map)


def _several(named: Any) -> list[Any]:
    if named is None:
        return []
    return list(named) if isinstance(named, list) else [named]


def _group_columns(question: Question) -> list[Any]:
    """Return the columns that `where` names and that are no model column."""
    return [name for name in question.where if name != question.columns.get("model")]


def config_of(question: Question) -> EvalConfig:
    """Return the convention: the case's words in the product's spelling."""
    fields: dict[str, Any] = {}
    for name, value in question.config.items():
        fields[name] = SPELLINGS.get(value, value) if isinstance(value, str) else value
    if "threshold" in question.params:
        fields["threshold"] = question.params["threshold"]
    return EvalConfig(**fields)


def _model(question: Question, dataset: Dataset) -> str:
    column = question.columns.get("model")
    named = question.where.get(column) if column is not None else None
    return named if named in dataset.models else dataset.models[0]


def _restricted(question: Question) -> Dataset:
    """Return the rows that `where` leaves."""
    dataset = dataset_of(question)
    rows = np.ones(dataset.n_rows, dtype=bool)
    for column in _group_columns(question):
        segment = _segment(dataset, column)
        wanted = question.where[column]
        code = MISSING if wanted is None else _code(segment.labels, wanted)
        rows &= segment.codes == code
    return dataset if rows.all() else dataset.where(rows)


def _segment(dataset: Dataset, column: Any) -> Any:
    return dataset.segments[column] if column in dataset.segments else list(dataset.segments.values())[int(column)]


def _code(labels: tuple[str, ...], wanted: str) -> int:
    return labels.index(wanted) if wanted in labels else MISSING - 1


# Metrics --------------------------------------------------------------------------------------------------------------


def _list_metric(question: Question) -> str:
    name, k = LIST_METRICS[question.metric], question.params.get("k")
    if k is None:
        return f"{name}@{NO_CUT}" if name in NEEDS_A_CUT else name
    return f"{name}@{k}"


def _metric(question: Question, metric: str) -> Answer:
    found = _value(question, metric)
    return Answer(found.value, found.undefined)


def _value(question: Question, metric: str) -> MetricValue:
    """Return one value, for a group as the breakdown by its column shows it."""
    groups = {column: question.where[column] for column in _group_columns(question)}
    config = config_of(question)
    if len(groups) == 1 and None not in groups.values():
        ((column, wanted),) = groups.items()
        dataset = dataset_of(question)
        report = evaluate(dataset, config, metrics=[metric], models=[_model(question, dataset)], by=str(column))
        return next(value for value in report.values if value.segment == (str(column), wanted))
    return _report(question, [metric]).values[0]


def _report(question: Question, metrics: list[str]) -> Report:
    dataset = _restricted(question)
    return evaluate(dataset, config_of(question), metrics=metrics, models=[_model(question, dataset)])


def _tables(question: Question) -> tuple[Any, EvalConfig]:
    config = config_of(question)
    dataset = usable(_restricted(question), config)
    return make_tables(dataset, config, _model(question, dataset)), config


# Counts and texts -----------------------------------------------------------------------------------------------------


def _number(value: float) -> Answer:
    return Answer(float(value))


def _from_report(name: str, metric: str) -> Callable[[Question], Answer]:
    return lambda question: _number(_report(question, [metric]).counts[name])


def _from_issue(code: str, fact: str | None = None) -> Callable[[Question], Answer]:
    def count(question: Question) -> Answer:
        dataset = _restricted(question)
        if question.where:
            raise NotOfferedError(f"{question.metric} of a group")
        found = [issue for issue in dataset.issues if issue.code == code]
        return _number(sum(issue.facts[fact] if fact else issue.count for issue in found))

    return count


def _users(question: Question) -> Answer:
    """Distinct users; with truth and run those in both."""
    dataset = _restricted(question)
    if dataset.truth is None or dataset.user is None:
        return _number(dataset.n_users)
    return _number(len(np.intersect1d(dataset.user[dataset.user >= 0], dataset.truth.user)))


def _mean_score(question: Question) -> Answer:
    dataset = _restricted(question)
    scores = dataset.scores[_model(question, dataset)].astype(np.float64)
    used = np.isfinite(scores) & ~np.isnan(dataset.label)
    return _number(scores[used].mean()) if used.any() else Answer(undefined="no rows")


def _distinct_scores(question: Question) -> Answer:
    dataset = _restricted(question)
    scores = dataset.scores[_model(question, dataset)]
    return _number(len(np.unique(scores[~np.isnan(scores)])))


def _logloss_of_base_rate(question: Question) -> Answer:
    """Entropy of the base rate: its log loss is that of a row whose score is the base rate, on average."""
    share = _value(question, "prevalence")
    if share.value is None:
        return Answer(undefined=share.undefined)
    parts = (share.value, 1 - share.value)
    return _number(-sum(part * math.log(part) for part in parts if part > 0))


def _predicted_positives(question: Question) -> Answer:
    found = _value(question, "precision")
    return _number(found.extra["predicted_positives"] if found.value is not None else 0)


def _best_precision(question: Question) -> Answer:
    k = whole_k(question.params["k"])
    tables, config = _tables(question)
    curves = rank_curves(tables.hits, config, "", (k,))
    return _number(curves.curves["precision"].ceiling[0])


def _gauc_users(which: str) -> Callable[[Question], Answer]:
    def count(question: Question) -> Answer:
        found = _value(question, "gauc")
        return _number((found.n_users or 0) if which == "used" else found.skipped.get("one_class", 0))

    return count


def _certain_and_wrong(question: Question) -> Answer:
    dataset = _restricted(question)
    scores = dataset.scores[_model(question, dataset)]
    positive = dataset.label >= config_of(question).relevance_threshold
    labelled = ~np.isnan(dataset.label)
    return _number((labelled & (((scores == 0) & positive) | ((scores == 1) & ~positive))).sum())


def _rows_in_segments(question: Question) -> Answer:
    """Sum of the sizes of all groups, that of the empty cells included, as the breakdown shows them."""
    dataset = dataset_of(question)
    column = str(_several(question.columns["segment"])[0])
    report = evaluate(dataset, config_of(question), metrics=["prevalence"], by=column)
    return _number(sum(value.n_rows for value in report.values if value.segment is not None))


def _relevant(which: str) -> Callable[[Question], Answer]:
    def count(question: Question) -> Answer:
        tables, config = _tables(question)
        hits = tables.hits
        if which == "retrieved":
            return _number(int(hits.relevant.sum()))
        counted = hits.in_truth & ((hits.n_candidates > 0) | (config.users_missing_from_run == "zero"))
        return _number(int(hits.n_relevant[counted].sum()))

    return count


def _delong(which: str) -> Callable[[Question], Answer]:
    def number(question: Question) -> Answer:
        dataset = _restricted(question)
        labelled = ~np.isnan(dataset.label)
        positive = dataset.label[labelled] >= config_of(question).relevance_threshold
        found = auc_estimate(positive, dataset.scores[_model(question, dataset)][labelled], None)
        return _number({"variance": found.se**2, "low": found.low, "high": found.high}[which])

    return number


COUNTS: Mapping[str, Callable[[Question], Answer]] = {
    "rows": lambda question: _number(_restricted(question).n_rows),
    "rows_used": _from_report("rows_used", "prevalence"),
    "positives": _from_report("positives", "prevalence"),
    "users": _users,
    "items": lambda question: _number(_restricted(question).n_items),
    "distinct_scores": _distinct_scores,
    "users_averaged": _from_report("users_averaged", "mrr"),
    "users_without_relevant": _from_report("users_without_relevant", "mrr"),
    "users_only_in_run": _from_report("users_only_in_run", "mrr"),
    "users_only_in_truth": _from_report("users_only_in_truth", "mrr"),
    "gauc_users_used": _gauc_users("used"),
    "gauc_users_skipped": _gauc_users("skipped"),
    "mean_score": _mean_score,
    "logloss_of_base_rate": _logloss_of_base_rate,
    "predicted_positives": _predicted_positives,
    "best_precision_at_k": _best_precision,
    "duplicate_rows": lambda question: _number(len(_restricted(question).surplus_rows)),
    "missing_user_rows": _from_issue("missing_ids", "user"),
    "missing_item_rows": _from_issue("missing_ids", "item"),
    "missing_label_rows": _from_issue("missing_labels"),
    "missing_score_rows": _from_issue("missing_scores"),
    "infinite_score_rows": _from_issue("infinite_scores"),
    "certain_and_wrong_rows": _certain_and_wrong,
    "rows_in_segments": _rows_in_segments,
    "user_ids": lambda question: Answer(texts=tuple(_restricted(question).users)),
    "segments": lambda question: Answer(texts=_segment_names(question)),
    "relevant_total": _relevant("total"),
    "relevant_retrieved": _relevant("retrieved"),
    "auc_variance": _delong("variance"),
    "auc_ci_low": _delong("low"),
    "auc_ci_high": _delong("high"),
}


def _segment_names(question: Question) -> tuple[str, ...]:
    return tuple(label for segment in dataset_of(question).segments.values() for label in segment.labels)


# Flags ----------------------------------------------------------------------------------------------------------------


def flags(question: Question) -> list[Flag]:
    """Return everything that the user is told about this input under this convention."""
    config = config_of(question)
    k = question.params.get("k")
    if k is not None:
        config = config.replace(ks=(k,))
    dataset = _restricted(question)
    options = DiagnoseOptions(k=config.ks[0] if k is not None else None, threshold_set="threshold" in question.params)
    told = [Flag(issue.code, issue.severity, {"count": issue.count, **issue.facts}) for issue in dataset.issues]
    for finding in diagnose(dataset, config, options):
        if finding.status in ("fired", "explained"):
            told.append(Flag(finding.name, finding.severity, {"scope": finding.scope, **finding.facts}))
    return told
