"""The citation check of a review: a verdict on every sentence, and at most two tries to mend it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from core.agent.draft import Draft
from core.agent.state import TurnContext
from core.evidence.numbering import strip, write
from core.evidence.quotes import citation
from core.evidence.verdict import judge, verify_each
from core.models.budget import Message, cut
from core.models.chat import ChatModel
from core.models.structured import ask
from core.review.grounding import passage, passages, state_about
from core.review.prompts import render
from core.review.sources import Source, numbered
from core.review.written import Written
from core.types import AnswerSentence, Citation, Scope, Verdict

ROUNDS = 2
AT_ONCE = 12
"""Sentences the model is asked to mend in one request."""
_PASSAGE_TOKENS = 250
_RANK = {"contradicted": 0, "unsupported": 1, "partly": 2, "supported": 3}
_LANGUAGES = ("English", "Chinese")


class Mended(BaseModel):
    """A sentence written anew; an empty text takes it out."""

    n: int
    text: str = Field("", max_length=1_200)
    papers: list[int] = Field(default_factory=list, max_length=30)


class Repair(BaseModel):
    """What the model is asked for."""

    sentences: list[Mended] = Field(default_factory=list, max_length=40)


def checked(written: Written, context: TurnContext) -> list[AnswerSentence]:
    """Return the statements with their verdicts; remarks have none."""
    found = verify_each(
        written.statements,
        {c.n: c for c in written.citations},
        context.embedder,
        context.cancelled.is_set,
    )
    for place in written.remarks:
        found[place] = replace(found[place], verdict=None)
    return found


def cite_the_uncited(written: Written, papers: Sequence[Source], context: TurnContext) -> Written:
    """Give statements without a citation the passage that supports them, where there is one."""
    scope = _all_of(papers)
    statements, citations = list(written.statements), list(written.citations)
    sentences = checked(written, context)
    for place, sentence in enumerate(sentences):
        if scope is None or sentence.verdict is None or sentence.citations:
            continue
        own = strip(sentence.text)
        found = passage(own, scope, context)
        if found and judge(own, [found[0].chunk.text], context.embedder).label == "supported":
            number = max((c.n for c in citations), default=0) + 1
            citations.append(citation(number, *found))
            statements[place] = f"{own} {write([number])}"
    return replace(written, statements=tuple(statements), citations=tuple(citations))


def repaired(
    written: Written,
    papers: Sequence[Source],
    chinese: bool,
    chat: ChatModel,
    context: TurnContext,
    leave: int = 0,
) -> Written:
    """Let the model mend what its passages do not bear out; keep what is better than before.

    Of more than it can be asked about at once, `leave` are left out at the beginning: an earlier
    round tried them.

    Raises:
        ModelFailed: the model cannot be used.
        Cancelled: it was stopped.
    """
    sentences = checked(written, context)
    invented = sum(len(sentence.removed) for sentence in sentences)
    clean = tuple(sentence.text for sentence in sentences)
    written = replace(written, statements=clean, removed=written.removed + invented)
    bad = [at for at, sentence in enumerate(sentences) if _is_bad(sentence.verdict)]
    bad = (bad[leave:] or bad)[:AT_ONCE]
    if not bad:
        return written
    reference_of = reference_numbers(written.citations, papers)
    told = [_told(at, sentences[at], papers, reference_of, context) for at in bad]
    messages = [
        Message("system", render("repair_system", language=_LANGUAGES[chinese])),
        Message("user", render("repair_user", sentences=told)),
    ]
    reply = ask(chat, messages, Repair, context.cancelled)
    written = replace(written, usage=written.usage.plus(reply.usage))
    if reply.value is None:
        return written
    mended = {m.n: m for m in reply.value.sentences if m.n in bad}
    return _taken(written, mended, sentences, papers, context)


def _is_bad(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.label in ("unsupported", "contradicted")


def _told(
    place: int,
    sentence: AnswerSentence,
    papers: Sequence[Source],
    reference_of: Mapping[int, int],
    context: TurnContext,
) -> dict[str, Any]:
    sources = numbered(papers)
    cited = list(dict.fromkeys(reference_of[n] for n in sentence.citations if n in reference_of))
    own = strip(sentence.text)
    everywhere = _all_of(papers)
    scopes = [sources[n].scope for n in cited] or ([everywhere] if everywhere else [])
    by_paper = {paper.paper: paper.n for paper in papers}
    return {
        "n": place,
        "text": own,
        "reason": sentence.verdict.reason if sentence.verdict else "",
        "passages": [
            {
                "paper": by_paper.get(hit.chunk.paper_id, 0),
                "text": cut(hit.chunk.text, _PASSAGE_TOKENS),
            }
            for hit in passages(own, scopes, context)
        ],
    }


def _taken(
    written: Written,
    mended: Mapping[int, Mended],
    before: Sequence[AnswerSentence],
    papers: Sequence[Source],
    context: TurnContext,
) -> Written:
    """Return the review with the mended sentences that are better than those before."""
    draft = Draft(context, max((c.n for c in written.citations), default=0) + 1)
    kept = {place: m for place, m in mended.items() if m.text.strip()}
    order = list(kept)
    for place in order:
        state_about(draft, kept[place].text, kept[place].papers, numbered(papers), context)
    new = Written.of(draft, written.mode, written.usage)
    statements, taken = list(written.statements), set()
    for place, sentence in zip(order, checked(new, context), strict=True):
        if _rank(sentence.verdict) > _rank(before[place].verdict):
            statements[place] = sentence.text
            taken.add(place)
    gone = {place for place, m in mended.items() if not m.text.strip()}
    changed = replace(
        written,
        statements=tuple(statements),
        citations=(*written.citations, *new.citations),
        repaired=written.repaired + len(taken) + len(gone),
    )
    return changed.without(gone)


def _rank(verdict: Verdict | None) -> int:
    return _RANK[verdict.label] if verdict else -1


def reference_numbers(citations: Sequence[Citation], papers: Sequence[Source]) -> dict[int, int]:
    """Return the number of the paper for that of each passage."""
    by_paper = {paper.paper: paper.n for paper in papers}
    return {c.n: by_paper[c.paper_id] for c in citations if c.paper_id in by_paper}


def _all_of(papers: Sequence[Source]) -> Scope | None:
    if not papers:
        return None
    return replace(papers[0].scope, paper_ids=tuple(paper.paper for paper in papers))
