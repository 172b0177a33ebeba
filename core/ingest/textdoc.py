"""Papers that are text without drawn pages: from blocks of text to pages, chunks and structure.

What stands for a page is a top-level section, or part of a long one: what a reader turns to and an
answer cites. Captions, tables and footnotes come after a section's running text, so that a chunk is
one piece of its page and a quote can be found on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from core.errors import UnreadableFile
from core.ingest.chunking import cut_text
from core.ingest.references import parse_reference
from core.ingest.sections import kind_of_heading
from core.ingest.text import language, letters
from core.types import (
    Box,
    ChunkDraft,
    ChunkKind,
    Figure,
    Heading,
    Page,
    PaperMeta,
    ParsedPaper,
    ReadBy,
    Reference,
    Structure,
    Table,
)
from core.wording import say

PAGE_CHARACTERS = 6_000
"""A section longer than this goes over several pages."""
MAX_CHARACTERS = 5_000_000
LEAST_LETTERS = 100
NOWHERE = Box(0.0, 0.0, 0.0, 0.0)
"""The box of what is on no drawn page."""
A4 = (595.0, 842.0)
_ABSTRACT_LIMIT = 5_000

BlockKind = Literal["heading", "text", "figure", "table", "footnote", "reference"]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document: `rows` of a table; `level` of a heading, 0 for as high as any.

    `text` is a paragraph, a caption, or an entry of the references, which may have a `label`, and
    what is marked in the file itself (`known`) is not read from its text.
    """

    kind: BlockKind
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()
    label: str = ""
    known: Reference | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says of itself, and its blocks in reading order."""

    meta: PaperMeta
    blocks: tuple[Block, ...]


@dataclass(slots=True)
class _Part:
    """A heading (level 0: none) with what stands under it, up to the next."""

    heading: str = ""
    level: int = 0
    kind: ChunkKind = "body"
    blocks: list[Block] = field(default_factory=list)

    def of(self, *kinds: BlockKind) -> list[Block]:
        return [block for block in self.blocks if block.kind in kinds]


def paper_of(document: Document, read_by: ReadBy) -> ParsedPaper:
    """Return a document as a paper.

    Raises:
        UnreadableFile: NO_TEXT when there is next to none; TOO_LARGE.
    """
    whole = "\n".join(block.text for block in document.blocks)
    _check(whole, sum(_cells(block) for block in document.blocks))
    meta, parts = document.meta, _parts(document.blocks)
    made = _Paper()
    front = "\n\n".join(filter(None, (meta.title, ", ".join(meta.authors))))
    if front:
        made.turn(meta.title)
        made.print(front, _Part())
    for part in parts:
        made.add(part)
    return ParsedPaper(
        _completed(meta, parts, whole),
        made.pages(),
        tuple(made.chunks),
        Structure(
            tuple(made.sections), tuple(made.references), tuple(made.tables), tuple(made.figures)
        ),
        read_by,
    )


class _Paper:
    """A paper as it is put together, page by page."""

    def __init__(self) -> None:
        self.chunks: list[ChunkDraft] = []
        self.sections: list[Heading] = []
        self.references: list[Reference] = []
        self.tables: list[Table] = []
        self.figures: list[Figure] = []
        self._texts: list[list[str]] = []
        self._labels: list[str] = []
        self._size = 0

    def pages(self) -> tuple[Page, ...]:
        """Return the pages, labelled with the section they belong to."""
        labelled = zip(self._texts, self._labels, strict=True)
        return tuple(
            Page(number, *A4, "\n\n".join(texts), label)
            for number, (texts, label) in enumerate(labelled, start=1)
        )

    def turn(self, label: str) -> None:
        """Begin a page, unless the one that is open is still empty."""
        if self._texts and not self._texts[-1]:
            self._labels[-1] = label
            return
        self._texts.append([])
        self._labels.append(label)
        self._size = 0

    def print(self, text: str, part: _Part, kind: ChunkKind | None = None, body: int = 0) -> None:
        """Put a text on the page, or on the next when it has no room, and cut it into chunks."""
        if not self._texts or (self._size and self._size + len(text) > PAGE_CHARACTERS):
            self.turn(part.heading)
        self._texts[-1].append(text)
        self._size += len(text)
        for start, end in cut_text(text, body):
            if letters(text[start:end]):
                self.chunks.append(
                    ChunkDraft(
                        len(self._texts), part.heading, kind or part.kind, text[start:end], ()
                    )
                )

    def add(self, part: _Part) -> None:
        """Add a section: its running text, then its floats and notes."""
        size = sum(len(block.text) for block in part.blocks)
        begins = part.level == 1 and not (part.kind == "abstract" and len(self._texts) == 1)
        if begins or self._size + size > PAGE_CHARACTERS:
            self.turn(part.heading)
        at = len(self._texts)
        for text, body in _running(part):
            self.print(text, part, body=body)
        if part.heading:
            self.sections.append(Heading(part.level, part.heading, max(at, 1)))
        for block in part.of("reference"):
            self.references.append(_reference(block, len(self._texts)))
        for block in part.of("figure", "table", "footnote"):
            self._float(block, part)

    def _float(self, block: Block, part: _Part) -> None:
        rows = [f"| {' | '.join(row)} |" for row in block.rows]
        text = "\n".join(filter(None, [block.text, *rows]))
        if block.kind == "table":
            self.print(text, part, "table")
            self.tables.append(Table(len(self._texts), block.text, NOWHERE, block.rows))
        elif block.kind == "figure":
            self.print(text, part, "caption")
            self.figures.append(Figure(len(self._texts), block.text, NOWHERE))
        else:
            self.print(text, part, "body")


def _cells(block: Block) -> int:
    """Return how many characters stand in a block's table."""
    return sum(len(cell) for row in block.rows for cell in row)


def _check(whole: str, cells: int) -> None:
    """Refuse what is too little or too much to be a paper; `cells`: the characters of tables.

    Raises:
        UnreadableFile: NO_TEXT, TOO_LARGE.
    """
    if letters(whole[:MAX_CHARACTERS]) < LEAST_LETTERS:
        raise UnreadableFile(
            say("The file holds next to no text: it is a stub or a page that failed to load."),
            hint=say("Open it to see what is in it; of an arXiv paper, add the PDF instead."),
            code="NO_TEXT",
        )
    if len(whole) + cells > MAX_CHARACTERS:
        raise UnreadableFile(
            say(
                "The file has {count:d} characters of text; at most {most:d} can be read.",
                count=len(whole) + cells,
                most=MAX_CHARACTERS,
            ),
            hint=say("Split it and add the part you need."),
            code="TOO_LARGE",
        )


def _parts(blocks: Sequence[Block]) -> list[_Part]:
    """Return the sections, their levels counted from 1 without gaps."""
    levels = sorted({block.level for block in blocks if block.kind == "heading" and block.level})
    found = [_Part()]
    for block in blocks:
        if block.kind == "heading":
            level = levels.index(block.level) + 1 if block.level else 1
            found.append(_Part(block.text, level, kind_of_heading(block.text)))
        else:
            found[-1].blocks.append(block)
    for part in found:
        if part.kind == "references":
            part.blocks = [
                replace(block, kind="reference", text=block.text.removeprefix("• "))
                if block.kind == "text"
                else block
                for block in part.blocks
            ]
    return [part for part in found if part.heading or part.blocks]


def _running(part: _Part) -> Iterator[tuple[str, int]]:
    """Yield the running text in pieces that fit a page, with the length of the heading in it."""
    heading = [part.heading] if part.heading else []
    body = len(part.heading) + 2 if heading else 0
    texts, size = list(heading), body
    for paragraph in (block.text for block in part.of("text", "reference")):
        for piece in _fitting(paragraph):
            if size > body and size + len(piece) > PAGE_CHARACTERS:
                yield "\n\n".join(texts), body
                texts, size, body = [], 0, 0
            texts.append(piece)
            size += len(piece) + 2
    if texts:
        yield "\n\n".join(texts), body if len(texts) > len(heading) else 0


def _fitting(paragraph: str) -> Iterator[str]:
    """Yield a paragraph, in pieces if it is longer than a page."""
    while len(paragraph) > PAGE_CHARACTERS:
        cut = paragraph.rfind(" ", PAGE_CHARACTERS // 2, PAGE_CHARACTERS) + 1 or PAGE_CHARACTERS
        yield paragraph[:cut].rstrip()
        paragraph = paragraph[cut:].lstrip()
    if paragraph:
        yield paragraph


def _reference(block: Block, page: int) -> Reference:
    """Return an entry of the references: what is marked in the file, else what its text says."""
    read = parse_reference(block.text, page)
    known = block.known
    if known is None:
        return replace(read, label=block.label or read.label)
    return replace(
        read,
        label=block.label or read.label,
        authors=known.authors or read.authors,
        title=known.title or read.title,
        year=known.year or read.year,
        doi=known.doi or read.doi,
        arxiv_id=known.arxiv_id or read.arxiv_id,
    )


def _completed(meta: PaperMeta, parts: Sequence[_Part], whole: str) -> PaperMeta:
    """Return the metadata with language, and an abstract if a section is one."""
    abstract = meta.abstract
    for part in parts:
        if not abstract and part.kind == "abstract":
            abstract = "\n\n".join(block.text for block in part.of("text"))
    return replace(meta, abstract=abstract[:_ABSTRACT_LIMIT], language=language(whole))
