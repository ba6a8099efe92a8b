"""How loading ends on damaged files of every format: `python -m benchmarks.fuzz 20000`. Exits with 1 on a wrong end."""

from __future__ import annotations

import sys
import time
from collections import Counter

from tests.fuzzing import KINDS, check


def main(n: int) -> int:
    """Run `n` inputs, all kinds in turn, and print how each kind ended."""
    ends: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    wrong, slowest = [], 0.0
    for i in range(n):
        kind, number = KINDS[i % len(KINDS)], i // len(KINDS)
        start = time.perf_counter()
        try:
            ends[kind][check(kind, number)] += 1
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 – a panic of a reader written in Rust is no Exception
            wrong.append(f"{kind} {number}: {type(error).__name__}: {str(error)[:200]}")
        slowest = max(slowest, time.perf_counter() - start)
    for kind, counts in ends.items():
        print(f"{kind:11s} {sum(counts.values()):6d}  {dict(counts.most_common())}")
    print(f"{n} inputs, {len(wrong)} ended wrongly, the slowest took {slowest:.2f} s")
    print("\n".join(wrong[:40]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
