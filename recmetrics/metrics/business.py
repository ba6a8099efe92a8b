"""Business metrics: sums and rates of an exposure log, one row per exposure unless it carries counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import n_codes
from recmetrics.metrics.base import Measured, metric, undefined
from recmetrics.results import missing_column
from recmetrics.text import N_

_UNBOUNDED = float("inf")


@dataclass(frozen=True, eq=False)
class ExposureLog:
    """The log's columns by role, float64[n], and the user code of each row (None without users)."""

    columns: dict[str, NDArray[np.float64]]
    user: NDArray[np.int32] | None
    n_rows: int

    def total(self, one_each: str, counts: str = "") -> float | None:
        """Return the sum of a 0/1 column, or of its counts; None when the log has neither. Empty cells add nothing."""
        for name in filter(None, (counts, one_each)):
            if name in self.columns:
                return float(np.nansum(self.columns[name]))
        return None

    @property
    def n_exposures(self) -> float:
        counted = self.total("", "exposures")
        return float(self.n_rows) if counted is None else counted

    def n_users_with(self, one_each: str, counts: str) -> int:
        """Return how many users have at least one event."""
        assert self.user is not None
        events = self.columns[counts if counts in self.columns else one_each]
        return n_codes(self.user[np.nan_to_num(events) > 0])

    @property
    def n_users(self) -> int:
        return 0 if self.user is None else n_codes(self.user)


def _per(log: ExposureLog, total: float | None, column: str, below: float, reason: str, scale: float = 1.0) -> Measured:
    if total is None:
        return undefined(missing_column(column))
    return (
        Measured(scale * total / below, extra={"numerator": total, "denominator": below})
        if below
        else undefined(reason)
    )


def _sum(total: float | None, column: str) -> Measured:
    return undefined(missing_column(column)) if total is None else Measured(total)


@metric("exposures", "business", N_("Exposures"), high=_UNBOUNDED, source="rows of the log, or their counts")
def exposures(log: ExposureLog, config: EvalConfig) -> Measured:
    """Exposures in the log."""
    return Measured(log.n_exposures)


@metric("clicks", "business", N_("Clicks"), high=_UNBOUNDED, source="sum", needs=("click",))
def clicks(log: ExposureLog, config: EvalConfig) -> Measured:
    """Clicks in the log."""
    return _sum(log.total("click", "clicks"), "click")


@metric("purchases", "business", N_("Purchases"), high=_UNBOUNDED, source="sum", needs=("purchase",))
def purchases(log: ExposureLog, config: EvalConfig) -> Measured:
    """Purchases in the log."""
    return _sum(log.total("purchase", "purchases"), "purchase")


@metric("ctr", "business", N_("CTR"), source="clicks / exposures", needs=("click",))
def ctr(log: ExposureLog, config: EvalConfig) -> Measured:
    """Clicks over exposures; the share of exposed users who clicked beside it."""
    found = _per(log, log.total("click", "clicks"), "click", log.n_exposures, "no exposures")
    if found.value is None or log.n_users == 0:
        return found
    return Measured(
        found.value, extra={**found.extra, "share_of_users": log.n_users_with("click", "clicks") / log.n_users}
    )


@metric("cvr", "business", N_("CVR"), high=_UNBOUNDED, source="purchases / clicks", needs=("click", "purchase"))
def cvr(log: ExposureLog, config: EvalConfig) -> Measured:
    """Purchases over clicks; above 1 purchases without a click are attributed."""
    clicked = log.total("click", "clicks")
    if clicked is None:
        return undefined(missing_column("click"))
    return _per(log, log.total("purchase", "purchases"), "purchase", clicked, "no clicks")


@metric("conversion_rate", "business", N_("Conversion rate"), source="purchases / exposures", needs=("purchase",))
def conversion_rate(log: ExposureLog, config: EvalConfig) -> Measured:
    """Purchases over exposures."""
    return _per(log, log.total("purchase", "purchases"), "purchase", log.n_exposures, "no exposures")


@metric("gmv", "business", N_("GMV"), low=-_UNBOUNDED, high=_UNBOUNDED, source="sum of amounts", needs=("amount",))
def gmv(log: ExposureLog, config: EvalConfig) -> Measured:
    """Amount sold from these exposures, in the log's currency; negative amounts counted beside it."""
    total = log.total("amount")
    if total is None:
        return undefined(missing_column("amount"))
    return Measured(total, extra={"negative_amounts": float(np.count_nonzero(log.columns["amount"] < 0))})


@metric(
    "gmv_per_user",
    "business",
    N_("GMV per user"),
    low=-_UNBOUNDED,
    high=_UNBOUNDED,
    source="GMV / users",
    needs=("amount", "user"),
)
def gmv_per_user(log: ExposureLog, config: EvalConfig) -> Measured:
    """Amount over users exposed."""
    return _per_user(log, log.total("amount"), "amount")


@metric(
    "gmv_per_mille",
    "business",
    N_("GMV per 1,000 exposures"),
    low=-_UNBOUNDED,
    high=_UNBOUNDED,
    source="1000 · GMV / exposures",
    needs=("amount",),
)
def gmv_per_mille(log: ExposureLog, config: EvalConfig) -> Measured:
    """Amount per thousand exposures."""
    return _per(log, log.total("amount"), "amount", log.n_exposures, "no exposures", 1000.0)


def _per_user(log: ExposureLog, total: float | None, column: str) -> Measured:
    if log.user is None:
        return undefined(missing_column("user"))
    return _per(log, total, column, float(log.n_users), "no exposures")


@metric(
    "exposures_per_user", "business", N_("Exposures per user"), high=_UNBOUNDED, source="sum / users", needs=("user",)
)
def exposures_per_user(log: ExposureLog, config: EvalConfig) -> Measured:
    """Exposures over users exposed."""
    return _per_user(log, log.n_exposures, "user")


@metric(
    "clicks_per_user", "business", N_("Clicks per user"), high=_UNBOUNDED, source="sum / users", needs=("click", "user")
)
def clicks_per_user(log: ExposureLog, config: EvalConfig) -> Measured:
    """Clicks over users exposed."""
    return _per_user(log, log.total("click", "clicks"), "click")


@metric(
    "dwell_per_user",
    "business",
    N_("Dwell time per user (s)"),
    high=_UNBOUNDED,
    source="sum / users",
    needs=("dwell_seconds", "user"),
)
def dwell_per_user(log: ExposureLog, config: EvalConfig) -> Measured:
    """Seconds of dwell over users exposed."""
    return _per_user(log, log.total("dwell_seconds"), "dwell_seconds")


@metric(
    "satisfaction",
    "business",
    N_("Satisfaction"),
    low=-_UNBOUNDED,
    high=_UNBOUNDED,
    source="mean rating",
    needs=("rating",),
)
def satisfaction(log: ExposureLog, config: EvalConfig) -> Measured:
    """Mean rating of the rows that have one; their number and the share at or above the threshold beside it."""
    if "rating" not in log.columns:
        return undefined(missing_column("rating"))
    rated = log.columns["rating"][~np.isnan(log.columns["rating"])]
    if len(rated) == 0:
        return undefined("no rows")
    at_least = float(np.mean(rated >= config.relevance_threshold))
    return Measured(float(rated.mean()), extra={"rated": float(len(rated)), "share_at_threshold": at_least})
