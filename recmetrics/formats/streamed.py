"""Large text tables in one pass: the file is never in memory as a whole. What does not parse so gets a closer look."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recmetrics.formats.base import Sample
from recmetrics.formats.dialect import Dialect, first_record
from recmetrics.formats.encoding import Encoding, find_encoding
from recmetrics.raw import BLOCK_BYTES, Raw


@dataclass(frozen=True, eq=False)
class Streamed:
    """What one pass gave: the table, all text, and how many lines of the file hold nothing."""

    table: Any
    encoding: Encoding
    n_blank_lines: int


def read_streamed(
    raw: Raw, sample: Sample, dialect: Dialect, names: list[str], header_bytes: int, chosen: str
) -> Streamed | None:
    """Return the table below its header, or None when only a look at the whole file can tell what to do or say.

    That is: another encoding, quotes or line ends further down than the sample shows, binary data, malformed lines.
    """
    import pyarrow as pa  # lazily: the package must import quickly

    encoding = find_encoding(sample.data, sample.is_whole, chosen)
    if encoding is None or dialect.is_blank:
        return None
    is_quoted = '"' in sample.text.encode()[header_bytes:].decode(errors="ignore")
    with _Utf8(raw, encoding.name, header_bytes, is_quoted) as lines:
        try:
            table = parse_lines(pa.PythonFile(lines, mode="r"), dialect, names, is_quoted)
        except (pa.ArrowInvalid, UnicodeDecodeError, _CloserLookError):
            return None
        n_inside = line_ends_inside(table) if is_quoted else 0
        return Streamed(table, encoding, lines.n_lines - n_inside - table.num_rows)


def batches(raw: Raw, sample: Sample, dialect: Dialect, names: list[str], header_bytes: int) -> Iterator[Any]:
    """Yield the rows below the header piece by piece, all text; `pyarrow.ArrowInvalid` for a malformed line."""
    import pyarrow as pa  # lazily: the package must import quickly
    from pyarrow import csv

    encoding = find_encoding(sample.data, sample.is_whole)
    with _Utf8(raw, encoding.name if encoding else "utf-8", header_bytes, is_quoted=True) as lines:
        read, parse, convert = _options(dialect, names, is_quoted=True, block_bytes=BLOCK_BYTES)
        file = pa.PythonFile(lines, mode="r")
        yield from csv.open_csv(file, read_options=read, parse_options=parse, convert_options=convert)


def header_of(sample: Sample, dialect: Dialect) -> tuple[list[str], int] | None:
    """Return the cells of the first line and its bytes as UTF-8, or None when the sample does not hold a whole one."""
    data = sample.text.encode()
    if not data[:1].strip():  # lines of mere blanks come first
        return None
    fields, n_bytes = first_record(data, dialect)
    return (fields, n_bytes) if n_bytes < len(data) else None


def parse_lines(file: Any, dialect: Dialect, names: list[str], is_quoted: bool, block_bytes: int = BLOCK_BYTES) -> Any:
    """Return the table of lines that hold as many fields as there are names, all text; `pyarrow.ArrowInvalid` else."""
    from pyarrow import csv

    read, parse, convert = _options(dialect, names, is_quoted, block_bytes)
    return csv.read_csv(file, read_options=read, parse_options=parse, convert_options=convert)


def _options(dialect: Dialect, names: list[str], is_quoted: bool, block_bytes: int) -> tuple[Any, Any, Any]:
    import pyarrow as pa
    from pyarrow import csv

    return (
        csv.ReadOptions(column_names=names, block_size=block_bytes),
        csv.ParseOptions(
            delimiter=dialect.delimiter, quote_char='"' if is_quoted else False, newlines_in_values=is_quoted
        ),
        csv.ConvertOptions(column_types={column: pa.string() for column in names}, strings_can_be_null=False),
    )


def line_ends_inside(table: Any) -> int:
    """Return how many line ends stand in cells, where they end no line of the table."""
    import pyarrow.compute as pc

    return sum(pc.sum(pc.count_substring(column, "\n")).as_py() or 0 for column in table.columns)


class _CloserLookError(Exception):
    """The file holds what one pass cannot read or cannot count."""


class _Utf8(io.RawIOBase):
    """The lines below the header as UTF-8, counted on the way."""

    def __init__(self, raw: Raw, encoding: str, header_bytes: int, is_quoted: bool) -> None:
        self._file = raw.open()
        # Sound UTF-8 passes as it is; the parser checks it.
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)(errors="strict")
        self._to_skip = header_bytes
        self._is_first, self._is_quoted = True, is_quoted
        self._n_ends, self._last = 0, b"\n"

    @property
    def n_lines(self) -> int:
        """Lines so far, blank ones included."""
        return self._n_ends + (self._last != b"\n")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while True:
            block = self._file.read(size if size > 0 else BLOCK_BYTES)
            lines = self._without_header(self._as_utf8(block))
            if lines or not block:
                return self._counted(lines)

    def _as_utf8(self, block: bytes) -> bytes:
        if self._decoder is not None:
            block = self._decoder.decode(block, final=not block).encode()
        if self._is_first and block:
            self._is_first = False
            block = block.removeprefix(codecs.BOM_UTF8)
        return block

    def _without_header(self, block: bytes) -> bytes:
        skipped = min(self._to_skip, len(block))
        self._to_skip -= skipped
        return block[skipped:] if skipped else block

    def _counted(self, block: bytes) -> bytes:
        if b"\x00" in block or (b'"' in block and not self._is_quoted):
            raise _CloserLookError
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n") + block.endswith(b"\r"):
            raise _CloserLookError  # lines that end in CR alone, or cells that hold one
        self._n_ends += block.count(b"\n")
        self._last = block[-1:] or self._last
        return block

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
