"""Numbers in words, in Han numerals and in powers of ten, rewritten in digits."""

import re
from itertools import pairwise

_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1000}
_HAN_MYRIADS = {"万": 10**4, "亿": 10**8}
_HAN_NUMBER = re.compile(
    r"(?<![第十百千万亿零〇一二两三四五六七八九统\d])(?![百千万亿])"
    r"(?=[十百千万亿]*[一二两三四五六七八九])(?=[零〇一二两三四五六七八九]*[十百千万亿])"
    r"[零〇一二两三四五六七八九十百千万亿]{2,}"
)
_HAN_YEAR = re.compile(r"[一二][零〇一二三四五六七八九]{3}(?=年)")
_HAN_PERCENT = re.compile(r"百分之([零〇一二两三四五六七八九十百]+|\d+(?:\.\d+)?)")

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH = {w: i for i, w in enumerate(_UNITS.split())} | {
    w: 10 * i for i, w in enumerate(_TENS.split(), 2)
}
_ENGLISH_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_WORD = "|".join(sorted((*_ENGLISH, *_ENGLISH_SCALES), key=len, reverse=True))
_ENGLISH_NUMBER = re.compile(
    rf"\b(?:{'|'.join(_ENGLISH)})(?:(?:[ -]|(?<=hundred) and )(?:{_WORD})\b)+", re.IGNORECASE
)
_PARTS = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "tenth": 10}
_FRACTION = re.compile(
    rf"\b(one|two|three|four|five|seven|nine)[ -]({'|'.join(_PARTS)})s?(?= of\b)", re.IGNORECASE
)

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile(r"(?:(?<=10)|(?<=\b[A-Za-z]))[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_TIMES_POWER = re.compile(r"(\d+(?:\.\d+)?)\s*[x×*·]\s*10\s?(?:\^\{?\s?|(?=[-−]))([-−+]?\d+)\}?")
_POWER = re.compile(r"(?<![\w.])10\^\{?([-−+]?\d+)\}?")


def raise_exponents(text: str) -> str:
    """Return `text` with superscript digits after a base written `^…`, before NFKC drops them."""
    return _RAISED.sub(lambda m: "^" + m.group().translate(_SUPERSCRIPT), text)


def in_digits(text: str) -> str:
    """Return `text` with 一千二百, "two hundred and five", 百分之三 and 3 × 10^-4 in digits."""
    text = _TIMES_POWER.sub(lambda m: f"{m[1]}e{m[2]}".replace("−", "-"), text)
    text = _POWER.sub(lambda m: f"1e{m[1]}".replace("−", "-"), text)
    text = _HAN_PERCENT.sub(_percent, text)
    text = _HAN_YEAR.sub(lambda m: "".join(str(_HAN_DIGITS[c]) for c in m.group()), text)
    text = _HAN_NUMBER.sub(lambda m: str(_han(m.group())), text)
    text = _FRACTION.sub(lambda m: f"{_ENGLISH[m[1].lower()]}/{_PARTS[m[2].lower()]}", text)
    return _ENGLISH_NUMBER.sub(_english, text)


def _percent(match: re.Match[str]) -> str:
    share = match[1]
    return f"{share if share[0].isdigit() and share.isascii() else _han(share)}%"


def _han(numeral: str) -> int:
    total = section = digit = 0
    for character in numeral:
        if character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
        elif character in _HAN_PLACES:
            section += (digit or 1) * _HAN_PLACES[character]
            digit = 0
        else:
            total = (total + section + digit) * _HAN_MYRIADS[character]
            section = digit = 0
    return total + section + digit


def _english(match: re.Match[str]) -> str:
    words = [w for w in re.split(r"[ -]", match.group().casefold()) if w != "and"]
    if not _is_one_number(words):
        return match.group()
    total = section = 0
    for word in words:
        if word in _ENGLISH:
            section += _ENGLISH[word]
        elif word == "hundred":
            section *= 100
        else:
            total += section * _ENGLISH_SCALES[word]
            section = 0
    return str(total + section)


def _is_one_number(words: list[str]) -> bool:
    """Return whether `words` are no list such as "two three four": only a ten takes a unit."""
    pairs = [(a, b) for a, b in pairwise(words) if a in _ENGLISH and b in _ENGLISH]
    return all(_ENGLISH[a] >= 20 and 0 < _ENGLISH[b] < 10 for a, b in pairs)
