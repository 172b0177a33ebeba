"""A model's reply as data of a given shape: what does not fit the shape is None, never guessed."""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from core.models.budget import Message
from core.models.chat import ChatModel
from core.models.sound import sound_json
from core.types import Usage

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Structured(Generic[Shape]):
    """`value` is None when the reply was not of the shape; `text` is the reply as it came."""

    value: Shape | None
    text: str
    usage: Usage


def ask(
    chat: ChatModel,
    messages: Sequence[Message],
    shape: type[Shape],
    cancelled: threading.Event | None = None,
) -> Structured[Shape]:
    """Send a prompt whose reply is to be JSON of `shape`, and wait for it.

    Raises:
        ModelFailed: the model cannot be used, or broke off.
        Cancelled: the reader stopped it.
    """
    reply = chat.stream(messages, cancelled, shape.model_json_schema())
    text = reply.read()
    return Structured(parse(text, shape), text, reply.usage)


def parse(text: str, shape: type[Shape]) -> Shape | None:
    """Return the JSON object in `text` as `shape`, or None; words and fences around it are let go."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        return shape.model_validate(sound_json(json.loads(text[start : end + 1])))
    except (ValueError, ValidationError, RecursionError):
        return None
