"""How well papers fit a topic: by meaning, by words, and by both.

By meaning: cosine of the embedder's vectors, which works across languages. By words: cosine of
TF-IDF vectors, with idf = ln((1 + n) / (1 + df)) + 1 over the papers compared (the smoothed form of
Salton and Buckley, Term-weighting approaches, 1988). Both: a weighted mean of the two z-scores;
what shares no word with any paper counts by meaning alone.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.models.embed import Embedder
from core.retrieval.fuse import z_scores
from core.retrieval.tokenize import query_terms, tokenize

Array = NDArray[np.float64]
WORDS = 0.5
"""The weight of the words where the topic shares some with the papers."""


class Relevance(NamedTuple):
    """Scores of the same papers, shape (n,) each: two cosines, and the mean of their z-scores."""

    embedding: Array
    tfidf: Array
    combined: Array

    def of(self, at: int) -> dict[str, float]:
        """Return the scores of one paper by name."""
        return {name: round(float(scores[at]), 4) for name, scores in self._asdict().items()}


def relevance(
    topic: str, papers: Sequence[str], embedder: Embedder, english: str = ""
) -> Relevance:
    """Return how well each paper's text (title and abstract) fits a topic.

    `english` is the topic in the papers' language where that is another: its words count too, and
    its meaning is averaged with the topic's own.
    """
    if not papers:
        nothing = np.zeros(0)
        return Relevance(nothing, nothing, nothing)
    asked = [topic] if english in ("", topic) else [topic, english.replace('"', "")]
    close = _by_meaning(asked, papers, embedder)
    shared = by_words(" ".join(asked), papers)
    weight = WORDS if shared.any() else 0.0
    combined = (1 - weight) * z_scores(close) + weight * z_scores(shared)
    return Relevance(close, shared, combined)


def _by_meaning(asked: Sequence[str], papers: Sequence[str], embedder: Embedder) -> Array:
    query = np.mean([embedder.encode([text])[0] for text in asked], axis=0)
    vectors = np.asarray(embedder.encode(papers), dtype=np.float64)
    return np.asarray(vectors @ (query / max(float(np.linalg.norm(query)), 1e-9)))


def by_words(topic: str, papers: Sequence[str]) -> Array:
    """Return the cosine of TF-IDF vectors of a topic and each paper, shape (n,)."""
    counts = [Counter(tokenize(paper)) for paper in papers]
    known = Counter(term for count in counts for term in count)
    idf = {term: math.log((1 + len(papers)) / (1 + df)) + 1 for term, df in known.items()}
    asked = Counter(term for term in query_terms(topic) if term in idf)
    weights = {term: count * idf[term] for term, count in asked.items()}
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    if not length:
        return np.zeros(len(papers))
    return np.array([_cosine(weights, length, count, idf) for count in counts])


def _cosine(
    weights: dict[str, float], length: float, count: Counter[str], idf: dict[str, float]
) -> float:
    norm = math.sqrt(sum((number * idf[term]) ** 2 for term, number in count.items()))
    dot = sum(weight * count[term] * idf[term] for term, weight in weights.items())
    return dot / (length * norm) if norm else 0.0
