"""A conversation to take away: Markdown with footnotes, BibTeX, CSV of citations, JSON. Pure.

Everything from papers and models is text here: none of it can become a link, a picture, HTML, a
formula of a spreadsheet or a command of TeX.
"""

import csv
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from core.db.conversations import TurnRow
from core.evidence.numbering import markers
from core.evidence.sentences import split_sentences
from core.types import Citation, PaperMeta
from core.wording import phrase, say

Papers = Mapping[UUID, PaperMeta]
"""What is known of cited papers; one that has been deleted may be missing."""
Translate = Callable[[str], str]
"""From a sentence of Lectern's own, in English, to the reader's language."""

FORMAT = "lectern-conversation"
CSV_COLUMNS = (
    *("turn", "n", "paper", "page", "section", "quote", "verdict"),
    *("dense", "bm25", "fused", "rerank", "file"),
)

_VERDICTS = {
    "partly": phrase("partly supported"),
    "contradicted": phrase("contradicted by its passage"),
    "unsupported": phrase("not supported by a passage"),
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#~|$&^!@])")
_ADDRESS = re.compile(r"(:)(?=//)|(?<=www)(\.)", re.I)
_BLOCK = re.compile(r"^(\d*)([-+=:.)])")
_ITEM = re.compile(r"^[-•*–▪●·][ \t]+")
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_SIGNED = re.compile(r"[+-]\d[\d.,]*%?")
"""A number with its sign, which a spreadsheet may take for what it is."""
_TEX = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        # BibTeX counts braces even behind a backslash.
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        **{character: f"\\{character}" for character in "&%$#_"},
    }
)


def to_markdown(
    title: str, turns: Sequence[TurnRow], papers: Papers, translate: Translate = str
) -> str:
    """Return questions as headings and answers with footnotes, numbered over the whole.

    A sentence that is not (wholly) supported says so in words.
    """
    blocks = [f"# {_plain(title)}"]
    notes: list[str] = []
    for turn in turns:
        citations = _citations(turn)
        numbers = {c.n: len(notes) + place for place, c in enumerate(citations, 1)}
        body = _answer(turn, numbers, translate)
        if unused := [f"[^{n}]" for n in numbers.values() if f"[^{n}]" not in "".join(body)]:
            looked_at = translate(say("Passages looked at:"))
            body.append(f"{_plain(looked_at)} {' '.join(unused)}")
        blocks += [f"## {_plain(turn.question)}", *_selected(turn), *body]
        notes += [_note(numbers[c.n], c, translate) for c in citations]
    if cited := _cited_papers(turns, papers):
        blocks.append("## " + _plain(translate(say("Papers"))))
        blocks.append("\n".join(f"- {_reference(meta)}" for meta in cited.values()))
    blocks.append("\n".join(notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def to_bibtex(turns: Sequence[TurnRow], papers: Papers) -> str:
    """Return one entry for each paper that is cited, in order of first mention.

    A key is made of a paper's own data; papers that would share one have their ids in it.
    """
    cited = _cited_papers(turns, papers)
    keys = {paper_id: _key(paper_id, meta) for paper_id, meta in cited.items()}
    taken = Counter(keys.values())
    entries = [
        _entry(key if taken[key] == 1 else f"{key}-{paper_id.hex}", cited[paper_id])
        for paper_id, key in keys.items()
    ]
    return "\n".join(entries)


def to_csv(turns: Sequence[TurnRow]) -> bytes:
    """Return one row for each citation, in UTF-8 with a byte order mark: so Excel knows it.

    Text that a spreadsheet would take for a formula is preceded by an apostrophe.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(CSV_COLUMNS)
    for turn in turns:
        for citation in _citations(turn):
            row = [turn.position, *_cells(turn, citation)]
            writer.writerow([_harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return b"\xef\xbb\xbf" + out.getvalue().encode(errors="replace")


def table_to_csv(part: Mapping[str, Any], sentences: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a table part of an answer: a row for each head, and per column text and verdicts."""
    columns = [name for column in part["columns"] for name in (column, f"{column} (verdict)")]
    rows = [
        [head, *(text for cell in row for text in _cell(cell, sentences))]
        for head, row in zip(part["heads"], part["rows"], strict=True)
    ]
    return cells_to_csv([["", *columns], *rows])


def cells_to_csv(rows: Sequence[Sequence[str]]) -> bytes:
    """Return rows of cells as CSV in UTF-8 with a byte order mark, harmless to a spreadsheet."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return b"\xef\xbb\xbf" + out.getvalue().encode(errors="replace")


def _cell(cell: Sequence[int], sentences: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    said = [sentences[at] for at in cell]
    verdicts = dict.fromkeys(sentence["verdict"] for sentence in said if sentence["verdict"])
    return " ".join(sentence["text"] for sentence in said), ", ".join(verdicts)


def to_json(title: str, turns: Sequence[TurnRow], papers: Papers) -> str:
    """Return the whole conversation as one document; `Citation.from_json` reads its citations."""
    cited = _cited_papers(turns, papers)
    document = {
        "format": FORMAT,
        "version": 1,
        "title": title,
        "turns": [_turn(turn) for turn in turns],
        "papers": [{"paper_id": str(key), **_meta(meta)} for key, meta in cited.items()],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _citations(turn: TurnRow) -> list[Citation]:
    return [Citation.from_json(citation) for citation in turn.citations]


def _cited_papers(turns: Sequence[TurnRow], papers: Papers) -> dict[UUID, PaperMeta]:
    cited: dict[UUID, PaperMeta] = {}
    for turn in turns:
        for citation in _citations(turn):
            known = papers.get(citation.paper_id) or PaperMeta(title=citation.title)
            cited.setdefault(citation.paper_id, known)
    return cited


# Markdown


def _answer(turn: TurnRow, numbers: Mapping[int, int], translate: Translate) -> list[str]:
    """Return the answer's paragraphs or parts, and what became of the turn."""
    if turn.parts and turn.sentences:
        said = [_sentence(s["text"], s, numbers, translate) for s in turn.sentences]
        blocks = [block for part in turn.parts for block in _part(part, said)]
    else:
        blocks = _paragraphs(turn, numbers, translate)
    if turn.state == "stopped":
        stopped = translate(say("The reader stopped the answer here."))
        blocks.append(f"*{_plain(stopped)}*")
    if turn.error is not None:
        blocks.append(f"*{_plain(translate(turn.error.get('message', '')))}*")
    return blocks


def _paragraphs(turn: TurnRow, numbers: Mapping[int, int], translate: Translate) -> list[str]:
    paragraphs: list[list[str]] = []
    for new, text, verdict in _pieces(turn):
        if new or not paragraphs:
            paragraphs.append([])
        paragraphs[-1].append(_sentence(text, verdict, numbers, translate))
    return [" ".join(sentences) for sentences in paragraphs]


def _part(part: Mapping[str, Any], said: Sequence[str]) -> list[str]:
    """Return a part as Markdown: a heading, then sentences, a list, a table or a caption."""
    blocks = [f"### {_plain(part['title'])}"] if part["title"] else []
    items = [said[at] for at in part["items"]]
    if part["kind"] == "claims":
        blocks.append("\n".join(f"- {item.removeprefix('- ')}" for item in items))
    elif items:
        blocks.append(" ".join(items))
    if part["kind"] == "table":
        rows = [
            [_plain(head), *(" ".join(said[at] for at in cell) for cell in row)]
            for head, row in zip(part["heads"], part["rows"], strict=True)
        ]
        blocks.append(_grid([["", *map(_plain, part["columns"])], *rows]))
    if papers := part.get("papers"):
        blocks.append("\n".join(f"- {_plain(_listed(paper))}" for paper in papers))
    if exhibit := part["exhibit"]:
        blocks.append(f"*{_plain(exhibit['caption'])}*" if exhibit["caption"] else "")
        if exhibit["rows"]:
            blocks.append(_grid([[_plain(cell) for cell in row] for row in exhibit["rows"]]))
    return blocks


def _listed(paper: Mapping[str, Any]) -> str:
    """Return a paper outside the library on one line, with its address to be read."""
    year = f" ({paper['year']})" if paper["year"] else ""
    parts = (", ".join(paper["authors"]) + year, paper["title"], paper["url"])
    return ". ".join(part.strip() for part in parts if part.strip())


def _grid(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of finished Markdown as a table (GFM); its bars are escaped already."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _pieces(turn: TurnRow) -> list[tuple[bool, str, Mapping[str, Any]]]:
    """Return the sentences of an answer: whether a new line begins, the text, the verdict."""
    if not turn.sentences:
        nothing: Mapping[str, Any] = {}
        spans = split_sentences(turn.answer)
        return [(_breaks(turn.answer, at), turn.answer[at:end], nothing) for at, end in spans]
    last = 0
    pieces: list[tuple[bool, str, Mapping[str, Any]]] = []
    for sentence in turn.sentences:
        text = sentence["text"]
        at = turn.answer.find(text, last)
        new = _breaks(turn.answer, at) if at >= 0 else _ITEM.match(text) is not None
        last = at + len(text) if at >= 0 else last
        pieces.append((new, text, sentence))
    return pieces


def _breaks(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \t")
    return before.endswith("\n")


def _sentence(
    text: str, verdict: Mapping[str, Any], numbers: Mapping[int, int], translate: Translate
) -> str:
    item = _ITEM.match(text)
    if item:
        text = text[item.end() :]
    parts: list[str] = []
    last = 0
    for marker in markers(text):
        if all(n in numbers for n in marker.numbers):
            parts.append(_plain(text[last : marker.start], inside=bool(parts)).rstrip())
            parts.append("".join(f"[^{numbers[n]}]" for n in marker.numbers))
            last = marker.end
    parts.append(_plain(text[last:], inside=bool(parts)))
    if said := _VERDICTS.get(verdict.get("verdict") or ""):
        reason = verdict.get("reason", "")
        words = [translate(said), *([translate(reason)] if reason else [])]
        parts.append(f" *({_plain(': '.join(words))})*")
    return ("- " if item else "") + "".join(parts)


def _selected(turn: TurnRow) -> list[str]:
    return [f"> {_plain(turn.selected)}"] if turn.selected.strip() else []


def _note(number: int, citation: Citation, translate: Translate) -> str:
    place = citation.url or translate(say("page {page:d}", page=citation.page))
    return f"[^{number}]: {_plain(f'{citation.title}, {place}: “{citation.quote}”')}"


def _reference(meta: PaperMeta) -> str:
    who = ", ".join(meta.authors) + (f" ({meta.year})" if meta.year else "")
    places = [f"doi:{meta.doi}"] * bool(meta.doi) + [f"arXiv:{meta.arxiv_id}"] * bool(meta.arxiv_id)
    return _plain(". ".join(part for part in (who.strip(), meta.title, *places) if part))


def _plain(text: str, *, inside: bool = False) -> str:
    """Return text as Markdown that shows it and does nothing, on one line.

    Args:
        text: any text.
        inside: whether it follows a footnote number, not the beginning of a line.
    """
    shown = _MARKDOWN.sub(r"\\\1", _one_line(text))
    shown = _ADDRESS.sub(lambda match: "\\" + match.group(), shown)
    if not inside:
        return _BLOCK.sub(r"\1\\\2", shown)
    space = " " if shown and text[:1].isspace() else ""
    # `[^1]:` would define a note and `[^1](…)` be a link
    return space + re.sub(r"^(?=[:(])", r"\\", shown)


def _one_line(text: str) -> str:
    seen = "".join(c if unicodedata.category(c) != "Cc" or c.isspace() else "" for c in text)
    return " ".join(seen.split())


# BibTeX


def _key(paper_id: UUID, meta: PaperMeta) -> str:
    first = meta.authors[0] if meta.authors else ""
    surname = first.split(",")[0] if "," in first else first.split(" ")[-1]
    words = [_ascii(word) for word in meta.title.split()]
    word = next((word for word in words if len(word) > 3), "")
    key = f"{_ascii(surname)}{meta.year or ''}{word}"
    return key if key and not key.isdigit() else f"paper{meta.year or ''}-{paper_id.hex[:8]}"


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if c.isascii() and c.isalnum())


def _entry(key: str, meta: PaperMeta) -> str:
    fields = {
        "title": f"{{{_tex(meta.title)}}}",
        "author": " and ".join(_author(author) for author in meta.authors if author.strip()),
        "year": str(meta.year or ""),
        "doi": _verbatim(meta.doi),
        "eprint": _verbatim(meta.arxiv_id),
        "archiveprefix": "arXiv" if meta.arxiv_id else "",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}", ""])


def _author(name: str) -> str:
    name = _tex(name)
    return f"{{{name}}}" if re.search(r"(^|\s)and(\s|$)", name, re.I) else name


def _tex(text: str) -> str:
    return _one_line(text).translate(_TEX)


def _verbatim(identifier: str) -> str:
    """Return an identifier for a field that is read as it stands, without what would end it."""
    return re.sub(r"[{}\\\s]", lambda match: f"%{ord(match.group()):02X}", identifier.strip())


# CSV


def _cells(turn: TurnRow, citation: Citation) -> list[str | float | None]:
    verdicts = [
        sentence["verdict"]
        for sentence in turn.sentences
        if citation.n in sentence["citations"] and sentence["verdict"]
    ]
    scores = citation.scores
    return [
        citation.n,
        citation.title,
        citation.page,
        citation.section,
        citation.quote,
        ", ".join(dict.fromkeys(verdicts)),
        scores.dense,
        scores.bm25,
        scores.fused,
        scores.rerank,
        citation.file,
    ]


def _harmless(cell: str) -> str:
    formula = cell.startswith(_FORMULA) and not _SIGNED.fullmatch(cell)
    return f"'{cell}" if formula else cell


# JSON


def _turn(turn: TurnRow) -> dict[str, Any]:
    return {
        "id": str(turn.id),
        "position": turn.position,
        "started_at": turn.started_at.isoformat(),
        "question": turn.question,
        "selected": turn.selected,
        "scope": None if turn.scope is None else [str(paper) for paper in turn.scope],
        "state": turn.state,
        "intent": turn.intent,
        "mode": turn.mode,
        "answer": turn.answer,
        "sentences": list(turn.sentences),
        "parts": list(turn.parts),
        "forced_intent": turn.forced,
        "rating": turn.rating,
        "rating_reason": turn.rating_reason,
        "citations": list(turn.citations),
        "steps": list(turn.steps),
        "usage": turn.usage,
        "notices": list(turn.notices),
        "error": turn.error,
    }


def _meta(meta: PaperMeta) -> dict[str, Any]:
    return {
        "title": meta.title,
        "authors": list(meta.authors),
        "year": meta.year,
        "language": meta.language,
        "doi": meta.doi,
        "arxiv_id": meta.arxiv_id,
    }
