"""Reading made-up PDFs, where every word's place is known."""

from pathlib import Path

import pytest

from core.errors import UnreadableFile
from core.ingest.parse import parse
from core.ingest.pdf import read
from core.ingest.repair import repair
from core.types import ParsedPaper
from tests.fixtures.pdfs import lines, made_pdf

LOREM = [
    "We describe a method that finds the passage which",
    "answers a question, and we show that it works on",
    "the papers of a library. The method is simple and",
    "it is fast. It needs no network and no key at all.",
]


def read_paper(data: bytes, password: str | None = None) -> ParsedPaper:
    return parse(data, password, lambda *_: None).paper


def text_of(paper: ParsedPaper) -> str:
    return "\n".join(chunk.text for chunk in paper.chunks)


def test_sections_abstract_references_and_appendix():
    page = [
        (150, 740, 18, "A Study of Reading"),
        (230, 715, 12, "Ada Lovelace, Alan Turing"),
        (280, 690, -12, "Abstract"),
        *lines(72, 670, 10, LOREM),
        (72, 595, -12, "1 Introduction"),
        *lines(72, 575, 10, LOREM),
        (72, 500, -12, "2 Method"),
        *lines(72, 480, 10, LOREM),
        (72, 405, -12, "References"),
        *lines(72, 385, 10, ["[1] A. Author. A title. Journal, 2019.", "[2] B. Writer. 2020."]),
        (72, 335, -12, "A Further Results"),
        *lines(72, 315, 10, LOREM),
    ]
    paper = read_paper(made_pdf([page]))
    kinds = [(chunk.section, chunk.kind) for chunk in paper.chunks]
    assert kinds == [
        ("", "body"),
        ("Abstract", "abstract"),
        ("1 Introduction", "body"),
        ("2 Method", "body"),
        ("References", "references"),
        ("A Further Results", "body"),
    ]
    assert paper.meta.title == "A Study of Reading"
    assert paper.meta.authors == ("Ada Lovelace", "Alan Turing")
    assert paper.meta.abstract.startswith("We describe a method")
    assert paper.meta.language == "en"


def test_two_columns_are_read_one_after_the_other():
    left = [f"left {n} of the text that fills its column well" for n in range(20)]
    right = [f"right {n} of the text that fills its column well" for n in range(20)]
    both = [
        text
        for pair in zip(lines(60, 700, 10, left), lines(330, 700, 10, right), strict=True)
        for text in pair  # written row by row, as some programs do
    ]
    text = read_paper(made_pdf([both])).pages[0].text
    order = [word for word in text.split() if word in ("left", "right")]
    assert order == ["left"] * 20 + ["right"] * 20


def test_running_heads_page_numbers_and_line_numbers_are_dropped():
    pages = [
        [
            (200, 765, 9, "Journal of Reading, Vol. 3"),
            *lines(90, 700, 10, [f"page {n} line {k} says one more thing" for k in range(12)]),
            *[(40, 700 - 14 * k, 8, str(n * 12 + k + 1)) for k in range(12)],
            (300, 30, 9, str(n + 1)),
        ]
        for n in range(4)
    ]
    paper = read_paper(made_pdf(pages))
    assert "Journal of Reading" not in text_of(paper)
    assert [page.text.splitlines()[0] for page in paper.pages] == [
        f"page {n} line 0 says one more thing" for n in range(4)
    ]
    assert [page.text.splitlines()[-1] for page in paper.pages] == [
        f"page {n} line 11 says one more thing" for n in range(4)
    ]


def test_blank_pages_keep_their_numbers():
    paper = read_paper(made_pdf([lines(72, 700, 10, LOREM), [], [], lines(72, 700, 10, LOREM)]))
    assert [page.number for page in paper.pages] == [1, 2, 3, 4]
    assert [page.text == "" for page in paper.pages] == [False, True, True, False]
    assert sorted({chunk.page for chunk in paper.chunks}) == [1, 4]


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_boxes_are_of_the_page_as_seen(rotate):
    paper = read_paper(made_pdf([[(72, 700, 10, "corner")]], rotate=rotate))
    (x0, y0, x1, y1) = paper.chunks[0].spans[0].box
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    # the word stands 87 points from the left and 89 from the top of an unrotated page
    left, top = 88 / 612, 89 / 792
    seen = {0: (left, top), 90: (1 - top, left), 180: (1 - left, 1 - top), 270: (top, 1 - left)}
    assert middle == pytest.approx(seen[rotate], abs=0.02)


def test_a_chunk_keeps_to_its_page_and_size_and_its_spans_cover_it():
    long = [f"Sentence {n} tells something that nobody has said before." for n in range(48)]
    paper = read_paper(made_pdf([lines(72, 740, 10, long), lines(72, 740, 10, long)]))
    assert len(paper.chunks) >= 6
    for chunk in paper.chunks:
        assert len(chunk.text) <= 1_200
        covered = "".join(chunk.text[span.start : span.end] for span in chunk.spans)
        assert covered.replace(" ", "") == "".join(chunk.text.split())
        assert all(0 <= edge <= 1 for span in chunk.spans for edge in span.box)


def test_special_tokens_are_only_text():
    paper = read_paper(made_pdf([lines(72, 700, 10, ["Before <|endoftext|> after", *LOREM])]))
    assert "<|endoftext|>" in paper.chunks[0].text


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "EMPTY_FILE"),
        (b" \n\0", "EMPTY_FILE"),
        (b"<html>no</html>", "NOT_A_PDF"),
        ("论文".encode(), "NOT_A_PDF"),
        (b"%PDF-1.7\nnothing else", "DAMAGED"),
        (made_pdf([[]]), "NO_TEXT"),
    ],
)
def test_bad_files(data, code):
    with pytest.raises(UnreadableFile) as caught:
        read_paper(data)
    assert caught.value.code == code
    assert caught.value.hint


def test_junk_in_the_file_s_metadata_is_not_a_title():
    page = [(150, 740, 18, "Real Title of the Paper"), *lines(72, 700, 10, LOREM)]
    for junk in ("untitled", "p020-dutot.dvi", "5", "Microsoft Word - draft_v3.doc"):
        paper = read_paper(made_pdf([page], info=f"/Title({junk})"))
        assert paper.meta.title == "Real Title of the Paper"


def test_what_is_left_of_a_file_that_was_cut_off_is_read():
    whole = made_pdf([lines(72, 700, 10, LOREM), lines(72, 700, 10, LOREM)])
    cut = whole[: whole.index(b"xref")]
    *_, document = read(cut, None)
    assert len(document.pages) == 2
    assert repair(whole[:100]) is None


def test_what_stands_beside_a_gap_has_a_box_of_its_own():
    """Two captions side by side: a box over both would hide that they are two."""
    left = lines(72, 400, 10, ["Table 1: A caption that", "goes on here."])
    right = lines(320, 400, 10, ["Figure 1: Another one", "ends over here."])
    captions = [line for pair in zip(left, right, strict=True) for line in pair]
    page = [(150, 740, 18, "A Study of Reading"), *lines(72, 670, 10, LOREM * 3), *captions]
    paper = read_paper(made_pdf([page]))
    spans = [
        chunk.text[span.start : span.end]
        for chunk in paper.chunks
        for span in chunk.spans
        if "aption" in chunk.text
    ]
    assert "Table 1: A caption that" in [text.strip() for text in spans]
    assert "Figure 1: Another one" in [text.strip() for text in spans]


def test_an_exponent_is_told_from_a_digit_of_the_number_and_a_footnote_mark():
    page = lines(
        72, 700, 10, ["The networks are trained on many pages of text for a long time."] * 9
    )
    page += [(72, 560, 10, "We train at 10"), (134.3, 563.6, 7, "-5"), (150, 560, 10, "with Adam")]
    page += [(72, 546, 10, "on 100 pages of 1998"), (166, 549.6, 7, "2"), (174, 546, 10, "or H10")]
    page += [(205.5, 543.5, 7, "3"), (215, 546, 10, "here.")]
    text = parse(made_pdf([page]), None, lambda *_: None).paper.pages[0].text
    assert "at 10⁻⁵ with Adam" in text
    assert "on 100 pages of 19982 or H103 here." in text


def test_a_running_head_deep_in_the_page_is_no_heading():
    pages = [
        [
            (90, 680, -11, f"2 SURFACES OF MANY KINDS {n + 1}"),
            *lines(90, 650, 10, [f"page {n} line {k} says one more thing" for k in range(12)]),
        ]
        for n in range(4)
    ]
    paper = read_paper(made_pdf(pages))
    assert "SURFACES" not in text_of(paper)
    assert not any("SURFACES" in heading.title for heading in paper.structure.sections)


def test_a_sentence_of_chinese_that_looks_large_for_its_latin_is_no_heading():
    sample = Path(__file__).parents[2] / "data" / "samples" / "localfirst.pdf"
    titles = {chunk.section for chunk in read_paper(sample.read_bytes()).chunks}
    assert "3.2 自己启动，而不是交给现成的管理代码" in titles
    assert not [title for title in titles if "所以" in title]
