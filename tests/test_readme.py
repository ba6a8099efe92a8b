"""The README tells the truth: its commands and its Python lines are run, and print what it shows."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from recmetrics.cli import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def console_examples() -> list[tuple[str, str]]:
    """Return (command, shown output) of every `$ …` in a console block; `...` stands for what is left out."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("command", "shown"), console_examples(), ids=lambda value: value.splitlines()[0][:60])
def test_a_command_prints_what_the_readme_shows(
    command: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *arguments = shlex.split(command.partition("; echo $?")[0])
    assert name == "recmetrics"
    code = run(arguments)
    printed = capsys.readouterr()
    got = printed.out + printed.err + (f"{code}\n" if "; echo $?" in command else "")
    assert doctest.OutputChecker().check_output(shown, got, LOOSE), got


def test_the_python_lines_give_what_the_readme_shows() -> None:
    (block,) = blocks("python")
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=LOOSE).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_there_are_two_set_up_commands_and_they_name_files_that_are_here() -> None:
    set_up = [line for block in blocks("bash") for line in block.splitlines() if "python3 -m venv" in line]
    assert len(set_up) == 2
    for line in set_up:
        assert "-c constraints.txt" in line
        named = [word for word in shlex.split(line) if re.search(r"\.(csv|py|txt)$", word)]
        assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_files_that_the_readme_links_are_here() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
