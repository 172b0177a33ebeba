"""Notes that a paper has been read, with what was found out about it, for later readings."""

import logging
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from core.agent.events import Notice
from core.agent.nodes.deep_read import the_paper
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import LecternError
from core.evidence.numbering import strip
from core.memory.readings import NewReading
from core.memory.vectors import paper_vector
from core.wording import say

TITLE = say("Remember the reading")
LONGEST = 1_500
"""Characters of a summary that are kept."""
_HOLDS = ("supported", "partly")

log = logging.getLogger(__name__)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Store the reading of the turn's paper. What cannot be stored is told, and fails nothing."""
    if context.cancelled.is_set() or not state["answer"].strip():
        return StepResult({}, say("Not remembered"))
    try:
        paper = the_paper(state, context)
        if context.readings.paused(paper.scope.user_id):
            return StepResult({}, say("Not remembered: you have paused it"))
        new = NewReading(
            paper.id,
            paper.title,
            summary_of(state, paper.id),
            paper_vector(context.papers, context.embedder, paper.scope.user_id, paper.id),
            context.embedder.name,
            context.chat.name if state["mode"] == "llm" and context.chat else "",
            state["conversation_id"],
        )
        context.readings.remember(paper.scope.user_id, new)
    except (LecternError, SQLAlchemyError) as error:
        log.warning("a reading could not be remembered: %s", error)
        context.emit(Notice("not_saved", say("This reading could not be remembered.")))
        return StepResult({}, say("Not remembered"))
    return StepResult({}, say("“{title}” is in your reading memory", title=paper.title[:80]))


def summary_of(state: TurnState, paper_id: UUID) -> str:
    """Return the answer's sentences on the paper alone that its passages bear out, at their head.

    What was said about other papers, or to the reader, would be out of place beside another paper.
    """
    of_paper = {c.n for c in state["citations"] if c.paper_id == paper_id}
    kept = [
        strip(sentence.text)
        for sentence in state["sentences"]
        if sentence.citations
        and set(sentence.citations) <= of_paper
        and sentence.verdict
        and sentence.verdict.label in _HOLDS
    ]
    text = "\n".join(dict.fromkeys(kept)) or strip(state["answer"])
    if len(text) <= LONGEST:
        return text
    whole, _, _ = text[:LONGEST].rpartition("\n")
    return whole or text[:LONGEST]
