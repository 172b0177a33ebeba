"""The index over a user's whole library: dense through Chroma, keywords through bm25s.

Both are derived from Postgres and never waited for while they are made: what they do not have yet
is searched exactly, and what the library no longer has is left out of every answer.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.db.index_source import IndexSource
from core.db.papers import PaperStore
from core.errors import LecternError
from core.retrieval.chroma import ChromaClient, ChromaFailed, ChromaView, Live
from core.retrieval.termindex import Documents, TermIndex

Ids = NDArray[np.int64]
Matrix = NDArray[np.float32]
Scored = list[tuple[int, float]]

EXACT_ROWS = 1_000
"""So many chunks that an index lacks are searched in Postgres beside it: some 10 ms."""
SMALL = 2_000
"""A keyword index over so many chunks is made at the call: some 0.2 s, and not kept on disk."""
MAX_BYTES = 512 * 1024 * 1024
"""Bound for all users' keyword indexes together, and again for their vectors in memory."""
RETRY_SECONDS = 5.0
_MAX_USERS = 64
_MAX_VIEWS = 256

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What `doctor` tells of the index.

    `owner`: this process has the embedded Chroma. `rows`: chunks proved to be in Chroma.
    """

    owner: bool
    url: str
    rows: int
    problem: str


@dataclass(frozen=True, slots=True)
class _Vectors:
    """Vectors in memory, searched exactly: ids ascending (n,), unit vectors (n, dim)."""

    ids: Ids
    matrix: Matrix

    def nearest(self, vector: Matrix, k: int, live: Ids) -> Scored:
        scores = self.matrix @ vector
        scores[~_among(self.ids, live)] = -np.inf
        return _best(self.ids, scores, k, above=-np.inf)


class _View:
    """One user and model: what is known of its vectors."""

    def __init__(self, user_id: UUID, model: str, dimension: int, chroma: ChromaView) -> None:
        self.user_id, self.model, self.dimension = user_id, model, dimension
        self.chroma = chroma
        self.memory: _Vectors | None = None
        self.asked = False
        self.synced_version = ""
        self.next_sync = 0.0
        self.syncing = threading.Lock()


@dataclass(slots=True)
class _Keywords:
    """One user's keyword index and what has to be added to it."""

    building: threading.Lock = field(default_factory=threading.Lock)
    index: TermIndex | None = None
    current: "_Patched | None" = None


@dataclass(frozen=True, slots=True)
class _Patched:
    """An index as of a version of the library: what to leave out, what to add."""

    version: str
    index: TermIndex
    alive: NDArray[np.bool_]
    others: Documents

    def search(self, terms: Sequence[str], k: int) -> Scored:
        scores = self.index.scores(terms)
        scores[~self.alive] = 0.0
        found = _best(self.index.ids, scores, k, above=0.0)
        if len(self.others.ids):
            more = self.index.score_others(terms, self.others)
            found += _best(self.others.ids, more, k, above=0.0)
            found.sort(key=_order)
        return found[:k]


class LibraryIndex:
    """Search over whole libraries. Thread-safe; a context manager.

    Args:
        store: the papers; Postgres is the source of truth.
        data_dir: where Chroma (`chroma/`, under `chroma.lock`) and keyword indexes (`bm25/`) are.
        chroma_url: address of a Chroma server to use instead of the embedded one.
    """

    def __init__(self, store: PaperStore, data_dir: Path, chroma_url: str = "") -> None:
        self._store = store
        self._source = IndexSource(store.engine)
        self._client = ChromaClient(data_dir, chroma_url)
        self._keywords_dir = data_dir / "bm25"
        self._mutex = threading.Lock()
        self._live: OrderedDict[UUID, Live] = OrderedDict()
        self._views: OrderedDict[tuple[UUID, str, int], _View] = OrderedDict()
        self._keywords: OrderedDict[UUID, _Keywords] = OrderedDict()
        self._worker = _Worker()

    def dense(self, user_id: UUID, model: str, vector: Matrix, k: int) -> Scored:
        """Return the k nearest chunks of a library as (chunk id, cosine), best first.

        Args:
            user_id: whose library.
            model: the embedder that made the vectors; chunks without its vector are left out.
            vector: a unit vector, shape (dim,).
            k: how many at most.

        The first question of a process is answered by Postgres alone, so that a command of one
        question never pays for opening an index.
        """
        view = self._view(user_id, model, len(vector))
        if not view.asked:
            view.asked = True
            return self._source.nearest(user_id, model, vector, k)
        live = self._live_of(user_id)
        found = self._through_index(view, live, vector, k)
        if found is None:
            found = self._source.nearest(user_id, model, vector, k)
        if self._needs_sync(view, live):
            self._worker.do((user_id, model), lambda: self._sync_view(view))
        return found

    def _through_index(self, view: _View, live: Live, vector: Matrix, k: int) -> Scored | None:
        """Return the k nearest by an index and, for the little it lacks, Postgres; or None."""
        for ids, nearest in self._indexes(view):
            rest = np.setdiff1d(live.ids, ids, assume_unique=True)
            if len(rest) > EXACT_ROWS:
                continue
            try:
                found = nearest(vector, k, live.ids)
            except ChromaFailed as error:
                logger.warning("Chroma failed, searching exactly: %s", error)
                continue
            if found is None:
                continue
            if len(rest):
                found = found + self._source.nearest_of(rest, view.model, vector, k)
                found.sort(key=_order)
            return found[:k]
        return None

    def _indexes(
        self, view: _View
    ) -> list[tuple[Ids, Callable[[Matrix, int, Ids], Scored | None]]]:
        memory, ids = view.memory, view.chroma.ids
        indexes: list[tuple[Ids, Callable[[Matrix, int, Ids], Scored | None]]] = []
        if ids is not None:
            indexes.append((ids, view.chroma.nearest))
        if memory is not None:
            indexes.append((memory.ids, memory.nearest))
        return indexes

    def _needs_sync(self, view: _View, live: Live) -> bool:
        ids = view.chroma.ids
        if ids is not None and view.synced_version == live.version and len(ids) == len(live.ids):
            return False
        return time.monotonic() >= view.next_sync or view.synced_version != live.version

    def _sync_view(self, view: _View) -> None:
        """Bring Chroma up to date; until it is, have a large library's vectors in memory."""
        with view.syncing:
            live = self._live_of(view.user_id)
            self._fill_memory(view, live)
            try:
                done = view.chroma.sync(live, self._fetch(view), self._worker.stopping)
            except ChromaFailed as error:
                logger.warning("Chroma cannot be used: %s", error)
                done = False
            if done:
                view.memory = None
            view.synced_version = live.version
            view.next_sync = time.monotonic() + RETRY_SECONDS

    def _fetch(self, view: _View) -> Callable[[Ids], tuple[Ids, Matrix]]:
        return lambda ids: self._source.vectors(ids, view.model, view.dimension)

    def _fill_memory(self, view: _View, live: Live) -> None:
        """Read into memory what neither Chroma nor memory has, where that is much and fits."""
        proved = view.chroma.ids
        if proved is not None and _lacking(live.ids, proved) <= EXACT_ROWS:
            return
        old = view.memory
        rest = live.ids if old is None else np.setdiff1d(live.ids, old.ids, assume_unique=True)
        others = sum(
            v.memory.matrix.nbytes for v in self._all_views() if v.memory and v is not view
        )
        if len(rest) <= EXACT_ROWS or others + 4 * view.dimension * len(live.ids) > MAX_BYTES:
            return
        ids, matrix = self._source.vectors(rest, view.model, view.dimension)
        if old is not None:
            keep = _among(old.ids, live.ids)
            ids = np.concatenate([old.ids[keep], ids])
            matrix = np.concatenate([old.matrix[keep], matrix])
            order = np.argsort(ids)
            ids, matrix = ids[order], matrix[order]
        view.memory = _Vectors(ids, matrix)

    def bm25(self, user_id: UUID, terms: Sequence[str], k: int) -> Scored:
        """Return the k best chunks of a library as (chunk id, BM25 score), best first.

        Only chunks with a score above 0. `terms` come from `tokenize`; a repeated term counts
        again, as within a paper.
        """
        live = self._live_of(user_id)
        slot = self._slot(user_id)
        current = slot.current
        if current is None or current.version != live.version:
            with slot.building:
                current = slot.current
                if current is None or current.version != live.version:
                    current = self._patch(user_id, slot, live)
        return current.search(terms, k)

    def _patch(self, user_id: UUID, slot: _Keywords, live: Live) -> _Patched:
        """Bring a user's keyword index up to date: now if that is quick, else behind the scenes."""
        path = self._keyword_file(user_id)
        if slot.index is None and len(live.ids) > SMALL:
            slot.index = TermIndex.load(path)
        index = slot.index
        if index is None or _must_rebuild(index, live):
            index = self._build(live, path)
        current = self._patched(index, live)
        slot.index, slot.current = index, current
        if len(current.others.ids) or not current.alive.all():
            self._worker.do((user_id,), lambda: self._rebuild(user_id, slot, path))
        self._evict()
        return current

    def _patched(self, index: TermIndex, live: Live) -> _Patched:
        alive = _same_chunks(index, live)
        missing = np.setdiff1d(live.ids, index.ids[alive], assume_unique=True)
        others = Documents.of(self._source.terms(missing))
        return _Patched(live.version, index, alive, others)

    def _build(self, live: Live, path: Path) -> TermIndex:
        index = TermIndex.build(live.ids, live.owners, self._source.terms(live.ids))
        if len(live.ids) > SMALL:
            try:
                index.save(path)
            except OSError as error:
                logger.warning("the keyword index cannot be kept on disk: %s", error)
        return index

    def _rebuild(self, user_id: UUID, slot: _Keywords, path: Path) -> None:
        index = self._build(self._live_of(user_id), path)
        live = self._live_of(user_id)
        with slot.building:
            slot.index, slot.current = index, self._patched(index, live)

    def _keyword_file(self, user_id: UUID) -> Path:
        return self._keywords_dir / f"{user_id.hex}.npz"

    def _slot(self, user_id: UUID) -> _Keywords:
        with self._mutex:
            slot = self._keywords.setdefault(user_id, _Keywords())
            self._keywords.move_to_end(user_id)
            return slot

    def _evict(self) -> None:
        """Forget the keyword indexes used longest ago, except the last one, until they fit."""
        with self._mutex:
            sizes = {user: s.index.nbytes for user, s in self._keywords.items() if s.index}
            total = sum(sizes.values())
            for user in list(sizes)[:-1]:
                if total <= MAX_BYTES:
                    break
                total -= sizes[user]
                del self._keywords[user]

    def sync(self, user_id: UUID) -> None:
        """Make the index of a library complete and prove it, for every model; waits until done.

        Every row is read back from Chroma, also those proved before, and what is wrong is written
        again from Postgres. Without Chroma (another process has it) nothing is to be done. The
        keyword index is made anew from the stored terms at the next question.
        """
        slot = self._slot(user_id)
        with slot.building:
            self._keyword_file(user_id).unlink(missing_ok=True)
            slot.index = slot.current = None
        for model, dimension in self._source.models(user_id):
            view = self._view(user_id, model, dimension)
            with view.syncing:
                view.chroma.distrust()
                view.memory = None
            self._sync_view(view)
            view.asked = True

    def status(self) -> IndexStatus:
        """Return the state of the index, opening Chroma to see whether it can be used."""
        try:
            self._client.open()
            problem = ""
        except ChromaFailed as error:
            problem = str(error)
        rows = sum(view.chroma.rows() for view in self._all_views())
        return IndexStatus(self._client.owner, self._client.url, rows, problem)

    def close(self) -> None:
        """Stop working behind the scenes, and let go of Chroma. Does nothing twice."""
        self._worker.stop()
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _live_of(self, user_id: UUID) -> Live:
        version = self._store.library_version(user_id)
        with self._mutex:
            live = self._live.get(user_id)
        if live is not None and live.version == version:
            return live
        live = self._read_live(user_id, version)
        # Changed while it was read: kept under the old version, which may come back, it would lie.
        while (now := self._store.library_version(user_id)) != live.version:
            live = self._read_live(user_id, now)
        with self._mutex:
            self._live[user_id] = live
            self._live.move_to_end(user_id)
            while len(self._live) > _MAX_USERS:
                self._live.popitem(last=False)
        return live

    def _read_live(self, user_id: UUID, version: str) -> Live:
        papers = sorted(self._source.chunks(user_id), key=lambda row: row[0])
        ids = np.concatenate([np.empty(0, np.int64), *(ids for _, ids in papers)])
        owners = np.repeat(
            np.array([paper.bytes for paper, _ in papers], dtype="S16"),
            [len(ids) for _, ids in papers],
        )
        order = np.argsort(ids)
        return Live(version, ids[order], owners[order])

    def _view(self, user_id: UUID, model: str, dimension: int) -> _View:
        key = (user_id, model, dimension)
        with self._mutex:
            if key not in self._views:
                chroma = ChromaView(self._client, user_id, model, dimension)
                self._views[key] = _View(user_id, model, dimension, chroma)
            self._views.move_to_end(key)
            if len(self._views) > _MAX_VIEWS:
                self._views.popitem(last=False)
            return self._views[key]

    def _all_views(self) -> list[_View]:
        with self._mutex:
            return list(self._views.values())


class _Worker:
    """One thread that does named jobs one after the other; a job that waits is not queued twice."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[tuple[object, ...], Callable[[], None]] = OrderedDict()
        self._wake = threading.Condition()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def do(self, name: tuple[object, ...], job: Callable[[], None]) -> None:
        with self._wake:
            if self._stopping.is_set():
                return
            self._jobs.setdefault(name, job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="library-index", daemon=True)
                self._thread.start()
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._jobs or self._stopping.is_set())
                if self._stopping.is_set():
                    return
                name, job = self._jobs.popitem(last=False)
            try:
                job()
            except LecternError as error:
                logger.warning("work on the library index failed: %s", error)
            except Exception:
                # The thread must live: whatever failed, questions are answered from Postgres.
                logger.exception("work on the library index failed (%s)", name)

    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        with self._wake:
            self._stopping.set()
            self._jobs.clear()
            self._wake.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout=60)


def _must_rebuild(index: TermIndex, live: Live) -> bool:
    """Return whether to make the index anew at the call: it is small, or most of it is missing."""
    alive = int(_same_chunks(index, live).sum())
    missing = len(live.ids) - alive
    stale = len(index.ids) - alive
    return bool(missing or stale) and (len(live.ids) <= SMALL or missing > alive)


def _same_chunks(index: TermIndex, live: Live) -> NDArray[np.bool_]:
    """Return which chunks of the index the library has, of the same paper, shape (n,)."""
    if not len(live.ids):
        return np.zeros(len(index.ids), dtype=bool)
    where = np.searchsorted(live.ids, index.ids).clip(max=len(live.ids) - 1)
    same: NDArray[np.bool_] = (live.ids[where] == index.ids) & (live.owners[where] == index.owners)
    return same


def _among(ids: Ids, live: Ids) -> NDArray[np.bool_]:
    """Return which of `ids` are in `live` (ascending), shape (len(ids),)."""
    if not len(live):
        return np.zeros(len(ids), dtype=bool)
    where = np.searchsorted(live, ids).clip(max=len(live) - 1)
    found: NDArray[np.bool_] = live[where] == ids
    return found


def _lacking(live: Ids, ids: Ids) -> int:
    return int((~_among(live, ids)).sum())


def _best(ids: Ids, scores: Matrix, k: int, *, above: float) -> Scored:
    """Return the k best (id, score) with a score above a bound, best first, ties by id."""
    chosen = np.argpartition(-scores, k - 1)[:k] if k < len(ids) else np.arange(len(ids))
    pairs = zip(ids[chosen].tolist(), scores[chosen].tolist(), strict=True)
    return sorted(((i, s) for i, s in pairs if s > above), key=_order)


def _order(pair: tuple[int, float]) -> tuple[float, int]:
    return -pair[1], pair[0]
