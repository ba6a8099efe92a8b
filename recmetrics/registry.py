"""One kind of list for everything that can be added: formats, engines, metrics, checks, presets."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Generic, TypeVar

from recmetrics.errors import RecmetricsError
from recmetrics.text import N_

Entry = TypeVar("Entry")


def nearest(name: str, known: list[str]) -> str:
    """Return the known name most like `name`; an empty text when none is alike."""
    found = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return found[0] if found else ""


class Registry(Generic[Entry]):
    """Named entries in the order in which they were added; a name is added once.

    Raises
    ------
    ValueError
        When a name is added twice: a fault of this package, not of a user.
    RecmetricsError
        `unknown_name` when a user asks for a name that is not there; the sentence names the nearest.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> Entry:
        if name in self._entries:
            raise ValueError(f"{self.kind} {name!r} is registered twice")
        self._entries[name] = entry
        return entry

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            known = list(self._entries)
            raise RecmetricsError(
                "unknown_name",
                N_("There is no {kind} called '{name}'. The nearest is '{nearest}'; known: {known}."),
                kind=self.kind,
                name=str(name)[:80],
                nearest=nearest(str(name), known) or known[0],
                known=", ".join(known),
            )
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> list[Entry]:
        return list(self._entries.values())
