"""Lists in cells: one row per user becomes one row per candidate, and what does not fit is refused or told."""

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recmetrics.errors import RecmetricsError
from recmetrics.load import load, read_source
from recmetrics.schema.unfold import unfold
from recmetrics.source import Source


def source(**columns: Any) -> Source:
    return Source("lists.parquet", "parquet", pa.table(columns))


def rows(found: Source) -> list[dict[str, Any]]:
    return list(found.table.to_pylist())


def told(found: Any, code: str) -> list[int]:
    return [issue.count for issue in found.issues if issue.code == code]


def refused(found: Source, **options: Any) -> RecmetricsError:
    with pytest.raises(RecmetricsError) as caught:
        unfold(found, **options)
    return caught.value


USERS = ["u1", "u2", "u3"]
ITEMS = [["a", "b"], ["c"], ["a", "b", "c"]]
SCORES = [[0.5, 0.25], [0.125], [3.0, 2.0, 1.0]]
LABELS = [[1, 0], [0], [0, 1, 1]]
LONG_USERS = ["u1", "u1", "u2", "u3", "u3", "u3"]


def test_one_row_per_user_becomes_one_row_per_entry_of_its_lists() -> None:
    found = unfold(source(user=USERS, items=ITEMS, scores=SCORES, labels=LABELS))
    assert found.table.to_pydict() == {
        "user": LONG_USERS,
        "items": ["a", "b", "c", "a", "b", "c"],
        "scores": [0.5, 0.25, 0.125, 3.0, 2.0, 1.0],
        "labels": [1, 0, 0, 0, 1, 1],
    }
    (issue,) = found.issues
    assert (issue.code, issue.count, issue.severity) == ("unfolded_lists", 6, "info")
    assert (issue.facts["before"], issue.facts["columns"]) == (3, "'items', 'scores', 'labels'")


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_view(pa.string()),
        pa.large_list_view(pa.string()),
    ],
    ids=str,
)
def test_every_kind_of_list_is_unfolded(kind: Any) -> None:
    found = unfold(source(user=USERS, items=pa.array(ITEMS, kind), scores=SCORES))
    assert found.table.column("items").to_pylist() == ["a", "b", "c", "a", "b", "c"]


def test_lists_of_fixed_size_are_unfolded_and_a_null_one_has_no_entries() -> None:
    items = pa.array([["a", "b"], None, ["c", "d"]], pa.list_(pa.string(), 2))
    found = unfold(source(user=USERS, items=items, scores=[[1.0, 2.0], None, [3.0, 4.0]]))
    assert [(row["user"], row["items"], row["scores"]) for row in rows(found)] == [
        ("u1", "a", 1.0),
        ("u1", "b", 2.0),
        ("u3", "c", 3.0),
        ("u3", "d", 4.0),
    ]
    assert told(found, "empty_lists") == [1]


def test_a_null_list_whose_entries_are_still_stored_behind_it_has_none() -> None:
    # Arrow allows a null to cover entries: offsets 0..2..4, the first of the two lists is null.
    items = pa.ListArray.from_arrays(pa.array([0, 2, 4]), pa.array(["x", "y", "a", "b"]), mask=pa.array([True, False]))
    found = unfold(source(user=["u1", "u2"], items=items))
    assert rows(found) == [{"user": "u2", "items": "a"}, {"user": "u2", "items": "b"}]


def test_users_with_empty_lists_make_no_row_and_are_counted() -> None:
    found = unfold(source(user=USERS, items=[[], ["c"], None], scores=[[], [1.0], None]))
    assert rows(found) == [{"user": "u2", "items": "c", "scores": 1.0}]
    (issue,) = [issue for issue in found.issues if issue.code == "empty_lists"]
    assert (issue.count, issue.severity, issue.facts["rows"]) == (2, "dropped", "1, 3")


def test_a_file_of_empty_lists_only_is_refused() -> None:
    assert refused(source(user=USERS, items=pa.array([[], None, []], pa.list_(pa.string())))).kind == "no_rows"


def test_lists_of_unequal_length_are_refused_with_their_rows_and_lengths() -> None:
    error = refused(source(user=USERS, items=ITEMS, scores=[[0.5, 0.25], [], [3.0]]))
    assert error.kind == "format"
    assert (error.facts["first"], error.facts["second"], error.facts["count"]) == ("items", "scores", 2)
    assert (error.facts["rows"], error.facts["lengths"]) == ("2, 3", "1 / 0, 3 / 1")


def test_the_cap_on_rows_counts_the_new_rows() -> None:
    lists = source(user=USERS, items=ITEMS, scores=SCORES)
    assert unfold(lists, max_rows=6).n_rows == 6
    assert refused(lists, max_rows=5).kind == "too_large"


def test_a_second_list_of_items_is_left_and_told() -> None:
    found = unfold(source(user=USERS, items=ITEMS, scores=SCORES, relevant_items=[["a"], [], ["b", "c"]]))
    assert found.n_rows == 6
    assert [issue.facts["columns"] for issue in found.issues if issue.code == "lists_left"] == ["'relevant_items'"]


def test_a_list_of_something_else_goes_along_only_when_it_is_as_long_in_every_row() -> None:
    places = [[1, 2], [1], [1, 2, 3]]
    found = unfold(source(user=USERS, items=ITEMS, scores=SCORES, positions=places, vector=[[0.0] * 4] * 3))
    assert found.table.column("positions").to_pylist() == [1, 2, 1, 1, 2, 3]
    assert found.table.column("vector").to_pylist() == [[0.0] * 4] * 6


@pytest.mark.parametrize(
    "columns",
    [
        {"user": USERS, "item": ["a", "b", "c"], "scores": [[0.1, 0.9]] * 3},  # class probabilities of one pair
        {"user": USERS, "item": ["a", "b", "c"], "items": ITEMS},  # a history beside the pair
        {"user": USERS, "vector": [[0.1, 0.9]] * 3},
        {"user": USERS, "scores": [[0.1, 0.9]] * 3},
        {"user": USERS, "items": [[["a"]], [["b"]], [["c"]]]},  # lists of lists
        {"user": USERS, "score": [1.0, 2.0, 3.0]},
    ],
)
def test_lists_that_are_no_candidates_stay_as_they_are(columns: dict[str, Any]) -> None:
    lists = source(**columns)
    assert unfold(lists) is lists


def test_scores_and_labels_without_items_are_unfolded_together() -> None:
    found = unfold(source(user=USERS, scores=SCORES, labels=LABELS))
    assert found.n_rows == 6


def test_records_in_lists_become_columns() -> None:
    candidates = [[{"item": "a", "score": 0.5}, {"item": "b", "score": None}], [], [{"item": "c", "score": 1.0}]]
    found = unfold(source(user=USERS, candidates=candidates, item_count=[2, 0, 1]))
    assert rows(found) == [
        {"user": "u1", "item": "a", "score": 0.5, "item_count": 2},
        {"user": "u1", "item": "b", "score": None, "item_count": 2},
        {"user": "u3", "item": "c", "score": 1.0, "item_count": 1},
    ]


def test_a_record_field_named_like_a_column_is_named_after_both() -> None:
    recs = [[{"item": "a", "time": 1}], [{"item": "b", "time": 2}], []]
    found = unfold(source(recs=recs, time=[7, 8, 9]))
    assert found.columns == ("item", "recs.time", "time")
    assert found.table.column("recs.time").to_pylist() == [1, 2]


def test_many_rows_are_unfolded_alike_across_batches() -> None:
    # 25,000 users with 0, 1, 2 entries in turn: 8,334 none, 8,333 one, 8,333 two = 24,999 rows; user 24,998 has two.
    n = np.arange(25_000) % 3
    items = [[f"{user}-{i}" for i in range(count)] for user, count in enumerate(n)]
    found = unfold(source(user=np.arange(25_000), items=items))
    assert found.n_rows == 24_999
    assert told(found, "empty_lists") == [8_334]
    assert all(int(row["items"].split("-")[0]) == row["user"] for row in rows(found))


# End to end


def parquet(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def lines(*objects: Any) -> bytes:
    return "\n".join(json.dumps(one) for one in objects).encode()


BY_USER = [
    {"user": user, "items": items, "scores": scores, "labels": labels}
    for user, items, scores, labels in zip(USERS, ITEMS, SCORES, LABELS, strict=True)
]


@pytest.mark.parametrize(
    "file",
    [("x.parquet", parquet(user=USERS, items=ITEMS, scores=SCORES, labels=LABELS)), ("x.jsonl", lines(*BY_USER))],
    ids=["parquet", "jsonl"],
)
def test_files_with_one_row_per_user_load_like_the_long_table(file: tuple[str, bytes]) -> None:
    found = load(file)
    assert found.users[found.user].tolist() == LONG_USERS
    assert found.items[found.item].tolist() == ["a", "b", "c", "a", "b", "c"]
    assert found.label.tolist() == [1, 0, 0, 0, 1, 1]
    (scores,) = found.scores.values()
    assert scores.tolist() == [0.5, 0.25, 0.125, 3.0, 2.0, 1.0]
    assert told(found, "unfolded_lists") == [6]


def test_a_truth_file_of_lists_is_unfolded_into_pairs() -> None:
    scored = ("s.parquet", parquet(user=["u1", "u1", "u2"], item=["a", "b", "c"], score=[0.5, 0.25, 0.125]))
    truth = ("t.parquet", parquet(user=["u1", "u2"], items=[["a", "z"], ["c"]]))
    found = load(scored, truth=truth)
    assert found.label.tolist()[0] == 1.0
    assert found.truth is not None
    assert len(found.truth.user) == 3
    assert told(found, "unfolded_lists") == [3]


def test_what_is_read_for_looking_at_its_columns_is_unfolded_too() -> None:
    assert read_source(("x.parquet", parquet(user=USERS, items=ITEMS, scores=SCORES))).n_rows == 6


def test_the_usual_names_of_item_lists_are_known_after_unfolding() -> None:
    scored = ("s.parquet", parquet(user=["u1", "u1", "u2"], item=["a", "b", "c"], score=[0.5, 0.25, 0.125]))
    for name in ("relevant_items", "item_ids", "recommended_items", "item_list"):
        truth = ("t.parquet", parquet(user=["u1", "u2"], **{name: [["a", "z"], ["c"]]}))
        found = load(scored, truth=truth)
        assert found.truth is not None
        assert len(found.truth.user) == 3


def test_an_unusual_name_of_an_item_list_can_be_given() -> None:
    lists = ("x.parquet", parquet(user=USERS, relevant_items=ITEMS, scores=SCORES, labels=LABELS))
    found = load(lists, columns={"item": "relevant_items"})
    assert found.item is not None
    assert found.items[found.item].tolist() == ["a", "b", "c", "a", "b", "c"]
