"""Tables, figures and the section tree of real papers, and their way into the store."""

from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest

from core.evals.tables import agreement
from core.evidence.quotes import fold
from core.ingest.parse import parse
from core.types import Box, ParsedPaper


@pytest.fixture(scope="module")
def read(shared: Path) -> Callable[[str], ParsedPaper]:
    """Return a reader of shared papers that reads each file once."""
    known: dict[str, ParsedPaper] = {}

    def paper(name: str) -> ParsedPaper:
        if name not in known:
            data = (shared / "pdf_papers" / name).read_bytes()
            known[name] = parse(data, None, lambda *at: None).paper
        return known[name]

    return paper


OTSL = [
    ["6", "6", "OTSL", "0.965", "0.934", "0.955", "0.88", "2.73"],
    ["", "", "HTML", "0.969", "0.927", "0.955", "0.857", "5.39"],
    ["4", "2", "OTSL", "0.952", "0.92", "0.942", "0.857", "1.22"],
]
DPR = [
    ["Dataset", "Train", "", "Dev", "Test"],
    ["Natural Questions", "79,168", "58,880", "8,757", "3,610"],
    ["SQuAD", "78,713", "70,096", "8,886", "10,570"],
]
INHIBITOR = [["0", "0.0335", "0.0409", "0.9393", "0.0003", "24.0910", "2.8163"]]


@pytest.mark.parametrize(
    ("file", "page", "begins", "rows"),
    [
        ("otsl_2305.03393_page9_table.pdf", 1, "Table 1. HPO", OTSL),
        ("dpr_acl_two_column.pdf", 4, "Table 1: Number of questions", DPR),
        ("elsevier_data_in_brief_fig_table.pdf", 1, "Table 1", INHIBITOR),
    ],
)
def test_a_table_has_its_rows_and_columns(
    read: Callable[[str], ParsedPaper], file: str, page: int, begins: str, rows: list[list[str]]
) -> None:
    table = next(t for t in read(file).structure.tables if t.caption.startswith(begins))
    assert table.page == page
    assert len({len(row) for row in table.rows}) == 1
    right, _, there = agreement(rows, table.rows)
    assert right == there


def test_a_table_is_a_chunk_of_its_own(read: Callable[[str], ParsedPaper]) -> None:
    paper = read("dpr_acl_two_column.pdf")
    (chunk,) = [c for c in paper.chunks if "78,785" in c.text]
    assert chunk.kind == "table"
    assert chunk.text.startswith("Table 1: Number of questions")
    assert "\n| TriviaQA | 78,785 | 60,413 | 8,837 | 11,313 |\n" in chunk.text
    assert [c.page for c in paper.chunks] == sorted(c.page for c in paper.chunks)


def test_each_cell_is_marked_where_it_is_printed(
    read: Callable[[str], ParsedPaper], shared: Path
) -> None:
    name = "dpr_acl_two_column.pdf"
    document = pypdfium2.PdfDocument((shared / "pdf_papers" / name).read_bytes())
    checked = 0
    for chunk in (chunk for chunk in read(name).chunks if chunk.kind == "table"):
        page = document[chunk.page - 1]
        width, height = page.get_size()
        rows = chunk.text.index("\n|")
        for start, end, box in (span for span in chunk.spans if span.start > rows):
            seen = page.get_textpage().get_text_bounded(
                left=box.x0 * width - 1,
                right=box.x1 * width + 1,
                top=height - box.y0 * height + 1,
                bottom=height - box.y1 * height - 1,
            )
            assert fold(chunk.text[start:end])[0] == fold(seen)[0]
            checked += 1
    document.close()
    assert checked > 200


def test_a_figure_is_boxed_with_its_caption(read: Callable[[str], ParsedPaper]) -> None:
    figures = read("elsevier_data_in_brief_fig_table.pdf").structure.figures
    assert [figure.caption[:6] for figure in figures] == ["Fig. 4", "Fig. 5"]
    assert all(figure.page == 1 for figure in figures)
    upper, lower = (figure.box for figure in figures)
    assert _about(upper, (0.09, 0.10, 0.90, 0.36))
    assert _about(lower, (0.28, 0.72, 0.68, 0.92))


def _about(box: Box, wanted: tuple[float, float, float, float]) -> bool:
    return all(abs(have - want) < 0.04 for have, want in zip(box, wanted, strict=True))


def test_the_section_tree_goes_by_numbers(read: Callable[[str], ParsedPaper]) -> None:
    paper = read("dpr_acl_two_column.pdf")
    tree = [(head.level, head.title, head.page) for head in paper.structure.sections]
    assert (1, "3 Dense Passage Retriever (DPR)", 2) in tree
    assert (2, "5.2 Ablation Study on Model Training", 5) in tree
    assert tree[0][1] == "Abstract"
    assert len(tree) == 25
    assert len(paper.structure.references) == 48
