"""The real app, started as a reader starts it, in a real browser."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests.fixtures.database import TEMPLATE, rename

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
expect.set_options(timeout=60_000)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[str]:
    """Yield the address of an app with an empty library of its own."""
    folder = tmp_path_factory.mktemp("lectern data")
    with running_app(folder) as address:
        yield address


@pytest.fixture(scope="session", autouse=True)
def one_database_server(database_server: str) -> None:
    """Let all apps use the server of the session: to start one each takes seconds."""
    running_app.server = database_server


class running_app:  # reads as a statement: with running_app(folder) as address
    """The Streamlit server on a free port, its log beside its data.

    Its database is one of the session's server, named after the folder; a test of the server that
    the app starts itself sets `DATABASE_URL=""`.
    """

    server = ""

    def __init__(
        self, folder: Path, script: str = "streamlit_app.py", *options: str, **environment: str
    ) -> None:
        self.script, self.options = script, options
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = folder / "app.log"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "LECTERN_DATA_DIR": str(folder / "data"),
            "DATABASE_URL": database_of(folder),
            **environment,
        }
        self.environment.setdefault("EMBEDDING_MODELS", "use-multilingual")

    def __enter__(self) -> str:
        command = [sys.executable, "-m", "streamlit", "run", self.script]
        command += ["--server.address", "127.0.0.1", "--server.port", str(self.port), *self.options]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        _wait_for(f"{self.address}/_stcore/health", self.process, self.log)
        return self.address

    def __exit__(self, *error: object) -> None:
        if error[0]:
            sys.stdout.write(f"the app's log:\n{self.log.read_text(errors='replace')[-4000:]}")
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


def database_of(folder: Path) -> str:
    """Return the URL of the database that belongs to a folder, made when it is first asked for.

    Without a server of the session (pictures for the README) the app is to start its own.
    """
    if not running_app.server:
        return ""
    name = f"app_{sha256(str(folder).encode()).hexdigest()[:16]}"
    with psycopg.connect(running_app.server, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if known.fetchone() is None:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    return rename(running_app.server, name)


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Tell what the pages showed when a test failed: the machine it failed on may be far away."""
    report = yield
    browser = getattr(item, "funcargs", {}).get("browser")
    if report.failed and call.when == "call" and browser is not None:
        for context in browser.contexts:
            for shown in context.pages:
                report.sections.append((f"page {shown.url}", _text_of(shown)))
    return report


def _text_of(page: Page) -> str:
    try:
        return page.get_by_role("main").first.inner_text(timeout=2_000)[-12_000:]
    except PlaywrightError as error:
        return f"not to be read: {error.message}"


@pytest.fixture
def page(browser) -> Iterator[Page]:
    page = new_page(browser)
    yield page
    page.context.close()


def new_page(browser: Browser, **settings: Any) -> Page:
    """Open a page in a context of its own: another reader, or the same one on another computer."""
    size = ViewportSize(width=1280, height=900)
    context = browser.new_context(**{"viewport": size, "locale": "en-US", **settings})
    page = context.new_page()
    page.set_default_timeout(60_000)
    return page


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the app did not start:\n{log.read_text()[-3000:]}")
