"""TREC runs and judgments: fields between any blanks, no header. The order of a run is its score, not its rank."""

from __future__ import annotations

import re
from typing import Any

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.formats.base import Format, Sample
from recmetrics.formats.encoding import to_utf8
from recmetrics.raw import Raw
from recmetrics.source import ReadOptions, Source, refuse_too_many
from recmetrics.text import N_

RUN_FIELDS = ("user", "iteration", "item", "rank", "score", "tag")
QRELS_FIELDS = ("user", "iteration", "item", "label")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf)", re.ASCII | re.IGNORECASE)


def _fields(sample: Sample) -> list[list[str]]:
    return [line.split() for line in sample.lines if not line.lstrip().startswith("#")]


def _looks_like_run(sample: Sample) -> float:
    lines = _fields(sample)
    alike = [f for f in lines if len(f) >= 6 and _WHOLE.fullmatch(f[3]) and _FLOAT.fullmatch(f[4])]
    if not lines or len(alike) < 0.9 * len(lines) or "," in lines[0][0]:
        return 0.0
    return 0.9 if all(f[1].upper() == "Q0" for f in alike) or sample.suffix == ".run" else 0.65


def _looks_like_qrels(sample: Sample) -> float:
    lines = _fields(sample)
    alike = [f for f in lines if len(f) == 4 and _WHOLE.fullmatch(f[3])]
    if not lines or len(alike) < 0.9 * len(lines):
        return 0.0
    # A table of four whole numbers (user, item, rating, time) looks alike but for its second column.
    is_constant = {f[1].upper() for f in alike} <= {"0", "00", "Q0", "1"} and len({f[1] for f in alike}) == 1
    return 0.8 if is_constant or sample.suffix in (".qrels", ".qrel") else 0.0


def read_run(raw: Raw, options: ReadOptions) -> Source:
    """Parse a TREC run: query, iteration, document, rank, score, tag; words after the tag are passed over.

    Raises
    ------
    RecmetricsError
        `malformed_line` naming the first line with fewer than 6 fields; `format`, `encoding`, `no_rows`, `too_large`.
    """
    return _read(raw, options, "trec_run", "run", RUN_FIELDS)


def read_qrels(raw: Raw, options: ReadOptions) -> Source:
    """Parse TREC judgments: query, iteration, document, grade; lines that begin with # are comments.

    Raises
    ------
    RecmetricsError
        `malformed_line` naming the first line without exactly 4 fields; as `read_run`.
    """
    return _read(raw, options, "trec_qrels", "qrels", QRELS_FIELDS)


def _read(raw: Raw, options: ReadOptions, name: str, kind: str, fields: tuple[str, ...]) -> Source:
    import pyarrow as pa  # lazily: the package must import quickly

    data, encoding, issues = to_utf8(raw, options.encoding)
    lines, n_comments = _plain_lines(data)
    if not lines.strip():
        raise RecmetricsError("format", N_("{file} holds no line of data. Export it again."), file=raw.name)
    if kind == "run":
        lines = _cut_after_tag(lines)
    try:
        table = _parse(lines, fields)
    except pa.ArrowInvalid as error:
        raise _malformed(raw.name, data, kind, len(fields)) from error
    refuse_too_many(raw.name, table.num_rows, options)
    if n_comments:
        told = N_("{file}: {count} comment lines were passed over.")
        facts = {"file": raw.name, "count": n_comments}
        issues = (*issues, Issue("comment_lines", n_comments, told, facts))
    return Source(raw.name, name, table, kind, raw.size, encoding, " ", ".", False, issues)


def _plain_lines(data: bytes) -> tuple[bytes, int]:
    """Return the lines with single blanks between fields, without comments and blank lines; number of comments."""
    n_comments = 0
    data = data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    if b"#" in data:
        data, n_comments = re.subn(rb"(?m)^ *#[^\n]*\n?", b"", data)
    if b"  " in data:
        data = re.sub(rb"  +", b" ", data)
    if data.startswith(b" ") or b"\n " in data or b" \n" in data or data.endswith(b" "):
        data = re.sub(rb"(?m)^ | $", b"", data)
    return data, n_comments


def _cut_after_tag(lines: bytes) -> bytes:
    """Drop words after the sixth field, if any line has them."""
    if lines.count(b" ") <= 5 * (lines.count(b"\n") + (not lines.endswith(b"\n"))):
        # As many blanks as lines of six fields need; a line with more beside one with fewer is found by the parser.
        return lines
    return re.sub(rb"(?m)^((?:[^ \n]+ ){5}[^ \n]+) [^\n]*$", rb"\1", lines)


def _parse(lines: bytes, fields: tuple[str, ...]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    block = len(lines) + 1 if len(lines) < 1 << 22 else 1 << 22
    return csv.read_csv(
        pa.py_buffer(lines),
        read_options=csv.ReadOptions(column_names=list(fields), block_size=block),
        parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types={field: pa.string() for field in fields}, strings_can_be_null=False
        ),
    )


def _malformed(name: str, data: bytes, kind: str, expected: int) -> RecmetricsError:
    for number, line in enumerate(data.decode(errors="replace").replace("\r\n", "\n").split("\n"), start=1):
        found = len(line.split())
        if found == 0 or line.lstrip().startswith("#"):
            continue
        if found < expected or (kind == "qrels" and found > expected):
            return RecmetricsError(
                "malformed_line",
                N_("{file}, line {line}: found {found} fields, expected {expected} ({fields}). Mend the line."),
                file=name,
                line=number,
                found=found,
                expected=expected,
                fields=" ".join(RUN_FIELDS if kind == "run" else QRELS_FIELDS),
            )
    return RecmetricsError("format", N_("{file} cannot be split into fields. Export it again."), file=name)


FORMATS = (
    Format("trec_run", (".run", ".res", ".trec"), _looks_like_run, read_run),
    Format("trec_qrels", (".qrels", ".qrel"), _looks_like_qrels, read_qrels),
)
