"""Where a quote stands in its chunk and on its page, and citations made from hits."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from core.evidence.sentences import split_sentences
from core.retrieval.tokenize import tokenize
from core.types import COLUMN_GAP, Box, Chunk, Citation, Hit, Span

_DASHES = str.maketrans(
    dict.fromkeys("‐‑‒–—−﹣－", "-") | dict.fromkeys("‘’`´", "'") | dict.fromkeys("“”„«»", '"')
)
_NARROW, _BROAD = frozenset("iljtfrI.,;:'!|()[]/- "), frozenset("mwMW—…@%")
_ENOUGH_SHARED = 0.5
_INDENT = 0.12
"""Of the page's width: a line that begins farther out has a label or another column in it."""


class Place(NamedTuple):
    """Characters [start, end) of a chunk's text and the boxes they fill on its page."""

    start: int
    end: int
    boxes: tuple[Box, ...]


def locate(quote: str, chunk: Chunk) -> Place:
    """Find `quote` in `chunk`: exactly, else ignoring space, case and width, else the best window.

    When no window shares half of the quote's words, the whole chunk is the place.
    """
    start, end = find(quote, chunk.text) or best_window(quote, chunk.text)
    return Place(start, end, boxes(chunk.spans, start, end, chunk.text))


def find(quote: str, text: str) -> tuple[int, int] | None:
    """Return where `quote` stands in `text`, ignoring space, case, width and dash styles."""
    quote = quote.strip()
    if not quote:
        return None
    at = text.find(quote)
    if at >= 0:
        return at, at + len(quote)
    folded, origin = fold(text)
    needle, _ = fold(quote)
    at = folded.find(needle) if needle else -1
    if at < 0:
        return None
    return origin[at], origin[at + len(needle) - 1] + 1


def fold(text: str) -> tuple[str, list[int]]:
    """Return `text` in NFKC, case-folded, without white space; and each character's origin in it."""
    folded: list[str] = []
    origin: list[int] = []
    for i, character in enumerate(text):
        plain = unicodedata.normalize("NFKC", character.translate(_DASHES)).casefold()
        plain = plain.translate(_DASHES)  # a raised minus becomes a minus only by NFKC
        for c in plain:
            if not c.isspace() and c != "\u00ad":
                folded.append(c)
                origin.append(i)
    return "".join(folded), origin


def best_window(quote: str, text: str) -> tuple[int, int]:
    """Return the run of sentences of `text` sharing most words with `quote`, else all of it."""
    wanted = set(tokenize(quote))
    spans = split_sentences(text)
    best, best_score = (0, len(text)), _ENOUGH_SHARED
    for first in range(len(spans)):
        for last in range(first, min(first + 3, len(spans))):
            start, end = spans[first][0], spans[last][1]
            score = _f1(wanted, set(tokenize(text[start:end])))
            if score > best_score:
                best, best_score = (start, end), score
    return best


def boxes(spans: Sequence[Span], start: int, end: int, text: str) -> tuple[Box, ...]:
    """Return one box a line of print for characters [start, end) of `text`, cut to their part."""
    return tuple(
        _part(span, max(start, span.start), min(end, span.end), text)
        for span in spans
        if span.start < end and start < span.end
    )


def reads_straight(lines: Sequence[Box]) -> bool:
    """Return whether lines of print follow one another down a column, at most into a next one.

    A sentence into which a margin note or another column got mixed does not: its line boxes go to
    a place beside and come back, or end beside instead of at the head of a new column.
    """
    turned = False
    for above, box in pairwise(lines):
        if _beneath(above, box):
            continue
        head_of_next = box.x0 > lines[0].x0 and box.y1 < lines[0].y0
        if turned or not head_of_next:
            return False
        turned = True
    return True


def _beneath(above: Box, box: Box) -> bool:
    """Whether two pieces share a column: one goes on the other's line, or stands under most of it."""
    level = box.y0 < above.y1 and box.y1 > above.y0
    if level and -COLUMN_GAP < box.x0 - above.x1 < COLUMN_GAP:
        return True
    shared = min(above.x1, box.x1) - max(above.x0, box.x0)
    indented = abs(above.x0 - box.x0)
    return indented < _INDENT and shared > 0.5 * min(above.x1 - above.x0, box.x1 - box.x0)


def citation(n: int, hit: Hit, quote: str) -> Citation:
    """Return citation `n` for `quote` as it stands in the chunk of `hit`."""
    chunk = hit.chunk
    start, end, where = locate(quote, chunk)
    return Citation(
        n=n,
        paper_id=chunk.paper_id,
        title=hit.title,
        file=chunk.file,
        page=chunk.page,
        section=chunk.section,
        quote=chunk.text[start:end],
        boxes=where,
        scores=hit.scores,
        passage=chunk.text,
        url=hit.url,
    )


def _part(span: Span, start: int, end: int, text: str) -> Box:
    """Cut a line's box to characters [start, end), by how wide each is in most typefaces."""
    x0, y0, x1, y1 = span.box
    before, inside, after = (
        sum(map(_width, text[first:last]))
        for first, last in ((span.start, start), (start, end), (end, span.end))
    )
    whole = before + inside + after
    if not whole or (y1 - y0) > (x1 - x0):  # an upright line of print: no left part to cut
        return span.box
    unit = (x1 - x0) / whole
    return Box(x0 + before * unit, y0, x1 - after * unit, y1)


def _width(character: str) -> float:
    """Return a character's width in lower-case letters."""
    if unicodedata.east_asian_width(character) in "WF":
        return 2.0
    if character in _NARROW:
        return 0.6
    if character in _BROAD:
        return 1.6
    return 1.35 if character.isupper() else 1.0


def _f1(wanted: set[str], found: set[str]) -> float:
    shared = len(wanted & found)
    return 2 * shared / (len(wanted) + len(found)) if shared else 0.0
