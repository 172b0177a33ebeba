"""Checks every sentence of an answer against the passages it cites. The writer has no say here."""

from collections import Counter

from core.agent.events import CitationsReady
from core.agent.state import StepResult, TurnContext, TurnState
from core.evidence.verdict import verify

TITLE = "Check every sentence"


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `sentences` with their verdicts, and keep the citations that are really used."""
    numbered = {citation.n: citation for citation in state["citations"]}
    sentences = verify(state["answer"], numbered, context.embedder)
    used = {n for sentence in sentences for n in sentence.citations}
    citations = [citation for citation in state["citations"] if citation.n in used]
    if state["refused"]:
        citations = state["citations"]
    context.emit(CitationsReady(tuple(citations)))
    counts = Counter(sentence.verdict.label for sentence in sentences if sentence.verdict)
    removed = sum(len(sentence.removed) for sentence in sentences)
    parts = [f"{count} {label}" for label, count in counts.most_common()]
    if removed:
        parts.append(f"{removed} invented numbers removed")
    return StepResult({"sentences": sentences, "citations": citations}, ", ".join(parts))
