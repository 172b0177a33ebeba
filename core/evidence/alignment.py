"""What a nearly verbatim claim says in place of its passage's words."""

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import NamedTuple

from core.evidence.facts import Facts, stem
from core.evidence.language import CJK
from core.evidence.lexicon import (
    AXES,
    EXCLUSIVE,
    HAN_FUNCTION,
    HAN_NAMED,
    HAN_NEGATIONS,
    HAN_SYNONYMS,
    MIRRORED,
    NEGATIONS,
    STOP_WORDS,
    SYMMETRIC,
    SYNONYMS,
)

_TOKEN = re.compile(rf"[^\W\d_{CJK}][^\W_{CJK}]*|[{CJK}]|\d[\d.,]*")
_NO_CONTENT = STOP_WORDS | frozenset(NEGATIONS) | frozenset("没未无不")
_LISTED = re.compile(r"(?:[,;、]|\b(?:and|or)\b|[和与及或])(?:\s*(?:and|or)\b)?")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being) (?:\w+ly )?\w+(?:ed|en|wn|lt|pt|de|ld)\b"
)
_LONGEST_THING = 8
_DIRECTIONS = frozenset("多少极很最").union(*(pole for axis in AXES[:3] for pole in axis))
_NO_HAN = frozenset(HAN_FUNCTION) - {"中"}
_NEAR = {True: 0.6, False: 0.5}
"""The share of the claim's tokens from which it is nearly verbatim; of Han characters and words."""
_FEW = {True: 8, False: 3}
"""Tokens up to which one stretch stands for another: of Han characters and words."""


class Change(NamedTuple):
    """What the claim has where the passage has something else; `contrary` excludes the other."""

    claimed: str
    found: str
    contrary: bool


class _Run(NamedTuple):
    claimed: tuple[str, ...]
    found: tuple[str, ...]
    at: int


def changes(claim: Facts, evidence: Facts, handled: frozenset[str]) -> list[Change]:
    """Return what was replaced by words that are neither synonyms nor inflections of the others.

    Empty when the claim is not nearly verbatim. Words in `handled` are compared by other rules.
    """
    found = []
    for run in _runs(claim, evidence):
        if claim.chinese:
            change = _han_change(run, claim.text, evidence.text, handled)
        else:
            change = _word_change(run, claim, evidence, handled)
        if change:
            found.append(change)
    return found


def exchanged(claim: Facts, evidence: Facts) -> bool:
    """Return whether the claim has two things in one another's place ("the cat bit the dog").

    Things next to each other or in a list may be exchanged ("A and B"), and so may those of a
    passive or of a symmetric statement.
    """
    mine, theirs = set(_TOKEN.findall(claim.text)), set(_TOKEN.findall(evidence.text))
    if (mine & MIRRORED) != (theirs & MIRRORED) or claim.words & SYMMETRIC:
        return False
    if bool(_PASSIVE.search(claim.text)) != bool(_PASSIVE.search(evidence.text)):
        return False
    if len(_LISTED.findall(claim.text)) > 1:
        return False
    return _mirrored(*_shared(_tokens(claim), _tokens(evidence)))


def exclusive(claim: Facts, near: Facts, whole: Facts) -> tuple[str, str] | None:
    """Return one of a kind that the claim has and the passage has not, and the one it has instead."""
    for group in EXCLUSIVE:
        mine, theirs = _of_kind(group, claim), _of_kind(group, near)
        new = sorted(word for word in mine if not _has(word, whole))
        other = sorted(word for word in theirs if not _has(word, claim))
        if new and other and not any(_akin(a, b) for a in new for b in other):
            return new[0], other[0]
    return None


def _of_kind(group: frozenset[str], found: Facts) -> frozenset[str]:
    tokens = group.intersection(found.tokens)
    return tokens | {w for w in group if not w.isascii() and len(w) > 1 and w in found.text}


def _has(word: str, found: Facts) -> bool:
    if not word.isascii():
        return word in found.text
    return stem(word) in found.stems or any(_synonymous(word, token) for token in found.tokens)


def _shared(mine: list[str], theirs: list[str]) -> tuple[list[str], list[str]]:
    """Return the stems that both have exactly once, in the order of each.

    Without those that say a direction: "survival was higher" is "higher survival".
    """
    first, second = ([stem(t) for t in tokens if t not in _DIRECTIONS] for tokens in (mine, theirs))
    ours, others = Counter(first), Counter(second)
    both = {token for token, n in ours.items() if others[token] == n == 1}
    return [t for t in first if t in both], [t for t in second if t in both]


def _mirrored(one: list[str], other: list[str]) -> bool:
    """Return whether the lists are p+x+m+y+s and p+y+m+x+s, with something in every m."""
    while one and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    n = len(one)
    return any(
        one[:x] == other[n - x :]
        and one[n - y :] == other[:y]
        and one[x : n - y] == other[y : n - x]
        for x in range(1, min(n, _LONGEST_THING + 1))
        for y in range(1, min(n - x, _LONGEST_THING + 1))
    )


def _runs(claim: Facts, evidence: Facts) -> list[_Run]:
    """Return the replaced stretches of a nearly verbatim claim."""
    mine, theirs = _tokens(claim), _tokens(evidence)
    stems = [stem(token) for token in mine]
    matcher = SequenceMatcher(None, stems, [stem(token) for token in theirs], autojunk=False)
    blocks = matcher.get_opcodes()
    kept = sum(j - i for tag, i, j, _, _ in blocks if tag == "equal")
    if kept < _NEAR[claim.chinese] * len(mine):
        return []
    return [
        _Run(tuple(mine[i:j]), tuple(theirs[k:m]), i)
        for tag, i, j, k, m in blocks
        if tag == "replace" and max(j - i, m - k) <= _FEW[claim.chinese]
    ]


def _tokens(found: Facts) -> list[str]:
    return [
        token
        for token in _TOKEN.findall(found.text)
        if token not in _NO_CONTENT and token not in _NO_HAN
    ]


def _word_change(
    run: _Run, claim: Facts, evidence: Facts, handled: frozenset[str]
) -> Change | None:
    mine = [w for w in run.claimed if _counts(w, evidence, handled)]
    theirs = [w for w in run.found if _counts(w, claim, handled)]
    mine = [w for w in mine if not any(_akin(w, other) for other in run.found)]
    theirs = [w for w in theirs if not any(_akin(w, other) for other in run.claimed)]
    if not mine or not theirs:
        return None
    contrary = any(_exclude(a, b) for a in mine for b in theirs)
    return Change(" ".join(mine), " ".join(theirs), contrary)


def _counts(word: str, other: Facts, handled: frozenset[str]) -> bool:
    """Return whether `word` is content that `other` has nowhere."""
    return not word[0].isdigit() and word not in handled and stem(word) not in other.stems


def _akin(one: str, other: str) -> bool:
    """Return whether two words are synonyms or inflections of one word."""
    if _synonymous(one, other):
        return True
    one, other = (word.replace("z", "s").replace("our", "or") for word in (one, other))
    short = min(len(one), len(other))
    common = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), short)
    return common >= max(5, 0.7 * short) and not _exclude(one, other)


def _exclude(one: str, other: str) -> bool:
    return any(
        one in group and other in group and one != other and not _synonymous(one, other)
        for group in EXCLUSIVE
    )


def _synonymous(one: str, other: str) -> bool:
    return stem(one) == stem(other) or any(one in g and other in g for g in SYNONYMS)


def _han_change(run: _Run, claim: str, evidence: str, handled: frozenset[str]) -> Change | None:
    mine, theirs = "".join(run.claimed), "".join(run.found)
    if mine.isascii() or theirs.isascii() or mine in evidence or theirs in claim:
        return None
    if (_named(mine, claim) and _named(theirs, evidence)) or any(
        _overlap(a, mine, claim) and _overlap(b, theirs, evidence)
        for group in EXCLUSIVE
        for a in group
        if a not in evidence
        for b in group
        if b not in claim
    ):
        return Change(mine, theirs, True)
    mine, theirs = _unlisted(mine, claim, handled), _unlisted(theirs, evidence, handled)
    if not mine or mine in evidence or (theirs and theirs in claim):
        return None
    return Change(mine, theirs or "".join(run.found), False)


def _named(piece: str, text: str) -> bool:
    """Return whether `piece` stands before what ends the name of a place or a body."""
    return bool(re.search(rf"{re.escape(piece)}(?:{'|'.join(HAN_NAMED)})", text))


def _overlap(word: str, piece: str, text: str) -> bool:
    """Return whether `piece` of `text` is a part of `word`, or the other way round."""
    return not word.isascii() and (piece in word or word in piece) and word in text


def _unlisted(piece: str, text: str, handled: frozenset[str]) -> str:
    """Return what is left of `piece` without the words of the lists."""
    known = [w for w in (*HAN_SYNONYMS, *HAN_NEGATIONS, *handled) if _overlap(w, piece, text)]
    if any(piece in word for word in known):
        return ""
    for word in sorted(known, key=len, reverse=True):
        piece = piece.replace(word, "")
    return piece
