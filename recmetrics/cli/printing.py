"""Plain aligned tables for a terminal. Names come from files, so control characters never reach it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from recmetrics.text import Text

ENGLISH = Text("en")  # the command line is English; the app and the reports speak both languages


def printable(text: str) -> str:
    """Return the text without control and direction characters (a file could steer the terminal with them)."""
    return "".join(" " if c in "\t\r\n" else c for c in text if c in "\t\r\n" or unicodedata.category(c) not in _HIDDEN)


_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def width(text: str) -> int:
    """Return the columns that a text takes in a terminal; Chinese characters take two."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    combining = sum(unicodedata.combining(c) > 0 for c in text)
    return len(text) + wide - combining


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[str] = frozenset()) -> str:
    """Return lines of aligned columns; columns named in `right` are set flush right, empty columns are left out."""
    cells = [[printable(cell) for cell in row] for row in rows]
    kept = [i for i in range(len(head)) if any(row[i] for row in cells)]
    lines = [[head[i] for i in kept], *([row[i] for i in kept] for row in cells)]
    widths = [max(width(line[i]) for line in lines) for i in range(len(kept))]
    flush = [head[i] in right for i in kept]
    return "\n".join(_line(line, widths, flush) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int], flush: Sequence[bool]) -> str:
    padded = []
    for cell, size, right in zip(cells, widths, flush, strict=True):
        blank = " " * (size - width(cell))
        padded.append(blank + cell if right else cell + blank)
    return "  ".join(padded).rstrip()
