"""Every engine makes the tables that walking through the rows would make."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.engines import ENGINES
from recmetrics.engines.packing import hit_blocks
from recmetrics.errors import RecmetricsError
from recmetrics.tables import HitTable
from tests.build import dataset, labelled
from tests.laws.small_data import cases
from tests.oracle import Case

EVERY_ENGINE = pytest.mark.parametrize("engine", list(ENGINES))
N_CASES = 15


def hits_of(table: HitTable, users: Any) -> list[tuple[str, int, int, float, bool]]:
    """Return (user, lo, hi, grade, relevant) in an order of their own: within a block the table's order is free."""
    columns = (table.user, table.lo, table.hi, table.grade, table.relevant)
    return sorted((users[u], int(lo), int(hi), float(g), bool(r)) for u, lo, hi, g, r in zip(*columns, strict=True))


def ideal_of(table: HitTable, users: Any) -> list[tuple[str, float, bool]]:
    columns = (table.ideal_user, table.ideal_grade, table.ideal_relevant)
    return [(users[u], float(g), bool(r)) for u, g, r in zip(*columns, strict=True)]


def walked(given: Case, threshold: float, gains: float) -> list[tuple[str, int, int, float, bool]]:
    """Return the hits by counting, for each row that gains, the rows of its user above it and beside it."""
    found = []
    for user, _, label, score in given.rows:
        if label is None or not (label >= threshold or label > gains):
            continue
        above = sum(other > score for u, _, _, other in given.rows if u == user)
        beside = sum(other == score for u, _, _, other in given.rows if u == user)
        found.append((user, above + 1, above + beside, float(label), label >= threshold))
    return sorted(found)


@EVERY_ENGINE
@pytest.mark.parametrize(("threshold", "grades"), [(1, "relevant"), (2, "relevant"), (2, "all")])
def test_a_hit_spans_the_ranks_of_its_block(engine: str, threshold: float, grades: str) -> None:
    config = EvalConfig(relevance_threshold=threshold, grades=grades)
    for given in cases(N_CASES):
        data = given.dataset()
        table = ENGINES[engine].hit_table(data, config, "score")
        gains = 0 if grades == "all" else np.inf
        assert hits_of(table, data.users) == walked(given, threshold, gains)
        listed = [sum(u == user for u, _, _, _ in given.rows) for user in data.users]
        assert table.n_candidates.tolist() == listed


@EVERY_ENGINE
@pytest.mark.parametrize(("threshold", "grades"), [(1, "relevant"), (2, "relevant"), (2, "all")])
def test_the_ideal_list_holds_all_judged_items_by_user_and_grade(engine: str, threshold: float, grades: str) -> None:
    config = EvalConfig(relevance_threshold=threshold, grades=grades)
    for given in cases(N_CASES):
        data = given.dataset()
        table = ENGINES[engine].hit_table(data, config, "score")
        expected, n_relevant = [], []
        for user in data.users:
            judged = sorted((g for u, _, g in given.truth or [] if u == user), reverse=True)
            n_relevant.append(sum(g >= threshold for g in judged))
            expected += [(user, g, g >= threshold) for g in judged if g >= threshold or (grades == "all" and g > 0)]
        assert ideal_of(table, data.users) == expected
        assert table.n_relevant.tolist() == n_relevant
        assert table.in_truth.all()


@EVERY_ENGINE
def test_tables_are_sorted_by_user_and_rank_and_cannot_be_written(engine: str) -> None:
    for ties, given in itertools.product(["average", "file_order", "item_asc", "floor_mean_rank"], cases(N_CASES)):
        table = ENGINES[engine].hit_table(given.dataset(), EvalConfig(ties=ties), "score")
        order = table.user.astype(np.int64) * 1000 + table.lo
        assert np.all(np.diff(order) >= 0)
        assert np.all(np.diff(table.ideal_user) >= 0)
        assert not table.lo.flags.writeable
        assert not table.n_candidates.flags.writeable


@EVERY_ENGINE
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_and_double_scores_make_one_table(engine: str, dtype: type) -> None:
    for given in cases(N_CASES):
        data, wide = given.dataset(dtype=dtype), given.dataset()
        table = ENGINES[engine].hit_table(data, EvalConfig(), "score")
        same = ENGINES[engine].hit_table(wide, EvalConfig(), "score")
        assert np.array_equal(table.lo, same.lo)
        assert np.array_equal(table.hi, same.hi)


@EVERY_ENGINE
def test_scores_that_single_precision_cannot_tell_apart_keep_their_ranks(engine: str) -> None:
    close = [0.1, np.nextafter(0.1, 1), 0.1 + 2.0**-40]
    data = dataset([("u", f"i{n}", 1, score) for n, score in enumerate(close)])
    table = ENGINES[engine].hit_table(data, EvalConfig(), "score")
    assert table.lo.tolist() == table.hi.tolist() == [1, 2, 3]


@EVERY_ENGINE
def test_minus_zero_and_zero_are_tied(engine: str) -> None:
    data = dataset([("u", "a", 1, -0.0), ("u", "b", 0, 0.0)])
    table = ENGINES[engine].hit_table(data, EvalConfig(), "score")
    assert (table.lo.tolist(), table.hi.tolist()) == ([1], [2])


ROWS = [("u", "b", 1, 0.5), ("u", "a", 1, 0.5), ("u", "c", 0, 0.5), ("u", "d", 1, 0.9)]


@EVERY_ENGINE
@pytest.mark.parametrize(
    ("ties", "ranks"),
    [
        ("file_order", [1, 2, 3]),  # d b a c
        ("item_asc", [1, 2, 3]),  # d a b c
        ("item_desc", [1, 3, 4]),  # d c b a
        ("floor_mean_rank", [1, 3, 3]),  # block 2…4, mean rank 3
    ],
)
def test_rules_for_rows_give_each_row_its_own_rank(engine: str, ties: str, ranks: list[int]) -> None:
    table = ENGINES[engine].hit_table(dataset(ROWS), EvalConfig(ties=ties), "score")
    assert table.lo.tolist() == table.hi.tolist() == ranks


@EVERY_ENGINE
def test_item_order_is_that_of_the_text(engine: str) -> None:
    data = dataset([("u", "10", 1, 0.5), ("u", "9", 0, 0.5)])  # "10" < "9" as text
    for ties, rank in (("item_asc", 1), ("item_desc", 2)):
        assert ENGINES[engine].hit_table(data, EvalConfig(ties=ties), "score").lo.tolist() == [rank]


@EVERY_ENGINE
def test_equal_scores_without_items_keep_the_order_of_the_file(engine: str) -> None:
    data = dataset([("u", None, 0, 0.5), ("u", None, 1, 0.5)])
    for ties in ("file_order", "item_asc", "item_desc"):
        assert ENGINES[engine].hit_table(data, EvalConfig(ties=ties), "score").lo.tolist() == [2]


@EVERY_ENGINE
def test_rows_without_a_user_or_an_item_stand_in_no_list(engine: str) -> None:
    rows = [(None, "a", 1, 0.9), ("u", "b", 1, 0.5), ("u", None, 0, 0.7), ("u", None, 1, 0.6), (None, "c", 1, 0.1)]
    data = dataset(rows)
    table = ENGINES[engine].hit_table(data, EvalConfig(), "score")
    assert (table.user.tolist(), table.lo.tolist(), table.n_candidates.tolist()) == ([0], [1], [1])
    assert table.n_relevant.tolist() == [1]
    assert ENGINES[engine].rank_table(data, EvalConfig(), "score", 5).row.tolist() == [1]


@EVERY_ENGINE
def test_a_model_lists_only_the_rows_of_its_own_file_and_is_judged_by_all(engine: str) -> None:
    data = dataset(
        [("u", "a", 1), ("u", "b", 1), ("v", "a", 1)],
        scores={"old": [0.5, 0.4, 0.3], "new": [None, 0.3, None]},
        scored={"new": [False, True, False]},
    )
    table = ENGINES[engine].hit_table(data, EvalConfig(), "new")
    assert table.n_candidates.tolist() == [1, 0]
    assert table.n_relevant.tolist() == [2, 1]
    assert table.in_truth.tolist() == [True, True]
    scoped = ENGINES[engine].hit_table(data, EvalConfig(truth_scope="scored_only"), "new")
    assert scoped.n_relevant.tolist() == [1, 0]
    assert scoped.in_truth.tolist() == [True, False]
    assert ENGINES[engine].score_table(data, EvalConfig(), "new").n_rows == 1


@EVERY_ENGINE
def test_the_judged_table_knows_labelled_rows_alone(engine: str) -> None:
    data = dataset(
        [("u", "a", 1, 0.5), ("u", "b", None, 0.9), ("u", "c", 0, 0.7)], truth=[("u", "a", 1), ("u", "z", 1)]
    )
    table = ENGINES[engine].hit_table(data, EvalConfig(), "score", labelled_only=True)
    assert (table.n_candidates.tolist(), table.lo.tolist(), table.n_relevant.tolist()) == ([2], [2], [1])
    whole = ENGINES[engine].hit_table(data, EvalConfig(), "score")
    assert (whole.n_candidates.tolist(), whole.lo.tolist(), whole.n_relevant.tolist()) == ([3], [3], [2])


@EVERY_ENGINE
def test_presence_of_a_judged_row_can_be_the_positive(engine: str) -> None:
    data = dataset([("u", "a", 0, 0.9), ("u", "b", None, 0.5)])
    config = EvalConfig(positive_rule="row_present")
    table = ENGINES[engine].hit_table(data, config, "score")
    assert (table.lo.tolist(), table.grade.tolist(), table.relevant.tolist()) == ([1], [0.0], [True])
    scores = ENGINES[engine].score_table(data, config, "score")
    assert (scores.n_positives, scores.n_negatives) == (1, 0)


@EVERY_ENGINE
def test_scores_up_to_zero_lose_their_labels_under_the_positive_filter(engine: str) -> None:
    data = dataset([("u", "a", 1, 0.5), ("u", "b", 1, 0.0), ("u", "c", 1, -1.0)])
    table = ENGINES[engine].hit_table(data, EvalConfig(score_filter="positive"), "score")
    assert table.lo.tolist() == [1]
    assert table.n_candidates.tolist() == [3]
    assert table.n_relevant.tolist() == [3]


@EVERY_ENGINE
def test_lists_without_users_are_refused(engine: str) -> None:
    for make in (ENGINES[engine].hit_table, lambda *given: ENGINES[engine].rank_table(*given, 3)):
        with pytest.raises(RecmetricsError) as refused:
            make(labelled([1, 0], [0.5, 0.4]), EvalConfig(), "score")
        assert refused.value.kind == "no_user_column"


def placed(data: Dataset, engine: str, k: int, **config: Any) -> list[tuple[int, int, int, int]]:
    table = ENGINES[engine].rank_table(data, EvalConfig(**config), "score", k)
    columns = (table.row, table.lo, table.hi, table.place)
    return [tuple(int(x) for x in one) for one in zip(*columns, strict=True)]


@EVERY_ENGINE
def test_first_places_hold_whole_blocks_in_the_order_of_the_items(engine: str) -> None:
    # d at 1, then a, b, c share 2 … 4; K = 2 cuts their block, which is kept whole.
    assert placed(dataset(ROWS), engine, 2) == [(3, 1, 1, 1), (1, 2, 4, 2), (0, 2, 4, 3), (2, 2, 4, 4)]
    assert placed(dataset(ROWS), engine, 1) == [(3, 1, 1, 1)]


@EVERY_ENGINE
@pytest.mark.parametrize(("ties", "rows"), [("file_order", [3, 0]), ("item_asc", [3, 1]), ("item_desc", [3, 2])])
def test_first_places_under_a_rule_for_rows_are_single_rows(engine: str, ties: str, rows: list[int]) -> None:
    found = placed(dataset(ROWS), engine, 2, ties=ties)
    assert sorted(found, key=lambda one: one[1]) == [(rows[0], 1, 1, 1), (rows[1], 2, 2, 2)]


@EVERY_ENGINE
def test_first_places_leave_out_rows_that_do_not_count(engine: str) -> None:
    data = dataset([(None, "a", 1, 0.9), ("u", "b", None, 0.5), ("u", "c", 0, 0.4)])
    assert placed(data, engine, 5) == [(1, 1, 1, 1), (2, 2, 2, 2)]
    assert placed(data, engine, 5, unjudged="skip") == [(2, 1, 1, 1)]


def test_keys_that_do_not_fit_into_64_bits_are_sorted_by_index() -> None:
    # 2¹³ users (13 bits), 32 bits of score and a level of 2²⁰ (21 bits) are 66 bits; with level 1 it is 46.
    rng = np.random.default_rng(5)
    user = rng.integers(0, 2**13, 500).astype(np.int32)
    user[:100] = user[0]
    codes = rng.integers(0, 20, 500).astype(np.uint32)
    gains = rng.random(500) < 0.4
    n_candidates = np.bincount(user, minlength=2**13)
    packed = hit_blocks(user, codes, gains.astype(np.uint8), n_candidates)
    indexed = hit_blocks(user, codes, gains.astype(np.int64) << 20, n_candidates)
    assert np.array_equal(packed.user, indexed.user)
    assert np.array_equal(packed.lo, indexed.lo)
    assert np.array_equal(packed.hi, indexed.hi)
    assert set(indexed.level.tolist()) == {2**20}


def test_no_rows_make_empty_tables() -> None:
    data = dataset([], scores={"score": []}, truth=[("u", "a", 1)])
    table = ENGINES["numpy"].hit_table(data, EvalConfig(), "score")
    assert (len(table.user), table.n_users) == (0, 1)
    assert (table.n_candidates.tolist(), table.n_relevant.tolist()) == ([0], [1])
    assert ENGINES["numpy"].score_table(data, EvalConfig(), "score").n_rows == 0
    assert len(ENGINES["numpy"].rank_table(data, EvalConfig(), "score", 3).row) == 0
