"""Reads a paper as a reviewer: claims and their evidence, threats, admitted limits, what is absent.

With a model it weighs; without one the paper's own sentences are put side by side. What was looked
for and not found is told by rules in either case, as that and no more.
"""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from core.agent.absences import missing, told
from core.agent.asking import Requests, alone, ground, in_turns
from core.agent.choosing import (
    NOT_SAID,
    OTHERS,
    SEEN,
    Look,
    PaperInScope,
    asked_for,
    choose,
    in_order,
    look_for,
    papers_of,
    passages,
    quoted,
)
from core.agent.draft import Draft
from core.agent.events import StepProgress
from core.agent.looks import BASELINES, CLAIMS, LIMITS, STATISTICS, THREATS
from core.agent.nodes.extract import most_relevant
from core.agent.state import StepResult, TurnContext, TurnState
from core.evidence.language import is_chinese
from core.evidence.sentences import sentences
from core.extractive.candidates import Candidate, candidates
from core.types import Hit
from core.wording import say

TITLE = say("Weigh claims and evidence")
MOST_PAPERS = 3
RESERVE = 1_600
"""Tokens kept for the reply."""
LOOKS = (CLAIMS, BASELINES, STATISTICS, THREATS, LIMITS)
_SENTENCES = {"baselines": 3, "statistics": 3, "threats": 4, "limits": 4}
_MOST_CLAIMS, _MOST_ENTRIES = 4, 5
_LONGEST = 500
_OVERVIEW = ("abstract", "introduction", "conclu", "摘要", "引言", "结论", "总结")
_MOST_COMPARED = 16
"""Sentences compared with a claim by meaning."""
_NEAR, _FIGURES = 0.7, 0.15
"""Shared words and cosine that make a sentence evidence for a claim, and what figures add."""

_COLUMNS = (("Claim", "Evidence given"), ("主张", "给出的证据"))
_NUMBERED = ("Claim {n:d}", "主张 {n:d}")
_NO_EVIDENCE = (
    "No sentence elsewhere in the paper with evidence for this was found.",
    "没有找到论文其他地方为此给出证据的句子。",
)
_ADMITTED = ("What the authors admit", "作者承认的局限")
_ABSENT = ("Looked for and not found", "查找过但没有找到")
_MISSING = ("Questions to the authors", "可向作者提出的问题")
_NEXT = ("What to check next", "下一步核查")
_LEFT_OUT = (
    "{count:d} more papers are in scope; choose them to have them reviewed.",
    "范围内还有 {count:d} 篇论文，选中它们即可评审。",
)


class ClaimOfModel(BaseModel):
    """A claim as the model found it, and the evidence for it."""

    claim: str
    claim_passages: list[int] = Field(default_factory=list)
    evidence: str = ""
    evidence_passages: list[int] = Field(default_factory=list)


class Point(BaseModel):
    """One thing to hold against a paper."""

    text: str
    passages: list[int] = Field(default_factory=list)


class Critique(BaseModel):
    """What the model is asked for."""

    claims: list[ClaimOfModel] = Field(default_factory=list)
    threats: list[Point] = Field(default_factory=list)
    admitted: list[Point] = Field(default_factory=list)
    missing: list[str] = Field(default_factory=list)
    next: list[str] = Field(default_factory=list)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's parts: a review of each paper.

    Raises:
        NotFound: a paper of the scope is not in the reader's library.
    """
    chinese = is_chinese(state["question"])
    papers = most_relevant(papers_of(state, context), state["hits"], MOST_PAPERS)
    draft, requests = Draft(context), Requests(state, context)
    asked = asked_for(alone(state), LOOKS)
    looks = (*LOOKS, look_for(asked)) if asked else LOOKS
    for done, paper in enumerate(papers[:MOST_PAPERS]):
        if context.cancelled.is_set():
            break
        if len(papers) > 1:
            total = min(len(papers), MOST_PAPERS)
            detail = say("{done:d} of {total:d} papers", done=done, total=total)
            context.emit(StepProgress("critique", detail))
        _Review(paper, looks, context, chinese, len(papers) > 1).write(draft, requests)
    if len(papers) > MOST_PAPERS:
        left = _LEFT_OUT[chinese].format(count=len(papers) - MOST_PAPERS)
        draft.add_text("", [draft.remark(left)])
    detail = say("{papers:d} papers weighed", papers=min(len(papers), MOST_PAPERS))
    return StepResult(draft.update(requests.mode, requests.usage), detail, requests.tokens)


class _Review:
    """One paper's review on its way into the draft."""

    def __init__(
        self,
        paper: PaperInScope,
        looks: Sequence[Look],
        context: TurnContext,
        chinese: bool,
        several: bool,
    ) -> None:
        self._paper = paper
        self._looks = looks
        self._context = context
        self._chinese = chinese
        self._several = several
        self._hits = {look.aspect.name: passages(look, paper, context) for look in looks}

    def write(self, draft: Draft, requests: Requests) -> None:
        """Add the parts of the review to the draft."""
        reply = requests.about(
            "critique",
            in_turns([hits[:6] for hits in self._hits.values()]),
            Critique,
            RESERVE,
            language="Chinese" if self._chinese else "English",
        )
        if reply is None and self._context.cancelled.is_set():
            return
        asked = self._by_extraction(draft) if reply is None else self._by_model(draft, *reply)
        self._add_absent(draft, asked)

    # --- by a model -----------------------------------------------------------------------------

    def _by_model(self, draft: Draft, critique: Critique, hits: Sequence[Hit]) -> list[int]:
        """Add what the model found; return the places of what it would check next."""
        claims = [claim for claim in critique.claims[:_MOST_ENTRIES] if claim.claim.strip()]
        rows = []
        for claim in claims:
            made = self._point(draft, claim.claim, claim.claim_passages, hits)
            given = draft.remark(_NO_EVIDENCE[self._chinese])
            if claim.evidence.strip():
                given = self._point(draft, claim.evidence, claim.evidence_passages, hits)
            rows.append([[made], [given]])
        self._add_claims(draft, rows)
        for title, points in (
            (THREATS.aspect.title(self._chinese), critique.threats),
            (_ADMITTED[self._chinese], critique.admitted),
        ):
            kept = [p for p in points[:_MOST_ENTRIES] if p.text.strip()]
            items = [self._point(draft, p.text, p.passages, hits) for p in kept]
            self._add_list(draft, title, items)
        questions = self._asked(draft, critique.missing, hits)
        if questions:
            draft.add_text(self._titled(_MISSING[self._chinese]), questions)
        return self._asked(draft, critique.next, hits)

    def _asked(self, draft: Draft, texts: Sequence[str], hits: Sequence[Hit]) -> list[int]:
        """State what the model would ask; what is no question states something and is judged."""
        kept = [text for text in texts if text.strip()][:_MOST_ENTRIES]
        return [self._point(draft, said, (), hits) for text in kept for said in sentences(text)]

    def _point(self, draft: Draft, text: str, cited: Sequence[int], hits: Sequence[Hit]) -> int:
        line = " ".join(text.split())[:_LONGEST]
        return ground(draft, line, cited[:4], hits, self._context.embedder).place

    # --- by extraction --------------------------------------------------------------------------

    def _by_extraction(self, draft: Draft) -> list[int]:
        found = in_order(choose(CLAIMS, self._hits["claims"], _MOST_CLAIMS))
        rows = []
        for claim in found:
            evidence = self._evidence(claim)
            given = (
                [quoted(draft, evidence)]
                if evidence
                else [draft.remark(_NO_EVIDENCE[self._chinese])]
            )
            rows.append([[quoted(draft, claim)], given])
        self._add_claims(draft, rows)
        told_before = {claim.text for claim in found}
        for look in self._looks:
            if look is CLAIMS:
                continue
            chosen = choose(look, self._hits[look.aspect.name], 2 * _MOST_CLAIMS)
            fresh = [c for c in chosen if c.text not in told_before]
            fresh = in_order(fresh[: _SENTENCES.get(look.aspect.name, 3)])
            told_before |= {c.text for c in fresh}
            title = _ADMITTED[self._chinese] if look is LIMITS else look.aspect.title(self._chinese)
            self._add_list(draft, title, [quoted(draft, c) for c in fresh])
        return []

    def _evidence(self, claim: Candidate) -> Candidate | None:
        """Return the sentence beyond abstract and conclusion that comes nearest to a claim."""
        hits = self._context.searcher.search(claim.text, self._paper.scope, SEEN).hits
        found = [c for c in candidates(hits) if _is_evidence(c, claim)]
        found = sorted(found, key=lambda c: -_overlap(c, claim))[:_MOST_COMPARED]
        if not found:
            return None
        vectors = self._context.embedder.encode([claim.text, *(c.text for c in found)])
        near = (vectors[1:] @ vectors[0]).tolist()
        points = [
            _overlap(c, claim) + float(cosine) + _FIGURES * bool(c.facts.quantities)
            for c, cosine in zip(found, near, strict=True)
        ]
        best = max(range(len(found)), key=points.__getitem__)
        return found[best] if points[best] >= _NEAR else None

    # --- parts ----------------------------------------------------------------------------------

    def _add_claims(self, draft: Draft, rows: Sequence[Sequence[list[int]]]) -> None:
        title = CLAIMS.aspect.title(self._chinese)
        if not rows:
            self._add_list(draft, title, [])
            return
        heads = [_NUMBERED[self._chinese].format(n=n) for n in range(1, len(rows) + 1)]
        draft.add_table(self._titled(title), _COLUMNS[self._chinese], heads, rows)

    def _add_list(self, draft: Draft, title: str, items: Sequence[int]) -> None:
        if items:
            draft.add_claims(self._titled(title), items)
        else:
            draft.add_text(self._titled(title), [draft.remark(NOT_SAID[self._chinese])])

    def _add_absent(self, draft: Draft, asked: Sequence[int]) -> None:
        """Add what was looked for in the whole text and not found, and what to check next."""
        chunks = self._context.papers.page_chunks(self._paper.scope.user_id, self._paper.id)
        absent = missing(chunk.text for chunk in chunks if chunk.kind != "references")
        if absent:
            items = [draft.remark(told(check, self._chinese)) for check in absent]
            draft.add_text(self._titled(_ABSENT[self._chinese]), items)
        following = [*asked, *(draft.remark(check.ask[self._chinese]) for check in absent)]
        if following:
            draft.add_text(self._titled(_NEXT[self._chinese]), following)

    def _titled(self, title: str) -> str:
        return f"{self._paper.title}: {title}" if self._several else title


def _is_evidence(candidate: Candidate, claim: Candidate) -> bool:
    section = candidate.hit.chunk.section.casefold()
    elsewhere = candidate.hit.chunk.id != claim.hit.chunk.id and candidate.text != claim.text
    front = candidate.hit.chunk.kind == "abstract" or any(word in section for word in _OVERVIEW)
    return elsewhere and not front and bool(section) and not OTHERS.search(section)


def _overlap(candidate: Candidate, claim: Candidate) -> float:
    wanted = claim.facts.stems | claim.facts.names
    have = candidate.facts.stems | candidate.facts.names
    return len(wanted & have) / max(1, len(wanted))
