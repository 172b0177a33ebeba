"""The papers that a review may be made of, most relevant first: from arXiv or from the library."""

import threading
from typing import Any
from uuid import UUID

from core.db.reviews import ReviewRow
from core.errors import BadInput, Cancelled
from core.review.parts import Parts
from core.review.request import ReviewRequest
from core.tools.catalogue import paper_search
from core.tools.relevance import relevance
from core.tools.toolbox import Toolbox
from core.tools.topics import in_english
from core.types import PaperRow
from core.wording import say


def candidates(
    parts: Parts, user_id: UUID, row: ReviewRow, cancelled: threading.Event
) -> list[dict[str, Any]]:
    """Return what was found for a review, each as in `Found` with `relevance` (and `paper_id`).

    Raises:
        BadInput: nothing was found, or the search failed; the code is that of its envelope.
        Cancelled: it was stopped.
    """
    request = ReviewRequest.model_validate(row.request)
    box = parts.toolbox(user_id, cancelled)
    if request.source == "library":
        return _of_library(box, request)
    envelope = paper_search(
        box,
        topic=request.topic,
        number=request.number,
        year_from=request.year_from,
        year_to=request.year_to,
        categories=request.categories,
    )
    if error := envelope["error"]:
        if error["code"] == "CANCELLED":
            raise Cancelled(error["message"])
        raise BadInput(error["message"], hint=error["hint"], code=error["code"])
    papers = (envelope["data"] or {})["papers"]
    return [{**paper, "paper_id": _owned(box, paper)} for paper in papers]


def _owned(box: Toolbox, paper: dict[str, Any]) -> str | None:
    """Return the id of a paper that the user has already."""
    name = paper["arxiv_id"]
    for row in box.papers().papers(box.user_id) if name else []:
        if row.meta.arxiv_id == name:
            return str(row.paper_id)
    return None


def _of_library(box: Toolbox, request: ReviewRequest) -> list[dict[str, Any]]:
    rows = [row for row in box.papers().papers(box.user_id) if _within(row, request)]
    if not rows:
        raise BadInput(
            say("There is no paper in the library within these limits."),
            hint=say("Add papers, widen the years, or search arXiv."),
            code="EMPTY_RESULT",
        )
    texts = [f"{row.meta.title or row.filename}\n{row.meta.abstract}" for row in rows]
    english = in_english(request.topic, box.chat(), box.cancelled).text
    fit = relevance(request.topic, texts, box.embedder(), english)
    order = sorted(range(len(rows)), key=lambda at: -fit.combined[at])[: request.number]
    return [{**_found(rows[at]), "relevance": fit.of(at)} for at in order]


def _within(row: PaperRow, request: ReviewRequest) -> bool:
    year = row.meta.year
    if year is None:
        return not (request.year_from or request.year_to)
    return (request.year_from or year) <= year <= (request.year_to or year)


def _found(row: PaperRow) -> dict[str, Any]:
    meta = row.meta
    address = f"https://doi.org/{meta.doi}" if meta.doi else ""
    return {
        "source": "library",
        "paper_id": str(row.paper_id),
        "arxiv_id": meta.arxiv_id,
        "version": None,
        "title": meta.title or row.filename,
        "authors": list(meta.authors),
        "year": meta.year,
        "abstract": meta.abstract,
        "categories": [],
        "doi": meta.doi,
        "url": f"https://arxiv.org/abs/{meta.arxiv_id}" if meta.arxiv_id else address,
        "open_copy": "",
    }
