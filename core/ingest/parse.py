"""From a PDF's bytes to a parsed paper: the worker's main task."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import UnreadableFile
from core.ingest import ocr, pdf
from core.ingest.chunking import chunks_of, page_text
from core.ingest.furniture import drop_furniture, drop_line_numbers
from core.ingest.layout import lines_of
from core.ingest.metadata import read_meta
from core.ingest.sections import sections_of
from core.ingest.structure import read_structure
from core.ingest.text import Hyphens, letters
from core.types import Page, ParsedPaper
from core.wording import say

Report = Callable[[str, int, int], None]
"""Called with a stage ('reading', 'recognising', 'sections', …), how far, and out of how much."""

_SCAN_LETTERS = 60
"""A page; with less a scan is only its stamp, when OCR cannot read the rest."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A paper, and the bytes to draw it from when they are not the file's own."""

    paper: ParsedPaper
    copy: bytes | None = None


def parse(data: bytes, password: str | None, report: Report) -> Parsed:
    """Read a PDF into pages and chunks; pages without usable text are read by OCR.

    Raises:
        UnreadableFile: see `core.ingest.pdf.read`; NO_TEXT when nothing at all could be read.
    """
    document = None
    for step in pdf.read(data, password):
        if isinstance(step, pdf.RawDocument):
            document = step
        else:
            report("reading", *step)
    if document is None:
        raise pdf.damaged()
    recognised = _recognise(data, password, document, report)
    report("sections", 0, 1)
    amount = sum(letters(word.text) for page in document.pages for word in page.words)
    if amount < (1 if recognised else _SCAN_LETTERS * len(document.pages)):
        raise _no_text(data, password, document, recognised)
    for page in document.pages:
        drop_line_numbers(page)
    lines = [lines_of(page) for page in document.pages]
    taken = drop_furniture(document.pages, lines)
    pages = tuple(
        Page(raw.number, round(raw.width, 2), round(raw.height, 2), page_text(own), raw.label)
        for raw, own in zip(document.pages, lines, strict=True)
    )
    sections = sections_of(document.pages, lines, document.outline)
    meta = read_meta(document, lines, taken, sections, pages)
    report("chunks", 0, 1)
    hyphens = Hyphens(page.text for page in pages)
    structure, tables = read_structure(data, password, document, sections, hyphens)
    chunks = [*chunks_of(sections, document.pages, hyphens), *tables]
    chunks.sort(key=lambda chunk: chunk.page)
    if not chunks:
        raise _no_text(data, password, document, recognised)
    report("chunks", 1, 1)
    by_ocr = recognised is not None and recognised.pages > 0
    return Parsed(
        ParsedPaper(
            meta,
            pages,
            tuple(chunks),
            structure,
            read_by="ocr" if by_ocr else "text",
            confidence=recognised.confidence if recognised else None,
        ),
        document.copy,
    )


def _recognise(
    data: bytes, password: str | None, document: pdf.RawDocument, report: Report
) -> ocr.Recognised | None:
    """Read by OCR what needs it; None when OCR is needed and not installed."""
    recognised = ocr.Recognised()
    try:
        for done, count in ocr.recognise(data, password, document, recognised):
            report("recognising", done, count)
    except ImportError as error:
        logger.warning("scans cannot be read: %s", error)
        return None
    return recognised


def _no_text(
    data: bytes, password: str | None, document: pdf.RawDocument, recognised: ocr.Recognised | None
) -> UnreadableFile:
    """Return the error for a file of which nothing could be read, with what was tried."""
    look = say("Check in a PDF viewer whether it is the right file.")
    install = say("Install `rapidocr`, or run it through `ocrmypdf` first and add the result.")
    garbled = any(page.garbled for page in document.pages)
    scan = pdf.is_scan(document.copy or data, password)
    if garbled and recognised:
        message = say("The PDF's text cannot be decoded, and OCR found no words on its pages.")
    elif garbled:
        message = say(
            "The PDF's text cannot be decoded: its fonts do not say which characters they show."
        )
    elif scan and recognised:
        message = say("The PDF holds no text: its pages are pictures on which OCR found no words.")
    elif scan:
        message = say("The PDF holds no text: it looks like a scan, and OCR is not installed.")
    else:
        message = say("The PDF holds no text: its pages are empty.")
    hint = install if recognised is None and (garbled or scan) else look
    return UnreadableFile(message, hint=hint, code="NO_TEXT")
