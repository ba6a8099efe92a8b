"""The pooled AUC splits exactly into pairs within users and pairs across users."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.decomposition import UserSplit, split_by_users
from recmetrics.engines import NumpyEngine
from tests import build

# `auc_decomposition` of the specification's diagnostics_golden.json: 13 rows, 3 users, two models.
USER = [1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3]
LABEL = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
A = [4, 2, 6, 1, 9, 5, 9, 5, 6, 3, 6, 9, 2]
B = [8, 8, 6, 8, 7, 7, 8, 4, 9, 5, 3, 6, 2]


def golden(scores: list[int], users: list[int | None] | None = None) -> Dataset:
    rows = zip(users or USER, range(13), LABEL, scores, strict=True)
    return build.dataset([(user, f"i{item}", label, score) for user, item, label, score in rows])


def split(data: Dataset) -> UserSplit:
    engine, config = NumpyEngine(), EvalConfig()
    judged = engine.hit_table(data, config, data.models[0], labelled_only=True)
    return split_by_users(judged, engine.score_table(data, config, data.models[0]), config)


def by_pairs(users: list[int | None], scores: list[float]) -> dict[str, float]:
    """Count every pair: the definition, written out."""
    won = {"within": Fraction(0), "across": Fraction(0)}
    pairs = {"within": 0, "across": 0}
    for i, j in product(range(len(LABEL)), repeat=2):
        if LABEL[i] == 1 and LABEL[j] == 0:
            side = "within" if users[i] is not None and users[i] == users[j] else "across"
            pairs[side] += 1
            won[side] += Fraction(int(scores[i] > scores[j])) + Fraction(int(scores[i] == scores[j]), 2)
    return {
        "w_in": pairs["within"] / sum(pairs.values()),
        **{side: float(won[side] / pairs[side]) for side in won},
    }


@pytest.mark.parametrize(
    ("scores", "auc", "w_in", "within", "across"),
    [(A, 13 / 21, 2 / 7, 3 / 4, 17 / 30), (B, 29 / 42, 2 / 7, 5 / 8, 43 / 60)],
)
def test_the_golden_rows_split_as_the_specification_says(
    scores: list[int], auc: float, w_in: float, within: float, across: float
) -> None:
    found = split(golden(scores))
    assert (found.auc, found.w_in, found.within, found.across) == pytest.approx((auc, w_in, within, across), abs=1e-12)


def test_the_difference_of_two_models_is_the_sum_of_its_two_parts() -> None:
    a, b = split(golden(A)), split(golden(B))
    within = a.w_in * (b.within - a.within)
    across = (1 - a.w_in) * (b.across - a.across)
    assert (within, across) == pytest.approx((-1 / 28, 3 / 28), abs=1e-12)
    assert within + across == pytest.approx(b.auc - a.auc, abs=1e-12)


def test_the_split_equals_a_count_of_every_pair_also_for_rows_without_a_user() -> None:
    users = [1, 1, None, 1, 2, 2, 2, None, 2, None, 3, 3, 3]
    found = split(golden(A, users))
    expected = by_pairs(users, A)
    assert (found.w_in, found.within, found.across) == pytest.approx(tuple(expected.values()), abs=1e-12)
    assert found.n_rows_without_user == 3


def test_one_user_holds_all_pairs_and_there_is_nothing_across() -> None:
    found = split(golden(A, [7] * 13))
    assert found.w_in == 1.0
    assert found.within == pytest.approx(13 / 21, abs=1e-12)
    assert found.across is None


def test_users_of_one_class_are_counted_and_hold_no_pair() -> None:
    rows = [("u", "a", 1, 3.0), ("u", "b", 0, 2.0), ("v", "a", 1, 1.0), ("w", "a", 0, 5.0), ("w", "b", 0, 4.0)]
    found = split(build.dataset(rows))
    assert (found.n_users, found.n_both, found.n_only_positive, found.n_only_negative) == (3, 1, 1, 1)
    assert found.n_rows_one_class == 3
    assert list(found.pair_share) == [1.0, 0.0, 0.0]
    assert list(found.positive_share) == [0.5, 0.5, 0.0]


def test_shares_say_who_holds_the_pairs_and_who_loses_them() -> None:
    # User 1 of model A: 3 × 1 pairs, all won. User 2: 2 × 3 pairs; the positives at 5 and 9 meet 9, 5, 6: they win
    # ½ and 2½ of 3, so 3 are lost. User 3: 1 × 3 pairs, all won.
    found = split(golden(A))
    assert list(found.pair_share) == pytest.approx([3 / 12, 6 / 12, 3 / 12])
    assert list(found.lost_share) == pytest.approx([0, 1, 0])
    assert found.users_with_half_the_pairs == 1


def test_without_users_who_have_both_classes_everything_lies_across() -> None:
    found = split(build.dataset([("u", "a", 1, 1.0), ("v", "a", 0, 2.0)]))
    assert (found.w_in, found.within, found.across) == (0.0, None, 0.0)
    assert found.users_with_half_the_pairs == 0


def test_one_class_alone_has_no_split() -> None:
    found = split(build.dataset([("u", "a", 1, 1.0), ("v", "a", 1, 2.0)]))
    assert (found.auc, found.w_in, found.within, found.across) == (None, None, None, None)
    assert not np.any(found.lost_share)
