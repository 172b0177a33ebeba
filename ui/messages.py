"""Collects every sentence a reader may see from the code, and brings the catalogues up to date.

`make messages` runs it; what it then reports as missing is to be written into the `.po` file.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from ui.catalogue import DOMAIN, LANGUAGES, LOCALES

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("core", "ui", "pages", "streamlit_app.py")
KEYWORDS = {"_": None, "ngettext": (1, 2), "say": None, "phrase": None}


def collect(keywords: Mapping[str, Any] = KEYWORDS) -> Catalog:
    """Return the sentences of the code, each with the files it stands in.

    `keywords` are the functions whose literal arguments are sentences, as Babel writes them.
    """
    found = Catalog(domain=DOMAIN)
    for path in _files():
        place = path.relative_to(ROOT).as_posix()
        for _line, sentence, _comments, _context in extract_from_file("python", path, keywords):
            found.add(sentence, locations=[(place, None)])
    return found


def catalogues() -> Iterator[tuple[Path, Catalog]]:
    """Yield the catalogue of every language but English with its file."""
    for code in LANGUAGES:
        path = LOCALES / code / "LC_MESSAGES" / f"{DOMAIN}.po"
        if code != "en":
            with path.open("rb") as source:
                yield path, read_po(source, locale=code, domain=DOMAIN)


def untranslated(entries: Catalog) -> list[Message]:
    """Return the sentences that have no translation, or one that somebody should look at."""
    return [entry for entry in entries if entry.id and (entry.fuzzy or not all(_forms(entry)))]


def update() -> None:
    """Put new sentences into the catalogues, take out those no longer used, and say what to do."""
    template = collect()
    for path, entries in catalogues():
        entries.update(template, no_fuzzy_matching=True, update_creation_date=False)
        entries.obsolete.clear()
        with path.open("wb") as target:
            write_po(target, entries, width=100, sort_by_file=True, include_lineno=False)
        for entry in untranslated(entries):
            sys.stdout.write(f"{path.relative_to(ROOT)}: to be translated: {entry.id}\n")


def _forms(entry: Message) -> tuple[str, ...]:
    """Return the translations of an entry: one, or one for each plural form."""
    string = entry.string or ""
    return (string,) if isinstance(string, str) else tuple(string)


def _files() -> Iterator[Path]:
    for name in SOURCES:
        path = ROOT / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


if __name__ == "__main__":
    update()
