"""Housekeeping: what may go for good, a while after anybody could have wanted it back."""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg
from sqlalchemy.exc import SQLAlchemyError

from core.db.accounts import AccountStore
from core.db.conversations import ConversationStore
from core.db.papers import PaperStore
from core.db.reviews import ReviewStore
from core.errors import LecternError
from core.memory.readings import ReadingStore

GUEST = timedelta(hours=24)
"""A guest not seen for so long is gone, with all that is theirs."""
UNDO = timedelta(days=7)
"""So long a removed paper, conversation, reading or review can be had back."""
PAUSE_SECONDS = 15 * 60.0

log = logging.getLogger(__name__)


class Housekeeping:
    """A background thread that purges now and then, and gets over a database that is away."""

    def __init__(
        self,
        papers: PaperStore,
        conversations: ConversationStore,
        accounts: AccountStore,
        readings: ReadingStore,
        reviews: ReviewStore,
        *,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._papers = papers
        self._conversations = conversations
        self._accounts = accounts
        self._readings = readings
        self._reviews = reviews
        self._pause_seconds = pause_seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread; does nothing if it runs."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
            self._thread.start()

    def close(self, timeout: float = 10.0) -> None:
        """End after the deletion in hand."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def tidy(self, now: datetime | None = None) -> dict[str, int]:
        """Purge what is due; return how many guests, conversations, readings, reviews and papers went.

        Raises:
            DatabaseDown: the database cannot be used now.
        """
        now = now or datetime.now(UTC)
        tasks: dict[str, Callable[[], int]] = {
            "guests": lambda: self._accounts.purge_guests(now - GUEST),
            "conversations": lambda: self._conversations.purge(now - UNDO),
            "readings": lambda: self._readings.purge(now - UNDO),
            "reviews": lambda: self._reviews.purge(now - UNDO),
            "papers": lambda: self._papers.purge(now - UNDO),
        }
        return {name: 0 if self._stop.is_set() else task() for name, task in tasks.items()}

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                gone = self.tidy()
                if any(gone.values()):
                    log.info("purged %s", ", ".join(f"{n} {what}" for what, n in gone.items()))
            except LecternError as error:
                log.warning("housekeeping has to wait: %s", error.message)
            except (SQLAlchemyError, psycopg.Error):
                log.exception("housekeeping failed")
            self._stop.wait(self._pause_seconds)
