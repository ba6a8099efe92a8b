"""Label coding: what the cells of the label column mean as numbers. Where two readings are possible, it asks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.schema.cells import Coded, Numbers, coded, decoded, is_missing, text_numbers
from recmetrics.text import N_

WORDS: Mapping[str, float] = {
    **dict.fromkeys(("true", "yes", "t", "y", "是"), 1.0),
    **dict.fromkeys(("false", "no", "f", "n", "否"), 0.0),
}
N_CODING_SHOWN = 50  # a coding of more values than this is a scale and is not listed
N_GRADES = 20


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as float64[n], NaN = missing; `coding` from the cells' texts to numbers when it can be listed."""

    values: NDArray[np.float64]
    coding: Mapping[str, float] | None
    issues: tuple[Issue, ...]


def read_labels(
    column: Any,
    name: str,
    file: str,
    label_map: Mapping[str, float] | None = None,
    decimal: str | None = None,
    is_judgment: bool = False,
) -> Labels:
    """Return the coded labels of a column.

    `is_judgment`: the file holds judged pairs only, so that {1, 2} are grades and need no zero beside them.

    Raises
    ------
    RecmetricsError
        `label_mapping_needed` when the values have no safe reading, or `label_map` leaves some of them out.
    """
    cells = coded(decoded(column, name, file))
    texts = [_shown(value) for value in cells.values]
    missing = [is_missing(text) for text in texts]
    present = [text for text, gone in zip(texts, missing, strict=True) if not gone]
    if label_map is not None:
        meaning = _mapped(present, label_map, name, file)
    else:
        meaning = _read(present, name, file, decimal, is_judgment)
    by_value = np.array([math.nan if gone else meaning[t] for t, gone in zip(texts, missing, strict=True)], np.float64)
    values = cells.take(by_value, np.nan)
    coding = (
        {text.strip(): value for text, value in sorted(meaning.items())} if len(meaning) <= N_CODING_SHOWN else None
    )
    return Labels(values, coding, _issues(values, by_value, name, file))


def refuse_unlabelled(labels: Labels, name: str, file: str) -> None:
    """Raise RecmetricsError (`no_label_column`) when a label column has rows but no label in any of them."""
    if len(labels.values) and bool(np.isnan(labels.values).all()):
        raise RecmetricsError(
            "no_label_column",
            N_(
                "{file}: column '{column}' is empty in all {count} rows: it was never joined. "
                "Give the truth with --truth FILE, or choose another column with --columns label=NAME."
            ),
            file=file,
            column=name,
            count=len(labels.values),
        )


def label_texts(column: Any, name: str, file: str) -> list[str]:
    """Return the different cells of a label column as text, missing ones left out: what a label map has to name."""
    texts = [_shown(value).strip() for value in coded(decoded(column, name, file)).values]
    return list(dict.fromkeys(text for text in texts if not is_missing(text)))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _mapped(texts: list[str], label_map: Mapping[str, float], name: str, file: str) -> dict[str, float]:
    exact = {str(key).strip(): float(value) for key, value in label_map.items()}
    folded = {key.casefold(): value for key, value in exact.items()}
    by_number = {number: value for key, value in exact.items() if (number := _number(key)) is not None}
    found: dict[str, float] = {}
    unmapped = []
    for text in texts:
        key = text.strip()
        number = _number(key)
        value = exact.get(key, folded.get(key.casefold()))
        if value is None and number is not None:
            value = by_number.get(number)
        if value is not None and not math.isfinite(value):
            raise RecmetricsError(
                "invalid_config",
                N_(
                    "{file}: the label map makes '{text}' in column '{column}' worth {value}. "
                    "A label is a finite number; leave the cells empty where there is none."
                ),
                file=file,
                text=text[:40],
                column=name,
                value=value,
            )
        if value is None:
            unmapped.append(text)
        else:
            found[text] = value
    if unmapped:
        raise RecmetricsError(
            "label_mapping_needed",
            N_(
                "{file}: the label map says nothing about {values} in column '{column}' ({count} values). "
                "Add them, for example {value}=0."
            ),
            file=file,
            column=name,
            values=_listed(unmapped),
            count=len(unmapped),
            value=unmapped[0][:40],
        )
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _read(texts: list[str], name: str, file: str, decimal: str | None, is_judgment: bool) -> dict[str, float]:
    words = [text.strip().casefold() for text in texts]
    if texts and all(word in WORDS for word in words):
        return {text: WORDS[word] for text, word in zip(texts, words, strict=True)}
    read: Numbers = text_numbers(Coded(np.arange(len(texts), dtype=np.int32), texts), decimal)
    if len(read.bad) or not np.isfinite(read.values).all() or read.notes not in {(), ("decimal_comma",)}:
        raise _ask(texts, name, file)
    distinct = sorted(set(read.values.tolist()))
    meaning = dict(zip(texts, read.values.tolist(), strict=True))
    if is_judgment:
        return meaning
    if distinct == [-1.0, 1.0]:
        return {text: max(value, 0.0) for text, value in meaning.items()}
    # One or two values that are not 0 and 1 may be grades or a coding of no and yes.
    if distinct and len(distinct) <= 2 and not set(distinct) <= {0.0, 1.0}:
        raise _ask(texts, name, file)
    return meaning


def _ask(texts: list[str], name: str, file: str) -> RecmetricsError:
    # The example shows the way out without taking the decision: which value is positive is for the user to say. Of
    # numbers the larger is the likelier positive, and whoever copies the example must not get all labels reversed.
    numbers = sorted((n, text) for text in texts if (n := _number(text)) is not None and math.isfinite(n))
    example = [text for _, text in reversed(numbers)] if len(numbers) > 1 else texts
    return RecmetricsError(
        "label_mapping_needed",
        N_(
            "{file}: the labels in column '{column}' are {values} ({count} values), which can be read in more than one "
            "way. Say what they mean, for example --label-map {first}=1,{second}=0, or choose another label column."
        ),
        file=file,
        column=name,
        values=_listed(texts),
        count=len(texts),
        first=example[0][:40],
        second=example[1][:40] if len(example) > 1 else "…",
    )


def _listed(texts: list[str]) -> str:
    shown = ", ".join(f"'{text[:40]}'" for text in texts[:5])
    return f"{shown}, …" if len(texts) > 5 else shown


def _issues(values: NDArray[np.float64], by_value: NDArray[np.float64], name: str, file: str) -> tuple[Issue, ...]:
    found = []
    facts = {"file": file, "column": name}
    n_missing = int(np.isnan(values).sum())
    if n_missing:
        template = N_(
            "{file}: rows without a label in column '{column}': {count}. They are left out of row metrics; in a list "
            "they are items that nobody judged."
        )
        told = {**facts, "count": n_missing}
        found.append(Issue("missing_labels", n_missing, template, told, severity="doubt", asks="unjudged"))
    n_negative = int((values < 0).sum())
    if n_negative:
        template = N_("{file}: rows with a label below 0 in column '{column}': {count}; they gain nothing.")
        found.append(
            Issue("negative_relevance", n_negative, template, {**facts, "count": n_negative}, severity="doubt")
        )
    positive = np.unique(by_value[by_value > 0])
    if len(positive) and _is_no_grade(positive):
        template = N_(
            "{file}: labels in column '{column}' look like amounts, not grades: {count} different values above 0, "
            "median {median}, largest {largest}. From which value on is an item relevant?"
        )
        middle = float(np.median(values[values > 0]))
        told = {**facts, "count": len(positive), "median": f"{middle:g}", "largest": float(positive[-1])}
        found.append(
            Issue("label_not_grade", len(positive), template, told, severity="doubt", asks="relevance_threshold")
        )
    return tuple(found)


def _is_no_grade(positive: NDArray[np.float64]) -> bool:
    has_fractions = bool(np.any(positive != np.floor(positive)))
    return len(positive) > N_GRADES or positive[-1] > N_GRADES or (has_fractions and len(positive) > 10)
