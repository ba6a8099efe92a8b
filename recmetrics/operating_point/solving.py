"""Finding the point that a value asks for: by score, share of rows, top K, precision, recall or cost ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from recmetrics.metrics.base import Measured
from recmetrics.metrics.classification import precision_of, recall_of
from recmetrics.metrics.confusion import Confusion, confusion_at, confusion_at_code
from recmetrics.metrics.f_beta import f_beta_parts
from recmetrics.operating_point.positions import COST_RATIOS, NOTHING, Mode, PositionTable, Rule, TopK
from recmetrics.tables import ScoreTable

DEFAULT_SHARE = 0.05


@dataclass(frozen=True)
class OperatingPoint:
    """A decision point and what it makes of the rows.

    Attributes
    ----------
    mode, value
        What was asked for; everything else follows from it.
    threshold
        The score that decides; None for top K, which is a rule per user; ±∞ when nothing is flagged.
    confusion
        Counts in rows; expected counts over equal scores for top K.
    reached
        False when no threshold reaches the target; then the point with the best value stands in.
    n_on_threshold, other_rule
        Rows whose score equals the threshold, and the counts with the other sign (`>` for `≥`).
    k_equivalent
        The K whose rule flags about as many rows; None without users.
    cost_low, cost_high
        Ratios FP : FN between which no point is cheaper than this one. Equal where this point never is the cheapest:
        the ratio at which its neighbours on the hull are. None with one class.
    n_short_lists
        Users whose list is shorter than K, for top K.
    """

    mode: Mode
    value: float
    threshold: float | None
    confusion: Confusion
    reached: bool = True
    n_on_threshold: int = 0
    other_rule: Confusion | None = None
    k_equivalent: int | None = None
    cost_low: float | None = None
    cost_high: float | None = None
    n_short_lists: int = 0

    @property
    def is_cheapest(self) -> bool:
        """Whether some cost ratio makes this the cheapest point."""
        return self.cost_low is not None and self.cost_low != self.cost_high

    @property
    def share(self) -> float:
        """Share of rows flagged, 0..1."""
        return self.confusion.flagged / self.confusion.n if self.confusion.n else math.nan

    @property
    def precision(self) -> Measured:
        return precision_of(self.confusion)

    @property
    def recall(self) -> Measured:
        return recall_of(self.confusion)


def solve(table: PositionTable, mode: Mode, value: float) -> OperatingPoint:
    """Return the point that a value asks for; look-ups only.

    `score`: rows at or beyond the value. `share`: the score at that rank, all rows tied with it included. `topk`: the
    first K rows of every user. `precision`: among the thresholds that reach it, the one with the most recall; when
    none does, the best precision there is and `reached` False. `recall`: the highest threshold that reaches it.
    `cost`: the least `FP·value + FN`, the higher threshold of equals; nothing flagged is one of the choices.
    """
    return _SOLVERS[mode](table, value)


def _by_score(table: PositionTable, value: float) -> OperatingPoint:
    return _point(table, "score", value, _inward(table, value))


def _by_share(table: PositionTable, value: float) -> OperatingPoint:
    return _at_code(table, "share", value, _code_at_rank(table.scores, _whole(value, table.scores.n_rows)))


def _by_top_k(table: PositionTable, value: float) -> OperatingPoint:
    topk = table.topk
    if topk is None or topk.k_max == 0:
        raise ValueError("top K needs users with lists")
    k = max(int(value), 1)
    at = min(k, topk.k_max) - 1
    tp, flagged = float(topk.tp[at]), int(topk.flagged[at])
    n_negatives = topk.n_rows - topk.n_positives
    fp = flagged - tp
    confusion = Confusion(_count(tp), _count(fp), _count(topk.n_positives - tp), _count(n_negatives - fp))
    low, high = _cost_range(table, flagged, tp)
    n_short = int(np.searchsorted(topk.length, k, side="left"))
    return OperatingPoint(
        "topk", k, None, confusion, k_equivalent=k, cost_low=low, cost_high=high, n_short_lists=n_short
    )


def _by_precision(table: PositionTable, value: float) -> OperatingPoint:
    best = table.steps.best_precision_from
    if len(best) == 0:
        return _at_code(table, "precision", value, NOTHING, reached=False)
    reached = bool(best[0] >= value)
    target = value if reached else best[0]
    at = int(np.searchsorted(-best, -target, side="right")) - 1
    return _at_code(table, "precision", value, int(table.steps.code[at]), reached=reached)


def _by_recall(table: PositionTable, value: float) -> OperatingPoint:
    positives = table.scores.positives
    if len(positives) == 0:
        return _at_code(table, "recall", value, NOTHING, reached=False)
    needed = _whole(value, len(positives))
    return _at_code(table, "recall", value, int(positives[len(positives) - needed]))


def _by_cost(table: PositionTable, value: float) -> OperatingPoint:
    # Each step to the next corner pays while it finds more positives per negative than a false alarm costs misses.
    at = int(np.searchsorted(-table.hull.ratio, -value, side="left"))
    return _at_code(table, "cost", value, int(table.hull.code[at]))


_SOLVERS: Mapping[Mode, Callable[[PositionTable, float], OperatingPoint]] = {
    "score": _by_score,
    "share": _by_share,
    "topk": _by_top_k,
    "precision": _by_precision,
    "recall": _by_recall,
    "cost": _by_cost,
}


def _whole(share: float, n: int) -> int:
    """Return how many of n a share asks for, 1..n: a share made from a count gives that count back."""
    return min(max(math.ceil(share * n - 1e-6), 1), n)


def _count(value: float) -> float:
    return int(value) if value == int(value) else value


def _inward(table: PositionTable, threshold: float) -> float:
    """Turn a threshold between the file's direction and the table's, where higher is better."""
    return 0.0 - threshold if table.lower_is_better else threshold


def _code_at_rank(scores: ScoreTable, rank: int) -> int:
    """Return the code of the rank-th highest row, 1-based; `NOTHING` without rows."""
    if scores.n_rows == 0:
        return NOTHING
    low, high = 0, NOTHING
    # Halving the 32-bit range of codes needs no merged copy of the two arrays.
    while high - low > 1:
        middle = (low + high) // 2
        if confusion_at_code(scores, middle).flagged >= rank:
            low = middle
        else:
            high = middle
    return low


def _at_code(table: PositionTable, mode: Mode, value: float, code: int, *, reached: bool = True) -> OperatingPoint:
    """Return the point that flags the rows with this code or a higher one."""
    if table.rule == "ge":
        inward = math.inf if code >= NOTHING else float(table.scores.decode(np.asarray([code], dtype=np.uint32))[0])
    else:
        inward = _score_below(table.scores, code)
    return _point(table, mode, value, inward, reached=reached)


def _score_below(scores: ScoreTable, code: int) -> float:
    """Return the highest score below a code; −∞ when there is none."""
    places = [(codes, int(np.searchsorted(codes, np.uint64(code)))) for codes in (scores.positives, scores.negatives)]
    below = [codes[place - 1] for codes, place in places if place]
    return float(scores.decode(np.asarray([max(below)], dtype=np.uint32))[0]) if below else -math.inf


def _point(table: PositionTable, mode: Mode, value: float, inward: float, *, reached: bool = True) -> OperatingPoint:
    other: Rule = "gt" if table.rule == "ge" else "ge"
    confusion = confusion_at(table.scores, inward, table.rule)
    other_rule = confusion_at(table.scores, inward, other)
    low, high = _cost_range(table, confusion.flagged, confusion.tp)
    return OperatingPoint(
        mode,
        value,
        _inward(table, inward),
        confusion,
        reached=reached,
        n_on_threshold=int(abs(confusion.flagged - other_rule.flagged)),
        other_rule=other_rule,
        k_equivalent=_k_equivalent(table.topk, confusion.flagged),
        cost_low=low,
        cost_high=high,
    )


def _k_equivalent(topk: TopK | None, flagged: float) -> int | None:
    if topk is None or topk.k_max == 0 or flagged == 0:
        return None
    at = min(int(np.searchsorted(topk.flagged, flagged)), topk.k_max - 1)
    if at and flagged - topk.flagged[at - 1] < topk.flagged[at] - flagged:
        at -= 1
    return at + 1


def _cost_range(table: PositionTable, flagged: float, tp: float) -> tuple[float | None, float | None]:
    hull = table.hull
    if table.scores.n_positives == 0 or table.scores.n_negatives == 0:
        return None, None
    corners = hull.tp + hull.fp
    at = int(np.searchsorted(corners, flagged, side="right")) - 1
    low = float(hull.ratio[at]) if at < len(hull.ratio) else 0.0
    is_corner = corners[at] == flagged and hull.tp[at] == tp
    if not is_corner:
        return low, low
    return low, float(hull.ratio[at - 1]) if at else math.inf


def value_in(table: PositionTable, point: OperatingPoint, mode: Mode) -> float:
    """Return the value that a mode shows for a point found in another one, within what that mode can be asked.

    Asking for it gives the point back where the mode can name it; a rule per user has no score, so the score that
    flags as many rows stands in.
    """
    if mode == "share":
        return max(point.share, 1 / table.scores.n_rows) if table.scores.n_rows else DEFAULT_SHARE
    if mode == "topk":
        return float(point.k_equivalent or 1)
    if mode in ("precision", "recall"):
        return (point.precision if mode == "precision" else point.recall).value or 0.0
    if mode == "cost":
        return _ratio_within(point.cost_low, point.cost_high)
    if point.threshold is not None and math.isfinite(point.threshold):
        return point.threshold
    nearest = _by_share(table, point.share if point.confusion.n else DEFAULT_SHARE).threshold
    return nearest if nearest is not None and math.isfinite(nearest) else 0.0


def _ratio_within(low: float | None, high: float | None) -> float:
    if low is None or high is None:
        return 1.0
    ratio = low or (high / 2 if math.isfinite(high) else 1.0)
    return min(max(ratio, COST_RATIOS[0]), COST_RATIOS[-1])


PRESETS = ("max_f1", "max_f05", "max_f2", "youden", "break_even")
_BETA = {"max_f1": 1.0, "max_f05": 0.5, "max_f2": 2.0}


def preset(table: PositionTable, name: str) -> OperatingPoint | None:
    """Return the score threshold of a preset; None when the data hold one class too few for it.

    `max_f1`, `max_f05`, `max_f2`: the largest F. `youden`: the largest TPR − FPR. `break_even`: flagged rows as near
    as can be to the number of positives, where precision and recall meet. Equals go to the higher threshold.
    """
    steps, n_positives, n_negatives = table.steps, table.scores.n_positives, table.scores.n_negatives
    if n_positives == 0 or (name == "youden" and n_negatives == 0):
        return None
    if name == "break_even":
        return _as_score(_at_code(table, "score", 0.0, _break_even_code(table.scores)))
    if name == "youden":
        gain = steps.tp * n_negatives - steps.fp * n_positives
    else:
        above, below = f_beta_parts(steps.tp, steps.tp + steps.fp, n_positives, _BETA[name])
        gain = above / below
    return _as_score(_at_code(table, "score", 0.0, int(steps.code[int(np.argmax(gain))])))


def _as_score(point: OperatingPoint) -> OperatingPoint:
    assert point.threshold is not None  # only top K has none
    return replace(point, value=point.threshold)


def _break_even_code(scores: ScoreTable) -> int:
    n_positives = scores.n_positives
    with_ties = _code_at_rank(scores, n_positives)
    surplus = confusion_at_code(scores, with_ties).flagged - n_positives
    missing = n_positives - confusion_at_code(scores, with_ties + 1).flagged
    if surplus < missing or missing == n_positives:
        return with_ties
    return _code_at_rank(scores, n_positives - int(missing))


def default_choice(table: PositionTable) -> tuple[Mode, float]:
    """Return (`score`, 0.5) when 0.5 lies between the 1st and the 99th percentile of the scores, else 5 % of rows."""
    scores = table.scores
    if scores.n_rows:
        ranks = (_whole(0.99, scores.n_rows), _whole(0.01, scores.n_rows))
        codes = np.asarray([_code_at_rank(scores, rank) for rank in ranks], dtype=np.uint32)
        low, high = scores.decode(codes)
        if low <= _inward(table, 0.5) <= high:
            return "score", 0.5
    return "share", DEFAULT_SHARE
