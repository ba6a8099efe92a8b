"""The counting kernel against one np.sort of its own keys, in one run: `python benchmarks/kernel.py`.

Machines differ and are shared, so that only the ratios mean something. Runs are interleaved; medians are printed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from recmetrics.bundle import make_tables
from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.engines import ENGINES
from recmetrics.engines.packing import pack, score_codes
from recmetrics.evaluate import metric_names
from recmetrics.measuring import measure
from recmetrics.metrics import METRICS

N_USERS, LENGTH, PREVALENCE = 10_000, 100, 0.05
KS = (1, 5, 10, 20, 50, 100)
RUNS = 15
RANKING = ("hit_rate@k", "precision@k", "recall@k", "f_beta@k", "mrr@k", "map@k", "ndcg@k", "dcg@k")
WHOLE = ("mrr", "map", "ndcg", "r_precision", "gauc")
LIMIT = 6.0


def log(seed: int = 0) -> Dataset:
    """Return 1,000,000 rows: 10,000 users × 100 items, float32 scores, 5 % positives."""
    generator = np.random.default_rng(seed)
    n = N_USERS * LENGTH
    return Dataset(
        name="kernel",
        users=np.asarray([str(i) for i in range(N_USERS)], dtype=object),
        items=np.asarray([str(i) for i in range(LENGTH)], dtype=object),
        user=np.repeat(np.arange(N_USERS, dtype=np.int32), LENGTH),
        item=np.tile(np.arange(LENGTH, dtype=np.int32), N_USERS),
        label=(generator.random(n) < PREVALENCE).astype(np.float64),
        scores={"model": generator.random(n, dtype=np.float32)},
        row_number=np.arange(1, n + 1),
    )


def medians(jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of each job over interleaved runs, after one warm-up each."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for run in range(RUNS + 1):
        for name, job in jobs.items():
            begin = time.perf_counter()
            job()
            if run:
                seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def import_seconds() -> float:
    """Return the median wall time of `import recmetrics` in a new process, less an empty one."""

    def wall(code: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begin

    pairs = [wall("import recmetrics") - wall("pass") for _ in range(5)]
    return statistics.median(pairs)


def main() -> int:
    data, config = log(), EvalConfig(ks=KS)
    names = metric_names(data, config, [*RANKING, *WHOLE])
    codes, _ = score_codes(data.scores["model"])
    assert data.user is not None
    keys = pack(data.user, codes, data.label.astype(np.uint8), 1)

    def ranking() -> object:
        return measure(make_tables(data, config, "model"), names, config)

    def scores() -> object:
        table = ENGINES["numpy"].score_table(data, config, "model")
        return METRICS["roc_auc"].function(table, config), METRICS["auprc"].function(table, config)

    found = medians(
        {
            "sort64": lambda: np.sort(keys),
            "ranking": ranking,
            "sort32": lambda: np.sort(codes),
            "scores": scores,
        }
    )
    rows = (
        (
            f"{len(names)} ranking values at K = {KS} and GAUC",
            found["ranking"],
            "np.sort(packed keys)",
            found["sort64"],
        ),
        ("ScoreTable, AUC and AP", found["scores"], "np.sort(uint32)", found["sort32"]),
    )
    print(f"{data.n_rows:,} rows, medians of {RUNS} interleaved runs")
    for what, seconds, unit, one in rows:
        print(f"{what}: {seconds * 1e3:.1f} ms = {seconds / one:.2f} x {unit} ({one * 1e3:.1f} ms); limit {LIMIT:g} x")
    print(f"import recmetrics: {import_seconds():.2f} s; limit 0.8 s")
    return 0 if all(seconds / one <= LIMIT for _, seconds, _, one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
