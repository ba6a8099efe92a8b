"""Figures of the ranking and segment pages show the numbers they are given and nothing else."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from recmetrics.config import EvalConfig
from recmetrics.decomposition import split_by_users
from recmetrics.engines import NumpyEngine
from recmetrics.figures import ranking, segments
from recmetrics.rank_curves import Counts, Curve, RankCurves, rank_curves
from recmetrics.segment_measures import Gap
from recmetrics.segments import Group, SegmentTable
from recmetrics.text import Text
from tests import build

EN, ZH = Text("en"), Text("zh")


def hand_made(*, tied: bool = False, shortest: int = 3) -> RankCurves:
    ks = np.array([1, 2, 3, 4])
    value = np.array([0.5, 0.4, 0.3, 0.25])
    made = Curve(
        metric="precision",
        value=value,
        low=value - 0.05,
        high=value + 0.05,
        tie_low=value - (np.array([0.2, 0.01, 0.2, 0.01]) if tied else 0.0),
        tie_high=value + (np.array([0.2, 0.01, 0.2, 0.01]) if tied else 0.0),
        ceiling=np.array([1.0, 0.75, 0.5, 0.375]),
        random=np.full(4, 0.1),
    )
    n = np.array([0, 4, 3, 2, 1])
    counts = Counts(np.arange(5) - 0.5, 1.0, n, 7)
    none = np.zeros(4, dtype=np.int64)
    return RankCurves("a", ks, {"precision": made}, 17, {}, none, none, shortest, 9, 4, counts, counts)


def named(fig: go.Figure, name: str) -> go.Scatter:
    return next(trace for trace in fig.data if trace.name == name)


def test_a_curve_shows_model_ceiling_and_random_line_by_name() -> None:
    fig = ranking.curve_figure(hand_made(), "precision", EN)
    assert list(named(fig, "this ranking").y) == [0.5, 0.4, 0.3, 0.25]
    assert list(named(fig, "perfect order").y) == [1.0, 0.75, 0.5, 0.375]
    assert list(named(fig, "random order").y) == [0.1] * 4
    assert {named(fig, name).line.dash for name in ("this ranking", "perfect order", "random order")} == {
        "solid",
        "dash",
        "dot",
    }
    band = named(fig, "interval")
    assert (max(band.y), min(band.y)) == pytest.approx((0.55, 0.2))


def test_a_tie_band_wider_than_the_interval_takes_the_place_of_the_line() -> None:
    fig = ranking.curve_figure(hand_made(tied=True), "precision", EN)
    line = named(fig, "this ranking").y
    assert np.isnan(line[[0, 2]]).all()
    assert list(line[[1, 3]]) == [0.4, 0.25]
    band = named(fig, "tie range")
    assert max(band.y) == pytest.approx(0.7)


def test_the_zone_beyond_the_shortest_list_is_shaded_only_where_there_is_one() -> None:
    zones = ranking.curve_figure(hand_made(), "precision", EN).layout.shapes
    assert [(zone.x0, zone.x1) for zone in zones] == [(3, 4)]
    assert not ranking.curve_figure(hand_made(shortest=4), "precision", EN).layout.shapes


def test_arrays_go_into_the_traces_as_numpy() -> None:
    for fig in (ranking.curve_figure(hand_made(), "precision", EN), ranking.lengths_figure(hand_made(), EN)):
        assert all(isinstance(trace.x, np.ndarray) and isinstance(trace.y, np.ndarray) for trace in fig.data)


def test_the_words_of_a_curve_are_made_from_its_numbers() -> None:
    words = ranking.curve_alt(hand_made(), "precision", 2, EN)
    assert words == (
        "Precision@K from K = 1 to 4. At K = 2: 0.400; a perfect order would reach 0.750, a random order 0.100."
    )
    assert "0.400" in ranking.curve_alt(hand_made(), "precision", 2, ZH)


def test_histograms_of_lists_and_relevant_items_share_the_axis_of_k() -> None:
    fig = ranking.lengths_figure(hand_made(), EN)
    above, below = fig.data
    assert list(above.x) == list(below.x) == [0, 1, 2, 3, 4]
    assert list(above.y) == [0, 4, 3, 2, 1]
    assert fig.layout.xaxis.matches == "x2"
    assert "17 users" in ranking.lengths_alt(hand_made(), EN)


def test_the_spread_over_users_shows_its_mean() -> None:
    counts = Counts(np.arange(20) / 20, 0.05, np.r_[3, np.zeros(18, dtype=np.int64), 5], 0)
    fig = ranking.user_values_figure(counts, "Recall@10", 0.6, EN)
    assert list(fig.data[0].y)[:1] + list(fig.data[0].y)[-1:] == [3, 5]
    assert fig.layout.shapes[0].x0 == 0.6
    words = ranking.user_values_alt(counts, "Recall@10", 0.6, EN)
    assert words == "Recall@10 of 8 users: 3 lie below 0.05, 5 at 0.95 or above, the mean is 0.600."
    assert not ranking.user_values_figure(counts, "Recall@10", None, EN).layout.shapes


def test_the_split_leaves_out_what_is_undefined() -> None:
    rows = [("u", "a", 1, 2.0), ("v", "a", 0, 1.0)]
    data, engine, config = build.dataset(rows), NumpyEngine(), EvalConfig()
    judged = engine.hit_table(data, config, "score", labelled_only=True)
    fig = ranking.split_figure(found := split_by_users(judged, engine.score_table(data, config, "score"), config), EN)
    assert [(trace.name, trace.y[0]) for trace in fig.data] == [("pairs across users", 1), ("all pairs", 2)]
    assert "within one user –" in ranking.split_alt(found, EN)


def test_real_curves_can_be_drawn_in_both_languages() -> None:
    data, config = build.one_list([0, 1, 0, 1]), EvalConfig()
    found = rank_curves(NumpyEngine().hit_table(data, config, "score"), config, "score", (1, 2, 3))
    for text in (EN, ZH):
        for metric in found.curves:
            assert len(ranking.curve_figure(found, metric, text).data) == 3  # one user: no interval


def group(label: str, value: float | None, *, kind: str = "value", small: bool = False, n_values: int = 1) -> Group:
    low, high = (None, None) if value is None else (value - 0.02, value + 0.03)
    reason = "no positives" if value is None else None
    return Group(kind, label, n_values, 100, 40, 60, 9, value, reason, low, high, Gap(None), None, 0.5, 0.5, small)


TABLE = SegmentTable(
    column="city",
    metric="roc_auc",
    model="a",
    overall=group("", 0.7, kind="all"),
    groups=(
        group("<b>北京</b>", 0.6),
        group("tiny", 0.9, small=True),
        group("none", None),
        group("", 0.75, kind="other", n_values=3),
        group("", 0.8, kind="missing"),
    ),
    n_values=6,
    errors="order",
    higher_is_better=True,
)


def test_each_group_is_a_dot_with_its_interval_on_its_own_line() -> None:
    fig = segments.segments_figure(TABLE, "AUC", EN)
    dots = named(fig, "group")
    assert (list(dots.x), list(dots.y)) == ([0.6, 0.75, 0.8], [1, 4, 5])
    assert dots.error_x.array == pytest.approx([0.03] * 3)
    assert dots.error_x.arrayminus == pytest.approx([0.02] * 3)
    assert list(named(fig, "too small to judge").y) == [2]
    assert named(fig, "too small to judge").marker.symbol == "circle-open"
    assert fig.layout.yaxis.range == (5.5, -0.5)


def test_labels_from_data_are_text_and_never_markup() -> None:
    fig = segments.segments_figure(TABLE, "AUC", EN)
    assert fig.layout.yaxis.ticktext == (
        "all rows",
        "&lt;b&gt;北京&lt;/b&gt;",
        "tiny",
        "none",
        "other (3 values)",
        "(no entry)",
    )


def test_the_words_of_the_segments_name_lowest_and_highest() -> None:
    words = segments.segments_alt(TABLE, "AUC", EN)
    assert words == "AUC of 3 groups: lowest 0.600 in <b>北京</b>, highest 0.800 in (no entry); all rows 0.700."
    only_small = SegmentTable("c", "roc_auc", "a", TABLE.overall, (TABLE.groups[1],), 1, "order", True)
    words = segments.segments_alt(only_small, "AUC", EN)
    assert words == "AUC of all rows is 0.700; no group is large enough to judge."
