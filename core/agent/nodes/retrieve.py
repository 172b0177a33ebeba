"""Finds the passages an answer may rest on."""

from collections.abc import Sequence

from core.agent.events import Notice
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import BadInput
from core.extractive.about import SEEN, about, answering, lookup
from core.types import Hit
from core.wording import say

TITLE = say("Find passages")
PASSAGES = 12
"""Passages found a turn; what of them enters a prompt is the budget's decision."""


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `hits`, best first.

    Raises:
        BadInput: an empty or far too long question, or no papers to search.
        NotFound: a paper that is not in the reader's library.
    """
    if not context.searcher.has_papers(state["scope"]):
        raise BadInput(
            say("There are no papers to ask about yet."),
            hint=say("Add one first."),
            code="NO_PAPERS",
        )
    found = context.searcher.search(state["query"], state["scope"], PASSAGES)
    for notice in found.notices:
        context.emit(Notice("retrieval", notice))
    hits = _first_of_all(state, context, found.hits)
    pages = sorted({hit.chunk.page for hit in hits})
    where = ", ".join(str(page) for page in pages)
    papers = len({hit.chunk.paper_id for hit in hits})
    if not pages:
        return StepResult({"hits": hits}, say("nothing"))
    detail = say(
        "{count:d} passages, {papers:d} papers, pages {pages}",
        count=len(hits),
        papers=papers,
        pages=where,
    )
    return StepResult({"hits": hits}, detail)


def _first_of_all(state: TurnState, context: TurnContext, found: Sequence[Hit]) -> list[Hit]:
    """Return `found`, led by the abstract or first page where the paper as a whole is asked about."""
    kind = about(state["standalone"])
    if kind is None or state["selected"].strip():
        return list(found)
    wide = context.searcher.search(lookup(kind), state["scope"], SEEN).hits
    leading = {c.hit.chunk.id: c.hit for c in answering(kind, wide)}
    rest = [hit for hit in found if hit.chunk.id not in leading]
    return [*leading.values(), *rest][:PASSAGES]
