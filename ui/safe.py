"""Text from papers and models is untrusted: it is shown as text, never as markup.

Streamlit's Markdown already drops raw HTML; what is left to stop is images and links fetched from
elsewhere, headings, formulas, and directives such as `:red[...]`.
"""

import re

_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)", re.IGNORECASE)
"""Where an address would be made a link, even out of escaped text: a word joiner prevents it."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")


def plain(text: str) -> str:
    """Return Markdown that shows exactly this text on one line."""
    return _MARKUP.sub(r"\\\1", _LINK.sub("\u2060", " ".join(text.split())))
