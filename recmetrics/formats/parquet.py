"""Parquet: columns keep their types; the footer is looked at before anything is read."""

from __future__ import annotations

import io
import re
from typing import Any

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample
from recmetrics.raw import Raw
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

MAGIC, ENCRYPTED = b"PAR1", b"PARE"
SUFFIXES = (".parquet", ".pq", ".parq")
MAX_COLUMNS = 2000
FEWEST_BYTES = 12  # the magic at both ends and the length of the footer
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def _looks_like(sample: Sample) -> float:
    # A file that is only named like one goes here too, so that its damage is told.
    is_one = sample.data.startswith((MAGIC, ENCRYPTED)) or sample.suffix in SUFFIXES
    return 1.0 if is_one else 0.0


def read_parquet(raw: Raw, options: ReadOptions) -> Source:
    """Parse a Parquet file; see `Source`.

    Raises
    ------
    RecmetricsError
        `format` for a damaged or encrypted file, `too_large` by the rows, columns and bytes that its footer names,
        `no_rows`, `file`.
    """
    seekable = raw.seekable()
    _refuse_ends(raw, seekable)
    opened = _opened(raw.name, seekable)
    try:
        _refuse_size(raw.name, opened.metadata, options)
        table, issues = _columns(raw.name, _read(raw.name, opened))
    finally:
        opened.close()
    if table.num_columns == 0 or table.num_rows == 0:
        raise RecmetricsError("no_rows", N_("{file} has no rows of data. Export it again."), file=raw.name)
    return Source(raw.name, "parquet", table, size=raw.size, issues=issues)


def _refuse_ends(raw: Raw, seekable: Any) -> None:
    """Refuse what the first and last four bytes give away: no Parquet file, an encrypted one, one cut off."""
    first = raw.head()[:4]
    if first not in (MAGIC, ENCRYPTED):
        raise RecmetricsError(
            "format",
            N_("{file} is named like a Parquet file and is none. Copy or export it again, or name it for what it is."),
            file=raw.name,
        )
    size, last = _end(seekable)
    if ENCRYPTED in (first, last):
        raise _encrypted(raw.name)
    if size < FEWEST_BYTES or last != MAGIC:
        raise RecmetricsError(
            "format",
            N_(
                "{file} does not end as a Parquet file ends ({size} bytes): it is cut off, still being written, or "
                "something was added to it. Copy or export it again."
            ),
            file=raw.name,
            size=size,
        )


def _end(seekable: Any) -> tuple[int, bytes]:
    file = seekable if isinstance(seekable, io.BytesIO) else seekable.open("rb")
    try:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(size - 4, 0))
        return size, file.read(4)
    finally:
        if file is not seekable:
            file.close()


def _encrypted(name: str) -> RecmetricsError:
    return RecmetricsError(
        "format", N_("{file} is encrypted. Export it without encryption, or decrypt it first."), file=name
    )


def _opened(name: str, seekable: Any) -> Any:
    import pyarrow as pa  # lazily: the package must import quickly
    import pyarrow.parquet as pq

    try:
        # Checksums stand in most files that Spark writes; where they do, damage that decodes to other numbers shows.
        return pq.ParquetFile(seekable, page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        if "encrypt" in str(error).casefold() or "decrypt" in str(error).casefold():
            raise _encrypted(name) from error
        raise RecmetricsError(
            "format",
            N_(
                "{file}: the list of columns at the end of this Parquet file is damaged or cut off, so nothing of it "
                "was read. Copy or export it again."
            ),
            file=name,
        ) from error


def _refuse_size(name: str, metadata: Any, options: ReadOptions) -> None:
    """Refuse by what the footer says, before anything is read."""
    refuse_too_many(name, metadata.num_rows, options)
    if metadata.num_columns > MAX_COLUMNS:
        raise RecmetricsError(
            "too_large",
            N_(
                "{file} has {columns} columns; the cap is {cap}. "
                "Export only user, item, label, score and the columns for groups."
            ),
            file=name,
            columns=metadata.num_columns,
            cap=MAX_COLUMNS,
        )
    _refuse_bytes(name, sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)))


def _refuse_bytes(name: str, size: int) -> None:
    import psutil  # lazily: the package must import quickly

    free = psutil.virtual_memory().available
    if size > free // 2:
        raise _too_large(name, size, free)


def _too_large(name: str, size: int, free: int) -> RecmetricsError:
    return RecmetricsError(
        "too_large",
        N_(
            "{file} takes {size} MB of memory once it is unpacked; {free} MB are free, of which half may be used. "
            "Export fewer columns, take a sample of users, or split the file by users."
        ),
        file=name,
        size=f"{size / 1e6:.1f}",
        free=f"{free / 1e6:.1f}",
    )


def _read(name: str, opened: Any) -> Any:
    import psutil
    import pyarrow as pa

    try:
        return opened.read()
    except MemoryError as error:  # Arrow's own is one too
        size = sum(opened.metadata.row_group(i).total_byte_size for i in range(opened.metadata.num_row_groups))
        raise _too_large(name, size, psutil.virtual_memory().available) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unread(name, opened, error) from error


def _unread(name: str, opened: Any, error: Exception) -> RecmetricsError:
    """Return the error for data that cannot be read, with the first column and rows it concerns."""
    metadata, said = opened.metadata, str(error).casefold()
    if "decrypt" in said or "encrypt" in said:
        return _encrypted(name)
    column, group = _first_unread(opened)
    facts = {"file": name, "column": column[:40]}
    if "compression" in said and ("support" in said or "codec" in said):
        return RecmetricsError(
            "format",
            N_(
                "{file}: column '{column}' is compressed in a way that is not read here{codec}. "
                "Export it with zstd, snappy or gzip, or without compression."
            ),
            **facts,
            # Asking the footer for a codec that Arrow does not know ends the process, so its name comes from the error.
            codec=" (LZO)" if "lzo" in said else "",
        )
    import pyarrow as pa

    if isinstance(error, pa.ArrowNotImplementedError):
        return RecmetricsError(
            "format",
            N_("{file}: column '{column}' has a type that is not read here. Export the file without this column."),
            **facts,
        )
    first = sum(metadata.row_group(i).num_rows for i in range(group))
    return RecmetricsError(
        "format",
        N_(
            "{file}: the data of column '{column}' is damaged between rows {first} and {last}, so nothing of the file "
            "is used. Copy or export it again."
        ),
        **facts,
        first=first + 1,
        last=first + (metadata.row_group(group).num_rows if metadata.num_row_groups else 0),
    )


def _first_unread(opened: Any) -> tuple[str, int]:
    """Return the first column and row group that cannot be read by itself."""
    import pyarrow as pa

    names = dict.fromkeys(opened.metadata.schema.column(i).path for i in range(opened.metadata.num_columns))
    for group in range(opened.metadata.num_row_groups):
        for name in names:
            try:
                opened.read_row_group(group, columns=[name])
            except (pa.ArrowException, OSError, ValueError):
                return name.split(".")[0], group
    return next(iter(names), "").split(".")[0], 0


def _columns(name: str, table: Any) -> tuple[Any, tuple[Issue, ...]]:
    """Return the table with unique column names and without pandas' nameless row index, and what has to be said."""
    index = [column for column in table.column_names if _UNNAMED_INDEX.fullmatch(column)]
    issues = []
    if index and len(index) < table.num_columns:
        table = table.drop_columns(index)
        template = N_(
            "{file}: {columns} holds row numbers that pandas keeps beside the table, and was left out. "
            "Name the index before you export it if it is an id."
        )
        facts = {"file": name, "columns": ", ".join(f"'{column}'" for column in index[:3])}
        issues.append(Issue("index_column", len(index), template, facts))
    names = _unique(table.column_names)
    repeated = [new for old, new in zip(table.column_names, names, strict=True) if old != new]
    if repeated:
        template = N_("{file}: columns with the same name were numbered: {columns}.")
        facts = {"file": name, "columns": ", ".join(repeated[:3])}
        issues.append(Issue("renamed_columns", len(repeated), template, facts, tuple(repeated[:3]), "doubt"))
    return table.rename_columns(names), tuple(issues)


def _unique(names: list[str]) -> list[str]:
    """Return column names with repeated ones numbered."""
    found: list[str] = []
    for name in names:
        unique, n = name, 2
        while unique in found:
            unique, n = f"{name} ({n})", n + 1
        found.append(unique)
    return found


FORMATS = (Format("parquet", SUFFIXES, _looks_like, read_parquet),)
