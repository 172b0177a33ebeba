"""Text from papers and models is untrusted: it is shown as text, never as markup.

Streamlit's Markdown already drops raw HTML; what is left to stop is images and links fetched from
elsewhere, headings, formulas, and directives such as `:red[...]`.
"""

import re
from urllib.parse import quote

_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)", re.IGNORECASE)
"""Where an address would be made a link, even out of escaped text: a word joiner prevents it."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")
_ADDRESS = "/:?&=%#@+,;~.-_"
"""What an address may hold as it is; all else, brackets and blanks too, could end the link."""


def plain(text: str) -> str:
    """Return Markdown that shows exactly this text on one line."""
    return _MARKUP.sub(r"\\\1", _LINK.sub("\u2060", " ".join(text.split())))


def web_link(text: str, address: str) -> str:
    """Return Markdown that links exactly this text; the text alone where there is no web address."""
    if not address.startswith(("https://", "http://")):
        return plain(text)
    return f"[{plain(text)}]({quote(address, safe=_ADDRESS)})"
