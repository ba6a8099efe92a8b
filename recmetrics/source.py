"""Source: one file as it was read, before anybody decides what its columns mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.text import N_

if TYPE_CHECKING:
    import pandas as pd

SAMPLE_BYTES = 1 << 16  # what is looked at to find the kind of file, its delimiter and its header


@dataclass(frozen=True, eq=False)
class Raw:
    """A file nobody has parsed: `data` when it came as bytes (an upload), else `path`."""

    name: str
    path: Path | None = None
    data: bytes | None = None

    @cached_property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.data) if self.data is not None else self._open_checked().stat().st_size

    def head(self) -> bytes:
        """Return the first `SAMPLE_BYTES` bytes."""
        if self.data is not None:
            return self.data[:SAMPLE_BYTES]
        path = self._open_checked()
        try:
            with path.open("rb") as file:
                return file.read(SAMPLE_BYTES)
        except OSError as error:
            raise _unreadable(self.name, error) from error

    def read(self) -> bytes:
        """Return the whole file."""
        if self.data is not None:
            return self.data
        path = self._open_checked()
        try:
            return path.read_bytes()
        except OSError as error:
            raise _unreadable(self.name, error) from error

    def _open_checked(self) -> Path:
        assert self.path is not None  # a Raw has data or a path
        try:
            if self.path.is_file():
                return self.path
            is_folder, exists = self.path.is_dir(), self.path.exists()
        except (OSError, ValueError) as error:  # a name with a NUL or a folder that may not be entered
            raise _unreadable(self.name, error) from error
        if is_folder:
            raise RecmetricsError(
                "file", N_("{file} is a folder. Name the files in it, one model per file."), file=self.name
            )
        if exists:
            raise RecmetricsError(
                "file", N_("{file} is not an ordinary file. Save it to disk first and name that file."), file=self.name
            )
        raise RecmetricsError("file", N_("There is no file {file}. Check its name and folder."), file=self.name)


def _unreadable(name: str, error: Exception) -> RecmetricsError:
    reason = getattr(error, "strerror", None) or str(error)
    return RecmetricsError(
        "file", N_("{file} cannot be read: {reason}. Check its permissions."), file=name, reason=reason[:120]
    )


@dataclass(frozen=True)
class ReadOptions:
    """What the caller knows about a file, and what may be read.

    `header` None = find out; `encoding` of text that is not Unicode, `auto` = find out; `sheet` of a workbook, empty =
    the first one with rows; `number_format` as in EvalConfig; `max_rows` None = no cap.
    """

    header: bool | None = None
    encoding: str = "auto"
    sheet: str = ""
    number_format: str = "auto"
    max_rows: int | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """A parsed table without roles.

    Attributes
    ----------
    table
        `pyarrow.Table`. Text formats give text columns, every cell as written; Parquet and JSON keep their types.
        Column names are unique; without a header they are positions, "0", "1", ….
    kind
        `table`, `run` (TREC run) or `qrels` (TREC judgments); the last two have fixed roles.
    encoding, delimiter, decimal, has_header
        What was found out about a text file; None where it has no meaning.
    issues
        What reading repaired or doubts.
    """

    name: str
    format: str
    table: Any
    kind: str = "table"
    size: int = 0
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    has_header: bool | None = None
    issues: tuple[Issue, ...] = field(default=())

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def stem(self) -> str:
        """The file's name without folder and suffix: the name of its model."""
        return Path(self.name).stem or self.name

    def head(self, n: int = 10) -> pd.DataFrame:
        """Return the first `n` rows as read, for looking at."""
        frame: pd.DataFrame = self.table.slice(0, n).to_pandas()
        return frame


def refuse_too_many(name: str, n_rows: int, options: ReadOptions) -> None:
    """Raise `too_large` when a file holds more rows than the cap."""
    if options.max_rows is not None and n_rows > options.max_rows:
        raise RecmetricsError(
            "too_large",
            N_("{file} has {rows} rows; the cap is {cap}. Take a sample of users, or raise the cap."),
            file=name,
            rows=n_rows,
            cap=options.max_rows,
        )
