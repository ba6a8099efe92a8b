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
    cases = [case for case in ET.parse(results).iter("testcase") if "browser" in case.get("classname", "")]
    return bool(cases) and not any(case.find("skipped") is not None for case in cases)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        for step in steps(results):
            print("$", " ".join(Path(part).name if part == step[0] else part for part in step), flush=True)
            code = subprocess.run(step, cwd=ROOT, check=False).returncode
            if code:
                return code
        if os.environ.get("CI") and not browser_tests_ran(results):
            print("The browser tests did not run. Install Chromium and its fonts, see .ci/run.", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
