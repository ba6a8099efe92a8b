"""What the texts of the common options mean."""

import json
from pathlib import Path

import pytest

from recmetrics.cli.options import convention, parse_columns, parse_label_map, parse_settings
from recmetrics.config import EvalConfig
from recmetrics.errors import RecmetricsError


def test_columns_are_pairs_of_role_and_name() -> None:
    assert parse_columns("user=uid, score=model a") == {"user": "uid", "score": "model a"}


def test_a_role_that_comes_again_has_all_its_columns() -> None:
    found = parse_columns("score=a,score=b,score=c,segment=city")
    assert found == {"score": ["a", "b", "c"], "segment": "city"}


def test_an_equals_sign_belongs_to_the_column_name_after_the_first() -> None:
    assert parse_columns("score=p=1") == {"score": "p=1"}


@pytest.mark.parametrize("text", ["user", "user=", "=uid", "user=uid,score"])
def test_what_is_no_pair_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(RecmetricsError, match="Write --columns user=uid"):
        parse_columns(text)


def test_labels_are_words_with_their_worth() -> None:
    assert parse_label_map("yes=1,no=0,是=2.5") == {"yes": 1.0, "no": 0.0, "是": 2.5}


def test_no_label_map_is_none() -> None:
    assert parse_label_map("") is None


def test_a_label_worth_no_number_is_refused() -> None:
    with pytest.raises(RecmetricsError, match="'yes' the worth 'high', which is no number"):
        parse_label_map("yes=high")


@pytest.mark.parametrize(
    ("setting", "field", "value"),
    [
        ("gain=exp2", "gain", "exp2"),
        ("log_base=2", "log_base", 2),
        ("log_base=e", "log_base", "e"),
        ("threshold=0.25", "threshold", 0.25),
        ("catalogue_size=null", "catalogue_size", None),
        ("name=12", "name", "12"),
        ("ks=1,5", "ks", ["1", "5"]),
        ('grade_map={"click": 1}', "grade_map", {"click": 1}),
    ],
)
def test_a_setting_has_the_type_of_its_field(setting: str, field: str, value: object) -> None:
    assert parse_settings([setting]) == {field: value}


def test_every_setting_reaches_the_convention() -> None:
    settings = ["gain=exp2", 'grade_map={"click":1,"order":5}', "period_start=2026-03-22", "name=12"]
    config = convention(None, "", settings, "", None)
    assert (config.gain, dict(config.grade_map or ()), str(config.period_start), config.name) == (
        "exp2",
        {"click": 1.0, "order": 5.0},
        "2026-03-22",
        "12",
    )


def test_options_of_their_own_win_over_settings_and_settings_over_the_preset() -> None:
    config = convention(None, "trec_eval", ["ties=best", "ks=7", "threshold=0.1"], "1,10", 0.3)
    assert (config.ties, config.map_denominator, config.ks, config.threshold) == ("best", "r", (1, 10), 0.3)


def test_an_archived_convention_comes_back_as_it_was(tmp_path: Path) -> None:
    archived = EvalConfig(gain="exp2", ks=(3, 7), grade_map={"click": 1, "order": 5})
    file = tmp_path / "eval_config.json"
    file.write_text(json.dumps(archived.to_json()), encoding="utf-8")
    assert convention(file, "", [], "", None) == archived


def test_a_file_and_a_preset_together_are_refused() -> None:
    with pytest.raises(RecmetricsError, match="Give one of them"):
        convention(Path("eval_config.json"), "ranx", [], "", None)


@pytest.mark.parametrize(
    ("settings", "cutoffs", "sentence"),
    [
        (["gian=exp2"], "", "no field 'gian'. The nearest is 'gain'"),
        (["gain=exp3"], "", "'exp3' is no value"),
        (["gain"], "", "'gain' in --set is no pair"),
        (["threshold=NaN"], "", "finite"),
        ([], "0", "K must be a whole number from 1 on, and '0' is none"),
        ([], "5,,10", "K must be a whole number"),
        ([], "2.5", "'2.5' is none"),
    ],
)
def test_what_is_no_convention_is_refused_in_one_sentence(settings: list[str], cutoffs: str, sentence: str) -> None:
    with pytest.raises(RecmetricsError) as refused:
        convention(None, "", settings, cutoffs, None)
    assert sentence in str(refused.value)


def test_an_unknown_preset_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(RecmetricsError, match="nearest is 'trec_eval'"):
        convention(None, "trec-eval", [], "", None)
