"""Text as every database takes it: without NUL, and without halves of surrogate pairs."""

import re
from typing import Any

_UNSOUND = re.compile("[\x00\ud800-\udfff]")


def sound(text: str) -> str:
    """Return `text` with what no database takes replaced by U+FFFD, one character for one."""
    return _UNSOUND.sub("\ufffd", text)


def sound_json(value: Any) -> Any:
    """Return a JSON value with every text in it made sound."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [sound_json(item) for item in value]
    if isinstance(value, dict):
        return {key: sound_json(item) for key, item in value.items()}
    return value
