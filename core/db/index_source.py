"""What the index over a whole library reads from Postgres: chunk ids, terms and vectors in bulk.

Chunks of reference lists are left out everywhere: they are not in the index.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, TextClause, text

Ids = NDArray[np.int64]
Matrix = NDArray[np.float32]

_BATCH = 2_000
"""Chunks a round trip: some 4 MB of vectors or of terms."""

_CHUNKS = text("""
    SELECT c.paper_id, array_agg(c.id ORDER BY c.id)
    FROM library l JOIN chunks c ON c.paper_id = l.paper_id
    WHERE l.user_id = :user AND l.removed_at IS NULL AND c.kind <> 'references'
    GROUP BY c.paper_id ORDER BY c.paper_id""")

_TERMS = text("SELECT id, terms FROM chunks WHERE id = ANY(:ids) ORDER BY id")

_MODELS = text("""
    SELECT DISTINCT e.model, e.dimension
    FROM library l JOIN chunks c ON c.paper_id = l.paper_id JOIN embeddings e ON e.chunk_id = c.id
    WHERE l.user_id = :user AND l.removed_at IS NULL AND c.kind <> 'references'
    ORDER BY e.model, e.dimension""")

_VECTORS = text("""
    SELECT chunk_id, vector_send(vector) FROM embeddings
    WHERE chunk_id = ANY(:ids) AND model = :model AND dimension = :dimension
    ORDER BY chunk_id""")
# pgvector's binary form: dimension and a reserved word (two bytes each), then big-endian float32.
_VECTOR_HEADER = 4

_NEAREST_OF = text("""
    SELECT chunk_id, 1 - (vector <=> CAST(:vector AS vector)) AS cosine FROM embeddings
    WHERE chunk_id = ANY(:ids) AND model = :model AND dimension = :dimension
    ORDER BY cosine DESC, chunk_id LIMIT :k""")

_NEAREST = text("""
    SELECT e.chunk_id, 1 - (e.vector <=> CAST(:vector AS vector)) AS cosine
    FROM library l JOIN chunks c ON c.paper_id = l.paper_id JOIN embeddings e ON e.chunk_id = c.id
    WHERE l.user_id = :user AND l.removed_at IS NULL AND c.kind <> 'references'
        AND e.model = :model AND e.dimension = :dimension
    ORDER BY cosine DESC, e.chunk_id LIMIT :k""")


class IndexSource:
    """Bulk reads over the chunks of libraries. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def chunks(self, user_id: UUID) -> list[tuple[UUID, Ids]]:
        """Return the papers of a library, each with the ids of its chunks in ascending order."""
        rows = self._rows(_CHUNKS, user=user_id)
        return [(paper, np.array(ids, dtype=np.int64)) for paper, ids in rows]

    def models(self, user_id: UUID) -> list[tuple[str, int]]:
        """Return the models that have vectors in a library, with their dimensions."""
        return [(model, dimension) for model, dimension in self._rows(_MODELS, user=user_id)]

    def terms(self, ids: Ids) -> Iterator[tuple[int, str]]:
        """Yield (chunk id, its terms joined by spaces) of those that exist, by ascending id."""
        for batch in _batches(ids):
            yield from ((row[0], row[1]) for row in self._rows(_TERMS, ids=batch))

    def vectors(self, ids: Ids, model: str, dimension: int) -> tuple[Ids, Matrix]:
        """Return the ids that have a vector, ascending (n,), and the vectors (n, dimension)."""
        found: list[int] = []
        parts: list[bytes] = []
        for batch in _batches(ids):
            for chunk_id, data in self._rows(_VECTORS, ids=batch, model=model, dimension=dimension):
                found.append(chunk_id)
                parts.append(bytes(data)[_VECTOR_HEADER:])
        matrix = np.frombuffer(b"".join(parts), dtype=">f4").astype(np.float32)
        return np.array(found, dtype=np.int64), matrix.reshape(len(found), dimension)

    def nearest(self, user_id: UUID, model: str, vector: Matrix, k: int) -> list[tuple[int, float]]:
        """Return the k nearest chunks of a whole library as (chunk id, cosine), exactly."""
        return self._nearest(_NEAREST, model, vector, k, user=user_id)

    def nearest_of(self, ids: Ids, model: str, vector: Matrix, k: int) -> list[tuple[int, float]]:
        """Return the k nearest of these chunks as (chunk id, cosine), exactly."""
        return self._nearest(_NEAREST_OF, model, vector, k, ids=ids.tolist())

    def _nearest(
        self, statement: TextClause, model: str, vector: Matrix, k: int, **scope: object
    ) -> list[tuple[int, float]]:
        literal = "[" + ",".join(map(str, vector.tolist())) + "]"
        rows = self._rows(
            statement, model=model, dimension=len(vector), vector=literal, k=k, **scope
        )
        return [(chunk_id, cosine) for chunk_id, cosine in rows]

    def _rows(self, statement: TextClause, **values: object) -> Sequence[Any]:
        with self._engine.connect() as connection:
            return connection.execute(statement, values).all()


def _batches(ids: Ids) -> Iterator[list[int]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH].tolist()
