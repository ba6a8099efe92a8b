"""Printed numbers and filled sentences in both languages."""

from __future__ import annotations

from datetime import date

import pytest

from recmetrics.text import LANGUAGES, N_, Text

BOTH = pytest.mark.parametrize("text", [Text(language) for language in LANGUAGES], ids=list(LANGUAGES))


@BOTH
def test_counts_are_grouped_in_threes_whatever_the_interpreter_says(text: Text) -> None:
    # CLDR: en_US and zh_Hans_CN both group by a comma at thousands.
    assert [text.count(n) for n in (0, 999, 35502, 1_000_000, -1234)] == ["0", "999", "35,502", "1,000,000", "−1,234"]


@BOTH
def test_a_metric_has_three_decimals_unless_more_are_asked_for(text: Text) -> None:
    assert text.metric(0.76) == "0.760"
    assert text.metric(0.7835, 4) == "0.7835"
    assert text.metric(2 / 3) == "0.667"
    assert text.metric(1234.5, 1) == "1,234.5"
    assert text.metric(12.3, 0) == "12"
    assert text.metric(0.0) == "0.000"


@BOTH
def test_a_number_beyond_what_a_float_can_hold_to_the_unit_is_printed_by_its_magnitude(text: Text) -> None:
    assert text.metric(999_999_999_999.5, 1) == "999,999,999,999.5"
    assert text.metric(1.23456e30) == "1.235E30"
    assert text.metric(-1e300, 6) == "−1E300"
    assert text.signed(-1e300) == "−1E300"


@BOTH
@pytest.mark.parametrize("value", [None, float("nan")])
def test_what_is_undefined_is_a_dash_and_never_zero_or_nan(text: Text, value: float | None) -> None:
    assert text.metric(value) == "–"
    assert text.signed(value) == "–"
    assert text.percent(value) == "–"
    assert text.p_value(value) == "–"
    assert text.interval(value, 0.5) == ""
    assert text.interval(0.5, value) == ""


@BOTH
def test_infinite_values_are_printed_as_signs(text: Text) -> None:
    assert text.metric(float("inf")) == "∞"
    assert text.metric(float("-inf")) == "−∞"


@BOTH
def test_a_difference_carries_its_sign(text: Text) -> None:
    # 0.7821 − 0.7835 = −0.0014; the sign is U+2212, as wide as the plus.
    assert text.signed(0.7821 - 0.7835, 4) == "−0.0014"
    assert text.signed(0.25) == "+0.250"
    assert text.signed(0.0) == "+0.000"


@BOTH
def test_a_share_is_printed_as_percentage_with_one_decimal(text: Text) -> None:
    assert text.percent(0.437) == "43.7%"
    assert text.percent(0.0005) == "0.1%" or text.percent(0.0005) == "0.0%"
    assert text.percent(1, 0) == "100%"
    assert text.percent(0.98) == "98.0%"
    assert text.percent(12.5) == "1,250.0%"


@BOTH
def test_an_interval_has_the_decimals_of_its_value(text: Text) -> None:
    assert text.interval(0.712, 0.801) == "[0.712, 0.801]"
    assert text.interval(0.5, 1, 2) == "[0.50, 1.00]"


@BOTH
def test_a_count_of_any_size_is_printed(text: Text) -> None:
    # From about 10²⁸ on, decimal arithmetic with 28 digits refuses to group digits.
    assert text.count(10**15 - 1) == "999,999,999,999,999"
    assert [text.count(n) for n in (1e15, 1.5e300, -1e300)] == ["1E15", "1.5E300", "−1E300"]


@BOTH
def test_small_p_values_are_not_printed_as_zero(text: Text) -> None:
    assert text.p_value(0.0009999) == "p < 0.001"
    assert text.p_value(0.0) == "p < 0.001"
    assert text.p_value(0.001) == "p = 0.001"
    assert text.p_value(0.032) == "p = 0.032"


def test_a_day_is_written_as_the_language_writes_it() -> None:
    assert Text("en").date(date(2026, 3, 22)) == "Mar 22, 2026"
    assert Text("zh").date(date(2026, 3, 22)) == "2026年3月22日"


@BOTH
def test_a_value_with_braces_is_filled_in_once_and_never_read_as_a_template(text: Text) -> None:
    assert text._("zz {user} zz", user="{n} {0} {user}") == "zz {n} {0} {user} zz"
    assert text._("zz {literal} zz") == "zz {literal} zz"


@BOTH
def test_a_sentence_without_translation_is_shown_in_english(text: Text) -> None:
    assert text._("zz no such sentence") == "zz no such sentence"
    assert text._p("zz context", "zz no such sentence") == "zz no such sentence"
    assert text._n("zz {n} row", "zz {n} rows", 1) == "zz 1 row"
    assert text._n("zz {n} row", "zz {n} rows", 1200) == "zz 1,200 rows"


def test_a_count_chooses_the_plural_of_its_language(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = {"en": ("one cow", "{n} cows"), "zh": ("{n} 头牛",)}
    monkeypatch.setattr("recmetrics.text.catalogue", lambda language: {(None, "zz cow"): forms[language]})
    said = [Text(language)._n("zz cow", "zz {n} cows", n) for language in ("en", "zh") for n in (1, 1200)]
    assert said == ["one cow", "1,200 cows", "1 头牛", "1,200 头牛"]


@BOTH
def test_a_missing_keyed_text_is_its_key(text: Text) -> None:
    assert not text.has_content("zz.no.such.key")
    assert text.content("zz.no.such.key") == "zz.no.such.key"


def test_marking_a_sentence_leaves_it_as_it_is() -> None:
    assert N_("Threshold") == "Threshold"
