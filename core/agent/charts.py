"""A paper's figures and tables: which of them a question means, and a chart read by a model, checked."""

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from PIL import Image
from pydantic import BaseModel, Field

from core.evidence.facts import content, normalise
from core.evidence.quotes import fold
from core.types import Box, Chunk, Structure

Kind = Literal["figure", "table"]

SCALE = 2.0
"""Pixels a point of the picture that a model sees."""
_LONGEST_SIDE = 1_400
_MARGIN = 0.01
"""Of the page, around a figure."""
_MOST_COLUMNS, _MOST_ROWS, _LONGEST_CELL = 12, 60, 80

_LABEL = re.compile(
    r"(?P<table>\b(?:tables?|tab\.)|表格?)\s*(?P<t>[A-Z]?\.?\d+|[IVX]+\b)"
    r"|(?P<figure>\b(?:fig(?:ure)?s?\.?|charts?|plots?|diagrams?)|图表?)\s*(?P<f>[A-Z]?\.?\d+|[IVX]+\b)",
    re.IGNORECASE,
)
_TABLES = re.compile(r"\btables?\b|表", re.IGNORECASE)
_FIGURES = re.compile(
    r"\b(?:figures?|charts?|plots?|diagrams?|images?|graphs?)\b|图", re.IGNORECASE
)
_BOTH = re.compile(r"图表|\bfigures?\b.*\btables?\b|\btables?\b.*\bfigures?\b", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:extract\w*|show|get|give|list|pull|export|re-?plot|plot|read|digiti[sz]e|cut|turn|convert|into|all"
    r"|every|the|and|of|data|numbers?|values?|tables?|figures?|charts?|plots?|graphs?|diagrams?|images?|csv"
    r"|frames?|papers?|captions?|out|please|me|from|in|this|these|with|as|what|which|is|are)\b"
    r"|提取|抽取|导出|列出|显示|给我|所有|全部|图表?|表格?|数据|论文|文中|里|中|的|这篇|把|和|出来|读取|画出|重新|成",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?")


@dataclass(frozen=True, slots=True)
class Item:
    """A figure or a table of a paper; `rows` are a table's cells."""

    kind: Kind
    page: int
    box: Box
    caption: str
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def label(self) -> tuple[str, str] | None:
        """Return kind and number as the caption names them, None when it does not."""
        match = _LABEL.match(self.caption.strip())
        return _named(match) if match else None


@dataclass(frozen=True, slots=True)
class Owned:
    """An item with the paper it is of."""

    paper_id: UUID
    title: str
    item: Item


def items_of(structure: Structure) -> list[Item]:
    """Return a paper's figures and tables in the order of its pages."""
    found = [Item("figure", f.page, f.box, f.caption) for f in structure.figures]
    found += [Item("table", t.page, t.box, t.caption, t.rows) for t in structure.tables if t.rows]
    return sorted(found, key=lambda item: (item.page, item.box.y0))


def wanted(question: str, items: Sequence[Owned]) -> list[Owned] | None:
    """Return the items a question means: by number, by kind, by words of the caption.

    All when it names none; None when it names some that are not there.
    """
    labels = {_named(match) for match in _LABEL.finditer(question)}
    if labels:
        return [owned for owned in items if owned.item.label in labels] or None
    of_kind = [owned for owned in items if owned.item.kind in _kinds(question)]
    words = content(normalise(_ASKING.sub(" ", question)).casefold())
    shared = [len(words & content(normalise(o.item.caption).casefold())) for o in of_kind]
    most = max(shared, default=0)
    if not words or most * 2 < len(words):
        return of_kind or None
    return [owned for owned, count in zip(of_kind, shared, strict=True) if count == most]


def _named(match: re.Match[str]) -> tuple[str, str]:
    kind = "table" if match["table"] else "figure"
    return kind, (match["t"] or match["f"]).upper().replace(".", "")


def _kinds(question: str) -> tuple[str, ...]:
    tables, figures = bool(_TABLES.search(question)), bool(_FIGURES.search(question))
    if tables == figures or _BOTH.search(question):
        return ("figure", "table")
    return ("table",) if tables else ("figure",)


def chunk_of(caption: str, chunks: Sequence[Chunk]) -> Chunk | None:
    """Return the passage that holds a caption, a caption's own before others; None when none does."""
    needle = _letters(caption)
    if not needle:
        return None
    holding = [chunk for chunk in chunks if needle in _letters(chunk.text)]
    return min(
        holding,
        key=lambda chunk: (chunk.kind not in ("caption", "table"), len(chunk.text)),
        default=None,
    )


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", fold(text)[0])


def cut_out(page: bytes, box: Box) -> str:
    """Return the part of a page's picture (PNG) within `box`, as a data: URL of a PNG."""
    with Image.open(io.BytesIO(page)) as whole:
        width, height = whole.size
        part = whole.convert("RGB").crop(
            (
                round(max(0.0, box.x0 - _MARGIN) * width),
                round(max(0.0, box.y0 - _MARGIN) * height),
                round(min(1.0, box.x1 + _MARGIN) * width),
                round(min(1.0, box.y1 + _MARGIN) * height),
            )
        )
    part.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    out = io.BytesIO()
    part.save(out, "PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


class ColumnOfModel(BaseModel):
    """A column of a chart as a model read it."""

    name: str
    numeric: bool


class ChartOfModel(BaseModel):
    """A model's reply: whether the picture is a chart, and its data."""

    chart: bool
    columns: list[ColumnOfModel] = Field(default_factory=list)
    rows: list[list[str | int | float | None]] = Field(default_factory=list)


def rows_of(chart: ChartOfModel) -> tuple[tuple[str, ...], ...] | None:
    """Return head and rows of a chart as read, None unless they can be the data of a chart.

    That is: two columns and a row at least, all rows as long as the head, numbers where numbers
    are claimed, one such column at least, and no more of anything than a chart can show.
    """
    head = [" ".join(column.name.split()) for column in chart.columns]
    rows = [
        ["" if cell is None else " ".join(str(cell).split()) for cell in row] for row in chart.rows
    ]
    if not (2 <= len(head) <= _MOST_COLUMNS and 1 <= len(rows) <= _MOST_ROWS and all(head)):
        return None
    if any(len(row) != len(head) for row in rows):
        return None
    if any(len(cell) > _LONGEST_CELL for row in [head, *rows] for cell in row):
        return None
    numeric = [at for at, column in enumerate(chart.columns) if column.numeric]
    if not numeric or not all(_numbers([row[at] for row in rows]) for at in numeric):
        return None
    return (tuple(head), *(tuple(row) for row in rows))


def _numbers(cells: Sequence[str]) -> bool:
    """Return whether all cells that are filled hold a number, and most are filled."""
    filled = [cell for cell in cells if cell]
    return 2 * len(filled) >= len(cells) and all(_NUMBER.fullmatch(cell) for cell in filled)
