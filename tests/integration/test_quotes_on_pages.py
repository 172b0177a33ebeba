"""Shared papers go in, and every quote stands on its page, says a reader that is not ours.

Books are left to test_ingest_files: they take as long as all the rest.
"""

import pytest
from pypdf import PdfReader

from core.agent.state import TurnRequest
from core.evals.qa import on_page
from core.types import LOCAL_USER

QUESTIONS = {
    "en": ("What was found, and how many?", "How does it work?"),
    "zh": ("这篇文档讲了什么？", "有多少？结果如何？", "How does it work?"),
}
UNREADABLE = {"lshort-zh-cn.pdf", "install-latex-guide-zh-cn.pdf", "texproposal.pdf"}
"""pypdf gives wrong characters for (part of) the Chinese in these; their English still counts."""


PAGES = 40
"""Longer ones are read in test_ingest_files, which asks nothing."""


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["pdf_papers", "pdf_zh"])
def test_every_quote_stands_on_its_page(bench, shared, folder):
    checked = 0
    for path in sorted((shared / folder).glob("*.pdf")):
        if len(PdfReader(path).pages) > PAGES:
            continue
        paper = bench.ingestor.ingest(LOCAL_USER, path.name, path.read_bytes())
        _is_stored_whole(bench, paper, path.name)
        reader = PdfReader(path)
        for question in QUESTIONS["zh" if paper.meta.language == "zh" else "en"]:
            for citation in _citations(bench, question, paper.paper_id):
                page = reader.pages[citation["page"] - 1].extract_text()
                found = on_page(citation["quote"], page)
                if found is None:
                    assert path.name in UNREADABLE, (path.name, citation["page"])
                    continue
                assert found, (path.name, citation["page"], citation["quote"])
                checked += 1
    assert checked > 20


def _is_stored_whole(bench, paper, name):
    chunks = bench.papers.chunks([paper.paper_id], references=True)
    assert len(chunks) == paper.chunks > 0, name
    assert [chunk for chunk in chunks if not chunk.text.strip()] == [], name
    assert {chunk.page for chunk in chunks} <= set(range(1, paper.pages + 1)), name


def _citations(bench, question, paper):
    turn = bench.runner.start(TurnRequest(LOCAL_USER, question, paper_ids=(paper,)))
    (*_, last) = bench.runner.follow(LOCAL_USER, turn.id)
    assert last.kind == "turn_finished", last.data
    return last.data["citations"]
