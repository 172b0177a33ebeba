"""A conversation to take away: Markdown with footnotes, BibTeX, CSV of citations, JSON. Pure."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from core.db.conversations import TurnRow
from core.types import PaperMeta

Papers = Mapping[UUID, PaperMeta]
"""What is known of cited papers; one that has been deleted may be missing."""


def to_markdown(title: str, turns: Sequence[TurnRow], papers: Papers) -> str:
    """Return questions as headings and answers with footnotes, numbered over the whole."""
    raise NotImplementedError


def to_bibtex(turns: Sequence[TurnRow], papers: Papers) -> str:
    """Return one entry for each paper that is cited."""
    raise NotImplementedError


def to_csv(turns: Sequence[TurnRow]) -> bytes:
    """Return one row for each citation, in UTF-8 with a mark so that Excel knows."""
    raise NotImplementedError


def to_json(title: str, turns: Sequence[TurnRow], papers: Papers) -> str:
    """Return the whole conversation as one document."""
    raise NotImplementedError
