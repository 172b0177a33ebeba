"""Looks up what the reader has read before that resembles the paper now in hand."""

import logging

import numpy as np
from sqlalchemy.exc import SQLAlchemyError

from core.agent.choosing import PaperInScope
from core.agent.events import Notice, Recalled
from core.agent.nodes.deep_read import the_paper
from core.agent.reading_notes import own_text
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import LecternError
from core.memory.readings import Similar
from core.models.embed import Vectors
from core.wording import say

TITLE = say("Recall earlier readings")
_HEAD = 2_000
"""Characters of a paper's beginning that stand for it where it has no abstract."""

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
        vector = vector_of(paper, context)
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


def vector_of(paper: PaperInScope, context: TurnContext) -> Vectors:
    """Return what a paper is compared by: the vector of title and abstract, or of its beginning.

    Raises:
        Unavailable: the embedder cannot be used.
        NotFound: the paper is not in the reader's library.
    """
    user = paper.scope.user_id
    about = context.papers.paper(user, paper.id).meta.abstract
    if not about:
        chunks = own_text(context.papers.page_chunks(user, paper.id))
        about = "\n".join(chunk.text for chunk in chunks[:4])[:_HEAD]
    vectors = context.embedder.encode([f"{paper.title}\n{about}"])
    return np.asarray(vectors[0])
