"""Questions about a paper as a whole: what it is about, who wrote it, when it came out.

No sentence in it answers these; where they stand does: abstract, head of the first page.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Literal

from core.evidence.facts import facts
from core.evidence.quotes import fold
from core.evidence.sentences import split_sentences
from core.extractive.candidates import Candidate, candidates
from core.types import Hit

About = Literal["summary", "authors", "published"]

_PAPER = r"(?:the|this|that|these|your)? ?(?:papers?|articles?|stud(?:y|ies)|work|document|text|it)"
_PAPERS = "(?:这篇|该|本|此|这)?(?:论文|文章|文献|研究|文)"
_FORMS: tuple[tuple[About, str], ...] = (
    (
        "summary",
        rf"^(?:please |can you |could you |give (?:me )?)*(?:an? |the )?(?:short |brief |quick )?"
        rf"(?:summari[sz]e|summary|sum up|overview|tl;?dr|outline)(?: of)?(?: {_PAPER})?"
        r"(?: (?:briefly|for me|please|in .{1,25}))?$"
        rf"|^what(?:'s| is| are|s) {_PAPER} (?:all )?about$|^what does {_PAPER} (?:say|do|propose|show)$"
        r"|^what (?:is|are) the (?:main|key|central) (?:ideas?|contributions?|points?|findings?"
        rf"|results?|messages?)(?: (?:of|in) {_PAPER})?$"
        rf"|^(?:请|帮我|请你|简要|简单)*(?:总结|概括|概述|归纳)(?:一下|下)?{_PAPERS}?(?:的?(?:主要)?内容)?$"
        rf"|^{_PAPERS}(?:主要|大概|到底)?(?:讲|说|写|研究|介绍|提出|做)了?(?:的是)?(?:些)?什么(?:内容|问题)?$"
        rf"|^{_PAPERS}是?关于什么的?$"
        rf"|^(?:{_PAPERS}的?)?(?:主要|核心)(?:内容|贡献|观点|思想|结论)是?(?:什么|有哪些)?$",
    ),
    (
        "authors",
        rf"^who (?:are|is|were) the (?:authors?|writers?)(?: of {_PAPER})?$"
        rf"|^who wrote {_PAPER}$|^(?:list |name )?the authors$|^(?:{_PAPERS}的?)?作者(?:是谁|有谁|有?哪些人?|都?有谁|都是谁)$"
        rf"|^(?:{_PAPERS})?是?谁写的?(?:{_PAPERS})?(?:的)?$",
    ),
    (
        "published",
        rf"^(?:when|where|in (?:which|what) (?:year|journal|venue)) (?:was|were|is) {_PAPER} "
        r"(?:first )?(?:published|written|released|presented)$"
        rf"|^{_PAPERS}是?(?:什么时候|何时|哪一?年|在哪里?)(?:发表|出版|写)的?$",
    ),
)
_LOOKUPS: dict[About, str] = {
    "summary": "abstract introduction conclusion we propose we show 摘要 引言 结论 本文提出",
    "authors": "university institute department email abstract 大学 学院 作者 摘要",
    "published": "conference proceedings journal published received accepted arXiv copyright "
    "会议 学报 收稿日期 发表",
}
SEEN = 60
"""Hits looked through for the parts of papers that answer: all of a short paper."""
_FIRST_PAGES = 2
_MOST = 5
_CLAIM = re.compile(
    r"\b(?:we|this (?:paper|work|study|article))\b|\bour (?:model|method|results|approach|system)\b"
    r"|\b(?:results|experiments) (?:show|demonstrate|suggest|indicate)|本文|我们|提出|结果表明|实验表明",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"^\s*(?:\d+\.?\s*)?(?:introduction|conclu|summary|引言|绪论|结\s*论|总\s*结)", re.I
)
_FOOTNOTE = re.compile(r"^\s*[∗*†‡§¶]")
_VENUE = re.compile(
    r"(?=.*\b(?:19|20)\d\d\b)(?=.*(?:conference|proceedings|journal|workshop|symposium|published"
    r"|accepted|received|arxiv|copyright|©|transactions|letters|vol\.|会议|学报|收稿|发表|出版))",
    re.IGNORECASE | re.DOTALL,
)
_PUNCTUATION = re.compile(r"[\s?？!！.。…]+$")


def about(question: str) -> About | None:
    """Return what `question` asks of a paper as a whole, None when it asks something else."""
    plain = _PUNCTUATION.sub("", " ".join(question.split()).casefold())
    return next((kind for kind, form in _FORMS if re.search(form, plain)), None)


def lookup(kind: About) -> str:
    """Return a query that finds the parts of papers which answer."""
    return _LOOKUPS[kind]


def answering(kind: About, hits: Sequence[Hit]) -> list[Candidate]:
    """Return at most five passages of `hits` that answer; papers in turn, empty when none does."""
    papers = dict.fromkeys(hit.chunk.paper_id for hit in hits)
    by_paper = [
        _of_paper(kind, sorted(own, key=lambda h: (h.chunk.page, h.chunk.id)))
        for own in ([h for h in hits if h.chunk.paper_id == paper] for paper in papers)
    ]
    turns = (c for turn in zip_longest(*by_paper) for c in turn if c is not None)
    return list(turns)[:_MOST]


def _of_paper(kind: About, hits: Sequence[Hit]) -> list[Candidate]:
    if kind == "summary":
        return _summary(hits)
    head = [h for h in hits if h.chunk.page <= _FIRST_PAGES]
    return _authors(head) if kind == "authors" else _published(head)


def _summary(hits: Sequence[Hit]) -> list[Candidate]:
    """Return what the abstract says; else what introduction and conclusion claim; else the start."""
    abstract = [h for h in hits if h.chunk.kind == "abstract" and not _FOOTNOTE.match(h.chunk.text)]
    found = candidates(abstract)
    if not found:
        ends = [h for h in hits if h.chunk.kind == "body" and _ENDS.match(h.chunk.section)]
        found = candidates(ends) or candidates([h for h in hits if h.chunk.kind == "body"])
    claims = [c for c in found if _CLAIM.search(c.text)]
    chosen = claims if len(claims) >= 2 else found
    return [c for c in found if c in chosen[:_MOST]]


def _authors(hits: Sequence[Hit]) -> list[Candidate]:
    """Return what stands between title and abstract: names and where their bearers work."""
    front = [
        h for h in hits if h.chunk.page == 1 and h.chunk.kind == "body" and not h.chunk.section
    ]
    found = []
    for rank, hit in enumerate(front[:1]):
        start, end = _below_title(hit)
        text = hit.chunk.text[start:end].strip()
        if text:
            found.append(_candidate(hit, rank, text))
    return found


def _below_title(hit: Hit) -> tuple[int, int]:
    """Return from where to where a first page's head has neither title nor prose."""
    title = fold(hit.title)[0]
    starts, at = 0, 0
    for line in re.split(r"(\n+)", hit.chunk.text):
        at += len(line)
        folded = fold(line)[0]
        if title and folded and (folded in title or title in folded):
            starts = at
    return starts, len(hit.chunk.text)


def _published(hits: Sequence[Hit]) -> list[Candidate]:
    """Return the sentences or lines of the first pages with a year and a venue."""
    found = []
    for rank, hit in enumerate(h for h in hits if h.chunk.kind != "references"):
        for sentence in _pieces(hit.chunk.text):
            if _VENUE.search(sentence) and len(sentence) < 250 and "[" not in sentence:
                found.append(_candidate(hit, rank, sentence))
    return found[:2]


def _pieces(text: str) -> Iterator[str]:
    for start, end in split_sentences(text):
        yield text[start:end]


def _candidate(hit: Hit, rank: int, text: str) -> Candidate:
    return Candidate(text, hit, rank, hit.chunk.text.find(text), facts(text), frozenset())
