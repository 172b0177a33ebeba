"""What is said of which: "trained on A and tested on B", "from X to Y", one university or another.

Each function returns what of the claim clashes with what of the passage, or None. They only speak
up where the passage itself has the rival.
"""

import re
from collections import defaultdict

from core.evidence.facts import Facts, Quantity, quantities, stem
from core.evidence.language import CJK
from core.evidence.lexicon import STOP_WORDS, SYNONYMS

Clash = tuple[str, str]
"""What the claim has, and what the passage has instead."""

_DONE = re.compile(
    r"\b(?P<verb>[a-z]+(?:ed|en|wn|lt|de|ng|ld|nt|pt|ght))\s+(?:by|on|in|at|with|for|from|using)\s+"
    r"(?:the\s+)?(?P<name>[a-z][\w-]*)"
)
"""A verb and what it was done by, on or in, in case-folded text."""
_FROM_TO = re.compile(
    rf"\bfrom\s+(?P<start>[^,;()]{{1,24}}?)\s+to\s+(?P<end>[^,;()]{{1,24}})"
    rf"|[由从](?P<han_start>[^，。；{CJK}]{{1,16}}?)[{CJK}]{{0,4}}?[到至为](?P<han_end>[^，。；{CJK}]{{1,16}})"
)
_ENDS = re.compile(
    r"\b(?:after|afterwards|final|finally|eventually|reached|reaches|became|ended|now|in the end)\b"
    r"|最终|最后|之后|以后|[^先前]后|达到|升至|降至|变为|增至|减至"
)
_BODY = re.compile(rf"[{CJK}]{{2}}(?:大学|学院|医院|研究所|研究院|实验室|公司|集团|银行|出版社)")
_SUFFIX = re.compile(r"(?:大学|学院|医院|研究所|研究院|实验室|公司|集团|银行|出版社)$")
_ALIKE_WORDS: dict[str, frozenset[str]] = defaultdict(frozenset)
for _group in SYNONYMS:
    for _word in _group:
        _ALIKE_WORDS[stem(_word)] |= frozenset(map(stem, _group))


def exchanged_roles(claim: Facts, passage: Facts) -> Clash | None:
    """Catch a claim that says of B what the passage says of A alone: "A was tested, B was trained".

    Of a name of the claim the passage tells by which verbs it takes part; the claim has none of
    them (nor a synonym), but a verb of another name that it does not mention.
    """
    done, mentioned = _verbs_of_names(passage), set(claim.tokens)
    for name in sorted(done.keys() & mentioned):
        if _said(done[name], claim):
            continue
        for other in sorted(done.keys() - mentioned):
            if (done[other] - done[name]) & claim.stems:
                return name, other
    return None


def _verbs_of_names(passage: Facts) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for match in _DONE.finditer(passage.text):
        if match["name"] in passage.names and match["verb"] not in STOP_WORDS:
            found[match["name"]].add(stem(match["verb"]))
    return found


def _said(verbs: set[str], claim: Facts) -> bool:
    return any(verb in claim.stems or _ALIKE_WORDS[verb] & claim.stems for verb in verbs)


def start_for_end(claim: Facts, passage: Facts) -> tuple[Quantity, Quantity] | None:
    """Catch a claim that gives as the end of a change what the passage gives as its start."""
    if not _ENDS.search(claim.text) or _FROM_TO.search(claim.text):
        return None
    for match in _FROM_TO.finditer(passage.text):
        start = quantities(match["start"] or match["han_start"])
        end = quantities(match["end"] or match["han_end"])
        if not start or not end:
            continue
        has_start = any(one.agrees(start[0]) for one in claim.quantities)
        if has_start and not any(one.agrees(end[0]) for one in claim.quantities):
            return start[0], end[0]
    return None


def other_body(claim: Facts, passage: Facts) -> Clash | None:
    """Catch a Chinese university, hospital or company in the place of another of its kind."""
    rivals = [name for name in _BODY.findall(passage.text) if name not in claim.text]
    for name in _BODY.findall(claim.text):
        kind = _SUFFIX.search(name)
        same = [rival for rival in rivals if kind and rival.endswith(kind.group())]
        if same and name not in passage.text:
            return name, same[0]
    return None
