"""The convention: refused when unknown, archived without loss, hashed by what can change a number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from recmetrics.config import COSMETIC, EvalConfig, whole_k
from recmetrics.errors import RecmetricsError

EXAMPLE = json.loads(  # the example of the specification, §3
    """{"schema_version": 1, "name": "ranker v12", "stage": "ranking", "period_start": "2026-03-22",
    "period_end": "2026-03-22", "split": "time", "user_isolation": "overlap", "gap_days": 1,
    "candidates": "impressions", "seen_items": "filtered", "relevance_threshold": 1,
    "grade_map": {"click": 1, "like": 2, "fav": 3, "order": 5}, "truth_scope": "all", "user_base": "truth",
    "users_without_relevant": "skip", "users_missing_from_run": "zero", "ks": [5, 10, 20], "ties": "average",
    "map_denominator": "min_r_k", "gain": "linear", "discount": "log2", "ideal": "min_r_k", "threshold": 0.5,
    "threshold_rule": "ge", "threshold_origin": "given", "gauc_weight": "rows", "log_loss_clip": 1e-15}"""
)

# For fields that are no choice from a list: a value other than the default.
OTHER: dict[str, Any] = {
    "name": "ranker v12",
    "note": "second run",
    "stage": "ctr",
    "period_start": "2026-03-22",
    "period_end": "2026-03-22",
    "timezone": "Asia/Shanghai",
    "gap_days": 1,
    "negatives": {"sampler": "uniform", "per_positive": 4, "shared": True},
    "catalogue_size": 3706,
    "relevance_threshold": 2,
    "sheet": "scores",
    "grade_map": {"click": 1, "order": 5},
    "rounding": {"decimals": 4, "per_user": True},
    "confidence": 0.9,
    "random_state": 7,
    "ks": [3],
    "beta": 2,
    "threshold": 0.3,
    "max_fpr": 1,
    "log_loss_clip": 1e-7,
    "ece_bins": 10,
}


def other_values(field: str) -> tuple[Any, ...]:
    """Return values of a field other than its default."""
    declared = EvalConfig.model_fields[field]
    if field in OTHER:
        return (OTHER[field],)
    return tuple(value for value in get_args(declared.annotation) if value != declared.default)


FIELDS = [name for name in EvalConfig.model_fields if name != "schema_version"]


@pytest.mark.parametrize("field", FIELDS)
def test_every_value_of_every_field_survives_the_archive(field: str, tmp_path: Path) -> None:
    for value in other_values(field):
        config = EvalConfig(**{field: value})
        path = tmp_path / "eval_config.json"
        path.write_text(json.dumps(config.to_json(), ensure_ascii=False), encoding="utf-8")
        again = EvalConfig.load(path)
        assert again == config
        assert again.hash == config.hash
        assert hash(again) == hash(config)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_can_change_a_number_alters_the_hash_and_a_cosmetic_one_keeps_it(field: str) -> None:
    for value in other_values(field):
        assert (EvalConfig(**{field: value}).hash == EvalConfig().hash) is (field in COSMETIC)


def test_only_names_intervals_seeds_and_the_paired_first_position_are_cosmetic() -> None:
    # §3, "cosmetic always"; the order of ks is sorted away, the version says how to read the file.
    assert set(COSMETIC) == {"name", "note", "confidence", "random_state", "position_start", "schema_version"}


def test_every_field_has_another_value_in_these_tests() -> None:
    assert [field for field in FIELDS if not other_values(field)] == []


def test_the_example_of_the_specification_is_read_and_gives_its_own_fields_back() -> None:
    config = EvalConfig.from_json(EXAMPLE)
    written = config.to_json()
    assert {field: written[field] for field in EXAMPLE} == EXAMPLE


def test_defaults_are_those_of_the_specification() -> None:
    config = EvalConfig()
    assert config.ks == (5, 10, 20)
    assert (config.ties, config.gain, config.discount, config.ideal) == ("average", "linear", "log2", "min_r_k")
    assert (config.precision_denominator, config.recall_denominator, config.map_denominator) == ("k", "r", "min_r_k")
    assert (config.user_base, config.users_without_relevant, config.users_missing_from_run) == ("truth", "skip", "zero")
    assert (config.threshold, config.threshold_rule, config.max_fpr) == (0.5, "ge", 0.1)
    assert (config.gauc_weight, config.single_class_users, config.auprc_method) == ("rows", "skip", "step")
    assert (config.log_loss_clip, config.ece_bins, config.ece_binning) == (1e-15, 15, "mass")
    assert (config.duplicates, config.missing_scores, config.infinite_scores) == ("error", "error", "error")
    assert config.changed() == {}


@pytest.mark.parametrize(
    ("stage", "ks"), [("recall", (100, 500, 1000)), ("ranking", (5, 10, 20)), ("push", (1, 3)), ("ctr", (5, 10, 20))]
)
def test_a_stage_brings_its_own_ks_unless_some_are_given(stage: str, ks: tuple[int, ...]) -> None:
    assert EvalConfig(stage=stage).ks == ks
    assert EvalConfig(stage=stage, ks=[7]).ks == (7,)


@pytest.mark.parametrize("ks", [[20, 5, 10], (10, 10, 5, 20), ["5", "10", "20"], [5.0, 10, 20.0]])
def test_the_order_and_spelling_of_ks_play_no_part(ks: Any) -> None:
    assert EvalConfig(ks=ks) == EvalConfig()
    assert EvalConfig(ks=ks).hash == EvalConfig().hash


@pytest.mark.parametrize("k", [0, -1, 1.5, "ten", "", " ", "1.0", "²", None, True, float("nan"), float("inf"), [3]])
def test_anything_but_a_whole_number_from_one_on_is_refused_as_k(k: Any) -> None:
    with pytest.raises(RecmetricsError) as refused:
        whole_k(k)
    assert refused.value.kind == "invalid_k"
    assert str(k)[:20] in str(refused.value)
    with pytest.raises(RecmetricsError) as refused:
        EvalConfig(ks=[5, k])
    assert refused.value.kind == "invalid_k"


def test_one_k_may_stand_alone_and_no_k_is_refused() -> None:
    assert EvalConfig(ks=3).ks == (3,)
    with pytest.raises(RecmetricsError) as refused:
        EvalConfig(ks=[])
    assert refused.value.kind == "invalid_k"


def test_a_long_text_is_not_repeated_in_full() -> None:
    with pytest.raises(RecmetricsError) as refused:
        whole_k("9" * 10_000 + "x")
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("k", [10**9 + 1, 10**30, "9" * 5000, 1e300])
def test_a_k_beyond_any_list_is_refused_before_it_can_overflow(k: Any) -> None:
    with pytest.raises(RecmetricsError, match="no list is that long") as refused:
        whole_k(k)
    assert refused.value.kind == "invalid_k"
    assert whole_k("0000000000000000010") == 10
    assert whole_k(10**9) == 10**9


@pytest.mark.parametrize("beta", [1e-7, 1e7, 1e200, 1e-300])
def test_a_beta_whose_square_says_nothing_is_refused(beta: float) -> None:
    with pytest.raises(RecmetricsError, match="beta"):
        EvalConfig(beta=beta)


@pytest.mark.parametrize(
    ("field", "nearest"), [("tie", "ties"), ("map_denominater", "map_denominator"), ("Threshold", "threshold")]
)
def test_an_unknown_field_is_refused_with_the_nearest_known_one(field: str, nearest: str) -> None:
    for make in (lambda: EvalConfig(**{field: "x"}), lambda: EvalConfig().replace(**{field: "x"})):
        with pytest.raises(RecmetricsError) as refused:
            make()
        assert refused.value.kind == "invalid_config"
        assert f"'{field}'" in str(refused.value)
        assert f"'{nearest}'" in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value", "known"),
    [
        ("ties", "averge", "average"),
        ("gain", "exp", "exp2"),
        ("threshold", "half", "0.5"),
        ("confidence", 95, "1"),
        ("catalogue_size", 0, "1"),
        ("log_base", 3, "10"),
        ("ece_bins", 0, "1"),
        ("threshold", float("nan"), "finite"),
        ("relevance_threshold", float("inf"), "finite"),
        ("max_fpr", 0, "0"),
        ("log_loss_clip", 0.5, "0.5"),
        ("beta", 0, "0"),
        ("negatives", {"sampler": "unifrm"}, "uniform"),
        ("rounding", {"decimal": 3}, "decimal"),
    ],
)
def test_an_unknown_value_is_refused_with_field_value_and_what_is_known(field: str, value: Any, known: str) -> None:
    with pytest.raises(RecmetricsError) as refused:
        EvalConfig(**{field: value})
    assert refused.value.kind == "invalid_config"
    assert field in str(refused.value)
    assert known in str(refused.value) or field == "threshold"


def test_starting_positions_at_zero_is_the_same_convention() -> None:
    # 1/log(i+2) from 0 = 1/log(i+1) from 1; stored as 1.
    assert EvalConfig(position_start=0) == EvalConfig(position_start=1)
    assert EvalConfig(position_start=0).to_json()["position_start"] == 1


def test_replacing_a_field_leaves_the_original_alone() -> None:
    config = EvalConfig(ks=[3])
    changed = config.replace(ties="worst")
    assert (config.ties, changed.ties, changed.ks) == ("average", "worst", (3,))
    assert changed.changed() == {"ks": (3,), "ties": "worst"}


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "3", '"ks"', "null", b"\xff\xfe\x00".decode("latin-1")])
def test_a_file_that_holds_no_convention_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "eval_config.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecmetricsError) as refused:
        EvalConfig.load(path)
    assert refused.value.kind == "invalid_config"
    assert "eval_config.json" in str(refused.value)


def test_a_convention_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RecmetricsError, match=r"missing\.json"):
        EvalConfig.load(tmp_path / "missing.json")


def test_a_file_in_another_encoding_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "eval_config.json"
    path.write_bytes('{"name": "排序"}'.encode("gb18030"))
    with pytest.raises(RecmetricsError, match=r"eval_config\.json"):
        EvalConfig.load(path)


def test_equal_numbers_written_differently_are_one_convention() -> None:
    assert EvalConfig(relevance_threshold=1).hash == EvalConfig(relevance_threshold=1.0).hash
    assert EvalConfig(log_base=2.0).hash == EvalConfig(log_base=2).hash
    assert EvalConfig(threshold=-0.0).hash == EvalConfig(threshold=0.0).hash
