"""Files that wait to be added: read one after the other, outside any page, so no click loses one."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Literal
from uuid import UUID, uuid4

from core.errors import Cancelled, LecternError
from core.ingest.pipeline import Ingestor, Progress, display_name
from core.wording import say

log = logging.getLogger(__name__)

State = Literal["waiting", "reading", "done", "failed", "stopped"]
LAST_SECONDS = 10.0
"""What the file that is being read gets to stop in when the queue is closed."""
KEPT_BYTES = 256 * 1024 * 1024
"""So much of files that want a password is kept in memory; who has more chooses them again."""
OVER: tuple[State, ...] = ("done", "failed", "stopped")

_PASSWORD_CODES = ("PASSWORD_NEEDED", "PASSWORD_WRONG")


@dataclass(frozen=True, slots=True)
class Adding:
    """One file on its way.

    `title`, `pages` and `duplicate` are known once done; `code`, `message` and `hint` if it failed.
    `locked`: it failed for its password only, and `AddQueue.unlock` can try another.
    """

    id: UUID
    user_id: UUID
    name: str
    state: State = "waiting"
    progress: Progress | None = None
    title: str = ""
    pages: int = 0
    duplicate: bool = False
    code: str = ""
    message: str = ""
    hint: str = ""
    locked: bool = False


class AddQueue:
    """Adds files in the background. What it knows of a file lasts until it is dismissed."""

    def __init__(self, ingestor: Ingestor) -> None:
        self._ingestor = ingestor
        self._entries: dict[UUID, Adding] = {}
        self._stopped: set[UUID] = set()
        self._locked: dict[UUID, bytes] = {}
        self._lock = threading.Lock()
        self._line: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # A daemon: the interpreter waits for all others before it tells anybody that it ends.
        self._thread = threading.Thread(target=self._work, name="adding", daemon=True)
        self._thread.start()

    def submit(self, user_id: UUID, filename: str, data: bytes, password: str = "") -> UUID:
        """Put a file in line and return its number in it."""
        entry = Adding(uuid4(), user_id, display_name(filename))
        with self._lock:
            self._entries[entry.id] = entry
        self._line.put(lambda: self._add(entry, data, password))
        return entry.id

    def unlock(self, user_id: UUID, entry_id: UUID, password: str) -> None:
        """Put a file that is `locked` in line again, with another password."""
        with self._lock:
            if not self._own(user_id, entry_id) or entry_id not in self._locked:
                return
            entry, data = self._entries[entry_id], self._locked.pop(entry_id)
            again = Adding(entry.id, entry.user_id, entry.name)
            self._entries[entry_id] = again
        self._line.put(lambda: self._add(again, data, password))

    def entries(self, user_id: UUID) -> list[Adding]:
        """Return the user's files in the order they were put in."""
        with self._lock:
            return [entry for entry in self._entries.values() if entry.user_id == user_id]

    def stop(self, user_id: UUID, entry_id: UUID) -> None:
        """Stop a file that waits or is being read; nothing of it will have been stored."""
        with self._lock:
            if self._own(user_id, entry_id):
                self._stopped.add(entry_id)

    def dismiss(self, user_id: UUID, entry_id: UUID) -> None:
        """Forget a file that is over."""
        with self._lock:
            if self._own(user_id, entry_id) and self._entries[entry_id].state in OVER:
                del self._entries[entry_id]
                self._locked.pop(entry_id, None)

    def close(self) -> None:
        """Stop what is being read and what waits; nothing of either is stored."""
        with self._lock:
            self._stopped.update(self._entries)
        self._line.put(None)
        self._thread.join(LAST_SECONDS)

    def _work(self) -> None:
        while (add := self._line.get()) is not None:
            add()

    def _own(self, user_id: UUID, entry_id: UUID) -> bool:
        entry = self._entries.get(entry_id)
        return entry is not None and entry.user_id == user_id

    def _keep(self, entry_id: UUID, data: bytes) -> bool:
        with self._lock:
            if sum(map(len, self._locked.values())) + len(data) > KEPT_BYTES:
                return False
            self._locked[entry_id] = data
            return True

    def _change(self, entry_id: UUID, **changes: object) -> None:
        with self._lock:
            self._entries[entry_id] = replace(self._entries[entry_id], **changes)  # type: ignore[arg-type]

    def _add(self, entry: Adding, data: bytes, password: str) -> None:
        self._change(entry.id, state="reading")
        try:
            added = self._ingestor.ingest(
                entry.user_id,
                entry.name,
                data,
                password=password,
                on_progress=lambda at: self._change(entry.id, progress=at),
                cancelled=lambda: entry.id in self._stopped,
            )
        except Cancelled:
            self._change(entry.id, state="stopped")
        except LecternError as error:
            locked = error.code in _PASSWORD_CODES and self._keep(entry.id, data)
            self._change(entry.id, state="failed", locked=locked, **error.to_json())
        except Exception:
            log.exception("adding a file broke")
            message = say("Lectern made a mistake reading this file; nothing of it was stored.")
            self._change(entry.id, state="failed", message=message, hint=say("See the log."))
        else:
            self._change(
                entry.id,
                state="done",
                title=added.meta.title,
                pages=added.pages,
                duplicate=added.duplicate,
            )
