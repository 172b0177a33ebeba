from uuid import uuid4

import pytest

from core.evidence.numbering import cited
from core.evidence.sentences import sentences
from core.evidence.verdict import verify
from core.extractive.answer import answer
from core.models.embed import MultilingualUSE
from core.types import Chunk, Hit, Scores

PAPER = uuid4()
PASSAGES = [
    "We collected the corpus from 120 newspapers in 2014. It has 3.2 million sentences in total. "
    "The text was cleaned by hand [12].",
    "The encoder has six layers and eight attention heads. It was trained on eight GPUs for twelve "
    "hours. We chose a small model because memory was scarce in our laboratory.",
    "Our approach has limitations. It cannot handle tables, and it fails on very long documents. "
    "We leave this to future work.",
]
ZH_PASSAGES = [
    "我们从120份报纸收集了语料。语料共有320万个句子。文本由人工清洗。",
    "编码器有六层和八个注意力头。模型在八块显卡上训练了十二个小时。由于实验室内存不足，我们选择了小模型。",
]


@pytest.fixture(scope="module")
def embedder():
    return MultilingualUSE()


def hits_of(passages, question, embedder, paper=PAPER):
    vectors = embedder.encode([question, *passages])
    cosines = vectors[1:] @ vectors[0]
    found = [
        Hit(Chunk(i, paper, "f" * 64, i + 1, "", "body", text), Scores(dense=float(cosines[i])))
        for i, text in enumerate(passages)
    ]
    return sorted(found, key=lambda hit: -(hit.scores.dense or 0.0))


def ask(question, passages, embedder, **more):
    return answer(question, hits_of(passages, question, embedder), embedder, **more)


@pytest.mark.parametrize(
    ("question", "passages", "wanted"),
    [
        ("How many sentences does the corpus have?", PASSAGES, "3.2 million"),
        ("How long was the encoder trained?", PASSAGES, "twelve hours"),
        ("Why did the authors choose a small model?", PASSAGES, "memory was scarce"),
        ("What are the limitations of the approach?", PASSAGES, "cannot handle tables"),
        ("语料共有多少个句子？", ZH_PASSAGES, "320万"),
        ("为什么选择小模型？", ZH_PASSAGES, "内存不足"),
        ("语料库有多少个句子？", PASSAGES, "3.2 million"),
        ("How many sentences does the corpus have?", ZH_PASSAGES, "320万"),
    ],
)
def test_the_answering_sentence_is_chosen(question, passages, wanted, embedder):
    result = ask(question, passages, embedder)
    assert not result.refused
    assert wanted in result.text
    assert 2 <= len(result.citations) <= 5


def test_every_sentence_has_its_own_number_in_reading_order(embedder):
    result = ask("How many sentences does the corpus have?", PASSAGES, embedder)
    assert cited(result.text) == tuple(c.n for c in result.citations)
    assert [c.n for c in result.citations] == list(range(1, len(result.citations) + 1))
    places = [(c.page, c.passage.index(c.quote)) for c in result.citations]
    assert places == sorted(places)
    assert len(sentences(result.text)) == len(result.citations)


def test_numbers_can_start_later(embedder):
    result = ask("How long was the encoder trained?", PASSAGES, embedder, first_number=4)
    assert next(c.n for c in result.citations) == 4
    assert cited(result.text) == tuple(c.n for c in result.citations)


def test_quotes_are_verbatim_and_verified(embedder):
    result = ask("How was the text of the corpus cleaned?", PASSAGES, embedder)
    assert all(c.quote in c.passage for c in result.citations)
    checked = verify(result.text, {c.n: c for c in result.citations}, embedder)
    assert [s.verdict.label for s in checked] == ["supported"] * len(checked)
    assert not any(s.removed for s in checked)


def test_the_papers_own_citations_are_not_taken_for_ours(embedder):
    result = ask("Was the text cleaned by hand?", PASSAGES[:1], embedder)
    assert "(12)" in result.text
    assert 12 not in cited(result.text)


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("What is the capital city of Australia?", "does not seem to answer"),
        ("How much vitamin D should pregnant women take?", "does not seem to answer"),
        ("红烧肉应该怎么做才好吃？", "似乎没有回答"),
    ],
)
def test_what_the_paper_does_not_say_is_refused_usefully(question, wording, embedder):
    result = ask(question, PASSAGES, embedder)
    assert result.refused
    assert wording in result.text
    assert 1 <= len(result.citations) <= 3
    assert cited(result.text) == tuple(c.n for c in result.citations)
    assert all(
        s.verdict is None for s in verify(result.text, {c.n: c for c in result.citations}, embedder)
    )


def test_nothing_found_is_refused_without_citations(embedder):
    result = answer("What is it about?", [], embedder)
    assert result.refused
    assert result.citations == ()
    assert cited(result.text) == ()


def test_passages_without_a_sentence_are_refused(embedder):
    result = ask("How many?", ["84.6 88.5 92.1 91.0", "Table 3"], embedder)
    assert result.refused
    assert result.citations == ()


def test_several_papers_are_answered_best_paper_first(embedder):
    question = "How many sentences does the corpus have?"
    other = hits_of(
        ["The second corpus has 500 sentences in total. It is small."], question, embedder, uuid4()
    )
    first = hits_of(PASSAGES, question, embedder)
    result = answer(question, [*first, *other], embedder)
    papers = [c.paper_id for c in result.citations]
    assert papers == sorted(papers, key=lambda p: p != PAPER)
    assert len(set(papers)) == 2
