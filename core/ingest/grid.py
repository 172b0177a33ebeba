"""Rows and columns of a table from its words and rules.

Columns are the white strips that (nearly) all rows leave. A cell keeps its words, so that what is
made of it knows where it is printed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.ingest.drawn import Area, Drawn
from core.ingest.pdf import Word
from core.ingest.text import is_cjk

MOST_ROWS, MOST_COLUMNS = 200, 40
MOST_HEADS = 3
_GAP = 0.45
"""Of the type's height: what is wider parts two cells of a row."""
_SPLIT = 0.35
"""Of the type's height: at a column's edge a gap like this parts two cells."""
_STRIP = 3.0
_WORDY, _WORDS = 24, 4
"""Letters' widths, and words if not Chinese, that a cell's line has at least to be running text."""
_RUNS_ON, _IS_PROSE = 0.15, 0.4
"""Shares of rows that go on in the next: a table of wrapped text; two columns of prose."""
_STOP = re.compile(r"[.!?:;。！？：；]$")

Cell = list[list[Word]]
"""Printed lines of words; none when the cell is empty."""


@dataclass(slots=True)
class Row:
    """A table's row: its cells, and where it is printed."""

    cells: list[Cell]
    area: Area


@dataclass(slots=True)
class Grid:
    """A table as found: rows of equally many cells, and the area around them.

    `heads`: how many rows at the top name the columns. `runs_on`: text wraps from row to row, so
    that a row by itself is no sense.
    """

    area: Area
    rows: list[Row]
    runs_on: bool = False
    heads: int = 1


@dataclass(slots=True)
class Segment:
    """Words of a row without a wide gap."""

    words: list[Word]

    @property
    def x0(self) -> float:
        """Return where it begins."""
        return self.words[0].x0

    @property
    def x1(self) -> float:
        """Return where it ends."""
        return max(word.x1 for word in self.words)


@dataclass(slots=True)
class Printed:
    """A line of print across a table, and its cells once the columns are known."""

    segments: list[Segment]
    y0: float
    y1: float
    cells: list[Cell] = field(default_factory=list)


def grid_of(words: Sequence[Word], region: Area, drawn: Drawn) -> Grid | None:
    """Return the words of an area as rows and columns; None when they are no table."""
    down = [
        rule
        for rule in drawn.down
        if region[0] - 3 <= rule[0] <= region[2] + 3
        and min(rule[3], region[3]) - max(rule[1], region[1]) > 5
    ]
    lines = printed(words, down)
    if not 2 <= len(lines) <= MOST_ROWS:
        return None
    cuts = _cuts(lines, region, down)
    if not 1 <= len(cuts) < MOST_COLUMNS:
        return None
    for line in lines:
        line.cells = _cells(line, cuts)
    across = [rule for rule in drawn.across if _crosses(rule, region)]
    edges = _edges(lines, [*cuts, region[2] + 5])
    lines = _merged(lines, across, edges)
    rows = [Row(line.cells, around(_words(line.cells))) for line in lines]
    if len(rows) < 2 or _framed(rows) or (len(across) < len(rows) and average(rows) > 36):
        return None
    running = _running_on(rows, edges)
    if running > _IS_PROSE:
        return None
    area = around(words)
    whole = (
        min(area[0], region[0]),
        min(area[1], region[1]),
        max(area[2], region[2]),
        max(area[3], region[3]),
    )
    return Grid(whole, _without_empty(rows), running > _RUNS_ON, _heads(rows, across))


def _heads(rows: Sequence[Row], across: Sequence[Area]) -> int:
    """Return how many rows stand above the first rule below the top one; 1 when none tells."""
    for rule in sorted(across, key=lambda rule: rule[1]):
        above = sum((row.area[1] + row.area[3]) / 2 < rule[1] for row in rows)
        if above:
            return above if above <= MOST_HEADS and above < len(rows) else 1
    return 1


def around(words: Sequence[Word]) -> Area:
    """Return the area that words fill."""
    return (
        min(word.x0 for word in words),
        min(word.y0 for word in words),
        max(word.x1 for word in words),
        max(word.y1 for word in words),
    )


def average(rows: Sequence[Row]) -> float:
    """Return how long a filled cell is: running text in columns, or wrapped in cells, is long."""
    cells = [cell for row in rows for cell in row.cells if cell]
    return sum(map(_length, cells)) / max(1, len(cells))


def _length(cell: Cell) -> int:
    """Return a cell's length in letters' widths, spaces included."""
    return sum(map(_wide, (word for line in cell for word in line))) + sum(map(len, cell)) - 1


def _wide(word: Word) -> int:
    return sum(2 if is_cjk(char) else 1 for char in word.text)


def _words(cells: Sequence[Cell]) -> list[Word]:
    return [word for cell in cells for line in cell for word in line]


def printed(words: Sequence[Word], down: Sequence[Area]) -> list[Printed]:
    """Return words as printed lines, cut where a gap is wide or a rule of `down` stands."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.y0 + word.y1):
        middle = (word.y0 + word.y1) / 2
        if rows:
            last = max(rows[-1], key=lambda other: other.y1 - other.y0)
            tall = max(0.1, min(last.y1 - last.y0, word.y1 - word.y0))
            shared = min(last.y1, word.y1) - max(last.y0, word.y0)
            near = abs(middle - (last.y0 + last.y1) / 2) < 0.45 * max(
                last.y1 - last.y0, word.y1 - word.y0
            )
            if shared >= 0.5 * tall and near:
                rows[-1].append(word)
                continue
        rows.append([word])
    return [_line(sorted(row, key=lambda word: word.x0), down) for row in rows]


def _line(words: list[Word], down: Sequence[Area]) -> Printed:
    segments = [Segment([words[0]])]
    y0, y1 = min(word.y0 for word in words), max(word.y1 for word in words)
    middle = (y0 + y1) / 2
    rules = [(rule[0] + rule[2]) / 2 for rule in down if rule[1] - 1 <= middle <= rule[3] + 1]
    for left, right in pairwise(words):
        tall = max(left.y1 - left.y0, right.y1 - right.y0)
        ruled = any(left.x1 - 1.5 <= x <= right.x0 + 1.5 for x in rules)
        if right.x0 - segments[-1].x1 > _GAP * tall or ruled:
            segments.append(Segment([right]))
        else:
            segments[-1].words.append(right)
    return Printed(segments, y0, y1)


def _crosses(rule: Area, region: Area) -> bool:
    wide = min(rule[2], region[2]) - max(rule[0], region[0])
    return region[1] - 2 <= rule[1] <= region[3] + 2 and wide > 0.85 * (region[2] - region[0])


def _cuts(lines: Sequence[Printed], region: Area, down: Sequence[Area]) -> list[float]:
    """Return the x between columns: white strips, and rules drawn down."""
    x0 = region[0] - 5
    size = int(region[2] - x0) + 6
    cover = [0] * size
    for line in lines:
        for segment in line.segments:
            for x in range(max(0, int(segment.x0 - x0)), min(size, int(segment.x1 - x0) + 1)):
                cover[x] += 1
    allowed = max(1, int(0.25 * len(lines))) if len(lines) >= 4 else 0
    segments = [segment for line in lines for segment in line.segments]
    strips = [part for strip in _strips(cover, allowed) for part in _free(strip, segments, x0)]
    first = min(segment.x0 for segment in segments)
    last = max(segment.x1 for segment in segments)
    rules = _columns_ruled(lines, down)
    cuts = []
    for a, b in strips:
        left, right = a + x0, b + x0
        if left <= first or right >= last:
            continue
        inside = [x for x in rules if left - 2 <= x <= right + 2]
        cuts.append(inside[0] if inside else (left + right) / 2)
    cuts += [
        x for x in rules if first < x < last and not any(abs(x - cut) < _STRIP for cut in cuts)
    ]
    return sorted(cuts)


def _columns_ruled(lines: Sequence[Printed], down: Sequence[Area]) -> list[float]:
    """Return the x of rules that run along most lines and through no words."""
    found: list[float] = []
    for x in sorted({round((rule[0] + rule[2]) / 2, 1) for rule in down}):
        if found and x - found[-1] < 2 * _STRIP:
            continue
        along = [
            any(
                abs((r[0] + r[2]) / 2 - x) < 1.5 and r[1] - 2 <= (line.y0 + line.y1) / 2 <= r[3] + 2
                for r in down
            )
            for line in lines
        ]
        if sum(along) >= 0.5 * len(lines):
            found.append(x)
    return found


def _strips(cover: Sequence[int], allowed: int) -> list[tuple[int, int]]:
    """Return the stretches [a, b) covered by `allowed` lines at most: wide enough for a gap."""
    found = []
    start = None
    for x in range(len(cover) + 1):
        low = x < len(cover) and cover[x] <= allowed
        if low and start is None:
            start = x
        elif not low and start is not None:
            clear = sum(cover[at] == 0 for at in range(start, x))
            if clear >= _STRIP - 1 or x - start >= 2 * _STRIP:
                found.append((start, x))
            start = None
    return found


def _free(strip: tuple[int, int], segments: Sequence[Segment], x0: float) -> list[tuple[int, int]]:
    """Return a strip without what stands wholly inside: the cells of a sparse column."""
    a, b = strip
    inside = sorted(
        (int(s.x0 - x0), int(s.x1 - x0) + 1)
        for s in segments
        if s.x0 - x0 >= a - 0.5 and s.x1 - x0 <= b + 0.5
    )
    parts = []
    for left, right in inside:
        if left - a >= _STRIP - 1:
            parts.append((a, left))
        a = max(a, right)
    if b - a >= _STRIP - 1 or not parts:
        parts.append((a, b))
    return parts


def _cells(line: Printed, cuts: Sequence[float]) -> list[Cell]:
    """Return the line's cells; what spans several columns goes to the first of them."""
    cells: list[list[Word]] = [[] for _ in range(len(cuts) + 1)]
    for segment in line.segments:
        at = sum(cut <= segment.x0 + 2 for cut in cuts)
        for left, word in zip([None, *segment.words], segment.words, strict=False):
            if left is not None:
                wide = word.x0 - left.x1 > _SPLIT * (word.y1 - word.y0)
                if wide and any(left.x1 - 1 <= cut <= word.x0 + 1 for cut in cuts):
                    at = sum(cut <= word.x0 + 2 for cut in cuts)
            cells[at].append(word)
    return [[words] if words else [] for words in cells]


def _edges(lines: Sequence[Printed], cuts: Sequence[float]) -> list[float]:
    """Return where the print of each column ends, without what spans several."""
    ends = [
        [cell[-1][-1].x1 for cell in column if cell]
        for column in zip(*(ln.cells for ln in lines), strict=True)
    ]
    return [
        max((x for x in column if x <= cut + 1), default=0.0)
        for column, cut in zip(ends, cuts, strict=True)
    ]


def _merged(lines: list[Printed], across: Sequence[Area], edges: Sequence[float]) -> list[Printed]:
    """Return the lines with those that continue a row put into it.

    A cell centred over two lines overlaps both; in a table ruled row by row, what stands between
    two rules is one row; and text goes on where a cell's line was full.
    """
    bands = [sum(rule[1] < (line.y0 + line.y1) / 2 for rule in across) for line in lines]
    ruled = len(set(bands)) >= 3 and len(lines) <= 2.6 * len(set(bands))
    kept: list[Printed] = []
    last_band = -1
    for line, band in zip(lines, bands, strict=True):
        last = kept[-1] if kept else None
        if last is not None and (
            _laps(last, line)
            or (ruled and band == last_band and _subset(line, last, 0.6))
            or (band == last_band and _subset(line, last, 0.9) and _all_go_on(last, line, edges))
        ):
            last.cells = [a + b for a, b in zip(last.cells, line.cells, strict=True)]
            last.y1 = max(last.y1, line.y1)
            continue
        kept.append(line)
        last_band = band
    return kept


def _laps(last: Printed, line: Printed) -> bool:
    """Return whether a line stands beside the one before as much as below, in cells still free."""
    tall = min(line.y1 - line.y0, last.y1 - last.y0)
    free = not any(a and b for a, b in zip(last.cells, line.cells, strict=True))
    return free and last.y1 - line.y0 > 0.2 * tall


def _subset(line: Printed, last: Printed, most: float) -> bool:
    """Return whether a line fills only cells that the one before fills, and not all of them."""
    filled = [bool(cell) for cell in line.cells]
    within = all(b or not a for a, b in zip(filled, last.cells, strict=True))
    return within and sum(filled) <= most * len(filled)


def _all_go_on(last: Printed, line: Printed, edges: Sequence[float]) -> bool:
    return all(
        _goes_on(above, below, edge)
        for above, below, edge in zip(last.cells, line.cells, edges, strict=True)
        if below
    )


def _goes_on(above: Cell, below: Cell, edge: float) -> bool:
    """Return whether text above had to break: the first word below would not have fitted."""
    if not above or not below or _length(above[-1:]) < _WORDY:
        return False
    first, last = below[0][0], above[-1][-1]
    chinese = is_cjk(last.text[-1]) or is_cjk(first.text[0])
    if last.x1 > edge + 1 or (len(above[-1]) < _WORDS and not chinese):
        return False
    tall = last.y1 - last.y0
    step = tall if is_cjk(first.text[0]) else first.x1 - first.x0 + 0.2 * tall
    return last.x1 + step > edge


def _running_on(rows: Sequence[Row], edges: Sequence[float]) -> float:
    """Return the share of rows a cell of which goes on, in the middle of a sentence, in the next."""
    return sum(_runs_on(above, below, edges) for above, below in pairwise(rows)) / len(rows)


def _runs_on(above: Row, below: Row, edges: Sequence[float]) -> bool:
    """Return whether a cell below goes on in the middle of a sentence, and none begins anew."""
    both = [
        _goes_on(a, b, edge)
        and not _STOP.search(a[-1][-1].text)
        and (b[0][0].text[0].islower() or is_cjk(b[0][0].text[0]))
        for a, b, edge in zip(above.cells, below.cells, edges, strict=True)
        if a and b
    ]
    return bool(both) and all(both)


def _framed(rows: Sequence[Row]) -> bool:
    """Return whether hardly a row has two cells: text in a frame."""
    several = sum(sum(bool(cell) for cell in row.cells) >= 2 for row in rows)
    return several < 2 or several < 0.4 * len(rows)


def _without_empty(rows: list[Row]) -> list[Row]:
    used = [any(row.cells[at] for row in rows) for at in range(len(rows[0].cells))]
    for row in rows:
        row.cells = [cell for cell, kept in zip(row.cells, used, strict=True) if kept]
    return rows
