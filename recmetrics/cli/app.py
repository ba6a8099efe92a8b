"""`recmetrics app`: the dashboard in the browser, with files already chosen or none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from recmetrics.cli import options
from recmetrics.errors import RecmetricsError
from recmetrics.schema.guess import refuse_unknown_role
from recmetrics.shipped import shipped

# The app has no accounts, so it listens on this machine only; and Streamlit, left to find out its own address, would
# ask another machine for it. Whoever serves others sets the variable.
LOCAL = {"STREAMLIT_SERVER_ADDRESS": "127.0.0.1"}
AppFiles = Annotated[list[Path] | None, typer.Argument(metavar="FILE", help="Files to open; none opens Home.")]


def app_command(
    files: AppFiles = None,
    truth: options.TruthFile = None,
    columns: options.Columns = "",
    label_map: options.LabelMap = "",
) -> int:
    """Open the dashboard in the browser."""
    chosen = environment(files or [], truth, columns, label_map)
    return start([sys.executable, "-m", "streamlit", "run", str(shipped("app.py"))], {**LOCAL, **os.environ, **chosen})


def start(command: list[str], environment: Mapping[str, str]) -> int:
    """Become the server, so that Ctrl-C and signals reach it; return its exit code where a process cannot."""
    if os.name == "posix":
        os.execve(command[0], command, environment)
    return subprocess.run(command, env=dict(environment), check=False).returncode


def environment(files: list[Path], truth: Path | None, columns: str, label_map: str) -> Mapping[str, str]:
    """Return the variables by which the app learns what was given on the command line, checked already.

    Raises
    ------
    RecmetricsError
        `file` when a file is not there, `invalid_config` or `unknown_name` for --columns and --label-map.
    """
    found = {"RECMETRICS_FILES": os.pathsep.join(str(_existing(file)) for file in files)}
    if truth is not None:
        found["RECMETRICS_TRUTH"] = str(_existing(truth))
    roles, labels = options.parse_columns(columns), options.parse_label_map(label_map)
    for role in roles:
        refuse_unknown_role(role)
    if roles:
        found["RECMETRICS_COLUMNS"] = json.dumps(roles)
    if labels:
        found["RECMETRICS_LABEL_MAP"] = json.dumps(labels)
    return found


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise RecmetricsError(
            "file",
            "There is no file {file} here. Check the name and the folder, {folder}.",
            file=str(file)[:200],
            folder=str(Path.cwd()),
        )
    if os.pathsep in str(file.resolve()):
        raise RecmetricsError(
            "file",
            "The path of {file} holds a '{sign}', which separates paths here. Rename the file or its folder.",
            file=str(file)[:200],
            sign=os.pathsep,
        )
    return file.resolve()
