"""The tool that numbers papers for citing. Numbers are the system's: no model chooses one."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.errors import BadInput
from core.ingest.identifiers import arxiv_id, doi, recognise
from core.tools.envelope import ToolFailure
from core.tools.registry import tool
from core.tools.toolbox import Toolbox
from core.wording import say

MOST = 200


class Work(BaseModel):
    """A paper to be cited. `key` is what the caller knows it by."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(min_length=1, max_length=200)
    title: str = Field("", max_length=1000)
    authors: tuple[str, ...] = Field((), max_length=5000)
    year: int | None = Field(None, ge=1400, le=2100)
    arxiv_id: str = Field("", max_length=200)
    doi: str = Field("", max_length=300)
    url: str = Field("", max_length=2000)


class Wanted(BaseModel):
    """The papers, in the order in which they get their numbers."""

    model_config = ConfigDict(extra="forbid")

    papers: tuple[Work, ...] = Field(min_length=1, max_length=MOST)


@tool(
    Wanted,
    source="lectern",
    about="Number papers for citing, from [1] on in the order given. Every paper once, each with "
    "title, authors and year.",
)
def build_citations(box: Toolbox, wanted: Wanted) -> dict[str, Any]:
    """Return the numbers of papers.

    Data: `references` (`n`, `key`, `title`, `authors`, `year`, `url`), and both maps: `number_of`
    by key, `key_of` by number (as text: keys of JSON are).

    Raises:
        ToolFailure: DUPLICATE for a paper that is there twice; MISSING_METADATA for one without
            title, authors or year.
    """
    known: dict[str, str] = {}
    for work in wanted.papers:
        _complete(work)
        for name in _names(work):
            if name in known:
                raise ToolFailure(
                    "DUPLICATE",
                    say(
                        "{one!r} and {other!r} are the same paper.", one=known[name], other=work.key
                    ),
                    say("Leave one of them out."),
                )
        known |= dict.fromkeys(_names(work), work.key)
    numbered = list(enumerate(wanted.papers, start=1))
    return {
        "references": [
            {
                "n": n,
                "key": work.key,
                "title": _line(work.title),
                "authors": [_line(name) for name in work.authors],
                "year": work.year,
                "url": _url(work),
            }
            for n, work in numbered
        ],
        "number_of": {work.key: n for n, work in numbered},
        "key_of": {str(n): work.key for n, work in numbered},
    }


def _complete(work: Work) -> None:
    missing = [
        name
        for name, value in (
            ("title", _line(work.title)),
            ("authors", [name for name in work.authors if _line(name)]),
            ("year", work.year),
        )
        if not value
    ]
    if missing:
        raise ToolFailure(
            "MISSING_METADATA",
            say("{key!r} has no {what}.", key=work.key, what=", ".join(missing)),
            say("Look them up with paper_search, or leave the paper out."),
        )


def _names(work: Work) -> set[str]:
    """Return all that tells this paper from others; two papers may share a title, not the authors."""
    title = f"{_line(work.title)} / {_line(work.authors[0])} / {work.year}".casefold()
    identified = {f"{kind}:{value}" for kind, value in _identifiers(work)}
    return {f"key:{work.key}", f"title:{title}", *identified}


def _identifiers(work: Work) -> set[tuple[str, str]]:
    """Return kind and value of its ids; the DOI that arXiv gives is the arXiv id."""
    found: set[tuple[str, str]] = set()
    for text in (work.arxiv_id, work.doi):
        try:
            identifier = recognise(text)
        except BadInput:  # none at all, or nothing that is one
            continue
        found.add((identifier.kind, identifier.value))
    return found


def _url(work: Work) -> str:
    if doi(work.doi):
        return f"https://doi.org/{doi(work.doi)}"
    if arxiv_id(work.arxiv_id):
        return f"https://arxiv.org/abs/{arxiv_id(work.arxiv_id)}"
    return work.url if work.url.startswith(("https://", "http://")) else ""


def _line(text: str) -> str:
    return " ".join(text.split())
