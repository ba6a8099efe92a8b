"""Where the data come from: samples, files named on the command line, a server folder, uploads of this session."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import streamlit as st

from recmetrics.bundle import Tables, make_tables
from recmetrics.config import READING_FIELDS, EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.evaluate import part
from recmetrics.formats import FORMATS
from recmetrics.json_contract import row_steps
from recmetrics.load import load, read_source
from recmetrics.raw import PACKED_SUFFIXES
from recmetrics.samples import SAMPLES
from recmetrics.schema.audit import Step
from recmetrics.source import Source
from recmetrics.text import N_
from recmetrics.ui import state
from recmetrics.usable import usable

_cap = os.environ.get("RECMETRICS_MAX_ROWS", "")
MAX_ROWS = int(_cap) if _cap.isdigit() and int(_cap) > 0 else 5_000_000
SUFFIXES = (".txt", *(suffix for known in FORMATS.values() for suffix in known.suffixes), *PACKED_SUFFIXES)
KEPT_DATASETS, KEPT_TABLES = 8, 24
MOST_FILES = 20
MOST_SERVER_FILES = 200


def command_line_files() -> tuple[Path, ...]:
    """Return the files given to `recmetrics app FILE…`."""
    return tuple(Path(name) for name in os.environ.get("RECMETRICS_FILES", "").split(os.pathsep) if name)


def _json_variable(name: str) -> dict[str, Any] | None:
    return json.loads(os.environ[name]) if os.environ.get(name) else None


def keep_upload(
    files: list[tuple[str, bytes]],
    truth: tuple[str, bytes] | None = None,
    train: tuple[str, bytes] | None = None,
) -> str:
    """Keep uploaded files in this session only, never on disk; return their source id."""
    digest = hashlib.sha256()
    for role, given in (("file", files), ("truth", [truth]), ("train", [train])):
        for name, content in (found for found in given if found is not None):
            digest.update(f"{role}\x00{name}\x00{len(content)}\x00".encode("utf-8", "surrogatepass") + content)
    source = f"upload:{digest.hexdigest()[:12]}"
    st.session_state[state.UPLOADS] = {source: {"files": files, "truth": truth, "train": train}}
    return source


def server_files() -> tuple[str, ...]:
    """Return the data files below the operator's folder, as relative paths; none when the folder is off."""
    root = os.environ.get("RECMETRICS_DATA_DIR", "")
    if not root:
        return ()
    base = Path(root).resolve()
    found = (path for path in base.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    inside = (path for path in found if path.resolve().is_relative_to(base))
    return tuple(sorted(path.relative_to(base).as_posix() for path in islice(inside, MOST_SERVER_FILES)))


def server_file(relative: str) -> Path:
    """Return a file below the operator's data folder.

    Raises
    ------
    RecmetricsError
        `file`: the folder is off, or the path is outside, missing or of another kind; one sentence for all of these.
    """
    root = os.environ.get("RECMETRICS_DATA_DIR", "")
    try:
        path = (Path(root) / relative).resolve() if root else Path()
        found = bool(root) and path.is_relative_to(Path(root).resolve()) and path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL: no file has it
        found = False
    if not found or path.suffix.lower() not in SUFFIXES:
        raise RecmetricsError("file", N_("The server has no such data file. Choose one from the list, or upload it."))
    return path


def _load_arguments(source: str) -> tuple[list[Any], dict[str, Any]]:
    kind, _, name = source.partition(":")
    if kind == "sample":
        sample = SAMPLES[name]
        return list(sample.paths), dict(sample.load_options)
    if kind == "file":
        files = command_line_files()
        if not files:
            raise RecmetricsError("file", N_("This link asks for a file that this server was not started with."))
        truth = os.environ.get("RECMETRICS_TRUTH")
        given = {"columns": _json_variable("RECMETRICS_COLUMNS"), "label_map": _json_variable("RECMETRICS_LABEL_MAP")}
        return list(files), {**given, "truth": Path(truth) if truth else None}
    if kind == "server":
        return [server_file(name)], {}
    kept = st.session_state.get(state.UPLOADS, {}).get(source)
    if kept is None:
        raise RecmetricsError(
            "file",
            N_("This link refers to an uploaded file, which never travels in a link. Upload the same file again."),
        )
    return list(kept["files"]), {"truth": kept["truth"], "train": kept["train"]}


@dataclass(frozen=True)
class Parsed:
    """The files of a source as read, before roles: `scored` first, then the truth when there is one."""

    scored: tuple[Source, ...]
    truth: Source | None
    options: Mapping[str, Any]

    def named(self, name: str) -> Source:
        """Return the file with this name; the first when there is none."""
        known = {found.name: found for found in (*self.scored, *([self.truth] if self.truth else []))}
        return known.get(name, self.scored[0])


def parsed(source: str, config: EvalConfig) -> Parsed:
    """Return the files of a source as the convention reads them, for looking at their columns; the last ones are kept.

    Raises
    ------
    RecmetricsError
        When a file cannot be read at all.
    """
    files, options = _load_arguments(source)
    reading = _reading(config)
    return _parsed(f"{source}|{reading.hash}|{_stamp(files)}", files, options, reading)


def _reading(config: EvalConfig) -> EvalConfig:
    """Return a convention with the fields that say how files are read and no others, so that no other reads again."""
    return EvalConfig(**{field: getattr(config, field) for field in READING_FIELDS})


@st.cache_resource(max_entries=2, show_spinner=False, scope="session")
def _parsed(key: str, _files: list[Any], _options: dict[str, Any], _config: EvalConfig) -> Parsed:
    def read(file: Any) -> Source:
        return read_source(file, max_rows=MAX_ROWS, config=_config)

    truth = _options.get("truth")
    return Parsed(tuple(map(read, _files)), None if truth is None else read(truth), _options)


def bytes_held(dataset: Dataset) -> int:
    """Return the bytes that the rows take in memory, ids included; counted once per dataset."""
    return _bytes_held(dataset.fingerprint, dataset)


@st.cache_data(max_entries=KEPT_DATASETS, show_spinner=False)
def _bytes_held(key: str, _dataset: Dataset) -> int:
    dataset = _dataset
    vocabularies = sum(sys.getsizeof(name) for ids in (dataset.users, dataset.items) for name in ids)
    columns: list[Any] = [dataset.users, dataset.items, dataset.user, dataset.item, dataset.label, dataset.row_number]
    columns += [*dataset.scores.values(), *dataset.scored.values(), *dataset.values.values()]
    columns += [segment.codes for segment in dataset.segments.values()]
    return vocabularies + sum(int(column.nbytes) for column in columns if column is not None)


def open_dataset(
    source: str, columns: Mapping[str, Any] | None, label_map: Mapping[str, float] | None, config: EvalConfig
) -> Dataset:
    """Return the dataset of a source under the mapping in force, read as the convention says.

    Raises
    ------
    RecmetricsError
        Whatever `load` refuses, in its words.
    """
    files, options = _load_arguments(source)
    if columns is not None:
        options["columns"] = columns
    if label_map is not None:
        options["label_map"] = label_map
    mapping = json.dumps([options.get("columns"), options.get("label_map")], sort_keys=True, default=str)
    reading = _reading(config)
    options["config"] = reading
    key = f"{source}|{mapping}|{reading.hash}|{_stamp(files)}"
    if source.startswith("upload:"):
        return _session_dataset(key, files, options)
    return _shared_dataset(key, files, options)


def _stamp(files: list[Any]) -> str:
    """Tell one state of the files on disk from another, so that a file saved again is read again."""
    paths = [file for file in files if isinstance(file, Path)]
    return "|".join(f"{path}:{path.stat().st_mtime_ns}:{path.stat().st_size}" for path in paths if path.exists())


@st.cache_resource(max_entries=KEPT_DATASETS, show_spinner=False)
def _shared_dataset(key: str, _files: list[Any], _options: dict[str, Any]) -> Dataset:
    return load(*_files, max_rows=MAX_ROWS, **_options)


@st.cache_resource(max_entries=KEPT_DATASETS, show_spinner=False, scope="session")
def _session_dataset(key: str, _files: list[Any], _options: dict[str, Any]) -> Dataset:
    return load(*_files, max_rows=MAX_ROWS, **_options)


def segment_part(dataset: Dataset, segment: tuple[str, str] | None) -> Dataset:
    """Return the rows of one segment group; the dataset itself without a filter."""
    if segment is None:
        return dataset
    column, label = segment
    found = dataset.segments[column]
    code = found.labels.index(label) if label in found.labels else -1
    return part(dataset, found.codes == code)


def usable_rows(dataset: Dataset, config: EvalConfig, segment: tuple[str, str] | None) -> Dataset:
    """Return the rows that count under the convention and the filter, made once per session and state."""
    return _usable(f"{dataset.fingerprint}|{config.hash}|{segment}", dataset, config, segment)


@st.cache_resource(max_entries=KEPT_TABLES, show_spinner=False, scope="session")
def _usable(key: str, _dataset: Dataset, _config: EvalConfig, _segment: tuple[str, str] | None) -> Dataset:
    return segment_part(usable(_dataset, _config), _segment)


def account_steps(dataset: Dataset, config: EvalConfig) -> tuple[Step, ...]:
    """Return where the rows went, line by line, counted once per data and convention."""
    # The files belong to the key: other files can hold the same rows.
    return _account_steps(f"{dataset.fingerprint}|{dataset.account}|{config.hash}", dataset, config)


@st.cache_resource(max_entries=KEPT_TABLES, show_spinner=False, scope="session")
def _account_steps(key: str, _dataset: Dataset, _config: EvalConfig) -> tuple[Step, ...]:
    return row_steps(_dataset, _config)


def tables_of(rows: Dataset, config: EvalConfig, model: str) -> Tables:
    """Return one model's tables, built once per (data, convention, model): a slider only looks up."""
    return _tables(f"{rows.fingerprint}|{config.hash}|{config.confidence}|{model}", rows, config, model)


@st.cache_resource(max_entries=KEPT_TABLES, show_spinner=False, scope="session")
def _tables(key: str, _rows: Dataset, _config: EvalConfig, _model: str) -> Tables:
    return make_tables(_rows, _config, _model)
