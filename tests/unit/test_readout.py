"""The words of an operating point: every sentence with its numbers, every edge with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.engines.numpy_engine import NumpyEngine
from recmetrics.operating_point import position_table, solve
from recmetrics.text import Text
from recmetrics.ui.views.readout import Readout, Tile, ratio_words, readout, slider_labels
from tests.build import dataset

# metrics.md §6.1, R10: ten rows A…J.
LABELS = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
SCORES = [0.90, 0.80, 0.75, 0.68, 0.55, 0.50, 0.42, 0.35, 0.20, 0.10]


def words(
    labels: Sequence[float] = LABELS, scores: Sequence[float] = SCORES, users: bool = True, **options: Any
) -> Readout:
    rows = [("u" if users else None, f"i{i}", label, None) for i, label in enumerate(labels)]
    data, config, engine = dataset(rows, scores={"score": scores}), EvalConfig(), NumpyEngine()
    hits = engine.hit_table(data, config, "score", labelled_only=True) if users else None
    return readout(position_table(engine.score_table(data, config, "score"), hits, **options), Text("en"))


def tile(tiles: list[Tile], label: str) -> Tile:
    return next(tile for tile in tiles if tile.label == label)


def test_the_sentence_says_threshold_share_recall_and_right_flags_of_ten() -> None:
    # R12 at ≥ .50: 6 of 10 rows, 4 of 5 positives, 4 of 6 flags right.
    said = words()
    assert said.sentence(solve(said.table, "score", 0.5)) == (
        "At score ≥ 0.500, 60.0% of the rows are flagged; 80.0% of all positives are among them, "
        "and about 6.7 of every 10 flags are right."
    )


def test_scores_from_end_to_end_of_the_number_range_are_said() -> None:
    said = words([1, 0, 1], [1e308, -1e308, 0.5])
    assert said.sentence(solve(said.table, "score", 0.5)).startswith("At score ≥ 0.500, 66.7% of the rows")


def test_top_k_is_said_as_a_rule_per_user_with_its_short_lists() -> None:
    said = words()
    point = solve(said.table, "topk", 11)
    assert said.sentence(point).startswith("At the first 11 places of every user, 100.0% of the rows")
    assert "1 of 1 lists are shorter than K" in said.remarks(point)[0]
    assert said.units(point)[0] == Tile("Score", "–", "Top K is a rule per user, not one score.")


def test_rows_on_the_threshold_are_counted_with_the_matrix_of_the_other_sign() -> None:
    said = words()
    assert said.remarks(solve(said.table, "score", 0.5)) == [
        "1 row sits on 0.500 itself and counts as flagged; otherwise TP 3, FP 2, FN 2, TN 3."
    ]
    assert said.remarks(solve(said.table, "score", 0.51)) == []
    strict = words(rule="gt")
    assert strict.remarks(solve(strict.table, "score", 0.5)) == [
        "1 row sits on 0.500 itself and does not count as flagged; otherwise TP 4, FP 2, FN 1, TN 3."
    ]


def test_a_target_out_of_reach_names_the_best_and_where_it_is() -> None:
    said = words([0, 1], [0.9, 0.5])
    assert said.remarks(solve(said.table, "precision", 0.9))[0] == (
        "No threshold reaches a precision of 0.900. The best precision here is 0.500, at score ≥ 0.500."
    )


def test_ties_at_a_share_show_the_share_asked_for_and_the_share_got() -> None:
    said = words([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.1])
    point = solve(said.table, "share", 0.25)
    assert said.remarks(point)[0] == "25.00% of the rows were asked for; with all rows of the same score it is 75.00%."


def test_a_constant_score_is_named_first() -> None:
    said = words([1, 0], [0.3, 0.3])
    point = solve(said.table, "score", 0.3)
    assert said.remarks(point)[0] == "Every row has the same score, so a threshold flags all rows or none."


def test_with_one_class_the_matrix_works_and_undefined_tiles_give_their_reason() -> None:
    said = words([0, 0], [0.2, 0.8])
    point = solve(said.table, "score", 0.5)
    assert said.sentence(point) == (
        "At score ≥ 0.500, 50.0% of the rows are flagged (1); none of the rows is a positive."
    )
    tiles = said.tiles(point, 1.0)
    assert tile(tiles, "Recall") == Tile("Recall", "–", "no positives")
    assert tile(tiles, "Lift").note == "no positives"
    assert tile(said.units(point), "Cost FP : FN") == Tile("Cost FP : FN", "–", "Costs need rows of both classes.")


def test_with_nothing_flagged_precision_has_its_reason_and_no_k_is_named() -> None:
    said = words()
    point = solve(said.table, "score", 2.0)
    assert said.sentence(point) == "At score ≥ 2.000 no row is flagged."
    assert tile(said.tiles(point, 1.0), "Precision") == Tile("Precision", "–", "no predicted positives")
    assert tile(said.units(point), "Top K per user") == Tile("Top K per user", "–", "No row is flagged.")
    cheapest = words([0, 1], [0.9, 0.5])
    assert (
        cheapest.sentence(solve(cheapest.table, "cost", 3.0)) == "At a threshold beyond every score no row is flagged."
    )


def test_without_rows_the_sentence_says_so() -> None:
    said = words([], [])
    assert said.sentence(solve(said.table, "score", 0.5)) == "There are no rows with a label here."


def test_accuracy_stands_beside_its_baseline_and_every_tile_shows_its_fraction() -> None:
    tiles = words().tiles(solve(words().table, "score", 0.5), 1.0)
    assert tile(tiles, "Accuracy") == Tile("Accuracy", "0.700", "flagging nothing: 0.500")
    assert tile(tiles, "Precision") == Tile("Precision", "0.667", "TP / (TP + FP) = 4 / (4 + 2)")
    assert tile(tiles, "Lift") == Tile("Lift", "× 1.33", "precision / base rate 50.0%")
    assert [t.label for t in tiles][2:5] == ["F1", "F0.5", "F2"]


def test_an_unusual_beta_of_the_convention_gets_its_own_tile() -> None:
    assert "F3" in [t.label for t in words().tiles(solve(words().table, "score", 0.5), 3.0)]


def test_all_six_units_tell_the_same_point() -> None:
    said = words()
    units = {t.label: t.value for t in said.units(solve(said.table, "share", 0.4))}
    # The first four rows A…D: three positives, one negative.
    assert units == {
        "Score": "≥ 0.680",
        "Share of rows": "40.00%",
        "Top K per user": "≈ 4",
        "Precision": "0.750",
        "Recall": "0.600",
        # The hull rises 1 positive per negative before this corner (2 → 3) and 1 per 1 after it (3 → 4), so it is none.
        "Cost FP : FN": "≈ 1 : 1",
    }


def test_without_users_the_unit_of_top_k_says_why_it_is_missing() -> None:
    said = words(users=False)
    assert tile(said.units(solve(said.table, "score", 0.5)), "Top K per user").note == "There is no user column."


@pytest.mark.parametrize(
    ("ratio", "printed"), [(0.2, "1 : 5"), (1.0, "1 : 1"), (3.0, "3 : 1"), (0.3, "1 : 3.33"), (0, "0 : 1")]
)
def test_cost_ratios_are_printed_as_ratios(ratio: float, printed: str) -> None:
    assert ratio_words(ratio, Text("en")) == printed


@pytest.mark.parametrize(
    ("scale", "printed"), [(1.0, "0.500"), (1e-3, "0.000500"), (1e-5, "0.00000500"), (1000.0, "500.000")]
)
def test_scores_get_as_many_decimals_as_their_spread_needs(scale: float, printed: str) -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(2_000) * scale
    said = words(list(rng.integers(0, 2, 2_000)), list(scores))
    assert said.score(0.5 * scale) == printed


def test_places_of_the_slider_that_print_alike_are_one_place_and_both_ends_stay() -> None:
    values, labels = slider_labels(np.array([0.1001, 0.1002, 0.5, 0.9001, 0.9004]), lambda value: f"{value:.3f}")
    assert labels == ("0.100", "0.500", "0.900")
    assert values.tolist() == [0.1001, 0.5, 0.9004]
