"""`recmetrics …`: one sentence on stderr and exit code 2 for input that cannot be used; a traceback is always a bug."""

from __future__ import annotations

import sys

import typer

from recmetrics.cli.app import app_command
from recmetrics.cli.diagnose import diagnose_command
from recmetrics.cli.evaluate import evaluate_command
from recmetrics.cli.sample_users import sample_users_command
from recmetrics.cli.samples import samples_command
from recmetrics.errors import RecmetricsError

BAD_INPUT = 2

cli = typer.Typer(
    name="recmetrics",
    help="Offline metrics of recommenders and classifiers, with their convention and who was counted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.command("app")(app_command)
cli.command("evaluate")(evaluate_command)
cli.command("diagnose")(diagnose_command)
cli.command("samples")(samples_command)
cli.command("sample-users")(sample_users_command)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code: 0, 1 (`diagnose --fail-on`) or 2 (bad input)."""
    try:
        return int(cli(arguments, standalone_mode=False) or 0)
    except RecmetricsError as error:
        return _refuse(str(error))
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.TyperException as error:
        # A wrong option: Typer's own message, without its usage text around it.
        say = getattr(error, "format_message", error.__str__)
        return _refuse(say())


def _refuse(sentence: str) -> int:
    typer.echo(" ".join(sentence.split()), err=True)
    return BAD_INPUT


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))
