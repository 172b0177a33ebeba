"""Plain text to blocks: paragraphs joined from their lines, headings by underline, number or name."""

import re
from collections.abc import Iterator

from core.ingest.identifiers import arxiv_id, doi
from core.ingest.metadata import names_in
from core.ingest.sections import is_known_heading, kind_of_heading
from core.ingest.text import CJK, Hyphens, joint, normalise
from core.ingest.textdoc import Block, Document
from core.types import PaperMeta

HEADING_LIMIT, TITLE_LIMIT = 100, 250
_UNDERLINE = re.compile(r"\s*([=\-~^*#])\1{2,}\s*")
_NUMBERED = re.compile(
    rf"(?P<number>\d{{1,2}}(?:\.\d{{1,2}}){{0,3}})[.:]?[ \t]+(?=[A-Z“\"({CJK}])"
    rf"|\d{{1,2}}(?:\.\d{{1,2}}){{1,3}}(?=[{CJK}])|[IVX]{{1,5}}\.[ \t]+(?=[A-Z])"
)
_CHINESE = re.compile(
    r"(?P<chapter>第\s*[一二三四五六七八九十百\d]+\s*[章篇部])|(?P<section>第\s*[一二三四五六七八九十百\d]+\s*[节節])"
    r"|(?P<ordinal>[一二三四五六七八九十]+\s*[、．.])|(?P<sub>[（(][一二三四五六七八九十]+[)）])"
)
_ENDS = re.compile(r"[.,;:!?。，；：！？…]$")
_STAMP = re.compile(r"arXiv:\s*(\S+)", re.I)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+[^\s\"<>.,;)\]]")
_YEAR = re.compile(r"(?<![\d.])(?:19[5-9]\d|20[0-4]\d)(?!\d|\.\d)")


def read(text: str) -> Document:
    """Return a text's content as blocks, and what its beginning says of it."""
    groups = list(_groups(text.replace("\f", "\n\n")))
    hyphens = Hyphens([text[:500_000]])
    blocks = [block for group in groups for block in _blocks(group, hyphens)]
    meta, rest = _meta(blocks)
    return Document(meta, tuple(rest))


def _groups(text: str) -> Iterator[list[str]]:
    """Yield the lines that stand together; in a text without blank lines each line by itself."""
    lines = [normalise(line.rstrip()) for line in text.splitlines()]
    filled = [line for line in lines if line.strip()]
    alone = len(lines) - len(filled) < len(filled) / 40 or _indented(filled)
    group: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            group.append(line)
        if group and (alone or not line.strip()):
            yield group
            group = []


def _indented(lines: list[str]) -> bool:
    """Return whether paragraphs begin with two wide spaces, as in Chinese."""
    return sum(line.startswith("\u3000\u3000") for line in lines) > 0.3 * len(lines)


def _blocks(group: list[str], hyphens: Hyphens) -> Iterator[Block]:
    """Yield a heading on the first line, and what follows as one paragraph."""
    first = group[0].strip()
    if len(group) > 1 and _UNDERLINE.fullmatch(group[1]) and len(first) <= HEADING_LIMIT:
        yield Block("heading", first, 1 if group[1].strip()[0] in "=#*" else 2)
        group = group[2:]
    elif level := _level(first, alone=len(group) == 1):
        yield Block("heading", first, level)
        group = group[1:]
    group = [line for line in group if not _UNDERLINE.fullmatch(line)]
    if group:
        yield Block("text", _joined(group, hyphens))


def _level(line: str, alone: bool) -> int:
    """Return the level of a line that is a heading by its form, 0 for any other."""
    if len(line) > HEADING_LIMIT or _ENDS.search(line):
        return 1 if alone and is_known_heading(line.rstrip(".:：")) else 0
    if found := _NUMBERED.match(line):
        return 1 + (found["number"] or "").count(".") if alone else 0
    if found := _CHINESE.match(line):
        return {"chapter": 1, "section": 2, "ordinal": 1, "sub": 2}[found.lastgroup or "sub"]
    return 1 if is_known_heading(line) else 0


def _joined(lines: list[str], hyphens: Hyphens) -> str:
    """Return lines as running text; lines set in from the margin keep their ends."""
    if len(lines) > 1 and all(line.startswith(("    ", "\t")) for line in lines):
        return "\n".join(line.expandtabs(4)[4:] for line in lines)
    whole = ""
    for line in lines:
        text = " ".join(line.split())
        if re.fullmatch(r"[^\W\d_]-", whole[-2:]) and text[:1].islower():
            before, _, word = whole.rpartition(" ")
            following, _, rest = text.partition(" ")
            whole = f"{before} {hyphens.join(word, following)} {rest}".strip()
        else:
            whole += (joint(whole, text) if whole else "") + text
    return whole


def _meta(blocks: list[Block]) -> tuple[PaperMeta, list[Block]]:
    """Return the metadata at the beginning, and the blocks after title and authors."""
    rest = list(blocks)
    title, authors = "", tuple[str, ...]()
    if rest and rest[0].kind == "text" and _titular(rest[0].text, rest):
        title = rest.pop(0).text
        if rest and rest[0].kind == "text" and len(rest[0].text) <= TITLE_LIMIT:
            authors = tuple(names_in(rest[0].text))
            rest = rest[1:] if authors else rest
    elif rest and rest[0].kind == "heading" and not is_known_heading(rest[0].text):
        title = _unnumbered(rest, title)
    upto = next((at for at, block in enumerate(blocks) if _cites(block)), 12)
    opening = "\n".join(block.text for block in blocks[: min(upto, 12)])[:4_000]
    stamp, printed = _STAMP.search(opening), _DOI.search(opening)
    year = _YEAR.search("\n".join(block.text for block in blocks[:4])[:600])
    meta = PaperMeta(
        title=title,
        authors=authors,
        year=int(year.group()) if year else None,
        doi=doi(printed.group()) if printed else "",
        arxiv_id=arxiv_id(stamp[1].rstrip(".,;")) if stamp else "",
    )
    return meta, rest


def _cites(block: Block) -> bool:
    return block.kind == "heading" and kind_of_heading(block.text) == "references"


def _unnumbered(rest: list[Block], title: str) -> str:
    """Take the first heading for the title when it is set above all others."""
    first = rest[0]
    if _NUMBERED.match(first.text) or _CHINESE.match(first.text):
        return title
    return rest.pop(0).text


def _titular(text: str, blocks: list[Block]) -> bool:
    return len(text) <= TITLE_LIMIT and not _ENDS.search(text) and len(blocks) > 1
