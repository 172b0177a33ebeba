"""What a paper has beside running text: section tree, references, tables, figures.

Tables that are found are taken out of the sections, word by word, and come back as chunks of their
own: what is printed is in one chunk, once. A table whose text wraps from row to row stays in the
sections, where it reads as it is printed.
"""

import logging
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pypdfium2

from core.errors import UnreadableFile
from core.ingest.bibliography import references_of, running_text
from core.ingest.chunking import cell_text, table_chunks
from core.ingest.drawn import THIN, Area, Drawn, drawn_on
from core.ingest.grid import Grid, around
from core.ingest.layout import Line
from core.ingest.pdf import RawDocument, RawPage, open_document
from core.ingest.sections import Section, bare, is_known_heading
from core.ingest.tables import is_table_caption, tables_on
from core.ingest.text import Hyphens
from core.types import Box, ChunkDraft, Figure, Heading, Structure, Table

MOST_PAGES = 150
"""Pages with captions of tables or figures that are looked at."""
SECONDS = 8.0
"""After which no further page is."""

_FIGURE = re.compile(
    r"(?i:figure|fig\.|abbildung|abb\.|scheme)\s*(?:[A-Z]?\.?\d++(?:[.-]\d++)*+|[IVX]{1,5})"
    r"(?:\s*[.:|—–-]|\s*$|\s+[^a-z\s(\[,)])"
    r"|图\s*[A-Z]?[\d一二三四五六七八九十]+(?:[.\-–]\d+)*(?!\s*[所中的是给显])"
)
_TITLED = re.compile(
    r"(?i:table|tab\.|figure|fig\.)\s*[A-Z]?\.?\d++(?:[.-]\d++)*+\s?[:|.]\s|[图表]\s*\d++(?:[.\-–]\d++)*+\s?[:：]"
)
"""A caption that is not a paragraph of its own: what is set above it was read with it."""
_DECIMAL = re.compile(r"(?:[A-Z]|\d{1,2})(?P<more>(?:\.\d{1,2}){0,3})[.:]?\s")
_SECOND = re.compile(r"第\s*\S{1,3}\s*[节節]|[（(][一二三四五六七八九十]+[)）]")
_NUMBERED = re.compile(
    r"(?:[A-Z]|\d{1,2}|[IVX]{1,5})(?:\.\d{1,2}){0,3}[.:]?\s|[一二三四五六七八九十]+\s*[、．.]"
)
_MOST_HEADINGS = 1_000

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Caption:
    """A caption's lines (at first also what follows in its paragraph), and the section it is in."""

    lines: list[Line]
    section: Section
    text: str

    @property
    def area(self) -> Area:
        return around([word for line in self.lines for word in line.words])


def read_structure(
    data: bytes,
    password: str | None,
    document: RawDocument,
    sections: list[Section],
    hyphens: Hyphens,
) -> tuple[Structure, list[ChunkDraft]]:
    """Return the structure and the tables as chunks; takes the tables out of `sections`.

    What goes wrong with a page's tables and figures is logged, and the page goes without.
    """
    references = references_of(sections, hyphens)
    outline: tuple[Heading, ...] = ()
    tables: list[Table] = []
    figures: list[Figure] = []
    apart: list[tuple[RawPage, _Caption, Grid]] = []
    try:
        drawing = open_document(document.copy or data, None if document.copy else password)
    except UnreadableFile as error:
        logger.warning("no tables and figures: %s", error.message)
        return Structure(_headings(sections), references), []
    try:
        outline = _outline(drawing, document)
        for number, captions in _wanted(sections):
            page = document.pages[number - 1]
            try:
                drawn = drawn_on(drawing, number - 1)
                for caption in captions:
                    _cut_caption(caption, drawn, hyphens)
                figures += _figures(page, drawn, captions)
                for caption, grid in _tables(page, drawn, captions):
                    tables.append(_table(page, caption, grid, hyphens))
                    if not grid.runs_on:
                        _take_out(sections, number, caption, grid)
                        apart.append((page, caption, grid))
            except (ValueError, IndexError, ZeroDivisionError, pypdfium2.PdfiumError) as error:
                logger.warning("page %d goes without tables and figures: %s", number, error)
    finally:
        drawing.close()
    headings = outline or _headings(sections)
    chunks = [
        chunk
        for page, caption, grid in apart
        for chunk in table_chunks(caption.lines, grid, page, caption.section.heading, hyphens)
    ]
    return Structure(headings, references, tuple(tables), tuple(figures)), chunks


def _wanted(sections: Sequence[Section]) -> Iterator[tuple[int, list[_Caption]]]:
    """Yield pages with their captions, as long as pages and time last."""
    found: dict[int, list[_Caption]] = {}
    for section in sections:
        for paragraph in section.paragraphs:
            if paragraph.kind == "references" or paragraph.lines[0].turn:
                continue
            for at, line in enumerate(paragraph.lines):
                if (paragraph.kind == "caption" and not at) or _TITLED.match(line.text):
                    caption = _Caption(paragraph.lines[at:], section, "")
                    found.setdefault(paragraph.page, []).append(caption)
    started = time.monotonic()
    for number in sorted(found)[:MOST_PAGES]:
        if time.monotonic() - started > SECONDS:
            logger.warning("no time for the tables and figures from page %d on", number)
            return
        yield number, found[number]


def _cut_caption(caption: _Caption, drawn: Drawn, hyphens: Hyphens) -> None:
    """Leave to a caption its own lines: up to a rule, a wide step, or another size of type."""
    lines = caption.lines
    kept = [lines[0]]
    for line in lines[1:]:
        last = kept[-1]
        ruled = any(
            last.y0 + 0.5 * last.size < rule[1] < line.y0 + 0.5 * line.size
            and rule[0] < line.x1
            and rule[2] > line.x0
            for rule in drawn.across
        )
        step = line.y0 - last.y0
        if ruled or not -2 < step < 2.2 * last.size or line.column != last.column:
            break
        kept.append(line)
    caption.lines = kept
    caption.text = running_text(kept, hyphens)


def _tables(page: RawPage, drawn: Drawn, captions: list[_Caption]) -> list[tuple[_Caption, Grid]]:
    wanted = [caption for caption in captions if is_table_caption(caption.text)]
    if not wanted:
        return []
    grids = tables_on(page, drawn, [caption.area for caption in wanted])
    return [(c, grid) for c, grid in zip(wanted, grids, strict=True) if grid is not None]


def _table(page: RawPage, caption: _Caption, grid: Grid, hyphens: Hyphens) -> Table:
    rows = tuple(tuple(cell_text(cell, hyphens) for cell in row.cells) for row in grid.rows)
    return Table(page.number, caption.text, _box(page, _joined(caption.area, grid.area)), rows)


def _figures(page: RawPage, drawn: Drawn, captions: list[_Caption]) -> Iterator[Figure]:
    for caption in captions:
        if _FIGURE.match(caption.text):
            others = [other.area for other in captions if other is not caption]
            area = _picture(drawn, caption.area, others)
            yield Figure(page.number, caption.text, _box(page, area))


def _picture(drawn: Drawn, caption: Area, others: Sequence[Area]) -> Area:
    """Return the area of a caption with the pictures stacked on it, or hung under it."""
    for above in (True, False):
        area = caption
        items = [*drawn.pictures, *drawn.across, *drawn.down]
        near = sorted(items, key=lambda p: -p[3] if above else p[1])
        taken = 0
        for picture in near:
            gap = area[1] - picture[3] if above else picture[1] - area[3]
            shared = min(area[2], picture[2]) - max(area[0], picture[0])
            beside = shared < 0.5 * min(area[2] - area[0], picture[2] - picture[0])
            outside = picture[1] >= caption[1] if above else picture[3] <= caption[3]
            if gap > 45 or beside or outside or _foreign_rule(picture, area):
                continue
            whole = _joined(area, picture)
            if not any(_meets(whole, other) for other in others):
                area = whole
                taken += 1
        if taken and (area[3] - area[1]) - (caption[3] - caption[1]) > 20:
            return area
    return caption


def _foreign_rule(item: Area, area: Area) -> bool:
    """Whether a rule across is far wider than the figure: it ends a table or the page's head."""
    return item[3] - item[1] <= THIN and item[2] - item[0] > 1.5 * (area[2] - area[0])


def _meets(area: Area, other: Area) -> bool:
    return (
        min(area[2], other[2]) - max(area[0], other[0]) > 2
        and min(area[3], other[3]) - max(area[1], other[1]) > 2
    )


def _joined(a: Area, b: Area) -> Area:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _box(page: RawPage, area: Area) -> Box:
    values = (
        area[0] / page.width,
        area[1] / page.height,
        area[2] / page.width,
        area[3] / page.height,
    )
    return Box(*(round(min(1.0, max(0.0, value)), 5) for value in values))


# --- tables out of the text -------------------------------------------------------------------


def _take_out(sections: list[Section], number: int, caption: _Caption, grid: Grid) -> None:
    """Take a table's words, and its caption's lines, out of the sections they were read into."""
    own = {id(line) for line in caption.lines}
    cells = {id(word) for row in grid.rows for cell in row.cells for line in cell for word in line}
    for section in sections:
        for paragraph in section.paragraphs:
            if paragraph.page == number:
                kept = (line for line in paragraph.lines if id(line) not in own)
                paragraph.lines = [rest for line in kept if (rest := _without(line, cells))]
    left: list[Section] = []
    for section in sections:
        headed = section.paragraphs[0].heading
        section.paragraphs = [paragraph for paragraph in section.paragraphs if paragraph.lines]
        lost = headed and not (section.paragraphs and section.paragraphs[0].heading)
        if lost and left:  # a cell had been taken for a heading
            left[-1].paragraphs += section.paragraphs
            section.heading = left[-1].heading  # for the captions that were read under it
        elif section.paragraphs:
            left.append(section)
    sections[:] = left


def _without(line: Line, cells: set[int]) -> Line | None:
    """Return what of a line stands beside a table; None when it is all in it."""
    words = [word for word in line.words if id(word) not in cells]
    if len(words) == len(line.words):
        return line
    return replace(line, words=words) if words else None


# --- the section tree --------------------------------------------------------------------------


def _outline(drawing: pypdfium2.PdfDocument, document: RawDocument) -> tuple[Heading, ...]:
    """Return the file's own outline when its titles stand on the pages it names; else nothing."""
    found = []
    for item in drawing.get_toc(max_depth=4):
        destination = item.get_dest()
        index = destination.get_index() if destination else None
        title = " ".join(str(item.get_title() or "").split())
        if index is not None and title and 0 <= index < len(document.pages):
            found.append(Heading(item.level + 1, title[:300], index + 1))
        if len(found) >= _MOST_HEADINGS:
            break
    if len(found) < 3:
        return ()
    texts: dict[int, str] = {}
    stands = 0
    for heading in found:
        if heading.page not in texts:
            words = document.pages[heading.page - 1].words
            texts[heading.page] = _compact("".join(word.text for word in words))
        stands += _compact(bare(heading.title)) in texts[heading.page]
    return tuple(found) if stands >= 0.7 * len(found) else ()


def _compact(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _headings(sections: Sequence[Section]) -> tuple[Heading, ...]:
    """Return the headings found, their levels by numbering, else by the size of their type."""
    headed = [
        (section.heading, section.paragraphs[0].page, section.paragraphs[0].lines[0].size)
        for section in sections
        if section.heading
    ]
    counted = {
        round(size * 2): level
        for title, _, size in reversed(headed)
        if (level := _numbered_level(title))
    }
    sizes = sorted({round(size * 2) for _, _, size in headed}, reverse=True)
    found = []
    for title, page, size in headed[:_MOST_HEADINGS]:
        level = _numbered_level(title)
        if not level and is_known_heading(title):
            level = 1
        if not level and counted:
            level = counted[min(counted, key=lambda known: abs(known - size * 2))]
        found.append(Heading(level or min(3, sizes.index(round(size * 2)) + 1), title, page))
    return tuple(found)


def _numbered_level(title: str) -> int:
    """Return the level that a heading's number tells; 0 when it has none."""
    if _SECOND.match(title):
        return 2
    decimal = _DECIMAL.match(title)
    if decimal:
        return 1 + decimal["more"].count(".")
    return 1 if _NUMBERED.match(title) or re.match(r"第\s*\S{1,3}\s*章", title) else 0
