"""One file's columns as arrays: ids, labels, scores, segments and values, each read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import MISSING, Issue, Segment
from recmetrics.errors import RecmetricsError
from recmetrics.roles import VALUE_ROLES
from recmetrics.schema.cells import coded, decoded, numbers
from recmetrics.schema.guess import Guess, missing_column
from recmetrics.schema.ids import Ids, read_ids
from recmetrics.schema.labels import WORDS, Labels, read_labels, refuse_unlabelled
from recmetrics.schema.scores import read_score, reading_issues
from recmetrics.schema.times import read_days
from recmetrics.source import Source
from recmetrics.text import N_

MAX_MODELS = 100
MAX_LABELLED = 1000  # different values up to which a named segment column can be listed


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one file; `source` without them. `label` None = no label column; `models` = the model of each row of
    a long table."""

    source: Source
    n_rows: int
    user: Ids | None
    item: Ids | None
    label: Labels | None
    scores: Mapping[str, NDArray[Any]]
    segments: Mapping[str, Segment]
    values: Mapping[str, NDArray[np.float64]]
    models: Segment | None = None
    issues: tuple[Issue, ...] = field(default=())


def read_part(
    source: Source, guess: Guess, label_map: Mapping[str, float] | None, config: EvalConfig, needs_label: bool
) -> Part:
    """Read every column that has a role. The cells of a column are let go once they are read, so that a caller who
    keeps no reference to the source never holds the file's text beside all its arrays.

    Raises
    ------
    RecmetricsError
        `no_label_column`, `no_score_column`, `score_not_numeric`, `label_mapping_needed`, `format`.
    """
    if needs_label and guess.column("label") is None:
        raise missing_column(source, "label")
    if not guess.all_columns("score"):
        raise missing_column(source, "score")
    reader = _Reader(source, guess, config)
    n_rows, source = source.n_rows, reader.source
    user, item = reader.ids("user"), reader.ids("item")
    label = reader.label(label_map, needs_label)
    scores = {name: reader.score(name, user) for name in guess.all_columns("score")}
    segments = {name: reader.segment(name) for name in (*guess.all_columns("segment"), *guess.all_columns("split"))}
    return Part(
        source=source,
        n_rows=n_rows,
        user=user,
        item=item,
        label=label,
        scores=scores,
        segments=segments,
        values=reader.values(label_map),
        models=reader.models(),
        issues=source.issues + tuple(reader.issues),
    )


def give_memory_back() -> None:
    """Let Arrow return to the system what it keeps for later: the text of a column is not read again."""
    import pyarrow as pa  # lazily: the package must import quickly

    pa.default_memory_pool().release_unused()


class _Reader:
    def __init__(self, source: Source, guess: Guess, config: EvalConfig) -> None:
        self.source = source.without_rows()
        self._uses = Counter(column for choice in guess.choices.values() for column in choice.columns)
        self._table = source.table.select(list(self._uses))
        self.guess = guess
        self.config = config
        self.issues: list[Issue] = []

    def _take(self, column: str) -> Any:
        """Return a column and let it go with its last use."""
        give_memory_back()  # of the columns read before
        found = self._table.column(column)
        self._uses[column] -= 1
        if not self._uses[column]:
            self._table = self._table.drop_columns([column])
        return found

    def _array(self, column: str) -> Any:
        return decoded(self._take(column), column, self.source.name)

    def ids(self, role: str) -> Ids | None:
        column = self.guess.column(role)
        if column is None:
            return None
        found = read_ids(self._take(column), column, self.source.name, self.config.id_spelling)
        self.issues.extend(found.issues)
        return found

    def label(self, label_map: Mapping[str, float] | None, needs_label: bool) -> Labels | None:
        column = self.guess.column("label")
        if column is None:
            return None
        found = read_labels(self._take(column), column, self.source.name, label_map, self.source.decimal_sign)
        if needs_label:
            refuse_unlabelled(found, column, self.source.name)
        self.issues.extend(found.issues)
        return found

    def score(self, column: str, user: Ids | None) -> NDArray[Any]:
        values, issues = read_score(
            self._array(column), column, self.source.name, user, self.config, self.source.decimal_sign
        )
        # A run's format says that higher is better; the names of its columns are ours.
        is_run = self.source.kind == "run"
        self.issues.extend(issue for issue in issues if not (is_run and issue.asks == "score_direction"))
        return values

    def segment(self, column: str) -> Segment:
        cells = coded(self._array(column))
        texts = ["" if value is None else _shown(value) for value in cells.values]
        keep = np.array([bool(text.strip()) for text in texts], dtype=bool)
        if len(texts) > MAX_LABELLED:
            raise RecmetricsError(
                "no_column",
                N_("{file}: column '{column}' has {count} different values, too many for groups (at most {cap})."),
                file=self.source.name,
                column=column,
                count=len(texts),
                cap=MAX_LABELLED,
            )
        labels = [text for text, kept in zip(texts, keep, strict=True) if kept]
        order = sorted(range(len(labels)), key=labels.__getitem__)
        place = np.empty(len(labels), dtype=np.int32)
        place[order] = np.arange(len(labels), dtype=np.int32)
        renumbered = np.full(len(texts), MISSING, dtype=np.int32)
        renumbered[keep] = place
        return Segment(cells.take(renumbered, MISSING).astype(np.int32, copy=False), tuple(labels[i] for i in order))

    def models(self) -> Segment | None:
        """Return the model of every row of a long table."""
        column = self.guess.column("model")
        if column is None:
            return None
        found = self.segment(column)
        without = np.flatnonzero(found.codes == MISSING)
        if len(without):
            raise RecmetricsError(
                "no_column",
                N_("{file}: {count} rows name no model in column '{column}' (rows {rows}). Fill them in."),
                file=self.source.name,
                column=column,
                count=len(without),
                rows=", ".join(str(row + 1) for row in without[:3]),
            )
        if len(found.labels) > MAX_MODELS:
            raise RecmetricsError(
                "no_column",
                N_("{file}: column '{column}' names {count} models; at most {cap} are compared. Choose some of them."),
                file=self.source.name,
                column=column,
                count=len(found.labels),
                cap=MAX_MODELS,
            )
        return found

    def values(self, label_map: Mapping[str, float] | None) -> dict[str, NDArray[np.float64]]:
        found = {}
        for role in VALUE_ROLES:
            column = self.guess.column(role)
            if column is not None:
                found[role] = self._value(role, column, label_map)
        column = self.guess.column("time")
        if column is not None:
            days, issues = read_days(self._array(column), column, self.source.name, self.config.time_unit)
            self.issues.extend(issues)
            found["time"] = days
        return found

    def _value(self, role: str, column: str, label_map: Mapping[str, float] | None) -> NDArray[np.float64]:
        if column == self.guess.column("label"):
            return read_labels(self._take(column), column, self.source.name, label_map, self.source.decimal_sign).values
        array = self._array(column)
        cells = coded(array)
        words = [str(value).strip().casefold() for value in cells.values]
        if role in ("click", "purchase") and words and all(word in WORDS or not word for word in words):
            by_value = np.array([WORDS.get(word, np.nan) for word in words])
            return cells.take(by_value, np.nan)
        read = numbers(array, self.source.decimal_sign)
        self.issues.extend(reading_issues(read, column, self.source.name))
        if len(read.bad):
            template = N_("{file}: {count} cells of '{column}' are no numbers and count as missing ({values}).")
            facts = {
                "file": self.source.name,
                "column": column,
                "count": len(read.bad),
                "values": ", ".join(read.texts),
            }
            self.issues.append(Issue("value_not_numeric", len(read.bad), template, facts, read.texts, "doubt"))
        return read.values.astype(np.float64)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
