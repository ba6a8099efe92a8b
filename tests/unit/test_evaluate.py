"""evaluate(): what is asked is answered once, for every model and group, with who was counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import evaluate, make_tables, per_user
from recmetrics.results import Report, missing_column
from recmetrics.usable import usable
from tests.build import dataset, labelled, one_list

ROWS = [
    ("u", "a", 1, 0.9),
    ("u", "b", 0, 0.8),
    ("v", "a", 0, 0.7),
    ("v", "b", 1, 0.6),
    ("w", "a", 0, 0.5),
    ("w", "b", 0, 0.4),
]
TRUTH = [*[row[:3] for row in ROWS], ("u", "z", 1), ("x", "a", 1)]


def names_of(report: Report) -> list[str]:
    return [value.metric for value in report.values]


def refusal(*given: Any, **how: Any) -> RecmetricsError:
    with pytest.raises(RecmetricsError) as refused:
        evaluate(*given, **how)
    return refused.value


# What is asked ------------------------------------------------------------------------------------------------------


def test_values_come_in_the_order_in_which_they_are_asked_for() -> None:
    asked = ["ndcg@3", "roc_auc", "ndcg@1", "gauc", "precision@3", "mrr"]
    assert names_of(evaluate(dataset(ROWS), metrics=asked)) == asked


def test_at_k_stands_for_every_cutoff_of_the_convention() -> None:
    report = evaluate(dataset(ROWS), EvalConfig(ks=(1, 3)), metrics=["ndcg@k", "roc_auc"])
    assert names_of(report) == ["ndcg@1", "ndcg@3", "roc_auc"]
    assert [value.k for value in report.values] == [1, 3, None]


def test_a_metric_asked_twice_is_answered_twice() -> None:
    report = evaluate(dataset(ROWS), metrics=["roc_auc", "gauc", "roc_auc", "gauc", "ndcg@3", "ndcg@3"])
    assert names_of(report) == ["roc_auc", "gauc", "roc_auc", "gauc", "ndcg@3", "ndcg@3"]
    assert report.values[0] == report.values[2]


def test_the_string_of_a_value_says_what_the_convention_changes() -> None:
    config = EvalConfig(ties="worst", gain="exp2", threshold=0.3)
    report = evaluate(dataset(ROWS), config, metrics=["ndcg@3", "precision", "roc_auc"])
    assert names_of(report) == ["ndcg[gain=exp2,ties=worst]@3", "precision[threshold=0.3]", "roc_auc"]


def test_without_a_wish_everything_that_applies_is_measured() -> None:
    names = names_of(evaluate(dataset(ROWS), EvalConfig(ks=(1, 2))))
    for expected in ("roc_auc", "gauc", "log_loss", "ndcg@1", "ndcg@2", "ndcg", "mrr", "map@2", "r_precision"):
        assert expected in names
    assert len(names) == len(set(names))
    assert "ctr" not in names
    assert "ndcg[gain=exp2]@1" not in names  # all grades are 0 or 1: one number


def test_business_metrics_appear_with_their_columns() -> None:
    names = names_of(evaluate(dataset(ROWS, values={"click": [1, 0, 0, 1, 0, 0]}), EvalConfig(ks=(1,))))
    assert {"ctr", "clicks", "ctr@1"} <= set(names)
    assert "gmv@1" not in names


@pytest.mark.parametrize("where", ["rows", "truth"])
def test_both_gains_stand_side_by_side_where_a_grade_above_1_exists(where: str) -> None:
    rows = [("u", "a", 2 if where == "rows" else 1, 0.9), ("u", "b", 0, 0.8)]
    data = dataset(rows, truth=[("u", "a", 1), ("u", "z", 3)] if where == "truth" else None)
    names = names_of(evaluate(data, EvalConfig(ks=(2,))))
    assert {"ndcg@2", "ndcg[gain=exp2]@2", "dcg@2", "dcg[gain=exp2]@2", "ndcg", "ndcg[gain=exp2]"} <= set(names)
    turned = names_of(evaluate(data, EvalConfig(ks=(2,), gain="exp2")))
    assert {"ndcg@2", "ndcg[gain=exp2]@2"} <= set(turned)
    assert "ndcg[gain=exp2]@2" not in names_of(evaluate(data, EvalConfig(ks=(2,), gain="binary")))


def test_a_reciprocal_rank_without_cutoff_is_asked_for_by_the_convention() -> None:
    names = names_of(evaluate(dataset(ROWS), EvalConfig(ks=(1, 2), mrr_cutoff="none")))
    assert [name for name in names if name.startswith("mrr")] == ["mrr"]


def test_a_full_ideal_list_is_measured_at_cutoffs_only() -> None:
    names = names_of(evaluate(dataset(ROWS), EvalConfig(ks=(2,), gain="binary", ideal="full_k")))
    assert "ndcg[gain=binary,ideal=full_k]@2" in names


def test_a_full_ideal_list_of_graded_items_is_refused() -> None:
    assert refusal(dataset(ROWS), metrics=["ndcg[ideal=full_k]@3"]).kind == "invalid_config"


# Bad input ----------------------------------------------------------------------------------------------------------


def test_an_unknown_model_is_refused_with_those_there_are() -> None:
    refused = refusal(dataset(ROWS), models=["scroe"])
    assert refused.kind == "unknown_name"
    assert "'scroe'" in str(refused)
    assert "score" in str(refused)


def test_an_unknown_segment_column_is_refused_with_the_nearest() -> None:
    data = dataset(ROWS, segments={"city": ["x"] * 6, "device": ["y"] * 6})
    refused = refusal(data, by="citty")
    assert refused.kind == "no_column"
    assert "city" in str(refused)
    assert refusal(dataset(ROWS), by="city").kind == "no_column"


def test_data_without_scores_is_refused() -> None:
    data = dataset([("u", "a", 1)], scores={})
    assert refusal(data).kind == "no_score_column"


def test_unknown_metrics_and_cutoffs_are_refused() -> None:
    assert refusal(dataset(ROWS), metrics=["ndgc@3"]).kind == "unknown_name"
    assert refusal(dataset(ROWS), metrics=["ndcg@0"]).kind == "invalid_k"
    assert refusal(dataset(ROWS), metrics=["roc_auc"], engine="sparc").kind == "unknown_name"


def test_unusable_rows_are_refused_here_too() -> None:
    assert refusal(dataset([*ROWS, ROWS[0]])).kind == "duplicates"
    assert refusal(dataset([("u", "a", 1, None)])).kind == "missing_scores"


def test_without_users_there_are_no_lists_and_it_is_said() -> None:
    report = evaluate(labelled([1, 0], [0.9, 0.1]), EvalConfig(ks=(1,), catalogue_size=3))
    assert report.find("roc_auc").value == 1
    for metric in ("ndcg@1", "gauc", "r_precision", "coverage@1"):
        assert report.find(metric).undefined == missing_column("user")
    assert "users_averaged" not in report.counts


def test_without_items_there_is_no_coverage_and_lists_are_ranked_all_the_same() -> None:
    data = dataset([("u", None, 1, 0.9), ("u", None, 0, 0.1)])
    report = evaluate(data, EvalConfig(ks=(1,), catalogue_size=3), metrics=["ndcg@1", "coverage@1"])
    assert report.find("ndcg@1").value == 1
    assert report.find("coverage@1").undefined == missing_column("item")


# Who is counted -----------------------------------------------------------------------------------------------------


def test_counts_tell_what_became_of_rows_and_users() -> None:
    # u: one hit, one unscored; v: one hit; w: nothing relevant; x: judged, never listed; y: listed, never judged.
    data = dataset([*ROWS, ("y", "a", None, 0.3)], truth=TRUTH)
    counts = evaluate(data, metrics=["ndcg@2"]).counts
    expected = {
        "rows": 7,
        "rows_used": 6,
        "positives": 2,
        "negatives": 4,
        "users": 4,
        "items": 2,
        "users_averaged": 3,
        "users_without_relevant": 1,
        "users_missing_from_run": 1,
        "users_one_class": 1,
        "users_with_both_classes": 2,
        "users_only_in_run": 1,
        "users_only_in_truth": 1,
    }
    assert {name: counts[name] for name in expected} == expected


def test_rows_left_out_are_not_counted_as_used() -> None:
    data = dataset([("u", "a", 1, 0.5), ("u", "b", 0, None), ("u", "c", None, 0.4)])
    counts = evaluate(data, EvalConfig(missing_scores="drop"), metrics=["ndcg@2"]).counts
    assert (counts["rows"], counts["rows_used"]) == (3, 1)


def test_a_mean_says_who_was_skipped_and_what_it_would_be_otherwise() -> None:
    # P@1: u 1, v 0, x 0 (no list); w is skipped: 1/3, with w as 0 1/4, without x 1/2.
    found = evaluate(dataset(ROWS, truth=TRUTH), metrics=["precision@1"]).find("precision@1")
    assert (found.value, found.n_users, found.n_rows) == (pytest.approx(1 / 3), 3, 6)
    assert found.skipped == {"without_relevant": 1}
    assert found.zero_filled == pytest.approx(1 / 4)
    assert found.extra["missing_as_zero"] == 1
    assert found.extra["without_missing"] == pytest.approx(1 / 2)


def test_without_anyone_to_average_there_is_a_reason() -> None:
    found = evaluate(dataset(ROWS[4:]), metrics=["ndcg@3"]).find("ndcg@3")
    assert (found.value, found.undefined, found.n_users) == (None, "no users with relevant items", 0)
    assert found.skipped == {"without_relevant": 1}


def test_all_users_without_a_list_leave_no_mean_of_the_others() -> None:
    data = dataset([], scores={"score": []}, truth=[("u", "a", 1)])
    found = evaluate(data, metrics=["ndcg@3"]).find("ndcg@3")
    assert (found.value, found.n_users) == (0, 1)
    assert "without_missing" not in found.extra


def test_a_user_whose_ideal_list_gains_nothing_is_left_out_of_ndcg_and_counted() -> None:
    # Under row_present u's only judged item has grade 0: nothing to gain, 0/0.
    data = dataset([("u", "a", 0, 0.9), ("v", "a", 1, 0.9)])
    config = EvalConfig(positive_rule="row_present")
    found = evaluate(data, config, metrics=["ndcg@1", "precision@1"])
    assert (found.find("ndcg@1").value, found.find("ndcg@1").n_users) == (1, 1)
    assert found.find("ndcg@1").skipped == {"undefined": 1}
    assert found.find("precision@1").n_users == 2


# Intervals ----------------------------------------------------------------------------------------------------------


def test_the_interval_of_a_mean_is_the_t_interval_over_users() -> None:
    # Recall@1 of three users 1, 0, .5: mean .5, sd .5, t(2; .975) = 4.302653.
    rows = [("u", "a", 1, 2), ("v", "a", 0, 2), ("v", "b", 1, 1), ("w", "a", 1, 2), ("w", "b", 1, 1)]
    wide = evaluate(dataset(rows), metrics=["recall@1"]).find("recall@1")
    assert wide.value == pytest.approx(0.5)
    assert (wide.low, wide.high) == (0, 1)  # .5 ± 4.302653·.5/√3 = .5 ± 1.24 leaves the range
    narrow = evaluate(dataset(rows), EvalConfig(confidence=0.5), metrics=["recall@1"]).find("recall@1")
    reach = 0.816497 * 0.5 / math.sqrt(3)  # t(2; .75) = .816497
    assert narrow.low == pytest.approx(0.5 - reach, abs=1e-6)
    assert narrow.high == pytest.approx(0.5 + reach, abs=1e-6)


def test_one_user_or_equal_values_have_no_interval() -> None:
    one = evaluate(one_list([1, 0]), metrics=["ndcg@2"]).find("ndcg@2")
    assert (one.low, one.high) == (None, None)
    alike = dataset([("u", "a", 1, 1.0), ("v", "a", 1, 1.0)])
    assert evaluate(alike, metrics=["ndcg@1"]).find("ndcg@1").low is None


def test_auc_has_the_interval_of_its_users() -> None:
    found = evaluate(dataset(ROWS), metrics=["roc_auc"]).find("roc_auc")
    assert found.value == pytest.approx(6 / 8)  # .9 beats all four negatives, .6 beats .5 and .4
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low < found.value < found.high <= 1


# Models, groups, tables ---------------------------------------------------------------------------------------------


def two_models() -> Dataset:
    rows = [row[:3] for row in ROWS]
    values = {"click": [1.0, 0, 0, 1, 0, 0]}
    return dataset(rows, scores={"old": [6, 5, 4, 3, 2, 1], "new": [5, 6, 3, 4, 2, 1]}, values=values)


def test_every_model_has_its_values_and_the_log_has_one() -> None:
    report = evaluate(two_models(), metrics=["precision@1", "ctr"])
    assert [(value.metric, value.model) for value in report.values] == [
        ("precision@1", "old"),
        ("ctr", ""),
        ("precision@1", "new"),
    ]
    assert report.find("precision@1", model="old").value == 1 / 2
    assert report.find("precision@1", model="new").value == 1 / 2
    assert report.find("ctr").value == pytest.approx(2 / 6)


def test_models_can_be_chosen() -> None:
    report = evaluate(two_models(), models=["new"], metrics=["precision@1"])
    assert [value.model for value in report.values] == ["new"]


def test_tables_made_before_serve_again() -> None:
    data, config = two_models(), EvalConfig()
    made = {model: make_tables(data, config, model) for model in data.models}
    asked = ["ndcg@2", "map[ties=worst]@2", "roc_auc"]
    for _ in range(2):
        assert evaluate(data, config, metrics=asked, tables=made) == evaluate(data, config, metrics=asked)


def test_groups_follow_the_whole_and_add_up() -> None:
    data = dataset(ROWS, segments={"city": ["北京", "北京", "上海", "上海", None, None]})
    report = evaluate(data, metrics=["prevalence", "precision@1"], by="city")
    shares = {value.segment: (value.value, value.n_rows) for value in report.values if value.metric == "prevalence"}
    assert shares == {
        None: (pytest.approx(2 / 6), 6),
        ("city", "北京"): (1 / 2, 2),
        ("city", "上海"): (1 / 2, 2),
        ("city", ""): (0, 2),
    }
    assert report.find("precision@1", segment=("city", "北京")).value == 1
    assert report.find("precision@1", segment=("city", "上海")).value == 0


def test_a_group_of_whole_users_keeps_their_unscored_items_and_a_group_of_rows_does_not() -> None:
    data = dataset(
        ROWS[:4], truth=[*TRUTH[:4], ("u", "z", 1)], segments={"who": ["u", "u", "v", "v"], "row": list("abab")}
    )
    by_user = evaluate(data, metrics=["recall@2"], by="who")
    assert by_user.find("recall@2", segment=("who", "u")).value == 1 / 2  # a of a, z
    by_row = evaluate(data, metrics=["recall@2"], by="row")
    # Row group a: u has a (relevant), v has a (not): R of u is 1 there.
    assert by_row.find("recall@2", segment=("row", "a")).value == 1


def test_a_group_without_one_class_has_reasons_and_no_number() -> None:
    data = dataset(ROWS, segments={"who": ["u", "u", "v", "v", "w", "w"]})
    found = evaluate(data, metrics=["roc_auc"], by="who").find("roc_auc", segment=("who", "w"))
    assert (found.value, found.undefined) == (None, "no positives")


def test_values_of_users_follow_the_population_rules() -> None:
    data = dataset(ROWS, truth=TRUTH)
    config = EvalConfig()
    users = per_user(make_tables(data, config, "score"), config, "precision@1")
    assert data.users.tolist() == ["u", "v", "w", "x"]
    assert users.counted.tolist() == [True, True, False, True]
    np.testing.assert_array_equal(users.values, [1, 0, np.nan, 0])
    filled = config.replace(users_without_relevant="one", users_missing_from_run="skip")
    users = per_user(make_tables(data, filled, "score"), filled, "precision@1")
    np.testing.assert_array_equal(users.values, [1, 0, 1, np.nan])


def test_users_with_one_class_have_the_auc_that_the_convention_gives_them() -> None:
    data = dataset(ROWS)
    config = EvalConfig(single_class_users="half")
    users = per_user(make_tables(data, config, "score"), config, "gauc")
    np.testing.assert_array_equal(users.values, [1, 0, 0.5])
    found = evaluate(data, config, metrics=["gauc"]).find("gauc")
    assert (found.value, found.n_users) == (1 / 2, 3)
    assert found.skipped == {}


def test_values_are_rounded_as_the_convention_says() -> None:
    rows = [("u", "a", 0, 3), ("u", "b", 1, 2), ("u", "c", 0, 1), ("v", "a", 1, 3), ("v", "b", 0, 2)]
    # NDCG@3: u 1/log2 3 = .63093, v 1. Rounded per user to one decimal: (.6 + 1)/2 = .8; at the end: .8.
    plain = evaluate(dataset(rows), metrics=["ndcg@3"]).find("ndcg@3").value
    at_end = EvalConfig(rounding={"decimals": 3, "per_user": False})
    per_one = EvalConfig(rounding={"decimals": 1, "per_user": True})
    assert plain == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert evaluate(dataset(rows), at_end, metrics=["ndcg@3"]).find("ndcg@3").value == 0.815
    assert evaluate(dataset(rows), per_one, metrics=["ndcg@3"]).find("ndcg@3").value == 0.8
    assert evaluate(dataset(rows), at_end, metrics=["roc_auc"]).find("roc_auc").value == 0.667  # 4 of 6


def test_lower_is_better_turns_threshold_metrics_too() -> None:
    # Distances: flagged where distance ≤ .5.
    data = labelled([1, 0, 1, 0], [0.1, 0.2, 0.5, 0.9])
    config = EvalConfig(score_direction="lower")
    assert evaluate(data, config, metrics=["precision"]).values[0].value == pytest.approx(2 / 3)
    strict = config.replace(threshold_rule="gt")
    assert evaluate(data, strict, metrics=["precision"]).values[0].value == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    "changes", [{"missing_scores": "last"}, {"missing_scores": "last", "score_direction": "lower"}]
)
def test_tables_made_earlier_are_not_treated_a_second_time(changes: dict[str, Any]) -> None:
    # What a page does: it keeps the usable rows and their tables, and asks for values of these.
    config = EvalConfig(ks=(2,), **changes)
    raw = dataset([("u", "a", 1, 0.9), ("u", "b", 0, None), ("u", "c", 1, 0.4), ("v", "a", 0, 0.7), ("v", "b", 1, 0.2)])
    rows = usable(raw, config)
    kept = evaluate(rows, config, tables={"score": make_tables(rows, config, "score")}, by=None)
    assert [value.value for value in kept.values] == [value.value for value in evaluate(raw, config).values]


def test_an_interval_holds_its_value_even_where_a_reproduced_tie_rule_passes_the_range() -> None:
    rows = [("u", "a", 1, 0.5), ("u", "b", 1, 0.5), ("v", "c", 1, 0.9), ("v", "d", 0, 0.1)]
    found = evaluate(dataset(rows), EvalConfig(ties="floor_mean_rank", ks=(1,)), metrics=["precision@1"]).values[0]
    # u: two hits at the floored mean rank 1, so P@1 = 2; v: 1; mean 1.5.
    assert found.value == 1.5
    assert found.high is not None
    assert found.high >= 1.5
