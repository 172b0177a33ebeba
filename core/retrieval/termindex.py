"""BM25 over a whole library, on `bm25s`: built from stored terms, kept on disk, patched in between.

The formula is the one papers are scored with (`core.retrieval.bm25`): Okapi's term frequency with
k1 + 1 in the numerator and Lucene's inverse document frequency, which is never negative.
"""

import math
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

# bm25s and scipy are imported where an index is made: the start of the app need not wait for them.
if TYPE_CHECKING:
    from bm25s import BM25
    from scipy.sparse import csr_array

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
Owners = NDArray[np.bytes_]
"""The paper of each chunk: the 16 bytes of its UUID."""

_K1, _B = 1.5, 0.75
_BATCH = 2_000
_FORMAT = 1


class _Vocabulary(dict[str, int]):
    """Terms numbered in the order in which they are first asked for."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class TermIndex:
    """BM25 scores of every (term, chunk) of a library, ready to be added up. Immutable."""

    def __init__(self, ids: Ids, scorer: "BM25", average_length: float, owners: Owners) -> None:
        self.ids = ids
        """Chunk ids in ascending order, shape (n,)."""
        self.owners = owners
        """The paper of each chunk, shape (n,)."""
        self._scorer = scorer
        self._average_length = average_length

    @classmethod
    def build(cls, ids: Ids, owners: Owners, documents: Iterable[tuple[int, str]]) -> Self:
        """Return the index of chunks given as (id, terms joined by spaces), by ascending id.

        Chunks that `documents` leaves out count as empty. Texts are held a batch at a time.
        """
        vocabulary = _Vocabulary()
        parts: list[csr_array] = []
        lengths: list[int] = []
        pending: list[str] = []
        for document in _in_step(ids, documents):
            pending.append(document)
            if len(pending) == _BATCH:
                parts.append(_count(pending, vocabulary, lengths))
                pending = []
        parts.append(_count(pending, vocabulary, lengths))
        return cls._weigh(ids, owners, vocabulary, parts, np.array(lengths, dtype=np.float32))

    @classmethod
    def _weigh(
        cls,
        ids: Ids,
        owners: Owners,
        vocabulary: _Vocabulary,
        parts: list["csr_array"],
        lengths: Floats,
    ) -> Self:
        from scipy.sparse import vstack

        for part in parts:
            part.resize((part.shape[0], len(vocabulary)))
        counts = vstack(parts, format="csc")
        average = float(lengths.mean()) if len(lengths) and lengths.any() else 1.0
        containing = np.diff(counts.indptr)
        weights = np.log1p((len(ids) - containing + 0.5) / (containing + 0.5)).astype(np.float32)
        saturation = _K1 * (1 - _B + _B * lengths / average)
        frequency = counts.data
        data = np.repeat(weights, containing) * frequency
        data *= np.float32(_K1 + 1)
        data /= frequency + saturation[counts.indices].astype(np.float32)
        scorer = _scorer(data, counts.indices, counts.indptr, len(ids), dict(vocabulary))
        return cls(ids, scorer, average, owners)

    def scores(self, terms: Sequence[str]) -> Floats:
        """Return one score a chunk, shape (n,)."""
        known = self._scorer.get_tokens_ids(list(terms))
        if not known:
            return np.zeros(len(self.ids), dtype=np.float32)
        return np.asarray(self._scorer.get_scores_from_ids(known), dtype=np.float32)

    def score_others(self, terms: Sequence[str], others: "Documents") -> Floats:
        """Return the scores that chunks outside the index would have, shape (len(others.ids),).

        With this index's average length and document frequencies; a term it does not know is as
        rare as it is among the others.
        """
        scores = np.zeros(len(others.ids), dtype=np.float32)
        total = len(self.ids) + len(others.ids)
        for term in terms:
            containing = self._containing(term) or others.containing[term]
            weight = math.log1p((total - containing + 0.5) / (containing + 0.5))
            for i, counts in enumerate(others.counts):
                if frequency := counts.get(term, 0):
                    length = others.lengths[i] / self._average_length
                    saturation = _K1 * (1 - _B + _B * length)
                    scores[i] += weight * frequency * (_K1 + 1) / (frequency + saturation)
        return scores

    def _containing(self, term: str) -> int:
        number = self._scorer.vocab_dict.get(term)
        if number is None:
            return 0
        pointers = self._scorer.scores["indptr"]
        return int(pointers[number + 1] - pointers[number])

    @property
    def nbytes(self) -> int:
        """Roughly what the index occupies in memory."""
        arrays = sum(self._scorer.scores[name].nbytes for name in ("data", "indices", "indptr"))
        return int(arrays + self.ids.nbytes + self.owners.nbytes + 120 * self._vocabulary_size)

    @property
    def _vocabulary_size(self) -> int:
        return len(self._scorer.vocab_dict)

    def save(self, path: Path) -> None:
        """Write the index to one file, whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        scores = self._scorer.scores
        vocabulary = "\n".join(self._scorer.vocab_dict).encode()
        with NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            try:
                np.savez(
                    file,
                    format=np.array(_FORMAT),
                    ids=self.ids,
                    owners=self.owners,
                    average=np.array(self._average_length),
                    vocabulary=np.frombuffer(vocabulary, dtype=np.uint8),
                    data=scores["data"],
                    indices=scores["indices"],
                    indptr=scores["indptr"],
                )
            except BaseException:
                Path(file.name).unlink()
                raise
        Path(file.name).replace(path)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Return the index that `save` wrote, or None when there is none that can be trusted.

        Every array's checksum is verified on reading.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                if int(arrays["format"]) != _FORMAT:
                    return None
                terms = arrays["vocabulary"].tobytes().decode().split("\n")
                vocabulary = {term: i for i, term in enumerate(terms)}
                ids: Ids = arrays["ids"]
                scorer = _scorer(
                    arrays["data"], arrays["indices"], arrays["indptr"], len(ids), vocabulary
                )
                return cls(ids, scorer, float(arrays["average"]), arrays["owners"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None


@dataclass(frozen=True, slots=True)
class Documents:
    """A few chunks, counted: what an index does not have yet."""

    ids: Ids
    counts: tuple[Counter[str], ...]
    lengths: tuple[int, ...]
    containing: Counter[str]

    @classmethod
    def of(cls, documents: Iterable[tuple[int, str]]) -> "Documents":
        """Count chunks given as (id, terms joined by spaces)."""
        ids: list[int] = []
        counts: list[Counter[str]] = []
        containing: Counter[str] = Counter()
        for chunk_id, terms in documents:
            ids.append(chunk_id)
            counts.append(Counter(terms.split()))
            containing.update(counts[-1].keys())
        lengths = tuple(count.total() for count in counts)
        return cls(np.array(ids, dtype=np.int64), tuple(counts), lengths, containing)


def _in_step(ids: Ids, documents: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Yield the document of each id, both ascending; empty where there is none."""
    coming = iter(documents)
    chunk_id, terms = next(coming, (None, ""))
    for wanted in ids.tolist():
        while chunk_id is not None and chunk_id < wanted:
            chunk_id, terms = next(coming, (None, ""))
        yield terms if chunk_id == wanted else ""


def _count(documents: list[str], vocabulary: _Vocabulary, lengths: list[int]) -> "csr_array":
    """Return term counts, shape (documents, terms known so far), and note the lengths."""
    from scipy.sparse import coo_array

    own: list[int] = []
    numbers: list[int] = []
    for document in documents:
        terms = document.split()
        own.append(len(terms))
        numbers.extend(map(vocabulary.__getitem__, terms))
    lengths.extend(own)
    rows = np.repeat(np.arange(len(documents), dtype=np.int32), own)
    columns = np.array(numbers, dtype=np.int32)
    ones = np.ones(len(numbers), dtype=np.float32)
    return coo_array((ones, (rows, columns)), shape=(len(documents), len(vocabulary))).tocsr()


def _scorer(
    data: Floats,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int32],
    size: int,
    vocabulary: dict[str, int],
) -> "BM25":
    """Return a bm25s index over scores computed here.

    Its own way of building them takes a Python step per term and chunk: five times as long.
    """
    from bm25s import BM25

    scorer = BM25(k1=_K1, b=_B, method="atire", idf_method="lucene")
    scorer.scores = {"data": data, "indices": indices, "indptr": indptr, "num_docs": size}
    scorer.vocab_dict = vocabulary
    scorer.nonoccurrence_array = None
    return scorer
