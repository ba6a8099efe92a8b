"""Laws between metrics: metric specification §8, laws 5–8, 11–14 and 16–18."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.evaluate import evaluate, make_tables, per_user
from recmetrics.metrics.names import asked_for
from recmetrics.results import MetricValue
from tests.build import dataset, labelled, one_list
from tests.laws.small_data import cases
from tests.oracle import Case

N_CASES = 25


def measure(data: Dataset, metric: str, **config: Any) -> MetricValue:
    (found,) = evaluate(data, EvalConfig(**config), metrics=[metric]).values
    return found


def value(data: Dataset, metric: str, **config: Any) -> float:
    found = measure(data, metric, **config).value
    return math.nan if found is None else found


def users_of(data: Dataset, metric: str, **config: Any) -> Any:
    convention = EvalConfig(**config)
    used = asked_for(metric, convention).fixed(convention)
    return per_user(make_tables(data, used, "score"), used, metric).values


def near(expected: float, tolerance: float = 1e-12) -> Any:
    return pytest.approx(expected, rel=0, abs=tolerance, nan_ok=True)


def rows(given: Case) -> tuple[list[float], list[float]]:
    """Return labels (0/1) and scores."""
    return [float((row[2] or 0) >= 1) for row in given.rows], [row[3] for row in given.rows]


# 5. The best and the worst list -------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("grades", [[3, 2, 1, 0, 0], [1, 1, 1, 1, 0], [2, 0, 0, 0, 0], [5, 5, 1, 0, 0, 0, 0]])
def test_a_perfect_list_is_perfect(grades: list[int], k: int) -> None:
    data, r = one_list(grades), sum(g > 0 for g in grades)
    ones = [f"ndcg@{k}", f"ndcg[gain=exp2]@{k}", f"map@{k}", f"mrr@{k}", f"hit_rate@{k}", "r_precision", "ndcg", "map"]
    for metric in [*ones, "gauc", "roc_auc"]:
        assert value(data, metric) == near(1), metric
    assert value(data, f"recall@{k}") == near(min(r, k) / r)
    assert value(data, f"precision@{k}") == near(min(r, k) / k)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_list_with_k_misses_on_top_is_worth_nothing(k: int) -> None:
    data = one_list([0, 0, 0, 1, 2])
    for name in ("ndcg", "map", "mrr", "hit_rate", "recall", "precision", "f_beta", "dcg"):
        assert value(data, f"{name}@{k}") == 0
    assert value(data, "gauc") == 0
    assert value(data, "roc_auc") == 0


# 6. Flips -----------------------------------------------------------------------------------------------------------


def test_turning_scores_or_labels_reflects_auc_and_turning_both_restores_it() -> None:
    for given in cases(N_CASES):
        labels, scores = rows(given)
        turned, other = [-s for s in scores], [1 - y for y in labels]
        auc = value(labelled(labels, scores), "roc_auc")
        assert value(labelled(labels, turned), "roc_auc") == near(1 - auc)
        assert value(labelled(other, scores), "roc_auc") == near(1 - auc)
        assert value(labelled(other, turned), "roc_auc") == near(auc)


def test_swapping_labels_and_decisions_keeps_mcc_and_balanced_accuracy() -> None:
    for given in cases(N_CASES):
        labels, scores = rows(given)
        turned, other = [-s for s in scores], [1 - y for y in labels]
        # score >= .5 becomes −score > −.5 turned round: exactly the other rows are flagged.
        swapped = {"threshold": -0.5, "threshold_rule": "gt"}
        for metric, negated in (("mcc", lambda x: -x), ("balanced_accuracy", lambda x: 1 - x)):
            plain = value(labelled(labels, scores), metric)
            assert value(labelled(other, turned), metric, **swapped) == near(plain)
            assert value(labelled(labels, turned), metric, **swapped) == near(negated(plain))


# 7. Precision and recall --------------------------------------------------------------------------------------------


def test_precision_equals_recall_exactly_when_false_alarms_equal_misses() -> None:
    for given in cases(N_CASES):
        labels, scores = rows(given)
        data = labelled(labels, scores)
        for threshold in sorted(set(scores)):
            flags = [s >= threshold for s in scores]
            tp = sum(f and y == 1 for f, y in zip(flags, labels, strict=True))
            fp = sum(f and y == 0 for f, y in zip(flags, labels, strict=True))
            p, r = value(data, "precision", threshold=threshold), value(data, "recall", threshold=threshold)
            if tp:
                assert (abs(p - r) < 1e-12) is (fp == sum(labels) - tp)


def test_precision_at_k_equals_recall_at_k_exactly_when_k_is_r_or_there_is_no_hit() -> None:
    for given in cases(N_CASES, ties=False):
        data = given.dataset()
        relevant = [sum(grade >= 1 for u, _, grade in given.truth or [] if u == user) for user in data.users]
        for k in (1, 2, 3, 5):
            p, r = users_of(data, f"precision@{k}"), users_of(data, f"recall@{k}")
            for user, n in enumerate(relevant):
                if n:
                    assert bool(abs(p[user] - r[user]) < 1e-12) is bool(k == n or p[user] == 0)


def test_f_lies_between_precision_and_recall_and_tends_to_either() -> None:
    for given in cases(N_CASES):
        data = labelled(*rows(given))
        p, r = value(data, "precision"), value(data, "recall")
        if math.isnan(p) or math.isnan(r):
            continue
        for beta in (0.5, 1, 2):
            assert min(p, r) - 1e-12 <= value(data, f"f_beta[beta={beta}]") <= max(p, r) + 1e-12
        assert value(data, "f_beta[beta=0.000001]") == near(p if p * r else 0.0, 1e-9)
        assert value(data, "f_beta[beta=1000000]") == near(r if p * r else 0.0, 1e-9)
        assert value(data, "f_beta") <= (p + r) / 2 + 1e-12


def test_the_f_of_means_is_the_f_of_the_mean_precision_and_recall() -> None:
    for given in cases(N_CASES):
        data = given.dataset()
        p, r = value(data, "precision@3"), value(data, "recall@3")
        for beta in (0.5, 1, 2):
            expected = (1 + beta**2) * p * r / (beta**2 * p + r) if p + r > 0 else p
            assert value(data, f"f_beta[average=of_means,beta={beta}]@3") == near(expected)


# 8. One relevant item -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_with_one_relevant_item_the_metrics_are_functions_of_its_rank(rank: int, k: int) -> None:
    data = one_list([int(place == rank) for place in range(1, 7)])
    inside = rank <= k
    assert value(data, f"map@{k}") == value(data, f"mrr@{k}") == near(1 / rank if inside else 0)
    assert value(data, f"recall@{k}") == value(data, f"hit_rate@{k}") == float(inside)
    assert value(data, f"ndcg@{k}") == near(1 / math.log2(1 + rank) if inside else 0)


# 11. AUC three ways -------------------------------------------------------------------------------------------------


def test_auc_is_pairs_won_is_mann_whitney_is_the_trapezoid() -> None:
    from scipy.stats import mannwhitneyu

    for given in cases(N_CASES):
        labels, scores = np.asarray(rows(given)[0]), np.asarray(rows(given)[1])
        up, down = scores[labels == 1], scores[labels == 0]
        if len(up) == 0 or len(down) == 0:
            continue
        pairs = np.mean((up[:, None] > down) + 0.5 * (up[:, None] == down))
        statistic = (
            mannwhitneyu(up, down, method="asymptotic", use_continuity=False).statistic
            if len(set(scores)) > 1
            else len(up) * len(down) / 2
        )
        found = value(labelled(labels.tolist(), scores.tolist()), "roc_auc")
        assert found == near(pairs)
        assert found == near(statistic / (len(up) * len(down)))
        points = [(0.0, 0.0)] + [((down >= t).mean(), (up >= t).mean()) for t in np.unique(scores)[::-1]]
        trapezoid = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in itertools.pairwise(points))
        assert found == near(trapezoid)


@pytest.mark.parametrize("score", [0.0, 0.3, -5.0])
def test_a_constant_score_knows_nothing(score: float) -> None:
    data = labelled([1, 0, 0, 1, 0], [score] * 5)
    assert value(data, "roc_auc") == 0.5
    assert value(data, "auprc") == near(2 / 5)
    assert value(data, "partial_auc") == near(0.5)


@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_a_constant_score_shows_relevant_items_at_their_share(k: int) -> None:
    rows = [("u", f"i{n}", int(n < 2), 1.0) for n in range(6)]
    data = dataset(rows, truth=[*[row[:3] for row in rows], ("u", "z", 1)])
    assert value(data, f"precision@{k}") == near(2 / 6)
    assert value(data, f"recall@{k}") == near(k * 2 / 6 / 3)


# 12. Within and across users ----------------------------------------------------------------------------------------


def test_auc_splits_into_pairs_of_one_user_and_pairs_of_two() -> None:
    for given in cases(N_CASES):
        data = dataset(given.rows)
        won, pairs = {True: 0.0, False: 0.0}, {True: 0, False: 0}
        for one, other in itertools.product(given.rows, repeat=2):
            if (one[2] or 0) >= 1 > (other[2] or 0):
                inside = one[0] == other[0]
                pairs[inside] += 1
                won[inside] += 1.0 if one[3] > other[3] else 0.5 if one[3] == other[3] else 0.0
        if pairs[True]:
            assert value(data, "gauc[weight=pairs]") == near(won[True] / pairs[True])
        else:
            assert measure(data, "gauc").undefined == "no users with both classes"
        if sum(pairs.values()):
            assert value(data, "roc_auc") == near(sum(won.values()) / sum(pairs.values()))


@pytest.mark.parametrize("weight", ["rows", "positives", "equal", "pairs"])
def test_gauc_lies_between_the_worst_and_the_best_user(weight: str) -> None:
    for given in cases(N_CASES):
        data = dataset(given.rows)
        users = users_of(data, "gauc")
        if not np.isnan(users).all():
            assert np.nanmin(users) - 1e-12 <= value(data, f"gauc[weight={weight}]") <= np.nanmax(users) + 1e-12


def test_gauc_of_one_user_is_auc_and_the_whole_partial_auc_is_auc() -> None:
    for given in cases(N_CASES):
        data = dataset([("u", f"{user}{item}", *rest) for user, item, *rest in given.rows])
        auc = value(data, "roc_auc")
        assert value(data, "gauc") == near(auc)
        assert value(data, "partial_auc[max_fpr=1]") == near(auc)


# 13. Gain and base --------------------------------------------------------------------------------------------------


def test_all_gains_agree_on_binary_labels() -> None:
    for given in cases(N_CASES, grades=(0, 0, 1)):
        data = given.dataset()
        for name in ("ndcg", "dcg"):
            linear = value(data, f"{name}@3")
            for gain in ("exp2", "binary", "exp2_shift"):
                assert value(data, f"{name}[gain={gain}]@3") == near(linear)


def test_linear_ndcg_ignores_the_unit_of_grades_and_exp2_does_not() -> None:
    data, tripled = one_list([1, 3, 2]), one_list([3, 9, 6])
    assert value(tripled, "ndcg@3") == near(value(data, "ndcg@3"))
    assert abs(value(tripled, "ndcg[gain=exp2]@3") - value(data, "ndcg[gain=exp2]@3")) > 0.01


@pytest.mark.parametrize(("base", "number"), [("e", math.e), (10, 10.0)])
def test_the_log_base_multiplies_dcg_and_leaves_ndcg(base: Any, number: float) -> None:
    for given in cases(N_CASES):
        data = given.dataset()
        for discount in ("log2", "max2"):
            plain = value(data, f"dcg[discount={discount}]@3")
            scaled = value(data, f"dcg[discount={discount},log_base={base}]@3")
            assert scaled == near(plain * math.log(number) / math.log(2))
            ndcg = f"ndcg[discount={discount}]@3"
            assert value(data, ndcg, log_base=base) == near(value(data, ndcg))


# 14. The ideal list -------------------------------------------------------------------------------------------------


def test_what_stands_below_k_matters_through_r_alone() -> None:
    # Same first three and same R = 3; below them the relevant items stand elsewhere.
    one, other = one_list([1, 0, 1, 1, 0, 0]), one_list([1, 0, 1, 0, 0, 1])
    for name in ("precision", "recall", "map", "ndcg", "mrr", "hit_rate", "f_beta", "dcg"):
        assert value(one, f"{name}@3") == value(other, f"{name}@3")


@pytest.mark.parametrize("gain", ["linear", "exp2", "binary"])
def test_one_more_relevant_item_out_of_reach_never_raises_recall_or_ndcg(gain: str) -> None:
    for given in cases(N_CASES):
        data = given.dataset()
        more = Case(
            given.rows, [*(given.truth or []), *[(user, "out of reach", 3.0) for user in given.users]]
        ).dataset()
        for metric in (f"ndcg[gain={gain}]@3", f"ndcg[gain={gain}]", "recall@3", "map[denominator=r]@3"):
            before, after = users_of(data, metric), users_of(more, metric)
            counted = ~np.isnan(before)
            assert (after[counted] <= before[counted] + 1e-12).all(), metric


# 16. The base rate as score -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_positives", "n"), [(1, 4), (3, 8), (1, 2), (5, 40)])
def test_always_saying_the_base_rate_is_calibrated_and_separates_nothing(n_positives: int, n: int) -> None:
    share = n_positives / n
    data = labelled([1] * n_positives + [0] * (n - n_positives), [share] * n)
    entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
    assert value(data, "log_loss") == near(entropy)
    assert value(data, "normalized_entropy") == near(1)
    assert value(data, "brier") == near(share * (1 - share))
    assert measure(data, "brier").extra["baseline"] == near(share * (1 - share))
    assert value(data, "calibration_ratio") == near(1)
    for metric in ("ece", "ece[binning=width]", "discrimination", "miscalibration"):
        assert value(data, metric) == near(0)
    assert value(data, "uncertainty") == near(share * (1 - share))


def test_brier_is_miscalibration_minus_discrimination_plus_uncertainty() -> None:
    for given in cases(N_CASES):
        data = labelled(*rows(given))
        parts = [value(data, name) for name in ("miscalibration", "discrimination", "uncertainty")]
        assert value(data, "brier") == near(parts[0] - parts[1] + parts[2])
        assert min(parts) >= 0


# 17. Accuracy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.75])
def test_accuracy_is_made_of_the_two_rates(threshold: float) -> None:
    for given in cases(N_CASES):
        data = labelled(*rows(given))
        share = value(data, "prevalence")
        tpr, tnr = value(data, "recall", threshold=threshold), value(data, "specificity", threshold=threshold)
        assert value(data, "fpr", threshold=threshold) == near(1 - tnr)
        if 0 < share < 1:
            assert value(data, "accuracy", threshold=threshold) == near(share * tpr + (1 - share) * tnr)
            assert value(data, "balanced_accuracy", threshold=threshold) == near((tpr + tnr) / 2)


# 18. Exposure -------------------------------------------------------------------------------------------------------


def shown(*lists: str) -> Dataset:
    """Return one list of one-letter items per user, best first."""
    return dataset([(f"u{u}", item, 0, -rank) for u, items in enumerate(lists) for rank, item in enumerate(items)])


def test_equal_exposures_have_no_inequality_and_one_item_alone_has_the_most() -> None:
    assert value(shown("ab", "cd"), "gini@2", catalogue_size=4) == near(0)
    assert value(shown("a", "a", "a"), "gini@1", catalogue_size=4) == near(1 - 1 / 4)
    # Exposures 0, 0, 1, 2: (1·1 + 3·2)/(4·3) = 7/12 with weights 2i−5 = −3, −1, 1, 3.
    assert value(shown("a", "a", "b"), "gini@1", catalogue_size=4) == near(7 / 12)


def test_inequality_does_not_depend_on_how_many_lists_there_are() -> None:
    once, thrice = ["ab", "ac", "ad"], ["ab", "ac", "ad"] * 3
    assert value(shown(*once), "gini@2", catalogue_size=9) == near(value(shown(*thrice), "gini@2", catalogue_size=9))


def test_coverage_is_the_share_of_the_catalogue_that_someone_saw() -> None:
    assert value(shown("ab", "ac"), "coverage@2", catalogue_size=6) == near(3 / 6)
    assert value(shown("ab", "ac"), "coverage@1", catalogue_size=6) == near(1 / 6)
    assert measure(shown("ab"), "coverage@1").undefined == "no catalogue size"


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_coverage_never_exceeds_the_places_shown(k: int) -> None:
    for given in cases(N_CASES):
        data = given.dataset()
        assert value(data, f"coverage@{k}", catalogue_size=20) <= min(1, k * data.n_users / 20) + 1e-12
