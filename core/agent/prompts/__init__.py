"""Prompts as templates, one per branch. Text from papers is data: it cannot leave its fence."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_FENCE = re.compile(
    r"<(?=\s*/?\s*(?:passage|reading|selected_by_the_reader|note|question|conversation|text_to_check|caption)\b)",
    re.IGNORECASE,
)
_SPECIAL = re.compile(r"<\|([^|>]{1,40})\|>")


def fenced(text: str) -> str:
    """Return the text unable to close its fence or to pose as a model's control token."""
    return _SPECIAL.sub(r"<¦\1¦>", _FENCE.sub("‹", text))


def render(template: str, **values: Any) -> str:
    """Return the prompt of that name.

    Raises:
        jinja2.UndefinedError: a value the template uses is missing.
    """
    return _environment().get_template(f"{template}.jinja").render(**values).strip()


def _environment() -> Environment:
    environment = Environment(  # noqa: S701 - prompts are text, not HTML
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined
    )
    environment.filters["fenced"] = fenced
    return environment
