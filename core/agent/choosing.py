"""Which sentences of a paper speak of an aspect, without a model: retrieval, then where they stand.

The weights are set by hand, on the sample papers and papers of the development half.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from core.agent.aspects import Aspect
from core.agent.draft import Draft
from core.agent.state import TurnContext, TurnState
from core.evidence.facts import content, stem
from core.evidence.language import CJK
from core.evidence.lexicon import HAN_FUNCTION, STOP_WORDS
from core.extractive.answer import shown
from core.extractive.candidates import Candidate, candidates
from core.extractive.glossary import translated
from core.types import Hit, Scope

SEEN = 24
"""Passages looked through for an aspect: all of a short paper."""
BRIEF = 5
"""Content words and numbers below which a sentence says little."""
LONG = 400
"""Characters; a longer sentence is seldom one that was meant to be quoted."""
_CUE, _HINT, _HOME, _SURE, _NEAR = 1.2, 0.5, 0.9, 1.5, 0.6
_OWN, _NUMBER, _RANK = 0.3, 0.3, 0.3
_FOREIGN, _POOR, _POINTING, _APPENDED = 1.0, 0.5, 0.4, 0.3
ENOUGH = 1.45
"""The score from which a sentence is taken to speak of the aspect."""
_PERHAPS = 0.9
_MANY = 3
"""Words of a phrase of which one may be missing."""
NOT_SAID = ("No sentence about this was found.", "没有找到谈到这一点的句子。")
"""Stands where nothing was found, in English and in Chinese: what the paper says is another matter."""
_REPEATS = 0.6
"""The share of content words two sentences may have in common."""

_OWN_VOICE = re.compile(
    r"\b(?:we|our|ours)\b|\b(?:this|the present|the current) (?:paper|work|study|article|report"
    r"|chapter|thesis)\b|本文|我们|本研究|本工作|本论文",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"related (?:work|stud)|previous work|prior work|background|literature|acknowledg|author contrib"
    r"|funding|conflict|相关工作|研究现状|文献综述|致谢",
    re.IGNORECASE,
)
"""Headings under which a paper speaks of others than itself."""
_POINTER = re.compile(
    r"^(?:(?:in )?(?:table|figure|fig\.?) ?\d+|[表图] ?\d+).{0,30}?(?:shows?|lists?|gives?|presents?"
    r"|compares?|reports?|summari[sz]es?|illustrat|给出|列出|画出|汇总|展示|比较|所示)",
    re.IGNORECASE,
)
_APPENDIX = re.compile(r"^(?:appendix|[A-H](?:\.\d+)*\.? [A-Z]|附录)")
_ABSTRACT = re.compile(r"\babstract\b|摘\s*要", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Look:
    """How sentences that speak of an aspect are known; all are regular expressions, any case.

    `cues` mark such a sentence wherever it stands, `hints` only support it. Under a heading that
    matches `home` much is about the aspect (`sure`: all is), under one that matches `near` some may
    be. `numbers`: a sentence with a figure tells more. `always`: every paper has it, so that where
    nothing speaks of it surely the one best sentence does.
    """

    aspect: Aspect
    cues: str
    hints: str
    home: str
    near: str
    numbers: bool = False
    sure: bool = False
    always: bool = False


@dataclass(frozen=True, slots=True)
class PaperInScope:
    """A paper of the turn's scope, to be searched alone."""

    id: UUID
    title: str
    chinese: bool
    scope: Scope


def papers_of(state: TurnState, context: TurnContext) -> list[PaperInScope]:
    """Return the papers of the turn's scope, in the reader's order or the oldest first.

    Raises:
        NotFound: one of them is not in the reader's library.
    """
    scope = state["scope"]
    ids = context.papers.library(scope.user_id, scope.paper_ids)
    rows = {row.paper_id: row for row in context.papers.papers(scope.user_id)}
    return [
        PaperInScope(
            paper,
            rows[paper].meta.title or rows[paper].filename,
            rows[paper].meta.language == "zh",
            replace(scope, paper_ids=(paper,)),
        )
        for paper in ids
        if paper in rows
    ]


def passages(look: Look, paper: PaperInScope, context: TurnContext, k: int = SEEN) -> list[Hit]:
    """Return the passages of a paper that an aspect's query finds, best first."""
    query = look.aspect.query(paper.chinese)
    return list(context.searcher.search(query, paper.scope, k).hits)


def choose(look: Look, hits: Sequence[Hit], most: int) -> list[Candidate]:
    """Return at most `most` sentences of `hits` that speak of the aspect, best first."""
    scored = [(score(look, c, len(hits)), c) for c in candidates(hits)]
    scored.sort(key=lambda pair: -pair[0])
    good = [c for points, c in scored if points >= ENOUGH]
    if look.always and not good:
        good = [c for points, c in scored[:1] if points >= _PERHAPS]
    return different(good, most)


def score(look: Look, candidate: Candidate, hits: int) -> float:
    """Return how surely a sentence speaks of the aspect, as compared with ENOUGH."""
    text, section = candidate.text, candidate.hit.chunk.section
    points = _RANK * (1 - candidate.rank / max(1, hits))
    points += _CUE * _found(look.cues, text) + _HINT * _found(look.hints, text)
    home = _found(look.home, section)
    points += (
        (_SURE if look.sure else _HOME) if home else _NEAR * _found(look.near, _place(candidate))
    )
    points += _OWN * bool(_OWN_VOICE.search(text))
    points += _NUMBER * (look.numbers and bool(candidate.facts.quantities))
    if OTHERS.search(section) and not home:
        points -= _FOREIGN
    points -= _APPENDED * bool(_APPENDIX.match(section))
    points -= _POINTING * bool(_POINTER.search(text))
    told = len(candidate.facts.stems) + len(candidate.facts.quantities)
    if told < BRIEF or len(text) > LONG:
        points -= _POOR
    return points


def _found(pattern: str, text: str) -> bool:
    return bool(pattern) and re.search(pattern, text, re.IGNORECASE) is not None


def _place(candidate: Candidate) -> str:
    """Return the heading a sentence stands under; an abstract often has none."""
    chunk = candidate.hit.chunk
    front = chunk.page == 1 and not chunk.section and _ABSTRACT.search(chunk.text)
    return f"abstract {chunk.section}" if front or chunk.kind == "abstract" else chunk.section


def different(found: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return the first `most` of `found` that do not say what an earlier one says."""
    chosen: list[Candidate] = []
    for candidate in found:
        if len(chosen) == most:
            break
        if not any(_alike(candidate, other) for other in chosen):
            chosen.append(candidate)
    return chosen


def in_order(found: Sequence[Candidate]) -> list[Candidate]:
    """Return sentences of one paper in the order they stand in it."""
    return sorted(found, key=lambda c: (c.hit.chunk.page, c.hit.chunk.id, c.at))


def _alike(one: Candidate, other: Candidate) -> bool:
    a, b = one.facts.stems, other.facts.stems
    return len(a & b) > _REPEATS * min(len(a), len(b)) if a and b else False


def quoted(draft: Draft, candidate: Candidate) -> int:
    """State a sentence in the paper's own words with its citation; return the statement's place."""
    number = draft.quote(candidate.hit, candidate.text)
    return draft.state(shown(candidate.text), [number])


_ASKING = re.compile(
    r"\b(?:please|extract\w*|list|give|show|tell|find|get|pull|make|create|export|fill|collect|tabulate|build|produce|provide|compar\w*"
    r"|contrast|differ\w*|similar\w*|versus|vs|critici[sz]e|critique|critical\w*|review|evaluate"
    r"|assess|analy[sz]e|strengths?|weakness\w*|tables?|csv|spreadsheet|structured|fields?|information"
    r"|details?|key|main|facts?|overview|summary|sides?|papers?|articles?|stud(?:y|ies)|regarding"
    r"|respect|terms|aspects?|threats?|validity|flaws?|problems?|two|three|four|five|six|everything"
    r"|better|best|claims?|do|how|what|which|agree|disagree|well|can|could|would)\b"
    r"|请|帮我|导出|保存|填写?|提取|抽取|列出|整理|比较|对比|异同|区别|不同|相同|差异|批判性?|评价|评估|评审|审视|分析|优缺点|缺点"
    r"|优点|弱点|漏洞|问题|表格|结构化|字段|信息|要点|关键|主要|内容|论文|文章|文献|研究|[这那]?[一两二三四五六几各]篇"
    r"|这些|它们|一下|所有|全部|方面|什么|哪些|如何|怎么样|怎样|有效性|威胁|一个|一张|出来|给出|做成|生成|有",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"\b(?:and|or|with|of|between|by)\b|[,;:，、；：()（）。？?!！\"“”]|[{HAN_FUNCTION}上中里成]"
)


def asked_for(question: str, known: Sequence[Look]) -> str:
    """Return what `question` names beside its order and the aspects in `known`, '' if nothing."""
    titles = {title.casefold() for look in known for title in look.aspect.titles}
    titles |= {title.removesuffix("s") for title in titles}
    named = []
    for piece in _BETWEEN.split(_ASKING.sub(" ", question)):
        words = [word for word in piece.split() if word.casefold() not in STOP_WORDS]
        phrase = " ".join(words).strip(" .-")
        if content(phrase.casefold()) and phrase.casefold() not in titles:
            named.append(phrase)
    return ", ".join(dict.fromkeys(named))


def look_for(named: str) -> Look:
    """Return a look at what the reader named: phrases parted by commas, in either language.

    A sentence speaks of a phrase when it has all of its words but one (of two: both), or their
    known translations.
    """
    phrases = [phrase.strip() for phrase in named.split(",") if phrase.strip()]
    whole = [_all_of(words) for phrase in phrases for words in _enough_of(_words(phrase))]
    whole += [_all_of([term]) for phrase in phrases for term in sorted(translated(phrase))]
    single = [word for phrase in phrases for word in _words(phrase)]
    aspect = Aspect("asked", (named, named), (named, named))
    hints = "|".join(_word(word) for word in single)
    return Look(aspect, cues="|".join(whole), hints=hints, home="|".join(whole), near="")


def _words(phrase: str) -> list[str]:
    """Return the words of a phrase; Chinese ones two characters at a time."""
    found = re.findall(rf"[{CJK}]+|[^\s{CJK}]+", phrase)
    return [
        piece
        for word in found
        for piece in ([word] if word[0].isascii() else re.findall(r"..?", word))
    ]


def _enough_of(words: Sequence[str]) -> list[Sequence[str]]:
    few = len(words) < _MANY
    return [words] if few else [[*words[:i], *words[i + 1 :]] for i in range(len(words))]


def _all_of(words: Sequence[str]) -> str:
    return "^" + "".join(rf"(?=[\s\S]*{_word(word)})" for word in words)


def _word(word: str) -> str:
    """Return the pattern of a word; an English one without its ending."""
    return rf"\b{re.escape(stem(word.casefold()))}" if word[0].isascii() else re.escape(word)
