"""PaperReader over real papers: what it says is where it says, by another look at the page."""

import hashlib
import threading
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from uuid import UUID, uuid4

import pypdfium2
import pytest
from PIL import Image
from sqlalchemy import Engine

from core.db.papers import PaperStore, StoredFile
from core.errors import NotFound
from core.evidence.quotes import fold
from core.ingest.pipeline import Ingestor
from core.ingest.worker import Worker
from core.reading import Found, Heading, Line, PaperReader
from core.retrieval.tokenize import tokenize
from core.types import LOCAL_USER, Box, ChunkDraft, Citation, Page, PaperMeta, Scores, Span
from core.types import ParsedPaper as Parsed
from tests.conftest import ROOT

SAMPLES = sorted((ROOT / "data" / "samples").glob("*.pdf"))


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture
def papers(database: Engine) -> PaperStore:
    return PaperStore(database)


@pytest.fixture
def reader(papers: PaperStore, worker: Worker) -> PaperReader:
    return PaperReader(papers, worker)


@pytest.fixture
def add(papers: PaperStore, worker: Worker):
    def ingest(path: Path) -> UUID:
        ingestor = Ingestor(papers, worker, [], tokenize)
        return ingestor.ingest(LOCAL_USER, path.name, path.read_bytes()).paper_id

    return ingest


def printed(page: pypdfium2.PdfPage, box: Box, aside: float = 2.0) -> str:
    """Return what another reader finds in a box, folded, with some points of room at the sides."""
    width, height = page.get_size()
    room = 2.0
    text = page.get_textpage().get_text_bounded(
        left=box.x0 * width - aside,
        right=box.x1 * width + aside,
        top=height - box.y0 * height + room,
        bottom=height - box.y1 * height - room,
    )
    return fold(text)[0]


def overlap(one: Box, other: Box) -> float:
    """Return the share of the smaller box that the other covers."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    tall = min(one.y1, other.y1) - max(one.y0, other.y0)
    areas = [(b.x1 - b.x0) * (b.y1 - b.y0) for b in (one, other)]
    return max(0.0, wide) * max(0.0, tall) / max(min(areas), 1e-9)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_lines_are_the_pages_print_each_once_and_in_its_place(reader, add, papers, path) -> None:
    paper = add(path)
    document = pypdfium2.PdfDocument(path.read_bytes())
    shared = 0
    for number in range(1, reader.page_count(LOCAL_USER, paper) + 1):
        lines = reader.lines(LOCAL_USER, paper, number)
        chunks = papers.page_chunks(LOCAL_USER, paper, [number])
        shared += sum(len(chunk.text) for chunk in chunks) - sum(len(line.text) for line in lines)
        for at, line in enumerate(lines):
            others = lines[:at] + lines[at + 1 :]
            assert not [o for o in others if overlap(o.box, line.box) > 0.5], line
            seen = printed(document[number - 1], line.box)
            words = [fold(word)[0] for word in line.text.split()[1:-1]]
            assert sum(word in seen for word in words) >= 0.9 * len(words), (line, seen)
    assert shared > 100  # there was an overlap to be left out
    document.close()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_what_is_found_stands_in_its_boxes(reader, add, path) -> None:
    paper = add(path)
    document = pypdfium2.PdfDocument(path.read_bytes())
    pages = range(1, reader.page_count(LOCAL_USER, paper) + 1)
    lines = [line.text for page in pages for line in reader.lines(LOCAL_USER, paper, page)]
    words = {word for line in lines[::5] for word in line.split() if len(word) > 6}
    words = {word for word in words if not word.endswith("-")}  # broken at a line end
    assert words
    for word in sorted(words)[:25]:
        needle = fold(word)[0]
        found = reader.find(LOCAL_USER, paper, word.upper())
        assert found, word
        for place in found:
            seen = "".join(printed(document[place.page - 1], box, 10) for box in place.boxes)
            assert needle in seen or len(place.boxes) > 1, (word, place, seen)
            assert needle in fold(place.snippet)[0]
        at = [(place.page, place.boxes) for place in found]
        assert len(set(at)) == len(at)
        assert [page for page, _ in at] == sorted(page for page, _ in at)
    document.close()


def made(papers: PaperStore, chunks: list[ChunkDraft], pages: int = 2, media: str = "") -> UUID:
    content = uuid4().bytes
    kind = {"media_type": media} if media else {}
    file = StoredFile(hashlib.sha256(content).hexdigest(), content, len(content), **kind)
    parsed = Parsed(
        PaperMeta("Made"),
        tuple(Page(n, 600.0, 800.0, f"Text of page {n}") for n in range(1, pages + 1)),
        tuple(chunks),
    )
    terms = ["x"] * len(chunks)
    return papers.add(LOCAL_USER, "made.pdf", file, parsed, terms, {})


def chunk(
    page: int, text: str, *lines: tuple[int, int, float, float, float], section="A", kind="body"
):
    """A chunk whose lines are (start, end, x0, x1, y0), each 0.02 of a page high."""
    spans = tuple(Span(s, e, Box(x0, y, x1, y + 0.02)) for s, e, x0, x1, y in lines)
    return ChunkDraft(page, section, kind, text, spans)


ONE = chunk(1, "alpha beta gamma delta", (0, 10, 0.1, 0.6, 0.1), (11, 22, 0.1, 0.65, 0.2))
TWO = chunk(1, "delta epsilon zeta", (0, 13, 0.4, 1.0, 0.2), (14, 18, 0.1, 0.3, 0.3))
"""`delta` ends the one and begins the other; both say where on the same line it stands."""
REFERENCES = chunk(2, "delta [1]", (0, 9, 0.1, 0.5, 0.1), section="References", kind="references")


def test_chunks_that_overlap_give_each_place_once(reader, papers) -> None:
    paper = made(papers, [ONE, TWO, REFERENCES])
    lines = reader.lines(LOCAL_USER, paper, 1)
    assert [line.text for line in lines] == ["alpha beta", "gamma delta", "epsilon", "zeta"]
    places = reader.find(LOCAL_USER, paper, "DELTA")
    assert [(place.page, len(place.boxes)) for place in places] == [(1, 1), (2, 1)]
    assert places[0].boxes[0] == pytest.approx(Box(0.4, 0.2, 0.65, 0.22), abs=0.05)
    assert reader.lines(LOCAL_USER, paper, 2) == [Line("delta [1]", REFERENCES.spans[0].box)]


def test_equal_words_at_a_border_that_are_two_places_stay_two(reader, papers) -> None:
    after = chunk(1, "delta again", (0, 11, 0.1, 0.6, 0.4))
    paper = made(papers, [ONE, after])
    assert len(reader.find(LOCAL_USER, paper, "delta")) == 2
    assert [line.text for line in reader.lines(LOCAL_USER, paper, 1)][-1] == "delta again"


def test_the_head_that_parts_of_a_table_repeat_is_one_place(reader, papers) -> None:
    head = "Table 1. Heights.\n| Place | Height |\n"
    spans = [(0, 17, 0.1, 0.5, 0.1), (20, 25, 0.1, 0.2, 0.13), (28, 34, 0.3, 0.4, 0.13)]
    at = len(head)
    one = chunk(1, head + "| Ulm | 478 |", *spans, (at + 2, at + 5, 0.1, 0.2, 0.16), kind="table")
    two = chunk(1, head + "| Bonn | 60 |", *spans, (at + 2, at + 6, 0.1, 0.2, 0.19), kind="table")
    paper = made(papers, [one, two])
    shown = [line.text for line in reader.lines(LOCAL_USER, paper, 1)]
    assert shown == ["Table 1. Heights.", "Place", "Height", "Ulm", "Bonn"]
    assert len(reader.find(LOCAL_USER, paper, "height")) == 2  # of the caption and of the column
    (found,) = reader.find(LOCAL_USER, paper, "bonn")
    assert found.boxes == (Box(0.1, 0.19, 0.2, 0.21),)


def test_find_goes_over_lines_chunks_case_and_width(reader, papers) -> None:
    chinese = chunk(2, "深度 学习Ｔest—ing", (0, 2, 0.1, 0.2, 0.1), (3, 12, 0.1, 0.5, 0.2))
    paper = made(papers, [ONE, TWO, chinese])
    (over,) = reader.find(LOCAL_USER, paper, "beta\nGAMMA  delta epsilon")
    assert over.page == 1
    assert [round(box.y0, 2) for box in over.boxes] == [0.1, 0.2, 0.2]
    assert over.snippet == "alpha beta gamma delta epsilon zeta"
    assert [found.page for found in reader.find(LOCAL_USER, paper, "深度学习test-ING")] == [2]
    assert reader.find(LOCAL_USER, paper, " \n ") == []
    assert reader.find(LOCAL_USER, paper, "alphabeta.*") == []
    assert len(reader.find(LOCAL_USER, paper, "a", limit=3)) == 3


def test_a_snippet_shows_what_stands_around(reader, papers) -> None:
    text = "x " * 100 + "needle" + " y" * 100
    paper = made(papers, [chunk(1, text, (0, len(text), 0.1, 0.9, 0.1))])
    (found,) = reader.find(LOCAL_USER, paper, "needle")
    assert isinstance(found, Found)
    assert found.snippet.startswith("…")
    assert found.snippet.endswith("…")
    assert "x needle y" in found.snippet
    assert len(found.snippet) < 140


def test_outline_has_each_section_once(reader, papers) -> None:
    sections = [(1, "A"), (1, "A"), (1, "B"), (2, "A"), (2, ""), (2, "C")]
    paper = made(papers, [chunk(p, "t", section=s) for p, s in sections])
    assert reader.outline(LOCAL_USER, paper) == [Heading("A", 1), Heading("B", 1), Heading("C", 2)]


def test_a_page_is_drawn_at_the_asked_size(reader, add, sample) -> None:
    paper = add(sample)
    width, height = reader.size(LOCAL_USER, paper, 1)
    for scale, drawn in ((1.0, 1.0), (2.0, 2.0), (0.0, 0.25)):
        image = Image.open(BytesIO(reader.picture(LOCAL_USER, paper, 1, scale)))
        assert image.format == "PNG"
        assert image.size == pytest.approx((width * drawn, height * drawn), abs=1.5)
    first, second = (reader.picture(LOCAL_USER, paper, page) for page in (1, 2))
    assert first != second


@pytest.mark.parametrize("page", [0, -1, 10**6, 2**31, 2**63])
def test_a_page_that_is_not_there(reader, add, sample, page: int) -> None:
    paper = add(sample)
    for ask in (reader.picture, reader.lines, reader.page_text):
        with pytest.raises(NotFound):
            ask(LOCAL_USER, paper, page)


def test_a_paper_without_pages_to_draw_has_text(reader, papers) -> None:
    paper = made(papers, [ONE], media="text/html")
    assert not reader.drawable(LOCAL_USER, paper)
    assert reader.page_text(LOCAL_USER, paper, 2) == "Text of page 2"
    assert reader.lines(LOCAL_USER, paper, 2) == []
    with pytest.raises(NotFound):
        reader.picture(LOCAL_USER, paper, 1)


def test_a_citation_finds_its_file_under_a_new_id(reader, add, papers, sample) -> None:
    old = add(sample)
    file = papers.file(LOCAL_USER, old).sha256
    citation = Citation(1, old, "T", file, 1, "", "q", (), Scores())
    assert reader.cited(LOCAL_USER, citation) == old
    papers.remove(LOCAL_USER, old)
    with pytest.raises(NotFound):
        reader.cited(LOCAL_USER, citation)
    papers.purge(datetime.now(UTC) + timedelta(days=1))
    new = add(sample)
    assert new != old
    assert reader.cited(LOCAL_USER, citation) == new
    assert reader.picture(LOCAL_USER, new, citation.page)


def test_another_file_is_not_drawn_from_the_one_before(reader, add) -> None:
    first, second = add(SAMPLES[0]), add(SAMPLES[1])
    one = reader.picture(LOCAL_USER, first, 1)
    assert reader.picture(LOCAL_USER, second, 1) != one
    assert reader.picture(LOCAL_USER, first, 1) == one


def test_a_page_is_drawn_while_a_file_is_being_read(reader, add, worker, sample) -> None:
    paper = add(sample)
    begun, go_on = threading.Event(), threading.Event()

    def hold(stage: str, done: int, total: int) -> None:
        begun.set()
        assert go_on.wait(60)

    reading = threading.Thread(target=worker.parse, args=(sample.read_bytes(), None, hold))
    reading.start()
    try:
        assert begun.wait(60)
        assert reader.picture(LOCAL_USER, paper, 1)
        assert reading.is_alive()
    finally:
        go_on.set()
        reading.join(60)
