"""Roles of columns: by name in two languages, by content, corrected by the caller."""

from typing import Any

import pytest

from recmetrics.errors import RecmetricsError
from recmetrics.load import Guess, guess_columns, load, profile, read_source
from recmetrics.roles import ROLES, plain


def guess(text: str, columns: dict[str, Any] | None = None, **options: Any) -> Guess:
    source = read_source(("a.csv", text.encode()), **options)
    return guess_columns(source, columns)


def chosen(found: Guess) -> dict[str, object]:
    return found.to_columns()


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        ("user_id,item_id,label,score", {"user": "user_id", "item": "item_id", "label": "label", "score": ["score"]}),
        ("uid,movieId,clicked,pred", {"user": "uid", "item": "movieId", "label": "clicked", "score": ["pred"]}),
        ("qid,docno,relevance,sim", {"user": "qid", "item": "docno", "label": "relevance", "score": ["sim"]}),
        ("Query ID,ASIN,y_true,y_prob", {"user": "Query ID", "item": "ASIN", "label": "y_true", "score": ["y_prob"]}),
        (
            "用户ID,商品ID,是否点击,预测分数",
            {"user": "用户ID", "item": "商品ID", "label": "是否点击", "score": ["预测分数"]},
        ),
        ("会员编号,物品编号,标签,得分", {"user": "会员编号", "item": "物品编号", "label": "标签", "score": ["得分"]}),
        ("user,item,rating,prediction", {"user": "user", "item": "item", "label": "rating", "score": ["prediction"]}),
    ],
)
def test_usual_names_are_known_in_both_languages(header: str, roles: dict[str, object]) -> None:
    found = chosen(guess(f"{header}\nu1,i1,1,0.5\nu2,i2,0,0.25\n"))
    assert {role: found[role] for role in roles} == roles


def test_every_spelling_is_plain_and_stands_once_in_its_role() -> None:
    for role in ROLES.values():
        assert [name for name in role.names if plain(name) != name] == []
        assert len(set(role.names)) == len(role.names)


def test_several_score_columns_are_several_models() -> None:
    text = "user,item,label,model_a,model_b,score_2\nu1,i1,1,0.5,0.4,3\nu2,i2,0,0.25,0.1,4\n"
    assert chosen(guess(text))["score"] == ["model_a", "model_b", "score_2"]


def test_text_under_a_score_name_is_no_model_beside_numbers() -> None:
    assert chosen(guess("truth,prob,predicted\n1,0.5,yes\n0,0.25,no\n"))["score"] == ["prob"]


def test_columns_without_usual_names_are_guessed_by_content_with_the_reason() -> None:
    found = guess("foo_id,bar_id,was_it,how_much\nu1,i1,1,0.5\nu1,i2,0,0.25\n")
    assert chosen(found) == {"user": "foo_id", "item": "bar_id", "label": "was_it", "score": ["how_much"]}
    assert all(reason for choice in found.choices.values() for reason, _ in choice.reasons)
    assert not any(choice.is_given for choice in found.choices.values())


def test_without_a_header_the_first_columns_are_user_and_item() -> None:
    found = guess("u1,i1,1,0.5\nu1,i2,0,0.25\nu2,i1,0,0.125\n")
    assert chosen(found) == {"user": "0", "item": "1", "label": "2", "score": ["3"]}


def test_short_text_columns_become_segments_and_ids_and_free_text_do_not() -> None:
    rows = "".join(f"u{i},i{i},{i % 2},0.{i + 1},{'x' if i % 3 else 'y'},comment {i},{20 + i % 2}\n" for i in range(8))
    found = guess("user,item,label,score,plan,remark,age\n" + rows)
    assert chosen(found)["segment"] == ["plan", "age"]
    assert found.ignored == ("remark",)
    assert found.choices["segment"].reasons[0][1] == {"count": 2}


def test_value_columns_are_found_and_a_click_column_may_be_the_label_too() -> None:
    header = "user,item,clicked,score,amount,dwell_time,position,ts\n"
    text = header + "u1,i1,1,0.5,3.5,10,1,1704153600\nu2,i2,0,0.4,0,2,2,1704153601\n"
    found = chosen(guess(text))
    assert (found["label"], found["click"]) == ("clicked", "clicked")
    assert (found["amount"], found["dwell_seconds"], found["position"], found["time"]) == (
        "amount",
        "dwell_time",
        "position",
        "ts",
    )


def test_a_model_column_makes_a_long_table_only_beside_users_and_items() -> None:
    rows = "u1,i1,A,1,0.5\nu1,i1,B,1,0.25\n"
    assert chosen(guess("user,item,model,label,score\n" + rows))["model"] == "model"
    assert "model" not in chosen(guess("x1,x2,model,label,score\n" + rows))


# What the caller says


def test_the_caller_overrules_guesses_by_name_by_position_and_by_none() -> None:
    text = "user,item,label,score,other\nu1,i1,1,0.5,0.1\nu2,i2,0,0.4,0.2\n"
    found = guess(text, {"score": ["other", "score"], "item": 0, "user": None, "segment": "item"})
    assert chosen(found) == {"item": "user", "label": "label", "score": ["other", "score"], "segment": ["item"]}
    assert found.choices["score"].is_given


def test_only_a_name_that_is_alike_is_proposed_for_a_column_that_is_not_there() -> None:
    text = "user,item,label,score\nu1,i1,1,0.5\nu2,i2,0,0.4\n"
    with pytest.raises(RecmetricsError, match="The nearest is 'score'"):
        guess(text, {"score": "scoer"})
    with pytest.raises(RecmetricsError, match="Name one of these with --columns score=NAME"):
        guess(text, {"score": "prediction"})


def test_value_columns_given_together_are_sorted_by_their_names() -> None:
    text = "user,item,label,score,gmv,paid\nu1,i1,1,0.5,3,1\nu2,i2,0,0.4,0,0\n"
    assert chosen(guess(text, {"value": "gmv"}))["amount"] == "gmv"
    with pytest.raises(RecmetricsError, match="does not say what it holds"):
        guess(text, {"value": ["paid"]})


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("user", "no_user_column"),
        ("item", "no_item_column"),
        ("label", "no_label_column"),
        ("score", "no_score_column"),
        ("time", "no_column"),
    ],
)
def test_a_named_column_that_is_not_there_is_refused_with_the_nearest(role: str, kind: str) -> None:
    with pytest.raises(RecmetricsError) as caught:
        guess("user,item,label,my_score\nu1,i1,1,0.5\n", {role: "my_scor"})
    assert caught.value.kind == kind
    assert "'my_score'" in str(caught.value)
    with pytest.raises(RecmetricsError):
        guess("user,item,label,my_score\nu1,i1,1,0.5\n", {role: 9})


def test_an_unknown_role_is_refused_with_the_nearest() -> None:
    with pytest.raises(RecmetricsError) as caught:
        guess("user,item\nu1,i1\n", {"lable": "item"})
    assert (caught.value.kind, caught.value.facts["nearest"]) == ("unknown_name", "label")


def test_a_guess_given_back_as_columns_gives_the_same_choices() -> None:
    rows = [f"u{i},i{i},{i % 2},0.{i + 1},0.{i + 2},{'x' if i < 2 else 'y'}\n" for i in range(4)]
    text = "user,item,label,model_a,model_b,city\n" + "".join(rows)
    first = guess(text)
    assert chosen(guess(text, chosen(first))) == chosen(first)


# The look at a column


def test_the_profile_tells_kind_missing_distinct_and_first_values() -> None:
    source = read_source(("a.csv", b"user,score,flag\nu1,0.5,yes\n,0.25,no\nu1,,no\n"))
    looks = profile(source)
    assert (looks["user"].kind, looks["user"].n_missing, looks["user"].n_distinct) == ("word", 1, 1)
    assert (looks["score"].kind, looks["score"].n_missing) == ("fraction", 1)
    assert looks["flag"].is_binary
    assert looks["user"].first == ("u1", "", "u1")


# Strangers' headers


def columns_of(header: str, *rows: str) -> dict[str, Any]:
    return guess_columns(read_source(("a.csv", "\n".join((header, *rows, "")).encode()))).to_columns()


REAL_HEADERS = [
    ("userId,movieId,rating,timestamp,prediction", "1,31,2.5,1260759144,2.25", "userId movieId rating prediction"),
    ("reviewerID,asin,overall,unixReviewTime,score", "A1,B1,5.0,1360000000,0.5", "reviewerID asin overall score"),
    ("impression_id,user_id,news_id,clicked,score", "1,U1,N1,0,0.5", "user_id news_id clicked score"),
    ("review_id,user_id,business_id,stars,useful,score", "r,u,b,3,7,0.5", "user_id business_id stars score"),
    ("qid,docid,rel,rank,score", "q1,d1,1,1,2.5", "qid docid rel score"),
    ("user,time_stamp,adgroup_id,nonclk,clk,pctr", "1,1494032110,8,1,0,0.5", "user adgroup_id clk pctr"),
    ("msno,song_id,source_type,target,proba", "u,a,radio,1,0.5", "msno song_id target proba"),
    ("display_id,ad_id,clicked,score", "1,5,1,0.5", "display_id ad_id clicked score"),
    (
        "customer_id,article_id,t_dat,purchased,pred_score",
        "c,5,2020-01-01,1,0.5",
        "customer_id article_id purchased pred_score",
    ),
    ("srch_id,prop_id,click_bool,score", "1,893,0,0.5", "srch_id prop_id click_bool score"),
    ("用户ID,商品ID,是否点击,预估点击率", "u,a,1,0.3", "用户ID 商品ID 是否点击 预估点击率"),
    ("会员编号,商品编码,是否购买,模型分", "u,a,1,0.3", "会员编号 商品编码 是否购买 模型分"),
]


@pytest.mark.parametrize(("header", "row", "expected"), REAL_HEADERS)
def test_headers_of_public_data_sets_are_recognised(header: str, row: str, expected: str) -> None:
    flipped = ",".join({"0": "1", "1": "0"}.get(cell, cell) for cell in row.split(","))
    found = columns_of(header, row, flipped)
    assert " ".join((found["user"], found["item"], found["label"], *found["score"])) == expected


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("user,item,exposures,clicks,purchases,score", ("u,a,10,3,1,0.5", "u,b,20,0,0,0.25")),
        ("用户ID,商品ID,曝光次数,点击次数,购买次数,预测分", ("u,a,10,3,1,0.5", "u,b,20,0,0,0.25")),
        ("用户ID,商品ID,曝光,点击,购买,预测分", ("u,a,10,3,1,0.5", "u,b,20,0,0,0.25")),
    ],
)
def test_counts_of_clicks_and_purchases_are_no_labels(header: str, rows: tuple[str, ...]) -> None:
    assert "label" not in columns_of(header, *rows)
    with pytest.raises(RecmetricsError) as caught:
        load(("a.csv", "\n".join((header, *rows, "")).encode()))
    assert caught.value.kind == "no_label_column"


def test_clicks_of_0_and_1_are_labels_beside_a_count_of_exposures() -> None:
    assert columns_of("user,item,exposures,clicks,score", "u,a,10,1,0.5", "u,b,20,0,0.25")["label"] == "clicks"


@pytest.mark.parametrize("low", ["rank", "cosine_distance", "排名"])
def test_a_rank_or_distance_is_the_score_when_nothing_better_is_there(low: str) -> None:
    header = f"user_id,item_id,label,price,{low}"
    assert columns_of(header, "u,a,1,9.5,1", "u,b,0,8.5,2")["score"] == [low]
    assert columns_of(f"{header},score", "u,a,1,9.5,1,0.5", "u,b,0,8.5,2,0.25")["score"] == ["score"]


def test_one_column_for_two_roles_is_refused() -> None:
    source = read_source(("a.csv", b"user,item,x\nu,a,1\nu,b,0\n"))
    with pytest.raises(RecmetricsError) as caught:
        guess_columns(source, {"score": "x", "label": "x"})
    assert "column 'x' is named both for the role label and for the role score" in str(caught.value)


def test_a_click_may_be_the_label_too_and_the_guess_can_be_given_back() -> None:
    source = read_source(("a.csv", b"user,item,clicked,score\nu,a,1,0.5\nu,b,0,0.25\n"))
    first = guess_columns(source).to_columns()
    assert (first["label"], first["click"]) == ("clicked", "clicked")
    assert guess_columns(source, first).to_columns() == first
