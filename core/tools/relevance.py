"""How well papers fit a topic: by meaning, by words, and by both.

By meaning: cosine of the embedder's vectors, which works across languages. By words: cosine of
TF-IDF vectors, with idf = ln((1 + n) / (1 + df)) + 1 over the papers compared (the smoothed form of
Salton and Buckley, Term-weighting approaches, 1988). Both: a weighted mean of the two z-scores;
what shares no word with any paper counts by meaning alone. The weights (`relevance.json`) are
written by `core.evals.fit_relevance`.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.evidence.language import is_chinese
from core.models.embed import Embedder
from core.retrieval.fuse import z_scores
from core.retrieval.tokenize import query_terms, tokenize

Array = NDArray[np.float64]
TABLE = "relevance.json"


class Weights(NamedTuple):
    """The weight of the words, 0 to 1, where the topic shares some with the papers.

    `same`: the paper is in the topic's language; `cross`: it is in another.
    """

    same: float
    cross: float


class Relevance(NamedTuple):
    """Scores of the same papers, shape (n,) each: two cosines, and the mean of their z-scores."""

    embedding: Array
    tfidf: Array
    combined: Array

    def of(self, at: int) -> dict[str, float]:
        """Return the scores of one paper by name."""
        return {name: round(float(scores[at]), 4) for name, scores in self._asdict().items()}


@cache
def fitted() -> Weights:
    """Return the weights that come with Lectern."""
    return Weights(**json.loads((files("core.tools") / TABLE).read_text(encoding="utf-8")))


def relevance(
    topic: str, papers: Sequence[str], embedder: Embedder, english: str = ""
) -> Relevance:
    """Return how well each paper's text (title and abstract) fits a topic.

    `english` is the topic in English where it is in another language: its words count too. Its
    meaning counts only with an embedder that does not know the topic's language.
    """
    if not papers:
        nothing = np.zeros(0)
        return Relevance(nothing, nothing, nothing)
    english = english.replace('"', "")
    close = _by_meaning(
        english if english and _is_foreign(topic, embedder) else topic, papers, embedder
    )
    shared = by_words(topic if english in ("", topic) else f"{topic} {english}", papers)
    return Relevance(close, shared, combine(close, shared, across(topic, papers), fitted()))


def across(topic: str, papers: Sequence[str]) -> NDArray[np.bool_]:
    """Return which papers are in another language than the topic, shape (n,)."""
    chinese = is_chinese(topic)
    return np.array([is_chinese(paper) != chinese for paper in papers], dtype=bool)


def combine(close: Array, shared: Array, cross: NDArray[np.bool_], weights: Weights) -> Array:
    """Return the weighted mean of the z-scores of meaning and of words, shape (n,)."""
    if not shared.any():
        return z_scores(close)
    words = np.where(cross, weights.cross, weights.same)
    return np.asarray((1 - words) * z_scores(close) + words * z_scores(shared))


def _is_foreign(topic: str, embedder: Embedder) -> bool:
    known = embedder.languages
    return known is not None and ("zh" if is_chinese(topic) else "en") not in known


def _by_meaning(topic: str, papers: Sequence[str], embedder: Embedder) -> Array:
    query = np.asarray(embedder.encode([topic])[0], dtype=np.float64)
    return np.asarray(np.asarray(embedder.encode(papers), dtype=np.float64) @ query)


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
