"""Which of the two languages a sentence is written in: it decides the language we reply in."""

import re

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN = re.compile(f"[{CJK}]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+")


def is_chinese(text: str) -> bool:
    """Return whether `text` reads as Chinese: at least as many Han characters as Latin words."""
    han = len(_HAN.findall(text))
    return han > 0 and han >= len(_LATIN_WORD.findall(text))
