"""Every reading field of the convention changes how a file is read, and what is read is told with the field's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recmetrics.config import READING_FIELDS, EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.load import load


def read(text: str | bytes, truth: str = "", **fields: Any) -> Dataset:
    """Load a table under a convention, with a second table as the truth."""
    data = text if isinstance(text, bytes) else text.encode()
    return load(("a.csv", data), truth=("t.csv", truth.encode()) if truth else None, config=EvalConfig(**fields))


def asked(dataset: Dataset) -> set[str]:
    return {issue.asks for issue in dataset.issues if issue.asks}


def scores(dataset: Dataset) -> list[float]:
    return [float(value) for value in next(iter(dataset.scores.values()))]


# Numbers

COMMAS = 'user,item,label,score\nu1,a,1,"1,250"\nu1,b,0,"2,500"\n'


def test_a_comma_before_three_digits_is_read_as_thousands_and_asked() -> None:
    found = read(COMMAS)
    assert scores(found) == [1250.0, 2500.0]
    assert "number_format" in asked(found)
    assert [issue.severity for issue in found.issues if issue.asks == "number_format"] == ["doubt"]


def test_the_answer_decides_whether_the_comma_is_a_decimal_sign() -> None:
    assert scores(read(COMMAS, number_format="comma")) == [1.25, 2.5]
    assert scores(read(COMMAS, number_format="point")) == [1250.0, 2500.0]
    assert "doubt" not in {issue.severity for issue in read(COMMAS, number_format="point").issues}


def test_a_group_that_begins_with_zero_has_a_decimal_comma() -> None:
    assert scores(read(COMMAS.replace("1,250", "0,250"))) == [0.25, 2.5]


def test_a_number_that_the_answer_rules_out_is_refused() -> None:
    with pytest.raises(RecmetricsError) as caught:
        read('user,item,label,score\nu1,a,1,"0,5"\nu1,b,0,"0,25"\n', number_format="point")
    assert caught.value.kind == "score_not_numeric"
    with pytest.raises(RecmetricsError) as caught:
        read('user,item,label,score\nu1,a,1,"1,234,567"\nu1,b,0,"0,25"\n', number_format="comma")
    assert caught.value.kind == "score_not_numeric"


# Encoding

CAFE = "user,item,label,score,city\nu1,a,1,0.5,Café\nu1,b,0,0.25,Café\nu1,c,0,0.25,Łódź\nu2,c,0,0.25,Łódź\n"


def test_text_that_is_not_unicode_is_read_in_the_encoding_that_the_convention_names() -> None:
    written = CAFE.encode("cp1250")
    assert read(written, encoding="cp1250").segments["city"].labels == ("Café", "Łódź")
    with pytest.raises(RecmetricsError) as caught:
        read(written)
    assert caught.value.kind == "encoding"
    assert "encoding" in asked(read(written, encoding="cp1250"))


def test_what_was_found_from_the_bytes_alone_is_asked() -> None:
    assert "encoding" in asked(read(CAFE.split("u1,c")[0].encode("latin-1")))
    assert "encoding" in asked(read(CAFE.replace("Café", "城市").replace("Łódź", "北京").encode("gb18030")))


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_stays_what_it_is_whatever_the_convention_names_for_other_files(codec: str) -> None:
    assert read(CAFE.encode(codec), encoding="gb18030").segments["city"].labels == ("Café", "Łódź")


def test_bytes_that_the_named_encoding_does_not_hold_are_refused_with_their_place() -> None:
    with pytest.raises(RecmetricsError) as caught:
        read("user,item,label,score\nu1,é,1,0.5\nu1,b,0,0.25\n".encode("cp1252"), encoding="euc_kr")
    assert caught.value.kind == "encoding"
    assert caught.value.facts["encoding"] == "EUC_KR"
    assert caught.value.facts["line"] == 2


# Ids

SCORED = "user,item,score\n007,a,0.5\n8,b,0.25\n U9,a,0.5\n"


def test_ids_that_no_file_shares_as_written_are_refused_with_the_way_out() -> None:
    with pytest.raises(RecmetricsError) as caught:
        read("user,item,score\n007,a,0.5\n", "user,item,label\n7,a,1\n")
    assert caught.value.kind == "ids_do_not_match"
    assert "id_spelling=normalised" in str(caught.value)


def test_normalised_ids_meet_without_blanks_case_leading_zeros_and_point_zero() -> None:
    truth = "user,item,label\n7.0,A,1\n8,b,0\nu9,a,1\n"
    found = read(SCORED, truth, id_spelling="normalised")
    assert found.label.tolist() == [1.0, 0.0, 1.0]
    assert found.users.tolist() == ["7", "8", "u9"]


def test_users_who_meet_only_by_their_normalised_ids_are_a_question() -> None:
    found = read(SCORED, "user,item,label\n7,a,1\n8,b,1\nu9,a,1\n")
    (issue,) = [issue for issue in found.issues if issue.code == "ids_nearly_meet"]
    assert issue.count == 2  # 007 with 7, U9 with u9; 8 meets as written
    assert issue.asks == "id_spelling"
    assert np.isnan(found.label).tolist() == [True, False, True]


def test_spellings_merged_inside_one_file_are_counted() -> None:
    found = read("user,item,label,score\nA,x,1,0.5\na,y,0,0.25\nb,x,1,0.125\n", id_spelling="normalised")
    assert found.user is not None
    assert found.user.tolist() == [0, 0, 1]
    counts = {issue.facts["column"]: issue.count for issue in found.issues if issue.code == "ids_normalised"}
    assert counts == {"user": 1, "item": 0}


# All of them

DIFFERENT: dict[str, tuple[str | bytes, Any]] = {
    "grade_map": ("user,item,label,score\nu1,a,no,0.5\nu1,b,yes,0.25\n", {"no": 1, "yes": 0}),
    "encoding": ("user,item,label,score\nu1,\xe9,1,0.5\nu1,b,0,0.25\n".encode("latin-1"), "cp1251"),
    "header_line": ("u1,a,1,0.5\nu1,b,0,0.25\nu2,b,0,0.75\n", "yes"),
    "number_format": (COMMAS, "comma"),
    "time_unit": ("user,item,label,score,time\nu1,a,1,0.5,1700000000\nu1,b,0,0.25,1700000001\n", "d"),
    "id_spelling": ("user,item,label,score\n01,a,1,0.5\n1,b,0,0.25\n", "normalised"),
}


@pytest.mark.parametrize("field", [field for field in READING_FIELDS if field != "sheet"])  # see test_formats_xlsx
def test_no_reading_field_is_without_effect(field: str) -> None:
    text, value = DIFFERENT[field]

    def fingerprint(**fields: Any) -> str:
        try:
            return read(text, **fields).fingerprint
        except RecmetricsError as error:
            return error.kind

    assert fingerprint() != fingerprint(**{field: value})
