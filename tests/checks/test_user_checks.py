"""RM-702 and RM-704: AUC against GAUC, and segments too small to be judged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recmetrics.checks.subject import subjects
from recmetrics.checks.users import _gap
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.diagnose import DiagnoseOptions, diagnose
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, cause, lists, log, said


def two_kinds(n_users: int, between: float, within: float, seed: int = 0) -> Dataset:
    """Return users with many or few clicks; the score knows the kind of user by `between`, the item by `within`."""
    rng = np.random.default_rng(seed)
    rows = []
    for u in range(n_users):
        busy = u % 2
        label = (rng.random(20) < (0.5 if busy else 0.1)).astype(float)
        label[:2] = [1.0, 0.0]
        score = between * busy + within * label + rng.normal(size=20)
        rows += [(f"u{u}", f"i{i}", label[i], score[i]) for i in range(20)]
    return dataset(rows)


def test_a_score_that_knows_who_clicks_is_critical() -> None:
    made = make("D18")
    found = ask("RM-702", made.dataset, made.config)
    assert (said(found), found.scope) == ("critical", "pooled_higher")
    assert cause(found, "knows_who_clicks").outcome == "supports"
    assert found.facts["gap_low"] > 0.1
    # Each of 1500 users holds about 1/1500 of all pairs.
    assert found.facts["w_in"] < 0.01


def test_a_moderate_gap_is_a_warning_and_a_small_one_is_silent() -> None:
    assert said(ask("RM-702", two_kinds(400, 1.5, 0.8))) == "warning"
    silent = ask("RM-702", two_kinds(400, 0.3, 0.8))
    assert said(silent) == "passed"
    assert silent.facts["gap"] < 0.06


def test_a_gap_is_no_warning_with_fewer_than_fifty_users() -> None:
    enough, few = (ask("RM-702", two_kinds(n_users, 2.0, 0.6)) for n_users in (50, 49))
    assert (said(enough), said(few)) == ("warning", "passed")
    assert min(enough.facts["gap_low"], few.facts["gap_low"]) > 0.04
    assert min(enough.facts["gauc"], few.facts["gauc"]) > 0.55


def test_a_gauc_above_the_auc_means_scores_of_another_scale_for_each_user() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for u in range(200):
        label = (rng.random(20) < 0.3).astype(float)
        score = rng.normal(0, 3) + label + rng.normal(size=20)
        rows += [(f"u{u}", f"i{i}", label[i], score[i]) for i in range(20)]
    found = ask("RM-702", dataset(rows))
    assert (said(found), found.scope) == ("warning", "pooled_lower")
    assert found.facts["gap_high"] < -0.04
    assert cause(found, "comparable_within_users_only").outcome == "supports"


def test_the_gap_has_the_joint_interval_of_its_two_parts() -> None:
    # Two users of two rows each. u0: 1 at 4, 0 at 3; u1: 1 at 1, 0 at 2. AUC: pairs 4>3, 4>2, 1>3, 1>2 → 1/2.
    # GAUC: (1 + 0)/2 = 1/2. AUC by user: V10 of the positives 1, 0; V01 of the negatives 1/2, 1/2. ψ = (V10−A)/2 and
    # (V01−A)/2: g = (1/4, −1/4). GAUC: 2(v−1/2)/4 = (1/4, −1/4). The difference moves with neither user: SE 0.
    (subject,) = subjects(lists([1, 0], [1, 0], scores=[[4, 3], [1, 2]]), EvalConfig(), DiagnoseOptions(), None)
    gap, low, high = _gap(subject)
    assert max(abs(gap), abs(low), abs(high)) < 1e-12
    # With u1's rows at 3.5 (1) and 2 (0) both parts of the order are right but for 3.5 > 3: AUC 1, GAUC 1.
    (subject,) = subjects(lists([1, 0], [1, 0], scores=[[4, 3], [2.5, 2]]), EvalConfig(), DiagnoseOptions(), None)
    gap, low, high = _gap(subject)
    # Now 2.5 < 3: AUC 3/4, GAUC 1. V10 1, 1/2; V01 1/2, 1. ψ: u0 1/8 − 1/8, u1 −1/8 + 1/8: g = 0 for both.
    assert abs(gap + 0.25) < 1e-12
    assert math.isclose(low, high)


@pytest.mark.parametrize(("n_both", "reason"), [(9, "few_users_both_classes"), (10, None)])
def test_the_gap_needs_ten_users_with_both_classes(n_both: int, reason: str | None) -> None:
    data = lists(*[[1, 0, 0, 1]] * n_both, *[[0, 0, 0]] * 20, *[[1, 1, 1]] * 5)
    assert ask("RM-702", data).reason == reason


def test_the_gap_needs_thirty_rows_of_each_class_and_users() -> None:
    assert ask("RM-702", lists(*[[1, 0, 0, 0]] * 29)).reason == "few_30"
    assert ask("RM-702", lists(*[[1, 0, 0, 0]] * 30)).reason is None
    assert ask("RM-702", labelled([1, 0], [0.1, 0.2])).reason == "no_column:user"
    # One item per user: nobody has both classes.
    assert ask("RM-702", lists(*[[1]] * 40, *[[0]] * 40)).reason == "few_users_both_classes"


def test_equal_weights_that_hide_the_gap_are_told_apart_from_a_blind_score() -> None:
    found = ask("RM-702", two_kinds(400, 1.5, 0.8))
    assert cause(found, "weights").outcome == "contradicts"
    assert cause(found, "knows_who_clicks").facts["auc_of_user_mean"] < found.facts["auc"]


# RM-704 ------------------------------------------------------------------------------------------------------------


def segmented(**sizes: tuple[int, int]) -> Dataset:
    """Return rows of segments with so many positives and negatives."""
    rows, names = [], []
    for name, (n_positives, n_negatives) in sizes.items():
        for i in range(n_positives + n_negatives):
            rows.append(("u", f"{name}{i}", float(i < n_positives), -i / 7))
            names.append(name)
    return dataset(rows, segments={"device": names})


def test_a_segment_below_thirty_of_a_class_is_listed_as_a_hint() -> None:
    found = ask("RM-704", segmented(tv=(29, 30), web=(30, 30)))
    assert (said(found), found.scope) == ("info", "device")
    assert (found.facts["segments"], found.facts["segment"], found.facts["n_one_class"]) == (["tv"], "tv", 0)


def test_thirty_of_each_class_are_enough() -> None:
    assert said(ask("RM-704", segmented(tv=(30, 30), web=(30, 30)))) == "passed"


def test_the_smallest_segment_stands_first_and_one_class_is_counted() -> None:
    facts = ask("RM-704", segmented(a=(20, 90), b=(0, 90), c=(90, 5), d=(90, 90))).facts
    assert (facts["segments"], facts["count"], facts["n_segments"], facts["n_one_class"]) == (["b", "c", "a"], 3, 4, 1)
    assert "segment" not in facts


def test_every_segment_column_is_looked_at() -> None:
    rows = log(400)
    columns = {"city": ["a"] * 400, "day": ["x"] * 20 + ["y"] * 380}
    found = [f for f in diagnose(dataset(rows, segments=columns)) if f.code == "RM-704"]
    assert [(f.scope, f.status) for f in found] == [("city", "passed"), ("day", "fired")]


def test_without_a_segment_column_nothing_is_small() -> None:
    assert ask("RM-704", dataset(log(40))).reason == "no_column:segment"
