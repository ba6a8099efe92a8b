"""Sorting by value: user, descending score and gain level in one uint64, so that no index is ever carried along.

Sorting keys by value is several times faster than argsort and a gather: NumPy sorts integers with SIMD, and the sorted
key still holds everything that is asked of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.tables import encode_float32

CHUNK_ROWS = 1 << 17  # keys of one chunk stay in the second-level cache


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows with a gain level above 0, by user and rank: user, lo, hi int32[h], level uint8..uint32[h]."""

    user: NDArray[np.int32]
    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    level: NDArray[np.int64]


def score_codes(scores: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.float64] | None]:
    """Return order-preserving uint32 codes and, unless they are float32 bits, the sorted distinct scores behind them.

    float64 scores that are not exactly float32 are ranked densely first: they are never rounded.
    """
    if scores.dtype == np.float32:
        return encode_float32(scores), None
    with np.errstate(over="ignore"):
        narrow = scores.astype(np.float32)
    if np.array_equal(narrow, scores):
        return encode_float32(narrow), None
    distinct, codes = np.unique(scores, return_inverse=True)
    return codes.astype(np.uint32), distinct.astype(np.float64)


def rows_per_user(user: NDArray[np.int32], n_users: int) -> NDArray[np.int64]:
    """Return int64[u] row counts; user codes must not be negative."""
    if _grouped(user):
        # Files are mostly grouped by user: looking the edges up is cheaper than counting every row.
        return np.diff(np.searchsorted(user, np.arange(n_users + 1, dtype=np.int32)))
    return np.bincount(user, minlength=n_users)


def _grouped(user: NDArray[np.int32]) -> bool:
    return bool(np.all(user[1:] >= user[:-1]))


def hit_blocks(
    user: NDArray[np.int32],
    codes: NDArray[np.uint32],
    level: NDArray[np.integer[Any]],
    n_candidates: NDArray[np.int64],
) -> Blocks:
    """Return rank blocks of the rows with level > 0; higher codes rank first.

    Packs where user, score and level fit into 64 bits, and sorts by index where they do not.
    """
    level_bits = int(level.max(initial=0)).bit_length()
    user_bits = max(len(n_candidates) - 1, 0).bit_length()
    start = np.concatenate([[0], np.cumsum(n_candidates)])
    if user_bits + 32 + level_bits > 64:
        return _by_index(user, codes, level, start)
    if _grouped(user):
        return _by_chunks(user, codes, level, level_bits, start)
    return _in_sorted(np.sort(pack(user, codes, level, level_bits)), level_bits, start, 0)


def pack(
    user: NDArray[np.int32], codes: NDArray[np.uint32], level: NDArray[np.integer[Any]], level_bits: int
) -> NDArray[np.uint64]:
    """Return uint64 keys: user, score descending, gain level; sorting them ranks every list."""
    keys = user.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= ~codes
    keys <<= np.uint64(level_bits)
    keys |= level.astype(np.uint64)
    return keys


def _by_chunks(
    user: NDArray[np.int32],
    codes: NDArray[np.uint32],
    level: NDArray[np.integer[Any]],
    level_bits: int,
    start: NDArray[np.int64],
) -> Blocks:
    """Sort whole users a chunk at a time: rows are already grouped by user, as files mostly are."""
    found, begin, n = [], 0, len(user)
    while begin < n:
        end = min(begin + CHUNK_ROWS, n)
        if end < n:
            end = int(start[user[end - 1] + 1])
        part = slice(begin, end)
        keys = pack(user[part], codes[part], level[part], level_bits)
        keys.sort()
        found.append(_in_sorted(keys, level_bits, start, begin))
        begin = end
    if len(found) == 1:
        return found[0]
    if not found:
        return _in_sorted(np.empty(0, np.uint64), level_bits, start, 0)
    return Blocks(*(np.concatenate([getattr(b, name) for b in found]) for name in ("user", "lo", "hi", "level")))


def _in_sorted(keys: NDArray[np.uint64], level_bits: int, start: NDArray[np.int64], offset: int) -> Blocks:
    """Find hits and their blocks in sorted keys; `offset` is the position of the first key among all rows."""
    bits = np.uint64(level_bits)
    mask = np.uint64((1 << level_bits) - 1)
    at = np.flatnonzero((keys & mask) != 0)  # several times faster on bool than on uint64
    hit = keys[at]
    bare = hit >> bits
    first, last = at, at
    if len(at):
        before = keys[np.maximum(at - 1, 0)] >> bits
        after = keys[np.minimum(at + 1, len(keys) - 1)] >> bits
        tied = np.flatnonzero(((before == bare) & (at > 0)) | ((after == bare) & (at < len(keys) - 1)))
        if len(tied):
            first, last = at.copy(), at.copy()
            first[tied] = np.searchsorted(keys, bare[tied] << bits, side="left")
            last[tied] = np.searchsorted(keys, (bare[tied] << bits) | mask, side="right") - 1
    user = (bare >> np.uint64(32)).astype(np.int32)
    base = start[user] - offset
    return Blocks(
        user,
        (first - base + 1).astype(np.int32),
        (last - base + 1).astype(np.int32),
        (hit & mask).astype(np.int64),
    )


def _by_index(
    user: NDArray[np.int32], codes: NDArray[np.uint32], level: NDArray[np.integer[Any]], start: NDArray[np.int64]
) -> Blocks:
    """The exact slow way for what does not fit into 64 bits."""
    order = np.lexsort((~codes, user))
    lo, hi = block_ranks(user[order], codes[order], start)
    hit = np.flatnonzero(level[order])
    return Blocks(user[order][hit], lo[hit], hi[hit], level[order][hit].astype(np.int64))


def block_ranks(
    user: NDArray[np.int32], codes: NDArray[np.uint32], start: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return lo and hi of rows already sorted by user and descending score."""
    n = len(user)
    edge = np.ones(n, dtype=bool)
    edge[1:] = (user[1:] != user[:-1]) | (codes[1:] != codes[:-1])
    first = np.flatnonzero(edge)
    block = np.cumsum(edge) - 1
    last = np.append(first[1:], n) - 1
    base = start[user]
    return (first[block] - base + 1).astype(np.int32), (last[block] - base + 1).astype(np.int32)
