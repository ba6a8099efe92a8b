"""A short look at one column: what kind of cells it holds and how many different ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recmetrics.errors import RecmetricsError
from recmetrics.schema.cells import coded, decoded, is_missing, is_text, numbers, text_numbers
from recmetrics.schema.labels import WORDS
from recmetrics.source import Source

N_LOOKED_AT = 2000
MANY = 50  # different values beyond which no role depends on their number

Kind = Literal["fraction", "whole", "word", "other", "empty"]


@dataclass(frozen=True)
class Look:
    """`kind` of the cells in a sample of rows; `n_distinct` and `n_missing` over the column, see `look_at`.

    `first` holds at most five values as they stand in the file, `type` the stored type.
    """

    kind: Kind
    n_distinct: int
    n_missing: int
    n_rows: int
    first: tuple[str, ...]
    type: str
    is_binary: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in ("fraction", "whole")

    @property
    def is_fraction(self) -> bool:
        return self.kind == "fraction"


def look_at(column: Any, decimal: str | None = None, *, is_exact: bool = False) -> Look:
    """Return the look at an Arrow column of any type.

    Unless `is_exact`, a column whose sample shows more than `MANY` different values is not counted to the end: then
    `n_distinct` is what the sample shows and `n_missing` 0.
    """
    step = max(len(column) // N_LOOKED_AT, 1)
    try:
        sample = decoded(_every(column, step), "", "")
        n_distinct, n_missing = _counts(sample)
        if step > 1 and (is_exact or n_distinct <= MANY):
            n_distinct, n_missing = _counts(decoded(column, "", ""))
        elif step > 1:
            n_missing = 0
        first = decoded(column.slice(0, 5), "", "").to_pylist()
    except RecmetricsError:  # lists, records, bytes that are no text: of no use here, and no reason to refuse the file
        return Look("other", 0, 0, len(column), (), str(column.type)[:60])
    return Look(
        _kind(sample, decimal),
        n_distinct,
        n_missing,
        len(column),
        tuple("" if value is None else str(value) for value in first),
        str(column.type)[:60],
        _is_binary(sample, n_distinct),
    )


def _every(column: Any, step: int) -> Any:
    """Return every `step`-th cell, chunk by chunk: taking from all chunks at once is slow."""
    import pyarrow as pa  # lazily: the package must import quickly

    if step == 1:
        return column
    found, seen = [], 0
    for chunk in column.chunks:
        found.append(chunk.take(pa.array(np.arange(-seen % step, len(chunk), step))))
        seen += len(chunk)
    return pa.chunked_array(found, column.type)


def _counts(cells: Any) -> tuple[int, int]:
    import pyarrow.compute as pc  # lazily: the package must import quickly

    n_distinct = pc.count_distinct(cells, mode="only_valid").as_py()
    n_missing = cells.null_count
    if is_text(cells):
        n_blank = pc.sum(pc.equal(cells, "")).as_py() or 0
        n_missing, n_distinct = n_missing + n_blank, n_distinct - bool(n_blank)
    return n_distinct, n_missing


def _kind(sample: Any, decimal: str | None) -> Kind:
    import pyarrow.types as types

    if types.is_temporal(sample.type) or types.is_boolean(sample.type):
        return "word"
    read = numbers(sample, decimal)
    n_present = int(np.isfinite(read.values).sum())
    # A column of numbers with a few odd cells is still one of numbers: reading it will name them.
    if len(read.bad) > 0.2 * max(n_present, 1):
        return "word"
    if not n_present:
        return "empty"
    finite = read.values[np.isfinite(read.values)]
    return "whole" if bool(np.all(finite == np.floor(finite))) else "fraction"


def _is_binary(sample: Any, n_distinct: int) -> bool:
    """Whether the cells are two labels: 0/1, −1/1, true/false, yes/no."""
    if not 1 <= n_distinct <= 4:
        return False
    texts = [str(value) for value in coded(sample).values if not is_missing(str(value))]
    if texts and all(text.strip().casefold() in WORDS for text in texts):
        return len(texts) <= 2
    cells = coded(sample)
    values = set(text_numbers(type(cells)(np.arange(len(texts), dtype=np.int32), texts), None).values.tolist())
    return values in ({0.0, 1.0}, {-1.0, 1.0})


def profile(source: Source) -> dict[str, Look]:
    """Return the look at every column of a parsed file, for the Data page."""
    return {name: look_at(source.table.column(name), source.decimal_sign, is_exact=True) for name in source.columns}
