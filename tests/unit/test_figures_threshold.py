"""Figures of the decision point: they draw what they are given, named, within limits, on any background."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from recmetrics.config import EvalConfig
from recmetrics.curves import (
    cost_curve,
    curve_points,
    gain_curve,
    pr_curve,
    roc_curve,
    score_histogram,
    threshold_curve,
)
from recmetrics.engines.numpy_engine import NumpyEngine
from recmetrics.figures.theme import LINES, escaped
from recmetrics.figures.threshold import (
    cost_alt,
    cost_figure,
    gain_alt,
    gain_figure,
    histogram_alt,
    histogram_figure,
    pr_alt,
    pr_figure,
    roc_alt,
    roc_figure,
    threshold_alt,
    threshold_figure,
)
from recmetrics.operating_point import PositionTable, position_table, solve
from recmetrics.tables import ScoreTable, encode_float32
from recmetrics.text import Text
from tests.build import dataset

ENGLISH = Text("en")
# metrics.md §6.1, R10: ten rows A…J.
LABELS = [1, 1, 0, 1, 0, 1, 0, 1, 0, 0]
SCORES = [0.90, 0.80, 0.75, 0.68, 0.55, 0.50, 0.42, 0.35, 0.20, 0.10]


def ten_rows() -> tuple[ScoreTable, PositionTable]:
    rows = [("u", f"i{i}", label, score) for i, (label, score) in enumerate(zip(LABELS, SCORES, strict=True))]
    data, config, engine = dataset(rows), EvalConfig(), NumpyEngine()
    scores = engine.score_table(data, config, "score")
    return scores, position_table(scores, engine.hit_table(data, config, "score", labelled_only=True))


def named(fig: go.Figure, start: str) -> go.Scatter:
    """Return the trace whose name starts so."""
    return next(trace for trace in fig.data if (trace.name or "").startswith(start))


def dots(fig: go.Figure) -> list[go.Scatter]:
    return [trace for trace in fig.data if trace.type == "scatter" and "markers" in trace.mode]


def all_figures(text: Text) -> dict[str, go.Figure]:
    scores, positions = ten_rows()
    points = curve_points(scores)
    now, cheapest = solve(positions, "score", 0.5), solve(positions, "cost", 1.0)
    return {
        "roc": roc_figure(roc_curve(points), text, auc=0.76, now=now),
        "pr": pr_figure(pr_curve(points), text, prevalence=0.5, auprc=0.8083, now=now),
        "threshold": threshold_figure(threshold_curve(points), text, (0.0, 1.0)),
        "histogram": histogram_figure(score_histogram(scores), text),
        "gain": gain_figure(gain_curve(points), text, prevalence=0.5),
        "cost": cost_figure(cost_curve(points, 1.0), text, (0.0, 1.0), cheapest=cheapest),
    }


def test_the_roc_figure_holds_the_curve_and_the_dot_of_the_handbook() -> None:
    fig = all_figures(ENGLISH)["roc"]
    line = named(fig, "This score: AUC 0.760")
    assert [round(5 * y) for y in line.y] == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5]
    assert [round(5 * x) for x in line.x] == [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5]
    # R12 at .50: 4 of 5 positives, 2 of 5 negatives.
    assert [(float(dot.x[0]), float(dot.y[0])) for dot in dots(fig)] == [(0.4, 0.8)]
    assert named(fig, "Random order: AUC 0.5").y.tolist() == [0, 1]


def test_the_precision_recall_figure_has_the_same_point_and_its_base_rate() -> None:
    fig = all_figures(ENGLISH)["pr"]
    assert [(float(dot.x[0]), float(dot.y[0])) for dot in dots(fig)] == [(0.8, 4 / 6)]
    assert named(fig, "Random order: base rate 50.0%").y.tolist() == [0.5, 0.5]
    assert named(fig, "This score").line.shape == "vh"


def test_a_rule_per_user_is_a_hollow_dot_and_a_locked_point_is_a_square_named_a() -> None:
    scores, positions = ten_rows()
    curve = roc_curve(curve_points(scores))
    fig = roc_figure(curve, ENGLISH, now=solve(positions, "topk", 3), locked=solve(positions, "score", 0.5))
    first, second = dots(fig)
    assert (first.text[0], first.marker.symbol, float(first.x[0])) == ("A", "square", 0.4)
    assert (second.text[0], second.marker.symbol) == ("B", "circle-open")
    # The first three of the only list: two hits, one miss.
    assert (float(second.x[0]), float(second.y[0])) == (0.2, 0.4)


def test_with_nothing_flagged_precision_is_undefined_and_no_dot_is_drawn() -> None:
    scores, positions = ten_rows()
    nothing = solve(positions, "score", 2.0)
    points = curve_points(scores)
    assert dots(pr_figure(pr_curve(points), ENGLISH, prevalence=0.5, now=nothing)) == []
    assert [(float(d.x[0]), float(d.y[0])) for d in dots(roc_figure(roc_curve(points), ENGLISH, now=nothing))] == [
        (0, 0)
    ]


def test_precision_recall_and_f1_are_told_apart_by_dash_as_well_as_colour() -> None:
    fig = all_figures(ENGLISH)["threshold"]
    assert [trace.name for trace in fig.data] == ["Precision", "Recall", "F1"]
    assert len({trace.line.dash for trace in fig.data}) == 3
    assert [trace.line.color for trace in fig.data] == list(LINES[:3])
    # At .50: 4/6, 4/5, 8/11.
    place = fig.data[0].x.tolist().index(0.5)
    assert [float(trace.y[place]) for trace in fig.data] == pytest.approx([4 / 6, 4 / 5, 8 / 11], abs=1e-12)


def test_the_histogram_shows_each_class_as_shares_of_itself_with_a_hatch_on_the_negatives() -> None:
    scores, _ = ten_rows()
    fig = histogram_figure(score_histogram(scores, n_bins=2), ENGLISH, threshold=0.5)
    negatives, positives = fig.data
    # Below ½: .42 .20 .10 are negatives, .35 a positive; from ½ on 2 and 4.
    assert (negatives.name, negatives.y.tolist(), negatives.marker.pattern.shape) == ("Negatives", [0.6, 0.4], "/")
    assert (positives.name, positives.y.tolist(), positives.marker.pattern.shape) == ("Positives", [0.2, 0.8], "")
    assert [shape.x0 for shape in fig.layout.shapes] == [0.5]
    assert fig.layout.annotations[0].text == "flagged: ≥ 0.500"


def test_the_gain_figure_names_the_random_and_the_perfect_order() -> None:
    fig = all_figures(ENGLISH)["gain"]
    assert named(fig, "Perfect order").x.tolist() == [0, 0.5, 1]
    assert named(fig, "Random order").x.tolist() == [0, 1]


def test_the_cost_figure_marks_the_cheapest_threshold() -> None:
    fig = all_figures(ENGLISH)["cost"]
    # FP + FN over the ten rows down from .90: 4 3 4 3 4 3 4 3 4 5; the highest threshold of the least is .80.
    assert [(float(dot.x[0]), float(dot.y[0])) for dot in dots(fig)] == [(0.8, 3.0)]
    assert named(fig, "Flag nothing: 5").y.tolist() == [5, 5]


@pytest.mark.parametrize("name", ["roc", "pr", "threshold", "histogram", "gain", "cost"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_figure_is_transparent_named_and_small(name: str, language: str) -> None:
    fig = all_figures(Text(language))[name]
    assert fig.layout.paper_bgcolor == fig.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert fig.layout.legend.y > 1
    assert fig.layout.xaxis.title.text
    assert fig.layout.yaxis.title.text
    for trace in fig.data:
        assert isinstance(trace.x, np.ndarray)
        assert len(trace.x) <= 2_000
        assert trace.name or "markers" in trace.mode


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_figure_is_told_in_words_from_its_data(language: str) -> None:
    text = Text(language)
    scores, positions = ten_rows()
    points = curve_points(scores)
    now, cheapest = solve(positions, "score", 0.5), solve(positions, "cost", 1.0)
    told: dict[str, tuple[str, ...]] = {
        roc_alt(text, "m", auc=0.76, now=now): ("0.760", "80.0%", "40.0%"),
        roc_alt(text, "m", auc=0.76): ("0.760",),
        pr_alt(text, "m", prevalence=0.5, auprc=0.8083, now=now): ("0.808", "50.0%", "0.667", "0.800"),
        pr_alt(text, "m", prevalence=0.5, auprc=0.8083): ("0.808", "50.0%"),
        threshold_alt(threshold_curve(points), text, "m"): ("0.100", "0.900", "0.200", "1.000"),
        histogram_alt(score_histogram(scores), text, "m"): ("5", "m"),
        gain_alt(gain_curve(points), text, "m"): ("10.0%", "20.0%"),
        cost_alt(cost_curve(points, 1.0), text, "m", cheapest=cheapest): ("0.800", "3.0"),
    }
    for sentence, facts in told.items():
        assert all(fact in sentence for fact in facts), sentence


def test_a_figure_of_a_million_rows_stays_below_a_hundred_kilobytes() -> None:
    rng = np.random.default_rng(1)
    labels = (rng.random(1_000_000) < 0.05).astype(float)
    scores = rng.random(1_000_000) * (1 + labels) / 2
    codes = encode_float32(scores.astype(np.float32))
    table = ScoreTable(np.sort(codes[labels == 1]), np.sort(codes[labels == 0]), None)
    fig = roc_figure(roc_curve(curve_points(table)), ENGLISH)
    assert len(fig.to_json()) < 100_000


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("a & b", "a &amp; b"),
        ("ab\u202ecd\x00", "abcd"),
        ("x" * 100, "x" * 79 + "…"),
        ("点击率", "点击率"),
    ],
)
def test_names_from_data_reach_a_figure_as_plain_text(name: str, shown: str) -> None:
    assert escaped(name) == shown
