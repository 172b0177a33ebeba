"""Chroma as nearest-neighbour index: one collection a user and model, derived from Postgres.

A collection holds chunk ids, vectors and paper ids. It is believed only as far as vectors have
been read back from it and found equal to Postgres's. Whatever is wrong with it (a damaged or
deleted folder, missing rows, another dimension) is mended by writing from Postgres again; nothing
is ever embedded again, and meanwhile whoever asks searches exactly.
"""

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from core.wording import say

if TYPE_CHECKING:  # importing Chroma takes over a second: only who uses it pays
    import httpx
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

Ids = NDArray[np.int64]
Matrix = NDArray[np.float32]
Fetch = Callable[[Ids], tuple[Ids, Matrix]]
"""From chunk ids to those that have a vector, ascending, and the vectors."""

_BATCH = 1_000
_LIST_BATCH = 5_000  # beyond some 30,000 rows at once Chroma fails: 'too many SQL variables'
_TOLERANCE = 1e-5
_EF = 200
_EPOCH = "epoch"
_HTTP_SECONDS = 20.0

logger = logging.getLogger(__name__)


class ChromaFailed(Exception):
    """Chroma cannot be used now; the caller searches Postgres."""


@dataclass(frozen=True, slots=True)
class Live:
    """The chunks of a user's library as of a version: ids ascending (n,), their papers (n,)."""

    version: str
    ids: Ids
    owners: NDArray[np.bytes_]

    @property
    def papers(self) -> list[str]:
        """The paper of each chunk, as text."""
        return [str(UUID(bytes=owner.ljust(16, b"\0"))) for owner in self.owners.tolist()]


class ChromaClient:
    """The one connection to Chroma: a server, or the embedded one under a file lock. Thread-safe.

    The lock is held until `close` or the end of the process. Embedded Chroma is for one process
    only: with two writers rows were lost for good.
    """

    def __init__(self, data_dir: Path, url: str = "") -> None:
        self.url = url
        self._folder = data_dir / "chroma"
        self._lock = FileLock(data_dir / "chroma.lock", thread_local=False)
        self._mutex = RLock()
        self._client: ClientAPI | None = None
        self._opened: int | None = None
        self.problem = ""
        """Why Chroma could not be used the last time it could not."""

    @property
    def owner(self) -> bool:
        """Whether this process holds the lock of the embedded Chroma."""
        return self._lock.is_locked

    def open(self) -> "ClientAPI | None":
        """Return the client, or None when another process has the embedded Chroma.

        Raises:
            ChromaFailed: no server, or a folder that cannot be made good.
        """
        with self._mutex:
            if self._client is not None:
                return self._client
            if self.url:
                with _failures(self):
                    self._client = _http_client(self.url)
                return self._client
            if not self._acquire():
                return None
            try:
                self._open_folder()
            except ChromaFailed:
                return self.reset()
            return self._client

    def _open_folder(self) -> None:
        with _failures(self):
            self._client = _embedded_client(self._folder)
            self._opened = self._inode()

    def _acquire(self) -> bool:
        with _failures(self):
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return False
        return True

    def reset(self) -> "ClientAPI | None":
        """Drop the connection and, of an embedded Chroma, its folder; return a new client.

        Raises:
            ChromaFailed: it does not work on an empty folder either.
        """
        with self._mutex:
            self._disconnect()
            if self.url:
                return self.open()
            if not self._acquire():
                return None
            logger.warning("the Chroma index is rebuilt from Postgres: %s", self.problem)
            with _failures(self):
                if self._folder.exists():
                    shutil.rmtree(self._folder)
            self._open_folder()
            return self._client

    def intact(self) -> bool:
        """Return whether an embedded Chroma that is open still works on the files in its folder.

        Files that were deleted under it, it goes on reading and writing, to no avail.
        """
        with self._mutex:
            return self._client is None or bool(self.url) or self._inode() == self._opened

    def _inode(self) -> int | None:
        try:
            return (self._folder / "chroma.sqlite3").stat().st_ino
        except OSError:
            return None

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(ChromaFailed), _failures(self):
                client.close()  # type: ignore[attr-defined]
                for session in _sessions(client):
                    session.close()  # which Chroma forgets

    def close(self) -> None:
        """Disconnect and let go of the lock. Does nothing twice."""
        with self._mutex:
            self._disconnect()
            self._lock.release()


@dataclass(frozen=True, slots=True)
class _Trusted:
    """A collection as it was proved: which rows it has, and its epoch then.

    Whoever deletes rows sets a new epoch first, so that another thread or process that has
    trusted those rows finds out at its next query.
    """

    collection: "Collection"
    epoch: str
    ids: Ids


class ChromaView:
    """One user's collection for one model. Queries from any thread; one thread at a time syncs."""

    def __init__(self, client: ChromaClient, user_id: UUID, model: str, dimension: int) -> None:
        self._client = client
        digest = hashlib.sha256(model.encode()).hexdigest()[:24]
        self._name = f"u{user_id.hex}-{digest}"
        self._dimension = dimension
        self._trusted: _Trusted | None = None

    @property
    def ids(self) -> Ids | None:
        """The chunks that are proved to be in the collection, ascending; None: not looked yet."""
        trusted = self._trusted
        return None if trusted is None else trusted.ids

    def distrust(self) -> None:
        """Have the next `sync` prove every row anew."""
        self._trusted = None

    def nearest(self, vector: Matrix, k: int, live: Ids) -> list[tuple[int, float]] | None:
        """Return the k nearest proved chunks among `live` as (chunk id, cosine).

        None when the collection is not what it was proved to be: ask elsewhere, and sync.

        Raises:
            ChromaFailed: Chroma gave an error.
        """
        trusted = self._trusted
        if trusted is None or not self._client.intact():
            self._trusted = None
            return None
        wanted = np.intersect1d(trusted.ids, live, assume_unique=True)
        try:
            with _failures(self._client):
                found = _query(trusted.collection, vector, k, wanted)
                now = self._epoch(trusted.collection)
        except ChromaFailed:
            self._trusted = None
            raise
        if found is None or now != trusted.epoch:
            if self._trusted is trusted:
                self._trusted = None
            return None
        return found

    def _epoch(self, collection: "Collection") -> str:
        client = self._client.open()
        if client is None:
            return ""
        fresh = client.get_collection(self._name, embedding_function=None)
        return _epoch_of(fresh) if fresh.id == collection.id else ""

    def sync(self, live: Live, fetch: Fetch, stop: Callable[[], bool]) -> bool:
        """Make the collection hold exactly the vectors of `live`, and prove it by reading back.

        After the first time only what changed is written and read. Returns whether it is done:
        not when another process has Chroma or `stop` said so.

        Raises:
            ChromaFailed: even with a new collection in an empty folder.
        """
        if not self._client.intact():
            self._client.problem = say("its files are gone")
            self._reset()
        try:
            return self._sync(live, fetch, stop)
        except ChromaFailed as error:
            logger.warning("collection %s is made anew: %s", self._name, error)
        try:
            self._recreate()
            return self._sync(live, fetch, stop)
        except ChromaFailed as error:
            if self._client.url:
                raise
            logger.warning("Chroma fails on a new collection too: %s", error)
        self._reset()
        return self._sync(live, fetch, stop)

    def _reset(self) -> None:
        self._trusted = None
        self._client.reset()

    def _recreate(self) -> None:
        self._trusted = None
        with _failures(self._client):
            client = self._client.open()
            if client is None:
                return
            with suppress(_not_found()):
                client.delete_collection(self._name)

    def _sync(self, live: Live, fetch: Fetch, stop: Callable[[], bool]) -> bool:
        with _failures(self._client):
            client = self._client.open()
            if client is None:
                self._trusted = None
                return False
            if self._trusted is None:
                self._trusted = _Trusted(*_collection(client, self._name), np.empty(0, np.int64))
                self._drop(np.setdiff1d(_listed(self._trusted.collection), live.ids))
            else:
                self._drop(np.setdiff1d(self._trusted.ids, live.ids, assume_unique=True))
            return self._add(live, fetch, stop)

    def _drop(self, stale: Ids) -> None:
        trusted = self._trusted
        if trusted is None or not len(stale):
            return
        epoch = uuid4().hex
        left = np.setdiff1d(trusted.ids, stale, assume_unique=True)
        trusted.collection.modify(metadata={_EPOCH: epoch})
        self._trusted = _Trusted(trusted.collection, epoch, left)
        for batch in _batches(stale, _BATCH):
            trusted.collection.delete(ids=_keys(batch))

    def _add(self, live: Live, fetch: Fetch, stop: Callable[[], bool]) -> bool:
        trusted = self._trusted
        if trusted is None:
            return False
        rest = np.setdiff1d(live.ids, trusted.ids, assume_unique=True)
        papers = dict(zip(live.ids.tolist(), live.papers, strict=True)) if len(rest) else {}
        for batch in _batches(rest, _BATCH):
            if stop():
                return False
            ids, vectors = fetch(batch)
            proved = _write(trusted.collection, ids, vectors, papers)
            trusted = replace(trusted, ids=np.union1d(trusted.ids, proved))
            self._trusted = trusted
        return True

    def rows(self) -> int:
        """Return how many chunks are proved to be in the collection."""
        ids = self.ids
        return 0 if ids is None else len(ids)


@contextmanager
def _failures(client: ChromaClient) -> Iterator[None]:
    """Turn whatever Chroma raises into ChromaFailed.

    It raises its own errors, ValueError, RuntimeError, OSError, httpx's, and through its Rust
    core a PanicException, which is not even an Exception.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, ChromaFailed):
        raise
    except BaseException as error:
        client.problem = f"{type(error).__name__}: {error}"[:300]
        logger.debug("Chroma failed", exc_info=True)
        raise ChromaFailed(client.problem) from error


def _settings(**values: Any) -> Any:
    from chromadb.config import Settings

    # Chroma would read `.env` and obey what it finds there, the folder's name included.
    return Settings(_env_file=None, anonymized_telemetry=False, **values)


def _embedded_client(folder: Path) -> "ClientAPI":
    import chromadb

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return chromadb.PersistentClient(folder, settings=_settings())


def _http_client(url: str) -> "ClientAPI":
    import chromadb

    parts = urlsplit(url if "//" in url else f"//{url}")
    ssl = parts.scheme == "https"
    port = parts.port or (443 if ssl else 8000)
    client = chromadb.HttpClient(parts.hostname or "localhost", port, ssl, settings=_settings())
    # There is no setting for it, and without one a server that hangs would hang every question.
    for session in _sessions(client):
        session.timeout = _HTTP_SECONDS
    return client


def _sessions(client: "ClientAPI") -> "list[httpx.Client]":
    """Return the HTTP clients within a client of a Chroma server: its own and its admin's."""
    parts = (client, getattr(client, "_admin_client", None))
    sessions = (getattr(getattr(part, "_server", None), "_session", None) for part in parts)
    return [session for session in sessions if session is not None]


def _not_found() -> type[Exception]:
    from chromadb.errors import NotFoundError

    return NotFoundError


def _collection(client: "ClientAPI", name: str) -> tuple["Collection", str]:
    collection = client.get_or_create_collection(
        name,
        configuration={"hnsw": {"space": "cosine", "ef_search": _EF, "ef_construction": _EF}},
        embedding_function=None,
    )
    return collection, _epoch_of(collection)


def _epoch_of(collection: "Collection") -> str:
    return str((collection.metadata or {}).get(_EPOCH, "new"))


def _query(
    collection: "Collection", vector: Matrix, k: int, wanted: Ids
) -> list[tuple[int, float]] | None:
    """Return the k nearest of `wanted`; None when the index does not reach as many as it must.

    The collection may hold other rows (papers removed since): it is asked for more until enough
    of those it returns are wanted.
    """
    needed = min(k, len(wanted))
    if not needed:
        return []
    count = k
    while True:
        answer = collection.query(
            query_embeddings=vector[np.newaxis], n_results=count, include=["distances"]
        )
        distances = answer["distances"] or [[]]
        ids = np.array(answer["ids"][0], dtype=np.int64)
        kept = np.isin(ids, wanted)
        if kept.sum() >= needed:
            scores = 1.0 - np.array(distances[0], dtype=np.float64)
            pairs = zip(ids[kept].tolist(), scores[kept].tolist(), strict=True)
            return list(pairs)[:k]
        if len(ids) < count:
            return None
        count *= 4


def _listed(collection: "Collection") -> Ids:
    """Return the ids of all rows, whatever `count` says."""
    ids: list[int] = []
    offset = 0
    while batch := collection.get(limit=_LIST_BATCH, offset=offset, include=[])["ids"]:
        ids.extend(map(int, batch))
        offset += len(batch)
    return np.array(ids, dtype=np.int64)


def _write(collection: "Collection", ids: Ids, vectors: Matrix, papers: dict[int, str]) -> Ids:
    """Write the rows that are not there as they should be; return those that now are."""
    if not len(ids):
        return ids
    good = _read_back(collection, ids, vectors)
    if not good.all():
        bad = ~good
        collection.upsert(
            ids=_keys(ids[bad]),
            embeddings=vectors[bad],
            metadatas=[{"paper": papers[i]} for i in ids[bad].tolist()],
        )
        good[bad] = _read_back(collection, ids[bad], vectors[bad])
        if not good.all():
            raise ValueError(f"{(~good).sum()} of {len(ids)} rows do not read back as written")
    return ids[good]


def _read_back(collection: "Collection", ids: Ids, vectors: Matrix) -> NDArray[np.bool_]:
    """Return which of these rows the collection holds with these very vectors."""
    answer = collection.get(ids=_keys(ids), include=["embeddings"])
    good = np.zeros(len(ids), dtype=bool)
    if not answer["ids"]:
        return good
    stored = np.asarray(answer["embeddings"], dtype=np.float32)
    if stored.shape[1:] != vectors.shape[1:]:
        raise ValueError(f"the collection has vectors of another dimension, {stored.shape[1:]}")
    where = np.searchsorted(ids, np.array(answer["ids"], dtype=np.int64))
    good[where] = np.abs(stored - vectors[where]).max(axis=1) <= _TOLERANCE
    return good


def _keys(ids: Ids) -> list[str]:
    return [str(i) for i in ids.tolist()]


def _batches(ids: Ids, size: int) -> Iterator[Ids]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
