"""Ranking @K: the page says the API's own numbers, reacts to K and to the rules, and explains its odd cases."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.evaluate import evaluate, make_tables
from recmetrics.load import load
from recmetrics.rank_curves import rank_curves
from recmetrics.samples import SAMPLES
from recmetrics.text import Text
from recmetrics.ui.views.ranking import edge_sentences
from tests.app.opening import answer, figure, numbers, opened, write_rows, written

PAGE = "40_Ranking"
SAMPLE = "sample:healthy_clicks"
METRICS = ("precision", "recall", "hit_rate", "mrr", "map", "ndcg")
# Two users with two relevant items each, one with lists of 4 and one of 3.
ROWS = [
    ("u", "a", 1, 0.9),
    ("u", "b", 0, 0.8),
    ("u", "c", 1, 0.7),
    ("u", "d", 0, 0.6),
    ("v", "a", 0, 0.9),
    ("v", "b", 1, 0.8),
    ("v", "c", 1, 0.7),
]


@pytest.fixture
def healthy():
    sample = SAMPLES["healthy_clicks"]
    return load(*sample.paths, **sample.load_options)


@pytest.mark.parametrize(
    ("language", "word"), [("en", "see at least one relevant item"), ("zh", "至少看到一个相关物品")]
)
def test_the_sentence_holds_the_hit_rate_its_ceiling_and_its_random_value(healthy, language: str, word: str) -> None:
    at = opened(PAGE, language, d=SAMPLE)
    assert not at.exception
    model = healthy.models[0]
    hits = make_tables(healthy, EvalConfig(), model).hits
    expected = rank_curves(hits, EvalConfig(), model, (10,)).curves["hit_rate"]
    words = answer(at)
    assert word in words
    for share in (expected.value[0], expected.ceiling[0], expected.random[0]):
        assert f"{share:.1%}" in words


def test_every_tile_shows_the_value_and_the_interval_of_evaluate(healthy) -> None:
    report = evaluate(healthy, metrics=[f"{metric}@10" for metric in METRICS], models=[healthy.models[0]])
    shown = written(opened(PAGE, d=SAMPLE))
    for value in report.values:
        assert f"### {value.value:.3f}" in shown
        assert f"[{value.low:.3f}, {value.high:.3f}]" in shown


def test_the_curve_passes_through_the_value_of_evaluate(healthy) -> None:
    at = opened(PAGE, d=SAMPLE)
    for metric in METRICS:
        lines = {trace["name"]: trace for trace in figure(at, f"ranking_curve_{metric}")["data"] if "name" in trace}
        expected = evaluate(healthy, metrics=[f"{metric}@10"], models=[healthy.models[0]]).values[0].value
        assert numbers(lines["this ranking"]["x"])[9] == 10
        assert numbers(lines["this ranking"]["y"])[9] == pytest.approx(expected, abs=1e-12)


def test_another_k_changes_sentence_and_tiles_and_leaves_the_curves_alone() -> None:
    at = opened(PAGE, d=SAMPLE)
    before = figure(at, "ranking_curve_ndcg")
    at.number_input(key="k").set_value(3).run()
    assert answer(at).startswith("**With 3 places")
    assert "NDCG@3" in written(at)
    assert figure(at, "ranking_curve_ndcg") == before


def test_k_of_a_link_is_the_k_of_the_page() -> None:
    assert answer(opened(PAGE, d=SAMPLE, k="5")).startswith("**With 5 places")


def test_the_rules_for_ties_and_for_users_without_relevant_items_are_those_of_the_convention(healthy) -> None:
    at = opened(PAGE, d=SAMPLE)
    at.segmented_control(key="ranking_users_without_relevant").set_value("zero").run()
    at.segmented_control(key="ranking_ties").set_value("worst").run()
    assert not at.exception
    config = EvalConfig(users_without_relevant="zero", ties="worst")
    assert at.session_state["config"] == config
    expected = evaluate(healthy, config, metrics=["recall@10"], models=[healthy.models[0]]).values[0]
    assert f"### {expected.value:.3f}" in written(at)
    assert at.segmented_control(key="ranking_ties").value == "worst"


def test_the_spread_shows_every_user_averaged_once(healthy) -> None:
    at = opened(PAGE, d=SAMPLE)
    at.segmented_control(key="ranking_spread").set_value("recall").run()
    expected = evaluate(healthy, metrics=["recall@10"], models=[healthy.models[0]]).values[0]
    assert numbers(figure(at, "ranking_spread_chart")["data"][0]["y"]).sum() == expected.n_users


def test_a_file_without_users_is_ranked_as_one_list_after_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path, monkeypatch, [(row[2], row[3]) for row in ROWS], "label,score")
    at = opened(PAGE, d="file:0", k="2")
    assert "no user column" in written(at)
    assert not at.get("plotly_chart")
    at.button(key="ranking_ask_one_list").click().run()
    assert not at.exception
    assert "The whole file is ranked as one list." in written(at)
    assert "100.0% of the users see at least one relevant item" in answer(at)


def test_users_cannot_be_told_apart_without_a_user_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, [(row[2], row[3]) for row in ROWS], "label,score")
    at = opened(PAGE, d="file:0", view="users")
    assert not at.exception
    assert "cannot be split by users" in written(at)


def test_no_relevant_item_at_all_leaves_words_and_no_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path, monkeypatch, [(user, item, 0, score) for user, item, _, score in ROWS])
    at = opened(PAGE, d="file:0")
    assert not at.exception
    assert answer(at) == "**No user has a relevant item here, so no ranking metric is defined.**"
    assert not re.search("nan|None", written(at))


@pytest.mark.parametrize("view", ["curves", "users"])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "rows",
    [
        [("u", "a", 1, 0.5)],
        [("u", "a", 1, 0.5), ("u", "b", 0, 0.5)],
        [("u", "a", 1, 0.5), ("v", "a", 1, 0.5)],
        [("u", "a", 3, 0.9), ("u", "b", 1, -2.0), ("v", "c", 0, 7.0)],
        [("<img src=x>", "$x$", 1, 0.9), ("**b**", ":red[x]", 0, 0.2), ("**b**", "{n}", 1, 0.1)],
    ],
)
def test_odd_data_give_words_and_no_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[object, ...]], language: str, view: str
) -> None:
    write_rows(tmp_path, monkeypatch, rows)
    at = opened(PAGE, language, d="file:0", view=view)
    assert not at.exception
    assert not re.search(r"\bnan\b|\bNone\b", written(at))


def sentences(rows: list[tuple[object, ...]], k: int, **fields: object) -> str:
    config = EvalConfig(**fields)
    from tests import build

    data = build.dataset(rows)
    found = rank_curves(make_tables(data, config, "score").hits, config, "score", (k,))
    return " ".join(edge_sentences(found, k, config.precision_denominator == "k", Text("en")))


def test_lists_shorter_than_k_are_counted() -> None:
    assert "1 of 2 users have fewer than 4 items" in sentences(ROWS, 4)
    assert "fewer than" not in sentences(ROWS, 3)
    assert "divided by 4" in sentences(ROWS, 4)
    assert "divided by" not in sentences(ROWS, 4, precision_denominator="min_k_n")


def test_a_k_that_cuts_nothing_is_said() -> None:
    assert "No list is longer than 4 items" in sentences(ROWS, 4)
    assert "No list is longer" not in sentences(ROWS, 3)


def test_precision_that_equals_recall_by_construction_is_said() -> None:
    assert "100.0% of the users have exactly 2 relevant items" in sentences(ROWS, 2)
    assert "exactly" not in sentences(ROWS, 1)


def test_hit_rate_that_equals_recall_is_said() -> None:
    one_each = [row for row in ROWS if row[1] != "c"]
    assert "hit rate and recall are the same number" in sentences(one_each, 1)
    assert "same number" not in sentences(ROWS, 1)


def test_ties_that_decide_are_said() -> None:
    # One user has no interval, so any range over orders is wider.
    tied = [(user, item, label, 0.5) for user, item, label, _ in ROWS if user == "u"]
    assert "The order of equal scores moves Precision@K, Recall@K" in sentences(tied, 2)
    assert "equal scores" not in sentences(ROWS, 2)


def test_values_on_sampled_candidates_carry_the_word_sampled() -> None:
    at = opened(PAGE, d=SAMPLE, cfg="default,candidates=sampled")
    assert "NDCG@10, sampled candidates" in written(at)


def test_with_grades_both_gains_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # R13 of metrics.md: ranked [click 1, order 5], NDCG@2 linear .7378, exp2 .6500.
    write_rows(tmp_path, monkeypatch, [("u", "a", 1, 0.9), ("u", "b", 5, 0.8), ("u", "c", 0, 0.1)])
    shown = written(opened(PAGE, d="file:0", k="2"))
    assert "### 0.738" in shown
    assert "with gain exp2 0.650" in shown


# Users --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_users_view_says_the_pooled_and_per_user_auc_of_evaluate(healthy, language: str) -> None:
    at = opened(PAGE, language, d=SAMPLE, view="users")
    assert not at.exception
    report = evaluate(healthy, metrics=["roc_auc", "gauc", "gauc[weight=pairs]"], models=[healthy.models[0]])
    shown = written(at)
    for value in report.values:
        assert f"### {value.value:.3f}" in shown
    assert f"{report.values[2].value:.3f}" in answer(at)


def test_the_two_parts_make_up_the_pooled_auc(healthy) -> None:
    at = opened(PAGE, d=SAMPLE, view="users")
    at.session_state["users_split_open"] = True
    at.run()
    table = next(frame.value for frame in at.dataframe if "share of pairs" in frame.value)
    share, auc = table["share of pairs"].to_numpy(), table["AUC"].to_numpy()
    assert share[0] * auc[0] + share[1] * auc[1] == pytest.approx(auc[2], abs=1e-5)
    expected = evaluate(healthy, metrics=["roc_auc"], models=[healthy.models[0]]).values[0].value
    assert auc[2] == pytest.approx(expected, abs=1e-6)


def test_users_counted_and_left_out_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [*ROWS, ("only_negative", "a", 0, 0.4), ("only_positive", "a", 1, 0.4)]
    write_rows(tmp_path, monkeypatch, rows)
    shown = written(opened(PAGE, d="file:0", view="users"))
    assert "2 / 4 users have both classes and count." in shown
    assert "1 users with negatives only, 1 with positives only; together 2 rows." in shown


def test_users_are_listed_by_the_pairs_they_lose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # u has its hits on ranks 1 and 3 of 4: of 4 pairs 1 is lost. v has a miss before both hits: 2 of 2 lost.
    write_rows(tmp_path, monkeypatch, ROWS)
    at = opened(PAGE, d="file:0", view="users")
    table = next(frame.value for frame in at.dataframe if "share of lost pairs" in frame.value)
    assert list(table["user"]) == ["v", "u"]
    assert list(table["share of lost pairs"]) == pytest.approx([2 / 3, 1 / 3])
    assert np.allclose(table["AUC"], [0.0, 0.75])
