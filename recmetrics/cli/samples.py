"""`recmetrics samples`: list the bundled samples, copy them into a folder, or make them anew."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from recmetrics.cli.printing import table
from recmetrics.errors import RecmetricsError
from recmetrics.samples import SAMPLES
from recmetrics.shipped import shipped

Folder = Annotated[Path | None, typer.Argument(metavar="FOLDER", help="Where to put the files; none lists them.")]
Make = Annotated[bool, typer.Option("--make", help="Generate the synthetic samples again instead of copying.")]


def samples_command(folder: Folder = None, make: Make = False) -> None:
    """List the bundled samples, or write them into a folder."""
    if folder is None:
        if make:
            raise RecmetricsError("file", "--make needs a folder: recmetrics samples FOLDER --make.")
        typer.echo(listing())
        return
    try:
        written = made(folder) if make else copied(folder)
    except OSError as error:
        raise RecmetricsError(
            "file",
            "The samples could not be written into {folder}: {reason}. Name a folder that you may write to.",
            folder=str(folder)[:200],
            reason=error.strerror or str(error)[:120],
        ) from error
    typer.echo("\n".join(map(str, written)))


def listing() -> str:
    """Return one line per sample: id, check that it fires, files, what it teaches."""
    rows = [(one.id, one.fires or "none", ", ".join(one.files), one.title) for one in SAMPLES.values()]
    return table(("sample", "fires", "file", "what it is"), rows)


def copied(folder: Path) -> list[Path]:
    """Copy the bundled samples and return what was written; files that are there already are never overwritten."""
    source = shipped("sample_data")
    found = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    _refuse_existing(folder, found)
    shutil.copytree(source, folder, dirs_exist_ok=True)
    return [folder / name for name in found]


def made(folder: Path) -> list[Path]:
    """Generate the synthetic samples and return what was written."""
    from recmetrics.synthetic.files import GENERATED, write_samples  # lazily: only this option needs the generator

    _refuse_existing(folder, [Path(f"{name}.csv") for name in GENERATED])
    return write_samples(folder)


def _refuse_existing(folder: Path, names: list[Path]) -> None:
    if folder.exists() and not folder.is_dir():
        raise RecmetricsError("file", "{folder} is a file. Name a folder for the samples.", folder=str(folder)[:200])
    there = [name for name in names if (folder / name).exists()]
    if there:
        raise RecmetricsError(
            "file",
            "{folder} already holds {file}, which is not overwritten. Name another folder.",
            folder=str(folder)[:200],
            file=str(there[0]),
        )
