"""Text to BM25 terms, for Latin scripts and Chinese in any mix. One linear pass, no model."""

import re
import unicodedata

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005\u3007\U00020000-\U0003ffff"
_HAN_RUN = re.compile(f"[{_CJK}]+")
# A run of Han characters, or a word: word characters with single joiners between them.
# The two kinds exclude each other character by character, so nothing is ever tried twice.
_PIECE = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+(?:[-_.]+[^\\W_{_CJK}]+)*")
_JOINER = re.compile(r"[-_.]+")
_MAX_TERM = 64
"""Longer 'words' are encodings, not language; they are cut so that an index stays small."""


def normalise(text: str) -> str:
    """Return the form in which terms are compared: NFKC, casefolded, hyphens of one kind."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.translate(_HYPHENS)


_HYPHENS = {0x2010: "-", 0x2011: "-", 0x2012: "-", 0x2013: "-", 0x2212: "-", 0x00AD: None}


def tokenize(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions.

    A word with inner `-`, `_` or `.` gives itself and its parts (`gpt-4` gives `gpt-4`, `gpt`,
    `4`). A run of Chinese characters gives each character and each overlapping pair. Everything
    is NFKC-normalised and casefolded. Takes time linear in the length of the text.
    """
    terms: list[str] = []
    for match in _PIECE.finditer(normalise(text)):
        piece = match.group()
        if _HAN_RUN.match(piece):
            terms.extend(piece)
            terms.extend(piece[i : i + 2] for i in range(len(piece) - 1))
            continue
        parts = _JOINER.split(piece)
        if len(parts) > 1 and len(piece) <= _MAX_TERM:
            terms.append(piece)
        terms.extend(part[:_MAX_TERM] for part in parts)
    return terms
