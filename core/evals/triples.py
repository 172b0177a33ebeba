"""The same paper as HTML and as PDF: what both readings agree on.

The HTML is the measure of sections and references, for its marks say what they are; of the PDF's
sections those that the HTML has not are counted as extra.
"""

import re
import unicodedata
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.ingest.kinds import tell
from core.ingest.parse import parse
from core.ingest.readers import read_text
from core.types import ParsedPaper
from core.wording import say

PAPERS = ("0106220", "1706.03762", "2305.03393", "2310.06825", "9802040")
_NUMBER = re.compile(r"^(?:appendix\s+)?(?:\d+(?:\.\d+)*|[A-Z]|[IVX]+(?:\.\d+)*)[.:]?\s+", re.I)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_UNNUMBERED = {"abstract", "references", "acknowledgements", "acknowledgments"}
"""Headings that many papers set without being sections of theirs."""


def run(shared: Path) -> dict[str, Any]:
    """Return by paper what agrees; shares are of what the HTML has.

    Raises:
        BadInput: the papers are not there.
    """
    return {name: compare(*both(shared, name)) for name in PAPERS}


def both(shared: Path, name: str) -> tuple[ParsedPaper, ParsedPaper]:
    """Return a paper of `arxiv_triples` as read from its HTML and from its PDF.

    Raises:
        BadInput: it is not there.
    """
    page = shared / "arxiv_triples" / name / "latexml.html"
    files = sorted((shared / "pdf_papers").glob(f"*_{name}_compiled*.pdf"))
    if not page.is_file() or not files:
        raise BadInput(say("There is no labelled set {path}.", path=str(page)))
    told = tell(page.read_bytes())
    return read_text(told.text, told.kind), parse(files[0].read_bytes(), None, _silent).paper


def compare(page: ParsedPaper, pdf: ParsedPaper) -> dict[str, Any]:
    """Return what two readings of one paper agree on."""
    wanted, found = sections(page), sections(pdf)
    ours = [_bare(entry.title) for entry in page.structure.references]
    theirs = {_bare(entry.title) for entry in pdf.structure.references}
    return {
        "title": _bare(page.meta.title) == _bare(pdf.meta.title),
        "authors": page.meta.authors == pdf.meta.authors,
        "sections": len(wanted),
        "sections_found": len(_in_order(wanted, found)),
        "sections_extra": len([name for name in found if name not in wanted]),
        "references": len(ours),
        "references_of_pdf": len(pdf.structure.references),
        "reference_titles_found": sum(title in theirs for title in ours),
    }


def sections(paper: ParsedPaper) -> list[str]:
    """Return the names of a paper's sections, letters and digits without their numbers."""
    names = [_bare(_NUMBER.sub("", head.title)) for head in paper.structure.sections]
    return [name for name in names if name not in _UNNUMBERED]


def _in_order(wanted: list[str], found: list[str]) -> list[str]:
    """Return the wanted names that are found one after the other."""
    met, at = [], 0
    for name in wanted:
        if name in found[at:]:
            at = found.index(name, at) + 1
            met.append(name)
    return met


def _bare(text: str) -> str:
    """Return letters and digits; those of a formula in LaTeX as they are printed."""
    shown = _COMMAND.sub(lambda found: _printed(found[1]), text)
    return re.sub(r"[\W_]", "", shown.casefold())


def _printed(command: str) -> str:
    """Return the Greek letter that a LaTeX command prints; signs do not count."""
    size = "CAPITAL" if command[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {command.upper()}")
    except KeyError:
        return ""


def _silent(stage: str, done: int, total: int) -> None:
    """Report to nobody."""
