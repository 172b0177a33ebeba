"""Do reading notes say what a paper says, each thing in the part where a reader looks for it?

A label names a paper, a part of the notes and a regular expression that a sentence of the part has
to match. Papers of the `report` half were not looked at while the choosing was set up.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.wording import say

Notes = Mapping[str, str]
"""What each part of the notes says, by the part's English title."""

TITLES = {
    "problem": "Problem",
    "idea": "Idea",
    "method": "Method, step by step",
    "evidence": "Evidence",
    "limits": "Limitations",
    "glossary": "Glossary",
}


def run(labels: Path, folders: tuple[Path, ...], read: Callable[[Path], Notes]) -> dict[str, Any]:
    """Return the share of labels met, by half and by part, and those that were not.

    Raises:
        BadInput: the labels, or a paper of theirs, are not there.
    """
    met: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    missed = []
    notes: dict[str, Notes] = {}
    for row in rows(labels):
        if row["file"] not in notes:
            notes[row["file"]] = read(_found(row["file"], folders))
        text = " ".join(notes[row["file"]].get(TITLES[row["part"]], "").split())
        good = re.search(row["must_match"], text) is not None
        for key in ((row["half"], "all"), (row["half"], row["part"])):
            asked[key] += 1
            met[key] += good
        if not good:
            missed.append({key: row[key] for key in ("half", "file", "part")})
    return {
        half: {
            part: {"met": met[half, part], "of": asked[half, part]}
            for of_half, part in asked
            if of_half == half
        }
        for half in dict.fromkeys(half for half, _ in asked)
    } | {"missed": missed}


def notes_of(result: Mapping[str, Any]) -> Notes:
    """Return what the parts of a finished turn say; of a table, heads and cells."""
    said = [sentence["text"] for sentence in result["sentences"]]
    return {
        part["title"]: " ".join(
            [*(said[i] for i in part["items"]), *part["heads"]]
            + [said[i] for row in part["rows"] for cell in row for i in cell]
        )
        for part in result["parts"]
    }


def rows(labels: Path) -> list[dict[str, Any]]:
    """Read the labelled set.

    Raises:
        BadInput: it is not there.
    """
    if not labels.is_file():
        raise BadInput(say("There is no labelled set {path}.", path=str(labels)))
    return [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]


def _found(name: str, folders: tuple[Path, ...]) -> Path:
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise BadInput(
        say("There is no file {name}.", name=name),
        hint=say("Name the folder of the papers with --papers."),
    )
