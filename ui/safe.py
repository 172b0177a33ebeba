"""Text from papers and models is untrusted: it is shown as text, never as markup.

Streamlit's Markdown already drops raw HTML; what is left to stop is images and links fetched from
elsewhere, headings, formulas, and directives such as `:red[...]`.
"""

import re

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")


def plain(text: str) -> str:
    """Return Markdown that shows exactly this text on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
