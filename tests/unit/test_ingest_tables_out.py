"""Tables leave the sections they were read into, become chunks of rows, and are not made of prose."""

from core.ingest.chunking import CHUNK_SIZE, embeddable
from core.ingest.grid import Grid, Row
from core.ingest.layout import Line
from core.ingest.parse import parse
from core.ingest.pdf import Word
from core.ingest.sections import Paragraph, Section
from core.ingest.structure import _Caption, _take_out
from tests.fixtures.pdfs import lines, made_pdf


def line(y: float, text: str) -> Line:
    return Line([Word(text, 100.0, y, 200.0, y + 10)], 100.0, y, 200.0, y + 10)


def test_a_caption_below_its_table_is_not_filed_under_a_cell():
    cells, words = line(100, "NQ TriviaQA WQ"), line(150, "Table 4: Accuracy of the systems.")
    results = Section("6.2 Results", paragraphs=[Paragraph([line(80, "as follows")], 8)])
    head = Section("NQ TriviaQA WQ", paragraphs=[Paragraph([cells], 8, heading=True)])
    head.paragraphs += [Paragraph([words], 8, "caption"), Paragraph([line(170, "Prose.")], 8)]
    caption = _Caption([words], head, words.text)
    sections = [results, head]
    area = (90.0, 95.0, 210.0, 140.0)
    _take_out(sections, 8, caption, Grid(area, [Row([[cells.words]], area)]))
    assert [section.heading for section in sections] == ["6.2 Results"]
    assert [part.text for part in sections[0].paragraphs] == ["as follows", "Prose."]
    assert caption.section.heading == "6.2 Results"


def test_what_stands_beside_a_table_on_its_lines_stays_in_the_text():
    inside, beside = line(100, "78,785"), Word("margin", 300.0, 100.0, 340.0, 110.0)
    words = [*inside.words, beside]
    section = Section("A", paragraphs=[Paragraph([Line(words, 100.0, 100.0, 340.0, 110.0)], 8)])
    area = (90.0, 95.0, 210.0, 140.0)
    caption = _Caption([line(80, "Table 1.")], section, "Table 1.")
    _take_out([section], 8, caption, Grid(area, [Row([[inside.words]], area)]))
    assert [part.text for part in section.paragraphs] == ["margin"]


ROWS = 70
PAGES = [
    [
        (72, 750, 10, "Table 1. What was measured at each of the places."),
        *((x, 735, 10, head) for x, head in ((72, "Place"), (200, "Height"), (330, "Depth"))),
        *(
            (x, 723 - 9.5 * n, 8, text)
            for n in range(ROWS)
            for x, text in ((72, f"Place number {n}"), (200, f"{n}.25 m"), (330, f"{n * 7} m"))
        ),
    ]
]


def test_a_long_table_is_cut_between_rows_and_its_head_repeated():
    paper = parse(made_pdf(PAGES), None, lambda *at: None).paper
    parts = [chunk for chunk in paper.chunks if chunk.kind == "table"]
    assert len(parts) > 2
    caption = "Table 1. What was measured at each of the places.\n| Place | Height | Depth |\n"
    rows = []
    for part in parts:
        assert part.text.startswith(caption)
        assert len(part.text) <= CHUNK_SIZE
        rows += part.text.removeprefix(caption).split("\n")
    assert rows == [f"| Place number {n} | {n}.25 m | {n * 7} m |" for n in range(ROWS)]
    assert not any("Place number" in chunk.text for chunk in paper.chunks if chunk.kind == "body")


LEFT = (
    "the methods that are compared here", "differ in how the passages that were",
    "found are put into an order, and in", "what they know of the words that the",
    "question has in common with them so", "that none of the values in the table",
)  # fmt: skip
RIGHT = (
    "which no other system of this kind", "has been shown to reach as yet, and",
    "it seems that more of the same data", "would help the smallest models most",
    "while the larger ones keep what they", "have learned from text before it all",
)  # fmt: skip


def test_two_columns_of_prose_under_a_caption_are_no_table():
    prose = [(72, 700, 10, "Table 2: Accuracy of the systems."), *lines(72, 684, 10, LEFT, 12)]
    prose += lines(252, 684, 10, RIGHT, 12)
    paper = parse(made_pdf([prose]), None, lambda *at: None).paper
    assert paper.structure.tables == ()
    whole = " ".join(chunk.text for chunk in paper.chunks)
    assert " ".join(LEFT) in whole.replace("\n\n", " ")


def test_models_of_meaning_read_rows_without_bars():
    text = "Table 1. |x|\n| Place | Height |\n| | 3 m |"
    assert embeddable(text) == "Table 1. |x|\nPlace Height\n3 m"
