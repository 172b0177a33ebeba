"""Another version of a paper is known as such, and what only resembles it is not."""

from uuid import uuid4

import pytest

from core.ingest.versions import same_work, versions_of
from core.types import PaperMeta, PaperRow

TITLE = "Dense Passage Retrieval for Open-Domain Question Answering"
PREPRINT = PaperMeta(TITLE, ("Vladimir Karpukhin", "Barlas Oğuz"), 2020, arxiv_id="2004.04906")
SAME = {
    "the publisher's copy": PaperMeta(TITLE.upper() + ".", ("V. Karpukhin",), doi="10.18653/v1/x"),
    "a new title, the same id": PaperMeta("DPR, revised", (), arxiv_id="2004.04906"),
    "no author found in it": PaperMeta(TITLE),
    "family name first": PaperMeta(TITLE, ("Karpukhin, Vladimir",)),
}
OTHER = {
    "another author": PaperMeta(TITLE, ("Ada Lovelace",)),
    "another title": PaperMeta("Sparse retrieval", PREPRINT.authors),
    "its supplement": PaperMeta("Supplementary material: " + TITLE, PREPRINT.authors),
}


@pytest.mark.parametrize("meta", SAME.values(), ids=SAME)
def test_the_same_work(meta):
    assert same_work(PREPRINT, meta)
    assert same_work(meta, PREPRINT)


@pytest.mark.parametrize("meta", OTHER.values(), ids=OTHER)
def test_another_work(meta):
    assert not same_work(PREPRINT, meta)


def test_a_doi_is_one_work_but_not_that_of_its_supplement():
    paper = PaperMeta("Effects of A on B", ("X Y",), doi="10.1/z")
    assert same_work(paper, PaperMeta("The effects of A on B", ("X Y",), doi="10.1/z"))
    assert not same_work(paper, PaperMeta("Supporting Information", ("X Y",), doi="10.1/z"))


@pytest.mark.parametrize(("title", "told"), [("Introduction", False), ("稀疏注意力机制综述", True)])
def test_a_short_title_proves_nothing(title, told):
    assert same_work(PaperMeta(title, ("王小明",)), PaperMeta(title, ("王小明",))) is told


def test_a_paper_is_no_version_of_itself():
    row = PaperRow(uuid4(), PREPRINT, 1, 1, "text", "")
    assert versions_of(row.paper_id, PREPRINT, [row]) == []
    assert versions_of(uuid4(), PREPRINT, [row]) == [row]
