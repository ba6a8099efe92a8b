"""Every check of a folder of cases is a test of its own. The folder: `RECMETRICS_CASES`, else this one.

Optional checks that fail are reported as expected failures, apart from the rest. Of alternatives (`one_of`) those that
the product offers must pass, and at least one must.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

from recmetrics.errors import RecmetricsError
from tests.cases.answers import NotOfferedError, config_of
from tests.cases.case_files import Question, chosen_folder, questions
from tests.cases.expectations import complaints

ALL = tuple(questions(chosen_folder()))
REQUIRED = [question for question in ALL if not question.is_optional and question.group is None]
OPTIONAL = [question for question in ALL if question.is_optional]
ALTERNATIVES = [question for question in ALL if not question.is_optional and question.group is not None]


def groups() -> dict[tuple[str, str], list[Question]]:
    """Return (case, label) → the alternatives under that label."""
    found: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for question in ALTERNATIVES:
        found[(question.case["id"], str(question.group))].append(question)
    return found


def is_offered(question: Question) -> bool:
    """Whether the product has the convention that an alternative asks for."""
    try:
        config_of(question)
    except RecmetricsError as refusal:
        return refusal.kind != "invalid_config"
    return True


def name_of(question: Question) -> str:
    return question.name


@pytest.mark.parametrize("question", [*REQUIRED, *ALTERNATIVES], ids=name_of)
def test_a_check_is_met(question: Question) -> None:
    if question.group is not None and not is_offered(question):
        pytest.xfail(f"not offered, and it need not be: {dict(question.config)}")
    assert complaints(question) == []


def test_at_least_one_of_each_group_of_alternatives_is_offered_and_met() -> None:
    unmet = [
        key for key, asked in groups().items() if not any(is_offered(one) and complaints(one) == [] for one in asked)
    ]
    assert unmet == []


@pytest.mark.parametrize("question", OPTIONAL, ids=name_of)
def test_an_optional_check_is_met(question: Question) -> None:
    try:
        found = complaints(question)
    except NotOfferedError as missing:
        pytest.xfail(f"optional and not offered: {missing}")
    if found:
        pytest.xfail(f"optional: {found}")


def test_the_folder_holds_cases() -> None:
    assert ALL
