"""Papers a user has read, each with a summary and a vector, and which of them resemble another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Engine, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from core.db.orm import ReadingTable
from core.db.text import storable
from core.errors import NotFound
from core.models.embed import Vectors
from core.wording import say

NEAREST = 50
"""Readings that feedback may reorder."""
SIMILAR = 3
_STEP, _LEAST, _MOST = 0.25, 0.25, 2.0
"""What one vote changes of a reading's weight, and the weight's limits."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A paper that was read for a user. It outlives the paper.

    `model_name` wrote the summary ('' when extraction did); `useful` and `not_useful` count the
    user's votes.
    """

    id: UUID
    paper_id: UUID
    title: str
    summary: str
    embedding_model: str
    model_name: str
    conversation_id: UUID | None
    read_at: datetime
    useful: int
    not_useful: int

    @property
    def weight(self) -> float:
        """Return what the votes make of its closeness: 1 without any, 0.25 to 2."""
        return min(_MOST, max(_LEAST, 1 + _STEP * (self.useful - self.not_useful)))

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


class ReadingStore:
    """All access to readings. Another user's behave like readings that do not exist.

    Every method raises `DatabaseDown` when the server cannot be used.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def remember(
        self,
        user_id: UUID,
        paper_id: UUID,
        *,
        title: str,
        summary: str,
        vector: Vectors,
        embedding_model: str,
        model_name: str = "",
        conversation_id: UUID | None = None,
    ) -> None:
        """Note that a paper has been read now; what was noted of it before is replaced, not its votes.

        Args:
            user_id: who read it.
            paper_id: which paper.
            title: the paper's, never an id.
            summary: what it says.
            vector: of unit length, shape (dimension,).
            embedding_model: made the vector.
            model_name: wrote the summary; '' if extraction did.
            conversation_id: where it was read.

        Raises:
            ValueError: without a title or a vector.
        """
        if not title.strip() or vector.ndim != 1 or len(vector) == 0:
            raise ValueError("a reading has a title and a vector")
        fresh = {
            "title": storable(title),
            "summary": storable(summary),
            "embedding": vector,
            "embedding_model": embedding_model,
            "model_name": model_name,
            "conversation_id": conversation_id,
            "read_at": func.now(),
        }
        new = insert(ReadingTable).values(user_id=user_id, doc_id=paper_id, **fresh)
        with self._engine.begin() as connection:
            connection.execute(
                new.on_conflict_do_update(index_elements=["user_id", "doc_id"], set_=fresh)
            )

    def history(self, user_id: UUID) -> list[Reading]:
        """Return all readings of a user, the latest first."""
        query = (
            select(*_COLUMNS)
            .where(ReadingTable.user_id == user_id)
            .order_by(ReadingTable.read_at.desc(), ReadingTable.id)
        )
        with self._engine.connect() as connection:
            return [_reading(row) for row in connection.execute(query)]

    def forget(self, user_id: UUID, paper_id: UUID) -> None:
        """Delete the reading of a paper.

        Raises:
            NotFound: there is none.
        """
        with self._engine.begin() as connection:
            gone = connection.execute(delete(ReadingTable).where(_of(user_id, paper_id)))
        if gone.rowcount == 0:
            raise no_reading()

    def feedback(self, user_id: UUID, paper_id: UUID, vote: int) -> None:
        """Count a vote on a reading: 1 it was useful beside another paper, -1 it was not.

        Raises:
            NotFound: there is no such reading.
            ValueError: another vote.
        """
        if vote not in (1, -1):
            raise ValueError(f"no vote: {vote}")
        column = ReadingTable.useful if vote == 1 else ReadingTable.not_useful
        change = update(ReadingTable).where(_of(user_id, paper_id)).values({column: column + 1})
        with self._engine.begin() as connection:
            known = connection.execute(change)
        if known.rowcount == 0:
            raise no_reading()

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
        distance = ReadingTable.embedding.cosine_distance(vector)
        query = (
            select(*_COLUMNS, distance.label("distance"))
            .where(
                ReadingTable.user_id == user_id,
                ReadingTable.doc_id != exclude,
                ReadingTable.embedding_model == model,
                func.vector_dims(ReadingTable.embedding) == len(vector),
            )
            .order_by(distance)
            .limit(NEAREST)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        found = [Similar(_reading(row), 1.0 - float(row.distance)) for row in rows]
        return sorted(found, key=lambda similar: -similar.score)[:k]


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
    ReadingTable.useful,
    ReadingTable.not_useful,
)


def _reading(row: Sequence[Any]) -> Reading:
    return Reading(*row[: len(_COLUMNS)])


def _of(user_id: UUID, paper_id: UUID) -> ColumnElement[bool]:
    return (ReadingTable.user_id == user_id) & (ReadingTable.doc_id == paper_id)
