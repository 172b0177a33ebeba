"""Example questions as vectors: how near a question comes to each intent.

The table has some for every intent; `examples.jsonl` has more, the choosing half
of `eval routing` among them.
"""

import json
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.agent.intents import Intent, all_intents
from core.models.embed import Embedder, Vectors

HEAD = 300
"""Characters of a question that are compared: what is wanted stands there, the rest is pasted."""

NEIGHBOURS = 2
"""Examples of an intent that a question is held against: the nearest ones."""
_MORE = Path(__file__).with_name("examples.jsonl")


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
        """Return for every intent that has examples the mean cosine of the nearest two."""
        encoded = self._examples()
        if not encoded.owners:
            return {}
        similar = encoded.vectors @ self._embedder.encode([question[:HEAD]])[0]
        of_intent: dict[str, list[float]] = {}
        for owner, value in zip(encoded.owners, np.asarray(similar), strict=True):
            of_intent.setdefault(owner, []).append(float(value))
        return {
            owner: float(np.mean(sorted(values)[-NEIGHBOURS:]))
            for owner, values in of_intent.items()
        }

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
        known = {entry.name for entry in table}
        rows = map(json.loads, _MORE.read_text(encoding="utf-8").splitlines())
        pairs += [(row["intent"], row["text"]) for row in rows if row["intent"] in known]
        vectors = self._embedder.encode([example[:HEAD] for _, example in pairs])
        return _Encoded(table, tuple(owner for owner, _ in pairs), vectors)
