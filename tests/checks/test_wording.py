"""Findings in words: every text of every check exists in both languages and is filled from facts alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from string import Formatter

import numpy as np
import pytest

from recmetrics import wording
from recmetrics.checks import CHECKS, Mute
from recmetrics.checks.base import GATES
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.diagnose import DiagnoseOptions, diagnose
from recmetrics.results import Finding
from recmetrics.synthetic import make
from recmetrics.text import LANGUAGES, Text, catalogue
from tests.build import dataset, labelled
from tests.checks.asking import lists, log

# Sets that raise one check each, and small data for what no set raises.
SETS = ("D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D14", "D18", "D23", "E1", "E3", "E4", "E5", "E6", "E7", "E8")
SETS += ("E10", "E11", "E12", "E13", "E14", "D20")


def small_data() -> Iterator[tuple[Dataset, EvalConfig, DiagnoseOptions]]:
    plain, nothing = EvalConfig(), DiagnoseOptions()
    rows = log(400)
    rows[3][0], rows[4][1], rows[5][2] = None, None, None
    city = ["a" if i < 30 else "b" for i in range(400)]
    yield dataset(rows, segments={"city": city}, values={"time": [i / 100 for i in range(400)]}), plain, nothing
    yield labelled([0, 0, 0], [0.1, 0.2, 0.3]), plain, nothing
    yield labelled([1, 1, 1], [0.1, 0.2, 0.3]), plain, nothing
    yield labelled([1, 0] * 20, [3.0, 1.5] * 20), plain, nothing
    yield lists([1, 0, 60], [1, 0], [1], scores=[[3, 2, 1], [5, 5], [1]]), EvalConfig(gain="exp2"), DiagnoseOptions(k=2)
    run = [(f"u{u}", f"i{i}", float(i == 0), -float(i)) for u in range(6) for i in range(3)]
    yield dataset(run, truth=[(f"u{u}", "i0", 1.0) for u in range(3, 9)]), plain, nothing
    judged = [(f"u{u}", f"i{i}", 1.0 if i == 2 else None, -float(i)) for u in range(40) for i in range(5)]
    yield dataset(judged, truth=[(f"u{u}", "i2", 1.0) for u in range(40)]), plain, nothing
    held = [i >= 40 for i in range(400)]
    scores = {"a": [r[3] for r in log(400)], "b": [r[3] if h else None for r, h in zip(log(400), held, strict=True)]}
    yield dataset([r[:3] for r in log(400)], scores=scores, scored={"b": held}), plain, nothing
    ratio = [(f"u{u}", f"i{u}-{i}", float(i <= u % 3), float(-i)) for u in range(30) for i in range(4 * (1 + u % 3))]
    yield dataset(ratio), plain, nothing
    yield dataset([(f"u{u}", f"i{i}", float(i == u % 4), u / 50) for u in range(50) for i in range(4)]), plain, nothing
    yield scales_of_their_own(), plain, nothing
    yield weak_signal(), plain, nothing
    yield (
        dataset([(f"u{u}", f"i{i}", float(i == 0), u * 7.0 % 50 - i) for u in range(50) for i in range(4)]),
        plain,
        nothing,
    )
    yield labelled([1] * 9 + [0] * 9, [0.5 + 0.01 * i for i in range(18)]), EvalConfig(threshold=0.587), nothing


def scales_of_their_own() -> Dataset:
    rng = np.random.default_rng(1)
    label = (rng.random((200, 20)) < 0.3).astype(float)
    score = rng.normal(0, 3, (200, 1)) + label + rng.normal(size=(200, 20))
    return dataset([(f"u{u}", f"i{i}", label[u, i], score[u, i]) for u in range(200) for i in range(20)])


def weak_signal() -> Dataset:
    rng = np.random.default_rng(2)
    label = np.arange(20_000) % 2
    return labelled(label.astype(float).tolist(), (rng.normal(size=20_000) + 0.04 * label).tolist())


@cache
def raised() -> tuple[Finding, ...]:
    """Return findings of all checks, raised in every way they can be, and some that were not."""
    found: list[Finding] = []
    for name in SETS:
        made = make(name)
        options = DiagnoseOptions(headline=tuple(made.options["headline"]) if "headline" in made.options else None)
        found += diagnose(made.dataset, made.config, options)
    for data, config, options in small_data():
        found += diagnose(data, config, options)
    return tuple(found)


def told() -> list[Finding]:
    return [f for f in raised() if f.status in ("fired", "explained")]


def keys() -> Iterator[str]:
    """Return every key that a check can ask for."""
    for check in CHECKS.values():
        for part in ("title", "question", "empty"):
            yield f"check.{check.code}.{part}"
        for variant in check.variants or (None,):
            yield f"check.{check.code}.sentence" + (f".{variant}" if variant else "")
        for part, names in (("cause", check.causes), ("disproof", check.disproofs), ("next", check.next_steps)):
            for name in names:
                yield f"check.{check.code}.{part}.{name}"
        for name in check.limits:
            yield f"limit.{name}"
    for gate in GATES:
        yield f"reason.{gate}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_every_check_exists(language: str) -> None:
    text = Text(language)
    assert [key for key in keys() if not text.has_content(key)] == []


def test_no_text_of_a_check_is_left_over() -> None:
    written = {key for _, key in catalogue("en") if isinstance(key, str) and key.startswith(("check.", "limit."))}
    assert sorted(written - set(keys())) == []


def test_all_checks_are_raised_here_in_all_their_variants() -> None:
    found = {(f.code, wording._variant(f)) for f in told()}
    wanted = {(check.code, variant) for check in CHECKS.values() for variant in check.variants or (None,)}
    assert found == wanted


def test_findings_carry_only_declared_causes_disproofs_and_steps_and_none_is_dead() -> None:
    for code in CHECKS:
        check, findings = CHECKS[code], [f for f in told() if f.code == code]
        assert {cause.name for f in findings for cause in f.causes} == set(check.causes)
        assert {f.disproof for f in findings} == set(check.disproofs)
        assert {step for f in findings for step in f.next_steps} == set(check.next_steps)
        assert any(f.evidence for f in findings)


def printed(finding: Finding, text: Text) -> Iterator[str]:
    """Return everything that a card shows."""
    yield wording.title(finding.code, text)
    yield wording.question(finding.code, text)
    yield wording.status(finding, text)
    yield wording.severity(finding, text)
    yield wording.sentence(finding, text)
    yield wording.explained(finding, text)
    yield wording.disproof(finding, text)
    for cause in wording.causes(finding, text):
        yield from (cause.text, cause.verdict, *(part for line in cause.measured for part in (line.label, line.value)))
    for step in wording.next_steps(finding, text):
        yield step.text
    for line in (*wording.measured(finding, text), *wording.limits(finding, text)):
        yield from (line.label, line.value)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_finding_is_printed_without_a_missing_key_or_an_unfilled_placeholder(language: str) -> None:
    text = Text(language)
    broken = re.compile(
        r"[{}]|\b(check|fact|limit|reason|finding|enum|missing|role)\.[a-zA-Z]|\b(None|nan|True|False|inf)\b"
    )
    for finding in raised():
        for shown in printed(finding, text):
            assert not broken.search(shown), (finding.code, shown)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fact_is_printed_and_used(language: str) -> None:
    text = Text(language)
    for finding in told():
        facts = [name for name in finding.facts if not name.startswith("limit_")]
        assert len(wording.measured(finding, text)) == len(facts)
        assert len(wording.limits(finding, text)) == len(CHECKS[finding.code].limits)
        for cause, line in zip(finding.causes, wording.causes(finding, text), strict=True):
            assert len(line.measured) == len([name for name in cause.facts if name != "missing"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_contain_their_numbers_and_no_fact_that_a_finding_may_lack(language: str) -> None:
    for finding in told():
        variant = wording._variant(finding)
        key = f"check.{finding.code}.sentence" + (f".{variant}" if variant else "")
        used = {name for _, name, _, _ in Formatter().parse(catalogue(language)[None, key]) if name}
        assert used
        assert used <= set(finding.facts)


def test_a_sentence_reads_as_a_person_would_write_it() -> None:
    data = lists(*[[1, 0, 0]] * 1200, [1, 0, 0, 0])
    (finding,) = [f for f in diagnose(data, options=DiagnoseOptions(k=4)) if f.code == "RM-403"]
    english, chinese = (wording.sentence(finding, Text(language)) for language in ("en", "zh"))
    # 1200 of 1201 users are 99.92 %.
    assert english == (
        "1,200 of 1,201 users (99.9%) have fewer than 4 candidates. "
        "Precision is still divided by 4, so they cannot reach 1."
    )
    assert chinese == "1,201 个用户中有 1,200 个（99.9%）的候选不足 4 个。精确率仍除以 4，所以他们达不到 1。"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (5.0, "5"),
        (1234567.0, "1,234,567"),
        (0.25, "0.25"),
        (0.28333333, "0.2833"),
        (12.3456, "12.35"),
        (-3.5, "−3.5"),
        (1e-6, "1e-06"),
        (0.00012367, "0.0001237"),
        (-2.5e299, "−2.5E299"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_of_any_size_are_printed_short(value: float, shown: str) -> None:
    assert wording.plain_number(value, Text("en")) == shown


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("share", 0.0, "0.0%"),
        ("share", 1.0, "100.0%"),
        ("share", 0.0004, "0.040%"),
        ("share", 0.5, "50.0%"),
        ("p", 0.0321, "0.032"),
        ("p", 1.9e-113, "1.9e-113"),
        ("p", 0.0, "0.000"),
        ("moved", 1, "+1"),
        ("moved", -3, "−3"),
        ("signed", -0.25, "−0.250"),
        ("count", 1200, "1,200"),
    ],
)
def test_facts_are_printed_by_what_they_are(kind: str, value: float, shown: str) -> None:
    assert wording._number(kind, value, Text("en")) == shown


def test_statuses_other_than_fired_say_why_there_is_nothing_to_read() -> None:
    text = Text("en")
    passed = Finding("RM-203", "constant_score", "passed")
    assert wording.sentence(passed, text) == "Scores differ between rows."
    crashed = replace(passed, status="error")
    assert "crashed" in wording.sentence(crashed, text)
    absent = replace(passed, status="not_applicable", reason="no_column:score")
    assert wording.sentence(absent, text) == "The data have no column for: score."
    refused = replace(passed, status="not_applicable", reason="refused:gain_overflow")
    assert wording.sentence(refused, text) == "The convention refuses these data: gain_overflow."
    assert wording.reason(passed, text) == wording.muted(passed, text) == wording.explained(passed, text) == ""


def test_a_muted_finding_keeps_its_sentence_and_says_who_muted_it() -> None:
    data = lists(*[[1, 0, 0]] * 40)
    options = DiagnoseOptions(k=3, mutes=(Mute("RM-404", "Ann {x}", "slots"),))
    (finding,) = [f for f in diagnose(data, options=options) if f.code == "RM-404"]
    assert wording.muted(finding, Text("en")) == "Muted by Ann {x}: slots"
    assert "every candidate is in the top 3" in wording.sentence(finding, Text("en"))


def test_names_from_the_data_are_filled_in_once_and_never_read_as_a_template() -> None:
    rows = log(100)
    hostile = "{n} <b>**x**"
    data = dataset(rows, segments={"{column}": [hostile if i < 20 else "web" for i in range(100)]})
    (finding,) = [f for f in diagnose(data) if f.code == "RM-704"]
    assert hostile in wording.sentence(finding, Text("en"))
    assert "'{column}'" in wording.sentence(finding, Text("en"))


def test_long_lists_are_cut() -> None:
    data = labelled([i % 3 == 0 for i in range(200)], [i % 20 / 32 for i in range(200)])
    (finding,) = [f for f in diagnose(data) if f.code == "RM-204"]
    assert wording.sentence(finding, Text("en")).count(", …") == 1
