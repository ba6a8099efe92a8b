"""The acceptance run of the checks: detection over many generator states, false alarms over many healthy runs.

python -m tests.checks.acceptance [states] [healthy runs]
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import fields, replace

import numpy as np

from recmetrics.checks import CHECKS
from recmetrics.config import EvalConfig
from recmetrics.diagnose import DiagnoseOptions, diagnose
from recmetrics.synthetic import SETS, make
from recmetrics.synthetic.base import build, clicks, with_segment, with_time, with_train

OPTIONS = {field.name for field in fields(DiagnoseOptions)}
SIZES = (50, 200, 1500)
INTERCEPTS = (-1.0, -2.6, -4.0)


def alarms_of_set(name: str, state: int) -> set[str]:
    """Return the codes that stand as alarms in one draw of a set."""
    made = make(name, state)
    options = DiagnoseOptions(**{key: value for key, value in made.options.items() if key in OPTIONS})
    found = diagnose(made.dataset, made.config, options)
    return {f.code for f in found if f.is_alarm} | {f"{f.code} crashed" for f in found if f.status == "error"}


def healthy_alarms(run: int) -> dict[str, int]:
    """Return the alarms of a healthy log with train, time, segments and, every third run, positions."""
    rng = np.random.default_rng(50_000 + run)
    draft = clicks(rng, n_users=SIZES[run % 3], intercept=INTERCEPTS[run // 3 % 3])
    draft = with_train(rng, with_time(rng, draft))
    draft = with_segment(draft, "segment", rng.integers(0, 4, draft.n_rows), ("a", "b", "c", "d"))
    if run % 3 == 0:
        draft = replace(draft, values={**draft.values, "position": rng.integers(1, 11, draft.n_rows).astype(float)})
    found = diagnose(build("healthy", draft), EvalConfig(threshold=0.2))
    return dict(Counter(f.code for f in found if f.is_alarm or f.status == "error"))


def main(n_states: int = 12, n_runs: int = 200) -> None:
    for name in SETS:
        alarm = SETS[name].alarm
        expected = {alarm} if alarm in CHECKS else set()
        right = sum(alarms_of_set(name, state) == expected for state in range(n_states))
        sys.stdout.write(f"{name:4} {alarm if alarm in CHECKS else '–':7} {right}/{n_states}\n")
    total: Counter[str] = Counter()
    for run in range(n_runs):
        total.update(healthy_alarms(run))
    sys.stdout.write(f"healthy runs: {n_runs}, alarms: {dict(total)}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
