"""Tables as CSV, harmless to a spreadsheet."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_SIGNED = re.compile(r"[+-]\d[\d.,]*%?")
"""A number with its sign, which a spreadsheet may take for what it is."""


def table_to_csv(part: Mapping[str, Any], sentences: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a table part of an answer: a row for each head, and per column text and verdicts."""
    columns = [name for column in part["columns"] for name in (column, f"{column} (verdict)")]
    rows = [
        [head, *(text for cell in row for text in _cell(cell, sentences))]
        for head, row in zip(part["heads"], part["rows"], strict=True)
    ]
    return cells_to_csv([["", *columns], *rows])


def cells_to_csv(rows: Sequence[Sequence[str]]) -> bytes:
    """Return rows of cells as CSV in UTF-8 with a byte order mark, harmless to a spreadsheet."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return b"\xef\xbb\xbf" + out.getvalue().encode(errors="replace")


def harmless(cell: str) -> str:
    """Return a cell with an apostrophe before what a spreadsheet would take for a formula."""
    formula = cell.startswith(_FORMULA) and not _SIGNED.fullmatch(cell)
    return f"'{cell}" if formula else cell


def _cell(cell: Sequence[int], sentences: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    said = [sentences[at] for at in cell]
    verdicts = dict.fromkeys(sentence["verdict"] for sentence in said if sentence["verdict"])
    return " ".join(sentence["text"] for sentence in said), ", ".join(verdicts)
