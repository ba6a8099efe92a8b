"""scikit-learn gives the same numbers to 1e-12 on random data with heavy ties.

Its functions are the oracle where their definition is ours; where it differs, the test says how.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics as sk

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.evaluate import evaluate, make_tables, per_user
from recmetrics.metrics.names import asked_for
from tests.build import dataset, labelled

SEEDS = range(8)
TOLERANCE = 1e-12


def rows(seed: int, n: int = 400, levels: int = 12) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels and scores inside (0, 1) with a dozen distinct values, a little informative."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.3).astype(np.int64)
    raw = np.clip(rng.normal(0.4 + 0.15 * labels, 0.2), 0.01, 0.99)
    return labels, np.ceil(raw * levels) / (levels + 1)


def value(data: Dataset, metric: str, **config: Any) -> float:
    (found,) = evaluate(data, EvalConfig(**config), metrics=[metric]).values
    assert found.value is not None
    return found.value


def near(expected: float) -> Any:
    return pytest.approx(expected, rel=0, abs=TOLERANCE)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_areas_and_losses_agree(seed: int, dtype: type) -> None:
    labels, scores = rows(seed)
    scores = scores.astype(dtype)
    data = dataset([(None, None, y, s) for y, s in zip(labels, scores, strict=True)], dtype=dtype)
    # scikit-learn would work in single precision where the scores are single; the numbers are the same as doubles.
    wide = scores.astype(np.float64)
    assert value(data, "roc_auc") == near(sk.roc_auc_score(labels, wide))
    assert value(data, "auprc") == near(sk.average_precision_score(labels, wide))
    precision, recall, _ = sk.precision_recall_curve(labels, wide)
    assert value(data, "auprc[method=trapezoid]") == near(sk.auc(recall, precision))
    assert value(data, "log_loss") == near(sk.log_loss(labels, wide))
    assert value(data, "brier") == near(sk.brier_score_loss(labels, wide))
    for max_fpr in (0.05, 0.1, 0.33, 0.9, 1):
        expected = sk.roc_auc_score(labels, wide, max_fpr=max_fpr)
        assert value(data, f"partial_auc[max_fpr={max_fpr}]") == near(expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("place", [2, 6, 9])
def test_counts_at_a_threshold_agree(seed: int, place: int) -> None:
    labels, scores = rows(seed)
    threshold = float(np.unique(scores)[place])  # rows stand on the threshold
    data, flags = labelled(labels.tolist(), scores.tolist()), scores >= threshold
    at = {"threshold": threshold}
    assert value(data, "precision", **at) == near(sk.precision_score(labels, flags))
    assert value(data, "recall", **at) == near(sk.recall_score(labels, flags))
    assert value(data, "accuracy", **at) == near(sk.accuracy_score(labels, flags))
    assert value(data, "balanced_accuracy", **at) == near(sk.balanced_accuracy_score(labels, flags))
    assert value(data, "mcc", **at) == near(sk.matthews_corrcoef(labels, flags))
    assert value(data, "specificity", **at) == near(sk.recall_score(1 - labels, ~flags))
    for beta in (0.5, 1, 2):
        assert value(data, f"f_beta[beta={beta}]", **at) == near(sk.fbeta_score(labels, flags, beta=beta))


def test_certain_and_wrong_rows_are_clipped_at_the_epsilon_that_scikit_learn_uses() -> None:
    labels, scores = [1, 0, 1, 0], [0.0, 1.0, 1.0, 0.25]
    expected = sk.log_loss(labels, scores)  # clips at the epsilon of double precision, 2⁻⁵²
    found = evaluate(labelled(labels, scores), metrics=["log_loss[clip=2.220446049250313e-16]"]).values[0]
    assert found.value == near(expected)
    assert found.extra["clipped"] == 3
    # At the project's own 1e-15: −ln 1e-15 for the 0, −ln(1 − (1 − 1e-15)) = −ln(9·2⁻⁵³) for the 1, ln(4/3) for .25.
    expected = (15 * math.log(10) - math.log(9 * 2.0**-53) + math.log(4 / 3)) / 4
    assert value(labelled(labels, scores), "log_loss") == near(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_isotonic_part_of_the_brier_score_agrees(seed: int) -> None:
    from sklearn.isotonic import IsotonicRegression

    labels, scores = rows(seed)
    fitted = IsotonicRegression(y_min=0, y_max=1).fit_transform(scores, labels)
    data, best = labelled(labels.tolist(), scores.tolist()), np.mean((fitted - labels) ** 2)
    base = np.mean((labels.mean() - labels) ** 2)
    assert value(data, "miscalibration") == near(sk.brier_score_loss(labels, scores) - best)
    assert value(data, "discrimination") == near(base - best)
    assert value(data, "uncertainty") == near(base)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_calibration_line_is_an_unpenalised_logistic_regression(seed: int) -> None:
    labels, scores = rows(seed)
    data = labelled(labels.tolist(), scores.tolist())
    a, b = value(data, "calibration_intercept"), value(data, "calibration_slope")
    # The likelihood is at its maximum where residuals sum to 0 and do not lean on logit p (Cox 1958).
    x = np.log(scores / (1 - scores))
    residual = labels - 1 / (1 + np.exp(-(a + b * x)))
    assert residual.sum() == pytest.approx(0, abs=1e-8)
    assert (residual * x).sum() == pytest.approx(0, abs=1e-8)


# Lists --------------------------------------------------------------------------------------------------------------


def lists(seed: int, n_users: int = 12, longest: int = 15, levels: int = 5) -> list[tuple[str, str, int, float]]:
    """Return lists of 2 to 15 items with grades 0–3, at least one relevant item, and few distinct scores."""
    rng = np.random.default_rng(seed)
    found = []
    for user in range(n_users):
        n = int(rng.integers(2, longest + 1))
        grades = rng.choice([0, 0, 0, 1, 2, 3], n)
        grades[rng.integers(n)] = 1
        found += [(f"u{user}", f"i{i}", int(g), float(rng.integers(levels))) for i, g in enumerate(grades)]
    return found


def by_user(given: list[tuple[str, str, int, float]]) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    users = dict.fromkeys(row[0] for row in given)
    return [
        (np.asarray([r[2] for r in given if r[0] == u]), np.asarray([r[3] for r in given if r[0] == u])) for u in users
    ]


def values(given: list[tuple[str, str, int, float]], metric: str, **config: Any) -> NDArray[np.float64]:
    convention = EvalConfig(**config)
    used = asked_for(metric, convention).fixed(convention)
    return per_user(make_tables(dataset(given), used, "score"), used, metric).values


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [1, 3, 10, 20])
def test_dcg_and_ndcg_agree_under_ties_for_both_gains(seed: int, k: int) -> None:
    given = lists(seed)
    for gain, worth in (("linear", lambda g: g), ("exp2", lambda g: 2.0**g - 1)):
        dcg = [sk.dcg_score([worth(g)], [s], k=k) for g, s in by_user(given)]
        ndcg = [sk.ndcg_score([worth(g)], [s], k=k) for g, s in by_user(given)]
        np.testing.assert_allclose(values(given, f"dcg[gain={gain}]@{k}"), dcg, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(values(given, f"ndcg[gain={gain}]@{k}"), ndcg, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_ndcg_of_the_whole_list_and_other_log_bases_agree(seed: int) -> None:
    given = lists(seed)
    ndcg = [sk.ndcg_score([g], [s]) for g, s in by_user(given)]
    np.testing.assert_allclose(values(given, "ndcg"), ndcg, rtol=0, atol=TOLERANCE)
    for base, number in (("e", math.e), (10, 10)):
        dcg = [sk.dcg_score([g], [s], k=5, log_base=number) for g, s in by_user(given)]
        np.testing.assert_allclose(values(given, f"dcg[log_base={base}]@5"), dcg, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_grades_below_the_threshold_gain_as_in_scikit_learn_under_grades_all(seed: int) -> None:
    given = lists(seed)
    found = values(given, "ndcg[grades=all]@5", relevance_threshold=2)
    for value_of_user, (grades, scores) in zip(found, by_user(given), strict=True):
        if (grades >= 2).any():  # else the user has no relevant item and is not averaged
            assert value_of_user == near(sk.ndcg_score([grades], [scores], k=5))
        else:
            assert math.isnan(value_of_user)


@pytest.mark.parametrize("seed", SEEDS)
def test_average_precision_without_ties_is_label_ranking_average_precision(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = [(u, i, g, float(s)) for (u, i, g, _), s in zip(lists(seed), rng.permutation(10**6), strict=False)]
    expected = [
        sk.label_ranking_average_precision_score([(grades >= 1).astype(int)], [scores])
        for grades, scores in by_user(given)
    ]
    np.testing.assert_allclose(values(given, "map"), expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_label_ranking_average_precision_is_never_below_the_worst_order(seed: int) -> None:
    # It gives every tied item the last rank of its block, and counts all hits of the block there: more than the worst
    # order, in which only the last hit has them all before it.
    given = lists(seed)
    expected = np.asarray(
        [
            sk.label_ranking_average_precision_score([(grades >= 1).astype(int)], [scores])
            for grades, scores in by_user(given)
        ]
    )
    assert (values(given, "map", ties="worst") <= expected + TOLERANCE).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weight", ["rows", "positives", "equal", "pairs"])
def test_auc_inside_users_and_its_weighted_means_agree(seed: int, weight: str) -> None:
    given = lists(seed)
    expected, weights = [], []
    for grades, scores in by_user(given):
        up = int((grades >= 1).sum())
        down = len(grades) - up
        expected.append(sk.roc_auc_score(grades >= 1, scores) if up and down else math.nan)
        weights.append({"rows": up + down, "positives": up, "equal": 1, "pairs": up * down}[weight])
    np.testing.assert_allclose(values(given, "gauc"), expected, rtol=0, atol=TOLERANCE)
    both = ~np.isnan(expected)
    mean = np.average(np.asarray(expected)[both], weights=np.asarray(weights)[both])
    assert value(dataset(given), f"gauc[weight={weight}]") == near(float(mean))
