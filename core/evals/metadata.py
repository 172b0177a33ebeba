"""How often title, authors, year, language and identifiers of real papers are read right.

The labels (`data/evals/metadata.jsonl`) were made by reading the papers: every field as the
document itself prints it, empty or null where it does not say.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.ingest.worker import Worker
from core.types import PaperMeta
from core.wording import say


def run(labels: Path, papers: Path) -> dict[str, Any]:
    """Return for each field how many of the papers that it is asked of are right, and what is not.

    `year` and `identifiers` are asked only where the paper prints them; an author where it prints
    none is an error, as is a language.

    Raises:
        BadInput: the labels are not there.
    """
    worker = Worker()
    try:
        return score(
            (row, worker.parse((papers / row["file"]).read_bytes())[0].meta) for row in rows(labels)
        )
    finally:
        worker.close()


def rows(labels: Path) -> list[dict[str, Any]]:
    """Read the labelled set.

    Raises:
        BadInput: it is not there.
    """
    if not labels.is_file():
        raise BadInput(say("There is no labelled set {path}.", path=str(labels)))
    return [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]


def score(read: Iterable[tuple[Mapping[str, Any], PaperMeta]]) -> dict[str, Any]:
    """Compare labels with what was read; see `run`."""
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    wrong = []
    for row, meta in read:
        for name, good in _checks(row, meta).items():
            asked[name] += 1
            right[name] += good
            if not good:
                wrong.append({"file": row["file"], "field": name, "read": _shown(name, meta)})
    shares = {
        name: {
            "right": right[name],
            "of": asked[name],
            "share": round(right[name] / asked[name], 3),
        }
        for name in asked
    }
    return {**shares, "wrong": wrong}


def _checks(row: Mapping[str, Any], meta: PaperMeta) -> dict[str, bool]:
    names, wanted = ([_plain(name) for name in some] for some in (meta.authors, row["authors"]))
    found = {
        "title": _same_title(meta.title, row["title"]),
        "first_author": names[:1] == wanted[:1],
        "all_authors": set(names) == set(wanted),
        "language": meta.language == row["language"],
    }
    if row["year"] is not None:
        found["year"] = meta.year == row["year"]
    if row["doi"] or row["arxiv_id"]:
        found["identifiers"] = (meta.doi, meta.arxiv_id) == (row["doi"], row["arxiv_id"])
    return found


def _same_title(read: str, wanted: str) -> bool:
    """Return whether two titles are one, but for a subtitle that only one of them counts in."""
    a, b = _plain(read), _plain(wanted)
    return bool(a) and (a == b or (len(a) > 0.6 * len(b) and (a in b or b in a)))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _shown(name: str, meta: PaperMeta) -> str:
    fields = {
        "title": meta.title,
        "language": meta.language,
        "year": str(meta.year),
        "identifiers": f"{meta.doi} {meta.arxiv_id}".strip(),
    }
    return fields.get(name, ", ".join(meta.authors))
