"""How much of a claim a text covers: the same words, synonyms, or words of the same direction."""

import re
from collections import defaultdict
from functools import lru_cache

from core.evidence.facts import POLES, Facts, content, stem
from core.evidence.lexicon import HAN_SYNONYMS, SYNONYMS

Poles = frozenset[tuple[int, bool]]


def _groups() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for group in SYNONYMS:
        stems = frozenset(map(stem, group))
        for one in stems:
            found[one] |= stems
    return dict(found)


ALIKE: dict[str, frozenset[str]] = _groups()
"""Stem → the stems that may stand for it."""
_DIRECTED: dict[str, Poles] = defaultdict(frozenset)
for _word, _poles in POLES.items():
    if _word.isascii():
        _DIRECTED[stem(_word)] |= frozenset(_poles)
_HAN_LIGHT = re.compile("|".join(sorted(HAN_SYNONYMS, key=len, reverse=True)))


def said(stems: frozenset[str], where: Facts) -> int:
    """Return how many of `stems` the text has, as they are, as a synonym or of one direction."""
    return len(stems & where.stems) + sum(
        bool(ALIKE.get(one, frozenset()) & where.stems)
        or bool(_DIRECTED.get(one, frozenset()) & where.poles)
        for one in stems - where.stems
    )


def shared(claim: Facts, evidence: Facts) -> float:
    """Return the share of the claim's content words and quantities that the evidence has."""
    return _share(claim, evidence, len(claim.stems & evidence.stems), len(claim.stems))


def coverage(claim: Facts, evidence: Facts) -> float:
    """Return what `shared` does, of synonyms and words of one direction too."""
    stems = claim.stems
    if claim.chinese and evidence.chinese:
        stems = _weighty(claim.text, claim.poles & evidence.poles)
    return max(shared(claim, evidence), _share(claim, evidence, said(stems, evidence), len(stems)))


def _share(claim: Facts, evidence: Facts, found: int, of: int) -> float:
    total = of + len(claim.quantities)
    numbers = sum(any(q.agrees(e) for e in evidence.quantities) for q in claim.quantities)
    return (found + numbers) / total if total else 0.0


@lru_cache(maxsize=2_000)
def _weighty(text: str, shared: Poles) -> frozenset[str]:
    """Return the content of a Chinese text without light words and words of shared direction."""
    for word, poles in POLES.items():
        if not word.isascii() and shared.intersection(poles):
            text = text.replace(word, " ")
    return content(_HAN_LIGHT.sub(" ", text)) or content(text)
