"""Every order of equal scores, written down: `average` is their mean, `best` and `worst` are their extremes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.evaluate import evaluate, make_tables, per_user
from recmetrics.metrics.names import asked_for, parse_metric
from recmetrics.usable import usable
from tests import oracle
from tests.build import dataset
from tests.laws.small_data import case, cases
from tests.metric_strings import all_strings

N_CASES = 10
TOLERANCE = 1e-12


def strings(k: int) -> list[str]:
    """Return the means over users, with every option but the tie rule itself; gauc is no matter of order."""
    return [text for text in all_strings("ranking", k=k) if "ties=" not in text and not text.startswith("gauc")]


def near(expected: float) -> Any:
    return pytest.approx(expected, rel=0, abs=TOLERANCE)


def values_of(data: Dataset, config: EvalConfig, text: str, made: dict[EvalConfig, Any] | None = None) -> Any:
    """Return the value of every user, from tables made for the options of the string; `made` keeps them."""
    under = asked_for(text, config).fixed(config)
    made = {} if made is None else made
    if under not in made:
        made[under] = make_tables(usable(data, under), under, "score")
    return per_user(made[under], under, text).values


def compare(given: oracle.Case, config: EvalConfig, texts: list[str]) -> None:
    """Assert that every user's value and the mean are those of the enumeration."""
    data, made = given.dataset(), {}
    for text, mean in zip(texts, evaluate(data, config, metrics=texts).values, strict=True):
        if asked_for(text, config).fixed(config).f_average == "of_means" and text.startswith("f_beta"):
            expected_mean = oracle.mean(given, config, text)
        else:
            expected = oracle.per_user(given, config, text)
            for user, found in zip(data.users, values_of(data, config, text, made), strict=True):
                assert close(found, expected.get(user)), (text, user, found, expected.get(user))
            averaged = [value for value in expected.values() if value is not None]
            expected_mean = math.fsum(averaged) / len(averaged) if averaged else None
        assert close(mean.value, expected_mean), (text, mean.value, expected_mean)


def close(found: float | None, expected: float | None) -> bool:
    """Whether two values are equal to 1e-12, or both are undefined."""
    if found is None or math.isnan(found) or expected is None:
        return expected is None and (found is None or math.isnan(found))
    return abs(found - expected) <= TOLERANCE


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
def test_the_average_is_the_mean_over_all_orders(k: int) -> None:
    for given in cases(N_CASES):
        compare(given, EvalConfig(), strings(k))


@pytest.mark.parametrize("ties", ["best", "worst", "file_order", "item_asc", "item_desc"])
def test_each_other_rule_is_its_one_order(ties: str) -> None:
    for n, given in enumerate(cases(N_CASES)):
        compare(given, EvalConfig(ties=ties), strings(1 + n % 4))


def test_the_floor_of_the_mean_rank_is_the_rank_of_every_tied_row() -> None:
    # Average precision under this rule belongs to one library's own rule, which is no part of the catalogue.
    texts = [text for text in strings(3) if not text.startswith("map")]
    for given in cases(N_CASES):
        compare(given, EvalConfig(ties="floor_mean_rank"), texts)


@pytest.mark.parametrize(
    "change",
    [
        {"relevance_threshold": 2},
        {"relevance_threshold": 2, "grades": "all"},
        {"positive_rule": "row_present"},
        {"positive_rule": "row_present", "gain": "binary"},
        {"truth_scope": "scored_only"},
        {"user_base": "truth_and_run"},
        {"user_base": "run"},
        {"users_without_relevant": "zero"},
        {"users_without_relevant": "one"},
        {"users_missing_from_run": "skip"},
        {"users_missing_from_run": "skip", "users_without_relevant": "zero"},
        {"score_direction": "lower"},
        {"gain": "exp2", "discount": "max2"},
        {"gain": "exp2_shift", "relevance_threshold": 2},
        {"map_denominator": "hits", "precision_denominator": "min_k_n", "recall_denominator": "min_r_k"},
    ],
    ids=lambda change: " ".join(f"{key}={value}" for key, value in change.items()),
)
def test_every_field_of_the_convention_means_what_the_specification_says(change: dict[str, Any]) -> None:
    for n, given in enumerate(cases(8)):
        compare(given, EvalConfig(**change, ties="worst" if n % 4 == 3 else "average"), strings(3))


def test_rows_without_a_label_are_not_relevant_or_no_rows_at_all() -> None:
    for unjudged, given in itertools.product(["non_relevant", "skip"], cases(8)):
        rows = [(u, i, None if n % 3 == 0 else y, s) for n, (u, i, y, s) in enumerate(given.rows)]
        compare(oracle.Case(rows), EvalConfig(unjudged=unjudged), strings(3))


def test_negative_grades_gain_nothing() -> None:
    for given in cases(8, grades=(-2, -1, 0, 1, 2)):
        compare(given, EvalConfig(), strings(3))
        compare(given, EvalConfig(relevance_threshold=-1), strings(3))


def test_fractional_grades_are_taken_as_they_are() -> None:
    for given in cases(8, grades=(0, 0.5, 1.5, 2.25)):
        compare(given, EvalConfig(), strings(3))


def extremes(given: oracle.Case, text: str) -> dict[Any, tuple[float, float]]:
    """Return user → lowest and highest value over all orders."""
    name, k, config = oracle.parse(text, EvalConfig())
    name = oracle.MEAN_TO_PER_USER.get(name, name)
    found = {}
    for user, one in oracle.user_lists(given, config).items():
        values = [getattr(order, name)(k) for order in one.orders(config) if order.r > 0]
        if values and one.rows:
            found[user] = (min(values), max(values))
    return found


def test_best_and_worst_are_the_extremes_over_all_orders_but_for_the_denominator_of_hits() -> None:
    texts = [text for text in strings(3) if "denominator=hits" not in text and "of_means" not in text]
    for given in cases(N_CASES):
        data, made = given.dataset(), {}
        for text in texts:
            expected = extremes(given, text)
            for at, ties in enumerate(["worst", "best"]):
                values = values_of(data, EvalConfig(ties=ties), text, made)
                for user, value in zip(data.users, values, strict=True):
                    assert user not in expected or close(value, expected[user][at]), (text, ties, user)


def test_the_denominator_of_hits_is_not_bounded_by_the_best_order() -> None:
    # Block of one hit and one miss after a hit at rank 1 and a miss: hits 1 → AP 1; with the second hit inside K = 3:
    # (1 + 2/3)/2 = .8333 is less than 1, so that the order with fewer hits is worth more.
    rows = [("u", "a", 1, 4), ("u", "b", 0, 3), ("u", "c", 1, 2), ("u", "d", 0, 2)]
    data = dataset(rows)
    values = [
        evaluate(data, EvalConfig(ties=ties), metrics=["map[denominator=hits]@3"]).values[0].value
        for ties in ("best", "worst", "average")
    ]
    assert values == [near((1 + 2 / 3) / 2), near(1.0), near(((1 + 2 / 3) / 2 + 1) / 2)]


@pytest.mark.parametrize(
    "change", [{}, {"users_without_relevant": "zero"}, {"users_missing_from_run": "skip", "grades": "all"}], ids=str
)
def test_tie_low_and_tie_high_are_the_values_of_the_worst_and_the_best_order(change: dict[str, Any]) -> None:
    for given in cases(N_CASES):
        data, texts, config = given.dataset(), strings(3), EvalConfig(**change)
        average, low, high = (
            evaluate(data, config.replace(ties=ties), metrics=texts).values for ties in ("average", "worst", "best")
        )
        for text, middle, worst, best in zip(texts, average, low, high, strict=True):
            assert close(middle.tie_low, worst.value), text
            assert close(middle.tie_high, best.value), text


def test_a_long_block_of_equal_scores_has_the_expected_values_of_a_random_order() -> None:
    # 1 relevant among 1 + 99 equal scores: HR@10 = 10/100, MRR = H(100)/100 = .0519, MRR@10 = H(10)/100 = .0293,
    # NDCG@10 = Σ 1/log2(j+1) over 10 places / 100 = .0454 (§1.5: the random scorer on 1 + 99).
    data = dataset([("u", f"i{n}", int(n == 37), 0.0) for n in range(100)])
    harmonic = [sum(1 / j for j in range(1, n + 1)) for n in (100, 10)]
    expected = {
        "hit_rate@10": 10 / 100,
        "mrr": harmonic[0] / 100,
        "mrr@10": harmonic[1] / 100,
        "ndcg@10": sum(1 / math.log2(j + 1) for j in range(1, 11)) / 100,
        "map@10": harmonic[1] / 100,
        "precision@10": 1 / 100,
    }
    printed = {"hit_rate@10": 0.1, "ndcg@10": 0.0454, "mrr": 0.0519, "mrr@10": 0.0293}
    for text, number in expected.items():
        found = evaluate(data, metrics=[text]).values[0].value
        assert found == near(number), text
        assert found == pytest.approx(printed.get(text, number), abs=0.5e-4)


def test_a_huge_block_keeps_its_precision() -> None:
    # 300 relevant among 20,000 equal scores: the binomial coefficients overflow a double, their ratios do not.
    n, h, k = 20_000, 300, 50
    data = dataset([("u", f"i{i}", int(i < h), 0.0) for i in range(n)])
    none = math.prod((n - h - j) / (n - j) for j in range(k))
    assert evaluate(data, metrics=[f"hit_rate@{k}"]).values[0].value == pytest.approx(1 - none, rel=1e-9)
    still, mean = 1.0, 0.0
    for j in range(k):
        mean += still * h / (n - j) / (j + 1)
        still *= (n - h - j) / (n - j)
    assert evaluate(data, metrics=[f"mrr@{k}"]).values[0].value == pytest.approx(mean, rel=1e-9)


def test_gauc_counts_equal_scores_as_half_under_every_policy_for_users_of_one_class() -> None:
    for policy, weight in itertools.product(["skip", "zero", "half", "one"], ["rows", "positives", "equal", "pairs"]):
        config = EvalConfig(single_class_users=policy, gauc_weight=weight)
        for given in cases(N_CASES):
            found = evaluate(given.dataset(), config, metrics=["gauc"]).values[0].value
            assert close(found, oracle.gauc(given, config))


# The calibration line is checked where it is solved: tests/reference/test_sklearn.py.
ROW_STRINGS = [t for t in all_strings("classification", "calibration") if "slope" not in t and "intercept" not in t]


@pytest.mark.parametrize("text", ROW_STRINGS)
def test_row_metrics_are_those_of_counting_row_by_row(text: str) -> None:
    for seed in range(N_CASES):
        given = case(seed)
        (found,) = evaluate(given.dataset(), EvalConfig(), metrics=[text]).values
        expected = oracle.row_value(given, EvalConfig(), text)
        if isinstance(expected, str):
            assert (found.value, found.undefined) == (None, expected)
        else:
            assert found.value == near(expected)
        assert found.metric == str(parse_metric(text))


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_exposure_is_counted_item_by_item(k: int) -> None:
    for given in cases(N_CASES):
        for size in (None, 20):
            config = EvalConfig(catalogue_size=size)
            cover, gini = (
                m.value for m in evaluate(given.dataset(), config, metrics=[f"coverage@{k}", f"gini@{k}"]).values
            )
            assert close(cover, oracle.coverage(given, config, k))
            assert close(gini, oracle.gini(given, config, k))
