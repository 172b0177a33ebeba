"""Files that wait to be added: read one after the other, outside any page, so no click loses one."""

import logging
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Literal
from uuid import UUID, uuid4

from core.errors import Cancelled, LecternError, Unavailable
from core.ingest.fetch import ArxivFetcher, not_fetchable
from core.ingest.identifiers import Identifier
from core.ingest.kinds import is_bibtex
from core.ingest.pipeline import Ingestor, Progress, display_name
from core.wording import say

log = logging.getLogger(__name__)

State = Literal["waiting", "reading", "done", "failed", "stopped"]
LAST_SECONDS = 10.0
"""What the file that is being read gets to stop in when the queue is closed."""
MISSING_NAMED = 10
"""Entries of a BibTeX file without a paper that are named."""
OVER: tuple[State, ...] = ("done", "failed", "stopped")

_PASSWORD_CODES = ("PASSWORD_NEEDED", "PASSWORD_WRONG")


@dataclass(frozen=True, slots=True)
class Adding:
    """One file on its way.

    `title`, `pages`, `duplicate` and `versions` are known once done; `code`, `message` and `hint` if it failed.
    Of a BibTeX file, which is no paper, `message` and `hint` say what became of it.
    `anew`: the paper of the library that is read again, if it is not a file to be added.
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
    versions: tuple[str, ...] = ()
    code: str = ""
    message: str = ""
    hint: str = ""
    locked: bool = False
    anew: UUID | None = None


class AddQueue:
    """Adds files in the background. What it knows of a file lasts until it is dismissed.

    Files in line wait in a temporary folder, not in memory: there may be a hundred.
    """

    def __init__(self, ingestor: Ingestor, fetcher: ArxivFetcher) -> None:
        self._ingestor = ingestor
        self._fetcher = fetcher
        self._entries: dict[UUID, Adding] = {}
        self._stopped: set[UUID] = set()
        self._folder = tempfile.TemporaryDirectory(prefix="lectern-incoming-")
        self._lock = threading.Lock()
        self._line: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # A daemon: the interpreter waits for all others before it tells anybody that it ends.
        self._thread = threading.Thread(target=self._work, name="adding", daemon=True)
        self._thread.start()

    def submit(self, user_id: UUID, filename: str, data: bytes, password: str = "") -> UUID:
        """Put a file in line and return its number in it.

        Raises:
            Unavailable: there is no room for it on the disk.
        """
        entry = Adding(uuid4(), user_id, display_name(filename))
        file = self._file(entry.id)
        try:
            file.parent.mkdir(mode=0o700, exist_ok=True)  # temporary folders get tidied up
            file.write_bytes(data)
        except OSError as error:
            file.unlink(missing_ok=True)
            raise Unavailable(
                say("There is no room to keep {file} until it is read.", file=entry.name),
                hint=say("Make room on the disk of temporary files (TMPDIR), then add it again."),
            ) from error
        with self._lock:
            self._entries[entry.id] = entry
        self._line.put(lambda: self._add(entry, self._file(entry.id), password))
        return entry.id

    def fetch(self, user_id: UUID, paper: Identifier) -> UUID:
        """Put a paper of arXiv in line, to be fetched and added; return its number in it.

        Raises:
            BadInput: it is none of arXiv's.
        """
        if paper.kind != "arxiv":
            raise not_fetchable(paper)
        entry = Adding(uuid4(), user_id, f"arXiv:{paper.value}")
        with self._lock:
            self._entries[entry.id] = entry
        self._line.put(lambda: self._add(entry, paper, ""))
        return entry.id

    def read_anew(self, user_id: UUID, paper_id: UUID, name: str) -> UUID:
        """Put a paper of the library in line, to find its structure; return its number in it."""
        entry = Adding(uuid4(), user_id, name, anew=paper_id)
        with self._lock:
            for known in self._entries.values():
                if (known.user_id, known.anew) == (user_id, paper_id) and known.state not in OVER:
                    return known.id
            self._entries[entry.id] = entry
        self._line.put(lambda: self._add(entry, paper_id, ""))
        return entry.id

    def unlock(self, user_id: UUID, entry_id: UUID, password: str) -> None:
        """Put a file that is `locked` in line again, with another password."""
        with self._lock:
            if not self._own(user_id, entry_id) or not self._entries[entry_id].locked:
                return
            entry = self._entries[entry_id]
            again = Adding(entry.id, entry.user_id, entry.name)
            self._stopped.discard(entry_id)
            self._entries[entry_id] = again
        self._line.put(lambda: self._add(again, self._file(again.id), password))

    def entries(self, user_id: UUID) -> list[Adding]:
        """Return the user's files in the order they were put in."""
        with self._lock:
            return [entry for entry in self._entries.values() if entry.user_id == user_id]

    def stop(self, user_id: UUID, entry_id: UUID) -> None:
        """Stop a file that waits or is being read; nothing of it will have been stored."""
        with self._lock:
            if self._own(user_id, entry_id) and self._entries[entry_id].state not in OVER:
                self._stopped.add(entry_id)

    def dismiss(self, user_id: UUID, entry_id: UUID) -> None:
        """Forget a file that is over."""
        with self._lock:
            if self._own(user_id, entry_id) and self._entries[entry_id].state in OVER:
                del self._entries[entry_id]
                self._stopped.discard(entry_id)
                self._file(entry_id).unlink(missing_ok=True)

    def close(self) -> None:
        """Stop what is being read and what waits; nothing of either is stored."""
        with self._lock:
            self._stopped.update(self._entries)
        self._line.put(None)
        self._thread.join(LAST_SECONDS)
        self._folder.cleanup()

    def _file(self, entry_id: UUID) -> Path:
        return Path(self._folder.name) / str(entry_id)

    def _work(self) -> None:
        while (add := self._line.get()) is not None:
            add()

    def _own(self, user_id: UUID, entry_id: UUID) -> bool:
        entry = self._entries.get(entry_id)
        return entry is not None and entry.user_id == user_id

    def _change(self, entry_id: UUID, **changes: object) -> None:
        with self._lock:
            if entry_id in self._entries:
                self._entries[entry_id] = replace(self._entries[entry_id], **changes)  # type: ignore[arg-type]

    def _add(self, entry: Adding, what: Path | Identifier | UUID, password: str) -> None:
        self._change(entry.id, state="reading")
        locked = False
        try:
            self._go_on(entry)
            if isinstance(what, Identifier):
                done = self._fetch(entry, what)
            elif isinstance(what, UUID):
                done = self._read_anew(entry, what)
            else:
                done = self._take(entry, what.read_bytes(), password)
        except Cancelled:
            self._change(entry.id, state="stopped")
        except LecternError as error:
            locked = error.code in _PASSWORD_CODES and isinstance(what, Path)
            self._change(entry.id, state="failed", locked=locked, **error.to_json())
        except Exception:  # the thread must live for the files behind this one
            log.exception("adding a file broke")
            message = say("Lectern made a mistake reading this file; nothing of it was stored.")
            self._change(entry.id, state="failed", message=message, hint=say("See the log."))
        else:
            self._change(entry.id, state="done", **done)
        if isinstance(what, Path) and not locked:
            what.unlink(missing_ok=True)

    def _go_on(self, entry: Adding) -> None:
        """Raise `Cancelled` when the file has been stopped."""
        if entry.id in self._stopped:
            raise Cancelled(say("Adding the file was stopped; nothing of it was stored."))

    def _take(self, entry: Adding, data: bytes, password: str) -> dict[str, object]:
        if is_bibtex(data):
            return self._import(entry, data)
        return self._ingest(entry, entry.name, data, password)

    def _ingest(self, entry: Adding, name: str, data: bytes, password: str) -> dict[str, object]:
        """Add a file; return what is to be known of it."""
        added = self._ingestor.ingest(
            entry.user_id,
            name,
            data,
            password=password,
            on_progress=lambda at: self._change(entry.id, progress=at),
            cancelled=lambda: entry.id in self._stopped,
        )
        if name != entry.name:
            self._ingestor.name_arxiv_id(
                entry.user_id, added.paper_id, entry.name.removeprefix("arXiv:")
            )
        return {
            "title": added.meta.title,
            "pages": added.pages,
            "duplicate": added.duplicate,
            "versions": added.versions,
        }

    def _fetch(self, entry: Adding, paper: Identifier) -> dict[str, object]:
        """Fetch a paper of arXiv and add it."""
        fetched = self._fetcher.fetch(
            paper,
            lambda done, total: self._change(entry.id, progress=Progress("fetching", done, total)),
            lambda: entry.id in self._stopped,
        )
        return self._ingest(entry, fetched.filename, fetched.data, "")

    def _read_anew(self, entry: Adding, paper_id: UUID) -> dict[str, object]:
        self._ingestor.read_anew(
            entry.user_id,
            paper_id,
            on_progress=lambda at: self._change(entry.id, progress=at),
            cancelled=lambda: entry.id in self._stopped,
        )
        return {"message": say("Its contents, tables, figures and references are there now.")}

    def _import(self, entry: Adding, data: bytes) -> dict[str, object]:
        """Take over what a BibTeX file says of the papers that are there by now."""
        found = self._ingestor.import_bibtex(entry.user_id, data)
        total = len(found.pairs) + len(found.unmatched)
        message = say(
            "{count:d} of {total:d} entries are of papers here; their metadata was taken over.",
            count=len(found.pairs),
            total=total,
        )
        missing = [one.meta.title or one.key for one in found.unmatched]
        named = "; ".join(missing[:MISSING_NAMED]) + (" …" if len(missing) > MISSING_NAMED else "")
        hint = say("No paper here for: {titles}.", titles=named) if missing else ""
        return {"message": message, "hint": hint}
