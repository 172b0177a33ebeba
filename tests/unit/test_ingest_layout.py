"""What stands beside what, and when the order of the file tells."""

from core.ingest.layout import lines_of
from core.ingest.pdf import RawPage, Word

LEFT, RIGHT = 72.0, 330.0


def piece(row: int, x: float, text: str) -> list[Word]:
    words, at = [], x
    for word in text.split():
        words.append(Word(word, at, 80.0 + 14 * row, at + 6.0 * len(word), 90.0 + 14 * row))
        at += 6.0 * len(word) + 3
    return words


def read(words: list[Word]) -> list[str]:
    return [line.text for line in lines_of(RawPage(1, 595.0, 842.0, words))]


LONG = "one entry that nearly fills its column"
NAMES = [LONG if row % 10 == 4 else f"entry{row}, {row}" for row in range(20)]


def test_an_index_set_column_by_column_is_read_so():
    words = [word for row, text in enumerate(NAMES) for word in piece(row, LEFT, text)]
    words += [word for row, text in enumerate(NAMES) for word in piece(row, RIGHT, text)]
    assert read(words) == NAMES + NAMES


def test_a_table_set_row_by_row_is_read_so():
    words = [
        word
        for row, text in enumerate(NAMES)
        for word in piece(row, LEFT, text) + piece(row, RIGHT, text)
    ]
    assert read(words) == [f"{text} {text}" for text in NAMES]


def test_a_running_head_over_an_index_hides_no_column():
    head = piece(-3, LEFT, "113") + piece(-3, RIGHT + 100, "Stichwortverzeichnis")
    short = [f"entry{row}, {row}" for row in range(20)]
    words = [*head, *(word for row, text in enumerate(short) for word in piece(row, LEFT, text))]
    words += [word for row, text in enumerate(short) for word in piece(row, RIGHT, text)]
    found = read(words)
    assert [text for text in found if text.startswith("entry")] == short + short


def test_a_table_beside_text_stands_in_no_sentence():
    prose = [f"line {row} of a sentence that goes on beside" for row in range(12)]
    wide = [
        f"line {row} of a sentence that goes on below it, as wide as the page is"
        for row in (12, 13)
    ]
    cells = [["Parameter", "Value"], *([f"name{row}", f"{row}00"] for row in range(9))]
    words = [
        word
        for row, (name, value) in enumerate(cells)
        for word in piece(row, 400, name) + piece(row, 480, value)
    ]
    words += [word for row, text in enumerate(prose) for word in piece(row, LEFT, text)]
    words += [word for row, text in enumerate(wide, 12) for word in piece(row, LEFT, text)]
    assert read(words) == [" ".join(cell) for cell in cells] + prose + wide


def test_captions_of_two_lines_beside_each_other_are_read_one_after_the_other():
    both = [["(a) What the", "reader sees."], ["(b) What the", "file holds."]]
    words = [word for row, text in enumerate(both[0]) for word in piece(row, LEFT, text)]
    words += [word for row, text in enumerate(both[1]) for word in piece(row, RIGHT, text)]
    assert read(words) == both[0] + both[1]


def test_a_root_does_not_pull_a_line_into_the_one_above():
    words = piece(0, LEFT, "queries and keys of dimension d and values")
    below = piece(1, LEFT, "divide each by \u221a d and apply a softmax")
    root = next(word for word in below if word.text == "\u221a")
    root.y0, root.y1 = root.y0 - 18, root.y1 + 4
    assert read(words + below) == [
        "queries and keys of dimension d and values",
        "divide each by \u221a d and apply a softmax",
    ]


def test_what_reads_leftwards_is_read_so():
    words = []
    for at, text in enumerate(
        ["\u0627\u0646\u0648\u0627\u0639", "\u0627\u0644\u062e\u0637\u0648\u0637", "2024"]
    ):
        words.append(Word(text, 400 - 60 * at, 80, 440 - 60 * at, 90))
    assert read(words) == [" ".join(word.text for word in words)]


def test_columns_as_near_as_words_are_read_one_after_the_other():
    """A reader of pictures takes a line of both columns for one where the white is narrow."""
    left = [f"left {row} of the text that fills it" for row in range(10)]
    right = [f"right {row} of the text that fills it" for row in range(10)]
    words = []
    for row, (one, other) in enumerate(zip(left, right, strict=True)):
        line = piece(row, LEFT, one)
        near = 7.0 if row in (3, 7) else 12.0
        words += line + piece(row, line[-1].x1 + near, other)
    page = RawPage(1, 595.0, 842.0, words, recognised=True)
    assert [line.text for line in lines_of(page)] == left + right


def test_subfigures_between_full_lines_are_read_one_after_the_other():
    def words_of(rows: range, x: float, texts: list[str]) -> list[Word]:
        return [word for row, text in zip(rows, texts, strict=True) for word in piece(row, x, text)]

    wide = ["a line of text that is as wide as the whole page and goes on in the line"] * 2
    figures = [["A B", "C", f"({letter}) A figure", "with a", "caption."] for letter in "abc"]
    words = words_of(range(2), LEFT, wide)
    for x, texts in zip((LEFT, LEFT + 150, LEFT + 300), figures, strict=True):
        words += words_of(range(3, 8), x, texts)
    words += words_of(range(9, 11), LEFT, wide)
    assert read(words) == [*wide, *figures[0], *figures[1], *figures[2], *wide]
    rows = words_of(range(2), LEFT, wide)
    for row in range(3):
        for x, texts in zip((LEFT, LEFT + 150), figures, strict=False):
            rows += piece(row + 3, x, texts[row])
    assert read(rows) == [*wide, "A B A B", "C C", "(a) A figure", "(b) A figure"]
