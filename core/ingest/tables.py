"""Where a page's tables are: beside their captions.

A table is looked for next to a caption only. Where rules are drawn they bound it; where none are,
rows of words with wide gaps do. Its rows and columns are `core.ingest.grid`'s.
"""

import re
from collections.abc import Sequence

from core.ingest.drawn import Area, Drawn
from core.ingest.grid import Grid, Printed, around, average, grid_of, printed
from core.ingest.pdf import RawPage, Word

TITLED = re.compile(
    r"(?i:table|tab\.|tabelle|tableau)\s*(?:[A-Z]?\.?\d++(?:[.-]\d++)*+|[IVX]{1,5})"
    r"(?:\s*[.:|—–-]|\s*$|\s+[^a-z\s(\[])"
    r"|表\s*[A-Z]?[\d一二三四五六七八九十]+(?:[.\-–]\d+)*(?!\s*[所中的是给显列])"
)
"""How a table's caption begins; 'Table 2 shows' is a sentence."""

REACH = 60.0
"""Points between a caption and its table, at most."""
_EDGE = 7.0


def is_table_caption(text: str) -> bool:
    """Return whether a caption is a table's."""
    return bool(TITLED.match(text.strip()))


def tables_on(page: RawPage, drawn: Drawn, captions: Sequence[Area]) -> list[Grid | None]:
    """Return for each caption's area the table that belongs to it, or None."""
    words = [word for word in page.words if word.turn == 0]
    regions = _regions(drawn, captions, words)
    grids = [grid_of(_inside(words, region, captions), region, drawn) for region in regions]
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
    lines = printed(between, [])
    full = [len(line.segments) == 1 and _width(line) > 0.85 * (x1 - x0) for line in lines]
    return sum(full) >= 4 and sum(full) > 0.6 * len(full)


def _width(line: Printed) -> float:
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


def _unruled(words: Sequence[Word], caption: Area, drawn: Drawn) -> Grid | None:
    """Return the table of rows with wide gaps directly below the caption, else above it."""
    for below in (True, False):
        near = [
            word
            for word in words
            if (word.y0 >= caption[3] - 2 if below else word.y1 <= caption[1] + 2)
            and caption[0] - 120 <= word.x0
        ]
        lines = printed(near, drawn.down)
        taken: list[Printed] = []
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
            grid = grid_of(inside, around(inside), drawn)
            if grid is not None and len(grid.rows[0].cells) >= 2 and average(grid.rows) <= 32:
                return grid
    return None
