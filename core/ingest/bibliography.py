"""Cutting the list of references into its entries: by their numbers, or by how they are set."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.ingest.layout import Line, weighted_median
from core.ingest.references import parse_reference, split_label
from core.ingest.sections import Section
from core.ingest.text import Hyphens, joint, letters
from core.types import Reference

MOST_ENTRIES = 2_000
_MOST_LINES = 25
"""An entry is not longer; what goes on is no list of references any more."""
_ADDRESS = re.compile(r"(?:https?:|www\.|doi|10\.\d{4,9}/|arxiv)\S*[/._:-]$", re.I)
_NUMBER = re.compile(r"\[\D*(\d{1,4})[a-z]?\]")
_OPENS = re.compile(
    r"[^\W\d_a-z]|[“\"‘'’]?[^\W\d_a-z]|\d{4}\b|(?:van|von|de|der|di|da|la|le|d’|d')\s?\S"
)


@dataclass(frozen=True, slots=True)
class _Row:
    line: Line
    page: int
    label: str
    inset: float
    """How far it begins right of its column's edge, in heights of its type."""
    above: float
    """The way from the line before in its column, in heights of its type; 0 for the first."""


def references_of(sections: Sequence[Section], hyphens: Hyphens) -> tuple[Reference, ...]:
    """Return the entries of a paper's lists of references, in their order."""
    found: list[Reference] = []
    for section in sections:
        if section.kind != "references":
            continue
        entries = []
        for rows in _entries(_rows(section)):
            text = running_text([row.line for row in rows], hyphens)
            if len(rows) <= _MOST_LINES and letters(text) >= 12:
                entries.append(parse_reference(text, rows[0].page))
        if sum(bool(entry.year or entry.label) for entry in entries) >= 0.4 * len(entries):
            found += entries
    return tuple(found[:MOST_ENTRIES])


def _rows(section: Section) -> list[_Row]:
    """Return the list's lines with where they stand, without heading and captions."""
    lines = [
        (line, paragraph.page)
        for paragraph in section.paragraphs
        if not paragraph.heading and paragraph.kind == "references"
        for line in paragraph.lines
    ]
    usual = weighted_median([(line.size, line.characters) for line, _ in lines])
    lines = [(line, page) for line, page in lines if 0.8 * usual <= line.size <= 1.25 * usual]
    edges: dict[tuple[int, int], float] = {}
    for line, page in lines:
        key = page, line.column
        edges[key] = min(edges.get(key, line.x0), line.x0)
    rows = []
    before: tuple[Line, int] | None = None
    for line, page in lines:
        em = max(1.0, line.size)
        same = before is not None and before[1] == page and before[0].column == line.column
        above = (line.y0 - before[0].y0) / em if before is not None and same else 0.0
        inset = (line.x0 - edges[page, line.column]) / em
        rows.append(_Row(line, page, split_label(line.text)[0], inset, above))
        before = line, page
    return rows


def _entries(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Yield the rows of each entry."""
    starts = _numbered(rows) or _named(rows)
    current: list[_Row] = []
    for at, row in enumerate(rows):
        if at in starts and current:
            yield current
            current = []
        if current or at in starts:
            current.append(row)
    if current:
        yield current


def _numbered(rows: Sequence[_Row]) -> set[int]:
    """Return where entries begin when they count up; empty when they do not.

    A line that begins with another number (of a year, a page) does not.
    """
    starts: list[int] = []
    last = 0
    for at, row in enumerate(rows):
        found = _NUMBER.fullmatch(row.label)
        number = int(found[1]) if found else 0
        counts_on = number == last + 1 or (last < number <= last + 3 and bool(starts))
        if number and (counts_on or at == 0):
            starts.append(at)
            last = number
    labelled = sum(bool(row.label) and row.line.text.lstrip()[:1] in "[［【〔" for row in rows)
    if labelled > max(2, len(starts)) and labelled >= 0.12 * len(rows):  # [Vas17], [ACL30]
        return {
            at
            for at, row in enumerate(rows)
            if row.label and row.line.text.lstrip()[:1] in "[［【〔"
        }
    return set(starts) if len(starts) >= max(1, 0.04 * len(rows)) and starts[0] <= 3 else set()


def _named(rows: Sequence[_Row]) -> set[int]:
    """Return where entries begin in a list ordered by names: hanging indents, gaps, or endings."""
    if not rows:
        return set()
    inset = [row.inset > 0.5 for row in rows]
    if 0.2 * len(rows) <= sum(inset) <= 0.9 * len(rows) and _hanging(rows):
        return {0} | {at for at, row in enumerate(rows) if row.inset <= 0.5 and _opens(row)}
    steps = sorted(row.above for row in rows if row.above > 0)
    usual = steps[len(steps) // 4] if steps else 1.2
    gaps = {at for at, row in enumerate(rows) if row.above > 1.25 * usual and _opens(row)}
    if len(gaps) >= 0.1 * len(rows):
        return (
            {0}
            | gaps
            | {
                at
                for at, (last, row) in enumerate(pairwise(rows), 1)
                if not row.above and _ends(last) and _opens(row)
            }
        )
    return {0} | {
        at
        for at, (last, row) in enumerate(pairwise(rows), 1)
        if _ends(last)
        and _opens(row)
        and re.search(r"(?:1[5-9]|20)\d\d", row.line.text + last.line.text)
    }


def _hanging(rows: Sequence[_Row]) -> bool:
    """Return whether lines at the edge open entries, rather than lines set in (first-line indent)."""
    edge = [row for row in rows if row.inset <= 0.5]
    return sum(map(_opens, edge)) >= 0.7 * len(edge)


def _opens(row: _Row) -> bool:
    return bool(_OPENS.match(row.line.text.strip()))


def _ends(row: _Row) -> bool:
    text = row.line.text.rstrip()
    return text.endswith((".", "。", ")", "]")) and not re.search(
        r"\b(?:[A-Z]|pp?|vol|et al)\.$", text
    )


def running_text(lines: Iterable[Line], hyphens: Hyphens) -> str:
    """Return lines as one text: words broken at line ends mended, addresses put together."""
    whole, broken = "", False
    for line in lines:
        text = line.text.strip()
        if not text:
            continue
        tail = whole.rsplit(" ", 1)[-1]
        if whole and broken and not _ADDRESS.search(tail):
            head, _, rest = text.partition(" ")
            whole = whole[: len(whole) - len(tail)] + hyphens.join(tail, head)
            whole += f" {rest}" if rest else ""
        elif _ADDRESS.search(tail):
            whole += text
        else:
            whole += joint(whole, text) + text if whole else text
        last = line.words[-1]
        broken = last.hyphen or (len(last.text) > 2 and last.text.endswith(("-", "\u2010")))
    return whole
