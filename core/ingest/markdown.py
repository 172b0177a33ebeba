"""Markdown to blocks of text: rendered to HTML by markdown-it-py, then read as any page."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from core.ingest import webpage
from core.ingest.htmltext import paragraph
from core.ingest.identifiers import arxiv_id, doi
from core.ingest.textdoc import Document
from core.types import PaperMeta

_FRONT = re.compile(r"\A---[ \t]*\r?\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.M | re.S)
_FIELD = re.compile(r"^(?P<name>[A-Za-z_]+):[ \t]*(?P<value>.*(?:\r?\n[ \t]+.*|\r?\n- .*)*)", re.M)
_FORMULA = re.compile(r"\$\$.+?\$\$|\$(?=\S)[^$\n]*?[^\s\\$]\$(?!\d)", re.S)


def read(text: str) -> Document:
    """Return a document's content as blocks, and what its front matter says of it.

    Raises:
        UnreadableFile: DAMAGED, see `core.ingest.webpage.read`.
    """
    front = _FRONT.match(text)
    body = text[front.end() :] if front else text
    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    renderer.inline.ruler.before("escape", "formula", _formula)
    page = webpage.read(f"<html><body><main>{renderer.render(body)}</main></body></html>")
    if front is None:
        return page
    return Document(_meta(front["fields"], page.meta), page.blocks)


def _formula(state: StateInline, silent: bool) -> bool:
    """Take a formula as it stands: its underscores and stars are no emphasis."""
    match = _FORMULA.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("text", "", 0).content = " ".join(match.group().split())
    state.pos = match.end()
    return True


def _meta(fields: str, page: PaperMeta) -> PaperMeta:
    """Return what the front matter says, and the page where that says nothing."""
    given = {match["name"].lower(): match["value"] for match in _FIELD.finditer(fields)}

    def one(*names: str) -> str:
        values = (paragraph(given[name]).strip("\"'") for name in names if name in given)
        return next((value for value in values if value), "")

    year = re.search(r"(?:19[5-9]|20[0-4])\d", one("year", "date"))
    return PaperMeta(
        title=one("title") or page.title,
        authors=_list(given.get("authors", given.get("author", ""))) or page.authors,
        year=int(year.group()) if year else page.year,
        abstract=re.sub(r"^[|>]-?\s+", "", one("abstract")) or page.abstract,
        doi=doi(one("doi")) or page.doi,
        arxiv_id=arxiv_id(one("arxiv", "arxiv_id")) or page.arxiv_id,
    )


def _list(value: str) -> tuple[str, ...]:
    """Return the entries of `[a, b]`, of lines beginning with `-`, or of `a, b and c`."""
    parts = re.split(r"\n\s*-|^\s*-", value) if re.search(r"(?:^|\n)\s*- ", value) else [value]
    names = [
        name
        for part in parts
        for name in re.split(r",|;|\band\b|，|、", re.sub(r"^\s*(?:name|author):", "", part))
    ]
    return tuple(bare for name in names if (bare := paragraph(name).strip(" \"'[]{}")))
