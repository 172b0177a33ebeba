"""Text from papers and models never becomes markup."""

import re

import pytest

from ui.safe import plain


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://evil.example/pixel.png)",
        "[click](javascript:alert(1))",
        "<img src=x onerror=alert(1)>",
        "# heading",
        "$x^2$ and $$y$$",
        ":red[alarm] :material/home:",
        "| a | b |",
        "1. list",
        "~~gone~~ **bold** _it_ `code`",
        "http://evil.example",
        "\\\\ back",
    ],
)
def test_every_character_that_could_be_markup_is_escaped(text):
    shown = plain(text)
    assert re.sub(r"\\(.)", r"\1", shown).replace("\u2060", "") == text
    unescaped = re.sub(r"\\.", "", shown)
    assert not re.search(r"[`*_{}\[\]()<>#|~$:!]", unescaped)


def test_lines_are_joined():
    assert plain("one\n\n    two") == "one two"


@pytest.mark.parametrize("text", ["http://a.example", "www.a.example", "me@a.example", "HTTPS://A"])
def test_addresses_are_not_made_links(text):
    assert not re.search(r"://|www\.|@\w", plain(text).replace("\\", ""), re.IGNORECASE)
