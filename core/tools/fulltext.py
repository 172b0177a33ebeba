"""The tool that fetches what arXiv has of a paper's text: its HTML, else its PDF, else its abstract."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from core.errors import BadInput, UnreadableFile
from core.ingest.fetch import ArxivUnavailable
from core.ingest.identifiers import Identifier, recognise
from core.ingest.kinds import tell
from core.tools.envelope import ToolFailure
from core.tools.registry import tool
from core.tools.toolbox import Toolbox
from core.types import Chunk, ChunkDraft, ParsedPaper
from core.wording import say

LONGEST_OVERLAP = 300
"""Characters that two neighbouring chunks may have in common."""


class Wanted(BaseModel):
    """Which paper."""

    model_config = ConfigDict(extra="forbid")

    arxiv_id: str = Field(max_length=200, description="An arXiv id, or the address of one.")


class Section(NamedTuple):
    """A part of a paper under one heading ('' before the first)."""

    title: str
    text: str


class Text(NamedTuple):
    """What could be had of a paper. `got`: `html`, `pdf` or `abstract`."""

    got: str
    arxiv_id: str
    title: str
    chunks: Sequence[ChunkDraft]


@tool(
    Wanted,
    source="arxiv",
    about="Fetch the text of a paper on arXiv, section by section. Says whether it got the HTML, "
    "the PDF or only the abstract.",
)
def fetch_fulltext(box: Toolbox, wanted: Wanted) -> dict[str, Any]:
    """Return what arXiv has of a paper.

    Data: `arxiv_id`, `got` (`html`, `pdf` or `abstract`), `title`, `sections` (`title`, `text`;
    without the list of references), `characters`.

    Raises:
        ToolFailure: with the code of what is wrong.
        Cancelled: it was stopped.
    """
    text = text_of(box, wanted.arxiv_id)
    parts = sections(text.chunks)
    return {
        "arxiv_id": text.arxiv_id,
        "got": text.got,
        "title": text.title,
        "sections": [part._asdict() for part in parts],
        "characters": sum(len(part.text) for part in parts),
    }


def text_of(box: Toolbox, name: str) -> Text:
    """Return what arXiv has of a paper.

    Raises:
        ToolFailure: with the code of what is wrong.
        Cancelled: it was stopped.
    """
    paper = _identified(name)
    number = paper.value + (f"v{paper.version}" if paper.version else "")
    try:
        fetched = box.fetcher.fetch(paper, cancelled=box.cancelled.is_set)
        got, parsed = _read(box, fetched.data)
        return Text(got, number, parsed.meta.title, parsed.chunks)
    except ArxivUnavailable as error:
        raise ToolFailure(
            error.kind, error.message, error.hint, retry_after=error.retry_after
        ) from error
    except BadInput:  # no such file, too large, or not to be read: there may still be an abstract
        return _abstract(box, number)


def _identified(name: str) -> Identifier:
    try:
        paper = recognise(name)
    except BadInput as error:
        raise ToolFailure("INVALID_ARGS", error.message, error.hint) from error
    if paper.kind != "arxiv":
        raise ToolFailure(
            "INVALID_ARGS",
            say("Full texts are fetched from arXiv only, and this is a DOI."),
            say("Give an arXiv id, or search for the paper's title first."),
        )
    return paper


def _read(box: Toolbox, data: bytes) -> tuple[str, ParsedPaper]:
    told = tell(data)
    if told.kind == "pdf":
        return "pdf", box.worker().parse(data)[0]
    if told.kind != "html":
        raise UnreadableFile(say("arXiv sent neither a page nor a PDF."), code="NOT_A_PDF")
    return "html", box.worker().read_text(told.text, told.kind)


def _abstract(box: Toolbox, number: str) -> Text:
    found = box.arxiv.paper(number, box.cancelled)
    chunk = ChunkDraft(1, "Abstract", "abstract", found["abstract"], ())
    return Text("abstract", number, found["title"], [chunk])


def sections(chunks: Iterable[ChunkDraft | Chunk]) -> list[Section]:
    """Return a paper's sections in order, without references; what chunks repeat stands once."""
    own = (chunk for chunk in chunks if chunk.kind != "references")
    return [
        Section(title, _joined([chunk.text for chunk in run]))
        for title, run in groupby(own, key=lambda chunk: chunk.section)
    ]


def _joined(texts: Sequence[str]) -> str:
    whole = ""
    for text in texts:
        whole += ("\n" if whole else "") + text[_repeated(whole, text) :]
    return re.sub(r"\n{3,}", "\n\n", whole)


def _repeated(before: str, text: str) -> int:
    """Return how many characters `text` begins with that `before` ends with."""
    for size in range(min(LONGEST_OVERLAP, len(text), len(before)), 20, -1):
        if before.endswith(text[:size]):
            return size
    return 0
