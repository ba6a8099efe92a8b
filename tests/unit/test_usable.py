"""Which rows count: duplicates, missing and infinite scores, and the direction of the score."""

from __future__ import annotations

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.usable import usable
from tests.build import dataset

TWICE = [("u", "a", 1, 0.2), ("u", "b", 0, 0.5), ("u", "a", 0, 0.9), ("v", "a", 1, 0.1)]


def rows_of(data: Dataset) -> list[int]:
    return data.row_number.tolist()


def test_clean_rows_are_handed_on_as_they_are() -> None:
    data = dataset([("u", "a", 1, 0.5), ("u", "b", 0, 0.4)])
    assert usable(data, EvalConfig()) is data


def test_repeated_pairs_are_refused_with_their_rows_and_the_ways_out() -> None:
    with pytest.raises(RecmetricsError) as refused:
        usable(dataset(TWICE, name="clicks.csv"), EvalConfig())
    assert refused.value.kind == "duplicates"
    for part in ("clicks.csv", "1 user", "rows 3", "(u, a)", "keep_best", "keep_first", "keep_last"):
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("rule", "kept"), [("keep_best", [2, 3, 4]), ("keep_first", [1, 2, 4]), ("keep_last", [2, 3, 4])]
)
def test_one_copy_of_a_pair_is_kept_by_rule(rule: str, kept: list[int]) -> None:
    assert rows_of(usable(dataset(TWICE), EvalConfig(duplicates=rule))) == kept


def test_the_best_copy_is_the_first_of_equals() -> None:
    rows = [("u", "a", 1, 0.5), ("u", "a", 0, 0.5), ("u", "a", 0, 0.1)]
    assert rows_of(usable(dataset(rows), EvalConfig(duplicates="keep_best"))) == [1]


def test_the_best_copy_is_the_lowest_where_lower_scores_are_better() -> None:
    kept = usable(dataset(TWICE), EvalConfig(duplicates="keep_best", score_direction="lower"))
    assert rows_of(kept) == [1, 2, 4]  # 0.2 beats 0.9


def test_rows_without_an_id_are_never_copies() -> None:
    rows = [(None, "a", 1, 0.2), (None, "a", 1, 0.2), ("u", None, 1, 0.3), ("u", None, 1, 0.3)]
    assert rows_of(usable(dataset(rows), EvalConfig())) == [1, 2, 3, 4]


GAPS = [("u", "a", 1, None), ("u", "b", 0, 0.5), ("u", "c", 0, float("inf")), ("u", "d", 1, float("-inf"))]


def test_missing_scores_are_refused_with_their_rows() -> None:
    with pytest.raises(RecmetricsError) as refused:
        usable(dataset(GAPS[:2]), EvalConfig())
    assert refused.value.kind == "missing_scores"
    for part in ("'score': 1 (rows 1)", "data.csv: missing values", "missing_scores=drop", "missing_scores=last"):
        assert part in str(refused.value)


def test_infinite_scores_are_refused_with_their_values() -> None:
    with pytest.raises(RecmetricsError) as refused:
        usable(dataset(GAPS[1:]), EvalConfig())
    assert refused.value.kind == "missing_scores"
    for part in ("data.csv: infinite values", ": 2 (rows 2, 3", "inf, -inf", "infinite_scores=drop"):
        assert part in str(refused.value)


def test_infinite_scores_are_named_as_they_stand_in_the_file_also_where_lower_is_better() -> None:
    with pytest.raises(RecmetricsError, match="inf, -inf"):
        usable(dataset(GAPS[1:]), EvalConfig(score_direction="lower"))


def test_rows_without_a_score_are_dropped_or_ranked_last_as_told() -> None:
    dropped = usable(dataset(GAPS), EvalConfig(missing_scores="drop", infinite_scores="drop"))
    assert rows_of(dropped) == [2]
    last = usable(dataset(GAPS), EvalConfig(missing_scores="last", infinite_scores="drop"))
    assert rows_of(last) == [1, 2]
    assert np.argsort(-last.scores["score"]).tolist() == [1, 0]


def test_last_is_last_where_lower_scores_are_better() -> None:
    rows = [("u", "a", 1, None), ("u", "b", 0, 0.5), ("u", "c", 0, 0.1)]
    turned = usable(dataset(rows), EvalConfig(missing_scores="last", score_direction="lower"))
    assert np.argsort(-turned.scores["score"]).tolist() == [2, 1, 0]


def test_a_row_that_one_model_cannot_score_is_dropped_for_all() -> None:
    data = dataset([("u", "a", 1), ("u", "b", 0)], scores={"old": [0.5, 0.4], "new": [None, 0.3]})
    assert rows_of(usable(data, EvalConfig(missing_scores="drop"))) == [2]


def test_a_row_that_a_model_file_does_not_hold_is_no_missing_score() -> None:
    data = dataset(
        [("u", "a", 1), ("u", "b", 0)],
        scores={"old": [0.5, 0.4], "new": [None, 0.3]},
        scored={"new": [False, True]},
    )
    assert usable(data, EvalConfig()).n_rows == 2


def test_lower_is_better_turns_the_scores() -> None:
    turned = usable(dataset([("u", "a", 1, 0.25), ("u", "b", 0, -2.0)]), EvalConfig(score_direction="lower"))
    assert turned.scores["score"].tolist() == [-0.25, 2.0]


JUDGED_TWICE = [("u", "a", 1), ("u", "b", 0), ("u", "a", 3)]


def test_pairs_judged_twice_are_refused() -> None:
    data = dataset([("u", "a", 1, 0.5)], truth=JUDGED_TWICE)
    with pytest.raises(RecmetricsError) as refused:
        usable(data, EvalConfig())
    assert refused.value.kind == "duplicates"
    for part in ("1 user", "(u, a)", "truth_duplicates=keep_best"):
        assert part in str(refused.value)


@pytest.mark.parametrize(("rule", "grades"), [("keep_best", [0, 3]), ("keep_first", [1, 0]), ("keep_last", [0, 3])])
def test_one_judgement_of_a_pair_is_kept_by_rule(rule: str, grades: list[float]) -> None:
    data = dataset([("u", "a", 1, 0.5)], truth=JUDGED_TWICE)
    truth = usable(data, EvalConfig(truth_duplicates=rule)).truth
    assert truth is not None
    assert truth.grade.tolist() == grades
