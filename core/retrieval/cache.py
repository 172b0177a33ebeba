"""What searching within papers needs in memory, built once a paper and bounded in bytes."""

import sys
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.models.embed import Vectors
from core.retrieval.bm25 import Bm25Index
from core.retrieval.language import language_of
from core.types import Chunk

_SPAN_BYTES = 320
"""A span with its box and its six numbers, as CPython keeps them."""


class PaperSource(Protocol):
    """The part of the paper store that a bundle is built from."""

    def chunks(self, paper_ids: Sequence[UUID], *, references: bool = False) -> list[Chunk]:
        """Return the chunks by paper and position."""
        ...

    def terms(
        self, paper_ids: Sequence[UUID], *, references: bool = False
    ) -> list[tuple[int, str]]:
        """Return (chunk id, its terms joined by spaces) in the same order."""
        ...

    def vectors(self, paper_ids: Sequence[UUID], model: str) -> tuple[NDArray[np.int64], Vectors]:
        """Return chunk ids (n,) and unit vectors (n, dim), only those present."""
        ...


class PaperBundle:
    """One paper's chunks with languages, BM25 index and vectors by model, in one order.

    Vectors are read when first asked for. A model whose vectors are not all there yet is not
    remembered: it is asked for again, so a path that fills in later comes in by itself, whoever
    wrote it.
    """

    def __init__(self, source: PaperSource, paper_id: UUID, *, references: bool) -> None:
        self.paper_id = paper_id
        self.chunks = tuple(source.chunks([paper_id], references=references))
        self.ids = np.array([chunk.id for chunk in self.chunks], dtype=np.int64)
        self.languages = tuple(language_of(chunk.text) for chunk in self.chunks)
        terms = dict(source.terms([paper_id], references=references))
        self.bm25 = Bm25Index([terms.get(chunk.id, "").split() for chunk in self.chunks])
        self._source = source
        self._vectors: dict[str, Vectors] = {}
        self._lock = Lock()
        self._own_bytes = self.bm25.nbytes + sum(
            sys.getsizeof(chunk.text) + _SPAN_BYTES * (len(chunk.spans) + 1)
            for chunk in self.chunks
        )

    def vectors(self, model: str) -> Vectors | None:
        """Return unit vectors, shape (chunks, dim), or None while the model's are incomplete."""
        with self._lock:
            if model not in self._vectors:
                ids, vectors = self._source.vectors([self.paper_id], model)
                position = {int(chunk_id): i for i, chunk_id in enumerate(ids)}
                if not all(chunk.id in position for chunk in self.chunks):
                    return None
                rows = [position[chunk.id] for chunk in self.chunks]
                self._vectors[model] = np.ascontiguousarray(vectors[rows], dtype=np.float32)
            return self._vectors[model]

    @property
    def nbytes(self) -> int:
        """Roughly what the bundle occupies."""
        with self._lock:
            return self._own_bytes + sum(array.nbytes for array in self._vectors.values())


class _Slot:
    """A place in the cache; its lock is held while its bundle is built or grows."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.bundle: PaperBundle | None = None
        self.nbytes = 0


class PaperCache:
    """Bundles of papers, least recently used out first, at most `max_bytes` of them.

    Thread-safe. However many threads ask first, a bundle is built once; others wait for it and
    nobody waits for another paper's. A single bundle larger than the bound is used and dropped.
    """

    def __init__(self, source: PaperSource, max_bytes: int = 256 * 1024 * 1024) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._slots: OrderedDict[tuple[UUID, bool], _Slot] = OrderedDict()
        self._lock = Lock()

    def get(
        self, paper_id: UUID, models: Sequence[str] = (), *, references: bool = False
    ) -> PaperBundle:
        """Return a paper's bundle with the vectors of these models read in, where there are any."""
        key = (paper_id, references)
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
        with slot.lock:
            if slot.bundle is None:
                slot.bundle = PaperBundle(self._source, paper_id, references=references)
            bundle = slot.bundle
            for model in models:
                bundle.vectors(model)
            nbytes = bundle.nbytes
        with self._lock:
            slot.nbytes = nbytes
            self._evict()
        return bundle

    def invalidate(self, paper_id: UUID) -> None:
        """Forget a paper: it was removed, or its vectors were made anew."""
        with self._lock:
            for references in (False, True):
                self._slots.pop((paper_id, references), None)

    @property
    def nbytes(self) -> int:
        """Roughly what all bundles occupy."""
        with self._lock:
            return sum(slot.nbytes for slot in self._slots.values())

    def __len__(self) -> int:
        with self._lock:
            return len(self._slots)

    def _evict(self) -> None:
        total = sum(slot.nbytes for slot in self._slots.values())
        while total > self._max_bytes and self._slots:
            _, slot = self._slots.popitem(last=False)
            total -= slot.nbytes
