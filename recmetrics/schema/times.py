"""Times of rows as days, whatever unit the file counts in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import Issue
from recmetrics.schema.cells import is_text, numbers
from recmetrics.text import N_

SECONDS_A_DAY = 86_400.0
# Epoch times of 1973 to 2100 in each unit do not overlap; smaller numbers are taken as days.
_UNITS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"), (1e8, "s"))
_A_DAY = {"d": 1.0, "s": SECONDS_A_DAY, "ms": 1e3 * SECONDS_A_DAY, "us": 1e6 * SECONDS_A_DAY, "ns": 1e9 * SECONDS_A_DAY}

_READ_AS = {
    "d": N_("{file}: numbers in '{column}' were read as days."),
    "s": N_("{file}: numbers in '{column}' were read as seconds since 1970."),
    "ms": N_("{file}: numbers in '{column}' were read as milliseconds since 1970."),
    "us": N_("{file}: numbers in '{column}' were read as microseconds since 1970."),
    "ns": N_("{file}: numbers in '{column}' were read as nanoseconds since 1970."),
}


def read_days(array: Any, column: str, file: str, unit: str = "auto") -> tuple[NDArray[np.float64], tuple[Issue, ...]]:
    """Return days since 1970 as float64[n], NaN where a cell is empty or no time, and what has to be said.

    `unit` of times written as numbers, as in EvalConfig's `time_unit`; `auto` = by their size.
    """
    import pyarrow.types as types  # lazily: the package must import quickly

    if types.is_timestamp(array.type) or types.is_date(array.type):
        return _from_timestamps(array), ()
    if types.is_temporal(array.type):  # a time of day or a duration: no point in time
        return np.full(len(array), np.nan), (_unread([str(value) for value in array.to_pylist()], column, file),)
    read = numbers(array)
    if is_text(array) and len(read.bad):
        return _from_text(array, column, file)
    return _from_epoch(read.values.astype(np.float64), column, file, unit)


def _from_timestamps(array: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    seconds = array.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
    found: NDArray[np.float64] = seconds.to_numpy(zero_copy_only=False) / (1e6 * SECONDS_A_DAY)
    return found


def _from_epoch(
    values: NDArray[np.float64], column: str, file: str, unit: str
) -> tuple[NDArray[np.float64], tuple[Issue, ...]]:
    dates = _calendar_days(values) if unit == "auto" else None
    if dates is not None:
        example = f"{values[np.isfinite(values)][0]:.0f}"
        template = N_("{file}: numbers in '{column}' such as {example} were read as dates: year, month, day.")
        told = {"file": file, "column": column, "example": example}
        return dates, (Issue("time_unit", len(values), template, told, asks="time_unit"),)
    if unit == "auto":
        finite = np.abs(values[np.isfinite(values)])
        typical = float(np.median(finite)) if len(finite) else 0.0
        unit = next((name for least, name in _UNITS if typical >= least), "d")
    facts = {"file": file, "column": column, "unit": unit}
    return values / _A_DAY[unit], (Issue("time_unit", len(values), _READ_AS[unit], facts, asks="time_unit"),)


def _calendar_days(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the days of numbers such as 20260412, or None when any of them is no date of 1900 to 2100."""
    known = np.isfinite(values)
    numbers = values[known]
    if not len(numbers) or numbers.min() < 19000101 or numbers.max() > 21001231 or np.any(numbers % 1):
        return None
    whole = numbers.astype(np.int64)
    year, month, day = whole // 10000, whole // 100 % 100, whole % 100
    if np.any((month < 1) | (month > 12) | (day < 1)):
        return None
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    dates = months.astype("datetime64[D]") + (day - 1)
    if np.any(dates.astype("datetime64[M]") != months):  # the 31st of a month of 30 days
        return None
    found = np.full(len(values), np.nan)
    found[known] = dates.astype(np.int64)
    return found


def _from_text(array: Any, column: str, file: str) -> tuple[NDArray[np.float64], tuple[Issue, ...]]:
    import pandas as pd

    texts = pd.Series(array.to_pandas())
    times = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    if times.isna().mean() > 0.5:
        times = pd.to_datetime(texts.str.replace("/", "-", regex=False), format="ISO8601", errors="coerce", utc=True)
    days = times.to_numpy(dtype="datetime64[us]").astype(np.float64) / (1e6 * SECONDS_A_DAY)
    days[times.isna().to_numpy()] = np.nan
    unread = np.flatnonzero(times.isna() & (texts.fillna("").str.strip() != ""))
    if not len(unread):
        return days, ()
    return days, (_unread([str(text) for text in texts.iloc[unread]], column, file),)


def _unread(cells: list[str], column: str, file: str) -> Issue:
    examples = tuple(cell[:40] for cell in cells[:3])
    template = N_("{file}: {count} cells of '{column}' are no times and count as missing ({values}).")
    facts = {"file": file, "column": column, "count": len(cells), "values": ", ".join(examples)}
    return Issue("time_unreadable", len(cells), template, facts, examples, "doubt")
