"""Every sentence that a person reads exists in both languages, whole and well printed."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from recmetrics.results import REASONS
from recmetrics.text import LANGUAGES, LOCALES

ROOT = Path(__file__).parents[1]
# Functions that mark a message → places of the context, of the text and of the plural text among their arguments.
MARKS = {"_": (None, 0, None), "N_": (None, 0, None), "_n": (None, 0, 1), "_p": (0, 1, None)}
Key = tuple[str | None, str]  # context or None, msgid (of a plural: the singular)

HAN = "\u4e00-\u9fff"
HALF_WIDTH = re.compile(f"[{HAN}][,:;!?()][{HAN}]|[{HAN}][(]|[)][{HAN}]|[{HAN}][,:;!?]\\s*$|[{HAN}][,:;!?]\\s+[{HAN}]")
GLUED = re.compile(f"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]")


def sources() -> list[Path]:
    return sorted([*(ROOT / "recmetrics").rglob("*.py"), ROOT / "app.py", *(ROOT / "pages").glob("*.py")])


@cache
def marked_calls() -> tuple[ast.Call, ...]:
    """Return every call of a marking function in the code."""
    found = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and called(node) in MARKS and node.args:
                found.append(node)
    return tuple(found)


def called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


@cache
def extracted() -> dict[Key, tuple[str, ...]]:
    """Return every marked message of the code with its English text or texts."""
    found: dict[Key, tuple[str, ...]] = {}
    for call in marked_calls():
        context, *texts = [None if i is None else literal(call.args, i) for i in MARKS[called(call)]]
        if texts[0] is not None:  # a variable: its value was marked with N_ where it was written
            found[(context, texts[0])] = tuple(text for text in texts if text is not None)
    return found


def literal(arguments: list[ast.expr], i: int) -> str | None:
    argument = arguments[i] if i < len(arguments) else None
    return argument.value if isinstance(argument, ast.Constant) else None


@cache
def catalogue(language: str) -> dict[str, tuple[Message, ...]]:
    """Return file name → messages of one language; the header is none."""
    found = {}
    for path in sorted((LOCALES / language / "LC_MESSAGES").glob("*.po")):
        with path.open("rb") as file:
            found[path.name] = tuple(message for message in read_po(file, locale=language) if message.id)
    return found


def key_of(message: Message) -> Key:
    return message.context, message.id[0] if isinstance(message.id, tuple) else message.id


def forms(message: Message) -> tuple[str, ...]:
    return message.string if isinstance(message.string, tuple) else (message.string,)


def messages(language: str) -> Iterator[Message]:
    for found in catalogue(language).values():
        yield from found


def keyed() -> dict[str, str]:
    """Return the texts that exist in English too, by key: `check.RM-501.title`."""
    return {message.id: message.string for message in messages("en")}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_message_stands_twice_in_the_files_of_a_language(language: str) -> None:
    counted = Counter(key_of(message) for message in messages(language))
    assert [key for key, n in counted.items() if n > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_empty_or_fuzzy(language: str) -> None:
    assert [key_of(message) for message in messages(language) if message.fuzzy or not all(forms(message))] == []


def test_every_sentence_of_the_code_has_a_chinese_translation() -> None:
    translated = {key_of(message) for message in messages("zh")}
    wanted = set(extracted()) | {(None, reason) for reason in REASONS}
    missing = sorted(map(str, wanted - translated))
    assert not missing, "\n".join(missing)


def test_no_chinese_translation_is_left_over_from_a_sentence_that_is_gone() -> None:
    wanted = set(extracted()) | {(None, reason) for reason in REASONS} | {(None, key) for key in keyed()}
    left = {name: [key_of(m) for m in found if key_of(m) not in wanted] for name, found in catalogue("zh").items()}
    assert {name: keys for name, keys in left.items() if keys} == {}


def test_keyed_texts_exist_in_english_and_in_chinese() -> None:
    chinese = {message.id for message in messages("zh") if message.context is None}
    assert sorted(set(keyed()) - chinese) == []


def test_a_translation_has_the_placeholders_of_its_english_text() -> None:
    different = {}
    for message in messages("zh"):
        key = key_of(message)
        english = extracted().get(key, (keyed().get(key[1], key[1]),))
        wanted = set().union(*(placeholders(text) for text in english))
        if any(placeholders(form) != wanted for form in forms(message)):
            different[key] = (sorted(wanted), [sorted(placeholders(form)) for form in forms(message)])
    assert different == {}


def test_placeholders_are_names_and_never_numbers_or_expressions() -> None:
    texts = [text for found in extracted().values() for text in found] + list(keyed().values())
    assert [text for text in texts for name in placeholders(text) if not re.fullmatch("[a-z][a-z0-9_]*", name)] == []


def test_chinese_texts_use_full_width_punctuation_between_chinese_characters() -> None:
    assert [form for message in messages("zh") for form in forms(message) if HALF_WIDTH.search(form)] == []


def test_chinese_texts_put_a_space_between_chinese_and_latin_letters_or_digits() -> None:
    assert [form for message in messages("zh") for form in forms(message) if GLUED.search(form)] == []


def test_no_message_is_glued_together_before_it_is_translated() -> None:
    glued = (ast.JoinedStr, ast.BinOp)
    assert [ast.unparse(call) for call in marked_calls() if any(isinstance(arg, glued) for arg in call.args)] == []


def test_texts_looked_up_by_a_literal_key_exist() -> None:
    asked = set()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "content":
                asked |= {arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)}
    assert sorted(asked - set(keyed())) == []


def test_the_marks_that_the_extraction_looks_for_are_found_in_the_code() -> None:
    assert (None, "There is no {kind} called '{name}'. The nearest is '{nearest}'; known: {known}.") in extracted()
    assert len(extracted()) > 100
