"""From sections to chunks: about 1,000 characters, never across a section or a page, with places.

Cutting is done by langchain-text-splitters; this module knows where each character is printed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from langchain_text_splitters import RecursiveCharacterTextSplitter

from core.ingest.grid import Cell, Grid, Row
from core.ingest.layout import Line
from core.ingest.pdf import RawPage, Word
from core.ingest.sections import Paragraph, Section
from core.ingest.text import Hyphens, is_cjk, joint, letters
from core.types import COLUMN_GAP, Box, ChunkDraft, ChunkKind, Span

CHUNK_SIZE = 1_000
CHUNK_OVERLAP = 100
SHORT_CHUNK = 200
"""A piece shorter than this joins its neighbour in the same section."""
CHINESE_GAP = 0.6
"""Of the type's height. Chinese is set without spaces; beside Latin words there is a quarter."""
MARGIN_LINES, MARGIN_ROWS = 5, 0.25
"""So many lines end at the text's edge, and this share of all."""
MARGIN_SHARE = 0.15
"""At most this share of a page's words is beyond the edge."""
ROW = 6.0
"""Points: words of one line differ by less in where they stand."""

_ROW = re.compile(r"(?m)^\|.*\|$")
SEPARATORS = [
    "\n\n", "\n", "。", "！", "？", ". ", "! ", "? ", "；", "; ", "，", "、", ", ", " ", "",
]  # fmt: skip


@dataclass(slots=True)
class _Piece:
    """Where a word's characters [start, end) of a text come from."""

    start: int
    end: int
    word: Word
    line: int


@dataclass(slots=True)
class _Text:
    """A text as it grows, with the places of its words."""

    hyphens: Hyphens
    parts: list[str] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)
    length: int = 0
    line: int = 0
    body: int = 0
    """Where the text under the heading begins."""
    _prose: bool = False

    def paragraph(self, paragraph: Paragraph) -> None:
        """Add a paragraph's lines, joined as running text."""
        if self.parts:
            self.add("\n\n")
        if not paragraph.heading and self.pieces and not self._prose:
            self.body = self.length
        self._prose = self._prose or not paragraph.heading
        self.lines([line.words for line in paragraph.lines])

    def lines(self, lines: Sequence[Sequence[Word]]) -> None:
        """Add printed lines of words, joined as running text."""
        fresh, broken = True, False
        for line in lines:
            self.line += 1
            for word in line:
                shown = word.text
                if broken:
                    shown = self._mend(shown)
                elif not fresh:
                    self.add(joint(self.parts[-1], shown))
                self.pieces.append(_Piece(self.length, self.length + len(shown), word, self.line))
                self.add(shown)
                fresh, broken = False, word is line[-1] and self._breaks(word)

    def row(self, cells: Sequence[Cell]) -> None:
        """Add a line of cells between bars, which part them for readers, models and sentences."""
        self.add("\n|" if self.parts else "|")
        for cell in cells:
            self.add(" ")
            self.lines(cell)
            self.add(" |" if cell else "|")

    @staticmethod
    def _breaks(word: Word) -> bool:
        return word.hyphen or (len(word.text) > 2 and word.text.endswith(("-", "\u2010")))

    def _mend(self, second: str) -> str:
        """Join a word broken at the line end; return what the second line adds to the text."""
        first = self.parts[-1]
        whole = self.hyphens.join(first, second)
        if not whole.startswith(first):
            self.parts[-1] = first[:-1]
            self.length -= 1
            self.pieces[-1].end -= 1
        return second

    def add(self, text: str) -> None:
        """Add characters that are not printed."""
        self.parts.append(text)
        self.length += len(text)

    def finished(self) -> str:
        """Return the whole text."""
        return "".join(self.parts)


def chunks_of(
    sections: Sequence[Section], pages: Sequence[RawPage], hyphens: Hyphens
) -> list[ChunkDraft]:
    """Cut sections into chunks with the boxes of their lines, in reading order."""
    splitter = _splitter()
    found: list[ChunkDraft] = []
    for section in sections:
        for page, kind, paragraphs in _blocks(section):
            text = _Text(hyphens)
            for paragraph in paragraphs:
                text.paragraph(paragraph)
            found += _cut(text, pages[page - 1], section.heading, kind, splitter)
    return found


def table_chunks(
    caption: Sequence[Line], grid: Grid, page: RawPage, section: str, hyphens: Hyphens
) -> list[ChunkDraft]:
    """Return a table as chunks of whole rows, each under the caption and the heads of the columns.

    Every line of every cell has a span of its own, so that what is quoted is marked in its cells.
    """
    heads, rows = grid.rows[: grid.heads], grid.rows[grid.heads :]
    sizes = [len(row_text(row.cells, hyphens)) + 1 for row in grid.rows]
    head = sum(len(line.text) + 1 for line in caption) + sum(sizes[: grid.heads])
    room = max(CHUNK_SIZE - head, CHUNK_SIZE // 2)
    parts: list[list[Row]] = [[]]
    filled = 0
    for row, size in zip(rows, sizes[grid.heads :], strict=True):
        if parts[-1] and filled + size > room:
            parts.append([])
            filled = 0
        parts[-1].append(row)
        filled += size
    return [_table_part(caption, [*heads, *part], page, section, hyphens) for part in parts]


def _table_part(
    caption: Sequence[Line], rows: Sequence[Row], page: RawPage, section: str, hyphens: Hyphens
) -> ChunkDraft:
    text = _Text(hyphens)
    text.lines([line.words for line in caption])
    for row in rows:
        text.row(row.cells)
    whole = text.finished()
    spans = tuple(_spans(text, 0, 0, len(whole), page))
    return ChunkDraft(page.number, section, "table", whole, spans)


def row_text(cells: Sequence[Cell], hyphens: Hyphens) -> str:
    """Return a row as it stands in a table's chunk."""
    text = _Text(hyphens)
    text.row(cells)
    return text.finished()


def embeddable(text: str) -> str:
    """Return a passage as models of meaning read it best: a table's rows without the bars."""
    return _ROW.sub(lambda row: " ".join(row[0].replace("|", " ").split()), text)


def cell_text(cell: Cell, hyphens: Hyphens) -> str:
    """Return a cell's lines as running text."""
    text = _Text(hyphens)
    text.lines(cell)
    return text.finished()


def cut_text(text: str, body: int = 0) -> list[tuple[int, int]]:
    """Return where the chunks of a text begin and end; its heading, up to `body`, is never cut off."""
    return [(0, len(text))] if len(text) <= CHUNK_SIZE else _ranges(text, body, _splitter())


def _splitter() -> RecursiveCharacterTextSplitter:
    return RecursiveCharacterTextSplitter(
        separators=SEPARATORS,
        keep_separator="end",
        chunk_size=CHUNK_SIZE,
        chunk_overlap=CHUNK_OVERLAP,
        add_start_index=True,
    )


def _blocks(section: Section) -> Iterator[tuple[int, ChunkKind, list[Paragraph]]]:
    """Yield a section's paragraphs by page and kind; a heading goes with what follows it."""
    for page, group in groupby(section.paragraphs, key=lambda paragraph: paragraph.page):
        paragraphs = list(group)
        prose = [paragraph for paragraph in paragraphs if paragraph.kind != "caption"]
        alone = all(paragraph.heading for paragraph in prose)
        if prose and not (alone and len(section.paragraphs) > len(prose)):
            yield page, section.kind, prose
        for paragraph in paragraphs:
            if paragraph.kind == "caption":
                yield page, "caption", [paragraph]


def _cut(
    text: _Text,
    page: RawPage,
    heading: str,
    kind: ChunkKind,
    splitter: RecursiveCharacterTextSplitter,
) -> Iterator[ChunkDraft]:
    whole = text.finished()
    at = 0
    for start, end in _ranges(whole, text.body, splitter):
        cut = whole[start:end]
        if not letters(cut):
            continue
        while at and text.pieces[at - 1].end > start:
            at -= 1
        while at < len(text.pieces) and text.pieces[at].end <= start:
            at += 1
        yield ChunkDraft(page.number, heading, kind, cut, tuple(_spans(text, at, start, end, page)))


def _ranges(
    whole: str, body: int, splitter: RecursiveCharacterTextSplitter
) -> list[tuple[int, int]]:
    """Return where chunks begin and end. `body`: where the heading ends; it is never cut off."""
    ranges: list[tuple[int, int]] = []
    for document in splitter.create_documents([whole[body:]]):
        start = body + document.metadata["start_index"]
        end = start + len(document.page_content)
        if ranges and _belongs(ranges[-1], (start, end)):
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    if body:
        first = ranges.pop(0)[1] if ranges else len(whole.rstrip())
        ranges.insert(0, (0, first))
    return ranges


def _belongs(last: tuple[int, int], new: tuple[int, int]) -> bool:
    """Return whether one of two neighbours is too short to stand alone."""
    short = min(last[1] - last[0], new[1] - new[0]) < SHORT_CHUNK
    return short and new[1] - last[0] <= CHUNK_SIZE + SHORT_CHUNK


def _spans(text: _Text, at: int, start: int, end: int, page: RawPage) -> Iterator[Span]:
    """Yield a span for each line that the text [start, end) touches; two where a line has a gap.

    What is printed beside a wide gap is another column or a margin note: a box over both would hide
    that a quote was put together from two places.
    """
    inside = []
    for piece in text.pieces[at:]:
        if piece.start >= end:
            break
        inside.append(piece)
    for pieces in _unbroken(inside, page.width, _text_edge(page)):
        boxes = [_part(piece, start, end) for piece in pieces]
        yield Span(
            max(0, pieces[0].start - start),
            min(end, pieces[-1].end) - start,
            _fractions(
                min(box[0] for box in boxes),
                min(box[1] for box in boxes),
                max(box[2] for box in boxes),
                max(box[3] for box in boxes),
                page,
            ),
        )


def _text_edge(page: RawPage) -> float:
    """Return the x in points where a page's justified lines end; its width when there is none.

    What begins beyond is a note in the margin, however close it stands.
    """
    words = [word for word in page.words if not word.turn]
    ends = Counter(round(_ink_end(word)) for word in words)
    rows = len({round(word.y1 / ROW) for word in words})
    for x, count in sorted(ends.items(), reverse=True):
        beyond = sum(word.x0 >= x - 1 for word in words)
        if beyond > MARGIN_SHARE * len(words):
            break
        across = sum(word.x0 < x - 2 and _ink_end(word) > x + 3 for word in words)
        if count >= max(MARGIN_LINES, MARGIN_ROWS * rows, 10 * across):
            return float(x)
    return page.width


def _ink_end(word: Word) -> float:
    """Return where a word's print ends: Chinese punctuation fills the left half of its box."""
    blank = 0.5 if word.text[-1] in "，。、；：！？" else 0.0
    return word.x1 - blank * (word.y1 - word.y0)


def _unbroken(pieces: Sequence[_Piece], width: float, edge: float) -> Iterator[list[_Piece]]:
    """Yield the pieces of each line, cut where too much is empty between two, and at the edge."""
    for _, group in groupby(pieces, key=lambda piece: piece.line):
        line = list(group)
        begun = 0
        for at, (left, right) in enumerate(pairwise(line), 1):
            beyond = not right.word.turn and left.word.x0 < edge - 1 <= right.word.x0
            if beyond or _apart(left.word, right.word, width):
                yield line[begun:at]
                begun = at
        yield line[begun:]


def _apart(left: Word, right: Word, width: float) -> bool:
    """Whether two words of a line stand as far apart as columns do, or a text and a margin note."""
    if left.turn:
        return False
    gap = right.x0 - left.x1
    chinese = is_cjk(left.text[-1]) or is_cjk(right.text[0])
    em = max(left.y1 - left.y0, right.y1 - right.y0)
    return gap >= COLUMN_GAP * width or (chinese and gap > CHINESE_GAP * em)


def _part(piece: _Piece, start: int, end: int) -> tuple[float, float, float, float]:
    """Return the word's box, cut to its share when the chunk begins or ends inside it."""
    word, length = piece.word, max(1, piece.end - piece.start)
    first = max(0, start - piece.start) / length
    last = min(length, end - piece.start) / length
    if word.turn % 2:
        tall = word.y1 - word.y0
        if word.turn == 3:
            first, last = 1 - last, 1 - first
        return word.x0, word.y0 + first * tall, word.x1, word.y0 + last * tall
    wide = word.x1 - word.x0
    if word.turn == 2:
        first, last = 1 - last, 1 - first
    return word.x0 + first * wide, word.y0, word.x0 + last * wide, word.y1


def _fractions(x0: float, y0: float, x1: float, y1: float, page: RawPage) -> Box:
    return Box(
        round(min(1.0, max(0.0, x0 / page.width)), 5),
        round(min(1.0, max(0.0, y0 / page.height)), 5),
        round(min(1.0, max(0.0, x1 / page.width)), 5),
        round(min(1.0, max(0.0, y1 / page.height)), 5),
    )


def page_text(lines: Sequence[Line]) -> str:
    """Return a page's lines as they stand, one a line."""
    return "\n".join(line.text for line in lines)
