"""The files of sample_data/: small sets that look like what people export, always the same bytes."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recmetrics.synthetic.base import Draft, Floats, Ints, bernoulli, clicks, expit
from recmetrics.synthetic.blemishes import as_many_relevant_as_places
from recmetrics.synthetic.diseases import (
    knows_who_clicks,
    leak,
    mean_over_signal,
    one_positive_among_sampled,
    rows_of,
    shifted_rows,
)

Columns = Mapping[str, Sequence[str]]
FIRST_SEED = 31
CITIES = ("北京", "上海", "广州", "成都", "杭州")
CHANNELS = ("首页推荐", "搜索", "消息推送")


def write_samples(directory: Path) -> list[Path]:
    """Write every generated sample as a CSV file and return the paths; an existing file is replaced."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for seed, (name, columns_of) in enumerate(GENERATED.items(), start=FIRST_SEED):
        path = directory / f"{name}.csv"
        columns = columns_of(np.random.default_rng(seed))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        written.append(path)
    return written


def ids(rng: np.random.Generator, prefix: str, numbers: Ints) -> list[str]:
    """Return one five-digit id per distinct number."""
    known, code = np.unique(numbers, return_inverse=True)
    drawn = rng.choice(90_000, size=len(known), replace=False) + 10_000
    return [f"{prefix}{number}" for number in drawn[code]]


def whole(values: NDArray[np.generic]) -> list[str]:
    """Return whole numbers as text."""
    return [str(int(value)) for value in values]


def decimal(values: Floats, decimals: int) -> list[str]:
    """Return numbers as text with a fixed number of decimals."""
    return [f"{value:.{decimals}f}" for value in values]


def chosen(rng: np.random.Generator, labels: tuple[str, ...], user: Ints) -> list[str]:
    """Return a random label of each row's user."""
    code = rng.integers(0, len(labels), size=int(user.max()) + 1)[user]
    return [labels[i] for i in code]


def scored(rng: np.random.Generator, draft: Draft, names: tuple[str, str, str, str], letters: str) -> Columns:
    """Return user, item, label and score under the given column names; `letters` begin the ids."""
    user, item, label, score = names
    return {
        user: ids(rng, letters[0], draft.user),
        item: ids(rng, letters[1], draft.item),
        label: whole(draft.label),
        score: decimal(draft.score, 5),
    }


def healthy_clicks(rng: np.random.Generator) -> Columns:
    """A log with random screen positions and two honest models; A does not see all that B sees."""
    seen, unseen = 0.7, 0.85  # 0.7² + 0.85² = 1.1², the variance of the base signal
    draft = clicks(rng, n_users=160, n=24, sd_row=seen, intercept=-2.4)
    logit = draft.logit + rng.normal(0.0, unseen, size=draft.n_rows)
    click = bernoulli(rng, expit(logit))
    purchase = click * bernoulli(rng, np.full(draft.n_rows, 0.15))
    return {
        "user_id": ids(rng, "u", draft.user),
        "item_id": ids(rng, "n", draft.item),
        "city": chosen(rng, CITIES, draft.user),
        "device": chosen(rng, ("ios", "android"), draft.user),
        "position": whole(random_places(rng, draft.user)),
        "click": whole(click),
        "purchase": whole(purchase),
        "amount": decimal(purchase * rng.lognormal(4.0, 0.8, size=draft.n_rows), 2),
        "dwell_seconds": whole(click * np.ceil(rng.lognormal(3.2, 0.9, size=draft.n_rows))),
        "score_a": decimal(mean_over_signal(draft.logit, unseen), 5),
        "score_b": decimal(expit(logit), 5),
    }


def random_places(rng: np.random.Generator, user: Ints) -> Ints:
    """Return the places 1, 2, … of each user's rows in random order; `user` is sorted."""
    order = np.lexsort((rng.random(len(user)), user))
    place = np.empty(len(user), dtype=np.int64)
    place[order] = np.arange(len(user)) - np.searchsorted(user, user) + 1
    return place


def leaked(rng: np.random.Generator) -> Columns:
    """A score that knows the answer."""
    return scored(rng, leak(rng, n_users=150, n=24), ("uid", "iid", "label", "pred"), "ua")


def p_equals_r(rng: np.random.Generator) -> Columns:
    """Ten relevant documents for every query, read at K = 10."""
    draft = as_many_relevant_as_places(rng, n_users=120, n=44, k=10)
    return scored(rng, draft.rescored(draft.logit), ("query_id", "doc_id", "relevance", "score"), "qd")


def sampled_1_99(rng: np.random.Generator) -> Columns:
    """One clicked item among 99 sampled ones for every user."""
    draft = one_positive_among_sampled(rng, n_users=100, n_items=15_000)
    draft = rows_of(draft, np.lexsort((rng.random(draft.n_rows), draft.user)))
    return scored(rng, draft, ("user", "item", "label", "score"), "ui")


def row_shift(rng: np.random.Generator) -> Columns:
    """Clicks pasted one row too low beside the scores."""
    return scored(rng, shifted_rows(rng, n_users=150, n=24), ("user_id", "movie_id", "clicked", "pctr"), "um")


def who_clicks(rng: np.random.Generator) -> Columns:
    """A score that knows the user's click rate and nothing about the item."""
    draft = knows_who_clicks(rng, n_users=200, n=20)
    columns = scored(rng, draft, ("用户编号", "商品编号", "是否点击", "预估点击率"), "ug")
    return {**columns, "渠道": chosen(rng, CHANNELS, draft.user)}


def ten_rows(rng: np.random.Generator) -> Columns:
    """Ten rows to follow by hand: thresholds, pairs, precision and recall."""
    return {
        "item": list("ABCDEFGHIJ"),
        "label": list("1101010100"),
        "score": ["0.90", "0.80", "0.75", "0.68", "0.55", "0.50", "0.42", "0.35", "0.20", "0.10"],
    }


# The place in this list makes the seed of a file: add new files at the end.
GENERATED: Mapping[str, Callable[[np.random.Generator], Columns]] = {
    "healthy_clicks": healthy_clicks,
    "leak": leaked,
    "p_equals_r": p_equals_r,
    "sampled_1_99": sampled_1_99,
    "row_shift": row_shift,
    "who_clicks": who_clicks,
    "ten_rows": ten_rows,
}
