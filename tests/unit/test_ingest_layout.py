"""Short pieces in two columns: an index or a table? The order of the file tells."""

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
