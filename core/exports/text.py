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

_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff"
"""Marks of direction that last beyond their text, and the two characters that are none."""


def doubt(sentence: Mapping[str, Any], translate: Translate) -> str:
    """Return in words that a sentence is not (wholly) supported, and why; empty if it is."""
    said = _VERDICTS.get(sentence.get("verdict") or "")
    if said is None:
        return ""
    reason = sentence.get("reason", "")
    return ": ".join([translate(said), *([translate(reason)] if reason else [])])


def one_line(text: str) -> str:
    """Return text without control characters, every run of white space a space.

    Characters that turn the direction of what follows are dropped, and what XML cannot hold.
    """
    return " ".join("".join(c for c in text if c.isspace() or not _unseen(c)).split())


def _unseen(character: str) -> bool:
    return character in _TURNS or unicodedata.category(character) in ("Cc", "Cs")
