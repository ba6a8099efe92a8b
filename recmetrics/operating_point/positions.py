"""What a move of the threshold looks up: made once per ScoreTable, in one pass over its positives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import read_only
from recmetrics.metrics.confusion import counts_at_codes
from recmetrics.tables import HitTable, ScoreTable

Mode = Literal["score", "share", "topk", "precision", "recall", "cost"]
MODES: tuple[Mode, ...] = ("score", "share", "topk", "precision", "recall", "cost")
Rule = Literal["ge", "gt"]

N_POSITIONS = 500  # per class, so a ladder has at most 1,000 places
_COST_STEPS = (100, 50, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2)
# Misses that one false alarm costs, from 1 : 100 to 100 : 1: the ladder of the cost mode.
COST_RATIOS = (*(1 / n for n in _COST_STEPS), 1.0, *(float(n) for n in reversed(_COST_STEPS)))
NOTHING = 2**32  # above every code: no row is flagged

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Steps:
    """Counts at each distinct positive score, highest first: code uint32[j], tp and fp int64[j].

    Between two of them only negatives are added, so every optimum stands on one of them.
    """

    code: NDArray[np.uint32]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]

    @cached_property
    def precision(self) -> Array:
        return read_only(self.tp / (self.tp + self.fp))

    @cached_property
    def best_precision_from(self) -> Array:
        """float64[j]: the best precision at this recall or a higher one; never rises."""
        return read_only(np.maximum.accumulate(self.precision[::-1])[::-1])


@dataclass(frozen=True, eq=False)
class Hull:
    """Corners of the ROC curve's upper hull, from nothing flagged on: the only points that can be cheapest.

    `ratio` float64[c-1] falls: the step to the next corner finds that many positives per negative, and pays while the
    cost ratio is below it.
    """

    code: NDArray[np.int64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    ratio: Array


@dataclass(frozen=True, eq=False)
class TopK:
    """The rule "the first K of every user" for K = 1 … k_max: flagged int64[k_max], tp float64[k_max] expected hits.

    `length` holds the users' list lengths, sorted; `n_positives` and `n_rows` count rows with a user.
    """

    flagged: NDArray[np.int64]
    tp: Array
    length: NDArray[np.int64]
    n_positives: int
    n_rows: int

    @property
    def k_max(self) -> int:
        return len(self.flagged)

    @property
    def n_users(self) -> int:
        return len(self.length)


@dataclass(frozen=True, eq=False)
class PositionTable:
    """Everything a move of the threshold needs.

    Attributes
    ----------
    code, flagged
        uint32[p] ascending quantiles of each class, both ends included, and the rows flagged there.
    topk
        None without users.
    lower_is_better
        Scores were negated on the way in; thresholds are asked for and given in the file's own direction.
    """

    scores: ScoreTable
    code: NDArray[np.uint32]
    flagged: NDArray[np.int64]
    steps: Steps
    hull: Hull
    topk: TopK | None
    rule: Rule = "ge"
    lower_is_better: bool = False

    @property
    def sign(self) -> str:
        """The sign between a flagged row's score and the threshold."""
        if self.lower_is_better:
            return "≤" if self.rule == "ge" else "<"
        return "≥" if self.rule == "ge" else ">"


def position_table(
    scores: ScoreTable,
    hits: HitTable | None = None,
    *,
    rule: Rule = "ge",
    lower_is_better: bool = False,
    n_positions: int = N_POSITIONS,
) -> PositionTable:
    """Return the look-up tables of a model. `hits` are the lists over labelled rows; None without users.

    One pass over the positives: some hundredths of a second per million rows.
    """
    places = [_spread(codes, n_positions) for codes in (scores.positives, scores.negatives)]
    code = np.unique(np.concatenate(places))
    tp, fp = counts_at_codes(scores, code)
    steps = _steps(scores)
    topk = None if hits is None else top_k_table(hits)
    flagged = read_only(tp + fp)
    return PositionTable(scores, read_only(code), flagged, steps, _hull(steps), topk, rule, lower_is_better)


def _spread(codes: NDArray[np.uint32], n: int) -> NDArray[np.uint32]:
    """Return at most `n` codes at evenly spaced places of a sorted array, both ends included."""
    if len(codes) <= n:
        return codes
    return codes[np.arange(n) * (len(codes) - 1) // (n - 1)]


def _steps(scores: ScoreTable) -> Steps:
    # The array is sorted already: neighbours are compared, where unique() would sort again.
    positives = scores.positives[::-1]
    first = np.concatenate([[True], positives[1:] != positives[:-1]])[: len(positives)]
    code = positives[first]
    tp, fp = counts_at_codes(scores, code)
    return Steps(read_only(code), read_only(tp), read_only(fp))


def _hull(steps: Steps) -> Hull:
    code = np.concatenate([[NOTHING], steps.code.astype(np.int64)])
    tp, fp = np.concatenate([[0], steps.tp]), np.concatenate([[0], steps.fp])
    while len(tp) > 2:
        # A point on or under the chord of its neighbours is no corner, so all such points go in one pass.
        rise = (tp[1:-1] - tp[:-2]) * (fp[2:] - fp[:-2])
        keep = np.concatenate([[True], rise > (fp[1:-1] - fp[:-2]) * (tp[2:] - tp[:-2]), [True]])
        if keep.all():
            break
        code, tp, fp = code[keep], tp[keep], fp[keep]
    with np.errstate(divide="ignore"):
        ratio = np.diff(tp) / np.diff(fp)
    return Hull(read_only(code), read_only(tp), read_only(fp), read_only(ratio))


def top_k_table(hits: HitTable) -> TopK:
    """Return the counts of "the first K of every user", K from 1 to the longest list.

    A block of equal scores spreads its hits evenly over its places, which is their expected number.
    """
    length = np.sort(hits.n_candidates[hits.n_candidates > 0])
    k_max = int(length[-1]) if len(length) else 0
    # min(K, n) grows by 1 with K while K ≤ n: count the lists that still have a K-th place.
    n_at = np.bincount(length, minlength=k_max + 1)[1:]
    flagged = np.cumsum(len(length) - np.concatenate([[0], np.cumsum(n_at)[:-1]])) if k_max else n_at
    lo, hi = hits.lo[hits.relevant], hits.hi[hits.relevant]
    weight = 1.0 / (hi - lo + 1)
    per_place = np.bincount(lo, weight, k_max + 2) - np.bincount(hi + 1, weight, k_max + 2)
    tp = np.cumsum(np.cumsum(per_place))[1 : k_max + 1]
    # Thirds and sevenths do not add up to whole numbers in binary; whole counts are shown as such.
    tp = np.where(np.abs(tp - np.round(tp)) < 1e-6, np.round(tp), tp)
    return TopK(read_only(flagged.astype(np.int64)), read_only(tp), read_only(length), len(lo), int(length.sum()))


def ladder(table: PositionTable, mode: Mode) -> Array:
    """Return the values that a slider of this mode steps through, ascending, float64[≤ 1,000].

    Solving for a value of the ladder gives a point that has exactly this value. Empty where the mode cannot apply.
    A constant score has two places in score mode, one that flags every row and one that flags none.
    """
    if mode == "score":
        return read_only(_score_ladder(table))
    if mode == "share":
        return read_only(table.flagged[::-1] / max(table.scores.n_rows, 1))
    if mode == "topk":
        k_max = table.topk.k_max if table.topk else 0
        return read_only(np.unique(np.geomspace(1, k_max, 1_000).round()) if k_max else np.empty(0))
    if mode == "precision":
        return read_only(_thin(np.unique(table.steps.best_precision_from)))
    if mode == "recall":
        return read_only(_thin(table.steps.tp / max(table.scores.n_positives, 1)))
    return read_only(np.asarray(COST_RATIOS))


def _score_ladder(table: PositionTable) -> Array:
    values = table.scores.decode(table.code)
    if len(values) == 1:
        beyond = np.nextafter(values[0], np.inf if table.rule == "ge" else -np.inf)
        values = np.sort(np.append(values, beyond))
    return 0.0 - values[::-1] if table.lower_is_better else values


def _thin(values: Array) -> Array:
    n = 2 * N_POSITIONS
    return values if len(values) <= n else values[np.arange(n) * (len(values) - 1) // (n - 1)]
