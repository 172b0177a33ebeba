"""Pages typeset here: columns, footnotes and watermarks as typst sets them."""

import re

import typst

from core.ingest.parse import parse
from core.types import ParsedPaper

WORDS = ["the", "passages", "of", "papers", "are", "found", "by", "words", "and", "by", "vectors"]


def prose(number: int, count: int = 60) -> str:
    """Return one long sentence whose every other word tells its place."""
    return " ".join(f"p{number}x{at} {WORDS[at % len(WORDS)]}" for at in range(count))


def read(head: str, paragraphs: list[str]) -> ParsedPaper:
    source = f"{head}\n#set par(justify: true)\n= Introduction\n" + "\n\n".join(paragraphs)
    made = typst.Compiler(source.encode(), font_paths=typst.Fonts(include_system_fonts=False))
    return parse(made.compile(format="pdf"), None, lambda *_: None).paper


def places(text: str) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in re.findall(r"p(\d+)x(\d+)", text)]


def test_three_columns_under_a_slanted_watermark():
    mark = "background: rotate(-45deg, text(70pt, fill: luma(220))[CONFIDENTIAL])"
    head = f'#set page(columns: 3, paper: "a4", margin: 1.5cm, {mark})\n#set text(size: 9pt)'
    paper = read(head, [prose(number) + "." for number in range(9)])
    text = " ".join(page.text for page in paper.pages)
    assert places(text) == sorted(places(text))
    assert len(places(text)) == 9 * 60
    assert "CONF" not in text + " ".join(chunk.text for chunk in paper.chunks)
    assert not re.search(r"\b[CONFIDETAL]{1,4}\b", text)


def test_a_large_word_behind_the_text_of_every_page_is_dropped():
    head = '#set page(paper: "a4", background: text(80pt, fill: luma(220))[DRAFT])'
    paper = read(head, [prose(number) + "." for number in range(14)])
    assert len(paper.pages) >= 3
    text = " ".join(page.text for page in paper.pages)
    assert places(text) == sorted(places(text))
    assert "DRAFT" not in text


def test_footnotes_stand_apart_and_cut_no_sentence():
    notes = [f"Note {word} says more." for word in ("one", "two", "three", "four", "five", "six")]
    paragraphs = [
        f"{prose(number, 70)}#footnote[{note}] {prose(number + 10, 40)}."
        for number, note in enumerate(notes)
    ]
    paper = read(
        '#set page(columns: 2, paper: "a4", margin: 2cm)\n#set text(size: 10pt)', paragraphs
    )
    blocks = [block for chunk in paper.chunks for block in chunk.text.split("\n\n")]
    apart = [block for block in blocks if "Note" in block]
    assert not any(places(block) for block in apart)
    assert [note for note in notes if any(note in block for block in apart)] == notes
    first = " ".join(chunk.text for chunk in paper.chunks if chunk.page == 1)
    body = list(dict.fromkeys(places(first)))  # chunks overlap
    assert body == sorted(body, key=lambda place: (place[0] % 10, place[0], place[1]))
