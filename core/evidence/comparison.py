"""What a sentence compares with what: "A is faster than B", "compared with B, A is faster", A比B更快."""

import re

from core.evidence.facts import Facts, content
from core.evidence.language import CJK
from core.evidence.lexicon import COMPARATORS

Sides = tuple[frozenset[str], frozenset[str]]
"""Content words of what is compared, and of what it is compared with."""

_COMPARATOR = re.compile(
    "|".join(rf"\b{w}\b" if w.isascii() else w for w in sorted(COMPARATORS, reverse=True))
)
_THAN = re.compile(
    rf"(?<![对相占同环好])比(?!例|较|重|率|如|值|赛|特|对)(?P<than>[{CJK}\w]{{1,14}}?)"
    r"(?:更|还|要|都|表现|(?=[快慢好差高低多少大小长短强弱准早晚优贵](?:[^\u4e00-\u9fff]|[出于了得很一]|$)))"
)
_AGAINST = re.compile(
    r"\b(?:compared|in comparison|relative) (?:with|to) (?P<en>[^,;]{1,40}),"
    rf"|(?:与|和|同|较之)(?P<zh>[{CJK}\w]{{1,14}}?)(?:相比|比较|比起来)"
)
_EQUAL = re.compile(
    r"\b(?:on (?:a )?par with|comparable (?:to|with|in)|equal (?:to|in)|the same \w+ as|similar to|equivalent to"
    r"|no (?:\w+ ){0,3}?differences?\b|(?:did|do|does) not (?:\w+ )?differ|as \w+ as)\b"
    rf"|相当(?![于])|持平|不相上下|相同|(?:没有|没|无|未见|不存在)[{CJK}]{{0,6}}?(?:差异|差别|区别)|差[异别][{CJK}]{{0,2}}?(?:不显著|不明显|[没无])"
)
_TIMES = re.compile(r"\b(?:twice|half|times) as \w+ as\b")
_UNEQUAL = frozenset(
    [
        "higher",
        "lower",
        "greater",
        "larger",
        "smaller",
        "better",
        "worse",
        "superior",
        "inferior",
        "faster",
        "slower",
        "stronger",
        "weaker",
        "longer",
        "shorter",
        "more",
        "fewer",
        "less",
        "exceeds",
        "exceeded",
        "outperforms",
        "outperform",
        "outperformed",
        "beats",
        "beat",
        "surpasses",
        "surpassed",
        "underperforms",
        "underperformed",
        "优于",
        "高于",
        "低于",
        "更高",
        "更低",
        "更好",
        "更差",
        "劣于",
        "不如",
        "胜过",
        "超过",
        "超越",
        "多于",
        "少于",
        "快于",
        "慢于",
        "大于",
        "小于",
        "好于",
        "差于",
        "强于",
        "弱于",
    ]
)


def sides(found: Facts) -> Sides | None:
    """Return what only stands on each side of a comparison, None where nothing is compared."""
    text = found.text
    against = _AGAINST.search(text)
    if against:
        return _apart(
            text[: against.start()] + " " + text[against.end() :], against["en"] or against["zh"]
        )
    than = _THAN.search(text)
    if than:
        return _apart(text[: than.start()], than["than"])
    comparator = _COMPARATOR.search(text)
    if comparator is None:
        return None
    left, right = text[: comparator.start()], text[comparator.end() :]
    if comparator.group() != "than" and right.startswith(" by "):
        left, right = right, left
    return _apart(left, right)


def _apart(one: str, other: str) -> Sides:
    left, right = content(one), content(other)
    return left - right, right - left


def is_against(found: Facts) -> bool:
    """Return whether the text names the second thing first: "compared with B, A …"."""
    return bool(_AGAINST.search(found.text))


def levelled(claim: Facts, passage: Facts) -> bool:
    """Return whether one of the two finds two things equal, and the other one of them ahead."""
    mine, theirs = _is_level(claim), _is_level(passage)
    if mine == theirs:
        return False
    level, ahead = (claim, passage) if mine else (passage, claim)
    return bool(ahead.words & _UNEQUAL) and not level.words & _UNEQUAL


def _is_level(found: Facts) -> bool:
    return bool(_EQUAL.search(_TIMES.sub(" ", found.text)))
