"""What became different when a turn was run again. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.db.conversations import TurnRow


@dataclass(frozen=True, slots=True)
class Side:
    """One run of a turn in figures. `tokens` are those of prompts and answers; `seconds` of steps."""

    mode: str
    intent: str
    supported: int
    checked: int
    citations: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Changes:
    """The two runs, and by passage which citations stayed, went and came."""

    before: Side
    after: Side
    same_text: bool
    kept: int
    gone: tuple[Mapping[str, Any], ...]
    new: tuple[Mapping[str, Any], ...]


def changes(before: TurnRow, after: TurnRow) -> Changes:
    """Compare two runs of one turn. A passage is one and the same by file, page and quote."""
    old = {_passage(citation): citation for citation in before.citations}
    new = {_passage(citation): citation for citation in after.citations}
    return Changes(
        _side(before),
        _side(after),
        _text(before) == _text(after),
        len(old.keys() & new.keys()),
        tuple(citation for key, citation in old.items() if key not in new),
        tuple(citation for key, citation in new.items() if key not in old),
    )


def _passage(citation: Mapping[str, Any]) -> tuple[str, int, str]:
    return citation["file"], citation["page"], " ".join(citation["quote"].split())


def _text(turn: TurnRow) -> str:
    return " ".join(turn.answer.split())


def _side(turn: TurnRow) -> Side:
    verdicts = [sentence["verdict"] for sentence in turn.sentences if sentence["verdict"]]
    return Side(
        turn.mode,
        turn.intent,
        verdicts.count("supported"),
        len(verdicts),
        len(turn.citations),
        spent(turn.usage),
        seconds(turn.steps),
    )


def spent(usage: Mapping[str, Any]) -> int:
    """Return the tokens of a turn's prompts and answers."""
    return int(usage.get("prompt_tokens", 0)) + int(usage.get("completion_tokens", 0))


def seconds(steps: Sequence[Mapping[str, Any]]) -> float:
    """Return how long a turn's steps took together; a step within another is part of it."""
    return float(sum(step.get("seconds", 0.0) for step in steps if "." not in step.get("node", "")))
