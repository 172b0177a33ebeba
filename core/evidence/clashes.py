"""In what a claim and its closest sentence clash: numbers, names, polarity, exchanged words."""

import dataclasses
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.evidence import clauses, roles
from core.evidence.alignment import Change, changes, exchanged, exclusive
from core.evidence.alike import coverage
from core.evidence.closest import Evidence
from core.evidence.comparison import is_against, levelled, sides
from core.evidence.facts import Facts, Quantity, comparable, facts, normalise, stem
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
from core.evidence.verbatim import REFUTED, refuted
from core.types import VerdictLabel

_PART = re.compile(
    rf"[;:,]|\b(?:but|whereas|while|although|and|as|when|with)\b|(?<=[{CJK}])时(?=[{CJK}])"
)
_OF_ALL = re.compile(r"除[^，,]{1,12}外|各|\bexcept\b|\beach\b")
CLAUSE = re.compile(
    r"[;；，。:：]|,\s+(?=\w+\s)|\b(?:but|whereas|while|although|and|which)\b|但是?|而且|并且|然而|虽然|同时"
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
_DENIED, _DENYING = 0.4, 0.25
"""The share of what a claim and what its passage denies that the other has to speak of."""
_VERBATIM = 0.7
"""The share of common content from which what stands in another's place has changed it."""
_MOSTLY = 0.6
"""The share of common content from which one thing of a kind stands for another."""
_NEARLY_ALL = 0.8
"""The share from which a claim is its sentence with one thing replaced."""
_CLAUSE_HAS = 0.85
"""The share of what a sentence covers that one of its clauses has to cover to stand for it."""
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
        or _clash_of_kinds(found, evidence)
        or _clash_of_polarity(found, evidence)
        or _clash_of_clauses(found, evidence)
        or _clash_of_changes(found, evidence)
        or _overstatement(found, evidence)
    )


def _clash_of_quantities(claim: Facts, evidence: Evidence) -> Clash | None:
    near, whole = evidence.facts.quantities, evidence.whole.quantities
    turned = (
        roles.start_for_end(claim, evidence.facts)
        or roles.part_for_whole(claim, evidence.facts)
        or roles.dealt_otherwise(claim, evidence.facts)
    )
    if turned:
        return Clash("contradicted", "number", (str(turned[0]), str(turned[1])))
    for quantity in claim.quantities:
        if any(quantity.agrees(q) for q in near):
            if _counts_otherwise(quantity, near):
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
    return comparable(claimed, found)


def _counts_otherwise(claimed: Quantity, near: Sequence[Quantity]) -> bool:
    """Return whether what `claimed` counts has another number in the passage only."""
    agreeing = [q for q in near if claimed.agrees(q)]
    if (
        not claimed.noun or claimed.looks == "year" or any(not q.noun for q in agreeing)
    ):  # "10 apples, of which 3 …"
        return False
    same_noun = [q for q in near if q.noun == claimed.noun]
    return bool(same_noun) and not any(claimed.agrees(q) for q in same_noun)


def _clash_of_names(claim: Facts, evidence: Evidence) -> Clash | None:
    turned = roles.other_body(claim, evidence.whole) or (
        roles.exchanged_roles(claim, evidence.whole) if evidence.same_language else None
    )
    if turned:
        return Clash("contradicted", "name", turned)
    covered = coverage(claim, evidence.facts)
    other = roles.in_the_place(claim, evidence.facts) if evidence.same_language else None
    if other and covered >= _MOSTLY and not _named(other[0], evidence.facts):
        return Clash("contradicted", "name", other)
    compound = roles.other_compound(claim, evidence.facts, evidence.whole)
    if compound and covered >= ALIKE:
        return Clash("contradicted", "name", compound)
    missing = sorted(
        n for n in claim.names if not _named(n, evidence.whole) and not _glosses(n, claim)
    )
    if not evidence.same_language:  # names are translated, codes and acronyms with digits are not
        missing = [name for name in missing if any(c.isdigit() for c in name)]
    if not missing:
        return None
    rivals = sorted(
        n for n in evidence.facts.names if not _named(n, claim) and _of_a_shape(n, missing[0])
    )
    shared = coverage(_without(claim, missing), evidence.facts)
    if rivals and (shared >= _VERBATIM or not evidence.same_language):
        return Clash("contradicted", "name", (missing[0], rivals[0]))
    return Clash("unsupported", "no_name", (missing[0],))


def _clash_of_kinds(claim: Facts, evidence: Evidence) -> Clash | None:
    """Catch "weekly" for "daily", "rats" for "mice": where one is, the other is not."""
    near = _nearest_clause(claim, evidence.text)
    if not evidence.same_language or coverage(claim, near) < _MOSTLY:
        return None
    found = None if _OF_ALL.search(near.text) else exclusive(claim, near, evidence.whole)
    return Clash("contradicted", "replaced", found) if found else None


def _named(name: str, where: Facts) -> bool:
    if name in where.names or name in where.tokens or stem(name) in where.stems:
        return True
    if any(_squashed(name) == _squashed(other) for other in where.names):
        return True
    if len(name) > 2 and name.isalpha() and name in "".join(token[0] for token in where.tokens):
        return True
    parts = re.split(r"[-.]", name)
    return len(parts) > 1 and all(p in where.tokens or stem(p) in where.stems for p in parts)


def _squashed(name: str) -> str:
    """Return `name` without hyphens and the s of a plural: "GATA-3" is "GATA3"."""
    return re.sub(r"[-.]", "", name).removesuffix("s")


def _glosses(name: str, claim: Facts) -> bool:
    """Return whether `name` only abbreviates the words before it, "kidney disease (CKD)"."""
    return f"({name})" in claim.text


def _of_a_shape(one: str, other: str) -> bool:
    """Return whether two names may be of a kind: letters, or codes with digits."""
    code = any(c.isdigit() for c in other) and "(" not in other
    coded = any(c.isdigit() for c in one) or not code
    return coded and (len(one) == 1) == (len(other) == 1)


def _without(found: Facts, names: Sequence[str]) -> Facts:
    return dataclasses.replace(found, stems=found.stems - {stem(name) for name in names})


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
    apart = roles.set_apart(found, evidence.facts) if evidence.same_language else None
    turned = _turned_part(found, evidence)
    if turned:
        return Clash("contradicted", "direction", (turned,))
    if levelled(found, near):
        return Clash("contradicted", "level")
    swapped = _swapped(found, near, evidence.same_language)
    opposite = _opposite_poles(found, near)
    negated = _negated(found, near, _DENIED) != _negated(near, found, _DENYING)
    if apart and (bool(opposite) + negated) % 2 == 0:
        return Clash("contradicted", "elsewhere", apart)
    if (swapped + bool(opposite) + negated + denied + bool(apart)) % 2 == 0:
        return Clash("partly", "some") if found.denials and not near.denials else None
    if denied:
        return Clash("contradicted", "refuted")
    if swapped:
        return Clash("contradicted", "swapped")
    if opposite:
        return Clash("contradicted", "direction", (_pole_word(near, opposite[0]),))
    return Clash("contradicted", "negation")


def _turned_part(claim: Facts, evidence: Evidence) -> str:
    """Return the word of a part of the passage against the part of the claim that it is about."""
    if not evidence.same_language:
        return ""
    theirs = [facts(part) for part in _parts(evidence.text)]
    mine = [facts(part) for part in _parts(claim.text)]
    if len(mine) < 2 or len(theirs) < 2:
        return ""
    for part in mine:
        near = max(theirs, key=lambda found: coverage(part, found))
        opposite = _opposite_poles(part, near)
        if opposite and coverage(part, near) >= ALIKE and part.negated == near.negated:
            return _pole_word(near, opposite[0])
    return ""


def _parts(text: str) -> list[str]:
    return [part for part in _PART.split(normalise(text)) if len(facts(part).stems) > 1]


def _negated(found: Facts, other: Facts, least: float) -> bool:
    """Return whether an odd number of negations in `found` is about what `other` speaks of."""
    if found.chinese or other.chinese:
        return found.negated
    about = [
        scope
        for scope in found.denials
        if len(scope & other.stems) >= least * min(len(scope), len(other.stems))
    ]
    return len(about) % 2 == 1


def _is_denied(claim: Facts, evidence: Evidence) -> bool:
    """Return whether the passage reports what the claim says only to reject it."""
    return refuted(evidence.text, evidence.after) and not REFUTED.search(claim.text)


def _swapped(claim: Facts, near: Facts, same_language: bool) -> bool:
    """Return whether "A outperforms B" meets "B outperforms A"."""
    mine, theirs = sides(claim), sides(near)
    if mine and theirs:
        crossed = bool(mine[0] & theirs[1]), bool(mine[1] & theirs[0])
        straight = bool(mine[0] & theirs[0]), bool(mine[1] & theirs[1])
        # of two languages only names are shared, and often just one
        if all(crossed) or (not same_language and any(crossed) and not any(straight)):
            return True
        if all(straight) and is_against(near):
            return False
    return same_language and coverage(claim, near) >= _VERBATIM and exchanged(claim, near)


def _nearest_clause(claim: Facts, text: str) -> Facts:
    """Return the clause of `text` that covers the claim as well as all of it does."""
    whole = facts(text)
    if whole.chinese != claim.chinese:
        return _clause_of_numbers(claim, text) or whole
    clauses = [facts(c) for c in CLAUSE.split(text) if c and c.strip()]
    covered = [coverage(claim, clause) for clause in clauses]
    if clauses and max(covered) >= _CLAUSE_HAS * coverage(claim, whole):
        return clauses[int(np.argmax(covered))]
    return whole


def _clause_of_numbers(claim: Facts, text: str) -> Facts | None:
    """Return the only clause of `text` with a number or a name of the claim: they need no translation."""
    found = [facts(part) for part in _parts(text)]
    having = [
        one
        for one in found
        if claim.names & one.names
        or any(q.agrees(o) for q in claim.quantities for o in one.quantities)
    ]
    return having[0] if len(having) == 1 else None


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


def _clash_of_clauses(claim: Facts, evidence: Evidence) -> Clash | None:
    """Catch what the passage says too, but of something else."""
    covered = coverage(claim, evidence.facts)
    if not evidence.same_language or covered < ALIKE:
        return None
    found = clauses.misplaced(claim, evidence.facts)
    if found and found.key == "elsewhere" and covered < _VERBATIM:
        return None
    if found is None:
        halves = clauses.crossed(claim, evidence.facts) if covered >= _VERBATIM else None
        return Clash("contradicted", "elsewhere", halves) if halves else None
    details = (found.theirs,) if found.key == "direction" else (found.ours, found.theirs)
    return Clash("contradicted", found.key, details)


def _clash_of_changes(claim: Facts, evidence: Evidence) -> Clash | None:
    """Catch what a nearly verbatim claim has in place of the passage's words."""
    if not evidence.same_language:
        return None
    if claim.chinese and sides(claim) and sides(evidence.facts):  # "A比B快", "A快于B"
        return None
    found = changes(claim, evidence.facts, _COMPARED)
    if coverage(claim, evidence.facts) < _NEARLY_ALL:
        found = [c for c in found if c.contrary or not _stands_in(c, evidence.whole)]
    if not found:
        return None
    worst = max(found, key=lambda change: change.contrary)
    if worst.contrary and _OF_ALL.search(evidence.facts.text):
        worst = worst._replace(contrary=False)
    label: VerdictLabel = "contradicted" if worst.contrary else "partly"
    return Clash(label, "replaced", (worst.claimed, worst.found))


def _stands_in(change: Change, whole: Facts) -> bool:
    return change.claimed in whole.text


def _overstatement(claim: Facts, evidence: Evidence) -> Clash | None:
    only = roles.not_only(claim, evidence.facts)
    if only:
        return Clash("contradicted", "only", (only,))
    if roles.adds_only(claim, evidence.facts):
        return Clash("partly", "narrower")
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
