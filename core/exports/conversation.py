"""A conversation to take away: Markdown with footnotes, BibTeX, CSV of citations, JSON. Pure.

Everything from papers and models is text here: none of it can become a link, a picture, HTML, a
formula of a spreadsheet or a command of TeX.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from core.db.conversations import TurnRow
from core.evidence.numbering import markers
from core.evidence.sentences import split_sentences
from core.exports.bibtex import entry, keyed
from core.exports.markdown import grid, plain
from core.exports.sheets import harmless
from core.exports.text import Translate, doubt
from core.types import Citation, PaperMeta
from core.wording import say

Papers = Mapping[UUID, PaperMeta]
"""What is known of cited papers; one that has been deleted may be missing."""

FORMAT = "lectern-conversation"
CSV_COLUMNS = (
    *("turn", "n", "paper", "page", "section", "quote", "verdict"),
    *("dense", "bm25", "fused", "rerank", "file"),
)

_ITEM = re.compile(r"^[-•*–▪●·][ \t]+")


def to_markdown(
    title: str, turns: Sequence[TurnRow], papers: Papers, translate: Translate = str
) -> str:
    """Return questions as headings and answers with footnotes, numbered over the whole.

    A sentence that is not (wholly) supported says so in words.
    """
    blocks = [f"# {plain(title)}"]
    notes: list[str] = []
    for turn in turns:
        citations = _citations(turn)
        numbers = {c.n: len(notes) + place for place, c in enumerate(citations, 1)}
        body = _answer(turn, numbers, translate)
        if unused := [f"[^{n}]" for n in numbers.values() if f"[^{n}]" not in "".join(body)]:
            looked_at = translate(say("Passages looked at:"))
            body.append(f"{plain(looked_at)} {' '.join(unused)}")
        blocks += [f"## {plain(turn.question)}", *_selected(turn), *body]
        notes += [_note(numbers[c.n], c, translate) for c in citations]
    if cited := _cited_papers(turns, papers):
        blocks.append("## " + plain(translate(say("Papers"))))
        blocks.append("\n".join(f"- {_reference(meta)}" for meta in cited.values()))
    blocks.append("\n".join(notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def to_bibtex(turns: Sequence[TurnRow], papers: Papers) -> str:
    """Return one entry for each paper that is cited, in order of first mention."""
    cited = _cited_papers(turns, papers)
    return "\n".join(entry(key, cited[paper_id]) for paper_id, key in keyed(cited).items())


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
            writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return b"\xef\xbb\xbf" + out.getvalue().encode(errors="replace")


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
        blocks.append(f"*{plain(stopped)}*")
    if turn.error is not None:
        blocks.append(f"*{plain(translate(turn.error.get('message', '')))}*")
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
    blocks = [f"### {plain(part['title'])}"] if part["title"] else []
    items = [said[at] for at in part["items"]]
    if part["kind"] == "claims":
        blocks.append("\n".join(f"- {item.removeprefix('- ')}" for item in items))
    elif items:
        blocks.append(" ".join(items))
    if part["kind"] == "table":
        rows = [
            [plain(head), *(" ".join(said[at] for at in cell) for cell in row)]
            for head, row in zip(part["heads"], part["rows"], strict=True)
        ]
        blocks.append(grid([["", *map(plain, part["columns"])], *rows]))
    if exhibit := part["exhibit"]:
        blocks.append(f"*{plain(exhibit['caption'])}*" if exhibit["caption"] else "")
        if exhibit["rows"]:
            blocks.append(grid([[plain(cell) for cell in row] for row in exhibit["rows"]]))
    return blocks


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
            parts.append(plain(text[last : marker.start], inside=bool(parts)).rstrip())
            parts.append("".join(f"[^{numbers[n]}]" for n in marker.numbers))
            last = marker.end
    parts.append(plain(text[last:], inside=bool(parts)))
    if said := doubt(verdict, translate):
        parts.append(f" *({plain(said)})*")
    return ("- " if item else "") + "".join(parts)


def _selected(turn: TurnRow) -> list[str]:
    return [f"> {plain(turn.selected)}"] if turn.selected.strip() else []


def _note(number: int, citation: Citation, translate: Translate) -> str:
    page = translate(say("page {page:d}", page=citation.page))
    return f"[^{number}]: {plain(f'{citation.title}, {page}: “{citation.quote}”')}"


def _reference(meta: PaperMeta) -> str:
    who = ", ".join(meta.authors) + (f" ({meta.year})" if meta.year else "")
    places = [f"doi:{meta.doi}"] * bool(meta.doi) + [f"arXiv:{meta.arxiv_id}"] * bool(meta.arxiv_id)
    return plain(". ".join(part for part in (who.strip(), meta.title, *places) if part))


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
