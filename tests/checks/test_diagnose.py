"""Statuses, mutes, limits, models, and one alarm per cause."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Any

import numpy as np
import pytest

from recmetrics.checks import CHECKS, EXPLANATIONS, Check, Explanation, Mute, Part
from recmetrics.checks.base import GATES
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset, Segment
from recmetrics.diagnose import DiagnoseOptions, diagnose, explain
from recmetrics.errors import RecmetricsError
from recmetrics.results import Finding, Severity
from recmetrics.synthetic import make
from tests.build import dataset, labelled
from tests.checks.asking import ask, lists, log, said


def fired(code: str, severity: Severity = "warning", **fields: Any) -> Finding:
    return Finding(code, CHECKS[code].name, "fired", severity, **fields)


# The list of explanations ------------------------------------------------------------------------------------------


def test_every_explanation_joins_registered_codes_and_scopes() -> None:
    for edge in EXPLANATIONS:
        assert {edge.cause, edge.consequence} <= set(CHECKS)
        scopes = {part.scope for part in CHECKS[edge.consequence].parts}
        assert edge.scope is None or edge.scope in scopes


def test_explanations_have_no_circle_and_causes_stand_before_their_consequences() -> None:
    graph: dict[str, set[str]] = {}
    for edge in EXPLANATIONS:
        graph.setdefault(edge.consequence, set()).add(edge.cause)
    list(TopologicalSorter(graph).static_order())  # raises on a circle
    order = list(dict.fromkeys(edge.cause for edge in EXPLANATIONS))
    for edge in EXPLANATIONS:
        if edge.consequence in order and edge.consequence != "RM-202":
            assert order.index(edge.cause) < order.index(edge.consequence)


def test_no_explanation_stands_twice() -> None:
    edges = [(edge.cause, edge.consequence, edge.scope) for edge in EXPLANATIONS]
    assert len(edges) == len(set(edges))


def test_a_cause_explains_only_while_it_is_an_alarm_itself() -> None:
    edge = (Explanation("RM-403", "RM-404"),)
    consequence = fired("RM-404")
    assert explain([fired("RM-403"), consequence], edge)[1].explained_by == "RM-403"
    for status in ("passed", "muted", "explained", "not_applicable", "error"):
        silent = replace(fired("RM-403"), status=status)
        assert explain([silent, consequence], edge)[1].status == "fired"
    assert explain([fired("RM-403", "info"), consequence], edge)[1].status == "fired"


def test_an_explained_cause_explains_nothing_and_the_first_cause_is_kept() -> None:
    edges = (Explanation("RM-203", "RM-204"), Explanation("RM-203", "RM-402"), Explanation("RM-204", "RM-402"))
    found = explain([fired("RM-203", "critical"), fired("RM-204"), fired("RM-402")], edges)
    assert [f.explained_by for f in found] == [None, "RM-203", "RM-203"]
    edges = (Explanation("RM-203", "RM-204"), Explanation("RM-204", "RM-208"))
    found = explain([fired("RM-203", "critical"), fired("RM-204"), fired("RM-208")], edges)
    assert [f.status for f in found] == ["fired", "explained", "fired"]


def test_a_model_explains_its_own_findings_and_the_data_those_of_all_models() -> None:
    edges = (Explanation("RM-203", "RM-402"), Explanation("RM-107", "RM-301"))
    found = explain(
        [
            fired("RM-203", model="a"),
            fired("RM-402", model="a"),
            fired("RM-402", model="b"),
            fired("RM-107"),
            fired("RM-301", model="b"),
        ],
        edges,
    )
    assert [f.status for f in found] == ["fired", "explained", "fired", "fired", "explained"]


def test_only_the_threshold_scope_of_equal_precision_and_recall_is_explained() -> None:
    found = explain(
        [
            fired("RM-201", model="m"),
            fired("RM-302", model="m", scope="threshold"),
            fired("RM-302", model="m", scope="top_k"),
        ],
        EXPLANATIONS,
    )
    assert [f.status for f in found] == ["fired", "explained", "fired"]


# Statuses ----------------------------------------------------------------------------------------------------------


def test_a_check_that_crashes_is_an_error_and_never_a_pass(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(subject: Any, limits: Any) -> Any:
        raise ZeroDivisionError

    broken = replace(CHECKS["RM-107"], parts=(Part(crash),))
    monkeypatch.setitem(CHECKS._entries, "RM-107", broken)
    with caplog.at_level(logging.ERROR):
        found = {f.code: f for f in diagnose(dataset(log(40)))}
    assert found["RM-107"].status == "error"
    assert not found["RM-107"].is_alarm
    assert "RM-107" in caplog.text
    assert found["RM-106"].status == "passed"


def test_a_convention_that_refuses_the_data_inside_a_check_is_no_crash() -> None:
    found = ask("RM-402", lists([2, 1, 0], scores=[[1, 1, 1]]), EvalConfig(ideal="full_k"))
    assert (found.status, found.reason) == ("not_applicable", "refused:invalid_config")


def test_data_that_evaluate_refuses_are_examined_and_the_treatment_is_told() -> None:
    rows = [*log(200), *log(200)[:5]]
    rows[7][3] = None
    found = {f.code: f for f in diagnose(dataset(rows))}
    assert found["RM-104"].facts["treatment"] == "keep_best"
    assert found["RM-101"].facts["treatment"] == "drop"
    assert all(f.status != "error" for f in found.values())
    kept = {f.code: f for f in diagnose(dataset(rows), EvalConfig(duplicates="keep_first", missing_scores="last"))}
    assert (kept["RM-104"].facts["treatment"], kept["RM-101"].facts["treatment"]) == ("keep_first", "last")


@pytest.mark.parametrize(
    "data",
    [
        dataset([("u", "i", None, None)]),
        labelled([1, 0, 1], [0.5, 0.5, 0.5]),
        dataset([(None, "i", 1.0, 0.2), ("u", None, 0.0, float("inf"))]),
        dataset([("u", "i", 1.0)], scores={}),
        dataset([("u", "i", 1.0, 0.5)], truth=[("v", "j", 1.0)]),
        dataset([("u", "i", -1.0, -5.0), ("u", "j", 3.0, float("-inf"))], segments={"s": [None, None]}),
        dataset([("u", "i", 1.0, None), ("u", "j", 0.0, None)]),
    ],
    ids=["one empty row", "no users", "missing ids", "no score", "other users", "empty segment", "no score at all"],
)
@pytest.mark.parametrize("config", [EvalConfig(), EvalConfig(score_kind="probability", gain="exp2", threshold=0.3)])
def test_odd_data_never_crash_a_check(data: Dataset, config: EvalConfig) -> None:
    found = diagnose(data, config)
    assert {f.code for f in found} == set(CHECKS)
    assert [f.code for f in found if f.status == "error"] == []


def test_every_check_answers_once_per_scope_in_the_order_of_codes() -> None:
    found = diagnose(dataset(log(2000, per_user=20)))
    assert [f.code for f in found] == sorted(f.code for f in found)
    assert len(found) == sum(len(check.parts) for check in CHECKS.values())
    assert [f for f in found if f.status == "fired" and f.severity != "info"] == []


def test_findings_of_a_score_carry_its_name_and_findings_of_rows_none() -> None:
    rows = log(400)
    data = dataset([row[:3] for row in rows], scores={"a": [r[3] for r in rows], "b": [0.5] * 400})
    found = diagnose(data)
    assert {f.model for f in found if f.code == "RM-203"} == {"a", "b"}
    assert {f.model for f in found if f.code == "RM-107"} == {None}
    assert [f.model for f in found if f.code == "RM-203" and f.status == "fired"] == ["b"]
    assert {f.model for f in diagnose(data, models=["a"])} == {None, "a"}


def test_models_with_rows_of_their_own_are_looked_at_one_by_one() -> None:
    rows = log(400)
    held = [i >= 200 for i in range(400)]
    scores = {"a": [r[3] for r in rows], "b": [r[3] if h else None for r, h in zip(rows, held, strict=True)]}
    found = [
        f for f in diagnose(dataset([r[:3] for r in rows], scores=scores, scored={"b": held})) if f.code == "RM-107"
    ]
    assert [(f.model, f.facts["n_users"]) for f in found] == [("a", 40), ("b", 40)]
    assert [f.facts["n_positives"] + f.facts["n_negatives"] for f in found] == [400, 200]


def test_facts_are_plain_numbers_texts_and_lists() -> None:
    for name in ("D1", "D6", "E4", "E8", "D18"):
        made = make(name)
        for finding in diagnose(made.dataset, made.config):
            for value in [*finding.facts.values(), *(v for c in finding.causes for v in c.facts.values())]:
                assert value is None or type(value) in (int, float, str, bool, list)
                assert value == value  # no NaN


# Options -----------------------------------------------------------------------------------------------------------


def test_a_muted_finding_is_set_aside_with_who_and_why() -> None:
    data = lists(*[[1, 0, 0]] * 40)
    found = ask("RM-404", data, k=3, mutes=(Mute("RM-404", "Ann", "three slots by design"),))
    assert found.status == "muted"
    assert (found.facts["muted_by"], found.facts["muted_because"]) == ("Ann", "three slots by design")
    assert not found.is_alarm


def test_a_mute_for_other_data_does_not_hold() -> None:
    data = lists(*[[1, 0, 0]] * 40)
    assert ask("RM-404", data, k=3, mutes=(Mute("RM-404", "Ann", "known", "other"),)).status == "fired"
    assert ask("RM-404", data, k=3, mutes=(Mute("RM-404", "Ann", "known", data.fingerprint),)).status == "muted"


def test_a_muted_cause_explains_nothing() -> None:
    made = make("D2")
    found = ask("RM-402", made.dataset, made.config, mutes=(Mute("RM-203", "Ann", "known"),))
    assert found.explained_by != "RM-203"


def test_limits_can_be_replaced_by_code_and_name() -> None:
    data = lists(*[[1, 0, 0, 0]] * 100, [1, 0])
    assert said(ask("RM-403", data, k=4)) == "info"
    found = ask("RM-403", data, k=4, limits={"RM-403": {"warning": 0.001}})
    assert said(found) == "warning"
    assert found.facts["limit_warning"] == 0.001


@pytest.mark.parametrize(
    "options",
    [
        {"limits": {"RM-999": {"warning": 1}}},
        {"limits": {"RM-403": {"warn": 1}}},
        {"mutes": (Mute("RM-999", "Ann", "no such check"),)},
        {"headline": ("auccc",)},
        {"k": 0},
    ],
)
def test_unknown_names_in_the_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(RecmetricsError, match=r"There is no|K must be"):
        diagnose(dataset(log(40)), options=DiagnoseOptions(**options))


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RecmetricsError, match="known: score"):
        diagnose(dataset(log(40)), models=["scoer"])


@pytest.mark.parametrize(("ks", "expected"), [((5, 10, 20), 10), ((5,), 5), ((20, 50), 20), ((1, 3), 3), ((8, 12), 8)])
def test_the_active_cutoff_is_ten_or_the_nearest_below(ks: tuple[int, ...], expected: int) -> None:
    assert ask("RM-403", lists([1, 0]), EvalConfig(ks=ks)).facts["k"] == expected
    assert ask("RM-403", lists([1, 0]), EvalConfig(ks=ks), k=7).facts["k"] == 7


# Laws --------------------------------------------------------------------------------------------------------------


def comparable(found: tuple[Finding, ...]) -> list[tuple[object, ...]]:
    """Return codes, statuses and rounded facts; sums in another order differ in the last digits."""

    def rounded(value: object) -> object:
        return float(f"{value:.9g}") if isinstance(value, float) else value

    return [
        (f.code, f.scope, f.status, f.severity, f.explained_by, {n: rounded(v) for n, v in f.facts.items()})
        for f in found
    ]


# D3 is a shift of rows and E1 drops some, but what they say in their facts does not depend on the order.
LAW_SETS = (
    "D1",
    "D2",
    "D4",
    "D5",
    "D6",
    "D7",
    "D14",
    "D18",
    "E1",
    "E3",
    "E4",
    "E6",
    "E7",
    "E8",
    "E10",
    "E13",
    "H1",
    "H4",
)


@pytest.mark.parametrize("name", LAW_SETS)
def test_the_order_of_rows_and_the_names_of_users_change_nothing(name: str) -> None:
    made = make(name, n_users=150)
    data, rng = made.dataset, np.random.default_rng(5)
    order = rng.permutation(data.n_rows)
    renamed = rng.permutation(len(data.users)).astype(np.int32)
    assert data.user is not None
    assert data.item is not None
    other = replace(
        data,
        user=renamed[data.user][order],
        users=data.users[np.argsort(renamed)],
        item=data.item[order],
        label=data.label[order],
        scores={model: score[order] for model, score in data.scores.items()},
        values={role: column[order] for role, column in data.values.items()},
        segments={n: Segment(s.codes[order], s.labels) for n, s in data.segments.items()},
        fingerprint="",
    )
    assert comparable(diagnose(other, made.config)) == comparable(diagnose(data, made.config))


@pytest.mark.parametrize("name", ["D1", "D4", "D18", "H1", "D14"])
def test_an_increasing_map_of_raw_scores_changes_nothing_for_checks_of_the_order(name: str) -> None:
    made = make(name, n_users=150)
    config = made.config.replace(score_kind="raw")
    data = made.dataset
    mapped = replace(data, scores={m: np.exp(3 * s) for m, s in data.scores.items()}, fingerprint="")
    codes = {"RM-201", "RM-202", "RM-203", "RM-402", "RM-501", "RM-702"}
    first, second = ([f for f in diagnose(d, config) if f.code in codes] for d in (data, mapped))
    assert comparable(tuple(first)) == comparable(tuple(second))


# The catalogue -----------------------------------------------------------------------------------------------------


def test_every_check_is_registered_under_its_own_code_with_known_gates() -> None:
    for code, check in ((name, CHECKS[name]) for name in CHECKS):
        assert isinstance(check, Check)
        assert check.code == code
        assert {gate for part in check.parts for gate in part.gates} <= set(GATES)
        assert check.cost == "fast"


def test_fast_checks_take_less_than_two_seconds_on_a_million_rows() -> None:
    n, n_users = 1_000_000, 10_000
    rng = np.random.default_rng(0)
    score = rng.random(n, dtype=np.float32)
    data = Dataset(
        name="big",
        users=np.arange(n_users).astype(str).astype(object),
        items=np.arange(100).astype(str).astype(object),
        user=np.repeat(np.arange(n_users, dtype=np.int32), 100),
        item=np.tile(np.arange(100, dtype=np.int32), n_users),
        label=(rng.random(n) < 0.1 * score).astype(float),
        scores={"score": score},
        row_number=np.arange(1, n + 1),
        fingerprint="big",
    )
    diagnose(dataset(log(40)))  # lazy imports are no part of the work
    # Processor time of this process, so that a busy machine does not fail the test.
    start = time.process_time()
    diagnose(data)
    assert time.process_time() - start < 2.0
