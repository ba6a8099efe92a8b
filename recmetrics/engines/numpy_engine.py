"""The default engine: one scan of the columns in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.engines.base import ENGINES, RankTable
from recmetrics.engines.packing import Blocks, block_ranks, hit_blocks, rows_per_user, score_codes
from recmetrics.errors import RecmetricsError
from recmetrics.tables import HitTable, ScoreTable, frozen
from recmetrics.text import N_
from recmetrics.usable import positive_rows

ROW_RULES = ("file_order", "item_desc", "item_asc")  # every row has a rank of its own


class NumpyEngine:
    """Implements `Engine` on the arrays of a Dataset."""

    def hit_table(self, dataset: Dataset, config: EvalConfig, model: str, *, labelled_only: bool = False) -> HitTable:
        user = _users(dataset)
        at = _listed(dataset, config, model, user, labelled_only)
        levels, grades, relevant_level = _gain_levels(dataset.label, dataset.labelled, config)
        who = user if at is None else user[at]
        n_candidates = rows_per_user(who, len(dataset.users))
        blocks = self._blocks(dataset, config, model, who, levels if at is None else levels[at], n_candidates, at)
        grade = grades[blocks.level]
        relevant = relevant_level[blocks.level]
        if dataset.truth is not None and not labelled_only and config.truth_scope == "all":
            ideal, in_truth = _judged_truth(dataset, config)
        elif at is None or labelled_only or config.truth_scope == "scored_only":
            ideal = _Ideal(blocks.user, blocks.level, grades, relevant_level)
            in_truth = n_candidates > 0
            if not dataset.all_labelled and not labelled_only:
                labelled = dataset.labelled if at is None else dataset.labelled[at]
                in_truth = rows_per_user(who[labelled], len(dataset.users)) > 0
            if config.score_filter == "positive":
                ideal = _Ideal(who, levels if at is None else levels[at], grades, relevant_level)
        else:
            # Rows that this model did not score, or that are not listed, are relevant all the same.
            rows = np.flatnonzero(user >= 0)
            ideal = _Ideal(user[rows], levels[rows], grades, relevant_level)
            in_truth = rows_per_user(user[rows][dataset.labelled[rows]], len(dataset.users)) > 0
        ideal_user, ideal_grade, ideal_relevant = ideal.sorted()
        n_relevant = np.bincount(ideal_user[ideal_relevant], minlength=len(dataset.users))
        arrays = (blocks.user, blocks.lo, blocks.hi, grade, relevant, n_candidates, n_relevant, in_truth)
        frozen(*arrays, ideal_user, ideal_grade, ideal_relevant)
        return HitTable(*arrays, ideal_user, ideal_grade, ideal_relevant)

    def _blocks(
        self,
        dataset: Dataset,
        config: EvalConfig,
        model: str,
        user: NDArray[np.int32],
        levels: NDArray[np.integer[Any]],
        n_candidates: NDArray[np.int64],
        at: NDArray[np.int64] | None,
    ) -> Blocks:
        scores = dataset.scores[model] if at is None else dataset.scores[model][at]
        if config.score_filter == "positive":
            levels = np.where(scores > 0, levels, 0)
        codes, _ = score_codes(scores)
        if config.ties not in ROW_RULES:
            blocks = hit_blocks(user, codes, levels, n_candidates)
            if config.ties == "floor_mean_rank":
                rank = (blocks.lo + blocks.hi) // 2
                return Blocks(blocks.user, rank, rank, blocks.level)
            return blocks
        order = _own_order(dataset, config.ties, user, codes, at)
        start = np.concatenate([[0], np.cumsum(n_candidates)])
        hit = np.flatnonzero(levels[order])
        who = user[order][hit]
        rank = (hit - start[who] + 1).astype(np.int32)
        return Blocks(who, rank, rank, levels[order][hit].astype(np.int64))

    def score_table(self, dataset: Dataset, config: EvalConfig, model: str) -> ScoreTable:
        scores, positive = dataset.scores[model], positive_rows(dataset, config)
        keep = dataset.labelled
        if model in dataset.scored:
            keep = keep & dataset.scored[model]
        if not keep.all():
            scores, positive = scores[keep], positive[keep]
        codes, values = score_codes(scores)
        positives, negatives = codes[positive], codes[~positive]
        positives.sort()
        negatives.sort()
        frozen(positives, negatives)
        return ScoreTable(positives, negatives, values)

    def rank_table(self, dataset: Dataset, config: EvalConfig, model: str, k_max: int) -> RankTable:
        user = _users(dataset)
        listed = dataset.rows_of(model) & (user >= 0)
        if config.unjudged == "skip":
            listed &= ~np.isnan(dataset.label)
        at = np.flatnonzero(listed)
        codes, _ = score_codes(dataset.scores[model][at])
        order = _own_order(dataset, "item_asc", user[at], codes, at)
        start = np.concatenate([[0], np.cumsum(np.bincount(user[at], minlength=len(dataset.users)))])
        ordered = user[at][order]
        lo, hi = block_ranks(ordered, codes[order], start)
        place = (np.arange(len(order)) - start[ordered] + 1).astype(np.int32)
        if config.ties in ROW_RULES:
            own = order if config.ties == "item_asc" else _own_order(dataset, config.ties, user[at], codes, at)
            rank = np.empty(len(order), dtype=np.int32)
            rank[own] = (np.arange(len(own)) - start[user[at][own]] + 1).astype(np.int32)
            lo = hi = place = rank[order]
        first = lo <= k_max
        return RankTable(at[order[first]], lo[first], hi[first], place[first])


def _users(dataset: Dataset) -> NDArray[np.int32]:
    if dataset.list_user is None:
        raise RecmetricsError(
            "no_user_column",
            N_("{file} has no user column, so there are no lists to rank. Name it, for example user=uid."),
            file=dataset.name,
        )
    return dataset.list_user


def _own_order(
    dataset: Dataset, ties: str, user: NDArray[np.int32], codes: NDArray[np.uint32], at: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the order of rows by user, descending score, then the tie rule: file order or the item's text."""
    if ties == "file_order" or dataset.item is None:
        return np.lexsort((~codes, user))  # stable: equal scores keep the order of the file
    position = np.empty(len(dataset.items), dtype=np.int64)
    position[np.argsort(dataset.items.astype(str), kind="stable")] = np.arange(len(dataset.items))
    item = dataset.item if at is None else dataset.item[at]
    by_item = np.where(item >= 0, position[item], -1)
    return np.lexsort((-by_item if ties == "item_desc" else by_item, ~codes, user))


def _gain_levels(
    label: NDArray[np.float64], judged: NDArray[np.bool_], config: EvalConfig
) -> tuple[NDArray[np.integer[Any]], NDArray[np.float64], NDArray[np.bool_]]:
    """Code the labels: level 0 gains nothing; level i stands for `grades[i]`, relevant or not.

    Returns levels [n], grade per level, relevant per level.
    """
    relevant = judged if config.positive_rule == "row_present" else label >= config.relevance_threshold
    gaining = relevant | (label > 0) if config.grades == "all" else relevant
    top = np.fmax.reduce(label, initial=0.0)
    levels: NDArray[np.integer[Any]]
    if np.count_nonzero(gaining) == np.count_nonzero(label == top):
        distinct = np.asarray([top])  # one grade, as with clicks: nothing to code
        levels = gaining.view(np.uint8)
    else:
        distinct = np.unique(label[gaining])
        levels = np.where(gaining, np.searchsorted(distinct, label) + 1, 0)
    grades = np.concatenate([[0.0], distinct])
    is_relevant = np.ones(len(grades), dtype=bool)
    if config.positive_rule == "label_ge":
        is_relevant = grades >= config.relevance_threshold
    is_relevant[0] = False
    return levels, grades, is_relevant


@dataclass(frozen=True, eq=False)
class _Ideal:
    """Judged rows with their gain levels, before they are put in the order of the ideal list."""

    user: NDArray[np.int32]
    level: NDArray[np.integer[Any]]
    grades: NDArray[np.float64]
    relevant_level: NDArray[np.bool_]

    def sorted(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.bool_]]:
        """Return user, grade and relevance of the gaining rows, by user, then grade descending."""
        gaining = np.flatnonzero(self.level)
        top = np.int64(len(self.grades))
        # Levels ascend with the grade, so that one sort by value gives the order.
        key = np.sort((self.user[gaining].astype(np.int64) << 32) | (top - self.level[gaining]))
        level = top - (key & 0xFFFFFFFF)
        return (key >> 32).astype(np.int32), self.grades[level], self.relevant_level[level]


def _judged_truth(dataset: Dataset, config: EvalConfig) -> tuple[_Ideal, NDArray[np.bool_]]:
    """Return what the truth can gain, and bool[u]: users with a truth row."""
    truth = dataset.truth
    assert truth is not None
    judged = ~np.isnan(truth.grade)
    levels, grades, relevant_level = _gain_levels(truth.grade, judged, config)
    in_truth = np.bincount(truth.user[judged], minlength=len(dataset.users)) > 0
    return _Ideal(truth.user, levels, grades, relevant_level), in_truth


def _listed(
    dataset: Dataset, config: EvalConfig, model: str, user: NDArray[np.int32], labelled_only: bool
) -> NDArray[np.int64] | None:
    """Return the rows that stand in a list; None for all."""
    skip_unlabelled = (labelled_only or config.unjudged == "skip") and not dataset.all_labelled
    if model not in dataset.scored and not skip_unlabelled and user.min(initial=0) >= 0:
        return None
    listed = dataset.rows_of(model) & (user >= 0)
    if skip_unlabelled:
        listed &= dataset.labelled
    return None if listed.all() else np.flatnonzero(listed)


ENGINES.add("numpy", NumpyEngine())
