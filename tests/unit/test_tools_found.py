"""Which papers of a library are among those a search found."""

from uuid import uuid4

import pytest

from core.tools.found import Found, identity, in_library
from core.types import PaperMeta, PaperRow

TITLE = "Dense Passage Retrieval for Open-Domain Question Answering"


def found(**given) -> Found:
    empty = {
        "source": "arxiv",
        "arxiv_id": "2004.04906",
        "version": 3,
        "title": TITLE,
        "authors": ["Vladimir Karpukhin"],
        "year": 2020,
        "abstract": "",
        "categories": [],
        "doi": "10.18653/v1/X",
        "url": "",
        "open_copy": "",
    }
    return Found(**{**empty, **given})


def row(**given) -> PaperRow:
    meta = PaperMeta(**{"title": "", **given})
    return PaperRow(uuid4(), meta, 3, 9, "text", "2026-01-01")


HELD = {
    "its id": row(arxiv_id="2004.04906"),
    "its id with version": row(arxiv_id="arXiv:2004.04906v1"),
    "the DOI arXiv gave": row(doi="10.48550/arXiv.2004.04906"),
    "its DOI, written otherwise": row(doi="https://doi.org/10.18653/V1/x"),
    "its title": row(title=TITLE.upper() + ".", authors=("V. Karpukhin",)),
}
OTHER = {
    "another's": row(title=TITLE, authors=("Ada Lovelace",)),
    "another": row(title="Sparse retrieval", arxiv_id="2004.04907", doi="10.1000/x"),
    "nothing": row(),
}


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_a_paper_is_in_the_library(held):
    others = list(OTHER.values())
    assert in_library([found()], [*others, held]) == {identity(found()): held}


@pytest.mark.parametrize("other", OTHER.values(), ids=OTHER)
def test_another_is_not(other):
    assert in_library([found(), found(arxiv_id="", doi="", title="")], [other]) == {}
