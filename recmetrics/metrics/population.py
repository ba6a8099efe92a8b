"""Who is averaged: one set of users for all ranking metrics of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.tables import HitTable


@dataclass(frozen=True, eq=False)
class Population:
    """Users of the mean under the config's rules.

    Attributes
    ----------
    counted
        bool[u]: users in the mean.
    fixed
        float64[u]: the value a rule prescribes (0 or 1) in place of the formula; NaN where the formula holds.
    skipped
        Users of the base left out, by reason.
    order
        int64[u]: the order in which users are summed.
    """

    counted: NDArray[np.bool_]
    fixed: NDArray[np.float64]
    skipped: Mapping[str, int]
    order: NDArray[np.int64]

    @cached_property
    def n_users(self) -> int:
        return int(self.counted.sum())

    @cached_property
    def _fixed_rows(self) -> NDArray[np.int64]:
        return np.flatnonzero(~np.isnan(self.fixed))

    @cached_property
    def _index(self) -> NDArray[np.int64]:
        return self.order[self.counted[self.order]]

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[n_users, cutoffs]: the values of the users counted, in `order`, prescribed ones put in."""
        if len(self._fixed_rows):
            values = values.copy()
            values[self._fixed_rows] = self.fixed[self._fixed_rows, None]
        return np.asarray(values[self._index])


def population(hits: HitTable, config: EvalConfig, order: NDArray[np.int64] | None = None) -> Population:
    """Return who is averaged. A user without relevant items and without a list is left out if either rule says so."""
    listed = hits.n_candidates > 0
    base = {"truth": hits.in_truth, "truth_and_run": hits.in_truth & listed, "run": listed}[config.user_base]
    barren = base & (hits.n_relevant == 0)
    missing = base & ~listed
    counted = base.copy()
    fixed = np.full(len(base), np.nan)
    skipped = {}
    fixed[missing] = 0.0
    if config.users_without_relevant == "skip":
        counted &= ~barren
    else:
        fixed[barren] = 0.0 if config.users_without_relevant == "zero" else 1.0
    if config.users_missing_from_run == "skip":
        counted &= ~missing
        skipped["missing_from_run"] = int((missing & ~(barren & (config.users_without_relevant == "skip"))).sum())
    if config.users_without_relevant == "skip":
        skipped["without_relevant"] = int(barren.sum())
    told = {reason: n for reason, n in skipped.items() if n}
    return Population(counted, fixed, told, np.arange(len(base)) if order is None else order)
