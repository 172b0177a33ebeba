"""Filling in, behind the user's back, the vectors that papers still lack."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from core.db.papers import PaperStore
from core.errors import LecternError
from core.ingest.chunking import embeddable
from core.models.embed import Embedder

_LOCK_KEY = 0x4C65_6374_6261_636B
"""Of the advisory lock that lets one process at a time fill in ('Lectback')."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Filling:
    """How a model stands: `done` vectors were filled in by this process; `reason` if it failed."""

    state: Literal["idle", "working", "failed"] = "idle"
    done: int = 0
    reason: str = ""


class Backfill:
    """A background thread that embeds what is missing, model by model, in small batches.

    It keeps no list of its own: what is missing is asked of the store, so a crash loses at most a
    batch. An advisory lock lets only one of several processes work; another takes over when it
    ends. A model that fails is left alone for `retry_seconds`, its reason shown, and the others go
    on.
    """

    def __init__(
        self,
        engine: Engine,
        store: PaperStore,
        embedders: Sequence[Embedder],
        *,
        batch: int = 32,
        idle_seconds: float = 10.0,
        retry_seconds: float = 120.0,
        on_filled: Callable[[], None] | None = None,
        refresh: Callable[[Callable[[], bool]], int] | None = None,
    ) -> None:
        self._engine = engine
        self._store = store
        self._embedders = tuple(embedders)
        self._batch = batch
        self._idle_seconds = idle_seconds
        self._retry_seconds = retry_seconds
        self._on_filled = on_filled
        self._refresh = refresh
        self._lock = threading.Lock()
        self._states = {embedder.name: Filling() for embedder in embedders}
        self._awake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread; does nothing if it runs."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="backfill", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Look for work now: a paper has been added."""
        self._awake.set()

    def stop(self, timeout: float = 30.0) -> bool:
        """End after the batch in hand; return whether the thread has ended within `timeout`."""
        self._stop.set()
        self._awake.set()
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def states(self) -> dict[str, Filling]:
        """Return how each model stands."""
        with self._lock:
            return dict(self._states)

    def fill(self) -> int:
        """Fill in all that is missing now, in this thread; return how many vectors were stored.

        Returns 0 at once when another process is at it.
        """
        filled = 0
        with self._only_one() as mine:
            if not mine:
                return 0
            for embedder in self._embedders:
                filled += self._fill_model(embedder)
            if self._refresh is not None:
                filled += self._refresh(self._stop.is_set)
        return filled

    def _run(self) -> None:
        wait = 0.0
        while not self._stop.is_set():
            self._awake.wait(wait)
            self._awake.clear()
            if self._stop.is_set():
                return
            try:
                self.fill()
            except (LecternError, SQLAlchemyError) as error:
                logger.warning("filling in vectors has to wait: %s", error)
            failed = any(state.state == "failed" for state in self.states().values())
            wait = self._retry_seconds if failed else self._idle_seconds

    def _fill_model(self, embedder: Embedder) -> int:
        filled = 0
        try:
            while not self._stop.is_set():
                missing = self._store.missing_vectors(embedder.name, self._batch)
                if not missing:
                    break
                self._set(embedder.name, "working")
                vectors = embedder.encode([embeddable(chunk) for _, chunk in missing])
                self._store.add_vectors(embedder.name, [number for number, _ in missing], vectors)
                filled += len(missing)
                self._set(embedder.name, "working", len(missing))
        except (LecternError, RuntimeError, ValueError, OSError, MemoryError) as error:
            reason = error.message if isinstance(error, LecternError) else str(error)
            logger.warning("the model %s fails: %s", embedder.name, reason)
            self._set(embedder.name, "failed", reason=reason or type(error).__name__)
            return filled
        self._set(embedder.name, "idle")
        if filled and self._on_filled is not None:
            self._on_filled()
        return filled

    def _set(
        self,
        name: str,
        state: Literal["idle", "working", "failed"],
        more: int = 0,
        reason: str = "",
    ) -> None:
        with self._lock:
            done = self._states[name].done + more
            self._states[name] = Filling(state, done, reason)

    @contextmanager
    def _only_one(self) -> Iterator[bool]:
        """Hold the lock that one process can have; yield whether it is ours."""
        with self._engine.connect() as connection:
            values = {"key": _LOCK_KEY}
            mine = bool(
                connection.execute(text("SELECT pg_try_advisory_lock(:key)"), values).scalar()
            )
            connection.commit()
            try:
                yield mine
            finally:
                if mine:
                    connection.execute(text("SELECT pg_advisory_unlock(:key)"), values)
                    connection.commit()
