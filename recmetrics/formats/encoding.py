"""Which characters a text file is written in. Strict decoding decides; a guess is always reported."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Any

from recmetrics.dataset import Issue
from recmetrics.errors import RecmetricsError
from recmetrics.raw import Raw
from recmetrics.text import N_

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The most used Chinese characters (GB 2312, first level) and full-width punctuation, as pairs of bytes.
_COMMON_LEADS = frozenset([*range(0xB0, 0xD8), 0xA1, 0xA3])


@dataclass(frozen=True)
class Encoding:
    """A codec; `is_guess` when other codecs would decode the same bytes to other characters."""

    name: str
    is_guess: bool = False


def find_encoding(data: bytes, is_whole: bool = True, chosen: str = "auto") -> Encoding | None:
    """Return the encoding of text, or None when no encoding fits or the bytes are no text.

    `is_whole` False means that the data may be cut inside a character. `chosen` is the encoding of text that is not
    Unicode, `auto` = found from its bytes.
    """
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return Encoding(name) if _decodes(data, name, is_whole) else None
    without_mark = _utf16_without_mark(data)
    if without_mark:
        return Encoding(without_mark, is_guess=True) if _decodes(data, without_mark, is_whole) else None
    if b"\x00" in data:
        return None
    if data.isascii() or _decodes(data, "utf-8", is_whole):
        return Encoding("utf-8")
    return _legacy(data, is_whole) if chosen == "auto" else Encoding(chosen, is_guess=True)


def _decodes(data: bytes, name: str, is_whole: bool) -> bool:
    decoder = codecs.getincrementaldecoder(name)(errors="strict")
    step = 1 << 22  # in pieces, so that a large file is not held a second time
    try:
        for start in range(0, len(data), step):
            decoder.decode(data[start : start + step], final=is_whole and start + step >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def _utf16_without_mark(data: bytes) -> str:
    """Return the UTF-16 codec when nearly every second byte is zero, as in Latin text; else an empty text."""
    head = data[:4096]
    if len(head) < 4:
        return ""
    even, odd = head[0::2].count(0) / len(head[0::2]), head[1::2].count(0) / len(head[1::2])
    if odd > 0.4 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 and odd < 0.1 else ""


def _legacy(data: bytes, is_whole: bool) -> Encoding | None:
    """Choose among the encodings from before Unicode; None for UTF-8 with broken bytes."""
    if _mostly_utf8(data):
        return None
    if _looks_chinese(data) and _decodes(data, "gb18030", is_whole):
        return Encoding("gb18030", is_guess=True)
    guessed = _statistical_guess(data)
    if guessed and _decodes(data, guessed, is_whole):
        return Encoding(guessed, is_guess=True)
    return Encoding("latin-1", is_guess=True) if _is_latin(data) else None


def _mostly_utf8(data: bytes) -> bool:
    """Whether nearly all characters beyond ASCII are sound UTF-8: then the rest is damage, not another encoding."""
    text = data[: 1 << 20].decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    sound = sum(1 for character in text if character > "\x7f") - broken
    return sound > 4 * broken


def _looks_chinese(data: bytes) -> bool:
    pairs = common = 0
    high = [i for i, byte in enumerate(data[: 1 << 16]) if byte > 0x7F]
    at = -1
    for i in high:
        if i <= at or i + 1 >= len(data):
            continue
        at = i + 1
        pairs += 1
        common += data[i] in _COMMON_LEADS and data[i + 1] >= 0xA1
    return pairs > 0 and common >= 0.5 * pairs


def _statistical_guess(data: bytes) -> str:
    # Lazily: its tables take a while to import and most files are UTF-8.
    from charset_normalizer import from_bytes

    best = from_bytes(data[: 1 << 16]).best()
    name = best.encoding if best is not None else ""
    # Only encodings of several bytes are told apart well by statistics; the others are read as Latin-1, and said so.
    return name if name in {"gb18030", "gbk", "big5", "shift_jis", "cp932", "euc_jp", "euc_kr", "cp949"} else ""


def _is_latin(data: bytes) -> bool:
    """Whether the bytes look like Western text: few control characters."""
    head = data[: 1 << 16]
    control = sum((byte < 0x20 and byte not in b"\t\r\n\x0b\x0c") or 0x7F <= byte < 0xA0 for byte in head)
    return control <= 0.02 * len(head)


def to_utf8(raw: Raw, chosen: str = "auto") -> tuple[Any, str, tuple[Issue, ...]]:
    """Return the file as UTF-8 bytes without a mark, the name of its encoding, and what has to be said about it.

    `chosen` is the encoding of text that is not Unicode, `auto` = found from its bytes.

    Raises
    ------
    RecmetricsError
        `encoding` naming the first place that does not fit; `format` for binary data.
    """
    data = raw.read()
    encoding = find_encoding(data, chosen=chosen)
    if encoding is not None and encoding.name == chosen and not _decodes(data, chosen, is_whole=True):
        raise undecodable(raw.name, data, chosen)
    if encoding is None:
        raise undecodable(raw.name, data)
    if encoding.name == "utf-8":
        data = data.removeprefix(codecs.BOM_UTF8)
    else:
        data = data.decode(encoding.name).removeprefix("\ufeff").encode()
    if b"\x00" in data:
        raise _binary(raw.name)
    return data, encoding.name, told_about(raw.name, encoding, chosen)


def told_about(name: str, encoding: Encoding, chosen: str) -> tuple[Issue, ...]:
    """Return what has to be said about an encoding that is a guess, or was chosen."""
    is_chosen = encoding.name == chosen
    if not encoding.is_guess:
        return ()
    is_legacy = not encoding.name.startswith("utf-")
    if is_chosen:
        template = N_("{file} was read as {encoding}, as the convention says.")
    elif encoding.name == "latin-1":
        template = N_("{file} is neither UTF-8 nor GB18030; it was read as Latin-1. Check accented letters.")
    else:
        template = N_("{file} was read as {encoding}, which was found from its bytes. Check that its names look right.")
    facts = {"file": name, "encoding": encoding.name}
    severity = "doubt" if encoding.name == "latin-1" and not is_chosen else "info"
    return (Issue("encoding", 1, template, facts, severity=severity, asks="encoding" if is_legacy else ""),)


def undecodable(name: str, data: bytes, chosen: str = "utf-8") -> RecmetricsError:
    """Return the error for bytes that are not in an encoding: the first place at fault, or that they are no text."""
    if b"\x00" in data and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _binary(name)
    mark = next((codec for start, codec in BYTE_ORDER_MARKS if data.startswith(start)), chosen)
    try:
        data.decode(mark)
    except UnicodeDecodeError as error:
        return RecmetricsError(
            "encoding",
            N_("{file} is not sound {encoding}: byte {position} (line {line}) does not fit. Save it again as UTF-8."),
            file=name,
            encoding=mark.upper(),
            position=error.start + 1,
            line=data.count(b"\n", 0, error.start) + 1,
        )
    return _binary(name)


def _binary(name: str) -> RecmetricsError:
    return RecmetricsError(
        "format", N_("{file} holds binary data and is no text table. Export it as CSV or Parquet."), file=name
    )
