"""Does a passage say what a sentence says? Rules on facts, words and meaning; no language model.

A sentence that stands in its passage word for word is supported. Otherwise the passage's closest
sentence is found by shared content words and embedding similarity, quantities, names, negation
and direction are compared with it, and what is left is graded by how much of it is covered.
"""

import dataclasses
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from core.evidence import numbering, roles
from core.evidence.alignment import Change, changes, exchanged
from core.evidence.facts import Facts, Quantity, content, facts, joined, normalise, stem
from core.evidence.language import CJK
from core.evidence.lexicon import (
    AXES,
    CAUSES,
    COMPARATORS,
    CONDITIONS,
    CORRELATES,
    HEDGES,
    NUMBER_WORDS,
    SCALES,
    STRONG,
    UNITS,
    WEAK,
    WHEN,
)
from core.evidence.quotes import fold
from core.evidence.sentences import sentences
from core.models.embed import Vectors
from core.types import AnswerSentence, Citation, Verdict, VerdictLabel
from core.wording import phrase, say

MOST_SENTENCES = 48
"""Sentences of the passages that are compared by meaning; the rest share fewer words."""

REASONS: dict[str, str] = {
    "verbatim": phrase("the passage says this word for word"),
    "same": phrase("the passage says this in other words"),
    "uncited": phrase("no passage is cited for this"),
    "unrelated": phrase("the cited passage does not say this"),
    "some": phrase("the passage covers only a part of this"),
    "clause": phrase("the passage does not say: {ours}"),
    "number": phrase("the passage has {theirs}, not {ours}"),
    "no_number": phrase("{ours} is not in the passage"),
    "counted": phrase("in the passage {ours} counts something else"),
    "name": phrase("the passage speaks of {theirs}, not {ours}"),
    "no_name": phrase("{ours} is not in the passage"),
    "negation": phrase("one of the two negates what the other says"),
    "direction": phrase("the passage says the opposite: {ours}"),
    "swapped": phrase("the comparison runs the other way round"),
    "replaced": phrase("the passage says “{theirs}”, not “{ours}”"),
    "refuted": phrase("the passage reports this only to reject it"),
    "stronger": phrase("the passage says this of some, not of all"),
    "hedged": phrase("the passage says this only as a possibility"),
    "causal": phrase("the passage reports an association, not a cause"),
}
"""`ours` is in the sentence, `theirs` in the passage."""

_PUNCTUATION = re.compile(r"[\W_]+")
_CLAUSE = re.compile(
    r"[;；，。:：]|,\s+(?=\w+\s)|\b(?:but|whereas|while|although|and|which)\b|但是?|而且|并且|然而|虽然|同时"
)
_COMPARATOR = re.compile(
    "|".join(rf"\b{w}\b" if w.isascii() else w for w in sorted(COMPARATORS, reverse=True))
)
_REFUTED = re.compile(
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
_COMPARED = frozenset().union(
    *(HEDGES, STRONG, WEAK, CAUSES, CORRELATES, COMPARATORS, CONDITIONS, WHEN),
    *(NUMBER_WORDS, SCALES, UNITS),
    *itertools.chain.from_iterable(AXES),
) - {"second"}
"""Words that rules of their own compare."""
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、]|#{1,6})\s+")
_SMALL_TALK = re.compile(
    r"^(?:(?:hi|hello|hey|thanks|thank you|sure|of course|certainly|here (?:is|are)|you are welcome"
    r"|sorry|i (?:cannot|can't|could not|couldn't|am unable|do not|don't)|let me)\b|in summary:?$"
    r"|the (?:paper|passages?|text|context|papers|document|authors?) (?:\w+ )?(?:do|does|did) not "
    r"(?:seem to |appear to )?(?:answer|say|mention|contain|provide|address|discuss|report|specify)"
    r"|no sentence [^.!?]{1,80} was found\b|没有找到"
    r"|你好|您好|谢谢|不客气|好的|当然|以下是|如下|抱歉|对不起|很遗憾|无法回答"
    r"|(?:这篇|该|本)?(?:论文|文章|原文|文中|段落)(?:似乎|好像|里|中)?(?:并)?(?:没有|未)"
    r"(?:回答|提到|提及|说明|涉及|给出|讨论))",
    re.IGNORECASE,
)

# Set by hand; indexed by whether both are in one language.
_RELATED = {True: 0.45, False: 0.4}
"""From here on the evidence is about the same thing, so that a clash means something."""
_ENOUGH = {True: 0.6, False: 0.5}
_SOME = {True: 0.45, False: 0.35}
_ALIKE = 0.5
"""The share of common content from which a difference in one word is a difference in meaning."""
_SIMPLE = 16
"""Content words up to which a sentence is taken to make one statement."""
_CELL = 24
"""Characters of the longest bare value."""
_PRINTED = re.compile(r"(?<!\d)-?\d+(?:[.,]\d+)*")
_HAN_UNIT = re.compile(f"[{CJK}]+$")
_TAIL = 12
"""Letters at the end of a quote by which its last word is found."""
_SOON = 40
"""Letters within which a sentence must deny the one before it."""
_PAIR_COST = 0.04
"""What two sentences must be better than one."""


class Encoder(Protocol):
    """What judging needs of an embedder."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (len(texts), dimension)."""
        ...


class Assessment(NamedTuple):
    """A verdict with the strength of support it rests on, in [0, 1]."""

    label: VerdictLabel
    reason: str
    support: float


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The closest sentence of the passages, and how close it is."""

    text: str
    facts: Facts
    whole: Facts
    after: str
    coverage: float
    cosine: float
    same_language: bool
    related: float


class _Clash(NamedTuple):
    label: VerdictLabel
    key: str
    details: tuple[str, ...] = ()


class _Remembering:
    """Gives every text its vector once: passages are compared with many sentences."""

    def __init__(self, embedder: Encoder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (len(texts), dimension)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._embedder.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def verify(
    text: str,
    citations: Mapping[int, Citation],
    embedder: Encoder,
    stopped: Callable[[], bool] = lambda: False,
) -> list[AnswerSentence]:
    """Judge every sentence of an answer against the passages it cites.

    Numbers that are not in `citations` are taken out of the sentence and listed in `removed`. Once
    `stopped` says so, the sentences that are left get no verdict.
    """
    return verify_each(sentences(text), citations, embedder, stopped)


def verify_each(
    statements: Sequence[str],
    citations: Mapping[int, Citation],
    embedder: Encoder,
    stopped: Callable[[], bool] = lambda: False,
) -> list[AnswerSentence]:
    """Judge statements as `verify` does sentences: one verdict each, however long it is."""
    remembering = _Remembering(embedder)
    return [
        _verify_sentence(statement, citations, remembering, stopped()) for statement in statements
    ]


def _verify_sentence(
    sentence: str, citations: Mapping[int, Citation], embedder: Encoder, stopped: bool
) -> AnswerSentence:
    kept = numbering.keep_existing(sentence, citations)
    verdict: Verdict | None = None
    if not stopped and is_checkable(kept.text, bool(kept.citations)):
        passages = [citations[n].passage or citations[n].quote for n in kept.citations]
        verdict = judge(kept.text, passages, embedder)
    return AnswerSentence(kept.text, kept.citations, verdict, kept.removed)


def is_checkable(sentence: str, cited: bool = False) -> bool:
    """Return whether `sentence` states something: no heading, greeting, question or refusal.

    Where it cites, a number or a single word does too: it stands in the cell of a table. What cites,
    or names a quantity, is no small talk, whatever it begins with.
    """
    plain = _LIST_MARK.sub("", numbering.strip(sentence)).strip(" *_")
    if not plain or plain[-1] in ":：":
        return False
    found = facts(plain)
    if cited:
        return bool(found.stems or found.quantities)
    if re.match(r"\s*#{1,6}\s", sentence) or plain[-1] in "?？":
        return False
    if _SMALL_TALK.match(plain) and not found.quantities:
        return False
    if found.quantities or found.names:
        return len(found.stems) >= 1
    return len(found.stems) >= 2


def judge(sentence: str, passages: Sequence[str], embedder: Encoder) -> Verdict:
    """Say whether `passages` together support `sentence`, and why, in the sentence's language."""
    found = assess(sentence, passages, embedder)
    return Verdict(found.label, found.reason)


def assess(sentence: str, passages: Sequence[str], embedder: Encoder) -> Assessment:
    """Judge as `judge` does and give the strength of support too."""
    claim = _LIST_MARK.sub("", numbering.strip(sentence)).strip(" *_")
    passages = [numbering.defuse(passage) for passage in passages if passage.strip()]
    if not passages:
        return _assessment(_Clash("unsupported", "uncited"), 0.0)
    if any(_contains(passage, claim) for passage in passages):
        return _assessment(_Clash("supported", "verbatim"), 1.0)
    claim_facts = facts(claim)
    if _is_value(claim, claim_facts):
        read = _read_value(claim, claim_facts, passages)
        return _assessment(read, float(read.label == "supported"))
    evidence = _closest(claim, claim_facts, passages, embedder)
    support = evidence.related
    clash = _clash(claim, claim_facts, evidence)
    if clash is None:
        clash = _grade(claim, claim_facts, evidence)
    elif clash.label != "partly":
        support *= 0.3
    else:
        support *= 0.7
    return _assessment(clash, support)


def _is_value(claim: str, found: Facts) -> bool:
    """Return whether `claim` is a number with its unit, as in the cell of a table, and no sentence."""
    plain = (
        len(claim) <= _CELL and len(found.stems) <= 1 and not claim.endswith((".", "!", "。", "！"))
    )
    return bool(found.quantities) and plain and not (found.negated or found.poles)


def _read_value(claim: str, found: Facts, passages: Sequence[str]) -> _Clash:
    """Return whether a passage has the numbers of a cell as they are printed, and its unit."""
    numbers = _PRINTED.findall(normalise(claim))
    for passage in passages:
        plain = normalise(passage)
        if set(numbers) <= set(_PRINTED.findall(plain)):
            unit = _HAN_UNIT.search(claim)
            whole = found.stems <= facts(passage).stems and (
                unit is None or re.search(rf"(?<![{CJK}]){unit.group()}", passage) is not None
            )
            return _Clash("supported", "same") if whole else _Clash("partly", "some")
    return _Clash("unsupported", "no_number", (", ".join(numbers),))


def _assessment(clash: _Clash, support: float) -> Assessment:
    reason = say(REASONS[clash.key], **dict(zip(("ours", "theirs"), clash.details, strict=False)))
    return Assessment(clash.label, reason, round(float(support), 4))


def _contains(passage: str, claim: str) -> bool:
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
    if _refuted(split[i], split[i + 1] if i + 1 < len(split) else ""):
        return True
    lead = _lead(split[i], at) if at else ""
    found = facts(lead)
    if not lead or re.search(r"[.!?。！？；]\s*$", lead):
        return False
    return found.negated or bool(found.words & (HEDGES | CONDITIONS))


def _refuted(sentence: str, following: str) -> bool:
    """Return whether `sentence` denies what it reports, or the next sentence begins so."""
    denial = _REFUTED.search(following)
    return bool(_REFUTED.search(sentence)) or (denial is not None and denial.start() < _SOON)


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


def _closest(
    claim: str, claim_facts: Facts, passages: Sequence[str], embedder: Encoder
) -> _Evidence:
    split = [sentences(passage) for passage in passages]
    texts, following, pairs_from = _windows(split)
    singles = [[facts(text) for text in texts] for texts in split]
    read = [found for passage in singles for found in passage]
    read += [joined(a, b) for passage in singles for a, b in itertools.pairwise(passage)]
    covered = np.array([_coverage(claim_facts, found) for found in read])
    kept = np.argsort(-covered, kind="stable")[:MOST_SENTENCES]
    vectors = embedder.encode([claim, *(texts[i] for i in kept)])
    cosines = np.asarray(vectors[1:] @ vectors[0])
    same = np.array([read[i].chinese == claim_facts.chinese for i in kept])
    related = np.where(same, 0.5 * covered[kept] + 0.5 * cosines, cosines)
    related = related - _PAIR_COST * (kept >= pairs_from)
    best = int(np.argmax(related))
    at = int(kept[best])
    return _Evidence(
        texts[at],
        read[at],
        facts(" ".join(passages)),
        following[at],
        float(covered[at]),
        float(cosines[best]),
        bool(same[best]),
        float(max(0.0, related[best])),
    )


def _windows(split: Sequence[Sequence[str]]) -> tuple[list[str], list[str], int]:
    """Return all sentences and then all pairs, what follows each, and where the pairs begin."""
    singles = [text for texts in split for text in texts]
    pairs = [f"{a} {b}" for texts in split for a, b in itertools.pairwise(texts)]
    after = [text for texts in split for text in [*texts[1:], ""]]
    after_pairs = [text for texts in split for text in [*texts[2:], ""][: len(texts) - 1]]
    return [*singles, *pairs], [*after, *after_pairs], len(singles)


def _coverage(claim: Facts, evidence: Facts) -> float:
    """Return the share of the claim's content words and quantities that the evidence has."""
    total = len(claim.stems) + len(claim.quantities)
    if not total:
        return 0.0
    numbers = sum(any(q.agrees(e) for e in evidence.quantities) for q in claim.quantities)
    return (len(claim.stems & evidence.stems) + numbers) / total


def _clash(claim: str, found: Facts, evidence: _Evidence) -> _Clash | None:
    """Return the first thing in which claim and evidence clash, None when they do not."""
    if evidence.related < _RELATED[evidence.same_language]:
        return None
    return (
        _clash_of_quantities(found, evidence)
        or _clash_of_names(found, evidence)
        or _clash_of_polarity(found, evidence)
        or _clash_of_changes(found, evidence)
        or _overstatement(found, evidence)
    )


def _clash_of_quantities(claim: Facts, evidence: _Evidence) -> _Clash | None:
    near, whole = evidence.facts.quantities, evidence.whole.quantities
    turned = roles.start_for_end(claim, evidence.facts)
    if turned:
        return _Clash("contradicted", "number", (str(turned[0]), str(turned[1])))
    for quantity in claim.quantities:
        if any(quantity.agrees(q) for q in near):
            if _counts_otherwise(quantity, near) or _tied_otherwise(quantity, near, claim):
                return _Clash("contradicted", "counted", (str(quantity),))
            continue
        if quantity.spoken and quantity.value < 2.5:  # "two", "half", "twice": seldom a count
            continue
        elsewhere = any(quantity.agrees(q) for q in whole)
        rivals = [q for q in near if _rivals(quantity, q, claim.quantities)]
        if quantity.fraction and not rivals:  # "half of them" may stand for a count
            continue
        if elsewhere:  # only the same thing counted or measured otherwise is a clash then
            rivals = [q for q in rivals if q.noun or q.measures]
        if rivals:
            return _Clash("contradicted", "number", (str(quantity), str(rivals[0])))
        if not elsewhere:
            return _Clash("unsupported", "no_number", (str(quantity),))
    return None


def _rivals(claimed: Quantity, found: Quantity, claims: Sequence[Quantity]) -> bool:
    """Return whether the passage has `found` where the claim has `claimed`."""
    if any(found.agrees(q) for q in claims):
        return False
    if claimed.measures or found.measures:
        return claimed.measures == found.measures or claimed.value == found.value
    if claimed.noun and found.noun and claimed.looks != "year":
        return claimed.noun == found.noun
    return claimed.looks == found.looks


def _counts_otherwise(claimed: Quantity, near: Sequence[Quantity]) -> bool:
    """Return whether what `claimed` counts has another number in the passage only."""
    if not claimed.noun:
        return False
    same_noun = [q for q in near if q.noun == claimed.noun]
    return bool(same_noun) and not any(claimed.agrees(q) for q in same_noun)


def _tied_otherwise(claimed: Quantity, near: Sequence[Quantity], claim: Facts) -> bool:
    """Return whether the passage has "conducted in 2015, published in 2019", not the other way."""
    tied = [q for q in near if q.after and q.after == claimed.after]
    theirs = [q for q in near if q.agrees(claimed)]
    return (
        bool(tied)
        and not any(q.agrees(claimed) for q in tied)
        and all(q.after and q.after not in claim.stems for q in theirs)
    )


def _clash_of_names(claim: Facts, evidence: _Evidence) -> _Clash | None:
    turned = roles.other_body(claim, evidence.whole) or (
        roles.exchanged_roles(claim, evidence.whole) if evidence.same_language else None
    )
    if turned:
        return _Clash("contradicted", "name", turned)
    missing = sorted(n for n in claim.names if not _named(n, evidence.whole))
    if not evidence.same_language:  # names are translated, codes and acronyms with digits are not
        missing = [name for name in missing if any(c.isdigit() for c in name)]
    if not missing:
        return None
    rivals = sorted(n for n in evidence.facts.names if not _named(n, claim))
    shared = _coverage(_without(claim, missing), evidence.facts)
    if rivals and (shared >= _ALIKE or not evidence.same_language):
        return _Clash("contradicted", "name", (missing[0], rivals[0]))
    return _Clash("unsupported", "no_name", (missing[0],))


def _named(name: str, where: Facts) -> bool:
    if name in where.names or name in where.tokens or stem(name) in where.stems:
        return True
    parts = re.split(r"[-.]", name)
    return len(parts) > 1 and all(p in where.tokens or stem(p) in where.stems for p in parts)


def _without(found: Facts, names: Sequence[str]) -> Facts:
    return dataclasses.replace(found, stems=found.stems - {stem(name) for name in names})


def _sides(found: Facts) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return what stands before and after the sentence's comparator only, None without one."""
    comparator = _COMPARATOR.search(found.text)
    if comparator is None:
        return None
    left = content(found.text[: comparator.start()])
    right = content(found.text[comparator.end() :])
    if comparator.group() != "than" and found.text.startswith(" by ", comparator.end()):
        left, right = right, left
    return left - right, right - left


def _clash_of_polarity(found: Facts, evidence: _Evidence) -> _Clash | None:
    """Catch an odd number of reversals: negation, direction, sides of a comparison.

    "A is not slower than B", "A is faster than B" and "B is slower than A" are in accord.
    """
    denied = _is_denied(found, evidence)
    near = _nearest_clause(found, _REFUTED.sub(" ", evidence.text) if denied else evidence.text)
    if evidence.same_language and _coverage(found, near) < _ALIKE:
        return None
    if not evidence.same_language and max(len(found.stems), len(near.stems)) > _SIMPLE:
        return None  # which part of a long sentence a negation is about, only words could tell
    swapped = _swapped(found, evidence)
    opposite = _opposite_poles(found, near)
    negated = found.negated != near.negated
    if (swapped + bool(opposite) + negated + denied) % 2 == 0:
        return None
    if denied:
        return _Clash("contradicted", "refuted")
    if swapped:
        return _Clash("contradicted", "swapped")
    if opposite:
        return _Clash("contradicted", "direction", (_pole_word(near, opposite[0]),))
    return _Clash("contradicted", "negation")


def _is_denied(claim: Facts, evidence: _Evidence) -> bool:
    """Return whether the passage reports what the claim says only to reject it."""
    return _refuted(evidence.text, evidence.after) and not _REFUTED.search(claim.text)


def _swapped(claim: Facts, evidence: _Evidence) -> bool:
    """Return whether "A outperforms B" meets "B outperforms A"."""
    mine, theirs = _sides(claim), _sides(evidence.facts)
    if mine and theirs and mine[0] & theirs[1] and mine[1] & theirs[0]:
        return True
    return evidence.same_language and exchanged(claim, evidence.facts)


def _nearest_clause(claim: Facts, text: str) -> Facts:
    """Return the clause of `text` that covers the claim as well as all of it does."""
    whole = facts(text)
    clauses = [facts(c) for c in _CLAUSE.split(text) if c and c.strip()]
    covered = [_coverage(claim, clause) for clause in clauses]
    if clauses and max(covered) >= 0.85 * _coverage(claim, whole):
        return clauses[int(np.argmax(covered))]
    return whole


def _opposite_poles(claim: Facts, evidence: Facts) -> list[tuple[int, bool]]:
    """Return the poles of `evidence` of which `claim` has only the opposite."""
    return [
        (axis, pole)
        for axis, pole in sorted(evidence.poles)
        if (axis, not pole) in claim.poles
        and (axis, pole) not in claim.poles
        and (axis, not pole) not in evidence.poles
    ]


def _pole_word(found: Facts, pole: tuple[int, bool]) -> str:
    axis, up = pole
    table = AXES[axis][0 if up else 1]
    return next((t for t in found.tokens if t in table), "") or min(table & found.words)


def _clash_of_changes(claim: Facts, evidence: _Evidence) -> _Clash | None:
    """Catch what a nearly verbatim claim has in place of the passage's words."""
    if not evidence.same_language:
        return None
    found = changes(claim, evidence.facts, _COMPARED)
    found = [c for c in found if c.contrary or not _stands_in(c, evidence.whole)]
    if not found:
        return None
    worst = max(found, key=lambda change: change.contrary)
    label: VerdictLabel = "contradicted" if worst.contrary else "partly"
    return _Clash(label, "replaced", (worst.claimed, worst.found))


def _stands_in(change: Change, whole: Facts) -> bool:
    return change.claimed in whole.text


def _overstatement(claim: Facts, evidence: _Evidence) -> _Clash | None:
    mine, theirs = claim.words, evidence.facts.words
    if mine & STRONG and theirs & WEAK and not mine & WEAK:
        return _Clash("partly", "stronger")
    if (theirs & HEDGES and not mine & HEDGES) or (
        theirs & CONDITIONS and not mine & (CONDITIONS | WHEN)
    ):
        return _Clash("partly", "hedged")
    if mine & CAUSES and theirs & CORRELATES and not theirs & CAUSES:
        return _Clash("partly", "causal")
    return None


def _grade(claim: str, found: Facts, evidence: _Evidence) -> _Clash:
    """Grade a claim that does not clash by how much of it the evidence covers."""
    enough, some = _ENOUGH[evidence.same_language], _SOME[evidence.same_language]
    if evidence.related < some:
        return _Clash("unsupported", "unrelated")
    missing = _missing_clause(claim, evidence) if evidence.same_language else ""
    if missing:
        return _Clash("partly", "clause", (missing,))
    if evidence.related < enough:
        return _Clash("partly", "some")
    return _Clash("supported", "same")


def _missing_clause(claim: str, evidence: _Evidence) -> str:
    """Return a clause of the claim that the passage has nothing of, beside one that it has."""
    clauses = [c.strip() for c in _CLAUSE.split(claim) if c and c.strip()]
    read = [(c, facts(c)) for c in clauses]
    covered = [(_coverage(f, evidence.whole), c) for c, f in read if len(f.stems) >= 2]
    if len(covered) < 2 or max(covered)[0] < _ALIKE:
        return ""
    least, clause = min(covered)
    return clause if least < 0.25 else ""
