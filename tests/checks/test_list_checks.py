"""RM-401 to 406 and 411: how lists were made, and what their shape does to metrics at K."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from recmetrics.checks.subject import subjects
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.diagnose import DiagnoseOptions
from recmetrics.metrics.tie_orders import resolved
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, cause, lists, said


def sampled(n_users: int, n_list: int, n_positives: int, n_items: int = 200) -> Dataset:
    """Return lists of equal length over a catalogue; every item of it occurs when there are rows enough."""
    item = itertools.count()
    rows = []
    for u in range(n_users):
        for i in range(n_list):
            rows.append((f"u{u}", f"i{next(item) % n_items}", float(i < n_positives), -((i * 7 + u) % 13) - i / 100))
    return dataset(rows)


# RM-401 ------------------------------------------------------------------------------------------------------------


def test_one_positive_among_ninety_nine_sampled_items_is_critical() -> None:
    made = make("D7")
    found = ask("RM-401", made.dataset, made.config)
    assert (said(found), found.facts["rule"]) == ("critical", "constant_lists")
    assert (found.facts["list_positives"], found.facts["list_negatives"]) == (1, 99)
    assert cause(found, "uniform_sampler").outcome == "supports"


def test_the_translation_of_k_needs_the_size_of_the_catalogue() -> None:
    # f(k) = 1 + (k−1)(N−1)/m: 910 for k = 10, m = 99, N = 10,000 (diagnostics_golden.json `sampled_k_map`).
    made = make("D7")
    assert "k_full" not in ask("RM-401", made.dataset, made.config).facts
    found = ask("RM-401", made.dataset, EvalConfig(catalogue_size=10_000))
    assert (found.facts["k"], found.facts["k_full"]) == (10, 910)


@pytest.mark.parametrize(
    ("n_users", "n_list", "n_positives", "n_items", "severity"),
    [
        (30, 10, 1, 200, "critical"),
        (29, 10, 1, 200, "warning"),
        (10, 10, 1, 80, "warning"),
        (9, 10, 1, 80, "passed"),
        (40, 10, 0, 200, "not_applicable"),
        (40, 10, 1, 21, "critical"),
        (40, 10, 1, 20, "passed"),  # half of the catalogue is no small sample of it
        (40, 10, 1, 10, "passed"),  # the list is the catalogue
    ],
)
def test_lists_of_one_shape_are_graded(
    n_users: int, n_list: int, n_positives: int, n_items: int, severity: str
) -> None:
    assert said(ask("RM-401", sampled(n_users, n_list, n_positives, n_items))) == severity


def test_slates_with_varying_clicks_are_not_sampled() -> None:
    made = make("H6")
    assert said(ask("RM-401", made.dataset, made.config)) == "passed"


def ratio_lists(n_users: int, broken: bool = False) -> Dataset:
    """Return three negatives for every positive of each user, with 1, 2 or 3 positives."""
    item = itertools.count()
    rows = []
    for u in range(n_users):
        positives = 1 + u % 3
        for i in range(4 * positives + (broken and u == 0)):
            rows.append((f"u{u}", f"i{next(item)}", float(i < positives), -((i * 7 + u) % 13) - i / 100))
    return dataset(rows)


def test_one_ratio_for_every_user_is_critical() -> None:
    found = ask("RM-401", ratio_lists(30))
    assert (said(found), found.facts["rule"], found.facts["negatives_per_positive"]) == ("critical", "user_ratio", 3.0)
    assert said(ask("RM-401", ratio_lists(29))) == "passed"
    assert said(ask("RM-401", ratio_lists(30, broken=True))) == "passed"


def global_ratio(n_positives: int, n_negatives: int) -> Dataset:
    n = n_positives + n_negatives
    rng = np.random.default_rng(1)
    label = rng.permuted(np.arange(n) < n_positives).astype(float)
    return dataset([(f"u{i // 9}", f"i{i}", label[i], float(i * 7919 % n)) for i in range(n)])


@pytest.mark.parametrize(
    ("n_positives", "n_negatives", "severity"),
    [(1000, 4000, "warning"), (1000, 4001, "passed"), (999, 3996, "passed"), (1000, 6000, "passed")],
)
def test_a_whole_ratio_over_the_file_is_a_warning(n_positives: int, n_negatives: int, severity: str) -> None:
    assert said(ask("RM-401", global_ratio(n_positives, n_negatives))) == severity


def test_what_is_declared_decides_how_grave_sampling_is() -> None:
    data = sampled(40, 10, 1)
    assert said(ask("RM-401", data, EvalConfig(candidates="impressions"))) == "info"
    assert said(ask("RM-401", data, EvalConfig(candidates="sampled"))) == "critical"
    assert said(ask("RM-401", data, EvalConfig(candidates="sampled"), headline=("roc_auc",))) == "info"
    assert said(ask("RM-401", global_ratio(1000, 4000), EvalConfig(candidates="full"))) == "critical"


def test_negatives_drawn_by_popularity_are_told_from_uniform_ones() -> None:
    rng = np.random.default_rng(7)
    weight = 1 / np.arange(1, 301)
    rows = []
    for u in range(200):
        items = rng.choice(300, size=20, replace=False, p=weight / weight.sum())
        rows += [(f"u{u}", f"i{item}", float(n == 0), float(rng.normal())) for n, item in enumerate(items)]
    assert cause(ask("RM-401", dataset(rows)), "popularity_sampler").outcome == "supports"


def test_candidates_that_nobody_judged_are_negatives_of_a_sampled_list() -> None:
    # Leave-one-out as two files: a truth with one item per user, a run with that item among nineteen others.
    rng = np.random.default_rng(4)
    run = [
        (f"u{u}", f"i{u * 20 + i}", 1.0 if i == 0 else None, float(rng.normal())) for u in range(50) for i in range(20)
    ]
    found = ask("RM-401", dataset(run, truth=[(f"u{u}", f"i{u * 20}", 1.0) for u in range(50)]))
    assert (said(found), found.facts["list_positives"], found.facts["list_negatives"]) == ("critical", 1, 19)


def test_sampling_needs_users_and_items() -> None:
    assert ask("RM-401", labelled([1, 0], [0.1, 0.2])).reason == "no_column:user"


# RM-402 ------------------------------------------------------------------------------------------------------------


def test_four_distinct_scores_decide_the_result() -> None:
    made = make("D14")
    found = ask("RM-402", made.dataset, made.config)
    assert said(found) == "critical"
    assert found.facts["gap"] > 0.1
    assert cause(found, "few_distinct_scores").outcome == "supports"


def test_surplus_rows_of_equal_scores_are_counted_user_by_user() -> None:
    # u0: 5 5 5 1 has two surplus rows, u1: 5 4 has none although u0 has a 5 too, u2: 0.0 and −0.0 are equal.
    data = lists([1, 0, 0, 0], [0, 1], [1, 0], scores=[[5, 5, 5, 1], [5, 4], [0.0, -0.0]])
    assert ask("RM-402", data).facts["count"] == 3


def test_the_range_of_ndcg_is_that_over_all_orders_of_equal_scores() -> None:
    # By hand: a block of four rows with grades 2, 1, 0, 0 at ranks 1 to 4, K = 2. The ideal is 2 + 1/log2 3; the best
    # order reaches it, the worst has nothing within 2.
    data = lists([2, 1, 0, 0], [1, 0, 0, 0], scores=[[1, 1, 1, 1], [9, 8, 7, 6]])
    found = ask("RM-402", data, EvalConfig(ks=(2,)))
    assert (found.facts["ndcg_low"], found.facts["ndcg_high"]) == (0.5, 1.0)
    assert said(found) == "critical"
    # Of three relevant hits the two in the block are tied across the second place.
    assert abs(found.facts["share_straddling"] - 2 / 3) < 1e-12


def test_best_and_worst_order_bound_every_order_of_a_list_with_two_blocks() -> None:
    grades, scores = [0, 2, 1, 0, 1, 3], [3, 3, 3, 1, 1, 1]
    (subject,) = subjects(lists(grades, scores=[scores]), EvalConfig(ks=(4,)), DiagnoseOptions(), None)

    def dcg(order: tuple[int, ...]) -> float:
        return sum(grades[i] / np.log2(rank + 1) for rank, i in enumerate(order[:4], 1))

    orders = [(*a, *b) for a in itertools.permutations(range(3)) for b in itertools.permutations(range(3, 6))]
    for order, bound in (("best", max), ("worst", min)):
        hits = resolved(subject.hits, order)
        found = sum(g / np.log2(rank + 1) for g, rank in zip(hits.grade, hits.lo, strict=True) if rank <= 4)
        assert abs(found - bound(map(dcg, orders))) < 1e-12


@pytest.mark.parametrize(
    ("n_tied", "severity"), [(0, "passed"), (3, "info"), (5, "warning"), (19, "warning"), (21, "critical")]
)
def test_ties_are_graded_by_how_far_ndcg_moves(n_tied: int, severity: str) -> None:
    # K = 1: a user whose two rows are equal moves from 0 to 1, all others stay at 1. With 200 users each adds .005.
    scores = [[1.0, 1.0] if u < n_tied else [2.0, 1.0] for u in range(200)]
    found = ask("RM-402", lists(*[[1, 0]] * 200, scores=scores), k=1)
    assert (said(found), found.facts["count"]) == (severity, n_tied)


def test_a_value_that_stands_out_among_many_is_a_default() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=2000)
    score[rng.random(2000) < 0.05] = 0.25
    rows = [(f"u{i // 20}", f"i{i % 20}", float(i % 5 == 0), score[i]) for i in range(2000)]
    found = cause(ask("RM-402", dataset(rows)), "default_score")
    assert (found.outcome, found.facts["value"]) == ("supports", 0.25)


def test_rows_all_ranked_last_for_want_of_a_score_are_tied() -> None:
    data = lists(*[[1.0, 0.0]] * 20)
    nothing = replace(data, scores={"score": np.full(data.n_rows, np.nan)}, fingerprint="")
    found = ask("RM-402", nothing, EvalConfig(missing_scores="last", ks=(1,)))
    assert (said(found), found.facts["count"]) == ("critical", 20)
    assert cause(found, "few_distinct_scores").outcome == "supports"


def test_ties_are_seen_under_every_tie_rule() -> None:
    data = lists([0, 1, 0], scores=[[1, 1, 0]])
    for rule in ("average", "best", "worst", "file_order", "item_desc"):
        assert ask("RM-402", data, EvalConfig(ties=rule, ks=(1,))).facts["ndcg_high"] == 1.0


# RM-403 and RM-404 -------------------------------------------------------------------------------------------------


def of_lengths(*lengths: int) -> Dataset:
    return lists(*[[1.0] + [0.0] * (n - 1) for n in lengths])


def test_many_lists_shorter_than_k_are_a_warning() -> None:
    made = make("E10")
    found = ask("RM-403", made.dataset, made.config)
    assert said(found) == "warning"
    lengths = np.bincount(np.asarray(made.dataset.user))
    assert found.facts["count"] == int((lengths < 10).sum())


@pytest.mark.parametrize(("n_short", "severity"), [(0, "passed"), (1, "info"), (5, "info"), (6, "warning")])
def test_short_lists_are_graded_by_the_share_of_users(n_short: int, severity: str) -> None:
    found = ask("RM-403", of_lengths(*[4] * n_short, *[5] * (100 - n_short)), k=5)
    assert (said(found), found.facts["count"], found.facts["n_users"]) == (severity, n_short, 100)


def test_lists_cut_at_one_length_point_to_the_export() -> None:
    assert cause(ask("RM-403", of_lengths(*[4] * 80, *range(2, 5)), k=5), "truncated_export").outcome == "supports"


def test_lists_of_exactly_k_leave_nothing_to_rank() -> None:
    made = make("E11")
    found = ask("RM-404", made.dataset, made.config)
    assert said(found) == "warning"
    assert cause(found, "cut_by_export").outcome == "supports"


def test_one_longer_list_is_enough_to_react_to_k() -> None:
    assert said(ask("RM-404", of_lengths(5, 5, 5), k=5)) == "warning"
    assert said(ask("RM-404", of_lengths(5, 6, 5), k=5)) == "passed"


def test_short_lists_explain_that_k_covers_them_all() -> None:
    data = of_lengths(*[3] * 20, 5)
    assert ask("RM-404", data, k=5).explained_by == "RM-403"


@pytest.mark.parametrize("code", ["RM-403", "RM-404", "RM-406", "RM-402"])
def test_users_with_one_row_have_no_lists(code: str) -> None:
    assert ask(code, of_lengths(1, 1, 1, 5)).reason == "no_lists"
    assert ask(code, labelled([1, 0], [0.1, 0.2])).reason == "no_column:user"


# RM-405, 406 and 411 -----------------------------------------------------------------------------------------------


def test_users_without_clicks_in_the_majority_are_a_warning() -> None:
    made = make("E12")
    found = ask("RM-405", made.dataset, made.config)
    assert said(found) == "warning"
    assert cause(found, "rare_positives").outcome == "supports"


def dropped(n_without: int, n_only: int, n_both: int) -> Dataset:
    return lists(*[[0, 0, 0]] * n_without, *[[1, 1, 1]] * n_only, *[[1, 0, 0]] * n_both)


@pytest.mark.parametrize(
    ("sizes", "severity"),
    [
        ((0, 0, 120), "passed"),
        ((1, 0, 119), "info"),
        ((40, 20, 60), "info"),  # half
        ((40, 21, 59), "warning"),
        ((40, 11, 48), "info"),  # 51 of 99 users: too few to tell
    ],
)
def test_dropped_users_are_graded_by_their_share(sizes: tuple[int, int, int], severity: str) -> None:
    found = ask("RM-405", dropped(*sizes))
    assert said(found) == severity
    assert (found.facts["n_without_positives"], found.facts["n_only_positives"]) == sizes[:2]


def test_the_mean_is_told_with_and_without_the_users_that_have_nothing_relevant() -> None:
    # 30 lists with the relevant item first (NDCG 1), 10 without any.
    facts = ask("RM-405", dropped(10, 0, 30)).facts
    assert (facts["ndcg_skip"], facts["ndcg_zero"]) == (1.0, 0.75)


def test_a_declared_rule_or_no_quoted_mean_makes_dropped_users_a_hint() -> None:
    data = dropped(80, 0, 60)
    assert said(ask("RM-405", data)) == "warning"
    assert said(ask("RM-405", data, EvalConfig(users_without_relevant="zero"))) == "info"
    assert said(ask("RM-405", data, EvalConfig(single_class_users="half"))) == "info"
    assert said(ask("RM-405", data, headline=("roc_auc",))) == "info"


def test_precision_beyond_reach_is_a_warning_only_when_it_is_quoted() -> None:
    made = make("E13")
    headline = tuple(made.options["headline"])
    assert said(ask("RM-406", made.dataset, made.config, headline=headline)) == "warning"
    assert said(ask("RM-406", made.dataset, made.config)) == "info"


@pytest.mark.parametrize(("n_two", "severity"), [(2, "info"), (1, "warning")])
def test_the_ceiling_is_the_mean_of_the_relevant_items_within_k(n_two: int, severity: str) -> None:
    # K = 4: two relevant items reach 2/4, one reaches 1/4, six reach 4/4.
    data = lists(*[[1, 1, 0, 0, 0, 0]] * n_two, *[[1, 0, 0, 0, 0, 0]] * 2, [1] * 6, [0] * 6)
    found = ask("RM-406", data, headline=("precision@4",))
    expected = (n_two * 0.5 + 2 * 0.25 + 1.0) / (n_two + 3)
    assert abs(found.facts["ceiling"] - expected) < 1e-12
    # (1 + .5 + 1)/5 = .5 is not below the limit, (.5 + .5 + 1)/4 = .5 neither: one more user of one decides.
    fewer = lists(*[[1, 1, 0, 0, 0, 0]] * n_two, *[[1, 0, 0, 0, 0, 0]] * (2 if n_two == 2 else 3), [1] * 6)
    assert said(ask("RM-406", fewer, headline=("precision@4",))) == severity


def test_k_relevant_items_for_everyone_have_no_ceiling() -> None:
    assert said(ask("RM-406", lists([1, 1, 0], [1, 1, 1]), k=2)) == "passed"
    assert ask("RM-406", lists([0, 0, 0]), k=2).reason == "one_class"


@pytest.mark.parametrize(("n_single", "severity"), [(0, "passed"), (1, "info"), (5, "info"), (6, "warning")])
def test_users_with_one_candidate_are_graded_by_their_share(n_single: int, severity: str) -> None:
    found = ask("RM-411", of_lengths(*[1] * n_single, *[4] * (100 - n_single)))
    assert (said(found), found.facts["count"]) == (severity, n_single)


def test_single_candidates_that_are_all_relevant_were_lost_by_a_join() -> None:
    found = ask("RM-411", of_lengths(1, 1, 4, 4, 4))
    assert cause(found, "candidates_lost").outcome == "supports"
    assert said(ask("RM-411", of_lengths(1, 1, 4, 4, 4), headline=("roc_auc",))) == "info"


def test_one_row_for_every_user_is_no_trivial_list_but_none() -> None:
    assert ask("RM-411", of_lengths(1, 1, 1)).reason == "no_lists"
