"""From words with places to lines in the order they are read. Pure geometry: no PDF library.

Coordinates are points of the page as seen, origin top left. Text that runs up or down the page
(a sideways table, the arXiv stamp) is turned upright for the work and comes after the rest.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise, permutations

from core.ingest.pdf import RawPage, Word
from core.ingest.text import is_cjk, reads_leftwards

_COLUMN_STEP = 2.0
_DEPTH = 3
_INDEX_LINES = 15
_STRAYS = 0.05
_TANGLED = 0.25
_GUTTER = 0.45
"""Heights of type: no space between two words of a line is so wide."""
_SUBCAPTION = re.compile(r"\(([a-z])\)$")
_KERN = 3.0
"""Points by which the box of a word may reach over its end."""
_CELL = 6.0
"""Heights of type: a side whose pieces are shorter on average is a column of a table."""


@dataclass(slots=True)
class Line:
    """Words printed on one line of one column, left to right.

    The box is upright in the text's own direction for sorting; words keep boxes as seen.
    `column` numbers the stretch of text it belongs to: lines of one stretch follow each other.
    """

    words: list[Word]
    x0: float
    y0: float
    x1: float
    y1: float
    turn: int = 0
    column: int = 0
    size: float = 0.0
    bold: bool = False

    @property
    def text(self) -> str:
        """Return the words with single spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def characters(self) -> int:
        """Return how many characters are printed."""
        return sum(len(word.text) for word in self.words)


@dataclass(slots=True)
class _Run:
    """Neighbouring words of one line, upright: the unit that columns are found with.

    Top and bottom are those of its usual letter: a root or a bracket among them reaches into the
    lines above and below.
    """

    words: list[Word]
    x0: float
    y0: float
    x1: float
    y1: float
    at: int = 0
    """Its place in the order of the file."""

    @property
    def characters(self) -> int:
        return sum(len(word.text) for word in self.words)

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2

    def absorb(self, other: "_Run") -> None:
        share = other.characters / (self.characters + other.characters)
        self.words += other.words
        self.x0, self.x1 = min(self.x0, other.x0), max(self.x1, other.x1)
        self.y0 += share * (other.y0 - self.y0)
        self.y1 += share * (other.y1 - self.y1)


@dataclass(slots=True)
class _Order:
    """Collects stretches of runs in reading order."""

    stretches: list[list[_Run]] = field(default_factory=list)

    def add(self, runs: list[_Run]) -> None:
        if runs:
            self.stretches.append(runs)


def lines_of(page: RawPage) -> list[Line]:
    """Return the page's lines in reading order: columns left to right, sideways text last."""
    found: list[Line] = []
    for turn in sorted({word.turn for word in page.words}):
        words = [word for word in page.words if word.turn == turn]
        order = _Order()
        _arrange(_runs(words, turn, page), order, _DEPTH)
        for stretch in order.stretches:
            column = found[-1].column + 1 if found else 0
            rows = _rows(stretch)
            if not page.recognised:
                rows = [row for tangle in _tangles(rows) for row in _untangled(tangle)]
            found += [_line(row, turn, column, page.slope) for row in rows]
    return found


def _upright(word: Word, turn: int, width: float, height: float) -> tuple[float, ...]:
    """Return the word's box in a frame in which its text runs from left to right."""
    if turn == 0:
        return word.x0, word.y0, word.x1, word.y1
    if turn == 1:  # reads downwards
        return word.y0, width - word.x1, word.y1, width - word.x0
    if turn == 2:  # upside down
        return width - word.x1, height - word.y1, width - word.x0, height - word.y0
    return height - word.y1, word.x0, height - word.y0, word.x1


def _levelled(word: Word, turn: int, page: RawPage) -> tuple[float, ...]:
    """Return the upright box as it were on a page that is not askew."""
    x0, y0, x1, y1 = _upright(word, turn, page.width, page.height)
    sinks = page.slope * (x0 + x1) / 2
    strays = page.slope * (y0 + y1) / 2
    x0, x1 = x0 + strays, x1 + strays
    thick = min(abs(page.slope) * (x1 - x0) / 2, (y1 - y0) / 3)
    return x0, y0 - sinks + thick, x1, y1 - sinks - thick


def _runs(words: Sequence[Word], turn: int, page: RawPage) -> list[_Run]:
    """Join words that follow each other in the file and on the line with a common gap."""
    runs: list[_Run] = []
    for word in words:
        x0, y0, x1, y1 = _levelled(word, turn, page)
        new = _Run([word], x0, y0, x1, y1, len(runs))
        if runs and _continues(runs[-1], new):
            runs[-1].absorb(new)
        else:
            runs.append(new)
    return runs


def _overlap(a: _Run, b: _Run) -> float:
    """Return the shared height as a share of the lower of the two."""
    shared = min(a.y1, b.y1) - max(a.y0, b.y0)
    return shared / max(0.1, min(a.height, b.height))


def _continues(run: _Run, new: _Run) -> bool:
    em = max(run.height, new.height)
    gap = new.x0 - run.x1
    chinese = is_cjk(run.words[-1].text[-1]) or is_cjk(new.words[0].text[0])
    widest = 0.5 if chinese else 0.75  # Chinese has no spaces between words
    return -0.5 * em <= gap <= widest * em and _overlap(run, new) >= 0.5


def _arrange(runs: list[_Run], order: _Order, depth: int) -> None:
    """Add the runs to `order`: whole-width runs cut the page into bands, columns within each."""
    gutter = _gutter(runs) if depth else None
    if gutter is None:
        beside = _beside(runs) if depth else None
        for part in beside or ():
            _arrange(part, order, depth - 1)
        if beside is None:
            for part in _subfigures(runs):
                order.add(part)
        return
    runs = [part for run in runs for part in _parted(run, gutter)]
    rows = sorted(runs, key=lambda run: run.middle)
    crossing = _crossing(rows, gutter)
    left: list[_Run] = []
    right: list[_Run] = []
    across: list[_Run] = []
    for run in rows:
        if id(run) in crossing:
            _flush(left, right, order, depth)
            left, right = [], []
            across.append(run)
            continue
        order.add(across)
        across = []
        (left if (run.x0 + run.x1) / 2 < gutter else right).append(run)
    order.add(across)
    _flush(left, right, order, depth)


def _parted(run: _Run, gutter: float) -> list[_Run]:
    """Return a run in two where the white between its words is a piece of the gutter.

    Columns can stand as near each other as the words of a wide line do.
    """
    if run.words[0].turn or not run.x0 < gutter - 2 < gutter + 2 < run.x1:
        return [run]
    words = [(word, word.x0 - run.words[0].x0 + run.x0) for word in run.words]
    for at, ((last, start), (_, begin)) in enumerate(pairwise(words), 1):
        end = start + last.x1 - last.x0
        if end - 2 <= gutter <= begin + 2 and begin - end >= _GUTTER * run.height:
            return [
                _Run(run.words[:at], run.x0, run.y0, end, run.y1, run.at),
                _Run(run.words[at:], begin, run.y0, run.x1, run.y1, run.at),
            ]
    return [run]


def _flush(left: list[_Run], right: list[_Run], order: _Order, depth: int) -> None:
    """Add a band: column by column when both sides read as text, else row by row (a table)."""
    sides = [left, right]
    if left and right and _tabular(left, right):
        if _one_by_one(right, left):
            sides = [right, left]
        elif not _one_by_one(left, right):
            order.add(left + right)
            return
    for side in sides:
        if side:
            _arrange(side, order, depth - 1)


def _one_by_one(left: Sequence[_Run], right: Sequence[_Run]) -> bool:
    """Return whether the file sets one whole side before the other: columns of an index, say.

    A table's rows are set one after the other. Few pieces on a side prove nothing; some pieces out
    of order (a running head over both) disprove nothing.
    """
    if min(len(left), len(right)) < _INDEX_LINES:
        return False
    sides = sorted([(run.at, 1) for run in left] + [(run.at, -1) for run in right])
    strays = fewest = len(left)
    for _, side in sides:
        strays -= side
        fewest = min(fewest, strays)
    return fewest <= _STRAYS * len(sides)


def _tabular(left: list[_Run], right: list[_Run]) -> bool:
    """Return whether two sides of a band are short pieces beside each other: cells, not prose."""
    if len(left) > 60 or len(right) > 60:
        return False
    if min(_figures(left), _figures(right)) > 0.5 or max(_ems(left), _ems(right)) < _CELL:
        return True

    def fill(side: list[_Run]) -> float:
        width = max(run.x1 for run in side) - min(run.x0 for run in side)
        rows = len({round(run.middle / max(1.0, run.height)) for run in side})
        return sum(run.x1 - run.x0 for run in side) / max(1.0, width * rows)

    return fill(left) < 0.45 or fill(right) < 0.45


def _beside(runs: Sequence[_Run]) -> tuple[list[_Run], ...] | None:
    """Return what is above, the text, what stands beside it, and what is below; or None.

    Text set around a figure or table is known by its lines: several in a row that begin and end
    at the same x, well short of the whole width, with something else next to them. That comes
    before the text where its file has it so: the text may go on, full width, below it.
    """
    if len(runs) < 8:
        return None
    x0, x1 = min(run.x0 for run in runs), max(run.x1 for run in runs)
    for block in _justified(runs, 0.35 * (x1 - x0), 0.87 * (x1 - x0)):
        left, right = min(run.x0 for run in block), max(run.x1 for run in block)
        top, low = _reach(runs, block, left, right)
        inside = [run for run in runs if top <= run.middle <= low]
        side = [run for run in inside if run.x0 > right - 2 or run.x1 < left + 2]
        if sum(len(run.words) for run in side) < 4:
            continue
        apart = {id(run) for run in side}
        text = [run for run in inside if id(run) not in apart]
        above = [run for run in runs if run.middle < top]
        below = [run for run in runs if run.middle > low]
        if min(run.at for run in side) < min(run.at for run in text):
            return above, side, text, below
        return above, text, side, below
    return None


def _subfigures(runs: list[_Run]) -> list[list[_Run]]:
    """Part a block where figures with captions (a), (b) stand side by side, each set in one go."""
    placed = sorted(runs, key=lambda run: run.at)
    named = [at for at, run in enumerate(placed) if _SUBCAPTION.match(run.words[0].text)]
    for first, second in permutations(named, 2):
        if not _are_neighbours(placed[first], placed[second]):
            continue
        start = placed[second].x0
        line = [run.x1 for run in runs if _on_line(placed[second], run)]
        gutter = (max(x1 for x1 in line if x1 < start + _KERN) + start) / 2
        lefts = [run.x1 < gutter + _KERN for run in placed]
        rights = [run.x0 > gutter - _KERN for run in placed]
        begin = first - _length(lefts[first::-1]) + 1
        middle = first + _length(lefts[first:])
        end = middle + _length(rights[middle:])
        inside = placed[begin:end]
        top, low = min(run.middle for run in inside), max(run.middle for run in inside)
        others = placed[:begin] + placed[end:]
        if middle <= second < end and not any(top <= run.middle <= low for run in others):
            above = [run for run in others if run.middle < top]
            below = [run for run in others if run.middle > low]
            right = _subfigures(placed[middle:end])
            return [above, placed[begin:middle], *right, *_subfigures(below)]
    return [runs]


def _length(flags: Sequence[bool]) -> int:
    """Return how many are true from the first on."""
    return flags.index(False) if False in flags else len(flags)


def _are_neighbours(first: _Run, second: _Run) -> bool:
    """Return whether two runs are the captions (a) and (b), or (b) and (c), of one line."""
    if ord(second.words[0].text[1]) != ord(first.words[0].text[1]) + 1:
        return False
    return first.x1 < second.x0 + _KERN and _on_line(first, second)


def _reach(
    runs: Sequence[_Run], block: Sequence[_Run], left: float, right: float
) -> tuple[float, float]:
    """Return how high and how low the text reaches that a stack of full lines is part of.

    Lines that begin where it does and end short belong to it: the last ones of paragraphs.
    """
    top, low = block[0].middle, block[-1].middle
    step = 2.2 * block[0].height
    own = [run for run in runs if left - 3 <= run.x0 <= left + 0.3 * (right - left)]
    own = [run for run in own if run.x1 <= right + 4]
    for run in sorted(own, key=lambda run: -run.middle):
        if top - step <= run.middle < top:
            top = run.middle
    for run in sorted(own, key=lambda run: run.middle):
        if low < run.middle <= low + step:
            low = run.middle
    half = 0.4 * block[0].height
    return top - half, low + half


def _justified(runs: Sequence[_Run], narrow: float, wide: float) -> list[list[_Run]]:
    """Return stacks of five lines or more with the same edges, the tallest stack first."""
    stacks: list[list[_Run]] = []
    for run in sorted(runs, key=lambda run: run.middle):
        if not narrow <= run.x1 - run.x0 <= wide:
            continue
        for stack in stacks[-6:]:
            last = stack[-1]
            near = run.middle - last.middle <= 3.5 * run.height
            if near and abs(run.x0 - last.x0) < 3 and abs(run.x1 - last.x1) < 4:
                stack.append(run)
                break
        else:
            stacks.append([run])
    return sorted((stack for stack in stacks if len(stack) >= 5), key=len, reverse=True)


def _ems(side: Sequence[_Run]) -> float:
    """Return how long the runs of a side are on average, in heights of their type."""
    return sum((run.x1 - run.x0) / max(0.1, run.height) for run in side) / len(side)


def _figures(side: Sequence[_Run]) -> float:
    """Return the share of words with a digit in them."""
    words = [word.text for run in side for word in run.words]
    return sum(any(char.isdigit() for char in word) for word in words) / max(1, len(words))


def _crossing(rows: list[_Run], gutter: float) -> set[int]:
    """Return the ids of runs over the gutter, with what stands beside them on the same line."""
    crossing = {id(run) for run in rows if run.x0 < gutter - 2 and run.x1 > gutter + 2}
    for at, run in enumerate(rows):
        if id(run) not in crossing:
            continue
        for step in (-1, 1):
            near = at + step
            while 0 <= near < len(rows) and abs(rows[near].middle - run.middle) < run.height:
                other = rows[near]
                gap = max(other.x0 - run.x1, run.x0 - other.x1)
                if gap < 2 * run.height and _overlap(run, other) >= 0.6:
                    crossing.add(id(other))
                near += step
    return crossing


def _gutter(runs: Sequence[_Run]) -> float | None:
    """Return the x of the white strip between two columns of text, or None.

    The strip is where the fewest lines cross in the middle part of the block; it counts when text
    stands on both sides of it line beside line.
    """
    if len(runs) < 12:
        return None
    x0, x1 = min(run.x0 for run in runs), max(run.x1 for run in runs)
    bins = int((x1 - x0) / _COLUMN_STEP) + 2
    if bins < 20:
        return None
    cover = _cover(runs, x0, bins)
    # two columns meet in the middle; the strip beside margin notes has to be cleaner
    for share, most in ((0.22, 0.5), (0.12, 0.08)):
        low, high = int(bins * share), int(bins * (1 - share))
        least = min(cover[low:high])
        typical = sorted(cover[low:high])[(high - low) // 2]
        if least > most * typical:
            continue
        strip = _widest(cover, low, high, least + 0.02 * typical)
        gutter = x0 + (strip[0] + strip[1]) / 2 * _COLUMN_STEP
        left, right = _sides(runs, gutter)
        apart = _one_by_one(left, right) or _one_by_one(right, left)
        if apart or _side_by_side(left, right, gutter, runs):
            return gutter
    return _set_apart(runs)


def _set_apart(runs: Sequence[_Run]) -> float | None:
    """Return where the column begins that the file sets after a great step up the page, or None.

    Most lines of an index are short: its white strip is not known by what stands beside it.
    """
    order = sorted(runs, key=lambda run: run.at)
    steps = [
        (before.middle - run.middle, at) for at, (before, run) in enumerate(pairwise(order), 1)
    ]
    step, at = max(steps)
    height = max(run.y1 for run in runs) - min(run.y0 for run in runs)
    if step < 0.4 * height or min(at, len(order) - at) < _INDEX_LINES:
        return None
    gutter = sorted(run.x0 for run in order[at:])[round(_STRAYS * (len(order) - at))] - 1
    left, right = _sides(runs, gutter)
    across = len(runs) - len(left) - len(right)
    return gutter if across <= _STRAYS * len(runs) and _one_by_one(left, right) else None


def _cover(runs: Iterable[_Run], x0: float, bins: int) -> list[float]:
    """Return for each step along x the height of text that covers it."""
    change = [0.0] * (bins + 1)
    for run in runs:
        change[int((run.x0 - x0) / _COLUMN_STEP)] += run.height
        change[int((run.x1 - x0) / _COLUMN_STEP) + 1] -= run.height
    cover, total = [], 0.0
    for step in change[:bins]:
        total += step
        cover.append(total)
    return cover


def _widest(cover: Sequence[float], low: int, high: int, limit: float) -> tuple[int, int]:
    """Return the longest stretch [start, end) of `cover` under `limit` between low and high."""
    best, start = (low, low), None
    for at in range(low, high + 1):
        under = at < high and cover[at] <= limit
        if under and start is None:
            start = at
        elif not under and start is not None:
            if at - start > best[1] - best[0]:
                best = (start, at)
            start = None
    return best


def _sides(runs: Sequence[_Run], gutter: float) -> tuple[list[_Run], list[_Run]]:
    """Return what stands left and right of the gutter, top to bottom."""
    rows = sorted(runs, key=lambda run: run.middle)
    return [r for r in rows if r.x1 <= gutter + 2], [r for r in rows if r.x0 >= gutter - 2]


def _side_by_side(
    left: Sequence[_Run], right: Sequence[_Run], gutter: float, runs: Sequence[_Run]
) -> bool:
    """Return whether enough lines of prose stand left and right of the gutter at one height."""
    if len(left) < 5 or len(right) < 5:
        return False
    tall = min(_column_height(left, gutter), _column_height(right, gutter))
    line = sorted(run.height for run in runs)[len(runs) // 2]
    return tall >= 5 * line


def _column_height(side: Sequence[_Run], gutter: float) -> float:
    """Return the height of a side's lines that fill at least half of its width."""
    edge = min(run.x0 for run in side) if side[0].x0 < gutter else max(run.x1 for run in side)
    width = abs(gutter - edge)
    rows: dict[int, list[_Run]] = {}
    for run in side:
        rows.setdefault(round(run.middle / max(4.0, run.height * 0.8)), []).append(run)
    return sum(
        max(run.height for run in row)
        for row in rows.values()
        if sum(run.x1 - run.x0 for run in row) >= 0.5 * width
    )


def _rows(runs: list[_Run]) -> list[list[_Run]]:
    """Group one column's runs into lines, top to bottom."""
    rows: list[list[_Run]] = []
    for run in sorted(runs, key=lambda run: run.middle):
        for row in reversed(rows[-3:]):
            if _on_line(_tallest(row), run):
                row.append(run)
                break
        else:
            rows.append([run])
    return sorted(rows, key=lambda row: _tallest(row).middle)


def _tallest(row: Sequence[_Run]) -> _Run:
    return max(row, key=lambda run: run.height)


def _on_line(one: _Run, other: _Run) -> bool:
    near = 0.6 * max(one.height, other.height)
    return _overlap(one, other) >= 0.5 and abs(one.middle - other.middle) < near


def _tangles(rows: Sequence[list[_Run]]) -> Iterator[list[list[_Run]]]:
    """Yield the rows in groups that reach into each other: formulas, figures, cells of two lines.

    They do in height, or in the file: that goes on below before it goes on beside.
    """
    group: list[list[_Run]] = []
    end = 0.0
    first = last = 0
    for row in rows:
        tall, start = _tallest(row), min(run.at for run in row)
        if group and end - tall.y0 < _TANGLED * tall.height and not first < start < last:
            yield group
            group = []
        end = max(end, tall.y1) if group else tall.y1
        first = min(first, start) if group else start
        last = max([last] * bool(group) + [run.at for run in row])
        group.append(row)
    if group:
        yield group


def _untangled(rows: list[list[_Run]]) -> list[list[_Run]]:
    """Return rows in the order of the file if it sets them in one go: heights say little there."""
    runs = sorted((run for row in rows for run in row), key=lambda run: run.at)
    if len(rows) == 1 or runs[-1].at - runs[0].at >= len(runs):
        return rows
    found = [[runs[0]]]
    for run in runs[1:]:
        if _on_line(_tallest(found[-1]), run):
            found[-1].append(run)
        else:
            found.append([run])
    return found


def _line(row: list[_Run], turn: int, column: int, slope: float) -> Line:
    words = _along(row)
    bold = sum(len(word.text) for word in words if word.bold)
    line = Line(
        words,
        min(run.x0 for run in row),
        min(run.y0 for run in row),
        max(run.x1 for run in row),
        max(run.y1 for run in row),
        turn,
        column,
    )
    line.size = weighted_median([_size(word, turn, slope) for word in words])
    line.bold = bold > 0.9 * line.characters
    return line


def _along(row: list[_Run]) -> list[Word]:
    """Return a line's words as they are read.

    What stands over something else, as limits over a sum, keeps the order of the file.
    """
    words = [word for run in row for word in run.words]
    if not words[0].turn and reads_leftwards("".join(word.text for word in words)):
        return _leftwards(words)
    stacks: list[list[_Run]] = []
    end = 0.0
    for run in sorted(row, key=lambda run: run.x0):
        if stacks and run.x0 < end - 0.2 * run.height:
            stacks[-1].append(run)
        else:
            stacks.append([run])
        end = max(end, run.x1)
    runs = (run for stack in stacks for run in sorted(stack, key=lambda run: run.at))
    return [word for run in runs for word in run.words]


def _leftwards(words: Sequence[Word]) -> list[Word]:
    """Return words from right to left, but for those between them that read to the right."""
    found: list[Word] = []
    placed = sorted(words, key=lambda word: -word.x0)
    for leftwards, group in groupby(placed, key=lambda word: reads_leftwards(word.text)):
        stretch = list(group)
        found += stretch if leftwards else stretch[::-1]
    return found


def _size(word: Word, turn: int, slope: float) -> tuple[float, int]:
    wide, high = word.x1 - word.x0, word.y1 - word.y0
    if turn % 2:
        wide, high = high, wide
    return high - min(abs(slope) * wide, high * 2 / 3), len(word.text)


def weighted_median(values: Sequence[tuple[float, int]]) -> float:
    """Return the value in the middle when each counts as often as its weight; 0 if none."""
    total = sum(weight for _, weight in values)
    passed = 0
    for value, weight in sorted(values):
        passed += weight
        if passed * 2 >= total:
            return value
    return 0.0
