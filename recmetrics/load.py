"""Files in, Dataset out: the public way to read scored rows, TREC runs, truth and training pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.formats import read
from recmetrics.raw import Raw
from recmetrics.roles import ROLES
from recmetrics.schema.audit import account, pair_issues
from recmetrics.schema.guess import Given, Guess, guess_columns
from recmetrics.schema.joining import Rows, join
from recmetrics.schema.look import Look, profile
from recmetrics.schema.part import Part, give_memory_back, read_part
from recmetrics.schema.truth import Judged, add_truth, read_train, read_truth
from recmetrics.schema.unfold import unfold
from recmetrics.source import ReadOptions, Source
from recmetrics.text import N_

__all__ = ["FileLike", "Guess", "Look", "Source", "guess_columns", "load", "profile", "read_source"]

FileLike = str | Path | tuple[str, bytes] | Source
PAIR_ROLES = ("user", "item", "label", "time")


def read_source(
    file: FileLike,
    *,
    header: bool | None = None,
    format: str | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    config: EvalConfig | None = None,
) -> Source:
    """Return a file parsed, before its columns have roles.

    Parameters
    ----------
    file
        A path; or (file name, bytes) for an upload, which is never written to disk; or a Source, returned as it is.
    header
        Whether the first line names columns; None = find out.
    format
        A name in `FORMATS`; None = find out from the content, then from the suffix.
    max_rows
        Refuse files with more rows.
    max_bytes
        Refuse files with more bytes before reading them; None = a third of the free memory.
    config
        The convention whose reading fields (`encoding`, `header_line`, `sheet`, `number_format`) answer what the file
        leaves open; None = the defaults, which find out. `header` wins over `header_line`.

    Raises
    ------
    RecmetricsError
        `file`, `format`, `encoding`, `malformed_line`, `no_rows`, `too_large`; the sentence names the file, the place
        and the next step.
    """
    if isinstance(file, Source):
        return file
    if isinstance(file, tuple):
        raw = Raw(Path(file[0]).name or "upload", data=bytes(file[1]), max_bytes=max_bytes)
    else:
        raw = Raw(Path(file).name or str(file), path=Path(file), max_bytes=max_bytes)
    config = config or EvalConfig()
    found = read(raw, _options(config, header, max_rows), format)
    return unfold(replace(found, number_format=config.number_format), max_rows)


def _options(config: EvalConfig, header: bool | None, max_rows: int | None) -> ReadOptions:
    if header is None and config.header_line != "auto":
        header = config.header_line == "yes"
    return ReadOptions(header, config.encoding, config.sheet, max_rows)


def load(
    *files: FileLike,
    columns: Mapping[str, Given] | None = None,
    label_map: Mapping[str, float] | None = None,
    truth: FileLike | None = None,
    train: FileLike | None = None,
    header: bool | None = None,
    formats: str | Mapping[str, str] | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    config: EvalConfig | None = None,
) -> Dataset:
    """Return the rows of one or several scored files as a Dataset, with what was found or repaired in `issues`.

    Parameters
    ----------
    *files
        Scored rows or TREC runs. Several score columns, or several files, are several models of the same truth.
        A TREC judgment file among them is taken as the truth.
    columns
        Role → column name, 0-based position, or a list of them; None for "there is no such column". Roles not named
        are guessed, see `guess_columns`.
    label_map
        Cell text → label, for labels that do not speak for themselves.
    truth
        Judged user–item pairs (label optional), also of items that no row scores.
    train
        Training interactions: user, item, and label and time where they exist.
    header
        Whether text tables have a header line; None = find out.
    formats
        One format for all files, or file name → format; None = find out.
    max_rows
        Refuse files with more rows than this.
    max_bytes
        Refuse files with more bytes before reading them; None = a third of the free memory.
    config
        The convention; its reading fields (`recmetrics.config.READING_FIELDS`) answer what files leave open. None =
        the defaults. `label_map` and `header` win over `grade_map` and `header_line`.

    Raises
    ------
    RecmetricsError
        One sentence that names file, column, rows and the next step. Missing and infinite scores and duplicates do
        not stop loading; they are counted in `issues` and treated as the EvalConfig says.
    """
    config = config or EvalConfig()
    label_map = label_map or dict(config.grade_map or ()) or None
    reading = _Reading(config, header, formats, max_rows, max_bytes)
    sources = [reading.source(file) for file in files]
    judgments = reading.source(truth) if truth is not None else None
    sources, judgments = _runs_and_judgments(sources, judgments)
    columns = dict(columns or {})
    judged = None
    if judgments is not None:
        judged = read_truth(judgments, guess_columns(judgments, _present(judgments, columns)), label_map, config)
    guesses = [_guess_scored(source, columns, has_truth=judged is not None) for source in sources]
    parts: list[Part] = []
    for guess in guesses:
        # Taken out of the list, so that the reader is the only one who holds the rows of the file.
        parts.append(read_part(sources.pop(0), guess, label_map, config, needs_label=judged is None and not parts))
    give_memory_back()
    pairs = reading.source(train) if train is not None else None
    return _assemble(parts, guesses[0], judged, pairs, columns, config)


@dataclass(frozen=True)
class _Reading:
    """How the files of one call are read."""

    config: EvalConfig
    header: bool | None
    formats: str | Mapping[str, str] | None
    max_rows: int | None
    max_bytes: int | None

    def source(self, file: FileLike) -> Source:
        chosen = self.formats if isinstance(self.formats, str) else None
        if isinstance(self.formats, Mapping) and not isinstance(file, Source):
            given = file[0] if isinstance(file, tuple) else str(file)
            chosen = self.formats.get(given, self.formats.get(Path(given).name))
        return read_source(
            file,
            header=self.header,
            format=chosen,
            max_rows=self.max_rows,
            max_bytes=self.max_bytes,
            config=self.config,
        )


def _runs_and_judgments(sources: list[Source], judgments: Source | None) -> tuple[list[Source], Source | None]:
    """Tell TREC judgments given beside the runs from the runs."""
    found = [source for source in sources if source.kind == "qrels"]
    scored = [source for source in sources if source.kind != "qrels"]
    if judgments is None and len(found) == 1 and scored:
        return scored, found[0]
    if found:
        raise RecmetricsError(
            "no_score_column",
            N_("{file} holds TREC judgments and no scores. Give the run first and the judgments as --truth."),
            file=found[0].name,
        )
    if not scored:
        raise RecmetricsError("file", N_("No file was given. Name at least one file of scored rows."))
    return scored, judgments


def _present(source: Source, columns: Mapping[str, Given]) -> dict[str, Given]:
    """Return what was said about columns as far as it fits a truth or training file, which need no scores."""
    names = {name.strip() for name in source.columns}
    found: dict[str, Given] = {}
    for role in PAIR_ROLES:
        named = columns.get(role)
        if isinstance(named, int) or (isinstance(named, str) and named.strip() in names):
            found[role] = named
    return found


def _guess_scored(source: Source, columns: Mapping[str, Given], has_truth: bool) -> Guess:
    if not has_truth:
        return guess_columns(source, columns)
    # The label named by the caller may stand in the truth only; and beside a truth no other column is one by content.
    names = {name.strip() for name in source.columns}
    label = columns.get("label")
    own = {role: named for role, named in columns.items() if role != "label"}
    if isinstance(label, str) and label.strip() in names:
        own["label"] = label
    elif label is not None or source.has_header is False:
        own["label"] = None
    return guess_columns(source, own)


def _assemble(
    parts: list[Part],
    guess: Guess,
    judged: Judged | None,
    train: Source | None,
    columns: Mapping[str, Given],
    config: EvalConfig,
) -> Dataset:
    rows: Rows = join(parts)
    truth = None
    coding = next((part.label.coding for part in parts if part.label is not None), None)
    if judged is not None:
        rows, truth = add_truth(rows, judged)
        coding = judged.coding if judged.coding is not None else coding
    pairs = None
    if train is not None:
        pairs, told = read_train(train, guess_columns(train, _present(train, columns)), rows, config)
        rows = replace(rows, issues=rows.issues + told)
    label = rows.label if rows.label is not None else np.full(len(rows.row_number), np.nan)
    dataset = Dataset(
        name=" + ".join(dict.fromkeys(part.source.name for part in parts)),
        users=rows.users,
        items=rows.items,
        user=rows.user,
        item=rows.item,
        label=label,
        scores=rows.scores,
        row_number=rows.row_number,
        scored=rows.scored,
        segments=rows.segments,
        values=rows.values,
        truth=truth,
        train=pairs,
        columns=_chosen(guess),
        label_coding=coding,
    )
    return replace(dataset, issues=rows.issues + pair_issues(dataset), account=account(dataset, parts))


def _chosen(guess: Guess) -> dict[str, Any]:
    return {role: named for role, named in guess.to_columns().items() if role in ROLES}
