"""The app in a real browser: server, a page that lets nothing out, and Streamlit's test ids, which stand only here."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Page, Route, expect

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SECONDS_TO_START = 60
QUIET = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    if (!app || app.dataset.testScriptState !== "notRunning") window.lastBusy = performance.now();
    return performance.now() - window.lastBusy > 300;
}"""
SLOW = 30_000  # milliseconds; a busy machine is no fault of the app
expect.set_options(timeout=SLOW)


def chromium() -> str | None:
    """Return the distribution's browser: $CHROMIUM, else `chromium` on the path."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def server(log: Path) -> Iterator[str]:
    """Start the app on a free port of this machine and return its address; the log explains a failure."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {"port": port, "address": "127.0.0.1", "headless": "true", "fileWatcherType": "none"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += [word for name, value in options.items() for word in (f"--server.{name}", str(value))]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
        try:
            _wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the app did not start:\n{log.read_text(errors='replace')}")


class Visit:
    """A fresh browser session on the app that records everything it must not do."""

    def __init__(self, browser: Browser, address: str, *, locale: str = "en-US", width: int = 1280, dark: bool = False):
        self.address = address
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            locale=locale,
            timezone_id="UTC",
            color_scheme="dark" if dark else "light",
            permissions=["clipboard-write", "clipboard-read"],
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(SLOW)
        self.page.route("**/*", self._guard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def __enter__(self) -> Visit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.context.close()
        if kind is None:
            assert self.outside == [], "nothing may leave this machine"
            assert self.errors == [], "no script may fail on the page"

    def _guard(self, route: Route) -> None:
        url = route.request.url
        if url.startswith((self.address, "data:", "blob:")):
            route.continue_()
        else:
            self.outside.append(url)
            route.abort()

    # Going somewhere

    def open(self, page: str = "", **query: str) -> Visit:
        """Open a page by its address, as a link would."""
        said = "&".join(f"{key}={value}" for key, value in {"v": "1", **query}.items())
        self.page.goto(f"{self.address}/{page}?{said}")
        return self.settled()

    def menu(self, name: str) -> Visit:
        """Follow the menu."""
        self.page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
        expect(self.title).to_have_text(name)
        return self.settled()

    def settled(self) -> Visit:
        """Wait until the script has run and nothing failed."""
        expect(self.title).to_be_visible()
        # Quiet for a while: between two runs the app is idle for a moment, and what is typed then meets elements that
        # the second run replaces.
        self.page.evaluate("window.lastBusy = performance.now()")
        self.page.wait_for_function(QUIET, polling=50)
        expect(self.page.get_by_test_id("stException")).to_have_count(0)
        return self

    # What is there

    @property
    def title(self) -> Any:
        return self.page.get_by_role("heading", level=1)

    @property
    def answer(self) -> Any:
        """The sentence that answers the page's question."""
        return self.page.locator(".st-key-answer").first

    @property
    def matrix(self) -> Any:
        return self.page.locator(".st-key-matrix table")

    @property
    def context_bar(self) -> Any:
        return self.page.locator(".st-key-context")

    @property
    def query(self) -> dict[str, str]:
        """The address bar's query."""
        return {key: values[0] for key, values in parse_qs(urlsplit(self.page.url).query).items()}

    def said(self, key: str, value: str) -> None:
        """Wait until the address bar says it."""
        expect(self.page).to_have_url(re.compile(rf"[?&]{key}={re.escape(value)}(&|$)"))

    def counts(self) -> list[str]:
        """The four cells of the confusion matrix, as printed: TP, FN, FP, TN."""
        expect(self.matrix).to_be_visible()
        return [cell.strip() for cell in self.matrix.locator("td strong").all_inner_texts()]

    def cut_off(self) -> list[str]:
        """Words of buttons of the page that stand beyond the right edge, where nobody sees them."""
        script = """() => [...document.querySelectorAll('[data-testid="stMain"] button')]
            .filter((button) => button.getBoundingClientRect().right > innerWidth + 1)
            .map((button) => button.innerText)"""
        return list(self.page.evaluate(script))

    def choose(self, label: str, option: str) -> Visit:
        """Choose in a drop-down."""
        self.page.get_by_role("combobox", name=re.compile(label)).click()
        self.page.get_by_role("option", name=option, exact=True).click()
        return self.settled()

    def language(self, name: str) -> Visit:
        self.page.get_by_test_id("stSidebar").get_by_text(name, exact=True).click()
        return self.settled()

    def upload(self, name: str, content: bytes) -> Visit:
        """Give the first uploader of the page a file."""
        field = self.page.locator('[data-testid="stFileUploader"] input[type="file"]').first
        field.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
        return self.settled()
