"""Text of papers and models as Markdown that shows it and does nothing."""

import re
from collections.abc import Sequence

from core.exports.text import one_line

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#~|$&^!@])")
_ADDRESS = re.compile(r"(:)(?=//)|(?<=www)(\.)", re.I)
_BLOCK = re.compile(r"^(\d*)([-+=:.)])")


def plain(text: str, *, inside: bool = False) -> str:
    """Return text as Markdown that shows it and does nothing, on one line.

    Args:
        text: any text.
        inside: whether it follows a footnote number, not the beginning of a line.
    """
    shown = _MARKDOWN.sub(r"\\\1", one_line(text))
    shown = _ADDRESS.sub(lambda match: "\\" + match.group(), shown)
    if not inside:
        return _BLOCK.sub(r"\1\\\2", shown)
    space = " " if shown and text[:1].isspace() else ""
    # `[^1]:` would define a note and `[^1](…)` be a link
    return space + re.sub(r"^(?=[:(])", r"\\", shown)


def grid(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of finished Markdown as a table (GFM); its bars are escaped already."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
