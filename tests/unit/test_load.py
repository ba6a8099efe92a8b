"""Files in, Dataset out: several models, truth, training pairs, and the account of every row."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.load import load, read_source

HEADER = "user,item,label,score\n"


def upload(text: str, name: str = "a.csv") -> tuple[str, bytes]:
    return name, text.encode()


def loaded(text: str, **options: Any) -> Dataset:
    return load(upload(text), **options)


def refused(*files: Any, **options: Any) -> RecmetricsError:
    with pytest.raises(RecmetricsError) as caught:
        load(*files, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def issues(dataset: Dataset) -> dict[str, int]:
    return {issue.code: issue.count for issue in dataset.issues}


def facts(dataset: Dataset, code: str) -> dict[str, object]:
    return dict(next(issue.facts for issue in dataset.issues if issue.code == code))


# One file


def test_a_plain_file_is_read_row_by_row() -> None:
    data = loaded(HEADER + "007,a,1,0.5\n7,b,0,0.25\n007,b,0,0.125\n")
    assert list(data.users) == ["007", "7"]
    assert data.user is not None
    assert data.user.tolist() == [0, 1, 0]
    assert data.label.tolist() == [1, 0, 0]
    assert data.scores["score"].tolist() == [0.5, 0.25, 0.125]
    assert data.row_number.tolist() == [1, 2, 3]
    assert data.issues == ()
    assert data.label_coding == {"0": 0.0, "1": 1.0}
    assert data.columns == {"user": "user", "item": "item", "label": "label", "score": ["score"]}


def test_a_path_and_the_same_bytes_give_the_same_dataset(tmp_path: Path) -> None:
    text = HEADER + "u1,a,1,0.5\nu2,b,0,0.25\n"
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert load(path).fingerprint == load(str(path)).fingerprint == loaded(text).fingerprint
    assert load(read_source(path)).fingerprint == loaded(text).fingerprint


def test_rows_without_ids_form_no_group_and_are_counted() -> None:
    data = loaded(HEADER + "u1,a,1,0.9\n,b,0,0.8\nnan,c,1,0.3\nu2,,0,0.5\nu2,e,1,0.4\n")
    assert data.n_users == 2
    assert facts(data, "missing_ids") == {"count": 3, "user": 2, "item": 1, "rows": "2, 3, 4"}


def test_missing_and_infinite_scores_are_kept_and_counted() -> None:
    data = loaded(HEADER + "u1,a,1,\nu1,b,0,nan\nu1,c,0,inf\nu1,d,0,-inf\nu1,e,0,0.5\n")
    assert np.isnan(data.scores["score"][:2]).all()
    assert data.scores["score"][2:4].tolist() == [np.inf, -np.inf]
    assert issues(data) == {"missing_scores": 2, "infinite_scores": 2}
    assert facts(data, "missing_scores")["rows"] == [1, 2]


def test_the_account_adds_up_and_counts_a_row_under_its_first_reason() -> None:
    data = loaded(HEADER + "u1,a,1,0.5\nu1,b,,\nu1,c,,0.5\nu1,d,0,\n")
    assert dict(data.account.dropped) == {"missing_scores": 2, "missing_labels": 1}
    assert data.account.read == data.account.used + sum(data.account.dropped.values()) == 4


def test_repeated_pairs_are_counted_and_those_that_conflict_apart() -> None:
    data = loaded(HEADER + "u1,a,1,0.5\nu1,a,1,0.5\nu1,b,1,0.5\nu1,b,0,0.4\nu1,b,1,0.3\nu2,a,0,0.1\n")
    # One surplus row of (u1, a), two of (u1, b); only (u1, b) has two labels.
    assert (facts(data, "duplicates")["count"], facts(data, "duplicates")["conflicting"]) == (3, 1)


def test_segments_are_coded_in_alphabetical_order_with_empty_cells_missing() -> None:
    data = loaded("user,item,label,score,city\nu1,a,1,0.5,y\nu1,b,0,0.4,\nu2,c,0,0.3,x\nu2,d,1,0.2,y\n")
    assert data.segments["city"].labels == ("x", "y")
    assert data.segments["city"].codes.tolist() == [1, -1, 0, 1]


def test_a_named_segment_may_be_any_column_with_few_values() -> None:
    data = loaded(HEADER + "u1,a,1,0.5\nu2,b,0,0.25\n", columns={"segment": "user"})
    assert data.segments["user"].labels == ("u1", "u2")
    many = HEADER + "".join(f"u{i},a,{i % 2},0.5\n" for i in range(1001))
    assert refused(upload(many), columns={"segment": "user"}).kind == "no_column"


def test_values_are_read_under_their_roles() -> None:
    text = "user,item,label,score,click,amount,day\nu1,a,1,0.5,yes,3.5,2024-01-02\nu2,b,0,0.4,no,x,2024-01-03\n"
    data = loaded(text, columns={"amount": "amount"})
    assert data.values["click"].tolist() == [1, 0]
    assert data.values["amount"][0] == 3.5
    assert np.isnan(data.values["amount"][1])
    assert data.values["time"].tolist() == [19724, 19725]
    assert issues(data) == {"value_not_numeric": 1}


def test_a_score_that_is_text_is_refused_with_rows_and_values() -> None:
    error = refused(upload(HEADER + "u1,a,1,0.5\nu1,b,0,high\nu1,c,0,low\n"))
    assert error.kind == "score_not_numeric"
    assert (error.facts["rows"], error.facts["values"]) == ("2, 3", "'high', 'low'")


def test_a_missing_label_score_or_named_column_is_refused() -> None:
    assert refused(upload("user,item,score\nu1,a,0.5\nu1,b,0.25\n")).kind == "no_label_column"
    assert refused(upload("user,item,label\nu1,a,1\nu1,b,0\n")).kind == "no_score_column"
    assert refused(upload(HEADER + "u1,a,1,0.5\n"), columns={"user": "uid"}).kind == "no_user_column"


def test_a_file_without_users_has_rows_only() -> None:
    data = loaded("label,score\n1,0.5\n0,0.25\n")
    assert data.user is None
    assert data.n_users == 0


# Several models


def test_score_columns_are_models_in_the_order_of_the_file() -> None:
    data = loaded("user,item,label,model_b,model_a\nu1,a,1,0.5,0.1\nu1,b,0,0.25,0.2\n")
    assert data.models == ("model_b", "model_a")
    assert data.scored == {}


def test_files_are_joined_on_user_and_item() -> None:
    one = upload(HEADER + "u1,a,1,0.5\nu1,b,0,0.25\n", "one.csv")
    two = upload("user,item,score\nu1,b,0.75\nu2,c,0.125\n", "two.csv")
    data = load(one, two)
    assert data.models == ("one", "two")
    assert data.n_rows == 3
    assert data.rows_of("one").tolist() == [True, True, False]
    assert data.rows_of("two").tolist() == [False, True, True]
    assert data.scores["two"][1:].tolist() == [0.75, 0.125]
    assert np.isnan(data.label[2])
    assert facts(data, "candidate_sets_differ")["count"] == 2
    assert facts(data, "query_sets_differ")["count"] == 1


def test_files_with_the_same_rows_in_another_order_are_one_set() -> None:
    one = upload(HEADER + "u1,a,1,0.5\nu1,b,0,0.25\n", "one.csv")
    two = upload(HEADER + "u1,b,0,0.75\nu1,a,1,0.125\n", "two.csv")
    data = load(one, two)
    assert (data.n_rows, data.scored, data.issues) == (2, {}, ())
    assert data.scores["two"].tolist() == [0.125, 0.75]


def test_a_repeated_pair_meets_its_counterpart_and_rows_without_an_id_meet_nobody() -> None:
    one = upload(HEADER + "u1,a,1,0.5\nu1,a,1,0.25\n,x,0,0.5\n", "one.csv")
    two = upload(HEADER + "u1,a,1,0.75\nu1,a,1,0.125\n,x,0,0.5\n,y,0,0.5\n", "two.csv")
    data = load(one, two)
    # Two rows of (u1, a); one row without a user in the first file and two in the second.
    assert data.n_rows == 2 + 1 + 2
    assert data.scores["two"][:2].tolist() == [0.75, 0.125]


def test_files_that_disagree_on_a_label_are_refused() -> None:
    one = upload(HEADER + "u1,a,1,0.5\nu1,b,0,0.25\n", "one.csv")
    two = upload(HEADER + "u1,a,0,0.5\nu1,b,0,0.25\n", "two.csv")
    error = refused(one, two)
    assert (error.kind, error.facts["count"], error.facts["pairs"]) == ("duplicates", 1, "(u1, a)")


def test_files_of_one_name_and_files_with_several_scores_keep_their_models_apart() -> None:
    text = "user,item,label,score_a,score_b\nu1,a,1,0.5,0.1\nu1,b,0,0.25,0.2\n"
    assert load(upload(text, "x.csv"), upload(HEADER + "u1,a,1,0.5\n", "y.csv")).models == (
        "x/score_a",
        "x/score_b",
        "y",
    )
    same = upload(HEADER + "u1,a,1,0.5\n", "x.csv")
    assert load(same, same).models == ("x.csv", "x.csv (2)")


def test_files_without_items_cannot_be_joined() -> None:
    text = "user,label,score\nu1,1,0.5\nu1,0,0.25\n"
    assert refused(upload(text, "a.csv"), upload(text, "b.csv")).kind == "no_item_column"


def test_segments_and_values_of_several_files_are_filled_from_each() -> None:
    head = "user,item,label,score,city,amount\n"
    one = upload(head + "u1,a,1,0.5,y,1\nu1,b,0,0.4,,\nu1,e,0,0.4,y,1\nu1,f,0,0.4,z,1\n", "one.csv")
    two = upload(head + "u1,b,0,0.5,x,2\nu1,c,0,0.4,w,3\nu1,g,0,0.1,w,3\nu1,h,0,0.2,x,3\n", "two.csv")
    data = load(one, two)
    segment = data.segments["city"]
    assert segment.labels == ("w", "x", "y", "z")
    assert [segment.labels[code] for code in segment.codes[:3]] == ["y", "x", "y"]
    assert data.values["amount"][:2].tolist() == [1, 2]


def test_a_long_table_is_one_model_per_value_of_its_model_column() -> None:
    data = loaded("user,item,model,label,score\nu1,a,A,1,0.5\nu1,a,B,1,0.75\nu1,b,A,0,0.25\nu2,b,B,0,0.125\n")
    assert data.models == ("A", "B")
    assert data.scores["A"][:2].tolist() == [0.5, 0.25]
    assert data.scores["B"][[0, 2]].tolist() == [0.75, 0.125]
    assert data.row_number.tolist() == [1, 3, 4]


def test_a_long_table_needs_a_model_in_every_row() -> None:
    text = "user,item,label,score,which\nu1,a,1,0.5,A\nu1,b,0,0.25,\n"
    error = refused(upload(text), columns={"model": "which"})
    assert (error.kind, error.facts["rows"]) == ("no_column", "2")
    many = "user,item,label,score,which\n" + "".join(f"u1,i{i},{i % 2},0.5,m{i}\n" for i in range(101))
    assert refused(upload(many), columns={"model": "which"}).facts["count"] == 101


# Truth

RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 b 1 3 t\nq9 Q0 z 1 1 t\n"
QRELS = "q1 0 a 2\nq1 0 c 1\nq2 0 b 0\nq3 0 a 1\n"


def test_a_run_gets_the_grades_of_its_judgments_and_unjudged_rows_none() -> None:
    data = load(upload(RUN, "my.run"), truth=upload(QRELS, "q.txt"))
    assert data.models == ("my",)
    assert data.label[[0, 2]].tolist() == [2, 0]
    assert np.isnan(data.label[[1, 3]]).all()
    assert data.truth is not None
    judged = zip(data.users[data.truth.user], data.items[data.truth.item], data.truth.grade, strict=True)
    assert list(judged) == [("q1", "a", 2), ("q1", "c", 1), ("q2", "b", 0), ("q3", "a", 1)]
    assert facts(data, "query_sets_differ") == {"file": "q.txt", "only_in_run": 1, "only_in_truth": 1, "in_both": 2}


def test_judgments_beside_a_run_are_taken_as_its_truth() -> None:
    beside = load(upload(RUN, "my.run"), upload(QRELS, "q.qrels"))
    assert beside.fingerprint == load(upload(RUN, "my.run"), truth=upload(QRELS, "q.qrels")).fingerprint


def test_a_run_alone_says_what_it_needs() -> None:
    error = refused(upload(RUN, "my.run"))
    assert error.kind == "no_label_column"
    assert "--truth" in str(error)
    assert refused(upload(QRELS, "q.qrels")).kind == "no_score_column"


def test_truth_and_run_may_be_tables_with_the_label_in_the_truth() -> None:
    run = upload("user,item,score\nu1,a,0.5\nu2,b,0.25\n", "run.csv")
    truth = upload("user,item,grade\nu1,a,1\nu1,c,2\nu2,d,0\n", "truth.csv")
    columns = {"user": "user", "item": "item", "label": "grade", "score": "score"}
    data = load(run, truth=truth, columns=columns)
    assert data.label[0] == 1
    assert np.isnan(data.label[1])
    assert data.truth is not None
    assert len(data.truth.user) == 3


def test_a_truth_without_labels_lists_relevant_items() -> None:
    data = load(upload("user,item,score\nu1,a,0.5\nu2,b,0.25\n"), truth=upload("user,item\nu1,a\nu2,c\n", "t.csv"))
    assert data.truth is not None
    assert data.truth.grade.tolist() == [1, 1]
    assert "truth_without_labels" in issues(data)


def test_labels_of_the_scored_rows_join_the_truth_and_must_not_contradict_it() -> None:
    scored = upload(HEADER + "u1,a,1,0.5\nu1,b,0,0.25\n")
    data = load(scored, truth=upload("user,item,label\nu1,a,1\nu1,z,1\nu1,y,0\n", "t.csv"))
    assert data.truth is not None
    assert sorted(data.items[data.truth.item]) == ["a", "b", "y", "z"]
    assert data.label.tolist() == [1, 0]
    error = refused(scored, truth=upload("user,item,label\nu1,a,0\nu1,z,1\n", "t.csv"))
    assert (error.kind, error.facts["rows"]) == ("duplicates", "1")


def test_repeated_and_incomplete_judgments_are_counted() -> None:
    truth = upload("user,item,label\nu1,a,1\nu1,a,1\n,b,1\nu1,c,\n", "t.csv")
    data = load(upload("user,item,score\nu1,a,0.5\nu1,b,0.25\n"), truth=truth)
    found = issues(data)
    assert (found["truth_duplicates"], found["truth_incomplete"]) == (1, 2)


def test_files_without_a_common_user_are_refused_with_ids_of_both() -> None:
    error = refused(upload(RUN, "my.run"), truth=upload("x1 0 a 1\nx2 0 b 1\n", "q.qrels"))
    assert error.kind == "ids_do_not_match"
    assert "'q1', 'q2', 'q9'" in str(error)
    assert "'x1', 'x2'" in str(error)


def test_ids_that_meet_after_normalising_are_refused_with_the_reason_and_never_joined() -> None:
    error = refused(
        upload("user,item,score\n1.0,a,0.5\n2.0,b,0.25\n"), truth=upload("user,item,label\n01,a,1\n02,b,0\n", "t.csv")
    )
    assert error.kind == "ids_do_not_match"
    assert "leading zeros" in str(error)


# Training pairs


def test_training_pairs_are_coded_by_the_ids_of_the_dataset() -> None:
    train = upload("user,item,time\nu1,b,1704153600\nu7,a,1704240000\n", "train.csv")
    data = load(upload(HEADER + "u1,a,1,0.5\nu1,b,0,0.25\n"), train=train)
    assert data.train is not None
    # u7 is no user of the scored rows: it gets a code of its own, beyond theirs.
    assert data.train.user.tolist() == [0, 1]
    assert data.train.item.tolist() == [1, 0]
    assert data.train.n_users == 2
    assert data.train.time is not None
    assert data.train.time.tolist() == [19724, 19725]


# Files that cannot be read


def test_a_folder_a_missing_file_and_no_file_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path).kind == "file"
    assert refused(tmp_path / "none.csv").kind == "file"
    assert refused("\x00.csv").kind == "file"
    assert refused("/dev/null").kind == "file"
    assert refused().kind == "file"


def test_a_format_can_be_said_for_one_file_or_for_all() -> None:
    text = "q1 Q0 a 1 3\nq1 Q0 b 2 2\n"
    assert refused(upload(text, "x.txt"), formats="trec_run").kind == "malformed_line"
    assert refused(upload(text, "x.txt"), formats={"x.txt": "trec_run"}).kind == "malformed_line"
    assert refused(upload(text, "x.txt"), formats="svmlight").kind == "format"


def test_the_cap_on_rows_reaches_every_file() -> None:
    text = HEADER + "u1,a,1,0.5\nu1,b,0,0.25\n"
    assert refused(upload(text), max_rows=1).kind == "too_large"
    assert refused(upload(text), truth=upload(text), max_rows=1).kind == "too_large"


def test_a_hostile_name_stays_text() -> None:
    data = loaded("user,item,label,score,{n}\n=1+1,<b>,1,0.5,{user}\n{0},%s,0,0.25,{user}\n")
    assert list(data.users) == ["=1+1", "{0}"]
    error = refused(upload("user,item,label,{n}\nu1,a,1,x\nu1,b,0,y\n", "{file}.csv"), columns={"score": "{n}"})
    assert "{file}.csv" in str(error)
    assert "'{n}'" in str(error)


# Labels that were never joined


def test_an_empty_label_column_is_refused_as_never_joined() -> None:
    error = refused(upload(HEADER + "u1,a,,0.5\nu1,b,,0.25\nu2,a,,0.75\n"))
    assert error.kind == "no_label_column"
    assert "column 'label' is empty in all 3 rows: it was never joined" in str(error)
    assert "--truth FILE" in str(error)


def test_an_empty_label_column_beside_a_truth_takes_the_labels_of_the_truth() -> None:
    truth = upload("user,item,label\nu1,a,1\nu1,b,0\nu2,a,0\n", "t.csv")
    data = load(upload(HEADER + "u1,a,,0.5\nu1,b,,0.25\nu2,a,,0.75\n"), truth=truth)
    assert data.label.tolist() == [1, 0, 0]


def test_a_truth_without_any_grade_is_refused() -> None:
    truth = upload("user,item,label\nu1,a,\nu1,b,\n", "t.csv")
    error = refused(upload("user,item,score\nu1,a,0.5\nu1,b,0.25\n"), truth=truth)
    assert error.kind == "no_label_column"
    assert "empty in all 2 rows" in str(error)


def test_a_pair_judged_twice_asks_which_judgment_stands() -> None:
    truth = upload("user,item,label\nu1,a,1\nu1,a,0\nu1,b,0\n", "t.csv")
    data = load(upload("user,item,score\nu1,a,0.5\nu1,b,0.25\n"), truth=truth)
    told = next(issue for issue in data.issues if issue.code == "truth_duplicates")
    assert (told.count, told.asks) == (1, "truth_duplicates")


def test_users_of_one_file_only_are_counted_on_both_sides() -> None:
    # Scored: u1, u2, u3. Judged: u2, u3, u4, u5. Only scored: u1; only judged: u4, u5; both: u2, u3.
    truth = upload("user,item,label\nu2,a,1\nu3,a,0\nu4,a,1\nu5,a,1\n", "t.csv")
    data = load(upload("user,item,score\nu1,a,0.5\nu2,a,0.25\nu3,a,0.75\n"), truth=truth)
    told = facts(data, "query_sets_differ")
    assert (told["only_in_run"], told["only_in_truth"], told["in_both"]) == (1, 2, 2)
