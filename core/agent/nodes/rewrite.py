"""Makes the question stand alone, and into the query retrieval sees."""

import threading
from collections.abc import Sequence

from pydantic import BaseModel, Field

from core.agent.events import Notice
from core.agent.followups import standalone
from core.agent.prompts import render
from core.agent.state import Exchange, StepResult, TurnContext, TurnState
from core.errors import Cancelled, ModelFailed
from core.evidence.language import is_chinese
from core.models.budget import Message
from core.models.chat import ChatModel
from core.models.structured import ask
from core.types import Usage
from core.wording import say

TITLE = say("Understand the question")
SHOWN = 3
"""Earlier exchanges a model is shown, each with the head of its answer."""
_HEAD = 400
_LONGEST = 600
"""Characters a rewritten question may have; what is longer is no question."""


class Rewritten(BaseModel):
    """A model's reply."""

    question: str = Field(min_length=1, max_length=_LONGEST)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `standalone` and `query`: a selected passage leads it, the question follows.

    A model makes a follow-up stand alone; rules do when there is none, or its reply is of no use.
    """
    question = state["question"].strip()
    update: dict[str, object] = {}
    alone, tokens = None, 0
    if context.chat is not None and state["history"] and question:
        try:
            alone, usage = by_model(question, state["history"], context.chat, context.cancelled)
            tokens = usage.prompt_tokens + usage.completion_tokens
            update["usage"] = usage
        except ModelFailed as error:
            context.emit(Notice(error.code, error.message, error.hint))
            update["model_failed"] = True
        except Cancelled:
            pass  # the steps that follow are not run
    alone = alone or standalone(question, [exchange.question for exchange in state["history"]])
    parts = (state["selected"].strip(), alone)
    update |= {"standalone": alone, "query": "\n".join(part for part in parts if part)}
    return StepResult(update, alone[:_LONGEST], tokens)


def by_model(
    question: str,
    history: Sequence[Exchange],
    chat: ChatModel,
    cancelled: threading.Event | None = None,
) -> tuple[str | None, Usage]:
    """Have the model make `question` stand alone; None when its reply is not of use.

    It is not when it is malformed, or in the other language: an answer is in the language of
    the question.

    Raises:
        ModelFailed: the model cannot be used, or broke off.
        Cancelled: the reader stopped it.
    """
    shown = [(item.question[:_HEAD], item.answer[:_HEAD]) for item in history[-SHOWN:]]
    language = "Chinese" if is_chinese(question) else "English"
    system = render("rewrite_system", language=language)
    user = render("rewrite_user", history=shown, question=question)
    messages = [Message("system", system), Message("user", user)]
    reply = ask(chat, messages, Rewritten, cancelled)
    found = " ".join(reply.value.question.split()) if reply.value else ""
    usable = bool(found) and is_chinese(found) == is_chinese(question)
    return (found if usable else None), reply.usage
