"""How long a reader waits for the pages, and how much memory the app takes: in a real browser.

The app is started as `make run` starts it, on throw-away data. The papers of the large library are
made up (`core.bench.retrieval`); the one whose pages are turned and the sample papers are real.
"""

import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pypdfium2

from core.bench.browser import APP, App, Reader, Switch, chromium
from core.bench.isolated import isolated_environment, isolated_workbench
from core.bench.retrieval import Maker
from core.db.cluster import Cluster
from core.types import LOCAL_USER
from core.workbench import Workbench

SAMPLES = APP.parent / "data" / "samples"
HOME, ASK, LIBRARY, SYSTEM = (
    ".st-key-home h2",
    "[data-testid=stChatInput] textarea",
    "[data-testid=stDataFrame] canvas",
    "[data-testid=stMetricValue]",
)
"""What is on one page only, and the last of it that a reader waits for."""
PAGES = (("ask", ASK), ("library", LIBRARY), ("system", SYSTEM), ("home", HOME))
ANSWERED = re.compile(r"^\d+ steps? ·")
QUESTION = "What is stored with every citation?"
LIGHT, FULL = "use-multilingual", "use-multilingual,all-MiniLM-L6-v2"
CONVERSATIONS = 50

_EMPTY = """import streamlit as st
with st.sidebar:
    st.page_link("empty_app.py", label="One")
    st.page_link("pages/two.py", label="Two")
with st.container(key="{key}"):
    st.header("{key}")
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: the default is what the figures in docs/evaluation.md are of."""

    papers: int = 1_000
    chunks: int = 50
    switches: int = 60
    turns: int = 30
    starts: int = 3
    settle_seconds: float = 5.0
    memory: tuple[tuple[str, str], ...] = (("light", LIGHT), ("full", FULL))


def run(pdf: Path | None = None, size: Size | None = None) -> dict[str, Any]:
    """Measure memory, starts, page switches and page turns; `pdf` is the paper that is read.

    Memory comes first: later this process has read the same files of the models' libraries, and
    what two processes share is divided between them.

    Raises:
        Unavailable: Playwright or Chromium is not here, or the app does not start.
    """
    size = size or Size()
    pdf = pdf or max(SAMPLES.glob("*.pdf"), key=_pages)
    began_with = psutil.getloadavg()[0]
    with chromium() as reader, tempfile.TemporaryDirectory(prefix="lectern-bench-") as temporary:
        folder = Path(temporary)
        report: dict[str, Any] = {
            "pss_mb": {
                name: _memory(reader, folder / name, models, size.settle_seconds)
                for name, models in size.memory
            },
            "first_start_seconds": _start(reader, folder / "first"),
        }
        report |= _library(reader, folder / "library", pdf, size)
        report["empty_switch_ms"] = empty = _empty_switches(reader, folder / "empty", size)
        report["ratio_to_empty"] = round(report["page_switch_ms"]["p50"] / empty["p50"], 2)
    report["load_average"] = [round(began_with, 1), round(psutil.getloadavg()[0], 1)]
    return report


# --- starting -----------------------------------------------------------------------------------


@contextmanager
def _started(reader: Reader, folder: Path) -> Iterator[tuple[App, float]]:
    """Yield an app, and the seconds from starting it to the first paint of Home's own content."""
    began = time.perf_counter()
    with App(isolated_environment(folder / "data"), folder) as app:
        app.wait()
        reader.open(app.address, HOME)
        yield app, round(time.perf_counter() - began, 2)
        reader.page.goto("about:blank")


def _start(reader: Reader, folder: Path) -> float:
    with _started(reader, folder) as (_, seconds):
        return seconds


# --- a large library ----------------------------------------------------------------------------


def _library(reader: Reader, folder: Path, pdf: Path, size: Size) -> dict[str, Any]:
    began = time.perf_counter()
    paper = _fill(folder / "data", pdf, size)
    report: dict[str, Any] = {
        "papers": size.papers + 1,
        "chunks_a_paper": size.chunks,
        "conversations": CONVERSATIONS,
        "load_seconds": round(time.perf_counter() - began, 1),
    }
    starts = [_start(reader, folder) for _ in range(size.starts - 1)]
    with _started(reader, folder) as (app, seconds):
        starts.append(seconds)
        report["cold_start_seconds"] = statistics.median(starts)
        report["cold_starts"] = starts
        report |= _switches(reader, app, size)
        pages = _pages(pdf)
        turned = _turns(reader, app, paper, min(size.turns, pages - 1))
        report["page_turn_ms"] = turned | {"file": pdf.name, "pages": pages}
    return report


def _fill(folder: Path, pdf: Path, size: Size) -> str:
    """Make the library; return the id of the one paper in it that is real."""
    with isolated_workbench(folder) as bench:
        maker = Maker(bench.embedders)
        for _ in range(size.papers):
            maker.add(bench, size.chunks)
        _converse(bench)
        paper = bench.ingestor.ingest(LOCAL_USER, pdf.name, pdf.read_bytes())
        bench.backfill.fill()
        return str(paper.paper_id)


def _converse(bench: Workbench) -> None:
    number, connection = bench.conversations.claim_runner()
    with connection:
        for asked in range(CONVERSATIONS):
            turn = bench.conversations.begin_turn(
                LOCAL_USER, None, f"{QUESTION} ({asked})", runner=number
            )
            bench.conversations.end_turn(turn.id, "finished", answer="It is stored.")


def _switches(reader: Reader, app: App, size: Size) -> dict[str, Any]:
    """Go round the four pages; the first round is not counted."""
    reader.open(app.address, HOME)
    times: dict[str, list[Switch]] = {name: [] for name, _ in PAGES}
    for number, (name, wanted) in enumerate(islice(cycle(PAGES), len(PAGES) + size.switches)):
        reader.rest()
        switch = reader.click(_side_bar("" if name == "home" else name), wanted)
        if number >= len(PAGES):
            times[name].append(switch)
    everything = [switch for of_page in times.values() for switch in of_page]
    return {
        "page_switch_ms": _summary([switch.there for switch in everything])
        | {name: _summary([switch.there for switch in found]) for name, found in times.items()},
        "page_complete_ms": _summary([switch.settled for switch in everything])
        | {name: _summary([switch.settled for switch in found]) for name, found in times.items()},
    }


def _side_bar(path: str) -> str:
    """Return the selector of the side bar's link to a page."""
    return f'[data-testid=stSidebarUserContent] a[href="{path}"]'


def _turns(reader: Reader, app: App, paper: str, turns: int) -> dict[str, Any]:
    """Turn page after page of the real paper, from its first."""
    reader.open(f"{app.address}/library?paper={paper}&page=1", _page(1))
    times = []
    for number in range(2, 2 + turns):
        reader.rest()
        times.append(reader.click('.lectern-page [aria-label="Next page"]', _page(number)).there)
    return _summary(times)


def _page(number: int) -> str:
    return f'.lectern-page img[alt^="Page {number} of"]'


# --- the yardstick ------------------------------------------------------------------------------


def _empty_switches(reader: Reader, folder: Path, size: Size) -> dict[str, Any]:
    """Do the same in an app of two pages with nothing on them but a heading."""
    (folder / "pages").mkdir(parents=True)
    script = folder / "empty_app.py"
    script.write_text(_EMPTY.format(key="one"))
    (folder / "pages" / "two.py").write_text(_EMPTY.format(key="two"))
    times = []
    with App(isolated_environment(folder), folder, script) as app:
        app.wait()
        reader.open(app.address, ".st-key-one h2")
        for number in range(size.switches):
            reader.rest()
            path, key = ("two", "two") if number % 2 == 0 else ("", "one")
            times.append(reader.click(_side_bar(path), f".st-key-{key} h2").there)
        reader.page.goto("about:blank")
    return _summary(times)


# --- memory -------------------------------------------------------------------------------------


def _memory(reader: Reader, folder: Path, models: str, settle_seconds: float) -> dict[str, Any]:
    """Add the sample papers and ask in the browser; return the memory of all processes then."""
    data = folder / "data"
    with App(isolated_environment(data, EMBEDDING_MODELS=models), folder) as app:
        app.wait()
        reader.open(app.address, HOME)
        reader.page.get_by_role("button", name="Try with the sample papers").click()
        reader.page.get_by_role("button", name=QUESTION).click()
        reader.page.get_by_text(ANSWERED).first.wait_for(state="visible")
        reader.rest()
        _wait_for_vectors(data, models)
        time.sleep(settle_seconds)
        found = _pss(app, data)
        reader.page.goto("about:blank")
    return found


def _wait_for_vectors(data: Path, models: str) -> None:
    """Return when the app has filled in the vectors of all models."""
    with isolated_workbench(data, EMBEDDING_MODELS=models) as bench:
        for name in models.split(","):
            while bench.papers.missing_vectors(name, 1):
                time.sleep(0.5)


def _pss(app: App, data: Path) -> dict[str, Any]:
    """Return megabytes by process: shared pages are divided among those who share them."""
    server = psutil.Process(app.pid)
    postgres = psutil.Process(Cluster(data / "postgres").pid())
    parts = {
        "server": [server],
        "reading_worker": server.children(recursive=True),
        "postgres": [postgres, *postgres.children(recursive=True)],
    }
    found = {name: _megabytes(processes) for name, processes in parts.items()}
    return {"total": sum(found.values()), **found}


def _megabytes(processes: Sequence[psutil.Process]) -> int:
    return round(sum(int(process.memory_full_info().pss) for process in processes) / 2**20)


def _summary(milliseconds: Sequence[float]) -> dict[str, Any]:
    p50, p95 = np.percentile(milliseconds, (50, 95))
    return {"n": len(milliseconds), "p50": round(p50), "p95": round(p95)}


def _pages(pdf: Path) -> int:
    with pypdfium2.PdfDocument(pdf) as document:
        return len(document)
