"""What an export of a review says, in whatever format."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import quote
from uuid import UUID

from core.evidence.numbering import markers
from core.exports.bibtex import keyed
from core.exports.text import Translate, doubt, one_line
from core.review.document import Document, numbers
from core.types import PaperMeta
from core.wording import phrase, say

Piece = str | tuple[int, ...]
"""Text on one line, or the references that stand between two texts, each once."""

MOST_AUTHORS = 6
"""Named in a list of references; BibTeX has all."""

_ITEM = re.compile(r"^[-•*–▪●·][ \t]+")
_OF_ADDRESS = ":/?#@!$&+,=%~"
"""What an address keeps. Nothing here ends a link, begins an entity or is a brace or a backslash."""
_WEB = re.compile(r"https?://[a-z0-9-]+(\.[a-z0-9-]+)*(?=[/?#]|$)", re.I)
_STRAY = re.compile("%(?![0-9A-Fa-f]{2})")
_MODES = {
    "extractive": phrase("Put together without a language model, from sentences of the papers."),
    "llm": phrase("Written by a language model from passages of the papers."),
}
_EVIDENCE = {"full_text": phrase("full text"), "abstract": phrase("abstract only")}


def pieces(document: Document, text: str) -> list[Piece]:
    """Return a sentence in pieces: texts, and the references its passages belong to."""
    text = _ITEM.sub("", text)
    found: list[Piece] = []
    last = 0
    for marker in markers(text):
        _put(found, _between(text[last : marker.start]))
        _put(found, tuple(numbers(document, marker.numbers)))
        last = marker.end
    _put(found, _between(text[last:]))
    return found


def marks(document: Document, sentence: Mapping[str, Any], translate: Translate) -> list[str]:
    """Return what a reader has to know of a sentence: that it is in doubt, how little it rests on."""
    said = [doubt(sentence, translate)]
    evidence = {r["n"]: r["evidence"] for r in document["references"]}
    rests = [evidence.get(n) for n in numbers(document, sentence["citations"])]
    if rests and set(rests) == {"abstract"}:
        said.append(translate(say("rests on an abstract only")))
    return [one_line(words) for words in said if words]


def preface(document: Document, translate: Translate, made_on: date | None) -> list[str]:
    """Return how the review was made and how much of it is verified, a sentence each."""
    verified, evidence = document["verified"], [r["evidence"] for r in document["references"]]
    said = [
        say(
            "{supported:d} of {total:d} sentences are supported by the passages they cite.",
            supported=verified["supported"],
            total=verified["total"],
        ),
        _MODES[document["mode"]],
        say(
            "Papers read in full: {full:d}. Only as an abstract: {abstracts:d}.",
            full=evidence.count("full_text"),
            abstracts=evidence.count("abstract"),
        ),
    ]
    if made_on is not None:
        said.append(say("Date: {date}", date=made_on.isoformat()))
    return [translate(words) for words in said]


def authors(reference: Mapping[str, Any], translate: Translate) -> str:
    """Return the first authors of a paper and its year."""
    named = [one_line(author) for author in reference["authors"][:MOST_AUTHORS]]
    more = len(reference["authors"]) > MOST_AUTHORS
    who = ", ".join([*filter(None, named), *([translate(say("and others"))] if more else [])])
    return f"{who} ({reference['year']})".strip() if reference["year"] else who


def identifiers(reference: Mapping[str, Any]) -> list[str]:
    """Return DOI and arXiv id as they are written in print."""
    found = (("doi", reference["doi"]), ("arXiv", reference["arxiv_id"]))
    return [f"{name}:{one_line(value)}" for name, value in found if value]


def badge(reference: Mapping[str, Any], translate: Translate) -> str:
    """Return what of a paper was read."""
    return translate(_EVIDENCE[reference["evidence"]])


def address(reference: Mapping[str, Any]) -> str:
    """Return where a paper is on the web, encoded so that every format can hold it; '' if nowhere."""
    url, doi, arxiv_id = (one_line(reference[at] or "") for at in ("url", "doi", "arxiv_id"))
    if _WEB.match(url):
        return _STRAY.sub("%25", quote(url, safe=_OF_ADDRESS))
    if doi:
        return f"https://doi.org/{quote(doi)}"
    return f"https://arxiv.org/abs/{quote(arxiv_id)}" if arxiv_id else ""


def metas(document: Document) -> dict[UUID, PaperMeta]:
    """Return what is known of the papers, in the order of their numbers."""
    return {
        UUID(r["paper_id"]): PaperMeta(
            title=r["title"],
            authors=tuple(r["authors"]),
            year=r["year"],
            doi=r["doi"] or "",
            arxiv_id=r["arxiv_id"] or "",
        )
        for r in document["references"]
    }


def keys(document: Document) -> dict[int, str]:
    """Return the BibTeX key of each reference, by its number."""
    key = keyed(metas(document))
    return {r["n"]: key[UUID(r["paper_id"])] for r in document["references"]}


def _put(found: list[Piece], piece: Piece) -> None:
    """Add a piece; references that follow each other become one."""
    if isinstance(piece, str):
        if piece:
            found.append(piece)
        return
    space = found.pop() if found and found[-1] == " " and len(found) > 1 else ""
    if piece and found and isinstance(found[-1], tuple):
        found[-1] = tuple(dict.fromkeys(found[-1] + piece))
    elif piece:
        found += [space, piece] if space else [piece]
    elif found and isinstance(found[-1], str):
        # a number that is gone leaves no space behind
        found[-1] = found[-1].rstrip()


def _between(text: str) -> str:
    """Return text on one line, with a space at an end where there was white space."""
    return one_line(f"|{text}|")[1:-1]
