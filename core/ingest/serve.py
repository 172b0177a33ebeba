"""The inside of the reading process: answers requests until its input ends."""

import contextlib
import os
import sys
import threading
import time
from typing import Any, BinaryIO

from core.errors import LecternError, UnreadableFile
from core.ingest.wire import entry_to_json, paper_to_json, receive, send
from core.wording import say

PARENT_CHECK_SECONDS = 1.0


def main(memory: int, parent: int) -> None:
    """Serve on the pipes this process was started with.

    Args:
        memory: the most address space the process may take, in bytes.
        parent: the process id of the starter; when it is gone, so is this process.
    """
    requests, answers = _take_pipes()
    _limit(memory)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    threading.Thread(target=_warm, daemon=True).start()
    while (message := receive(requests)) is not None:
        try:
            _answer(answers, *message)
        except BrokenPipeError:
            return


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the answer pipe to ourselves: what a library prints must not end up in it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, answers


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has none; the time limit still holds
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _leave_with(parent: int) -> None:
    """End the process when its starter has died, even in the middle of a request."""
    while hasattr(os, "getppid"):
        if os.getppid() != parent:
            os._exit(0)
        time.sleep(PARENT_CHECK_SECONDS)


def _warm() -> None:
    """Load the slow imports while nothing is asked yet."""
    import core.ingest.parse  # noqa: F401


def _answer(answers: BinaryIO, request: dict[str, Any], data: bytes) -> None:
    blob = b""
    try:
        header, blob = _do(answers, request, data)
    except LecternError as error:
        header = {"error": error.to_json()}
    except (MemoryError, RecursionError):
        header = {"error": _too_large().to_json()}
    # OCR leaves some hundred megabytes behind: the starter replaces a process that has loaded it
    send(answers, header | {"spent": "rapidocr" in sys.modules}, blob)


def _too_large() -> UnreadableFile:
    return UnreadableFile(
        say("Reading this file takes more memory than allowed."),
        hint=say("Print it to a new PDF, or split it into smaller parts."),
        code="TOO_LARGE",
    )


def _do(answers: BinaryIO, request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    if request["op"] == "check":
        from core.ingest.pdf import open_document

        open_document(data, request["password"]).close()
        return {"result": None}, b""
    if request["op"] == "draw":
        from core.ingest.pdf import draw

        return {"result": None}, draw(data, request["page"], request["scale"])

    def report(stage: str, done: int, total: int) -> None:
        send(answers, {"progress": [stage, done, total]})

    if request["op"] == "bibtex":
        from core.ingest.bibtex import entries_of
        from core.ingest.kinds import decoded

        return {"result": [entry_to_json(entry) for entry in entries_of(decoded(data) or "")]}, b""
    if request["op"] == "text":
        from core.ingest.readers import read_text

        report("reading", 0, 1)
        return {"result": paper_to_json(read_text(data.decode(), request["kind"]))}, b""
    from core.ingest.parse import parse

    parsed = parse(data, request["password"], report)
    return {
        "result": paper_to_json(parsed.paper),
        "copied": parsed.copy is not None,
    }, parsed.copy or b""
