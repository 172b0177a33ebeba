"""The LangGraph graph, built from the intents table: route, then the steps of the chosen way."""

import importlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from core.agent import router
from core.agent.events import StepFinished, StepStarted, StepState
from core.agent.intents import step_after, step_names
from core.agent.state import Step, TurnContext, TurnState
from core.errors import LecternError

log = logging.getLogger(__name__)

Graph = CompiledStateGraph[TurnState, TurnContext, TurnState, TurnState]


class Node(Protocol):
    """A step as LangGraph calls it."""

    def __call__(self, state: TurnState, *, runtime: Runtime[TurnContext]) -> dict[str, Any]:
        """Return what changes in the state."""
        ...


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Compile the graph. Steps are modules of `core.agent.nodes` with a TITLE and a `run`."""
    graph = StateGraph(TurnState, context_schema=TurnContext)
    graph.add_node("route", _node("route", router.TITLE, router.run))
    graph.add_edge(START, "route")
    targets = [*step_names(), END]
    graph.add_conditional_edges("route", _next_after(None), targets)
    for name in step_names():
        module = importlib.import_module(f"core.agent.nodes.{name}")
        graph.add_node(name, _node(name, module.TITLE, module.run))
        graph.add_conditional_edges(name, _next_after(name), targets)
    return graph.compile(checkpointer=checkpointer)


def _next_after(step: str | None) -> Callable[[TurnState], str]:
    def choose(state: TurnState) -> str:
        if state["error"] is not None:
            return END
        return step_after(state["intent"], step) or END

    return choose


def _node(name: str, title: str, step: Step) -> Node:
    """Wrap a step: events around it, expected failures as data.

    Once stopped only the verifier still runs: it judges nothing then, but what was written is to be
    kept as sentences, without invented numbers.
    """

    def run(state: TurnState, *, runtime: Runtime[TurnContext]) -> dict[str, Any]:
        context = runtime.context
        if context.cancelled.is_set() and name not in ("route", "verify"):
            return {}
        context.emit(StepStarted(name, title))
        began = time.perf_counter()
        try:
            result = step(state, replace(context, chat=None) if state["model_failed"] else context)
        except LecternError as error:
            seconds = time.perf_counter() - began
            context.emit(StepFinished(name, title, "failed", seconds, error.message))
            return {"error": error.to_json()}
        outcome: StepState = "stopped" if context.cancelled.is_set() else "done"
        seconds = time.perf_counter() - began
        context.emit(StepFinished(name, title, outcome, seconds, result.detail, result.tokens))
        return _added_up(state, result.update)

    return run


def _added_up(state: TurnState, update: dict[str, Any]) -> dict[str, Any]:
    """Return the update with its tokens added to those of the steps before."""
    if "usage" not in update:
        return update
    return {**update, "usage": state["usage"].plus(update["usage"])}
