"""`eval qa` on one of the project's own papers: real ingest, search and answers."""

import json
from dataclasses import replace

import pytest

from core.errors import BadInput
from core.evals.qa import joined, on_page, run
from core.extractive.answer import answer
from core.types import LOCAL_USER, Scope

ROWS = [
    {
        "id": "one",
        "question": "How are the scores of the two paths standardised?",
        "lang": "en",
        "answerable": True,
        "pages": [1, 2],
        "must_match": "subtract the mean",
    },
    {
        "id": "two",
        "question": "两条通路的分数怎样标准化？",
        "lang": "zh",
        "answerable": True,
        "pages": [1, 2],
        "must_match": "subtract the mean",
    },
    {
        "id": "three",
        "question": "How much vitamin D should pregnant women take?",
        "lang": "en",
        "answerable": False,
        "pages": [],
        "must_match": "",
    },
]


@pytest.fixture
def parts(bench):
    def ingest(path):
        return bench.ingestor.ingest(LOCAL_USER, path.name, path.read_bytes()).paper_id

    def search(question, paper_id, k):
        return bench.searcher.search(question, Scope(LOCAL_USER, (paper_id,)), k).hits

    def ask(question, paper_id):
        return answer(question, search(question, paper_id, 8), bench.embedders[0])

    return {"ingest": ingest, "search": search, "ask": ask}


@pytest.fixture
def questions(tmp_path, sample):
    path = tmp_path / "questions.jsonl"
    rows = [{**row, "file": sample.name} for row in ROWS]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_the_figures_of_a_real_paper(questions, sample, parts):
    found = run(questions, sample.parent, **parts)
    assert found["n"] == 3
    assert found["evidence_hit@5"] == 1.0
    assert found["citation_page_hit"] >= 0.5
    assert found["quote_on_page"] == 1.0
    assert found["refused_unanswerable"] == 1.0
    assert found["answered_answerable"] == 1.0
    assert found["quotes"] >= 4
    assert found["seconds_p50"] > 0
    assert found["by_language"]["zh"]["n"] == 1


def test_a_quote_on_another_page_is_noticed(questions, sample, parts):
    def on_the_wrong_page(question, paper_id):
        right = parts["ask"](question, paper_id)
        moved = tuple(replace(c, page=c.page % 3 + 1) for c in right.citations)
        return replace(right, citations=moved)

    found = run(questions, sample.parent, **{**parts, "ask": on_the_wrong_page})
    assert found["quote_on_page"] < 0.5


def test_a_refusal_is_no_hit(questions, sample, parts):
    def refuse(question, paper_id):
        return replace(parts["ask"](question, paper_id), refused=True)

    found = run(questions, sample.parent, **{**parts, "ask": refuse})
    assert found["citation_page_hit"] == 0.0
    assert found["answered_answerable"] == 0.0


def test_a_missing_paper_and_a_bad_row_are_named(questions, tmp_path, sample, parts):
    with pytest.raises(BadInput, match=r"fusion\.pdf"):
        run(questions, tmp_path, **parts)
    questions.write_text('{"id": "x"}', encoding="utf-8")
    with pytest.raises(BadInput, match="x"):
        run(questions, sample.parent, **parts)


def test_joined_mends_line_ends():
    assert joined("re-\ntrieval  of\nﬁles") == "retrieval of files"


def test_on_page_bears_another_line_order_but_no_other_text():
    quote = "the dense path understands a paraphrase but is vague about rare names"
    page = "about rare names\nThe dense path un-\nderstands a paraphrase but is vague\n17"
    assert on_page(quote, page)
    assert on_page(quote, "A lexical path finds the rare name and is blind to a synonym.") is False
    assert on_page("稠密路径理解改写", "\x01\x02\x03 abc") is None
