"""Okapi BM25 over the chunks of one paper or a handful, on `rank-bm25`."""

import math
import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

_K1, _B = 1.5, 0.75
"""The same constants as `bm25s` has by default, so that a library scores like a paper."""


class _Okapi(BM25Okapi):  # type: ignore[misc]
    """BM25Okapi whose inverse document frequency is never negative.

    The original's log((N - n + 0.5) / (n + 0.5)) is below zero for a term in more than half of
    the documents, and its floor (a share of the average) is itself negative in tiny collections:
    in a paper of one chunk every match counted against it. Lucene's log(1 + ...) has no such
    case, and is what `bm25s` uses too.
    """

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.containing = nd
        self.idf = {
            term: math.log(1.0 + (self.corpus_size - n + 0.5) / (n + 0.5)) for term, n in nd.items()
        }


class Bm25Index:
    """An index over documents given as terms; documents are known by their position."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._size = len(documents)
        # rank-bm25 divides by the number of documents and by their average length.
        self._okapi = _Okapi(documents, k1=_K1, b=_B) if any(documents) else None

    @classmethod
    def merged(cls, parts: Sequence["Bm25Index"]) -> "Bm25Index":
        """Return the index of all documents of the parts in order, without tokenising again."""
        if len(parts) == 1:
            return parts[0]
        merged = cls(())
        merged._size = sum(part._size for part in parts)
        if any(part._okapi for part in parts):
            merged._okapi = _joined(parts)
        return merged

    def __len__(self) -> int:
        return self._size

    def scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return one score a document, shape (len(self),); all zero when no term is known."""
        if self._okapi is None:
            return np.zeros(self._size)
        known = [term for term in terms if term in self._okapi.idf]
        return np.asarray(self._okapi.get_scores(known), dtype=np.float64)

    def coverage(self, terms: Sequence[str]) -> float:
        """Return the share of the distinct terms that stand in any document, 0 to 1."""
        distinct = set(terms)
        if self._okapi is None or not distinct:
            return 0.0
        return sum(term in self._okapi.idf for term in distinct) / len(distinct)

    @property
    def nbytes(self) -> int:
        """Roughly what the index occupies: its dictionaries, and each distinct term once."""
        if self._okapi is None:
            return 0
        tables = sum(map(sys.getsizeof, self._okapi.doc_freqs))
        terms = sum(map(sys.getsizeof, self._okapi.idf))
        return tables + terms + 2 * sys.getsizeof(self._okapi.idf)


def _joined(parts: Sequence[Bm25Index]) -> _Okapi:
    """Return the state that `_Okapi` would have reached over all documents of the parts."""
    joined = _Okapi.__new__(_Okapi)
    joined.k1, joined.b = _K1, _B
    joined.doc_freqs, joined.doc_len = [], []
    containing: Counter[str] = Counter()
    for part in parts:
        if part._okapi is None:
            joined.doc_freqs += [{}] * part._size
            joined.doc_len += [0] * part._size
            continue
        joined.doc_freqs += part._okapi.doc_freqs
        joined.doc_len += part._okapi.doc_len
        containing.update(part._okapi.containing)
    joined.corpus_size = len(joined.doc_len)
    joined.avgdl = sum(joined.doc_len) / joined.corpus_size
    joined._calc_idf(containing)
    return joined
