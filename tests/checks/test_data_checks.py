"""RM-1xx: each check fires, is silent one step inside its limit, and says when it does not apply."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, cause, log, said

DROP = EvalConfig(missing_scores="drop")


def without_scores(n_missing: int, n: int = 4000, where: int | None = None) -> Dataset:
    """Return rows of which the first ones (with label `where`) have no score."""
    rows = log(n)
    chosen = [i for i in range(n) if where is None or rows[i][2] == where][:n_missing]
    for i in chosen:
        rows[i][3] = None
    return dataset(rows)


# RM-101 ------------------------------------------------------------------------------------------------------------


def test_two_percent_missing_scores_are_a_warning_with_their_count() -> None:
    made = make("E1")
    found = ask("RM-101", made.dataset, made.config)
    assert said(found) == "warning"
    assert found.facts["count"] == int(np.isnan(made.dataset.scores["score"]).sum()) > 400
    assert found.facts["treatment"] == "drop"


@pytest.mark.parametrize(
    ("n_missing", "severity"),
    # Limits .1 % and 5 % of 4000 rows are 4 and 200.
    [(0, "passed"), (1, "info"), (4, "info"), (5, "warning"), (200, "warning"), (201, "critical")],
)
def test_missing_scores_are_graded_by_their_share(n_missing: int, severity: str) -> None:
    data = without_scores(n_missing)
    assert said(ask("RM-101", data)) == severity
    assert ask("RM-101", data).facts["count"] == n_missing


def test_declared_missing_scores_are_counted_and_never_critical() -> None:
    found = ask("RM-101", without_scores(201), DROP)
    assert said(found) == "warning"
    assert found.facts["count"] == 201


@pytest.mark.parametrize(("n_missing", "severity"), [(29, "warning"), (30, "critical")])
def test_scores_missing_among_positives_only_are_critical_from_thirty_on(n_missing: int, severity: str) -> None:
    found = ask("RM-101", without_scores(n_missing, where=1))
    assert said(found) == severity
    assert (cause(found, "selection").outcome == "supports") == (severity == "critical")


def test_infinite_scores_are_counted_apart() -> None:
    rows = log(100)
    rows[3][3], rows[7][3], rows[8][3] = float("inf"), float("-inf"), None
    found = ask("RM-101", dataset(rows))
    assert (found.facts["count"], found.facts["count_infinite"]) == (1, 2)
    assert found.evidence[0].facts == {"row_numbers": [4, 8, 9]}


def test_scores_missing_in_one_segment_name_it() -> None:
    rows = log(400)
    city = ["paris" if i % 10 == 0 else "rome" for i in range(400)]
    for i in range(0, 200, 10):
        rows[i][3] = None
    found = ask("RM-101", dataset(rows, segments={"city": city}))
    named = cause(found, "one_segment")
    assert named.outcome == "supports"
    assert (named.facts["column"], named.facts["segment"]) == ("city", "paris")
    assert cause(found, "new_users").facts == {"missing": "train"}


def test_scores_missing_for_users_that_training_never_saw_point_to_a_default() -> None:
    rows = log(400)
    for i in range(40):
        rows[i][3] = None
    found = ask("RM-101", dataset(rows, train=[(f"u{u}", "i1", 1.0) for u in range(4, 40)]))
    assert cause(found, "new_users").outcome == "supports"


def test_without_a_score_column_there_is_nothing_to_miss() -> None:
    found = ask("RM-101", dataset([("u", "i", 1.0)], scores={}))
    assert (found.status, found.reason) == ("not_applicable", "no_column:score")


# RM-102 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_missing", "severity"),
    [(0, "passed"), (1, "info"), (2, "info"), (3, "warning"), (100, "warning"), (101, "critical")],
)
def test_missing_ids_are_graded_by_their_share(n_missing: int, severity: str) -> None:
    rows = log(2000)
    for i in range(n_missing):
        rows[i][0 if i % 2 else 1] = None
    found = ask("RM-102", dataset(rows))
    assert said(found) == severity
    assert found.facts["count"] == n_missing
    assert found.facts["count_user"] + found.facts["count_item"] == n_missing


def test_a_row_without_user_and_item_counts_once() -> None:
    rows = log(100)
    rows[5][0] = rows[5][1] = None
    facts = ask("RM-102", dataset(rows)).facts
    assert (facts["count"], facts["count_user"], facts["count_item"]) == (1, 1, 1)


def test_without_id_columns_no_id_is_missing() -> None:
    found = ask("RM-102", labelled([1, 0], [0.3, 0.2]))
    assert (found.status, found.reason) == ("not_applicable", "no_column:user")


# RM-104 ------------------------------------------------------------------------------------------------------------


def repeated(n_copies: int, n: int = 2000, flip: bool = False) -> Dataset:
    rows = log(n)
    copies = [list(row) for row in rows[:n_copies]]
    for copy in copies:
        if flip:
            copy[2] = 1.0 - copy[2]
    return dataset(rows + copies)


def test_one_percent_of_repeated_rows_is_a_warning() -> None:
    made = make("E3")
    found = ask("RM-104", made.dataset, made.config)
    assert said(found) == "warning"
    assert found.facts["count"] == len(made.dataset.surplus_rows) > 200
    assert found.facts["conflicting"] == 0


@pytest.mark.parametrize(
    ("n_copies", "severity"),
    # A copy makes two rows of a group: 2 of 2001 rows are .0999…%, 4 of 2002 more.
    [(0, "passed"), (1, "info"), (2, "warning")],
)
def test_repeated_rows_are_graded_by_the_share_of_rows_in_groups(n_copies: int, severity: str) -> None:
    assert said(ask("RM-104", repeated(n_copies))) == severity


@pytest.mark.parametrize(("n_copies", "severity"), [(2, "warning"), (3, "critical")])
def test_contradicting_copies_are_critical_above_one_in_a_thousand(n_copies: int, severity: str) -> None:
    # 2 of 2002 is below .1 %, 3 of 2003 above.
    found = ask("RM-104", repeated(n_copies, flip=True))
    assert said(found) == severity
    assert found.facts["conflicting"] == n_copies
    assert cause(found, "several_events").outcome == "supports"
    assert cause(found, "join").outcome == "contradicts"


def test_identical_copies_of_one_size_point_to_a_join() -> None:
    found = ask("RM-104", repeated(5))
    assert cause(found, "join").outcome == "supports"
    assert found.causes[0].name == "join"
    assert found.facts["largest_group"] == 2


def test_copies_with_other_scores_point_to_mixed_versions() -> None:
    rows = log(100)
    rows.append([*rows[0][:3], 9.0])
    assert cause(ask("RM-104", dataset(rows)), "versions").outcome == "supports"


def test_declared_repeat_consumption_is_no_fault() -> None:
    found = ask("RM-104", repeated(3, flip=True), repeat_consumption=True)
    assert said(found) == "info"


def test_with_repeat_consumption_and_times_only_the_same_moment_repeats() -> None:
    rows = [("u", "i", 1.0, 0.1), ("u", "i", 0.0, 0.2), ("u", "i", 0.0, 0.3), ("v", "i", 1.0, 0.4)]
    found = ask("RM-104", dataset(rows, values={"time": [1, 2, 2, 1]}), repeat_consumption=True)
    assert (found.facts["count"], found.facts["n_groups"], found.facts["conflicting"]) == (1, 1, 0)


def test_three_copies_are_one_group_with_two_surplus_rows() -> None:
    facts = ask("RM-104", dataset([("u", "i", 1.0, 0.1)] * 3 + [("v", "i", 0.0, 0.2)])).facts
    assert (facts["count"], facts["n_groups"], facts["largest_group"], facts["n"]) == (2, 1, 3, 4)


def test_rows_without_an_id_never_repeat() -> None:
    assert (
        ask("RM-104", dataset([(None, "i", 1.0, 0.1), (None, "i", 0.0, 0.2), ("v", "i", 0.0, 0.2)])).facts["count"] == 0
    )


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([(None, "i", 1.0, 0.1)], "no_column:user"), ([("u", None, 1.0, 0.1)], "no_column:item")],
)
def test_repeated_pairs_need_users_and_items(
    rows: list[tuple[str | None, str | None, float, float]], reason: str
) -> None:
    assert ask("RM-104", dataset(rows)).reason == reason


# RM-105 ------------------------------------------------------------------------------------------------------------


def truth_and_run(n_both: int, n_only_run: int, n_only_truth: int) -> Dataset:
    run = [(f"u{u}", f"i{i}", float(i == 0), -float(i)) for u in range(n_both + n_only_run) for i in range(3)]
    judged = [*range(n_both), *range(n_both + n_only_run, n_both + n_only_run + n_only_truth)]
    return dataset(run, truth=[(f"u{u}", "i0", 1.0) for u in judged])


@pytest.mark.parametrize(
    ("sizes", "severity"),
    # Shares of the union of 200 users: 0, 2 (1 %), 3, 40 (20 %), 41.
    [
        ((200, 0, 0), "passed"),
        ((199, 1, 0), "info"),
        ((198, 1, 1), "info"),
        ((197, 2, 1), "warning"),
        ((160, 20, 20), "warning"),
        ((159, 20, 21), "critical"),
    ],
)
def test_users_of_one_file_only_are_graded_by_their_share(sizes: tuple[int, int, int], severity: str) -> None:
    found = ask("RM-105", truth_and_run(*sizes))
    assert said(found) == severity
    facts = found.facts
    assert (facts["n_both"], facts["n_only_run"], facts["n_only_truth"]) == sizes


def test_a_declared_population_makes_absent_users_a_hint() -> None:
    found = ask("RM-105", truth_and_run(100, 50, 50), EvalConfig(user_base="truth_and_run"))
    assert said(found) == "info"


def test_models_in_files_of_their_own_are_compared_by_users() -> None:
    rows = log(2000)
    held = [i >= 30 for i in range(2000)]
    scores = {"a": [row[3] for row in rows], "b": [row[3] if h else None for row, h in zip(rows, held, strict=True)]}
    found = ask("RM-105", dataset([row[:3] for row in rows], scores=scores, scored={"b": held}))
    assert (said(found), found.facts["count"], found.facts["n"], found.facts["compared"]) == (
        "warning",
        3,
        200,
        "models",
    )


def test_one_file_has_nothing_to_compare() -> None:
    assert ask("RM-105", dataset(log(20))).reason == "one_file"
    assert ask("RM-105", labelled([1, 0], [0.1, 0.2])).reason == "no_column:user"


# RM-106 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "only"), [(0.0, 0), (1.0, 1)])
def test_one_class_is_critical_and_named(label: float, only: int) -> None:
    found = ask("RM-106", labelled([label] * 5, [0.1, 0.2, 0.3, 0.4, 0.5]))
    assert said(found) == "critical"
    assert found.facts["class"] == only
    assert cause(found, "constant_label").outcome == "supports"


def test_one_positive_is_enough_for_two_classes() -> None:
    assert said(ask("RM-106", labelled([0, 0, 1], [0.1, 0.2, 0.3]))) == "passed"


def test_a_positive_rule_that_empties_a_class_is_named() -> None:
    found = ask("RM-106", labelled([1, 2, 3], [0.1, 0.2, 0.3]), EvalConfig(relevance_threshold=4))
    assert cause(found, "positive_rule").outcome == "supports"
    assert found.evidence[0].facts == {"values": [1, 2, 3], "counts": [1, 1, 1]}


def test_a_truth_of_relevant_items_only_is_a_hint_because_lists_can_be_judged() -> None:
    run = [(f"u{u}", f"i{i}", 1.0 if i == 2 else None, -float(i)) for u in range(40) for i in range(5)]
    found = ask("RM-106", dataset(run, truth=[(f"u{u}", "i2", 1.0) for u in range(40)]))
    assert (said(found), found.scope, found.facts["class"], found.facts["n_unjudged"]) == (
        "info",
        "relevant_only",
        1,
        160,
    )
    assert said(ask("RM-106", dataset([row for row in run if row[2]], truth=[("u0", "i2", 1.0)]))) == "critical"


def test_without_labels_there_is_no_class() -> None:
    assert ask("RM-106", labelled([None, None], [0.1, 0.2])).reason == "no_column:label"


# RM-107 ------------------------------------------------------------------------------------------------------------


def rows_of_classes(n_positives: int, n_negatives: int, n_users: int | None = None) -> Dataset:
    n = n_positives + n_negatives
    users = [None if n_users is None else f"u{i % n_users}" for i in range(n)]
    return dataset([(users[i], f"i{i}" if n_users else None, float(i < n_positives), -float(i)) for i in range(n)])


@pytest.mark.parametrize(
    ("n_positives", "n_negatives", "n_users", "severity"),
    [
        (100, 100, 100, "passed"),
        (99, 100, 100, "info"),
        (100, 100, 99, "info"),
        (30, 100, 30, "info"),
        (29, 100, 100, "warning"),
        (100, 29, 100, "warning"),
        (100, 100, 29, "warning"),
        (100, 100, None, "passed"),
        (29, 100, None, "warning"),
    ],
)
def test_few_users_positives_or_negatives_are_graded(
    n_positives: int, n_negatives: int, n_users: int | None, severity: str
) -> None:
    found = ask("RM-107", rows_of_classes(n_positives, n_negatives, n_users))
    assert said(found) == severity
    assert ("n_users" in found.facts) == (n_users is not None)


def test_few_rows_carry_interval_exact_test_and_detectable_difference() -> None:
    # The ten rows of the golden file: AUC 19/25, exact two-sided p 2/9, DeLong SE .164924, 2.8015852·SE.
    label = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
    score = [0.9, 0.8, 0.75, 0.68, 0.55, 0.5, 0.42, 0.35, 0.2, 0.1]
    facts = ask("RM-107", labelled(label, score)).evidence[0].facts
    assert abs(facts["auc"] - 0.76) < 1e-12
    assert abs(facts["p_exact"] - 2 / 9) < 1e-12
    assert abs(facts["mde"] - 2.8015852181 * 0.164924225025) < 1e-9


def test_d23_is_too_small_and_its_equal_precision_and_recall_only_a_consequence() -> None:
    made = make("D23")
    assert said(ask("RM-107", made.dataset, made.config)) == "warning"
    assert ask("RM-302", made.dataset, made.config, scope="threshold").explained_by == "RM-107"


def test_an_absent_class_is_no_matter_of_size() -> None:
    assert said(ask("RM-107", labelled([1] * 100, [i / 100 for i in range(100)]))) == "passed"
    assert said(ask("RM-107", labelled([1] * 29, [i / 100 for i in range(29)]))) == "warning"


# RM-109 ------------------------------------------------------------------------------------------------------------


def without_labels(n_missing: int, n: int = 2000, **columns: Any) -> Dataset:
    rows = log(n)
    for i in range(n_missing):
        rows[n - 1 - i][2] = None
    return dataset(rows, **columns)


@pytest.mark.parametrize(
    ("n_missing", "severity"),
    [(0, "passed"), (1, "info"), (2, "info"), (3, "warning"), (100, "warning"), (101, "critical")],
)
def test_missing_labels_are_graded_by_their_share(n_missing: int, severity: str) -> None:
    found = ask("RM-109", without_labels(n_missing))
    assert (said(found), found.facts["count"]) == (severity, n_missing)


def test_unjudged_candidates_are_a_hint() -> None:
    assert said(ask("RM-109", without_labels(500), EvalConfig(unjudged="skip"))) == "info"
    assert said(ask("RM-109", without_labels(500, truth=[("u0", "i0", 1.0)]))) == "info"


def test_labels_missing_on_the_last_day_are_not_mature() -> None:
    time = [i / 400 for i in range(2000)]
    found = ask("RM-109", without_labels(60, values={"time": time}))
    assert cause(found, "not_mature").outcome == "supports"
    assert cause(ask("RM-109", without_labels(60)), "not_mature").facts == {"missing": "time"}
