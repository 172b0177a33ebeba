"""What LaTeXML's pages (arXiv's HTML) say by their `ltx_` classes: metadata and references."""

import re
from collections.abc import Iterator

from lxml import etree

from core.ingest.htmltext import Element, classes, flat, paragraph, unseen
from core.ingest.identifiers import arxiv_id, doi
from core.ingest.metadata import names_in
from core.types import PaperMeta, Reference

LEVELS = {
    "ltx_title_part": 1,
    "ltx_title_chapter": 2,
    "ltx_title_section": 3,
    "ltx_title_subsection": 4,
    "ltx_title_subsubsection": 5,
}
"""Of headings, 1 the highest. Paragraphs and theorems run in: they are part of the text."""
TOP = frozenset(
    [
        "ltx_title_abstract",
        "ltx_title_appendix",
        "ltx_title_bibliography",
        "ltx_title_acknowledgements",
        "ltx_title_index",
        "ltx_title_glossary",
    ]
)
"""Headings as high as the highest of the document."""
FRONT = frozenset(
    ["ltx_title_document", "ltx_authors", "ltx_dates", "ltx_date", "ltx_subtitle", "ltx_bib_cited"]
)
"""Parts that are metadata and not running text."""
LONGEST_LABEL = 40
"""Characters: a longer one is the entry's authors once more."""
_EQUATIONS = frozenset(["ltx_equation", "ltx_equationgroup", "ltx_eqn_table"])
_STAMP = re.compile(r"arXiv:\s*(?P<id>\S+)(?P<rest>.*)", re.I | re.S)
_YEAR = re.compile(r"(?<!\d)(?:19[5-9]\d|20[0-4]\d)(?!\d)")
_NO_LINK = re.compile(r"\s*(?:External Links|Cited by|Note):\s*(?:(?:Document|Link|[,.;\s])*)$")


def is_latexml(root: Element) -> bool:
    """Return whether the page was made by LaTeXML."""
    return bool(root.xpath("//*[contains(concat(' ', @class, ' '), ' ltx_page_main ')]")) or bool(
        root.xpath("//*[contains(concat(' ', @class, ' '), ' ltx_document ')]")
    )


def having(root: Element, name: str) -> list[Element]:
    """Return the elements of a class, in order."""
    found = root.xpath(
        "descendant-or-self::*[contains(concat(' ', @class, ' '), $name)]", name=f" {name} "
    )
    return list(found)


def level_of(element: Element) -> int | None:
    """Return a heading's level, 0 for the highest of the document, None if it is no heading."""
    own = classes(element)
    if own & TOP:
        return 0
    return next((LEVELS[name] for name in own if name in LEVELS), None)


def is_equation(element: Element) -> bool:
    """Return whether the element is a displayed formula or a group of them."""
    return bool(classes(element) & _EQUATIONS)


def meta_of(page: Element, article: Element, made: str = "") -> PaperMeta:
    """Return what the page says: title, authors, year, abstract, ids. The rest is for the caller.

    `made`: the year the page was made in; a date of that year may be the day of its making.
    """
    stamp = " ".join(flat(node) for node in page.xpath("//*[@id='watermark-tr']"))
    number = _own_id(page, stamp)
    return PaperMeta(
        title=next((flat(node) for node in having(article, "ltx_title_document")), ""),
        authors=_authors(article),
        year=_year(article, stamp, number, made),
        abstract="\n\n".join(_abstract(article)),
        doi=_doi(page),
        arxiv_id=number,
    )


def _own_id(page: Element, stamp: str) -> str:
    """Return the arXiv id of the watermark, or of the address that the page gives as its own."""
    match = _STAMP.search(stamp)
    if match and (found := arxiv_id(match["id"])):
        return found
    addresses = page.xpath(
        "//base/@href | //link[@rel='canonical']/@href | //meta[@property='og:url']/@content"
    )
    for address in addresses:
        match = re.search(r"/(?:html|abs)/([^\s?#]+?)/?$", str(address))
        if match and (found := arxiv_id(match[1])):
            return found
    return ""


def _doi(page: Element) -> str:
    marked = page.xpath("//meta[@name='citation_doi']/@content")
    return next((found for text in marked if (found := doi(str(text)))), "")


def _year(article: Element, stamp: str, number: str, made: str) -> int | None:
    match = _STAMP.search(stamp)
    texts = [match["rest"]] if match else []
    texts += [
        text for node in having(article, "ltx_date") if not made or made not in (text := flat(node))
    ]
    for text in texts:
        if found := _YEAR.search(text):
            return int(found.group())
    return year_of_id(number)


def year_of_id(number: str) -> int | None:
    """Return the year an arXiv id was given in."""
    match = re.match(r"(?:[a-z-]+/)?(\d\d)\d\d", number)
    if match is None:
        return None
    year = int(match[1])
    return 1900 + year if year > 90 else 2000 + year


def _abstract(article: Element) -> Iterator[str]:
    for node in having(article, "ltx_abstract")[:1]:
        for part in having(node, "ltx_p"):
            yield flat(part)


def _authors(article: Element) -> tuple[str, ...]:
    """Return the names; where authors and addresses stand in one field, its lines that are names."""
    found: list[str] = []
    for node in having(article, "ltx_personname"):
        lines = [line for line in _lines(node) if line]
        if (
            len(lines) == 1
            and "," not in lines[0]
            and " and " not in lines[0]
            and "@" not in lines[0]
        ):
            names = [lines[0].strip(" &;.")]
        else:
            names = [name for line in lines for name in names_in(line)]
        found += [name for name in names if name and name not in found]
    return tuple(found)


def _lines(node: Element) -> list[str]:
    """Return the lines of an author field, without the marks of notes."""
    parts: list[str] = []
    walk = etree.iterwalk(node, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            skipped = (
                unseen(element) or "ltx_note" in classes(element) or element.tag in ("sup", "math")
            )
            if element is not node and skipped:
                walk.skip_subtree()
                continue
            breaks = element.tag in ("br", "p", "div", "tr") or "ltx_p" in classes(element)
            # a line break in the source is none; &-signs stand between authors
            parts.append("\x00" if breaks else "")
            parts.append(element.text or "")
        elif element is not node:
            parts.append("\x00" if "ltx_p" in classes(element) else "")
            parts.append(element.tail or "")
    return [paragraph(line) for line in re.split(r"\x00|&(?=[^\W\d_])", "".join(parts))]


def reference_of(item: Element) -> tuple[str, str, Reference]:
    """Return an entry's label, its text, and what its parts are marked as."""
    label = next((flat(node) for node in having(item, "ltx_tag")), "")
    label = label if len(label) <= LONGEST_LABEL else ""
    blocks = [
        flat(node) for node in having(item, "ltx_bibblock") if "ltx_bib_cited" not in classes(node)
    ]
    text = " ".join(part for part in (_NO_LINK.sub("", block) for block in blocks) if part)
    if not blocks:
        text = flat(item).removeprefix(label).strip()
    links = [str(link) for link in item.xpath(".//a/@href")]
    known = Reference(
        text,
        0,
        label,
        title=_marked(item, "ltx_bib_title"),
        year=_bib_year(item),
        doi=next((found for link in links if "doi.org/" in link and (found := doi(link))), ""),
        arxiv_id=next((found for link in links if (found := _linked_arxiv(link))), ""),
    )
    return label, text, known


def _marked(item: Element, name: str) -> str:
    return next((flat(node).strip(' .,"“”') for node in having(item, name)), "")


def _bib_year(item: Element) -> int | None:
    match = _YEAR.search(_marked(item, "ltx_bib_year"))
    return int(match.group()) if match else None


def _linked_arxiv(link: str) -> str:
    match = re.search(r"arxiv\.org/(?:abs|pdf)/([^\s?#]+?)(?:\.pdf)?$", link, re.I)
    return arxiv_id(match[1]) if match else ""
