"""Text on one line, and what is said of a verdict: for every kind of export."""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from core.wording import phrase

Translate = Callable[[str], str]
"""From a sentence of Lectern's own, in English, to the reader's language."""

_VERDICTS = {
    "partly": phrase("partly supported"),
    "contradicted": phrase("contradicted by its passage"),
    "unsupported": phrase("not supported by a passage"),
}


def doubt(sentence: Mapping[str, Any], translate: Translate) -> str:
    """Return in words that a sentence is not (wholly) supported, and why; empty if it is."""
    said = _VERDICTS.get(sentence.get("verdict") or "")
    if said is None:
        return ""
    reason = sentence.get("reason", "")
    return ": ".join([translate(said), *([translate(reason)] if reason else [])])


def one_line(text: str) -> str:
    """Return text without control characters, every run of white space a space."""
    seen = "".join(c if unicodedata.category(c) != "Cc" or c.isspace() else "" for c in text)
    return " ".join(seen.split())
