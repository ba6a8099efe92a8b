"""A slow, obvious reference of the metrics, written from the specification and knowing nothing of the package's code.

Lists are walked place by place, pairs are counted one by one, and ties are averaged by writing down every order of
equal scores. Only the fields of the config are shared with what is tested.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from tests import build
from tests.oracle_rows import Rows, auc, is_positive

Grade = float | None
Score = float

MEAN_TO_PER_USER = {"map": "average_precision", "mrr": "reciprocal_rank"}
OPTION_FIELD = {
    "threshold": "threshold",
    "rule": "threshold_rule",
    "beta": "beta",
    "average": "f_average",
    "max_fpr": "max_fpr",
    "method": "auprc_method",
    "weight": "gauc_weight",
    "clip": "log_loss_clip",
    "bins": "ece_bins",
    "binning": "ece_binning",
    "ties": "ties",
    "gain": "gain",
    "discount": "discount",
    "log_base": "log_base",
    "grades": "grades",
    "ideal": "ideal",
    "precision_denominator": "precision_denominator",
    "recall_denominator": "recall_denominator",
}


@dataclass(frozen=True)
class Case:
    """Small data as plain rows: (user, item, label, score); truth (user, item, grade); train (user, item)."""

    rows: Sequence[tuple[Any, Any, Grade, Score]]
    truth: Sequence[tuple[Any, Any, float]] | None = None
    train: Sequence[tuple[Any, Any]] | None = None

    def dataset(self, **more: Any) -> Dataset:
        return build.dataset(self.rows, truth=self.truth, train=self.train, **more)

    @property
    def users(self) -> list[Any]:
        """Users in the order in which the dataset codes them."""
        named = [row[0] for row in self.rows] + [row[0] for row in self.truth or []]
        return list(dict.fromkeys(user for user in named if user is not None))


def parse(text: str, config: EvalConfig) -> tuple[str, int | None, EvalConfig]:
    """Split a metric string into name, cutoff and the config with its options."""
    name, options, k = re.fullmatch(r"([a-z_]+)(?:\[(.*)\])?(?:@(\d+))?", text).groups()
    changes: dict[str, Any] = {}
    for option in options.split(",") if options else ():
        key, value = option.split("=")
        mean_name = {"average_precision": "map"}.get(name, name)
        target = f"{mean_name}_denominator" if key == "denominator" else OPTION_FIELD[key]
        changes[target] = _number(value)
    return name, int(k) if k else None, config.replace(**changes)


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# One user's list in one order --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ordered:
    """Labels by place, the rank of each place (1, 2, … but for floor_mean_rank), and the grades of all judged items."""

    labels: tuple[Grade, ...]
    ranks: tuple[int, ...]
    judged: tuple[float, ...]
    config: EvalConfig

    def relevant(self, label: Grade) -> bool:
        if label is None:
            return False
        return self.config.positive_rule == "row_present" or label >= self.config.relevance_threshold

    def gain(self, label: Grade) -> float:
        if label is None or not (self.relevant(label) or (self.config.grades == "all" and label > 0)):
            return 0.0
        if label < 0:
            return 0.0
        if self.config.gain == "binary":
            return 1.0
        if label == 0:
            return 0.0
        if self.config.gain == "exp2":
            return 2.0**label - 1.0
        if self.config.gain == "exp2_shift":
            return max(2.0 ** (label - self.config.relevance_threshold + 1.0) - 1.0, 0.0)
        return label

    def weight(self, rank: int) -> float:
        base = math.e if self.config.log_base == "e" else float(self.config.log_base)
        argument = max(rank, 2) if self.config.discount == "max2" else rank + 1
        return math.log(base) / math.log(argument)

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def r(self) -> int:
        return sum(self.relevant(grade) for grade in self.judged)

    def hits(self, k: float) -> int:
        return sum(self.relevant(label) for label, rank in zip(self.labels, self.ranks, strict=True) if rank <= k)

    def precision_denominator(self, k: int) -> int:
        return {"k": k, "min_k_n": min(k, self.n), "min_r_k": min(self.r, k)}[self.config.precision_denominator]

    def recall_denominator(self, k: int) -> int:
        return {"r": self.r, "min_r_k": min(self.r, k)}[self.config.recall_denominator]

    # The metrics; `k` None is the whole list.

    def hit_rate(self, k: int) -> float:
        return 1.0 if self.hits(k) >= 1 else 0.0

    def precision(self, k: int) -> float | None:
        below = self.precision_denominator(k)
        return self.hits(k) / below if below else None

    def recall(self, k: int) -> float:
        return self.hits(k) / self.recall_denominator(k)

    def f_beta(self, k: int) -> float:
        square = self.config.beta**2
        below = square * self.recall_denominator(k) + self.precision_denominator(k)
        return (1 + square) * self.hits(k) / below

    def reciprocal_rank(self, k: int | None) -> float:
        places = [rank for label, rank in zip(self.labels, self.ranks, strict=True) if self.relevant(label)]
        first = min(places, default=math.inf)
        return 1.0 / first if first <= (k or math.inf) else 0.0

    def average_precision(self, k: int | None) -> float:
        last, rule = k or self.n, self.config.map_denominator
        if rule == "mean_p":
            return sum(self.hits(i) / i for i in range(1, last + 1)) / last if last else 0.0
        total = sum(self.hits(i) / i for i, label in enumerate(self.labels[:last], 1) if self.relevant(label))
        cut = math.inf if k is None else k
        below = {
            "min_r_k": min(self.r, cut),
            "r": self.r,
            "min_r_n": min(self.r, self.n, cut),
            "hits": self.hits(cut),
            "k": self.r if k is None else k,
        }[rule]
        return total / below if total else 0.0

    def dcg(self, k: int | None) -> float:
        places = zip(self.labels, self.ranks, strict=True)
        return math.fsum(self.gain(label) * self.weight(rank) for label, rank in places if rank <= (k or math.inf))

    def ideal_dcg(self, k: int | None) -> float:
        best = sorted((self.gain(grade) for grade in self.judged), reverse=True)
        if self.config.ideal == "full_k":
            best = [1.0] * (k or self.n)
        return math.fsum(gain * self.weight(rank) for rank, gain in enumerate(best[:k], 1))

    def ndcg(self, k: int | None) -> float | None:
        ideal = self.ideal_dcg(k)
        return self.dcg(k) / ideal if ideal else None

    def r_precision(self, k: None) -> float:
        return self.hits(self.r) / self.r


@lru_cache(maxsize=10_000)
def distinct_orders(labels: tuple[Grade, ...]) -> list[tuple[Grade, ...]]:
    """Return every order of labels once: rows with one label are interchangeable, so that all are equally likely."""
    return sorted(set(itertools.permutations(labels)), key=repr)


@dataclass(frozen=True)
class UserList:
    """One user: rows (item, label, score) in file order, and grades of the judged items."""

    rows: tuple[tuple[Any, Grade, Score], ...]
    judged: tuple[float, ...]

    def blocks(self, config: EvalConfig) -> list[list[tuple[Any, Grade, Score]]]:
        sign = 1 if config.score_direction == "lower" else -1
        ordered = sorted(self.rows, key=lambda row: sign * row[2])
        return [list(block) for _, block in itertools.groupby(ordered, key=lambda row: row[2])]

    def orders(self, config: EvalConfig) -> Iterator[Ordered]:
        """Yield every order that the rule allows; equally likely ones under `average`."""
        blocks = self.blocks(config)
        if config.ties == "average":
            choices = [distinct_orders(tuple(row[1] for row in block)) for block in blocks]
        else:
            choices = [[tuple(row[1] for row in self._within(block, config))] for block in blocks]
        ranks = tuple(range(1, len(self.rows) + 1))
        if config.ties == "floor_mean_rank":
            ranks, before = (), 0
            for block in blocks:
                ranks += ((before + 1 + before + len(block)) // 2,) * len(block)
                before += len(block)
        for chosen in itertools.product(*choices):
            yield Ordered(tuple(itertools.chain(*chosen)), ranks, self.judged, config)

    def _within(self, block: list[tuple[Any, Grade, Score]], config: EvalConfig) -> list[tuple[Any, Grade, Score]]:
        def worth(row: tuple[Any, Grade, Score]) -> tuple[bool, float]:
            one = Ordered((row[1],), (1,), (), config)
            return one.relevant(row[1]), one.gain(row[1])

        if config.ties in ("best", "worst"):
            return sorted(block, key=worth, reverse=config.ties == "best")
        if config.ties in ("item_asc", "item_desc"):
            return sorted(block, key=lambda row: str(row[0]), reverse=config.ties == "item_desc")
        return block

    def value(self, name: str, k: int | None, config: EvalConfig) -> float | None:
        """Return the mean over all orders; None without relevant items."""
        found = [getattr(order, name)(k) for order in self.orders(config) if order.r > 0]
        return math.fsum(found) / len(found) if found and None not in found else None


def user_lists(case: Case, config: EvalConfig) -> dict[Any, UserList]:
    """Return every user of the rows and of the truth with the list and the judged grades that the config lets count."""
    found = {}
    for user in case.users:
        rows = [(item, label, score) for u, item, label, score in case.rows if u == user]
        if config.unjudged == "skip":
            rows = [row for row in rows if row[1] is not None]
        judged = [label for _, label, _ in rows if label is not None]
        if case.truth is not None and config.truth_scope == "all":
            judged = [grade for u, _, grade in case.truth if u == user]
        found[user] = UserList(tuple(rows), tuple(judged))
    return found


def per_user(case: Case, config: EvalConfig, metric: str) -> dict[Any, float | None]:
    """Return the value of every user who is averaged (None: in the base, but left out)."""
    name, k, config = parse(metric, config)
    name = MEAN_TO_PER_USER.get(name, name)
    found: dict[Any, float | None] = {}
    for user, one in user_lists(case, config).items():
        listed, judged = bool(one.rows), bool(one.judged)
        in_base = {"truth": judged, "truth_and_run": judged and listed, "run": listed}[config.user_base]
        if in_base:
            found[user] = _under_the_rules(one, name, k, config)
    return found


def _under_the_rules(one: UserList, name: str, k: int | None, config: EvalConfig) -> float | None:
    barren = Ordered((), (), one.judged, config).r == 0
    if barren and config.users_without_relevant == "skip":
        return None
    if not one.rows and config.users_missing_from_run == "skip":
        return None
    if barren:
        return 0.0 if config.users_without_relevant == "zero" else 1.0
    return one.value(name, k, config) if one.rows else 0.0


def mean(case: Case, config: EvalConfig, metric: str) -> float | None:
    """Return the mean over the users averaged; None when there are none."""
    name, k, under = parse(metric, config)
    if name == "f_beta" and under.f_average == "of_means":
        p, r = (mean(case, under, f"{part}@{k}") for part in ("precision", "recall"))
        square = under.beta**2
        return None if p is None or r is None else (1 + square) * p * r / (square * p + r) if p + r else 0.0
    values = [value for value in per_user(case, config, metric).values() if value is not None]
    return math.fsum(values) / len(values) if values else None


def judged_rows(case: Case, user: Any) -> list[tuple[float, float]]:
    return [(label, score) for u, _, label, score in case.rows if u == user and label is not None]


def gauc(case: Case, config: EvalConfig) -> float | None:
    """Weighted mean of the AUC inside each user over labelled rows."""
    total = weights = 0.0
    for user in case.users:
        rows = judged_rows(case, user)
        n_pos = sum(is_positive(label, config) for label, _ in rows)
        inside = auc(rows, config)
        if inside is None:
            inside = {"skip": None, "zero": 0.0, "half": 0.5, "one": 1.0}[config.single_class_users]
        if inside is None or not rows:
            continue
        n_neg = len(rows) - n_pos
        weight = {"rows": len(rows), "positives": n_pos, "equal": 1, "pairs": n_pos * n_neg}[config.gauc_weight]
        total, weights = total + weight * inside, weights + weight
    return total / weights if weights else None


def row_value(case: Case, config: EvalConfig, metric: str) -> float | str:
    """Return a row metric, or the reason why it is undefined."""
    name, _, config = parse(metric, config)
    rows = Rows.of([(label, score) for _, _, label, score in case.rows], config)
    if rows.n == 0 and name in ("prevalence", "accuracy"):
        return "no rows"
    if name == "prevalence":
        return rows.p / rows.n
    if name in ("accuracy", "precision", "recall", "f_beta", "fpr", "specificity", "balanced_accuracy", "mcc"):
        return rows.at_threshold(name)
    probability = name not in ("roc_auc", "partial_auc", "auprc")
    if probability and any(not 0 <= s <= 1 for _, s in rows.rows):
        return "outside 0..1"
    if name in ("roc_auc", "partial_auc", "auprc", "normalized_entropy", "calibration_ratio") and rows.p == 0:
        return "no positives"
    if name in ("roc_auc", "partial_auc", "normalized_entropy") and rows.p == rows.n:
        return "no negatives"
    if name == "roc_auc":
        return auc([(float(y), s) for y, s in rows.rows], EvalConfig()) or 0.0
    if name in ("miscalibration", "discrimination", "uncertainty"):
        return rows.corp()[("miscalibration", "discrimination", "uncertainty").index(name)]
    return float(getattr(rows, name)())


# Exposure ----------------------------------------------------------------------------------------------------------


def exposures(case: Case, config: EvalConfig, k: int) -> dict[Any, float]:
    """Return item → expected number of lists that show it within K: the share c/m for a block cut by K."""
    found: dict[Any, float] = {}
    for one in user_lists(case, config).values():
        before = 0
        for block in one.blocks(config):
            inside = min(max(k - before, 0), len(block)) / len(block)
            before += len(block)
            for item, _, _ in block:
                if inside:
                    found[item] = found.get(item, 0.0) + inside
    return found


def shown(case: Case, config: EvalConfig, k: int) -> dict[Any, list[Any]]:
    """Return user → items of the first K, equal scores in ascending order of the item's text."""
    fixed = config.replace(ties="item_asc")
    lists = user_lists(case, fixed)
    return {
        user: [row[0] for block in one.blocks(fixed) for row in one._within(block, fixed)][:k]
        for user, one in lists.items()
    }


def coverage(case: Case, config: EvalConfig, k: int) -> float | None:
    """Distinct items shown over the size of the catalogue."""
    if config.catalogue_size is None:
        return None
    return len({item for items in shown(case, config, k).values() for item in items}) / config.catalogue_size


def gini(case: Case, config: EvalConfig, k: int) -> float:
    """Σ(2i−N−1)x_(i) / (N Σx) over the catalogue, or over the items of the lists when its size is unknown."""
    counts = exposures(case, config, k)
    size = config.catalogue_size or len({item for _, item, _, _ in case.rows})
    x = sorted([*counts.values(), *[0.0] * (size - len(counts))])
    return sum((2 * i - size - 1) * value for i, value in enumerate(x, 1)) / (size * sum(x))
