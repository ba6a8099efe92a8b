"""Codes of scores keep their order, and a threshold falls where the score's own comparison puts it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.engines import ENGINES
from recmetrics.engines.packing import score_codes
from recmetrics.metrics.confusion import confusion_at
from recmetrics.tables import ScoreTable, decode_float32, encode_float32, frozen
from tests.build import labelled

# IEEE 754 single precision: smallest denormal 2⁻¹⁴⁹, smallest normal 2⁻¹²⁶, largest (2 − 2⁻²³)·2¹²⁷.
TINY, SMALL, LARGE = 2.0**-149, 2.0**-126, (2 - 2.0**-23) * 2.0**127
ASCENDING = [-np.inf, -LARGE, -1.0, -SMALL, -TINY, 0.0, TINY, SMALL, 0.1, 0.5, 1.0, LARGE, np.inf]


def table_of(scores: list[float], dtype: type = np.float32) -> ScoreTable:
    codes, values = score_codes(np.asarray(scores, dtype=dtype))
    return ScoreTable(np.sort(codes), np.empty(0, np.uint32), values)


def test_codes_ascend_strictly_with_the_scores_from_minus_infinity_to_infinity() -> None:
    codes = encode_float32(np.asarray(ASCENDING, dtype=np.float32)).astype(np.int64)
    assert np.all(np.diff(codes) > 0)


def test_neighbouring_floats_have_neighbouring_codes() -> None:
    pair = np.asarray([1.0, np.nextafter(np.float32(1), np.float32(2))], dtype=np.float32)
    below = np.asarray([np.nextafter(np.float32(-1), np.float32(-2)), -1.0], dtype=np.float32)
    for two in (pair, below):
        low, high = encode_float32(two).astype(np.int64)
        assert high - low == 1


def test_minus_zero_and_zero_are_one_score() -> None:
    minus, plus = encode_float32(np.asarray([-0.0, 0.0], dtype=np.float32))
    assert minus == plus


def test_decoding_gives_the_scores_back_exactly() -> None:
    scores = np.asarray(ASCENDING, dtype=np.float32)
    decoded = decode_float32(encode_float32(scores))
    assert decoded.dtype == np.float64
    assert np.array_equal(decoded, scores.astype(np.float64))


def test_encoding_does_not_write_into_the_scores() -> None:
    scores = np.asarray([-1.0, 2.0], dtype=np.float32)
    scores.setflags(write=False)
    encode_float32(scores)
    assert scores.tolist() == [-1.0, 2.0]


def test_random_bit_patterns_keep_their_order() -> None:
    bits = np.random.default_rng(1).integers(0, 2**32, 20_000, dtype=np.uint32)
    scores = bits.view(np.float32)
    scores = np.sort(scores[~np.isnan(scores)])
    codes = encode_float32(scores)
    assert np.array_equal(codes, np.sort(codes))
    assert np.array_equal(decode_float32(codes), scores.astype(np.float64))


def test_double_scores_that_fit_into_single_precision_are_kept_as_bits() -> None:
    codes, values = score_codes(np.asarray([0.5, 0.25, -3.0]))
    assert values is None
    assert decode_float32(codes).tolist() == [0.5, 0.25, -3.0]


def test_double_scores_that_do_not_fit_are_ranked_and_never_rounded() -> None:
    # 0.1 and its neighbour differ by 2⁻⁵⁶·…, which single precision cannot tell apart.
    scores = np.asarray([0.1, np.nextafter(0.1, 1), 0.3, 1e300, -1e300])
    codes, values = score_codes(scores)
    assert values is not None
    assert values.tolist() == sorted(scores.tolist())
    assert codes.tolist() == [1, 2, 3, 4, 0]
    table = ScoreTable(np.sort(codes), np.empty(0, np.uint32), values)
    assert table.decode(codes).tolist() == scores.tolist()


def flagged(table: ScoreTable, threshold: float, rule: str) -> int:
    found = confusion_at(table, threshold, rule)
    return found.tp


THRESHOLDS = [
    *ASCENDING,
    -0.0,
    0.1,  # between two single-precision numbers: float32(0.1) = 0.100000001490116…
    0.3,
    1e-60,  # below the smallest denormal, above 0
    -1e-60,
    1e300,  # above the largest single-precision number
    -1e300,
    math.nextafter(0.5, 1),
    math.nextafter(0.5, 0),
    LARGE * (1 + 2.0**-30),  # between the largest single-precision number and infinity
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("threshold", "rule"), [*itertools.product(THRESHOLDS, ["ge", "gt"])])
def test_a_threshold_flags_the_rows_that_python_flags(threshold: float, rule: str, dtype: type) -> None:
    scores = [*ASCENDING, *ASCENDING[4:8]]
    stored = [float(dtype(score)) for score in scores]
    expected = sum(score >= threshold if rule == "ge" else score > threshold for score in stored)
    assert flagged(table_of(scores, dtype), threshold, rule) == expected


@pytest.mark.parametrize("rule", ["ge", "gt"])
def test_thresholds_between_double_scores_flag_the_rows_above(rule: str) -> None:
    scores = [0.1, math.nextafter(0.1, 1), 0.2, 0.3]
    table = table_of(scores, np.float64)
    assert table.values is not None
    for threshold in [*scores, 0.15, 0.0, 1.0, -np.inf, np.inf, math.nextafter(0.1, 0)]:
        expected = sum(score >= threshold if rule == "ge" else score > threshold for score in scores)
        assert flagged(table, threshold, rule) == expected


def test_a_threshold_above_every_score_flags_nothing_and_one_below_flags_all() -> None:
    table = table_of([0.2, 0.7])
    assert flagged(table, np.inf, "ge") == 0
    assert flagged(table, -np.inf, "ge") == 2
    assert flagged(table, -np.inf, "gt") == 2


def test_a_score_table_counts_its_rows() -> None:
    table = ENGINES["numpy"].score_table(labelled([1, 0, 1, None], [0.5, 0.5, 0.1, 0.9]), EvalConfig(), "score")
    assert (table.n_positives, table.n_negatives, table.n_rows) == (2, 1, 3)
    assert not table.positives.flags.writeable


def test_frozen_arrays_cannot_be_changed() -> None:
    array = np.zeros(3)
    frozen(array)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_a_threshold_that_single_precision_cannot_hold_is_not_rounded_to_it() -> None:
    # float32(0.7) is 0.699999988…, which is below 0.7.
    table = table_of([0.7])
    assert flagged(table, 0.7, "ge") == 0
    assert flagged(table, float(np.float32(0.7)), "ge") == 1
