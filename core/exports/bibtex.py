"""Entries of BibTeX."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from urllib.parse import quote
from uuid import UUID

from core.exports.text import one_line
from core.types import PaperMeta

_TEX = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        # BibTeX counts braces even behind a backslash.
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        **{character: f"\\{character}" for character in "&%$#_"},
    }
)
_NOT_A_NAME = re.compile(r"(^|\s)and(\s|$)|^others$", re.I)
_MOST_NAME_PARTS = 3
"""Of a name with commas: family, Jr., given."""


def keyed(papers: Mapping[UUID, PaperMeta]) -> dict[UUID, str]:
    """Return a key for each paper, made of the paper's own data.

    Papers that would share one have their ids in it.
    """
    keys = {paper_id: _key(paper_id, meta) for paper_id, meta in papers.items()}
    taken = Counter(keys.values())
    return {
        paper_id: key if taken[key] == 1 else f"{key}-{paper_id.hex}"
        for paper_id, key in keys.items()
    }


def entry(key: str, meta: PaperMeta, url: str = "") -> str:
    """Return a paper's entry, with what is known of it."""
    fields = {
        "title": f"{{{tex(meta.title)}}}",
        "author": " and ".join(filter(None, map(_author, meta.authors))),
        "year": str(meta.year or ""),
        "doi": verbatim(meta.doi),
        "eprint": verbatim(meta.arxiv_id),
        "archiveprefix": "arXiv" if meta.arxiv_id else "",
        "url": verbatim(url),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}", ""])


def tex(text: str) -> str:
    """Return text that TeX prints as it is, on one line; braces balance for BibTeX too."""
    return one_line(text).translate(_TEX)


def verbatim(identifier: str) -> str:
    """Return an identifier for a field that is read as it stands, without what would end it."""
    return re.sub(r"[{}\\\s]", lambda match: quote(match.group()), one_line(identifier))


def _key(paper_id: UUID, meta: PaperMeta) -> str:
    first = meta.authors[0] if meta.authors else ""
    surname = first.split(",")[0] if "," in first else first.split(" ")[-1]
    words = [_ascii(word) for word in meta.title.split()]
    word = next((word for word in words if len(word) > 3), "")
    key = f"{_ascii(surname)}{meta.year or ''}{word}"
    return key if key and not key.isdigit() else f"paper{meta.year or ''}-{paper_id.hex[:8]}"


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if c.isascii() and c.isalnum())


def _author(name: str) -> str:
    """Return a name; in braces where BibTeX would read more than one name, or none, out of it."""
    # natbib makes a label of names, in which these stand for its ends
    written = re.sub(r"[\[\]()]", r"{\g<0>}", tex(name))
    between = written.split(",")
    odd = len(between) > _MOST_NAME_PARTS or not all(part.strip() for part in between)
    if written and (odd or _NOT_A_NAME.search(written)):
        return f"{{{written}}}"
    return written
