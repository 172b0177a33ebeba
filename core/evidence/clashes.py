"""In what a claim and its closest sentence clash: numbers, names, polarity, exchanged words."""

import dataclasses
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.evidence import roles
from core.evidence.alignment import Change, changes, exchanged
from core.evidence.closest import Evidence, coverage
from core.evidence.facts import Facts, Quantity, content, facts, stem
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
from core.evidence.verbatim import REFUTED, refuted
from core.types import VerdictLabel

CLAUSE = re.compile(
    r"[;；，。:：]|,\s+(?=\w+\s)|\b(?:but|whereas|while|although|and|which)\b|但是?|而且|并且|然而|虽然|同时"
)
_COMPARATOR = re.compile(
    "|".join(rf"\b{w}\b" if w.isascii() else w for w in sorted(COMPARATORS, reverse=True))
)
_COMPARED = frozenset().union(
    *(HEDGES, STRONG, WEAK, CAUSES, CORRELATES, COMPARATORS, CONDITIONS, WHEN),
    *(NUMBER_WORDS, SCALES, UNITS),
    *itertools.chain.from_iterable(AXES),
) - {"second"}
"""Words that rules of their own compare."""
# Set by hand; indexed by whether both are in one language.
_RELATED = {True: 0.45, False: 0.4}
"""From here on the evidence is about the same thing, so that a clash means something."""
ALIKE = 0.5
"""The share of common content from which a difference in one word is a difference in meaning."""
_SIMPLE = 16
"""Content words up to which a sentence is taken to make one statement."""


class Clash(NamedTuple):
    """A verdict, the key of its reason in `REASONS`, and what the reason names."""

    label: VerdictLabel
    key: str
    details: tuple[str, ...] = ()


def first_clash(found: Facts, evidence: Evidence) -> Clash | None:
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


def _clash_of_quantities(claim: Facts, evidence: Evidence) -> Clash | None:
    near, whole = evidence.facts.quantities, evidence.whole.quantities
    turned = roles.start_for_end(claim, evidence.facts)
    if turned:
        return Clash("contradicted", "number", (str(turned[0]), str(turned[1])))
    for quantity in claim.quantities:
        if any(quantity.agrees(q) for q in near):
            if _counts_otherwise(quantity, near) or _tied_otherwise(quantity, near, claim):
                return Clash("contradicted", "counted", (str(quantity),))
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
            return Clash("contradicted", "number", (str(quantity), str(rivals[0])))
        if not elsewhere:
            return Clash("unsupported", "no_number", (str(quantity),))
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


def _clash_of_names(claim: Facts, evidence: Evidence) -> Clash | None:
    turned = roles.other_body(claim, evidence.whole) or (
        roles.exchanged_roles(claim, evidence.whole) if evidence.same_language else None
    )
    if turned:
        return Clash("contradicted", "name", turned)
    missing = sorted(n for n in claim.names if not _named(n, evidence.whole))
    if not evidence.same_language:  # names are translated, codes and acronyms with digits are not
        missing = [name for name in missing if any(c.isdigit() for c in name)]
    if not missing:
        return None
    rivals = sorted(n for n in evidence.facts.names if not _named(n, claim))
    shared = coverage(_without(claim, missing), evidence.facts)
    if rivals and (shared >= ALIKE or not evidence.same_language):
        return Clash("contradicted", "name", (missing[0], rivals[0]))
    return Clash("unsupported", "no_name", (missing[0],))


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


def _clash_of_polarity(found: Facts, evidence: Evidence) -> Clash | None:
    """Catch an odd number of reversals: negation, direction, sides of a comparison.

    "A is not slower than B", "A is faster than B" and "B is slower than A" are in accord.
    """
    denied = _is_denied(found, evidence)
    near = _nearest_clause(found, REFUTED.sub(" ", evidence.text) if denied else evidence.text)
    if evidence.same_language and coverage(found, near) < ALIKE:
        return None
    if not evidence.same_language and max(len(found.stems), len(near.stems)) > _SIMPLE:
        return None  # which part of a long sentence a negation is about, only words could tell
    swapped = _swapped(found, evidence)
    opposite = _opposite_poles(found, near)
    negated = found.negated != near.negated
    if (swapped + bool(opposite) + negated + denied) % 2 == 0:
        return None
    if denied:
        return Clash("contradicted", "refuted")
    if swapped:
        return Clash("contradicted", "swapped")
    if opposite:
        return Clash("contradicted", "direction", (_pole_word(near, opposite[0]),))
    return Clash("contradicted", "negation")


def _is_denied(claim: Facts, evidence: Evidence) -> bool:
    """Return whether the passage reports what the claim says only to reject it."""
    return refuted(evidence.text, evidence.after) and not REFUTED.search(claim.text)


def _swapped(claim: Facts, evidence: Evidence) -> bool:
    """Return whether "A outperforms B" meets "B outperforms A"."""
    mine, theirs = _sides(claim), _sides(evidence.facts)
    if mine and theirs and mine[0] & theirs[1] and mine[1] & theirs[0]:
        return True
    return evidence.same_language and exchanged(claim, evidence.facts)


def _nearest_clause(claim: Facts, text: str) -> Facts:
    """Return the clause of `text` that covers the claim as well as all of it does."""
    whole = facts(text)
    clauses = [facts(c) for c in CLAUSE.split(text) if c and c.strip()]
    covered = [coverage(claim, clause) for clause in clauses]
    if clauses and max(covered) >= 0.85 * coverage(claim, whole):
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


def _clash_of_changes(claim: Facts, evidence: Evidence) -> Clash | None:
    """Catch what a nearly verbatim claim has in place of the passage's words."""
    if not evidence.same_language:
        return None
    found = changes(claim, evidence.facts, _COMPARED)
    found = [c for c in found if c.contrary or not _stands_in(c, evidence.whole)]
    if not found:
        return None
    worst = max(found, key=lambda change: change.contrary)
    label: VerdictLabel = "contradicted" if worst.contrary else "partly"
    return Clash(label, "replaced", (worst.claimed, worst.found))


def _stands_in(change: Change, whole: Facts) -> bool:
    return change.claimed in whole.text


def _overstatement(claim: Facts, evidence: Evidence) -> Clash | None:
    mine, theirs = claim.words, evidence.facts.words
    if mine & STRONG and theirs & WEAK and not mine & WEAK:
        return Clash("partly", "stronger")
    if (theirs & HEDGES and not mine & HEDGES) or (
        theirs & CONDITIONS and not mine & (CONDITIONS | WHEN)
    ):
        return Clash("partly", "hedged")
    if mine & CAUSES and theirs & CORRELATES and not theirs & CAUSES:
        return Clash("partly", "causal")
    return None
