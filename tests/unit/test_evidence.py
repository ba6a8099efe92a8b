"""A reference in a finding becomes something to look at: made from the same rows, drawn in both languages."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from recmetrics import checks
from recmetrics.config import EvalConfig
from recmetrics.diagnose import diagnose
from recmetrics.evidence import EXHIBITS, AtK, Bars, Dots, Lengths, PrecisionRecall, Roc, Rows, exhibit
from recmetrics.figures.diagnose import evidence_alt, evidence_figure
from recmetrics.results import Evidence
from recmetrics.synthetic import Synthetic, make
from recmetrics.text import Text
from tests import build

EN, ZH = Text("en"), Text("zh")

# Small on purpose: u1 has both classes, u2 no positive, u3 only positives; every K = 2 list is cut by a tie somewhere.
ROWS = [
    ("u1", "a", 1, 0.9),
    ("u1", "b", 0, 0.6),
    ("u1", "c", 0, 0.6),
    ("u1", "d", 1, 0.6),
    ("u2", "a", 0, 0.8),
    ("u2", "b", 0, 0.3),
    ("u3", "a", 1, 0.4),
]
DATA = build.dataset(ROWS, segments={"city": ["x", "x", "x", "x", "y", "y", "y"]})
REFERENCES = {
    "roc": {"model": "score", "mirrored": True},
    "precision_recall": {"model": "score", "threshold": 0.6},
    "score_histogram": {"model": "score"},
    "score_values": {"model": "score"},
    "label_values": {"values": [0.0, 1.0], "counts": [4, 3]},
    "label_histogram": {"log_axis": True},
    "rows": {"row_numbers": [2, 7]},
    "auc_interval": {"model": "score"},
    "auc_and_gauc": {"model": "score"},
    "repaired_auc": {"model": "score", "repairs": [("file", 1, 0.6), ("user", -1, 0.4)]},
    "list_lengths": {"model": "score", "k": 2},
    "precision_at_k": {"model": "score", "k": 2},
    "precision_recall_at_k": {"model": "score", "k": 2},
    "tie_range": {"model": "score", "k": 2},
    "users_counted": {"model": "score"},
    "users_by_file": {"n_both": 3, "n_only_run": 1, "n_only_truth": 0},
    "segment_table": {"column": "city"},
}


def shown(kind: str, data=DATA, **facts):
    return exhibit(Evidence(kind, {**REFERENCES[kind], **facts}), data, EvalConfig(), model="score")


def test_every_kind_that_a_check_refers_to_can_be_shown_and_no_other() -> None:
    folder = Path(checks.__file__).parent
    named = {
        kind for path in folder.glob("*.py") for kind in re.findall(r'Evidence\(\s*"(\w+)"', path.read_text("utf-8"))
    }
    assert named <= set(EXHIBITS)
    assert set(EXHIBITS) == set(REFERENCES)


@pytest.mark.parametrize("kind", sorted(set(REFERENCES) - {"rows"}))
def test_every_kind_is_drawn_and_put_into_words_in_both_languages(kind: str) -> None:
    found = shown(kind)
    english, chinese = evidence_alt(found, EN), evidence_alt(found, ZH)
    assert isinstance(evidence_figure(found, EN), go.Figure)
    assert isinstance(evidence_figure(found, ZH), go.Figure)
    assert english != chinese
    for words in (english, chinese):
        assert "nan" not in words.lower()
        assert "{" not in words


FROM_LABELS = {"rows", "label_values", "label_histogram", "users_counted", "users_by_file"}


@pytest.mark.parametrize("kind", sorted(set(REFERENCES) - FROM_LABELS))
def test_what_needs_a_score_is_left_out_without_one(kind: str) -> None:
    data = replace(DATA, scores={}, fingerprint="")
    assert exhibit(Evidence(kind, {**REFERENCES[kind], "model": None}), data, EvalConfig()) is None


def test_rows_are_listed_as_they_stand_under_their_number_in_the_file() -> None:
    found = shown("rows")
    assert isinstance(found, Rows)
    assert (found.roles, found.models) == (("row", "user", "item", "label"), ("score",))
    assert found.cells == (("2", "u1", "b", "0", "0.6"), ("7", "u3", "a", "1", "0.4"))


def test_at_most_twenty_rows_are_listed_and_the_others_counted() -> None:
    data = build.dataset([("u", f"i{n}", n % 2, float(n)) for n in range(25)])
    found = shown("rows", data, row_numbers=list(range(1, 26)))
    assert (len(found.cells), found.n_left_out) == (20, 5)


def test_missing_cells_are_empty_and_never_the_word_nan() -> None:
    data = build.dataset([(None, "a", None, 0.5), ("u", "b", 1, None)])
    cells = shown("rows", data, row_numbers=[1, 2]).cells
    assert cells == (("1", "", "a", "", "0.5"), ("2", "u", "b", "1", ""))


def test_a_reversed_score_is_the_mirrored_curve_with_the_opposite_auc() -> None:
    found = shown("roc")
    assert isinstance(found, Roc)
    # Positives .9 .6 .4 against negatives .6 .6 .8 .3: 4 + (2·½ + 1) + 1 = 7 of 12 pairs.
    assert found.auc == pytest.approx(7 / 12)
    mirrored = evidence_figure(found, EN).data[-1]
    assert mirrored.name == "reversed score: AUC 0.417"
    assert np.trapezoid(mirrored.y, mirrored.x) == pytest.approx(5 / 12)


def test_the_threshold_in_question_is_the_point_on_the_curve() -> None:
    found = shown("precision_recall")
    assert isinstance(found, PrecisionRecall)
    # Scores ≥ .6: two positives (.9, .6) and three negatives (.6, .6, .8).
    assert (found.point.confusion.tp, found.point.confusion.fp) == (2, 3)


def test_users_are_counted_by_the_classes_they_have() -> None:
    found = shown("users_counted")
    assert isinstance(found, Bars)
    assert found.counts == (1, 1, 1)


def test_the_most_frequent_scores_are_shown_in_order_and_the_others_counted() -> None:
    data = build.dataset([("u", f"i{n}", n % 2, float(min(n, 21))) for n in range(30)])
    found = shown("score_values", data)
    assert len(found.names) == 20
    assert (found.names[-1], found.counts[-1], found.n_left_out) == ("21", 9, 2)


def test_the_tie_range_spans_worst_to_best_order() -> None:
    found = shown("tie_range")
    assert isinstance(found, Dots)
    # u1 at K = 2: the hit .9 on rank 1, then one of three at .6, one of them relevant; u3's only item is a hit.
    second = 1 / np.log2(3)
    assert found.dots[1].low == pytest.approx((1 / (1 + second) + 1) / 2)
    assert found.dots[1].high == pytest.approx(1.0)


def test_lengths_and_curves_mark_the_cutoff_in_question() -> None:
    lengths, at_k = shown("list_lengths"), shown("precision_recall_at_k")
    assert isinstance(lengths, Lengths)
    assert [shape.x0 for shape in evidence_figure(lengths, EN).layout.shapes] == [2, 2]
    assert isinstance(at_k, AtK)
    assert [trace.name for trace in evidence_figure(at_k, EN).data] == ["Precision@K", "Recall@K"]


def test_data_that_evaluate_refuses_can_still_be_shown() -> None:
    data = build.dataset([*ROWS, ("u1", "a", 1, 0.1), ("u1", "e", 1, None)])
    assert shown("roc", data) is not None


def test_scores_where_less_is_better_are_shown_in_their_own_direction() -> None:
    config = EvalConfig(score_direction="lower")
    found = exhibit(Evidence("segment_table", {"column": "city"}), DATA, config, model="score")
    assert found.overall.value == pytest.approx(5 / 12)


@pytest.mark.parametrize("name", ["D1", "D14", "E14"])
def test_everything_that_a_generated_disease_refers_to_can_be_drawn(name: str) -> None:
    made: Synthetic = make(name, n_users=120)
    for finding in diagnose(made.dataset, made.config):
        for reference in finding.evidence:
            found = exhibit(reference, made.dataset, made.config, model=finding.model)
            assert isinstance(found, Rows) or evidence_figure(found, EN).data
