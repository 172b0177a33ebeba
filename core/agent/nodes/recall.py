"""Looks up what the reader has read before that resembles the paper now in hand."""

import logging

from sqlalchemy.exc import SQLAlchemyError

from core.agent.events import Notice, Recalled
from core.agent.nodes.deep_read import the_paper
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import LecternError
from core.memory.readings import Similar
from core.memory.vectors import paper_vector
from core.wording import say

TITLE = say("Recall earlier readings")

log = logging.getLogger(__name__)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `related`: the reader's three most similar readings, none if there are no others.

    Raises:
        BadInput: no papers, or several of which the question names none.
        NotFound: a paper that is not in the reader's library.
    """
    paper = the_paper(state, context)
    related: list[Similar] = []
    try:
        vector = paper_vector(context.papers, context.embedder, paper.scope.user_id, paper.id)
        related = context.readings.similar(
            paper.scope.user_id, vector, context.embedder.name, paper.id
        )
    except (LecternError, SQLAlchemyError) as error:
        log.warning("earlier readings cannot be had: %s", error)
        context.emit(
            Notice(
                "not_recalled",
                say("What you have read before could not be looked up."),
                say("The paper is summarised without it."),
            )
        )
    context.emit(Recalled(paper.id, tuple(related)))
    detail = say("{count:d} similar readings", count=len(related))
    return StepResult({"related": related}, detail)
