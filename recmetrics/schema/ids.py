"""Ids of users and items: text, digit by digit, as they stand in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import MISSING, Issue
from recmetrics.schema.cells import coded, decoded, is_missing, is_text
from recmetrics.text import N_

TABLE_FROM = 10_000  # rows from which the table pays
EXACT_IN_FLOAT = 2**53  # from here on, neighbouring whole numbers share one float64


@dataclass(frozen=True, eq=False)
class Ids:
    """One column of ids: `codes` int32[n] into `texts`, `MISSING` where the cell holds none."""

    codes: NDArray[np.int32]
    texts: NDArray[np.object_]
    issues: tuple[Issue, ...] = ()

    @property
    def n_missing(self) -> int:
        return int((self.codes == MISSING).sum())


def read_ids(column: Any, name: str, file: str, spelling: str = "exact") -> Ids:
    """Return the ids of a column.

    Whole numbers become their decimal digits, whatever scale a decimal type gives them; whole numbers in a floating
    column lose their ".0", which is reported. `spelling` as EvalConfig's `id_spelling`: `normalised` ids are one id
    when they differ only as `normalised` says, and how many were merged is reported.
    """
    found = _as_written(column, name, file)
    return _merged_spellings(found, name, file) if spelling == "normalised" else found


def normalised(text: str) -> str:
    """Return an id without blanks around it, zero-width characters, letter case, ".0" at the end and leading zeros."""
    bare = str(text).strip().strip("\u200b\u200c\u200d\ufeff").casefold().removesuffix(".0")
    return bare.lstrip("0") or "0"


def _merged_spellings(ids: Ids, name: str, file: str) -> Ids:
    import pandas as pd  # lazily: the package must import quickly

    own, texts = pd.factorize(_objects([normalised(text) for text in ids.texts]))
    n_merged = len(ids.texts) - len(texts)
    template = N_("{file}: ids in '{column}' were read without differences of spelling; {count} spellings were merged.")
    facts = {"file": file, "column": name, "count": n_merged}
    issue = Issue("ids_normalised", n_merged, template, facts, asks="id_spelling")
    return Ids(_recode(ids.codes, own.astype(np.int32)), _objects(list(texts)), (*ids.issues, issue))


def _as_written(column: Any, name: str, file: str) -> Ids:
    import pyarrow.compute as pc
    import pyarrow.types as types

    array = decoded(column, name, file)
    if is_text(array):
        whole = _canonical_whole_numbers(array)
        if whole is not None:
            return whole
    issues: tuple[Issue, ...] = ()
    if types.is_floating(array.type):
        array, issues = _from_floats(array, name, file)
    elif types.is_decimal(array.type):
        array = pc.replace_substring_regex(array.cast("large_string"), r"\.0+$", "")
    elif not types.is_integer(array.type) and not is_text(array):
        array = array.cast("large_string")
    cells = coded(array)
    texts = [str(value) for value in cells.values]
    keep = np.array([not is_missing(text) for text in texts], dtype=bool)
    if keep.all():
        return Ids(cells.codes, _objects(texts), issues)
    renumbered = np.where(keep, np.cumsum(keep) - 1, MISSING).astype(np.int32)
    kept = [text for text, kept_one in zip(texts, keep, strict=True) if kept_one]
    return Ids(cells.take(renumbered, MISSING).astype(np.int32, copy=False), _objects(kept), issues)


def _canonical_whole_numbers(array: Any) -> Ids | None:
    """Return ids that are all whole numbers as `str(int)` writes them, by a table instead of a hash; else None.

    Read as numbers they are the same ids only when no text has a sign, a blank or a leading zero, that is when the
    texts are together as long as the numbers' digits.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(array) < TABLE_FROM:
        return None
    try:
        values = array.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    low, high = (int(values.min()), int(values.max())) if values.dtype.kind == "i" else (-1, -1)
    if low < 0 or high - low > 4 * len(values):
        return None
    n_digits = len(values) + sum(int(np.count_nonzero(values >= 10**power)) for power in range(1, len(str(high))))
    if pc.sum(pc.binary_length(array)).as_py() != n_digits:
        return None
    values = values - low if not values.flags.writeable else np.subtract(values, low, out=values)
    first = np.full(high - low + 1, len(values), dtype=np.int64)
    first[values[::-1]] = np.arange(len(values) - 1, -1, -1)  # the last write is the first row of a value
    present = np.flatnonzero(first < len(values))
    in_order = present[np.argsort(first[present])]
    place = np.empty(len(first), dtype=np.int32)
    place[in_order] = np.arange(len(in_order), dtype=np.int32)
    return Ids(place[values], _objects([str(value + low) for value in in_order.tolist()]))


def _objects(texts: list[str]) -> NDArray[np.object_]:
    found = np.empty(len(texts), dtype=object)
    found[:] = texts
    return found


def _from_floats(array: Any, name: str, file: str) -> tuple[Any, tuple[Issue, ...]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    values = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    whole = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2.0**63)
    digits = pa.array(np.where(whole, values, 0).astype(np.int64)).cast(pa.large_string())
    present = np.isfinite(values)
    text = pc.if_else(pa.array(whole), digits, array.cast(pa.large_string()))
    text = pc.if_else(pa.array(present), text, None)
    above = int((np.abs(values[present]) > EXACT_IN_FLOAT).sum())
    facts = {"file": file, "column": name, "above_2_53": above}
    template = (
        N_(
            "{file}: ids in '{column}' are floating numbers beyond 2^53; different ids may have merged. "
            "Write them as text."
        )
        if above
        else N_("{file}: ids in '{column}' are floating numbers; they were read without '.0'.")
    )
    issue = Issue("ids_from_floats", int(whole.sum()), template, facts, severity="doubt" if above else "info")
    return text, (issue,) if whole.any() else ()


def merge(parts: list[Ids]) -> tuple[NDArray[np.object_], list[NDArray[np.int32]]]:
    """Return one vocabulary in order of first appearance, and the codes of every part in it."""
    if len(parts) == 1:
        return parts[0].texts, [parts[0].codes]
    import pandas as pd  # lazily: only several files need it

    joined = np.concatenate([part.texts for part in parts])
    codes, texts = pd.factorize(joined)
    found, start = [], 0
    for part in parts:
        own = codes[start : start + len(part.texts)].astype(np.int32)
        start += len(part.texts)
        found.append(_recode(part.codes, own))
    return _objects(list(texts)), found


def _recode(codes: NDArray[np.int32], own: NDArray[np.int32]) -> NDArray[np.int32]:
    if len(own) == 0:
        return np.full(len(codes), MISSING, dtype=np.int32)
    return np.where(codes >= 0, own[codes], MISSING).astype(np.int32)
