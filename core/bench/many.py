"""What a 400-page file costs, and a hundred files put in line at once: seconds and memory.

Memory is resident memory at its peak, looked at twenty times a second: of this process, which
embeds and stores, and of the worker, which reads. PostgreSQL's is not counted.
"""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pypdfium2

from core.bench.isolated import isolated_workbench
from core.ingest.queue import OVER
from core.types import LOCAL_USER
from core.workbench import Workbench

PAGES = 400
FILES = 100
SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"
LOOK_SECONDS = 0.05


def run(pdf: Path, pages: int = PAGES, files: int = FILES) -> dict[str, Any]:
    """Add a file of so many of the book's pages, then so many small files, one of them broken."""
    with isolated_workbench() as bench:
        _add(bench, [(SAMPLES / "fusion.pdf").read_bytes()])  # imports and models are loaded now
        papers = sorted(path.read_bytes() for path in SAMPLES.glob("*.pdf"))
        many = [papers[n % len(papers)] + b"\n%% copy %d\n" % n for n in range(files - 1)]
        return {
            "big": {"pages": pages, **_add(bench, [repeated(pdf, pages)])},
            "many": {"files": files, **_add(bench, [b"%PDF-1.7 broken", *many])},
        }


def repeated(pdf: Path, pages: int) -> bytes:
    """Return a PDF of so many pages: the file's, over and over."""
    out = pypdfium2.PdfDocument.new()
    with pypdfium2.PdfDocument(pdf) as source:
        while len(out) < pages:
            out.import_pages(source, list(range(min(len(source), pages - len(out)))))
        written = io.BytesIO()
        out.save(written)
        out.close()
    return written.getvalue()


def _add(bench: Workbench, files: list[bytes]) -> dict[str, Any]:
    began = time.perf_counter()
    with _watched() as peak:
        for number, data in enumerate(files):
            bench.add_queue.submit(LOCAL_USER, f"{number}.pdf", data)
        while any(entry.state not in OVER for entry in bench.add_queue.entries(LOCAL_USER)):
            time.sleep(LOOK_SECONDS)
    entries = bench.add_queue.entries(LOCAL_USER)
    for entry in entries:
        bench.add_queue.dismiss(LOCAL_USER, entry.id)
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "added": sum(entry.state == "done" for entry in entries),
        "failed": [entry.code for entry in entries if entry.state == "failed"],
        "peak_app_mb": round(peak.app / 2**20),
        "peak_worker_mb": round(peak.worker / 2**20),
    }


@dataclass
class _Peak:
    app: int = 0
    worker: int = 0


@contextmanager
def _watched() -> Iterator[_Peak]:
    """Yield the peaks of this process and of its readers, which go on rising until the end."""
    peak, over = _Peak(), threading.Event()
    watch = threading.Thread(target=_watch, args=(peak, over), daemon=True)
    watch.start()
    try:
        yield peak
    finally:
        over.set()
        watch.join()


def _watch(peak: _Peak, over: threading.Event) -> None:
    me = psutil.Process()
    while not over.wait(LOOK_SECONDS):
        peak.app = max(peak.app, int(me.memory_info().rss))
        readers = [_resident(child) for child in me.children() if _is_reader(child)]
        peak.worker = max(peak.worker, sum(readers))


def _is_reader(process: psutil.Process) -> bool:
    try:
        return "core.ingest.worker" in process.cmdline()
    except psutil.Error:
        return False


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
