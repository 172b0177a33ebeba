"""How much faster a review fetches four papers at a time, and whether a killed one ends the same.

Eight papers on a loopback arXiv that takes 300 ms for every answer, with the pause between requests
lifted. The papers are made up; search, fetching, reading, writing and the database are the real ones.
"""

import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from core.bench.isolated import isolated_environment, isolated_workbench
from core.review.document import Document, public
from core.review.request import ReviewRequest
from core.types import LOCAL_USER
from core.workbench import Workbench

TOPIC = "measuring the effect of pauses in reading"
PAPERS, DELAY = 8, 0.3
"""Papers, and seconds for every answer."""
PATIENCE = 180.0
_ROOT = Path(__file__).resolve().parents[2]
_NUMBERS = [f"2402.{at:05d}" for at in range(1, PAPERS + 1)]
_FEED = (
    '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" '
    'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><title>q</title>'
    "<opensearch:totalResults>{total}</opensearch:totalResults>{entries}</feed>"
)
_ENTRY = (
    "<entry><id>http://arxiv.org/abs/{number}v1</id><title>Pauses in reading, study {at}</title>"
    "<updated>2024-05-02T10:00:00Z</updated><published>2024-02-01T10:00:00Z</published>"
    "<summary>{abstract}</summary><author><name>Reader Number {at}</name></author>"
    '<category term="cs.HC"/></entry>'
)


def run(seed: int = 7) -> dict[str, Any]:
    """Return seconds four at a time and one at a time, their ratios, and what a kill changes."""
    with _slow_arxiv() as arxiv:
        four, document = _timed(arxiv, 4)
        one, _ = _timed(arxiv, 1)
        killed = _killed(arxiv, document, random.Random(seed).uniform(0.1, four["whole"]))
    return {
        "papers": PAPERS,
        "seconds_per_answer": DELAY,
        "four_at_a_time": four,
        "one_at_a_time": one,
        "fetching_faster": round(one["fetching"] / four["fetching"], 2),
        "whole_faster": round(one["whole"] / four["whole"], 2),
        "killed": killed,
    }


class _Arxiv:
    """What was asked for and when it was answered (seconds)."""

    def __init__(self) -> None:
        self.site = ""
        self.asked: list[str] = []
        self.began: list[float] = []
        self.answered: list[float] = []
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self.asked, self.began, self.answered = [], [], []

    def answer(self, path: str) -> bytes:
        """Return an answer after the delay."""
        with self._lock:
            self.asked.append(path)
            if path.startswith("/html/"):
                self.began.append(time.monotonic())
        time.sleep(DELAY)
        body = _page(path) if path.startswith("/html/") else _feed()
        with self._lock:
            if path.startswith("/html/"):
                self.answered.append(time.monotonic())
        return body


@contextmanager
def _slow_arxiv() -> Iterator[_Arxiv]:
    arxiv = _Arxiv()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer a search or a page."""
            body = arxiv.answer(self.path.partition("?")[0])
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # whoever asked was killed
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep stderr for the bench itself."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    arxiv.site = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield arxiv
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _feed() -> bytes:
    entries = "".join(
        _ENTRY.format(number=number, at=at, abstract=_result(at))
        for at, number in enumerate(_NUMBERS, start=1)
    )
    return _FEED.format(total=PAPERS, entries=entries).encode()


def _result(at: int) -> str:
    return f"We find that pauses of {at} minutes lengthen reading by {3 * at + 1} percent."


def _page(path: str) -> bytes:
    at = int(path.rpartition(".")[2].partition("v")[0])
    text = "Readers were asked to read as they always do, and nothing else was said to them. "
    parts = (
        ("Introduction", "We study pauses in reading. "),
        ("Method", "We use a clock that readers do not see. "),
        ("Results", f"{_result(at)} "),
        ("Limitations", f"The study is limited to {10 * at} readers. "),
        ("Conclusion", "Pauses should be planned. "),
    )
    body = "".join(
        f'<section class="ltx_section"><h2 class="ltx_title ltx_title_section">{head}</h2>'
        f'<div class="ltx_para"><p class="ltx_p">{first}{text * 14}</p></div></section>'
        for head, first in parts
    )
    return (
        '<!DOCTYPE html><html lang="en"><body><article class="ltx_document">'
        f'<h1 class="ltx_title ltx_title_document">Pauses in reading, study {at}</h1>'
        f"{body}</article></body></html>"
    ).encode()


def _settings(arxiv: _Arxiv, at_once: int) -> dict[str, str]:
    return {
        "ARXIV_API_URL": f"{arxiv.site}/api/query",
        "ARXIV_URL": arxiv.site,
        "ARXIV_SECONDS": "0",
        "REVIEW_PAPERS_AT_ONCE": str(at_once),
    }


def _timed(arxiv: _Arxiv, at_once: int) -> tuple[dict[str, float], Document]:
    """Return the seconds of fetching (first request to last answer) and of the whole review."""
    with isolated_workbench(None, **_settings(arxiv, at_once)) as bench:
        bench.worker.warm()
        for embedder in bench.embedders:
            embedder.encode(["warm up"])
        _ = bench.review_runs
        arxiv.forget()
        began = time.monotonic()
        request = ReviewRequest(topic=TOPIC, top=PAPERS, confirm=False)
        document = _finished(bench, str(bench.review_runs.start(LOCAL_USER, request)))
        whole = time.monotonic() - began
    fetching = max(arxiv.answered) - min(arxiv.began)
    return {"fetching": round(fetching, 2), "whole": round(whole, 2)}, document


def _finished(bench: Workbench, number: str) -> Document:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        rows = bench.reviews.reviews(LOCAL_USER)
        row = next((row for row in rows if str(row.id) == number), None)
        if row and not row.working:
            if row.document is None:
                raise RuntimeError(f"the review ended as {row.state}: {row.error}")
            return row.document
        time.sleep(0.02)
    raise RuntimeError("the review did not end in time")


def _killed(arxiv: _Arxiv, undisturbed: Document, after: float) -> dict[str, Any]:
    """Kill a review so many seconds after its search began, and let another process finish it."""
    arxiv.forget()
    with tempfile.TemporaryDirectory() as folder:
        values = _settings(arxiv, 4)
        command = [sys.executable, "-m", "core", "review", TOPIC, "--top", str(PAPERS)]
        process = subprocess.Popen(  # noqa: S603 - our own command
            command,
            cwd=_ROOT,
            env=isolated_environment(Path(folder), **values),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + PATIENCE
        while not arxiv.asked and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with isolated_workbench(Path(folder), **values) as bench:
            _ = bench.review_runs
            (row,) = bench.reviews.reviews(LOCAL_USER)
            document = _finished(bench, str(row.id))
    asked = Counter(arxiv.asked)
    return {
        "after_seconds": round(after, 2),
        "same_text": public(document)["draft"] == public(undisturbed)["draft"],
        "same_references": _plain(document) == _plain(undisturbed),
        "asked_twice": sum(count - 1 for count in asked.values()),
    }


def _plain(document: Document) -> list[tuple[int, str, str]]:
    return [(r["n"], r["title"], r["evidence"]) for r in document["references"]]
