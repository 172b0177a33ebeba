"""A review as Markdown."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from core.exports.markdown import grid, plain
from core.exports.text import Translate
from core.review.document import Document
from core.review.exports.content import (
    address,
    authors,
    badge,
    identifiers,
    marks,
    pieces,
    preface,
)
from core.wording import say


def to_markdown(
    document: Document, translate: Translate = str, *, made_on: date | None = None
) -> str:
    """Return a review whose numbers are links to the papers, under a heading for each theme."""
    links = {r["n"]: address(r) for r in document["references"]}
    said = [_sentence(document, s, links, translate) for s in document["sentences"]]
    blocks = [f"# {plain(document['topic'])}"]
    blocks.append("\n".join(f"- {plain(words)}" for words in preface(document, translate, made_on)))
    for part in document["parts"]:
        blocks += _part(part, said)
    if document["references"]:
        blocks.append("## " + plain(translate(say("References"))))
        listed = [f"- {_reference(r, links, translate)}" for r in document["references"]]
        blocks.append("\n".join(listed))
    blocks.append("\n".join(f"[{n}]: <{link}>" for n, link in links.items() if link))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _part(part: Mapping[str, Any], said: list[str]) -> list[str]:
    blocks = [f"## {plain(part['title'])}"] if part["title"] else []
    items = [said[at] for at in part["items"]]
    claims = "\n".join(f"- {item}" for item in items)
    blocks.append(claims if part["kind"] == "claims" else " ".join(items))
    if part["kind"] == "table":
        rows = [
            [plain(head), *(" ".join(said[at] for at in cell) for cell in row)]
            for head, row in zip(part["heads"], part["rows"], strict=True)
        ]
        blocks.append(grid([["", *map(plain, part["columns"])], *rows]))
    return blocks


def _sentence(
    document: Document,
    sentence: Mapping[str, Any],
    links: Mapping[int, str],
    translate: Translate,
) -> str:
    parts: list[str] = []
    for piece in pieces(document, sentence["text"]):
        if isinstance(piece, tuple):
            parts += [_number(n, links) for n in piece]
        else:
            space = " " * piece[-1:].isspace()
            parts.append(plain(piece, inside=bool(parts)) + space)
    doubts = [f" *({plain(words)})*" for words in marks(document, sentence, translate)]
    return "".join([*parts, *doubts]).strip()


def _number(n: int, links: Mapping[int, str]) -> str:
    return rf"[\[{n}\]][{n}]" if links.get(n) else rf"\[{n}\]"


def _reference(reference: Mapping[str, Any], links: Mapping[int, str], translate: Translate) -> str:
    n = reference["n"]
    title = plain(reference["title"], inside=True).strip()
    if title and links[n]:
        title = f"[{title}][{n}]"
    told = [plain(words, inside=True) for words in (authors(reference, translate),) if words]
    told += [title] * bool(title)
    told += [plain(words, inside=True) for words in identifiers(reference)]
    return rf"\[{n}\] {'. '.join(told)} *({plain(badge(reference, translate))})*"
