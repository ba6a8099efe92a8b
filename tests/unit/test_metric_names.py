"""Metric strings: parse and print are inverse, and a wrong string is refused with what would be right."""

from __future__ import annotations

import pytest

from recmetrics.config import EvalConfig
from recmetrics.errors import RecmetricsError
from recmetrics.metrics import METRICS
from recmetrics.metrics.names import MetricName, asked_for, canonical, entry_of, parse_metric
from tests.metric_strings import all_strings, alternatives


@pytest.mark.parametrize("text", all_strings())
def test_parsing_and_printing_give_the_same_string_back(text: str) -> None:
    assert str(parse_metric(text)) == text
    assert parse_metric(str(parse_metric(text))) == parse_metric(text)


def test_every_metric_of_the_specification_is_registered() -> None:
    # §2.1, §2.2 and §7 of the metric specification.
    rows = "accuracy precision recall f_beta fpr specificity balanced_accuracy mcc prevalence roc_auc partial_auc auprc"
    probabilities = "log_loss normalized_entropy brier miscalibration discrimination uncertainty ece calibration_ratio"
    more = "calibration_slope calibration_intercept gauc r_precision"
    lists = "hit_rate precision recall f_beta mrr map dcg ndcg coverage gini avg_popularity novelty ctr gmv"
    business = "exposures clicks purchases ctr cvr conversion_rate gmv gmv_per_user gmv_per_mille exposures_per_user"
    users = "clicks_per_user dwell_per_user satisfaction"
    named = [*rows.split(), *probabilities.split(), *more.split(), *business.split(), *users.split()]
    assert set(METRICS) == {*named, *(f"{name}@k" for name in lists.split())}


@pytest.mark.parametrize("key", list(METRICS))
def test_an_entry_says_all_there_is_to_say(key: str) -> None:
    entry = METRICS[key]
    assert entry.key == key
    assert entry.has_k is (entry.cutoff != "never")
    assert entry.low <= entry.high
    assert entry.label
    assert entry.source
    for field in entry.options.values():
        assert alternatives(field)


@pytest.mark.parametrize(
    ("written", "canonical_text"),
    [
        ("ndcg @ 10", "ndcg@10"),
        ("ndcg[ gain = exp2 ] @10", "ndcg[gain=exp2]@10"),
        ("ndcg[ideal=min_r_k,gain=exp2]@10", "ndcg[gain=exp2]@10"),  # the default is left out
        ("ndcg[ideal=full_k,gain=binary]@5", "ndcg[gain=binary,ideal=full_k]@5"),  # keys in alphabetical order
        ("precision[threshold=0.50]", "precision"),
        ("precision[threshold=.3]", "precision[threshold=0.3]"),
        ("f1@5", "f_beta@5"),
        ("f2@5", "f_beta[beta=2]@5"),
        ("f0.5", "f_beta[beta=0.5]"),
        ("f_beta[beta=2.0]", "f_beta[beta=2]"),
        ("log_loss[clip=0.0000001]", "log_loss[clip=1e-07]"),
        ("map[denominator=r]@100", "map[denominator=r]@100"),
        ("mrr", "mrr"),
        ("mrr@10", "mrr@10"),
        ("dcg[log_base=e]@3", "dcg[log_base=e]@3"),
        ("ndcg[]@10", "ndcg@10"),
    ],
)
def test_spaces_defaults_order_and_short_names_are_read(written: str, canonical_text: str) -> None:
    assert str(parse_metric(written)) == canonical_text


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", "unknown_name", "no metric"),
        ("@10", "unknown_name", "no metric"),
        ("ndgc@10", "unknown_name", "ndcg"),
        ("NDCG@10", "unknown_name", "ndcg"),
        ("ndcg[gain=exp2@10", "unknown_name", "no metric"),
        ("ndcg(10)", "unknown_name", "no metric"),
        ("ndcg@0", "invalid_k", "'0'"),
        ("ndcg@-1", "invalid_k", "'-1'"),
        ("ndcg@1.5", "invalid_k", "'1.5'"),
        ("ndcg@ten", "invalid_k", "'ten'"),
        ("hit_rate", "invalid_k", "hit_rate@10"),
        ("roc_auc@10", "invalid_k", "roc_auc"),
        ("ndcg[gain=exp3]@10", "invalid_config", "exp3"),
        ("ndcg[gains=exp2]@10", "invalid_config", "gain"),
        ("ndcg[gain]@10", "invalid_config", "key=value"),
        ("ndcg[gain=]@10", "invalid_config", "key=value"),
        ("ndcg[gain=exp2,gain=linear]@10", "invalid_config", "once"),
        ("precision[threshold=0.3]@10", "invalid_config", "threshold"),
        ("ndcg[log_base=10]@10", "invalid_config", "cancels"),
        ("prevalence[threshold=0.3]", "invalid_config", "–"),
        ("precision[threshold=high]", "invalid_config", "high"),
        ("precision[threshold=nan]", "invalid_config", "nan"),
        ("f_beta[beta=0]@5", "invalid_config", "0"),
        ("f0@5", "invalid_config", "0"),
    ],
)
def test_a_wrong_string_is_refused_with_what_would_be_right(text: str, kind: str, said: str) -> None:
    with pytest.raises(RecmetricsError) as refused:
        parse_metric(text)
    assert refused.value.kind == kind
    assert said in str(refused.value)
    assert len(str(refused.value)) < 600


def test_a_long_wrong_string_is_not_repeated_in_full() -> None:
    for text in ("x" * 10_000 + "!", "y" * 10_000, "ndcg[" + "z" * 10_000 + "]@3", "ndcg[gain=" + "g" * 10_000 + "]@3"):
        with pytest.raises(RecmetricsError) as refused:
            parse_metric(text)
        assert len(str(refused.value)) < 1000


def test_the_options_of_the_string_win_over_the_convention() -> None:
    config = EvalConfig(gain="binary", ties="worst")
    assert asked_for("ndcg[gain=exp2]@10", config).fixed(config) == config.replace(gain="exp2")
    assert asked_for("ndcg@10", config).fixed(config) is config
    assert asked_for("precision[threshold=0.3]", config).fixed(config).threshold == 0.3


def test_the_string_of_a_value_shows_what_the_convention_changes() -> None:
    config = EvalConfig(gain="exp2", ties="worst", threshold=0.3)
    assert str(canonical(METRICS["ndcg@k"], config, 10)) == "ndcg[gain=exp2,ties=worst]@10"
    assert str(canonical(METRICS["precision"], config)) == "precision[threshold=0.3]"
    assert str(canonical(METRICS["roc_auc"], config)) == "roc_auc"


def test_one_name_counts_rows_without_and_lists_with_a_cutoff() -> None:
    assert entry_of("precision", has_k=False).layer == "classification"
    assert entry_of("precision", has_k=True).layer == "ranking"
    assert MetricName("precision", (), 10).entry is METRICS["precision@k"]
    assert MetricName("mrr").entry is METRICS["mrr@k"]


def test_beta_in_the_name_and_in_the_brackets_is_refused() -> None:
    with pytest.raises(RecmetricsError, match="names beta twice") as refused:
        parse_metric("f1[beta=2]")
    assert refused.value.kind == "invalid_config"
