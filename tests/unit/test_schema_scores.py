"""Score columns of strangers: what their names and values leave open is asked, and nothing is rescaled in silence."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset, Issue
from recmetrics.errors import RecmetricsError
from recmetrics.load import load
from recmetrics.roles import says_distance, says_probability, says_rank
from recmetrics.schema.cells import Numbers
from recmetrics.schema.scores import looks_ranked, reading_issues

TWO_USERS = (("u1", "a", 1), ("u1", "b", 0), ("u1", "c", 0), ("u2", "a", 0), ("u2", "b", 1), ("u2", "c", 0))


def loaded(column: str, scores: tuple[object, ...], **options: Any) -> Dataset:
    rows = "".join(f"{u},{i},{y},{s}\n" for (u, i, y), s in zip(TWO_USERS, scores, strict=True))
    return load(("a.csv", f"user,item,label,{column}\n{rows}".encode()), **options)


def the_issue(data: Dataset, code: str) -> Issue:
    return next(issue for issue in data.issues if issue.code == code)


def codes(data: Dataset) -> set[str]:
    return {issue.code for issue in data.issues}


# Direction


@pytest.mark.parametrize("name", ["distance", "l2_distance", "cosineDist", "loss", "pred_loss", "error", "距离"])
def test_a_name_that_says_distance_asks_for_the_direction(name: str) -> None:
    data = loaded(name, (0.1, 0.5, 0.75, 0.5, 0.25, 0.75), columns={"score": name})
    asked = the_issue(data, "score_may_be_distance")
    assert (asked.severity, asked.asks, asked.facts["column"]) == ("doubt", "score_direction", name)
    np.testing.assert_allclose(data.scores[name], [0.1, 0.5, 0.75, 0.5, 0.25, 0.75])


@pytest.mark.parametrize("name", ["rank", "item_rank", "ranking", "Ranking Position", "排名", "名次"])
def test_a_name_that_says_rank_asks_for_the_direction(name: str) -> None:
    data = loaded(name, (10, 20, 30, 10, 20, 30), columns={"score": name})
    assert the_issue(data, "score_may_be_rank").asks == "score_direction"


@pytest.mark.parametrize("name", ["rank_score", "ranking_score", "排名分", "score", "glossy", "distinct", "rankprob"])
def test_names_that_only_sound_like_it_ask_nothing(name: str) -> None:
    assert not says_distance(name)
    assert not says_rank(name)


def test_whole_numbers_1_to_n_inside_every_user_ask_whether_they_are_ranks() -> None:
    data = loaded("score", (1, 2, 3, 3, 1, 2))
    assert the_issue(data, "score_may_be_rank").asks == "score_direction"
    assert data.scores["score"].tolist() == [1, 2, 3, 3, 1, 2]


@pytest.mark.parametrize("scores", [(1, 2, 3, 3, 1, 4), (1, 2, 2, 3, 1, 2), (0, 1, 2, 0, 1, 2), (1, 2, 3, 1.5, 1, 2)])
def test_other_numbers_are_no_ranks(scores: tuple[float, ...]) -> None:
    assert "score_may_be_rank" not in codes(loaded("score", scores))


def test_one_user_in_thirty_may_miss_a_rank() -> None:
    # 30 users of 2 rows; 29/30 = 0.967 are ranked, 28/30 = 0.933 are not enough.
    scores = np.tile([1.0, 2.0], 30)
    scores[1] = 7
    assert looks_ranked(scores, _pairs(30))
    scores[3] = 7
    assert not looks_ranked(scores, _pairs(30))


def _pairs(n_users: int) -> Any:
    from recmetrics.schema.ids import Ids

    texts = np.array([f"u{i}" for i in range(n_users)], dtype=object)
    return Ids(np.repeat(np.arange(n_users, dtype=np.int32), 2), texts)


@pytest.mark.parametrize("config", [EvalConfig(score_direction="lower"), EvalConfig(score_kind="rank")])
def test_an_answered_direction_is_not_asked_again(config: EvalConfig) -> None:
    data = loaded("rank", (1, 2, 3, 1, 2, 3), columns={"score": "rank"}, config=config)
    assert "score_may_be_rank" not in codes(data)


# Kind


@pytest.mark.parametrize("name", ["prob", "p", "pctr", "click_prob", "概率"])
def test_probabilities_outside_0_to_1_are_asked_and_kept(name: str) -> None:
    data = loaded(name, (0.5, 1.25, 0.25, 0.5, 0.75, 0.125), columns={"score": name})
    asked = the_issue(data, "score_scale")
    assert (asked.severity, asked.asks) == ("doubt", "score_kind")
    assert asked.facts["largest"] == "1.25"
    assert data.scores[name].tolist() == [0.5, 1.25, 0.25, 0.5, 0.75, 0.125]


def test_scores_up_to_100_look_like_percentages_and_are_not_divided() -> None:
    data = loaded("score", (97.5, 12, 3, 40, 55, 8))
    assert the_issue(data, "score_scale").asks == "score_kind"
    assert data.scores["score"].tolist() == [97.5, 12, 3, 40, 55, 8]


def test_percent_signs_in_every_cell_are_divided_and_told() -> None:
    data = loaded("score", ("50%", "25%", "75%", "50%", "25%", "100%"))
    assert data.scores["score"].tolist() == [0.5, 0.25, 0.75, 0.5, 0.25, 1]
    assert the_issue(data, "percent").severity == "info"


def test_logits_are_told_and_no_sigmoid_is_applied() -> None:
    data = loaded("logit", (-2, 0.5, 3, -1, 1, 0))
    told = the_issue(data, "score_scale")
    assert (told.severity, told.asks) == ("info", "score_kind")
    assert data.scores["logit"].tolist() == [-2, 0.5, 3, -1, 1, 0]


def test_predicted_stars_are_raw_scores_without_a_question() -> None:
    assert "score_scale" not in codes(loaded("score", (4.5, 3.25, 1, 2.5, 5, 4)))


@pytest.mark.parametrize("kind", ["raw", "probability"])
def test_an_answered_kind_is_not_asked_again(kind: str) -> None:
    config = EvalConfig.from_json({"score_kind": kind})
    data = loaded("prob", (0.5, 1.25, 0.25, 0.5, 0.75, 0.125), config=config)
    assert "score_scale" not in codes(data)


def test_a_name_says_probability_as_a_word_only() -> None:
    assert says_probability("ctr_prob")
    assert not says_probability("problem")
    assert not says_probability("p1score")


# Numbers as text, empty and infinite cells


def test_a_comma_with_two_readings_asks_for_the_number_format() -> None:
    read = Numbers(np.array([1234.0]), np.empty(0, np.int64), ("thousands_or_comma",))
    (asked,) = reading_issues(read, "score", "a.csv")
    assert (asked.code, asked.severity, asked.asks) == ("thousands_or_comma", "doubt", "number_format")


def test_empty_and_infinite_scores_ask_for_their_treatment() -> None:
    config = EvalConfig(missing_scores="drop", infinite_scores="drop")
    data = loaded("score", (0.5, "", "inf", 0.5, "", 0.25), config=config)
    found = {issue.code: (issue.count, issue.asks) for issue in data.issues}
    assert found["missing_scores"] == (2, "missing_scores")
    assert found["infinite_scores"] == (1, "infinite_scores")


def test_words_among_the_scores_are_refused_with_their_rows() -> None:
    with pytest.raises(RecmetricsError) as caught:
        loaded("score", (0.5, "high", 0.25, 0.5, "low", 0.75))
    assert caught.value.kind == "score_not_numeric"
    assert "rows 2, 5: 'high', 'low'" in str(caught.value)


def test_the_direction_of_a_run_is_fixed_by_its_format() -> None:
    run = "".join(f"q{q} Q0 d{d} {d} {d} tag\n" for q in (1, 2) for d in (1, 2, 3))
    truth = "q1 0 d1 1\nq2 0 d2 1\n"
    data = load(("a.run", run.encode()), truth=("t.qrels", truth.encode()))
    assert "score_may_be_rank" not in codes(data)
    assert pa.array(data.scores[next(iter(data.scores))]).to_pylist() == [1, 2, 3, 1, 2, 3]
