"""How well reference strings are read: per field, against GROBID's hand-made labels.

The labels mark the authors as one string. Two figures are given for them: `authors` compares the
words of all names (independent of how names are told apart), `surnames` the family names after
our own splitting of the labelled string, so that it measures where the authors begin and end.
"""

import hashlib
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.ingest.references import author_names, parse_reference, surname
from core.types import Reference

FIELDS = ("title", "first_author", "surnames", "authors", "year", "doi", "arxiv_id")

_ENTRY = re.compile(
    r"<!--(?P<source>.*?)-->|<bibl\b(?P<attributes>[^>]*)>(?P<body>.*?)</bibl>", re.S
)
_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A reference string with its fields; `group` names the paper it stands in, where known."""

    text: str
    group: str
    title: str
    authors: str
    year: int | None
    doi: str
    arxiv_id: str

    @property
    def tuned_on(self) -> bool:
        """Return whether it belongs to the half that the rules were written on."""
        return hashlib.sha256(self.group.encode()).digest()[0] % 2 == 0


@dataclass(slots=True)
class _Count:
    right: int = 0
    said: int = 0
    there: int = 0

    def row(self) -> dict[str, float | int]:
        precision = self.right / self.said if self.said else 0.0
        recall = self.right / self.there if self.there else 0.0
        both = precision + recall
        return {
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "f1": round(2 * precision * recall / both, 3) if both else 0.0,
            "labelled": self.there,
        }


@dataclass(slots=True)
class Score:
    """Counts a field; see `run`."""

    entries: int = 0
    counts: dict[str, _Count] = field(default_factory=lambda: {name: _Count() for name in FIELDS})

    def add(self, truth: Labelled, read: Reference) -> dict[str, bool]:
        """Count one string; return which fields are wholly right."""
        self.entries += 1
        right = {}
        for name, (wanted, had) in compared(truth, read).items():
            count = self.counts[name]
            count.right += (wanted & had).total()
            count.said += had.total()
            count.there += wanted.total()
            right[name] = wanted == had
        return right

    def rows(self) -> dict[str, Any]:
        """Return entries and the figures of each field."""
        return {"entries": self.entries} | {name: c.row() for name, c in self.counts.items()}


def run(folder: Path) -> dict[str, Any]:
    """Return precision, recall and F1 of each field: on the half tuned on, the other, and all.

    Raises:
        BadInput: the folder holds no labels.
    """
    tuned, held, both = Score(), Score(), Score()
    for truth in labelled(folder):
        read = parse_reference(truth.text)
        for score in (tuned if truth.tuned_on else held, both):
            score.add(truth, read)
    return {"tuned_on": tuned.rows(), "held_out": held.rows(), "all": both.rows()}


def labelled(folder: Path) -> list[Labelled]:
    """Return the labelled strings of a folder of TEI files.

    Raises:
        BadInput: there are none.
    """
    found = [entry for path in sorted(folder.glob("*.tei.xml")) for entry in _entries(path)]
    if not found:
        raise BadInput("The folder holds no labelled references.", hint="It needs *.tei.xml files.")
    return found


def compared(truth: Labelled, read: Reference) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Return for each field what is wanted and what was read, as comparable items."""
    names = author_names(truth.authors)
    return {
        "title": (_one(_letters(truth.title)), _one(_letters(read.title))),
        "first_author": (
            _one(_letters(surname(names[0]) if names else truth.authors)),
            _one(_letters(surname(read.authors[0]) if read.authors else "")),
        ),
        "surnames": (
            Counter(_letters(surname(name)) for name in names or ([truth.authors] * 1))
            - Counter([""]),
            Counter(_letters(surname(name)) for name in read.authors),
        ),
        "authors": (_words(truth.authors), _words(" ".join(read.authors))),
        "year": (_one(str(truth.year or "")), _one(str(read.year or ""))),
        "doi": (_one(truth.doi.lower()), _one(read.doi.lower())),
        "arxiv_id": (_one(truth.arxiv_id.lower()), _one(read.arxiv_id.lower())),
    }


def _one(value: str) -> Counter[str]:
    return Counter([value] if value else [])


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in plain if char.isalnum())


def _words(text: str) -> Counter[str]:
    plain = unicodedata.normalize("NFKC", re.sub(r"\bet\.? ?al\b|\b(?:and|et|und)\b", " ", text))
    return Counter(word for word in re.findall(r"[^\W\d_]{2,}", plain.casefold()))


def _entries(path: Path) -> Iterator[Labelled]:
    group = ""
    for match in _ENTRY.finditer(path.read_text(encoding="utf-8")):
        if match["source"] is not None:
            group = match["source"].strip()
            continue
        body = match["body"]
        text = _plain(body)
        named = re.search(r'xml:id="([^"]+)_\d+"', match["attributes"])
        yield Labelled(
            text=text,
            group=named[1] if named else (group if group.startswith("source") else text),
            title=_marked(body, 'title level="a"') or _marked(body, 'title level="m"'),
            authors=" , ".join(_plain(part) for part in _all(body, "author")),
            year=_year(_marked(body, "date")),
            doi=_doi(body),
            arxiv_id=_arxiv(body),
        )


def _plain(body: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", body)).split())


def _all(body: str, tag: str) -> list[str]:
    name = tag.split()[0]
    return re.findall(rf"<{tag}[^>]*>(.*?)</{name}>", body, re.S)


def _marked(body: str, tag: str) -> str:
    found = _all(body, tag)
    return _plain(found[0]) if found else ""


def _year(text: str) -> int | None:
    found = re.search(r"(?:1[4-9]|20)\d\d", text)
    return int(found.group()) if found else None


def _doi(body: str) -> str:
    marked = _marked(body, 'idno type="DOI"') or next(
        (link for link in map(_plain, _all(body, "ptr")) if "doi.org/10." in link), ""
    )
    found = re.search(r"10\.\d{4,9}\s?/.*", marked)
    return re.sub(r"\s", "", found.group()).rstrip(".,;") if found else ""


def _arxiv(body: str) -> str:
    marked = re.sub(r"\s", "", _marked(body, 'idno type="arxiv"'))
    found = re.search(r"[a-z-]+(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5}", marked, re.I)
    return re.sub(r"\.[A-Z]{2}(?=/)", "", found.group()) if found else ""
