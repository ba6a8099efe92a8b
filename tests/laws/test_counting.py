"""Who is counted, archives, and parts against the whole: metric specification §8, laws 15, 19 and 21."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from recmetrics.config import EvalConfig
from recmetrics.dataset import Dataset
from recmetrics.engines import packing
from recmetrics.evaluate import make_tables, per_user
from recmetrics.metrics.names import asked_for
from tests.laws.measured import CONFIG, N_CASES, measured, numbers, rearranged, rich, same
from tests.laws.small_data import case, cases
from tests.metric_strings import all_strings
from tests.oracle import Case

# 15. Who is counted -------------------------------------------------------------------------------------------------


def in_table() -> list[str]:
    """Return the strings of means over users, which share one set of users."""
    return [text for text in all_strings("ranking") if not text.startswith("gauc")]


def test_all_means_of_one_table_are_over_the_same_users_and_the_rest_is_accounted_for() -> None:
    for given in cases(3):
        judged = {user for user, _, _ in given.truth or []}
        for base, missing, barren in itertools.product(
            ["truth", "truth_and_run", "run"], ["zero", "skip"], ["skip", "zero", "one"]
        ):
            config = CONFIG.replace(user_base=base, users_missing_from_run=missing, users_without_relevant=barren)
            found = list(measured(rich(given), in_table(), config).values())
            assert len({value.n_users for value in found}) == 1
            if base == "truth":
                assert {(value.n_users or 0) + sum(value.skipped.values()) for value in found} == {len(judged)}


def test_the_mean_with_users_without_relevant_items_as_zero_stands_beside() -> None:
    for given in cases(N_CASES):
        counted = measured(rich(given), in_table())
        zeros = numbers(rich(given), in_table(), CONFIG.replace(users_without_relevant="zero"))
        for text, value in counted.items():
            without = value.skipped.get("without_relevant", 0)
            if value.value is None or not without or "average=of_means" in text:
                continue
            assert value.n_users is not None
            expected = value.value * value.n_users / (value.n_users + without)
            assert value.zero_filled == pytest.approx(expected, abs=1e-12), text
            assert zeros[text] == pytest.approx(expected, abs=1e-12), text


# 19. Archives -------------------------------------------------------------------------------------------------------


def test_an_archived_convention_gives_the_identical_numbers() -> None:
    config = EvalConfig(ks=(3,), ties="worst", gain="exp2", threshold=0.3, gauc_weight="pairs", catalogue_size=20)
    again = EvalConfig.from_json(config.to_json())
    data = rich(case(3))
    same(numbers(data, all_strings(), config), numbers(data, all_strings(), again))


# 21. Blocks and parts -----------------------------------------------------------------------------------------------


def by_user(given: Case) -> Case:
    """Return the case with each user's rows together, as files mostly are."""
    return Case(sorted(given.rows, key=lambda row: given.users.index(row[0])), given.truth)


@pytest.mark.parametrize("chunk", [1, 2, 5, 1000])
def test_any_chunk_size_gives_the_identical_result(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    strings = all_strings("ranking", "exposure")
    grouped = [rich(by_user(given)) for given in cases(N_CASES)]
    whole = [numbers(data, strings) for data in grouped]
    monkeypatch.setattr(packing, "CHUNK_ROWS", chunk)
    for data, expected in zip(grouped, whole, strict=True):
        same(expected, numbers(data, strings))


def test_grouped_and_scattered_rows_give_the_identical_result() -> None:
    strings = [text for text in all_strings("ranking", "exposure") if "file_order" not in text]
    for seed, given in enumerate(cases(N_CASES)):
        data = rich(by_user(given))
        other = rearranged(data, np.random.default_rng(seed).permutation(data.n_rows))
        same(numbers(data, strings), numbers(other, strings))


def apart(given: Case) -> Iterator[tuple[str, Case]]:
    for user in given.users:
        rows = [row for row in given.rows if row[0] == user]
        yield user, Case(rows, [one for one in given.truth or [] if one[0] == user])


def values_of(data: Dataset, text: str, made: dict[EvalConfig, Any]) -> Any:
    """Return the value of every user, from tables made for the options of the string; `made` keeps them."""
    under = asked_for(text, CONFIG).fixed(CONFIG)
    if under not in made:
        made[under] = make_tables(data, under, "score")
    return per_user(made[under], under, text)


def test_users_evaluated_apart_and_together_agree() -> None:
    strings = in_table()
    for given in cases(6):
        data, made = given.dataset(), {}
        together = {text: values_of(data, text, made).values for text in strings}
        for user, one in apart(given):
            alone, made_alone = one.dataset(), {}
            at = data.users.tolist().index(user)
            for text in strings if one.rows else ():
                (value,) = values_of(alone, text, made_alone).values
                assert value == together[text][at] or (math.isnan(value) and math.isnan(together[text][at])), text


def test_the_mean_is_that_of_the_users_counted() -> None:
    strings = [text for text in in_table() if "of_means" not in text]
    for given in cases(N_CASES):
        data, made = given.dataset(), {}
        for text, found in measured(data, strings).items():
            users = values_of(data, text, made)
            assert users.counted.sum() == found.n_users
            assert np.isnan(users.values[~users.counted]).all()
            if found.value is not None:
                assert found.value == pytest.approx(users.values[users.counted].mean(), abs=1e-12), text
