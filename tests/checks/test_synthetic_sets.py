"""Each generated disease raises exactly its alarm, and healthy data raise none.

A few generator states here; the full acceptance run is `python -m tests.checks.acceptance`.
"""

from __future__ import annotations

import pytest

from recmetrics.checks import CHECKS
from recmetrics.synthetic import SETS
from tests.checks.acceptance import alarms_of_set, healthy_alarms

# D24 is a reversal between two models: its own check (RM-803) explains the gap of one of them once that check exists.
DUE = [name for name in SETS if SETS[name].alarm in CHECKS]
OTHERS = [name for name in SETS if name not in DUE and name != "D24"]


@pytest.mark.parametrize("state", [0, 101])
@pytest.mark.parametrize("name", DUE)
def test_a_disease_raises_exactly_its_alarm(name: str, state: int) -> None:
    assert alarms_of_set(name, state) == {SETS[name].alarm}


@pytest.mark.parametrize("name", OTHERS)
def test_healthy_sets_and_diseases_of_other_checks_raise_none(name: str) -> None:
    assert alarms_of_set(name, 7) == set()


@pytest.mark.parametrize("run", range(9))
def test_healthy_runs_of_all_sizes_raise_no_alarm(run: int) -> None:
    assert healthy_alarms(run) == {}
