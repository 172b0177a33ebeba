"""Are follow-up questions made to stand alone, and those that stand alone let be?

`carried`: the share of follow-ups whose rewritten form holds every word of `must_contain`;
`left_alone`: the share of the other questions that come back as they were.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.agent.state import Exchange
from core.evals.sets import read_jsonl

Rewrite = Callable[[str, Sequence[Exchange]], str]


def run(path: Path, rewrite: Rewrite) -> dict[str, Any]:
    """Return the figures by half, and what went wrong.

    Raises:
        BadInput: the set is not there or malformed.
    """
    rows = list(read_jsonl(path))
    halves = dict.fromkeys(row["half"] for row in rows)
    return {half: _half([r for r in rows if r["half"] == half], rewrite) for half in halves}


def _half(rows: Sequence[dict[str, Any]], rewrite: Rewrite) -> dict[str, Any]:
    made = [(row, rewrite(row["question"], _history(row))) for row in rows]
    follow_ups = [(row, text) for row, text in made if row["must_contain"]]
    alone = [(row, text) for row, text in made if not row["must_contain"]]
    good = [_carries(row, text) for row, text in follow_ups]
    kept = [text == row["question"] for row, text in alone]
    return {
        "n": len(rows),
        "carried": round(sum(good) / max(1, len(good)), 3),
        "left_alone": round(sum(kept) / max(1, len(kept)), 3),
        "wrong": [
            {"id": row["id"], "became": text}
            for (row, text), right in zip([*follow_ups, *alone], [*good, *kept], strict=True)
            if not right
        ],
    }


def _history(row: dict[str, Any]) -> list[Exchange]:
    return [Exchange(turn["q"], turn["a"]) for turn in row["history"]]


def _carries(row: dict[str, Any], text: str) -> bool:
    said = text.casefold()
    return all(word.casefold() in said for word in row["must_contain"])
