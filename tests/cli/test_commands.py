"""The commands as a person or a script meets them: what they print, and how they end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recmetrics.cli import app, run
from recmetrics.cli.app import environment
from recmetrics.samples import SAMPLES, sample_path

CLICKS = str(sample_path("healthy_clicks"))
TEN_ROWS = str(sample_path("ten_rows"))
LEAK = str(sample_path("leak"))
RAW_SCORES = str(sample_path("sampled_1_99"))


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that ends well and return what it printed."""
    code = run(list(arguments))
    output = capsys.readouterr()
    assert (code, output.err) == (0, "")
    return output.out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    return json.loads(printed(capsys, *arguments, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command with bad input and return its one sentence."""
    code = run(list(arguments))
    output = capsys.readouterr()
    assert (code, output.out) == (2, "")
    assert len(output.err.splitlines()) == 1
    return output.err.strip()


# evaluate ---------------------------------------------------------------------------------------------------------


def test_evaluate_prints_value_interval_counts_and_the_hash_of_the_convention(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = printed(capsys, "evaluate", TEN_ROWS)
    # metrics.md R11: 19 of 25 pairs in order; R12: 4 true positives among 6 at 0.5.
    assert "roc_auc            score  0.7600" in shown
    assert "precision          score  0.6667" in shown
    assert "Config hash " in shown


def test_evaluate_names_once_what_the_columns_cannot_give(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in printed(capsys, "evaluate", TEN_ROWS).splitlines() if "missing column: user" in line]
    assert len(lines) == 2  # one for the lists, one for the exposure metrics
    assert "ndcg@10" in lines[0]


def test_the_json_of_evaluate_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, "evaluate", CLICKS, "--k", "5,10")
    assert list(found) == ["schema", "command", "version", "config", "config_hash", "dataset", "values"]
    assert (found["schema"], found["command"], found["config"]["ks"]) == ("recmetrics/1", "evaluate", [5, 10])
    required = {"metric", "model", "segment", "k", "value", "low", "high", "n_users", "undefined"}
    assert all(required <= set(value) for value in found["values"])
    # Business values belong to the log and to no model.
    assert {value["model"] for value in found["values"]} == {"score_a", "score_b", ""}


def test_every_null_value_in_the_json_has_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    values = as_json(capsys, "evaluate", TEN_ROWS)["values"]
    assert all((value["value"] is None) == (value["undefined"] is not None) for value in values)
    assert any(value["value"] is None for value in values)


def test_a_segment_adds_one_value_per_group(capsys: pytest.CaptureFixture[str]) -> None:
    values = as_json(capsys, "evaluate", CLICKS, "--by", "device")["values"]
    groups = {value["segment"]["value"] for value in values if value["segment"]}
    assert groups == {"android", "ios"}
    rows = {
        value["segment"]["value"] if value["segment"] else "all": value["n_rows"]
        for value in values
        if (value["metric"], value["model"]) == ("roc_auc", "score_a")
    }
    assert rows["all"] == rows["android"] + rows["ios"]


def test_the_threshold_and_the_convention_reach_the_values(capsys: pytest.CaptureFixture[str]) -> None:
    # metrics.md R12 with the rule `>`: 3 of 5 flagged are positive.
    arguments = ["evaluate", TEN_ROWS, "--threshold", "0.5", "--set", "threshold_rule=gt"]
    found = as_json(capsys, *arguments)
    values = {value["metric"].partition("[")[0]: value["value"] for value in found["values"]}
    assert values["precision"] == pytest.approx(0.6)
    assert values["recall"] == pytest.approx(0.6)


def test_an_archived_convention_gives_the_identical_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = as_json(capsys, "evaluate", CLICKS, "--preset", "ranx", "--k", "3")
    archive = tmp_path / "eval_config.json"
    archive.write_text(json.dumps(first["config"]), encoding="utf-8")
    again = as_json(capsys, "evaluate", CLICKS, "--config", str(archive))
    assert again == first


def test_words_for_labels_are_archived_with_the_convention_and_read_the_file_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "words.csv"
    rows.write_text("user,item,label,score\nu,a,good,0.9\nu,b,bad,0.8\nu,c,good,0.1\n", encoding="utf-8")
    first = as_json(capsys, "evaluate", str(rows), "--label-map", "good=1,bad=0")
    assert first["config"]["grade_map"] == {"good": 1.0, "bad": 0.0}
    archive = tmp_path / "eval_config.json"
    archive.write_text(json.dumps(first["config"]), encoding="utf-8")
    again = as_json(capsys, "evaluate", str(rows), "--config", str(archive))
    assert (again["values"], again["config_hash"]) == (first["values"], first["config_hash"])


def test_users_whose_relevant_items_gain_nothing_are_named_as_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # At a relevance threshold of 0 a grade of 0 is relevant, and its linear gain is 0: v's NDCG is 0/0.
    path = tmp_path / "grades.csv"
    path.write_text("user,item,label,score\nu,a,1,0.9\nu,b,0,0.5\nv,a,0,0.9\nv,b,0,0.5\n")
    lines = printed(capsys, "evaluate", str(path), "--set", "relevance_threshold=0", "--k", "1").splitlines()
    (ndcg,) = [line for line in lines if line.startswith("ndcg@1 ")]
    assert "1.0000" in ndcg
    assert "left out: 1 users whose relevant items gain nothing" in ndcg


def test_several_files_are_several_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, scores in {"first": (0.9, 0.1), "second": (0.1, 0.9)}.items():
        text = "user,item,label,score\n" + "".join(f"u,{i},{1 - i},{s}\n" for i, s in enumerate(scores))
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    values = as_json(capsys, "evaluate", str(tmp_path / "first.csv"), str(tmp_path / "second.csv"))["values"]
    auc = {value["model"]: value["value"] for value in values if value["metric"] == "roc_auc"}
    assert auc == {"first": 1.0, "second": 0.0}


def test_names_in_a_file_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "data.csv"
    file.write_text("label,score \x1b[31m\n1,0.9\n0,0.1\n", encoding="utf-8")
    assert "\x1b" not in printed(capsys, "evaluate", str(file))


def test_a_preset_says_whose_numbers_it_gives_and_what_its_traps_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert "as ranx 0.3.21 (make_comparable) counts" in printed(capsys, "evaluate", CLICKS, "--preset", "ranx")


# diagnose ---------------------------------------------------------------------------------------------------------


def test_diagnose_lists_the_alarm_with_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "diagnose", LEAK)
    assert "CRITICAL  RM-501 AUC suspiciously high  [pred]" in shown
    assert "  Next: " in shown


def test_diagnose_names_what_an_alarm_explains_under_it(capsys: pytest.CaptureFixture[str]) -> None:
    # The labels are one row too low, so AUC is a coin toss, and that equal scores exist no longer matters.
    lines = printed(capsys, "diagnose", str(sample_path("row_shift"))).splitlines()
    alarms = [line for line in lines if line.startswith(("CRITICAL", "WARNING"))]
    assert [line.split()[1] for line in alarms] == ["RM-202"]
    assert "  Explains RM-402 Equal scores inside lists" in lines


def test_a_threshold_given_by_hand_is_a_chosen_one_even_when_it_is_the_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def status(*arguments: str) -> str:
        findings = as_json(capsys, "diagnose", RAW_SCORES, *arguments)["findings"]
        return next(found["status"] for found in findings if found["code"] == "RM-301")

    # Scores that are no probabilities have no threshold by themselves.
    assert status() == "not_applicable"
    assert status("--threshold", "0.5") != "not_applicable"


def test_diagnose_counts_the_checks_that_passed(capsys: pytest.CaptureFixture[str]) -> None:
    last = printed(capsys, "diagnose", CLICKS).splitlines()[-1]
    n, status = last.split()
    assert status == "passed"
    assert int(n) > 10


def test_the_json_of_diagnose_has_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, "diagnose", LEAK)
    assert list(found) == ["schema", "command", "version", "config", "config_hash", "dataset", "findings"]
    required = {"code", "name", "severity", "status", "model", "facts", "explained_by"}
    assert all(required <= set(finding) for finding in found["findings"])
    assert {f["code"] for f in found["findings"] if f["status"] == "fired" and f["severity"] == "critical"} == {
        "RM-501"
    }


@pytest.mark.parametrize(
    ("sample", "level", "code"),
    [
        ("leak", "critical", 1),
        ("leak", "warning", 1),
        ("p_equals_r", "critical", 0),
        ("p_equals_r", "warning", 1),
        ("healthy_clicks", "warning", 0),
    ],
)
def test_fail_on_ends_with_one_when_a_finding_of_that_severity_stands(
    sample: str, level: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--k", "10"] if sample == "p_equals_r" else []
    assert run(["diagnose", str(sample_path(sample)), *arguments, "--fail-on", level]) == code
    assert capsys.readouterr().err == ""


# samples ----------------------------------------------------------------------------------------------------------


def test_samples_lists_every_sample_with_the_check_that_it_fires(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "samples")
    for sample in SAMPLES.values():
        (line,) = [line for line in shown.splitlines() if line.startswith(f"{sample.id} ")]
        assert (sample.fires or "none") in line


def test_samples_are_copied_byte_by_byte_and_never_over_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, "samples", str(tmp_path / "new"))
    assert (tmp_path / "new" / "leak.csv").read_bytes() == Path(LEAK).read_bytes()
    assert "is not overwritten" in refused(capsys, "samples", str(tmp_path / "new"))


def test_samples_made_anew_are_the_bundled_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "samples", str(tmp_path), "--make")
    assert (tmp_path / "leak.csv").read_bytes() == Path(LEAK).read_bytes()


def test_making_samples_without_a_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "needs a folder" in refused(capsys, "samples", "--make")


def test_a_file_is_no_folder_for_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "is a file" in refused(capsys, "samples", str(tmp_path / "file"))


# app --------------------------------------------------------------------------------------------------------------


def test_the_app_learns_files_truth_columns_and_labels_from_the_environment() -> None:
    given = environment([Path(TEN_ROWS), Path(LEAK)], Path(TEN_ROWS), "score=a,score=b", "yes=1,no=0")
    assert given["RECMETRICS_FILES"] == os.pathsep.join([TEN_ROWS, LEAK])
    assert given["RECMETRICS_TRUTH"] == TEN_ROWS
    assert json.loads(given["RECMETRICS_COLUMNS"]) == {"score": ["a", "b"]}
    assert json.loads(given["RECMETRICS_LABEL_MAP"]) == {"yes": 1.0, "no": 0.0}


def test_the_app_without_files_is_told_of_none() -> None:
    assert environment([], None, "", "") == {"RECMETRICS_FILES": ""}


@pytest.mark.parametrize(("given", "address"), [(None, "127.0.0.1"), ("10.1.2.3", "10.1.2.3")])
def test_the_app_listens_on_this_machine_only_unless_told_otherwise(
    given: str | None, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    monkeypatch.setattr(app, "start", lambda command, environment: started.append((command, environment)) or 0)
    monkeypatch.delenv("STREAMLIT_SERVER_ADDRESS", raising=False)
    if given:
        monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", given)
    assert run(["app", TEN_ROWS]) == 0
    ((command, environment),) = started
    assert command[1:4] == ["-m", "streamlit", "run"]
    assert Path(command[4]).name == "app.py"
    assert (environment["STREAMLIT_SERVER_ADDRESS"], environment["RECMETRICS_FILES"]) == (address, TEN_ROWS)


def test_the_app_does_not_start_for_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "There is no file nowhere.csv" in refused(capsys, "app", "nowhere.csv")


def test_a_path_that_holds_the_separator_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"a{os.pathsep}b.csv"
    file.write_text("label,score\n1,1\n", encoding="utf-8")
    assert "separates paths" in refused(capsys, "app", str(file))


# bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["evaluate", "nowhere.csv"], "nowhere.csv"),
        (["evaluate", TEN_ROWS, "--preset", "ranks"], "nearest is 'ranx'"),
        (["evaluate", TEN_ROWS, "--engine", "nunpy"], "nearest is 'numpy'"),
        (["evaluate", LEAK, "--preset", "rectools", "--k", "100000000"], "Give a smaller K"),
        (["evaluate", TEN_ROWS, "--k", "0"], "K must be a whole number"),
        (["evaluate", TEN_ROWS, "--threshold", "high"], "--threshold"),
        (["evaluate", TEN_ROWS, "--columns", "score=nothing"], "no column 'nothing'"),
        (["evaluate", TEN_ROWS, "--columns", "scroe=score"], "'scroe'"),
        (["evaluate", TEN_ROWS, "--by", "planet"], "planet"),
        (["evaluate", TEN_ROWS, "--frobnicate"], "--frobnicate"),
        (["evaluate"], "FILE"),
        (["diagnose", LEAK, "--fail-on", "panic"], "panic"),
        (["compare", TEN_ROWS], "compare"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in refused(capsys, *arguments)


def test_the_command_itself_ends_with_two_and_no_traceback() -> None:
    command = [sys.executable, "-m", "recmetrics.cli", "evaluate", "nowhere.csv"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_commands_of_later_versions_are_not_there_yet(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--help")
    assert all(name in shown for name in ("app", "evaluate", "diagnose", "samples"))
    assert not any(f" {name} " in shown for name in ("compare", "reconcile", "report"))
