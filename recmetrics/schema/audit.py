"""The account of the rows: what has to be said about ids and pairs, and which rows cannot be used for anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.dataset import Account, Dataset, Issue, pair_codes
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
    template = N_("{count} rows lack an id ({user} the user, {item} the item; rows {rows}). They form no group.")
    return (Issue("missing_ids", len(rows), template, facts, severity="dropped"),)


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
        "{count} rows repeat a user–item pair ({pairs}); {conflicting} pairs have different labels. "
        "Say which row to keep before anything is computed."
    )
    return (Issue("duplicates", len(surplus), template, facts, examples, "doubt"),)


def _n_conflicting(dataset: Dataset) -> int:
    """Return the number of pairs with more than one label; a missing label contradicts none."""
    assert dataset.user is not None
    assert dataset.item is not None
    keyed = np.flatnonzero((dataset.user >= 0) & (dataset.item >= 0) & ~np.isnan(dataset.label))
    pair = pair_codes(dataset.user[keyed], dataset.item[keyed], len(dataset.items))
    label = dataset.label[keyed]
    order = np.lexsort((label, pair))
    pair, label = pair[order], label[order]
    changes = (pair[1:] == pair[:-1]) & (label[1:] != label[:-1])
    return len(np.unique(pair[1:][changes]))


def account(dataset: Dataset) -> Account:
    """Return rows read, rows with a label (or a truth beside them) and a score, and the others by reason.

    A row is counted under the first reason that fits, so that the sums add up. Duplicates and infinite scores are for
    the convention to treat and are not dropped here.
    """
    no_score = np.ones(dataset.n_rows, dtype=bool)
    for model, scores in dataset.scores.items():
        no_score &= np.isnan(scores) | ~dataset.rows_of(model)
    no_label: NDArray[np.bool_] = ~no_score & np.isnan(dataset.label) & (dataset.truth is None)
    dropped = {"missing_scores": int(no_score.sum()), "missing_labels": int(no_label.sum())}
    return Account(
        read=dataset.n_rows,
        used=dataset.n_rows - sum(dropped.values()),
        dropped={reason: count for reason, count in dropped.items() if count},
    )
