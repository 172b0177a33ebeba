"""A review written by the model from the papers' summaries; numbers and passages are ours."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, Field

from core.agent.aspects import Aspect
from core.agent.draft import Draft
from core.agent.looks import DATA, LIMITS, METHOD, RESULTS, TASK
from core.agent.state import TurnContext
from core.evidence.language import is_chinese
from core.evidence.numbering import defuse, strip
from core.models.budget import Message, cut, estimate_tokens
from core.models.chat import ChatModel
from core.models.structured import ask
from core.review.by_extraction import AGREE, DIFFER, GAPS, TABLE, add_overview
from core.review.grounding import state_about
from core.review.prompts import render
from core.review.sources import Source, numbered
from core.review.written import Written
from core.types import Usage

RESERVE = 2_500
"""Tokens kept for the review itself."""
_LANGUAGES = ("English", "Chinese")
_COLUMNS: tuple[tuple[str, Aspect], ...] = (
    ("problem", TASK.aspect),
    ("method", METHOD.aspect),
    ("data", DATA.aspect),
    ("results", RESULTS.aspect),
    ("limits", LIMITS.aspect),
)
"""Fields of a summary, and what their column is called."""


class Sentence(BaseModel):
    """A sentence and the numbers of the papers it speaks of."""

    text: str = Field(max_length=1_200)
    papers: list[int] = Field(default_factory=list, max_length=30)


class Theme(BaseModel):
    """Sentences that belong together."""

    title: str = Field(max_length=200)
    sentences: list[Sentence] = Field(min_length=1, max_length=12)


class Review(BaseModel):
    """What the model is asked for."""

    themes: list[Theme] = Field(min_length=1, max_length=8)
    agreements: list[Sentence] = Field(default_factory=list, max_length=8)
    disagreements: list[Sentence] = Field(default_factory=list, max_length=8)
    gaps: list[Sentence] = Field(default_factory=list, max_length=8)


def write(
    papers: Sequence[Source],
    topic: str,
    chat: ChatModel,
    context: TurnContext,
) -> Written | None:
    """Return the review that the model writes; None when it keeps to no form.

    Raises:
        ModelFailed: the model cannot be used.
        Cancelled: it was stopped.
    """
    chinese = is_chinese(topic)
    listed = ", ".join(str(paper.n) for paper in papers)
    system = render("draft_system", language=_LANGUAGES[chinese], numbers=listed)
    room = context.context_tokens - estimate_tokens(system) - estimate_tokens(topic) - RESERVE
    share = max(60, room // max(1, len(papers)) - 40)
    told = [
        {
            "n": paper.n,
            "title": paper.title[:200],
            "year": paper.year,
            "evidence": paper.evidence,
            "text": cut(defuse(_told(paper)), share),
        }
        for paper in papers
    ]
    user = render("draft_user", papers=told, topic=topic)
    messages = [Message("system", system), Message("user", user)]
    reply = ask(chat, messages, Review, context.cancelled)
    if reply.value is None:
        return None
    return _arranged(reply.value, papers, topic, chinese, context, reply.usage)


def _told(paper: Source) -> str:
    """Return a paper's summary as lines, or what it begins with where there is none."""
    fields: Mapping[str, Sequence[str]] = paper.notes.get("fields", {})
    lines = [f"{name}: {' '.join(texts)}" for name, texts in fields.items() if texts]
    return "\n".join(lines) or "\n".join(hit.chunk.text for hit in paper.hits[:3])


def _arranged(
    review: Review,
    papers: Sequence[Source],
    topic: str,
    chinese: bool,
    context: TurnContext,
    usage: Usage,
) -> Written:
    draft, sources = Draft(context), numbered(papers)

    def stated(sentences: Sequence[Sentence]) -> list[int]:
        said = [s for s in sentences if s.text.strip()]
        return [state_about(draft, s.text, s.papers, sources, context) for s in said]

    add_overview(draft, papers, topic, chinese)
    for theme in review.themes:
        # a number in a title would be nobody's
        draft.add_text(" ".join(strip(theme.title).split()), stated(theme.sentences))
    for title, found in (
        (AGREE, review.agreements),
        (DIFFER, review.disagreements),
        (GAPS, review.gaps),
    ):
        if items := stated(found):
            draft.add_text(title[chinese], items)
    _add_table(draft, papers, chinese, stated)
    return Written.of(draft, "llm", usage)


def _add_table(
    draft: Draft,
    papers: Sequence[Source],
    chinese: bool,
    stated: Callable[[Sequence[Sentence]], list[int]],
) -> None:
    """Add a row for each paper: the first sentence of each field of its summary."""
    rows = [
        [
            stated([Sentence(text=t[:1_200], papers=[paper.n]) for t in _field(paper, name)[:1]])
            for name, _ in _COLUMNS
        ]
        for paper in papers
    ]
    columns = [aspect.title(chinese) for _, aspect in _COLUMNS]
    draft.add_table(TABLE[chinese], columns, [paper.short for paper in papers], rows)


def _field(paper: Source, name: str) -> Sequence[str]:
    fields: Mapping[str, Sequence[str]] = paper.notes.get("fields", {})
    return fields.get(name, ())
