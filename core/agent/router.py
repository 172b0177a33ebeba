"""Chooses the intent of a turn: the forced one, always, when there is one.

Else a chat model chooses from the table; without one, or when its reply is of no use, the wording
of the question does (`core.agent.cues`), and failing that the nearest example. What could mean
several things is answered as a question.
"""

import re
import threading
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, create_model

from core.agent.cues import wanted
from core.agent.events import Notice
from core.agent.examples import Examples
from core.agent.intents import DEFAULT_INTENT, all_intents, intent
from core.agent.prompts import render
from core.agent.state import StepResult, TurnContext, TurnState
from core.db.papers import PaperStore
from core.errors import Cancelled, ModelFailed
from core.models.budget import Message
from core.models.chat import ChatModel
from core.models.structured import ask
from core.types import Usage
from core.wording import say

TITLE = say("Choose the way")
LONGEST = 2_000
"""Characters of a question that a model is shown: what it wants stands there, the rest is pasted."""
NEAR, NEARER = 0.45, 0.06
"""The cosine from which examples decide, and how much nearer they must be than those of the
default. Chosen on the choosing half of `eval routing`, each question left out in turn."""
MOST_COMPARED = 6
_ONE_PAPER = re.compile(
    r"\b(?:this|the) (?:paper|article|study|work)\b(?! and)|(?:这篇|该|本)(?:论文|文章|文)|^(?:论文|文章)的",
    re.IGNORECASE,
)
"""A question about one paper, whatever examples of comparisons it resembles."""
BY_WORDING = 0.95
"""How sure wording is."""


class Choice(BaseModel):
    """A model's reply."""

    intent: str
    confidence: float = Field(ge=0, le=1)


@dataclass(frozen=True, slots=True)
class Route:
    """The intent chosen, how sure that is in [0, 1], and one line on it for the timeline."""

    intent: str
    confidence: float
    detail: str


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `intent`.

    Raises:
        BadInput: the forced intent does not exist.
    """
    if state["forced_intent"]:
        chosen = intent(state["forced_intent"])
        detail = say("{cause} (chosen by you)", cause=chosen.title)
        return StepResult({"intent": chosen.name}, detail)
    update: dict[str, object] = {}
    route, tokens = None, 0
    if context.chat is not None and len(all_intents()) > 1:
        try:
            route, usage = choose(
                state["question"], papers_in(state, context.papers), context.chat, context.cancelled
            )
            tokens = usage.prompt_tokens + usage.completion_tokens
            update["usage"] = usage
        except ModelFailed as error:
            context.emit(Notice(error.code, error.message, error.hint))
            update["model_failed"] = True
        except Cancelled:
            pass  # the steps that follow are not run
    route = route or guess(state["question"], papers_in(state, context.papers), context.examples)
    update["intent"] = route.intent
    return StepResult(update, route.detail, tokens)


def papers_in(state: TurnState, papers: PaperStore) -> int | None:
    """Return how many papers are asked about: those chosen, else the whole library."""
    scope = state["scope"]
    if scope.paper_ids is not None:
        return len(scope.paper_ids)
    return len(papers.library(scope.user_id)) or None


def choose(
    question: str, papers: int | None, chat: ChatModel, cancelled: threading.Event | None = None
) -> tuple[Route | None, Usage]:
    """Have the model choose; no route when its reply names no intent of the table.

    Raises:
        ModelFailed: the model cannot be used, or broke off.
        Cancelled: the reader stopped it.
    """
    table = all_intents()
    names = [entry.name for entry in table]
    listed = Annotated[str, Field(json_schema_extra={"enum": list(names)})]
    shape = create_model("Choice", __base__=Choice, intent=(listed, ...))
    system = render("route_system", intents=table, default=DEFAULT_INTENT)
    user = render("route_user", question=question[:LONGEST], papers=papers)
    messages = [Message("system", system), Message("user", user)]
    reply = ask(chat, messages, shape, cancelled)
    if reply.value is None or reply.value.intent not in names:
        return None, reply.usage
    chosen = intent(reply.value.intent)
    detail = say("{cause} (chosen by the model)", cause=chosen.title)
    return Route(chosen.name, reply.value.confidence, detail), reply.usage


def guess(question: str, papers: int | None, examples: Examples) -> Route:
    """Choose without a model, in a few milliseconds.

    Args:
        question: as it was asked.
        papers: how many are asked about, None when that is not known. One alone has nothing to
            be compared with; where only examples speak for it, neither have very many.
        examples: the table's examples.
    """
    table = {entry.name: entry for entry in all_intents() if entry.name != "compare" or papers != 1}
    name, words = wanted(question, table)
    if name:
        detail = say("{cause} (asked for by “{words}”)", cause=table[name].title, words=words)
        return Route(name, BY_WORDING, detail)
    near = {name: cosine for name, cosine in examples.nearest(question).items() if name in table}
    if (papers or 0) > MOST_COMPARED or _ONE_PAPER.search(question):
        near.pop("compare", None)
    best = max(near, key=near.__getitem__, default=DEFAULT_INTENT)
    cosine = min(1.0, max(0.0, near.get(best, 0.0)))
    if cosine < NEAR or cosine - near.get(DEFAULT_INTENT, 0.0) < NEARER:
        title = table[DEFAULT_INTENT].title
        return Route(DEFAULT_INTENT, NEAR, say("{cause} (nothing else is asked for)", cause=title))
    detail = say("{cause} (nearest example, {cosine:.2f})", cause=table[best].title, cosine=cosine)
    return Route(best, cosine, detail)
