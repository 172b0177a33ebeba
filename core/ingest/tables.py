"""Tables from words and rules: where one stands beside its caption, its rows and its columns.

A table is looked for next to a caption only. Where rules are drawn they bound it; where none are,
rows of words with wide gaps do. Columns are the white strips that (nearly) all rows leave.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.ingest.drawn import Area, Drawn
from core.ingest.pdf import RawPage, Word

TITLED = re.compile(
    r"(?i:table|tab\.|tabelle|tableau)\s*(?:[A-Z]?\.?\d++(?:[.-]\d++)*+|[IVX]{1,5})"
    r"(?:\s*[.:|—–-]|\s*$|\s+[^a-z\s(\[])"
    r"|表\s*[A-Z]?[\d一二三四五六七八九十]+(?:[.\-–]\d+)*(?!\s*[所中的是给显列])"
)
"""How a table's caption begins; 'Table 2 shows' is a sentence."""

REACH = 60.0
"""Points between a caption and its table, at most."""
MOST_ROWS, MOST_COLUMNS = 200, 40
_EDGE = 7.0
_GAP = 0.45
"""Of the type's height: what is wider parts two cells of a row."""
_SPLIT = 0.35
"""Of the type's height: at a column's edge a gap like this parts two cells."""
_STRIP = 3.0


@dataclass(slots=True)
class Row:
    """A table's row: its cells, and where it is printed."""

    cells: list[str]
    area: Area


@dataclass(slots=True)
class Grid:
    """A table as found: rows of equally many cells, and the area around them."""

    area: Area
    rows: list[Row]


@dataclass(slots=True)
class _Segment:
    """Words of a row without a wide gap."""

    words: list[Word]

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(slots=True)
class _Line:
    segments: list[_Segment]
    y0: float
    y1: float
    cells: list[str] = field(default_factory=list)


def is_table_caption(text: str) -> bool:
    """Return whether a caption is a table's."""
    return bool(TITLED.match(text.strip()))


def tables_on(page: RawPage, drawn: Drawn, captions: Sequence[Area]) -> list[Grid | None]:
    """Return for each caption's area the table that belongs to it, or None."""
    words = [word for word in page.words if word.turn == 0]
    regions = _regions(drawn, captions, words)
    grids = [_grid(_inside(words, region, captions), region, drawn) for region in regions]
    regions = [region for region, grid in zip(regions, grids, strict=True) if grid is not None]
    tables = [grid for grid in grids if grid is not None]
    chosen = max(
        (_chosen(captions, regions, side) for side in ("", "above", "below")),
        key=lambda pairs: (
            len(pairs),
            -sum(_distance(captions[c], regions[r]) for c, r in pairs.items()),
        ),
    )
    rest = [
        word
        for word in words
        if not _covered(
            (word.x0 + word.x1) / 2,
            (word.y0 + word.y1) / 2,
            [*captions, *(tables[at].area for at in chosen.values())],
        )
    ]
    return [
        tables[chosen[at]] if at in chosen else _unruled(rest, caption, drawn)
        for at, caption in enumerate(captions)
    ]


def _chosen(captions: Sequence[Area], regions: Sequence[Area], side: str) -> dict[int, int]:
    """Return the region of each caption, nearest pairs first; all on one `side` of their captions.

    A caption between two tables is as near to either: the page's others tell which is its own.
    """
    pairs = sorted(
        (distance, at, number)
        for at, caption in enumerate(captions)
        for number, region in enumerate(regions)
        if (distance := _distance(caption, region)) <= REACH
        and (not side or (region[1] < caption[1]) == (side == "above"))
    )
    chosen: dict[int, int] = {}
    for _, at, number in pairs:
        if at not in chosen and number not in chosen.values():
            chosen[at] = number
    return chosen


def _distance(caption: Area, region: Area) -> float:
    """Return the points between a caption and what is above or below it; much when beside it."""
    shared = min(caption[2], region[2]) - max(caption[0], region[0])
    if shared < 0.3 * min(caption[2] - caption[0], region[2] - region[0]):
        return 10_000
    gap = max(region[1] - caption[3], caption[1] - region[3])
    return max(0.0, gap) if gap > -8 else 10_000


def _regions(drawn: Drawn, captions: Sequence[Area], words: Sequence[Word]) -> list[Area]:
    """Return the areas between rules of one width, cut at captions and at running text."""
    groups: list[list[Area]] = []
    for rule in sorted(drawn.across, key=lambda rule: rule[1]):
        if rule[2] - rule[0] < 40:
            continue
        for group in groups:
            last = group[-1]
            alike = abs(last[0] - rule[0]) < _EDGE and abs(last[2] - rule[2]) < _EDGE
            if alike and not _parted(last, rule, captions, words):
                group.append(rule)
                break
        else:
            groups.append([rule])
    found = [
        (min(r[0] for r in group), group[0][1], max(r[2] for r in group), group[-1][3])
        for group in groups
        if len(group) >= 2 and group[-1][3] - group[0][1] > 14
    ]
    return [
        area for area in found if not any(area != other and _within(area, other) for other in found)
    ]


def _within(area: Area, other: Area) -> bool:
    return (
        other[0] - 2 <= area[0]
        and other[1] - 2 <= area[1]
        and area[2] <= other[2] + 2
        and area[3] <= other[3] + 2
    )


def _parted(upper: Area, lower: Area, captions: Sequence[Area], words: Sequence[Word]) -> bool:
    """Return whether a caption, or several full lines of text, stand between two rules."""
    x0, x1 = upper[0], upper[2]
    for caption in captions:
        middle = (caption[1] + caption[3]) / 2
        if upper[3] < middle < lower[1] and min(caption[2], x1) - max(caption[0], x0) > 0:
            return True
    between = [
        word
        for word in words
        if upper[3] - 1 <= (word.y0 + word.y1) / 2 <= lower[1] + 1
        and word.x0 < x1 + 3
        and word.x1 > x0 - 3
    ]
    beyond = sum(word.x0 < x0 - 6 or word.x1 > x1 + 6 for word in between)
    if beyond > 2:
        return True
    lines = _lines(between, [])
    full = [len(line.segments) == 1 and _width(line) > 0.85 * (x1 - x0) for line in lines]
    return sum(full) >= 4 and sum(full) > 0.6 * len(full)


def _width(line: _Line) -> float:
    return line.segments[-1].x1 - line.segments[0].x0


def _inside(words: Sequence[Word], region: Area, captions: Sequence[Area]) -> list[Word]:
    x0, y0, x1, y1 = region
    found = []
    for word in words:
        x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
        if x0 - 4 <= x <= x1 + 4 and y0 - 1 <= y <= y1 + 1 and not _covered(x, y, captions):
            found.append(word)
    return found


def _covered(x: float, y: float, areas: Sequence[Area]) -> bool:
    return any(a[0] - 1 <= x <= a[2] + 1 and a[1] <= y <= a[3] for a in areas)


def _lines(words: Sequence[Word], down: Sequence[Area]) -> list[_Line]:
    """Return the words as printed lines of segments."""
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


def _line(words: list[Word], down: Sequence[Area]) -> _Line:
    segments = [_Segment([words[0]])]
    y0, y1 = min(word.y0 for word in words), max(word.y1 for word in words)
    middle = (y0 + y1) / 2
    rules = [(rule[0] + rule[2]) / 2 for rule in down if rule[1] - 1 <= middle <= rule[3] + 1]
    for left, right in pairwise(words):
        tall = max(left.y1 - left.y0, right.y1 - right.y0)
        ruled = any(left.x1 - 1.5 <= x <= right.x0 + 1.5 for x in rules)
        if right.x0 - segments[-1].x1 > _GAP * tall or ruled:
            segments.append(_Segment([right]))
        else:
            segments[-1].words.append(right)
    return _Line(segments, y0, y1)


def _grid(words: Sequence[Word], region: Area, drawn: Drawn) -> Grid | None:
    """Return the words of an area as rows and columns; None when they are no table."""
    down = [
        rule
        for rule in drawn.down
        if region[0] - 3 <= rule[0] <= region[2] + 3
        and min(rule[3], region[3]) - max(rule[1], region[1]) > 5
    ]
    lines = _lines(words, down)
    if not 2 <= len(lines) <= MOST_ROWS:
        return None
    cuts = _cuts(lines, region, down)
    if not 1 <= len(cuts) < MOST_COLUMNS:
        return None
    for line in lines:
        line.cells = _cells(line, cuts)
    across = [rule for rule in drawn.across if _crosses(rule, region)]
    lines = _merged(lines, across)
    rows = [Row(line.cells, _around([w for s in line.segments for w in s.words])) for line in lines]
    if len(rows) < 2 or _prose(rows) or (len(across) < len(rows) and _average(rows) > 36):
        return None
    rows = _without_empty(rows)
    area = _around(words)
    return Grid(
        (
            min(area[0], region[0]),
            min(area[1], region[1]),
            max(area[2], region[2]),
            max(area[3], region[3]),
        ),
        rows,
    )


def _crosses(rule: Area, region: Area) -> bool:
    wide = min(rule[2], region[2]) - max(rule[0], region[0])
    return region[1] - 2 <= rule[1] <= region[3] + 2 and wide > 0.85 * (region[2] - region[0])


def _around(words: Sequence[Word]) -> Area:
    return (
        min(word.x0 for word in words),
        min(word.y0 for word in words),
        max(word.x1 for word in words),
        max(word.y1 for word in words),
    )


def _prose(rows: Sequence[Row]) -> bool:
    """Return whether hardly a row has two cells: text in a frame."""
    several = sum(sum(bool(cell) for cell in row.cells) >= 2 for row in rows)
    return several < 2 or several < 0.4 * len(rows)


def _without_empty(rows: list[Row]) -> list[Row]:
    used = [any(row.cells[at] for row in rows) for at in range(len(rows[0].cells))]
    for row in rows:
        row.cells = [cell for cell, kept in zip(row.cells, used, strict=True) if kept]
    return rows


def _cuts(lines: Sequence[_Line], region: Area, down: Sequence[Area]) -> list[float]:
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


def _columns_ruled(lines: Sequence[_Line], down: Sequence[Area]) -> list[float]:
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


def _free(strip: tuple[int, int], segments: Sequence[_Segment], x0: float) -> list[tuple[int, int]]:
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


def _cells(line: _Line, cuts: Sequence[float]) -> list[str]:
    """Return the line's cells; what spans several columns goes to the first of them."""
    cells: list[list[str]] = [[] for _ in range(len(cuts) + 1)]
    for segment in line.segments:
        at = sum(cut <= segment.x0 + 2 for cut in cuts)
        for left, word in zip([None, *segment.words], segment.words, strict=False):
            if left is not None:
                wide = word.x0 - left.x1 > _SPLIT * (word.y1 - word.y0)
                if wide and any(left.x1 - 1 <= cut <= word.x0 + 1 for cut in cuts):
                    at = sum(cut <= word.x0 + 2 for cut in cuts)
            cells[at].append(word.text)
    return [" ".join(cell) for cell in cells]


def _merged(lines: list[_Line], across: Sequence[Area]) -> list[_Line]:
    """Return the lines with those that continue a row put into it.

    A cell centred over two lines overlaps both; in a table ruled row by row, what stands between
    two rules is one row.
    """
    bands = [sum(rule[1] < (line.y0 + line.y1) / 2 for rule in across) for line in lines]
    ruled = len(set(bands)) >= 3 and len(lines) <= 2.6 * len(set(bands))
    kept: list[_Line] = []
    last_band = -1
    for line, band in zip(lines, bands, strict=True):
        last = kept[-1] if kept else None
        filled = [at for at, cell in enumerate(line.cells) if cell]
        if last is not None:
            tall = min(line.y1 - line.y0, last.y1 - last.y0)
            over = last.y1 - line.y0 > 0.2 * tall
            free = not any(last.cells[at] for at in filled)
            wraps = ruled and band == last_band and len(filled) <= 0.6 * len(line.cells)
            wraps = wraps and all(last.cells[at] for at in filled)
            if (over and free) or wraps:
                last.cells = [
                    " ".join(part for part in pair if part)
                    for pair in zip(last.cells, line.cells, strict=True)
                ]
                last.segments += line.segments
                last.y1 = max(last.y1, line.y1)
                continue
        kept.append(line)
        last_band = band
    return kept


def _unruled(words: Sequence[Word], caption: Area, drawn: Drawn) -> Grid | None:
    """Return the table of rows with wide gaps directly below the caption, else above it."""
    for below in (True, False):
        near = [
            word
            for word in words
            if (word.y0 >= caption[3] - 2 if below else word.y1 <= caption[1] + 2)
            and caption[0] - 120 <= word.x0
        ]
        lines = _lines(near, drawn.down)
        taken: list[_Line] = []
        for line in lines if below else reversed(lines):
            edge = (taken[-1].y1 if below else taken[-1].y0) if taken else None
            start = caption[3] if below else caption[1]
            gap = (line.y0 - (edge or start)) if below else ((edge or start) - line.y1)
            tall = line.y1 - line.y0
            if gap > (1.8 if taken else 2.5) * tall or len(line.segments) < 2:
                break
            taken.append(line)
        if len(taken) >= 3:
            inside = [word for line in taken for s in line.segments for word in s.words]
            grid = _grid(inside, _around(inside), drawn)
            if grid is not None and len(grid.rows[0].cells) >= 2 and _average(grid.rows) <= 32:
                return grid
    return None


def _average(rows: Sequence[Row]) -> float:
    """Return how long a filled cell is: running text in columns, or wrapped in cells, is long."""
    cells = [cell for row in rows for cell in row.cells if cell]
    return sum(len(cell) for cell in cells) / max(1, len(cells))
