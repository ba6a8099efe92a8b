"""Per-user sums over the first K places, exact under ties: the only place where ranks meet cutoffs.

Equal scores form a block of m rows at ranks a+1 … a+m, h of them relevant, H relevant ones ranked before. All values
here are expectations over every order of the rows of a block; without ties they are the plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.metrics.combinatorics import log_choose
from recmetrics.metrics.gains import discounts, full_k_needs_binary, full_k_too_long, gain_of
from recmetrics.tables import HitTable

Matrix = NDArray[np.float64]  # float64[users, cutoffs]
LONGEST_IDEAL = 10_000_000  # places of an ideal list that has K items whatever the user has


class Lists:
    """The hits of every user, cut at each of `ks` (None = the whole list).

    `k` is float64[cutoffs], infinite for the whole list; all methods return float64[users, cutoffs] unless said.
    """

    def __init__(self, hits: HitTable, ks: tuple[int | None, ...]) -> None:
        self.hits = hits
        self.ks = ks
        self.k = np.asarray([np.inf if k is None else k for k in ks], dtype=np.float64)
        self.n = hits.n_candidates.astype(np.float64)
        self.r = hits.n_relevant.astype(np.float64)
        # Under `grades = all` the ideal list can be longer than the list of relevant items.
        ideal = int(np.bincount(hits.ideal_user).max(initial=0)) if len(hits.ideal_user) else 0
        longest = int(max(hits.n_candidates.max(initial=0), hits.n_relevant.max(initial=0), ideal, 1))
        # Nothing stands beyond the longest list, so that tables stay that short, however large K is.
        self.depth = longest
        self._edges = np.minimum(self.k, longest).astype(np.int64)
        self._memory: dict[object, Matrix] = {}

    # Shapes ---------------------------------------------------------------------------------------------------------

    @property
    def n_users(self) -> int:
        return len(self.n)

    def _cut(self, user: NDArray[np.int32], rank: NDArray[np.int32], weight: NDArray[np.float64] | None) -> Matrix:
        """Sum weights of ranks 1..K per user and cutoff: one bincount for all cutoffs together."""
        order = np.argsort(self._edges, kind="stable")
        edges = self._edges[order]
        width = len(edges) + 1
        bucket = np.searchsorted(edges, np.arange(self.depth + 2), side="left")[np.minimum(rank, self.depth + 1)]
        flat = np.bincount(user.astype(np.int64) * width + bucket, weights=weight, minlength=self.n_users * width)
        total = flat.reshape(self.n_users, width)[:, :-1].astype(np.float64)
        for column in range(1, len(edges)):
            total[:, column] += total[:, column - 1]
        if np.array_equal(order, np.arange(len(order))):
            return total
        restored = np.empty_like(total)
        restored[:, order] = total
        return restored

    @cached_property
    def relevant(self) -> Relevant:
        """The relevant hits, split into those alone on their rank and those in a block."""
        hits = self.hits
        if hits.relevant.all():
            return Relevant(hits.user, hits.lo, hits.hi)
        keep = hits.relevant
        return Relevant(hits.user[keep], hits.lo[keep], hits.hi[keep])

    @cached_property
    def harmonic(self) -> NDArray[np.float64]:
        """float64[depth+1]: 1 + 1/2 + … + 1/i at i."""
        return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, self.depth + 1))])

    def _harmonic_beyond(self, k: float) -> float:
        """Return 1/(depth+1) + … + 1/k."""
        from scipy.special import digamma  # lazily: only a K beyond every list needs it

        return float(digamma(k + 1) - digamma(self.depth + 1))

    # Counts ---------------------------------------------------------------------------------------------------------

    @cached_property
    def n_hits(self) -> Matrix:
        """Expected relevant items among the first K."""
        found = self.relevant
        total = self._cut(found.user[found.single], found.lo[found.single], None)
        user, lo, size = found.user[found.tied], found.lo[found.tied], found.size[found.tied]
        for column, k in enumerate(self._edges if len(user) else ()):
            total[:, column] += np.bincount(user, np.clip(k - lo + 1, 0, size) / size, minlength=self.n_users)
        return total

    def hits_within(self, k: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[users]: expected relevant items among each user's own first `k[user]`."""
        found = self.relevant
        inside = np.clip(k[found.user] - found.lo + 1, 0, found.size) / found.size
        return np.bincount(found.user, inside, minlength=self.n_users).astype(np.float64, copy=False)

    @cached_property
    def any_hit(self) -> Matrix:
        """Probability of at least one relevant item among the first K."""
        first = self.first_block
        places = np.clip(self._edges[None, :] - (first.lo[:, None] - 1), 0, first.size[:, None])
        inside = (first.lo > 0)[:, None] & (places > 0)
        chance = inside.astype(np.float64)
        tied = np.flatnonzero(first.size > 1)
        if len(tied):
            size, hits = first.size[tied, None], first.n_relevant[tied, None]
            none = np.exp(log_choose(size - hits, places[tied]) - log_choose(size, places[tied]))
            chance[tied] = np.where(inside[tied], 1.0 - none, 0.0)
        return np.asarray(chance)

    @cached_property
    def first_block(self) -> FirstBlock:
        """Each user's best block that holds a relevant item; lo = 0 where there is none."""
        found = self.relevant
        new = np.ones(len(found.user), dtype=bool)
        new[1:] = found.user[1:] != found.user[:-1]
        at = np.flatnonzero(new)
        lo = np.zeros(self.n_users, dtype=np.int64)
        size = np.ones(self.n_users, dtype=np.int64)
        n_relevant = np.ones(self.n_users, dtype=np.int64)
        lo[found.user[at]] = found.lo[at]
        size[found.user[at]] = found.size[at]
        n_relevant[found.user[at]] = found.block_hits[at] if len(found.tied) else 1
        return FirstBlock(lo, size, n_relevant)

    @cached_property
    def reciprocal_rank(self) -> Matrix:
        """Expected 1/rank of the first relevant item; 0 beyond K."""
        first = self.first_block
        plain = np.flatnonzero((first.lo > 0) & (first.size == 1))
        lo = first.lo[plain].astype(np.int32)
        total = self._cut(plain.astype(np.int32), lo, 1.0 / lo)
        tied = np.flatnonzero((first.lo > 0) & (first.size > 1))
        if len(tied):
            # The first relevant row of the block stands at place j with probability C(m−j, h−1)/C(m, h).
            size, hits = first.size[tied], first.n_relevant[tied]
            places = size - hits + 1
            who = np.repeat(np.arange(len(tied)), places)
            j = np.arange(len(who)) - np.repeat(np.cumsum(places) - places, places) + 1
            chance = np.exp(log_choose(size[who] - j, hits[who] - 1) - log_choose(size[who], hits[who]))
            rank = (first.lo[tied][who] + j - 1).astype(np.int32)
            total += self._cut(tied[who].astype(np.int32), rank, chance / rank)
        return total

    # Precision at the hits ------------------------------------------------------------------------------------------

    @cached_property
    def precision_sum(self) -> Matrix:
        """Expected sum of precision at the ranks of relevant items among the first K."""
        found = self.relevant
        user, lo = found.user[found.single], found.lo[found.single]
        total = self._cut(user, lo, (found.before[found.single] + 1) / lo)
        blocks = found.blocks
        for column, k in enumerate(self._edges if len(blocks.user) else ()):
            total[:, column] += np.bincount(blocks.user, self._block_precision(blocks, k), minlength=self.n_users)
        return total

    def _block_precision(self, blocks: HitBlocks, k: int) -> NDArray[np.float64]:
        """Place j ≤ c of a block adds (h/m)·(H+1+(j−1)(h−1)/(m−1))/(a+j); McSherry and Najork 2008."""
        a, m, h, before = blocks.lo - 1, blocks.size, blocks.n_relevant, blocks.before
        c = np.clip(k - a, 0, m)
        inverse = self.harmonic[np.minimum(a + c, self.depth)] - self.harmonic[np.minimum(a, self.depth)]
        return np.asarray((h / m) * ((before + 1) * inverse + (h - 1) / (m - 1) * (c - (a + 1) * inverse)))

    @cached_property
    def precision_sum_over_hits(self) -> Matrix:
        """Expected precision sum divided by the number of relevant items among the first K; 0 where there is none."""
        found = self.relevant
        total = np.divide(self.precision_sum, self.n_hits, out=np.zeros_like(self.n_hits), where=self.n_hits > 0)
        blocks = found.blocks
        for column, k in enumerate(self._edges if len(blocks.user) else ()):
            cut = np.flatnonzero((blocks.lo <= k) & (blocks.lo + blocks.size - 1 > k))
            if len(cut):
                straddling = blocks.take(cut)
                total[straddling.user, column] = self._given_number_inside(straddling, column, int(k))
        return total

    def _given_number_inside(self, blocks: HitBlocks, column: int, k: int) -> NDArray[np.float64]:
        """Condition on x relevant rows of the straddling block inside K: hypergeometric weights, then divide by H+x."""
        a, m, h, before = blocks.lo - 1, blocks.size, blocks.n_relevant, blocks.before
        c = k - a
        sure = self.precision_sum[blocks.user, column] - self._block_precision(blocks, k)
        inverse = self.harmonic[k] - self.harmonic[a]
        mean = np.zeros(len(a))
        for x in range(int(np.minimum(h, c).max()) + 1):
            possible = (x <= np.minimum(h, c)) & (h - x <= m - c) & (before + x > 0)
            log_weight = log_choose(h, x) + log_choose(m - h, c - x) - log_choose(m, c)
            weight = np.where(possible, np.exp(np.where(possible, log_weight, 0.0)), 0.0)
            slope = np.where(c > 1, (x - 1) / np.maximum(c - 1, 1), 0.0)
            inside = (x / c) * ((before + 1) * inverse + slope * (c - (a + 1) * inverse)) if x else 0.0
            mean += weight * (sure + inside) / np.maximum(before + x, 1)
        return mean

    @cached_property
    def mean_precision_sum(self) -> Matrix:
        """Expected P@1 + … + P@K, without the gate that only relevant ranks count."""
        found = self.relevant
        total = np.zeros((self.n_users, len(self.ks)))
        for column, edge in enumerate(self._edges):
            whole = np.isinf(self.k[column])
            k = np.minimum(edge, self.hits.n_candidates[found.user]) if whole else edge
            c = np.clip(k - found.lo + 1, 0, found.size)
            a = found.lo - 1
            inside = c - a * (self.harmonic[np.minimum(a + c, self.depth)] - self.harmonic[a])
            below = self.harmonic[np.maximum(k, found.hi)] - self.harmonic[found.hi]
            if not whole and self.k[column] > self.depth:
                below = below + self._harmonic_beyond(self.k[column])
            total[:, column] = np.bincount(found.user, inside / found.size + below, minlength=self.n_users)
        return total

    # Gains ----------------------------------------------------------------------------------------------------------

    def dcg(self, config: EvalConfig) -> Matrix:
        """Discounted gain of the first K, expected over the orders of equal scores."""
        return self._remember("dcg", config, self._dcg)

    def ideal_dcg(self, config: EvalConfig) -> Matrix:
        """Discounted gain of the best possible list, from all judged items."""
        return self._remember("ideal", config, self._ideal_dcg)

    def _remember(self, what: str, config: EvalConfig, make: Callable[[EvalConfig], Matrix]) -> Matrix:
        gain = "linear" if self._binary_grades and config.gain in ("exp2", "binary") else config.gain
        threshold = config.relevance_threshold if gain == "exp2_shift" else None
        key = (what, gain, config.discount, config.log_base, config.ideal if what == "ideal" else None, threshold)
        if key not in self._memory:
            self._memory[key] = make(config)
        return self._memory[key]

    @cached_property
    def _binary_grades(self) -> bool:
        """All gaining grades are 1: then linear, exp2 and binary gain are one number."""
        return bool(np.all(self.hits.grade == 1.0) and np.all(self.hits.ideal_grade == 1.0))

    def _dcg(self, config: EvalConfig) -> Matrix:
        hits = self.hits
        weight = gain_of(hits.grade, config)
        steps = discounts(self.depth, config)
        single = hits.lo == hits.hi
        if single.all():
            return self._cut(hits.user, hits.lo, weight * steps[hits.lo])
        user, lo, size = hits.user[~single], hits.lo[~single].astype(np.int64), (hits.hi - hits.lo + 1)[~single]
        total = self._cut(hits.user[single], hits.lo[single], weight[single] * steps[hits.lo[single]])
        summed = np.cumsum(steps)
        for column, k in enumerate(self._edges):
            last = np.clip(k, lo - 1, lo + size - 1)
            shared = weight[~single] * (summed[last] - summed[lo - 1]) / size
            total[:, column] += np.bincount(user, shared, minlength=self.n_users)
        return total

    def _ideal_dcg(self, config: EvalConfig) -> Matrix:
        steps = discounts(self.depth, config)
        if config.ideal == "full_k":
            return self._full_k(config)
        user, grade = self.hits.ideal_user, self.hits.ideal_grade
        length = np.bincount(user, minlength=self.n_users)
        weight = gain_of(grade, config)
        rank = np.arange(len(user)) - (np.cumsum(length) - length)[user] + 1
        return self._cut(user, rank.astype(np.int32), weight * steps[rank])

    def _full_k(self, config: EvalConfig) -> Matrix:
        """Discounts of K relevant items, however few the user has; the whole list stands for its own length."""
        if config.gain != "binary":
            raise full_k_needs_binary()
        places = np.where(np.isinf(self.k), self.n[:, None], self.k)
        if places.max(initial=0) > LONGEST_IDEAL:
            raise full_k_too_long(LONGEST_IDEAL)
        summed = np.cumsum(discounts(int(places.max(initial=0)), config))
        return np.asarray(summed[places.astype(np.int64)])


class Relevant:
    """Relevant hits sorted by user and rank, with their blocks."""

    def __init__(self, user: NDArray[np.int32], lo: NDArray[np.int32], hi: NDArray[np.int32]) -> None:
        self.user, self.lo, self.hi = user, lo, hi
        self.size = (hi - lo + 1).astype(np.int64)
        self.single = slice(None) if len(lo) == 0 or self.size.max() == 1 else np.flatnonzero(self.size == 1)
        self.tied = np.empty(0, np.int64) if isinstance(self.single, slice) else np.flatnonzero(self.size > 1)

    @cached_property
    def index(self) -> NDArray[np.int64]:
        """int64[h]: how many relevant hits of the same user stand before this one in the table."""
        if len(self.user) == 0:
            return np.empty(0, np.int64)
        new = np.ones(len(self.user), dtype=bool)
        new[1:] = self.user[1:] != self.user[:-1]
        start = np.flatnonzero(new)
        return np.arange(len(self.user)) - np.repeat(start, np.diff(np.append(start, len(self.user))))

    @cached_property
    def _block_start(self) -> NDArray[np.int64]:
        """int64[h]: position of the first hit of this hit's block."""
        new = np.ones(len(self.user), dtype=bool)
        new[1:] = (self.user[1:] != self.user[:-1]) | (self.lo[1:] != self.lo[:-1])
        return np.asarray(np.flatnonzero(new)[np.cumsum(new) - 1])

    @cached_property
    def before(self) -> NDArray[np.int64]:
        """int64[h]: relevant items of the user ranked before this hit's block."""
        return self.index if isinstance(self.single, slice) else self.index[self._block_start]

    @cached_property
    def block_hits(self) -> NDArray[np.int64]:
        """int64[h]: relevant items in this hit's block, itself included."""
        return np.bincount(self._block_start, minlength=len(self.user))[self._block_start]

    @cached_property
    def blocks(self) -> HitBlocks:
        """One entry per block of more than one row that holds a relevant item."""
        if isinstance(self.single, slice):
            at = np.empty(0, np.int64)
            return HitBlocks(self.user[at], at, at, at, at)
        first = self.tied[self._block_start[self.tied] == self.tied]
        return HitBlocks(
            self.user[first],
            self.lo[first].astype(np.int64),
            self.size[first],
            self.block_hits[first],
            self.before[first],
        )


class HitBlocks:
    """Blocks of equal scores: user, lo, size m, relevant h, relevant before H."""

    def __init__(
        self,
        user: NDArray[np.int32],
        lo: NDArray[np.int64],
        size: NDArray[np.int64],
        n_relevant: NDArray[np.int64],
        before: NDArray[np.int64],
    ) -> None:
        self.user, self.lo, self.size, self.n_relevant, self.before = user, lo, size, n_relevant, before

    def take(self, at: NDArray[np.int64]) -> HitBlocks:
        return HitBlocks(self.user[at], self.lo[at], self.size[at], self.n_relevant[at], self.before[at])


class FirstBlock:
    """Per user: lo (0 = none), size and relevant items of the first block that holds a relevant item."""

    def __init__(self, lo: NDArray[np.int64], size: NDArray[np.int64], n_relevant: NDArray[np.int64]) -> None:
        self.lo, self.size, self.n_relevant = lo, size, n_relevant
