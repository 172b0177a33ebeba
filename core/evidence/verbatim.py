"""Does a sentence stand in a passage word for word, and is it meant there?"""

import re
from collections.abc import Sequence

from core.evidence.facts import Facts, facts
from core.evidence.lexicon import CONDITIONS, HEDGES
from core.evidence.quotes import fold
from core.evidence.sentences import sentences

_PUNCTUATION = re.compile(r"[\W_]+")
REFUTED = re.compile(
    r"\b(?:refut|contradict|disprov|debunk|dispel|rebut|overturn|reject|falsif|invalidat)\w*\W+"
    r"(?:this|that|these|it|such|the (?:claim|idea|view|notion|belief|assumption|hypothesis))\b"
    r"|\b(?:this|that|it|which|claim|belief|view|idea|notion|assumption)\s+(?:\w+\s+){0,2}?"
    r"(?:is|was|are|were|be|proved|turned out(?: to be)?|is simply)\s+(?:\w+ly\s+)?"
    r"(?:false|wrong|untrue|incorrect|mistaken|unfounded|refuted|rejected|disproved|a myth"
    r"|not (?:true|the case|supported|confirmed|correct|borne out|what))"
    r"|\b(?:this|that|it|which) (?:does|did|do) not (?:hold|survive|stand)"
    r"|\b(?:a myth|misconception|mistaken belief) that\b"
    r"|\b(?:falsely|wrongly|erroneously|mistakenly) (?:claimed|believed|assumed|thought|concluded)"
    r"|(?:反驳|推翻|否定|证伪|驳斥|不支持|否认|不认同)(?:了|过)?(?:这|该|此|上述)[^，。]{0,6}(?=$|[，。])"
    r"|(?:事实|实际|其实|结果|但)\w{0,4}(?:并非如此|不成立|是错误的|不是这样)|并非如此|这[^，。]{0,5}(?:不成立|是错误的)|误以为|误认为",
    re.IGNORECASE,
)
"""What denies something said in the same or the previous sentence."""
_TAIL = 12
"""Letters at the end of a quote by which its last word is found."""
_SOON = 40
"""Letters within which a sentence must deny the one before it."""


def contains(passage: str, claim: str) -> bool:
    """Return whether `claim` stands in `passage`, and not behind a negation or a hedge."""
    needle = _PUNCTUATION.sub("", fold(claim)[0])
    if not needle:
        return False
    if needle not in _letters(passage):
        return False
    split = sentences(passage)
    inside = [(i, _letters(text).find(needle)) for i, text in enumerate(split)]
    framed = [_is_framed(split, i, at) for i, at in inside if at >= 0]
    whole = _values_in(facts(claim), facts(passage)) and not _cut_off(passage, needle)
    return whole and not (framed and all(framed))


def _values_in(claim: Facts, passage: Facts) -> bool:
    """Return whether signs, decimals and formulas, which letters leave out, are there too."""
    formulas = {name for name in claim.names if "(" in name or "^" in name}
    return formulas <= passage.names and all(
        any(q.agrees(other) for other in passage.quantities) for q in claim.quantities
    )


def _cut_off(passage: str, needle: str) -> bool:
    """Return whether `needle` occurs only with its last word or number broken off."""
    if not needle[-1].isascii():
        return False
    tail = r"[\W_]*".join(map(re.escape, needle[-_TAIL:]))
    return re.search(rf"{tail}(?![a-z0-9])", fold(passage)[0]) is None


def _letters(text: str) -> str:
    return _PUNCTUATION.sub("", fold(text)[0])


def _is_framed(split: Sequence[str], i: int, at: int) -> bool:
    """Return whether what stands at letter `at` of sentence `i` is denied, doubted or supposed."""
    if refuted(split[i], split[i + 1] if i + 1 < len(split) else ""):
        return True
    lead = _lead(split[i], at) if at else ""
    found = facts(lead)
    if not lead or re.search(r"[.!?。！？；]\s*$", lead):
        return False
    return found.negated or bool(found.words & (HEDGES | CONDITIONS))


def refuted(sentence: str, following: str) -> bool:
    """Return whether `sentence` denies what it reports, or the next sentence begins so."""
    denial = REFUTED.search(following)
    return bool(REFUTED.search(sentence)) or (denial is not None and denial.start() < _SOON)


def _lead(sentence: str, letters: int) -> str:
    """Return the part of `sentence` before its folded letter number `letters`."""
    folded, origin = fold(sentence)
    seen = 0
    for character, at in zip(folded, origin, strict=True):
        if _PUNCTUATION.fullmatch(character):
            continue
        if seen == letters:
            return sentence[:at]
        seen += 1
    return sentence
