"""What in a sentence can be checked: its quantities, names, content words and polarity."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from core.evidence import lexicon
from core.evidence.language import CJK, is_chinese
from core.evidence.lexicon import (
    AXES,
    HAN_COUNTED,
    HAN_FUNCTION,
    HAN_MEASURED,
    HAN_NEGATIONS,
    HAN_NOT_NEGATIONS,
    IRREGULAR,
    NEGATIONS,
    NOT_NEGATIONS,
    NUMBER_WORDS,
    PHRASES,
    SCALES,
    STOP_WORDS,
    UNITS,
)
from core.evidence.numerals import in_digits, raise_exponents

_HAN_RUN = re.compile(f"[{CJK}]+")
LETTER = "A-Za-zÀ-ɏΑ-ω"
_NO_POWER = r"(?!(?<=\d)e[-+]?\d)"
_LATIN = re.compile(rf"{_NO_POWER}[{LETTER}][{LETTER}0-9]*(?:[-'’.][{LETTER}0-9]+)*")
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_SCALE = (
    r"thousand|million|billion|trillion|hundred|bn|[kKMB](?![A-Za-z])|百万|千万|十亿|[百千万亿]"
)
_QUANTITY = re.compile(
    r"(?<![A-Za-z0-9_.^])(?P<sign>(?<![\w)\]%^])[-−])?"
    r"(?P<number>\d+(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+(?:e[-+]?\d+)?)"
    rf"(?:[ \t-]?(?P<scale>{_SCALE}))?"
    rf"(?:[ \t-]?(?P<unit>{_UNIT})(?![A-Za-z]))?"
    rf"(?:[ \t-]*(?P<noun>[A-Za-z][A-Za-z-]+)|(?<=\d{{4}})年,?(?P<act>[{CJK}]{{2}})"
    rf"|(?P<measure>[{''.join(HAN_MEASURED)}])(?![{CJK}]?[关比]))?",
    re.IGNORECASE,
)
_WORD_NUMBER = re.compile(
    rf"\b(?P<en>{'|'.join(w for w in NUMBER_WORDS if w.isascii())})\b"
    r"(?:[ -]+(?P<noun>[A-Za-z]+))?"
    rf"|(?P<zh>[两二三四五六七八九十])(?=[{HAN_COUNTED}])|(?P<whole>一半|翻倍)",
    re.IGNORECASE,
)
_WHOLES = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fifth": 5}
_HAN_DIGITS = "零一二三四五六七八九十"
_FRACTION = re.compile(
    r"(?:\b(?P<count>one|two|three|four|a) )?\b(?P<en>half|thirds?|quarters?|fifths?)"
    r"(?= (?:of|the|all|our|their|its)\b)"
    r"|(?P<whole>[二三四五六七八九十])分之(?P<parts>[一二三四五六七八九])|(?P<han_whole>一半|半数)"
)
_OUT_OF = re.compile(
    r" (?:the|our|all|these|those) (?:[a-z0-9]+ )?(?P<noun>[a-z][a-z-]+)\b", re.IGNORECASE
)
"""Three of the nine *sites*."""
_NOUN = re.compile(r" ([A-Za-z][A-Za-z-]+)")
_LABEL = re.compile(
    r"(?<![A-Za-z0-9.°’'=/+*^(_-])(?:(?<!^)(?<!^[\"“])(?<![.!?:] )(?<!\d )A|A(?= (?:is|was|beats"
    r"|outperforms|outperformed|exceeds|causes|and B)\b)|(?<!\d )[B-HJ-Z])(?![A-Za-z0-9]|[-.'’^(]\w"
    r"|\. [A-Z]|\s?[=<>+*/≤≥])"
)
"""A capital that tells one thing from another ("method B"): no article, initial or variable."""
_FORMULA = re.compile(r"[OΘΩ]\s?\((?:[^()]|\([^()]*\))*\)|[A-Za-z]\^\{?-?\w+\}?")
_CITED_NAME = re.compile(r"[A-Z][\w-]+(?= (?:et al|and colleagues|and co-?workers)\b)")
_HAN_BOTH = re.compile(r"(?:既|也)(没有|[不没未无])(.+?)(?:也|又|亦)(?:没有|[不没未无])")
_DENIAL = re.compile(r"\b(?:neither|not|no|never|cannot)\b|n['’]t\b")
_DASH = re.compile(
    r"(?<=[a-z]{3})-(?=(?:without|not|no|but|which|and|yet)\b)|[–—]{1,2}(?=[a-z]{2})"
)
_SCOPE_END = re.compile(
    r"[,;:()。]|[.!?](?=\s|$)|\b(?:but|whereas|while|although|though|however|because)\b"
)
_SUFFIXES = (
    "izations", "isations", "ization", "isation", "ations", "ation", "ingly", "ments", "ment",
    "ions", "ings", "ion", "ing", "ies", "ied", "ers", "ors", "er", "or", "ed", "es", "ly", "s",
    "e", "y",
)  # fmt: skip
_LONGEST_STEM = 7
_PHRASES = tuple((re.compile(pattern), word) for pattern, word in PHRASES)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in base units; `measures` is '' without a known unit.

    `noun` is what it counts, `after` the word before it ("published in 2019"), as stems or ''.
    `fraction`: a share in words ("a third of"), in percent.
    """

    value: float
    measures: str = ""
    noun: str = ""
    spoken: bool = False
    after: str = ""
    fraction: bool = False
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def looks(self) -> str:
        """Return what kind of number it is: a year, a count or a decimal."""
        if self.value != int(self.value):
            return "decimal"
        return "year" if 1900 <= self.value <= 2100 and len(self.text) == 4 else "count"

    def agrees(self, other: "Quantity") -> bool:
        """Return whether both can be the same quantity."""
        if self.measures and other.measures and self.measures != other.measures:
            return False
        return abs(self.value - other.value) <= 1e-6 * max(abs(self.value), abs(other.value))


def comparable(one: Quantity, other: Quantity) -> bool:
    """Return whether two quantities may be of one thing: by unit, by what they count, or by looks."""
    if one.measures or other.measures:
        return one.measures == other.measures
    if (
        one.noun
        and other.noun
        and one.noun.isascii() == other.noun.isascii()
        and one.looks != "year"
    ):
        return one.noun == other.noun
    return one.looks == other.looks


@dataclass(frozen=True, slots=True)
class Facts:
    """The checkable parts of one stretch of text; `denials`: what each negation is about, as stems."""

    text: str
    words: frozenset[str]
    tokens: tuple[str, ...]
    stems: frozenset[str]
    names: frozenset[str]
    quantities: tuple[Quantity, ...]
    denials: tuple[frozenset[str], ...]
    poles: frozenset[tuple[int, bool]]
    chinese: bool

    @property
    def negated(self) -> bool:
        """Return whether an odd number of negations is left once idioms are taken out."""
        return len(self.denials) % 2 == 1


@lru_cache(maxsize=2_000)
def facts(text: str) -> Facts:
    """Read the checkable parts of `text`.

    Remembered: every sentence of an answer is held against the same passages.
    """
    plain = _DASH.sub(" - ", normalise(text))
    folded = fold_case(plain)
    tokens = tuple(match.group() for match in _LATIN.finditer(folded))
    plainer = _in_table_words(folded)
    words = frozenset(
        part for m in _LATIN.finditer(plainer) for part in (m.group(), *m.group().split("-"))
    )
    words |= _table_words(plainer)
    return Facts(
        text=folded,
        words=words,
        tokens=tokens,
        stems=content(folded),
        names=names(plain),
        quantities=tuple(quantities(plain)),
        denials=tuple(_denials(plainer)),
        poles=_poles(words),
        chinese=is_chinese(plain),
    )


def joined(one: Facts, other: Facts) -> Facts:
    """Return the facts of two texts, one after the other."""
    return Facts(
        text=f"{one.text} {other.text}",
        words=one.words | other.words,
        tokens=one.tokens + other.tokens,
        stems=one.stems | other.stems,
        names=one.names | other.names,
        quantities=one.quantities + other.quantities,
        denials=one.denials + other.denials,
        poles=one.poles | other.poles,
        chinese=is_chinese(one.text + other.text),
    )


def normalise(text: str) -> str:
    """Return `text` in NFKC with plain minus signs, single spaces and numbers in digits."""
    text = unicodedata.normalize("NFKC", raise_exponents(text))
    return " ".join(in_digits(text).replace("−", "-").split())


def fold_case(plain: str) -> str:
    """Return `plain` case-folded but for capitals that are labels: "Method A" → "method A"."""
    folded = plain.casefold()
    if len(folded) != len(plain):
        return folded
    letters = list(folded)
    for match in _LABEL.finditer(plain):
        letters[match.start()] = match.group()
    return "".join(letters)


def _in_table_words(folded: str) -> str:
    """Return `folded` with phrases in one word of the tables: "went down" → "decreased"."""
    for pattern, word in _PHRASES:
        folded = pattern.sub(word, folded)
    return folded


def content(folded: str) -> frozenset[str]:
    """Return stems of the content words of case-folded text; Chinese as pairs of characters."""
    stems = {
        stem(part)
        for match in _LATIN.finditer(folded)
        for part in re.split(r"[-'’.]", match.group())
        if part not in STOP_WORDS and (len(part) > 1 or part.isupper())
    }
    for match in _HAN_RUN.finditer(folded):
        for piece in re.split(f"[{HAN_FUNCTION}]", match.group()):
            stems.update(piece[i : i + 2] for i in range(len(piece) - 1))
    return frozenset(stems)


def stem(word: str) -> str:
    """Return `word` without its commonest English ending, cut to seven letters."""
    word = IRREGULAR.get(word, word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:_LONGEST_STEM]


def names(plain: str) -> frozenset[str]:
    """Return proper names, acronyms and codes, case-folded (`BERT`, `WMT14`, `GPT-4`, `Tokyo`).

    A capital at the start of a sentence makes no name, unless it is cited ("Smith et al."). A
    label keeps its capital ("method B"), and a formula loses its spaces.
    """
    found = {re.sub(r"\s", "", m.group()).casefold() for m in _FORMULA.finditer(plain)}
    found |= {m.group().casefold() for m in _CITED_NAME.finditer(plain)}
    labels = {m.group() for m in _LABEL.finditer(plain)}
    for match in re.finditer(rf"{_NO_POWER}[{LETTER}][{LETTER}0-9]*(?:[-.][{LETTER}0-9]+)*", plain):
        word = match.group()
        inner = any(c.isupper() or c.isdigit() for c in word[1:])
        capital = inner or (word[0].isupper() and not _opens(plain, match.start()))
        if len(word) > 1 and capital:
            found.add(word.casefold())
    return frozenset((found - STOP_WORDS) | labels)


def _opens(plain: str, at: int) -> bool:
    """Return whether the word at `at` is the first of a sentence."""
    before = plain[:at]
    return not before.strip(' "“([') or bool(re.search(r"[.!?:。！？：]\s*[\"“(]?$", before[-4:]))


def quantities(plain: str) -> list[Quantity]:
    """Return the numbers of `plain` in digits, and small ones in words."""
    found = []
    end = 0
    for match in _QUANTITY.finditer(plain):
        found.append(_quantity(match, _word_before(plain[end : match.start()])))
        end = match.end("unit") if match["unit"] else match.end("number")
    for match in _WORD_NUMBER.finditer(plain):
        word = (match["en"] or match["zh"] or match["whole"]).casefold()
        noun = (match["noun"] or "").casefold()
        measures, factor = UNITS.get(noun, ("", 1.0))
        value = NUMBER_WORDS[word] * factor
        found.append(Quantity(value, measures, _counted(match), spoken=True, text=word))
    return [*found, *_fractions(plain)]


def _fractions(plain: str) -> Iterator[Quantity]:
    for match in _FRACTION.finditer(plain.casefold()):
        if match["han_whole"]:
            share = 0.5
        elif match["whole"]:
            parts = _HAN_DIGITS.index(match["parts"]), _HAN_DIGITS.index(match["whole"])
            share = parts[0] / parts[1]
        else:
            share = NUMBER_WORDS.get(match["count"] or "", 1) / _WHOLES[match["en"].rstrip("s")]
        yield Quantity(
            100 * share, "percent", spoken=True, fraction=True, text=match.group().strip()
        )


def _word_before(gap: str) -> str:
    """Return the stem of the last content word of `gap`, '' behind a mark or a Han character."""
    piece = re.split(rf"[,;:()。；，{CJK}]", gap)[-1].casefold()
    found = [w for w in _LATIN.findall(piece) if w not in STOP_WORDS]
    return stem(found[-1]) if found else ""


def _quantity(match: re.Match[str], after: str) -> Quantity:
    value = float(match["number"].replace(",", ""))
    value *= SCALES.get((match["scale"] or "").casefold(), 1.0)
    if match["sign"]:
        value = -value
    measures, factor = UNITS.get((match["unit"] or "").casefold(), ("", 1.0))
    if match["measure"]:
        shown = match.group()[: match.start("measure") - match.start()]
        return Quantity(value, noun=HAN_MEASURED[match["measure"]], after=after, text=shown)
    if match["act"]:
        return Quantity(value, noun=match["act"], text=match["number"])
    shown = match.group()
    if match["noun"]:
        shown = shown[: match.start("noun") - match.start()]
    return Quantity(value * factor, measures, _counted(match), after=after, text=shown.strip(" -"))


def _counted(match: re.Match[str]) -> str:
    noun = (match["noun"] or "").casefold()
    if noun == "of" and (whole := _OUT_OF.match(match.string, match.end("noun"))):
        noun = whole["noun"].casefold()
    if noun.endswith("ed"):  # "867 returned the form", "40 enrolled patients"
        follows = _NOUN.match(match.string, match.end("noun"))
        noun = follows.group(1).casefold() if follows else ""
    return "" if noun in STOP_WORDS or not noun else stem(noun)


def _table_words(folded: str) -> frozenset[str]:
    """Return the Han words of the tables that occur in `folded`: Chinese has no spaces."""
    if not _HAN_RUN.search(folded):
        return frozenset()
    return frozenset(word for word in _HAN_TABLE if word in folded)


def _poles(words: frozenset[str]) -> frozenset[tuple[int, bool]]:
    return frozenset(pole for word in words for pole in POLES.get(word, ()))


def _denials(folded: str) -> Iterator[frozenset[str]]:
    """Yield the content of what each negation denies: up to the next mark, or before it."""
    for idiom in (*NOT_NEGATIONS, *HAN_NOT_NEGATIONS):
        folded = folded.replace(idiom, " ")
    folded = _one_negation(folded)
    for match in _LATIN.finditer(folded):
        if _is_negation(match.group()):
            follows = _SCOPE_END.split(folded[match.end() :], maxsplit=1)[0]
            before = _SCOPE_END.split(folded[: match.start()])[-1]
            yield content(follows) or content(f"{before} {match.group()}")
    for word in HAN_NEGATIONS:
        for _ in range(folded.count(word)):
            yield content(folded)
        folded = folded.replace(word, " ")


def _one_negation(folded: str) -> str:
    """Return `folded` with what is denied of two things at once denied once.

    "Neither A nor B", "not A nor B" and 既不…也不 each hold one negation.
    """
    folded = _HAN_BOTH.sub(r"\1\2", folded)
    first = _DENIAL.search(folded)
    if first is None:
        return folded
    return folded[: first.end()] + re.sub(r"\bnor\b", " ", folded[first.end() :])


def _is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


POLES: dict[str, list[tuple[int, bool]]] = {}
for _i, _axis in enumerate(AXES):
    for _up, _pole in zip((True, False), _axis, strict=True):
        for _word in _pole:
            POLES.setdefault(_word, []).append((_i, _up))
_HAN_TABLE = frozenset(
    word
    for table in (
        lexicon.STRONG,
        lexicon.WEAK,
        lexicon.HEDGES,
        lexicon.CONDITIONS,
        lexicon.WHEN,
        lexicon.CAUSES,
        lexicon.CORRELATES,
        lexicon.COMPARATORS,
        *(pole for axis in AXES for pole in axis),
    )
    for word in table
    if not word.isascii()
)
