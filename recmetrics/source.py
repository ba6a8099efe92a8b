"""Source: one file as it was read, before anybody decides what its columns mean."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.raw import PACKED_SUFFIXES
from recmetrics.text import N_

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ReadOptions:
    """What the caller knows about a file, and what may be read.

    `header` None = find out; `encoding` of text that is not Unicode, `auto` = find out; `sheet` of a workbook, empty =
    the first one with rows; `max_rows` None = no cap.
    """

    header: bool | None = None
    encoding: str = "auto"
    sheet: str = ""
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
    number_format
        The decimal sign that the convention names, as in EvalConfig.
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
    number_format: str = "auto"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def decimal_sign(self) -> str | None:
        """The decimal sign of numbers written as text; None = to be found out column by column."""
        if self.number_format != "auto":
            return "," if self.number_format == "comma" else "."
        return "," if self.decimal == "," else None

    @property
    def n_rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def stem(self) -> str:
        """The file's name without folder and suffix: the name of its model."""
        name = Path(self.name)
        return Path(name.stem if name.suffix.lower() in PACKED_SUFFIXES else name).stem or self.name

    def without_rows(self) -> Source:
        """Return what is known about the file, with its columns and none of its rows."""
        return replace(self, table=self.table.schema.empty_table())

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
