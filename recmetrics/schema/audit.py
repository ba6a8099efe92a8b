"""The account of the rows: what has to be said about ids and pairs, and which rows cannot be used for anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import Account, Dataset, Issue, pair_codes
from recmetrics.schema.part import Part
from recmetrics.text import N_

N_EXAMPLES = 3


def pair_issues(dataset: Dataset) -> tuple[Issue, ...]:
    """Return the issues about rows without ids and about pairs that occur again."""
    return (*_missing_ids(dataset), *_duplicates(dataset))


def _missing_ids(dataset: Dataset) -> tuple[Issue, ...]:
    absent = {role: codes < 0 for role, codes in (("user", dataset.user), ("item", dataset.item)) if codes is not None}
    counts = {role: int(rows.sum()) for role, rows in absent.items()}
    if not any(counts.values()):
        return ()
    rows = np.flatnonzero(np.logical_or.reduce(list(absent.values())))
    facts: Mapping[str, Any] = {
        "count": len(rows),
        "user": counts.get("user", 0),
        "item": counts.get("item", 0),
        "rows": ", ".join(str(dataset.row_number[row]) for row in rows[:N_EXAMPLES]),
    }
    template = N_(
        "Rows without an id: {count} (user missing: {user}, item missing: {item}; rows {rows}). "
        "They count in row metrics and stand in no list."
    )
    return (Issue("missing_ids", len(rows), template, facts, severity="doubt"),)


def _duplicates(dataset: Dataset) -> tuple[Issue, ...]:
    surplus = dataset.surplus_rows
    if len(surplus) == 0:
        return ()
    assert dataset.user is not None  # surplus rows exist only with both columns
    assert dataset.item is not None
    users, items = dataset.users[dataset.user[surplus]], dataset.items[dataset.item[surplus]]
    examples = tuple(f"{str(users[i])[:40]}, {str(items[i])[:40]}" for i in range(min(len(surplus), N_EXAMPLES)))
    n_conflicting = _n_conflicting(dataset)
    facts = {"count": len(surplus), "conflicting": n_conflicting, "pairs": "; ".join(examples)}
    template = N_(
        "Rows that repeat a user–item pair: {count} ({pairs}); pairs with different labels: {conflicting}. "
        "A list holds an item once, so the convention has to say which row counts."
    )
    return (Issue("duplicates", len(surplus), template, facts, examples, "doubt", asks="duplicates"),)


def _n_conflicting(dataset: Dataset) -> int:
    """Return the number of pairs with more than one label; a missing label contradicts none."""
    assert dataset.user is not None
    assert dataset.item is not None
    rows = dataset.repeated_rows
    rows = rows[~np.isnan(dataset.label[rows])]
    pair, label = pair_codes(dataset.user[rows], dataset.item[rows], len(dataset.items)), dataset.label[rows]
    order = np.lexsort((label, pair))
    pair, label = pair[order], label[order]
    changes = (pair[1:] == pair[:-1]) & (label[1:] != label[:-1])
    return len(np.unique(pair[1:][changes]))


def account(dataset: Dataset, parts: Sequence[Part]) -> Account:
    """Return the rows of every file, those merged, those with a label (or a truth beside them) and a score, and the
    others by reason.

    A row is counted under the first reason that fits, so that the sums add up. Duplicates and infinite scores are for
    the convention to treat and are not dropped here.
    """
    files = tuple((part.source.name, part.n_rows) for part in parts)
    read = sum(n_rows for _, n_rows in files)
    no_score, no_label = _useless(dataset)
    dropped = {"missing_scores": int(no_score.sum()), "missing_labels": int(no_label.sum())}
    return Account(
        read=read,
        used=dataset.n_rows - sum(dropped.values()),
        dropped={reason: count for reason, count in dropped.items() if count},
        files=files,
        merged=read - dataset.n_rows,
    )


def _useless(dataset: Dataset) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return bool[n] twice: rows without a score in any model, and the others without a label or a truth."""
    no_score = np.ones(dataset.n_rows, dtype=bool)
    for model, scores in dataset.scores.items():
        no_score &= np.isnan(scores) | ~dataset.rows_of(model)
    return no_score, ~no_score & np.isnan(dataset.label) & (dataset.truth is None)


# The account line by line -------------------------------------------------------------------------------------------

STEPS: Mapping[str, str] = {
    "file": N_("rows read from {file}"),
    "merged": N_("hold a pair that another file or model holds too: one row for all of them"),
    "dataset": N_("rows of the dataset"),
    "missing_scores": N_("no score in any model"),
    "missing_labels": N_("no label"),
    "used": N_("rows that can be used"),
    "left_out_missing_scores": N_("left out: a score is missing"),
    "left_out_infinite_scores": N_("left out: a score is infinite"),
    "left_out_duplicates": N_("left out: the pair stands more than once"),
    "ranked_last": N_("without any score, ranked last as the convention says"),
    "unjudged": N_("not judged by the truth"),
    "row_metrics": N_("rows in row metrics"),
    "missing_ids": N_("without a user or item id: in no list"),
    "unlabelled": N_("without a label: in lists as not relevant"),
    "lists": N_("rows in lists"),
}


@dataclass(frozen=True)
class Step:
    """One line of the account. `code` is a key of `STEPS`; a sum states what all lines above it add up to."""

    code: str
    rows: int
    is_sum: bool = False
    file: str = ""


def reading_steps(dataset: Dataset) -> tuple[Step, ...]:
    """Return the lines from the files to the rows that can be used."""
    told = dataset.account
    files = told.files or ((dataset.name, told.read),)
    merged = (Step("merged", -told.merged),) if told.merged else ()
    joined = (Step("dataset", told.read - told.merged, is_sum=True),) if len(files) > 1 or told.merged else ()
    dropped = (Step(reason, -count) for reason, count in told.dropped.items())
    return (
        *(Step("file", n_rows, file=name) for name, n_rows in files),
        *merged,
        *joined,
        *dropped,
        Step("used", told.used, is_sum=True),
    )


def counting_steps(dataset: Dataset, kept: NDArray[np.bool_], config: EvalConfig) -> tuple[Step, ...]:
    """Return the lines from the rows that can be used to row metrics and lists.

    `kept` bool[n] are the rows that the convention's treatment of duplicates and odd scores leaves. A row counts here
    when at least one model scores it; each model is measured on its own rows.
    """
    no_score, no_label = _useless(dataset)
    used = ~no_score & ~no_label
    in_row_metrics = kept & dataset.labelled
    found = [Step(f"left_out_{reason}", -n) for reason, n in _left_out(dataset, used & ~kept, config).items()]
    found += [
        Step("ranked_last", int(np.count_nonzero(in_row_metrics & no_score))),
        Step("unjudged", -int(np.count_nonzero(used & kept & ~dataset.labelled))),
        Step("row_metrics", int(np.count_nonzero(in_row_metrics)), is_sum=True),
    ]
    if dataset.list_user is not None:
        listed = kept & (dataset.list_user >= 0)
        listed &= dataset.labelled | (config.unjudged == "non_relevant")
        found += [
            Step("missing_ids", -int(np.count_nonzero(in_row_metrics & ~listed))),
            Step("unlabelled", int(np.count_nonzero(listed & ~in_row_metrics))),
            Step("lists", int(np.count_nonzero(listed)), is_sum=True),
        ]
    return tuple(step for step in found if step.rows or step.is_sum)


def _left_out(dataset: Dataset, rows: NDArray[np.bool_], config: EvalConfig) -> dict[str, int]:
    """Return why the convention leaves these rows out, in the order in which it treats them."""
    left, found = rows, {}
    for field, is_odd in (("missing_scores", np.isnan), ("infinite_scores", np.isinf)):
        odd = np.zeros(dataset.n_rows, dtype=bool)
        for model, scores in dataset.scores.items():
            odd |= dataset.rows_of(model) & is_odd(scores)
        odd &= left & (getattr(config, field) == "drop")
        found[field] = int(np.count_nonzero(odd))
        left = left & ~odd
    return {**found, "duplicates": int(np.count_nonzero(left))}
