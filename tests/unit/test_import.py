"""`import recmetrics` is quick: what is heavy is imported where it is used."""

import subprocess
import sys

import recmetrics

HEAVY = ("babel", "duckdb", "jinja2", "pandas", "plotly", "pyarrow", "scipy", "sklearn", "streamlit", "typer")
SECONDS = 0.8


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, timeout=60)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import recmetrics, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"


def test_importing_the_package_takes_less_than_eight_tenths_of_a_second() -> None:
    # The last line of -X importtime: "import time: self [us] | cumulative [us] | recmetrics". The quickest of three
    # runs, since other work on the machine only adds.
    lines = [python("-X", "importtime", "-c", "import recmetrics").stderr.splitlines()[-1] for _ in range(3)]
    assert all(line.endswith("| recmetrics") for line in lines)
    assert min(int(line.split("|")[1]) for line in lines) / 1e6 < SECONDS


def test_the_public_names_are_there_and_are_what_they_say() -> None:
    assert all(hasattr(recmetrics, name) for name in recmetrics.__all__)
    assert all(callable(getattr(recmetrics, name)) for name in ("load", "evaluate", "diagnose"))
