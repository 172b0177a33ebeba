"""The HTML and the PDF of one paper are the same paper."""

from pathlib import Path

import pytest

from core.evals.triples import both, compare


@pytest.mark.parametrize(
    ("name", "titles"),
    [("1706.03762", 1.0), ("2310.06825", 0.8), ("9802040", 1.0), ("0106220", 1.0)],
)
def test_title_sections_and_references_agree(shared: Path, name: str, titles: float) -> None:
    """`titles`: the least share of the references that have the same title in both.

    Of four printed references of 2310.06825 authors or year are read into the title.
    1706.03762 has a heading over its last figures that the PDF's own outline leaves out.
    """
    page, pdf = both(shared, name)
    found = compare(page, pdf)
    assert found["title"]
    assert page.meta.authors[0] == pdf.meta.authors[0]
    assert page.meta.language == pdf.meta.language
    assert found["sections_found"] >= found["sections"] - (name == "1706.03762")
    assert found["sections_extra"] == 0
    assert found["references"] == found["references_of_pdf"]
    assert found["reference_titles_found"] >= titles * found["references"]
