"""Citation numbers in running text: `[1]`, `[1, 2]`, `[1][2]`, `[1-3]`, `［１］`, `【1】`.

Models also write `[1 and 2]`, `[1至3]`, `[passage 1]`, `[p. 1]`, `[第1段]`, `[^1]`. What is a marker
is also written in ui/components/answer.js, which has to agree.

Numbers that do not exist are taken out and reported; none is ever added.
"""

import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

_NUMBER = "[0-9０-９]{1,3}"
_BLANK = "[ \t\u00a0\u2000-\u200a\u202f\u3000]"
_DASH = rf"{_BLANK}*[–—‑\-－~～至]{_BLANK}*"
_BETWEEN = rf"(?:{_BLANK}*[,，、;；|&和]{_BLANK}*|{_BLANK}+and{_BLANK}+)"
_BEFORE = rf"(?:(?:passages?|pp?\.?|段落?|第|\^){_BLANK}*)?"
_AFTER = rf"(?:{_BLANK}*段落?)?"
_ITEM = rf"{_BEFORE}{_NUMBER}{_AFTER}"
_GROUP = re.compile(
    rf"[\[［【]{_BLANK}*({_ITEM}(?:(?:{_DASH}|{_BETWEEN}){_ITEM})*){_BLANK}*[\]］】]", re.IGNORECASE
)
_RANGE = re.compile(rf"({_NUMBER}){_AFTER}{_DASH}{_BEFORE}({_NUMBER})", re.IGNORECASE)
_LONGEST_RANGE = 20


class Marker(NamedTuple):
    """One bracketed group of citation numbers, at [start, end) of its text."""

    start: int
    end: int
    numbers: tuple[int, ...]


class Numbered(NamedTuple):
    """A text whose markers name only citations that exist, written `[1][2]`."""

    text: str
    citations: tuple[int, ...]
    removed: tuple[int, ...]


def markers(text: str) -> list[Marker]:
    """Return the citation markers of `text` in order. A group holding 0 is an interval, not one."""
    found = (Marker(m.start(), m.end(), _numbers(m.group(1))) for m in _GROUP.finditer(text))
    return [marker for marker in found if 0 not in marker.numbers]


def cited(text: str) -> tuple[int, ...]:
    """Return the numbers cited in `text`, each once, in order of first mention."""
    return tuple(dict.fromkeys(n for marker in markers(text) for n in marker.numbers))


def keep_existing(text: str, existing: Collection[int]) -> Numbered:
    """Return `text` without the numbers that are not among `existing`, and what was taken out."""
    numbers = cited(text)
    replaced = _replace(text, lambda m: write(n for n in m.numbers if n in existing))
    return Numbered(
        replaced,
        tuple(n for n in numbers if n in existing),
        tuple(n for n in numbers if n not in existing),
    )


def strip(text: str) -> str:
    """Return `text` without its markers and without the space they leave behind."""
    return _replace(text, lambda _: "")


def renumber(text: str, meant: Callable[[int], Iterable[int]]) -> str:
    """Return `text` with every number replaced by those it means."""
    return _replace(text, lambda m: write(dict.fromkeys(k for n in m.numbers for k in meant(n))))


def defuse(passage: str) -> str:
    """Return a paper's `passage` with its own `[12]` written `(12)`: not to be taken for ours."""
    return _replace(passage, lambda m: "(" + ", ".join(map(str, m.numbers)) + ")")


def write(numbers: Iterable[int]) -> str:
    """Return the markers for `numbers`, as `[1][2]`."""
    return "".join(f"[{n}]" for n in numbers)


def _replace(text: str, new: Callable[[Marker], str]) -> str:
    parts, last = [], 0
    for marker in markers(text):
        written = new(marker)
        before = text[last : marker.start]
        parts.append(before if written else before.rstrip(" \t"))
        parts.append(written)
        last = marker.end
    parts.append(text[last:])
    return "".join(parts)


def _numbers(group: str) -> tuple[int, ...]:
    def expand(match: re.Match[str]) -> str:
        first, last = int(match.group(1)), int(match.group(2))
        if first < last <= first + _LONGEST_RANGE:
            return ",".join(map(str, range(first, last + 1)))
        return f"{first},{last}"

    return tuple(int(number) for number in re.findall(_NUMBER, _RANGE.sub(expand, group)))
