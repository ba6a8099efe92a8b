"""Exact split of the pooled AUC into the pairs inside one user's rows and the pairs that join two users."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.metrics.classification import roc_auc
from recmetrics.metrics.per_user_auc import user_auc
from recmetrics.tables import HitTable, ScoreTable, frozen


@dataclass(frozen=True, eq=False)
class UserSplit:
    """AUC = w_in · within + (1 − w_in) · across, over all pairs of one positive and one negative row.

    Attributes
    ----------
    auc, within, across
        In 0..1; None where there is no such pair. `within` is `gauc[weight=pairs]`.
    w_in
        Share of the pairs that lie inside one user, in 0..1; None with one class only.
    n_rows, n_positives
        int64[u] labelled rows and positives per user code.
    user_auc
        float64[u], NaN for users with one class.
    pair_share, lost_share, positive_share
        float64[u]: each user's share of the within-user pairs, of the within-user pairs that are in the wrong order
        (ties count ½), and of all positives. They sum to 1 over the users, or are 0 where there is nothing to share;
        positives without a user id belong to nobody.
    n_both, n_only_positive, n_only_negative
        Users by the classes among their labelled rows.
    n_rows_one_class, n_rows_without_user
        Labelled rows of users with one class; labelled rows without a user id.
    """

    auc: float | None
    within: float | None
    across: float | None
    w_in: float | None
    n_rows: NDArray[np.int64]
    n_positives: NDArray[np.int64]
    user_auc: NDArray[np.float64]
    pair_share: NDArray[np.float64]
    lost_share: NDArray[np.float64]
    positive_share: NDArray[np.float64]
    n_both: int
    n_only_positive: int
    n_only_negative: int
    n_rows_one_class: int
    n_rows_without_user: int

    def __post_init__(self) -> None:
        frozen(self.n_rows, self.n_positives, self.user_auc, self.pair_share, self.lost_share, self.positive_share)

    @property
    def n_users(self) -> int:
        """Users with at least one labelled row."""
        return self.n_both + self.n_only_positive + self.n_only_negative

    @property
    def users_with_half_the_pairs(self) -> int:
        """Fewest users that together hold at least half of the within-user pairs; 0 without pairs."""
        largest = np.sort(self.pair_share)[::-1]
        # The last sum may stop at 0.999…, so the half is compared with a little room.
        return int(np.searchsorted(np.cumsum(largest), 0.5 - 1e-12) + 1) if self.w_in else 0


def split_by_users(judged: HitTable, scores: ScoreTable, config: EvalConfig) -> UserSplit:
    """Split the pooled AUC by users; no loop over pairs.

    Parameters
    ----------
    judged
        Hits among the labelled rows of every user.
    scores
        Scores of all labelled rows, those without a user id included: their pairs all lie across.
    """
    found = user_auc(judged, config.replace(gauc_weight="pairs", single_class_users="skip"))
    auc = roc_auc(scores, config).value
    n_rows = judged.n_candidates
    n_positives = np.bincount(judged.user[judged.relevant], minlength=len(n_rows))
    pairs = np.where(found.counted, found.weight, 0.0)
    lost = pairs * (1.0 - np.nan_to_num(found.auc))
    all_pairs = float(scores.n_positives) * float(scores.n_negatives)
    within = float(pairs @ np.nan_to_num(found.auc) / pairs.sum()) if pairs.any() else None
    w_in = float(pairs.sum() / all_pairs) if all_pairs else None
    only_positive = (n_rows > 0) & (n_positives == n_rows)
    only_negative = (n_rows > 0) & (n_positives == 0)
    return UserSplit(
        auc=auc,
        within=within,
        across=_across(auc, within, w_in),
        w_in=w_in,
        n_rows=n_rows,
        n_positives=n_positives,
        user_auc=found.auc,
        pair_share=_shares(pairs),
        lost_share=_shares(lost),
        positive_share=n_positives / max(scores.n_positives, 1),
        n_both=int(found.counted.sum()),
        n_only_positive=int(only_positive.sum()),
        n_only_negative=int(only_negative.sum()),
        n_rows_one_class=int(n_rows[only_positive | only_negative].sum()),
        n_rows_without_user=scores.n_rows - int(n_rows.sum()),
    )


def _across(auc: float | None, within: float | None, w_in: float | None) -> float | None:
    if auc is None or w_in is None or w_in >= 1.0:
        return None
    return (auc - w_in * (within or 0.0)) / (1.0 - w_in)


def _shares(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    total = amounts.sum()
    return amounts / total if total > 0 else np.zeros(len(amounts))
