"""The one command that checks everything, the same for people and for CI: format, lint, types, layers, tests.

Run it with the interpreter of the environment in which the project is installed: `.venv/bin/python check.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parent
SCRIPTS = Path(sys.executable).parent


def steps(results: Path) -> list[list[str]]:
    """Return the commands in the order in which they run; the cheapest come first, pytest's closing line comes last."""
    python = sys.executable
    return [
        [python, "-m", "ruff", "format", "--check", "."],
        [python, "-m", "ruff", "check", "."],
        [python, "-m", "mypy"],
        [str(SCRIPTS / "lint-imports")],
        [python, "-m", "pytest", "--cov", "--cov-report=term", f"--junitxml={results}"],
    ]


def browser_tests_ran(results: Path) -> bool:
    """Return whether at least one browser test ran and none was skipped."""
    if not results.is_file():
        return False
    cases = [case for case in ET.parse(results).iter("testcase") if "browser" in case.get("classname", "")]
    return bool(cases) and not any(case.find("skipped") is not None for case in cases)


def failed_steps(results: Path) -> list[str]:
    """Run every step, whatever the others found, and return those that failed."""
    failed = []
    for step in steps(results):
        shown = " ".join([Path(step[0]).name, *step[1:]])
        print("$", shown, flush=True)
        code = subprocess.run(step, cwd=ROOT, check=False).returncode
        if code:
            failed.append(f"{shown} (exit code {code})")  # below 0: the signal that ended it
    return failed


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        failed = failed_steps(results)
        if os.environ.get("CI") and not browser_tests_ran(results):
            failed.append("the browser tests, which did not run: install Chromium and its fonts, see .ci/run")
    for step in failed:
        print("Failed:", step, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
