"""The chat model as LangChain's agents take it: streamed, retried and stopped like any other."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from core.models.chat import ChatModel, ToolCall
from core.types import Usage


class ToolChat(BaseChatModel):
    """One conversation with the chat model; `cancelled` may be changed between its requests.

    `spent` are the tokens of all requests, also of those that failed. `written` is the text of the
    last one as far as it came. `malformed` are the ids of calls whose arguments were no JSON object.
    """

    chat: ChatModel
    cancelled: threading.Event
    _spent: Usage = PrivateAttr(default_factory=Usage)
    _written: str = PrivateAttr("")
    _malformed: set[str] = PrivateAttr(default_factory=set)

    @property
    def _llm_type(self) -> str:
        return "lectern"

    @property
    def spent(self) -> Usage:
        """The tokens of all requests together."""
        return self._spent

    @property
    def written(self) -> str:
        """The text of the last request's reply, as far as it came."""
        return self._written

    @property
    def malformed(self) -> set[str]:
        """The ids of calls whose arguments were no JSON object."""
        return self._malformed

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools it may call."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self.chat.converse(messages, kwargs.get("tools", ()), self.cancelled)
        try:
            reply.read()
        finally:
            self._spent = self._spent.plus(reply.usage)
            self._written = reply.text
        calls = [self._as_langchain(call) for call in reply.calls]
        message = AIMessage(content=reply.text, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _as_langchain(self, call: ToolCall) -> Any:
        if call.arguments is None:
            self._malformed.add(call.id)
        return {"id": call.id, "name": call.name, "args": call.arguments or {}, "type": "tool_call"}
