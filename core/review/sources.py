"""The papers of a review with their numbers, which the system gives and nobody else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.agent.reading_notes import hits_of, own_text
from core.db.reviews import ReviewPaper, ReviewRow
from core.errors import NotFound
from core.evidence.numbering import defuse
from core.tools.catalogue import build_citations
from core.tools.toolbox import Toolbox
from core.types import Hit, Scope
from core.wording import say

FULL, ABSTRACT = "full_text", "abstract"


@dataclass(frozen=True, slots=True)
class Source:
    """A paper that was read: its number, what is known of it, its passages and its summary."""

    n: int
    paper: UUID
    title: str
    authors: tuple[str, ...]
    year: int | None
    url: str
    doi: str
    arxiv_id: str
    evidence: str
    scope: Scope
    hits: tuple[Hit, ...]
    notes: dict[str, Any]

    @property
    def short(self) -> str:
        """Return how a table names it: first author and year."""
        names = [name.split(",")[0].split() for name in self.authors]
        first = next((words[-1] for words in names if words), defuse(self.title)[:30])
        others = " et al." if len(self.authors) > 1 else ""
        return f"{first}{others} {self.year or ''}".strip()

    def to_json(self) -> dict[str, Any]:
        """Return it as an entry of the list of references."""
        return {
            "n": self.n,
            "paper_id": str(self.paper),
            "title": self.title,
            "authors": list(self.authors),
            "year": self.year,
            "url": self.url,
            "doi": self.doi,
            "arxiv_id": self.arxiv_id,
            "evidence": self.evidence,
        }


@dataclass(frozen=True, slots=True)
class Sources:
    """The papers that make the review, and those that could not, each with the reason."""

    papers: tuple[Source, ...]
    failed: tuple[dict[str, Any], ...]


def sources(row: ReviewRow, box: Toolbox) -> Sources:
    """Return the papers of a review that were read, numbered in the order of their relevance."""
    failed = [
        _failure(p, (p.error or {}).get("message", "")) for p in row.chosen if p.state != "done"
    ]
    works: list[dict[str, Any]] = []
    read: list[ReviewPaper] = []
    for paper in row.chosen:
        if paper.state != "done":
            continue
        work = {"key": str(paper.position), **_cited(paper, box)}
        envelope = build_citations(box, papers=[*works, work])
        if error := envelope["error"]:
            failed.append(_failure(paper, error["message"]))
            continue
        works.append(work)
        read.append(paper)
    found: list[Source] = []
    for paper, work in zip(read, works, strict=True):
        try:
            found.append(_source(len(found) + 1, paper, work, box))
        except NotFound:
            failed.append(_failure(paper, say("It is no longer in the library.")))
    return Sources(tuple(found), tuple(failed))


def _cited(paper: ReviewPaper, box: Toolbox) -> dict[str, Any]:
    """Return what is cited of a paper: what the library knows, for its owner may have mended it."""
    found = paper.found
    kept = ("title", "authors", "year", "arxiv_id", "doi", "url")
    work = {key: found[key] for key in kept}
    if paper.paper_id is not None:
        try:
            meta = box.papers().paper(box.user_id, paper.paper_id).meta
        except NotFound:
            return work
        known = {"title": meta.title, "authors": list(meta.authors), "year": meta.year}
        work |= {key: value for key, value in known.items() if value}
    return work


def _source(n: int, paper: ReviewPaper, work: dict[str, Any], box: Toolbox) -> Source:
    if paper.paper_id is None:
        raise NotFound(say("It is no longer in the library."))
    row = box.papers().paper(box.user_id, paper.paper_id)
    chunks = own_text(box.papers().page_chunks(box.user_id, paper.paper_id))
    return Source(
        n=n,
        paper=paper.paper_id,
        title=work["title"],
        authors=tuple(work["authors"]),
        year=work["year"],
        url=work["url"] or paper.found["url"],
        doi=work["doi"],
        arxiv_id=work["arxiv_id"],
        evidence=ABSTRACT if row.read_by == "abstract" else FULL,
        scope=Scope(box.user_id, (paper.paper_id,)),
        hits=tuple(hits_of(chunks, work["title"])),
        notes=paper.notes or {},
    )


def _failure(paper: ReviewPaper, reason: str) -> dict[str, Any]:
    return {"title": paper.found["title"], "url": paper.found["url"], "reason": reason}


def numbered(papers: Sequence[Source]) -> dict[int, Source]:
    """Return papers by their numbers."""
    return {paper.n: paper for paper in papers}
