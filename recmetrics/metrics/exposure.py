"""What the first K places show: coverage of the catalogue, concentration, popularity, novelty.

Where the K-th place lies inside a block of equal scores, every row of the block counts with the share of places left.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.errors import RecmetricsError
from recmetrics.metrics.base import Measured, metric, undefined
from recmetrics.results import missing_column
from recmetrics.text import N_


@dataclass(frozen=True, eq=False)
class Exposures:
    """The first places of all lists, sorted by user.

    Attributes
    ----------
    user, item, lo, hi, place
        int[r]: who, what (−1 without an item), ranks of the block, and the rank when ties stand in item order.
    n_users, n_items
        Users of the dataset with and without a list; distinct items scored.
    popularity
        float64[items]: training users of each item; None without training data.
    n_train_users
        Users in the training data.
    logged
        Exposure-log columns of these rows (`click`, `amount`, …), float64[r].
    """

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    place: NDArray[np.int32]
    n_users: int
    n_items: int
    popularity: NDArray[np.float64] | None = None
    n_train_users: int = 0
    logged: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def shares(self, k: int) -> NDArray[np.float64]:
        """Return float64[r]: the share of the first `k` places that each row holds on average."""
        size = (self.hi - self.lo + 1).astype(np.float64)
        return np.asarray(np.clip(k - self.lo + 1, 0, size) / size)


@metric(
    "coverage",
    "exposure",
    N_("Catalogue coverage"),
    cutoff="always",
    source="distinct items shown over the catalogue",
    needs=("user", "item"),
)
def coverage(shown: Exposures, config: EvalConfig, k: int) -> Measured:
    """Distinct items in all first K places over the catalogue; ties in ascending item order, so that it is a count."""
    if config.catalogue_size is None:
        return undefined("no catalogue size")
    within = shown.place <= k
    items = np.unique(shown.item[within & (shown.item >= 0)])
    users = len(np.unique(shown.user[within]))
    extra = {"items_shown": float(len(items)), "user_coverage": users / max(shown.n_users, 1)}
    return Measured(len(items) / _catalogue(config.catalogue_size, len(items)), extra=extra)


def _catalogue(size: int, n_shown: int) -> int:
    """Return the declared size of the catalogue; refused when the lists themselves contradict it."""
    if size < n_shown:
        raise RecmetricsError(
            "invalid_config",
            N_(
                "catalogue_size={size}, but the lists show {n} different items. "
                "Declare the size of the whole catalogue."
            ),
            size=size,
            n=n_shown,
        )
    return size


@metric(
    "gini",
    "exposure",
    N_("Exposure Gini"),
    cutoff="always",
    source="Gini coefficient of the items' exposures",
    needs=("user", "item"),
)
def gini(shown: Exposures, config: EvalConfig, k: int) -> Measured:
    """Concentration of exposures over the catalogue, else over seen items: 0 all alike, 1 − 1/N one item only."""
    held = shown.item >= 0
    exposures = np.bincount(shown.item[held], shown.shares(k)[held])
    seen = exposures[exposures > 0]
    if len(seen) == 0:
        return undefined("no rows")
    size = _catalogue(config.catalogue_size or shown.n_items, len(seen))
    # Items never shown add nothing to either sum, so that only their number is needed, however large the catalogue.
    i = float(size - len(seen)) + np.arange(1, len(seen) + 1)
    value = float(np.sum((2 * i - size - 1) * np.sort(seen)) / (size * seen.sum()))
    return Measured(value, extra={"items": float(size), "over_catalogue": float(config.catalogue_size is not None)})


def _list_mean(shown: Exposures, k: int, worth: NDArray[np.float64]) -> float:
    """Return the mean over users of the mean worth of their first K items."""
    share = shown.shares(k)
    total = np.bincount(shown.user, share * worth)
    places = np.bincount(shown.user, share)
    return float(np.mean(total[places > 0] / places[places > 0]))


@metric(
    "avg_popularity",
    "exposure",
    N_("Average popularity"),
    cutoff="always",
    high=float("inf"),
    source="mean training users of the items shown",
    needs=("user", "item", "train"),
)
def avg_popularity(shown: Exposures, config: EvalConfig, k: int) -> Measured:
    """Mean over lists of the mean number of training users of their items."""
    if shown.popularity is None:
        return undefined("no training counts")
    if len(shown.user) == 0:
        return undefined("no rows")
    return Measured(_list_mean(shown, k, np.where(shown.item >= 0, shown.popularity[shown.item], 0.0)))


@metric(
    "novelty",
    "exposure",
    N_("Novelty"),
    cutoff="always",
    high=float("inf"),
    source="self-information of the items shown, in bits",
    needs=("user", "item", "train"),
)
def novelty(shown: Exposures, config: EvalConfig, k: int) -> Measured:
    """Mean over lists of −log2(training users of the item / training users); a new item counts as one user."""
    if shown.popularity is None or shown.n_train_users == 0:
        return undefined("no training counts")
    if len(shown.user) == 0:
        return undefined("no rows")
    users = np.where(shown.item >= 0, shown.popularity[shown.item], 0.0)
    new = _list_mean(shown, k, (users == 0).astype(np.float64))
    worth = -np.log2(np.maximum(users, 1.0) / shown.n_train_users)
    return Measured(_list_mean(shown, k, worth), extra={"new_item_share": new})


def _logged_rate(shown: Exposures, k: int, column: str) -> tuple[float, float] | Measured:
    if column not in shown.logged:
        return undefined(missing_column(column))
    share = shown.shares(k)
    known = ~np.isnan(shown.logged[column])
    exposures = float(share[known].sum())
    if exposures == 0:
        return undefined("no exposures")
    return float((share[known] * shown.logged[column][known]).sum()), exposures


@metric(
    "ctr",
    "exposure",
    N_("CTR of the first K"),
    cutoff="always",
    source="offline proxy on logged exposures",
    needs=("click",),
)
def ctr_at_k(shown: Exposures, config: EvalConfig, k: int) -> Measured:
    """Logged clicks over logged exposures among the model's first K: the old policy's exposures, an offline proxy."""
    found = _logged_rate(shown, k, "click")
    if isinstance(found, Measured):
        return found
    return Measured(found[0] / found[1], extra={"exposures": found[1], "clicks": found[0]})


@metric(
    "gmv",
    "exposure",
    N_("GMV of the first K"),
    cutoff="always",
    low=-float("inf"),
    high=float("inf"),
    source="offline proxy on logged exposures",
    needs=("amount",),
)
def gmv_at_k(shown: Exposures, config: EvalConfig, k: int) -> Measured:
    """Logged amount of the exposures among the model's first K: an offline proxy."""
    found = _logged_rate(shown, k, "amount")
    return found if isinstance(found, Measured) else Measured(found[0], extra={"exposures": found[1]})
