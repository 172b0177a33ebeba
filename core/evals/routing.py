"""Does a question go the way its writer meant? Labelled questions in both languages, in two halves."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.agent.intents import all_intents
from core.agent.router import Route
from core.evals.sets import read_jsonl


class _Outcome(NamedTuple):
    row: dict[str, Any]
    chosen: str
    seconds: float

    @property
    def right(self) -> bool:
        """Whether the intent is the labelled one, or one that the label lets pass."""
        return self.chosen == self.row["intent"] or self.chosen in self.row["also"]


def run(path: Path, route: Callable[[str], Route]) -> dict[str, Any]:
    """Route every question whose intent is in the table; figures by half.

    `missing` names the intents of the set that are not in the table: their questions are left out.

    Raises:
        BadInput: the set is not there or malformed.
    """
    known = {entry.name for entry in all_intents()}
    rows = list(read_jsonl(path))
    route("warm up")
    done = [_timed(row, route) for row in rows if row["intent"] in known]
    halves = dict.fromkeys(row["half"] for row in rows)
    return {
        **{half: _figures([o for o in done if o.row["half"] == half]) for half in halves},
        "missing": sorted({row["intent"] for row in rows} - known),
    }


def _timed(row: dict[str, Any], route: Callable[[str], Route]) -> _Outcome:
    began = time.perf_counter()
    chosen = route(row["text"]).intent
    return _Outcome(row, chosen, time.perf_counter() - began)


def _figures(done: Sequence[_Outcome]) -> dict[str, Any]:
    asked = Counter(outcome.row["intent"] for outcome in done)
    right = Counter(outcome.row["intent"] for outcome in done if outcome.right)
    by_language = {
        lang: _share([o for o in done if o.row["lang"] == lang]) for lang in ("en", "zh")
    }
    return {
        "n": len(done),
        "accuracy": _share(done),
        "strictly": round(sum(o.chosen == o.row["intent"] for o in done) / max(1, len(done)), 3),
        "by_language": by_language,
        "per_intent": {name: f"{right[name]}/{n}" for name, n in asked.items()},
        "wrong": [f"{o.row['id']}: {o.chosen}" for o in done if not o.right],
        "ms_p95": round(float(np.quantile([o.seconds for o in done] or [0.0], 0.95)) * 1000, 1),
    }


def _share(done: Sequence[_Outcome]) -> float:
    return round(sum(outcome.right for outcome in done) / max(1, len(done)), 3)
