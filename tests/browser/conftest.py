"""One server and one browser for all browser tests; the first request the server ever gets is a cold deep link."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.served import FLAGS, Visit, chromium, server

COLD = {"d": "sample:healthy_clicks", "tm": "score", "tv": "0.42", "lang": "zh"}


@dataclass(frozen=True)
class FirstSight:
    """What the first visitor of a deep link saw on a server that had never run the app."""

    title: str
    lang: str
    menu: list[str]
    context: str
    answer: str
    query: dict[str, str]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        why = "Chromium is not installed: apt-get install chromium, or set CHROMIUM to its path"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, FirstSight]]:
    log: Path = tmp_path_factory.mktemp("server") / "server.log"
    with server(log) as address:
        with Visit(browser, address) as visit:
            visit.open("Threshold", **COLD)
            expect(visit.page.locator("html")).to_have_attribute("lang", "zh-CN")
            sidebar = visit.page.get_by_test_id("stSidebar")
            first = FirstSight(
                visit.title.inner_text(),
                str(visit.page.evaluate("document.documentElement.lang")),
                sidebar.get_by_role("link").all_inner_texts(),
                visit.context_bar.inner_text(),
                visit.answer.inner_text(),
                visit.query,
            )
        yield address, first
        assert "Traceback" not in log.read_text(errors="replace")


@pytest.fixture
def first_sight(served: tuple[str, FirstSight]) -> FirstSight:
    return served[1]


@pytest.fixture
def visit(browser: Browser, served: tuple[str, FirstSight]) -> Iterator[Callable[..., Visit]]:
    """Return a function that starts a fresh session; all are checked for outside requests and page errors."""
    opened: list[Visit] = []

    def start(**how: Any) -> Visit:
        opened.append(Visit(browser, served[0], **how))
        return opened[-1]

    yield start
    for one in opened:
        one.__exit__(None, None, None)
