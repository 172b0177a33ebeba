"""What a sentence says in which of its clauses: "A reached 91 on news and 84 on tweets".

A claim may take a number, a name or a direction from one clause and what it says of it from another:
then it shares every word with the passage and is false. `misplaced` finds such claims where the other
clause has a number (or name …) of its own that the claim leaves out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from core.evidence.facts import (
    LETTER,
    POLES,
    Facts,
    Quantity,
    comparable,
    content,
    facts,
    quantities,
    stem,
)
from core.evidence.language import CJK
from core.evidence.roles import BODY

_CONTRAST = r"\bwhereas\b|\bwhile\b|\bwhilst\b|;|，而|,而|；"
_MARK = re.compile(
    rf"(?P<contrast>{_CONTRAST})|, (?:and |but |or |who |which )?|,(?=[{CJK}A-Za-z])|[，。:：]"
    rf"|(?<=[{CJK}]),|(?<=\w\w\w)\.\s|\b(?:as well as|and|but|although|though|which|who)\b"
    r"|但是?|而且|并且|然而|虽然|同时|其中"
)
_BETWEEN = re.compile(r"\b(?:between|both|either|neither)\b[^,;]*$")
_ROLE = re.compile(
    r"(?:\b(?P<en>by|on|in|at|with|for|from|using|to|of|than|via|against|under)\s+(?:the\s+|a\s+)?"
    r"|(?P<zh>由|在|用|对|与|和|从|以|向|于|被|比|为|是|使用|采用|利用))$"
)
_PREPOSITION = re.compile(r"(?:by|on|in|at|with|for|from|to|of)\b|[由在用对与和从以向被比]")
_PLACES = dict.fromkeys(("in", "at", "to", "from"), "in")
"""Prepositions that stand before a place."""
_SUBJECT = "subject"
_FIRST = re.compile(
    rf"\W*(?:(?:the|a|an|our|their|its|in|for|on|those|most|[a-z]{{1,3}}\.) )*([a-z][a-z-]+"
    rf"|[{CJK}]{{1,4}}?(?=[在的对将为是与和于比较最更不没有未由])|[{CJK}]{{2}})"
)
_GAPPED = re.compile(
    r"(?:the |a )?[a-z-]+(?: [a-z-]+)? (?:in|on|at|by|for|with|from) (?:the |a )?[\w-]+(?: one)?$"
)
_PHRASE = re.compile(
    rf"\b(on|in|at|for|with|by|from|of|to|under|after|before) (?:the |a )?[a-z0-9-]+(?: (?:set|data|group)\b)?"
    rf"|(在|对|于|从)[{CJK}\w]{{1,10}}?(?:上|中|里|下|时|方面|集|组)+"
)
_DIVIDED = re.compile(r"^\s*(?:of|among|out of)(?: the| all| our)?\s*$|^\s*在\s*$")
_MARGIN = 2
"""How many times more of a claim has to be in the other clause."""
_ALIKE = 0.4
"""The share of common content words of clauses that are built alike."""
_PARALLEL = re.compile(r"[;。]|\bwhereas\b|\bwhile\b|, and\b")
_NEARLY_ALL = 0.75
"""The share of what sets a clause apart that makes a claim one of it too."""
_BEHIND_END = re.compile(
    r"[,;:()\d]|\b(?:was|were|is|are|has|have|had|and|or|of which|of whom|which|who|that|than|when"
    r"|compared|due|because|while|after|before|to|by)\b|[由在用将被，。、]"
)
_SHORT = 4
"""Content words of what a number is of."""
_LEAST = 2
"""Content words and quantities of a clause; less is a part of the clause beside it."""


class Misplaced(NamedTuple):
    """What the claim has and the passage has of something else, and what it has there instead."""

    ours: str
    theirs: str
    key: str


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    contrasted: bool


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A number, a name or a subject in its clause."""

    text: str
    clause: int
    before: str
    after: str
    role: str
    quantity: Quantity | None = None
    pole: tuple[int, bool] | None = None

    @property
    def key(self) -> str:
        """The key of the reason for a clash about it."""
        return "number" if self.quantity else "direction" if self.pole else "elsewhere"

    @property
    def about(self) -> frozenset[object]:
        """What else its clause says, as stems and poles."""
        return _said(facts(f"{self.before} , {self.after}"))

    @property
    def is_elliptic(self) -> bool:
        """Whether its clause leaves out all but "on tweets": what it does is said before."""
        return not _stems(_PHRASE.sub(" ", f"{self.before} {self.after}"))

    @property
    def is_divided(self) -> bool:
        """Whether it stands in "of 40 patients, …", of which the rest of the sentence speaks."""
        return bool(_DIVIDED.search(self.before))


def split(text: str) -> list[str]:
    """Return the clauses of normalised, case-folded `text`; lists are not taken apart."""
    return [clause.text for clause in _clauses(text)]


def misplaced(claim: Facts, passage: Facts) -> Misplaced | None:
    """Catch a number or name of one clause with what another clause says."""
    clauses = _clauses(passage.text)
    if len(clauses) < 2:
        return None
    for anchors in (
        _quantities(clauses),
        _names(clauses, passage),
        _directions(clauses),
        _subjects(clauses),
    ):
        found = _misplaced(claim, anchors, _quantities(clauses))
        if found:
            return found
    return None


def crossed(claim: Facts, passage: Facts) -> tuple[str, str] | None:
    """Catch half of one statement with half of another built like it.

    "The coarser, the earlier; the finer, the later": "the finer, the earlier".
    """
    parts = [part for part in _PARALLEL.split(passage.text) if part.strip()]
    for one, other in pairwise(parts):
        if not _built_alike(one, other):
            continue
        mine, theirs = content(one), content(other)
        first, second = claim.stems & (mine - theirs), claim.stems & (theirs - mine)
        if (
            not first
            or not second
            or _all_of(mine - theirs, first)
            or _all_of(theirs - mine, second)
        ):
            continue
        return _word(claim, second), _word(passage, mine - theirs)
    return None


def _word(found: Facts, stems: frozenset[str]) -> str:
    """Return the first word of the text that has one of the stems, or a pair of Han characters."""
    return next((token for token in found.tokens if stem(token) in stems), "") or min(stems)


def _all_of(what: frozenset[str], said: frozenset[str]) -> bool:
    return len(said) >= _NEARLY_ALL * len(what)


def _is_alone(one: _Anchor, claim: Facts, values: Sequence[_Anchor]) -> bool:
    """Return whether no number of the claim but `one` is in the clause of `one`."""
    return not any(
        other.clause == one.clause and other.text != one.text and _in_claim(other, claim)
        for other in values
    )


def _misplaced(
    claim: Facts, anchors: Sequence[_Anchor], values: Sequence[_Anchor]
) -> Misplaced | None:
    ours = [one for one in anchors if _in_claim(one, claim)]
    others = [one for one in anchors if not _in_claim(one, claim)]
    told = {one.clause for one in values if _in_claim(one, claim)}
    for text in dict.fromkeys(one.text for one in ours):
        places = [one for one in ours if one.text == text]
        rivals = [
            next(
                (
                    other
                    for other in others
                    if (
                        one.clause not in told
                        or other.clause in told
                        or _is_alone(one, claim, values)
                    )
                    and _claims_the_place(claim, one, other)
                ),
                None,
            )
            for one in places
        ]
        if all(rivals) and rivals[0]:
            return Misplaced(text, rivals[0].text, rivals[0].key)
    return None


def _in_claim(anchor: _Anchor, claim: Facts) -> bool:
    if anchor.quantity:
        return any(anchor.quantity.agrees(q) for q in claim.quantities)
    if anchor.pole:
        axis, up = anchor.pole
        return anchor.pole in claim.poles and (axis, not up) not in claim.poles
    return anchor.text in claim.tokens or anchor.text in claim.stems or anchor.text in claim.text


def _claims_the_place(claim: Facts, ours: _Anchor, rival: _Anchor) -> bool:
    """Return whether the claim says of `ours` what the passage says of `rival` only."""
    if not _alike(ours, rival):
        return False
    if ours.quantity and _of_the_other(claim, ours, rival):
        return True
    if ours.clause == rival.clause:
        return False
    first, second = sorted((ours, rival), key=lambda anchor: anchor.clause)
    later = second.about | _taken_over(first, second)
    mine, theirs = (first.about, later) if ours is first else (later, first.about)
    said = _said(claim)
    return len(said & (theirs - mine)) > _MARGIN * len(said & (mine - theirs))


def _of_the_other(claim: Facts, ours: _Anchor, rival: _Anchor) -> bool:
    """Return whether the claim gives a number to what stands right behind another: "12% elm"."""
    mine, theirs = (content(_BEHIND_END.split(one.after)[0]) for one in (ours, rival))
    if not mine or not theirs or max(len(mine), len(theirs)) > _SHORT:
        return False
    return bool(claim.stems & (theirs - mine)) and not claim.stems & (mine - theirs)


def _said(found: Facts) -> frozenset[object]:
    """Return the stems and poles of a text: "peaked" is "highest"."""
    compounds = (token for token in found.tokens if "-" in token)
    return found.stems | found.poles | frozenset(compounds)


def _alike(ours: _Anchor, rival: _Anchor) -> bool:
    if ours.quantity and rival.quantity:
        return comparable(ours.quantity, rival.quantity)
    if ours.pole and rival.pole:
        return ours.pole[0] == rival.pole[0] and ours.pole[1] != rival.pole[1]
    return _PLACES.get(ours.role, ours.role) == _PLACES.get(rival.role, rival.role)


def _taken_over(first: _Anchor, second: _Anchor) -> frozenset[object]:
    """Return what the later clause leaves out because the one before has said it.

    "We keep 10 of the apples and discard 20": its subject, and what is counted.
    """
    if second.role == _SUBJECT and not (second.quantity or second.pole):
        return frozenset()
    if second.is_elliptic:
        return first.about - content(_parallel(first, second))
    if first.is_divided:
        return first.about
    if _is_gapped(first, second):  # "A ran fastest and B slowest"
        return frozenset(_stems(first.before)[1:]) | content(first.after)
    before, own = _stems(first.before), len(_stems(second.before))
    taken = _said(facts(first.before)) if not own else frozenset(before[: len(before) - own])
    if first.quantity and second.quantity and not second.quantity.noun:
        taken |= {first.quantity.noun}
    return taken if _stems(second.after) else taken | content(first.after)


def _is_gapped(first: _Anchor, second: _Anchor) -> bool:
    """Return whether the second clause has a subject and a direction, and no more."""
    if second.pole is None or _PREPOSITION.match(second.before):
        return False
    own, other = (len(_stems(f"{one.before} {one.after}")) for one in (second, first))
    return own <= min(2, other // 2)


def _parallel(first: _Anchor, second: _Anchor) -> str:
    """Return the phrases of the first clause that the second has others for: "on news"."""
    theirs = {
        m.group(m.lastindex or 0) for m in _PHRASE.finditer(f"{second.before} {second.after}")
    }
    return " ".join(
        m.group()
        for m in _PHRASE.finditer(f"{first.before} {first.after}")
        if m.group(m.lastindex or 0) in theirs
    )


def _clauses(text: str) -> list[_Clause]:
    found: list[_Clause] = []
    start, contrasted, held = 0, False, ""
    for mark in [*_MARK.finditer(text), None]:
        if mark and _is_listed(text, start, mark):
            continue
        piece = held + text[start : mark.start() if mark else len(text)].strip(" .。")
        held = ""
        if piece and not _is_whole(piece):
            if found and not contrasted:
                found[-1] = _Clause(f"{found[-1].text} , {piece}", found[-1].contrasted)
            else:
                held = f"{piece} , "
                start, contrasted = mark.end() if mark else start, contrasted
                continue
        elif piece:
            found.append(_Clause(piece, contrasted))
        if mark is None:
            break
        start, contrasted = mark.end(), bool(mark["contrast"])
    return found


def _is_whole(piece: str) -> bool:
    read = facts(piece)
    mixed = read.chinese and re.search(r"[A-Za-z0-9]", piece) and len(piece) > _LEAST
    return bool(mixed) or len(read.stems) + len(read.quantities) >= _LEAST


def _is_listed(text: str, start: int, mark: re.Match[str]) -> bool:
    """Return whether `mark` parts "between X and Y", or two names or numbers of a list."""
    return "and" in mark.group() and bool(_BETWEEN.search(text, start, mark.start()))


def _stems(piece: str) -> tuple[str, ...]:
    """Return the stems of `piece`, in order."""
    found: list[str] = []
    for word in re.findall(rf"[{CJK}]+|[^\s{CJK}]+", piece):
        found += sorted(content(word), key=word.find)
    return tuple(found)


def _anchor(
    clause: _Clause, n: int, start: int, end: int, text: str, quantity: Quantity | None = None
) -> _Anchor:
    before, after = clause.text[:start], clause.text[end:]
    role = _ROLE.search(before)
    named = (role["en"] or role["zh"]) if role else ("" if _stems(before) else _SUBJECT)
    return _Anchor(text, n, before, after, named, quantity)


def _quantities(clauses: Sequence[_Clause]) -> list[_Anchor]:
    found = []
    for n, clause in enumerate(clauses):
        for quantity in quantities(clause.text):
            at = clause.text.find(quantity.text.casefold())
            if at >= 0 and not quantity.spoken:
                end = at + len(quantity.text)
                found.append(_anchor(clause, n, at, end, quantity.text, quantity))
    return found


def _names(clauses: Sequence[_Clause], passage: Facts) -> list[_Anchor]:
    return [
        _anchor(clause, n, at, at + len(name), name)
        for n, clause in enumerate(clauses)
        for name, at in _named(clause.text, passage.names)
    ]


def _named(text: str, names: frozenset[str]) -> Iterator[tuple[str, int]]:
    for match in re.finditer(rf"[{LETTER}][{LETTER}0-9.-]*[{LETTER}0-9]|[A-Z]", text):
        if match.group() in names:
            yield match.group(), match.start()
    for match in BODY.finditer(text):
        yield match.group(), match.start()


def _directions(clauses: Sequence[_Clause]) -> list[_Anchor]:
    """Return the words of a direction: "an increase in A as well as a decrease in B"."""
    found = []
    for n, clause in enumerate(clauses):
        for word, poles in POLES.items():
            at = _word_at(clause.text, word)
            if at >= 0:
                made = _anchor(clause, n, at, at + len(word), word)
                found += [replace(made, pole=pole) for pole in poles]
    return found


def _built_alike(one: str, other: str) -> bool:
    mine, theirs = content(one), content(other)
    return len(mine & theirs) >= max(1, _ALIKE * min(len(mine), len(theirs)))


def _word_at(text: str, word: str) -> int:
    if word not in text:
        return -1
    match = re.search(rf"\b{re.escape(word)}\b" if word.isascii() else word, text)
    return match.start() if match else -1


def _subjects(clauses: Sequence[_Clause]) -> list[_Anchor]:
    """Return the first content word of clauses set against one another, or built alike."""
    found = []
    near = {
        n
        for a, b in pairwise(range(len(clauses)))
        for n in (a, b)
        if clauses[b].contrasted
        or _built_alike(clauses[a].text, clauses[b].text)
        or _GAPPED.match(clauses[b].text)
    }
    for n, clause in enumerate(clauses):
        first = _FIRST.match(clause.text) if n in near else None
        if first:
            rest = clause.text[first.end() :]
            found.append(_Anchor(first.group(1), n, "", rest, _SUBJECT))
    return found
