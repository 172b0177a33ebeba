"""A paper to be read: its pages drawn, their lines of print, its outline, and what is found in it."""

import threading
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple
from uuid import UUID

from core.db.papers import PaperStore, StoredFile, no_page
from core.evidence.quotes import boxes, fold
from core.ingest.worker import Worker
from core.types import Box, Chunk, Citation

DRAWABLE = "application/pdf"
LOWEST_SCALE, HIGHEST_SCALE = 0.25, 8.0
"""Pixels a point."""
SNIPPET = 60
"""Characters shown on each side of what was found."""
_KEPT_BYTES = 32 * 1024 * 1024
"""A file up to this size is kept for the next page turn: fetching one takes 2 to 3 ms a megabyte."""
_OVERLAP = 400
"""Characters that the end of a chunk and the beginning of the next share at most."""


class Line(NamedTuple):
    """A line of print, or the part of one that is text, and where it stands on its page."""

    text: str
    box: Box


class Heading(NamedTuple):
    """A section and the page it begins on."""

    title: str
    page: int


class Found(NamedTuple):
    """An occurrence: its page, what stands around it, and a box for each line it touches."""

    page: int
    snippet: str
    boxes: tuple[Box, ...]


class PaperReader:
    """What the evidence pane needs of papers. Another user's ids do not exist. Thread-safe."""

    def __init__(self, papers: PaperStore, worker: Worker) -> None:
        self._papers = papers
        self._worker = worker
        self._folding = _Folding()
        self._lock = threading.Lock()
        self._last: StoredFile | None = None

    def cited(self, user_id: UUID, citation: Citation) -> UUID:
        """Return the paper of the library that has a citation's file, whatever its id is now.

        Raises:
            NotFound: the file is not in the library (any more).
        """
        return self._papers.holding(user_id, citation.file)

    def drawable(self, user_id: UUID, paper_id: UUID) -> bool:
        """Whether the paper has pages to draw; if not, `page_text` is all there is to show.

        Raises:
            NotFound: it is not in the library.
        """
        return self._papers.file_facts(user_id, paper_id).media_type == DRAWABLE

    def page_count(self, user_id: UUID, paper_id: UUID) -> int:
        """Return how many pages the paper has.

        Raises:
            NotFound: it is not in the library.
        """
        return self._papers.file_facts(user_id, paper_id).pages

    def picture(self, user_id: UUID, paper_id: UUID, page: int, scale: float = 2.0) -> bytes:
        """Return a page, counted from 1, as PNG at `scale` pixels a point (0.25 to 8).

        Raises:
            NotFound: the paper is not in the library, or it has no such page to draw.
            UnreadableFile: drawing it failed or took too long.
        """
        facts = self._papers.file_facts(user_id, paper_id)
        if facts.media_type != DRAWABLE or not 1 <= page <= facts.pages:
            raise no_page(page)
        scale = min(max(scale, LOWEST_SCALE), HIGHEST_SCALE)
        return self._worker.render(self._bytes(user_id, paper_id, facts.sha256), page, scale)

    def page_text(self, user_id: UUID, paper_id: UUID, page: int) -> str:
        """Return the text of a page, counted from 1.

        Raises:
            NotFound: the paper is not in the library, or it has no such page.
        """
        return self._papers.page(user_id, paper_id, page).text

    def size(self, user_id: UUID, paper_id: UUID, page: int) -> tuple[float, float]:
        """Return a page's width and height in points.

        Raises:
            NotFound: the paper is not in the library, or it has no such page.
        """
        found = self._papers.page(user_id, paper_id, page)
        return found.width, found.height

    def lines(self, user_id: UUID, paper_id: UUID, page: int) -> list[Line]:
        """Return a page's lines of print in reading order, each once.

        Raises:
            NotFound: the paper is not in the library, or it has no such page.
        """
        chunks = self._papers.page_chunks(user_id, paper_id, [page])
        if not chunks:
            self._papers.page(user_id, paper_id, page)
        return list(_lines(_without_overlap(chunks)))

    def outline(self, user_id: UUID, paper_id: UUID) -> list[Heading]:
        """Return the sections in order, each once, with the page it begins on.

        Raises:
            NotFound: the paper is not in the library.
        """
        first: dict[str, int] = {}
        for section, page in self._papers.sections(user_id, paper_id):
            first.setdefault(section, page)
        if not first:
            self._papers.file_facts(user_id, paper_id)
        return [Heading(title, page) for title, page in first.items()]

    def find(self, user_id: UUID, paper_id: UUID, text: str, limit: int = 100) -> list[Found]:
        """Return where `text` stands in the paper, in order, each place once.

        Case, width, white space, line breaks and styles of dashes make no difference.

        Raises:
            NotFound: the paper is not in the library.
        """
        chunks = self._papers.page_chunks(user_id, paper_id)
        if not chunks:
            self._papers.file_facts(user_id, paper_id)
        needle = text.translate(self._folding)
        if not needle:
            return []
        found: list[Found] = []
        for page, of_page in groupby(sorted(chunks, key=lambda chunk: chunk.page), _page):
            pieces = _without_overlap(list(of_page))
            whole = "\n".join(chunk.text[start:] for chunk, start in pieces)
            if needle not in whole.translate(self._folding):
                continue
            for start, end in _occurrences(needle, whole):
                if len(found) == limit:
                    return found
                found.append(Found(page, _snippet(whole, start, end), _where(pieces, start, end)))
        return found

    def _bytes(self, user_id: UUID, paper_id: UUID, sha256: str) -> bytes:
        with self._lock:
            last = self._last
        if last is None or last.sha256 != sha256:
            last = self._papers.file(user_id, paper_id)
            with self._lock:
                self._last = last if len(last.data) <= _KEPT_BYTES else None
        return last.data


class _Folding(dict[int, str]):
    """A table for `str.translate` that does what `quotes.fold` does, a hundred times as fast."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = fold(chr(code))[0]
        return folded


def _page(chunk: Chunk) -> int:
    return chunk.page


Piece = tuple[Chunk, int]
"""A chunk, and where in its text begins what the chunk before it does not have."""


def _without_overlap(chunks: Sequence[Chunk]) -> list[Piece]:
    pieces: list[Piece] = []
    before: Chunk | None = None
    for chunk in chunks:
        tables = before is not None and before.kind == chunk.kind == "table"
        known = _repeated_head if tables else _shared
        pieces.append((chunk, 0 if before is None else known(before, chunk)))
        before = chunk
    return pieces


def _shared(before: Chunk, chunk: Chunk) -> int:
    """Return how many characters at the end of `before` are the first of `chunk`, in one place."""
    size, tail = len(before.text), before.text[-_OVERLAP:]
    at = tail.find(chunk.text[:1])
    while at >= 0:
        length = len(tail) - at
        if chunk.text.startswith(tail[at:]):
            one = boxes(before.spans, size - length, size, before.text)
            other = boxes(chunk.spans, 0, length, chunk.text)
            if len(one) == len(other) and all(map(_same_place, one, other)):
                return length
        at = tail.find(chunk.text[:1], at + 1)
    return 0


def _repeated_head(before: Chunk, chunk: Chunk) -> int:
    """Return where the rows begin in a part of a table that repeats the head of the part before."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before.text, chunk.text, strict=False))
    head = "".join(one for one, _ in same).rfind("\n") + 1
    one, other = (boxes(each.spans, 0, head, each.text) for each in (before, chunk))
    return head if one == other else 0


def _same_place(one: Box, other: Box) -> bool:
    return min(one.x1, other.x1) > max(one.x0, other.x0) and min(one.y1, other.y1) > max(
        one.y0, other.y0
    )


def _lines(pieces: Sequence[Piece]) -> Iterator[Line]:
    for chunk, start in pieces:
        for span in chunk.spans:
            shown = chunk.text[max(start, span.start) : span.end].strip()
            if span.end > start and shown:
                first = chunk.text.index(shown, max(start, span.start))
                yield Line(shown, *boxes([span], first, first + len(shown), chunk.text))


def _occurrences(needle: str, whole: str) -> Iterator[tuple[int, int]]:
    """Yield where the folded `needle` stands in `whole`, one after the other."""
    folded, origin = fold(whole)
    at = folded.find(needle)
    while at >= 0:
        end = at + len(needle)
        yield origin[at], origin[end - 1] + 1
        at = folded.find(needle, end)


def _snippet(whole: str, start: int, end: int) -> str:
    first, last = max(0, start - SNIPPET), min(len(whole), end + SNIPPET)
    shown = " ".join(whole[first:last].split())
    return ("…" if first else "") + shown + ("…" if last < len(whole) else "")


def _where(pieces: Sequence[Piece], start: int, end: int) -> tuple[Box, ...]:
    """Return the boxes of [start, end) in the pieces' texts joined by one character."""
    found: list[Box] = []
    at = 0
    for chunk, first in pieces:
        length = len(chunk.text) - first
        left, right = max(start - at, 0), min(end - at, length)
        if left < right:
            found += boxes(chunk.spans, first + left, first + right, chunk.text)
        at += length + 1
    return tuple(found)
