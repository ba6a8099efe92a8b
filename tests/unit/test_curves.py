"""Curves: exact where drawn, near everywhere else, undefined with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
import sklearn.metrics
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.curves import (
    Curve,
    CurvePoints,
    cost_curve,
    curve_points,
    gain_curve,
    n_distinct_scores,
    pr_curve,
    quantile_codes,
    roc_curve,
    score_histogram,
    threshold_curve,
)
from recmetrics.engines.numpy_engine import NumpyEngine
from recmetrics.tables import ScoreTable
from tests.build import dataset

# metrics.md §6.1, R10: ten rows A…J.
LABELS = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
SCORES = [0.90, 0.80, 0.75, 0.68, 0.55, 0.50, 0.42, 0.35, 0.20, 0.10]


def table(labels: Iterable[float], scores: Sequence[float]) -> ScoreTable:
    rows = [(None, None, label, None) for label in labels]
    return NumpyEngine().score_table(dataset(rows, scores={"score": scores}), EvalConfig(), "score")


def random_rows(n: int = 20_000, seed: int = 7, decimals: int | None = 3) -> tuple[NDArray, NDArray]:
    """Scores with ties (1,000 different ones) unless `decimals` is None; about 10 % positives."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.1).astype(float)
    scores = 1 / (1 + np.exp(-rng.normal(size=n) - labels))
    return labels, scores if decimals is None else scores.round(decimals)


def at(curve: Curve, thresholds: NDArray) -> tuple[NDArray, NDArray]:
    """Return x and y of the curve at its finite thresholds, lowest first, checked against `thresholds`."""
    finite = np.isfinite(curve.threshold)
    order = np.argsort(curve.threshold[finite])
    assert np.isin(curve.threshold[finite], thresholds).all()
    return curve.x[finite][order], curve.y[finite][order]


def test_the_ten_rows_walk_the_roc_curve_of_the_handbook_and_end_at_one_one() -> None:
    # (TP, FP) at each score: 10 20 21 31 32 42 43 53 54 55; five positives, five negatives.
    curve = roc_curve(curve_points(table(LABELS, SCORES)))
    assert [round(5 * y) for y in curve.y] == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5]
    assert [round(5 * x) for x in curve.x] == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5]
    assert (curve.x[-1], curve.y[-1]) == (1.0, 1.0)
    assert curve.threshold[0] == np.inf
    assert curve.threshold[1:] == pytest.approx(SCORES, abs=0)
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(19 / 25, abs=1e-12)
    assert (curve.n_drawn, curve.n_distinct) == (10, 10)


def test_the_steps_of_the_pr_curve_enclose_auprc() -> None:
    # 1/5 · (1/1 + 2/2 + 3/4 + 4/6 + 5/8) = .8083 (R11).
    curve = pr_curve(curve_points(table(LABELS, SCORES)))
    assert np.sum(np.diff(curve.x) * curve.y[1:]) == pytest.approx((1 + 1 + 3 / 4 + 4 / 6 + 5 / 8) / 5, abs=1e-12)
    # Precision at each score (app.md §3.2): 1 1 .667 .750 .600 .667 .571 .625 .556 .500.
    assert curve.y[1:] == pytest.approx([1, 1, 2 / 3, 3 / 4, 3 / 5, 4 / 6, 4 / 7, 5 / 8, 5 / 9, 5 / 10], abs=1e-12)


@pytest.mark.parametrize("decimals", [2, 3, None])
def test_drawn_points_equal_scikit_learn(decimals: int | None) -> None:
    labels, scores = random_rows(decimals=decimals)
    points = curve_points(table(labels, scores))
    fpr, tpr, thresholds = sklearn.metrics.roc_curve(labels, scores, drop_intermediate=False)
    places = {threshold: i for i, threshold in enumerate(thresholds)}
    curve = roc_curve(points)
    chosen = [places[t] for t in curve.threshold]
    assert np.abs(curve.x - fpr[chosen]).max() < 1e-12
    assert np.abs(curve.y - tpr[chosen]).max() < 1e-12
    precision, recall, thresholds = sklearn.metrics.precision_recall_curve(labels, scores)
    places = {threshold: i for i, threshold in enumerate(thresholds)}
    curve = pr_curve(points)
    chosen = [places[t] for t in curve.threshold]
    assert np.abs(curve.x[1:] - recall[chosen][1:]).max() < 1e-12
    assert np.abs(curve.y[1:] - precision[chosen][1:]).max() < 1e-12


@pytest.mark.parametrize("m", [5, 20, 100])
@pytest.mark.parametrize("decimals", [1, 3, None])
def test_every_point_left_out_lies_within_one_mth_of_a_drawn_one(m: int, decimals: int | None) -> None:
    labels, scores = random_rows(decimals=decimals)
    drawn = roc_curve(curve_points(table(labels, scores), n_quantiles=m, n_first_positives=0))
    fpr, tpr, thresholds = sklearn.metrics.roc_curve(labels, scores, drop_intermediate=False)
    # The drawn neighbour above: the lowest drawn threshold that is not below this one.
    above = np.searchsorted(-drawn.threshold, -thresholds, side="right") - 1
    assert (tpr - drawn.y[above]).max() <= 1 / m
    assert (fpr - drawn.x[above]).max() <= 1 / m
    assert drawn.n_drawn <= 2 * (m + 1)


def test_the_first_200_positives_are_all_drawn() -> None:
    labels, scores = random_rows(decimals=None)
    points = curve_points(table(labels, scores), n_quantiles=5)
    best = np.sort(scores[labels == 1])[::-1][:200]
    assert np.isin(best, points.threshold).all()


def test_a_million_rows_draw_at_most_2000_points_with_both_ends() -> None:
    labels, scores = random_rows(1_000_000, decimals=None)
    points = curve_points(table(labels, scores))
    assert points.n_drawn <= 2_000
    assert points.threshold[0] == scores.max()
    assert points.threshold[-1] == scores.min()
    assert points.n_distinct == len(np.unique(scores))


@pytest.mark.parametrize("n", [1, 2, 10, 11, 12, 999, 1_000_003])
def test_quantiles_keep_both_ends_and_even_gaps(n: int) -> None:
    found = quantile_codes(np.arange(n, dtype=np.uint32), 10)
    assert (found[0], found[-1]) == (0, n - 1)
    assert np.diff(found, prepend=found[:1]).max() <= -(-max(n - 1, 1) // 10)


def test_precision_recall_and_f_against_the_threshold_match_the_thousand_candidates() -> None:
    # R9: 1,000 rows, 30 positives; the first 20/50/100/300 hold 12/20/26/30 of them; scores fall in four plateaus.
    labels, scores = thousand_candidates()
    curve = threshold_curve(curve_points(table(labels, scores)), beta=2)
    assert curve.threshold.tolist() == [0.1, 0.2, 0.4, 0.6, 0.8]
    assert curve.precision == pytest.approx([0.03, 30 / 300, 26 / 100, 20 / 50, 12 / 20], abs=1e-12)
    assert curve.recall == pytest.approx([1, 1, 26 / 30, 20 / 30, 12 / 30], abs=1e-12)
    assert curve.f_beta[1:] == pytest.approx([0.3571, 0.5909, 0.5882, 0.4286], abs=5e-5)


def thousand_candidates() -> tuple[list[int], list[float]]:
    labels: list[int] = []
    scores: list[float] = []
    for tp, fp, score in ((12, 8, 0.8), (8, 22, 0.6), (6, 44, 0.4), (4, 196, 0.2), (0, 700, 0.1)):
        labels += [1] * tp + [0] * fp
        scores += [score] * (tp + fp)
    return labels, scores


def test_the_gain_curve_says_what_share_of_positives_the_first_rows_hold() -> None:
    labels, scores = thousand_candidates()
    curve = gain_curve(curve_points(table(labels, scores)))
    assert curve.x == pytest.approx([0, 0.02, 0.05, 0.1, 0.3, 1], abs=1e-12)
    assert curve.y == pytest.approx([0, 12 / 30, 20 / 30, 26 / 30, 1, 1], abs=1e-12)


def test_the_cost_curve_adds_false_alarms_at_their_ratio_to_the_misses() -> None:
    labels, scores = thousand_candidates()
    curve = cost_curve(curve_points(table(labels, scores)), 0.1)
    # Lowest threshold first: 970·.1 + 0, 270·.1 + 0, 74·.1 + 4, 30·.1 + 10, 8·.1 + 18.
    assert curve.cost == pytest.approx([97, 27, 11.4, 13, 18.8], abs=1e-9)
    assert (curve.flag_none, curve.flag_all) == (30, pytest.approx(97))


def test_a_constant_score_has_one_threshold_the_diagonal_and_precision_at_the_base_rate() -> None:
    points = curve_points(table([1, 0, 0, 0], [0.3] * 4))
    roc, pr = roc_curve(points), pr_curve(points)
    assert (roc.x.tolist(), roc.y.tolist()) == ([0, 1], [0, 1])
    assert (pr.x.tolist(), pr.y.tolist()) == ([0, 1], [0.25, 0.25])
    assert points.n_distinct == 1


@pytest.mark.parametrize(("labels", "reason"), [([1, 1], "no negatives"), ([0, 0], "no positives"), ([], "no rows")])
def test_with_one_class_the_roc_curve_says_why_it_is_not_drawn(labels: list[int], reason: str) -> None:
    curve = roc_curve(curve_points(table(labels, [0.1, 0.2][: len(labels)])))
    assert curve.undefined == reason
    assert len(curve.x) == len(curve.y) == 0


def test_without_positives_no_curve_of_recall_is_drawn_but_costs_are() -> None:
    points = curve_points(table([0, 0], [0.1, 0.2]))
    assert [pr_curve(points).undefined, gain_curve(points).undefined] == ["no positives"] * 2
    assert threshold_curve(points).undefined == "no positives"
    assert cost_curve(points, 1.0).cost.tolist() == [2, 1]


def test_without_negatives_precision_is_one_throughout() -> None:
    curve = pr_curve(curve_points(table([1, 1], [0.1, 0.2])))
    assert (curve.undefined, curve.y.tolist()) == (None, [1, 1, 1])


def test_with_lower_scores_better_thresholds_stand_in_the_direction_of_the_file() -> None:
    # `usable` hands negated scores on; distances 1 and 2 belong to the positives.
    points: CurvePoints = curve_points(table([1, 1, 0], [-1.0, -2.0, -3.0]), lower_is_better=True)
    assert points.threshold.tolist() == [1, 2, 3]
    assert roc_curve(points).threshold[0] == -np.inf
    assert threshold_curve(points).precision.tolist() == [1, 1, 2 / 3]
    histogram = score_histogram(table([1, 1, 0], [-1.0, -2.0, -3.0]), n_bins=2, lower_is_better=True)
    assert histogram.edges.tolist() == [1, 2, 3]
    # [1, 2] holds both positives, (2, 3] the negative.
    assert (histogram.positives.tolist(), histogram.negatives.tolist()) == ([2, 0], [0, 1])


def test_distinct_scores_are_counted_over_both_classes_together() -> None:
    assert n_distinct_scores(table([1, 1, 0, 0, 1], [0.5, 0.5, 0.5, 0.2, 0.9])) == 3


def test_the_histogram_counts_every_row_of_a_probability_in_bins_of_0_to_1() -> None:
    labels, scores = random_rows(decimals=2)
    histogram = score_histogram(table(labels, scores), n_bins=10)
    edges = np.linspace(0, 1, 11)
    assert histogram.edges == pytest.approx(edges)
    assert histogram.positives.tolist() == np.histogram(scores[labels == 1], edges)[0].tolist()
    assert histogram.negatives.tolist() == np.histogram(scores[labels == 0], edges)[0].tolist()
    assert histogram.n_outside == 0
    assert histogram.share_of_positives.sum() == pytest.approx(1)


def test_the_histogram_of_raw_scores_is_not_squeezed_by_an_outlier_and_counts_it() -> None:
    rng = np.random.default_rng(3)
    scores = np.append(rng.normal(size=2_000), 1e6)
    histogram = score_histogram(table(np.arange(2_001) % 2, scores))
    assert histogram.edges[-1] < 10
    assert histogram.n_outside >= 1
    assert histogram.positives.sum() + histogram.negatives.sum() + histogram.n_outside == 2_001


@pytest.mark.parametrize("score", [7.0, -3.5, 0.25])
def test_the_histogram_of_a_constant_holds_every_row(score: float) -> None:
    histogram = score_histogram(table([1, 0, 0], [score] * 3))
    assert histogram.positives.sum() == 1
    assert histogram.negatives.sum() == 2


def test_rows_ranked_last_with_minus_infinity_are_drawn_and_counted_outside() -> None:
    scores = table([1, 0, 0, 0], [2.0, 1.0, 3.0, -np.inf])
    assert roc_curve(curve_points(scores)).threshold[-1] == -np.inf
    histogram = score_histogram(scores)
    assert np.isfinite(histogram.edges).all()
    assert histogram.n_outside == 1


def test_the_histogram_spans_scores_whose_distance_is_beyond_the_number_range() -> None:
    histogram = score_histogram(table([1, 0, 1, 0], [1e308, -1e308, 0.0, 1.5e308]), n_bins=5)
    assert histogram.edges == pytest.approx([-1e308, -0.5e308, 0, 0.5e308, 1e308, 1.5e308], rel=1e-12, abs=1e293)
    assert (histogram.positives.tolist(), histogram.negatives.tolist()) == ([0, 0, 1, 0, 1], [1, 0, 0, 0, 1])
    assert histogram.n_outside == 0
