"""What a turn carries through the graph, and what its steps may use.

State is data and is checkpointed; `TurnContext` holds the live parts and never is.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict
from uuid import UUID

from core.agent.events import Event
from core.agent.examples import Examples
from core.db.papers import PaperStore
from core.memory.readings import ReadingStore, Similar
from core.models.chat import ChatModel
from core.models.embed import Embedder
from core.reading import PaperReader
from core.retrieval.search import Searcher
from core.tools.toolbox import Toolbox
from core.types import AnswerSentence, Citation, Hit, Mode, Part, Scope, Usage


class Exchange(NamedTuple):
    """An earlier question of the conversation with its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a reader asks. `paper_ids` None: the whole library. `intent` empty: the router chooses.

    `selected` is a passage the reader marked; it leads the retrieval query. `repeats`: the turn of
    the conversation that this runs again, beside it. `without_model`: by extraction alone.
    """

    user_id: UUID
    question: str
    paper_ids: tuple[UUID, ...] | None = None
    conversation_id: UUID | None = None
    selected: str = ""
    intent: str = ""
    repeats: UUID | None = None
    without_model: bool = False


class TurnState(TypedDict):
    """A turn on its way through the graph. Every key is set anew for every turn.

    `standalone` is the question as it would be asked without the conversation: what is searched
    for and answered, in the language of `question`. `model_failed`: the chat model could not be
    used, so the steps that follow do without. What a step returns as `usage` is added up.

    A writer of more than running text also sets `statements`, which are then what is verified, one
    by one, `remarks`, the places of those that are Lectern's own and not judged, and `parts`, which
    arrange them (see `core.agent.draft`).
    """

    question: str
    selected: str
    scope: Scope
    forced_intent: str
    conversation_id: UUID | None
    history: list[Exchange]
    full_text_tokens: int
    model_failed: bool
    intent: str
    standalone: str
    query: str
    hits: list[Hit]
    related: list[Similar]
    mode: Mode
    answer: str
    citations: list[Citation]
    statements: list[str]
    remarks: list[int]
    parts: list[Part]
    sentences: list[AnswerSentence]
    usage: Usage
    refused: bool
    error: dict[str, str] | None


def initial_state(
    request: TurnRequest, history: list[Exchange], full_text_tokens: int
) -> TurnState:
    """Return the state a turn begins with: nothing of an earlier turn survives in it."""
    return TurnState(
        question=request.question,
        selected=request.selected,
        scope=Scope(request.user_id, request.paper_ids),
        forced_intent=request.intent,
        conversation_id=request.conversation_id,
        history=history,
        full_text_tokens=full_text_tokens,
        model_failed=False,
        intent="",
        standalone=request.question,
        query="",
        hits=[],
        related=[],
        mode="extractive",
        answer="",
        citations=[],
        statements=[],
        remarks=[],
        parts=[],
        sentences=[],
        usage=Usage(full_text_tokens=full_text_tokens),
        refused=False,
        error=None,
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """What a research may cost: calls of tools, seconds, tokens of the model's requests together."""

    steps: int
    seconds: float
    tokens: int


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The live parts a step may use, the way to report, and whether the reader said stop."""

    searcher: Searcher
    papers: PaperStore
    readings: ReadingStore
    reader: PaperReader
    embedder: Embedder
    examples: Examples
    chat: ChatModel | None
    vision: ChatModel | None
    toolbox: Callable[[UUID, threading.Event], Toolbox]
    limits: Limits
    context_tokens: int
    emit: Callable[[Event], None]
    cancelled: threading.Event


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step changes in the state, and one line for the timeline."""

    update: dict[str, Any]
    detail: str = ""
    tokens: int = 0


Step = Callable[[TurnState, TurnContext], StepResult]
