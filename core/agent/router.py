"""Chooses the intent of a turn: the forced one, always, when there is one."""

from core.agent.intents import DEFAULT_INTENT, intent
from core.agent.state import StepResult, TurnContext, TurnState
from core.wording import say

TITLE = say("Choose the way")


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `intent`.

    Raises:
        BadInput: the forced intent does not exist.
    """
    chosen = intent(state["forced_intent"] or DEFAULT_INTENT)
    return StepResult({"intent": chosen.name}, chosen.title)
