"""A sample of users of a file too large to load: batch by batch into a smaller file, never in memory as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.errors import RecmetricsError
from recmetrics.formats import detect
from recmetrics.formats.base import take_sample
from recmetrics.formats.dialect import column_names, find_dialect
from recmetrics.formats.streamed import batches, header_of
from recmetrics.raw import Raw
from recmetrics.schema.cells import coded, decoded
from recmetrics.schema.guess import guess_columns, missing_column
from recmetrics.source import Source
from recmetrics.text import N_


@dataclass(frozen=True)
class Taken:
    """What a sample holds of its file."""

    n_rows: int
    n_rows_read: int
    n_users: int
    n_users_read: int


def sample_users(file: str | Path, out: str | Path, share: float, user: str | None = None) -> Taken:
    """Write the rows of a share of the users of a text table or Parquet file into a new file of the same kind.

    A user is taken by a hash of the id as it is written, so that the same share takes the same users from every file:
    from the scored rows of each model, from the truth and from the training data. Rows without a user are left out.

    Parameters
    ----------
    share
        Between 0 and 1: about this part of the users is taken, with all their rows.
    user
        The column of the users; None = guessed as when loading.

    Raises
    ------
    RecmetricsError
        `invalid_config` for a share outside (0, 1), `file` when `out` exists or cannot be written, `format` for other
        kinds of files, `no_user_column`, `malformed_line`.
    """
    if not 0 < share < 1:
        raise RecmetricsError(
            "invalid_config",
            N_("The share of users is {share}. Give a number between 0 and 1, such as 0.1."),
            share=share,
        )
    path, raw = Path(out), Raw(Path(file).name, path=Path(file), max_bytes=1 << 62)
    if path.exists():
        raise RecmetricsError(
            "file", N_("{file} is there already and is not overwritten. Name another."), file=path.name
        )
    try:
        with ExitStack() as stack:
            stack.callback(_remove_unfinished, path.with_name(path.name + ".part"))
            taken = _copied(raw, path.with_name(path.name + ".part"), share, user)
            raw.refuse_changed()
            path.with_name(path.name + ".part").rename(path)
    except OSError as error:
        raise RecmetricsError(
            "file",
            N_("{file} cannot be written: {reason}. Name a file in a folder that you may write to."),
            file=path.name,
            reason=error.strerror or str(error)[:120],
        ) from error
    return taken


def _remove_unfinished(path: Path) -> None:
    path.unlink(missing_ok=True)


def _copied(raw: Raw, out: Path, share: float, user: str | None) -> Taken:
    import pyarrow as pa  # lazily: the package must import quickly

    users: dict[str, bool] = {}
    n_rows = n_read = 0
    column = writer = None
    try:
        for batch in _batches(raw):
            table = pa.Table.from_batches([batch])
            if column is None or writer is None:
                column = _user_column(raw, table, user)
                writer = _writer(raw, out, table.schema)
            keep = _is_taken(table.column(column), column, raw.name, share, users)
            writer.write(table.filter(pa.array(keep)))
            n_rows, n_read = n_rows + int(keep.sum()), n_read + len(keep)
    except pa.ArrowInvalid as error:
        raise RecmetricsError(
            "malformed_line",
            N_("{file}: a line has too many or too few fields ({reason}). Mend it before a sample is taken."),
            file=raw.name,
            reason=str(error).splitlines()[0][:120],
        ) from error
    finally:
        if writer is not None:
            writer.close()
    return Taken(n_rows, n_read, sum(users.values()), len(users))


def _batches(raw: Raw) -> Iterator[Any]:
    import pyarrow.parquet as pq

    kind = detect(raw).name
    if kind == "parquet":
        yield from pq.ParquetFile(raw.seekable()).iter_batches()
        return
    sample = take_sample(raw)
    dialect = find_dialect(sample.text, "\t" if kind == "tsv" else None) if kind in ("csv", "tsv") else None
    header = header_of(sample, dialect) if dialect is not None else None
    if dialect is None or header is None or not dialect.has_header or dialect.is_blank:
        raise RecmetricsError(
            "format",
            N_("{file}: a sample of users is taken from text tables with a header line and from Parquet files only."),
            file=raw.name,
        )
    yield from batches(raw, sample, dialect, column_names(header[0], has_header=True)[0], header[1])


def _user_column(raw: Raw, table: Any, user: str | None) -> str:
    source = Source(raw.name, "csv", table)
    guess = guess_columns(source, {} if user is None else {"user": user})
    column = guess.column("user")
    if column is None:
        raise missing_column(source, "user")
    return column


def _writer(raw: Raw, out: Path, schema: Any) -> Any:
    import pyarrow.parquet as pq
    from pyarrow import csv

    return pq.ParquetWriter(out, schema) if detect(raw).name == "parquet" else csv.CSVWriter(out, schema)


def _is_taken(column: Any, name: str, file: str, share: float, users: dict[str, bool]) -> NDArray[np.bool_]:
    cells = coded(decoded(column, name, file))
    texts = ["" if value is None else str(value) for value in cells.values]
    for text in texts:
        if text.strip() and text not in users:
            users[text] = _place(text) < share
    found = cells.take(np.array([users.get(text, False) for text in texts], dtype=bool), False)
    return np.asarray(found, dtype=bool)


def _place(user: str) -> float:
    """Return a number from [0, 1) that depends on the id alone."""
    digest = hashlib.blake2b(user.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
