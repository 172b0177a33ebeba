"""What a file is, told from its content: quickly, whatever the content."""

import time

import pytest

from core.ingest.kinds import is_bibtex, tell

HOSTILE = {
    "comments": b"<!-- a -->" * 400 + b"x" * 100,
    "brackets": b"[" * 64_000 + b" hello there",
    "stars": b"**" + b"a" * 64_000,
    "declarations": b"<?xml ?>" * 5_000 + b"text",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_no_content_takes_long_to_tell(data):
    began = time.perf_counter()
    assert tell(data).kind in ("text", "markdown")
    assert time.perf_counter() - began < 1


def test_comments_before_a_page_are_passed_over():
    assert (
        tell(b"<!-- a --> <?xml ?>\n<!-- b -->\n<!DOCTYPE html><html>words</html>").kind == "html"
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"% Encoding: UTF-8\n\n@Article{key2020,\n title={X}}", True),
        (b"@online{a,\n}", True),
        (b"@comment{made by JabRef}\n@book{a,}", True),
        (b"@someone on the net said (hello, world)", False),
        (b"A text that names @article{a,", False),
    ],
)
def test_bibtex(data, told):
    assert is_bibtex(data) is told
