"""RM-201 to 205 and 208: scores that are upside down, useless, constant, coarse, no probabilities, or too sure."""

from __future__ import annotations

import numpy as np
import pytest

from recmetrics.checks.order import _repairs
from recmetrics.checks.subject import subjects
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.diagnose import DiagnoseOptions
from recmetrics.inference.auc import row_influence
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, cause, log, said


def with_auc(auc: float, n: int = 1000, *, users: bool = False) -> Dataset:
    """Return n positives and n negatives with exactly this AUC, up to 1/n: positives stand at one place among them."""
    below = round(auc * n)
    # Negatives at 0, 1, …, n−1; every positive beats `below` of them. The positives differ by less than a step.
    scores = [*range(n), *(below - 0.9 + 0.8 * i / n for i in range(n))]
    labels = [0] * n + [1] * n
    if not users:
        return labelled(labels, scores)
    return dataset([(f"u{i % 100}", f"i{i}", labels[i], scores[i]) for i in range(2 * n)])


# RM-201 ------------------------------------------------------------------------------------------------------------


def test_exchanged_labels_are_critical_and_their_coding_is_named() -> None:
    made = make("D4")
    found = ask("RM-201", made.dataset, made.config)
    assert said(found) == "critical"
    assert found.facts["high"] < 0.5
    assert abs(found.facts["auc"] + found.facts["auc_mirrored"] - 1) < 1e-12
    # π ≈ .9 after the exchange, so it is the labels and not the sign of the score.
    assert cause(found, "label_coding").outcome == "supports"
    assert cause(found, "score_sign").outcome == "contradicts"


@pytest.mark.parametrize(
    ("auc", "severity"),
    [(0.44, "critical"), (0.46, "warning"), (0.475, "warning"), (0.485, "passed"), (0.55, "passed")],
)
def test_a_reversed_order_is_graded_by_its_distance_from_chance(auc: float, severity: str) -> None:
    # The positives stand at one place: each negative is beaten by all or by none, so the SE is √(A(1−A)/10,000) = .005.
    found = ask("RM-201", with_auc(auc, n=10_000))
    assert abs(found.facts["auc"] - auc) < 1e-9
    assert said(found) == severity


def test_a_low_auc_whose_interval_reaches_half_is_not_inverted() -> None:
    found = ask("RM-201", with_auc(0.44, n=50))
    assert found.facts["high"] > 0.5
    assert said(found) == "passed"


def test_places_instead_of_scores_are_recognised() -> None:
    # Forty users whose positives stand at places 1 and 2 of five: a place is small where a score would be large.
    rows = [(f"u{u}", f"i{i}", float(i < 2), float(i + 1)) for u in range(40) for i in range(5)]
    found = ask("RM-201", dataset(rows))
    assert cause(found, "rank_column").outcome == "supports"
    assert found.causes[0].name == "rank_column"
    # Within users the order is reversed as well: every positive stands below every negative.
    assert found.facts["gauc"] == 0.0


def test_one_inverted_segment_is_named_among_healthy_ones() -> None:
    rows = log(1200, seed=5)
    source = ["a" if i % 4 else "b" for i in range(1200)]
    for row, name in zip(rows, source, strict=True):
        if name == "a":
            row[3] = -row[3]
    found = ask("RM-201", dataset(rows, segments={"source": source}))
    named = cause(found, "one_segment")
    assert (named.outcome, named.facts) == ("supports", {"n_segments": 2, "n_inverted": 1})


def test_one_class_has_no_direction() -> None:
    for code in ("RM-201", "RM-202", "RM-501"):
        assert ask(code, labelled([1, 1], [0.1, 0.2])).reason == "one_class"


# RM-202 ------------------------------------------------------------------------------------------------------------


def test_labels_that_slipped_by_one_row_are_repaired_by_plus_one() -> None:
    made = make("D3")
    found = ask("RM-202", made.dataset, made.config)
    assert said(found) == "critical"
    shift = cause(found, "row_shift")
    assert shift.outcome == "supports"
    assert (shift.facts["rows_moved"], shift.facts["along"]) == (1, "file")
    # Score and label fit before the slip: the base generator has an AUC of about .77 with so little user effect.
    assert abs(shift.facts["auc_repaired"] - 0.77) < 0.02


@pytest.mark.parametrize("moved", [-3, -2, -1, 1, 2, 3])
def test_every_repair_is_the_auc_of_labels_that_were_really_moved(moved: int) -> None:
    rows = log(300, per_user=7, seed=3)
    for row in rows:
        row[3] = round(row[3], 1)
    data = dataset(rows)
    (subject,) = subjects(data, EvalConfig(), DiagnoseOptions(), None)
    repairs = {(along, k): auc for along, k, auc in _repairs(subject)}
    positive, score, user = subject.positive, subject.score, np.asarray(subject.user)
    along_file, _ = row_influence(np.roll(positive, -moved), score)
    in_users = positive.copy()
    for u in np.unique(user):
        in_users[user == u] = np.roll(positive[user == u], -moved)
    along_users, _ = row_influence(in_users, score)
    assert abs(repairs["file", moved] - along_file) < 1e-12
    assert abs(repairs["user", moved] - along_users) < 1e-12


@pytest.mark.parametrize(
    ("n", "auc", "severity"),
    [(1000, 0.5, "critical"), (501, 0.5, "critical"), (500, 0.5, "warning"), (10_000, 0.53, "passed")],
)
def test_chance_is_critical_with_many_rows_and_a_warning_with_few(n: int, auc: float, severity: str) -> None:
    # n positives and n negatives: 1002 rows are many, 1000 are not.
    assert said(ask("RM-202", with_auc(auc, n=n))) == severity


def test_a_weak_yet_real_order_is_a_warning_below_052() -> None:
    # 10,000 + 10,000 rows: SE ≈ .003, so .515 lies surely above chance.
    found = ask("RM-202", with_auc(0.515, n=10_000))
    assert (said(found), found.facts["contains_half"]) == ("warning", False)
    assert said(ask("RM-202", with_auc(0.525, n=10_000))) == "passed"


def test_shuffled_labels_under_a_probability_point_to_a_wrong_join() -> None:
    rng = np.random.default_rng(4)
    p = rng.beta(1, 9, 3000)
    found = ask("RM-202", labelled(rng.permuted(rng.random(3000) < p).astype(float), p))
    assert cause(found, "wrong_join").outcome == "supports"
    assert cause(found, "row_shift").outcome == "contradicts"
    assert cause(found, "constant_features").outcome == "contradicts"


def test_a_flat_probability_points_to_constant_features() -> None:
    rng = np.random.default_rng(4)
    p = 0.1 + 0.0001 * rng.random(3000)
    found = ask("RM-202", labelled((rng.random(3000) < 0.1).astype(float), p))
    assert cause(found, "constant_features").outcome == "supports"


def test_scores_on_a_scale_of_their_own_for_each_user_are_recognised() -> None:
    rng = np.random.default_rng(9)
    level = 100.0 * rng.permutation(200)
    label = (rng.random((200, 10)) < 0.3).astype(float)
    score = level[:, None] + label + rng.normal(size=(200, 10))
    rows = [(f"u{u}", f"i{i}", label[u, i], score[u, i]) for u in range(200) for i in range(10)]
    found = ask("RM-202", dataset(rows))
    assert said(found) == "critical"
    assert cause(found, "only_within_users").outcome == "supports"
    assert cause(found, "no_signal").outcome == "contradicts"


def test_a_score_without_any_signal_is_called_that() -> None:
    rng = np.random.default_rng(12)
    found = ask("RM-202", labelled((rng.random(3000) < 0.2).astype(float), rng.normal(size=3000)))
    assert [c.name for c in found.causes if c.outcome == "supports"] == ["no_signal"]
    assert cause(found, "wrong_join").facts == {"missing": "probability"}


# RM-203 ------------------------------------------------------------------------------------------------------------


def test_a_constant_score_is_critical_and_explains_what_follows_from_it() -> None:
    made = make("D2")
    found = ask("RM-203", made.dataset, made.config)
    assert (said(found), found.scope, found.facts["n_distinct"]) == ("critical", "file", 1)
    assert ask("RM-202", made.dataset, made.config).explained_by == "RM-203"
    assert ask("RM-402", made.dataset, made.config).explained_by == "RM-203"


def test_one_score_per_user_is_constant_inside_users() -> None:
    rows = [(f"u{u}", f"i{i}", float(i == u % 4), u / 50) for u in range(50) for i in range(4)]
    found = ask("RM-203", dataset(rows))
    assert (said(found), found.scope, found.facts["n_users"]) == ("critical", "user", 50)
    rows[0] = ("u0", "i0", 1.0, 0.5)
    assert said(ask("RM-203", dataset(rows))) == "passed"


def test_users_with_a_single_row_are_no_constant_lists() -> None:
    assert said(ask("RM-203", dataset([(f"u{u}", "i", float(u % 2), u / 50) for u in range(50)]))) == "passed"


def test_two_values_belong_to_the_check_of_hard_labels() -> None:
    data = labelled([1, 0] * 20, [1, 0] * 20)
    assert said(ask("RM-203", data)) == "passed"
    assert said(ask("RM-204", data)) == "warning"


def test_one_row_is_no_constant() -> None:
    assert ask("RM-203", labelled([1], [0.5])).reason == "fewer_than_two_rows"


# RM-204 ------------------------------------------------------------------------------------------------------------


def test_decisions_in_place_of_scores_are_a_warning() -> None:
    made = make("E4")
    found = ask("RM-204", made.dataset, made.config)
    assert (said(found), found.scope, found.facts["values"]) == ("warning", "two", [0.0, 1.0])
    assert sum(found.facts["counts"]) == made.dataset.n_rows
    assert cause(found, "decisions").outcome == "supports"


def test_two_other_values_point_to_rounding() -> None:
    assert cause(ask("RM-204", labelled([1, 0] * 20, [0.2, 0.7] * 20)), "rounding").outcome == "supports"


@pytest.mark.parametrize(("n_values", "severity"), [(2, "warning"), (3, "info"), (20, "info"), (21, "passed")])
def test_few_distinct_scores_are_graded(n_values: int, severity: str) -> None:
    found = ask("RM-204", labelled([i % 3 == 0 for i in range(210)], [i % n_values / 32 for i in range(210)]))
    assert (said(found), found.facts["n_distinct"]) == (severity, n_values)


def test_a_handful_of_rows_with_a_score_each_is_not_coarse() -> None:
    assert said(ask("RM-204", labelled([1, 0, 0, 1], [0.1, 0.2, 0.3, 0.4]))) == "passed"


# RM-205 ------------------------------------------------------------------------------------------------------------


def test_logits_declared_as_probabilities_are_critical_and_recognised() -> None:
    made = make("E5")
    found = ask("RM-205", made.dataset, made.config)
    assert said(found) == "critical"
    assert cause(found, "logits").outcome == "supports"
    assert found.facts["minimum"] < 0


@pytest.mark.parametrize(
    ("scores", "count"), [([0.0, 0.5, 1.0], 0), ([0.0, 0.5, 1.0000001], 1), ([-1e-9, 0.5, 3.0], 2)]
)
def test_scores_outside_the_unit_range_are_counted(scores: list[float], count: int) -> None:
    found = ask("RM-205", labelled([0, 1, 1], scores))
    assert (said(found), found.facts["count"]) == ("info" if count else "passed", count)


def test_a_headline_that_reads_probabilities_makes_raw_scores_critical() -> None:
    data = labelled([0, 1, 1], [-1.0, 0.5, 3.0])
    for metric in ("log_loss", "brier", "ece", "calibration_ratio", "normalized_entropy"):
        assert said(ask("RM-205", data, headline=(metric,))) == "critical"
    assert said(ask("RM-205", data, headline=("roc_auc", "ndcg@10"))) == "info"
    assert said(ask("RM-205", data, EvalConfig(stage="ctr"))) == "critical"


def test_a_declared_raw_score_is_as_declared() -> None:
    assert said(ask("RM-205", labelled([0, 1], [-1.0, 3.0]), EvalConfig(score_kind="raw"))) == "passed"


# RM-208 ------------------------------------------------------------------------------------------------------------


def sure(n_wrong: int, p: float = 1e-6, n: int = 400) -> Dataset:
    """Return moderate probabilities that are right, and some positives that were given nearly no chance."""
    score = [0.25] * n + [p] * n_wrong
    label = [float(i % 4 == 0) for i in range(n)] + [1.0] * n_wrong
    return labelled(label, score)


def test_a_default_probability_among_the_scores_is_a_warning_and_is_named() -> None:
    made = make("E8")
    found = ask("RM-208", made.dataset, made.config)
    assert said(found) == "warning"
    default = cause(found, "default_value")
    assert (default.outcome, default.facts["value"]) == ("supports", 1e-6)


def test_five_impossible_positives_are_a_warning_and_four_are_not() -> None:
    found = ask("RM-208", sure(5))
    assert (said(found), found.facts["n_wrong"]) == ("warning", 5)
    # Five rows of 10⁻⁶ are expected to hold 5·10⁻⁶ positives; P(≥ 5) ≈ (5·10⁻⁶)⁵/5!.
    assert abs(found.facts["expected"] - 5e-6) < 1e-18
    assert abs(found.facts["p_poisson"] / ((5e-6) ** 5 / 120) - 1) < 1e-4
    assert said(ask("RM-208", sure(4))) == "passed"


def test_extremes_that_are_right_as_often_as_they_say_are_silent() -> None:
    # 10,000 rows of .0008 hold 8 positives.
    label = [1.0] * 8 + [0.0] * 9992 + [1.0, 0.0]
    assert said(ask("RM-208", labelled(label, [0.0008] * 10_000 + [0.5, 0.4]))) == "passed"


def test_certain_and_wrong_rows_are_a_hint_unless_log_loss_matters() -> None:
    data = sure(2, p=0.0)
    assert (said(ask("RM-208", data)), ask("RM-208", data).facts["count"]) == ("info", 2)
    assert said(ask("RM-208", data, EvalConfig(score_kind="probability"))) == "critical"
    assert said(ask("RM-208", data, headline=("log_loss",))) == "critical"


def test_wrong_rows_with_many_values_point_to_overconfidence() -> None:
    score = [0.25] * 400 + [i * 1e-5 for i in range(1, 11)]
    label = [float(i % 4 == 0) for i in range(400)] + [1.0] * 10
    assert cause(ask("RM-208", labelled(label, score)), "overconfident").outcome == "supports"


def test_the_share_of_log_loss_is_that_of_the_wrong_rows() -> None:
    # One row of p = 10⁻³ and label 1 loses ln 1000; ten rows of .5 lose ln 2 each; zero expected rows are .001.
    data = labelled([1.0] + [0.0, 1.0] * 5, [0.0] + [0.5] * 10)
    found = ask("RM-208", data, EvalConfig(log_loss_clip=1e-3))
    expected = np.log(1000) / (np.log(1000) + 10 * np.log(2))
    assert abs(found.facts["share_of_log_loss"] - expected) < 1e-12


@pytest.mark.parametrize("config", [EvalConfig(score_kind="raw"), EvalConfig(score_direction="lower")])
def test_raw_scores_are_never_too_sure(config: EvalConfig) -> None:
    assert ask("RM-208", sure(9), config).reason == "not_probability"
