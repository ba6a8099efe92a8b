"""Row metrics: when they are undefined and why, and what stands beside them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.evaluate import evaluate
from recmetrics.metrics.combinatorics import log_choose
from recmetrics.metrics.confusion import Confusion
from recmetrics.results import MetricValue
from tests.build import labelled

AT_THRESHOLD = ["accuracy", "precision", "recall", "f_beta", "fpr", "specificity", "balanced_accuracy", "mcc"]
AREAS = ["roc_auc", "partial_auc", "auprc"]
PROBABILITIES = [
    "log_loss",
    "normalized_entropy",
    "brier",
    "ece",
    "calibration_ratio",
    "miscalibration",
    "discrimination",
    "uncertainty",
    "calibration_slope",
    "calibration_intercept",
]


def measure(labels: list[float | None], scores: list[float], metric: str, **config: Any) -> MetricValue:
    (found,) = evaluate(labelled(labels, scores), EvalConfig(**config), metrics=[metric]).values
    return found


def near(expected: float) -> Any:
    return pytest.approx(expected, rel=0, abs=1e-12)


# Reasons: metric specification §2.1 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("recall", "no positives"),
        ("balanced_accuracy", "no positives"),
        ("mcc", "empty margin"),
        ("roc_auc", "no positives"),
        ("partial_auc", "no positives"),
        ("auprc", "no positives"),
        ("normalized_entropy", "no positives"),
        ("calibration_ratio", "no positives"),
        ("calibration_slope", "no positives"),
        ("calibration_intercept", "no positives"),
    ],
)
def test_without_positives_it_is_said(metric: str, reason: str) -> None:
    assert measure([0, 0], [0.7, 0.2], metric).undefined == reason


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("fpr", "no negatives"),
        ("specificity", "no negatives"),
        ("balanced_accuracy", "no negatives"),
        ("mcc", "empty margin"),
        ("roc_auc", "no negatives"),
        ("partial_auc", "no negatives"),
        ("normalized_entropy", "no negatives"),
        ("calibration_slope", "no negatives"),
        ("calibration_intercept", "no negatives"),
    ],
)
def test_without_negatives_it_is_said(metric: str, reason: str) -> None:
    assert measure([1, 1], [0.7, 0.2], metric).undefined == reason


def test_flagging_nothing_has_no_precision_and_no_correlation() -> None:
    assert measure([1, 0], [0.1, 0.2], "precision").undefined == "no predicted positives"
    assert measure([1, 0], [0.1, 0.2], "mcc").undefined == "empty margin"
    assert measure([1, 0], [0.7, 0.8], "mcc").undefined == "empty margin"


def test_f_is_zero_with_mistakes_alone_and_undefined_without_positives_and_flags() -> None:
    assert measure([1, 0], [0.1, 0.2], "f_beta").value == 0
    assert measure([0, 0], [0.7, 0.2], "f_beta").value == 0
    assert measure([0, 0], [0.1, 0.2], "f_beta").undefined == "no positives"


@pytest.mark.parametrize("metric", PROBABILITIES)
@pytest.mark.parametrize("scores", [[1.5, 0.2], [0.5, -0.1]])
def test_scores_outside_0_to_1_are_no_probabilities(metric: str, scores: list[float]) -> None:
    found = measure([1, 0], scores, metric)
    assert (found.value, found.undefined) == (None, "outside 0..1")


def test_what_needs_no_second_class_is_defined_with_one() -> None:
    assert measure([1, 1], [0.5, 0.75], "auprc").value == 1
    assert measure([1, 1], [0.5, 0.75], "calibration_ratio").value == near(1.25 / 2)
    assert measure([0, 0], [0.5, 0.75], "log_loss").value == near(-(math.log(0.5) + math.log(0.25)) / 2)
    assert measure([0, 0], [0.5, 0.25], "brier").value == near((0.25 + 0.0625) / 2)
    assert measure([0, 0], [0.5, 0.25], "uncertainty").value == 0


@pytest.mark.parametrize("metric", [*AT_THRESHOLD, *AREAS, *PROBABILITIES, "prevalence"])
def test_without_labels_there_is_a_reason_and_no_number(metric: str) -> None:
    found = measure([None, None], [0.7, 0.2], metric)
    assert found.value is None
    assert found.undefined in ("no rows", "no positives", "no negatives", "no predicted positives", "empty margin")


@pytest.mark.parametrize("metric", [*AREAS, *PROBABILITIES, "prevalence", "accuracy"])
def test_no_rows_is_the_reason_where_nothing_nearer_is(metric: str) -> None:
    assert measure([], [], metric).undefined == "no rows"


def test_rows_without_a_label_are_left_out() -> None:
    found = measure([1, 0, None], [0.9, 0.1, 0.5], "roc_auc")
    assert (found.value, found.n_rows) == (1, 2)


# Companions ---------------------------------------------------------------------------------------------------------


def test_precision_shows_its_lift_and_how_much_is_flagged() -> None:
    # 4 flagged of 10, 2 of them right; π = 3/10: lift (2/4)/(3/10).
    found = measure([1, 1, 0, 0, 1, 0, 0, 0, 0, 0], [0.9] * 4 + [0.1] * 6, "precision")
    assert found.extra["lift"] == near(0.5 / 0.3)
    assert found.extra["predicted_share"] == near(0.4)
    assert found.extra["predicted_positives"] == 4
    assert "lift" not in measure([0, 0], [0.9, 0.1], "precision").extra


def test_auc_shows_the_share_of_tied_pairs() -> None:
    # Positives .5, .5, .9; negatives .5, .1: 2 of 6 pairs tied.
    found = measure([1, 1, 1, 0, 0], [0.5, 0.5, 0.9, 0.5, 0.1], "roc_auc")
    assert found.extra["tied_pairs"] == near(2 / 6)
    assert found.value == near((4 + 1) / 6)


def test_log_loss_counts_the_rows_that_it_clips() -> None:
    found = measure([1, 0, 1, 0], [0.0, 1.0, 0.5, 0.5], "log_loss")
    assert found.extra["clipped"] == 2
    # 1 − 1e-15 is 1 − 9·2⁻⁵³ as a double, so that a certain and wrong 1 costs −ln(9·2⁻⁵³).
    assert found.value == near((15 * math.log(10) - math.log(9 * 2.0**-53) + 2 * math.log(2)) / 4)
    other = measure([1, 0, 1, 0], [0.0, 1.0, 0.5, 0.5], "log_loss[clip=0.001]")
    assert other.value == near((2 * 3 * math.log(10) + 2 * math.log(2)) / 4)


def test_the_ratio_of_promised_to_observed_shows_its_z() -> None:
    # Promised 4·.5 = 2, observed 3, variance 4·.25 = 1: z = −1.
    found = measure([1, 1, 1, 0], [0.5] * 4, "calibration_ratio")
    assert found.value == near(2 / 3)
    assert found.extra["z"] == near(-1)
    assert "z" not in measure([1, 0], [1.0, 0.0], "calibration_ratio").extra


# Calibration --------------------------------------------------------------------------------------------------------


def test_bins_of_equal_mass_hold_equal_numbers_of_rows() -> None:
    # Scores .1 … .6, positives at .2, .5, .6; three bins of two rows: |.3−1| + |.7−0| + |1.1−2| = 2.3 over 6 rows.
    labels, scores = [0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert measure(labels, scores, "ece[bins=3]").value == near((0.7 + 0.7 + 0.9) / 6)


def test_equal_scores_stay_in_one_bin() -> None:
    # Two bins of three rows would cut the four equal scores; together they are one bin: |4·.5 − 2| = 0, |.2 − 1| + ….
    labels, scores = [1, 1, 0, 0, 1, 0], [0.5, 0.5, 0.5, 0.5, 0.9, 0.9]
    # Bin 1: the four .5 (their first row is row 0), bin 2: both .9: |2 − 2| + |1.8 − 1| = .8.
    assert measure(labels, scores, "ece[bins=2]").value == near(0.8 / 6)


def test_bins_of_equal_width_close_with_1() -> None:
    # [0, .5) holds .25 and .0; [.5, 1] holds .5 and 1: |.25 − 1| + |1.5 − 1| = 1.25.
    labels, scores = [1, 0, 0, 1], [0.25, 0.0, 0.5, 1.0]
    assert measure(labels, scores, "ece[bins=2,binning=width]").value == near(1.25 / 4)


@pytest.mark.parametrize(("n", "typical"), [(200, 0.05), (50_000, 0.003)])
def test_calibrated_scores_of_a_small_sample_look_miscalibrated(n: int, typical: float) -> None:
    # §2.1: "true 0 gives ≈ .05 at n = 200, ≈ .003 at 50,000". Here p is uniform on 0….2.
    rng = np.random.default_rng(11)
    scores = rng.random(n) * 0.2
    labels = (rng.random(n) < scores).astype(float)
    found = measure(labels.tolist(), scores.tolist(), "ece")
    assert found.value is not None
    assert typical / 2 < found.value < typical * 1.5
    assert typical / 2 < found.extra["null_mean"] < typical * 1.5
    assert found.value < found.extra["null_high"]


@pytest.mark.parametrize(("n", "top"), [(30, 0.9), (60, 0.02), (3_000, 0.5), (400, 0.1)])
def test_the_null_band_holds_95_of_100_calibrated_samples(n: int, top: float) -> None:
    # 400 samples of y ~ Bernoulli(p): the share above a true 95 % bound is .05 ± 3·√(.05·.95/400) = .05 ± .033.
    rng = np.random.default_rng(n)
    scores = np.sort(rng.random(n) * top)
    found = measure([1.0] + [0.0] * (n - 1), scores.tolist(), "ece")
    bins = np.arange(n) * 15 // n
    drawn = (rng.random((400, n)) < scores).astype(float)
    gaps = np.abs(np.add.reduceat(drawn - scores, np.flatnonzero(np.diff(bins, prepend=-1)), axis=1)).sum(axis=1) / n
    assert (gaps > found.extra["null_high"]).mean() == pytest.approx(0.05, abs=0.035)
    assert found.extra["null_mean"] == pytest.approx(gaps.mean(), rel=0.05)
    assert found.extra["null_sd"] == pytest.approx(gaps.std(), rel=0.2)


def test_the_null_band_of_thousands_of_rare_scores_is_that_of_a_poisson_count() -> None:
    # 45,000 distinct scores near 0 in 15 bins: each bin expects 3,000·1e-4 = .3 events.
    n, p = 45_000, 1e-4
    scores = p * (1 + np.linspace(-0.01, 0.01, n))
    found = measure([1.0] + [0.0] * (n - 1), scores.tolist(), "ece")
    # E|X − .3| for X ~ Poisson(.3) is 2·.3·e^(−.3) = .4445; 15 bins over 45,000 rows.
    assert found.extra["null_mean"] == pytest.approx(15 * 2 * 0.3 * math.exp(-0.3) / n, rel=0.05)


def test_the_null_band_is_drawn_from_the_seed_of_the_convention() -> None:
    labels, scores = [1, 0, 1, 0, 0, 0], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    one, two = measure(labels, scores, "ece"), measure(labels, scores, "ece")
    other = measure(labels, scores, "ece", random_state=1)
    assert one.extra == two.extra
    assert one.value == other.value


def test_the_calibration_line_is_0_and_1_where_every_score_keeps_its_promise() -> None:
    # Four rows at .25 with one positive, four at .75 with three.
    labels, scores = [1, 0, 0, 0, 1, 1, 1, 0], [0.25] * 4 + [0.75] * 4
    assert measure(labels, scores, "calibration_slope").value == pytest.approx(1, abs=1e-9)
    assert measure(labels, scores, "calibration_intercept").value == pytest.approx(0, abs=1e-9)


def test_overconfident_scores_have_a_slope_below_1() -> None:
    # Said .1 and .9 where .25 and .75 happen: b = logit(.75)/logit(.9) = ln 3/ln 9 = ½.
    labels, scores = [1, 0, 0, 0, 1, 1, 1, 0], [0.1] * 4 + [0.9] * 4
    assert measure(labels, scores, "calibration_slope").value == pytest.approx(0.5, abs=1e-9)
    assert measure(labels, scores, "calibration_intercept").value == pytest.approx(0, abs=1e-9)


def test_a_shifted_prior_moves_the_intercept_alone() -> None:
    # Scores made with odds three times too high: logit p = logit q + ln 3, so a = −ln 3, b = 1.
    labels = [1, 0, 0, 0, 1, 1, 1, 0]  # q = .25, .75
    scores = [0.5] * 4 + [0.9] * 4  # odds 1 = 3·(1/3), 9 = 3·3
    assert measure(labels, scores, "calibration_slope").value == pytest.approx(1, abs=1e-9)
    assert measure(labels, scores, "calibration_intercept").value == pytest.approx(-math.log(3), abs=1e-9)


def test_the_standard_error_of_the_slope_is_that_of_the_information() -> None:
    # Two groups of n = 4: variance of logit(.25) is 1/(4·.25·.75) = 4/3, of the difference 8/3; b is the difference
    # of logits divided by x₂ − x₁ = 2·ln 3, so that SE(b) = √(8/3)/(2 ln 3).
    labels, scores = [1, 0, 0, 0, 1, 1, 1, 0], [0.25] * 4 + [0.75] * 4
    expected = math.sqrt(8 / 3) / (2 * math.log(3))
    assert measure(labels, scores, "calibration_slope").extra["se"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("metric", ["calibration_slope", "calibration_intercept"])
def test_there_is_no_line_through_one_score_or_through_separated_classes(metric: str) -> None:
    assert measure([1, 0, 0], [0.3, 0.3, 0.3], metric).value is None
    assert measure([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], metric).value is None


def test_pooling_violators_gives_the_calibration_that_a_monotone_curve_can_give() -> None:
    # Shares .0 at .2, 1 at .4, .5 at .6, .5 at .8 (two rows each): 1 > .5 are pooled to (2+1+1)/6 = 2/3.
    labels = [0, 0, 1, 1, 1, 0, 1, 0]
    scores = [0.2, 0.2, 0.4, 0.4, 0.6, 0.6, 0.8, 0.8]
    best = (4 * (1 / 3) ** 2 + 2 * (2 / 3) ** 2) / 8
    brier = sum((y - s) ** 2 for y, s in zip(labels, scores, strict=True)) / 8
    assert measure(labels, scores, "miscalibration").value == near(brier - best)
    assert measure(labels, scores, "discrimination").value == near(0.25 - best)


# Areas --------------------------------------------------------------------------------------------------------------


def test_the_trapezoid_starts_at_precision_1_and_follows_every_score() -> None:
    # Scores: negative .9, positive .8: points (R 0, P 0) at .9 and (1, ½) at .8; area (0 + ½)/2.
    assert measure([0, 1], [0.9, 0.8], "auprc[method=trapezoid]").value == near(0.25)
    assert measure([1, 0], [0.9, 0.8], "auprc[method=trapezoid]").value == near(1)
    assert measure([1, 0], [0.5, 0.5], "auprc[method=trapezoid]").value == near(0.75)


def test_a_partial_area_cuts_a_tied_block_in_proportion() -> None:
    # One block of 2 positives and 4 negatives is the diagonal: the standardised area is ½ at every width.
    for width in (0.01, 0.1, 0.3, 0.99):
        assert measure([1, 1, 0, 0, 0, 0], [0.5] * 6, f"partial_auc[max_fpr={width}]").value == near(0.5)


def test_the_partial_area_of_a_worst_score_is_its_lower_bound() -> None:
    for width in (0.1, 0.5):
        found = measure([1, 0, 0, 0, 0], [0.1, 0.9, 0.8, 0.7, 0.6], f"partial_auc[max_fpr={width}]").value
        assert found == near((1 - width) / (2 - width))


# Pieces -------------------------------------------------------------------------------------------------------------


def test_counts_add_up_to_their_margins() -> None:
    counts = Confusion(tp=4, fp=2, fn=1, tn=3)
    assert (counts.n, counts.positives, counts.negatives, counts.flagged) == (10, 5, 5, 6)


def test_a_correlation_of_millions_of_rows_does_not_overflow() -> None:
    from recmetrics.metrics.classification import mcc_of

    # Perfect agreement on 4·10⁹ rows: margins multiply to 1.6·10³⁷, beyond 64 bits.
    assert mcc_of(Confusion(2 * 10**9, 0, 0, 2 * 10**9)).value == near(1)


def test_logarithms_of_binomial_coefficients() -> None:
    n, k = np.meshgrid(np.arange(40), np.arange(-2, 45))
    expected = [
        [math.comb(int(a), int(b)) if b >= 0 else 0 for a, b in zip(*row, strict=True)]
        for row in zip(n, k, strict=True)
    ]
    np.testing.assert_allclose(np.exp(log_choose(n, k)), np.asarray(expected, dtype=float), rtol=1e-12)
    assert np.isneginf(log_choose(3, 4))
    assert np.isneginf(log_choose(3, -1))
    assert log_choose(0, 0) == 0
