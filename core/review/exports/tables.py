"""The evidence of a review as CSV, and all of it as JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.exports.sheets import cells_to_csv
from core.exports.text import one_line
from core.review.document import Document, shown
from core.review.exports.content import address

FORMAT = "lectern-review"
CSV_COLUMNS = (
    *("sentence", "verdict", "reason", "n", "title", "evidence"),
    *("page", "section", "quote", "url"),
)


def to_csv(document: Document) -> bytes:
    """Return a row for each passage a sentence cites, and one for a sentence that cites none.

    `n` is the number of the paper. UTF-8 with a byte order mark; formulas are harmless.
    """
    citations = {citation["n"]: citation for citation in document["citations"]}
    references = {reference["n"]: reference for reference in document["references"]}
    rows = [list(CSV_COLUMNS)]
    for sentence in document["sentences"]:
        said = [shown(document, sentence["text"]), sentence["verdict"] or "", sentence["reason"]]
        passages = [citations[n] for n in sentence["citations"] if n in citations]
        for passage in passages:
            reference = references.get(document["reference_of"].get(str(passage["n"])), {})
            rows.append([*said, *_passage(passage, reference)])
        if not passages:
            rows.append([*said, *[""] * (len(CSV_COLUMNS) - len(said))])
    return cells_to_csv([[one_line(cell) for cell in row] for row in rows])


def to_json(document: Document) -> str:
    """Return the whole document; `Citation.from_json` reads its citations."""
    written = {"format": FORMAT, "version": 1, **document}
    return json.dumps(written, ensure_ascii=False, indent=2) + "\n"


def _passage(passage: Mapping[str, Any], reference: Mapping[str, Any]) -> Iterator[str]:
    yield str(reference.get("n", ""))
    yield reference.get("title") or passage["title"]
    yield reference.get("evidence", "")
    yield str(passage["page"])
    yield passage["section"]
    yield passage["quote"]
    yield address(reference) if reference else ""
