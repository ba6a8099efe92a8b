"""Parquet: columns keep their types; the footer is looked at before anything is read."""

from __future__ import annotations

import io
from typing import Any

from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample
from recmetrics.raw import Raw
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

MAGIC = b"PAR1"
SUFFIXES = (".parquet", ".pq", ".parq")


def _looks_like(sample: Sample) -> float:
    # A file that is only named like one goes here too, so that its damage is told.
    return 1.0 if sample.data.startswith(MAGIC) or sample.suffix in SUFFIXES else 0.0


def read_parquet(raw: Raw, options: ReadOptions) -> Source:
    """Parse a Parquet file; see `Source`.

    Raises
    ------
    RecmetricsError
        `format` for a damaged file, `too_large` by the number of rows in its footer, `no_rows`, `file`.
    """
    import pyarrow as pa  # lazily: the package must import quickly
    import pyarrow.parquet as pq

    if not raw.head().startswith(MAGIC):
        raise RecmetricsError(
            "format",
            N_("{file} is named like a Parquet file and is none. Copy or export it again, or name it for what it is."),
            file=raw.name,
        )
    try:
        opened = pq.ParquetFile(raw.path if raw.data is None else io.BytesIO(raw.data))
        refuse_too_many(raw.name, opened.metadata.num_rows, options)
        table = _uniquely_named(opened.read())
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise _damaged(raw.name, str(error).splitlines()[0][:120] if str(error) else "unknown") from error
    if table.num_rows == 0:
        raise RecmetricsError("no_rows", N_("{file} has no rows of data. Export it again."), file=raw.name)
    return Source(raw.name, "parquet", table, size=raw.size)


def _damaged(name: str, reason: str) -> RecmetricsError:
    return RecmetricsError(
        "format",
        N_("{file} is no sound Parquet file: {reason}. Copy or export it again."),
        file=name,
        reason=reason.rstrip("."),
    )


def _uniquely_named(table: Any) -> Any:
    """Return the table with repeated column names numbered."""
    names: list[str] = []
    for name in table.column_names:
        unique, n = name, 2
        while unique in names:
            unique, n = f"{name} ({n})", n + 1
        names.append(unique)
    return table.rename_columns(names)


FORMATS = (Format("parquet", SUFFIXES, _looks_like, read_parquet),)
