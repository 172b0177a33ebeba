"""Does a passage say what a sentence says? Rules on facts, words and meaning; no language model.

A sentence that stands in its passage word for word is supported. Otherwise the passage's closest
sentence is found by shared content words and embedding similarity, quantities, names, negation
and direction are compared with it, and what is left is graded by how much of it is covered.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from core.evidence import numbering
from core.evidence.alike import coverage
from core.evidence.cells import is_value, read_value
from core.evidence.clashes import ALIKE, CLAUSE, Clash, first_clash
from core.evidence.closest import Encoder, Evidence, closest
from core.evidence.facts import facts
from core.evidence.sentences import sentences
from core.evidence.verbatim import contains
from core.models.embed import Vectors
from core.types import AnswerSentence, Citation, Verdict, VerdictLabel
from core.wording import phrase, say

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
    "elsewhere": phrase("the passage says this of {theirs}, not of {ours}"),
    "negation": phrase("one of the two negates what the other says"),
    "direction": phrase("the passage says the opposite: {ours}"),
    "swapped": phrase("the comparison runs the other way round"),
    "level": phrase("only one of the two finds a difference"),
    "only": phrase("the passage says this only of {ours}"),
    "narrower": phrase("the passage does not say that this is the only case"),
    "replaced": phrase("the passage says “{theirs}”, not “{ours}”"),
    "refuted": phrase("the passage reports this only to reject it"),
    "stronger": phrase("the passage says this of some, not of all"),
    "hedged": phrase("the passage says this only as a possibility"),
    "causal": phrase("the passage reports an association, not a cause"),
}
"""`ours` is in the sentence, `theirs` in the passage."""

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
_KEPT: dict[VerdictLabel, float] = {"contradicted": 0.7, "unsupported": 0.9, "partly": 1.0}
"""What a clash leaves of the strength of support; chosen on even claims of `eval verification`."""
_ENOUGH = {True: 0.6, False: 0.5}
_SOME = {True: 0.45, False: 0.35}


class Assessment(NamedTuple):
    """A verdict with the strength of support it rests on, in [0, 1]."""

    label: VerdictLabel
    reason: str
    support: float


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
        return _assessment(Clash("unsupported", "uncited"), 0.0)
    if any(contains(passage, claim) for passage in passages):
        return _assessment(Clash("supported", "verbatim"), 1.0)
    claim_facts = facts(claim)
    if is_value(claim, claim_facts):
        read = read_value(claim, claim_facts, passages)
        return _assessment(read, float(read.label == "supported"))
    evidence = closest(claim, claim_facts, passages, embedder)
    clash = first_clash(claim_facts, evidence)
    if clash is None:
        return _assessment(_grade(claim, evidence), evidence.support)
    return _assessment(clash, _KEPT[clash.label] * evidence.support)


def _assessment(clash: Clash, support: float) -> Assessment:
    reason = say(REASONS[clash.key], **dict(zip(("ours", "theirs"), clash.details, strict=False)))
    return Assessment(clash.label, reason, round(float(support), 4))


def _grade(claim: str, evidence: Evidence) -> Clash:
    """Grade a claim that does not clash by how much of it the evidence covers."""
    enough, some = _ENOUGH[evidence.same_language], _SOME[evidence.same_language]
    if evidence.related < some:
        return Clash("unsupported", "unrelated")
    missing = _missing_clause(claim, evidence) if evidence.same_language else ""
    if missing:
        return Clash("partly", "clause", (missing,))
    if evidence.related < enough:
        return Clash("partly", "some")
    return Clash("supported", "same")


def _missing_clause(claim: str, evidence: Evidence) -> str:
    """Return a clause of the claim that the passage has nothing of, beside one that it has."""
    clauses = [c.strip() for c in CLAUSE.split(claim) if c and c.strip()]
    read = [(c, facts(c)) for c in clauses]
    covered = [(coverage(f, evidence.whole), c) for c, f in read if len(f.stems) >= 2]
    if len(covered) < 2 or max(covered)[0] < ALIKE:
        return ""
    least, clause = min(covered)
    return clause if least < 0.25 else ""
