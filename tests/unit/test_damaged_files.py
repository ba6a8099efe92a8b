"""Whatever a file holds, loading it gives a Dataset whose account adds up, or one sentence."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recmetrics.dataset import Dataset
from recmetrics.formats import FORMATS
from recmetrics.load import load
from tests.fuzzing import KINDS, SOUND, adds_up, check, outcome, sound

N_EACH = 25  # benchmarks/fuzz.py runs as many as one likes

CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "0", "1", "-1", "2", "0.5", "0,5", "1,234", "nan", "inf", "yes", "no", "007", "7.0", "true"]),
    st.floats().map(str),
    st.integers().map(str),
)


def test_every_format_has_a_sound_file_to_damage() -> None:
    assert set(SOUND) == set(FORMATS)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_end_in_a_dataset_or_in_a_sentence(kind: str) -> None:
    for number in range(N_EACH):
        check(kind, number)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("trec_run", "trec_qrels")])
def test_the_sound_file_is_read(kind: str) -> None:
    name, data = sound(kind, np.random.default_rng(0))
    assert load((name, data)).n_rows == 40


@settings(max_examples=150, deadline=None)
@given(
    header=st.lists(st.one_of(st.sampled_from(["user", "item", "label", "score", "model", "time"]), CELLS), max_size=7),
    rows=st.lists(st.lists(CELLS, max_size=7), max_size=12),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]),
)
def test_any_table_of_any_texts_is_read_or_refused(
    header: list[str], rows: list[list[str]], delimiter: str, encoding: str
) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    found = outcome("csv", "a.csv", file.getvalue().encode(encoding, errors="replace"))
    assert adds_up(found) if isinstance(found, Dataset) else str(found).strip()


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=400), name=st.sampled_from(["a.csv", "a.jsonl", "a.parquet", "a.run", "a.xlsx", "a"]))
def test_any_bytes_under_any_name_are_read_or_refused(data: bytes, name: str) -> None:
    found = outcome("csv", name, data)
    assert adds_up(found) if isinstance(found, Dataset) else str(found).strip()
