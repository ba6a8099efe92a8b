"""The link: state to address and back; what cannot be honoured is named, never guessed, never a crash."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recmetrics.config import EvalConfig, Negatives
from recmetrics.ui import link
from recmetrics.ui.state import State

NAMES = st.text(min_size=1, max_size=12)
CONFIGS = st.builds(
    EvalConfig,
    ks=st.lists(st.integers(1, 500), min_size=1, max_size=4),
    gain=st.sampled_from(["linear", "exp2", "binary"]),
    threshold=st.floats(-5, 5),
    beta=st.sampled_from([0.5, 1.0, 2.0]),
    period_start=st.sampled_from([None, date(2026, 3, 22)]),
    negatives=st.sampled_from([None, Negatives(sampler="ratio", per_positive=4)]),
    grade_map=st.sampled_from([None, {"click": 1, "buy, now": 5}]),
    catalogue_size=st.sampled_from([None, 10_000]),
)
STATES = st.builds(
    State,
    source=st.sampled_from(["", "sample:leak", "file:0", "upload:0123456789ab", "server:logs/may 2.csv"]),
    mode=st.sampled_from(list(link.MODES)),
    value=st.floats(allow_nan=False, allow_infinity=False),
    k=st.integers(1, 1000),
    config=CONFIGS,
    language=st.sampled_from(["en", "zh"]),
)
COLUMNS = st.dictionaries(
    st.sampled_from(["user", "item", "score", "segment"]),
    st.one_of(st.none(), NAMES, st.lists(NAMES, min_size=2, max_size=3)),
    min_size=1,
)


@settings(max_examples=60, deadline=None)
@given(STATES, COLUMNS, st.dictionaries(NAMES, st.floats(-9, 9), min_size=1, max_size=3))
def test_decoding_undoes_encoding(now: State, columns: dict[str, Any], labels: dict[str, float]) -> None:
    asked = link.decode(link.encode(now, columns=columns, label_map=labels))
    assert asked.state == now
    assert asked.columns == columns
    assert asked.label_map == labels
    assert asked.notices == []


def test_a_bare_state_says_only_the_version_and_the_language() -> None:
    assert link.encode(State()) == {"v": "1", "lang": "en"}


def test_model_segment_and_view_wait_for_the_data() -> None:
    now = State(source="sample:leak", model="pred", segment=("城市", "北京"))
    query = link.encode(now, view="users")
    assert query["seg"] == f"城市~{link.label_code('北京')}"
    assert "北京" not in str(query)
    assert link.decode(query).later == {"model": "pred", "seg": query["seg"], "view": "users"}


def test_typed_words_never_travel() -> None:
    assert link.encode_config(EvalConfig(name="my secret", note="do not share")) == ""


def test_unknown_keys_are_ignored() -> None:
    asked = link.decode({"v": "1", "utm_source": "mail", "lang": "en"})
    assert asked.notices == []
    assert asked.state == State()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("d", "zz"),
        ("d", "sample:no_such"),
        ("d", "file:7"),
        ("d", "upload:../../etc"),
        ("lang", "fr"),
        ("k", "0"),
        ("k", "ten"),
        ("k", "1" + "0" * 30),
        ("cfg", "default,gain=exp9"),
        ("cfg", "default,beta=inf"),
        ("cfg", "default,nonsense=1"),
        ("cfg", "no_preset"),
        ("cfg", "default,negatives=%7Bbroken"),
        ("cfg", "default,negatives=" + "%5B" * 5000),
        ("map", "no colon"),
        ("labels", "yes:many"),
    ],
)
def test_a_value_that_cannot_be_honoured_is_named_and_left_at_its_default(key: str, value: str) -> None:
    asked = link.decode({"v": "1", "lang": "en", key: value})
    assert [facts["key"] for _, facts in asked.notices] == [key]
    assert asked.state == State(language=asked.state.language)
    assert asked.columns is None
    assert asked.label_map is None


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999", "half"])
def test_a_threshold_that_is_no_number_is_named(value: str) -> None:
    asked = link.decode({"v": "1", "lang": "en", "tm": "score", "tv": value})
    assert [facts["key"] for _, facts in asked.notices] == ["tv"]
    assert (asked.state.mode, asked.state.value) == ("", None)


def test_a_preset_can_start_a_convention() -> None:
    asked = link.decode({"v": "1", "lang": "en", "cfg": "ranx,gain=exp2"})
    assert (asked.state.config.ties, asked.state.config.gain) == ("file_order", "exp2")
