from uuid import uuid4

import pytest

from core.evidence.quotes import citation, find, locate, reads_straight
from core.types import Box, Chunk, Hit, Scores, Span

LINES = [
    "The ﬁrst line says that we ob-",
    "tain 92.3% on WMT14. A second",
    "one follows: 我们使用ＢＥＲＴ模型。",
]


def make_chunk(lines=LINES):
    text, spans = "", []
    for i, line in enumerate(lines):
        spans.append(Span(len(text), len(text) + len(line), Box(0.1, 0.1 * i, 0.9, 0.1 * i + 0.08)))
        text += line + "\n"
    return Chunk(7, uuid4(), "f" * 64, 3, "Results", "body", text.rstrip(), tuple(spans))


def test_exact_quote_gets_the_part_of_its_line():
    chunk = make_chunk()
    start, end, boxes = locate("A second", chunk)
    assert chunk.text[start:end] == "A second"
    (box,) = boxes
    assert box.x0 == pytest.approx(0.1 + 0.8 * 21 / 29, abs=0.02)
    assert box.x1 == pytest.approx(0.9)
    assert (box.y0, box.y1) == (0.1, 0.18)


def test_a_chinese_character_is_as_wide_as_two_letters():
    chunk = make_chunk(["abcd我们"])
    assert locate("我们", chunk).boxes[0].x0 == pytest.approx(0.5)
    assert locate("abcd", chunk).boxes[0].x1 == pytest.approx(0.5)


def test_a_quote_over_two_lines_gets_two_boxes():
    chunk = make_chunk()
    start, end, boxes = locate("92.3% on wmt14.  a SECOND one", chunk)
    assert chunk.text[start:end] == "92.3% on WMT14. A second\none"
    assert [round(box.y0, 2) for box in boxes] == [0.1, 0.2]


@pytest.mark.parametrize("quote", ["the first line", "使用BERT模型", "line  says", "ob‐ tain"])
def test_width_case_space_and_dashes_do_not_matter(quote):
    chunk = make_chunk()
    start, end, boxes = locate(quote, chunk)
    assert 0 < end - start < 16
    assert boxes


def test_a_loose_quote_gets_the_closest_sentence():
    text = "We train on CPUs. The model reaches a high accuracy on the test set. It is small."
    chunk = make_chunk([text])
    start, end, _ = locate("the model has reached high accuracy on that test set", chunk)
    assert text[start:end] == "The model reaches a high accuracy on the test set."


def test_a_foreign_quote_gets_the_whole_chunk():
    chunk = make_chunk()
    assert locate("nothing of the kind", chunk)[:2] == (0, len(chunk.text))
    assert locate("", chunk)[:2] == (0, len(chunk.text))


def test_an_upright_line_is_not_cut():
    span = Span(0, 10, Box(0.1, 0.1, 0.12, 0.9))
    chunk = Chunk(1, uuid4(), "f" * 64, 1, "", "body", "abcde fghi", (span,))
    assert locate("fghi", chunk).boxes == (span.box,)


def test_citation_is_self_contained():
    chunk = make_chunk()
    made = citation(2, Hit(chunk, Scores(dense=0.5), "A title"), "WMT14")
    assert (made.n, made.quote, made.page, made.section) == (2, "WMT14", 3, "Results")
    assert (made.file, made.title, made.passage) == (chunk.file, "A title", chunk.text)
    assert made.scores.dense == 0.5
    assert made.boxes


LEFT, LOWER = Box(0.1, 0.2, 0.48, 0.22), Box(0.1, 0.23, 0.3, 0.25)
RIGHT_TOP, RIGHT_LOW = Box(0.52, 0.1, 0.9, 0.12), Box(0.52, 0.3, 0.9, 0.32)
NOTE = Box(0.02, 0.21, 0.08, 0.23)


@pytest.mark.parametrize(
    ("lines", "straight"),
    [
        ([LEFT], True),
        ([LEFT, LOWER], True),
        ([LEFT, LOWER, RIGHT_TOP], True),
        ([Box(0.1, 0.2, 0.3, 0.22), Box(0.32, 0.2, 0.48, 0.22)], True),
        ([RIGHT_LOW, Box(0.3, 0.33, 0.9, 0.35)], False),
        ([LEFT, NOTE, LOWER], False),
        ([LEFT, LOWER, NOTE], False),
        ([LEFT, RIGHT_LOW, LOWER], False),
        ([LEFT, RIGHT_TOP, LOWER], False),
        ([], True),
    ],
)
def test_lines_of_a_sentence_follow_one_another(lines, straight):
    assert reads_straight(lines) is straight


@pytest.mark.parametrize("quote", ["rate of 10⁻⁵ using", "rate of 10-5 using", "RATE OF 10−5"])
def test_a_power_is_found_however_it_is_written(quote):
    assert find(quote, "with a learning rate of 10⁻⁵ using Adam") is not None
