"""AUC and its interval: golden numbers of the specification, an independent computation over all pairs, identities."""

from __future__ import annotations

import math
import time
from itertools import combinations

import numpy as np
import pytest

from recmetrics.inference.auc import auc_estimate, exact_p, hanley_mcneil_se, row_influence
from recmetrics.inference.implied import implied_auc

# The ten rows of diagnostics_golden.json `auc_ten_rows`; every expected number below is copied from there.
LABEL = np.array([1, 1, 0, 1, 0, 1, 0, 1, 0, 0]) == 1
SCORE_A = np.array([0.9, 0.8, 0.75, 0.68, 0.55, 0.5, 0.42, 0.35, 0.2, 0.1])
SCORE_B = np.array([0.85, 0.6, 0.3, 0.7, 0.65, 0.55, 0.2, 0.45, 0.4, 0.15])
USER = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3], dtype=np.int32)


def close(found: float | None, expected: float, tolerance: float = 1e-9) -> bool:
    return found is not None and abs(found - expected) <= tolerance


def pairwise(label: np.ndarray, score: np.ndarray) -> tuple[float, float]:
    """DeLong 1988 as its definition says, over all pairs: the AUC and its variance."""
    up, down = score[label], score[~label]
    won = (up[:, None] > down[None, :]) + 0.5 * (up[:, None] == down[None, :])
    v10, v01 = won.mean(axis=1), won.mean(axis=0)
    return float(won.mean()), float(v10.var(ddof=1) / len(up) + v01.var(ddof=1) / len(down))


def test_ten_rows_without_users_give_the_plain_delong_interval_on_the_logit_scale() -> None:
    found = auc_estimate(LABEL, SCORE_A, None)
    assert close(found.value, 19 / 25)
    assert close(found.se, 0.164924225025)
    assert close(found.low, 0.3498951789)
    assert close(found.high, 0.9490617143)
    assert found.method == "delong"
    assert found.n_users is None
    assert found.influence is None
    assert (found.n_positives, found.n_negatives) == (5, 5)


def test_ten_rows_of_four_users_are_summed_by_user() -> None:
    found = auc_estimate(LABEL, SCORE_A, USER)
    assert close(found.se, 0.150660766846)
    assert found.influence is not None
    assert np.allclose(found.influence, [3 / 125, -7 / 125, -8 / 125, 12 / 125], rtol=0, atol=1e-12)
    assert found.method == "delong_by_user"
    assert found.n_users == 4
    assert close(auc_estimate(LABEL, SCORE_B, USER).se, 0.121852369694)
    assert close(auc_estimate(LABEL, SCORE_B, None).se, 0.129614813968)


def test_the_interval_by_user_uses_the_t_quantile_with_one_degree_less_than_users() -> None:
    found = auc_estimate(LABEL, SCORE_A, USER)
    # t(0.975, 3) = 3.182446 (any table); logit scale because the classes are small.
    reach = 3.182446305284 * 0.150660766846 / (0.76 * 0.24)
    assert close(found.low, 1 / (1 + math.exp(reach) * 0.24 / 0.76), 1e-8)


def test_the_difference_of_two_scores_has_the_difference_of_their_influences() -> None:
    a, b = auc_estimate(LABEL, SCORE_A, USER), auc_estimate(LABEL, SCORE_B, USER)
    assert a.influence is not None
    assert b.influence is not None
    moved = a.influence - b.influence
    assert close(a.value - b.value, -3 / 25)
    assert close(math.sqrt(4 / 3 * float(moved @ moved)), 0.106933000831)


def test_one_row_per_user_is_plain_delong_and_the_sum_by_user_agrees_up_to_the_degrees_of_freedom() -> None:
    alone = auc_estimate(LABEL, SCORE_A, np.arange(10, dtype=np.int32))
    assert close(alone.se, 0.164924225025)
    assert alone.method == "delong"
    assert alone.n_users == 10
    _, influence = row_influence(LABEL, SCORE_A)
    # cluster_se_if_every_row_is_its_own_user
    assert close(math.sqrt(10 / 9 * float(influence @ influence)), 0.155492050529)


def test_plain_delong_equals_the_mean_over_all_pairs_with_ties() -> None:
    rng = np.random.default_rng(3)
    for n in (20, 60, 400):
        score = rng.integers(0, 9, n) / 8
        label = rng.random(n) < 0.2 + 0.4 * score
        label[:2] = [True, False]
        value, variance = pairwise(label, score)
        found = auc_estimate(label, score.astype(np.float32), None)
        assert close(found.value, value, 1e-12)
        assert close(found.se, math.sqrt(variance), 1e-12)


def test_large_classes_and_a_middling_auc_keep_the_plain_interval() -> None:
    rng = np.random.default_rng(5)
    label = np.arange(900) % 3 == 0
    score = rng.normal(size=900) + label
    found = auc_estimate(label, score, None)
    assert found.se is not None
    # 300 and 600 rows: value ± 1.959964·SE, symmetric.
    assert close(found.low, found.value - 1.959963984540 * found.se)
    assert close(found.high, found.value + 1.959963984540 * found.se)


def test_perfect_separation_gives_a_shifted_hanley_mcneil_interval_and_not_certainty() -> None:
    label = np.arange(10) >= 5
    found = auc_estimate(label, np.arange(10.0), None)
    assert found.value == 1.0
    assert found.method == "hanley_mcneil"
    assert close(found.se, 0.048016695405)
    assert close(found.low, 0.2577105235)
    assert close(found.high, 0.9998665371)
    mirrored = auc_estimate(~label, np.arange(10.0), None)
    assert mirrored.value == 0.0
    assert close(mirrored.low, 1 - 0.9998665371)
    assert close(mirrored.high, 1 - 0.2577105235)


def test_a_perfect_order_of_many_rows_has_the_bound_of_disjoint_pairs() -> None:
    # On the logit scale the half-width is 1.96·√N while the centre is ln(2PN): with 100 + 100 rows the interval would
    # begin at 1/(1+exp(19.6−9.9)) = .00006. If the AUC is A, all of 100 disjoint pairs are in order with chance A^100.
    label = np.arange(200) >= 100
    found = auc_estimate(label, np.arange(200.0), None)
    assert found.method == "disjoint_pairs"
    assert close(found.low, 0.025 ** (1 / 100))
    mirrored = auc_estimate(~label, np.arange(200.0), None)
    assert close(mirrored.high, 1 - 0.025 ** (1 / 100))


def test_pairs_of_a_perfect_order_share_no_user() -> None:
    label = np.arange(200) % 2 == 1
    # Twenty users with both classes make ten pairs; five positive users beside fifteen negative ones make five.
    both = auc_estimate(label, label * 1.0, (np.arange(200) // 10).astype(np.int32))
    assert close(both.low, 0.025 ** (1 / 10))
    sides = np.where(label, np.arange(200) // 2 % 5, 5 + np.arange(200) // 2 % 15).astype(np.int32)
    assert close(auc_estimate(label, label * 1.0, sides).low, 0.025 ** (1 / 5))
    nobody = np.full(200, -1, dtype=np.int32)
    nobody[0] = 3
    assert close(auc_estimate(label, label * 1.0, nobody).low, 0.025 ** (1 / 100))


def test_a_constant_score_has_auc_one_half_and_an_interval_around_it() -> None:
    found = auc_estimate(LABEL, np.full(10, 0.3), USER)
    assert found.value == 0.5
    assert found.method == "hanley_mcneil"
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


def test_one_user_alone_is_judged_by_rows() -> None:
    found = auc_estimate(LABEL, SCORE_A, np.zeros(10, dtype=np.int32))
    assert found.method == "delong"
    assert found.n_users == 1
    assert close(found.se, 0.164924225025)


def test_rows_without_a_user_stand_for_themselves() -> None:
    some = np.where(np.arange(10) < 6, USER, -1).astype(np.int32)
    own = np.where(np.arange(10) < 6, USER, 10 + np.arange(10)).astype(np.int32)
    missing, separate = auc_estimate(LABEL, SCORE_A, some), auc_estimate(LABEL, SCORE_A, own)
    assert close(missing.se, separate.se or 0)
    assert missing.n_users == separate.n_users == 6


def test_one_class_is_undefined_and_not_an_exception() -> None:
    found = auc_estimate(np.ones(3, dtype=bool), np.arange(3.0), None)
    assert math.isnan(found.value)
    assert found.low is None
    assert found.method == "undefined"


def test_order_of_rows_names_of_users_and_scale_of_scores_change_nothing() -> None:
    rng = np.random.default_rng(11)
    shuffled, renamed = rng.permutation(10), rng.permutation(4).astype(np.int32)
    first = auc_estimate(LABEL, SCORE_A, USER)
    second = auc_estimate(LABEL[shuffled], np.exp(SCORE_A)[shuffled], renamed[USER][shuffled])
    assert close(second.value, first.value, 1e-12)
    assert close(second.se, first.se or 0, 1e-12)


def test_infinite_scores_are_the_last_or_first_of_the_order() -> None:
    at_the_end = np.where(SCORE_A == 0.1, -np.inf, SCORE_A)
    assert auc_estimate(LABEL, at_the_end, None).value == auc_estimate(LABEL, SCORE_A, None).value


def test_hanley_mcneil_needs_only_the_value_and_the_counts() -> None:
    assert close(hanley_mcneil_se(0.76, 5, 5), 0.159833344291)
    # diagnostics_golden.json `hanley_mcneil_se`
    assert close(hanley_mcneil_se(0.78, 1000, 19000), 0.00876514, 1e-8)
    assert close(hanley_mcneil_se(0.78, 100000, 1900000), 0.00087649, 1e-8)


def test_the_exact_rank_test_counts_arrangements() -> None:
    assert close(exact_p(LABEL, SCORE_A, None), 2 / 9)
    assert close(exact_p(np.arange(10) >= 5, np.arange(10.0), None), 1 / 126)
    # All C(7,3) arrangements of ranks 1..7 with 3 positives at 2, 6, 7: rank sum 15, as extreme are sums ≥ 15 or ≤ 9.
    sums = [sum(c) for c in combinations(range(1, 8), 3)]
    expected = sum(s >= 15 or s <= 9 for s in sums) / len(sums)
    label = np.isin(np.arange(1, 8), [2, 6, 7])
    assert close(exact_p(label, np.arange(1.0, 8.0), None), expected)


@pytest.mark.parametrize(
    ("label", "score", "user"),
    [
        (LABEL, np.round(SCORE_A, 1), None),
        (LABEL, SCORE_A, USER),
        (np.ones(4, dtype=bool), np.arange(4.0), None),
        (np.arange(62) % 2 == 0, np.arange(62.0), None),
    ],
    ids=["equal scores", "two rows of one user", "one class", "31 rows in both classes"],
)
def test_the_exact_rank_test_is_refused_where_it_does_not_hold(
    label: np.ndarray, score: np.ndarray, user: np.ndarray | None
) -> None:
    assert exact_p(label, score, user) is None


@pytest.mark.parametrize(
    ("probability", "expected"),
    # diagnostics_golden.json `implied_auc`
    [([0.1, 0.2, 0.5, 0.9], 661 / 782), ([0.05, 0.05, 0.05, 0.5, 0.5], 2851 / 3542), ([0.3] * 4, 0.5)],
)
def test_implied_auc_reproduces_the_golden_fractions(probability: list[float], expected: float) -> None:
    assert close(implied_auc(np.array(probability)), expected, 1e-12)
    assert close(implied_auc(np.array(probability[::-1])), expected, 1e-12)


def test_implied_auc_equals_its_double_sum() -> None:
    p = np.round(np.random.default_rng(2).random(50), 1)
    wins = (p[:, None] > p[None, :]) + 0.5 * (p[:, None] == p[None, :])
    expected = float((p[:, None] * (1 - p)[None, :] * wins).sum() / (p.sum() * (1 - p).sum()))
    assert close(implied_auc(p), expected, 1e-12)


def test_implied_auc_is_undefined_when_every_row_is_certain_of_one_class() -> None:
    assert math.isnan(implied_auc(np.zeros(3)))
    assert math.isnan(implied_auc(np.ones(3)))
    assert math.isnan(implied_auc(np.empty(0)))


def test_a_million_rows_take_less_than_two_seconds() -> None:
    rng = np.random.default_rng(1)
    n = 1_000_000
    label, score = rng.random(n) < 0.07, rng.random(n).astype(np.float32)
    user = rng.integers(0, 30_000, n).astype(np.int32)
    auc_estimate(label[:10], score[:10], None)  # the lazy import is no part of the work
    # Processor time of this process, so that a busy machine does not fail the test.
    start = time.process_time()
    auc_estimate(label, score, user)
    assert time.process_time() - start < 2.0
