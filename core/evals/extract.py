"""Does the form about a paper say the right thing in the right field, with the page it stands on?

A label names a paper, a field (or `value`: a row of the table of results, as `metric | value | on`),
a regular expression that a cell has to match, and the pages that a citation of it may name. Papers
of the `report` half were not looked at while the choosing was set up.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.agent.looks import DATA, LIMITS, METHOD, METRICS, RESULTS, TASK
from core.errors import BadInput
from core.evals.sets import read_jsonl
from core.wording import say

FIELDS = {
    look.aspect.title(False): look.aspect.name
    for look in (TASK, METHOD, DATA, METRICS, RESULTS, LIMITS)
}
VALUE = "value"


def run(
    labels: Path, folders: tuple[Path, ...], read: Callable[[Path], Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the share of labels met, by half and field, and how cells were judged.

    Args:
        labels: the labelled set.
        folders: where its files are.
        read: extracts from a file; returns the finished turn's public form.

    Raises:
        BadInput: the labels, or a paper of theirs, are not there.
    """
    met: Counter[tuple[str, str]] = Counter()
    asked: Counter[tuple[str, str]] = Counter()
    verdicts: Counter[str] = Counter()
    forms: dict[str, list[tuple[str, str, set[int]]]] = {}
    missed = []
    for row in read_jsonl(labels):
        if row["file"] not in forms:
            result = read(_found(row["file"], folders))
            forms[row["file"]] = entries(result)
            verdicts.update(s["verdict"] for s in result["sentences"] if s["citations"])
        good = any(
            field == row["field"] and re.search(row["must_match"], text) and pages & {*row["pages"]}
            for field, text, pages in forms[row["file"]]
        )
        for key in ((row["half"], "all"), (row["half"], row["field"])):
            asked[key] += 1
            met[key] += good
        if not good:
            missed.append({key: row[key] for key in ("half", "file", "field", "must_match")})
    halves = {
        half: {
            field: {"met": met[half, field], "of": asked[half, field]}
            for of_half, field in asked
            if of_half == half
        }
        for half in dict.fromkeys(half for half, _ in asked)
    }
    return halves | {"cells": dict(verdicts), "missed": missed}


def entries(result: Mapping[str, Any]) -> list[tuple[str, str, set[int]]]:
    """Return the rows of a turn's tables: field, text, and the pages its citations name."""
    said = result["sentences"]
    page = {citation["n"]: citation["page"] for citation in result["citations"]}
    found = []
    for part in result["parts"]:
        for head, row in zip(part["heads"], part["rows"], strict=True):
            cells = [[_plain(said[i]["text"]) for i in cell] for cell in row]
            pages = {page[n] for cell in row for i in cell for n in said[i]["citations"]}
            if head in FIELDS:
                found += [(FIELDS[head], text, pages) for cell in cells for text in cell]
            else:
                value = " ".join(cells[0])
                on = ", ".join(cells[1] if len(cells) > 2 else [])
                found.append((VALUE, f"{head} | {value} | {on}", pages))
    return found


def _plain(text: str) -> str:
    return re.sub(r"\s*(?:\[\d+\])+$", "", " ".join(text.split()))


def _found(name: str, folders: tuple[Path, ...]) -> Path:
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise BadInput(
        say("There is no file {name}.", name=name),
        hint=say("Name the folder of the papers with --papers."),
    )
