"""A review as DOCX."""

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

import docx
from docx.document import Document as Docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import RGBColor
from docx.table import _Row
from docx.text.paragraph import Paragraph

from core.exports.text import Translate, one_line
from core.review.document import Document
from core.review.exports.content import (
    Piece,
    address,
    authors,
    badge,
    identifiers,
    marks,
    pieces,
    preface,
)
from core.wording import say

CJK_FONT = "SimSun"
"""Named for Chinese text: Word and its kin put a font of their own in its place if it is missing."""

_LINK = RGBColor(0x05, 0x63, 0xC1)
_LONGEST_PROPERTY = 255

Said = tuple[list[Piece], list[str]]
"""A sentence in pieces, and what a reader has to know of it."""


def to_docx(
    document: Document, translate: Translate = str, *, made_on: date | None = None
) -> bytes:
    """Return a review in which every number leads to its entry in the list of references."""
    made = docx.Document()
    _set_fonts(made)
    _set_properties(made, document, made_on)
    said = [(pieces(document, s["text"]), marks(document, s, translate)) for s in _all(document)]
    made.add_heading(one_line(document["topic"]), 0)
    for words in preface(document, translate, made_on):
        made.add_paragraph(one_line(words), "List Bullet")
    for part in document["parts"]:
        _add_part(made, part, said)
    if document["references"]:
        made.add_heading(one_line(translate(say("References"))), 1)
    for place, reference in enumerate(document["references"]):
        _add_reference(made.add_paragraph(), place, reference, translate)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _all(document: Document) -> Sequence[Mapping[str, Any]]:
    sentences: Sequence[Mapping[str, Any]] = document["sentences"]
    return sentences


def _set_fonts(made: Docx) -> None:
    """Name a font for Chinese wherever the template leaves it to a theme without one."""
    styles = made.styles.element
    for fonts in styles.iter(qn("w:rFonts")):
        fonts.attrib.pop(qn("w:eastAsiaTheme"), None)
        fonts.set(qn("w:eastAsia"), CJK_FONT)
    for language in styles.iter(qn("w:lang")):
        language.set(qn("w:eastAsia"), "zh-CN")


def _set_properties(made: Docx, document: Document, made_on: date | None) -> None:
    """Replace what the template says of itself."""
    told = made.core_properties
    told.title = one_line(document["topic"])[:_LONGEST_PROPERTY]
    told.author, told.comments, told.language = "Lectern", "", document["language"]
    if made_on is not None:
        told.created = told.modified = datetime.combine(made_on, time(), UTC)
        return
    for stamp in ("created", "modified"):
        for element in list(told._element.iterchildren(qn(f"dcterms:{stamp}"))):
            told._element.remove(element)


def _add_part(made: Docx, part: Mapping[str, Any], said: Sequence[Said]) -> None:
    if part["title"]:
        made.add_heading(one_line(part["title"]), 1)
    items = [said[at] for at in part["items"]]
    if part["kind"] == "claims":
        for item in items:
            _add_sentences(made.add_paragraph(style="List Bullet"), [item])
    elif items:
        _add_sentences(made.add_paragraph(), items)
    if part["kind"] == "table":
        _add_table(made, part, said)


def _add_table(made: Docx, part: Mapping[str, Any], said: Sequence[Said]) -> None:
    table = made.add_table(1, 1 + len(part["columns"]), "Table Grid")
    _add_head(table.rows[0], part["columns"])
    for head, row in zip(part["heads"], part["rows"], strict=True):
        first, *cells = table.add_row().cells
        first.paragraphs[0].add_run(one_line(head)).bold = True
        for cell, sentences in zip(cells, row, strict=True):
            _add_sentences(cell.paragraphs[0], [said[at] for at in sentences])
    made.add_paragraph()


def _add_head(row: _Row, columns: Sequence[str]) -> None:
    """Write the first row, which stands at the top of every page."""
    row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    for cell, column in zip(row.cells[1:], columns, strict=True):
        cell.paragraphs[0].add_run(one_line(column)).bold = True


def _add_sentences(paragraph: Paragraph, sentences: Sequence[Said]) -> None:
    for place, (parts, doubts) in enumerate(sentences):
        if place:
            paragraph.add_run(" ")
        for part in parts:
            if isinstance(part, str):
                paragraph.add_run(part)
                continue
            for n in part:
                _link(paragraph, f"[{n}]", anchor=_anchor(n))
        for words in doubts:
            paragraph.add_run(f" ({words})").italic = True


def _add_reference(
    paragraph: Paragraph, place: int, reference: Mapping[str, Any], translate: Translate
) -> None:
    _mark(paragraph, place, reference["n"])
    title, link = one_line(reference["title"]), address(reference)
    if who := authors(reference, translate):
        paragraph.add_run(f" {who}.")
    if title or link:
        paragraph.add_run(" ")
        if link:
            _link(paragraph, title or link, address=link)
        else:
            paragraph.add_run(title)
        paragraph.add_run(".")
    for identifier in identifiers(reference):
        paragraph.add_run(f" {identifier}.")
    paragraph.add_run(f" ({badge(reference, translate)})").italic = True


def _mark(paragraph: Paragraph, place: int, n: int) -> None:
    """Write the number of a reference between the ends of its bookmark."""
    start, end = OxmlElement("w:bookmarkStart"), OxmlElement("w:bookmarkEnd")
    for element in (start, end):
        element.set(qn("w:id"), str(place))
    start.set(qn("w:name"), _anchor(n))
    paragraph._p.append(start)
    paragraph.add_run(f"[{n}]")
    paragraph._p.append(end)


def _link(paragraph: Paragraph, text: str, *, address: str = "", anchor: str = "") -> None:
    link = OxmlElement("w:hyperlink")
    if anchor:
        link.set(qn("w:anchor"), anchor)
    else:
        related = paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        link.set(qn("r:id"), related)
    run = paragraph.add_run(text)
    run.font.color.rgb = _LINK
    link.append(run._r)
    paragraph._p.append(link)


def _anchor(n: int) -> str:
    return f"reference_{n}"
