"""Reading notes from a paper's own sentences: what each part is known by, and its glossary."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from core.agent.aspects import Aspect
from core.agent.choosing import ENOUGH, Look, PaperInScope, different, passages, score
from core.agent.looks import LIMITS, METHOD, RESULTS
from core.agent.state import TurnContext
from core.evidence.language import CJK
from core.evidence.lexicon import STOP_WORDS
from core.evidence.quotes import fold
from core.evidence.sentences import sentences
from core.extractive.candidates import LONGEST, Candidate, candidates
from core.types import Chunk, Hit, Scores


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the notes: what is looked for, at most how many sentences, from a section each."""

    look: Look
    most: int
    of_a_section: int


PROBLEM = Look(
    Aspect(
        "problem",
        ("Problem", "问题"),
        (
            "the problem and why it matters; however existing methods fail, lack, are too slow",
            "要解决的问题，动机，挑战；但是现有方法不足，困难，缺乏",
        ),
    ),
    cues=r"\b(?:problem|challenge|difficult(?:y|ies)?|drawback|obstacle|bottleneck|dilemma|gap)s?\b"
    r"|\bthe question (?:of|is|that)\b|\b(?:remains?|is|are) (?:\w+ )?(?:challenging|difficult|hard|unclear"
    r"|costly|expensive|limited|lacking)\b|\b(?:fail|lack)s?\b|\bprecludes?\b|\binherently\b"
    r"|问题(?:是|在于|有)|难以|困难|挑战|缺乏|瓶颈|痛点|不足以|但[是]?[^。]{0,20}(?:不|没有|无法|难)",
    hints=r"\bhowever\b|\bneed|\bbut\b|\bcannot\b|\busually\b|\bmust\b|\bhas to\b|\bmotivat|\bimportant"
    r"|但是?|然而|需要|通常|必须|不想|重要",
    home=r"problem statement|motivation|动机|问题",
    near=r"^abstract|introduction|background|摘要|引言|绪论|前言|背景",
)
IDEA = Look(
    Aspect(
        "idea",
        ("Idea", "思路"),
        (
            "in this paper we propose; our key idea is; instead of; main contribution",
            "本文提出，核心思想，我们的办法是，主要贡献",
        ),
    ),
    cues=r"\b(?:we|this (?:paper|work|study|article|report))\b(?:\W+\w+){0,2}?\W+(?:propos|present|introduc"
    r"|develop|argue|show|describ|offer|suggest)\w*|\b(?:key|main|central|core|basic) (?:idea|insight"
    r"|contribution|observation)s?\b|\bour (?:approach|idea|contribution|solution|design)s?\b"
    r"|本文(?:提出|介绍|说明|给出|设计|采用)|我们(?:提出|认为|设计)|核心(?:思想|是|在于)|关键在于|贡献",
    hints=r"\breports?\b|\binstead of\b|\bnovel\b|\bnew\b|\bsimple\b|\btherefore\b|\bentirely\b|\bsolely\b"
    r"|相反|因此|而不是|只需|新的",
    home=r"(?:key|main) idea|contributions?|overview|核心思想|总体(?:结构|思路|设计)",
    near=r"^abstract|introduction|conclusion|摘要|引言|绪论|前言|结论|总结",
)
STEPS = replace(
    METHOD,
    aspect=replace(METHOD.aspect, titles=("Method, step by step", "方法，逐步")),
    hints=METHOD.hints
    + r"|\b(?:first|then|next|finally|each|every|during|after)\b|首先|然后|接着|最后|每[个次条一]|之后|再",
)
EVIDENCE = replace(RESULTS, aspect=replace(RESULTS.aspect, titles=("Evidence", "证据")))

SECTIONS = (
    Section(PROBLEM, 4, 2),
    Section(IDEA, 4, 2),
    Section(STEPS, 7, 2),
    Section(EVIDENCE, 5, 3),
    Section(LIMITS, 5, 5),
)
_CHOSEN_IN = ("limits", "idea", "results", "problem", "method")
"""The order in which parts take their sentences: the one hardest to mistake comes first."""

QUESTIONS = Aspect(
    "questions",
    ("Questions to ask", "可以追问"),
    (LIMITS.aspect.queries[0], LIMITS.aspect.queries[1]),
)
GLOSSARY = Aspect("glossary", ("Glossary", "术语"), ("", ""))
MEANING = ("As the paper puts it", "论文中的说法")
MOST_QUESTIONS = 4
MOST_TERMS = 12
_ASSUMED = re.compile(
    r"\bassum(?:e[sd]?|ing|ptions?)\b|\bprovided that\b|\bunder the (?:condition|hypothesis)\b"
    r"|假设|假定|前提是",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\bfuture\b|\bwe (?:plan|hope|intend|leave)\b|\bremains? (?:to be|an open|unclear)|\bopen (?:question"
    r"|problem)|\bshould be\b|\bmust be\b|\bneeds? (?:to be|further)|未来|今后|有待|计划|需要(?:另外|进一步)|仍需",
    re.IGNORECASE,
)
_ASKED = {
    ("assumed", False): "Does this hold in your case: “{quote}”?",
    ("assumed", True): "这一前提在你的场景里成立吗：“{quote}”？",
    ("later", False): "Has this been done or settled since: “{quote}”?",
    ("later", True): "后来有人完成或解决了吗：“{quote}”？",
    ("limit", False): "What would change without this limit: “{quote}”?",
    ("limit", True): "如果没有这一限制，结论会怎样：“{quote}”？",
}
_FRONT = 2
"""Pages on which problem and idea stand, whatever their headings are."""
_HOME_PASSAGES = 30
_ENDS = re.compile(
    r"abstract|introduction|background|motivation|related|previous|prior|preface|results?\b|experiment"
    r"|evaluation|discussion|conclusion|summary|limit|threat|future|outlook|acknowledg|appendi|references"
    r"|contents|data\b|analysis|ablation|funding|摘要|引言|绪论|前言|背景|相关工作|结果|实验|评估|讨论|结论|总结|局限|不足"
    r"|展望|致谢|附录|数据|目录|文献",
    re.IGNORECASE,
)
"""Headings of what comes before and after the method."""
_FRAME = re.compile(
    r"abstract|introduction|background|motivation|conclusion|summary|摘要|引言|绪论|前言|背景|结论|总结",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"^(?:table|fig(?:ure|\.)|section|[图表])\s*\d+[^.。]{0,12}(?:give|show|list|summari|compare|present|report"
    r"|illustrate|给出|列出|画出|比较|显示)|\b(?:two|three|four)fold\b|\bbold(?:face)?\b|粗体|\bas follows[.:]",
    re.IGNORECASE,
)
"""What says where something stands, or how it is printed, and not what it is."""
_IN_THE_MIDDLE, _TOO_LATE, _POINTING = 0.8, 1.2, 1.0
_NEARLY = 0.9
_FEW = 2
"""So many sentences a part should have, if some come near at least."""


def hits_of(chunks: Sequence[Chunk], title: str) -> list[Hit]:
    """Return chunks as passages without scores: nobody searched for them."""
    return [Hit(chunk, Scores(), title) for chunk in chunks]


def own_text(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks that are not the list of references."""
    return [chunk for chunk in chunks if chunk.kind != "references"]


def chosen(
    paper: PaperInScope, chunks: Sequence[Chunk], context: TurnContext
) -> dict[str, list[Candidate]]:
    """Return each part's sentences in reading order, none in two parts; fewer once stopped."""
    by_name = {section.look.aspect.name: section for section in SECTIONS}
    taken: set[str] = set()
    found: dict[str, list[Candidate]] = {name: [] for name in by_name}
    for name in _CHOSEN_IN:
        if context.cancelled.is_set():
            break
        section = by_name[name]
        best = _best(section.look, _pool(section.look, paper, chunks, context))
        fresh = [c for c in best if fold(c.text)[0] not in taken]
        found[name] = _spread(fresh, section)
        taken.update(fold(c.text)[0] for c in found[name])
    return found


def _pool(
    look: Look, paper: PaperInScope, chunks: Sequence[Chunk], context: TurnContext
) -> list[Hit]:
    """Return the passages that the part's query finds, and those under its own headings."""
    hits = passages(look, paper, context)
    known = {hit.chunk.id for hit in hits}
    at_home = [
        chunk
        for chunk in own_text(chunks)
        if chunk.id not in known
        and (
            re.search(look.home, chunk.section, re.IGNORECASE)
            or (look is STEPS and chunk.section and not _ENDS.search(chunk.section))
        )
    ]
    if look in (PROBLEM, IDEA):
        at_home += [
            chunk
            for chunk in own_text(chunks)
            if chunk.page <= _FRONT and chunk.id not in known and chunk not in at_home
        ]
    return [*hits, *hits_of(_evenly(at_home, _HOME_PASSAGES), paper.title)]


def _best(look: Look, pool: Sequence[Hit]) -> list[Candidate]:
    """Return the sentences that speak of the part, best first; of the nearest ones if few do.

    Not of limits: what does not say that it is one had better not be shown as one.
    """
    scored = [(score(look, c, len(pool)) + _suits(look, c), c) for c in candidates(pool)]
    scored.sort(key=lambda pair: -pair[0])
    sure = [c for points, c in scored if points >= ENOUGH]
    near = [c for points, c in scored if _NEARLY <= points < ENOUGH]
    few = 0 if look is LIMITS else max(0, _FEW - len(sure))
    return different([*sure, *near[:few]], 40)


def _suits(look: Look, candidate: Candidate) -> float:
    """Return what a sentence gains or loses by standing between the paper's two ends, and by its kind."""
    chunk = candidate.hit.chunk
    middle = bool(chunk.section) and not _ENDS.search(chunk.section)
    points = -_POINTING * bool(_POINTER.search(candidate.text))
    if look is STEPS:
        return points + _IN_THE_MIDDLE * middle
    if look in (PROBLEM, IDEA) and chunk.page > _FRONT:
        return points - _TOO_LATE * (middle or not _FRAME.search(chunk.section))
    return points


def _evenly(chunks: Sequence[Chunk], most: int) -> list[Chunk]:
    if len(chunks) <= most:
        return list(chunks)
    return [chunks[round(i * (len(chunks) - 1) / (most - 1))] for i in range(most)]


def _spread(best: Sequence[Candidate], section: Section) -> list[Candidate]:
    """Return the best few, not all of one section, in reading order."""
    counts: dict[str, int] = {}
    kept: list[Candidate] = []
    for candidate in best:
        heading = candidate.hit.chunk.section
        counts[heading] = counts.get(heading, 0) + 1
        if counts[heading] <= section.of_a_section and len(kept) < section.most:
            kept.append(candidate)
    return reading_order(kept)


def reading_order(found: Sequence[Candidate]) -> list[Candidate]:
    """Return sentences of one paper by page and place."""
    return sorted(found, key=lambda c: (c.hit.chunk.page, c.hit.chunk.id, c.at))


def questions(
    limits: Sequence[Candidate], chunks: Sequence[Chunk], title: str, chinese: bool
) -> list[tuple[str, Candidate]]:
    """Return questions that the paper's own limits, plans and assumptions raise, each with its source."""
    assuming = [chunk for chunk in own_text(chunks) if _ASSUMED.search(chunk.text)]
    known = {fold(c.text)[0] for c in limits}
    assumed = (
        c
        for hit in hits_of(assuming[:_HOME_PASSAGES], title)
        for c in candidates([hit])
        if _ASSUMED.search(c.text) and fold(c.text)[0] not in known
    )
    further = list(islice(assumed, MOST_QUESTIONS))
    sources = [*limits[: MOST_QUESTIONS - min(2, len(further))], *further]
    return [
        (_ASKED[_asked_as(c.text), chinese].format(quote=_in_brief(c.text)), c)
        for c in sources[:MOST_QUESTIONS]
    ]


def _asked_as(text: str) -> str:
    if _ASSUMED.search(text):
        return "assumed"
    return "later" if _LATER.search(text) else "limit"


def _in_brief(text: str) -> str:
    return " ".join(text.split()).rstrip("。.；;").replace("“", "‘").replace("”", "’")


_WORD = r"[A-Za-z][\w@’'-]*"
_LATIN_TERM = rf"(?P<term>{_WORD}(?: {_WORD}){{0,4}})"
_HAN_TERM = rf"(?P<term>[A-Za-z{CJK}][\w@{CJK}·-]{{1,14}})"
_DEFINITIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^(?:The |An? |By |Here,? |The term )?[“\"‘_]?{_LATIN_TERM}[”\"’_]? (?:is|are) (?:commonly |formally "
        r"|here |usually )?(?:defined as|understood as|an? (?:\w+ ){0,2}?(?:kind|type|form|class|set|method"
        r"|measure|metric|process|technique|family|variant|task|model|function|algorithm|data ?set|benchmark"
        r"|model|approach|framework|tool|concept|path|weighted|number)\b)",
        rf"^(?:The |An? |The term )?[“\"‘_]?{_LATIN_TERM}[”\"’_]? (?:refers? to|denotes?|stands for)\b",
        rf"\b(?:we call|is called|are called|known as|referred to as|termed) (?:this |these |it |them |such \w+ )?"
        rf"(?:an? |the )?[“\"‘_]?{_LATIN_TERM}[”\"’_]?(?=[,.;:)\s])",
        rf"[“]{_HAN_TERM}[”](?:，)?(?:的软件|是指|指的?是|是一|即|表示|意为|把)",
        rf"(?:^|[，。；：])(?:所谓的?)?{_HAN_TERM}?(?:是指|指的是|定义为|意为|，即)",
        rf"(?:称为|称作|称之为|叫做?|所谓的?)[“\"]?{_HAN_TERM}[”\"]?(?=[，。；,;（(]|$)",
        rf"(?:^|[，。；：])(?:其[一二三四]是)?{_HAN_TERM}(?:是一[种个类]|是由)",
    )
)
_SHORT = re.compile(
    rf"(?P<long>(?:{_WORD} ){{0,6}}{_WORD}|[{CJK}]{{3,14}}) ?[(（](?P<short>[A-Z][\w-]*[A-Z][\w-]*?)s?[)）]"
)
_TAIL = re.compile(
    r" (?:to|by|that|in|for|and|or|with|when|where|which|because|as|from|on|developed|based)\b.*$"
)
_NO_TERM = re.compile(
    r"^(?:it|this|that|these|those|there|we|they|he|she|what|which|who|here|our|to|but|one|each|both|all|such|some|if"
    r"|in|as|for|when|another|other|most|many|figure|table|section|equation|[本这那其该此它我他她因所如并而但])|[的这那些]",
    re.IGNORECASE,
)


def glossary(
    chunks: Sequence[Chunk], title: str, stopped: Callable[[], bool]
) -> list[tuple[str, Candidate]]:
    """Return the terms that the paper defines, each with the sentence that defines it.

    Fewer once `stopped` says so: it is asked before every chunk.
    """
    found: dict[str, tuple[str, Candidate]] = {}
    for hit in hits_of(own_text(chunks), title):
        if stopped():
            break
        if hit.chunk.kind == "table" or not _defines(hit.chunk.text):
            continue
        for candidate in candidates([hit]):
            for term in _terms(candidate.text):
                found.setdefault(_key(term), (term, candidate))
        if len(found) >= 3 * MOST_TERMS:
            break
    entries = list(found.values())
    return sorted(entries, key=lambda entry: entry[1].hit.chunk.id)[:MOST_TERMS]


def _defines(text: str) -> bool:
    """Return whether any sentence defines a term; to tell whether it is usable costs far more."""
    return any(True for sentence in sentences(text) for _ in _terms(sentence))


def _key(term: str) -> str:
    short = re.search(r"\(([^)]+)\)$", term)
    return (short[1] if short else term).casefold().rstrip("s")


def _terms(sentence: str) -> Iterator[str]:
    text = " ".join(sentence.split())
    if len(text) > LONGEST:
        return
    for match in _SHORT.finditer(text) if "(" in text or "（" in text else ():
        spelled = _spelled(match["long"], match["short"])
        if spelled:
            yield f"{spelled} ({match['short']})"
    for pattern in _DEFINITIONS:
        for match in pattern.finditer(text):
            term = _TAIL.sub("", match["term"] or "").strip()
            if len(term) > 1 and not _NO_TERM.search(term) and term.casefold() not in STOP_WORDS:
                yield term


def _spelled(long: str, short: str) -> str:
    """Return the end of `long` that `short` abbreviates, '' when it does not."""
    if re.search(f"[{CJK}]", long):
        return long
    words = re.split(r"[ -]", long)
    letters = [letter.casefold() for letter in short if letter.isalpha() and letter.isupper()]
    for size in range(1, len(words) + 1):
        tail = words[-size:]
        initials = [word[0].casefold() for word in tail if word]
        if initials[:1] == letters[:1] and _in_order(letters, initials):
            at = long.rfind(tail[0] if size == 1 else _joined(long, tail))
            return long[max(at, 0) :]
    return ""


def _joined(long: str, tail: Sequence[str]) -> str:
    """Return `tail` as it is printed at the end of `long`, with its hyphens."""
    length = sum(len(word) for word in tail) + sum(1 for _ in pairwise(tail))
    return long[-length:]


def _in_order(letters: Sequence[str], initials: Sequence[str]) -> bool:
    rest = iter(initials)
    return len(initials) <= len(letters) + 2 and all(letter in rest for letter in letters)
