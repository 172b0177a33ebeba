"""A finished review as data, and what is read from it by pages, exports and the command line.

A document has, beside `topic`, `language` (en, zh) and `mode` (extractive, llm):

- `parts`, `sentences`, `citations`: as in an answer (`core.types`). A sentence cites passages, each
  with a number of its own, so that a click shows the one that belongs to this sentence.
- `references`: the papers, `n` from 1: {n, paper_id, title, authors, year, url, doi, arxiv_id,
  evidence}, evidence `full_text` or `abstract`. `reference_of` has the reference of each passage.
  What a reader sees and exports is the number of the reference.
- `verified`: {supported, total} sentences; `stats`: see `core.review.write`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.evidence.numbering import renumber

Document = Mapping[str, Any]
_TWICE = re.compile(r"(\[\d+\])(?:\1)+")
"""Two passages of one paper, one after the other."""


def shown(document: Document, text: str) -> str:
    """Return a text of a review with the numbers of papers in the place of those of passages."""
    reference_of = document["reference_of"]

    def meant(n: int) -> Sequence[int]:
        return (reference_of[str(n)],) if str(n) in reference_of else ()

    return _TWICE.sub(r"\1", renumber(text, meant))


def numbers(document: Document, passages: Sequence[int]) -> list[int]:
    """Return the references of some passages, each once."""
    reference_of = document["reference_of"]
    return list(dict.fromkeys(reference_of[str(n)] for n in passages if str(n) in reference_of))


def draft(document: Document) -> str:
    """Return the whole review as plain text with Markdown headings, without the references."""
    said = [shown(document, sentence["text"]) for sentence in document["sentences"]]
    blocks: list[str] = []
    for part in document["parts"]:
        if part["title"]:
            blocks.append(f"## {part['title']}")
        items = [said[at] for at in part["items"]]
        blocks.append(
            "\n".join(f"- {i}" for i in items) if part["kind"] == "claims" else " ".join(items)
        )
        if part["kind"] == "table":
            rows = zip(part["heads"], part["rows"], strict=True)
            blocks += [
                f"- {head} · {column}: {' '.join(said[at] for at in cell)}"
                for head, row in rows
                for column, cell in zip(part["columns"], row, strict=True)
                if cell
            ]
    return "\n\n".join(block for block in blocks if block)


def public(document: Document) -> dict[str, Any]:
    """Return what the command line prints of a review."""
    kept = ("n", "paper_id", "title", "authors", "year", "url", "evidence")
    return {
        "topic": document["topic"],
        "draft": draft(document),
        "references": [{key: r[key] for key in kept} for r in document["references"]],
        "sentences": [
            {
                "text": shown(document, sentence["text"]),
                "citations": numbers(document, sentence["citations"]),
                "verdict": sentence["verdict"],
                "reason": sentence["reason"],
            }
            for sentence in document["sentences"]
        ],
        "verified": document["verified"],
        "stats": document["stats"],
    }
