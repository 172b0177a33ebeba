"""The bounded loop in which a model calls tools: LangChain's agent, watched from its middleware.

Every call is a step of the timeline. A failing tool's hint goes back to the model. When steps, time
or tokens are used up, the model is asked once, without tools, for an answer from what it has.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import (
    InputAgentState,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from core.agent.events import StepFinished, StepStarted, StepState
from core.agent.findings import Findings
from core.agent.prompts import render
from core.agent.state import Limits, TurnContext
from core.errors import Cancelled, ModelFailed
from core.models.budget import estimate_tokens
from core.models.chat import estimate_conversation
from core.models.toolchat import ToolChat
from core.tools.catalogue import TOOLS
from core.tools.envelope import Code, Envelope
from core.tools.registry import Tool
from core.tools.toolbox import Toolbox
from core.wording import phrase, say

RESERVE = 1_200
"""Tokens kept for a reply: an answer of ten sentences in either language."""
FAILS = 2
"""Times the same call may fail; another one is refused."""
_SHARE = 4
"""Of the room in a prompt, a result takes at most one part in so many."""
_ARGUMENTS = 200
"""Characters of a call's arguments that the timeline shows."""
_POLL_SECONDS = 0.05
_LEFT_OUT = '{"ok": true, "data": "left out: the conversation became too long"}'
_TITLES = {
    "search_library": phrase("Search the library"),
    "paper_search": phrase("Search for papers"),
    "fetch_fulltext": phrase("Fetch a full text"),
    "summarize_paper": phrase("Summarise a paper"),
    "build_citations": phrase("Number the papers"),
}


class Steps:
    """Calls tools for a turn, each as a step of the timeline.

    `scope`: the papers the library is searched in, whatever the call says; none means all of it.
    """

    def __init__(
        self, context: TurnContext, box: Toolbox, node: str, scope: Sequence[UUID] = ()
    ) -> None:
        self._context = context
        self._box = box
        self._node = node
        self._scope = [str(paper) for paper in scope]
        self.count = 0

    def call(self, tool: Tool, given: Mapping[str, Any]) -> Envelope:
        """Call a tool with these arguments."""
        return self.shown(tool.name, given, lambda: tool(self._box, **self._scoped(tool, given)))

    def shown(self, name: str, given: Mapping[str, Any], work: Callable[[], Envelope]) -> Envelope:
        """Do something in a tool's name, as a step of the timeline."""
        title, arguments = _TITLES.get(name, name[:60]), _line(given)
        node = self._started(title, arguments)
        began = time.perf_counter()
        envelope = work()
        seconds = time.perf_counter() - began
        stopped = self._context.cancelled.is_set()
        state: StepState = "stopped" if stopped else "done" if envelope["ok"] else "failed"
        self._context.emit(
            StepFinished(node, title, state, seconds, _came_of(envelope), arguments=arguments)
        )
        return envelope

    def _scoped(self, tool: Tool, given: Mapping[str, Any]) -> Mapping[str, Any]:
        if tool.name != "search_library" or not self._scope:
            return given
        wanted = given.get("papers")
        named = [paper for paper in self._scope if isinstance(wanted, list) and paper in wanted]
        return {**given, "papers": named or self._scope}

    def tell(self, title: str, detail: str) -> None:
        """Put a step on the timeline that is only told of."""
        node = self._started(title, "")
        self._context.emit(StepFinished(node, title, "done", 0.0, detail))

    def _started(self, title: str, arguments: str) -> str:
        self.count += 1
        node = f"{self._node}.{self.count}"
        self._context.emit(StepStarted(node, title, arguments))
        return node


class Loop(AgentMiddleware[Any, Any]):
    """What stands around each request and each call of one run."""

    def __init__(
        self,
        model: ToolChat,
        context: TurnContext,
        steps: Steps,
        findings: Findings,
        room: int,
    ) -> None:
        super().__init__()
        self._model = model
        self._context = context
        self._limits = context.limits
        self._steps = steps
        self._findings = findings
        self._stop = model.cancelled
        self._room = room
        self._called = 0
        self._began = time.monotonic()
        self._failed: Counter[str] = Counter()

    # --- requests of the model ------------------------------------------------------------------

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | AIMessage:
        """Ask for calls or an answer; for an answer only, once a limit is reached.

        Raises:
            Cancelled: the reader stopped it.
            ModelFailed: the model cannot be used, or broke off.
        """
        if self._context.cancelled.is_set():
            raise Cancelled(say("The answer was stopped."))
        if not self._reached():
            try:
                return self._asked(request, handler)
            except Cancelled:
                if self._context.cancelled.is_set():
                    raise  # else time was up while the model wrote
        return self._last(request, handler)

    def _asked(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        messages = self._fitting(request.messages)
        try:
            return handler(request.override(messages=messages))
        except ModelFailed as error:
            if error.code != "MODEL_MALFORMED":
                raise
        nudge = HumanMessage(render("research_last", reached=False))
        return handler(request.override(messages=[*messages, nudge]))

    def _last(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> AIMessage:
        self._steps.tell(say("Limit reached"), self._reached())
        self._model.cancelled = self._context.cancelled
        last = HumanMessage(render("research_last", reached=True))
        messages = [*self._fitting(request.messages), last]
        handler(request.override(messages=messages, tools=[]))
        return AIMessage(self._model.written)  # whatever it still wants to call

    def _reached(self) -> str:
        """Return which limit is reached, '' if none is."""
        limits, spent = self._limits, self._model.spent
        if self._called >= limits.steps:
            return say("{count:d} calls of tools", count=limits.steps)
        if self._stop.is_set() or time.monotonic() - self._began >= limits.seconds:
            return say("{seconds:g} seconds", seconds=limits.seconds)
        if spent.prompt_tokens + spent.completion_tokens >= limits.tokens:
            return say("{count:d} tokens", count=limits.tokens)
        return ""

    def _fitting(self, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
        """Return a conversation that fits: of old results only that they were there."""
        kept = list(messages)
        results = [at for at, message in enumerate(kept) if isinstance(message, ToolMessage)]
        for at in results[:-1]:
            if estimate_conversation(kept) <= self._room:
                break
            left_out = render("research_result", tool=kept[at].name, result=_LEFT_OUT)
            kept[at] = kept[at].model_copy(update={"content": left_out})
        return kept

    # --- calls of tools -------------------------------------------------------------------------

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Call a tool, or say why not; either way the model gets an envelope."""
        call = request.tool_call
        name, given = call["name"], call["args"]
        if self._reached() or self._context.cancelled.is_set():
            return self._message(call["id"], name, _no_more())
        self._called += 1
        same = json.dumps([name, given, call["id"] in self._model.malformed], sort_keys=True)
        refused = self._refused(call, same)
        if refused:
            envelope = self._steps.shown(name, given, lambda: refused)
        else:
            envelope = self._steps.call(TOOLS[name], given)
        if not envelope["ok"]:
            self._failed[same] += 1
        return self._message(call["id"], name, envelope)

    def _refused(self, call: ToolCall, same: str) -> Envelope | None:
        if self._failed[same] >= FAILS:
            return _failure(
                "INVALID_ARGS",
                say("This call has failed {count:d} times already.", count=FAILS),
                say("Change its arguments, use another tool, or answer with what there is."),
            )
        if call["name"] not in TOOLS:
            return _failure(
                "NOT_FOUND",
                say("There is no tool {name!r}.", name=call["name"][:60]),
                say("There are: {names}.", names=", ".join(sorted(TOOLS))),
            )
        if call["id"] in self._model.malformed:
            return _failure(
                "INVALID_ARGS",
                say("The arguments are no JSON object."),
                say("Write them as the tool's schema says and call it again."),
            )
        return None

    def _message(self, id_: str | None, name: str, envelope: Envelope) -> ToolMessage:
        told = self._findings.told(name, envelope, self._room // _SHARE)
        content = render("research_result", tool=name[:60], result=told)
        return ToolMessage(content, tool_call_id=id_, name=name)


def run_loop(
    model: ToolChat,
    context: TurnContext,
    steps: Steps,
    findings: Findings,
    system: str,
    messages: Sequence[AnyMessage],
) -> str:
    """Have the model call tools until it answers; return its answer.

    Raises:
        Cancelled: the reader stopped it.
        ModelFailed: the model cannot be used, broke off, or has nothing to say.
    """
    # As LangChain takes tools that its middleware calls: schemas alone.
    tools = [{"type": "function", "function": tool.schema()} for tool in TOOLS.values()]
    taken = estimate_tokens(system) + estimate_tokens(json.dumps(tools)) + RESERVE
    room = max(500, context.context_tokens - taken)
    loop = Loop(model, context, steps, findings, room)
    agent = create_agent(model, tools, system_prompt=system, middleware=[loop], checkpointer=False)
    # One call after the other: the numbers of what is found do not depend on who was faster.
    agent.invoke(InputAgentState(messages=list(messages)), RunnableConfig(max_concurrency=1))
    return model.written


@contextmanager
def stopping(cancelled: threading.Event, limits: Limits) -> Iterator[threading.Event]:
    """Yield an event that is set when the reader says stop, and when the time is up."""
    stop, over = threading.Event(), threading.Event()
    until = time.monotonic() + limits.seconds

    def watch() -> None:
        while not over.wait(_POLL_SECONDS):
            if cancelled.is_set() or time.monotonic() >= until:
                stop.set()
                return

    watcher = threading.Thread(target=watch, name="research-time", daemon=True)
    watcher.start()
    try:
        yield stop
    finally:
        over.set()
        watcher.join()


def _no_more() -> Envelope:
    return _failure(
        "CANCELLED",
        say("No more tools can be called."),
        say("Answer with what there is."),
    )


def _failure(code: Code, message: str, hint: str) -> Envelope:
    return {
        "ok": False,
        "data": None,
        "error": {
            "code": code,
            "message": message,
            "retryable": False,
            "hint": hint,
            "retry_after": None,
        },
        "meta": {"source": "lectern", "elapsed_ms": 0},
    }


def _line(given: Mapping[str, Any]) -> str:
    """Return a call's arguments on one short line."""
    shown = ", ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in given.items()
    )
    shown = " ".join(shown.split())
    return shown if len(shown) <= _ARGUMENTS else shown[:_ARGUMENTS] + "…"


def _came_of(envelope: Envelope) -> str:
    """Return in one line what came of a call."""
    error, data = envelope["error"], envelope["data"] or {}
    if error:
        return say("{reason} Hint: {hint}", reason=error["message"], hint=error["hint"])
    if "passages" in data:
        papers = len({row["paper_id"] for row in data["passages"]})
        count = len(data["passages"])
        return say("{count:d} passages, {papers:d} papers", count=count, papers=papers)
    if "papers" in data:
        total = max(data["total"], len(data["papers"]))
        return say("{count:d} papers of {total:d}", count=len(data["papers"]), total=total)
    if "sections" in data:
        return say("{count:d} sections ({got})", count=len(data["sections"]), got=data["got"])
    if "fields" in data:
        count = sum(len(texts) for texts in data["fields"].values())
        return say("{count:d} sentences", count=count)
    return ""
