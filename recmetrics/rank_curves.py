"""Ranking metrics against K, between what a perfect and what a random order of the same lists would reach.

Both reference lines are exact and need no formula of their own. A random order is one block of equal scores as long as
the list, so the expected values under ties apply. A perfect order has the judged items on top, best grade first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.inference.means import column_means
from recmetrics.metrics import ranking
from recmetrics.metrics.lists import Lists, Matrix
from recmetrics.metrics.population import Population, population
from recmetrics.metrics.tie_orders import has_ties, resolved
from recmetrics.tables import HitTable, frozen

CURVES: Mapping[str, Callable[[Lists, EvalConfig], Matrix]] = {
    "precision": ranking.precision,
    "recall": ranking.recall,
    "hit_rate": ranking.hit_rate,
    "mrr": ranking.reciprocal_rank,
    "map": ranking.average_precision,
    "ndcg": ranking.ndcg,
}
MAX_POINTS = 60
N_VALUE_BINS = 20


class _Shared:
    """Switches writing off in the arrays of a result: it is kept and shown to several viewers."""

    def __post_init__(self) -> None:
        frozen(*(value for value in vars(self).values() if isinstance(value, np.ndarray)))


@dataclass(frozen=True, eq=False)
class Curve(_Shared):
    """One metric at every K: float64[cutoffs] each, NaN where undefined.

    Attributes
    ----------
    value, low, high
        Mean over the users counted and its t interval, users as units; no interval with fewer than two users.
    tie_low, tie_high
        The mean under the worst and the best order of equal scores; equal to `value` without ties.
    ceiling, random
        The mean that a perfect order of each user's judged items would reach, and the expected mean of a random order
        of the same candidates.
    """

    metric: str
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    tie_low: NDArray[np.float64]
    tie_high: NDArray[np.float64]
    ceiling: NDArray[np.float64]
    random: NDArray[np.float64]

    @property
    def ties_decide(self) -> NDArray[np.bool_]:
        """bool[cutoffs]: the order of equal scores moves the value by more than its interval is wide."""
        width = np.nan_to_num(self.high - self.low)
        return (self.tie_high - self.tie_low > width) & (self.tie_high > self.tie_low)


@dataclass(frozen=True, eq=False)
class Counts(_Shared):
    """A histogram in bins of one width: `n[i]` users in the bin that starts at `left[i]`; `n_beyond` lie further right.

    Bins of whole numbers start half a step below their smallest number, so that 3 stands in the middle of its own bin.
    """

    left: NDArray[np.float64]
    width: float
    n: NDArray[np.int64]
    n_beyond: int


@dataclass(frozen=True, eq=False)
class RankCurves(_Shared):
    """Curves of one model over the same users, with what limits them.

    Attributes
    ----------
    ks
        int64[cutoffs], ascending.
    n_users, skipped
        Users averaged; users left out, by reason.
    n_shorter
        int64[cutoffs]: users averaged whose list is shorter than K.
    n_exactly_k_relevant
        int64[cutoffs]: users averaged who have exactly K relevant items, for whom precision equals recall.
    shortest, longest
        Length of the shortest and longest list of the users averaged; 0 without users.
    n_one_relevant
        Users averaged with exactly one relevant item.
    lengths, positives
        Users averaged by list length and by number of relevant items, over the range of K.
    """

    model: str
    ks: NDArray[np.int64]
    curves: Mapping[str, Curve]
    n_users: int
    skipped: Mapping[str, int]
    n_shorter: NDArray[np.int64]
    n_exactly_k_relevant: NDArray[np.int64]
    shortest: int
    longest: int
    n_one_relevant: int
    lengths: Counts
    positives: Counts

    def at(self, k: int) -> int:
        """Return the position of K in `ks`."""
        return int(np.searchsorted(self.ks, k))


def as_one_list(dataset: Dataset) -> Dataset:
    """Return the rows of data without users as one list; items are left out, since here they may repeat."""
    everyone = np.empty(1, dtype=object)
    everyone[0] = dataset.name
    return replace(
        dataset,
        users=everyone,
        user=np.zeros(dataset.n_rows, dtype=np.int32),
        item=None,
        truth=None,
        fingerprint=f"{dataset.fingerprint}, one list",
    )


def k_range(k_max: int, always: Iterable[int] = ()) -> tuple[int, ...]:
    """Return about 60 cutoffs from 1 to `k_max` (all if so few, else denser at the top) and those in `always`."""
    if k_max <= MAX_POINTS:
        chosen = set(range(1, k_max + 1))
    else:
        # Twenty single steps, then equal ratios: curves bend most over the first places.
        steps = np.geomspace(20, k_max, MAX_POINTS - 20)
        chosen = set(range(1, 21)) | {round(step) for step in steps}
    return tuple(sorted(chosen | {k for k in always if k <= k_max}))


def random_order(hits: HitTable) -> HitTable:
    """Return the lists as if all candidates of a user had one score: every order is equally likely."""
    last = hits.n_candidates[hits.user].astype(np.int32)
    return replace(hits, lo=np.ones_like(last), hi=last)


def perfect_order(hits: HitTable) -> HitTable:
    """Return the lists with all judged items on top, best grade first, unscored relevant items included."""
    n_judged = np.bincount(hits.ideal_user, minlength=hits.n_users)
    start = np.cumsum(n_judged) - n_judged
    rank = (np.arange(len(hits.ideal_user)) - start[hits.ideal_user] + 1).astype(np.int32)
    return replace(
        hits,
        user=hits.ideal_user,
        lo=rank,
        hi=rank,
        grade=hits.ideal_grade,
        relevant=hits.ideal_relevant,
        n_candidates=np.maximum(hits.n_candidates, n_judged),
    )


def rank_curves(hits: HitTable, config: EvalConfig, model: str, ks: tuple[int, ...]) -> RankCurves:
    """Return the curves of one model.

    Parameters
    ----------
    hits
        Its lists, with blocks of equal scores left open where the tie rule is average, best or worst.
    ks
        Cutoffs, ascending.
    """
    people = population(hits, config)
    orders = {"low": resolved(hits, "worst"), "high": resolved(hits, "best")} if has_ties(hits) else {}
    chosen = {"worst": orders.get("low"), "best": orders.get("high")}.get(config.ties) or hits
    measured = {"value": curve_values(chosen, config, ks), "random": curve_values(random_order(hits), config, ks)}
    measured.update({f"tie_{end}": curve_values(table, config, ks) for end, table in orders.items()})
    ceiling = curve_values(perfect_order(hits), config, ks)
    best = _ceiling_rules(hits, people)
    curves = {}
    for name in CURVES:
        used = {what: people.apply(values[name]) for what, values in measured.items()}
        curves[name] = _curve(name, used, best.apply(ceiling[name]), config.confidence)
    lengths, relevant = hits.n_candidates[people.counted], hits.n_relevant[people.counted]
    k = np.asarray(ks, dtype=np.int64)
    return RankCurves(
        model=model,
        ks=k,
        curves=curves,
        n_users=people.n_users,
        skipped=people.skipped,
        n_shorter=np.searchsorted(np.sort(lengths), k, side="left"),
        n_exactly_k_relevant=np.bincount(np.minimum(relevant, k[-1] + 1), minlength=int(k[-1]) + 2)[k],
        shortest=int(lengths.min(initial=lengths.max(initial=0))),
        longest=int(lengths.max(initial=0)),
        n_one_relevant=int((relevant == 1).sum()),
        lengths=whole_counts(lengths, int(k[-1])),
        positives=whole_counts(relevant, int(k[-1])),
    )


def curve_values(hits: HitTable, config: EvalConfig, ks: tuple[int, ...]) -> dict[str, Matrix]:
    """Return per metric of `CURVES` the values float64[users, cutoffs] of every user of the table."""
    lists = Lists(hits, ks)
    return {name: function(lists, config) for name, function in CURVES.items()}


def user_values(hits: HitTable, config: EvalConfig, metric: str, k: int) -> NDArray[np.float64]:
    """Return float64[n_users averaged]: one metric of `CURVES` at one K; NaN where undefined for a user."""
    table = resolved(hits, config.ties) if config.ties in ("best", "worst") else hits
    return population(hits, config).apply(CURVES[metric](Lists(table, (k,)), config))[:, 0]


def _ceiling_rules(hits: HitTable, people: Population) -> Population:
    """A perfect ranking returns a list for everyone, so only users without relevant items keep a prescribed value."""
    return replace(people, fixed=np.where(hits.n_relevant == 0, people.fixed, np.nan))


def _curve(name: str, used: Mapping[str, Matrix], ceiling: Matrix, confidence: float) -> Curve:
    found = {what: column_means(values, confidence) for what, values in used.items()}
    means = {what: estimate.value for what, estimate in found.items()}
    reach = found["value"].reach
    return Curve(
        metric=name,
        value=means["value"],
        low=np.maximum(means["value"] - reach, 0.0),
        high=np.minimum(means["value"] + reach, 1.0),
        tie_low=means.get("tie_low", means["value"]),
        tie_high=means.get("tie_high", means["value"]),
        ceiling=column_means(ceiling, confidence).value,
        random=means["random"],
    )


def whole_counts(numbers: NDArray[np.int64], largest: int) -> Counts:
    """Count whole numbers over 0..`largest` in at most about 60 bins."""
    width = -(-(largest + 1) // MAX_POINTS)
    n = np.bincount(numbers[numbers <= largest] // width, minlength=largest // width + 1)
    left = np.arange(len(n), dtype=np.float64) * width - 0.5
    return Counts(left, float(width), n, int((numbers > largest).sum()))


def value_counts(values: NDArray[np.float64]) -> Counts:
    """Count values in 0..1 in twenty bins, NaN left out; a value on an edge belongs to the bin above, 1 to the last."""
    values = values[~np.isnan(values)]
    # Values are fractions such as 3/10, whose product with 20 may miss a whole number by the last bit.
    at = np.minimum((values * N_VALUE_BINS + 1e-9).astype(np.int64), N_VALUE_BINS - 1)
    n = np.bincount(at, minlength=N_VALUE_BINS)
    return Counts(np.arange(N_VALUE_BINS, dtype=np.float64) / N_VALUE_BINS, 1.0 / N_VALUE_BINS, n, 0)
