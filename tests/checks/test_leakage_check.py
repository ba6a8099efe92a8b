"""RM-501: an AUC too good to be true, and the tests that tell a leak from an easy task."""

from __future__ import annotations

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, cause, said


def with_auc(auc: float, n: int = 2000) -> Dataset:
    """Return n negatives at 0 … n−1 and n positives of which a share `auc` beats all of them and the rest none."""
    wins = round(auc * n)
    return labelled([0] * n + [1] * n, [*range(n), *range(n + 1, n + 1 + wins), *range(-1, wins - n - 1, -1)])


def test_a_coherent_leak_is_critical_confirmed_and_called_coherent() -> None:
    made = make("D1")
    found = ask("RM-501", made.dataset, made.config)
    assert said(found) == "critical"
    assert found.facts["confirmed"] is True
    assert cause(found, "coherent").outcome == "supports"
    assert cause(found, "late_information").outcome == "contradicts"
    assert cause(found, "late_feature").facts == {"missing": "features"}


@pytest.mark.parametrize(
    ("auc", "severity"),
    [(0.899, "passed"), (0.9, "passed"), (0.9005, "warning"), (0.95, "warning"), (0.9505, "critical")],
)
def test_a_high_auc_is_graded_by_the_handbooks_limits(auc: float, severity: str) -> None:
    found = ask("RM-501", with_auc(auc))
    assert abs(found.facts["auc"] - auc) < 1e-9
    assert said(found) == severity


def test_a_warning_is_confirmed_when_the_lower_bound_passes_the_same_limit() -> None:
    # SE = √(A(1−A)/n): .0056 at .93 and 2000 positives, so the bound is .918; at 100 positives it is below .9.
    assert ask("RM-501", with_auc(0.93)).facts["confirmed"] is True
    assert ask("RM-501", with_auc(0.93, n=100)).facts["confirmed"] is False


def test_gauc_counts_when_it_is_larger_and_rests_on_fifty_users() -> None:
    def perfect_inside(n_users: int) -> Dataset:
        # Inside a user the positive is always first; across users the scores are unrelated.
        level = np.random.default_rng(3).permutation(n_users) * 10.0
        return dataset([(f"u{u}", f"i{i}", float(i == 0), level[u] - i) for u in range(n_users) for i in range(4)])

    found = ask("RM-501", perfect_inside(50))
    assert (said(found), found.facts["measure"], found.facts["measured"]) == ("critical", "gauc", 1.0)
    assert found.facts["auc"] < 0.9
    assert said(ask("RM-501", perfect_inside(49))) == "passed"


def test_few_data_explain_a_high_auc_only_while_its_bound_does_not_pass() -> None:
    wide = ask("RM-501", with_auc(0.93, n=28))
    assert (wide.status, wide.explained_by) == ("explained", "RM-107")
    sure = ask("RM-501", with_auc(1.0, n=29))
    # 29 + 29 rows in perfect order: too few for a bound above .9.
    assert sure.explained_by == "RM-107"
    uneven = labelled(
        [0] * 3000 + [1] * 25, [i / 3100 for i in range(2995)] + [2.0] * 5 + [1.5 + i / 100 for i in range(25)]
    )
    assert ask("RM-501", uneven).status == "fired"
    assert ask("RM-107", uneven).is_alarm


def probabilities(stretch: float, step: float = 0.0, spread: float = 3.0) -> Dataset:
    """Return labels drawn from logits, and the logistic of the stretched logits as the score."""
    rng = np.random.default_rng(8)
    logit = rng.normal(-2.0, spread, 6000)
    label = (rng.random(6000) < 1 / (1 + np.exp(-logit))).astype(float)
    return labelled(label, 1 / (1 + np.exp(-(stretch * logit + step))))


def test_an_order_better_than_the_score_claims_points_to_late_information() -> None:
    # Positives get about .22 and negatives .12: the order is perfect, the claim next to nothing. Thirty rows are quite
    # sure and wrong, which bends the calibration slope below 1, so timidity is no excuse.
    rng = np.random.default_rng(1)
    label = (rng.random(6000) < 0.1).astype(float)
    score = np.where(label == 1, 0.2, 0.1) + 0.04 * rng.random(6000)
    score[:30] = np.where(label[:30] == 1, 1e-12, 1 - 1e-12)
    found = ask("RM-501", labelled(label, score))
    late = cause(found, "late_information")
    assert late.facts["slope"] < 1
    assert late.outcome == "supports"


def test_an_underconfident_score_may_beat_its_claim_honestly() -> None:
    found = ask("RM-501", probabilities(0.2))
    late = cause(found, "late_information")
    # Logits shrunk to a fifth: the slope of the repair is about 5.
    assert late.facts["auc"] - late.facts["implied_auc"] > late.facts["tolerance"]
    assert late.facts["slope"] > 4
    assert late.outcome == "contradicts"


def test_a_score_that_claims_more_than_it_holds_is_overconfident() -> None:
    assert cause(ask("RM-501", probabilities(4.0, spread=2.8)), "overconfident").outcome == "supports"


def test_raw_scores_claim_nothing() -> None:
    found = ask("RM-501", with_auc(0.93))
    assert cause(found, "coherent").facts == {"missing": "probability"}


def test_a_pure_top_percent_is_told() -> None:
    top = cause(ask("RM-501", with_auc(0.93)), "pure_top")
    # 4000 rows: the 40 best are positives.
    assert (top.outcome, top.facts) == ("supports", {"precision_of_top": 1.0, "n_top": 40})
    mixed = with_auc(0.93).scores["score"].copy()
    mixed[0] = 1e6
    found = ask("RM-501", labelled([0] * 2000 + [1] * 2000, mixed))
    assert cause(found, "pure_top").outcome == "contradicts"


def test_a_score_value_that_occurs_with_positives_only_gives_the_label_away() -> None:
    rng = np.random.default_rng(1)
    label = np.arange(3000) % 10 == 0
    score = np.where(label & (np.arange(3000) % 20 == 0), 0.75, rng.random(3000) * 0.3 + 0.25 * label)
    found = ask("RM-501", labelled(label.astype(float), score))
    telling = cause(found, "telling_values")
    assert telling.outcome == "supports"
    assert telling.facts == {"n_values": 1, "share_of_positives": 0.5}


def test_the_segment_that_leaks_is_named() -> None:
    rng = np.random.default_rng(2)
    label = np.arange(4000) % 5 == 0
    leaks = np.arange(4000) % 4 != 0
    score = np.where(leaks, label * 1.0 + 0.2 * rng.random(4000), 0.3 * rng.random(4000) + 0.1 * label)
    rows = [(f"u{i // 20}", f"i{i % 20}", float(label[i]), score[i]) for i in range(4000)]
    found = ask("RM-501", dataset(rows, segments={"source": ["new" if x else "old" for x in leaks]}))
    named = cause(found, "one_segment")
    assert (named.outcome, named.facts["segment"], named.facts["auc_segment"]) == ("supports", "new", 1.0)


def test_pairs_known_from_training_are_left_out_as_a_test() -> None:
    rng = np.random.default_rng(2)
    rows = [(f"u{i // 20}", f"i{i % 20}", float(i % 4 == 0), 0.0) for i in range(4000)]
    # Half of the positives were trained on and score far above all others.
    known = [i % 8 == 0 for i in range(4000)]
    rows = [
        (user, item, label, float(rng.normal()) + 0.5 * label + 9 * known[i])
        for i, (user, item, label, _) in enumerate(rows)
    ]
    train = [(*rows[i][:2], 1.0) for i in range(4000) if known[i]]
    data = dataset(rows, train=train)
    assert said(ask("RM-501", data)) == "passed"
    found = ask("RM-501", data, limits={"RM-501": {"warning": 0.8}})
    overlap = cause(found, "train_overlap")
    assert (overlap.outcome, overlap.facts["n_shared"]) == ("supports", 500)
    assert overlap.facts["auc_rest"] < 0.7
    # Shared negatives (shown again, again ignored) are no overlap.
    shown_again = [(*row[:2], 0.0) for row in rows if row[2] == 0]
    found = ask("RM-501", dataset(rows, train=shown_again), limits={"RM-501": {"warning": 0.8}})
    assert cause(found, "train_overlap").facts["n_shared"] == 0


def test_one_class_has_no_auc() -> None:
    assert ask("RM-501", labelled([0, 0], [0.1, 0.2]), EvalConfig()).reason == "one_class"
