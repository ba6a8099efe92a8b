"""Ranking metrics: what one user's list is worth, from its hits. The mean over users is taken elsewhere.

Every function takes the lists and the config and returns float64[users, cutoffs]; users without relevant items are NaN
where the formula divides by their number, and are treated by the population rules.
"""

from __future__ import annotations

import numpy as np

from recmetrics.config import EvalConfig
from recmetrics.metrics.base import metric
from recmetrics.metrics.f_beta import f_beta_parts
from recmetrics.metrics.lists import Lists, Matrix
from recmetrics.text import N_

_TIES = {"ties": "ties"}
_GAIN = {**_TIES, "gain": "gain", "discount": "discount", "grades": "grades"}


def _ratio(above: Matrix, below: Matrix) -> Matrix:
    """Divide; NaN where the denominator is 0."""
    empty = np.full(np.broadcast(above, below).shape, np.nan)
    return np.asarray(np.divide(above, below, out=empty, where=below > 0))


def _precision_denominator(lists: Lists, config: EvalConfig) -> Matrix:
    n, r = lists.n[:, None], lists.r[:, None]
    if config.precision_denominator == "min_r_k":
        return np.minimum(r, lists.k)
    shortest = np.minimum(lists.k, n)  # the whole list is as long as it is
    return shortest if config.precision_denominator == "min_k_n" else np.where(np.isinf(lists.k), n, lists.k)


def _recall_denominator(lists: Lists, config: EvalConfig) -> Matrix:
    r = lists.r[:, None]
    return (
        np.minimum(r, lists.k) if config.recall_denominator == "min_r_k" else np.broadcast_to(r, (len(r), len(lists.k)))
    )


@metric("hit_rate", "ranking", N_("Hit rate"), options=_TIES, cutoff="always", source="trec_eval success; RecBole hit")
def hit_rate(lists: Lists, config: EvalConfig) -> Matrix:
    """Probability that the first K hold at least one relevant item."""
    return lists.any_hit


@metric(
    "precision",
    "ranking",
    N_("Precision"),
    options={**_TIES, "denominator": "precision_denominator"},
    cutoff="always",
    source="trec_eval P",
)
def precision(lists: Lists, config: EvalConfig) -> Matrix:
    """Relevant items among the first K, divided by K (also when the list is shorter)."""
    return _ratio(lists.n_hits, _precision_denominator(lists, config))


@metric(
    "recall",
    "ranking",
    N_("Recall"),
    options={**_TIES, "denominator": "recall_denominator"},
    cutoff="always",
    source="trec_eval recall",
)
def recall(lists: Lists, config: EvalConfig) -> Matrix:
    """Relevant items among the first K, divided by all relevant items of the user."""
    return _ratio(lists.n_hits, _recall_denominator(lists, config))


@metric(
    "f_beta",
    "ranking",
    N_("F-score"),
    options={
        **_TIES,
        "beta": "beta",
        "average": "f_average",
        "precision_denominator": "precision_denominator",
        "recall_denominator": "recall_denominator",
    },
    cutoff="always",
    source="van Rijsbergen 1979; per user as RecTools and Elliot",
)
def f_beta(lists: Lists, config: EvalConfig) -> Matrix:
    """(1+β²)·hits / (β²·recall's denominator + precision's denominator)."""
    shown, relevant = _precision_denominator(lists, config), _recall_denominator(lists, config)
    return _ratio(*f_beta_parts(lists.n_hits, shown, relevant, config.beta))


@metric(
    "mrr",
    "ranking",
    N_("MRR"),
    per_user_name="reciprocal_rank",
    options=_TIES,
    cutoff="optional",
    source="trec_eval recip_rank",
)
def reciprocal_rank(lists: Lists, config: EvalConfig) -> Matrix:
    """1/rank of the first relevant item, 0 when none stands within K."""
    return lists.reciprocal_rank


@metric(
    "map",
    "ranking",
    N_("MAP"),
    per_user_name="average_precision",
    options={**_TIES, "denominator": "map_denominator"},
    cutoff="optional",
    source="trec_eval map; ties McSherry and Najork 2008",
)
def average_precision(lists: Lists, config: EvalConfig) -> Matrix:
    """Sum of precision at the relevant ranks within K, divided as `map_denominator` says; ÷ R over the whole list."""
    if config.map_denominator == "hits":
        return np.where(lists.r[:, None] > 0, lists.precision_sum_over_hits, np.nan)
    n, r = lists.n[:, None], lists.r[:, None]
    if config.map_denominator == "mean_p":
        length = np.where(np.isinf(lists.k), n, lists.k)
        return np.where(r > 0, _ratio(lists.mean_precision_sum, length), np.nan)
    below = {
        "min_r_k": np.minimum(r, lists.k),
        "r": np.broadcast_to(r, lists.precision_sum.shape),
        "min_r_n": np.minimum(r, np.minimum(n, lists.k)),
        "k": np.where(np.isinf(lists.k), r, lists.k),
    }[config.map_denominator]
    return np.where(r > 0, _ratio(lists.precision_sum, below), np.nan)


@metric(
    "dcg",
    "ranking",
    N_("DCG"),
    options={**_GAIN, "log_base": "log_base"},
    cutoff="always",
    high=float("inf"),
    source="Järvelin and Kekäläinen 2002; Burges 2005",
)
def dcg(lists: Lists, config: EvalConfig) -> Matrix:
    """Sum of gain(grade)/log(rank+1) over the first K."""
    return np.where(lists.r[:, None] > 0, lists.dcg(config), np.nan)


@metric(
    "ndcg",
    "ranking",
    N_("NDCG"),
    options={**_GAIN, "ideal": "ideal"},
    cutoff="optional",
    source="trec_eval ndcg_cut; scikit-learn ndcg_score",
)
def ndcg(lists: Lists, config: EvalConfig) -> Matrix:
    """DCG over the DCG of the ideal list, made from all judged items, cut at K."""
    return np.where(lists.r[:, None] > 0, _ratio(lists.dcg(config), lists.ideal_dcg(config)), np.nan)


@metric("r_precision", "ranking", N_("R-precision"), options=_TIES, source="trec_eval Rprec")
def r_precision(lists: Lists, config: EvalConfig) -> Matrix:
    """Relevant items among the user's first R, divided by R."""
    return _ratio(lists.hits_within(lists.r)[:, None], lists.r[:, None])
