"""The dense paths: exact cosine over unit vectors, and which models a query may use."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.models.embed import Embedder, Vectors
from core.types import Language


def usable(embedders: Sequence[Embedder], language: Language) -> list[Embedder]:
    """Return the embedders that a query in this language goes through.

    The first one always does, loading if need be: it is the path that every paper has. Others
    only when their weights are in memory already and they are good for the language.
    """
    return [
        embedder
        for i, embedder in enumerate(embedders)
        if i == 0
        or (embedder.ready and (embedder.languages is None or language in embedder.languages))
    ]


def embed_query(embedders: Sequence[Embedder], query: str) -> dict[str, Vectors]:
    """Return one unit vector a model, shape (dimension,): each model embeds the query once."""
    return {embedder.name: embedder.encode([query])[0] for embedder in embedders}


def cosine(vectors: Vectors, query: Vectors) -> NDArray[np.float64]:
    """Return the cosine of each unit vector, (n, dim), with the query's, (dim,): shape (n,)."""
    return np.asarray(vectors @ query, dtype=np.float64)
