"""`recmetrics evaluate` prints what trec_eval printed: NIST's published outputs, to their four digits.

Files and outputs: usnistgov/trec_eval, folder `test/`, unchanged; the notice is in tests/data/trec_eval/LICENSE.md.
Source: National Institute of Standards and Technology.
"""

import json
from pathlib import Path

import pytest

from recmetrics.cli import run
from recmetrics.metrics.names import parse_metric

DATA = Path(__file__).parents[1] / "data" / "trec_eval"
KS = (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
NAMES = {"map": "map", "Rprec": "r_precision", "recip_rank": "mrr", "ndcg": "ndcg"} | {
    f"{theirs}_{k}": f"{ours}@{k}"
    for theirs, ours in {
        "P": "precision",
        "recall": "recall",
        "map_cut": "map",
        "ndcg_cut": "ndcg",
        "success": "hit_rate",
    }.items()
    for k in KS
}
# -c: a judged query that the run lacks counts 0.
WITH_MISSING = ("--set", "user_base=truth", "--set", "users_missing_from_run=zero")
# -l2: relevant from grade 2 on; every grade above 0 still gains in NDCG, which is the preset's own rule.
LEVEL_2 = ("--set", "relevance_threshold=2")
OUTPUTS = {
    "out.test": ("qrels.test", "results.test", ()),
    "out.test.aq": ("qrels.test", "results.test", ()),
    "out.test.aqc": ("qrels.test", "results.trunc", WITH_MISSING),
    "out.test.aql": ("qrels.rel_level", "results.test", LEVEL_2),
}


def published(output: str) -> dict[str, dict[str, str]]:
    """Return query (or `all`) → measure → printed text."""
    found: dict[str, dict[str, str]] = {}
    for line in (DATA / output).read_text(encoding="utf-8").splitlines():
        measure, query, printed = line.split()
        found.setdefault(query, {})[measure] = printed
    return found


def evaluated(capsys: pytest.CaptureFixture[str], qrels: Path, results: Path, *options: str) -> dict[str, dict]:
    """Run the command and return metric name and cutoff, without options → value object of the JSON."""
    cutoffs = ",".join(map(str, KS))
    code = run(
        ["evaluate", str(results), "--truth", str(qrels), "--preset", "trec_eval", "--k", cutoffs, *options, "--json"]
    )
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    found = {}
    for value in json.loads(printed.out)["values"]:
        name = parse_metric(value["metric"])
        if "gain" not in dict(name.options):
            found[name.name + (f"@{name.k}" if name.k else "")] = value
    return found


def assert_same(measures: dict[str, str], values: dict[str, dict]) -> None:
    compared = {theirs: measures[theirs] for theirs in NAMES if theirs in measures}
    assert {theirs: f"{values[NAMES[theirs]]['value']:.4f}" for theirs in compared} == compared


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_means_over_all_queries_are_those_that_trec_eval_printed(
    output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, results, options = OUTPUTS[output]
    measures = published(output)["all"]
    values = evaluated(capsys, DATA / qrels, DATA / results, *options)
    assert_same(measures, values)
    assert values["map"]["n_users"] == int(measures["num_q"])


@pytest.mark.parametrize("output", [output for output in OUTPUTS if output != "out.test"])
@pytest.mark.parametrize("query", ["301", "302", "303"])
def test_each_single_query_has_the_values_that_trec_eval_printed(
    output: str, query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, results, options = OUTPUTS[output]
    judged = (DATA / qrels).read_text(encoding="utf-8").splitlines()
    alone = tmp_path / "one.qrels"
    alone.write_text("\n".join(line for line in judged if line.split()[0] == query) + "\n", encoding="utf-8")
    measures = published(output)[query]
    if measures["num_ret"] == "0":
        # A run without this query at all shares no query with these judgments; the means above cover the case.
        assert {measures[theirs] for theirs in NAMES if theirs in measures} == {"0.0000"}
        return
    assert_same(measures, evaluated(capsys, alone, DATA / results, *options))
