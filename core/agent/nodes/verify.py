"""Checks every sentence of an answer against the passages it cites. The writer has no say here."""

from collections import Counter
from dataclasses import replace

from core.agent.events import CitationsReady
from core.agent.state import StepResult, TurnContext, TurnState
from core.evidence.numbering import keep_existing
from core.evidence.sentences import sentences
from core.evidence.verdict import verify_each
from core.types import VerdictLabel
from core.wording import phrase, say

TITLE = say("Check every sentence")
_COUNTED: dict[VerdictLabel, str] = {
    "supported": phrase("{count:d} supported"),
    "partly": phrase("{count:d} partly"),
    "contradicted": phrase("{count:d} contradicted"),
    "unsupported": phrase("{count:d} unsupported"),
}


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `sentences` with their verdicts, and keep the citations that are really used."""
    numbered = {citation.n: citation for citation in state["citations"]}
    statements = state["statements"] or sentences(state["answer"])
    checked = verify_each(statements, numbered, context.embedder, context.cancelled.is_set)
    for place in state["remarks"]:
        checked[place] = replace(checked[place], verdict=None)
    used = {n for sentence in checked for n in sentence.citations}
    citations = [citation for citation in state["citations"] if citation.n in used]
    if state["refused"]:
        citations = state["citations"]
    context.emit(CitationsReady(tuple(citations)))
    counts = Counter(sentence.verdict.label for sentence in checked if sentence.verdict)
    removed = sum(len(sentence.removed) for sentence in checked)
    parts = [say(_COUNTED[label], count=count) for label, count in counts.most_common()]
    if removed:
        parts.append(say("{count:d} invented numbers removed", count=removed))
    answer = keep_existing(state["answer"], numbered).text
    update = {"sentences": checked, "citations": citations, "answer": answer}
    return StepResult(update, ", ".join(parts))
