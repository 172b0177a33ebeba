"""Which language a query is in, as far as retrieval needs to know."""

import re

from core.types import Language

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA_HANGUL = re.compile("[\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af]")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_LETTER = re.compile(r"[^\W\d_]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Function words only: names and terms belong to no language.
_ENGLISH = _words(
    "a an the of in on at to for with by from and or not is are was were be been do does did how "
    "what which who when where why can could should this that these those it its their there we "
    "they any all than between"
)
_NOT_ENGLISH = _words(
    "der die das den dem des ein eine einer eines und oder nicht ist sind wird werden wie wer wo "
    "warum welche welcher für mit von zur zum auf im le les des du une et ou est sont dans pour "
    "avec sur quel quelle quels quelles comment pourquoi el los las del y es son una por para con "
    "cómo qué cuál cuáles il lo gli della di che è sono come perché quale quali o os da do e é "
    "são não como que het een van zijn niet welke hoe"
)


def language_of(text: str) -> Language:
    """Return 'zh', 'en' or 'other' for a question or passage.

    A Chinese sentence full of English terms is Chinese: two Chinese characters weigh as much as
    one word in Latin letters. Kana or hangul make it 'other', and so do function words of other
    Latin-script languages when they outnumber the English ones. A text without letters, or of
    bare terms ("CKKS bootstrapping"), counts as English.
    """
    han = len(_HAN.findall(text))
    kana = len(_KANA_HANGUL.findall(text))
    words = [word.casefold() for word in _LATIN_WORD.findall(text)]
    eastern = han + kana
    if eastern and (eastern >= 2 * len(words) or (eastern >= 2 and _mostly_names(words))):
        return "other" if kana > max(2, han // 10) else "zh"
    letters = len(_LETTER.findall(text))
    if letters and 2 * (sum(map(len, words)) + eastern) < letters:
        return "other"
    foreign = sum(word in _NOT_ENGLISH and word not in _ENGLISH for word in words)
    return "other" if foreign > sum(word in _ENGLISH for word in words) else "en"


def _mostly_names(words: list[str]) -> bool:
    """Whether Latin words carry no English grammar: then they are names in another language."""
    return not any(word in _ENGLISH for word in words)
