"""What the tools of a turn found: numbered for citing, told to the model, listed for the reader.

A number is given to what the model is really shown, once for each passage; nothing else has one.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from core.agent.draft import Draft
from core.db.papers import PaperStore
from core.evidence.numbering import defuse
from core.models.budget import cut, estimate_tokens
from core.models.sound import sound_json
from core.tools.envelope import Envelope
from core.tools.found import Found, identity, web
from core.types import Chunk, ChunkKind, Hit, Listed, Scores

ABSTRACT = 160
"""Tokens of an abstract that a model is shown in a list."""
_FEWEST = 60
"""Tokens of a section that is shown at all."""
_NAMED = 3
"""Authors that are named in a list."""


class _Entry(NamedTuple):
    """What a model is shown of one thing found, and the passage it can be cited by, if any.

    `key`: of a paper that a search found, and that this passage is the abstract of.
    """

    shown: dict[str, Any]
    hit: Hit | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class _Shape:
    """Data of a tool: what is said once, and entries of which as many are shown as fit."""

    head: dict[str, Any]
    name: str
    entries: list[_Entry]


class Findings:
    """Collects what a turn's tools found. Not thread-safe: tools are called one by one."""

    def __init__(self, draft: Draft, papers: PaperStore) -> None:
        self.draft = draft
        self._papers = papers
        self._outside: dict[tuple[str, str], int] = {}
        self._found: dict[str, Found] = {}
        self._numbers: dict[str, int] = {}
        self.passages: dict[int, Hit] = {}
        self.outside: dict[int, Hit] = {}

    def told(self, tool: str, envelope: Envelope, room: int) -> str:
        """Return an envelope as JSON for a model, within about `room` tokens, passages numbered."""
        if not envelope["ok"]:
            return _json({"ok": False, "error": envelope["error"]})
        shape = _SHAPES[tool](self, envelope["data"] or {}, room) if tool in _SHAPES else None
        if shape is None:
            return cut(_json({"ok": True, "data": _defused(envelope["data"])}), room)
        shown: list[dict[str, Any]] = []
        left = room - estimate_tokens(_json(shape.head))
        for entry in shape.entries:
            cost = estimate_tokens(_json(entry.shown)) + 6
            if shown and cost > left:
                break
            left -= cost
            shown.append(self._numbered(entry))
        missing = len(shape.entries) - len(shown)
        rest = {"left_out_for_length": missing} if missing else {}
        return _json({"ok": True, "data": {**_defused(shape.head), shape.name: shown, **rest}})

    def listed(self, numbers: Mapping[str, int]) -> list[Listed]:
        """Return the papers that searches found, in that order, each once; `numbers` by address."""
        return [
            Listed(
                title=paper["title"],
                authors=tuple(paper["authors"]),
                year=paper["year"],
                source=paper["source"],
                url=paper["url"],
                n=numbers.get(paper["url"], 0),
            )
            for paper in self._found.values()
        ]

    def _numbered(self, entry: _Entry) -> dict[str, Any]:
        if entry.hit is None:
            return entry.shown
        (n,) = self.draft.offer([entry.hit])
        (self.outside if entry.hit.url else self.passages)[n] = entry.hit
        if entry.key:
            self._numbers[entry.key] = n
        return {"n": n, **entry.shown}

    def passages_of(self, data: dict[str, Any], room: int) -> _Shape:
        """Shape what `search_library` found."""
        chunks = self._papers.chunks_by_id([row["chunk_id"] for row in data["passages"]])
        entries = []
        for row in data["passages"]:
            chunk = chunks.get(row["chunk_id"])
            shown = {
                "paper": defuse(row["title"]),
                "paper_id": row["paper_id"],
                "page": row["page"],
                "section": defuse(row["section"]),
                "text": defuse(row["text"]),
            }
            hit = Hit(chunk, Scores(**row["scores"]), row["title"]) if chunk else None
            entries.append(_Entry(shown, hit))
        return _Shape({}, "passages", entries)

    def papers_of(self, data: dict[str, Any], room: int) -> _Shape:
        """Shape what `paper_search` found."""
        entries = []
        for row in data["papers"]:
            paper: Found = sound_json({name: row[name] for name in Found.__annotations__})
            paper["url"] = web(paper["url"])
            key = identity(paper)
            self._found.setdefault(key, paper)
            names = paper["authors"][:_NAMED] + ["…"] * (len(paper["authors"]) > _NAMED)
            shown = {
                "title": defuse(paper["title"]),
                "authors": ", ".join(names),
                "year": paper["year"],
                "arxiv_id": paper["arxiv_id"],
                "doi": paper["doi"],
                "abstract": cut(defuse(paper["abstract"]), ABSTRACT),
            }
            citable = paper["abstract"] and paper["url"]
            args = (paper["url"], "Abstract", paper["abstract"], paper["title"])
            entries.append(_Entry(shown, self._hit(*args) if citable else None, key))
        head = {name: data[name] for name in ("query", "total", "unknown_terms")}
        return _Shape(head, "papers", entries)

    def sections_of(self, data: dict[str, Any], room: int) -> _Shape:
        """Shape what `fetch_fulltext` found: the beginning of every section."""
        number = re.sub(r"v\d+$", "", data["arxiv_id"])
        known = [paper["url"] for paper in self._found.values() if paper["arxiv_id"] == number]
        url = known[0] if known else f"https://arxiv.org/abs/{data['arxiv_id']}"
        each = max(_FEWEST, room // max(1, len(data["sections"])) - 20)
        entries = []
        for section in sound_json(data["sections"]):
            text = cut(section["text"], each)
            if text:
                shown = {"title": defuse(section["title"]), "text": defuse(text)}
                hit = self._hit(url, section["title"], text, data["title"])
                entries.append(_Entry(shown, hit))
        head = {name: data[name] for name in ("arxiv_id", "got", "title")}
        return _Shape(head, "sections", entries)

    def references_of(self, data: dict[str, Any], room: int) -> _Shape:
        """Shape what `build_citations` numbered: only numbers of this turn may reach the model."""
        named = {paper["title"].casefold(): key for key, paper in self._found.items()}
        entries = []
        for row in data["references"]:
            n = self._numbers.get(named.get(row["title"].casefold(), ""))
            rest = {name: _defused(row[name]) for name in ("key", "title", "authors", "year")}
            entries.append(_Entry({"n": n, **rest}))
        note = "n is null where no result so far can be cited for the paper."
        return _Shape({"note": note}, "references", entries)

    def _hit(self, url: str, section: str, text: str, title: str) -> Hit:
        """Return a passage of a paper that is in no library; one and the same for the same text."""
        own = self._outside.setdefault((url, text), -1 - len(self._outside))
        kind: ChunkKind = "abstract" if section == "Abstract" else "body"
        paper = uuid5(NAMESPACE_URL, url)
        return Hit(Chunk(own, paper, "", 0, section, kind, text), Scores(), title, url)


_SHAPES: dict[str, Callable[[Findings, dict[str, Any], int], _Shape]] = {
    "search_library": Findings.passages_of,
    "paper_search": Findings.papers_of,
    "fetch_fulltext": Findings.sections_of,
    "build_citations": Findings.references_of,
}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _defused(value: Any) -> Any:
    """Return JSON from a tool with what looks like a citation number in its texts made harmless."""
    if isinstance(value, str):
        return defuse(value)
    if isinstance(value, list):
        return [_defused(item) for item in value]
    if isinstance(value, dict):
        return {key: _defused(item) for key, item in value.items()}
    return value
