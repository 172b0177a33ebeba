"""Tables, figures and the section tree of real papers, and their way into the store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.evals.tables import agreement
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


def test_a_table_stays_in_the_text_that_is_searched(read: Callable[[str], ParsedPaper]) -> None:
    paper = read("dpr_acl_two_column.pdf")
    chunk = next(c for c in paper.chunks if "78,785" in c.text)
    span = next(s for s in chunk.spans if "78,785" in chunk.text[s.start : s.end])
    assert span.box.x0 > 0.5
    assert span.box.y1 < 0.25


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
