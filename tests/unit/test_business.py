"""Business metrics of an exposure log, and what the first places show: metric specification §7 and §2.2."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import evaluate
from recmetrics.load import load
from recmetrics.results import MetricValue
from tests.build import dataset


def measure(data: Dataset, metric: str, **config: Any) -> MetricValue:
    (found,) = evaluate(data, EvalConfig(**config), metrics=[metric]).values
    return found


def value(data: Dataset, metric: str, **config: Any) -> float | None:
    return measure(data, metric, **config).value


ROWS = [("u", "a", 1, 0.9), ("u", "b", 0, 0.8), ("v", "a", 1, 0.7), ("v", "c", 0, 0.6), ("w", "b", 0, 0.5)]
LOG = dataset(
    ROWS,
    values={
        "click": [1, 0, 1, 1, 0],
        "purchase": [1, 0, 0, 0, 0],
        "amount": [30, 0, 0, -5, None],
        "dwell_seconds": [10, 5, None, 20, 1],
        "rating": [5, None, None, 2, None],
    },
)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("exposures", 5),
        ("clicks", 3),
        ("purchases", 1),
        ("ctr", 3 / 5),
        ("cvr", 1 / 3),
        ("conversion_rate", 1 / 5),
        ("gmv", 30 - 5),
        ("gmv_per_user", 25 / 3),
        ("gmv_per_mille", 1000 * 25 / 5),
        ("exposures_per_user", 5 / 3),
        ("clicks_per_user", 3 / 3),
        ("dwell_per_user", 36 / 3),
        ("satisfaction", 7 / 2),
    ],
)
def test_sums_and_rates_of_one_row_per_exposure(metric: str, expected: float) -> None:
    assert value(LOG, metric) == pytest.approx(expected, abs=1e-12)


def test_counts_per_row_take_the_place_of_single_exposures() -> None:
    data = dataset(ROWS[:2], values={"exposures": [100, 50], "clicks": [4, 2], "purchases": [1, 0]})
    assert value(data, "exposures") == 150
    assert value(data, "ctr") == pytest.approx(6 / 150)
    assert value(data, "cvr") == pytest.approx(1 / 6)
    assert value(data, "conversion_rate") == pytest.approx(1 / 150)


@pytest.mark.parametrize(
    ("metric", "column"),
    [
        ("clicks", "click"),
        ("purchases", "purchase"),
        ("ctr", "click"),
        ("cvr", "click"),
        ("conversion_rate", "purchase"),
        ("gmv", "amount"),
        ("gmv_per_user", "amount"),
        ("gmv_per_mille", "amount"),
        ("clicks_per_user", "click"),
        ("dwell_per_user", "dwell_seconds"),
        ("satisfaction", "rating"),
        ("ctr@2", "click"),
        ("gmv@2", "amount"),
    ],
)
def test_a_missing_column_is_named(metric: str, column: str) -> None:
    found = measure(dataset(ROWS), metric)
    assert (found.value, found.undefined) == (None, f"missing column: {column}")


def test_a_conversion_without_its_second_column_names_that_one() -> None:
    assert measure(dataset(ROWS, values={"click": [1] * 5}), "cvr").undefined == "missing column: purchase"


@pytest.mark.parametrize("metric", ["gmv_per_user", "clicks_per_user", "dwell_per_user", "exposures_per_user"])
def test_per_user_needs_a_user_column(metric: str) -> None:
    values = {"click": [1, 0], "amount": [1, 0], "dwell_seconds": [1, 0]}
    data = dataset([(None, "a", 1, 0.5), (None, "b", 0, 0.4)], values=values)
    assert measure(data, metric).undefined == "missing column: user"


def test_nothing_shown_and_nothing_clicked_are_reasons_and_a_sum_of_nothing_is_0() -> None:
    quiet = dataset(ROWS[:2], values={"click": [0, 0], "purchase": [0, 0], "amount": [0, 0], "exposures": [0, 0]})
    assert measure(quiet, "ctr").undefined == "no exposures"
    assert measure(quiet, "gmv_per_mille").undefined == "no exposures"
    assert measure(quiet, "cvr").undefined == "no clicks"
    assert value(quiet, "clicks") == 0
    assert value(quiet, "gmv") == 0


def test_negative_amounts_are_counted_and_shown() -> None:
    assert measure(LOG, "gmv").extra["negative_amounts"] == 1


def test_the_click_rate_shows_the_share_of_users_who_clicked() -> None:
    assert measure(LOG, "ctr").extra["share_of_users"] == pytest.approx(2 / 3)  # u and v of u, v, w


def test_satisfaction_says_how_many_were_rated() -> None:
    found = measure(LOG, "satisfaction", relevance_threshold=3)
    assert found.extra["rated"] == 2
    assert found.extra["share_at_threshold"] == 1 / 2  # 5 of (5, 2) reaches 3
    assert measure(dataset(ROWS[:1], values={"rating": [None]}), "satisfaction").value is None


# The first places ---------------------------------------------------------------------------------------------------


def test_click_rate_of_the_first_places_counts_logged_rows_alone() -> None:
    # First two of u: a (clicked), b; of v: a, c (both clicked); of w: b. 3 clicks of 5; first ones: 2 of 3.
    assert value(LOG, "ctr@2") == pytest.approx(3 / 5)
    assert value(LOG, "ctr@1") == pytest.approx(2 / 3)
    # v's c and w's b were never shown: 2 clicks of 3 exposures.
    partly = dataset(ROWS, values={"click": [1, 0, 1, None, None]})
    assert value(partly, "ctr@2") == pytest.approx(2 / 3)
    assert measure(dataset(ROWS, values={"click": [None] * 5}), "ctr@2").undefined == "no exposures"


def test_a_cut_block_of_equal_scores_gives_clicks_in_proportion() -> None:
    data = dataset([("u", "a", 1, 0.5), ("u", "b", 0, 0.5), ("u", "c", 0, 0.5)], values={"click": [1, 0, 0]})
    found = measure(data, "ctr@1")
    assert found.value == pytest.approx(1 / 3)
    assert found.extra["exposures"] == pytest.approx(1)


def test_amounts_of_the_first_places_add_up() -> None:
    assert value(LOG, "gmv@1") == 30
    assert value(LOG, "gmv@2") == 30 - 5


def trained(*pairs: tuple[str, str]) -> Dataset:
    return dataset(ROWS, train=pairs)


def test_popularity_is_the_mean_over_lists_of_the_training_users_of_their_items() -> None:
    # Training users: a 3, b 1, c 0. Lists: u (3+1)/2, v (3+0)/2, w 1 → (2 + 1.5 + 1)/3; first places: (3 + 3 + 1)/3.
    data = trained(("u", "a"), ("v", "a"), ("w", "a"), ("u", "b"))
    assert value(data, "avg_popularity@2") == pytest.approx((2 + 1.5 + 1) / 3)
    assert value(data, "avg_popularity@1") == pytest.approx((3 + 3 + 1) / 3)


def test_popularity_counts_users_and_not_rows() -> None:
    data = trained(("u", "a"), ("u", "a"), ("v", "a"), ("u", "b"))
    assert value(data, "avg_popularity@1") == pytest.approx((2 + 2 + 1) / 3)


def test_training_users_outside_the_scored_rows_count_one_by_one(tmp_path: Path) -> None:
    # Training: x, y, z, w took a; x took b; q took c. Five users; a has four of them.
    (tmp_path / "scored.csv").write_text("user,item,label,score\nu,a,1,0.9\nu,b,0,0.8\n", encoding="utf-8")
    (tmp_path / "train.csv").write_text("user,item\nx,a\ny,a\nz,a\nw,a\nx,b\nq,c\n", encoding="utf-8")
    data = load(tmp_path / "scored.csv", train=tmp_path / "train.csv")
    assert value(data, "avg_popularity@1") == 4
    assert value(data, "novelty@1") == pytest.approx(-math.log2(4 / 5))


def test_novelty_is_the_information_of_the_items_and_a_new_item_counts_as_one_user() -> None:
    # Training users 4: a has 4 → 0 bits, b 2 → 1 bit, c is new: as one user → 2 bits.
    data = trained(("u", "a"), ("v", "a"), ("w", "a"), ("x", "a"), ("u", "b"), ("v", "b"))
    found = measure(data, "novelty@2")
    assert found.value == pytest.approx((1 / 2 + 2 / 2 + 1) / 3)
    assert found.extra["new_item_share"] == pytest.approx((0 + 1 / 2 + 0) / 3)


@pytest.mark.parametrize("metric", ["avg_popularity@2", "novelty@2"])
def test_without_training_data_it_is_said(metric: str) -> None:
    assert measure(dataset(ROWS), metric).undefined == "no training counts"


def test_inequality_says_whether_it_is_over_the_catalogue() -> None:
    # a 2, b 2, c 1 over the items seen: (−2·1 + 0·2 + 2·2)/(3·5) = 2/15.
    seen = measure(dataset(ROWS), "gini@2")
    assert seen.value == pytest.approx(2 / 15)
    assert (seen.extra["items"], seen.extra["over_catalogue"]) == (3, 0)
    # Over a catalogue of 5: 0 0 1 2 2 → (0·1 + 2·2 + 4·2)/(5·5) = 12/25.
    whole = measure(dataset(ROWS), "gini@2", catalogue_size=5)
    assert whole.value == pytest.approx(12 / 25)
    assert (whole.extra["items"], whole.extra["over_catalogue"]) == (5, 1)


def test_a_catalogue_of_any_size_needs_no_memory_of_its_own() -> None:
    # Three items share every exposure; all others, nearly the whole catalogue, have none: the coefficient tends to 1.
    assert value(dataset(ROWS), "gini@2", catalogue_size=10**15) == pytest.approx(1)


def test_a_cut_block_is_exposed_in_proportion_and_covered_in_item_order() -> None:
    data = dataset([("u", "b", 0, 0.5), ("u", "a", 0, 0.5)])
    # One place for two items: ½ each, no inequality; coverage takes `a`.
    assert value(data, "gini@1") == pytest.approx(0)
    assert value(data, "coverage@1", catalogue_size=4) == pytest.approx(1 / 4)


def test_coverage_shows_who_has_a_list_at_all() -> None:
    data = dataset(ROWS, truth=[("u", "a", 1), ("absent", "a", 1)])
    found = measure(data, "coverage@1", catalogue_size=10)
    assert found.value == pytest.approx(2 / 10)  # a, a, b
    assert found.extra["user_coverage"] == pytest.approx(3 / 4)


def test_rows_without_an_item_stand_in_no_list() -> None:
    # The row without an item scores higher, and yet item a holds the first place: one of two items, one training user.
    data = dataset([("u", None, 0, 0.9), ("u", "a", 1, 0.5)], train=[("u", "a")])
    assert value(data, "coverage@1", catalogue_size=2) == pytest.approx(1 / 2)
    assert value(data, "avg_popularity@2") == 1
    assert math.isfinite(value(data, "novelty@2") or 0.0)


@pytest.mark.parametrize("metric", ["gini@2", "avg_popularity@2", "novelty@2"])
def test_no_list_is_no_number(metric: str) -> None:
    data = dataset([], scores={"score": []}, truth=[("u", "a", 1)], train=[("u", "a")])
    assert measure(data, metric).undefined == "no rows"


def test_a_catalogue_smaller_than_what_the_lists_show_is_refused() -> None:
    data = dataset([("u", "a", 1, 0.9), ("u", "b", 0, 0.8), ("u", "c", 0, 0.7)])
    with pytest.raises(RecmetricsError, match="lists show 3 different items") as refused:
        evaluate(data, EvalConfig(catalogue_size=2), metrics=["coverage@5"])
    assert refused.value.kind == "invalid_config"
