"""The review as DBOS workflows: each step is done once, and a crash goes on where it stopped.

`find` searches; `write` reads the chosen papers (each in a `read` of its own, four at a time unless set), then
drafts, checks and mends. What a reader sees is in the tables of reviews; DBOS keeps which steps are
done. Workflows and steps are functions of the module, as DBOS wants them: what they work with is
`desk`, which `ReviewRuns` fills before DBOS is launched.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

from core.db.reviews import ReviewPaper, ReviewRow
from core.errors import BadInput, Cancelled, LecternError
from core.evidence.language import is_chinese
from core.review import intake
from core.review.candidates import candidates
from core.review.check import ROUNDS
from core.review.parts import Parts
from core.review.request import ReviewRequest
from core.review.writing import Writer
from core.wording import say

FIND, WRITE, READ = "review_find", "review_write", "review_read"
REVIEWS, PAPERS = "reviews", "review-papers"
"""Queues: of whole reviews, and of papers (one partition a review)."""
AT_ONCE = 4
"""Reviews worked on at a time."""
LOOK_SECONDS = 0.5
"""Between two looks whether the reader wants a stop."""

log = logging.getLogger(__name__)
Value = TypeVar("Value")


class Desk:
    """What the workflows of this process work with; `closing` is set when the process ends."""

    def __init__(self) -> None:
        self.parts: Parts | None = None
        self.closing = threading.Event()
        self._free = threading.Condition()
        self._steps = 0

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count a step while it runs."""
        with self._free:
            self._steps += 1
        try:
            yield
        finally:
            with self._free:
                self._steps -= 1
                self._free.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until no step runs; return whether none does."""
        with self._free:
            return self._free.wait_for(lambda: not self._steps, seconds)

    def laid(self) -> Parts:
        """Return the parts.

        Raises:
            RuntimeError: a workflow runs where nothing was prepared for it; a mistake of ours.
        """
        if self.parts is None:
            raise RuntimeError("no parts for the workflows of reviews")
        return self.parts


desk = Desk()


class Interrupted(BaseException):
    """The process ends: nothing may be noted of this step, which is done again by the next."""


def workflow_id(review_id: UUID, run: int, what: str) -> str:
    """Return the id of a workflow: the same work has the same id, so it is begun only once."""
    return f"{review_id}:{run}:{what}"


# --- workflows ------------------------------------------------------------------------------------


@DBOS.workflow(name=FIND)
def find(review: str, run: int) -> str:
    """Search, then wait for the reader's choice or go on to write."""
    outcome = search(review, run)
    if outcome == "writing":
        with SetWorkflowID(workflow_id(UUID(review), run, "write")):
            DBOS.enqueue_workflow(REVIEWS, write, review, run)
    return outcome


@DBOS.workflow(name=WRITE)
def write(review: str, run: int) -> str:
    """Read the chosen papers and write the review."""
    positions, began = begin(review, run)
    handles = []
    for position in positions:
        with (
            SetWorkflowID(workflow_id(UUID(review), run, f"read:{position}")),
            SetEnqueueOptions(queue_partition_key=review),
        ):
            handles.append(DBOS.enqueue_workflow(PAPERS, read, review, run, position))
    for handle in handles:
        handle.get_result()
    outcome = all_read(review, run)
    data: dict[str, Any] = {}
    if outcome == "go":
        outcome, data = draft(review, run)
    if outcome == "go":
        outcome, data = check(review, run, data)
    for number in range(1, ROUNDS + 1):
        if outcome == "go":
            outcome, data = repair(review, run, number, data)
    return finish(review, run, began, data) if outcome == "go" else outcome


@DBOS.workflow(name=READ)
def read(review: str, run: int, position: int) -> str:
    """Fetch a paper, put it into the library and summarise it."""
    name = fetch(review, run, position)
    if name is None:
        return "failed"
    if not take_in(review, run, position, name):
        return "failed"
    return compress(review, run, position)


# --- steps ----------------------------------------------------------------------------------------


@DBOS.step()
def search(review: str, run: int) -> str:
    """Store what is found; return the state the review is then in."""

    def work(owner: UUID, row: ReviewRow, stop: threading.Event) -> str:
        parts, request = desk.laid(), ReviewRequest.model_validate(row.request)
        with _stage(row, run, "search"):
            found = candidates(parts, owner, row, stop)
            parts.reviews.set_papers(row.id, found, request.top)
        if request.confirm:
            going, state = parts.reviews.pass_on(row.id, "choosing"), "choosing"
        else:
            going, state = parts.reviews.pass_on(row.id, "writing"), "writing"
        if not going:
            raise Cancelled(say("It was stopped."))
        return state

    return _guarded(review, work) or "over"


@DBOS.step()
def begin(review: str, run: int) -> tuple[list[int], float]:
    """Return the papers to be read, by position, and when the writing began (seconds)."""
    owned = desk.laid().reviews.owner(UUID(review))
    if owned is None:
        return [], time.time()
    owner, row = owned
    parts = desk.laid()
    box = parts.toolbox(owner, threading.Event())
    todo = []
    for paper in row.chosen:
        if paper.state != "done" or not intake.in_library(box, paper.paper_id):
            parts.reviews.set_paper(row.id, paper.position, state="waiting")
            todo.append(paper.position)
    parts.reviews.set_stage(row.id, _begun(run, "read"))
    return todo, time.time()


@DBOS.step()
def fetch(review: str, run: int, position: int) -> str | None:
    """Return the name of the file that keeps the full text, '' for none, None when it failed."""

    def work(owner: UUID, row: ReviewRow, stop: threading.Event) -> str:
        parts, paper = desk.laid(), row.papers[position]
        box = parts.toolbox(owner, stop)
        if intake.in_library(box, _known(paper)):
            return ""
        parts.reviews.set_paper(row.id, position, state="fetching")
        return intake.fetch(parts, box, paper.found)

    return _of_paper(review, position, work)


@DBOS.step()
def take_in(review: str, run: int, position: int, name: str) -> bool:
    """Put a paper into the library; return whether it is there."""

    def work(owner: UUID, row: ReviewRow, stop: threading.Event) -> bool:
        parts, paper = desk.laid(), row.papers[position]
        box = parts.toolbox(owner, stop)
        known = _known(paper)
        if known and intake.in_library(box, known):
            got = paper.got or "library"
            parts.reviews.set_paper(row.id, position, state="reading", paper_id=known, got=got)
            return True
        parts.reviews.set_paper(row.id, position, state="reading")
        paper_id, got = intake.take_in(parts, box, paper.found, name)
        parts.reviews.set_paper(row.id, position, paper_id=paper_id, got=got)
        return True

    return bool(_of_paper(review, position, work))


@DBOS.step()
def compress(review: str, run: int, position: int) -> str:
    """Summarise a paper; return whether it is done or failed."""

    def work(owner: UUID, row: ReviewRow, stop: threading.Event) -> str:
        parts, paper = desk.laid(), row.papers[position]
        language = "zh" if is_chinese(row.topic) else "en"
        if paper.paper_id is None:
            raise BadInput(say("It is no longer in the library."))
        notes = intake.notes_of(parts.toolbox(owner, stop), paper.paper_id, language)
        parts.reviews.set_paper(row.id, position, notes=notes, state="done", error=None)
        return "done"

    return _of_paper(review, position, work) or "failed"


@DBOS.step()
def all_read(review: str, run: int) -> str:
    """End the stage of reading; return whether to go on."""

    def work(owner: UUID, row: ReviewRow, stop: threading.Event) -> str:
        done = sum(paper.state == "done" for paper in row.chosen)
        began = next((s for s in row.stages if (s["name"], s["run"]) == ("read", run)), None)
        stage = began or _begun(run, "read")
        total = len(row.chosen)
        detail = say("{done:d} of {total:d} papers", done=done, total=total)
        desk.laid().reviews.set_stage(row.id, _done(stage, detail))
        return "go"

    return _guarded(review, work) or "over"


@DBOS.step()
def draft(review: str, run: int) -> tuple[str, dict[str, Any]]:
    """Write the first draft."""
    return _writing(review, run, "draft", lambda writer: writer.draft())


@DBOS.step()
def check(review: str, run: int, data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Check the citations."""
    return _writing(review, run, "check", lambda writer: writer.check(data))


@DBOS.step()
def repair(review: str, run: int, number: int, data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Mend what does not hold."""
    return _writing(review, run, f"repair {number}", lambda writer: writer.repair(data, number))


@DBOS.step()
def finish(review: str, run: int, began: float, data: dict[str, Any]) -> str:
    """Store the document."""

    def work(owner: UUID, row: ReviewRow, stop: threading.Event) -> str:
        writer = Writer(desk.laid(), owner, row, stop)
        document = writer.finish(data, time.time() - began)
        desk.laid().reviews.end(row.id, "finished", document=document)
        return "finished"

    return _guarded(review, work) or "over"


# --- what steps have in common --------------------------------------------------------------------

Work = Callable[[UUID, ReviewRow, threading.Event], Value]


def _guarded(review: str, work: Work[Value]) -> Value | None:
    """Do the work of a step; what goes wrong ends the review, and is told on its page."""
    parts = desk.laid()
    owned = parts.reviews.owner(UUID(review))
    if owned is None:  # removed: should it be had back, it is one that was stopped
        parts.reviews.end(UUID(review), "stopped")
        return None
    owner, row = owned
    try:
        with _watched(row.id) as stop:
            if stop.is_set():
                raise Cancelled(say("It was stopped."))
            return work(owner, row, stop)
    except Cancelled:
        _unless_closing()
        parts.reviews.end(row.id, "stopped")
    except LecternError as error:
        _unless_closing()
        parts.reviews.end(row.id, "failed", error=error.to_json())
    except Exception:  # the last boundary of the step: the reader is told, the log has the rest
        _unless_closing()
        log.exception("a review broke")
        parts.reviews.end(row.id, "failed", error=_OWN_MISTAKE.to_json())
    return None


def _of_paper(review: str, position: int, work: Work[Value]) -> Value | None:
    """Do the work of a step for one paper; what goes wrong fails this paper and no other."""
    parts = desk.laid()
    owned = parts.reviews.owner(UUID(review))
    if owned is None:
        return None
    owner, row = owned
    began = time.monotonic()
    values: dict[str, Any] = {}
    try:
        with _watched(row.id) as stop:
            if stop.is_set():
                raise Cancelled(say("It was stopped."))
            return work(owner, row, stop)
    except Cancelled:
        _unless_closing()
        values = {"state": "waiting"}
    except LecternError as error:
        _unless_closing()
        values = {"state": "failed", "error": error.to_json()}
    except Exception:  # the last boundary of the step: the reader is told, the log has the rest
        _unless_closing()
        log.exception("a paper of a review broke")
        values = {"state": "failed", "error": _OWN_MISTAKE.to_json()}
    finally:
        if not desk.closing.is_set():
            spent = (row.papers[position].seconds or 0.0) + time.monotonic() - began
            parts.reviews.set_paper(row.id, position, seconds=round(spent, 2), **values)
    return None


def _known(paper: ReviewPaper) -> UUID | None:
    """Return the id under which a paper was in the library when it was found, or read before."""
    named = paper.found.get("paper_id")
    return paper.paper_id or (UUID(named) if named else None)


_OWN_MISTAKE = LecternError(
    say("Lectern made a mistake in this review."),
    hint=say("Go on to try again; the details are in the log."),
)


def _writing(
    review: str, run: int, name: str, step: Callable[[Writer], dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    def work(owner: UUID, row: ReviewRow, stop: threading.Event) -> dict[str, Any]:
        with _stage(row, run, name):
            return step(Writer(desk.laid(), owner, row, stop))

    data = _guarded(review, work)
    return ("over", {}) if data is None else ("go", data)


@contextmanager
def _watched(review_id: UUID) -> Iterator[threading.Event]:
    """Yield an event that is set once the reader wants a stop or the process ends."""
    stop, over = threading.Event(), threading.Event()
    reviews = desk.laid().reviews
    if desk.closing.is_set() or reviews.stopping(review_id):
        stop.set()

    def watch() -> None:
        looked = time.monotonic()
        while not over.wait(0.1) and not stop.is_set():
            if desk.closing.is_set():
                stop.set()
            elif time.monotonic() - looked > LOOK_SECONDS:
                looked = time.monotonic()
                try:
                    if reviews.stopping(review_id):
                        stop.set()
                except LecternError as error:
                    log.warning("cannot see whether a review is to stop: %s", error.message)

    watcher = threading.Thread(target=watch, name="review-stop", daemon=True)
    watcher.start()
    try:
        with desk.at_work():
            yield stop
    finally:
        over.set()


def _unless_closing() -> None:
    """Raise when the process ends: what broke off is no result."""
    if desk.closing.is_set():
        raise Interrupted


@contextmanager
def _stage(row: ReviewRow, run: int, name: str) -> Iterator[None]:
    began = _begun(run, name)
    desk.laid().reviews.set_stage(row.id, began)
    yield
    desk.laid().reviews.set_stage(row.id, _done(began, ""))


def _begun(run: int, name: str) -> dict[str, Any]:
    return {"name": name, "run": run, "began": time.time(), "seconds": None, "detail": ""}


def _done(stage: dict[str, Any], detail: str) -> dict[str, Any]:
    return {**stage, "seconds": round(time.time() - stage["began"], 2), "detail": detail}
