"""Curves over all thresholds from the ScoreTable, thinned to what a screen can show.

Drawn thresholds are real scores and every drawn point is exact. They are quantiles of each class, so that whatever is
not drawn lies within `1/m` of a drawn point, in the share of positives and in the share of negatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import read_only
from recmetrics.metrics.base import missing_class
from recmetrics.metrics.confusion import Confusion, counts_at_codes
from recmetrics.metrics.f_beta import f_beta_parts
from recmetrics.tables import ScoreTable

N_QUANTILES = 450  # intervals per class: at most 902 thresholds, nothing farther than 1/450 from one of them
N_FIRST_POSITIVES = 200  # precision moves most where little is flagged, so the head is drawn positive by positive
N_BINS = 50
CENTRAL = 0.995  # unbounded scores: bins cover the central 99 %, the ends are counted beside them

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CurvePoints:
    """Exact counts at the drawn thresholds, highest first.

    Attributes
    ----------
    threshold
        float64[d] real scores; rows with score ≥ threshold are flagged (≤ when lower scores are better).
    tp, fp
        int64[d] positives and negatives flagged there.
    n_distinct
        All thresholds that could be drawn.
    """

    threshold: Array
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_positives: int
    n_negatives: int
    n_distinct: int
    lower_is_better: bool = False

    @property
    def beyond(self) -> float:
        """The threshold that flags nothing."""
        return -np.inf if self.lower_is_better else np.inf

    @property
    def n_rows(self) -> int:
        return self.n_positives + self.n_negatives

    @property
    def n_drawn(self) -> int:
        return len(self.threshold)


@dataclass(frozen=True, eq=False)
class Curve:
    """A line to draw: x, y, threshold float64[d]; empty when `undefined` holds one of `results.REASONS`."""

    x: Array
    y: Array
    threshold: Array
    n_drawn: int
    n_distinct: int
    undefined: str | None = None


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """Precision, recall and F against the threshold, lowest threshold first; float64[d] each."""

    threshold: Array
    precision: Array
    recall: Array
    f_beta: Array
    beta: float
    n_drawn: int
    n_distinct: int
    undefined: str | None = None


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Cost `FP·ratio + FN` against the threshold, lowest first, in units of one missed positive.

    `flag_none` and `flag_all` are the costs of doing nothing and of flagging every row.
    """

    threshold: Array
    cost: Array
    ratio: float
    flag_none: float
    flag_all: float
    n_drawn: int
    n_distinct: int
    undefined: str | None = None

    def cost_of(self, point: Confusion) -> float:
        """Return the cost of any counts, on the scale of the curve."""
        return float(_cost(point.fp, point.fn, self.ratio))


@dataclass(frozen=True, eq=False)
class Histogram:
    """Scores by class: edges float64[b+1]; counts int64[b].

    A bin holds its lower edge and the last one both; with lower scores better, its upper edge and the first one both.
    `n_outside` rows lie beyond the edges, which happens with unbounded scores only.
    """

    edges: Array
    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    n_positives: int
    n_negatives: int
    n_outside: int

    @property
    def share_of_positives(self) -> Array:
        """float64[b]: share of all positives in each bin; zeros without positives."""
        return self.positives / max(self.n_positives, 1)

    @property
    def share_of_negatives(self) -> Array:
        """float64[b]: share of all negatives in each bin; zeros without negatives."""
        return self.negatives / max(self.n_negatives, 1)


def quantile_codes(codes: NDArray[np.uint32], n_intervals: int) -> NDArray[np.uint32]:
    """Return the distinct codes at `n_intervals` + 1 evenly spaced places of a sorted array, both ends included."""
    if len(codes) <= n_intervals + 1:
        return np.unique(codes)
    # Whole-number division: neighbours are never more than ceil((n-1)/n_intervals) places apart, whatever n.
    return np.unique(codes[np.arange(n_intervals + 1) * (len(codes) - 1) // n_intervals])


def curve_points(
    scores: ScoreTable,
    *,
    n_quantiles: int = N_QUANTILES,
    n_first_positives: int = N_FIRST_POSITIVES,
    lower_is_better: bool = False,
) -> CurvePoints:
    """Return the thresholds to draw with their exact counts.

    Parameters
    ----------
    n_quantiles
        m: no threshold left out changes the share of positives or of negatives by more than 1/m against its
        neighbour drawn above.
    n_first_positives
        The highest positives, drawn one by one.
    lower_is_better
        The scores were negated on the way in; thresholds are given in the file's own direction.
    """
    head = scores.positives[max(len(scores.positives) - n_first_positives, 0) :]
    drawn = [quantile_codes(scores.positives, n_quantiles), quantile_codes(scores.negatives, n_quantiles), head]
    codes = np.unique(np.concatenate(drawn))[::-1]
    tp, fp = counts_at_codes(scores, codes)
    threshold = -scores.decode(codes) if lower_is_better else scores.decode(codes)
    return CurvePoints(
        read_only(threshold + 0.0),
        read_only(tp),
        read_only(fp),
        scores.n_positives,
        scores.n_negatives,
        n_distinct_scores(scores),
        lower_is_better,
    )


def n_distinct_scores(scores: ScoreTable) -> int:
    """Return how many different scores there are in both classes together."""
    counted = 0
    for codes in (scores.positives, scores.negatives):
        counted += int(np.count_nonzero(codes[1:] != codes[:-1])) + (len(codes) > 0)
    if not scores.n_positives or not scores.n_negatives:
        return counted
    own = np.unique(scores.positives)
    at = np.searchsorted(scores.negatives, own)
    shared = scores.negatives[np.minimum(at, scores.n_negatives - 1)] == own
    return counted - int(np.count_nonzero(shared))


def roc_curve(points: CurvePoints) -> Curve:
    """Return x = false positive rate, y = true positive rate, from (0, 0) at threshold ±∞ to (1, 1).

    Undefined with one class. Source: scikit-learn `roc_curve(drop_intermediate=False)` at the drawn thresholds.
    """
    missing = missing_class(points.n_positives, points.n_negatives)
    if missing:
        return _undefined(points, missing)
    return Curve(
        read_only(np.concatenate([[0.0], points.fp / points.n_negatives])),
        read_only(np.concatenate([[0.0], points.tp / points.n_positives])),
        read_only(np.concatenate([[points.beyond], points.threshold])),
        points.n_drawn,
        points.n_distinct,
    )


def pr_curve(points: CurvePoints) -> Curve:
    """Return x = recall, y = precision, as steps: y holds from the point before up to its own x.

    The first point stands at recall 0 with the precision of the highest score, so that the area under the steps is
    AUPRC. Undefined without positives. Source: scikit-learn `precision_recall_curve` at the drawn thresholds.
    """
    if points.n_positives == 0:
        return _undefined(points, "no positives" if points.n_rows else "no rows")
    precision = points.tp / (points.tp + points.fp)
    return Curve(
        read_only(np.concatenate([[0.0], points.tp / points.n_positives])),
        read_only(np.concatenate([precision[:1], precision])),
        read_only(np.concatenate([points.threshold[:1], points.threshold])),
        points.n_drawn,
        points.n_distinct,
    )


def threshold_curve(points: CurvePoints, beta: float = 1.0) -> ThresholdCurve:
    """Return precision, recall and F against the threshold. Undefined without positives."""
    if points.n_positives == 0:
        empty = _undefined(points, "no positives" if points.n_rows else "no rows")
        return ThresholdCurve(empty.x, empty.x, empty.x, empty.x, beta, 0, points.n_distinct, empty.undefined)
    order = np.argsort(points.threshold)
    tp, fp = points.tp[order], points.fp[order]
    above, below = f_beta_parts(tp, tp + fp, points.n_positives, beta)
    return ThresholdCurve(
        read_only(points.threshold[order]),
        read_only(tp / (tp + fp)),
        read_only(tp / points.n_positives),
        read_only(above / below),
        beta,
        points.n_drawn,
        points.n_distinct,
    )


def gain_curve(points: CurvePoints) -> Curve:
    """Return x = share of rows flagged, y = share of positives among them, from (0, 0). Undefined without positives."""
    if points.n_positives == 0:
        return _undefined(points, "no positives" if points.n_rows else "no rows")
    return Curve(
        read_only(np.concatenate([[0.0], (points.tp + points.fp) / points.n_rows])),
        read_only(np.concatenate([[0.0], points.tp / points.n_positives])),
        read_only(np.concatenate([[points.beyond], points.threshold])),
        points.n_drawn,
        points.n_distinct,
    )


def cost_curve(points: CurvePoints, ratio: float) -> CostCurve:
    """Return `FP·ratio + FN` at each drawn threshold; `ratio` says how many misses one false alarm costs, ≥ 0."""
    order = np.argsort(points.threshold)
    cost = _cost(points.fp[order], points.n_positives - points.tp[order], ratio)
    return CostCurve(
        read_only(points.threshold[order]),
        read_only(np.asarray(cost, dtype=np.float64)),
        ratio,
        float(points.n_positives),
        float(points.n_negatives * ratio),
        points.n_drawn,
        points.n_distinct,
        None if points.n_rows else "no rows",
    )


def _cost(fp: Any, fn: Any, ratio: float) -> Any:
    return fp * ratio + fn


def score_histogram(scores: ScoreTable, n_bins: int = N_BINS, *, lower_is_better: bool = False) -> Histogram:
    """Return exact counts per bin and class: bins of [0, 1] for scores inside it, else of the central 99 %."""
    edges, last = _edges(scores, n_bins)
    # The last bin holds its upper edge, so its end is the first code beyond it.
    ends = [scores.code_at(edge) for edge in edges[:-1]] + [scores.code_at(last, strictly_above=True)]
    places = np.asarray(ends, dtype=np.uint64)
    counts = [np.diff(np.searchsorted(codes, places)) for codes in (scores.positives, scores.negatives)]
    if lower_is_better:
        edges, counts = -edges[::-1] + 0.0, [count[::-1] for count in counts]
    positives, negatives = (read_only(np.ascontiguousarray(count, dtype=np.int64)) for count in counts)
    inside = int(positives.sum() + negatives.sum())
    return Histogram(
        read_only(edges), positives, negatives, scores.n_positives, scores.n_negatives, scores.n_rows - inside
    )


def _edges(scores: ScoreTable, n_bins: int) -> tuple[Array, float]:
    """Return the edges and the highest score that the last bin holds."""
    finite = scores.code_at(-np.inf, strictly_above=True)  # rows ranked last stand at −∞
    parts = [codes[np.searchsorted(codes, np.uint64(finite)) :] for codes in (scores.positives, scores.negatives)]
    present = [codes for codes in parts if len(codes)]
    if not present:
        return np.linspace(0.0, 1.0, n_bins + 1), 1.0
    lowest, highest = (float(end) for end in _scores_at(scores, present, 0.0, 1.0))
    if lowest >= 0 and highest <= 1:
        return np.linspace(0.0, 1.0, n_bins + 1), 1.0
    low, high = (float(end) for end in _scores_at(scores, present, 1 - CENTRAL, CENTRAL))
    if low == high:
        return np.linspace(low - 0.5, high + 0.5, n_bins + 1), high + 0.5
    if not np.isfinite(high - low):  # scores from end to end of the number range: their distance is beyond it
        return 2 * np.linspace(low / 2, high / 2, n_bins + 1), high
    return np.linspace(low, high, n_bins + 1), high


def _scores_at(scores: ScoreTable, classes: list[NDArray[np.uint32]], low: float, high: float) -> Array:
    """Return the lowest score at quantile `low` and the highest at `high` of any class."""
    # Each class keeps its own centre, or the few positives would fall off the edge of the many negatives.
    first = min(codes[int((len(codes) - 1) * low)] for codes in classes)
    last = max(codes[int(np.ceil((len(codes) - 1) * high))] for codes in classes)
    return scores.decode(np.asarray([first, last], dtype=np.uint32))


def _undefined(points: CurvePoints, reason: str) -> Curve:
    empty = read_only(np.empty(0))
    return Curve(empty, empty, empty, 0, points.n_distinct, reason)
