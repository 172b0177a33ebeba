"""What Postgres cannot store as text, replaced in one place."""

import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return `text` with NUL characters and lone surrogates replaced by U+FFFD.

    One character for one, so that offsets into the text still hold.
    """
    return _UNSTORABLE.sub("\ufffd", text)


def storable_json(value: Any) -> Any:
    """Return a JSON value with every text in it made storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {key: storable_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(item) for item in value]
    return value
