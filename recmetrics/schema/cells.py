"""Cells of one column: as text, as numbers, and which of them are missing. Decided on the distinct values only."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.errors import RecmetricsError
from recmetrics.text import N_

WIDE_BYTES = 1 << 30
NULL_SPELLINGS = frozenset({"", "nan", "none", "null", "na", "n/a", "#n/a", "<na>", "nat", "\\n"})
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE | re.ASCII)
_COMMA = re.compile(r"[+-]?(\d{1,3}([. ]\d{3})+|\d*),\d+([eE][+-]?\d+)?", re.ASCII)
_COMMA_WHOLE = re.compile(r"[+-]?\d{1,3}([. ]\d{3})+", re.ASCII)
# A group before a thousands comma never begins with 0: "0,123" has a decimal comma.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)
_SURELY_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}((,\d{3}){2,}|(,\d{3})+\.\d*)", re.ASCII)


def is_missing(text: str) -> bool:
    """Whether a cell's text is blank or one of the spellings of "no value"."""
    return text.strip().casefold() in NULL_SPELLINGS


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes into its distinct values. `codes` int32[n], −1 for null; `values` in order of appearance."""

    codes: NDArray[np.int32]
    values: list[Any]

    def take(self, by_value: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Return the array of `by_value` for every row, `missing` where the code is −1."""
        if len(by_value) == 0:
            return np.full(len(self.codes), missing)
        taken: NDArray[Any] = by_value[self.codes]
        if (self.codes < 0).any():
            taken[self.codes < 0] = missing
        return taken


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column read as numbers: float64 or float32[n], NaN = missing; `bad` the rows that are neither.

    `notes` names what had to be decided: `decimal_comma`, `thousands`, `thousands_or_comma` (the first of two readings
    that fit), `percent`.
    """

    values: NDArray[Any]
    bad: NDArray[np.int64]
    notes: tuple[str, ...] = ()
    texts: tuple[str, ...] = field(default=())


def decoded(column: Any, name: str, file: str) -> Any:
    """Return the column with a plain type: dictionaries decoded, bytes as text. A chunked array stays in its chunks.

    Raises
    ------
    RecmetricsError
        `format` when a cell holds a list or a record.
    """
    import pyarrow.types as types  # lazily: the package must import quickly

    kind = column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if types.is_nested(kind):
        raise RecmetricsError(
            "format",
            N_("{file}: column '{column}' holds lists or records ({type}). Write one value per row and column."),
            file=file,
            column=name,
            type=str(kind)[:60],
        )
    if types.is_null(kind) or _is_textual(kind):
        return _as_text(column, name, file)
    return column


def _is_textual(kind: Any) -> bool:
    import pyarrow.types as types

    tests = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in (*tests, types.is_binary_view, types.is_fixed_size_binary))


def _as_text(column: Any, name: str, file: str) -> Any:
    import pyarrow as pa

    try:
        if pa.types.is_fixed_size_binary(column.type):
            column = column.cast(pa.binary())
        # Offsets of 32 bits hold chunks up to 2 GB, and half the memory is left for the text itself.
        wide = not pa.types.is_string(column.type) or column.nbytes >= WIDE_BYTES
        found = column.cast(pa.large_string()) if wide else column
        found.validate(full=True)  # Parquet writers may call any bytes a text
        return found
    except pa.ArrowInvalid as error:
        raise RecmetricsError(
            "encoding",
            N_("{file}: column '{column}' holds bytes that are no UTF-8 text. Write it as text."),
            file=file,
            column=name,
        ) from error


def is_text(array: Any) -> bool:
    """Whether a decoded array holds text."""
    import pyarrow.types as types

    return bool(types.is_string(array.type) or types.is_large_string(array.type))


def coded(array: Any) -> Coded:
    """Return a decoded array as codes into its distinct values; floating NaN counts as null."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), None, array)
    encoded = array.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks() if encoded.num_chunks else pa.array([], array.type).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return Coded(codes, encoded.dictionary.to_pylist())


def numbers(array: Any, decimal: str | None = None) -> Numbers:
    """Read a decoded array as numbers.

    `decimal` is the decimal sign of numbers written as text, "." or ","; None = the one that fits the whole column,
    with a note where both would.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(array):
        return _typed_numbers(array)
    if decimal != ",":
        try:
            return Numbers(_to_numpy(array.cast(pa.float64())), np.empty(0, np.int64))
        except pa.ArrowInvalid:
            pass  # some cells are blank or no plain numbers
    filled = pc.if_else(pc.equal(array, ""), None, array)
    if decimal != ",":
        try:
            return Numbers(_to_numpy(filled.cast(pa.float64())), np.empty(0, np.int64))
        except pa.ArrowInvalid:
            pass  # the distinct cells are looked at one by one
    return text_numbers(coded(filled), decimal)


def _typed_numbers(array: Any) -> Numbers:
    import pyarrow as pa
    import pyarrow.types as types

    kind = array.type
    if types.is_float32(kind) or types.is_float16(kind):
        return Numbers(_to_numpy(array.cast(pa.float32())), np.empty(0, np.int64))
    if types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        shown = [str(value) for value in array.slice(0, 3).to_pylist()]
        return Numbers(np.full(len(array), np.nan), np.arange(len(array)), texts=tuple(shown))
    return Numbers(_to_numpy(array.cast(pa.float64(), safe=False)), np.empty(0, np.int64))


def _to_numpy(array: Any) -> NDArray[Any]:
    import pyarrow as pa

    is_chunked = isinstance(array, pa.ChunkedArray)
    values: NDArray[Any] = array.to_numpy() if is_chunked else array.to_numpy(zero_copy_only=False)
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def text_numbers(cells: Coded, decimal: str | None) -> Numbers:
    texts = [text.strip() for text in cells.values]
    present = [text for text in texts if not is_missing(text)]
    percent = bool(present) and all(text.endswith("%") for text in present)
    if percent:
        texts = [text.removesuffix("%").rstrip() for text in texts]
    note, parse = _reading([text for text in texts if not is_missing(text)], decimal)
    parsed = np.array([math.nan if is_missing(text) else parse(text) for text in texts], dtype=object)
    refused = np.array([value is None for value in parsed], dtype=bool)
    values = np.array([math.nan if value is None else value for value in parsed], dtype=np.float64)
    bad = np.flatnonzero(cells.take(refused, False)) if refused.any() else np.empty(0, np.int64)
    notes = tuple(name for name in (note, "percent" if percent else "") if name)
    return Numbers(
        cells.take(values / 100 if percent else values, np.nan),
        bad,
        notes,
        tuple(cells.values[cells.codes[row]] for row in bad[:3]),
    )


def _plain(text: str) -> float | None:
    return float(text) if _PLAIN.fullmatch(text) else None


def _comma(text: str) -> float | None:
    if _COMMA.fullmatch(text) or _COMMA_WHOLE.fullmatch(text):
        return float(text.replace(".", "").replace(" ", "").replace(",", "."))
    return float(text) if re.fullmatch(r"[+-]?\d+", text, re.ASCII) else _special(text)


def _special(text: str) -> float | None:
    return float(text) if text.strip("+-").casefold() in {"inf", "infinity"} else None


def _thousands(text: str) -> float | None:
    return float(text.replace(",", "")) if _THOUSANDS.fullmatch(text) else _plain(text)


def _reading(texts: list[str], decimal: str | None) -> tuple[str, Any]:
    """Choose one reading for the whole column, with a note; the plain one, which then refuses, where none fits."""
    odd = [text for text in texts if not _PLAIN.fullmatch(text)]
    if decimal == "," and any("," in text for text in texts):
        return "decimal_comma", _comma
    if odd and all(_THOUSANDS.fullmatch(text) for text in odd) and any(map(_SURELY_THOUSANDS.fullmatch, odd)):
        return "thousands", _thousands
    if odd and all(_THOUSANDS.fullmatch(text) for text in odd):
        return "thousands" if decimal == "." else "thousands_or_comma", _thousands
    if odd and decimal is None and all(_comma(text) is not None for text in texts):
        return "decimal_comma", _comma
    return "", _plain
