"""Passages on their way into a prompt: what fits, numbered, and unable to pose as instructions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.agent.state import Exchange
from core.evidence.numbering import defuse
from core.models.budget import Message, fit
from core.types import Hit

PER_PASSAGE = 40
"""Tokens of the fence around a passage."""


@dataclass(frozen=True, slots=True)
class Offered:
    """What enters a prompt: the first of the hits, as `passages` for the template `passages.jinja`."""

    hits: list[Hit]
    passages: list[dict[str, Any]]
    history: tuple[Message, ...]
    selected: str
    question: str


def offer(
    hits: Sequence[Hit],
    *,
    system: str,
    question: str,
    context_tokens: int,
    reserve: int,
    numbers: Sequence[int] = (),
    selected: str = "",
    history: Sequence[Exchange] = (),
) -> Offered:
    """Choose what fits into `context_tokens` beside `system` and `reserve` tokens of answer.

    Args:
        hits: passages, best first; they are offered under `numbers`, else counted from 1.
        system: the instructions, rendered with all numbers (as long as they can get).
        question: the reader's question.
        context_tokens: the model's context.
        reserve: tokens kept for the answer.
        numbers: one for each hit.
        selected: the passage the reader marked.
        history: earlier exchanges, oldest first.
    """
    chosen = fit(
        system=system,
        history=_messages(history),
        selected=selected,
        passages=[defuse(hit.chunk.text) for hit in hits],
        question=question,
        context_tokens=context_tokens,
        reserve=reserve,
        per_passage=PER_PASSAGE,
    )
    offered = list(hits[: len(chosen.passages)])
    passages = [
        {"n": n, "title": hit.title, "page": hit.chunk.page, "text": text}
        for n, hit, text in zip(
            numbers or range(1, len(hits) + 1), offered, chosen.passages, strict=False
        )
    ]
    return Offered(offered, passages, chosen.history, chosen.selected, chosen.question)


def _messages(exchanges: Sequence[Exchange]) -> list[Message]:
    return [
        message
        for exchange in exchanges
        for message in (
            Message("user", exchange.question),
            Message("assistant", defuse(exchange.answer)),
        )
    ]
