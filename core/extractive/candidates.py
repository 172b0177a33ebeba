"""The sentences of the passages found that can stand in an answer: whole, prose, each once."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.evidence.facts import Facts, facts
from core.evidence.language import CJK, is_chinese
from core.evidence.quotes import fold, reads_straight
from core.evidence.sentences import split_sentences
from core.types import Box, Chunk, Hit

SHORTEST_WORDS = 4
SHORTEST_HAN = 7
SHORTEST_ITEM = 50
"""Characters: a shorter list item without a full stop may be a heading."""
LEAD_IN_WORDS = 8
LONGEST = 600
"""Characters; longer runs are tables and listings that no stop divides."""

_HAN = re.compile(f"[{CJK}]")
_NOTES = r"(?:\s?[\[［(]\d[\d,，\s–-]*[\]］)])*(?:\s?\d{1,3}(?:[,–-]\d{1,3})*)?$"
_TERMINAL = re.compile(r"[.!。！；;…][\"'”’)\]）】」』]*" + _NOTES)
_LEAD_IN = re.compile(r"[:：]$")
_ITEM = re.compile(r"^\s*(?:[-•*–▪●·]|\(?\d{1,2}[.)、）](?!\d)|[(（]\d{1,2}[)）])\s*\S")
_BROKEN_START = re.compile(r"^[a-zà-ÿ,.;:)\]%’'”，。；：、）】？！]")
_LOWER_NAME = re.compile(r"^[a-z]+[A-Z0-9]|^[a-z]-[a-z]|^(?:https?|www|de|von|van)\b")
_REFERENCE = re.compile(
    r"\barXiv preprint\b|\bIn Proceedings of\b|\bIn Proc\.|\bdoi:\s?10\.|https?://doi\.org"
    r"|\bpp?\. ?\d+[–-]\d+|\b\d+\(\d+\):\s?\d+|\bVol\. \d+, No\. \d+"
    r"|^\[\d{1,3}\]\s+[A-Z][\w.-]*[ ,].*\b(?:19|20)\d\d\b"
    r"|^(?:[A-Z][\w’'-]+,? (?:[A-Z]\.[ ,]*)+){2,}",
)
_ASIDE = re.compile(r"\[\d[\d,\s–-]*\]|\S+\s[=≈<>≤≥∈]\s\S+")
_FIGURE = re.compile(r"\s*(?:fig(?:ure|\.)|图)", re.IGNORECASE)
_BOILERPLATE = re.compile(
    r"^(?:copyright|©|all rights reserved|licensed under|permission to make|corresponding author"
    r"|e-?mail\b|https?://\S+$)|\bequal contribution\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a hit's chunk: what it says, and what the sentence before it says.

    `rank` counts hits from 0; `at` is its offset in the chunk.
    """

    text: str
    hit: Hit
    rank: int
    at: int
    facts: Facts
    before: frozenset[str]
    caption: bool = False


def candidates(hits: Sequence[Hit], *, figures: bool = False) -> list[Candidate]:
    """Return the usable sentences of `hits`, hit by hit, without repetitions.

    Captions of figures describe a drawing: they count only when `figures` are asked for.
    """
    found: list[Candidate] = []
    for rank, hit in enumerate(hits):
        drawn = hit.chunk.kind == "caption" and _FIGURE.match(hit.chunk.text)
        if hit.chunk.kind != "references" and (figures or not drawn):
            found.extend(_of_hit(hit, rank))
    return _without_repetitions(found)


def _of_hit(hit: Hit, rank: int) -> Iterator[Candidate]:
    text = hit.chunk.text
    before: frozenset[str] = frozenset()
    for start, end in split_sentences(text):
        sentence = text[start:end]
        found = facts(sentence[:LONGEST])
        usable = end - start <= LONGEST and is_whole(sentence) and is_prose(sentence)
        table = hit.chunk.kind == "table"
        if table and sentence.startswith("|"):
            return  # rows; what stands above them is the caption
        if usable and reads_straight(_lines(hit.chunk, start, end)):
            captioned = table or hit.chunk.kind == "caption"
            yield Candidate(sentence, hit, rank, start, found, before, captioned)
        before = found.stems


def _lines(chunk: Chunk, start: int, end: int) -> list[Box]:
    """Return the whole lines of print that a sentence touches.

    Its own part of them would not do: the end of one line does not stand above the start of the next.
    """
    return [span.box for span in chunk.spans if span.start < end and span.end > start]


def is_whole(sentence: str) -> bool:
    """Return whether `sentence` states something from its beginning to its end.

    One cut by the border of a chunk or page does not; nor does a question. A lead-in to a list or
    a listing does when it is long enough to say what follows.
    """
    if _BROKEN_START.match(sentence) and not _LOWER_NAME.match(sentence):
        return False
    return bool(
        _TERMINAL.search(sentence) or (_ITEM.match(sentence) and len(sentence) > SHORTEST_ITEM)
    )


def is_prose(sentence: str) -> bool:
    """Return whether `sentence` is running text: no heading, table row, reference or debris."""
    han, words = len(_HAN.findall(sentence)), re.findall(r"[^\s\d\W]{2,}", sentence)
    if is_chinese(sentence):
        if han < SHORTEST_HAN:
            return False
    elif len(words) < SHORTEST_WORDS:
        return False
    if _REFERENCE.search(sentence) or _BOILERPLATE.search(sentence):
        return False
    return _is_wordy(sentence, han) and not _is_drawn(sentence)


def _is_wordy(sentence: str, han: int) -> bool:
    """Return whether most of `sentence` is words rather than numbers, symbols and single letters.

    Citations and values given in passing (`β = 0.9`) do not make it less of a sentence.
    """
    pieces = _ASIDE.sub(" ", sentence).split()
    odd = sum(1 for piece in pieces if not re.search(rf"[^\W\d_]{{2}}|[{CJK}]", piece))
    letters = sum(character.isalpha() for character in sentence)
    solid = sum(not character.isspace() for character in sentence)
    return odd <= max(2, 0.4 * len(pieces)) and letters + han >= 0.55 * solid


def _is_drawn(sentence: str) -> bool:
    """Return whether the words are labels of a drawing, printed twice or more one after the other."""
    words = sentence.casefold().split()
    twice = sum(a == b for a, b in pairwise(words))
    return twice >= 3 and twice > 0.2 * len(words)


def _without_repetitions(found: Sequence[Candidate]) -> list[Candidate]:
    """Drop what another candidate says word for word, keeping the longer, then the earlier."""
    folded = [fold(candidate.text)[0] for candidate in found]
    order = sorted(range(len(found)), key=lambda i: (-len(folded[i]), i))
    kept: list[int] = []
    for i in order:
        same_paper = (k for k in kept if found[k].hit.chunk.paper_id == found[i].hit.chunk.paper_id)
        if not any(folded[i] in folded[k] for k in same_paper):
            kept.append(i)
    return [found[i] for i in sorted(kept)]
