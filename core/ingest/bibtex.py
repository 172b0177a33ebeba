"""BibTeX: entries read from a file, and matched to the papers of a library."""

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.errors import UnreadableFile
from core.ingest.identifiers import arxiv_id, doi
from core.ingest.text import normalise
from core.types import PaperMeta, PaperRow
from core.wording import say

MAX_BYTES = 20 * 1024 * 1024
LEAST_TITLE = 12
"""Letters: a shorter title may be another paper's too."""
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_ARXIV = re.compile(r"arxiv[.:/ ]*(?:org/(?:abs|pdf)/)?\s*([a-z-]*/?\d[\d.]{6,9}\d)(?:v\d+)?", re.I)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: its key, what it says of the paper, and the names of the files that belong to it."""

    key: str
    meta: PaperMeta
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matched:
    """Entries with the paper each is about, and those about no paper of the library."""

    pairs: tuple[tuple[Entry, PaperRow], ...]
    unmatched: tuple[Entry, ...]


def entries_of(text: str) -> list[Entry]:
    """Return the entries of a BibTeX file; broken ones are passed over.

    Raises:
        UnreadableFile: NO_ENTRIES when there is none.
    """
    from bibtexparser import middlewares
    from bibtexparser.entrypoint import parse_string

    logging.getLogger("bibtexparser").setLevel(logging.ERROR)
    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)
    library = parse_string(
        text,
        append_middleware=[
            middlewares.NormalizeFieldKeys(),
            middlewares.SeparateCoAuthors(),
            middlewares.SplitNameParts(),
            middlewares.LatexDecodingMiddleware(),
            middlewares.MergeNameParts(style="first"),
        ],
    )
    found = []
    for raw in library.entries:
        fields = {field.key: field.value for field in raw.fields}
        entry = _entry(raw.key, fields)
        if entry.meta.title or entry.meta.doi or entry.meta.arxiv_id:
            found.append(entry)
    if not found:
        raise UnreadableFile(
            say("The BibTeX file has no entry that can be read."),
            hint=say("Export it again from your reference manager."),
            code="NO_ENTRIES",
        )
    return found


def _entry(key: str, fields: dict[str, object]) -> Entry:
    def one(name: str) -> str:
        value = fields.get(name, "")
        return _plain(value) if isinstance(value, str) else ""

    authors = fields.get("author", [])
    names = authors if isinstance(authors, list) else [authors]
    year = _YEAR.search(one("year") or one("date"))
    places = " ".join(map(one, ("url", "journal", "note", "howpublished", "archiveprefix")))
    number = arxiv_id(one("eprint")) if "arxiv" in f"{places} {one('eprinttype')}".lower() else ""
    if not number and (stamp := _ARXIV.search(f"{one('doi')} {places}")):
        number = arxiv_id(stamp[1])
    meta = PaperMeta(
        title=one("title"),
        authors=tuple(name for raw in names if (name := _plain(str(raw))) and name != "others"),
        year=int(year.group()) if year else None,
        abstract=one("abstract"),
        doi=doi(one("doi")),
        arxiv_id=number,
    )
    files = re.findall(r"[^/\\:;{}]+\.\w{2,5}(?=$|[:;{}])", str(fields.get("file", "")))
    return Entry(key, meta, tuple(name.strip() for name in files))


def _plain(value: str) -> str:
    """Return a field's value without the braces that keep capitals."""
    return normalise(" ".join(value.replace("{", "").replace("}", "").split()))


def match(entries: Iterable[Entry], rows: Sequence[PaperRow]) -> Matched:
    """Find each entry's paper: by DOI, by arXiv id, by title (letters and digits), by file name.

    A paper is matched once, by the first entry that fits.
    """
    tables: list[dict[str, PaperRow]] = [{}, {}, {}, {}]
    for row in rows:
        for table, keys in zip(tables, _keys(row.meta, (row.filename,)), strict=True):
            for key in keys:
                table.setdefault(key, row)
    pairs, unmatched, taken = [], [], set()
    for entry in entries:
        candidates = (
            table.get(key)
            for table, keys in zip(tables, _keys(entry.meta, entry.files), strict=True)
            for key in keys
        )
        fit = next((found for found in candidates if found and found.paper_id not in taken), None)
        if fit is None:
            unmatched.append(entry)
        else:
            taken.add(fit.paper_id)
            pairs.append((entry, fit))
    return Matched(tuple(pairs), tuple(unmatched))


def _keys(meta: PaperMeta, files: Iterable[str]) -> tuple[list[str], ...]:
    """Return what a paper is known by, the surest first."""
    title = re.sub(r"[\W_]", "", normalise(meta.title).casefold())
    return (
        [meta.doi.lower()] if meta.doi else [],
        [arxiv_id(meta.arxiv_id) or meta.arxiv_id] if meta.arxiv_id else [],
        [title] if len(title) >= LEAST_TITLE else [],
        [name.casefold() for name in files if name],
    )
