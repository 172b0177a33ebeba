"""A paper as a search finds it, whatever catalogue it is from."""

from typing import Any, TypedDict

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
