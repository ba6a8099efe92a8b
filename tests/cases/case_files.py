"""Reading a folder of cases: which checks there are, and what each of them asks. Schema: README.md beside this file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

SPEC_NAMES = ("cases.json", "expected.json")
SCHEMA = "recmetrics-cases/1"
OURS = Path(__file__).parent


def chosen_folder() -> Path:
    """Return the folder to run: `RECMETRICS_CASES`, else the project's own copy."""
    return Path(os.environ.get("RECMETRICS_CASES") or OURS).resolve()


@dataclass(frozen=True)
class Question:
    """One check of one case, with everything that the case says about it."""

    folder: Path
    case: Mapping[str, Any]
    check: Mapping[str, Any]
    number: int

    @property
    def name(self) -> str:
        """Return `C02-ndcg_at_k-1`: case, metric, and the place in the case's list of checks."""
        return f"{self.case['id']}-{self.check['metric']}-{self.number}"

    @property
    def metric(self) -> str:
        return str(self.check["metric"])

    @property
    def params(self) -> Mapping[str, Any]:
        return self.check.get("params") or {}

    @property
    def where(self) -> Mapping[str, str | None]:
        return self.params.get("where") or {}

    @property
    def input(self) -> Mapping[str, str]:
        return dict(self.check["input"])

    @property
    def expect(self) -> Mapping[str, Any]:
        return dict(self.check["expect"])

    @property
    def columns(self) -> Mapping[str, Any]:
        return {**(self.case.get("columns") or {}), **(self.check.get("columns") or {})}

    @property
    def label_map(self) -> Mapping[str, float] | None:
        found: Mapping[str, float] | None = self.check.get("label_map", self.case.get("label_map"))
        return found

    @property
    def config(self) -> Mapping[str, Any]:
        return {**(self.case.get("config") or {}), **(self.check.get("config") or {})}

    @property
    def is_optional(self) -> bool:
        return bool(self.check.get("optional"))

    @property
    def group(self) -> str | None:
        """The label of the alternatives that this check belongs to."""
        return self.check.get("one_of")

    @cached_property
    def described(self) -> Mapping[str, Mapping[str, Any]]:
        """Path → what the case says about the file."""
        return {file["path"]: file for file in self.case["files"]}

    def asked_of(self, other: Mapping[str, str]) -> Question:
        """Return the same question about another input."""
        return replace(self, check={**self.check, "input": dict(other)})


def spec_files(folder: Path) -> list[Path]:
    """Return the specification in a folder, or those in its sub-folders when it has none."""
    if not folder.is_dir():
        raise FileNotFoundError(f"RECMETRICS_CASES names no folder: {folder}")
    own = [folder / name for name in SPEC_NAMES if (folder / name).is_file()]
    if own:
        return own
    return [
        inner / name
        for inner in sorted(path for path in folder.iterdir() if path.is_dir())
        for name in SPEC_NAMES
        if (inner / name).is_file()
    ]


def questions(folder: Path) -> Iterator[Question]:
    """Yield every check of a folder."""
    for path in spec_files(folder):
        spec = json.loads(path.read_text(encoding="utf-8"))
        if spec["schema"] != SCHEMA:
            raise ValueError(f"{path.name}: schema {spec['schema']!r} is not {SCHEMA!r}")
        for case in spec["cases"]:
            for number, check in enumerate(case["checks"]):
                yield Question(path.parent, case, check, number)
