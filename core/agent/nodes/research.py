"""Says that research beyond the library is not there yet, and what to do instead."""

from core.agent.events import Token
from core.agent.state import StepResult, TurnContext, TurnState
from core.evidence.language import is_chinese
from core.wording import say

TITLE = say("Research")
_NOT_YET = (
    "Lectern does not search beyond your library yet: add the papers you know of, and ask or compare them.",
    "Lectern 目前还不能在文献库之外检索：请先加入已知的论文，再就它们提问或比较。",
)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set `answer` to that sentence, in the question's language."""
    answer = _NOT_YET[is_chinese(state["question"])]
    context.emit(Token(answer))
    return StepResult({"answer": answer}, say("not there yet"))
