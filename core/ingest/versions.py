"""Is it the same work in another form: another version of a preprint, the publisher's copy?"""

import re
from collections.abc import Iterable
from uuid import UUID

from core.ingest.text import HAN
from core.types import PaperMeta, PaperRow

_TELLING = 16
"""Letters of a title (a Chinese character counts as three): a shorter one may be shared by chance."""
_PART = re.compile(
    r"\b(?:supplement|supporting information|appendi|erratum|correction)|附录|补充材料", re.I
)


def versions_of(paper_id: UUID, meta: PaperMeta, rows: Iterable[PaperRow]) -> list[PaperRow]:
    """Return the other papers among `rows` that are the same work."""
    return [row for row in rows if row.paper_id != paper_id and same_work(row.meta, meta)]


def same_work(a: PaperMeta, b: PaperMeta) -> bool:
    """Return whether two papers are versions of one work, by identifier or by title and author.

    A supplement or a correction is a work of its own, even under the DOI of its paper.
    """
    if bool(_PART.search(a.title)) != bool(_PART.search(b.title)):
        return False
    if a.arxiv_id and a.arxiv_id == b.arxiv_id:
        return True
    if a.doi and a.doi == b.doi:
        return True
    return _same_title(a.title, b.title) and _share_an_author(a, b)


def _same_title(a: str, b: str) -> bool:
    return letters(a) == letters(b) and _weight(letters(a)) >= _TELLING


def letters(text: str) -> str:
    """Return a title without what two copies may write differently: case, spaces, punctuation."""
    return re.sub(r"[\W_]", "", text.casefold())


def _weight(text: str) -> int:
    return sum(3 if re.match(f"[{HAN}]", char) else 1 for char in text)


def _share_an_author(a: PaperMeta, b: PaperMeta) -> bool:
    """Return whether a family name is common to both; who names nobody may be anybody."""
    if not a.authors or not b.authors:
        return True
    return bool(_family_names(a.authors) & _family_names(b.authors))


def _family_names(authors: Iterable[str]) -> set[str]:
    """Return the words that may be family names: writers put them first or last."""
    names = [re.split(r"[\s,]+", name.strip().casefold()) for name in authors]
    return {part for words in names for part in (words[0], words[-1]) if len(part) > 1}
