"""Papers a user has read, each with a summary and a vector, and which of them resemble another."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from pgvector.sqlalchemy import Vector
from psycopg import sql
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    cast,
    delete,
    func,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from core.db.migrate import numbered, vector_version
from core.db.orm import ReadingPauseTable, ReadingTable, ReadingVoteTable
from core.db.text import storable
from core.db.users import known_user
from core.errors import NotFound
from core.models.embed import Vectors
from core.wording import say

NEAREST = 50
"""Readings that feedback may reorder."""
SIMILAR = 3
_STEP, _LEAST, _MOST = 0.25, 0.25, 2.0
"""What one vote changes of a paper's weight, and the weight's limits."""
_MOST_DIMENSIONS = 2_000
"""Vectors of more cannot be indexed by pgvector."""
_ITERATIVE = (0, 8)
"""The pgvector from which an index scan goes on until enough rows fit."""
_INDEX_LOCK = int.from_bytes(b"readings", "big") >> 1


@dataclass(frozen=True, slots=True)
class Votes:
    """How often a paper was called useful, and not useful, beside another."""

    useful: int = 0
    not_useful: int = 0

    @property
    def weight(self) -> float:
        """Return what the votes make of a paper's closeness: 1 without any, 0.25 to 2."""
        return min(_MOST, max(_LEAST, 1 + _STEP * (self.useful - self.not_useful)))


@dataclass(frozen=True, slots=True)
class Reading:
    """A paper that was read for a user. It outlives the paper.

    `model_name` wrote the summary ('' when extraction did).
    """

    id: UUID
    paper_id: UUID
    title: str
    summary: str
    embedding_model: str
    model_name: str
    conversation_id: UUID | None
    read_at: datetime
    votes: Votes = Votes()

    @property
    def weight(self) -> float:
        """Return what the votes make of its closeness."""
        return self.votes.weight

    @property
    def day(self) -> str:
        """Return the day it was read, as `2026-11-30` where Lectern runs."""
        return self.read_at.astimezone().date().isoformat()

    def to_json(self) -> dict[str, Any]:
        """Return the public form (see the command line's `history`)."""
        return {
            "paper_id": str(self.paper_id),
            "title": self.title,
            "summary": self.summary,
            "read_at": self.read_at.isoformat(),
            "embedding_model": self.embedding_model,
        }


@dataclass(frozen=True, slots=True)
class Similar:
    """A reading that resembles a paper: cosine in [-1, 1]."""

    reading: Reading
    cosine: float

    @property
    def score(self) -> float:
        """Return what similar readings are ordered by."""
        return self.cosine * self.reading.weight

    def to_json(self) -> dict[str, Any]:
        """Return the public form (see the command line's `summarize`)."""
        return {
            "paper_id": str(self.reading.paper_id),
            "title": self.reading.title,
            "read_at": self.reading.read_at.isoformat(),
            "score": round(self.score, 4),
            "weight": self.reading.weight,
        }


@dataclass(frozen=True, slots=True)
class NewReading:
    """What is stored of a paper that was read.

    `vector` is of unit length, shape (dimension,), made by `embedding_model`, or `PENDING` of the
    model '': it is embedded in the background. `model_name` wrote the summary ('' if extraction
    did). `read_at` None means now.
    """

    paper_id: UUID
    title: str
    summary: str
    vector: Vectors
    embedding_model: str
    model_name: str = ""
    conversation_id: UUID | None = None
    read_at: datetime | None = None


PENDING: Vectors = np.ones(1, dtype=np.float32)
"""Stands for the vector of a reading that has none yet."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A reading, whosever it is, whose vector another model made."""

    id: UUID
    title: str
    summary: str


class ReadingStore:
    """All access to readings. Another user's behave like readings that do not exist.

    Every method raises `DatabaseDown` when the server cannot be used, and `BadInput` when the user
    is not known (their id is no UUID).
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._indexed: set[tuple[str, int]] = set()
        self._version: tuple[int, ...] = ()

    # --- what was read --------------------------------------------------------------------------

    def remember(self, user_id: UUID, *new: NewReading) -> None:
        """Note that papers have been read; what was noted of them before is replaced, not the votes.

        Raises:
            ValueError: one has no title or no vector. Then none is stored.
        """
        known_user(user_id)
        if any(not n.title.strip() or n.vector.ndim != 1 or len(n.vector) == 0 for n in new):
            raise ValueError("a reading has a title and a vector")
        with self._engine.begin() as connection:
            for one in new:
                fresh = {
                    "title": storable(one.title),
                    "summary": storable(one.summary),
                    "embedding": one.vector,
                    "embedding_model": one.embedding_model,
                    "model_name": storable(one.model_name),
                    "conversation_id": one.conversation_id,
                    "read_at": func.now() if one.read_at is None else one.read_at,
                    "removed_at": None,
                }
                row = insert(ReadingTable).values(user_id=user_id, doc_id=one.paper_id, **fresh)
                connection.execute(
                    row.on_conflict_do_update(index_elements=["user_id", "doc_id"], set_=fresh)
                )
        for one in new:
            self._index(one.embedding_model, len(one.vector))

    def history(self, user_id: UUID) -> list[Reading]:
        """Return all readings of a user, the latest first."""
        query = (
            select(*_COLUMNS)
            .where(_kept(known_user(user_id)))
            .order_by(ReadingTable.read_at.desc(), ReadingTable.id)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
            votes = _votes(connection, user_id)
        return [_reading(row, votes) for row in rows]

    def reading(self, user_id: UUID, paper_id: UUID) -> Reading:
        """Return the reading of a paper.

        Raises:
            NotFound: there is none.
        """
        query = select(*_COLUMNS).where(_of(known_user(user_id), paper_id))
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
            votes = _votes(connection, user_id, [paper_id])
        if row is None:
            raise no_reading()
        return _reading(row, votes)

    def edit(
        self, user_id: UUID, paper_id: UUID, summary: str, vector: Vectors, model: str
    ) -> None:
        """Replace a reading's summary, and the vector that goes with it.

        Raises:
            NotFound: there is no such reading.
        """
        values = {"summary": storable(summary), "embedding": vector, "embedding_model": model}
        change = update(ReadingTable).where(_of(known_user(user_id), paper_id)).values(**values)
        with self._engine.begin() as connection:
            _needs_one(connection.execute(change).rowcount)
        self._index(model, len(vector))

    def forget(self, user_id: UUID, papers: Sequence[UUID] | None = None) -> datetime:
        """Take readings and the votes on them out; all of the user's when no papers are named.

        Returns:
            The moment by which `restore` has them back, until `purge`.

        Raises:
            NotFound: there are none.
        """
        with self._engine.begin() as connection:
            at: datetime = connection.scalars(select(func.clock_timestamp())).one()
            gone = 0
            for table in (ReadingTable, ReadingVoteTable):
                wanted = (table.user_id == known_user(user_id)) & table.removed_at.is_(None)
                if papers is not None:
                    wanted &= table.doc_id.in_(papers)
                gone += connection.execute(
                    update(table).where(wanted).values(removed_at=at)
                ).rowcount
            _needs_one(gone)
        return at

    def restore(self, user_id: UUID, at: datetime) -> None:
        """Have back what was forgotten at that moment.

        Raises:
            NotFound: nothing was, or it has gone for good.
        """
        back = 0
        with self._engine.begin() as connection:
            for table in (ReadingTable, ReadingVoteTable):
                wanted = (table.user_id == known_user(user_id)) & (table.removed_at == at)
                back += connection.execute(
                    update(table).where(wanted).values(removed_at=None)
                ).rowcount
            _needs_one(back)

    def purge(self, before: datetime) -> int:
        """Delete for good what was forgotten before that; return how many readings went."""
        with self._engine.begin() as connection:
            connection.execute(delete(ReadingVoteTable).where(ReadingVoteTable.removed_at < before))
            gone = connection.execute(delete(ReadingTable).where(ReadingTable.removed_at < before))
        return gone.rowcount

    # --- whether to remember --------------------------------------------------------------------

    def pause(self, user_id: UUID, paused: bool) -> None:
        """Have nothing remembered for the user from now on, or go on remembering."""
        known_user(user_id)
        with self._engine.begin() as connection:
            if paused:
                row = insert(ReadingPauseTable).values(user_id=user_id)
                connection.execute(row.on_conflict_do_nothing())
            else:
                connection.execute(
                    delete(ReadingPauseTable).where(ReadingPauseTable.user_id == user_id)
                )

    def paused(self, user_id: UUID) -> bool:
        """Return whether nothing is to be remembered for the user at present."""
        query = select(ReadingPauseTable.since).where(
            ReadingPauseTable.user_id == known_user(user_id)
        )
        with self._engine.connect() as connection:
            return connection.scalar(query) is not None

    # --- feedback -------------------------------------------------------------------------------

    def vote(self, user_id: UUID, paper_id: UUID, beside: UUID, vote: int) -> None:
        """Say that a paper was useful beside another (1) or not (-1), or take that back (0).

        One that was suggested stands beside itself.

        Raises:
            ValueError: another vote.
        """
        if vote not in (1, 0, -1):
            raise ValueError(f"no vote: {vote}")
        key = {"user_id": known_user(user_id), "doc_id": paper_id, "beside": beside}
        with self._engine.begin() as connection:
            if vote == 0:
                same = [getattr(ReadingVoteTable, name) == value for name, value in key.items()]
                connection.execute(delete(ReadingVoteTable).where(*same))
                return
            fresh = {"vote": vote, "removed_at": None}
            connection.execute(
                insert(ReadingVoteTable)
                .values(**key, **fresh)
                .on_conflict_do_update(index_elements=list(key), set_=fresh)
            )

    def votes_beside(self, user_id: UUID, beside: UUID) -> dict[UUID, int]:
        """Return the votes given beside a paper, by the paper they are on."""
        query = select(ReadingVoteTable.doc_id, ReadingVoteTable.vote).where(
            ReadingVoteTable.user_id == known_user(user_id),
            ReadingVoteTable.beside == beside,
            ReadingVoteTable.removed_at.is_(None),
        )
        with self._engine.connect() as connection:
            return {row.doc_id: row.vote for row in connection.execute(query)}

    def votes(self, user_id: UUID, papers: Collection[UUID] | None = None) -> dict[UUID, Votes]:
        """Return the votes on papers (on all when none are named); those without any are left out."""
        with self._engine.connect() as connection:
            return _votes(connection, known_user(user_id), papers)

    def clear_votes(self, user_id: UUID, paper_id: UUID) -> int:
        """Take back all votes on a paper; return how many there were."""
        wanted = (ReadingVoteTable.user_id == known_user(user_id)) & (
            ReadingVoteTable.doc_id == paper_id
        )
        with self._engine.begin() as connection:
            return connection.execute(delete(ReadingVoteTable).where(wanted)).rowcount

    # --- vectors --------------------------------------------------------------------------------

    def similar(
        self, user_id: UUID, vector: Vectors, model: str, exclude: UUID, k: int = SIMILAR
    ) -> list[Similar]:
        """Return the user's readings that resemble a paper most, best first.

        The 50 nearest by cosine are reordered by cosine x weight.

        Args:
            user_id: whose readings.
            vector: the paper's, of unit length, shape (dimension,).
            model: made the vector; only readings with vectors of the same are compared.
            exclude: the paper itself.
            k: at most so many.
        """
        with self._engine.connect() as connection:
            query = self._nearest(connection, known_user(user_id), vector, model, exclude)
            rows = connection.execute(query).all()
            votes = _votes(connection, user_id, [row.doc_id for row in rows])
        found = [Similar(_reading(row, votes), 1.0 - float(row.distance)) for row in rows]
        return sorted(found, key=lambda similar: -similar.score)[:k]

    def vectors(self, user_id: UUID, model: str) -> tuple[list[UUID], Vectors]:
        """Return the papers of a user's readings, the latest first, and their vectors.

        Vectors of another model, or of another length than most, are left out. The array has shape
        (papers, dimension), float32.
        """
        query = (
            select(ReadingTable.doc_id, ReadingTable.embedding)
            .where(_kept(known_user(user_id)), ReadingTable.embedding_model == model)
            .order_by(ReadingTable.read_at.desc(), ReadingTable.id)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        lengths = [len(row.embedding) for row in rows]
        usual = max(set(lengths), key=lengths.count, default=0)
        fit = [row for row in rows if len(row.embedding) == usual]
        matrix = np.array([row.embedding for row in fit], dtype=np.float32).reshape(len(fit), usual)
        return [row.doc_id for row in fit], matrix

    def waiting(self, user_id: UUID, model: str, size: int) -> int:
        """Return how many readings of a user have no vector of that model and length yet."""
        query = select(func.count()).where(_kept(known_user(user_id)), _unlike(model, size))
        with self._engine.connect() as connection:
            return connection.scalars(query).one()

    def stale(self, model: str, size: int, most: int) -> list[Stale]:
        """Return readings, of whomever, with no vector of that model and length: at most so many."""
        query = (
            select(ReadingTable.id, ReadingTable.title, ReadingTable.summary)
            .where(ReadingTable.removed_at.is_(None), _unlike(model, size))
            .order_by(ReadingTable.id)
            .limit(most)
        )
        with self._engine.connect() as connection:
            return [Stale(*row) for row in connection.execute(query)]

    def renew(self, model: str, readings: Sequence[Stale], vectors: Vectors) -> None:
        """Store the model's vectors of readings, shape (readings, dimension).

        A reading whose summary has changed meanwhile is left as it is.
        """
        with self._engine.begin() as connection:
            for one, vector in zip(readings, vectors, strict=True):
                connection.execute(
                    update(ReadingTable)
                    .where(ReadingTable.id == one.id, ReadingTable.summary == one.summary)
                    .values(embedding=vector, embedding_model=model)
                )
        if len(vectors):
            self._index(model, vectors.shape[1])

    def _nearest(
        self, connection: Connection, user_id: UUID, vector: Vectors, model: str, exclude: UUID
    ) -> Any:
        """Return the query for the 50 nearest, so written that the index of the model can serve it."""
        size = len(vector)
        column: Any = ReadingTable.embedding
        if self._pgvector(connection) >= _ITERATIVE:
            column = cast(ReadingTable.embedding, Vector(size))
            connection.execute(text("SET LOCAL hnsw.iterative_scan = strict_order"))
            connection.execute(text("SET LOCAL hnsw.ef_search = 100"))
        distance = column.cosine_distance(vector)
        return (
            select(*_COLUMNS, distance.label("distance"))
            .where(
                _kept(user_id),
                ReadingTable.doc_id != exclude,
                ReadingTable.embedding_model == _literal(model),
                func.vector_dims(ReadingTable.embedding) == _literal(size),
            )
            .order_by(distance)
            .limit(NEAREST)
        )

    def _pgvector(self, connection: Connection) -> tuple[int, ...]:
        if not self._version:
            self._version = numbered(vector_version(connection))
        return self._version

    def _index(self, model: str, size: int) -> None:
        """Have an index of the vectors that the model makes, unless there is one or can be none."""
        if not model or (model, size) in self._indexed or size > _MOST_DIMENSIONS:
            return
        known_by = hashlib.sha256(model.encode()).hexdigest()[:12]
        named = sql.Literal(model).as_string().replace(":", "\\:")
        with self._engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _INDEX_LOCK})
            connection.execute(
                text(
                    f"CREATE INDEX IF NOT EXISTS readings_{known_by}_{size} ON user_paper_profile "
                    f"USING hnsw ((embedding::vector({size})) vector_cosine_ops) "
                    f"WHERE embedding_model = {named} AND vector_dims(embedding) = {size}"
                )
            )
        self._indexed.add((model, size))


def no_reading() -> NotFound:
    """Return the failure that a paper has not been read, or not by this user."""
    return NotFound(
        say("There is no such paper in the reading history."),
        hint=say("The history lists what has been read."),
    )


_COLUMNS = (
    ReadingTable.id,
    ReadingTable.doc_id,
    ReadingTable.title,
    ReadingTable.summary,
    ReadingTable.embedding_model,
    ReadingTable.model_name,
    ReadingTable.conversation_id,
    ReadingTable.read_at,
)


def _reading(row: Any, votes: Mapping[UUID, Votes]) -> Reading:
    found = Reading(*row[: len(_COLUMNS)])
    return replace(found, votes=votes.get(found.paper_id, Votes()))


def _votes(
    connection: Connection, user_id: UUID, papers: Collection[UUID] | None = None
) -> dict[UUID, Votes]:
    useful = func.count().filter(ReadingVoteTable.vote > 0)
    useless = func.count().filter(ReadingVoteTable.vote < 0)
    query = (
        select(ReadingVoteTable.doc_id, useful, useless)
        .where(ReadingVoteTable.user_id == user_id, ReadingVoteTable.removed_at.is_(None))
        .group_by(ReadingVoteTable.doc_id)
    )
    if papers is not None:
        query = query.where(ReadingVoteTable.doc_id.in_(papers))
    return {row[0]: Votes(row[1], row[2]) for row in connection.execute(query)}


def _kept(user_id: UUID) -> ColumnElement[bool]:
    return (ReadingTable.user_id == user_id) & ReadingTable.removed_at.is_(None)


def _unlike(model: str, size: int) -> ColumnElement[bool]:
    other: ColumnElement[bool] = ReadingTable.embedding_model != model
    return other | (func.vector_dims(ReadingTable.embedding) != size)


def _of(user_id: UUID, paper_id: UUID) -> ColumnElement[bool]:
    return _kept(user_id) & (ReadingTable.doc_id == paper_id)


def _needs_one(count: int) -> None:
    if count == 0:
        raise no_reading()


def _literal(value: str | int) -> ColumnElement[Any]:
    """Return a value that is written into the statement: a partial index is chosen by it."""
    return literal(value, literal_execute=True)
