"""Finds the passages an answer may rest on."""

from core.agent.events import Notice
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import BadInput

TITLE = "Find passages"
PASSAGES = 8
"""Passages found a turn; what of them enters a prompt is the budget's decision."""


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `hits`, best first.

    Raises:
        BadInput: an empty or far too long question, or no papers to search.
        NotFound: a paper that is not in the reader's library.
    """
    if not context.searcher.has_papers(state["scope"]):
        raise BadInput(
            "There are no papers to ask about yet.", hint="Add one first.", code="NO_PAPERS"
        )
    found = context.searcher.search(state["query"], state["scope"], PASSAGES)
    for notice in found.notices:
        context.emit(Notice("retrieval", notice))
    pages = sorted({hit.chunk.page for hit in found.hits})
    where = ", ".join(str(page) for page in pages)
    papers = len({hit.chunk.paper_id for hit in found.hits})
    detail = f"{len(found.hits)} passages, {papers} papers, pages {where}" if pages else "nothing"
    return StepResult({"hits": list(found.hits)}, detail)
