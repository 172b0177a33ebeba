"""The tool that summarises one paper by map-reduce over its sections, or by its own sentences."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from core.compress import Mapped, batches, fold, map_pieces
from core.errors import BadInput, ModelFailed
from core.models.budget import Message, estimate_tokens
from core.models.chat import ChatModel
from core.models.structured import ask
from core.tools.envelope import ToolFailure
from core.tools.fulltext import Section, sections, text_of
from core.tools.prompts import render
from core.tools.registry import tool
from core.tools.toolbox import Toolbox
from core.types import Chunk, ChunkDraft, Mode
from core.wording import say

FIELDS = ("problem", "method", "data", "results", "limits", "conclusion")
MOST = 5
"""Sentences of a field."""
RESERVE = 900
"""Tokens kept for a reply."""
WINDOW, OVERLAP = 6_000, 300
"""Characters of a piece of a section that is too long for one request, and what two have in common."""
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_NOBODY = UUID(int=0)

Shape = TypeVar("Shape", bound=BaseModel)


class Wanted(BaseModel):
    """Which paper: one of the library, or one on arXiv."""

    model_config = ConfigDict(extra="forbid")

    paper_id: str = Field("", max_length=200, description="Id of a paper of the library.")
    arxiv_id: str = Field("", max_length=200, description="Or the arXiv id of any paper.")
    language: Literal["en", "zh"] = Field(
        "en", description="Of the summary, where a model writes it."
    )


class Notes(BaseModel):
    """What a part of a paper says."""

    problem: list[str] = Field(default_factory=list, max_length=12)
    method: list[str] = Field(default_factory=list, max_length=12)
    data: list[str] = Field(default_factory=list, max_length=12)
    results: list[str] = Field(default_factory=list, max_length=12)
    limits: list[str] = Field(default_factory=list, max_length=12)
    conclusion: list[str] = Field(default_factory=list, max_length=12)


class Merged(BaseModel):
    """Notes of one field made one."""

    sentences: list[str] = Field(min_length=1, max_length=12)


class _Paper(NamedTuple):
    got: str
    title: str
    chunks: Sequence[Chunk]


@dataclass(frozen=True, slots=True)
class _Summary:
    fields: dict[str, list[str]]
    mode: Mode
    parts: int = 0
    dropped: int = 0
    why: str = ""


@tool(
    Wanted,
    source="lectern",
    about="Summarise one paper: problem, method, data, results, limits, conclusion. Takes a paper "
    "of the library or an arXiv id.",
)
def summarize_paper(box: Toolbox, wanted: Wanted) -> dict[str, Any]:
    """Return a paper's summary.

    Data: `title`; `got`: what was read (`library`, `html`, `pdf`, `abstract`); `mode`; `fields`,
    sentences by field; `characters` before and after, and `ratio` (after / before); `parts` that
    the model was asked about, `dropped` of them that gave nothing usable, and `why`.

    Raises:
        ToolFailure: with the code of what is wrong.
        Cancelled: it was stopped.
    """
    paper = _paper(box, wanted)
    parts = sections(paper.chunks)
    before = sum(len(part.text) for part in parts)
    if not before:
        raise ToolFailure(
            "EMPTY_RESULT",
            say("There is no text to summarise."),
            say("Choose another paper, or add its file."),
        )
    chat = box.chat()
    summary = _by_model(box, chat, parts, wanted.language) if chat else _Summary({}, "llm")
    if not any(summary.fields.values()):
        chosen = box.choose(paper.chunks, paper.title)
        summary = _Summary(chosen, "extractive", summary.parts, summary.dropped, summary.why)
    after = sum(len(text) for texts in summary.fields.values() for text in texts)
    if not after:
        raise ToolFailure(
            "EMPTY_RESULT",
            say("No sentence of this paper could be told to belong in a summary."),
            say("Ask about it with search_library, or read its abstract."),
        )
    return {
        "title": paper.title,
        "got": paper.got,
        "mode": summary.mode,
        "fields": summary.fields,
        "characters": {"before": before, "after": after},
        "ratio": round(after / before, 4),
        "parts": summary.parts,
        "dropped": summary.dropped,
        "why": summary.why,
    }


def _paper(box: Toolbox, wanted: Wanted) -> _Paper:
    if bool(wanted.paper_id) == bool(wanted.arxiv_id):
        raise ToolFailure(
            "INVALID_ARGS",
            say("Name one paper: paper_id or arxiv_id."),
            say("Correct it and call the tool again."),
        )
    if wanted.arxiv_id:
        text = text_of(box, wanted.arxiv_id)
        return _Paper(text.got, text.title, _numbered(text.chunks))
    papers = box.papers()
    try:
        paper = papers.resolve(box.user_id, wanted.paper_id)
        row = papers.paper(box.user_id, paper)
    except BadInput as error:
        hint = say("Find the paper with search_library, or give an arxiv_id.")
        raise ToolFailure("NOT_FOUND", error.message, hint) from error
    title = row.meta.title or row.filename
    return _Paper("library", title, papers.page_chunks(box.user_id, paper))


def _numbered(chunks: Sequence[ChunkDraft]) -> list[Chunk]:
    """Return chunks of a paper that is in no library."""
    return [
        Chunk(at, _NOBODY, "", chunk.page, chunk.section, chunk.kind, chunk.text, chunk.spans)
        for at, chunk in enumerate(chunks)
    ]


# --- by the model ---------------------------------------------------------------------------------


def _by_model(box: Toolbox, chat: ChatModel, parts: Sequence[Section], language: str) -> _Summary:
    system = render("summary_system", language=_LANGUAGES[language])
    room = max(500, box.context_tokens - estimate_tokens(system) - RESERVE)
    windows = [window for part in parts for window in _windows(part)]
    runs = batches(windows, lambda one: estimate_tokens(one.text) + 20, room)

    def noted(run: Sequence[Section]) -> Notes | None:
        user = render("summary_user", sections=[part._asdict() for part in run])
        return _asked(chat, system, user, Notes, box.cancelled)

    mapped = map_pieces(runs, noted, cancelled=box.cancelled)
    merged = [_merged(box, chat, name, mapped, language) for name in FIELDS]
    dropped = mapped.failed + mapped.left + sum(failed for _, failed in merged)
    why = mapped.reason.message if mapped.reason else ""
    fields = dict(zip(FIELDS, (texts for texts, _ in merged), strict=True))
    return _Summary(fields, "llm", len(runs), dropped, why)


def _windows(part: Section) -> list[Section]:
    """Return a section in pieces that are read one by one, each with the end of the one before."""
    starts = range(0, max(1, len(part.text) - OVERLAP), WINDOW - OVERLAP)
    return [Section(part.title, part.text[start : start + WINDOW]) for start in starts]


def _merged(
    box: Toolbox, chat: ChatModel, name: str, mapped: Mapped[Notes], language: str
) -> tuple[list[str], int]:
    """Return what is said of a field in a few sentences, and how many merges gave nothing."""
    notes = [" ".join(t.split()) for note in mapped.kept for t in getattr(note, name)]
    notes = list(dict.fromkeys(note for note in notes if note))
    if len(notes) <= MOST:
        return notes, 0
    system = render("merge_system", field=name, most=MOST, language=_LANGUAGES[language])

    def merge(run: Sequence[str]) -> list[str] | None:
        user = render("merge_user", notes=run)
        found = _asked(chat, system, user, Merged, box.cancelled)
        return [" ".join(text.split()) for text in found.sentences[:MOST]] if found else None

    room = max(500, box.context_tokens - estimate_tokens(system) - RESERVE)
    left, last = fold(
        notes, merge, cost=estimate_tokens, room=room, most=MOST, cancelled=box.cancelled
    )
    return left[:MOST], last.failed


def _asked(
    chat: ChatModel, system: str, user: str, shape: type[Shape], cancelled: threading.Event
) -> Shape | None:
    try:
        messages = [Message("system", system), Message("user", user)]
        return ask(chat, messages, shape, cancelled).value
    except ModelFailed as error:
        if error.code == "MODEL_CONTEXT":  # this piece alone was too long
            return None
        raise
