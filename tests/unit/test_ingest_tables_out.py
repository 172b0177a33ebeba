"""Tables leave the sections they were read into, with the headings their cells were taken for."""

from core.ingest.layout import Line
from core.ingest.pdf import Word
from core.ingest.sections import Paragraph, Section
from core.ingest.structure import _Caption, _take_out
from core.ingest.tables import Grid


def line(y: float, text: str) -> Line:
    return Line([Word(text, 100.0, y, 200.0, y + 10)], 100.0, y, 200.0, y + 10)


def test_a_caption_below_its_table_is_not_filed_under_a_cell():
    cells, words = line(100, "NQ TriviaQA WQ"), line(150, "Table 4: Accuracy of the systems.")
    results = Section("6.2 Results", paragraphs=[Paragraph([line(80, "as follows")], 8)])
    head = Section("NQ TriviaQA WQ", paragraphs=[Paragraph([cells], 8, heading=True)])
    head.paragraphs += [Paragraph([words], 8, "caption"), Paragraph([line(170, "Prose.")], 8)]
    caption = _Caption([words], head, words.text)
    sections = [results, head]
    _take_out(sections, 8, caption, Grid((90.0, 95.0, 210.0, 140.0), []))
    assert [section.heading for section in sections] == ["6.2 Results"]
    assert [part.text for part in sections[0].paragraphs] == ["as follows", "Prose."]
    assert caption.section.heading == "6.2 Results"
