"""The one list of tools: what each takes, as JSON schema for a model, and how it is called.

A tool is a function with the decorator `tool`; the modules that hold them are named in
`core.tools.catalogue`, so a new one is one line there.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from core.tools.envelope import Envelope, arguments, enveloped
from core.tools.retry import retried
from core.tools.toolbox import Toolbox

Takes = TypeVar("Takes", bound=BaseModel)
Work = Callable[[Toolbox, Takes], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as models, pages and the command line see it.

    `about` tells a model when to call it; `takes` are its arguments.
    """

    name: str
    about: str
    takes: type[BaseModel]
    source: str
    work: Work[Any]

    def __call__(self, box: Toolbox, **given: Any) -> Envelope:
        """Check the arguments, do the work, try again what may go well another time."""
        began = time.monotonic()
        source = self.source

        def work() -> dict[str, Any]:
            nonlocal source
            wanted = arguments(self.takes, given)
            source = getattr(wanted, "source", self.source)
            return self.work(box, wanted)

        envelope = retried(
            lambda: enveloped(self.source, work),
            box.cancelled,
            first_pause=box.first_pause,
            report=box.report,
        )
        elapsed = round(1000 * (time.monotonic() - began))
        return {**envelope, "meta": {"source": source, "elapsed_ms": elapsed}}

    def schema(self) -> dict[str, Any]:
        """Return name, description and the JSON schema of the arguments, in OpenAI's form."""
        return {
            "name": self.name,
            "description": self.about,
            "parameters": self.takes.model_json_schema(),
        }


class Registry(Mapping[str, Tool]):
    """Tools by name, in the order they were registered."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Any:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def add(self, tool: Tool) -> None:
        """Register a tool.

        Raises:
            ValueError: there is one of that name; where modules register, that is at import.
        """
        if tool.name in self._tools:
            raise ValueError(f"two tools are called {tool.name!r}")
        self._tools[tool.name] = tool


TOOLS = Registry()


def tool(
    takes: type[Takes], *, source: str, about: str, registry: Registry = TOOLS
) -> Callable[[Work[Takes]], Tool]:
    """Make a tool of a function and register it under the function's name.

    The function returns the data of the envelope or raises `ToolFailure`; what else it raises is
    our own mistake. A field `source` of its arguments is where an answer is said to come from.
    """

    def made(work: Work[Takes]) -> Tool:
        found = Tool(work.__name__, about, takes, source, work)
        registry.add(found)
        return found

    return made
