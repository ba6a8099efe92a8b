"""Ids of long columns are read by a table where that is the same as reading their texts, and only there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from recmetrics.schema.ids import TABLE_FROM, read_ids

PLAIN = [str(n) for n in np.random.default_rng(5).integers(0, 3000, TABLE_FROM).tolist()]


def texts_of(cells: list[str]) -> list[str | None]:
    """Return the id of every cell as read."""
    found = read_ids(pa.chunked_array([cells[:77], cells[77:]], pa.string()), "user", "a.csv")
    return [found.texts[code] if code >= 0 else None for code in found.codes]


def test_long_columns_of_whole_numbers_keep_every_id_in_order_of_appearance() -> None:
    found = read_ids(pa.chunked_array([PLAIN[:77], PLAIN[77:]], pa.string()), "user", "a.csv")
    assert texts_of(PLAIN) == PLAIN
    assert list(found.texts) == list(dict.fromkeys(PLAIN))


@pytest.mark.parametrize("odd", ["007", "+7", " 7", "7 ", "-7", "7.0", "1e3", "u7", "9223372036854775807", "٧"])
def test_one_id_that_is_no_plain_whole_number_stays_as_written_in_a_long_column(odd: str) -> None:
    assert texts_of([*PLAIN, odd])[-1] == odd
    assert texts_of([*PLAIN, odd])[:-1] == PLAIN


@pytest.mark.parametrize("odd", ["", "nan", "NULL"])
def test_an_empty_id_in_a_long_column_is_none(odd: str) -> None:
    assert texts_of([*PLAIN, odd])[-1] is None
