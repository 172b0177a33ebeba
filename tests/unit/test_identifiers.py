"""What people paste: arXiv ids, DOIs and their addresses, brought to one form."""

import pytest

from core.errors import BadInput
from core.ingest.identifiers import Identifier, recognise

ARXIV = Identifier("arxiv", "1706.03762")
OLD = Identifier("arxiv", "hep-th/9901001", 2)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1706.03762", ARXIV),
        (" arXiv:1706.03762 [cs.CL] ", ARXIV),
        ("ArXiv: 1706.03762v5", Identifier("arxiv", "1706.03762", 5)),
        ("https://arxiv.org/abs/1706.03762", ARXIV),
        ("arxiv.org/pdf/1706.03762v5.pdf", Identifier("arxiv", "1706.03762", 5)),
        ("http://export.arxiv.org/html/1706.03762/?x#S1", ARXIV),
        ("hep-th/9901001v2", OLD),
        ("https://arxiv.org/pdf/hep-th/9901001v2", OLD),
        ("math.AG/0301001", Identifier("arxiv", "math/0301001")),
        ("10.48550/arXiv.1706.03762", ARXIV),
        ("https://doi.org/10.48550/arxiv.1706.03762", ARXIV),
        ("10.1145/3292500.3330701", Identifier("doi", "10.1145/3292500.3330701")),
        ("doi:10.1002/(SICI)1097-4571(199806)49:8<1>.", Identifier("doi", "10.1002/(sici)1097-4571(199806)49:8<1>")),
        ("https://dx.doi.org/10.1000/ABC%2F1", Identifier("doi", "10.1000/abc/1")),
        ("https://dl.acm.org/doi/10.1145/3292500.3330701?x=1", Identifier("doi", "10.1145/3292500.3330701")),
        ("“10.1000/xyz).”", Identifier("doi", "10.1000/xyz")),
    ],
)  # fmt: skip
def test_an_identifier_is_recognised(text: str, found: Identifier) -> None:
    assert recognise(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "attention", "1234", "10.1/x", "https://example.org/paper.pdf", "https://arxiv.org/",
     "https://arxiv.org.evil.com/abs/1706.03762", "file:///etc/passwd", "9" * 9999,
     "https://[bad/abs/1", "1706.03762 and 1706.03763"],
)  # fmt: skip
def test_anything_else_gets_one_sentence(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        recognise(text)
    assert caught.value.code == "NOT_AN_IDENTIFIER"
    assert caught.value.hint
