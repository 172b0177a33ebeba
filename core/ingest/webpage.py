"""HTML to blocks of text: arXiv's LaTeXML pages, and saved pages of any other kind.

lxml builds the tree; nothing a page refers to is ever fetched, no script runs, and HTML knows no
entities of one's own. The tree is walked without recursion, so depth costs nothing.
"""

import re

from lxml import etree

from core.errors import UnreadableFile
from core.ingest import latexml
from core.ingest.htmltext import (
    BLOCKS,
    Element,
    classes,
    flat,
    formula,
    is_formula,
    is_note,
    paragraph,
    rows_of,
    steps,
    unseen,
    verbatim,
)
from core.ingest.identifiers import arxiv_id, doi
from core.ingest.text import letters
from core.ingest.textdoc import Block, Document
from core.types import PaperMeta
from core.wording import say

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_MAIN_SHARE = 0.4
"""An article with this share of the page's paragraphs is the page's content."""
_MAIN = (
    "//main", "//*[@role='main']", "//*[@id='mw-content-text']", "//*[@id='content']",
    "//*[@id='main-content']", "//*[@id='main']",
)  # fmt: skip
_MADE = re.compile(r"<!--\s*Generated on .{0,40}?((?:19|20)\d\d) by LaTeXML")
_YEAR = re.compile(r"(?<!\d)(?:19[5-9]\d|20[0-4]\d)(?!\d)")


def read(text: str) -> Document:
    """Return a page's content as blocks, and what it says of itself.

    Raises:
        UnreadableFile: DAMAGED when it is no page or nested beyond reason; NO_TEXT is for the
            caller to judge.
    """
    page = _tree(text)
    if latexml.is_latexml(page):
        article = next(iter(latexml.having(page, "ltx_document")), None)
        if article is None:  # a conversion that failed
            return Document(PaperMeta(), ())
        made = _MADE.search(text[:4_000])
        meta = latexml.meta_of(page, article, made[1] if made else "")
        return Document(meta, tuple(_Reader(made=True).read(article)))
    content = _content(page)
    blocks = _Reader(made=False).read(content)
    meta = _meta(page, content)
    return Document(meta, tuple(_without_title(blocks, meta.title)))


def _tree(text: str) -> Element:
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    try:
        page = etree.fromstring(text.encode("utf-8", "replace").replace(b"\0", b""), parser)
    except etree.XMLSyntaxError:
        page = None
    if page is None:
        raise _damaged(say("The page is damaged: no content could be found in it."))
    if any("depth" in error.message for error in parser.error_log.filter_from_fatals()):
        raise _damaged(say("The page is damaged: its elements are nested without end."))
    return page


def _damaged(message: str) -> UnreadableFile:
    return UnreadableFile(
        message, hint=say("Open it in a browser and save or print it again."), code="DAMAGED"
    )


class _Reader:
    """Walks an article and collects its blocks."""

    def __init__(self, *, made: bool) -> None:
        self._made = made
        """By LaTeXML: its classes say what an element is."""
        self._blocks: list[Block] = []
        self._buffer: list[str] = []

    def read(self, root: Element) -> list[Block]:
        """Return the blocks of an element in reading order."""
        for event, element, walk in steps(root):
            if event == "start":
                if element is not root and self._whole(element):
                    walk.skip_subtree()
                else:
                    self._enter(element)
            elif element is not root:
                if element.tag in BLOCKS or "ltx_p" in classes(element):
                    self._flush()
                self._buffer.append(element.tail or "")
        self._flush()
        return self._blocks

    def _enter(self, element: Element) -> None:
        if (element.tag in BLOCKS and not self._runs_in(element)) or "ltx_p" in classes(element):
            self._flush()
        if element.tag == "br":
            self._buffer.append(" ")
        if element.tag == "li" and not self._made:
            self._buffer.append("• ")
        self._buffer.append(element.text or "")

    def _runs_in(self, element: Element) -> bool:
        return self._made and element.tag in _HEADINGS

    def _flush(self) -> None:
        text = paragraph("".join(self._buffer))
        self._buffer.clear()
        if text and text != "•":
            self._blocks.append(Block("text", text))

    def _put(self, block: Block) -> None:
        self._flush()
        if block.text or block.rows:
            self._blocks.append(block)

    def _whole(self, element: Element) -> bool:
        """Take in an element that is one thing as a whole, or leave it out; false: look inside."""
        if is_formula(element):
            self._buffer.append(formula(element))
            return True
        if unseen(element):
            return True
        if self._made and self._marked(element):
            return True
        tag = element.tag
        if tag in _HEADINGS and not self._made:
            self._put(Block("heading", flat(element), _HEADINGS[tag]))
        elif tag == "pre":
            self._put(Block("text", verbatim(element)))
        elif tag == "figure":
            self._figure(element)
        elif tag == "table":
            return self._table(element)
        else:
            return False
        return True

    def _marked(self, element: Element) -> bool:
        """Take in what LaTeXML's classes say is one thing."""
        own = classes(element)
        if own & latexml.FRONT:
            return True
        if "ltx_title" in own and (level := latexml.level_of(element)) is not None:
            self._put(Block("heading", flat(element), level))
        elif is_note(element):
            if own & {"ltx_role_footnote", "ltx_role_endnote", "ltx_role_thanks"}:
                self._blocks.append(Block("footnote", flat(element)))
        elif latexml.is_equation(element):
            self._put(Block("text", flat(element)))
        elif "ltx_bibitem" in own:
            label, text, known = latexml.reference_of(element)
            self._put(Block("reference", text, label=label, known=known))
        elif own & {"ltx_figure", "ltx_table", "ltx_float"}:
            self._figure(element)
        else:
            return False
        return True

    def _figure(self, element: Element) -> None:
        """Take in a figure: its captions, the tables in it, else what text it is made of."""
        self._flush()
        captions = [node for node in element.iter("figcaption", "caption") if not unseen(node)]
        notes = [flat(node) for node in captions]
        tables = [
            rows
            for node in element.iter("table")
            if _outer(node, element) and (rows := rows_of(node))
        ]
        if tables:
            for at, rows in enumerate(tables):
                caption = (
                    notes[at] if len(notes) == len(tables) else " ".join(notes) if not at else ""
                )
                self._put(Block("table", caption, rows=rows))
        else:
            for node in captions:
                node.clear(keep_tail=True)
            text = " ".join(filter(None, [*notes, flat(element)]))
            self._put(Block("figure", text))

    def _table(self, element: Element) -> bool:
        """Take in a table of data; false for one that only lays out the page."""
        if element.find(".//h1") is not None or element.find(".//h2") is not None:
            return False
        rows = rows_of(element)
        width = len(rows[0]) if rows else 0
        longest = max((len(cell) for row in rows for cell in row), default=0)
        if element.get("role") == "presentation" or width < 2 or longest > 1_500:
            return False
        caption = element.find("caption")
        self._put(Block("table", "" if caption is None else flat(caption), rows=rows))
        return True


def _outer(table: Element, within: Element) -> bool:
    """Return whether a table is not inside another in the same figure, and no formula."""
    if latexml.is_equation(table):
        return False
    node = table.getparent()
    while node is not None and node is not within:
        if node.tag == "table":
            return False
        node = node.getparent()
    return True


def _content(page: Element) -> Element:
    """Return the element that holds what the page is about."""
    body = page.find("body")
    whole = body if body is not None else page
    amount = _prose(whole)
    articles = sorted(page.iter("article"), key=_prose, reverse=True)[:1]
    for node in [*articles, *(found for path in _MAIN for found in page.xpath(path)[:1])]:
        if _prose(node) >= _MAIN_SHARE * amount and letters("".join(node.itertext())):
            return node
    return whole


def _prose(element: Element) -> int:
    """Return how much text the paragraphs in an element have."""
    return sum(len("".join(node.itertext())) for node in element.iter("p", "li", "pre"))


def _without_title(blocks: list[Block], title: str) -> list[Block]:
    """Return the blocks without the heading that repeats the title."""
    for at, block in enumerate(blocks[:20]):
        if block.kind == "heading" and title and block.text == title:
            return blocks[:at] + blocks[at + 1 :]
    return blocks


def _meta(page: Element, content: Element) -> PaperMeta:
    """Return what the page says in its `meta` elements, its first heading and its title."""
    given: dict[str, list[str]] = {}
    for node in page.iter("meta"):
        name = (node.get("name") or node.get("property") or "").lower().replace("dc.", "dc_")
        if value := paragraph(node.get("content") or ""):
            given.setdefault(name, []).append(value)

    def first(*names: str) -> str:
        return next((given[name][0] for name in names if name in given), "")

    heading = next((flat(node) for node in content.iter("h1")), "")
    named = next((flat_title(node) for node in page.iter("title")), "")
    dated = _YEAR.search(first("citation_publication_date", "citation_date", "dc_date",
                               "article:published_time", "date"))  # fmt: skip
    number = arxiv_id(first("citation_arxiv_id"))
    return PaperMeta(
        title=first("citation_title", "dc_title") or heading or first("og:title") or named,
        authors=tuple(
            _name(name)
            for name in given.get(
                "citation_author", given.get("dc_creator", given.get("author", ()))
            )
        ),
        year=int(dated.group()) if dated else latexml.year_of_id(number),
        abstract=first("citation_abstract", "dc_description"),
        doi=doi(first("citation_doi", "dc_identifier")),
        arxiv_id=number,
    )


def flat_title(node: Element) -> str:
    """Return the text of a `title` element."""
    return paragraph("".join(node.itertext()))


def _name(text: str) -> str:
    """Return a name as it is spoken: given names first."""
    family, comma, given = text.partition(",")
    return f"{given.strip()} {family.strip()}" if comma and given.strip() else text
