"""Seeded random small data with everything that makes metrics differ: ties, grades, unscored items, empty lists."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.oracle import Case

LEVELS = 8  # scores are eighths, so that ties are frequent and every transform is exact


def case(seed: int, *, grades: tuple[float, ...] = (0, 0, 0, 1, 2, 3), ties: bool = True, longest: int = 7) -> Case:
    """Return up to five users with lists of up to `longest` items, some relevant items unscored, one user unlisted."""
    rng = np.random.default_rng(seed)
    rows, truth = [], []
    for user in [f"u{n}" for n in range(int(rng.integers(1, 6)))]:
        n = int(rng.integers(1, longest + 1))
        steps = rng.integers(0, LEVELS + 1, n) if ties else rng.permutation(LEVELS * 4)[:n] / 4
        names = rng.permutation(12)[:n]
        for item, step in zip(names, steps, strict=True):
            grade = float(rng.choice(grades))
            rows.append((user, f"i{item}", grade, float(step) / LEVELS))
            truth.append((user, f"i{item}", grade))
        truth += [(user, f"z{extra}", float(rng.choice(grades))) for extra in range(int(rng.integers(0, 4)))]
    if rng.random() < 0.5:
        truth.append(("unlisted", "i0", 1.0))
    order = rng.permutation(len(rows))
    return Case([rows[i] for i in order], truth)


def cases(n: int, **how: object) -> Iterator[Case]:
    """Yield the cases of seeds 0 … n−1."""
    for seed in range(n):
        yield case(seed, **how)
