"""Reading reference strings, and cutting a list of them into entries."""

from pathlib import Path

import pytest

from core.evals.references import run
from core.ingest import pdf
from core.ingest.bibliography import references_of
from core.ingest.furniture import drop_furniture
from core.ingest.layout import lines_of
from core.ingest.references import parse_reference, surname
from core.ingest.sections import sections_of
from core.ingest.text import Hyphens


@pytest.mark.parametrize(
    ("text", "label", "authors", "title", "year", "doi", "arxiv"),
    [
        (
            "[7] Jane Q. Rowe, Lars von Holt, and Mei Tan. A plain title: with two parts. "
            "arXiv preprint arXiv:1701.01234, 2017.",
            "[7]",
            ("Jane Q. Rowe", "Lars von Holt", "Mei Tan"),
            "A plain title: with two parts",
            2017,
            "",
            "1701.01234",
        ),
        (
            "Rowe, J. Q., & von Holt, L. (2009). How rivers bend, and why. Journal of Things, "
            "12(3), 4–9. https://doi.org/10.1000/xyz(9)123.",
            "",
            ("Rowe, J. Q.", "von Holt, L."),
            "How rivers bend, and why",
            2009,
            "10.1000/xyz(9)123",
            "",
        ),
        (
            "3. J. Q. Rowe and M. Tan, Phys. Rev. D 65, 094516 (2002) [hep-lat/0201010].",
            "[3]",
            ("J. Q. Rowe", "M. Tan"),
            "",
            2002,
            "",
            "hep-lat/0201010",
        ),
        (
            "[12] 王小明, 李华, 等. 面向论文阅读的检索方法[J]. 计算机学报, 2019, 42(3): 512-520.",
            "[12]",
            ("王小明", "李华"),
            "面向论文阅读的检索方法",
            2019,
            "",
            "",
        ),
        (
            "[2] ROWE J Q, TAN M. Finding words in pages[C]//Proc of a Meeting. 2015: 1-9.",
            "[2]",
            ("ROWE J Q", "TAN M"),
            "Finding words in pages",
            2015,
            "",
            "",
        ),
        (
            "王小明：《论检索》，北京：某某出版社，2011年版，第3页。",
            "",
            ("王小明",),
            "论检索",
            2011,
            "",
            "",
        ),
        (
            "Rowe JQ, Tan M. Sleep after surgery. Br J Surg 2013; 95: 1184-91.",
            "",
            ("Rowe JQ", "Tan M"),
            "Sleep after surgery",
            2013,
            "",
            "",
        ),
    ],
)
def test_a_reference_is_read_in_the_usual_styles(
    text: str,
    label: str,
    authors: tuple[str, ...],
    title: str,
    year: int,
    doi: str,
    arxiv: str,
) -> None:
    read = parse_reference(text, 4)
    assert (
        read.label,
        read.authors,
        read.title,
        read.year,
        read.doi,
        read.arxiv_id,
        read.page,
    ) == (
        label,
        authors,
        title,
        year,
        doi,
        arxiv,
        4,
    )


@pytest.mark.parametrize("text", ["", " ", "[3]", ".", "(((", "2004", "A" * 5_000, "王" * 3_000])
def test_a_string_that_is_no_reference_gives_an_empty_one_at_once(text: str) -> None:
    read = parse_reference(text)
    assert read.doi == read.arxiv_id == ""
    assert len(read.title) <= 400


def test_family_names_keep_their_particles() -> None:
    assert [surname(name) for name in ("L. van der Berg", "de Vries, K.", "Mei Tan", "李华")] == [
        "van der Berg",
        "de Vries",
        "Tan",
        "李华",
    ]


def test_labelled_strings_are_read_about_as_well_as_reported(shared: Path) -> None:
    held = run(shared / "grobid_tei" / "citation")["held_out"]
    assert held["entries"] > 300
    least = {"title": 0.65, "first_author": 0.92, "surnames": 0.94, "year": 0.95, "doi": 0.94}
    assert {name: held[name]["f1"] for name in least if held[name]["f1"] < least[name]} == {}


@pytest.mark.parametrize(
    ("file", "count", "first", "last"),
    [
        ("dpr_acl_two_column.pdf", 48, "Asai", "Yih"),
        ("attention_1706.03762_compiled.pdf", 40, "Ba", "Zhu"),
        ("jss_v18i03_46p.pdf", 17, "Bates", "Verveer"),
    ],
)
def test_a_list_is_cut_into_its_entries(
    shared: Path, file: str, count: int, first: str, last: str
) -> None:
    *_, document = pdf.read((shared / "pdf_papers" / file).read_bytes(), None)
    lines = [lines_of(page) for page in document.pages]
    drop_furniture(document.pages, lines)
    sections = sections_of(document.pages, lines, document.outline)
    found = references_of(sections, Hyphens(line.text for page in lines for line in page))
    assert len(found) == count
    assert surname(found[0].authors[0]) == first
    assert surname(found[-1].authors[0]) == last


@pytest.mark.parametrize(
    ("text", "last_author", "authors", "title"),
    [
        (
            "[14] Ann Bloom, Diego de Las Casas, Henrique Ponde de Oliveira Pinto, and Laurent Roe."
            " An analysis of models. arXiv preprint, 2022.",
            "Laurent Roe",
            4,
            "An analysis of models",
        ),
        (
            "[23] Mirac Noor, Denny Zhou, , and Jason Wei. Challenging tasks and who solves them."
            " Preprint, 2022.",
            "Jason Wei",
            3,
            "Challenging tasks and who solves them",
        ),
        (
            "[18] Min Xu and Daniel Hall. A modular library. https://example.org/code, 2022.",
            "Daniel Hall",
            2,
            "A modular library",
        ),
        ("[LL] T-J. Li and A-K. Liu. Cones of manifolds. Preprint, 2000.", "A-K. Liu", 2, "Cones of manifolds"),
    ],
)  # fmt: skip
def test_names_with_particles_empty_places_and_addresses(
    text: str, last_author: str, authors: int, title: str
) -> None:
    read = parse_reference(text)
    assert (read.authors[-1], len(read.authors), read.title) == (last_author, authors, title)
    assert read.label == text.split()[0]
