"""Looks up every claim of a pasted text, or every entry of a list of references, in the papers.

A model may split the text into claims; what the papers say of each is judged by the verifier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from core.agent.choosing import PaperInScope, choose, papers_of, passages, quoted
from core.agent.claims import (
    MOST_CLAIMS,
    Entered,
    claims_of,
    in_library,
    of_the_text,
    pasted,
    references_of,
)
from core.agent.draft import Draft
from core.agent.events import Notice, StepProgress
from core.agent.prompts import render
from core.agent.reading_notes import IDEA
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import BadInput, Cancelled, ModelFailed
from core.evidence.language import is_chinese
from core.extractive.about import SEEN, answering, lookup
from core.models.budget import Message, cut
from core.models.structured import ask
from core.types import Mode, PaperMeta, Scope, Usage
from core.wording import say

TITLE = say("Look up every claim")
ATTACHED = 3
"""Passages a claim is judged by: the best found. Choosing among more of them changed no verdict."""
RESERVE = 1_500
"""Tokens kept for the list of claims."""

_CLAIMS = ("Claims", "说法")
_REFERENCES = ("References", "文献")
_COLUMNS = (("In the library", "What it says"), ("库中", "内容"))
_PRESENT = ("In the library.", "在库中。")
_ABSENT = ("Not in the library.", "不在库中。")
_OTHER_YEAR = ("In the library; is the year {year} meant?", "在库中；年份是否应为 {year}？")
"""None of these states anything of a paper's content, so none is judged."""


class SplitByModel(BaseModel):
    """The reply to a request to split a text."""

    claims: list[str]


Item = TypeVar("Item")


@dataclass(slots=True)
class _Split:
    """The claims of a text, and what splitting it cost."""

    claims: list[str]
    mode: Mode = "extractive"
    usage: Usage = field(default_factory=Usage)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's update: a part of claims with their passages, or a table of references.

    Raises:
        BadInput: no papers, or nothing that could be checked.
        NotFound: a paper that is not in the reader's library.
    """
    if not context.searcher.has_papers(state["scope"]):
        raise BadInput(
            say("There are no papers to ask about yet."),
            hint=say("Add one first."),
            code="NO_PAPERS",
        )
    text = pasted(state["question"], state["selected"])
    chinese = is_chinese(text)
    whole = Usage(full_text_tokens=state["full_text_tokens"])
    draft = Draft(context)
    entries = references_of(text)
    if entries:
        found = _references(draft, _bounded(entries, context), state, context, chinese)
        detail = say(
            "{found:d} of {total:d} entries are in the library", found=found, total=len(entries)
        )
        return StepResult(draft.update("extractive", whole), detail)
    split = _split(text, context)
    if not split.claims:
        raise BadInput(
            say("There is no statement in this that could be checked."),
            hint=say("Paste the sentences to be checked, or a list of references."),
            code="NO_CLAIMS",
        )
    claims = _bounded(split.claims, context)
    _look_up(draft, claims, state["scope"], context, chinese)
    usage = whole.plus(split.usage)
    detail = say("{count:d} claims", count=len(claims))
    spent = usage.prompt_tokens + usage.completion_tokens
    return StepResult(draft.update(split.mode, usage), detail, spent)


def _bounded(items: Sequence[Item], context: TurnContext) -> Sequence[Item]:
    """Return the first that a turn may check; say how many were left out."""
    if len(items) > MOST_CLAIMS:
        context.emit(
            Notice(
                "MANY_CLAIMS",
                say(
                    "Only the first {most:d} of {total:d} are checked.",
                    most=MOST_CLAIMS,
                    total=len(items),
                ),
                say("Paste the rest in another question."),
            )
        )
    return items[:MOST_CLAIMS]


# --- claims -------------------------------------------------------------------------------------


def _split(text: str, context: TurnContext) -> _Split:
    """Return the claims of a text: as a model splits it, where that holds, else its sentences."""
    ours = _Split(claims_of(text))
    if context.chat is None or not ours.claims:
        return ours
    try:
        reply = ask(context.chat, _prompt(text, context), SplitByModel, context.cancelled)
    except Cancelled:
        return ours
    except ModelFailed as error:
        context.emit(Notice(error.code, error.message, error.hint))
        return ours
    if reply.value is None:
        context.emit(
            Notice(
                "MODEL_MALFORMED",
                say("The model did not split the text as asked."),
                say("Its sentences are checked as they stand."),
            )
        )
        return _Split(ours.claims, usage=reply.usage)
    return _Split(of_the_text(reply.value.claims, text), "llm", reply.usage)


def _prompt(text: str, context: TurnContext) -> list[Message]:
    head = cut(text, max(200, (context.context_tokens - RESERVE) // 2))
    user = render("claims_user", text=head)
    return [Message("system", render("claims_system")), Message("user", user)]


def _look_up(
    draft: Draft, claims: Sequence[str], scope: Scope, context: TurnContext, chinese: bool
) -> None:
    """State every claim with the numbers of the passages nearest to it."""
    items = []
    for done, claim in enumerate(claims, start=1):
        if context.cancelled.is_set():
            break
        hits = context.searcher.search(claim, scope, ATTACHED).hits
        items.append(draft.state(claim, draft.offer(hits)))
        context.emit(
            StepProgress(
                "claims", say("{done:d} of {total:d} claims", done=done, total=len(claims))
            )
        )
    if items:
        draft.add_claims(_CLAIMS[chinese], items)


# --- references ---------------------------------------------------------------------------------


def _references(
    draft: Draft,
    entries: Sequence[tuple[str, PaperMeta]],
    state: TurnState,
    context: TurnContext,
    chinese: bool,
) -> int:
    """State of every entry whether it is in the library and what it says; return how many are."""
    papers = {paper.id: paper for paper in papers_of(state, context)}
    user_id = state["scope"].user_id
    rows = [row for row in context.papers.papers(user_id) if row.paper_id in papers]
    entered = in_library(entries, rows)
    heads, cells = [], []
    for entry in entered:
        if context.cancelled.is_set():
            break
        heads.append(entry.text)
        paper = papers[entry.row.paper_id] if entry.row else None
        says = _says(draft, paper, context) if paper else []
        cells.append([[draft.remark(_standing(entry, chinese))], says])
    if heads:
        draft.add_table(_REFERENCES[chinese], _COLUMNS[chinese], heads, cells)
    return sum(entry.row is not None for entry in entered)


def _standing(entry: Entered, chinese: bool) -> str:
    if entry.row is None:
        return _ABSENT[chinese]
    year = entry.row.meta.year
    if year and entry.year and abs(year - entry.year) > 1:
        return _OTHER_YEAR[chinese].format(year=year)
    return _PRESENT[chinese]


def _says(draft: Draft, paper: PaperInScope, context: TurnContext) -> list[int]:
    """State in at most two sentences of the paper's own what it brings, else what it is about."""
    found = choose(IDEA, passages(IDEA, paper, context), 2)
    if not found:
        hits = context.searcher.search(lookup("summary"), paper.scope, SEEN).hits
        found = answering("summary", hits)[:2]
    return [quoted(draft, candidate) for candidate in found]
