"""The default engine: one scan of the columns in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.engines.base import ENGINES, RankTable
from recmetrics.engines.packing import Blocks, block_ranks, hit_blocks, score_codes
from recmetrics.errors import RecmetricsError
from recmetrics.tables import HitTable, ScoreTable, frozen
from recmetrics.text import N_

ROW_RULES = ("file_order", "item_desc", "item_asc")  # every row has a rank of its own


class NumpyEngine:
    """Implements `Engine` on the arrays of a Dataset."""

    def hit_table(self, dataset: Dataset, config: EvalConfig, model: str, *, labelled_only: bool = False) -> HitTable:
        user = _users(dataset)
        n_users = len(dataset.users)
        judged = ~np.isnan(dataset.label)
        grouped = user >= 0
        listed = dataset.rows_of(model) & grouped if model in dataset.scored else grouped
        if labelled_only or config.unjudged == "skip":
            listed = listed & judged
        levels, grades, relevant_level = _gain_levels(dataset.label, judged, config)
        if not listed.all():
            at = np.flatnonzero(listed)
            blocks, n_candidates = self._blocks(dataset, config, model, user[at], levels[at], n_users, at)
        else:
            blocks, n_candidates = self._blocks(dataset, config, model, user, levels, n_users, None)
        grade = grades[blocks.level]
        relevant = relevant_level[blocks.level]
        ideal = _ideal(dataset, config, user, levels, grades, relevant_level, listed, blocks, labelled_only)
        ideal_user, ideal_grade, ideal_relevant, in_truth = ideal
        n_relevant = np.bincount(ideal_user[ideal_relevant], minlength=n_users)
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
        n_users: int,
        at: NDArray[np.int64] | None,
    ) -> tuple[Blocks, NDArray[np.int64]]:
        scores = dataset.scores[model] if at is None else dataset.scores[model][at]
        if config.score_filter == "positive":
            levels = np.where(scores > 0, levels, 0)
        codes, _ = score_codes(scores)
        n_candidates = np.bincount(user, minlength=n_users)
        if config.ties not in ROW_RULES:
            blocks = hit_blocks(user, codes, levels, n_candidates)
            if config.ties == "floor_mean_rank":
                rank = (blocks.lo + blocks.hi) // 2
                blocks = Blocks(blocks.user, rank, rank, blocks.level)
            return blocks, n_candidates
        order = _own_order(dataset, config.ties, user, codes, at)
        start = np.concatenate([[0], np.cumsum(n_candidates)])
        hit = np.flatnonzero(levels[order])
        who = user[order][hit]
        rank = (hit - start[who] + 1).astype(np.int32)
        return Blocks(who, rank, rank, levels[order][hit].astype(np.int64)), n_candidates

    def score_table(self, dataset: Dataset, config: EvalConfig, model: str) -> ScoreTable:
        scores, label = dataset.scores[model], dataset.label
        keep = ~np.isnan(label)
        if model in dataset.scored:
            keep &= dataset.scored[model]
        if not keep.all():
            scores, label = scores[keep], label[keep]
        codes, values = score_codes(scores)
        positive = label >= config.relevance_threshold
        if config.positive_rule == "row_present":
            positive = np.ones(len(label), dtype=bool)
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
    if dataset.user is None:
        raise RecmetricsError(
            "no_user_column",
            N_("{file} has no user column, so there are no lists to rank. Name it, for example user=uid."),
            file=dataset.name,
        )
    return dataset.user


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
    relevant = label >= config.relevance_threshold
    if config.positive_rule == "row_present":
        relevant = judged
    gaining = relevant | (label > 0) if config.grades == "all" else relevant
    top = float(label[gaining].max(initial=0.0))
    low = float(label[gaining].min(initial=top))
    if low == top:
        distinct = np.asarray([top])
        levels: NDArray[np.integer[Any]] = gaining.astype(np.uint8)
    else:
        distinct = np.unique(label[gaining])
        levels = np.where(gaining, np.searchsorted(distinct, label) + 1, 0)
    grades = np.concatenate([[0.0], distinct])
    is_relevant = np.ones(len(grades), dtype=bool)
    if config.positive_rule == "label_ge":
        is_relevant = grades >= config.relevance_threshold
    is_relevant[0] = False
    return levels, grades, is_relevant


def _ideal(
    dataset: Dataset,
    config: EvalConfig,
    user: NDArray[np.int32],
    levels: NDArray[np.integer[Any]],
    grades: NDArray[np.float64],
    relevant_level: NDArray[np.bool_],
    listed: NDArray[np.bool_],
    blocks: Blocks,
    labelled_only: bool,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the ideal list (user, grade, relevant; by user, grade descending) and who has a truth row."""
    n_users = len(dataset.users)
    scored_only = labelled_only or config.truth_scope == "scored_only"
    if dataset.truth is not None and not scored_only:
        truth = dataset.truth
        judged = ~np.isnan(truth.grade)
        truth_levels, grades, relevant_level = _gain_levels(truth.grade, judged, config)
        who, level = truth.user, truth_levels
        in_truth = np.bincount(truth.user[judged], minlength=n_users) > 0
    else:
        rows = listed if scored_only else user >= 0
        in_truth = _has_row(user, rows & ~np.isnan(dataset.label), n_users)
        if config.score_filter == "none" and (rows is listed or listed.all()):
            who, level = blocks.user, blocks.level  # every gaining row is a hit, already sorted by user
        else:
            at = np.flatnonzero(rows)
            who, level = user[at], levels[at]
    gaining = np.flatnonzero(level)
    who, level = who[gaining], level[gaining]
    # By user, then grade descending; levels ascend with the grade.
    key = np.sort((who.astype(np.int64) << 32) | (np.int64(len(grades)) - level))
    who = (key >> 32).astype(np.int32)
    level = np.int64(len(grades)) - (key & 0xFFFFFFFF)
    return who, grades[level], relevant_level[level], in_truth


def _has_row(user: NDArray[np.int32], rows: NDArray[np.bool_], n_users: int) -> NDArray[np.bool_]:
    found = np.zeros(n_users, dtype=bool)
    found[user if rows.all() else user[rows]] = True
    return found


ENGINES.add("numpy", NumpyEngine())
