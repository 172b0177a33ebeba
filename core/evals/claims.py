"""Are claims about the sample papers judged right: supported, partly, contradicted, unsupported?

Claims go through the whole turn: search over all sample papers, the passages attached, the verifier.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.wording import say

MOST = 20
"""Claims asked in one turn."""


def run(labels: Path, check: Callable[[Sequence[str]], Sequence[str]]) -> dict[str, Any]:
    """Return how many verdicts are right, by half and by the right verdict, and those that are not.

    Args:
        labels: lines with `half`, `claim` and its `verdict`.
        check: gives each claim's verdict, in order.

    Raises:
        BadInput: the labels are not there.
    """
    rows = read(labels)
    verdicts: list[str] = []
    for start in range(0, len(rows), MOST):
        verdicts += check([row["claim"] for row in rows[start : start + MOST]])
    right: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    wrong = []
    for row, verdict in zip(rows, verdicts, strict=True):
        for key in ((row["half"], "all"), (row["half"], row["verdict"])):
            asked[key] += 1
            right[key] += verdict == row["verdict"]
        if verdict != row["verdict"]:
            wrong.append({**row, "judged": verdict})
    return {
        half: {
            label: {"right": right[half, label], "of": asked[half, label]}
            for of_half, label in asked
            if of_half == half
        }
        for half in dict.fromkeys(row["half"] for row in rows)
    } | {"wrong": wrong}


def read(labels: Path) -> list[dict[str, str]]:
    """Read the labelled set.

    Raises:
        BadInput: it is not there.
    """
    if not labels.is_file():
        raise BadInput(say("There is no labelled set {path}.", path=str(labels)))
    return [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
