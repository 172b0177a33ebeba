"""From a PDF's bytes to a parsed paper: the worker's main task."""

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import UnreadableFile
from core.ingest import pdf
from core.ingest.chunking import chunks_of, page_text
from core.ingest.furniture import drop_furniture, drop_line_numbers
from core.ingest.layout import lines_of
from core.ingest.metadata import read_meta
from core.ingest.sections import sections_of
from core.ingest.text import Hyphens, letters
from core.types import Page, ParsedPaper
from core.wording import say

Report = Callable[[str, int, int], None]
"""Called with a stage ('reading', 'sections', 'chunks'), how far, and out of how much."""

_SCAN_LETTERS = 60


@dataclass(frozen=True, slots=True)
class Parsed:
    """A paper, and the bytes to draw it from when they are not the file's own."""

    paper: ParsedPaper
    copy: bytes | None = None


def parse(data: bytes, password: str | None, report: Report) -> Parsed:
    """Read a PDF into pages and chunks.

    Raises:
        UnreadableFile: see `core.ingest.pdf.read`; NO_TEXT for scans and text without meaning.
    """
    document = None
    for step in pdf.read(data, password):
        if isinstance(step, pdf.RawDocument):
            document = step
        else:
            report("reading", *step)
    if document is None:
        raise pdf.damaged()
    report("sections", 0, 1)
    _check_text(data, password, document)
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
    chunks = chunks_of(sections, document.pages, Hyphens(page.text for page in pages))
    if not chunks:
        raise _no_text(scan=False)
    report("chunks", 1, 1)
    return Parsed(ParsedPaper(meta, pages, tuple(chunks)), document.copy)


def _no_text(scan: bool) -> UnreadableFile:
    if not scan:
        return UnreadableFile(
            say("The PDF holds no text: its pages are empty."),
            hint=say("Check in a PDF viewer whether it is the right file."),
            code="NO_TEXT",
        )
    return UnreadableFile(
        say("The PDF holds no text: it looks like a scan."),
        hint=say("Run it through OCR first (for example `ocrmypdf`) and add the result."),
        code="NO_TEXT",
    )


def _check_text(data: bytes, password: str | None, document: pdf.RawDocument) -> None:
    """Refuse a file without text that means something.

    Raises:
        UnreadableFile: NO_TEXT.
    """
    garbled = any(page.garbled for page in document.pages)
    amount = sum(letters(word.text) for page in document.pages for word in page.words)
    if garbled and amount < _SCAN_LETTERS * len(document.pages):
        raise UnreadableFile(
            say(
                "The PDF's text cannot be decoded: its fonts do not say which characters they show."
            ),
            hint=say("Run it through OCR (for example `ocrmypdf --force-ocr`) and add the result."),
            code="NO_TEXT",
        )
    if amount < _SCAN_LETTERS * len(document.pages):
        scan = pdf.is_scan(document.copy or data, password)
        if scan or not amount:
            raise _no_text(scan)
