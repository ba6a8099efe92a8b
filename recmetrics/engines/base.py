"""What an engine promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.registry import Registry
from recmetrics.tables import HitTable, ScoreTable


@dataclass(frozen=True, eq=False)
class RankTable:
    """The first places of every list: row int64[r] into the dataset, lo and hi int32[r] ranks of its block.

    `place` int32[r] is the row's own rank when equal scores stand in ascending order of the item's text.
    """

    row: NDArray[np.int64]
    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    place: NDArray[np.int32]


class Engine(Protocol):
    """Makes tables for one model of a dataset whose rows are all usable."""

    def hit_table(self, dataset: Dataset, config: EvalConfig, model: str, *, labelled_only: bool = False) -> HitTable:
        """Return the hits of every list. `labelled_only` leaves rows without a label out and ignores the truth."""

    def score_table(self, dataset: Dataset, config: EvalConfig, model: str) -> ScoreTable:
        """Return the scores of positives and negatives over all labelled rows."""

    def rank_table(self, dataset: Dataset, config: EvalConfig, model: str, k_max: int) -> RankTable:
        """Return all rows whose block of equal scores begins within the first `k_max` places."""


ENGINES: Registry[Engine] = Registry("engine")
