"""How well tables are read from PDFs: cells in their rows and columns, against the papers' sources.

The truth are the tables of the LaTeXML pages made from the same TeX as the PDFs. A cell that spans
columns counts in the first of them. Rows are aligned in order so that most cells agree.
"""

import re
import unicodedata
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.ingest.worker import Worker

PAPERS = {
    "1706.03762": "attention_1706.03762_compiled.pdf",
    "2310.06825": "mistral_2310.06825_compiled.pdf",
    "2305.03393": "otsl_2305.03393_page9_table.pdf",
}
_UNSEEN = ("annotation", "annotation-xml", "cite")
"""TeX behind a formula, and citations: the pages show keys where the PDF has numbers."""
_CITED = re.compile(r"\[\d+(?:,\s?\d+)*\]")
Rows = Sequence[Sequence[str]]

_NUMBER = re.compile(r"table\s*(\d+)", re.I)


def run(data: Path) -> dict[str, Any]:
    """Return for each true table how many of its cells we have in their place, and of ours are so.

    Args:
        data: the folder with `arxiv_triples` and `pdf_papers`.

    Raises:
        BadInput: they are not there.
    """
    if not (data / "arxiv_triples").is_dir():
        raise BadInput(
            "The folder holds no papers with their sources.", hint="Name it with --data."
        )
    worker = Worker()
    figures: dict[str, Any] = {}
    right = ours = there = 0
    try:
        for name, file in PAPERS.items():
            paper, _ = worker.parse((data / "pdf_papers" / file).read_bytes())
            found = {_named(table.caption): table.rows for table in paper.structure.tables}
            for number, rows in true_tables(data / "arxiv_triples" / name / "latexml.html").items():
                if file.endswith("page9_table.pdf") and number != 1:
                    continue
                own = found.get(number, ())
                counts = agreement(rows, own)
                figures[f"{name} table {number}"] = _row(*counts) | {"found": bool(own)}
                right, ours, there = (
                    a + b for a, b in zip((right, ours, there), counts, strict=True)
                )
    finally:
        worker.close()
    return {"tables": figures, "all": _row(right, ours, there)}


def _row(right: int, ours: int, there: int) -> dict[str, Any]:
    precision, recall = right / max(1, ours), right / max(1, there)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {
        "cells": there,
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(f1, 3),
    }


def agreement(truth: Rows, own: Rows) -> tuple[int, int, int]:
    """Return how many cells agree in text and column (rows aligned in order), of ours, of truth."""
    wanted = [[_letters(cell) for cell in row] for row in truth]
    had = [[_letters(cell) for cell in row] for row in own]
    best = [0] * (len(had) + 1)
    for row in wanted:
        last, corner = 0, 0
        for at, other in enumerate(had, 1):
            equal = sum(bool(a) and a == b for a, b in zip(row, other, strict=False))
            above = best[at]
            best[at] = last = max(above, last, corner + equal)
            corner = above
    return best[-1], _filled(had), _filled(wanted)


def _filled(rows: Rows) -> int:
    return sum(bool(cell) for row in rows for cell in row)


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", _CITED.sub("", text).casefold())
    return "".join(char for char in plain if char.isalnum() or char == ".")


def _named(caption: str) -> int:
    found = _NUMBER.match(caption)
    return int(found[1]) if found else 0


def true_tables(page: Path) -> dict[int, Rows]:
    """Return the tables of a LaTeXML page by their numbers."""
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return {number: rows for number, rows in reader.tables.items() if rows}


class _Reader(HTMLParser):
    """Collects the rows of each figure element that is captioned as a table."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[int, list[list[str]]] = {}
        self._depth = 0
        self._rows: list[list[str]] = []
        self._caption = ""
        self._open: list[str] = []
        self._nested = self._at = 0
        self._taken: set[tuple[int, int]] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "figure" and "ltx_table" in (given.get("class") or ""):
            self._depth, self._rows, self._caption, self._taken = 1, [], "", set()
        if not self._depth:
            return
        if tag == "table":
            self._nested += 1
        if tag == "tr" and self._nested <= 1:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows and self._nested <= 1:
            self._cell(int(given.get("colspan") or 1), int(given.get("rowspan") or 1))
        if tag in ("td", "th", "figcaption", "annotation", "annotation-xml", "cite"):
            self._open.append(tag)

    def _cell(self, wide: int, tall: int) -> None:
        """Open a cell at the row's first place that none above reaches down to."""
        row, number = self._rows[-1], len(self._rows)
        while (number, len(row)) in self._taken:
            row.append("")
        self._at = len(row)
        self._taken |= {
            (number + down, self._at + along) for down in range(1, tall) for along in range(wide)
        }
        row += [""] * wide

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure" and self._depth:
            number = _named(self._caption.strip())
            if number:
                self.tables[number] = self._rows
            self._depth = 0
        if tag == "table" and self._nested:
            self._nested -= 1
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._depth or any(tag in _UNSEEN for tag in self._open):
            return
        if "figcaption" in self._open:
            self._caption += data
        elif self._open and self._rows and self._rows[-1]:
            self._rows[-1][self._at] += data
