"""Every generated set has the property that its fault is made of.

Expected values are those of the diagnostics specification (§9) or simple counts; AUC is scikit-learn's.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.synthetic import SETS, make
from recmetrics.synthetic.base import clicks, distinct_items, logit_of
from recmetrics.synthetic.diseases import mean_over_signal
from recmetrics.synthetic.reported import mean_ndcg

SEEDS = range(4)


def score_of(dataset: Dataset, model: str = "score") -> NDArray[np.float64]:
    return dataset.scores[model]


def auc(dataset: Dataset, model: str = "score") -> float:
    return float(roc_auc_score(dataset.label >= 1, score_of(dataset, model)))


def gauc(dataset: Dataset, model: str = "score") -> float:
    """Mean AUC of the users with both classes, weighted by their rows, by a plain loop."""
    total = weight = 0.0
    for user in range(dataset.n_users):
        rows = dataset.user == user
        label = dataset.label[rows] >= 1
        if 0 < label.sum() < len(label):
            total += rows.sum() * roc_auc_score(label, score_of(dataset, model)[rows])
            weight += rows.sum()
    return total / weight


def mean_auc(name: str) -> float:
    return float(np.mean([auc(make(name, seed).dataset) for seed in SEEDS]))


def sizes(dataset: Dataset) -> NDArray[np.int64]:
    return np.bincount(dataset.user, minlength=dataset.n_users)


def positives(dataset: Dataset) -> NDArray[np.int64]:
    return np.bincount(dataset.user, weights=dataset.label >= 1, minlength=dataset.n_users).astype(np.int64)


def test_there_are_six_healthy_twentyfour_diseased_and_twentyfive_blemished_sets() -> None:
    expected = {f"H{i}" for i in range(1, 7)} | {f"D{i}" for i in range(1, 25)} | {f"E{i}" for i in range(1, 26)}
    assert set(SETS) == expected
    assert all((entry.alarm is None) == entry.name.startswith("H") for entry in SETS.values())


@pytest.mark.parametrize("name", list(SETS))
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(name: str) -> None:
    first, again, other = make(name, 7), make(name, 7), make(name, 8)
    assert first.dataset.fingerprint == again.dataset.fingerprint
    assert (first.config, first.options) == (again.config, again.options)
    assert first.dataset.fingerprint != other.dataset.fingerprint


@pytest.mark.parametrize("name", list(SETS))
def test_every_array_of_a_set_is_read_only_and_as_long_as_the_set(name: str) -> None:
    dataset = make(name).dataset
    columns = [dataset.user, dataset.item, dataset.label, *dataset.scores.values(), *dataset.values.values()]
    assert {len(column) for column in columns} == {dataset.n_rows}
    assert not any(column.flags.writeable for column in columns)


@pytest.mark.parametrize("name", sorted(set(SETS) - {"E3"}))
def test_no_set_but_the_one_with_repeated_rows_repeats_a_pair(name: str) -> None:
    assert len(make(name).dataset.surplus_rows) == 0


def test_an_unknown_set_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RecmetricsError, match="D7"):
        make("D77")


def test_a_parameter_that_the_set_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="n_moons"):
        make("D1", n_moons=2)


def test_the_base_has_the_auc_and_the_prevalence_of_the_specification() -> None:
    datasets = [make("H1", seed).dataset for seed in SEEDS]
    assert np.mean([auc(dataset) for dataset in datasets]) == pytest.approx(0.78, abs=0.01)
    assert np.mean([dataset.label.mean() for dataset in datasets]) == pytest.approx(0.105, abs=0.01)
    assert all(dataset.n_users == 600 for dataset in datasets)


def test_the_base_lists_hold_20_to_59_different_items() -> None:
    lengths = sizes(make("H1").dataset)
    assert (lengths.min(), lengths.max()) == (20, 59)


def test_the_base_score_is_calibrated() -> None:
    dataset = make("H1", n_users=6_000).dataset
    # Σ(y − p) has variance Σp(1−p): four standard deviations.
    probability = score_of(dataset)
    assert abs((dataset.label - probability).sum()) < 4 * np.sqrt((probability * (1 - probability)).sum())


def test_the_free_parameters_reach_the_base_generator() -> None:
    dataset = make("D2", n_users=50, n=10, fixed=True).dataset
    assert sizes(dataset).tolist() == [10] * 50


def test_items_drawn_without_replacement_can_use_up_the_whole_catalogue() -> None:
    user = np.repeat(np.arange(3), 7)
    item = distinct_items(np.random.default_rng(0), user, 7)
    assert [sorted(item[user == u]) for u in range(3)] == [list(range(7))] * 3


def test_a_generator_may_be_given_in_place_of_a_seed() -> None:
    assert make("D1", np.random.default_rng(3)).dataset.fingerprint == make("D1", 3).dataset.fingerprint


def test_the_full_ranking_has_one_positive_among_the_same_400_items_for_300_users() -> None:
    dataset = make("H3").dataset
    assert set(sizes(dataset)) == {400}
    assert set(positives(dataset)) == {1}
    assert (dataset.n_users, dataset.n_items) == (300, 400)
    # Two normals 1.1 apart: Φ(1.1/√2) = .782
    assert auc(dataset) == pytest.approx(0.782, abs=0.04)


def test_random_positions_and_segments_tell_nothing() -> None:
    dataset = make("H4", n_users=3_000).dataset
    assert set(dataset.values["position"]) == set(range(1, 11))
    assert roc_auc_score(dataset.label, dataset.values["position"]) == pytest.approx(0.5, abs=0.02)
    assert roc_auc_score(dataset.label, dataset.segments["segment"].codes) == pytest.approx(0.5, abs=0.02)


def test_of_the_two_healthy_models_b_is_clearly_better() -> None:
    dataset = make("H5").dataset
    assert auc(dataset, "B") - auc(dataset, "A") > 0.04


def test_healthy_slates_have_ten_rows_each() -> None:
    assert set(sizes(make("H6").dataset)) == {10}


def test_the_leak_has_an_auc_of_977() -> None:
    assert mean_auc("D1") == pytest.approx(0.977, abs=0.004)


def test_the_constant_score_is_the_base_rate() -> None:
    dataset = make("D2").dataset
    assert set(score_of(dataset)) == {dataset.label.mean()}


def test_labels_rolled_by_one_row_are_repaired_by_taking_the_next_rows_label() -> None:
    for seed in SEEDS:
        dataset = make("D3", seed).dataset
        assert auc(dataset) == pytest.approx(0.5, abs=0.03)
        # k = +1: row i gets the label of row i+1.
        assert roc_auc_score(np.roll(dataset.label, -1), score_of(dataset)) > 0.74


def test_exchanged_labels_mirror_the_auc() -> None:
    assert mean_auc("D4") == pytest.approx(0.22, abs=0.01)


def test_the_low_threshold_flags_nearly_everything() -> None:
    made = make("D5")
    flagged = score_of(made.dataset) >= made.config.threshold
    assert flagged.mean() > 0.9
    assert made.dataset.label[flagged].mean() < 0.2


@pytest.mark.parametrize("name", ["D6", "D23"])
def test_a_solved_threshold_flags_as_many_rows_as_are_positive(name: str) -> None:
    made = make(name, 2)
    flagged = score_of(made.dataset) >= made.config.threshold
    assert flagged.sum() == made.dataset.label.sum()


def test_sampled_candidates_are_one_positive_and_99_negatives() -> None:
    dataset = make("D7").dataset
    assert set(sizes(dataset)) == {100}
    assert set(positives(dataset)) == {1}
    assert dataset.n_users == 500


def test_the_thinned_file_has_exactly_four_negatives_per_positive() -> None:
    dataset = make("D8").dataset
    n_positives = int(dataset.label.sum())
    assert dataset.n_rows == 5 * n_positives
    assert n_positives >= 1_000


def shared_with_train(dataset: Dataset) -> NDArray[np.bool_]:
    """bool[n]: rows whose pair is a positive training pair."""
    train = dataset.train
    known = {(u, i) for u, i, y in zip(train.user, train.item, train.label, strict=True) if y >= 1 and i >= 0}
    return np.array([pair in known for pair in zip(dataset.user, dataset.item, strict=True)])


def test_a_tenth_of_the_test_positives_are_train_positives() -> None:
    dataset = make("D9").dataset
    assert shared_with_train(dataset)[dataset.label == 1].mean() == pytest.approx(0.1, abs=0.02)
    assert dataset.train.time.max() < 20


def test_train_and_test_of_the_healthy_time_split_share_users_but_no_pair_and_no_day() -> None:
    dataset = make("H2").dataset
    assert not shared_with_train(dataset).any()
    assert dataset.train.time.max() < 20 <= dataset.values["time"].min()
    assert dataset.train.n_users == dataset.n_users == 600
    assert len(dataset.train.user) == round(0.8 * dataset.n_rows)


def test_a_quarter_of_the_train_rows_lies_in_the_test_days() -> None:
    time = make("D10").dataset.train.time
    assert (time >= 20).mean() == pytest.approx(0.25, abs=0.001)


def test_isolation_is_declared_where_users_overlap() -> None:
    made = make("D11")
    assert made.config.user_isolation == "isolated"
    assert np.isin(made.dataset.user, made.dataset.train.user).mean() > 0.99


def test_thinned_negatives_move_the_log_odds_by_the_log_of_the_share_kept() -> None:
    made, base = make("D12", 5).dataset, make("H1", 5).dataset
    moved = logit_of(score_of(made)) - logit_of(score_of(base))
    assert moved == pytest.approx(np.full(made.n_rows, -np.log(0.1)), abs=1e-9)


def test_accuracy_is_the_headline_where_clicks_are_rare() -> None:
    made = make("D13")
    assert made.options == {"headline": ("accuracy",)}
    assert made.dataset.label.mean() < 0.03


def test_four_scores_are_the_base_rates_of_their_quarters() -> None:
    dataset = make("D14").dataset
    values, counts = np.unique(score_of(dataset), return_counts=True)
    assert len(values) == 4
    assert counts.max() - counts.min() <= 1
    for value in values:
        assert dataset.label[score_of(dataset) == value].mean() == pytest.approx(value, abs=1e-12)


def test_positions_follow_the_score_and_low_ones_lose_clicks() -> None:
    dataset = make("D15").dataset
    position = dataset.values["position"]
    assert np.all(np.sort(position.reshape(-1, 10), axis=1) == np.arange(1, 11))
    assert np.corrcoef(position, score_of(dataset))[0, 1] < -0.3
    assert dataset.label[position == 1].mean() > 5 * dataset.label[position == 10].mean()


def test_the_later_half_clicks_more_and_is_scored_higher() -> None:
    dataset = make("D16").dataset
    late = dataset.values["time"] >= 22.5
    for column in (dataset.label, score_of(dataset)):
        assert column[late].mean() > 1.8 * column[~late].mean()


def test_new_users_are_hardly_ordered() -> None:
    dataset = make("D17").dataset
    segment = dataset.segments["segment"]
    is_new = segment.codes == segment.labels.index("new")
    score, label = score_of(dataset), dataset.label
    assert is_new.mean() == pytest.approx(0.25, abs=0.02)
    assert roc_auc_score(label[~is_new], score[~is_new]) - roc_auc_score(label[is_new], score[is_new]) > 0.15


def test_a_score_that_knows_who_clicks_is_good_pooled_and_blind_inside_users() -> None:
    dataset = make("D18", n_users=400).dataset
    assert auc(dataset) > 0.75
    assert gauc(dataset) == pytest.approx(0.5, abs=0.03)


def test_the_mean_over_an_unseen_signal_is_what_sampling_gives() -> None:
    known = np.array([-4.0, -1.0, 0.0, 2.0])
    drawn = known[:, None] + 0.9 * np.random.default_rng(0).normal(size=400_000)
    # A mean of 400 000 draws of SD ≤ .5 is within .004 at five standard errors.
    assert mean_over_signal(known, 0.9) == pytest.approx((1 / (1 + np.exp(-drawn))).mean(axis=1), abs=0.004)


def hit_rate_and_ndcg(dataset: Dataset, model: str) -> tuple[float, float]:
    """HR@10 and binary NDCG@10 of lists of 60 rows each, by sorting each list."""
    order = np.argsort(-score_of(dataset, model).reshape(-1, 60), axis=1)
    label = np.take_along_axis(dataset.label.reshape(-1, 60), order, axis=1)
    discount = 1 / np.log2(np.arange(2, 12))
    ideal = np.array([discount[: int(n)].sum() for n in label.sum(axis=1)])
    return float(label[:, :10].any(axis=1).mean()), float(((label[:, :10] @ discount) / ideal).mean())


def test_one_model_wins_the_hit_rate_and_the_other_ndcg() -> None:
    dataset = make("D19").dataset
    assert set(positives(dataset)) == {1, 2}
    (hits_a, ndcg_a), (hits_b, ndcg_b) = (hit_rate_and_ndcg(dataset, model) for model in ("A", "B"))
    assert hits_b > hits_a
    assert ndcg_a > ndcg_b


def test_twins_differ_by_less_than_the_practical_limit() -> None:
    dataset = make("D20").dataset
    assert abs(auc(dataset, "A") - auc(dataset, "B")) < 0.002


def test_the_reported_ndcg_does_not_know_the_items_that_were_never_retrieved() -> None:
    made = make("D21")
    dataset, truth = made.dataset, made.dataset.truth
    beyond = truth.grade.sum() - dataset.label.sum()
    assert beyond / dataset.n_users == pytest.approx(3, abs=0.3)
    assert not np.isin(truth.item[dataset.n_rows :], dataset.item).any()
    assert list(made.options["reported"]) == ["ndcg@10"]


def test_the_leak_in_one_segment_stays_in_it() -> None:
    dataset = make("D22").dataset
    segment = dataset.segments["platform"]
    by_label = {
        name: roc_auc_score(dataset.label[segment.codes == code], score_of(dataset)[segment.codes == code])
        for code, name in enumerate(segment.labels)
    }
    assert by_label["app_v2"] > 0.99
    assert max(by_label["ios"], by_label["android"]) < 0.82
    assert auc(dataset) < 0.9


def test_few_positives_are_some_ten_to_twenty() -> None:
    counts = [make("D23", seed).dataset.label.sum() for seed in range(40)]
    assert 10 < np.mean(counts) < 20


def test_the_reversal_has_the_differences_of_the_specification() -> None:
    datasets = [make("D24", seed).dataset for seed in (1, 2)]
    pooled = np.mean([auc(d, "B") - auc(d, "A") for d in datasets])
    within = np.mean([gauc(d, "B") - gauc(d, "A") for d in datasets])
    assert pooled == pytest.approx(0.013, abs=0.004)
    assert within == pytest.approx(-0.044, abs=0.006)


def test_two_percent_of_the_scores_are_missing() -> None:
    made = make("E1")
    assert np.isnan(score_of(made.dataset)).mean() == pytest.approx(0.02, abs=1e-4)
    assert made.config.missing_scores == "drop"


def test_padded_train_users_meet_the_scored_ones_only_without_their_zeros() -> None:
    dataset = make("E2").dataset
    scored, trained = set(dataset.users[dataset.user]), set(dataset.users[dataset.train.user])
    assert {len(user) for user in trained} == {6}
    assert not scored & trained
    assert {user.lstrip("0") or "0" for user in trained} <= scored
    assert dataset.n_users == 600


def test_one_percent_of_the_rows_stand_twice_unchanged() -> None:
    dataset = make("E3").dataset
    surplus = dataset.surplus_rows
    assert len(surplus) / (dataset.n_rows - len(surplus)) == pytest.approx(0.01, abs=1e-4)
    assert np.array_equal(dataset.label[surplus], dataset.label[surplus - 1])
    assert np.array_equal(score_of(dataset)[surplus], score_of(dataset)[surplus - 1])


def test_hard_labels_are_two_scores() -> None:
    assert set(score_of(make("E4").dataset)) == {0.0, 1.0}


def test_logits_are_declared_to_be_probabilities() -> None:
    made = make("E5")
    assert score_of(made.dataset).min() < 0
    assert made.config.score_kind == "probability"


def test_seconds_have_many_values_a_heavy_tail_and_one_decimal() -> None:
    label = make("E6").dataset.label
    watched = label[label > 0]
    assert len(np.unique(watched)) > 20
    assert watched.max() > 100
    assert watched == pytest.approx(np.round(watched, 1), abs=1e-9)
    # exp of N(3, 1) has the median e³ = 20.1.
    assert np.median(watched) == pytest.approx(20.1, abs=2)


def test_a_twentieth_of_the_negatives_is_labelled_minus_one() -> None:
    label = make("E7").dataset.label
    assert set(label) == {-1.0, 0.0, 1.0}
    assert (label == -1).sum() / (label < 1).sum() == pytest.approx(0.05, abs=1e-4)


def test_one_score_in_a_hundred_is_the_default() -> None:
    assert (score_of(make("E8").dataset) == 1e-6).mean() == pytest.approx(0.01, abs=1e-4)


def test_a_heap_of_three_percent_stands_on_the_threshold() -> None:
    made = make("E9")
    assert (score_of(made.dataset) == made.config.threshold).mean() == pytest.approx(0.03, abs=1e-4)


def test_short_lists_have_7_to_20_rows() -> None:
    lengths = sizes(make("E10").dataset)
    assert (lengths.min(), lengths.max()) == (7, 20)


def test_no_list_is_longer_than_k() -> None:
    made = make("E11")
    assert set(sizes(made.dataset)) == set(made.config.ks) == {10}


def test_most_users_have_no_click() -> None:
    assert (positives(make("E12").dataset) == 0).mean() > 0.5


def test_precision_at_20_cannot_reach_a_half() -> None:
    n_positives = positives(make("E13").dataset)
    assert np.mean(np.minimum(n_positives[n_positives > 0], 20) / 20) < 0.5


def test_every_user_has_as_many_relevant_items_as_places() -> None:
    made = make("E14")
    assert set(positives(made.dataset)) == set(made.config.ks) == {5}
    assert len(set(sizes(made.dataset))) > 1


def test_a_few_propensities_carry_all_the_weight() -> None:
    dataset = make("E15").dataset
    weight = 1 / dataset.values["propensity"][dataset.label == 1]
    assert weight.sum() ** 2 / (weight**2).sum() / len(weight) < 0.1


def test_the_popularity_proxy_follows_the_exposures_of_the_items() -> None:
    dataset = make("E16").dataset
    exposures = np.bincount(dataset.item)[dataset.item]
    assert np.corrcoef(np.log(exposures), score_of(dataset))[0, 1] > 0.9
    assert auc(dataset) - roc_auc_score(dataset.label, exposures) < 0.02
    assert (sizes(dataset).min(), sizes(dataset).max()) == (20, 59)


def test_a_time_split_is_declared_leave_last_out() -> None:
    made = make("E17")
    assert made.config.split == "leave_last_out"
    assert made.dataset.train.time.max() < made.dataset.values["time"].min()


def test_some_candidates_without_a_click_were_clicked_in_train() -> None:
    made = make("E18")
    seen = shared_with_train(made.dataset)
    assert seen[made.dataset.label == 0].mean() == pytest.approx(0.02, abs=1e-3)
    assert not seen[made.dataset.label == 1].any()


def test_the_segment_assigned_after_the_click_predicts_it() -> None:
    dataset = make("E19").dataset
    # (0.8 of the positives, 0.1 of the negatives): AUC = ½ + (.8 − .1)/2 = .85
    assert roc_auc_score(dataset.label, -dataset.segments["segment"].codes) == pytest.approx(0.85, abs=0.01)


def test_stretched_logits_have_the_inverse_slope() -> None:
    made, base = make("E20", 5).dataset, make("H1", 5).dataset
    stretched = 1.6 * logit_of(score_of(base)) + 1.2
    assert logit_of(score_of(made)) == pytest.approx(stretched, abs=1e-9)


def test_the_wave_is_right_on_average_and_wrong_in_between() -> None:
    dataset = make("E21").dataset
    score = score_of(dataset)
    assert score.max() <= 0.99
    assert score.sum() / dataset.label.sum() == pytest.approx(1.0, abs=0.05)
    # At F = 1/12 the wave stands at 1 + .65, at F = 1/4 at 1 − .65.
    base = make("H1", 0, n_users=1_200).dataset
    share = (np.argsort(np.argsort(score_of(base))) + 1) / base.n_rows
    high, low = np.abs(share - 1 / 12) < 0.005, np.abs(share - 1 / 4) < 0.005
    ratio = score / score_of(base)
    assert ratio[high].mean() / ratio[low].mean() == pytest.approx(1.65 / 0.35, abs=0.2)


def test_only_the_tv_is_overestimated() -> None:
    dataset = make("E22").dataset
    segment = dataset.segments["device"]
    ratio = {
        name: score_of(dataset)[segment.codes == code].sum() / dataset.label[segment.codes == code].sum()
        for code, name in enumerate(segment.labels)
    }
    assert ratio["tv"] > 1.33
    assert ratio["web"] == pytest.approx(1.0, abs=0.1)


def test_one_user_has_4000_rows() -> None:
    lengths = np.sort(sizes(make("E23").dataset))
    assert lengths[-1] == 4_000
    assert lengths[-2] < 60
    assert len(lengths) == 601


def test_the_second_model_lacks_a_tenth_of_the_rows() -> None:
    dataset = make("E24").dataset
    assert dataset.rows_of("A").all()
    assert dataset.rows_of("B").mean() == pytest.approx(0.9, abs=1e-4)
    assert np.isnan(score_of(dataset, "B")).sum() == (~dataset.rows_of("B")).sum()


def test_the_value_reported_at_ten_was_cut_at_nine() -> None:
    made = make("E25")
    dataset = made.dataset
    value = {k: ndcg_by_hand(dataset, k) for k in (9, 10)}
    assert made.options == {"reported": {"ndcg@10": f"{value[9]:.4f}"}}
    assert f"{value[9]:.4f}" != f"{value[10]:.4f}"


def ndcg_by_hand(dataset: Dataset, k: int) -> float:
    """Mean binary NDCG@k over users with a positive, by a plain loop."""
    values = []
    for user in range(dataset.n_users):
        rows = np.flatnonzero(dataset.user == user)
        label = dataset.label[rows[np.argsort(-score_of(dataset)[rows])]]
        if label.any():
            gain = sum(y / np.log2(rank + 1) for rank, y in enumerate(label[:k], 1))
            ideal = sum(1 / np.log2(rank + 1) for rank in range(1, min(k, int(label.sum())) + 1))
            values.append(gain / ideal)
    return float(np.mean(values))


def test_the_reported_value_counts_users_without_retrieved_items_as_zero() -> None:
    # User 0: labels in order of score 0 1, NDCG@2 = 1/log2(3) = .63093; user 1 retrieved nothing relevant.
    user, label, score = np.array([0, 0, 1]), np.array([1.0, 0.0, 0.0]), np.array([0.1, 0.9, 0.5])
    assert mean_ndcg(user, label, score, 2, np.array([True, True])) == pytest.approx(0.6309297535714575 / 2)
    assert mean_ndcg(user, label, score, 2, np.array([True, False])) == pytest.approx(0.6309297535714575)


def test_the_hidden_causes_add_up_to_the_logit() -> None:
    draft = clicks(np.random.default_rng(1))
    assert draft.logit == pytest.approx(-2.6 + draft.effect + draft.signal)
    assert np.std(draft.signal) == pytest.approx(1.1, abs=0.02)
