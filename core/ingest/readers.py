"""The readers of files that are text, by kind: HTML, Markdown, plain text."""

from core.ingest import markdown, plaintext, webpage
from core.ingest.kinds import Kind
from core.ingest.textdoc import paper_of
from core.types import ParsedPaper, ReadBy

_READERS = {"html": webpage.read, "markdown": markdown.read, "text": plaintext.read}
_READ_BY: dict[Kind, ReadBy] = {"html": "html", "markdown": "markdown", "text": "text"}


def read_text(text: str, kind: Kind) -> ParsedPaper:
    """Read the text of a file of one of these kinds.

    Raises:
        UnreadableFile: NO_TEXT, TOO_LARGE, DAMAGED.
    """
    return paper_of(_READERS[kind](text), _READ_BY[kind])
