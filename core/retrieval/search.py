"""The one door to passages: every node, tool, evaluation and command searches through it."""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput, RerankFailed
from core.models.embed import Embedder, Vectors
from core.retrieval.bm25 import Bm25Index
from core.retrieval.cache import PaperBundle, PaperCache, PaperSource
from core.retrieval.dense import cosine, embed_query, usable
from core.retrieval.fuse import Array, Candidates, best_first, combine, union
from core.retrieval.language import language_of
from core.retrieval.tokenize import normalise, query_terms
from core.retrieval.weights import BM25, FusionTable, ScopeKind, fitted
from core.types import Chunk, Hit, Language, Scope, Scores
from core.wording import say

MAX_QUERY = 8_000
"""Characters. A question with a long selected passage fits; more is a document, not a question."""
EXACT_PAPERS = 24
"""Up to so many papers are scored in full from the cache; more go through the library's index."""
POOL = 200
"""How many chunks each path of the library's index lists."""
RERANK_POOL = 40
"""How many of the fused order the reranker sees."""
_MOST_WIDENING = 8
_HEAD = 200
"""Overlapping chunks share heads: equal first characters make a duplicate."""

logger = logging.getLogger(__name__)


class Store(PaperSource, Protocol):
    """The part of the paper store that searching needs."""

    def library(self, user_id: UUID, paper_ids: Sequence[UUID] | None = None) -> tuple[UUID, ...]:
        """Return the papers of a library; NotFound when one asked for is not in it."""
        ...

    def titles(self, paper_ids: Sequence[UUID], user_id: UUID | None = None) -> dict[UUID, str]:
        """Return the title of each paper, as this user has it."""
        ...

    def chunks_by_id(self, ids: Sequence[int], *, spans: bool = True) -> dict[int, Chunk]:
        """Return the chunks that exist, with or without their spans."""
        ...

    def vector_counts(self, paper_ids: Sequence[UUID]) -> dict[UUID, dict[str, int]]:
        """Return, by paper, how many vectors it has by each model."""
        ...


class Library(Protocol):
    """The index over a user's whole library."""

    def dense(self, user_id: UUID, model: str, vector: Vectors, k: int) -> list[tuple[int, float]]:
        """Return the k nearest chunks with their cosine."""
        ...

    def bm25(self, user_id: UUID, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return the k best chunks with their BM25 score."""
        ...


class Reranker(Protocol):
    """A model that reads query and passage together."""

    def rerank(self, query: str, texts: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return (position, relevance) of the k best, best first. Raises RerankFailed."""
        ...


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, and how they were found.

    `notices`: sentences for the user about what did not go as it should.
    `paths`: the recall paths that took part. `seconds`: by stage.
    """

    hits: tuple[Hit, ...]
    notices: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


class Searcher:
    """Search over one paper, several, or a whole library."""

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        library: Library,
        reranker: Reranker | None = None,
        *,
        cache_bytes: int = 256 * 1024 * 1024,
        table: FusionTable | None = None,
    ) -> None:
        self.cache = PaperCache(store, cache_bytes)
        self._table = table or fitted()
        self._store = store
        self._embedders = tuple(embedders)
        self._library = library
        self._reranker = reranker

    def has_papers(self, scope: Scope) -> bool:
        """Whether there is anything to search in; NotFound when a paper is not the user's."""
        return bool(self._store.library(scope.user_id, scope.paper_ids))

    def search(self, query: str, scope: Scope, k: int = 5) -> SearchResult:
        """Return the k passages of the scope that best match the query.

        Paths, union, fusion, de-duplication, reranking when there is a reranker. `dense` in the
        scores is the cosine by the first model that took part, so that it means the same in
        every hit.

        Raises:
            BadInput: the query is empty or longer than MAX_QUERY characters, or k is below 1.
            NotFound: a paper of the scope is not in the user's library.
        """
        text = _checked(query, k)
        clock = _Clock()
        with clock.stage("scope"):
            papers = self._store.library(scope.user_id, scope.paper_ids)
        if not papers:
            return SearchResult((), ("There is no paper to search in.",), (), clock.seconds)
        language = language_of(text)
        embedders = usable(self._embedders, language)
        with clock.stage("embed"):
            vectors = embed_query(embedders, text)
        with clock.stage("recall"):
            found = self._recall(text, vectors, papers, scope)
        with clock.stage("fuse"):
            scores, fused = combine(
                found.scores, found.languages, language, found.kind, embedders, self._table
            )
            pool = max(k, RERANK_POOL) if self._reranker else k
            hits = self._named(self._hits(found, scores, fused, pool), scope.user_id)
        notices: tuple[str, ...] = ()
        if self._reranker and len(hits) > 1:
            with clock.stage("rerank"):
                hits, notices = _reranked(self._reranker, text, hits, k)
        return SearchResult(tuple(hits[:k]), notices, tuple(scores), clock.seconds)

    def _recall(
        self, text: str, vectors: Mapping[str, Vectors], papers: Sequence[UUID], scope: Scope
    ) -> "_Found":
        terms = query_terms(text)
        if len(papers) <= EXACT_PAPERS:
            bundles = [
                self.cache.get(paper, tuple(vectors), references=scope.references)
                for paper in papers
            ]
            return _exact(bundles, vectors, terms)
        return self._indexed(vectors, terms, papers, scope)

    def _indexed(
        self,
        vectors: Mapping[str, Vectors],
        terms: Sequence[str],
        papers: Sequence[UUID],
        scope: Scope,
    ) -> "_Found":
        pool = POOL
        if scope.paper_ids is not None:
            # The index covers the whole library: list more, so that enough is left of the part.
            whole = len(self._store.library(scope.user_id))
            pool *= min(_MOST_WIDENING, math.ceil(whole / len(papers)))
        lists = {
            model: self._library.dense(scope.user_id, model, vector, pool)
            for model, vector in vectors.items()
        }
        lists[BM25] = self._library.bm25(scope.user_id, terms, pool)
        chunks = self._store.chunks_by_id(
            list({chunk_id for found in lists.values() for chunk_id, _ in found}), spans=False
        )
        wanted = frozenset(papers)
        kept = {
            chunk_id
            for chunk_id, chunk in chunks.items()
            if chunk.paper_id in wanted and (scope.references or chunk.kind != "references")
        }
        candidates = union(
            {
                path: [(chunk_id, score) for chunk_id, score in found if chunk_id in kept]
                for path, found in lists.items()
            },
            pool,
        )
        languages = [language_of(chunks[int(i)].text[:_HEAD]) for i in candidates.ids]
        scores = self._without_pending(candidates, chunks)
        return _Found("library", candidates.ids, scores, languages, chunks)

    def _without_pending(
        self, candidates: Candidates, chunks: Mapping[int, Chunk]
    ) -> Mapping[str, Array]:
        """Return the scores with NaN where a later path has no vectors of a paper yet.

        Every paper has the first path's, so a set-up with one model asks the database nothing.
        """
        later = [e.name for e in self._embedders[1:] if e.name in candidates.scores]
        if not later:
            return candidates.scores
        owners = [chunks[int(i)].paper_id for i in candidates.ids]
        counts = self._store.vector_counts(list(set(owners)))
        scores = dict(candidates.scores)
        for model in later:
            there = np.array([counts[owner].get(model, 0) > 0 for owner in owners], dtype=bool)
            scores[model] = np.where(there, scores[model], np.nan)
        return scores

    def _hits(
        self, found: "_Found", scores: Mapping[str, Array], fused: Array, k: int
    ) -> list[Hit]:
        """Return the k best hits, the later of two that start alike left out."""
        ids = found.ids
        dense = next((scores[e.name] for e in self._embedders if e.name in scores), None)
        hits: list[Hit] = []
        heads: set[str] = set()
        for i in best_first(fused, ids):
            if len(hits) == k:
                break
            chunk = found.chunks[int(ids[i])]
            head = _head(chunk.text)
            if head in heads:
                continue
            heads.add(head)
            cosine = None if dense is None or np.isnan(dense[i]) else float(dense[i])
            hits.append(Hit(chunk, Scores(cosine, float(scores[BM25][i]), float(fused[i]))))
        if found.kind == "library":
            whole = self._store.chunks_by_id([hit.chunk.id for hit in hits])
            hits = [replace(h, chunk=whole[h.chunk.id]) for h in hits if h.chunk.id in whole]
        return hits

    def _named(self, hits: list[Hit], user_id: UUID) -> list[Hit]:
        titles = self._store.titles(list({hit.chunk.paper_id for hit in hits}), user_id)
        return [replace(hit, title=titles.get(hit.chunk.paper_id, "")) for hit in hits]


@dataclass(frozen=True, slots=True)
class _Found:
    """Candidates: their ids, scores by path and languages, all in one order; chunks by id."""

    kind: ScopeKind
    ids: NDArray[np.int64]
    scores: Mapping[str, Array]
    languages: Sequence[Language]
    chunks: Mapping[int, Chunk]


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = perf_counter() - start


def _checked(query: str, k: int) -> str:
    text = query.strip()
    if not text:
        raise BadInput(
            say("The question is empty."), hint=say("Type a question or a few key words.")
        )
    if len(text) > MAX_QUERY:
        raise BadInput(
            say(
                "The question has {count:,} characters; at most {most:,} can be searched.",
                count=len(text),
                most=MAX_QUERY,
            ),
            hint=say("Ask a shorter question, or add the text as a paper."),
        )
    if k < 1:
        raise BadInput(
            say("{count:d} passages cannot be asked for.", count=k),
            hint=say("Ask for at least one."),
        )
    return text


def _exact(
    bundles: Sequence[PaperBundle], queries: Mapping[str, Vectors], terms: Sequence[str]
) -> _Found:
    """Score every chunk of the papers on every path."""
    bm25 = Bm25Index.merged([bundle.bm25 for bundle in bundles])
    scores: dict[str, Array] = {}
    for model, query in queries.items():
        columns = [
            np.full(len(bundle.ids), np.nan)
            if (rows := bundle.vectors(model)) is None
            else cosine(rows, query)
            for bundle in bundles
        ]
        scores[model] = np.concatenate(columns)
    scores[BM25] = bm25.scores(terms)
    return _Found(
        kind="paper" if len(bundles) == 1 else "library",
        ids=np.concatenate([bundle.ids for bundle in bundles]),
        scores=scores,
        languages=[language for bundle in bundles for language in bundle.languages],
        chunks={chunk.id: chunk for bundle in bundles for chunk in bundle.chunks},
    )


def _reranked(
    reranker: Reranker, query: str, hits: list[Hit], k: int
) -> tuple[list[Hit], tuple[str, ...]]:
    """Return the reranked hits, or on failure the fused order and a sentence that says why."""
    try:
        ranking = reranker.rerank(query, [hit.chunk.text for hit in hits], min(k, len(hits)))
    except RerankFailed as error:
        logger.warning("reranking failed: %s", error.code)
        return hits, (
            say("Reranking failed, so the order is the fused one: {reason}", reason=error.message),
        )
    return [
        replace(hits[i], scores=replace(hits[i].scores, rerank=relevance))
        for i, relevance in ranking
    ], ()


def _head(text: str) -> str:
    return " ".join(normalise(text).split())[:_HEAD]
