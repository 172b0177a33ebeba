"""Sentence boundaries in English, Chinese and mixed text, as offsets into the text.

One pass over the candidate stops; every look back or ahead is bounded or ends at the next line,
so that the time is linear in the length of the text whatever it holds.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from core.evidence.language import CJK
from core.evidence.lexicon import ALSO_WORDS, MAY_END, NEVER_ENDS, STARTERS

_CITE = r"[\[［【][ \t]*\d{1,3}(?:[ \t]*[,，、;；–-][ \t]*\d{1,3})*[ \t]*[\]］】]"
_CLOSERS = r"[\"'”’»)\]）】」』》*_]*"
_CANDIDATE = re.compile(r"[.!?]+|[。！？；．]+|;")
_AFTER_STOP = re.compile(f"{_CLOSERS}(?:[ \t]?{_CITE})*")
_CLOSERS_ONLY = re.compile(_CLOSERS)
_HARD_BREAK = re.compile(
    r"\n[ \t]*\n"  # an empty line
    r"|\n(?=[ \t]*(?:[-•*–▪●·][ \t]|\d{1,3}[.)、][ \t]?\D|[(（]\d{1,3}[)）]|\#{1,6}[ \t]|\|"
    r"|\[\d{1,3}\][ \t]))"  # a line that begins an item, a heading, a table row, a reference
)
_HEADING_END = re.compile(r"(?m)^[ \t]*\#{1,6}[ \t][^\n]*(\n)")
_NOTE_NUMBER = re.compile(r"[ \t]?\d{1,3}(?:[,–-][ \t]?\d{1,3})*(?=[ \t\n]+[A-Z][a-z])")
_LAST_WORD = re.compile(r"[^\s(\[{（【“\"'‘/]*$")
_NEXT_WORD = re.compile(r"[\"'“‘(\[]*([A-Za-z]*)")
_SPACE = re.compile(r"\s*")
_LATIN_BEFORE = re.compile(r"[a-z)]{3}$")
_HAN = re.compile(f"[{CJK}]")

_LOOK_BACK = 24


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of `text` as (start, end) offsets, without the space around them.

    A citation after the full stop (`… end. [3]`) belongs to the sentence before it.
    """
    breaks = sorted(_line_breaks(text))
    cuts = sorted({*breaks, *_stops(text, breaks)})
    spans, start = [], 0
    for end in [*cuts, len(text)]:
        piece = text[start:end]
        lead = len(piece) - len(piece.lstrip())
        stripped = piece.strip()
        if stripped:
            spans.append((start + lead, start + lead + len(stripped)))
        start = max(start, end)
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` themselves."""
    return [text[start:end] for start, end in split_sentences(text)]


def _line_breaks(text: str) -> set[int]:
    breaks = {match.start() for match in _HARD_BREAK.finditer(text)}
    return breaks | {match.start(1) for match in _HEADING_END.finditer(text)}


def _stops(text: str, breaks: Sequence[int]) -> list[int]:
    cuts = [0]
    for match in _CANDIDATE.finditer(text):
        line_start = bisect_right(breaks, match.start())
        start = max(cuts[-1], breaks[line_start - 1] if line_start else 0)
        end = _end_of_sentence(text, match, start)
        if end:
            cuts.append(end)
    return cuts


def _end_of_sentence(text: str, stop: re.Match[str], sentence_start: int) -> int:
    """Return where the sentence that `stop` may close ends, 0 when it closes none."""
    mark = stop.group()
    if mark == ";":
        return stop.end() if _between_han(text, stop.start(), stop.end()) else 0
    if mark[0] in "。！？；":
        return _with_tail(text, stop.end())
    if mark[0] == "．":
        return 0 if _between_digits(text, stop) else _with_tail(text, stop.end())
    return _end_of_latin(text, stop, sentence_start)


def _end_of_latin(text: str, stop: re.Match[str], sentence_start: int) -> int:
    if _between_han(text, stop.start(), stop.end()):
        return _with_tail(text, stop.end())
    note = _NOTE_NUMBER.match(text, stop.end())
    before = text[max(0, stop.start() - _LOOK_BACK) : stop.start()]
    if note and _LATIN_BEFORE.search(before) and not _abbreviated(before, "", stop.group()):
        return note.end()
    end = _with_tail(text, stop.end())
    follow = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    if follow == len(text):
        return end
    if follow == end and not _HAN.match(text, end):
        return 0
    if _is_item_number(text, sentence_start, stop.start()):
        return 0
    word = _NEXT_WORD.match(text, follow)
    next_word = word.group(1) if word else ""
    if next_word[:1].islower():
        return 0
    return 0 if _abbreviated(before, next_word, stop.group()) else end


def _abbreviated(before: str, next_word: str, mark: str) -> bool:
    """Return whether the full stop after `before` belongs to an abbreviation or an initial."""
    if mark != ".":
        return False
    word = _LAST_WORD.search(before).group()  # type: ignore[union-attr]
    folded = word.casefold()
    if folded in NEVER_ENDS:
        return not (folded in ALSO_WORDS and word.islower() and next_word)
    is_initial = len(word) == 1 and word.isalpha() and word.isupper()
    is_initials = bool(re.fullmatch(r"(?:[A-Za-z]\.-?)+[A-Za-z]", word))
    if folded in MAY_END or is_initial or is_initials:
        return bool(next_word or folded == "al") and next_word.casefold() not in STARTERS
    return False


def _with_tail(text: str, end: int) -> int:
    """Return `end` moved past closing quotes and the citations that follow the stop."""
    tail = _AFTER_STOP.match(text, end)
    tail_end = tail.end() if tail else end
    follow = _SPACE.match(text, tail_end).end()  # type: ignore[union-attr]
    if follow > tail_end and text[follow : follow + 1].islower():
        # "… [12] propose": the citation is the subject of the next sentence
        return _CLOSERS_ONLY.match(text, end).end()  # type: ignore[union-attr]
    return tail_end


def _is_item_number(text: str, sentence_start: int, stop: int) -> bool:
    head = text[sentence_start:stop].strip() if stop - sentence_start < _LOOK_BACK else ""
    return bool(re.fullmatch(r"[\[(（]?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})", head))


def _between_han(text: str, start: int, end: int) -> bool:
    return bool(_HAN.match(text[start - 1 : start]) and _HAN.match(text[end : end + 1]))


def _between_digits(text: str, stop: re.Match[str]) -> bool:
    before, after = text[stop.start() - 1 : stop.start()], text[stop.end() : stop.end() + 1]
    return before.isdigit() and after.isdigit()
