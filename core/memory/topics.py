"""What a user's readings look like together: where they lie, and which belong together."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.evidence.language import CJK
from core.evidence.lexicon import STOP_WORDS
from core.memory.readings import Reading
from core.models.embed import Vectors

MOST = 500
"""Readings that are drawn: the latest."""
_APART = 0.55
"""Average cosine distance from which groups of readings are topics of their own."""
_TERMS = 4
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_HAN_RUN = re.compile(f"[{CJK}]{{2,}}")
_HAN_FUNCTION = frozenset(
    "的了是在和与及对中为以将于这那其之等也而从被把并或都能可用个一们我有所本"
)
_LONGEST_HAN = 6
_TITLE_COUNTS = 3
"""A word of a title counts as so many of a summary."""


@dataclass(frozen=True, slots=True)
class Point:
    """A reading on the map, both axes in [-1, 1]; `topic` is its place among the topics."""

    reading: Reading
    x: float
    y: float
    topic: int


@dataclass(frozen=True, slots=True)
class Topic:
    """Readings that belong together, and the terms that set them apart from the others."""

    terms: tuple[str, ...]
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Landscape:
    """A map of readings and their topics, the largest first. Of many, the latest 500."""

    points: tuple[Point, ...]
    topics: tuple[Topic, ...]


def landscape(readings: Sequence[Reading], vectors: Vectors) -> Landscape:
    """Return where readings lie (principal axes of their vectors) and their topics.

    Args:
        readings: the latest first.
        vectors: theirs, of unit length, shape (readings, dimension).
    """
    readings, vectors = readings[:MOST], vectors[:MOST]
    if not readings:
        return Landscape((), ())
    groups = _groups(vectors)
    words = [_words(reading) for reading in readings]
    topics = []
    for group in groups:
        others = [words[at] for at in range(len(readings)) if at not in set(group)]
        terms = distinctive([words[at] for at in group], others)
        topics.append(Topic(terms, tuple(readings[at] for at in group)))
    topic_of = {at: number for number, group in enumerate(groups) for at in group}
    points = [
        Point(reading, float(x), float(y), topic_of[at])
        for at, (reading, (x, y)) in enumerate(zip(readings, _plane(vectors), strict=True))
    ]
    return Landscape(tuple(points), tuple(topics))


def _plane(vectors: Vectors) -> Vectors:
    """Return the first two principal components, shape (readings, 2), scaled into [-1, 1]."""
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(vectors), 2), dtype=np.float64)
    found = centred @ axes[:2].T
    # An axis may point either way: the reading furthest out decides, so that a map stays as it was.
    found *= np.where(found[np.abs(found).argmax(axis=0), range(found.shape[1])] < 0, -1.0, 1.0)
    flat[:, : found.shape[1]] = found
    most = np.abs(flat).max()
    return np.asarray(flat / most if most > 0 else flat, dtype=np.float32)


def _groups(vectors: Vectors) -> list[list[int]]:
    """Return places of readings by topic, the largest topic first."""
    if len(vectors) == 1:
        return [[0]]
    # scipy is imported where it is needed: the start of the app need not wait for it.
    from scipy.cluster.hierarchy import fcluster, linkage

    tree = linkage(vectors, method="average", metric="cosine")
    labels = fcluster(np.maximum(tree, 0.0), _APART, criterion="distance")
    groups: dict[int, list[int]] = {}
    for at, label in enumerate(labels):
        groups.setdefault(int(label), []).append(at)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))


def _words(reading: Reading) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, times in ((reading.title, _TITLE_COUNTS), (reading.summary, 1)):
        for word in terms_in(text):
            counts[word] += times
    return counts


def terms_in(text: str) -> Iterable[str]:
    """Yield the words of a text that may be terms, folded; of Chinese every likely piece."""
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        if len(word) > 2 and word not in STOP_WORDS:
            yield word
    for match in _HAN_RUN.finditer(text):
        run = match.group()
        for size in range(2, _LONGEST_HAN + 1):
            for start in range(len(run) - size + 1):
                piece = run[start : start + size]
                if not _HAN_FUNCTION & set(piece):
                    yield piece


def distinctive(inside: Sequence[Counter[str]], outside: Sequence[Counter[str]]) -> tuple[str, ...]:
    """Return the terms that a topic's readings use and others do not (TF-IDF over topics)."""
    total: Counter[str] = sum(inside, Counter())
    rare = {
        term: count * math.log(1 + (1 + len(outside)) / (1 + sum(term in o for o in outside)))
        for term, count in total.items()
        if count > 1
    }
    kept: list[str] = []
    for term in sorted(rare, key=lambda term: (-rare[term], -len(term), term)):
        whole = [k for k in kept if term in k or k in term]
        if not whole:
            kept.append(term)
        if len(kept) == _TERMS:
            break
    return tuple(kept)
