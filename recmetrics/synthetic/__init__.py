"""Generated data, healthy and diseased: what samples, lessons and tests draw from.

`SETS` holds every set by name: H1–H6 are healthy, D1–D24 and E1–E25 have one fault each. A set is a function of one
random generator and of free parameters; the same seed gives the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recmetrics.config import EvalConfig
from recmetrics.synthetic import blemishes, diseases, healthy
from recmetrics.synthetic.base import SETS, Draft, Synthetic, SyntheticSet, build

__all__ = ["SETS", "Draft", "Synthetic", "SyntheticSet", "blemishes", "diseases", "healthy", "make"]


def make(name: str, rng_seed: int | np.random.Generator = 0, **parameters: Any) -> Synthetic:
    """Return one generated set with the convention and options that belong to it.

    Parameters
    ----------
    name
        A name in `SETS`, such as `D1`.
    rng_seed
        Seed, or a generator that is drawn from.
    **parameters
        Parameters of the set or of the base generator, such as `n_users`.

    Raises
    ------
    RecmetricsError
        `unknown_name` when there is no such set.
    TypeError
        When the set has no such parameter.
    """
    chosen = SETS[name]
    draft = chosen.make(np.random.default_rng(rng_seed), **parameters)
    return Synthetic(name, build(name, draft), EvalConfig(**draft.config), dict(draft.options), chosen.alarm)
