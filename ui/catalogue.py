"""Catalogues of translated sentences, and the way back from a finished sentence to its template.

Core speaks English: `say("{n} pages", n=3)` is "3 pages" by the time a page sees it, perhaps out of
the database, years later. The template is found again by matching the sentence against all of them.
"""

import gettext
import io
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from core.wording import phrase

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
"""Codes of the languages of the pages, each with the name it calls itself."""
LOCALES = Path(__file__).resolve().parent / "locales"
DOMAIN = "lectern"
SENTENCE_FIELDS = ("reason", "cause", "hint")
"""Placeholders that hold a sentence of core's own: it is translated before it is put in."""
WORD_FIELDS = ("model", "url")
"""Placeholders that hold no space."""


class _Template(NamedTuple):
    pattern: re.Pattern[str]
    translation: str


class Catalogue:
    """The sentences of one language. English has no file: its sentences are the keys."""

    def __init__(self, code: str, entries: Catalog | None = None) -> None:
        self.code = code
        self._gettext: gettext.NullTranslations = gettext.NullTranslations()
        self._sentences: dict[str, str] = {}
        self._templates: tuple[_Template, ...] = ()
        if entries is not None:
            self._gettext = _compiled(entries)
            self._sentences = dict(_core(entries))
            self._templates = _templates(self._sentences)

    @staticmethod
    def load(code: str) -> "Catalogue":
        """Return the catalogue of a language, read once; English for a code that is not ours."""
        return _load(code if code in LANGUAGES else "en")

    def gettext(self, message: str) -> str:
        """Return a sentence of the pages in this language, its placeholders not yet filled."""
        return self._gettext.gettext(message) if message else ""

    def ngettext(self, one: str, many: str, count: int) -> str:
        """Return the form of a sentence that goes with `count`."""
        return self._gettext.ngettext(one, many, count)

    def translated(self, text: str) -> str:
        """Return a finished English sentence of core in this language, its values kept.

        A text that core does not say (a paper's title, a file's name) comes back as it is.
        """
        if text in self._sentences:
            return self._sentences[text]
        for pattern, translation in self._templates:
            found = pattern.fullmatch(text)
            if found:
                return self._filled(translation, found.groupdict())
        return self._list(text)

    def _list(self, text: str) -> str:
        """Translate a list such as `3 supported, 1 partly`; nothing when a part is not core's."""
        parts = text.split(", ")
        if len(parts) == 1:
            return text
        done = [self.translated(part) for part in parts]
        known = all(new != old for new, old in zip(done, parts, strict=True))
        return self.gettext(phrase(", ")).join(done) if known else text

    def _filled(self, translation: str, values: dict[str, str]) -> str:
        for name in SENTENCE_FIELDS:
            if name in values:
                values[name] = self.translated(values[name])
        return "".join(
            literal + (values[name] if name is not None else "")
            for literal, name, _, _ in Formatter().parse(translation)
        )


@cache
def _load(code: str) -> Catalogue:
    file = LOCALES / code / "LC_MESSAGES" / f"{DOMAIN}.po"
    if not file.exists():
        return Catalogue(code)
    with file.open("rb") as source:
        return Catalogue(code, read_po(source, locale=code))


def _compiled(entries: Catalog) -> gettext.GNUTranslations:
    compiled = io.BytesIO()
    write_mo(compiled, entries)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def _core(entries: Catalog) -> Iterator[tuple[str, str]]:
    """Yield the sentences of core, which alone come to a page already made."""
    for entry in entries:
        said = any(place.startswith("core/") for place, _ in entry.locations)
        if said and isinstance(entry.id, str) and isinstance(entry.string, str) and entry.string:
            yield entry.id, entry.string


def _templates(sentences: Mapping[str, str]) -> tuple[_Template, ...]:
    """Return the sentences with placeholders; the one with most words of its own comes first."""
    found = [(*_pattern(source), source) for source in sentences if "{" in source]
    found.sort(key=lambda item: (-item[1], item[2]))
    return tuple(_Template(pattern, sentences[source]) for pattern, _, source in found)


def _values(name: str, spec: str | None) -> str:
    if spec == "d":
        return r"-?\d+"
    if spec:
        return r"-?[\d.,]+(?:e[+-]\d+)?"
    return r"\S+" if name in WORD_FIELDS else ".*?"


def _pattern(template: str) -> tuple[re.Pattern[str], int]:
    """Return what matches every sentence made from a template, and its literal length."""
    parts: list[str] = []
    literal, seen = 0, set()
    for text, name, spec, _ in Formatter().parse(template):
        parts.append(re.escape(text))
        literal += len(text)
        if name is None:
            continue
        if name in seen:
            parts.append(f"(?P={name})")
        else:
            parts.append(f"(?P<{name}>{_values(name, spec)})")
        seen.add(name)
    return re.compile("".join(parts), re.DOTALL), literal
