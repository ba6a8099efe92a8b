"""Damaged files of every format, made from a seed; `python -m benchmarks.fuzz 20000` runs so many and counts.

Whatever a file holds, loading it ends within `LONGEST` seconds with a Dataset or a RecmetricsError, the account of a
Dataset adds up, and a packed file with a checksum gives its whole content or nothing.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import time
from collections.abc import Callable

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from recmetrics.dataset import Dataset
from recmetrics.errors import RecmetricsError
from recmetrics.load import load

LONGEST = 5.0
ROWS = 40
PIECES = [
    *(
        b",",
        b";",
        b"\t",
        b"|",
        b" ",
        b'"',
        b"'",
        b"\n",
        b"\r\n",
        b"\r",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\\",
        b"%",
    ),
    *(b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"-0", b"007", b"1,234", b"0,5", b"12345678901234567890", b"1.0"),
    *(b"true", b"yes", b"-1", b"2", b"null", b"{}", b"[]", b'{"a":', b"[[", b"\\ud83d", b"\xe4\xb8\xad", b"\xc4\xe3"),
    *(
        b"user",
        b"item",
        b"label",
        b"score",
        b"model",
        b"time",
        b"#",
        b"Q0",
        b"=1+1",
        b"<b>",
        b"{n}",
        b"\xf0\x9f\x98\x80",
    ),
]


def _columns(seed: np.random.Generator) -> dict[str, list[object]]:
    return {
        "user": [f"u{i % 7}" for i in range(ROWS)],
        "item": [f"i{i}" for i in range(ROWS)],
        "label": [int(value) for value in seed.integers(0, 2, ROWS)],
        "score": [float(value) for value in seed.random(ROWS).round(4)],
        "city": [["north", "南方", ""][i % 3] for i in range(ROWS)],
    }


def _lines(seed: np.random.Generator, separator: str) -> bytes:
    columns = _columns(seed)
    rows = zip(*columns.values(), strict=True)
    return "\n".join(separator.join(map(str, row)) for row in [list(columns), *rows]).encode() + b"\n"


def _csv(seed: np.random.Generator) -> bytes:
    return _lines(seed, ",")


def _jsonl(seed: np.random.Generator) -> bytes:
    columns = pa.table(_columns(seed))
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in columns.to_pylist()).encode()


def _parquet(seed: np.random.Generator) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(_columns(seed)), sink, write_page_checksum=True)
    return sink.getvalue()


def _xlsx(seed: np.random.Generator) -> bytes:
    book, sink, columns = openpyxl.Workbook(), io.BytesIO(), _columns(seed)
    assert book.active is not None
    for row in [list(columns), *zip(*columns.values(), strict=True)]:
        book.active.append(row)
    book.save(sink)
    return sink.getvalue()


def _run(seed: np.random.Generator) -> bytes:
    rows = zip(*_columns(seed).values(), strict=True)
    return "".join(f"{u} Q0 {i} {n} {s} tag\n" for n, (u, i, _, s, _) in enumerate(rows)).encode()


def _qrels(seed: np.random.Generator) -> bytes:
    return "".join(f"{u} 0 {i} {g}\n" for u, i, g, *_ in zip(*_columns(seed).values(), strict=True)).encode()


def _zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


# Format in the registry → a sound file of it.
SOUND: dict[str, tuple[str, Callable[[np.random.Generator], bytes]]] = {
    "csv": ("a.csv", _csv),
    "tsv": ("a.tsv", lambda seed: _lines(seed, "\t")),
    "jsonl": ("a.jsonl", _jsonl),
    "parquet": ("a.parquet", _parquet),
    "xlsx": ("a.xlsx", _xlsx),
    "trec_run": ("a.run", _run),
    "trec_qrels": ("a.qrels", _qrels),
}
PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("a.csv.gz", gzip.compress),
    "bz2": ("a.csv.bz2", bz2.compress),
    "zstd": ("a.csv.zst", _zstd),
}
ENCODINGS = ("utf-16", "gb18030", "utf-8-sig", "utf-32", "big5", "shift_jis")
KINDS = (*SOUND, *PACKED, "encodings")


def sound(kind: str, seed: np.random.Generator) -> tuple[str, bytes]:
    """Return the name and the bytes of a file without damage."""
    if kind in PACKED:
        name, pack = PACKED[kind]
        return name, pack(_csv(seed))
    if kind == "encodings":
        return "a.csv", _csv(seed).decode().encode(ENCODINGS[seed.integers(len(ENCODINGS))], errors="replace")
    name, make = SOUND[kind]
    return name, make(seed)


def damaged(data: bytes, seed: np.random.Generator) -> bytes:
    """Return the bytes with one to three changes: bits, pieces, cuts, copies."""
    found = bytearray(data)
    for _ in range(int(seed.integers(1, 4))):
        at, length = int(seed.integers(len(found) + 1)), int(seed.integers(1, 40))
        match int(seed.integers(7)):
            case 0 if found:
                found[min(at, len(found) - 1)] ^= 1 << int(seed.integers(8))
            case 1:
                found[at:at] = PIECES[int(seed.integers(len(PIECES)))]
            case 2:
                piece = PIECES[int(seed.integers(len(PIECES)))]
                found[at : at + len(piece)] = piece
            case 3:
                del found[at : at + length]
            case 4:
                found[at:at] = found[at // 2 : at // 2 + length]
            case 5:
                found[at : at + length] = seed.bytes(length)
            case _ if seed.random() < 0.2:
                del found[at:]
    return bytes(found)


def outcome(kind: str, name: str, data: bytes) -> Dataset | RecmetricsError:
    """Load a file, rankings with their truth; everything but these two ends is a bug."""
    run, qrels = (SOUND[format][1](np.random.default_rng(0)) for format in ("trec_run", "trec_qrels"))
    try:
        if kind == "trec_run":
            return load((name, data), truth=("t.qrels", qrels), formats={name: kind})
        if kind == "trec_qrels":
            return load(("a.run", run), truth=("t.qrels", data), formats={"t.qrels": kind})
        return load((name, data))
    except RecmetricsError as error:
        return error


def adds_up(dataset: Dataset) -> bool:
    """Whether every row read is used, merged or left out for a reason."""
    account = dataset.account
    return account.read == account.used + account.merged + sum(account.dropped.values())


def check(kind: str, number: int) -> str:
    """Run the input of a kind with a number and return how it ended; AssertionError when it ended wrongly."""
    seed = np.random.default_rng([number, KINDS.index(kind)])
    name, whole = sound(kind, seed)
    data = damaged(whole, seed)
    start = time.perf_counter()
    found = outcome(kind, name, data)
    assert time.perf_counter() - start < LONGEST, "it took too long"
    if isinstance(found, RecmetricsError):
        assert str(found).strip()
        return found.kind
    assert found.n_rows > 0
    assert adds_up(found)
    if kind in ("gzip", "bz2") and data.startswith(whole[:2]):
        assert found.fingerprint == load((name, whole)).fingerprint, "a part of a packed file was read"
    return "read"
