"""What a format is, and the first bytes by which it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recmetrics.errors import RecmetricsError
from recmetrics.formats.encoding import find_encoding
from recmetrics.raw import SAMPLE_BYTES, Raw
from recmetrics.source import ReadOptions, Source
from recmetrics.text import N_

# First bytes of containers that hold a table but are no table.
PACKED = {
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "ZIP/XLSX",
    b"\xd0\xcf\x11\xe0": "XLS",
    b"ARROW1": "Arrow",
    b"\x89HDF": "HDF5",
    b"SQLite format 3": "SQLite",
    b"%PDF": "PDF",
}


@dataclass(frozen=True, eq=False)
class Sample:
    """The beginning of a file: bytes, and text when it is text."""

    name: str
    data: bytes
    is_whole: bool
    encoding: str = "auto"  # of text that is not Unicode

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix.lower()

    @property
    def packed(self) -> str:
        """The kind of container, or an empty text."""
        return next((kind for magic, kind in PACKED.items() if self.data.startswith(magic)), "")

    @cached_property
    def text(self) -> str:
        """The decoded beginning, cut at a line end when the file goes on; empty for binary data."""
        encoding = find_encoding(self.data, self.is_whole, self.encoding)
        if encoding is None or self.packed:
            return ""
        text = self.data.decode(encoding.name, errors="ignore").removeprefix("\ufeff")
        if "\x00" in text:
            return ""
        return text if self.is_whole else text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text

    @cached_property
    def lines(self) -> list[str]:
        """At most 200 lines that are not blank."""
        return [line for line in self.text.splitlines() if line.strip()][:200]


@dataclass(frozen=True)
class Format:
    """One kind of file.

    `looks_like` gives a certainty between 0 (no) and 1 from the beginning of a file; `read` parses it.
    """

    name: str
    suffixes: tuple[str, ...]
    looks_like: Callable[[Sample], float]
    read: Callable[[Raw, ReadOptions], Source]


def take_sample(raw: Raw, encoding: str = "auto") -> Sample:
    """Return the beginning of a file.

    Raises
    ------
    RecmetricsError
        `format` when the file has no bytes.
    """
    data = raw.head()
    if not data.strip(b"\x00\xff\xfe\xef\xbb\xbf \t\r\n") and len(data) < SAMPLE_BYTES:
        raise RecmetricsError("format", N_("{file} is empty: it has no line of data. Export it again."), file=raw.name)
    return Sample(raw.inner_name, data, len(data) < SAMPLE_BYTES, encoding)
