"""Plain work on strings: normalising, joining lines, judging what language or garbage it is."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from core.types import Language

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CJK = HAN + "\u3000-\u303f\u3040-\u30ff\uff00-\uffef"

_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile("[\u3041-\u30fa]")
_CJK = re.compile(f"[{CJK}]")
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LATIN = re.compile(r"[A-Za-z]")
_ALNUM = re.compile(r"[^\W_]")
_HIGH = re.compile("[\x80-\xff]{6,}")
_VOWEL = re.compile("[aeiouy]", re.I)
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_WORDLIKE = re.compile(r"[(\"']?(?:[A-Z]?[a-z]{2,}|[A-Z]{3,})[.,:;)\"']*")
_GLYPHS = {code: code + 29 for code in range(3, 98) if code not in b" \r\n"}
_POWER = re.compile("(?<![\\d.,])10[⁺⁻]?[⁰¹²³⁴-⁹]+")
_KEPT = dict.fromkeys("，：；！？（）～％…", "")
_SUPERSCRIPT = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_COMMON_HAN = frozenset("的一是在不了有和为中用这以上于之与其可对")
_JUNK = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff"
                   "\ue000-\uf8ff\ufff0-\uffff\ud800-\udfff\U000f0000-\U0010ffff]")  # fmt: skip
_ENGLISH = frozenset(
    {"the", "of", "and", "to", "in", "is", "that", "for", "we", "with", "this", "are", "by", "on", "be", "as", "from", "which", "an", "can", "it", "our", "or", "was", "have", "has", "not", "these", "at", "using", "between", "were"}
)  # fmt: skip


def normalise(text: str) -> str:
    """Return NFKC (ligatures apart, width folded) without control and private-use characters.

    Full-width punctuation stays: it is right in Chinese text. So do exponents of ten (10⁻⁵), which
    would else make another number.
    """
    if text.isascii() and text.isprintable():
        return text
    if not unicodedata.is_normalized("NFKC", text):
        powers = {at for found in _POWER.finditer(text) for at in range(*found.span())}
        parts = (
            char if char in _KEPT or at in powers else unicodedata.normalize("NFKC", char)
            for at, char in enumerate(text)
        )
        text = unicodedata.normalize("NFC", "".join(parts))
    return text if text.isprintable() else _JUNK.sub("", text)


def raised(digits: str) -> str:
    """Return digits with or without a sign as superscript characters."""
    return digits.translate(_SUPERSCRIPT)


def is_cjk(char: str) -> bool:
    """Return whether the character is written without spaces around it."""
    return bool(_CJK.match(char))


def reads_leftwards(text: str) -> bool:
    """Return whether most letters are Hebrew, Arabic or of another script from right to left."""
    return not text.isascii() and 2 * len(_LEFTWARDS.findall(text)) > letters(text)


def joint(before: str, after: str) -> str:
    """Return what stands between two pieces of running text: nothing inside Chinese, else a space."""
    if before and after and is_cjk(before[-1]) and is_cjk(after[0]):
        return ""
    return " "


def letters(text: str) -> int:
    """Return how many letters and digits there are."""
    return len(_ALNUM.findall(text))


def language(text: str) -> Language:
    """Return 'zh' or 'en' when the text is mainly that, else 'other'."""
    sample = text[:60_000]
    han, latin = len(_HAN.findall(sample)), len(_LATIN.findall(sample))
    kana = len(_KANA.findall(sample))
    if kana > 0.1 * (han + kana):
        return "other"
    if han and han * 4 >= latin:
        return "zh"
    words = re.findall(r"[a-z]+", sample.casefold())
    common = sum(word in _ENGLISH for word in words)
    return "en" if words and common >= 0.12 * len(words) else "other"


def unreadable(text: str) -> bool:
    """Return whether the characters cannot be what is printed.

    Four signs: private-use and replacement characters (no Unicode map), Chinese bytes shown as
    Latin-1, Latin letters almost without vowels (another encoding), and glyph numbers taken for
    characters, which stand 29 below in TrueType fonts.
    """
    shown = len(text) - len(re.findall(r"\s", text))
    if not shown:
        return False
    if len(_JUNK.findall(text)) > 0.3 * shown:
        return True
    if sum(len(run) for run in _HIGH.findall(text)) > 0.3 * shown:
        return True
    latin, vowels = len(_LATIN.findall(text)), len(_VOWEL.findall(text))
    if latin >= 300 and latin > 0.5 * shown and vowels < 0.16 * latin:
        return True
    return _words_share(text) < 0.3 and _words_share(text.translate(_GLYPHS)) > 0.6


def _words_share(text: str) -> float:
    """Return how much of the text is in words: three letters or more of one case, with a vowel."""
    pieces = text.split()
    words = [piece for piece in pieces if _WORDLIKE.fullmatch(piece) and _VOWEL.search(piece)]
    return sum(map(len, words)) / max(100, sum(map(len, pieces)))


def reads_as_words(text: str) -> bool:
    """Return whether enough of the text is English words or the commonest Chinese characters.

    Proof against signs of unreadable text that a readable page can show: pdfium misses the Unicode
    map of fonts whose glyphs are named by their letters.
    """
    han = _HAN.findall(text)
    if len(han) >= 20 and sum(char in _COMMON_HAN for char in han) >= 0.04 * len(han):
        return True
    return _words_share(text) >= 0.3


class Hyphens:
    """Decides whether a hyphen at a line end belongs to the word, by the paper's own words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for text in texts:
            self._words.update(_WORDS.findall(text.casefold()))

    def join(self, first: str, second: str) -> str:
        """Return `first` (which ends in a hyphen) and `second` as the one word they print."""
        stem = first[:-1]
        if not stem or not second:
            return first + second
        head = re.search(r"[^\W_]+(?:-[^\W_]+)*$", stem)
        tail = re.match(r"[^\W_]+", second)
        if head is None or tail is None or not second[0].islower() or not stem[-1].isalpha():
            return first + second
        a, b = head.group().casefold(), tail.group().casefold()
        whole, hyphened = self._words[a + b], self._words[f"{a}-{b}"]
        if whole or hyphened:
            return first + second if hyphened > whole else stem + second
        both = self._words[a] >= 2 and self._words[b] >= 2 and len(a) > 2 and len(b) > 2
        return first + second if both else stem + second
