"""A paper as a search finds it, whatever catalogue it is from."""

from collections.abc import Iterable, Iterator
from typing import Any, TypedDict

from core.errors import BadInput
from core.ingest.identifiers import recognise
from core.ingest.versions import letters, same_work
from core.types import PaperMeta, PaperRow

SOURCES = ("arxiv", "openalex", "crossref")


class Found(TypedDict):
    """What is known of a paper that may not be in any library; empty where it is not known.

    `url`: its page; `open_copy`: the address of a copy that may be read by anybody.
    """

    source: str
    arxiv_id: str
    version: int | None
    title: str
    authors: list[str]
    year: int | None
    abstract: str
    categories: list[str]
    doi: str
    url: str
    open_copy: str


def identity(paper: Found) -> str:
    """Return what tells a paper from all others: arXiv id, else DOI, else its title folded."""
    if paper["arxiv_id"]:
        return f"arxiv:{paper['arxiv_id']}"
    if paper["doi"]:
        return f"doi:{paper['doi'].lower()}"
    return f"title:{' '.join(paper['title'].casefold().split())}"


def line(text: Any) -> str:
    """Return a text of a catalogue on one line; '' for what is no text."""
    return " ".join(text.split()) if isinstance(text, str) else ""


def web(text: Any) -> str:
    """Return an address of the web; '' for any other kind of address."""
    address = line(text)
    return address if address.startswith(("https://", "http://")) else ""


def in_library(papers: Iterable[Found], rows: Iterable[PaperRow]) -> dict[str, PaperRow]:
    """Return the papers of a library that are among those found, by their `identity`.

    The same work by arXiv id or DOI, else by title and author.
    """
    known: dict[str, PaperRow] = {}
    titled: dict[str, list[PaperRow]] = {}
    for row in rows:
        for key in _keys(row.meta.arxiv_id, row.meta.doi):
            known.setdefault(key, row)
        titled.setdefault(letters(row.meta.title), []).append(row)
    held: dict[str, PaperRow] = {}
    for paper in papers:
        by_id = (known[key] for key in _keys(paper["arxiv_id"], paper["doi"]) if key in known)
        meta = PaperMeta(paper["title"], tuple(paper["authors"]))
        same = titled.get(letters(paper["title"]), [])
        by_title = (row for row in same if same_work(row.meta, meta))
        here = next(by_id, None) or next(by_title, None)
        if here:
            held[identity(paper)] = here
    return held


def _keys(*identifiers: str) -> Iterator[str]:
    """Yield each identifier in one form; a DOI that arXiv gave is the arXiv id."""
    for text in identifiers:
        try:
            found = recognise(text)
        except BadInput:
            continue
        yield f"{found.kind}:{found.value}"
