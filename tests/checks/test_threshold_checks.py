"""RM-301 and RM-302: a threshold that admits all, and precision that equals recall."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recmetrics.checks.threshold import chance_of_equality
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.metrics.confusion import Confusion
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, cause, lists, said


def at_threshold(tp: int, fp: int, fn: int, tn: int, **fields: object) -> tuple[Dataset, EvalConfig]:
    """Return rows with this confusion matrix at .5, scores spread on both sides, all different."""
    above, below = tp + fp, fn + tn
    score = [*(0.6 + 0.3 * i / above for i in range(above)), *(0.1 + 0.3 * i / below for i in range(below))]
    # Labels alternate as evenly as they can, so that the AUC on each side is about a half.
    label = [*spread(tp, above), *spread(fn, below)]
    return labelled(label, score), EvalConfig(**fields)


def spread(n_positives: int, n: int) -> list[float]:
    return [float((i + 1) * n_positives // n > i * n_positives // n) for i in range(n)]


# RM-301 ------------------------------------------------------------------------------------------------------------


def test_a_threshold_far_too_low_is_a_warning_and_said_to_be_one() -> None:
    made = make("D5")
    found = ask("RM-301", made.dataset, made.config)
    assert said(found) == "warning"
    assert found.facts["recall"] > 0.9
    assert found.facts["share_flagged"] > 0.9
    assert cause(found, "threshold_too_low").outcome == "supports"


@pytest.mark.parametrize(
    ("cells", "severity"),
    [
        # 1000 rows, π = .1: precision must not exceed 2π = .2.
        ((90, 360, 10, 540), "warning"),  # recall .90, precision 90/450 = .2
        ((89, 361, 11, 539), "passed"),  # recall .89
        ((90, 359, 10, 541), "passed"),  # precision 90/449 > .2
        # π = .02: precision must not exceed .04.
        ((18, 432, 2, 548), "warning"),  # 18/450 = .04
        ((18, 431, 2, 549), "passed"),
    ],
)
def test_high_recall_is_a_fault_only_with_tiny_precision(cells: tuple[int, int, int, int], severity: str) -> None:
    data, config = at_threshold(*cells)
    found = ask("RM-301", data, config)
    assert said(found) == severity
    assert found.facts["recall"] == cells[0] / (cells[0] + cells[2])
    assert found.facts["precision"] == cells[0] / (cells[0] + cells[1])


def test_the_threshold_turns_with_scores_of_which_lower_is_better() -> None:
    # Negated scores with a negated threshold flag the same rows: TP 90, FP 360, FN 10 by construction.
    data, config = at_threshold(90, 360, 10, 540)
    turned = replace(data, scores={"score": -data.scores["score"]}, fingerprint="")
    found = ask("RM-301", turned, config.replace(threshold=-0.5, score_direction="lower"))
    assert said(found) == "warning"
    assert (found.facts["recall"], found.facts["precision"], found.facts["threshold"]) == (0.9, 90 / 450, -0.5)


def test_the_causes_of_an_equality_look_at_the_flags_that_the_matrix_counts() -> None:
    # float32(.7) lies below .7, so of each user's two rows one is flagged, and every second flag is right.
    rows = [row for u in range(40) for row in ((f"u{u}", "a", u % 2, 0.9), (f"u{u}", "b", 1 - u % 2, 0.7))]
    data = dataset(rows, dtype=np.float32)
    found = ask("RM-302", data, EvalConfig(threshold=0.7), scope="threshold", threshold_set=True)
    assert (found.facts["n_flagged"], found.facts["n_positives"]) == (40, 40)
    assert cause(found, "micro_averaging").outcome == "supports"


def test_a_recall_stage_may_admit_all() -> None:
    data, config = at_threshold(90, 360, 10, 540, stage="recall")
    assert said(ask("RM-301", data, config)) == "info"


def test_half_means_nothing_on_raw_scores_unless_it_was_chosen() -> None:
    data = labelled([1, 0, 1, 0], [3.0, 2.0, 5.0, -1.0])
    for code, scope in (("RM-301", None), ("RM-302", "threshold")):
        assert ask(code, data, scope=scope).reason == "no_chosen_threshold"
        assert ask(code, data, scope=scope, threshold_set=True).reason is None
        assert ask(code, data, EvalConfig(threshold=2.5), scope=scope).reason is None
        assert ask(code, data, EvalConfig(threshold_origin="quantile"), scope=scope).reason is None


def test_precision_at_the_best_f1_is_told() -> None:
    # Scores .9 (1), .8 (0), .7 (1), .6 (0), then 0s: F1 is 2/3 at .9 and 4/5 at .7, where precision is 2/3.
    data = labelled([1, 0, 1] + [0] * 17, [0.9, 0.8, 0.7] + [0.5 + 0.001 * i for i in range(17)])
    found = ask("RM-301", data)
    assert said(found) == "warning"
    assert cause(found, "weak_model").facts["precision_at_best_f1"] == 2 / 3
    assert cause(found, "weak_model").outcome == "contradicts"


def test_no_precision_and_no_alarm_when_nothing_is_flagged() -> None:
    found = ask("RM-301", labelled([1, 0, 1], [0.1, 0.2, 0.3]))
    assert (said(found), found.facts["precision"]) == ("passed", None)


# RM-302, threshold -------------------------------------------------------------------------------------------------


def test_a_solved_threshold_is_a_warning_and_recognised() -> None:
    made = make("D6")
    found = ask("RM-302", made.dataset, made.config, scope="threshold")
    assert said(found) == "warning"
    assert found.facts["fp"] == found.facts["fn"]
    assert found.causes[0].name == "solved_threshold"
    assert [c.name for c in found.causes if c.outcome == "supports"] == ["solved_threshold"]


@pytest.mark.parametrize(
    ("cells", "severity"),
    [
        ((500, 100, 100, 900), "warning"),
        ((500, 101, 100, 899), "passed"),
        ((500, 99, 100, 901), "passed"),
        ((10, 5, 5, 40), "info"),  # p_c about .14: equality by chance is common
        ((15, 0, 0, 45), "passed"),  # nothing is wrong, and nothing is missed
    ],
)
def test_precision_equals_recall_only_when_the_counts_are_equal(
    cells: tuple[int, int, int, int], severity: str
) -> None:
    data, config = at_threshold(*cells)
    found = ask("RM-302", data, config, scope="threshold")
    assert (said(found), found.facts["fp"], found.facts["fn"]) == (severity, cells[1], cells[2])


def test_nothing_flagged_has_no_precision_to_equal() -> None:
    assert ask("RM-302", labelled([1, 0], [0.1, 0.2]), scope="threshold").reason == "none_flagged"


def test_the_chance_of_equality_reproduces_the_golden_table() -> None:
    golden = json.loads((Path(__file__).parents[1] / "data" / "diagnostics_golden.json").read_text())[
        "p_equals_r_chance"
    ]
    worked = golden["worked"]
    cells = Confusion(worked["P"] - worked["FN"], worked["FP"], worked["FN"], worked["N"] - worked["FP"])
    assert abs(chance_of_equality(cells) - worked["p_chance"]) < 1e-8
    for row in golden["rows"]:
        # Setting of the table: FN = .25·P and FP as many.
        positives, negatives = row["n"] * row["prevalence"], row["n"] * (1 - row["prevalence"])
        wrong = 0.25 * positives
        found = chance_of_equality(Confusion(positives - wrong, wrong, wrong, negatives - wrong))
        assert abs(found - row["approx"]) < 1e-6


def test_equality_user_by_user_is_structural() -> None:
    # Every user has two of ten above the threshold, one of them rightly, and misses one.
    score = [0.9, 0.8, *(0.4 - 0.01 * i for i in range(8))]
    label = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    rows = [(f"u{u}", f"i{i}", label[i], score[i]) for u in range(100) for i in range(10)]
    found = ask("RM-302", dataset(rows), scope="threshold")
    structural = cause(found, "structural")
    assert structural.outcome == "supports"
    assert structural.facts == {"share_users_equal": 1.0, "sd_over_halves": 0.0}
    assert cause(found, "micro_averaging").outcome == "contradicts"


def test_one_positive_and_one_flag_per_user_is_micro_averaging() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for u in range(200):
        chosen, right = (0, 0) if rng.random() < 0.6 else (1, 2)
        rows += [(f"u{u}", f"i{i}", float(i == right), 0.9 if i == chosen else 0.1) for i in range(4)]
    found = ask("RM-302", dataset(rows), scope="threshold")
    assert cause(found, "micro_averaging").outcome == "supports"


def test_the_spread_over_halves_is_that_of_coin_flips() -> None:
    # FP − FN is +1, −1, +1 and −1 in four users: half of √4 is 1.
    rows = []
    for u in range(4):
        label, score = ([1, 0], [0.9, 0.8]) if u % 2 == 0 else ([1, 1], [0.9, 0.1])
        rows += [(f"u{u}", f"i{i}", label[i], score[i]) for i in range(2)]
        rows += [(f"u{u}", f"j{i}", 0.0, 0.2) for i in range(5)]
    found = ask("RM-302", dataset(rows), scope="threshold")
    assert cause(found, "structural").facts == {"share_users_equal": 0.0, "sd_over_halves": 1.0}


def test_a_midpoint_of_two_scores_with_many_digits_is_solved_and_a_round_one_is_not() -> None:
    label, score = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7123, 0.6234, 0.5, 0.4]
    data = labelled(label, score)
    middle = (0.7123 + 0.6234) / 2
    assert (
        cause(ask("RM-302", data, EvalConfig(threshold=middle), scope="threshold"), "solved_threshold").outcome
        == "supports"
    )
    rounded = ask("RM-302", data, EvalConfig(threshold=0.7), scope="threshold")
    assert cause(rounded, "solved_threshold").outcome == "contradicts"
    declared = ask("RM-302", data, EvalConfig(threshold=0.7, threshold_origin="break_even"), scope="threshold")
    assert cause(declared, "solved_threshold").facts == {"origin": "break_even"}


def test_balanced_classes_at_one_half_are_named() -> None:
    data, config = at_threshold(400, 100, 100, 400)
    assert cause(ask("RM-302", data, config, scope="threshold"), "balancing").outcome == "supports"


def test_equality_without_any_cause_asks_for_a_fault_in_the_code() -> None:
    data, config = at_threshold(500, 100, 100, 900)
    found = ask("RM-302", data, config, scope="threshold")
    assert [c.name for c in found.causes if c.outcome == "supports"] == ["written_twice"]


# RM-302, top_k -----------------------------------------------------------------------------------------------------


def test_as_many_relevant_items_as_places_is_an_identity() -> None:
    made = make("E14")
    found = ask("RM-302", made.dataset, made.config, scope="top_k")
    assert said(found) == "warning"
    assert (found.facts["k"], found.facts["share"]) == (5, 1.0)


@pytest.mark.parametrize(("n_equal", "severity"), [(90, "passed"), (91, "warning")])
def test_the_identity_needs_more_than_ninety_percent_of_the_users(n_equal: int, severity: str) -> None:
    data = lists(*[[1, 1, 0, 0]] * n_equal, *[[1, 0, 0, 0]] * (100 - n_equal))
    found = ask("RM-302", data, scope="top_k", k=2)
    assert (said(found), found.facts["count"], found.facts["n_users"]) == (severity, n_equal, 100)


def test_users_without_relevant_items_play_no_part_in_the_identity() -> None:
    data = lists([1, 1, 0], [0, 0, 0], [1, 1, 0])
    assert ask("RM-302", data, scope="top_k", k=2).facts["share"] == 1.0
    assert ask("RM-302", lists([0, 0, 0]), scope="top_k").reason == "one_class"


def test_the_identity_at_k_is_never_explained_away() -> None:
    data = lists(*[[1, 0, 0]] * 20)
    found = ask("RM-302", data, scope="top_k", k=1)
    assert found.status == "fired"
    assert ask("RM-107", data).is_alarm


def test_one_row_per_user_makes_no_lists() -> None:
    assert ask("RM-302", lists(*[[1.0]] * 5, *[[0.0]] * 5), scope="top_k").reason == "no_lists"
