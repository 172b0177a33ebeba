"""Reading files and drawing PDFs in a process of its own, which hostile files may crash or stall.

`Worker` is the app's side; `python -m core.ingest.worker` is the process. The process is started
with subprocess (`spawn` would run the app's entry script again, `fork` would copy its threads),
stays warm between files, is replaced after a crash, an overrun or OCR (whose models it would go on
holding in memory), and ends with its starter.
"""

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import psutil

from core.errors import UnreadableFile
from core.ingest.bibtex import MAX_BYTES as MAX_BIBTEX_BYTES
from core.ingest.bibtex import Entry
from core.ingest.kinds import Kind
from core.ingest.wire import entry_from_json, paper_from_json, receive, send
from core.types import ParsedPaper
from core.wording import say

Report = Callable[[str, int, int], None]
"""Called with a stage ('reading', 'recognising', 'sections', …), how far, and out of how much."""

MAX_BYTES = 200 * 1024 * 1024
PARSE_SECONDS = 60.0
DRAW_SECONDS = 20.0
MEMORY_BYTES = 3 * 1024**3
DRAW_PATIENCE = 0.3
"""A page that waits longer than this, in seconds, for a file being read is drawn by a stand-in."""

_ROOT = Path(__file__).resolve().parents[2]


class _Busy(Exception):
    """The process has been at another request all the time one was willing to wait."""


class Worker:
    """One warm reading process, used by one request at a time. Thread-safe.

    Pages drawn while it reads a long file are drawn by a second process, started for the first.
    """

    def __init__(
        self,
        *,
        parse_seconds: float = PARSE_SECONDS,
        draw_seconds: float = DRAW_SECONDS,
        memory: int = MEMORY_BYTES,
    ) -> None:
        self._parse_seconds = parse_seconds
        self._draw_seconds = draw_seconds
        self._memory = memory
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._stand_in: Worker | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def warm(self) -> None:
        """Start the process, so that the first file does not wait for it."""
        with self._lock:
            self._running()

    def parse(
        self, data: bytes, password: str | None = None, on_progress: Report | None = None
    ) -> tuple[ParsedPaper, bytes | None]:
        """Read a PDF; return the paper and the bytes to draw it from, if not the file's own.

        Those are an unlocked copy of what a password opened, or a repaired one of a damaged file.

        An exception that `on_progress` raises stops the reading and comes through.

        Raises:
            UnreadableFile: with the code of what is wrong; TOO_SLOW after the time limit, DAMAGED
                when the file crashed the process.
        """
        if len(data) > MAX_BYTES:
            raise UnreadableFile(
                say(
                    "The file has {size:d} MB; at most {most:d} MB can be read.",
                    size=len(data) // 2**20,
                    most=MAX_BYTES // 2**20,
                ),
                hint=say("Compress its pictures or split it."),
                code="TOO_LARGE",
            )
        request = {"op": "parse", "password": password}
        header, blob = self._ask(request, data, self._parse_seconds, on_progress)
        return paper_from_json(header["result"]), blob if header["copied"] else None

    def read_text(self, text: str, kind: Kind, on_progress: Report | None = None) -> ParsedPaper:
        """Read HTML, Markdown or plain text.

        Raises:
            UnreadableFile: with the code of what is wrong, see `parse`.
        """
        request = {"op": "text", "kind": kind}
        data = text.encode("utf-8", "replace")
        header, _ = self._ask(request, data, self._parse_seconds, on_progress)
        return paper_from_json(header["result"])

    def read_bibtex(self, data: bytes) -> list[Entry]:
        """Read the entries of a BibTeX file.

        Raises:
            UnreadableFile: NO_ENTRIES, TOO_LARGE, TOO_SLOW.
        """
        if len(data) > MAX_BIBTEX_BYTES:
            raise UnreadableFile(
                say("The BibTeX file is larger than {most:d} MB.", most=MAX_BIBTEX_BYTES // 2**20),
                hint=say("Split it and add the part you need."),
                code="TOO_LARGE",
            )
        header, _ = self._ask({"op": "bibtex"}, data, self._parse_seconds, None)
        return [entry_from_json(row) for row in header["result"]]

    def check(self, data: bytes, password: str | None = None) -> None:
        """Find out whether the password opens the PDF, without reading it.

        Raises:
            UnreadableFile: PASSWORD_NEEDED, PASSWORD_WRONG, DAMAGED, TOO_SLOW.
        """
        self._ask({"op": "check", "password": password}, data, self._draw_seconds, None)

    def render(self, data: bytes, page: int, scale: float = 2.0) -> bytes:
        """Return page `page` (from 1) of an unlocked PDF as PNG at `scale` pixels a point.

        Raises:
            UnreadableFile: DAMAGED, TOO_SLOW.
        """
        request = {"op": "draw", "page": page, "scale": scale}
        try:
            return self._ask(request, data, self._draw_seconds, None, DRAW_PATIENCE)[1]
        except _Busy:
            return self._second()._ask(request, data, self._draw_seconds, None)[1]

    def _second(self) -> "Worker":
        with self._starting:
            if self._stand_in is None:
                self._stand_in = Worker(draw_seconds=self._draw_seconds, memory=self._memory)
            return self._stand_in

    def close(self) -> None:
        """End the process. The worker may be used again afterwards."""
        with self._starting:
            if self._stand_in is not None:
                self._stand_in.close()
                self._stand_in = None
        with self._lock:
            self._stop()

    def _ask(
        self,
        request: dict[str, Any],
        data: bytes,
        seconds: float,
        on_progress: Report | None,
        patience: float = -1,
    ) -> tuple[dict[str, Any], bytes]:
        if not self._lock.acquire(timeout=patience):
            raise _Busy
        try:
            process = self._running()
            watch = _Watch(process, seconds)
            finished = False
            try:
                header, blob = _exchange(process, request, data, on_progress, watch)
                finished = True
            except (EOFError, BrokenPipeError) as error:
                raise _lost(watch.late.is_set(), seconds) from error
            finally:
                watch.over.set()
                if not finished or watch.late.is_set():
                    self._stop()
            if header["spent"]:
                self._stop()
                self._running()
        finally:
            self._lock.release()
        if "error" in header:
            raise UnreadableFile(**header["error"])
        return header, blob

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        # -P: what lies in the current folder must not shadow the libraries of the process
        command = [sys.executable, "-P", "-m", "core.ingest.worker"]
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [*command, str(self._memory), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        self._finalizer = weakref.finalize(self, _end, self._process)
        return self._process

    def _stop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None


def _environment() -> dict[str, str]:
    """Return a small environment: keys and passwords of the app are none of the process's."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "VIRTUAL_ENV")
    small = {name: os.environ[name] for name in kept if name in os.environ}
    return small | {
        "PYTHONPATH": str(_ROOT),
        "PYTHONUTF8": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _exchange(
    process: subprocess.Popen[bytes],
    request: dict[str, Any],
    data: bytes,
    on_progress: Report | None,
    watch: "_Watch",
) -> tuple[dict[str, Any], bytes]:
    """Send a request and return its answer, passing progress on.

    Raises:
        EOFError: the process ended first.
    """
    send(cast(BinaryIO, process.stdin), request, data)
    answers = cast(BinaryIO, process.stdout)
    while (message := receive(answers)) is not None:
        header, blob = message
        if "progress" not in header:
            return header, blob
        if header["progress"][0] == "recognising":
            watch.restart()
        if on_progress is not None:
            on_progress(*header["progress"])
    raise EOFError


class _Watch:
    """Kills a process that is not `over` its request in `seconds`, and sets `late`.

    Each page that OCR has read starts the time anew: a long scan is slow, but alive. On a crowded
    machine, where the process got less than half of a processor, it has three times as long.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self.late, self.over = threading.Event(), threading.Event()
        self._process = process
        self._seconds = seconds
        self._starts = 0
        threading.Thread(target=self._run, daemon=True).start()

    def restart(self) -> None:
        """Begin to count the time again."""
        self._starts += 1

    def _run(self) -> None:
        while not self.over.is_set():
            starts, used = self._starts, _processor_seconds(self._process.pid)
            if self.over.wait(self._seconds) or self._starts != starts:
                continue
            starved = _processor_seconds(self._process.pid) - used < 0.5 * self._seconds
            if starved and (self.over.wait(2 * self._seconds) or self._starts != starts):
                continue
            self.late.set()
            self._process.kill()
            return


def _processor_seconds(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _lost(late: bool, seconds: float) -> UnreadableFile:
    """Return the error for a process that ended in the middle of a request."""
    if late:
        return UnreadableFile(
            say(
                "Reading this file took longer than {seconds:.0f} seconds and was stopped.",
                seconds=seconds,
            ),
            hint=say("Print it to a new PDF, or split it into smaller parts."),
            code="TOO_SLOW",
        )
    return UnreadableFile(
        say("This file crashed the reader; it is damaged or built to do harm."),
        hint=say("Open it in a PDF viewer and save a copy, then add the copy."),
        code="DAMAGED",
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and free its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue


if __name__ == "__main__":
    from core.ingest.serve import main

    main(int(sys.argv[1]), int(sys.argv[2]))
