"""What a page carries that is not the paper: running heads, page and line numbers, the arXiv stamp.

Everything here works on geometry and repetition; nothing is dropped for its wording alone except
the stamp.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from core.ingest.layout import Line, weighted_median
from core.ingest.pdf import RawPage, Word

ARXIV_STAMP = re.compile(
    r"arXiv:\s?(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?P<version>v\d+)?", re.I
)

_MARGIN = 0.115
_WIDE_MARGIN = 0.17
"""For the outermost line alone, when it stands well away from the text."""
_EDGE_LINES = 3
_HEADING = 1.12
"""Of the usual size of a running head; larger is the heading that it repeats."""
_PAGE_NUMBER = re.compile(
    r"(?:page\s*|第\s*|[-–—·|\s]*)(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:of|/)\s*\d{1,4}|\s*页(?:\s*[,，]?\s*共\s*\d+\s*页)?)?[-–—·|\s]*",
    re.I,
)
_DIGITS = re.compile(r"\d+")


def drop_line_numbers(page: RawPage) -> None:
    """Take away numbers counting the lines down a margin (manuscripts under review)."""
    numbers = [word for word in page.words if word.turn == 0 and word.text.isdecimal()]
    if len(numbers) < 10:
        return
    others = [word for word in page.words if word.turn == 0 and not word.text.isdecimal()]
    columns: dict[tuple[str, int], list[Word]] = defaultdict(list)
    for word in numbers:
        columns["left edge", round(word.x0 / 4)].append(word)
        columns["right edge", round(word.x1 / 4)].append(word)
    counted: set[int] = set()
    for column in columns.values():
        if _counts_lines(column) and _in_margin(column, others):
            counted |= {id(word) for word in column}
    if counted:
        _take_rest(counted, numbers)
        page.words = [word for word in page.words if id(word) not in counted]


def _take_rest(counted: set[int], numbers: Sequence[Word]) -> None:
    """Add the numbers of the same margin that are aligned by their other edge (9 above 10)."""
    column = [word for word in numbers if id(word) in counted]
    left, right = min(word.x0 for word in column), max(word.x1 for word in column)
    width = right - left
    counted |= {
        id(word)
        for word in numbers
        if word.x0 >= left - width and word.x1 <= right + width and word.x0 < right
    }


def _counts_lines(column: list[Word]) -> bool:
    """Return whether numbers run down the page in equal steps."""
    if len(column) < 10:
        return False
    values = [int(word.text) for word in sorted(column, key=lambda word: word.y0)]
    steps = [b - a for a, b in pairwise(values)]
    usual = max(set(steps), key=steps.count)
    return usual in (1, 5) and steps.count(usual) >= 0.8 * len(steps)


def _in_margin(column: list[Word], others: Sequence[Word]) -> bool:
    """Return whether hardly a word stands beyond the numbers on one side."""
    left = min(word.x0 for word in column)
    right = max(word.x1 for word in column)
    before = sum(word.x1 <= left for word in others)
    after = sum(word.x0 >= right for word in others)
    return min(before, after) <= 3 and max(before, after) >= 10


def drop_furniture(pages: Sequence[RawPage], lines: Sequence[list[Line]]) -> list[Line]:
    """Take running heads, page numbers and the arXiv stamp out of `lines`; return what was taken.

    `lines` holds each page's lines and is changed in place.
    """
    taken: list[Line] = []
    body = weighted_median([(line.size, line.characters) for page in lines for line in page])
    edges = [_edge_lines(raw, page) for raw, page in zip(pages, lines, strict=True)]
    repeated = _repeated(pages, edges)
    for number, (raw, page) in enumerate(zip(pages, lines, strict=True)):
        gone: set[int] = set()
        for line in page:
            if line.turn % 2 and ARXIV_STAMP.search(line.text):
                gone.add(id(line))
        outermost = _outermost(raw, edges[number])
        for line in edges[number]:
            large = line.size > 1.2 * body and (number == 0 or line not in outermost)
            if id(line) in repeated and not large:
                gone.add(id(line))
        gone |= _page_numbers(raw, page, gone)
        taken += [line for line in page if id(line) in gone]
        page[:] = [line for line in page if id(line) not in gone]
    return taken


def _edge_lines(raw: RawPage, page: Sequence[Line]) -> list[Line]:
    """Return the lines in the top and bottom margins, outermost few of each."""
    upright = sorted((line for line in page if line.turn == 0), key=lambda line: line.y0)
    top = [line for line in upright[: _EDGE_LINES * 2] if line.y1 < _MARGIN * raw.height]
    low = [line for line in upright[-_EDGE_LINES * 2 :] if line.y0 > (1 - _MARGIN) * raw.height]
    return top + low + _standing_off(raw, upright, {id(line) for line in top + low})


def _standing_off(raw: RawPage, upright: Sequence[Line], known: set[int]) -> list[Line]:
    """Return the first and the last line when white parts them from the text in a deep margin."""
    if len(upright) < 3:
        return []
    found = []
    first, second = upright[:2]
    if first.y1 < _WIDE_MARGIN * raw.height and second.y0 - first.y1 > first.size:
        found.append(first)
    above, last = upright[-2:]
    if last.y0 > (1 - _WIDE_MARGIN) * raw.height and last.y0 - above.y1 > last.size:
        found.append(last)
    return [line for line in found if id(line) not in known]


def _key(raw: RawPage, line: Line) -> tuple[str, int]:
    """Return what is the same wherever a running head returns: wording but for numbers, height."""
    text = _DIGITS.sub("#", line.text.casefold())
    return re.sub(r"\W", "", text) or text, round(line.y0 / raw.height * 50)


def _repeated(pages: Sequence[RawPage], edges: Sequence[list[Line]]) -> set[int]:
    """Return the ids of lines that return on three pages or more (two in a short paper)."""
    seen: dict[tuple[str, int], list[tuple[int, Line]]] = defaultdict(list)
    outermost: set[int] = set()
    for raw, page in zip(pages, edges, strict=True):
        for line in page:
            seen[_key(raw, line)].append((raw.number, line))
        outermost |= {id(line) for line in _outermost(raw, page)}
    enough = 2 if len(pages) <= 4 else 3
    found: set[int] = set()
    for text, band in seen:
        near = [item for step in (-1, 0, 1) for item in seen.get((text, band + step), ())]
        size = median(line.size for _, line in near)
        heads = [item for item in near if item[1].size <= _HEADING * size]
        if _most_alike(heads, outermost) >= enough:
            found |= {id(line) for _, line in heads}
    return found


def _outermost(raw: RawPage, edge: Sequence[Line]) -> list[Line]:
    """Return the highest line of the upper half and the lowest of the lower."""
    upper = [line for line in edge if line.y0 < raw.height / 2]
    lower = [line for line in edge if line.y0 >= raw.height / 2]
    found = [min(upper, key=lambda line: line.y0)] if upper else []
    return found + ([max(lower, key=lambda line: line.y1)] if lower else [])


def _most_alike(lines: Sequence[tuple[int, Line]], outermost: set[int]) -> int:
    """Return on how many pages the line is the same, counts the pages, or is the outermost.

    'Definition 26' and 'Definition 54' under the heads of two pages are no heads.
    """
    groups: dict[tuple[object, ...], set[int]] = defaultdict(set)
    for page, line in lines:
        numbers = [int(digits) for digits in _DIGITS.findall(line.text)]
        groups["same", *numbers].add(page)
        for at, number in enumerate(numbers):
            groups["counts", at, number - page].add(page)
        if id(line) in outermost:
            groups["outermost",].add(page)
    return max(map(len, groups.values()), default=0)


def _page_numbers(raw: RawPage, page: Sequence[Line], gone: set[int]) -> set[int]:
    """Return the outermost line at the top or bottom when it is a page number and nothing else."""
    upright = [line for line in page if line.turn == 0 and id(line) not in gone]
    if not upright:
        return set()
    found = set()
    top = min(upright, key=lambda line: line.y0)
    low = max(upright, key=lambda line: line.y1)
    if top.y1 < _MARGIN * raw.height and _PAGE_NUMBER.fullmatch(top.text):
        found.add(id(top))
    if low.y0 > (1 - _MARGIN) * raw.height and _PAGE_NUMBER.fullmatch(low.text):
        found.add(id(low))
    return found
