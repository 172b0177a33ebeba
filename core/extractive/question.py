"""What kind of answer a question wants, and how well a sentence is of that kind."""

import re
from typing import Literal

from core.evidence.facts import Facts, content, normalise, quantities

Kind = Literal[
    "number", "time", "who", "reason", "definition", "dataset", "limit", "method", "other"
]

_KINDS: tuple[tuple[Kind, str], ...] = (
    (
        "number",
        r"\bhow (?:many|much|large|big|long|fast|often|old|high|small|accurate|deep|well|far)\b"
        r"|\bwhat (?:is the |was the |are the |were the )?(?:\w+ ){0,3}(?:number|size|rate|accuracy"
        r"|score|percentage|proportion|dimension|speed|share|value|length|amount|count)s?\b"
        r"|多少|几[个种层项次页章类条位]|多大|多长|多高|多快|多久|比例|准确率是|精度是|几",
    ),
    ("time", r"\bwhen\b|\b(?:what|which) (?:year|date|month)\b|何时|什么时候|哪[一]?年|哪一天"),
    ("who", r"\bwho(?:se|m)?\b|谁|哪位|哪些人|作者是|哪个(?:机构|团队|公司)"),
    ("reason", r"\bwhy\b|\breasons?\b|\bcaused?\b|\bmotivat|为什么|为何|原因|为啥|动机|怎么会"),
    (
        "limit",
        r"\blimit(?:ation)?s?\b|\blimited\b|\bshortcoming|\bdrawback|\bweakness|\bfail(?:s|ure)?\b"
        r"|\bfuture work\b|局限|不足|缺点|限制|未来工作",
    ),
    (
        "dataset",
        r"\b(?:which|what) (?:\w+ ){0,3}(?:data ?sets?|corpus|corpora|benchmarks?|data)\b"
        r"|(?:哪|什么|何种)[^，。？]{0,6}(?:数据|语料|基准)|数据集",
    ),
    (
        "definition",
        r"\bwhat (?:is|are|does|do)\b(?!.*\b(?:use|differ|compare|achieve)).{0,60}\bmean\b"
        r"|^\s*what(?:'s| is| are) (?:an? |the )?[\w\s-]{2,40}\??\s*$|\bdefin(?:e|ed|ition)\b"
        r"|是什么意思|什么是|指什么|定义|含义|是指",
    ),
    ("method", r"\bhow\b|怎么|怎样|如何|用什么方法|步骤|方法"),
)

_CUES: dict[Kind, str] = {
    "reason": r"\bbecause\b|\bdue to\b|\bsince\b|\bthus\b|\btherefore\b|\bso that\b|\bin order to\b"
    r"|\breasons?\b|\bowing to\b|\bhence\b|\bas a result\b|因为|由于|原因|因此|所以|为了|以便|从而|导致",
    "limit": r"\bhowever\b|\blimit|\bfuture\b|\bnot\b|\bcannot\b|\bfail|\bonly\b|\bdrawback|\bbut\b"
    r"|\bunfortunately\b|但|然而|局限|不足|限制|未来|不能|无法|缺点",
    "definition": r"\b(?:is|are) (?:an?|the)\b|\brefers? to\b|\bdefin|\bdenotes?\b|\bmeans\b|\bcalled\b"
    r"|\bknown as\b|\bstands? for\b|是一|是指|定义|称为|叫做|称之为|指的是|表示|即",
    "time": r"\b(?:19|20)\d\d\b|\bjanuary|\bfebruary|\bmarch\b|\bapril|\bjune\b|\bjuly\b|\baugust"
    r"|\bseptember|\boctober|\bnovember|\bdecember|年|月",
    "dataset": r"\bdata ?sets?\b|\bcorpus|\bcorpora|\bbenchmark|\bcollected?\b|\btreebank"
    r"|\btrain(?:ed|ing|s)? (?:\S+ ){0,6}on\b|\bevaluated? on\b|数据|语料|基准",
}


def kind_of(question: str) -> Kind:
    """Return what kind of answer `question` wants."""
    return next(
        (kind for kind, pattern in _KINDS if re.search(pattern, question, re.IGNORECASE)), "other"
    )


def fits(kind: Kind, sentence: str, found: Facts, terms: frozenset[str]) -> float:
    """Return how well a sentence can answer a question of that kind, from 0 to 1.

    A number answers 'how many' fully only near one of the question's `terms`. Nothing marks what
    answers a question of kind 'method' or 'other': no sentence fits those.
    """
    if kind == "number":
        return _counts(sentence, terms)
    if kind == "who":
        return float(bool(found.names) or "作者" in sentence)
    if kind not in _CUES:
        return 0.0
    return float(bool(re.search(_CUES[kind], sentence, re.IGNORECASE)))


_NOT_COUNTED = re.compile(
    r"\[\d[\d,\s–-]*\]|\b(?:table|figure|fig\.?|section|sec\.?|eq\.?|equation|appendix|chapter"
    r"|algorithm|layer) ?\(?\d+(?:\.\d+)*\)?|[图表第] ?\d+",
    re.IGNORECASE,
)
_NEAR = 30
"""Characters on either side of a number where what it counts may stand."""
_FAR_NUMBER = 0.6


def _counts(sentence: str, terms: frozenset[str]) -> float:
    """Return 1 for a number near a term, less for another number, 0 without one."""
    plain = _NOT_COUNTED.sub(" ", normalise(sentence)).casefold()
    spoken = [q.text for q in quantities(plain)]
    if not spoken:
        return 0.0
    for text in spoken:
        for match in re.finditer(rf"(?<![\w.]){re.escape(text)}", plain):
            around = plain[max(0, match.start() - _NEAR) : match.end() + _NEAR]
            if content(around) & terms:
                return 1.0
    return _FAR_NUMBER


def wants_figure(question: str) -> bool:
    """Return whether `question` asks about a figure."""
    return bool(
        re.search(r"\bfig(?:ure|\.)|\bcaption|\bplot|\bdiagram|[图圖]", question, re.IGNORECASE)
    )
