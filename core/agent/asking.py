"""Asking the model for data of a shape, request after request, until it fails or is stopped."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from core.agent.draft import INVENTED, Draft
from core.agent.events import Notice
from core.agent.prompting import offer
from core.agent.prompts import render
from core.agent.state import TurnContext, TurnState
from core.errors import Cancelled, ModelFailed
from core.evidence.numbering import cited as cited_in
from core.evidence.numbering import renumber, strip, write
from core.evidence.support import best_quote
from core.extractive.answer import shown
from core.models.budget import Message, estimate_tokens
from core.models.embed import Embedder
from core.models.structured import ask
from core.types import Hit, Mode, Usage
from core.wording import say

Shape = TypeVar("Shape", bound=BaseModel)


def alone(state: TurnState) -> str:
    """Return the question as it would be asked without the conversation before it."""
    return state["standalone"] or state["question"]


class Requests:
    """The requests a specialist makes of the model in one turn.

    `reply` is None whenever extraction has to do: no model, a failure (told once, and nothing more
    is asked), a reply of another shape (told once, counted), or the reader stopped.
    """

    def __init__(self, state: TurnState, context: TurnContext) -> None:
        self._context = context
        self.question = alone(state)
        self._chat = context.chat
        self.answered = 0
        self.malformed = 0
        self.usage = Usage(full_text_tokens=state["full_text_tokens"])

    @property
    def possible(self) -> bool:
        """Whether there is a model that has not failed, and the reader wants more."""
        return self._chat is not None and not self._context.cancelled.is_set()

    @property
    def mode(self) -> Mode:
        """Return who wrote: the model as soon as one of its replies was used."""
        return "llm" if self.answered else "extractive"

    @property
    def tokens(self) -> int:
        """Return what all requests cost together."""
        return self.usage.prompt_tokens + self.usage.completion_tokens

    def room(self, system: str, reserve: int) -> int:
        """Return the tokens left for material beside the instructions, the question and the reply."""
        taken = estimate_tokens(system) + estimate_tokens(self.question) + reserve
        return max(0, self._context.context_tokens - taken)

    def about(
        self,
        template: str,
        hits: Sequence[Hit],
        shape: type[Shape],
        reserve: int,
        material: Mapping[str, object] | None = None,
        **values: object,
    ) -> tuple[Shape, list[Hit]] | None:
        """Return the reply about passages, and those that were offered, numbered from 1.

        Args:
            template: `<template>_system.jinja` and `<template>_user.jinja` are rendered.
            hits: passages, best first; as many as fit are offered.
            shape: of the reply.
            reserve: tokens kept for the reply, and for `material`.
            material: what the user template takes beside passages and question.
            values: what the system template takes beside `numbers` (`[1], [2]`).
        """
        if not self.possible or not hits:
            return None
        system = f"{template}_system"
        chosen = offer(
            hits,
            system=render(system, numbers=_listed(len(hits)), **values),
            question=self.question,
            context_tokens=self._context.context_tokens,
            reserve=reserve,
        )
        told = render(system, numbers=_listed(len(chosen.hits)), **values)
        user = render(
            f"{template}_user",
            passages=chosen.passages,
            question=chosen.question,
            **(material or {}),
        )
        value = self.reply([Message("system", told), Message("user", user)], shape)
        return None if value is None else (value, chosen.hits)

    def reply(self, messages: Sequence[Message], shape: type[Shape]) -> Shape | None:
        """Return the model's reply to a prompt as `shape`, or None."""
        if self._chat is None or not self.possible:
            return None
        try:
            reply = ask(self._chat, messages, shape, self._context.cancelled)
        except Cancelled:
            return None
        except ModelFailed as error:
            self._context.emit(Notice(error.code, error.message, error.hint))
            self._chat = None
            return None
        self.usage = self.usage.plus(reply.usage)
        if reply.value is None:
            self._tell_malformed()
            return None
        self.answered += 1
        return reply.value

    def _tell_malformed(self) -> None:
        self.malformed += 1
        if self.malformed == 1:
            self._context.emit(
                Notice(
                    "MODEL_MALFORMED",
                    say("The model did not keep to the form it was asked for."),
                    say("The paper's own sentences stand in for what it wrote."),
                )
            )


class Grounded(NamedTuple):
    """A statement of the model's: its place in the draft, and the sentences it rests on."""

    place: int
    quotes: list[tuple[int, str]]


def ground(
    draft: Draft,
    text: str,
    passages: Sequence[int],
    hits: Sequence[Hit],
    embedder: Embedder,
    claim: str = "",
) -> Grounded:
    """State what a model wrote, citing in each passage the sentence that comes nearest.

    Args:
        draft: takes the statement.
        text: as the model wrote it, with or without markers.
        passages: the numbers it names beside its markers.
        hits: those offered, numbered from 1; other numbers are invented.
        embedder: compares sentences.
        claim: what is looked for in the passages; `text` if empty.
    """
    quotes: dict[int, str] = {}

    def meant(n: int) -> Sequence[int]:
        if not 1 <= n <= len(hits):
            return (INVENTED,)
        hit = hits[n - 1]
        quote = best_quote([claim or strip(text)], hit.chunk.text, embedder)
        number = draft.quote(hit, quote)
        quotes[number] = quote
        return (number,)

    own = renumber(text, meant)
    cited = [m for n in dict.fromkeys(passages) for m in meant(n)]
    more = [n for n in dict.fromkeys(cited) if n not in cited_in(own)]
    return Grounded(draft.state(own, more), list(quotes.items()))


def in_turns(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return the hits of several searches, the first of each, then the second, each once."""
    turns = (hit for turn in zip_longest(*lists) for hit in turn if hit is not None)
    return list({hit.chunk.id: hit for hit in turns}.values())


def in_words(quote: str) -> str:
    """Return a quote as running text; the cells of a table's row are parted by dots."""
    text = shown(quote)
    if not text.startswith("|"):
        return text
    return " · ".join(cell.strip() for cell in text.strip("| ").split("|") if cell.strip())


def _listed(count: int) -> str:
    return ", ".join(write([n]) for n in range(1, count + 1))
