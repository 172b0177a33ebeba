"""Text to BM25 terms, for Latin scripts and Chinese in any mix. One linear pass, no model."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005\u3007\U00020000-\U0003ffff"
_HAN_RUN = re.compile(f"[{_CJK}]+")
# A run of Han characters, or a word: letters and digits with joiners between them. The two
# kinds exclude each other character by character, so nothing is ever tried twice.
_PIECE = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+(?:[-_.]+[^\\W_{_CJK}]+)*")
_JOINER = re.compile(r"[-_.]+")
_HYPHENS = {0x2010: "-", 0x2011: "-", 0x2012: "-", 0x2013: "-", 0x2212: "-", 0x00AD: None}
_MAX_TERM = 64
"""Longer 'words' are encodings, not language; they are cut so that an index stays small."""
_FUNCTION_WORDS = (
    "a an the of in on at to for with by from and or not is are was were be been do does did how "
    "what which who when where why can could should this that these those it its their there we "
    "they any all than between as into has have had but if so such also i you he she his her our "
    "your"
)
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def normalise(text: str) -> str:
    """Return the form in which texts are compared: NFKC, casefolded, hyphens of one kind."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_HYPHENS)


def tokenize(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions.

    A word with inner `-`, `_` or `.` gives itself and its parts (`gpt-4` gives `gpt-4`, `gpt`,
    `4`). English endings are taken off (`stem`). A run of Chinese characters gives each character
    and each overlapping pair. Everything is NFKC-normalised and casefolded. Takes time linear in
    the length of the text.
    """
    return [stem(word) for word in _words(text)]


def query_terms(text: str) -> list[str]:
    """Return the terms of a query: as `tokenize`, without English function words.

    Within one paper these are not rarer than what is asked for. A query of nothing else
    ("To be or not to be") keeps them.
    """
    words = list(_words(text))
    content = [word for word in words if word not in _STOP_WORDS]
    return [stem(word) for word in content or words]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return an English word without plural -s, -ed, -ing and final -e.

    The plural rules follow the S stemmer (Harman, How effective is suffixing?, 1991).
    Words of other letters than a to z are left alone.
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    word = _without_past(_without_plural(word))
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def _without_past(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            doubled = word[-1] == word[-2] and word[-1] not in "lsz"
            return word[:-1] if doubled else word
    return word


def _words(text: str) -> Iterator[str]:
    for match in _PIECE.finditer(normalise(text)):
        piece = match.group()
        if _HAN_RUN.match(piece):
            yield from piece
            yield from (piece[i : i + 2] for i in range(len(piece) - 1))
            continue
        parts = _JOINER.split(piece)
        if len(parts) > 1 and len(piece) <= _MAX_TERM:
            yield piece
        yield from (part[:_MAX_TERM] for part in parts)
