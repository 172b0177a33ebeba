"""How a paper stands to one read before, from the sentences of both: shared, different, new, known.

Thresholds are set by hand on the sample papers.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.agent.choosing import PaperInScope, choose, different, passages
from core.agent.looks import DATA, METHOD, RESULTS
from core.agent.reading_notes import IDEA, PROBLEM
from core.agent.state import TurnContext
from core.evidence.facts import stem
from core.evidence.lexicon import STOP_WORDS
from core.evidence.numbering import strip
from core.evidence.sentences import sentences
from core.extractive.candidates import Candidate
from core.memory.readings import Similar
from core.models.embed import Embedder

FIRST_READING = re.compile(
    r"\bfirst[- ](?:time )?(?:read\w*|encounter|paper (?:that )?you)|\bfirst time (?:that )?you\b"
    r"|\bnew(?:comer)? to (?:this|the) (?:topic|field|area|subject)\b|\bno (?:prior|previous|earlier)"
    r" (?:readings?|knowledge|background)\b|\b(?:have not|haven['’]t) (?:yet )?read (?:any|other|similar)"
    r"|初次|首次(?:阅读|接触)|第一次(?:阅读|接触|读)|第一篇|没有(?:相关|类似|以前|之前|任何)?的?(?:阅读|读过)"
    r"|尚未(?:阅读|读过)|新手|入门读者",
    re.IGNORECASE,
)
"""Words for somebody who has read nothing similar: never said to somebody who has."""
_KNOWN = 0.62
"""Cosine from which a sentence is taken to say what one read before says."""
_MOST_TERMS, _MOST_OF_LOOK = 5, 6
_GENERAL = frozenset(
    stem(match.group())
    for match in re.finditer(
        r"\w+",
        "paper study work method approach model result show use used using based propose present "
        "different new number large small high low set data test first second two three one each "
        "section table figure question answer example case time way many much more most better best "
        "also other same however well see find found give given make made take value",
    )
)
"""Stems that any two papers share."""
_LOOKS = (IDEA, METHOD, DATA, RESULTS, PROBLEM)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A similar reading: what its summary says, and the paper's sentences while it is here."""

    similar: Similar
    paper: PaperInScope | None
    told: tuple[str, ...]
    found: dict[str, list[Candidate]]

    @property
    def sentences(self) -> list[Candidate]:
        """Return the paper's own sentences, of all aspects."""
        return list({c.text: c for found in self.found.values() for c in found}.values())


def earlier(similar: Similar, paper: PaperInScope | None, context: TurnContext) -> Earlier:
    """Return a reading with what can be said of it."""
    told = [strip(text).strip() for text in sentences(similar.reading.summary)]
    fit = tuple(text for text in told if text and not FIRST_READING.search(text))
    return Earlier(similar, paper, fit, by_look(paper, context) if paper else {})


def by_look(paper: PaperInScope, context: TurnContext) -> dict[str, list[Candidate]]:
    """Return a paper's sentences by what they speak of, best first."""
    return {
        look.aspect.name: choose(look, passages(look, paper, context), _MOST_OF_LOOK)
        for look in _LOOKS
    }


def gist(told: Sequence[str], most: int = 2) -> list[str]:
    """Return the sentences of a summary that say what was done, else its first ones."""
    doing = [text for text in told if re.search(IDEA.cues, text, re.IGNORECASE)]
    return [*doing, *(text for text in told if text not in doing)][:most]


def shared_terms(own: Sequence[Candidate], others: Sequence[Candidate]) -> list[str]:
    """Return the words that two papers' sentences have in common, those used most first."""
    ours, theirs = _counted(own), _counted(others)
    common = [term for term in ours if term in theirs]
    common.sort(key=lambda term: (-min(ours[term], theirs[term]), term))
    named = frozenset(name for c in own for name in c.facts.names)
    kept = [t for t in common if min(ours[t], theirs[t]) > 1 or t in named]
    return [_as_printed(term, own) for term in kept[:_MOST_TERMS]]


def speaking_of(terms: Sequence[str], found: Sequence[Candidate]) -> Candidate | None:
    """Return the sentence with most of the terms, None when none has any."""

    def count(candidate: Candidate) -> int:
        text = candidate.text.casefold()
        return sum(term.casefold() in text for term in terms)

    best = max(found, key=count, default=None)
    return best if best and count(best) else None


def _counted(found: Sequence[Candidate]) -> Counter[str]:
    terms = Counter(term for c in found for term in c.facts.stems | c.facts.names)
    return Counter(
        {
            term: n
            for term, n in terms.items()
            if len(term) > 1 and term not in _GENERAL and not term.isdigit()
        }
    )


def _as_printed(term: str, found: Sequence[Candidate]) -> str:
    """Return a stem as the word it is printed as, most often."""
    words = Counter(
        match.group()
        for c in found
        for match in re.finditer(r"[^\W\d_][\w-]*", c.text)
        if term in (match.group().casefold(), stem(match.group().casefold()))
        and match.group().casefold() not in STOP_WORDS
    )
    return words.most_common(1)[0][0] if words else term


@dataclass(frozen=True, slots=True)
class Known:
    """A sentence of the paper, and the one read before that says nearly the same."""

    own: Candidate
    before: str
    source: Candidate | None
    of: Earlier


def new_and_known(
    own: Sequence[Candidate], read: Sequence[Earlier], embedder: Embedder, most: int = 3
) -> tuple[list[Candidate], list[Known]]:
    """Return the sentences furthest from all that was read, and those that repeat it."""
    before: list[tuple[str, Candidate | None, Earlier]] = []
    for one in read:
        before += [(c.text, c, one) for c in one.sentences]
        before += [(text, None, one) for text in one.told if not one.sentences]
    if not own or not before:
        return list(own)[:most], []
    vectors = embedder.encode([*(c.text for c in own), *(text for text, _, _ in before)])
    cosine = vectors[: len(own)] @ vectors[len(own) :].T
    nearest, closeness = cosine.argmax(axis=1), cosine.max(axis=1)
    order = [int(i) for i in np.argsort(closeness, kind="stable")]
    fresh = different([own[i] for i in order if closeness[i] < _KNOWN], most)
    known = [
        Known(own[i], *before[int(nearest[i])]) for i in reversed(order) if closeness[i] >= _KNOWN
    ]
    return fresh, known[:most]
