"""The account of the rows: every row of every file stands in one line, and the lines add up to every sum."""

from collections.abc import Iterable
from typing import Any

import pytest

from recmetrics.cli.reading import heading
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.json_contract import document, row_steps
from recmetrics.load import load
from recmetrics.schema.audit import Step
from tests.build import dataset

HEADER = "user,item,label,score\n"
PLAIN = HEADER + "u1,a,1,0.9\nu1,b,0,0.4\nu2,a,0,0.7\nu2,c,1,0.6\n"
COPIED = PLAIN + "u1,a,1,0.8\nu1,a,0,0.95\n"
HOLES = PLAIN + "u3,a,1,\nu3,b,,0.5\nu3,c,0,inf\n"
NO_IDS = PLAIN + ",a,1,0.3\nu4,,0,0.2\n,,0,0.1\n"
LONG = "user,item,label,model,score\nu1,a,1,x,0.9\nu1,a,1,y,0.3\nu1,b,0,x,0.5\nu2,c,1,y,0.6\n"
ALL_DROPPED = EvalConfig(duplicates="keep_first", missing_scores="drop", infinite_scores="drop")
ALL_LAST = EvalConfig(duplicates="keep_last", missing_scores="last", infinite_scores="last")
CONVENTIONS = [
    EvalConfig(),
    ALL_DROPPED,
    ALL_LAST,
    EvalConfig(duplicates="keep_best", missing_scores="drop", infinite_scores="last"),
    EvalConfig(missing_scores="last", infinite_scores="drop", unjudged="skip", score_direction="lower"),
]


def file(text: str, name: str = "a.csv") -> tuple[str, bytes]:
    return name, text.encode()


OTHER = file(HEADER + "u1,b,0,0.1\nu3,d,1,0.2\nu1,a,1,\n", "b.csv")
RUN = file("u1 Q0 a 1 0.9 m\nu1 Q0 b 2 0.5 m\nu2 Q0 c 1 0.4 m\n", "m.run")
TRUTH = file("user,item,label\nu1,a,1\nu2,c,0\nu2,z,1\n", "truth.csv")
CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "one plain file": ([file(PLAIN)], {}),
    "two files with different candidates": ([file(PLAIN), OTHER], {}),
    "a long table": ([file(LONG)], {}),
    "a run and a truth": ([RUN], {"truth": TRUTH}),
    "copies": ([file(COPIED)], {}),
    "copies in two files": ([file(COPIED), file(COPIED, "b.csv")], {}),
    "missing scores and labels": ([file(HOLES)], {}),
    "missing ids": ([file(NO_IDS)], {}),
    "blank lines": ([file(PLAIN.replace("u2,a", "\n\nu2,a"))], {}),
    "no users": ([file("label,score\n1,0.9\n0,0.1\n,0.5\n")], {}),
}


def assert_adds_up(steps: Iterable[Step]) -> None:
    total = 0
    for step in steps:
        if step.is_sum:
            assert step.rows == total, step.code
        else:
            total += step.rows


def told(data: Dataset, config: EvalConfig | None = None) -> list[tuple[str, int]]:
    return [(step.code, step.rows) for step in row_steps(data, config or EvalConfig())]


@pytest.mark.parametrize("config", CONVENTIONS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_lines_add_up_to_every_sum(case: str, config: EvalConfig) -> None:
    files, options = CASES[case]
    data = load(*files, **options)
    assert_adds_up(row_steps(data, config))
    account = data.account
    assert account.read == sum(rows for _, rows in account.files)
    assert account.read == account.merged + sum(account.dropped.values()) + account.used
    assert data.n_rows == account.read - account.merged


@pytest.mark.parametrize("config", CONVENTIONS[1:4], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_sums_are_the_rows_that_the_tables_hold(case: str, config: EvalConfig) -> None:
    from recmetrics.bundle import make_tables
    from recmetrics.usable import usable

    files, options = CASES[case]
    data = load(*files, **options)
    if len(data.models) > 1 and data.scored:
        return  # every model has its own rows; the account is about all of them
    rows, sums = usable(data, config), dict(told(data, config))
    tables = make_tables(rows, config, data.models[0])
    assert sums["row_metrics"] == tables.scores.n_rows
    if data.user is not None:
        assert sums["lists"] == tables.hits.n_candidates.sum()


def test_rows_of_two_files_are_told_apart_and_those_of_the_same_pair_are_merged() -> None:
    # 4 + 3 rows; (u1, a) and (u1, b) stand in both files, so 5 pairs. The second file has no score for (u1, a).
    data = load(file(PLAIN), OTHER)
    steps = row_steps(data, EvalConfig(missing_scores="drop"))
    assert [(step.code, step.file, step.rows) for step in steps] == [
        ("file", "a.csv", 4),
        ("file", "b.csv", 3),
        ("merged", "", -2),
        ("dataset", "", 5),
        ("used", "", 5),
        ("left_out_missing_scores", "", -1),
        ("row_metrics", "", 4),
        ("lists", "", 4),
    ]


def test_a_long_table_has_one_row_for_the_models_of_a_pair() -> None:
    assert told(load(file(LONG)))[:3] == [("file", 4), ("merged", -1), ("dataset", 3)]


@pytest.mark.parametrize("rule", ["keep_first", "keep_last", "keep_best"])
def test_copies_are_left_out_under_every_rule(rule: str) -> None:
    # Six rows, (u1, a) three times: two copies go whichever is kept.
    found = told(load(file(COPIED)), EvalConfig(duplicates=rule))
    assert found[1:] == [("used", 6), ("left_out_duplicates", -2), ("row_metrics", 4), ("lists", 4)]


def test_a_refused_treatment_ends_the_account_at_the_rows_that_can_be_used() -> None:
    assert told(load(file(COPIED))) == [("file", 6), ("used", 6)]


def test_a_row_without_a_label_stands_in_its_list_and_one_without_a_score_goes_where_the_convention_says() -> None:
    # Seven rows: one without a score, one without a label, one infinite.
    data = load(file(HOLES))
    read = [("file", 7), ("missing_scores", -1), ("missing_labels", -1), ("used", 5)]
    assert told(data, ALL_DROPPED) == [
        *read,
        ("left_out_infinite_scores", -1),
        ("row_metrics", 4),
        ("unlabelled", 1),
        ("lists", 5),
    ]
    assert told(data, ALL_LAST) == [*read, ("ranked_last", 1), ("row_metrics", 6), ("unlabelled", 1), ("lists", 7)]


def test_rows_without_ids_count_in_row_metrics_and_stand_in_no_list() -> None:
    data = load(file(NO_IDS))
    assert told(data) == [("file", 7), ("used", 7), ("row_metrics", 7), ("missing_ids", -3), ("lists", 4)]
    issue = next(issue for issue in data.issues if issue.code == "missing_ids")
    assert issue.severity == "doubt"


def test_rows_that_the_truth_does_not_judge_stand_in_lists_only() -> None:
    # The truth judges (u1, a) and (u2, c); (u1, b) is not judged.
    data = load(RUN, truth=TRUTH)
    assert told(data)[1:] == [("used", 3), ("unjudged", -1), ("row_metrics", 2), ("unlabelled", 1), ("lists", 3)]
    skipped = told(data, EvalConfig(unjudged="skip"))
    assert skipped[1:] == [("used", 3), ("unjudged", -1), ("row_metrics", 2), ("lists", 2)]


def test_json_carries_the_lines_and_tells_blank_lines_beside_their_file() -> None:
    data = load(file(PLAIN.replace("u2,a", "\n\nu2,a")))
    counts = document("evaluate", data, EvalConfig())["dataset"]["counts"]
    assert (counts["read"], counts["merged"], counts["dropped"], counts["used"]) == (4, 0, {}, 4)
    assert counts["steps"] == [
        {"step": "file", "rows": 4, "file": "a.csv", "blank_lines": 2},
        {"step": "used", "rows": 4, "sum": True},
        {"step": "row_metrics", "rows": 4, "sum": True},
        {"step": "lists", "rows": 4, "sum": True},
    ]


def test_the_heading_of_the_command_line_prints_the_same_sum() -> None:
    lines = heading(load(file(NO_IDS)), EvalConfig())
    assert (
        "Rows: 7 rows read from a.csv, = 7 rows that can be used, = 7 rows in row metrics, "
        "− 3 without a user or item id: in no list, = 4 rows in lists."
    ) in lines


def test_the_heading_names_the_option_that_answers_a_doubt() -> None:
    text = "user,item,label,score,time\nu1,a,1,0.9,1700000000\nu1,b,0,0.4,1700000060\n"
    note = next(line for line in heading(load(file(text)), EvalConfig()) if "were read as seconds" in line)
    assert note.endswith("Change it with --set time_unit=value.")


def test_data_that_came_from_no_file_have_an_account_too() -> None:
    assert told(dataset([("u", "a", 1, 0.9)]))[0] == ("file", 1)
