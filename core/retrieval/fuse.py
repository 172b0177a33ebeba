"""From each path's scores to one order: z-scores, weighted by the case.

Scores come as one array a path over the same candidates. NaN says that the path could not see
that candidate (its paper has no vectors by that model yet); a path that looked and did not list
a candidate gives it the lowest score it did list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.retrieval.weights import Case, path_weights

Array = NDArray[np.float64]
BM25 = "bm25"


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunk ids, shape (n,), and by path one score each, shape (n,)."""

    ids: NDArray[np.int64]
    scores: Mapping[str, Array]


def union(lists: Mapping[str, Sequence[tuple[int, float]]]) -> Candidates:
    """Return the candidates that any path listed, in the order they are first met."""
    ids = list(dict.fromkeys(chunk_id for found in lists.values() for chunk_id, _ in found))
    position = {chunk_id: i for i, chunk_id in enumerate(ids)}
    scores: dict[str, Array] = {}
    for path, found in lists.items():
        # BM25 lists every match when it lists few, so what is missing shares no term: zero.
        floor = 0.0 if path == BM25 and not found else min((s for _, s in found), default=np.nan)
        column = np.full(len(ids), floor)
        for chunk_id, score in found:
            column[position[chunk_id]] = score
        scores[path] = column
    return Candidates(np.array(ids, dtype=np.int64), scores)


def z_scores(scores: Array) -> Array:
    """Return (x - mean) / standard deviation over what is not NaN; zeros where all are equal."""
    seen = ~np.isnan(scores)
    if not seen.any():
        return scores.copy()
    centred = scores - scores[seen].mean()
    deviation = centred[seen].std()
    if deviation <= 1e-9 * max(1.0, float(np.abs(scores[seen]).max())):
        return np.where(seen, 0.0, np.nan)
    return np.asarray(centred / deviation)


def fuse(scores: Mapping[str, Array], case: Case) -> Array:
    """Return the fused score of each candidate, shape (n,): the weighted mean of its z-scores.

    The weights of the paths that could see a candidate are scaled to add up to one, so a chunk
    whose vectors are still being made is neither favoured nor punished.
    """
    if not scores:
        return np.zeros(0)
    weights = path_weights(list(scores), case)
    total = np.zeros(len(next(iter(scores.values()))))
    mass = np.zeros_like(total)
    for path, column in scores.items():
        z = z_scores(np.asarray(column, dtype=np.float64))
        seen = ~np.isnan(z)
        total[seen] += weights[path] * z[seen]
        mass[seen] += weights[path]
    return np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)


def best_first(fused: Array, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return positions by falling score; equal scores by chunk id, so that an order is stable."""
    return np.lexsort((ids, -fused))
