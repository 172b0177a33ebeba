"""Searches outside any page: started, watched, stopped; what was found is kept for a while.

arXiv asks not to be asked the same again within a short time, and a page that is loaded anew does.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn
from uuid import UUID

from core.errors import Cancelled
from core.tools.catalogue import paper_search
from core.tools.envelope import Envelope, enveloped
from core.tools.toolbox import Report, Toolbox
from core.wording import say

AT_ONCE = 4
KEPT = 64
KEPT_SECONDS = 900.0
LOOK = 0.1
"""Seconds between two looks whether a search that waits for its place was stopped."""

MakeBox = Callable[[UUID, threading.Event, Report], Toolbox]


class Searching:
    """A search on its way (`answer` is None) or over. `doing`: what is waited for, a sentence.

    One that is stopped is over at once, whatever a request still waits for.
    """

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.doing = say("Searching…")
        self.answer: Envelope | None = None
        self.cancelled = threading.Event()
        self._began = time.monotonic()
        self._ended = 0.0
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """How long it has taken so far, or took."""
        return (self._ended or time.monotonic()) - self._began

    @property
    def fresh(self) -> bool:
        """Whether it need not be asked again: it runs, or found something a short time ago."""
        if self.answer is None:
            return True
        return self.answer["ok"] and time.monotonic() - self._ended < KEPT_SECONDS

    def stop(self) -> None:
        """Stop it; no effect on one that is over."""
        self.cancelled.set()
        self.end(enveloped(self.given.get("source", "arxiv"), _stopped))

    def end(self, answer: Envelope) -> None:
        """Set the answer, unless it has one."""
        with self._lock:
            if self.answer is None:
                self._ended = time.monotonic()
                self.answer = answer

    def report(self, doing: str) -> None:
        """Say what is waited for now."""
        self.doing = doing


class Searches:
    """Runs `paper_search` in threads. A user's search is found again only by that user."""

    def __init__(self, make_box: MakeBox) -> None:
        self._make_box = make_box
        self._kept: OrderedDict[tuple[UUID, str], Searching] = OrderedDict()
        self._places = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()

    def start(self, user_id: UUID, **given: Any) -> Searching:
        """Begin a search with the arguments of `paper_search`, or return the same one if fresh."""
        key = (user_id, repr(sorted(given.items())))
        with self._lock:
            known = self._kept.get(key)
            if known and known.fresh:
                return known
            search = Searching(given)
            box = self._make_box(user_id, search.cancelled, search.report)
            self._kept[key] = search
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)[1].stop()
        # A daemon: the interpreter waits for all others before it tells anybody that it ends.
        thread = threading.Thread(target=self._run, args=(box, search), name="search", daemon=True)
        thread.start()
        return search

    def close(self) -> None:
        """Stop all searches."""
        with self._lock:
            for search in self._kept.values():
                search.stop()

    def _run(self, box: Toolbox, search: Searching) -> None:
        while not self._places.acquire(timeout=LOOK):
            search.report(say("Waiting until other searches are over…"))
            if search.cancelled.is_set():
                return
        try:
            search.end(paper_search(box, **search.given))
        finally:
            self._places.release()


def _stopped() -> NoReturn:
    raise Cancelled(say("It was stopped."))
