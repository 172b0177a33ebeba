"""Makes the question into the query retrieval sees."""

from core.agent.state import StepResult, TurnContext, TurnState
from core.wording import say

TITLE = say("Understand the question")


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `query`: a selected passage leads it, the question follows as it was asked."""
    parts = (state["selected"].strip(), state["question"].strip())
    query = "\n".join(part for part in parts if part)
    return StepResult({"query": query}, state["question"].strip()[:200])
