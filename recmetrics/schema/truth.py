"""A second file beside the scored rows: judged pairs (truth), or training interactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recmetrics.config import EvalConfig
from recmetrics.dataset import MISSING, Issue, TrainPairs, Truth, pair_codes
from recmetrics.errors import RecmetricsError
from recmetrics.schema.cells import decoded
from recmetrics.schema.guess import Guess, missing_column
from recmetrics.schema.ids import Ids, merge, normalised, read_ids
from recmetrics.schema.joining import Rows
from recmetrics.schema.labels import read_labels, refuse_unlabelled
from recmetrics.schema.times import read_days
from recmetrics.source import Source
from recmetrics.text import N_

N_IDS_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of one file in their own vocabulary; grade float64[m], NaN = empty cell."""

    source: Source
    user: Ids
    item: Ids
    grade: NDArray[np.float64]
    coding: Mapping[str, float] | None
    issues: tuple[Issue, ...]


def _pair_ids(source: Source, guess: Guess, role: str, config: EvalConfig) -> Ids:
    column = guess.column(role)
    if column is None:
        raise missing_column(source, role)
    return read_ids(source.table.column(column), column, source.name, config.id_spelling)


def read_truth(source: Source, guess: Guess, label_map: Mapping[str, float] | None, config: EvalConfig) -> Judged:
    """Read judged pairs; a file without a label column lists relevant items, each of grade 1.

    Raises
    ------
    RecmetricsError
        `no_user_column`, `no_item_column`, `label_mapping_needed`, `no_label_column` when every grade is missing.
    """
    user, item = _pair_ids(source, guess, "user", config), _pair_ids(source, guess, "item", config)
    issues = source.issues + user.issues + item.issues
    column = guess.column("label")
    if column is None:
        template = N_("{file} has no label column: each of its {count} pairs counts as relevant with grade 1.")
        facts = {"file": source.name, "count": source.n_rows}
        told = Issue("truth_without_labels", source.n_rows, template, facts)
        return Judged(source, user, item, np.ones(source.n_rows), None, (*issues, told))
    labels = read_labels(
        source.table.column(column),
        column,
        source.name,
        label_map,
        source.decimal_sign,
        is_judgment=source.kind == "qrels",
    )
    refuse_unlabelled(labels, column, source.name)
    return Judged(source, user, item, labels.values, labels.coding, issues + labels.issues)


def add_truth(rows: Rows, judged: Judged) -> tuple[Rows, Truth]:
    """Return the rows with the labels of the truth, in a vocabulary with the truth's ids, and all judged pairs.

    Raises
    ------
    RecmetricsError
        `ids_do_not_match` when no user is in both; `duplicates` when the rows' own labels contradict the truth.
    """
    user, item = _row_ids(rows, "user"), _row_ids(rows, "item")
    _refuse_strangers(user.texts, judged.user.texts, judged.source.name)
    users, (row_user, truth_user) = merge([user, judged.user])
    items, (row_item, truth_item) = merge([item, judged.item])
    keep = (truth_user >= 0) & (truth_item >= 0) & ~np.isnan(judged.grade)
    truth = Truth(truth_user[keep], truth_item[keep], judged.grade[keep])
    found = _grades_of(row_user, row_item, truth, len(items))
    own = rows.label
    if own is not None:
        _refuse_contradiction(own, found, rows, judged.source.name)
        truth = _with_own(truth, row_user, row_item, own, np.isnan(found))
        found = np.where(np.isnan(found), own, found)
    issues = (*judged.issues, *_audit(users, row_user, truth_user, keep, truth, judged, len(items)))
    joined = replace(
        rows, users=users, items=items, user=row_user, item=row_item, label=found, issues=rows.issues + issues
    )
    return joined, truth


def _row_ids(rows: Rows, role: str) -> Ids:
    codes = getattr(rows, role)
    if codes is None:
        raise RecmetricsError(
            f"no_{role}_column",
            N_("The scored rows have no {role} column, so the truth cannot be joined. Name it: --columns {role}=NAME."),
            role=role,
        )
    return Ids(codes, getattr(rows, f"{role}s"))


def _refuse_strangers(ours: NDArray[np.object_], theirs: NDArray[np.object_], file: str) -> None:
    if len(ours) == 0 or len(theirs) == 0 or not set(ours).isdisjoint(theirs):
        return
    alike = not {normalised(text) for text in ours}.isdisjoint(normalised(text) for text in theirs)
    template = (
        N_(
            "No user is in both files: the scored rows have {ours}, {file} has {theirs}. They would meet without "
            "blanks, letter case, leading zeros and '.0': write ids the same way in both files, "
            "or say id_spelling=normalised."
        )
        if alike
        else N_(
            "No user is in both files: the scored rows have {ours}, {file} has {theirs}. "
            "Check that the files belong together and that the user columns are the right ones."
        )
    )
    raise RecmetricsError("ids_do_not_match", template, file=file, ours=_shown(ours), theirs=_shown(theirs))


def _shown(texts: NDArray[np.object_]) -> str:
    return ", ".join(f"'{str(text)[:40]}'" for text in texts[:N_IDS_SHOWN])


def _grades_of(user: NDArray[np.int32], item: NDArray[np.int32], truth: Truth, n_items: int) -> NDArray[np.float64]:
    """Return the grade of every row, NaN where it was not judged; the first judgment stands."""
    found = np.full(len(user), np.nan)
    if len(truth.user) == 0:
        return found
    judged = pair_codes(truth.user, truth.item, n_items)
    order = np.argsort(judged, kind="stable")
    pair = pair_codes(user, item, n_items)
    at = np.minimum(np.searchsorted(judged[order], pair), len(order) - 1)
    known = (judged[order][at] == pair) & (user >= 0) & (item >= 0)
    found[known] = truth.grade[order[at[known]]]
    return found


def _refuse_contradiction(own: NDArray[np.float64], found: NDArray[np.float64], rows: Rows, file: str) -> None:
    apart = np.flatnonzero(~np.isnan(own) & ~np.isnan(found) & (own != found))
    if len(apart):
        raise RecmetricsError(
            "duplicates",
            N_(
                "{count} rows have a label that {file} contradicts (rows {rows}: {ours} against {theirs}). "
                "Leave the label column out of the scored file, or mend one of them."
            ),
            count=len(apart),
            file=file,
            rows=", ".join(str(rows.row_number[row]) for row in apart[:3]),
            ours=", ".join(f"{own[row]:g}" for row in apart[:3]),
            theirs=", ".join(f"{found[row]:g}" for row in apart[:3]),
        )


def _with_own(
    truth: Truth, user: NDArray[np.int32], item: NDArray[np.int32], own: NDArray[np.float64], new: NDArray[np.bool_]
) -> Truth:
    """Return the truth together with the labelled rows that it did not judge."""
    extra = new & ~np.isnan(own) & (user >= 0) & (item >= 0)
    return Truth(
        np.concatenate([truth.user, user[extra]]),
        np.concatenate([truth.item, item[extra]]),
        np.concatenate([truth.grade, own[extra]]),
    )


def _audit(
    users: NDArray[np.object_],
    row_user: NDArray[np.int32],
    truth_user: NDArray[np.int32],
    keep: NDArray[np.bool_],
    truth: Truth,
    judged: Judged,
    n_items: int,
) -> list[Issue]:
    found = []
    facts: dict[str, Any] = {"file": judged.source.name}
    n_dropped = int((~keep).sum())
    if n_dropped:
        template = N_("{file}: {count} judgments lack a user, an item or a grade and were left out.")
        told = {**facts, "count": n_dropped}
        found.append(Issue("truth_incomplete", n_dropped, template, told, severity="dropped"))
    pair = pair_codes(truth.user, truth.item, n_items)
    n_repeated = len(pair) - len(np.unique(pair))
    if n_repeated:
        template = N_("{file}: {count} user–item pairs are judged more than once.")
        told = {**facts, "count": n_repeated}
        found.append(Issue("truth_duplicates", n_repeated, template, told, severity="doubt", asks="truth_duplicates"))
    found.extend(_nearly_met(users, row_user, truth_user, facts))
    in_run, in_truth = (np.zeros(len(users), dtype=bool) for _ in range(2))
    in_run[row_user[row_user >= 0]] = True
    in_truth[truth_user[truth_user >= 0]] = True
    only_run, only_truth = int((in_run & ~in_truth).sum()), int((in_truth & ~in_run).sum())
    if only_run or only_truth:
        template = N_(
            "{only_in_run} users are in the scored rows only and {only_in_truth} in {file} only; {in_both} are in both."
        )
        both = int((in_run & in_truth).sum())
        told = {**facts, "only_in_run": only_run, "only_in_truth": only_truth, "in_both": both}
        found.append(Issue("query_sets_differ", only_run + only_truth, template, told, severity="doubt"))
    return found


def _nearly_met(
    users: NDArray[np.object_], row_user: NDArray[np.int32], truth_user: NDArray[np.int32], facts: Mapping[str, Any]
) -> list[Issue]:
    """Ask about users of one file that have no partner in the other as written, and one by their normalised ids."""
    in_run, in_truth = (np.unique(codes[codes >= 0]) for codes in (row_user, truth_user))
    alone, strangers = np.setdiff1d(in_run, in_truth), np.setdiff1d(in_truth, in_run)
    theirs = {normalised(text): text for text in users[strangers]}
    pairs = [(text, theirs[bare]) for text in users[alone] if (bare := normalised(text)) in theirs]
    if not pairs:
        return []
    template = N_(
        "{count} users of the scored rows meet a user of {file} only when blanks, letter case, leading zeros and '.0' "
        "do not count ({examples}). Are they the same?"
    )
    shown = "; ".join(f"'{ours[:40]}', '{theirs[:40]}'" for ours, theirs in pairs[:3])
    told = {**facts, "count": len(pairs), "examples": shown}
    return [Issue("ids_nearly_meet", len(pairs), template, told, severity="doubt", asks="id_spelling")]


def read_train(source: Source, guess: Guess, rows: Rows, config: EvalConfig) -> tuple[TrainPairs, tuple[Issue, ...]]:
    """Return the training interactions in the codes of the rows; items that the rows lack are `MISSING`."""
    user, item = _pair_ids(source, guess, "user", config), _pair_ids(source, guess, "item", config)
    issues = source.issues + user.issues + item.issues
    label, time = guess.column("label"), guess.column("time")
    grades = None
    if label is not None:
        read = read_labels(source.table.column(label), label, source.name, None, source.decimal_sign, is_judgment=True)
        grades = read.values
    days = None
    if time is not None:
        days, told = read_days(
            decoded(source.table.column(time), time, source.name), time, source.name, config.time_unit
        )
        issues = issues + told
    who = _codes_in(user, rows.users, numbered=True)
    pairs = TrainPairs(who, _codes_in(item, rows.items), grades, days, n_users=len(user.texts))
    return pairs, issues


def _codes_in(ids: Ids, vocabulary: NDArray[np.object_], *, numbered: bool = False) -> NDArray[np.int32]:
    """Return codes of a vocabulary; an id it lacks is `MISSING` or, `numbered`, the next free code."""
    index = {text: code for code, text in enumerate(vocabulary)}
    unknown = (text for text in ids.texts if text not in index)
    beyond = {text: len(index) + i for i, text in enumerate(unknown)} if numbered else {}
    own = np.array([*(index.get(text, beyond.get(text, MISSING)) for text in ids.texts), MISSING], dtype=np.int32)
    return own[ids.codes]
