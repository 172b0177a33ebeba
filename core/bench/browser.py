"""The real app as a process of its own, and a real browser to look at it with a stop-watch."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from core.errors import Unavailable

if TYPE_CHECKING:
    from playwright.sync_api import Page

APP = Path(__file__).resolve().parents[2] / "streamlit_app.py"
PATIENCE = 120.0
"""Seconds after which a page that has not come, or an app that has not started, never will."""
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
_HINT = "It needs `pip install -r requirements-dev.txt` and a Chromium on the PATH."

# Clicks and looks at every frame: `there` is when the wanted element is painted, `settled` when
# the app's script has ended as well. The element must not have been there before.
_STOP_WATCH = """async ([link, wanted, patience]) => {
  const shown = () => {
    const found = document.querySelector(wanted)
    const drawn = found && (found.tagName !== "IMG" || (found.complete && found.naturalWidth > 0))
    return drawn && found.getClientRects().length > 0
  }
  const settled = () => document.querySelector('[data-test-script-state="notRunning"]')
  const frame = () => new Promise(requestAnimationFrame)
  if (shown()) throw new Error(`${wanted} is there before the click`)
  const clicked = document.querySelector(link)
  const began = performance.now()
  const elapsed = () => performance.now() - began
  const late = () => { if (elapsed() > patience) throw new Error(`${wanted} does not come`) }
  clicked.click()
  while (!shown()) { late(); await frame() }
  const there = elapsed()
  while (!settled()) { late(); await frame() }
  return [there, elapsed()]
}"""


class Switch(NamedTuple):
    """Milliseconds from a click: until what it opens is visible, until the page is complete."""

    there: float
    settled: float


class App:
    """A Streamlit app on a free port of this computer. A context manager: ends it."""

    def __init__(self, environment: Mapping[str, str], folder: Path, script: Path = APP) -> None:
        """Start the process; `folder` is the one it runs in and logs to.

        It is not the repository's, so that a `.env` file there does not count.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "app.log"
        port = _free_port()
        self.address = f"http://127.0.0.1:{port}"
        self._port = port
        options = ["--server.address", "127.0.0.1", "--server.port", str(port)]
        options += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - the app itself
                [sys.executable, "-m", "streamlit", "run", str(script), *options],
                cwd=folder,
                env=dict(environment),
                stdout=log,
                stderr=log,
            )

    @property
    def pid(self) -> int:
        """The number of the server's process."""
        return self._process.pid

    def wait(self) -> None:
        """Return as soon as the server listens.

        Raises:
            Unavailable: it ends instead, or takes longer than PATIENCE.
        """
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self._port), 1).close()
                return
            except OSError:
                time.sleep(0.01)
        log = self._log.read_text(errors="replace")[-1000:]
        raise Unavailable("The app did not start.", hint=log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()


class Reader:
    """Somebody in front of a browser window."""

    def __init__(self, page: "Page") -> None:
        self.page = page

    def open(self, address: str, wanted: str) -> None:
        """Go to an address and wait until `wanted`, a CSS selector, is visible."""
        self.page.goto(address, wait_until="commit")
        self.see(wanted)

    def see(self, wanted: str) -> None:
        """Wait until `wanted` is visible."""
        self.page.locator(wanted).first.wait_for(state="visible")

    def rest(self) -> None:
        """Wait until the page is complete, and then a little, as people do."""
        self.see('[data-test-script-state="notRunning"]')
        self.page.wait_for_timeout(200)

    def click(self, link: str, wanted: str) -> Switch:
        """Click `link` and say how long it is until `wanted` is painted."""
        times: Any = self.page.evaluate(_STOP_WATCH, [link, wanted, 1000 * PATIENCE])
        return Switch(*times)


@contextmanager
def chromium() -> Iterator[Reader]:
    """Yield a reader with a browser that runs already.

    Raises:
        Unavailable: Playwright or Chromium is not here.
    """
    try:
        from playwright.sync_api import Error, ViewportSize, sync_playwright
    except ImportError as error:
        raise Unavailable("This bench needs Playwright.", hint=_HINT) from error
    found = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=list(_FLAGS))
        except Error as error:
            raise Unavailable("This bench needs Chromium.", hint=_HINT) from error
        size = ViewportSize(width=1280, height=900)
        page = browser.new_context(viewport=size, locale="en-US").new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto("about:blank")
        yield Reader(page)
        browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
