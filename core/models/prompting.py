"""Prompts as templates in a folder. Text from papers is data: it cannot leave its fence."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_FENCE = re.compile(
    r"<(?=\s*/?\s*(?:passage|reading|selected_by_the_reader|note|question|conversation|text_to_check"
    r"|caption|topic|section|tool_result)\b)",
    re.IGNORECASE,
)
_SPECIAL = re.compile(r"<\|([^|>]{1,40})\|>")


def fenced(text: str) -> str:
    """Return the text unable to close its fence or to pose as a model's control token."""
    return _SPECIAL.sub(r"<¦\1¦>", _FENCE.sub("‹", text))


class Templates:
    """The templates of one folder, by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def render(self, template: str, **values: Any) -> str:
        """Return the prompt of that name.

        Raises:
            jinja2.UndefinedError: a value the template uses is missing.
        """
        return self._environment().get_template(f"{template}.jinja").render(**values).strip()

    def _environment(self) -> Environment:
        environment = Environment(  # noqa: S701 - prompts are text, not HTML
            loader=FileSystemLoader(self._folder), undefined=StrictUndefined
        )
        environment.filters["fenced"] = fenced
        return environment
