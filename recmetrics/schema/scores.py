"""One score column as numbers, and what its name and its values leave open: direction, kind and number format."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.roles import says_distance, says_probability, says_rank
from recmetrics.schema.cells import Numbers, numbers
from recmetrics.schema.ids import Ids
from recmetrics.text import N_

N_LOOKED_AT = 2000
FEWEST_RANKED = 6  # rows of users with two rows or more, below which whole numbers 1..n may be chance
NEARLY_ALL = 0.95
PERCENT_FROM = 50.0  # scores of 0..100 whose largest is above this look like percentages; grades and stars stay below

_READINGS = {
    "decimal_comma": N_("{file}: numbers in '{column}' have a decimal comma."),
    "thousands": N_("{file}: commas in '{column}' were read as thousands separators."),
    "thousands_or_comma": N_(
        "{file}: every comma in '{column}' has three digits behind it and was read as a thousands separator; "
        "it could be a decimal sign instead. Which is it?"
    ),
    "percent": N_("{file}: numbers in '{column}' are percentages and were divided by 100."),
}
_ODD = {
    "missing_scores": N_("{file}: rows without a score in column '{column}': {count}."),
    "infinite_scores": N_("{file}: rows with an infinite score in '{column}': {count}."),
}


def read_score(
    array: Any, column: str, file: str, user: Ids | None, config: EvalConfig, decimal: str | None = None
) -> tuple[NDArray[Any], tuple[Issue, ...]]:
    """Return a decoded score column as float32 or float64 with NaN = missing, and what has to be said or asked.

    Raises
    ------
    RecmetricsError
        `score_not_numeric` when cells are neither numbers nor missing.
    """
    read = numbers(array, decimal)
    if len(read.bad):
        raise _not_numeric(column, file, read)
    facts = {"file": file, "column": column}
    issues = [*reading_issues(read, column, file), *_odd(read.values, facts)]
    if config.score_direction == "higher" and config.score_kind != "rank":
        issues.extend(_direction(column, read.values, user, facts))
    if config.score_kind == "auto":
        issues.extend(_kind(column, read.values, facts))
    return compact(read.values), tuple(issues)


def _not_numeric(column: str, file: str, read: Numbers) -> RecmetricsError:
    return RecmetricsError(
        "score_not_numeric",
        N_(
            "{file}: score column '{column}' holds cells that are no numbers ({count}; rows {rows}: {values}). "
            "Choose another column with --columns score=NAME, or export plain numbers such as 0.75."
        ),
        file=file,
        column=column,
        count=len(read.bad),
        rows=", ".join(str(row + 1) for row in read.bad[:3]),
        values=", ".join(f"'{text[:40]}'" for text in read.texts),
    )


def reading_issues(read: Numbers, column: str, file: str) -> list[Issue]:
    """Return what had to be decided to read texts as numbers; a comma with two readings is a doubt."""
    facts = {"file": file, "column": column}
    found = []
    for note in read.notes:
        severity = "doubt" if note == "thousands_or_comma" else "info"
        asks = "" if note == "percent" else "number_format"
        found.append(Issue(note, len(read.values), _READINGS[note], facts, severity=severity, asks=asks))
    return found


def _odd(values: NDArray[Any], facts: dict[str, Any]) -> list[Issue]:
    found = []
    for code, rows in (("missing_scores", np.isnan(values)), ("infinite_scores", np.isinf(values))):
        count = int(rows.sum())
        if count:
            told = {**facts, "count": count, "rows": [int(row) + 1 for row in np.flatnonzero(rows)[:3]]}
            found.append(Issue(code, count, _ODD[code], told, severity="doubt", asks=code))
    return found


def _direction(column: str, values: NDArray[Any], user: Ids | None, facts: dict[str, Any]) -> list[Issue]:
    """Ask whether a low value is a good one, by the name first, then by whole numbers 1..n inside the users."""
    if says_rank(column):
        code = "score_may_be_rank"
        template = N_(
            "{file}: the name '{column}' says rank, where 1 is best; higher values were taken as better. Which is it?"
        )
    elif says_distance(column):
        code = "score_may_be_distance"
        template = N_(
            "{file}: the name '{column}' says distance, loss or error, where low is good; "
            "higher values were taken as better. Which is it?"
        )
    elif looks_ranked(values, user):
        code = "score_may_be_rank"
        template = N_(
            "{file}: the scores in '{column}' are the whole numbers 1, 2, 3 … inside nearly every user, like ranks "
            "where 1 is best; higher values were taken as better. Which is it?"
        )
    else:
        return []
    return [Issue(code, len(values), template, facts, severity="doubt", asks="score_direction")]


def looks_ranked(values: NDArray[Any], user: Ids | None) -> bool:
    """Whether nearly every user's scores are the whole numbers 1..n, each once; without users, the whole column's."""
    known = np.isfinite(values)
    first = values[:N_LOOKED_AT][known[:N_LOOKED_AT]]
    if not len(first) or bool(np.any((first < 1) | (first != np.floor(first)))):
        return False  # the usual case is settled without a look at every row
    codes = np.zeros(len(values), dtype=np.int32) if user is None else user.codes
    known &= codes >= 0
    who, ranks = codes[known], values[known].astype(np.float64)
    rows = np.bincount(who)
    # Whole numbers ≥ 1 with the sum and the sum of squares of 1..n: in practice these very numbers.
    total, squares = np.bincount(who, ranks), np.bincount(who, ranks * ranks)
    odd = np.bincount(who, (ranks < 1) | (ranks != np.floor(ranks)))
    is_ranked = (total == rows * (rows + 1) / 2) & (squares == rows * (rows + 1) * (2 * rows + 1) / 6) & (odd == 0)
    counted = rows >= 2
    if rows[counted].sum() < FEWEST_RANKED:
        return False
    return bool(is_ranked[counted].mean() >= NEARLY_ALL)


def _kind(column: str, values: NDArray[Any], facts: dict[str, Any]) -> list[Issue]:
    """Ask whether scores outside 0..1 are probabilities after all; nothing is rescaled."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return []
    least, largest = float(finite.min()), float(finite.max())
    if least >= 0 and largest <= 1:
        return []
    told = {**facts, "least": f"{least:g}", "largest": f"{largest:g}"}
    if least >= 0 and PERCENT_FROM < largest <= 100 and (says_probability(column) or _has_fractions(finite)):
        template = N_(
            "{file}: scores in '{column}' go from {least} to {largest} and look like percentages. "
            "They were left as they are and count as raw scores, not as probabilities; divide by 100 if they are some."
        )
    elif says_probability(column):
        template = N_(
            "{file}: the name '{column}' says probability, but the scores go from {least} to {largest}. "
            "They were left as they are and count as raw scores: are they probabilities?"
        )
    elif least < 0 < largest:
        template = N_(
            "{file}: scores in '{column}' go from {least} to {largest}, like logits. They were left as they are and "
            "count as raw scores; no sigmoid was applied."
        )
        return [Issue("score_scale", len(values), template, told, asks="score_kind")]
    else:
        return []
    return [Issue("score_scale", len(values), template, told, severity="doubt", asks="score_kind")]


def _has_fractions(values: NDArray[Any]) -> bool:
    return bool(np.any(values[:N_LOOKED_AT] != np.floor(values[:N_LOOKED_AT])))


def compact(values: NDArray[Any]) -> NDArray[Any]:
    """Return float32 where that loses no digit of any score, else the array as it is."""
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    same = narrow.astype(np.float64) == values
    same |= np.isnan(values)
    return narrow if bool(same.all()) else values
