"""Label coding, numbers and ids: what the cells of a column mean."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from recmetrics.errors import RecmetricsError
from recmetrics.schema.cells import decoded, numbers
from recmetrics.schema.ids import merge, read_ids
from recmetrics.schema.labels import Labels, read_labels
from recmetrics.schema.scores import compact
from recmetrics.schema.times import read_days


def labels(*cells: object, **options: Any) -> Labels:
    return read_labels(pa.chunked_array([pa.array(cells)]), "label", "a.csv", **options)


def asked(*cells: object, **options: Any) -> str:
    with pytest.raises(RecmetricsError) as caught:
        labels(*cells, **options)
    assert caught.value.kind == "label_mapping_needed"
    return str(caught.value)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("0", "1"), [0, 1]),
        (("1.0", "0.0"), [1, 0]),
        (("TRUE", "False"), [1, 0]),
        (("Yes", "no"), [1, 0]),
        (("是", "否"), [1, 0]),
        (("Y", "N"), [1, 0]),
        (("0,0", "1,0"), [0, 1]),
        (("+1", "-1"), [1, 0]),
        (("0", "0"), [0, 0]),
        (("-1", "1"), [0, 1]),
        (("-1.0", "+1"), [0, 1]),
        (("4", "0", "2"), [4, 0, 2]),
        (("-1", "0", "2"), [-1, 0, 2]),
        (("0.5", "5"), None),
        (("1", "1"), [1, 1]),
        ((True, False), [1, 0]),
        ((1, 0), [1, 0]),
        ((1.0, 0.0), [1, 0]),
    ],
)
def test_labels_that_speak_for_themselves_are_coded(cells: tuple[object, ...], values: list[float] | None) -> None:
    if values is None:
        asked(*cells)
    else:
        assert labels(*cells).values.tolist() == values


@pytest.mark.parametrize(
    "cells",
    [
        ("1", "2"),
        ("0", "2"),
        ("2",),
        ("click", "no_click"),
        ("good", "bad"),
        ("true", "1"),
        ("1", "inf"),
        ("-1", "-1"),
        ("x",),
    ],
)
def test_labels_with_two_readings_are_asked_for(cells: tuple[object, ...]) -> None:
    sentence = asked(*cells)
    assert "--label-map" in sentence
    assert f"'{cells[0]}'" in sentence


def test_a_judgment_file_needs_no_zero_beside_its_grades() -> None:
    assert labels("1", "2", is_judgment=True).values.tolist() == [1, 2]
    assert labels("-1", "1", is_judgment=True).values.tolist() == [-1, 1]


def test_a_label_map_decides_and_is_recorded() -> None:
    found = labels("good", "bad", "good", label_map={"good": 1, "bad": 0})
    assert found.values.tolist() == [1, 0, 1]
    assert found.coding == {"bad": 0.0, "good": 1.0}
    assert labels("1", "2", label_map={"2": 1, "1.0": 0}).values.tolist() == [0, 1]


def test_a_label_map_that_leaves_values_out_is_refused() -> None:
    assert "'bad'" in asked("good", "bad", label_map={"good": 1})


def test_missing_labels_are_counted_and_never_zero() -> None:
    found = labels("1", "", "nan", None, "0")
    assert np.isnan(found.values).tolist() == [False, True, True, True, False]
    assert [(issue.code, issue.count) for issue in found.issues] == [("missing_labels", 3)]


def test_negative_grades_beside_others_are_counted_but_not_those_of_a_coding() -> None:
    assert [(i.code, i.count) for i in labels("-1", "2", "-1", "0").issues] == [("negative_relevance", 2)]
    assert labels("-1", "1").issues == ()


def test_seconds_are_doubted_as_grades_and_half_stars_are_not() -> None:
    assert [i.code for i in labels("0", "12.5", "340").issues] == ["label_not_grade"]
    assert labels("0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5").issues == ()
    assert labels(*map(str, range(11))).issues == ()


# Numbers


@pytest.mark.parametrize(
    ("cells", "values", "note"),
    [
        (["0.5", " 1 ", "-2e3", ".5", "5."], [0.5, 1, -2000, 0.5, 5], ()),
        (["0,5", "1,25"], [0.5, 1.25], ("decimal_comma",)),
        (["1.234,5", "0,5"], [1234.5, 0.5], ("decimal_comma",)),
        (["1,234.5", "12"], [1234.5, 12], ("thousands",)),
        (["1,234,567"], [1234567], ("thousands",)),
        (["50%", "12.5 %"], [0.5, 0.125], ("percent",)),
    ],
)
def test_numbers_are_read_in_the_one_way_that_fits(
    cells: list[str], values: list[float], note: tuple[str, ...]
) -> None:
    read = numbers(decoded(pa.array(cells), "s", "a.csv"))
    assert read.values.tolist() == values
    assert read.notes == note
    assert len(read.bad) == 0


@pytest.mark.parametrize("cells", [["0.5", "0,5"], ["1_000"], ["0x10"], ["１"], ["high"], ["1.2.3"], ["50%", "1"]])
def test_cells_with_two_readings_or_none_are_bad(cells: list[str]) -> None:
    assert len(numbers(decoded(pa.array(cells), "s", "a.csv")).bad) > 0


def test_missing_and_infinite_cells_are_no_bad_ones() -> None:
    read = numbers(decoded(pa.array(["", "nan", "NULL", None, "inf", "-Infinity", "x"]), "s", "a.csv"))
    assert np.isnan(read.values[:4]).all()
    assert read.values[4:6].tolist() == [np.inf, -np.inf]
    assert read.bad.tolist() == [6]
    assert read.texts == ("x",)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2], pa.int64()),
        pa.array([1, 2], pa.uint8()),
        pa.array([1.0, 2.0], pa.float32()),
        pa.array(["1", "2"]).dictionary_encode(),
        pa.array([1, 2], pa.decimal128(10, 2)),
        pa.array(["1", "2"], pa.string_view()),
        pa.array([b"1", b"2"], pa.binary()),
    ],
)
def test_every_plain_type_of_parquet_is_read_as_numbers(array: pa.Array) -> None:
    assert numbers(decoded(array, "s", "a.parquet")).values.tolist() == [1, 2]


def test_lists_are_refused_by_column() -> None:
    with pytest.raises(RecmetricsError, match="'s' holds lists"):
        decoded(pa.array([[1], [2]]), "s", "a.parquet")


def test_scores_shrink_to_float32_only_when_every_digit_survives() -> None:
    assert compact(np.array([0.5, np.nan, np.inf])).dtype == np.float32
    assert compact(np.array([0.5, 0.1])).dtype == np.float64
    assert compact(np.array([1e300])).dtype == np.float64


# Ids


def test_ids_stay_as_they_are_written() -> None:
    found = read_ids(pa.chunked_array([["007", "7", "1234567890123456789", "007"]]), "u", "a.csv")
    assert list(found.texts) == ["007", "7", "1234567890123456789"]
    assert found.codes.tolist() == [0, 1, 2, 0]


def test_null_spellings_are_no_id() -> None:
    found = read_ids(pa.chunked_array([["a", "", "NaN", "None", "null", "NA", None, "  ", "b"]]), "u", "a.csv")
    assert list(found.texts) == ["a", "b"]
    assert found.codes.tolist() == [0, -1, -1, -1, -1, -1, -1, -1, 1]
    assert found.n_missing == 7


def test_whole_numbers_become_their_digits() -> None:
    big = 2**62 + 1
    assert list(read_ids(pa.chunked_array([pa.array([big, 7])]), "u", "a").texts) == [str(big), "7"]


def test_whole_floats_lose_their_zero_and_this_is_said() -> None:
    found = read_ids(pa.chunked_array([pa.array([1.0, np.nan, 2.5, 1.0])]), "u", "a")
    assert list(found.texts) == ["1", "2.5"]
    assert found.codes.tolist() == [0, -1, 1, 0]
    assert [(i.code, i.count, i.severity) for i in found.issues] == [("ids_from_floats", 2, "info")]
    beyond = read_ids(pa.chunked_array([pa.array([2.0**60])]), "u", "a")
    assert [(i.facts["above_2_53"], i.severity) for i in beyond.issues] == [(1, "doubt")]


def test_vocabularies_are_merged_in_order_of_appearance() -> None:
    first = read_ids(pa.chunked_array([["b", "a", ""]]), "u", "a")
    second = read_ids(pa.chunked_array([["c", "a"]]), "u", "b")
    texts, (one, two) = merge([first, second])
    assert list(texts) == ["b", "a", "c"]
    assert (one.tolist(), two.tolist()) == ([0, 1, -1], [2, 1])


# Times


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-02", "2024-01-03"],
        ["2024-01-02 00:00:00", "2024-01-03T00:00:00Z"],
        ["2024/01/02", "2024/01/03"],
        # 2024-01-02 00:00 UTC is 19724 days after 1970: 54 years of 365 days, 13 leap days up to 2023, and one day.
        ["1704153600", "1704240000"],
        ["1704153600000", "1704240000000"],
    ],
)
def test_times_are_days_whatever_the_file_counts_in(cells: list[str]) -> None:
    days, _ = read_days(decoded(pa.array(cells), "t", "a"), "t", "a")
    assert days.tolist() == [19724.0, 19725.0]


def test_timestamps_and_dates_of_parquet_are_days() -> None:
    column = pa.array([19724, None], pa.date32())
    assert read_days(column, "t", "a")[0][0] == 19724.0
    assert np.isnan(read_days(column.cast(pa.timestamp("ms")), "t", "a")[0][1])


def test_cells_that_are_no_time_are_missing_and_counted() -> None:
    days, issues = read_days(decoded(pa.array(["2024-01-02", "soon", ""]), "t", "a"), "t", "a")
    assert np.isnan(days).tolist() == [False, True, True]
    assert [(issue.code, issue.count) for issue in issues] == [("time_unreadable", 1)]


@pytest.mark.parametrize(
    ("cells", "example"),
    [
        (("1", "2"), "--label-map 2=1,1=0,"),
        (("2", "1"), "--label-map 2=1,1=0,"),
        (("0", "1", "inf"), "--label-map 1=1,0=0,"),
        (("hit", "miss"), "--label-map hit=1,miss=0,"),
    ],
)
def test_the_example_of_a_label_map_does_not_reverse_numbers(cells: tuple[str, ...], example: str) -> None:
    assert example in asked(*cells)


@pytest.mark.parametrize("worth", [float("inf"), float("-inf"), float("nan")])
def test_a_label_map_that_makes_a_label_infinite_is_refused(worth: float) -> None:
    with pytest.raises(RecmetricsError, match="A label is a finite number"):
        labels("0", "1", label_map={"1": worth, "0": 0})


def test_amounts_as_labels_name_their_median_and_ask_for_the_threshold() -> None:
    # Above 0 stand 10, 30 and 600: the middle one is 30.
    (told,) = labels("0", "10", "30", "600", "0").issues
    assert (told.code, told.severity, told.asks) == ("label_not_grade", "doubt", "relevance_threshold")
    assert (told.facts["count"], told.facts["median"], told.facts["largest"]) == (3, "30", 600)


def test_a_label_map_answers_what_would_be_asked() -> None:
    assert labels("0", "2", label_map={"0": 0, "2": 1}).values.tolist() == [0, 1]
    assert labels("click", "no_click", label_map={"click": 1, "no_click": 0}).values.tolist() == [1, 0]


def test_numbers_that_spell_dates_are_read_as_dates_and_told() -> None:
    # 1970-01-02 is day 1; 2024-03-01 is day 19783 (54 years with 13 leap days, then 31 + 29 days).
    days, (told,) = read_days(pa.array([19700102, None, 20240301]), "date", "a.csv")
    assert days[[0, 2]].tolist() == [1, 54 * 365 + 13 + 31 + 29]
    assert np.isnan(days[1])
    assert (told.code, told.asks, told.facts["example"]) == ("time_unit", "time_unit", "19700102")


@pytest.mark.parametrize("numbers", [[20240230], [20241301], [20240100], [20240101, 5], [20240101.5]])
def test_numbers_that_are_no_dates_stay_days(numbers: list[float]) -> None:
    days, _ = read_days(pa.array(numbers), "date", "a.csv")
    assert days.tolist() == numbers


def test_a_given_unit_wins_over_the_look_of_dates() -> None:
    days, _ = read_days(pa.array([20240301]), "date", "a.csv", "d")
    assert days.tolist() == [20240301]
