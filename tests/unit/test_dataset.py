"""Dataset, registry and errors: read-only data, names added once, sentences with their facts."""

from __future__ import annotations

import numpy as np
import pytest

from recmetrics.dataset import MISSING, Issue
from recmetrics.errors import RecmetricsError
from recmetrics.registry import Registry, nearest
from tests.build import dataset

ROWS = [("u", "a", 1, 0.9), ("u", "b", 0, 0.8), (None, "a", 1, 0.7), ("v", None, 0, 0.6)]


def test_nothing_in_a_dataset_can_be_changed() -> None:
    data = dataset(
        ROWS, truth=[("u", "a", 1)], train=[("u", "a")], values={"click": [1] * 4}, segments={"c": ["x"] * 4}
    )
    arrays = [data.label, data.scores["score"], data.values["click"], data.segments["c"].codes, data.users, data.items]
    assert data.truth is not None
    assert data.train is not None
    for array in [*arrays, data.truth.grade, data.train.item]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_users_and_items_without_an_id_are_not_counted() -> None:
    data = dataset(ROWS)
    assert (data.n_rows, data.n_users, data.n_items, data.models) == (4, 2, 2, ("score",))
    assert data.user is not None
    assert data.user.tolist() == [0, 0, MISSING, 1]
    bare = dataset([(None, None, 1, 0.5)])
    assert (bare.n_users, bare.n_items) == (0, 0)


def test_the_fingerprint_follows_the_data_and_nothing_else() -> None:
    print_of = dataset(ROWS).fingerprint
    assert dataset(ROWS, name="other.csv").fingerprint == print_of
    others = [
        dataset(ROWS[:3]),
        dataset([("u", "a", 0, 0.9), *ROWS[1:]]),
        dataset([("u", "a", 1, 0.95), *ROWS[1:]]),
        dataset([("w", "a", 1, 0.9), *ROWS[1:]]),
        dataset(ROWS, model="other"),
        dataset(ROWS, values={"click": [1] * 4}),
        dataset(ROWS, segments={"c": ["x"] * 4}),
        dataset(ROWS, segments={"c": ["y"] * 4}),
        dataset(ROWS, truth=[("u", "a", 1)]),
        dataset(ROWS, train=[("u", "a", 1, 2.0)]),
        dataset(ROWS, train=[("u", "a", 0, 2.0)]),
        dataset(ROWS, train=[("u", "a", 1, 3.0)]),
        dataset(ROWS, scores={"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}, scored={"a": [True, True, True, False]}),
        dataset(ROWS, scores={"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}, scored={"b": [True, True, True, False]}),
    ]
    assert len({print_of, *(other.fingerprint for other in others)}) == len(others) + 1


def test_a_column_read_as_users_is_not_the_same_data_as_one_read_as_items() -> None:
    # Somebody corrects the role of a column: what was kept for the old reading must not be shown for the new one.
    as_users = dataset([("a", None, 1, 0.9), ("b", None, 0, 0.5)])
    as_items = dataset([(None, "a", 1, 0.9), (None, "b", 0, 0.5)])
    assert as_users.fingerprint != as_items.fingerprint


def test_arrays_of_the_training_pairs_cannot_be_changed_either() -> None:
    train = dataset(ROWS, train=[("u", "a", 1, 2.0)]).train
    assert train is not None
    for array in (train.user, train.item, train.label, train.time):
        assert array is not None
        assert not array.flags.writeable


def test_a_part_keeps_codes_and_has_a_fingerprint_of_its_own() -> None:
    data = dataset(
        ROWS, segments={"c": ["x", "y", "x", "y"]}, values={"click": [1, 0, 1, 0]}, scored={"score": [True] * 4}
    )
    part = data.where(np.asarray([False, True, False, True]))
    assert part.row_number.tolist() == [2, 4]
    assert part.users is data.users
    assert (part.values["click"].tolist(), part.segments["c"].codes.tolist()) == ([0, 0], [1, 1])
    assert part.rows_of("score").tolist() == [True, True]
    assert part.fingerprint not in ("", data.fingerprint)
    same = data.where(np.asarray([False, True, False, True]))
    assert same.fingerprint == part.fingerprint


def test_surplus_rows_are_those_beyond_the_first_of_a_pair() -> None:
    rows = [
        ("u", "a", 1, 1),
        ("v", "a", 1, 1),
        ("u", "a", 1, 1),
        (None, "a", 1, 1),
        (None, "a", 1, 1),
        ("u", "a", 1, 1),
    ]
    assert dataset(rows).surplus_rows.tolist() == [2, 5]
    assert dataset(ROWS).surplus_rows.tolist() == []
    assert dataset([(None, "a", 1, 1), (None, "a", 1, 1)]).surplus_rows.tolist() == []


def test_a_model_holds_every_row_unless_it_says_otherwise() -> None:
    data = dataset(ROWS, scored={"score": [True, False, True, True]})
    assert data.rows_of("score").tolist() == [True, False, True, True]
    assert dataset(ROWS).rows_of("score").all()


def test_an_issue_as_json_has_code_count_and_examples() -> None:
    found = Issue("duplicates", 3, "{n} rows", {"n": 3}, ("a", "b")).to_json()
    assert found == {"code": "duplicates", "count": 3, "examples": ["a", "b"], "facts": {"n": 3}}


def test_a_name_is_registered_once_and_an_unknown_one_is_answered_with_the_nearest() -> None:
    colours: Registry[int] = Registry("colour")
    assert colours.add("green", 1) == 1
    colours.add("blue", 2)
    with pytest.raises(ValueError, match="registered twice"):
        colours.add("green", 3)
    assert ("green" in colours, "red" in colours, list(colours), len(colours)) == (True, False, ["green", "blue"], 2)
    assert (colours["blue"], colours.values()) == (2, [1, 2])
    with pytest.raises(RecmetricsError) as refused:
        colours["gren"]
    assert refused.value.kind == "unknown_name"
    assert "'green'" in str(refused.value)
    assert "green, blue" in str(refused.value)


def test_the_nearest_name_of_nothing_alike_is_empty() -> None:
    assert nearest("gren", ["green", "blue"]) == "green"
    assert nearest("xyz", ["green", "blue"]) == ""


def test_an_error_is_a_sentence_with_its_facts_and_a_known_kind() -> None:
    error = RecmetricsError("file", "{file} is empty.", file="{a}.csv")
    assert str(error) == "{a}.csv is empty."
    assert (error.kind, error.template, error.facts) == ("file", "{file} is empty.", {"file": "{a}.csv"})
    with pytest.raises(ValueError, match="unknown error kind"):
        RecmetricsError("nonsense", "x")
