"""Tables: one model's tables, made when first asked for and kept, since everything shown comes from them."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig, Ties
from recmetrics.dataset import Dataset, pair_codes
from recmetrics.engines import ENGINES
from recmetrics.inference.auc import AucEstimate, auc_estimate
from recmetrics.metrics.business import ExposureLog
from recmetrics.metrics.exposure import Exposures
from recmetrics.metrics.lists import Lists
from recmetrics.metrics.population import Population, population
from recmetrics.metrics.tie_orders import resolved, take_users
from recmetrics.tables import HitTable, ScoreTable
from recmetrics.usable import positive_rows

# Fields that shape the tables themselves; under any other change the same tables serve.
TABLE_FIELDS = (
    "relevance_threshold",
    "positive_rule",
    "grades",
    "unjudged",
    "truth_scope",
    "score_filter",
    "ties",
)
BLOCK_RULES = ("average", "best", "worst")
LOG_COLUMNS = ("click", "purchase", "amount", "dwell_seconds", "rating", "exposures", "clicks", "purchases")


class Tables:
    """Lazily made tables of one model of a usable dataset under one convention."""

    def __init__(self, dataset: Dataset, config: EvalConfig, model: str, engine: str = "numpy") -> None:
        self.dataset, self.config, self.model, self.engine = dataset, config, model, engine
        self._others: dict[tuple[object, ...], Tables] = {}
        self._lists: dict[object, Lists] = {}
        self._exposures: dict[int, Exposures] = {}
        self._auc: dict[float, AucEstimate] = {}
        self._populations: dict[tuple[str, str, str], Population] = {}

    def under(self, config: EvalConfig) -> Tables:
        """Return the tables for another convention; these very ones where it makes no difference to tables."""
        key = _table_key(config)
        if key == _table_key(self.config):
            return self
        if key not in self._others:
            self._others[key] = Tables(self.dataset, config, self.model, self.engine)
        return self._others[key]

    @cached_property
    def scores(self) -> ScoreTable:
        return ENGINES[self.engine].score_table(self.dataset, self.config, self.model)

    @cached_property
    def hits(self) -> HitTable:
        """Hits of every list; blocks of equal scores stay whole under `average`, `best` and `worst`."""
        return ENGINES[self.engine].hit_table(self.dataset, self.config, self.model)

    @cached_property
    def tied(self) -> NDArray[np.int64]:
        """int64: positions in `hits` whose score another row of the same user shares."""
        return np.flatnonzero(self.hits.hi > self.hits.lo)

    @cached_property
    def tied_users(self) -> NDArray[np.int32]:
        """Sorted codes of the users whose hits share a score: only their values depend on the order of ties."""
        return np.unique(self.hits.user[self.tied])

    @cached_property
    def tied_order(self) -> NDArray[np.int64]:
        """Positions in `tied_users` in the order of their ids, in which they are summed."""
        position = np.empty(len(self.dataset.users), dtype=np.int64)
        position[self.dataset.user_order] = np.arange(len(position))
        return np.argsort(position[self.tied_users])

    def tied_lists(self, ks: tuple[int | None, ...], order: Literal["best", "worst"]) -> Lists:
        """Return the lists of `tied_users`, renumbered, with equal scores in the best or the worst order."""
        key = (ks, order, "tied")
        if key not in self._lists:
            self._lists[key] = Lists(resolved(take_users(self.hits, self.tied_users), order), ks)
        return self._lists[key]

    @cached_property
    def judged(self) -> HitTable:
        """Hits over labelled rows only, equal scores in blocks: what AUC inside a user is computed from."""
        plain = self.config.ties in BLOCK_RULES and self.config.grades == "relevant"
        if plain and self.config.score_filter == "none" and self.dataset.all_labelled:
            return self.hits
        config = self.config.replace(ties="average", score_filter="none", grades="relevant")
        return ENGINES[self.engine].hit_table(self.dataset, config, self.model, labelled_only=True)

    def lists(self, ks: tuple[int | None, ...], ties: Ties) -> Lists:
        """Return the lists cut at `ks`, equal scores ordered as `ties` says."""
        order = ties if ties == "best" or ties == "worst" else None
        key = (ks, order)
        if key not in self._lists:
            hits = self.hits if order is None else resolved(self.hits, order)
            self._lists[key] = Lists(hits, ks)
        return self._lists[key]

    def population(self, config: EvalConfig) -> Population:
        """Return who is averaged under the config's population rules."""
        key = (config.user_base, config.users_without_relevant, config.users_missing_from_run)
        if key not in self._populations:
            self._populations[key] = population(self.hits, config, self.dataset.user_order)
        return self._populations[key]

    @cached_property
    def row_mask(self) -> NDArray[np.bool_]:
        """bool[n]: rows with a label that the model scored."""
        return self.dataset.rows_of(self.model) & self.dataset.labelled

    def auc(self, confidence: float) -> AucEstimate:
        """Return the pooled AUC with its interval, users as units."""
        if confidence not in self._auc:
            data, rows = self.dataset, self.row_mask
            positive = positive_rows(data, self.config)[rows]
            user = None if data.user is None else data.user[rows]
            self._auc[confidence] = auc_estimate(
                positive, data.scores[self.model][rows], user, confidence, n_users=len(data.users)
            )
        return self._auc[confidence]

    def exposures(self, k_max: int) -> Exposures:
        """Return the first `k_max` places of all lists."""
        if k_max not in self._exposures:
            self._exposures[k_max] = self._make_exposures(k_max)
        return self._exposures[k_max]

    def _make_exposures(self, k_max: int) -> Exposures:
        data = self.dataset
        table = ENGINES[self.engine].rank_table(data, self.config, self.model, k_max)
        assert data.user is not None  # rank_table refuses data without users
        item = np.full(len(table.row), -1, np.int32) if data.item is None else data.item[table.row]
        popularity, n_train = _popularity(data)
        logged = {name: data.values[name][table.row] for name in ("click", "amount") if name in data.values}
        user = data.user[table.row]
        return Exposures(
            user, item, table.lo, table.hi, table.place, len(data.users), data.n_items, popularity, n_train, logged
        )

    @cached_property
    def log(self) -> ExposureLog:
        """The exposure log of the dataset, whatever the model."""
        columns = {name: self.dataset.values[name] for name in LOG_COLUMNS if name in self.dataset.values}
        return ExposureLog(columns, self.dataset.user, self.dataset.n_rows)


def make_tables(dataset: Dataset, config: EvalConfig, model: str, engine: str = "numpy") -> Tables:
    """Return the tables of one model; the dataset must have gone through `usable`. `engine` is a name in `ENGINES`."""
    return Tables(dataset, config, model, engine)


def _table_key(config: EvalConfig) -> tuple[object, ...]:
    key = [getattr(config, field) for field in TABLE_FIELDS]
    # All block rules share one table: the blocks are ordered, or not, when they are read.
    return tuple("average" if value in BLOCK_RULES else value for value in key)


def _popularity(data: Dataset) -> tuple[NDArray[np.float64] | None, int]:
    """Return training users per item and training users in all; None without training data."""
    train = data.train
    if train is None:
        return None, 0
    held = train.item >= 0
    pair = np.unique(pair_codes(train.user[held], train.item[held], len(data.items)))
    counts = np.bincount(pair % max(len(data.items), 1), minlength=len(data.items))
    return counts.astype(np.float64), train.n_users or len(np.unique(train.user))
