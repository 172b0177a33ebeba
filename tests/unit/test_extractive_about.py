from uuid import uuid4

import pytest

from core.evidence.facts import content, facts
from core.extractive.about import about, answering
from core.extractive.glossary import translated
from core.extractive.question import fits
from core.types import Chunk, Hit, Scores

PAPER = uuid4()
TITLE = "Small Models Read Well"
PARTS = [
    (1, "", "body", f"{TITLE}\n\nAda Byron Alan Turing\nUniversity of Nowhere"),
    (
        1,
        "Abstract",
        "abstract",
        "Abstract\n\nReading papers takes very long. We propose a small model that reads them. "
        "Our model answers nine of ten questions.",
    ),
    (1, "Abstract", "abstract", "∗Equal contribution. Both wrote the code of the reading model."),
    (1, "Abstract", "abstract", "3rd Conference on Reading Machines (CRM 2021), Bern."),
    (2, "1 Introduction", "body", "In 2014 the WMT conference set a translation task for all."),
    (3, "2 Model", "body", "The model has six layers of equal width. We trained it for a day."),
]


def hits(parts=PARTS):
    return [
        Hit(Chunk(i, PAPER, "f" * 64, page, section, kind, text), Scores(), TITLE)
        for i, (page, section, kind, text) in enumerate(parts)
    ]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Summarise the paper.", "summary"),
        ("what is it about", "summary"),
        ("What is the main contribution?", "summary"),
        ("总结一下这篇论文", "summary"),
        ("这篇论文讲了什么？", "summary"),
        ("Who are the authors?", "authors"),
        ("作者是谁？", "authors"),
        ("When was the paper published?", "published"),
        ("论文什么时候发表的？", "published"),
        ("How does the paper summarise documents?", None),
        ("What is attention about?", None),
        ("Who are the authors of BERT?", None),
        ("When was the corpus published?", None),
        ("作者为什么选择小模型？", None),
    ],
)
def test_questions_about_the_paper_as_a_whole_are_told_apart(question, kind):
    assert about(question) == kind


def test_a_summary_is_what_the_abstract_claims():
    assert [c.text for c in answering("summary", hits())] == [
        "We propose a small model that reads them.",
        "Our model answers nine of ten questions.",
    ]


def test_a_paper_without_an_abstract_is_summarised_from_its_introduction():
    found = answering("summary", hits(PARTS[4:]))
    assert [c.hit.chunk.section for c in found] == ["1 Introduction"]


def test_the_authors_stand_below_the_title():
    (found,) = answering("authors", hits())
    assert found.text == "Ada Byron Alan Turing\nUniversity of Nowhere"


def test_the_date_comes_from_the_venue_on_the_first_page():
    (found,) = answering("published", hits(PARTS[:4]))
    assert "CRM 2021" in found.text
    assert answering("published", hits(PARTS[5:])) == []


def test_terms_are_known_in_the_other_language():
    assert translated("使用了哪种优化器？") == content("optimizer")
    assert content("编码器") <= translated("How deep is the encoder?")
    assert translated("What is the capital of France?") == frozenset()


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("In this work we employ h = 8 parallel attention layers, or heads.", 1.0),
        ("The training of the whole thing took about twelve hours on one machine.", 0.6),
        ("Attention heads, as shown in Table 3, differ [12].", 0.0),
    ],
)
def test_a_number_counts_where_it_stands_near_a_term(sentence, wanted):
    assert fits("number", sentence, facts(sentence), content("attention heads")) == wanted
