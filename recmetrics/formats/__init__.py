"""Kinds of files. A new kind is one new module here with `FORMATS`, a tuple of `Format`; nothing else changes."""

from __future__ import annotations

import importlib
import pkgutil

from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample, take_sample
from recmetrics.formats.encoding import undecodable
from recmetrics.raw import Raw
from recmetrics.registry import Registry
from recmetrics.source import ReadOptions, Source
from recmetrics.text import N_

__all__ = ["FORMATS", "Format", "detect", "read"]

FORMATS: Registry[Format] = Registry("format")

for _module in pkgutil.iter_modules(__path__):
    for _format in getattr(importlib.import_module(f"{__name__}.{_module.name}"), "FORMATS", ()):
        FORMATS.add(_format.name, _format)


def detect(raw: Raw, encoding: str = "auto") -> Format:
    """Return the format that the first bytes look like; the file's suffix decides between equals.

    Raises
    ------
    RecmetricsError
        `format` for a file that is empty or of no kind that can be read.
    """
    sample = take_sample(raw, encoding)
    found = max(FORMATS.values(), key=lambda entry: _certainty(entry, sample))
    if _certainty(found, sample) <= 0:
        raise _not_supported(sample)
    return found


def _certainty(entry: Format, sample: Sample) -> float:
    certainty = entry.looks_like(sample)
    return certainty + 0.1 if certainty > 0 and sample.suffix in entry.suffixes else certainty


def _not_supported(sample: Sample) -> RecmetricsError:
    if sample.packed:
        return RecmetricsError(
            "format",
            N_("{file} is a {kind} file, which is not read. Unpack it, or export CSV or Parquet."),
            file=sample.name,
            kind=sample.packed,
        )
    if not sample.text:
        return undecodable(sample.name, sample.data)
    return RecmetricsError(
        "format",
        N_(
            "{file} is no table: no comma, semicolon, tab, bar or blank splits its lines alike; and it is no file "
            "of another known kind ({known})."
        ),
        file=sample.name,
        known=", ".join(name for name in FORMATS if name not in ("csv", "tsv")),
    )


def read(raw: Raw, options: ReadOptions, format_name: str | None = None) -> Source:
    """Return the parsed file.

    Raises
    ------
    RecmetricsError
        `file`, `format`, `encoding`, `malformed_line`, `too_large` or `no_rows`; the sentence names the file and how
        to mend it.
    """
    raw.refuse_too_large()
    found = _chosen(raw, options, format_name).read(raw, options)
    raw.refuse_changed()
    return found


def _chosen(raw: Raw, options: ReadOptions, format_name: str | None) -> Format:
    if format_name is None:
        return detect(raw, options.encoding)
    if format_name not in FORMATS:
        raise RecmetricsError(
            "format",
            N_("{file}: files of the kind '{kind}' are not read. Known: {known}."),
            file=raw.name,
            kind=str(format_name)[:80],
            known=", ".join(FORMATS),
        )
    return FORMATS[format_name]
