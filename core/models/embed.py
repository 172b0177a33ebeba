"""Embedders: text in, unit vectors out. Loading is lazy, thread-safe, and can be waited for."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """One dense path."""

    name: str
    dimension: int
    languages: frozenset[str] | None
    """Languages it is good for ('en', 'zh', ...); None means all."""

    @property
    def ready(self) -> bool:
        """Whether the weights are in memory, so that `encode` does not have to load them."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (len(texts), dimension), loading if need be."""
        ...
