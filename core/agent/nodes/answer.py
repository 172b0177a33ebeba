"""Answers from the passages found: written by the chat model, or chosen from the papers' sentences.

When the model fails, the reason is shown. What it had written by then is kept, and the reader may
ask again, with the model or without; when it had written nothing the papers answer at once.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.agent.events import CitationsReady, Notice, Token
from core.agent.prompting import offer
from core.agent.prompts import render
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import Cancelled, ModelFailed
from core.evidence.language import is_chinese
from core.evidence.numbering import cited
from core.evidence.quotes import citation
from core.evidence.sentences import sentences
from core.evidence.support import best_quote
from core.extractive.answer import ExtractiveAnswer, answer
from core.models.budget import Message
from core.models.chat import ChatModel
from core.types import Citation, Hit
from core.wording import say

TITLE = say("Answer")
RESERVE = 900
"""Tokens kept for the answer: six sentences and then some, in either language."""


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `answer`, `citations`, `mode`, `refused` and `usage`."""
    if context.chat is None or not state["hits"]:
        return _extract(state, context)
    return _write(state, context, context.chat)


def _extract(state: TurnState, context: TurnContext) -> StepResult:
    chinese = is_chinese(state["question"])
    chosen = answer(state["standalone"], state["hits"], context.embedder, chinese=chinese)
    context.emit(CitationsReady(chosen.citations))
    _stream(chosen.text, context)
    return StepResult(_extracted(chosen), _detail(chosen))


def _write(state: TurnState, context: TurnContext, chat: ChatModel) -> StepResult:
    messages, offered = prompt(state, context.context_tokens)
    reply = chat.stream(messages, context.cancelled)
    reason = None
    try:
        for piece in reply:
            context.emit(Token(piece))
    except Cancelled:
        pass  # the reader said stop; what was written by then is kept
    except ModelFailed as error:
        reason = error
    usage = replace(reply.usage, full_text_tokens=state["full_text_tokens"])
    citations = _citations(reply.text, offered, context)
    update = {"answer": reply.text, "citations": citations, "mode": "llm", "usage": usage}
    if reason is not None:
        context.emit(Notice(reason.code, reason.message, reason.hint))
        if not reply.text.strip():
            return _extract(state, context)
    spent = usage.prompt_tokens + usage.completion_tokens
    detail = say("{model}, {count:d} passages in the prompt", model=chat.name, count=len(offered))
    return StepResult(update, detail, spent)


def prompt(state: TurnState, context_tokens: int) -> tuple[list[Message], list[Hit]]:
    """Return the messages of a turn within the budget, and the hits they number from 1."""
    question, hits = state["standalone"], state["hits"]
    language = "Chinese" if is_chinese(state["question"]) else "English"
    chosen = offer(
        hits,
        system=_system(language, len(hits)),
        question=question,
        context_tokens=context_tokens,
        reserve=RESERVE,
        selected=state["selected"],
        history=state["history"],
    )
    user = render(
        "answer_user",
        passages=chosen.passages,
        selected=chosen.selected,
        question=chosen.question,
    )
    system = Message("system", _system(language, len(chosen.hits)))
    return [system, *chosen.history, Message("user", user)], chosen.hits


def _system(language: str, passages: int) -> str:
    numbers = ", ".join(f"[{n}]" for n in range(1, passages + 1))
    return render("answer_system", numbers=numbers, language=language)


def _citations(text: str, offered: Sequence[Hit], context: TurnContext) -> list[Citation]:
    """Return the citations the answer really makes, each quoting what its sentences rest on."""
    written = sentences(text)
    made = []
    for n in sorted(cited(text)):
        if n <= len(offered):
            claims = [sentence for sentence in written if n in cited(sentence)]
            hit = offered[n - 1]
            made.append(citation(n, hit, best_quote(claims, hit.chunk.text, context.embedder)))
    return made


def _stream(text: str, context: TurnContext) -> None:
    for piece in sentences(text):
        context.emit(Token(f"{piece} "))


def _extracted(chosen: ExtractiveAnswer) -> dict[str, object]:
    return {
        "answer": chosen.text,
        "citations": list(chosen.citations),
        "mode": "extractive",
        "refused": chosen.refused,
    }


def _detail(chosen: ExtractiveAnswer) -> str:
    if chosen.refused:
        return say("the papers do not answer this")
    return say("{count:d} sentences chosen from the papers", count=len(chosen.citations))
