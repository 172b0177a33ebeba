"""Which sentence of the passages, or which two in a row, is closest to a claim."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.evidence.alike import coverage, shared
from core.evidence.facts import Facts, facts, joined
from core.evidence.sentences import sentences
from core.models.embed import Vectors

MOST_SENTENCES = 48
"""Sentences of the passages that are compared by meaning; the rest share fewer words."""
_PAIR_COST = 0.04
"""What two sentences must be better than one."""


class Encoder(Protocol):
    """What judging needs of an embedder."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (len(texts), dimension)."""
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """The closest sentence of the passages, and how close it is."""

    text: str
    facts: Facts
    whole: Facts
    after: str
    same_language: bool
    related: float
    support: float


def closest(claim: str, claim_facts: Facts, passages: Sequence[str], embedder: Encoder) -> Evidence:
    """Return the sentence, or two in a row, closest to `claim` by shared words and cosine.

    `passages` hold at least one sentence.
    """
    split = [sentences(passage) for passage in passages]
    texts, following, pairs_from = _windows(split)
    singles = [[facts(text) for text in texts] for texts in split]
    read = [found for passage in singles for found in passage]
    read += [joined(a, b) for passage in singles for a, b in itertools.pairwise(passage)]
    covered = np.array([shared(claim_facts, found) for found in read])
    kept = np.argsort(-covered, kind="stable")[:MOST_SENTENCES]
    vectors = embedder.encode([claim, *(texts[i] for i in kept)])
    cosines = np.asarray(vectors[1:] @ vectors[0])
    same = np.array([read[i].chinese == claim_facts.chinese for i in kept])
    related = np.where(same, 0.5 * covered[kept] + 0.5 * cosines, cosines)
    related = related - _PAIR_COST * (kept >= pairs_from)
    best = int(np.argmax(related))
    at = int(kept[best])
    cosine, same_language = float(cosines[best]), bool(same[best])
    covers = coverage(claim_facts, read[at])
    whole = facts(" ".join(passages))
    near = max(0.0, 0.5 * covers + 0.5 * cosine if same_language else cosine)
    support = 0.5 * near + 0.5 * coverage(claim_facts, whole) if same_language else near
    return Evidence(texts[at], read[at], whole, following[at], same_language, near, support)


def _windows(split: Sequence[Sequence[str]]) -> tuple[list[str], list[str], int]:
    """Return all sentences and then all pairs, what follows each, and where the pairs begin."""
    singles = [text for texts in split for text in texts]
    pairs = [f"{a} {b}" for texts in split for a, b in itertools.pairwise(texts)]
    after = [text for texts in split for text in [*texts[1:], ""]]
    after_pairs = [text for texts in split for text in [*texts[2:], ""][: len(texts) - 1]]
    return [*singles, *pairs], [*after, *after_pairs], len(singles)
