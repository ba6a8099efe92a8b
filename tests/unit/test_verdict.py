"""The words of the overview: tiles by stage, bands of an AUC, headline, what the checks allow."""

from __future__ import annotations

import pytest

from recmetrics.config import EvalConfig
from recmetrics.metrics import parse_metric
from recmetrics.results import Finding, MetricValue
from recmetrics.text import Text
from recmetrics.ui.views.verdict import band, both_aucs, few, headline, label, note, quoting, tally, tile_names

ENGLISH = Text("en")


def auc(
    value: float | None, low: float | None = None, high: float | None = None, metric: str = "roc_auc"
) -> MetricValue:
    reason = None if value is not None else "no negatives"
    return MetricValue(
        metric, "m", value, reason, low=low, high=high, n_users=20 if metric == "gauc" else None, n_rows=9
    )


def finding(status: str, severity: str = "info") -> Finding:
    return Finding("RM-501", "leakage", status, severity)


@pytest.mark.parametrize("stage", [None, "recall", "ranking", "ctr", "push"])
@pytest.mark.parametrize("has_users", [True, False])
@pytest.mark.parametrize("top_k", [None, 3])
def test_every_stage_leads_with_six_known_metrics(stage: str | None, has_users: bool, top_k: int | None) -> None:
    names = tile_names(EvalConfig(stage=stage), 10, has_users=has_users, top_k=top_k if has_users else None)
    assert len(set(names)) == 6
    for name in names:
        parse_metric(name)


@pytest.mark.parametrize(
    ("stage", "first"),
    [
        ("recall", ["recall@500", "recall@1000", "hit_rate@500"]),
        ("ranking", ["ndcg@10", "precision@10", "mrr@10"]),
        ("ctr", ["roc_auc", "gauc", "log_loss"]),
        ("push", ["precision", "recall", "f_beta[beta=0.5]"]),
    ],
)
def test_a_stage_leads_with_the_metrics_of_its_row_in_the_stage_map(stage: str, first: list[str]) -> None:
    assert tile_names(EvalConfig(stage=stage), 10, has_users=True, top_k=None)[:3] == first


def test_without_users_no_list_metric_is_shown_and_accuracy_comes_with_its_baseline() -> None:
    names = tile_names(EvalConfig(), 10, has_users=False, top_k=None)
    assert not [name for name in names if "@" in name or name == "gauc"]
    value = MetricValue("accuracy", "m", 0.98, extra={"baseline_all_negative": 0.98})
    assert note(value, ENGLISH, EvalConfig(), "≥") == "at score ≥ 0.500 · flagging nothing: 0.980"


def test_when_a_rule_per_user_decides_the_tiles_count_its_first_k() -> None:
    names = tile_names(EvalConfig(stage="push"), 10, has_users=True, top_k=2)
    assert names[:3] == ["precision@2", "recall@2", "f_beta[beta=0.5]@2"]
    assert "fpr" not in names


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.45, "typical of a score that has learned almost nothing"),
        (0.5, "typical of a score that has learned almost nothing"),
        (0.599, "typical of a score that has learned almost nothing"),
        (0.6, "typical of a weak signal"),
        (0.7, "usual in industry"),
        (0.8, "typical of rich features and a clear task"),
        (0.9, "typical of rich features and a clear task"),
        (0.901, "suspect leakage"),
        (0.95, "suspect leakage"),
        (0.951, "assume leakage until it is disproved"),
        (1.0, "assume leakage until it is disproved"),
    ],
)
def test_the_band_of_an_auc_is_that_of_the_specification(value: float, words: str) -> None:
    assert band(auc(value, 0.4, 0.99), ENGLISH) == words


def test_an_auc_below_one_half_is_called_inverted_only_when_its_interval_lies_below() -> None:
    assert band(auc(0.4, 0.35, 0.45), ENGLISH) == "direction or labels may be inverted"
    assert band(auc(0.4, 0.3, 0.52), ENGLISH) == "typical of a score that has learned almost nothing"
    assert band(auc(0.4), ENGLISH) == "typical of a score that has learned almost nothing"


def test_the_headline_says_auc_interval_and_precision_or_why_there_is_none() -> None:
    precision = MetricValue("precision@5", "m", 0.2, k=5)
    assert headline("A", auc(0.76, 0.712, 0.801), precision, ENGLISH) == (
        "A puts a random positive above a random negative 76.0% of the time (71.2%–80.1%); "
        "in a user's first 5, 20.0% are relevant."
    )
    assert headline("A", auc(0.76, 0.712, 0.801), None, ENGLISH).endswith("(71.2%–80.1%).")
    assert headline("A", auc(None), precision, ENGLISH) == "The AUC of A is undefined: no negatives."


def test_pooled_and_per_user_auc_stand_in_one_line() -> None:
    line = both_aucs(auc(0.76, 0.712, 0.801), auc(0.61, 0.55, 0.67, "gauc"), ENGLISH)
    assert line == (
        "AUC over all pairs 0.760 [0.712, 0.801], usual in industry; "
        "inside users (GAUC) 0.610 [0.550, 0.670] over 20 users."
    )
    assert "inside users" not in both_aucs(auc(0.76, 0.712, 0.801), None, ENGLISH)
    assert "undefined: no negatives" in both_aucs(auc(0.76), auc(None, metric="gauc"), ENGLISH)
    assert both_aucs(auc(None), None, ENGLISH) == ""


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([finding("fired", "critical")], "1 check says: do not quote these numbers."),
        ([finding("fired", "critical")] * 2, "2 checks say: do not quote these numbers."),
        ([finding("fired", "warning"), finding("fired", "info")], "1 check says: read it before quoting."),
        (
            [
                finding("passed"),
                finding("not_applicable"),
                finding("muted", "critical"),
                finding("explained", "critical"),
            ],
            "No check speaks against quoting them; 1 did not apply.",
        ),
    ],
)
def test_only_findings_that_stand_speak_against_quoting(findings: list[Finding], said: str) -> None:
    assert quoting(findings, ENGLISH) == said


def test_the_tally_counts_fired_findings_by_severity_and_others_by_status() -> None:
    counted = tally([finding("fired", "critical"), finding("passed", "critical"), finding("explained", "warning")])
    assert (counted["critical"], counted["passed"], counted["warning"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("metric", "words"),
    [("ndcg@10", "NDCG@10"), ("f_beta[beta=0.5]", "F0.5"), ("f_beta[beta=2]@10", "F2@10"), ("roc_auc", "AUC")],
)
def test_labels_carry_beta_and_k(metric: str, words: str) -> None:
    assert label(metric, ENGLISH) == words


def test_values_on_sampled_candidates_say_so() -> None:
    value = MetricValue("ndcg@10", "m", 0.5, k=10)
    config = EvalConfig(candidates="sampled", negatives={"per_positive": 99})
    assert note(value, ENGLISH, config, "≥") == "sampled, 99 negatives"
    assert note(value, ENGLISH, EvalConfig(candidates="sampled"), "≥") == "sampled candidates"
    assert note(value, ENGLISH, EvalConfig(), "≥") == ""


def test_few_positives_negatives_or_users_are_warned_about() -> None:
    assert few(30, 30, 30, ENGLISH) == ""
    assert few(29, 1_000, None, ENGLISH).startswith("Positives: 29, negatives: 1,000. Fewer than 30 of one kind")
    assert "users: 29" in few(100, 100, 29, ENGLISH)
    assert few(0, 0, None, ENGLISH) == ""
