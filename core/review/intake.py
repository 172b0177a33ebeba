"""Getting the papers of a review: their full text where there is one, else their abstract."""

import hashlib
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from core.errors import BadInput, Cancelled, NotFound, Unavailable, UnreadableFile
from core.ingest.fetch import ArxivUnavailable
from core.ingest.identifiers import Identifier, recognise
from core.review.parts import Parts
from core.tools.catalogue import summarize_paper
from core.tools.envelope import ToolFailure, enveloped
from core.tools.retry import retried
from core.tools.toolbox import Toolbox
from core.types import PaperMeta
from core.wording import say

Found = dict[str, Any]


def fetch(parts: Parts, box: Toolbox, found: Found) -> str:
    """Fetch a paper's full text and return the name of the file that keeps it, '' if it has none.

    What was fetched before is not asked for again.

    Raises:
        Unavailable: arXiv could not be reached, after all tries.
        Cancelled: it was stopped.
    """
    paper = _identified(found)
    if paper is None:
        return ""
    stem = hashlib.sha256(f"{paper.value}v{paper.version or ''}".encode()).hexdigest()[:32]
    for known in parts.folder.glob(f"{stem}.*"):
        if known.suffix != ".part":
            return known.name

    def work() -> dict[str, Any]:
        try:
            got = box.fetcher.fetch(paper, cancelled=box.cancelled.is_set)
        except ArxivUnavailable as error:
            raise ToolFailure(
                error.kind, error.message, error.hint, retry_after=error.retry_after
            ) from error
        except BadInput:  # arXiv has no text of it, or one that is too large
            return {"name": ""}
        return {"name": _keep(parts.folder, stem + Path(got.filename).suffix, got.data)}

    envelope = retried(lambda: enveloped("arxiv", work), box.cancelled, first_pause=box.first_pause)
    if error := envelope["error"]:
        if error["code"] == "CANCELLED" or box.cancelled.is_set():
            raise Cancelled(error["message"])
        raise Unavailable(error["message"], hint=error["hint"], code=error["code"])
    return str((envelope["data"] or {})["name"])


def take_in(parts: Parts, box: Toolbox, found: Found, name: str) -> tuple[UUID, str]:
    """Put a paper into the user's library; return its id and what was had: html, pdf or abstract.

    Raises:
        BadInput: there is neither a text that can be read nor an abstract.
        Unavailable: nothing can be stored now.
        Cancelled: it was stopped.
    """
    file = parts.folder / name
    if name and file.exists():
        try:
            paper = _read(parts, box, found, file)
        except UnreadableFile:
            pass  # what arXiv sent cannot be read: the abstract stands in, and is called that
        else:
            file.unlink(missing_ok=True)
            return paper, "html" if file.suffix == ".html" else "pdf"
    if not found["abstract"].strip():
        raise BadInput(say("Neither its text nor an abstract can be had."), code="NO_TEXT")
    return parts.ingestor().add_abstract(box.user_id, _meta(found)), "abstract"


def notes_of(box: Toolbox, paper: UUID, language: str) -> dict[str, Any]:
    """Return a paper's summary as the tool gives it; one without fields if there is nothing to say.

    Raises:
        Cancelled: it was stopped.
        Unavailable: it cannot be made now.
    """
    envelope = summarize_paper(box, paper_id=str(paper), language=language)
    error = envelope["error"]
    if error is None:
        return envelope["data"] or {}
    if error["code"] == "CANCELLED" or box.cancelled.is_set():
        raise Cancelled(error["message"])
    if error["code"] == "EMPTY_RESULT":
        return {"fields": {}, "characters": {"before": 0, "after": 0}, "mode": "extractive"}
    raise Unavailable(error["message"], hint=error["hint"], code=error["code"])


def _identified(found: Found) -> Identifier | None:
    if not found["arxiv_id"]:
        return None
    version = f"v{found['version']}" if found.get("version") else ""
    try:
        return recognise(found["arxiv_id"] + version)
    except BadInput:
        return None


def _read(parts: Parts, box: Toolbox, found: Found, file: Path) -> UUID:
    name = f"{found['arxiv_id'].replace('/', '-')}{file.suffix}"
    done = parts.ingestor().ingest(
        box.user_id, name, file.read_bytes(), cancelled=box.cancelled.is_set
    )
    box.papers().set_meta(box.user_id, done.paper_id, _meta(found))
    return done.paper_id


def _meta(found: Found) -> PaperMeta:
    """Return what the catalogue says of a paper: it knows title and authors for certain."""
    return PaperMeta(
        title=found["title"],
        authors=tuple(found["authors"]),
        year=found["year"],
        abstract=found["abstract"],
        doi=found["doi"],
        arxiv_id=found["arxiv_id"],
    )


def _keep(folder: Path, name: str, data: bytes) -> str:
    """Write a file whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{name}.{uuid4().hex}.part"
    part.write_bytes(data)
    part.replace(folder / name)
    return name


def in_library(box: Toolbox, paper_id: UUID | None) -> bool:
    """Whether the user has a paper."""
    if paper_id is None:
        return False
    try:
        box.papers().paper(box.user_id, paper_id)
    except NotFound:
        return False
    return True
