"""The table's example questions as vectors: how near a question comes to each intent."""

import threading
from typing import NamedTuple

import numpy as np

from core.agent.intents import Intent, all_intents
from core.models.embed import Embedder, Vectors

HEAD = 300
"""Characters of a question that are compared: what is wanted stands there, the rest is pasted."""


class _Encoded(NamedTuple):
    table: tuple[Intent, ...]
    owners: tuple[str, ...]
    vectors: Vectors


class Examples:
    """Encodes the examples once per table, however many threads ask first."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._encoded: _Encoded | None = None

    def nearest(self, question: str) -> dict[str, float]:
        """Return the cosine of the nearest example of every intent that has any."""
        encoded = self._examples()
        if not encoded.owners:
            return {}
        similar = encoded.vectors @ self._embedder.encode([question[:HEAD]])[0]
        best: dict[str, float] = {}
        for owner, value in zip(encoded.owners, np.asarray(similar), strict=True):
            best[owner] = max(best.get(owner, -1.0), float(value))
        return best

    def _examples(self) -> _Encoded:
        table = all_intents()
        encoded = self._encoded
        if encoded is None or encoded.table != table:
            with self._lock:
                encoded = self._encoded
                if encoded is None or encoded.table != table:
                    encoded = self._encoded = self._encode(table)
        return encoded

    def _encode(self, table: tuple[Intent, ...]) -> _Encoded:
        pairs = [(entry.name, example) for entry in table for example in entry.examples]
        vectors = self._embedder.encode([example for _, example in pairs])
        return _Encoded(table, tuple(owner for owner, _ in pairs), vectors)
