"""What a check looks at: one model's rows, and everything that several checks ask of them, computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.bundle import Tables, make_tables
from recmetrics.checks.options import DiagnoseOptions
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.inference.auc import AucEstimate, auc_estimate
from recmetrics.inference.implied import implied_auc
from recmetrics.inference.means import MeanEstimate, weighted_mean_interval
from recmetrics.metrics.names import MetricName, parse_metric
from recmetrics.metrics.per_user_auc import UserAuc, user_auc
from recmetrics.tables import HitTable, ScoreTable
from recmetrics.usable import usable

DEFAULT_K = 10
CONFIDENCE = 0.95  # of the intervals that limits are held against, whatever the convention prints
MIN_CLASS = 30  # positives and negatives from which a part of the rows has an AUC of its own
# What the stage of a recommender is quoted by (metrics.md §1.2); K stands for the active cutoff.
STAGE_HEADLINE: Mapping[str, tuple[str, ...]] = {
    "recall": ("recall@500", "recall@1000"),
    "ranking": ("ndcg@{k}", "precision@10"),
    "ctr": ("roc_auc", "gauc", "log_loss"),
    "push": ("precision", "f_beta[beta=0.5]"),
}
DEFAULT_HEADLINE = ("roc_auc", "ndcg@{k}")
# Where the convention refuses the data, the checks still have to see them; they say what they did.
PROVISIONAL = {
    "duplicates": "keep_best",
    "truth_duplicates": "keep_best",
    "missing_scores": "drop",
    "infinite_scores": "drop",
}


@dataclass(frozen=True, eq=False)
class Subject:
    """One model of a dataset, ready to be examined.

    Attributes
    ----------
    raw
        The dataset as loaded, with missing scores and repeated pairs.
    rows
        The rows that metrics would use; where the convention refuses to go on, under the treatment of `PROVISIONAL`.
    declared, config
        The convention as given, and the one under which `rows` were made.
    model
        Name of the score looked at; None when there is no score at all.
    """

    raw: Dataset
    rows: Dataset
    declared: EvalConfig
    config: EvalConfig
    options: DiagnoseOptions
    model: str | None

    # What is asked -------------------------------------------------------------------------------------------------

    @cached_property
    def k(self) -> int:
        """The active cutoff."""
        if self.options.k is not None:
            return self.options.k
        return max((k for k in self.config.ks if k <= DEFAULT_K), default=self.config.ks[0])

    @cached_property
    def headline(self) -> tuple[MetricName, ...]:
        """The metrics that are quoted."""
        chosen = self.options.headline
        if chosen is None:
            chosen = STAGE_HEADLINE.get(self.config.stage or "", DEFAULT_HEADLINE)
        return tuple(parse_metric(name.replace("{k}", str(self.k))) for name in chosen)

    @cached_property
    def has_list_headline(self) -> bool:
        """A mean over users is quoted."""
        return any(name.entry.layer == "ranking" for name in self.headline)

    @cached_property
    def has_probability_headline(self) -> bool:
        """A metric is quoted that reads scores as probabilities."""
        return any(name.entry.layer == "calibration" for name in self.headline)

    @property
    def chosen_threshold(self) -> bool:
        """The threshold means something: it was set, or the scores are probabilities."""
        field = EvalConfig.model_fields["threshold"]
        was_set = self.config.threshold != field.default or self.config.threshold_origin != "given"
        return self.options.threshold_set or was_set or self.is_probability

    # Raw scores ----------------------------------------------------------------------------------------------------

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """bool[n]: raw rows that the model's file holds."""
        return np.ones(self.raw.n_rows, dtype=bool) if self.model is None else self.raw.rows_of(self.model)

    @cached_property
    def raw_score(self) -> NDArray[Any]:
        """float[n]: the raw scores, NaN where missing."""
        assert self.model is not None
        return self.raw.scores[self.model]

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        """bool[n]: raw rows with a finite score."""
        return np.asarray(self.held & np.isfinite(self.raw_score))

    @cached_property
    def score_values(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The distinct finite raw scores, ascending, and how many rows have each."""
        values = self.raw_score if self.finite.all() else self.raw_score[self.finite]
        ordered = np.sort(values)
        opens = np.ones(len(ordered), dtype=bool)
        opens[1:] = ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(opens)
        return ordered[starts], np.diff(np.append(starts, len(ordered))).astype(np.int64)

    @cached_property
    def is_probability(self) -> bool:
        """Declared so, or undeclared with every finite score in [0, 1]."""
        if self.model is None or self.config.score_direction == "lower":
            return False
        if self.config.score_kind != "auto":
            return self.config.score_kind == "probability"
        return self.in_unit_range

    @cached_property
    def in_unit_range(self) -> bool:
        """Every finite raw score lies in [0, 1]."""
        values, _ = self.score_values
        return bool(len(values) and values[0] >= 0 and values[-1] <= 1)

    # Labelled rows -------------------------------------------------------------------------------------------------

    @cached_property
    def raw_positive(self) -> NDArray[np.bool_]:
        """bool[n]: raw rows that are positive; a row without a label is not."""
        return self.positive_label(self.raw.label)

    def positive_label(self, label: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether each label is a positive; a missing one is not."""
        if self.config.positive_rule == "row_present":
            return ~np.isnan(label)
        return label >= self.config.relevance_threshold

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """bool[n]: usable rows of the model with a label."""
        known = ~np.isnan(self.rows.label)
        return known if self.model is None or not self.rows.scored else known & self.rows.rows_of(self.model)

    def of_judged(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column of the usable rows, cut to the labelled ones."""
        return column if self.judged.all() else column[self.judged]

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """bool[m]: labelled rows that are positive."""
        return self.positive_label(self.of_judged(self.rows.label))

    @cached_property
    def score(self) -> NDArray[Any]:
        """float[m]: scores of the labelled rows, larger = better."""
        assert self.model is not None
        return self.of_judged(self.rows.scores[self.model])

    @cached_property
    def user(self) -> NDArray[np.int32] | None:
        """int32[m]: users of the labelled rows."""
        return None if self.rows.user is None else self.of_judged(self.rows.user)

    @cached_property
    def n_positives(self) -> int:
        return int(np.count_nonzero(self.positive))

    @cached_property
    def n_negatives(self) -> int:
        return len(self.positive) - self.n_positives

    @property
    def prevalence(self) -> float:
        return self.n_positives / max(len(self.positive), 1)

    # AUC and lists -------------------------------------------------------------------------------------------------

    @cached_property
    def auc(self) -> AucEstimate:
        """AUC of the labelled rows with its interval, by user where there are users."""
        return self.tables.auc(CONFIDENCE)

    def class_counts(self, codes: NDArray[np.int32], n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return int64[g] twice, positives and negatives, for labelled rows in groups; a negative code is in none."""
        inside = codes >= 0
        n_positives = np.bincount(codes[inside & self.positive], minlength=n_groups)
        return n_positives, np.bincount(codes[inside], minlength=n_groups) - n_positives

    def auc_of_groups(self, codes: NDArray[np.int32], n_groups: int) -> dict[int, float]:
        """Return the AUC of every group with enough rows of both classes."""
        n_positives, n_negatives = self.class_counts(codes, n_groups)
        found = {}
        for code in np.flatnonzero(np.minimum(n_positives, n_negatives) >= MIN_CLASS):
            here = codes == code
            found[int(code)] = auc_estimate(self.positive[here], self.score[here], None).value
        return found

    @cached_property
    def implied(self) -> float | None:
        """AUC that the scores would have if they were right about themselves; None for raw scores."""
        return implied_auc(self.score) if self.is_probability and self.in_unit_range else None

    @property
    def implied_tolerance(self) -> float:
        """How far AUC and implied AUC may lie apart by chance."""
        return max(0.02, 3 * (self.auc.se or 0.0))

    @cached_property
    def tables(self) -> Tables:
        """The model's tables, blocks of equal scores left whole whatever the tie rule of the convention."""
        assert self.model is not None
        return make_tables(self.rows, self.config.replace(ties="average"), self.model)

    @property
    def hits(self) -> HitTable:
        """Hits of every list."""
        return self.tables.hits

    @property
    def judged_hits(self) -> HitTable:
        """Hits among the labelled rows of every list."""
        return self.tables.judged

    @property
    def table(self) -> ScoreTable:
        """Scores of positives and negatives."""
        return self.tables.scores

    @cached_property
    def n_candidates(self) -> NDArray[np.int64]:
        """int64[l]: candidates of every user who has any."""
        n = self.hits.n_candidates
        return n[n > 0]

    @cached_property
    def user_rows(self) -> NDArray[np.int64]:
        """int64[u]: labelled rows per user code."""
        return self.judged_hits.n_candidates

    @cached_property
    def user_positives(self) -> NDArray[np.int64]:
        """int64[u]: positives among the labelled rows per user code."""
        hits = self.judged_hits
        return np.bincount(hits.user[hits.relevant], minlength=len(hits.n_candidates))

    @cached_property
    def user_auc(self) -> UserAuc:
        """AUC inside each user; users with one class are left out, whatever the convention gives them."""
        found: UserAuc = user_auc(self.judged_hits, self.config.replace(single_class_users="skip"))
        return found

    @cached_property
    def gauc(self) -> MeanEstimate:
        """Weighted mean of the AUC inside each user, with its interval."""
        counted = self.user_auc.counted
        return weighted_mean_interval(self.user_auc.auc[counted], self.user_auc.weight[counted], CONFIDENCE)


def subjects(
    dataset: Dataset, config: EvalConfig, options: DiagnoseOptions, models: tuple[str, ...] | None
) -> list[Subject]:
    """Return one subject per model, all of them on the same usable rows; one without model when there is no score."""
    given = {name: getattr(config, name) for name in PROVISIONAL}
    treated = config.replace(**{name: PROVISIONAL[name] for name, value in given.items() if value == "error"})
    rows = usable(dataset, treated)
    chosen = dataset.models if models is None else models
    return [Subject(dataset, rows, config, treated, options, model) for model in chosen or (None,)]
