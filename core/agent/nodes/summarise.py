"""Summarises one paper for its reader: against what they have read, or as a guide from the start.

With a model it writes both kinds from the passages of the papers; without one, and for the parts it
gave nothing for, the papers' own sentences.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError

from core.agent.asking import Requests, ground, in_turns
from core.agent.choosing import NOT_SAID, PaperInScope, papers_of, passages, quoted
from core.agent.draft import Draft
from core.agent.events import StepProgress
from core.agent.looks import DATA, LIMITS, METHOD, RESULTS
from core.agent.nodes.deep_read import the_paper
from core.agent.reading_notes import IDEA, PROBLEM, chosen, own_text, reading_order
from core.agent.relations import (
    FIRST_READING,
    Earlier,
    Known,
    earlier,
    gist,
    new_and_known,
    shared_terms,
    speaking_of,
)
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import LecternError
from core.evidence.language import is_chinese
from core.evidence.numbering import defuse
from core.evidence.support import best_quote
from core.extractive.answer import shown
from core.extractive.candidates import Candidate, candidates
from core.models.budget import cut, estimate_tokens
from core.types import Chunk, Hit, Scope
from core.wording import say

TITLE = say("Summarise for the reader")
RESERVE = 1_600
"""Tokens kept for the reply."""
_TOLD = 250
"""Tokens of an earlier summary that a model is shown."""
_MOST_POINTS, _LONGEST = 5, 500
_OF_A_LOOK, _OF_ANOTHER = 4, 3
"""Passages offered to a model: of the paper for each aspect, and of each earlier one."""

_BACKGROUND = ("Background", "背景")
_BODY = ("background", "method", "results", "limits")
_TITLES = {
    "background": _BACKGROUND,
    "method": METHOD.aspect.titles,
    "results": RESULTS.aspect.titles,
    "limits": LIMITS.aspect.titles,
}
_GUIDE = ("A guide to a first reading", "初次阅读指南")
_ORDER = ("Read in this order: {stops}.", "建议的阅读顺序：{stops}。")
_STOPS = {
    "problem": ("{place} for the problem", "{place}（问题）"),
    "idea": ("{place} for the idea", "{place}（思路）"),
    "method": ("{place} for the method", "{place}（方法）"),
    "results": ("{place} for the results", "{place}（结果）"),
    "limits": ("{place} for the limits", "{place}（局限）"),
}
_BESIDE = ("Beside “{title}”", "与《{title}》相比")
_READ = ("You read this on {day}. What it did:", "你在 {day} 读过这一篇，它做了：")
_GONE = ("The paper is no longer in your library.", "这篇论文已不在你的文库里。")
_SHARED = ("Both speak of {terms}:", "两篇都谈到{terms}：")
_UNSHARED = (
    "No term was found that both papers use often.",
    "没有找到两篇论文都常用的术语。",
)
_COLUMNS = (("This paper", "Read on {day}"), ("这一篇", "{day} 读过的"))
_NEW = ("New to you here", "这篇对你来说新的内容")
_NOTHING_NEW = (
    "No sentence was found that is far from what you have read.",
    "没有找到与你读过的内容相距较远的句子。",
)
_SKIP = ("What you can skip", "可以跳过的内容")
_ON_PAGE = ("On page {page:d}, near to “{title}”:", "第 {page:d} 页，与《{title}》接近：")
_NOTHING_TO_SKIP = (
    "No sentence was found that repeats what you have read.",
    "没有找到重复你读过内容的句子。",
)
_NEXT = ("What to read next", "接下来读什么")
_UNREAD = (
    "“{title}” is in your library and not among your readings:",
    "《{title}》在你的文库里，还不在阅读记录中：",
)
_CITED = ("Cited {count:d} times here: {entry}.", "文中引用了 {count:d} 次：{entry}。")
_NO_NEXT = (
    "Nothing close was found in your library or in the list of references.",
    "在你的文库和参考文献中都没有找到相近的论文。",
)
_MOST_NEXT = 3

log = logging.getLogger(__name__)


class Point(BaseModel):
    """One sentence, and the passages it rests on."""

    text: str
    passages: list[int] = Field(default_factory=list)


class GuideOfModel(BaseModel):
    """What a model is asked for when nothing similar has been read."""

    guide: list[Point] = Field(default_factory=list)
    background: list[Point] = Field(default_factory=list)
    method: list[Point] = Field(default_factory=list)
    results: list[Point] = Field(default_factory=list)
    limits: list[Point] = Field(default_factory=list)


class RelatedOfModel(BaseModel):
    """How the paper relates to one of the readings, by its number."""

    reading: int
    relation: list[Point] = Field(default_factory=list)


class SummaryOfModel(BaseModel):
    """What a model is asked for when something similar has been read."""

    related: list[RelatedOfModel] = Field(default_factory=list)
    new: list[Point] = Field(default_factory=list)
    skip: list[Point] = Field(default_factory=list)
    background: list[Point] = Field(default_factory=list)
    method: list[Point] = Field(default_factory=list)
    results: list[Point] = Field(default_factory=list)
    limits: list[Point] = Field(default_factory=list)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's parts: relation, what is new, what to skip (or a guide), and the summary.

    Raises:
        BadInput: no papers, or several of which the question names none.
        NotFound: a paper that is not in the reader's library.
    """
    paper = the_paper(state, context)
    read = _earlier(state, context)
    draft, requests = Draft(context), Requests(state, context)
    summary = _Summary(paper, read, state, context, draft)
    if read:
        summary.against_readings(requests)
    else:
        summary.from_the_start(requests)
    detail = say("“{title}”, {count:d} readings beside it", title=paper.title[:80], count=len(read))
    return StepResult(draft.update(requests.mode, requests.usage), detail, requests.tokens)


def _earlier(state: TurnState, context: TurnContext) -> list[Earlier]:
    library: TurnState = {**state, "scope": replace(state["scope"], paper_ids=None)}
    held = {paper.id: paper for paper in papers_of(library, context)} if state["related"] else {}
    found = []
    for done, similar in enumerate(state["related"]):
        if context.cancelled.is_set():
            break
        progress = say(
            "{done:d} of {total:d} readings looked up", done=done, total=len(state["related"])
        )
        context.emit(StepProgress("summarise", progress))
        found.append(earlier(similar, held.get(similar.reading.paper_id), context))
    return found


@dataclass(slots=True)
class _Summary:
    """A summary on its way into the draft."""

    paper: PaperInScope
    read: list[Earlier]
    state: TurnState
    context: TurnContext
    draft: Draft

    @property
    def _chinese(self) -> bool:
        return is_chinese(self.state["question"])

    @property
    def _stopped(self) -> bool:
        return self.context.cancelled.is_set()

    # --- the two kinds --------------------------------------------------------------------------

    def against_readings(self, requests: Requests) -> None:
        """Add what a reader of similar papers wants to know, then the summary."""
        own_hits = self._hits()
        others = [
            self._search(self.paper.title, one.paper.scope, _OF_ANOTHER)
            for one in self.read
            if one.paper
        ]
        told = [
            {
                "n": n,
                "title": one.similar.reading.title,
                "day": one.similar.reading.day,
                "text": cut(defuse(" ".join(one.told)), _TOLD),
            }
            for n, one in enumerate(self.read, start=1)
        ]
        reply = requests.about(
            "summary_history",
            in_turns([*own_hits, *others]),
            SummaryOfModel,
            RESERVE + sum(estimate_tokens(str(entry)) + 20 for entry in told),
            {"readings": told},
            language=self._language(),
        )
        model, hits = reply or (SummaryOfModel(), [])
        own = self._own()
        for n, one in enumerate(self.read, start=1):
            written = [p for r in model.related if r.reading == n for p in r.relation]
            self._add_relation(one, own, self._points(written, hits))
        pool = [c for found in own.values() for c in found]
        fresh, known = ([], []) if self._stopped else self._compared(pool)
        self._add(
            _NEW,
            self._points(model.new, hits) or [quoted(self.draft, c) for c in fresh],
            _NOTHING_NEW,
        )
        skip = self._points(model.skip, hits)
        for one_known in known if not skip else []:
            title = one_known.of.similar.reading.title
            page = one_known.own.hit.chunk.page
            skip.append(self._remark(_ON_PAGE, page=page, title=title))
            skip.append(quoted(self.draft, one_known.own))
            if one_known.source:
                skip.append(quoted(self.draft, one_known.source))
        self._add(_SKIP, skip, _NOTHING_TO_SKIP)
        self._add_body(model, hits, own)

    def from_the_start(self, requests: Requests) -> None:
        """Add a guide through the paper, then the summary."""
        reply = requests.about(
            "summary_first",
            in_turns(self._hits()),
            GuideOfModel,
            RESERVE,
            language=self._language(),
        )
        model, hits = reply or (GuideOfModel(), [])
        own = self._own()
        items = self._points(model.guide, hits)
        stops = [
            _STOPS[name][self._chinese].format(place=self._place(found[0]))
            for name, found in own.items()
            if found
        ]
        if stops:
            between = "；" if self._chinese else "; "
            items.append(self._remark(_ORDER, stops=between.join(stops)))
        self._add(_GUIDE, items, NOT_SAID)
        self._add_body(model, hits, own)

    # --- parts ----------------------------------------------------------------------------------

    def _add_relation(
        self, one: Earlier, own: dict[str, list[Candidate]], written: Sequence[int]
    ) -> None:
        """Add what an earlier paper did and how this one relates: by the model, or by sentences."""
        if self._stopped:
            return
        reading = one.similar.reading
        items = [self._remark(_READ, day=reading.day)]
        items += [self._told(text, one) for text in gist(one.told)]
        if one.paper is None:
            items.append(self._remark(_GONE))
        pool = [c for found in own.values() for c in found]
        items += written or (self._shared(pool, one) if one.paper else [])
        title = _BESIDE[self._chinese].format(title=reading.title)
        self.draft.add_text(title, items)
        if not written and one.paper:
            self._add_table(one, own)

    def _told(self, text: str, one: Earlier) -> int:
        """State what a stored summary says, with the passage of its paper while there is one."""
        hits = self._search(text, one.paper.scope, 1) if one.paper else []
        if not hits:
            return self.draft.remark(shown(text))
        quote = best_quote([text], hits[0].chunk.text, self.context.embedder)
        return self.draft.state(shown(text), [self.draft.quote(hits[0], quote)])

    def _shared(self, own: Sequence[Candidate], one: Earlier) -> list[int]:
        terms = shared_terms(own, one.sentences)
        ours, theirs = speaking_of(terms, own), speaking_of(terms, one.sentences)
        if ours is None or theirs is None:
            return [self._remark(_UNSHARED)]
        listed = "、" if self._chinese else ", "
        quotes = "“{}”"
        named = self._remark(_SHARED, terms=listed.join(quotes.format(term) for term in terms))
        return [named, quoted(self.draft, ours), quoted(self.draft, theirs)]

    def _add_table(self, one: Earlier, own: dict[str, list[Candidate]]) -> None:
        """Put sentences of both papers on the same aspect side by side."""
        heads, rows = [], []
        for look in (IDEA, METHOD, RESULTS):
            ours = own.get(look.aspect.name, [])[:1]
            theirs = one.found.get(look.aspect.name, [])[:1]
            if ours and theirs:
                heads.append(look.aspect.title(self._chinese))
                rows.append([[quoted(self.draft, c)] for c in (*ours, *theirs)])
        if rows:
            day = one.similar.reading.day
            columns = [column.format(day=day) for column in _COLUMNS[self._chinese]]
            self.draft.add_table("", columns, heads, rows)

    def _add_body(
        self,
        model: GuideOfModel | SummaryOfModel,
        hits: Sequence[Hit],
        own: dict[str, list[Candidate]],
    ) -> None:
        sources = {**own, "background": reading_order([*own["problem"], *own["idea"][:2]])}
        for name in _BODY:
            items = self._points(getattr(model, name), hits)
            items = items or [quoted(self.draft, c) for c in sources[name]]
            self._add(_TITLES[name], items, NOT_SAID)
        if not self._stopped:
            self._add(_NEXT, [*self._unread(), *self._most_cited()], _NO_NEXT)

    def _unread(self) -> list[int]:
        """Return what in the library is close to the paper and was not read yet.

        Nothing when it cannot be told what was read: the reader knows that by then.
        """
        user = self.state["scope"].user_id
        try:
            known = {row.paper_id for row in self.context.readings.history(user)}
        except (LecternError, SQLAlchemyError) as error:
            log.warning("the reading history cannot be had: %s", error)
            return []
        known.add(self.paper.id)
        nearest: dict[object, Candidate] = {}
        for c in candidates(self._search(self.paper.title, Scope(user), 24)):
            if c.hit.chunk.paper_id not in known:
                nearest.setdefault(c.hit.chunk.paper_id, c)
        items = []
        for candidate in list(nearest.values())[: _MOST_NEXT - 1]:
            if self._fits(candidate.text):
                items.append(self._remark(_UNREAD, title=candidate.hit.title))
                items.append(quoted(self.draft, candidate))
        return items

    def _most_cited(self) -> list[int]:
        """Return the entries of the list of references that the text names most often."""
        user = self.state["scope"].user_id
        structure = self.context.papers.structure(user, self.paper.id)
        if structure is None:
            return []
        text = "\n".join(chunk.text for chunk in self._chunks())
        counts = [
            (text.count(entry.label), -at, entry)
            for at, entry in enumerate(structure.references)
            if re.fullmatch(r"\[\w{1,12}\]", entry.label) and entry.title
        ]
        best = sorted(counts, key=lambda counted: counted[:2], reverse=True)[:_MOST_NEXT]
        return [
            self._remark(_CITED, count=count, entry=f"“{defuse(entry.title)}”" + _year(entry.year))
            for count, _, entry in best
            if count > 1 and self._fits(entry.title)
        ]

    def _add(self, titles: tuple[str, str], items: Sequence[int], none: tuple[str, str]) -> None:
        if not items and not self._stopped:
            items = [self._remark(none)]
        if items:
            self.draft.add_text(titles[self._chinese], items)

    # --- material -------------------------------------------------------------------------------

    def _hits(self) -> list[list[Hit]]:
        looks = (IDEA, METHOD, RESULTS, LIMITS, PROBLEM, DATA)
        return [passages(look, self.paper, self.context, _OF_A_LOOK) for look in looks]

    def _chunks(self) -> list[Chunk]:
        user = self.state["scope"].user_id
        return own_text(self.context.papers.page_chunks(user, self.paper.id))

    def _own(self) -> dict[str, list[Candidate]]:
        """Return the paper's own sentences by part; nothing more once stopped."""
        found = chosen(self.paper, self._chunks(), self.context)
        return {name: [c for c in own if self._fits(c.text)] for name, own in found.items()}

    def _compared(self, pool: Sequence[Candidate]) -> tuple[list[Candidate], list[Known]]:
        return new_and_known(pool, self.read, self.context.embedder)

    def _search(self, query: str, scope: Scope, k: int) -> list[Hit]:
        return list(self.context.searcher.search(query, scope, k).hits)

    def _points(self, points: Sequence[Point], hits: Sequence[Hit]) -> list[int]:
        """State what a model wrote, but for what is nothing or not said to this reader."""
        lines = [(" ".join(point.text.split())[:_LONGEST], point) for point in points]
        return [
            ground(self.draft, line, point.passages[:4], hits, self.context.embedder).place
            for line, point in lines[:_MOST_POINTS]
            if line and self._fits(line)
        ]

    def _fits(self, text: str) -> bool:
        return not self.read or not FIRST_READING.search(text)

    def _place(self, candidate: Candidate) -> str:
        chunk = candidate.hit.chunk
        page = f"第 {chunk.page} 页" if self._chinese else f"p. {chunk.page}"
        return f"“{chunk.section}”, {page}" if chunk.section else page

    def _remark(self, texts: tuple[str, str], **values: object) -> int:
        return self.draft.remark(texts[self._chinese].format(**values))

    def _language(self) -> str:
        return "Chinese" if self._chinese else "English"


def _year(year: int | None) -> str:
    return f" ({year})" if year else ""
