"""AUC with an honest interval: DeLong's variance, summed by user because a user's rows are not independent.

DeLong, DeLong & Clarke-Pearson 1988 (doi:10.2307/2531595); the sum by cluster follows Obuchowski 1997
(doi:10.2307/2533958) without his finite-sample factors; Hanley & McNeil 1982 (doi:10.1148/radiology.143.1.7063747).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recmetrics.inference.means import t_quantile

Method = Literal["delong_by_user", "delong", "hanley_mcneil", "disjoint_pairs", "undefined"]

# Below this many rows in the rarer class, or outside this range of AUC, the logit scale covers better than the plain
# one (diagnostics.md §4.1: 0.969 against 0.892 at 10 + 10 rows).
LOGIT_BELOW = 200
PLAIN_RANGE = (0.1, 0.9)
# On the logit scale the Hanley–McNeil interval of a perfect order widens with the number of rows and soon says nothing:
# from this many rows on, pairs that share no row give a bound that holds exactly.
PAIRS_FROM = 30
# The exact rank test is for small samples; above this its normal form agrees to all printed digits.
EXACT_SMALLER, EXACT_LARGER = 30, 2000


@dataclass(frozen=True, eq=False)
class AucEstimate:
    """AUC over pooled rows with its uncertainty.

    Attributes
    ----------
    value
        Probability that a random positive scores above a random negative, ties counting one half; 0..1. NaN when one
        class is missing, and then nothing else is defined.
    se, low, high
        Standard error and interval; None when `value` is NaN.
    method
        `delong_by_user` users as units; `delong` rows as units (no users, one row each, or one user only);
        `hanley_mcneil` the approximation for a perfect, fully reversed or constant score; `disjoint_pairs` its exact
        bound from pairs without a common row or user, for a perfect or fully reversed order of many rows.
    influence
        float64[u]: what each user moves the value by, summing to 0; a difference of two estimates on the same rows has
        the influence difference. None without users.
    """

    value: float
    se: float | None
    low: float | None
    high: float | None
    n_users: int | None
    n_positives: int
    n_negatives: int
    method: Method
    influence: NDArray[np.float64] | None


def auc_estimate(
    label_positive: NDArray[np.bool_],
    score: NDArray[Any],
    user: NDArray[np.int32] | None,
    confidence: float = 0.95,
    n_users: int | None = None,
) -> AucEstimate:
    """Return the AUC of rows with its interval.

    Parameters
    ----------
    label_positive
        bool[n], whether the row is a positive.
    score
        float[n], larger = better, no NaN.
    user
        int32[n] codes; a negative code is a row without user, which stands for itself. None = no user column.
    confidence
        Coverage of the interval, inside (0, 1).
    n_users
        Length of `influence`; the largest code + 1 when not given.
    """
    n_positives = int(np.count_nonzero(label_positive))
    n_negatives = len(label_positive) - n_positives
    if not n_positives or not n_negatives:
        return AucEstimate(math.nan, None, None, None, None, n_positives, n_negatives, "undefined", None)
    value, influence = row_influence(label_positive, score)
    method: Method
    by_user, n_units = (None, None) if user is None else _sum_by_user(influence, user, n_users)
    if n_units is not None and 1 < n_units < len(score):
        assert by_user is not None
        assert user is not None
        se, method = _clustered_se(by_user, influence[user < 0], n_units), "delong_by_user"
        quantile = t_quantile(confidence, n_units - 1)
    else:
        se, method = _plain_se(influence, label_positive), "delong"
        quantile = _normal_quantile(confidence)
    shown, se, method = _guarded(value, se, n_positives, n_negatives, method)
    logit = min(n_positives, n_negatives) < LOGIT_BELOW or not PLAIN_RANGE[0] <= shown <= PLAIN_RANGE[1]
    low, high = _interval(shown, se, quantile, logit or method == "hanley_mcneil")
    if value in (0.0, 1.0) and min(n_positives, n_negatives) >= PAIRS_FROM:
        method = "disjoint_pairs"
        bound = ((1 - confidence) / 2) ** (1 / _disjoint_pairs(label_positive, user))
        low, high = (max(low, bound), high) if value else (low, min(high, 1 - bound))
    return AucEstimate(value, se, low, high, n_units, n_positives, n_negatives, method, by_user)


def row_influence(positive: NDArray[np.bool_], score: NDArray[Any]) -> tuple[float, NDArray[np.float64]]:
    """Return the AUC and ψ: float64[n], the influence of each row, which sums to 0. Both classes must occur."""
    above, below = np.sort(score[positive]), np.sort(score[~positive])
    n_positives, n_negatives = len(above), len(below)
    beaten = _mid_count(below, score[positive]) / n_negatives
    beating = 1.0 - _mid_count(above, score[~positive]) / n_positives
    value = float(beaten.mean())
    influence = np.empty(len(score), dtype=np.float64)
    influence[positive] = (beaten - value) / n_positives
    influence[~positive] = (beating - value) / n_negatives
    return value, influence


def _mid_count(ordered: NDArray[Any], asked: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each asked score how many ordered ones lie below it, equal ones counting one half."""
    # Sorted questions walk through the ordered array once instead of jumping about in it.
    order = np.argsort(asked, kind="stable")
    in_order = asked[order]
    found = np.empty(len(asked), dtype=np.float64)
    found[order] = np.searchsorted(ordered, in_order, "left") * 0.5 + np.searchsorted(ordered, in_order, "right") * 0.5
    return found


def _sum_by_user(
    influence: NDArray[np.float64], user: NDArray[np.int32], n_users: int | None
) -> tuple[NDArray[np.float64], int]:
    known = user >= 0
    codes = user if known.all() else user[known]
    size = n_users or 0
    weights = influence if codes is user else influence[known]
    # Without any known user bincount would count in whole numbers.
    summed = np.bincount(codes, weights=weights, minlength=size).astype(np.float64)
    n_units = int(np.count_nonzero(np.bincount(codes, minlength=size))) + int(len(user) - len(codes))
    return summed, n_units


def _clustered_se(by_user: NDArray[np.float64], alone: NDArray[np.float64], n_units: int) -> float:
    total = float(by_user @ by_user) + float(alone @ alone)
    return math.sqrt(n_units / (n_units - 1) * total)


def _plain_se(influence: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return √(S₁₀/P + S₀₁/N) with the sample variances of the shares beaten; a class of one row adds nothing."""
    total = 0.0
    for part in (influence[positive], influence[~positive]):
        n = len(part)
        # A row's influence is its deviation divided by n, so that Σ ψ²·n/(n−1) is the variance divided by n.
        total += float(part @ part) * n / (n - 1) if n > 1 else 0.0
    return math.sqrt(total)


def _guarded(
    value: float, se: float, n_positives: int, n_negatives: int, method: Method
) -> tuple[float, float, Method]:
    """Return the centre and standard error of the interval; a variance of nothing is no certainty."""
    # Rounding leaves a trace of variance in a constant score, hence the comparison with a tiny number.
    if 0.0 < value < 1.0 and se > 1e-12:
        return value, se, method
    n_pairs = n_positives * n_negatives
    centre = (value * n_pairs + 0.5) / (n_pairs + 1)
    return centre, hanley_mcneil_se(centre, n_positives, n_negatives), "hanley_mcneil"


def _disjoint_pairs(positive: NDArray[np.bool_], user: NDArray[np.int32] | None) -> int:
    """Return how many pairs of a positive and a negative exist that share neither a row nor a user.

    If the AUC is A, the chance that all of m independent pairs stand in the right order is A^m.
    """
    n_positives = int(np.count_nonzero(positive))
    rows = min(n_positives, len(positive) - n_positives)
    if user is None or len(np.unique(user)) < 2:
        return rows
    # A row without a user stands for itself.
    known = np.where(user >= 0, user, user.max(initial=0) + 1 + np.arange(len(user)))
    sides = len(np.unique(known[positive])), len(np.unique(known[~positive]))
    return max(min(*sides, len(np.unique(known)) // 2), 1)


def hanley_mcneil_se(value: float, n_positives: int, n_negatives: int) -> float:
    """Return the standard error of an AUC when only its value and the class counts are known."""
    both_positives = value / (2 - value)
    both_negatives = 2 * value * value / (1 + value)
    variance = value * (1 - value)
    variance += (n_positives - 1) * (both_positives - value * value)
    variance += (n_negatives - 1) * (both_negatives - value * value)
    return math.sqrt(max(variance, 0.0) / (n_positives * n_negatives))


def _interval(value: float, se: float, quantile: float, logit: bool) -> tuple[float, float]:
    if not logit:
        return value - quantile * se, value + quantile * se
    centre = math.log(value / (1 - value))
    reach = quantile * se / (value * (1 - value))
    return _logistic(centre - reach), _logistic(centre + reach)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _normal_quantile(confidence: float) -> float:
    from scipy import special  # lazily: an import of half a second that most uses of the package never need

    return float(special.ndtri(0.5 + confidence / 2))


def exact_p(positive: NDArray[np.bool_], score: NDArray[Any], user: NDArray[np.int32] | None) -> float | None:
    """Return the exact two-sided Mann–Whitney p of "the score does not order the classes"; None where not allowed.

    Allowed with 1..30 rows in the rarer class, no equal scores and no user with two rows.
    """
    n_positives = int(np.count_nonzero(positive))
    fewer, more = sorted((n_positives, len(score) - n_positives))
    if not 1 <= fewer <= EXACT_SMALLER or more > EXACT_LARGER or len(np.unique(score)) < len(score):
        return None
    if user is not None and len(np.unique(user[user >= 0])) < np.count_nonzero(user >= 0):
        return None
    from scipy import stats  # lazily, as above

    return float(stats.mannwhitneyu(score[positive], score[~positive], method="exact").pvalue)
