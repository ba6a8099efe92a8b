"""`recmetrics sample-users`: a share of the users of a file that is too large to load, as a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recmetrics.cli.printing import ENGLISH
from recmetrics.user_sample import sample_users

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A text table with a header line, packed or not, or Parquet.")
]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; one that is there is never overwritten.")]
Share = Annotated[
    float, typer.Option("--share", metavar="S", help="About this part of the users, with all their rows.")
]
User = Annotated[str, typer.Option("--user", metavar="COLUMN", help="The column of the users; guessed when not given.")]


def sample_users_command(file: File, out: Out, share: Share = 0.1, user: User = "") -> None:
    """Write the rows of a share of the users; the same share takes the same users from every file, the truth too."""
    found = sample_users(file, out, share, user or None)
    count = ENGLISH.count
    typer.echo(
        f"{out.name}: {count(found.n_rows)} of {count(found.n_rows_read)} rows, {count(found.n_users)} of "
        f"{count(found.n_users_read)} users of {file.name}. Say so beside every number from it."
    )
