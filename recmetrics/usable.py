"""Which rows count: duplicates, missing and infinite scores and the direction of the score, as the config says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset, Truth, pair_codes
from recmetrics.errors import RecmetricsError
from recmetrics.text import N_

N_EXAMPLES = 3
MISSING_SCORES = N_(
    "{file}: missing values in score column '{model}': {count} (rows {rows}). Every row needs a finite score. "
    "Repair the export, or say how to treat them: {field}=drop leaves the rows out, {field}=last ranks them last."
)
INFINITE_SCORES = N_(
    "{file}: infinite values in score column '{model}': {count} (rows {rows}: {values}). "
    "Every row needs a finite score. Repair the export, or say how to treat them: "
    "{field}=drop leaves the rows out, {field}=last ranks them last."
)


def positive_rows(dataset: Dataset, config: EvalConfig) -> NDArray[np.bool_]:
    """Return bool[n]: rows with a label that count as positive; under `row_present` every judged row does."""
    if config.positive_rule == "row_present":
        return dataset.labelled
    return np.asarray(dataset.label >= config.relevance_threshold)  # a missing label is never ≥ anything


def usable_threshold(config: EvalConfig) -> float:
    """Return the threshold beside usable scores: where lower is better they are negated, and it turns with them."""
    return 0.0 - config.threshold if config.score_direction == "lower" else config.threshold


def usable(dataset: Dataset, config: EvalConfig) -> Dataset:
    """Return the rows that metrics are computed from; the same object when there is nothing to treat.

    A row is left out for all models at once, so that every model is measured on the same rows. With several models
    `keep_best` keeps the row that the first model scores best.

    Raises
    ------
    RecmetricsError
        `duplicates` or `missing_scores` where the config says `error`, with counts, rows and the ways out.
    """
    if config.score_direction == "lower":
        # Turned first, so that "best" and "last" below mean what they say.
        dataset = replace(dataset, scores={name: -array for name, array in dataset.scores.items()})
    return _treat_truth(_treat_duplicates(_treat_scores(dataset, config), config), config)


def _treat_scores(dataset: Dataset, config: EvalConfig) -> Dataset:
    keep = np.ones(dataset.n_rows, dtype=bool)
    scores: dict[str, NDArray[Any]] = {}
    for model, array in dataset.scores.items():
        held = dataset.rows_of(model)
        finite = np.isfinite(array)
        scores[model] = array
        if finite[held].all():
            continue
        missing, infinite = held & np.isnan(array), held & np.isinf(array)
        _refuse(dataset, model, array, missing, config.missing_scores, MISSING_SCORES, "missing_scores")
        as_given = -array if config.score_direction == "lower" else array
        _refuse(dataset, model, as_given, infinite, config.infinite_scores, INFINITE_SCORES, "infinite_scores")
        last = np.zeros(dataset.n_rows, dtype=bool)
        for rows, treatment in ((missing, config.missing_scores), (infinite, config.infinite_scores)):
            if treatment == "drop":
                keep &= ~rows
            else:
                last |= rows
        scores[model] = np.where(last, array.dtype.type(-np.inf), array)
    if all(scores[model] is dataset.scores[model] for model in scores):
        return dataset
    return replace(dataset, scores=scores).where(keep)


def _refuse(
    dataset: Dataset,
    model: str,
    array: NDArray[Any],
    rows: NDArray[np.bool_],
    treatment: str,
    template: str,
    field: str,
) -> None:
    if treatment != "error" or not rows.any():
        return
    at = np.flatnonzero(rows)
    raise RecmetricsError(
        "missing_scores",
        template,
        file=dataset.name,
        model=model,
        count=len(at),
        rows=", ".join(str(n) for n in dataset.row_number[at[:N_EXAMPLES]]),
        values=", ".join(str(value) for value in array[at[:N_EXAMPLES]]),
        field=field,
    )


def _treat_duplicates(dataset: Dataset, config: EvalConfig) -> Dataset:
    surplus = dataset.surplus_rows
    if len(surplus) == 0:
        return dataset
    if config.duplicates == "error":
        raise _duplicates(dataset, surplus)
    keep = np.ones(dataset.n_rows, dtype=bool)
    keep[surplus if config.duplicates == "keep_first" else _not_kept(dataset, config.duplicates)] = False
    return dataset.where(keep)


def _duplicates(dataset: Dataset, surplus: NDArray[np.int64]) -> RecmetricsError:
    assert dataset.user is not None  # surplus rows exist only with both columns
    assert dataset.item is not None
    pairs = [f"({dataset.users[dataset.user[i]]}, {dataset.items[dataset.item[i]]})" for i in surplus[:N_EXAMPLES]]
    return RecmetricsError(
        "duplicates",
        N_(
            "{file} repeats {count} user–item pairs (rows {rows}: {pairs}); a list holds an item once. "
            "Remove the copies, or say which to keep: duplicates=keep_best, keep_first or keep_last."
        ),
        file=dataset.name,
        count=len(surplus),
        rows=", ".join(str(n) for n in dataset.row_number[surplus[:N_EXAMPLES]]),
        pairs=", ".join(pairs),
    )


def _not_kept(dataset: Dataset, rule: str) -> NDArray[np.int64]:
    """Return the rows that `keep_best` or `keep_last` leaves out."""
    assert dataset.user is not None
    assert dataset.item is not None
    keyed = np.flatnonzero((dataset.user >= 0) & (dataset.item >= 0))
    pair = pair_codes(dataset.user[keyed], dataset.item[keyed], len(dataset.items))
    if rule == "keep_best":
        score = next(iter(dataset.scores.values()))[keyed]
        # Best first; among equals the first in the file, since lexsort is stable.
        order = np.lexsort((-score.astype(np.float64), pair))
    else:
        order = np.lexsort((-keyed, pair))
    repeated = np.flatnonzero(pair[order][1:] == pair[order][:-1]) + 1
    return keyed[order[repeated]]


def _treat_truth(dataset: Dataset, config: EvalConfig) -> Dataset:
    truth = dataset.truth
    if truth is None:
        return dataset
    pair = pair_codes(truth.user, truth.item, len(dataset.items))
    order = np.argsort(pair, kind="stable")
    repeated = np.flatnonzero(pair[order][1:] == pair[order][:-1]) + 1
    if len(repeated) == 0:
        return dataset
    if config.truth_duplicates == "error":
        i = order[repeated[:N_EXAMPLES]]
        raise RecmetricsError(
            "duplicates",
            N_(
                "The truth judges {count} user–item pairs more than once ({pairs}). "
                "Remove the copies, or say which to keep: truth_duplicates=keep_best, keep_first or keep_last."
            ),
            count=len(repeated),
            pairs=", ".join(f"({dataset.users[truth.user[j]]}, {dataset.items[truth.item[j]]})" for j in i),
        )
    if config.truth_duplicates == "keep_best":
        order = np.lexsort((-truth.grade, pair))
    elif config.truth_duplicates == "keep_last":
        order = np.lexsort((-np.arange(len(pair)), pair))
    first = np.sort(np.delete(order, repeated))
    return replace(dataset, truth=Truth(truth.user[first], truth.item[first], truth.grade[first]))
