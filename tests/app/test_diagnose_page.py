"""Diagnose: failed checks come first with evidence and ways out; mutes are kept; a crash is never a pass."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recmetrics.checks import CHECKS
from recmetrics.config import EvalConfig
from recmetrics.diagnose import DiagnoseOptions, diagnose
from recmetrics.load import load
from recmetrics.results import Finding, Severity, Status
from recmetrics.samples import SAMPLES
from recmetrics.text import Text
from recmetrics.ui.views.diagnose import summary
from tests.app.opening import answer, opened, write_rows, written

PAGE = "50_Diagnose"


def expected(sample_name: str) -> tuple[Finding, ...]:
    sample = SAMPLES[sample_name]
    data = load(*sample.paths, **sample.load_options)
    return diagnose(data, EvalConfig(), DiagnoseOptions(k=10), [data.models[0]])


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("sample", list(SAMPLES))
def test_every_sample_is_diagnosed_without_a_crash(sample: str, language: str) -> None:
    at = opened(PAGE, language, d=f"sample:{sample}")
    assert not at.exception
    assert not re.search(r"\bnan\b|\bNone\b|check\.RM|\{\w+\}", written(at))


@pytest.mark.parametrize("sample", ["leak", "p_equals_r", "sampled_1_99", "row_shift"])
def test_failed_checks_stand_in_the_order_of_their_severity(sample: str) -> None:
    at = opened(PAGE, d=f"sample:{sample}")
    fired = [finding for finding in expected(sample) if finding.status == "fired"]
    wanted = [f.code for severity in ("critical", "warning", "info") for f in fired if f.severity == severity]
    heads = [m.value for m in at.markdown if re.match(r"\*\*RM-\d+ · ", m.value)]
    assert [head[2:8] for head in heads] == wanted
    alarms = sum(finding.is_alarm for finding in fired)
    assert f"Failed ({alarms})" in written(at)
    assert f"Hints ({len(wanted) - alarms})" in written(at)


def test_a_hint_is_folded_until_its_details_are_asked_for() -> None:
    at = opened(PAGE, d="sample:healthy_clicks")
    assert "Failed" not in written(at)
    assert "Likely causes" not in written(at)
    at.toggle[0].set_value(True).run()
    assert "Likely causes" in written(at)


def test_all_findings_are_counted_in_their_groups() -> None:
    found = expected("leak")
    shown = written(opened(PAGE, d="sample:leak"))
    for status, name in (("passed", "Passed"), ("not_applicable", "Not applicable")):
        assert f"{name} ({sum(finding.status == status for finding in found)})" in shown
    assert "Skipped" not in shown


def test_an_alarm_comes_with_figures_causes_disproof_and_next_steps() -> None:
    at = opened(PAGE, d="sample:leak")
    shown = written(at)
    assert answer(at).startswith("**Do not use the number. Critical findings: 1")
    for part in ("Observed:", "Held against:", "handbook", "Likely causes", "What would disprove it", "Next steps"):
        assert part in shown
    alts = [chart.proto.alt for chart in at.get("plotly_chart")]
    assert any(alt.startswith("ROC curve of") for alt in alts)


def test_a_consequence_stands_under_its_cause() -> None:
    explained = [finding for finding in expected("sampled_1_99") if finding.status == "explained"]
    assert explained
    shown = written(opened(PAGE, d="sample:sampled_1_99"))
    for finding in explained:
        assert f"{finding.code} ·" in shown
        assert f"Explained by {finding.explained_by}" in shown.replace("\\", "")


def test_hints_can_be_hidden() -> None:
    at = opened(PAGE, d="sample:leak")
    at.segmented_control(key="diagnose_shown").set_value("critical").run()
    heads = [m.value for m in at.markdown if re.match(r"\*\*RM-\d+ · ", m.value)]
    assert [head[2:8] for head in heads] == ["RM-501"]
    assert "1 / " in written(at)


def test_a_finding_is_muted_with_a_reason_only_and_can_be_brought_back() -> None:
    at = opened(PAGE, d="sample:leak")
    assert at.button(key="finding_0_mute_now").disabled
    at.text_input(key="diagnose_reason_RM-501").input("known: replay of <b>answers</b>").run()
    at.button(key="finding_0_mute_now").click().run()
    assert not at.exception
    shown = written(at)
    assert "Muted (1)" in shown
    assert r"known\: replay of \<b\>answers\<\/b\>" in shown or "known\\: replay of" in shown
    assert not answer(at).startswith("**Do not use the number")
    at.button(key="finding_0_unmute").click().run()
    assert answer(at).startswith("**Do not use the number")


def test_a_mute_is_kept_on_other_pages() -> None:
    at = opened(PAGE, d="sample:leak")
    at.text_input(key="diagnose_reason_RM-501").input("known").run()
    at.button(key="finding_0_mute_now").click().run()
    at.switch_page("pages/70_Segments.py").run()
    at.switch_page("pages/50_Diagnose.py").run()
    assert "Muted (1)" in written(at)


def test_a_mute_holds_for_its_data_only() -> None:
    at = opened(PAGE, d="sample:leak")
    at.text_input(key="diagnose_reason_RM-501").input("known").run()
    number = next(b.key for b in at.button if b.label == "Mute RM-501 for these data")
    at.button(key=number).click().run()
    assert "Muted (1)" in written(at)
    at.session_state["source"] = "sample:healthy_clicks"
    at.run()
    assert "Muted" not in written(at)


def test_a_next_step_opens_its_page() -> None:
    at = opened(PAGE, d="sample:sampled_1_99")
    button = next(b for b in at.button if b.label == "Open Data")
    button.click().run()
    assert not at.exception
    assert at.title[0].value == "Data"


def test_a_finding_about_users_opens_the_view_of_the_users() -> None:
    at = opened(PAGE, d="sample:who_clicks")
    next(b for b in at.button if b.label == "Open Ranking @K").click().run()
    assert not at.exception
    assert "A user's page depends on the first number only" in answer(at)


def test_a_check_that_crashes_is_a_fault_of_the_program_and_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(subject: Any, limits: Any) -> Any:
        raise ZeroDivisionError

    check = CHECKS["RM-501"]
    broken = replace(check, parts=tuple(replace(part, examine=crash) for part in check.parts))
    monkeypatch.setitem(CHECKS._entries, "RM-501", broken)
    at = opened(PAGE, d="sample:leak", k="7")  # a K of its own, so that no kept result of another test is shown
    assert not at.exception
    assert [box.value for box in at.error if "RM-501" in box.value and "fault of this tool" in box.value]
    assert "RM-501" not in "".join(str(box.value) for box in at.success)


def test_data_that_metrics_refuse_are_diagnosed_and_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path, monkeypatch, [("u", "a", 1, 0.5), ("u", "a", 0, 0.4), ("v", "b", 0, 0.2)])
    at = opened(PAGE, d="file:0")
    assert not at.exception
    assert "user–item pairs" in written(at)
    assert any(m.value.startswith("**RM-104") for m in at.markdown)


@pytest.mark.parametrize("rows", [[("u", "a", 1, 0.5)], [("u", "a", 0, 0.5), ("u", "b", 0, 0.5)]])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_hardly_any_data_are_diagnosed_without_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[object, ...]], language: str
) -> None:
    write_rows(tmp_path, monkeypatch, rows)
    at = opened(PAGE, language, d="file:0")
    assert not at.exception
    assert not re.search(r"\bnan\b|\bNone\b", written(at))


def test_names_from_the_data_are_shown_letter_by_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"u{i}", item, int(item == "a"), 0.5 + i / 100, "**b** <i>x</i>") for i in range(5) for item in "abc"]
    write_rows(tmp_path, monkeypatch, rows, "user,item,label,score,$x$")
    at = opened(PAGE, d="file:0")
    assert not at.exception
    assert "<i>" not in written(at)
    assert "**b** " not in written(at)


# The sentence -------------------------------------------------------------------------------------------------------


def finding(status: Status, severity: Severity = "info") -> Finding:
    return Finding("RM-501", "leak", status, severity)


def test_nothing_failed_is_no_proof() -> None:
    found = [finding("passed"), finding("not_applicable"), finding("not_applicable"), finding("skipped")]
    assert summary(found, Text("en")) == (
        "Nothing failed. 2 checks did not apply and 1 were skipped, so this is no proof."
    )


def test_the_sentence_says_the_worst_first() -> None:
    fired = [finding("fired", "info"), finding("fired", "warning"), finding("fired", "critical")]
    assert summary(fired, Text("en")).startswith("Do not use the number.")
    assert summary(fired[:2], Text("en")).startswith("Read before quoting.")
    assert summary(fired[:1], Text("en")).startswith("No alarm.")


def test_a_crash_is_said_where_nothing_else_failed() -> None:
    assert "crashed" in summary([finding("error"), finding("passed")], Text("en"))
