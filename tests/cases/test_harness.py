"""The harness itself: it knows the whole vocabulary, and it fails where it must."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from recmetrics.errors import KINDS
from tests.cases.answers import COUNTS, LIST_METRICS, ROW_METRICS
from tests.cases.case_files import OURS, Question, questions, spec_files
from tests.cases.expectations import MEETS, NOTES, complaints

README = (OURS / "README.md").read_text(encoding="utf-8")
# Optional words without an answer here: the paired test belongs to the comparison of two models, bpref to nobody yet.
NOT_OFFERED = {"bpref", "auc_difference_z", "auc_difference_p"}


def words_of_the_metric_table() -> set[str]:
    table = README.split("## `metric` and `params`")[1].split("## `config`")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {word for row in rows for word in re.findall("`([a-z_0-9]+)`", row)}


def words_of(section: str) -> set[str]:
    text = README.split(f"## {section}\n")[1].split("\n## ")[0]
    return set(re.findall("`([a-z_]+)`", text))


def test_every_metric_of_the_readme_is_answered_or_listed_as_not_offered() -> None:
    known = {*ROW_METRICS, *LIST_METRICS, *COUNTS, "flag"}
    assert words_of_the_metric_table() - known == NOT_OFFERED


def test_every_error_kind_of_the_readme_can_be_raised() -> None:
    assert words_of("Error kinds") - {"malformed_line"} <= KINDS | {"K"}


def test_every_key_of_expect_is_understood() -> None:
    text = README.split("## `expect`")[1].split("\n## ")[0]
    assert set(re.findall(r"`([a-z_]+)(?::[^`]*)?`", text)) - {"value"} <= {*MEETS, *NOTES}


def test_a_folder_of_folders_is_run_folder_by_folder(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "expected.json").write_text('{"schema": "recmetrics-cases/1", "cases": []}')
    assert [path.parent.name for path in spec_files(tmp_path)] == ["a", "b"]
    with pytest.raises(FileNotFoundError):
        spec_files(tmp_path / "none")


def test_another_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text('{"schema": "recmetrics-cases/2", "cases": []}')
    with pytest.raises(ValueError, match="schema"):
        list(questions(tmp_path))


def ask(tmp_path: Path, metric: str, expect: dict[str, Any], **params: Any) -> list[str]:
    """Return the complaints about a check on four rows of one user: scores .9 .8 .7 .6, labels 1 0 1 0."""
    rows = "u,a,1,0.9,x\nu,b,0,0.8,x\nu,c,1,0.7,\nu,d,0,0.6,x\n"
    (tmp_path / "a.csv").write_text("user,item,label,score,city\n" + rows)
    (tmp_path / "b.csv").write_text("user,item,label,score,city\n" + rows.replace("0.7", "0.85"))
    files = [{"path": name, "role": "scored", "format": "csv"} for name in ("a.csv", "b.csv")]
    columns = {"user": "user", "item": "item", "label": "label", "score": "score", "segment": "city"}
    check = {"metric": metric, "params": params, "input": {"scored": "a.csv"}, "expect": expect}
    case = {"id": "X", "files": files, "columns": columns, "label_map": None, "config": {}, "checks": [check]}
    (tmp_path / "cases.json").write_text(json.dumps({"schema": "recmetrics-cases/1", "cases": [case]}))
    (question,) = questions(tmp_path)
    assert isinstance(question, Question)
    return complaints(question)


# AUC of a.csv: of four pairs (positive, negative) three are in order: .9 > .8, .9 > .6, .7 > .6. In b.csv all four are.
@pytest.mark.parametrize(
    ("metric", "params", "right", "wrong"),
    [
        ("auc", {}, {"value": 0.75, "tolerance": 1e-9}, {"value": 0.75001, "tolerance": 1e-9}),
        ("auc", {}, {"between": [0.75, 1]}, {"between": [0.8, 1]}),
        ("auc", {}, {"not_value": 1.0}, {"not_value": 0.75}),
        ("auc", {}, {"same_as": {"scored": "a.csv"}}, {"same_as": {"scored": "b.csv"}}),
        ("precision_at_k", {"k": 0}, {"error": "invalid_k"}, {"error": "format"}),
        ("best_precision_at_k", {"k": 4}, {"value": 0.5, "tolerance": 1e-9}, {"value": 1.0, "tolerance": 1e-9}),
        ("precision_at_k", {"k": 2}, {"value": 0.5, "tolerance": 0}, {"error": "invalid_k"}),
        ("auc", {"where": {"city": None}}, {"undefined": "no negatives"}, {"between": [0, 1]}),
        ("rows", {"where": {"city": "x"}}, {"value": 3, "tolerance": 0}, {"value": 4, "tolerance": 0}),
        ("segments", {}, {"contains": "x"}, {"contains": "X"}),
        ("user_ids", {}, {"contains": "u"}, {"contains": "u "}),
        ("flag", {"k": 5}, {"flag": "lists_shorter_than_k"}, {"no_flag": "lists_shorter_than_k"}),
        ("flag", {"k": 5}, {"no_flag": "constant_score"}, {"flag": "constant_score"}),
        ("flag", {"k": 5}, {"hint_only": "constant_score"}, {"any": [{"flag": "constant_score"}, {"error": "format"}]}),
        (
            "auc",
            {},
            {"any": [{"value": 0.1, "tolerance": 0}, {"value": 0.75, "tolerance": 0}]},
            {"undefined": "no rows"},
        ),
        ("missing_score_rows", {}, {"value": 0, "tolerance": 0}, {"value": 1, "tolerance": 0}),
    ],
)
def test_a_right_answer_passes_and_a_wrong_one_does_not(
    tmp_path: Path, metric: str, params: dict[str, Any], right: dict[str, Any], wrong: dict[str, Any]
) -> None:
    assert ask(tmp_path, metric, right, **params) == []
    assert len(ask(tmp_path, metric, wrong, **params)) == 1


def test_details_of_a_flag_are_compared_where_both_report_them(tmp_path: Path) -> None:
    short = "lists_shorter_than_k"
    assert ask(tmp_path, "flag", {"flag": short, "details": {"count": 1, "colour": "red"}}, k=5) == []
    assert len(ask(tmp_path, "flag", {"flag": short, "details": {"count": 2}}, k=5)) == 1
