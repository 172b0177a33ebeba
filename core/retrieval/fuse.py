"""From each path's scores to one order: z-scores, weighted by the case.

Scores come as one array a path over the same candidates. NaN says that the path could not see
that candidate (no vector by that model yet, or a language that it does not know); a path that
looked and did not list a candidate gives it the lowest score it did list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.models.embed import Embedder
from core.retrieval.weights import BM25, FusionTable, ScopeKind, Shares
from core.types import Language

Array = NDArray[np.float64]

_NEAREST = 10


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunk ids, shape (n,), and by path one score each, shape (n,)."""

    ids: NDArray[np.int64]
    scores: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Case:
    """What the weights depend on, besides the paths that there are.

    `same`: shape (n,), whether a candidate is in the query's language.
    """

    scope: ScopeKind
    same: NDArray[np.bool_]


def union(lists: Mapping[str, Sequence[tuple[int, float]]], k: int) -> Candidates:
    """Return the candidates that any path listed, in the order they are first met.

    Args:
        lists: by path, (chunk id, score), each list with at most k entries.
        k: how many a path was asked for. A shorter list of BM25 holds every match there is, so
            what it does not list scores 0.
    """
    ids = list(dict.fromkeys(chunk_id for found in lists.values() for chunk_id, _ in found))
    position = {chunk_id: i for i, chunk_id in enumerate(ids)}
    scores: dict[str, Array] = {}
    for path, found in lists.items():
        lowest = min((score for _, score in found), default=np.nan)
        complete = path == BM25 and len(found) < k
        column = np.full(len(ids), 0.0 if complete else lowest)
        for chunk_id, score in found:
            column[position[chunk_id]] = score
        scores[path] = column
    return Candidates(np.array(ids, dtype=np.int64), scores)


def hide_foreign(
    scores: Mapping[str, Array], languages: Sequence[Language], embedders: Sequence[Embedder]
) -> dict[str, Array]:
    """Return the scores with NaN where a model does not know the candidate's language.

    A path that then sees nothing is left out.
    """
    known = {
        embedder.name: embedder.languages
        for embedder in embedders
        if embedder.languages is not None
    }
    hidden = dict(scores)
    for model in known.keys() & scores.keys():
        reads = np.array([language in known[model] for language in languages], dtype=bool)
        hidden[model] = np.where(reads, scores[model], np.nan)
    return {path: column for path, column in hidden.items() if not np.isnan(column).all()}


def z_scores(scores: Array) -> Array:
    """Return (x - mean) / standard deviation over what is not NaN; zeros where all are equal."""
    seen = ~np.isnan(scores)
    if not seen.any():
        return scores.copy()
    centred = scores - scores[seen].mean()
    deviation = float(np.sqrt(np.mean(centred[seen] ** 2)))
    if deviation <= 1e-9 * max(1.0, float(np.abs(scores[seen]).max())):
        return np.where(seen, 0.0, np.nan)
    return np.asarray(centred / deviation)


def fuse(scores: Mapping[str, Array], case: Case, table: FusionTable) -> Array:
    """Return the fused score of each candidate, shape (n,): a weighted mean of its z-scores.

    A candidate's weights are shared out among the paths that could see it, so a chunk whose
    vectors are still being made is neither favoured nor punished.
    """
    dense = {path: z_scores(column) for path, column in scores.items() if path != BM25}
    size = len(case.same)
    strength, total, strong = np.zeros(size), np.zeros(size), np.zeros(size, dtype=bool)
    for model, z in dense.items():
        seen = ~np.isnan(z)
        strength[seen] += table.strength_of(model)
        total[seen] += table.strength_of(model) * z[seen]
        strong |= seen & table.strong(model)
    mean = np.divide(total, strength, out=np.zeros(size), where=strength > 0)
    if BM25 not in scores:
        return mean
    share = _keyword_share(table.shares(case.scope), case.same, strong, mean)
    share[strength == 0] = 1.0
    keyword = _keyword_z(scores[BM25], case.same, table.cross_limit)
    return np.asarray(share * keyword + (1.0 - share) * mean)


def _keyword_share(
    shares: Shares, same: NDArray[np.bool_], strong: NDArray[np.bool_], dense: Array
) -> Array:
    """Return BM25's share of the weight for each candidate, shape (n,).

    Where passages nearest in meaning are in another language than the query, the shared terms of
    others tell less: their share moves towards the one across languages.
    """
    at_home = np.where(strong, shares.same_strong, shares.same)
    nearest = np.argsort(-dense, kind="stable")[:_NEAREST]
    part = float(same[nearest].mean()) if len(nearest) else 1.0
    return np.where(same, shares.cross + part * (at_home - shares.cross), shares.cross)


def _keyword_z(scores: Array, same: NDArray[np.bool_], cross_limit: float) -> Array:
    """Return BM25's z-scores, taken apart for candidates in the query's language and others.

    A passage in another language shares few terms with any query, which says nothing against it.
    """
    z = np.zeros(len(scores))
    z[same] = z_scores(scores[same])
    z[~same] = np.minimum(z_scores(scores[~same]), cross_limit)
    return z


def combine(
    scores: Mapping[str, Array],
    languages: Sequence[Language],
    query: Language,
    scope: ScopeKind,
    embedders: Sequence[Embedder],
    table: FusionTable,
) -> tuple[dict[str, Array], Array]:
    """Return the scores of the paths that took part, and the fused score of each candidate.

    Args:
        scores: by path, shape (n,).
        languages: the candidates' languages, n of them.
        query: the query's language.
        scope: one paper, or several.
        embedders: those that the query went through.
        table: the weights.
    """
    seen = hide_foreign(scores, languages, embedders)
    same = np.array([language == query for language in languages], dtype=bool)
    return seen, fuse(seen, Case(scope, same), table)


def best_first(fused: Array, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return positions by falling score; equal scores by chunk id, so that an order is stable."""
    return np.lexsort((ids, -fused))
