from uuid import UUID, uuid4

import pytest

from core.agent.reading_notes import glossary
from core.extractive.candidates import candidates, is_prose, is_whole
from core.extractive.question import kind_of
from core.types import Box, Chunk, Hit, Scores, Span

PAPER = uuid4()


def hit(text, number=1, page=1, kind="body", paper: UUID = PAPER, spans=()):
    return Hit(Chunk(number, paper, "f" * 64, page, "", kind, text, spans), Scores(dense=0.5))


@pytest.mark.parametrize(
    "sentence",
    [
        "and was then trained on the other half of the data.",
        "which the authors of the first study have shown",
        "，因此我们采用了另一种训练方法。",
        "The model was trained on the",
        "Which of the two methods works better?",
        "The library has the following components:",
        "3.2 Training of the Large Model",
    ],
)
def test_pieces_and_questions_are_not_whole(sentence):
    assert not is_whole(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The model was trained on half of the data.",
        "mBERT was trained on half of the data.",
        "模型用一半的数据训练。",
        "It works well [12].",
        "It works well. [12, 13]",
        "• the first component reads the file and stores its pages",
    ],
)
def test_sentences_are_whole(sentence):
    assert is_whole(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Results.",
        "4.1 实验。",
        "BERT 84.6 88.5 92.1 91.0 3.2 4.5 6.7 8.9 1.2 3.4.",
        "[12] J. Devlin, M. Chang, and K. Lee. BERT: pre-training of transformers. 2019.",
        "Vaswani, A., Shazeer, N., Parmar, N. Attention is all you need.",
        "In Proceedings of the 57th Annual Meeting of the Association, 2019.",
        "Copyright 2020 by the authors, who keep all of their rights.",
        "x = a + b ( c ) * d / e - f . g h i j k l m n.",
    ],
)
def test_headings_rows_and_references_are_not_prose(sentence):
    assert not is_prose(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We train the model on 8 GPUs for 12 hours with 3.5 GB of memory each.",
        "Smith et al. (2019) show that this works well.",
        "准确率为 92.3%，比基线高 2.1 个百分点。",
    ],
)
def test_running_text_is_prose(sentence):
    assert is_prose(sentence)


def test_overlapping_chunks_give_a_sentence_once_and_whole():
    first = hit("The encoder reads the text of the page. The decoder writes it once", 1)
    second = hit("The decoder writes it once more to the disk. The rest of it follows then.", 2)
    third = hit("the text of the page. The decoder writes it once more to the disk.", 3)
    texts = [c.text for c in candidates([first, second, third])]
    assert texts == [
        "The encoder reads the text of the page.",
        "The decoder writes it once more to the disk.",
        "The rest of it follows then.",
    ]


def test_the_same_sentence_of_two_papers_stays_twice():
    text = "The encoder reads the text of the page."
    assert len(candidates([hit(text), hit(text, 2, paper=uuid4())])) == 2


def test_references_give_nothing():
    assert candidates([hit("The encoder reads the text of the page.", kind="references")]) == []


def test_offsets_point_into_the_chunk():
    text = "## Heading\n\nThe encoder reads the text. It then writes all of it down."
    for candidate in candidates([hit(text)]):
        assert text[candidate.at :].startswith(candidate.text)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many layers does it have?", "number"),
        ("What is the learning rate?", "number"),
        ("模型有多少层？", "number"),
        ("When was the corpus collected?", "time"),
        ("Who wrote the annotations?", "who"),
        ("Why does dropout help?", "reason"),
        ("为什么随机失活有用？", "reason"),
        ("Which datasets were used?", "dataset"),
        ("用了哪些数据集？", "dataset"),
        ("What are the limitations?", "limit"),
        ("这种方法有什么局限？", "limit"),
        ("What is a transformer?", "definition"),
        ("什么是注意力机制？", "definition"),
        ("How is the model trained?", "method"),
        ("模型是怎样训练的？", "method"),
        ("Does it work?", "other"),
    ],
)
def test_kind_of_question(question, kind):
    assert kind_of(question) == kind


def test_a_sentence_from_the_end_of_a_line_to_the_start_of_the_next_is_usable():
    text = "The model was small. We used\na beam size of four. It was fast enough."
    cut = text.index("\n")
    spans = (
        Span(0, cut, Box(0.1, 0.1, 0.9, 0.12)),
        Span(cut + 1, len(text), Box(0.1, 0.13, 0.9, 0.15)),
    )
    found = [c.text for c in candidates([hit(text, spans=spans)])]
    assert "We used\na beam size of four." in found


def test_values_given_in_passing_leave_a_sentence_prose():
    sentence = "We used the Adam optimizer [20] with β1 = 0.9, β2 = 0.98 and ε = 10−9 ."
    assert is_prose(sentence)
    assert not is_prose("ByteNet [18] 23.75 39.2 1.0 · 1020 GNMT 24.6 39.92 2.3 · 1019 1.4 · 1020.")


def test_the_labels_of_a_drawing_are_no_prose():
    assert not is_prose("The The Law Law will will never never be be perfect perfect , , but but.")
    assert is_prose("We show that that is so, and that the law had had no effect on it.")


def test_captions_of_figures_count_only_when_figures_are_asked_for():
    caption = hit("Figure 4: Two attention heads in layer five of the encoder.", kind="caption")
    assert candidates([caption]) == []
    assert len(candidates([caption], figures=True)) == 1


def test_of_a_table_the_caption_is_said_and_no_row():
    text = (
        "Table 1: The sets that are used.\n| Set | Use |\n| A | It is used to train. It is big. |"
    )
    (found,) = candidates([hit(text, kind="table")])
    assert found.text == "Table 1: The sets that are used."
    assert found.caption


def test_a_glossary_is_looked_for_until_the_reader_stops():
    defined = "A {0} path is defined as a way through the {0} part of the library."
    texts = ["Nothing is explained in this passage of the paper.", *map(defined.format, "ABCD")]
    chunks = [hit(text, number).chunk for number, text in enumerate(texts)]
    found = glossary(chunks, "Paths", lambda: False)
    assert [(term, c.hit.chunk.id) for term, c in found] == [
        ("A path", 1), ("B path", 2), ("C path", 3), ("D path", 4),
    ]  # fmt: skip
    asked = iter([False, False, False, True])
    assert len(glossary(chunks, "Paths", lambda: next(asked))) == 2
    assert glossary(chunks, "Paths", lambda: True) == []
