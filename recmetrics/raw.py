"""Raw: a file nobody has parsed. Opening, unpacking and the sentences for what cannot be opened live here."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from recmetrics.errors import RecmetricsError
from recmetrics.text import N_

SAMPLE_BYTES = 1 << 16  # what is looked at to find the kind of file, its delimiter and its header
BLOCK_BYTES = 1 << 22
MEMORY_PER_BYTE = 3  # what loading takes at most, as a multiple of the file
# First bytes of a file that was packed whole → the codec that unpacks it. What is inside is read as if it lay there.
PACKINGS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
PACKED_SUFFIXES = (".gz", ".bz2", ".zst", ".zstd")
BOMB_BYTES, BOMB_RATIO = 1 << 28, 250  # rows of a log shrink 3 to 30 times; blanks alone shrink a thousand times


@dataclass(frozen=True, eq=False)
class Raw:
    """A file nobody has parsed: `data` when it came as bytes (an upload), else `path`. Packed files are unpacked.

    `max_bytes` may be read, unpacked; None = a third of the memory that is free, which loading so large a file needs.
    """

    name: str
    path: Path | None = None
    data: bytes | None = None
    max_bytes: int | None = None

    @property
    def inner_name(self) -> str:
        """The name without the suffix of its packing."""
        suffix = Path(self.name).suffix.lower()
        return self.name[: -len(suffix)] if self.packing and suffix in PACKED_SUFFIXES else self.name

    @cached_property
    def size(self) -> int:
        """Bytes of the file as it lies there."""
        return len(self.data) if self.data is not None else self._stat[0]

    @cached_property
    def cap(self) -> int:
        """Bytes that may be read, unpacked."""
        import psutil  # lazily: the package must import quickly

        return psutil.virtual_memory().available // MEMORY_PER_BYTE if self.max_bytes is None else self.max_bytes

    @cached_property
    def packing(self) -> str:
        """The codec that unpacks the file; empty for a file that is not packed."""
        with self._open_packed() as file:
            first = file.read(8)
        return next((codec for magic, codec in PACKINGS.items() if first.startswith(magic)), "")

    def open(self) -> Any:
        """Return a binary file to read once, unpacked; errors while reading are RecmetricsErrors of kind `file`."""
        return _Reading(self, self._open_packed())

    def seekable(self) -> Any:
        """Return what readers that jump about take: the path, or the unpacked bytes in memory."""
        return self.path if self.data is None and not self.packing else io.BytesIO(self.read())

    def head(self) -> bytes:
        """Return the first `SAMPLE_BYTES` bytes."""
        with self.open() as file:
            return bytes(file.read(SAMPLE_BYTES))

    def read(self) -> bytes:
        """Return the whole file, unpacked."""
        if self.data is not None and not self.packing:
            return self.data
        with self.open() as file:
            return b"".join(iter(lambda: file.read(BLOCK_BYTES), b""))

    def refuse_too_large(self) -> None:
        """Raise `too_large` for a file that has more bytes than the cap before it is unpacked."""
        if self.size > self.cap:
            raise self.too_large(self.size)

    def too_large(self, n_bytes: int) -> RecmetricsError:
        """Return the error for a file that has at least so many bytes."""
        return RecmetricsError(
            "too_large",
            N_(
                "{file} has {size} MB or more; the cap is {cap} MB (given, or a third of the free memory), so it was "
                "not read. Write it as Parquet with the needed columns only, take a sample of users (recmetrics "
                "sample-users), or use a larger machine."
            ),
            file=self.name,
            size=f"{n_bytes / 1e6:.1f}",
            cap=f"{self.cap / 1e6:.1f}",
        )

    def refuse_changed(self) -> None:
        """Raise `file` when the file on disk is another one than when it was first looked at."""
        if self.path is not None and self._stat != self._stat_now():
            raise RecmetricsError(
                "file",
                N_("{file} changed while it was read, so nothing of it is used. Read it again once it is complete."),
                file=self.name,
            )

    @cached_property
    def _stat(self) -> tuple[int, int]:
        return self._stat_now()

    def _stat_now(self) -> tuple[int, int]:
        try:
            found = self._checked_path().stat()
        except OSError as error:
            raise unreadable(self.name, error) from error
        return found.st_size, found.st_mtime_ns

    def _open_packed(self) -> Any:
        if self.data is not None:
            return io.BytesIO(self.data)
        path, _ = self._checked_path(), self._stat
        try:
            return path.open("rb")
        except OSError as error:
            raise unreadable(self.name, error) from error

    def _checked_path(self) -> Path:
        assert self.path is not None  # a Raw has data or a path
        try:
            if self.path.is_file():
                return self.path
            is_folder, exists = self.path.is_dir(), self.path.exists()
        except (OSError, ValueError) as error:  # a name with a NUL or a folder that may not be entered
            raise unreadable(self.name, error) from error
        if is_folder:
            raise RecmetricsError(
                "file", N_("{file} is a folder. Name the files in it, one model per file."), file=self.name
            )
        if exists:
            raise RecmetricsError(
                "file", N_("{file} is not an ordinary file. Save it to disk first and name that file."), file=self.name
            )
        raise RecmetricsError("file", N_("There is no file {file}. Check its name and folder."), file=self.name)


class _Reading(io.RawIOBase):
    """One pass over a file, unpacked; refuses what a damaged or hostile packing yields."""

    def __init__(self, raw: Raw, file: Any) -> None:
        import pyarrow as pa  # lazily: the package must import quickly

        self._raw = raw
        self._n_read = 0
        self._inner = file
        self._file = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), raw.packing) if raw.packing else file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            block = bytes(self._file.read(size if size >= 0 else None))
        except (OSError, ValueError) as error:
            if not self._raw.packing:
                raise unreadable(self._raw.name, error) from error
            raise RecmetricsError(
                "format",
                N_("{file} is packed with {packing} and damaged or cut off. Copy it again, or unpack it yourself."),
                file=self._raw.name,
                packing=self._raw.packing,
            ) from error
        self._n_read += len(block)
        if self._n_read > self._raw.cap:
            raise self._raw.too_large(self._n_read)
        if self._raw.packing and self._n_read > max(BOMB_BYTES, BOMB_RATIO * self._raw.size):
            raise RecmetricsError(
                "too_large",
                N_(
                    "{file} unpacks to more than {ratio} times its size, as no log of rows does, and was not read on. "
                    "If it is sound, unpack it and read it unpacked."
                ),
                file=self._raw.name,
                ratio=BOMB_RATIO,
            )
        return block

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


def unreadable(name: str, error: Exception) -> RecmetricsError:
    """Return the error for a file that the system does not let us read."""
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return RecmetricsError(
        "file", N_("{file} cannot be read: {reason}. Check its permissions."), file=name, reason=reason[:120]
    )
