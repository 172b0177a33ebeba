"""Reads one paper from beginning to end into notes: problem, idea, method, evidence, limits.

With a model: notes on every stretch of the text, a few stretches at a time, then merged part by
part. Without one, or for the parts it gave nothing for: the paper's own sentences.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from core.agent.choosing import PaperInScope, papers_of, quoted
from core.agent.draft import Draft
from core.agent.events import Notice, StepProgress
from core.agent.prompting import PER_PASSAGE, offer
from core.agent.prompts import render
from core.agent.reading_notes import (
    GLOSSARY,
    MEANING,
    MOST_QUESTIONS,
    MOST_TERMS,
    QUESTIONS,
    SECTIONS,
    Section,
    chosen,
    glossary,
    hits_of,
    own_text,
    questions,
)
from core.agent.state import StepResult, TurnContext, TurnState
from core.compress import Mapped, batches, fold, map_pieces
from core.errors import BadInput
from core.evidence.facts import content, normalise
from core.evidence.language import is_chinese
from core.evidence.numbering import cited, defuse, renumber, strip
from core.extractive.candidates import Candidate
from core.models.budget import Message, estimate_tokens
from core.models.chat import ChatModel
from core.models.structured import ask
from core.types import Chunk, Hit, Usage
from core.wording import say

TITLE = say("Read the whole paper")
RESERVE = 1_500
"""Tokens kept for the notes on one stretch."""
STRETCH = 3_500
"""Tokens of text that one request reads at most: longer, and what stands in its middle is lost."""
MOST_STRETCHES = 40
"""Read in one turn: some 140,000 tokens, a book of 200 pages."""
_NOTES_OF_A_STRETCH = 8
_LONGEST_NOTE = 700
_NAMED = 0.6
"""Share of a title's words that a question must have to name the paper."""

NOT_SAID = ("No sentence about this was found.", "没有找到这方面的句子。")


class NoteOfModel(BaseModel):
    """One note as a model writes it."""

    part: Literal["problem", "idea", "method", "evidence", "limits", "question"]
    text: str


class TermOfModel(BaseModel):
    """One term as a model writes it."""

    term: str
    meaning: str


class NotesOfModel(BaseModel):
    """The reply for one stretch of text."""

    notes: list[NoteOfModel]
    terms: list[TermOfModel] = Field(default_factory=list)


class MergedByModel(BaseModel):
    """The reply to a request to merge."""

    sentences: list[str]


@dataclass(frozen=True, slots=True)
class Note:
    """What a model noted; its markers are numbers of `sources`. `term`: what it explains, if any."""

    part: str
    text: str
    sources: Mapping[int, Sequence[Hit]]
    term: str = ""


@dataclass(slots=True)
class _Read:
    """What reading by a model came to."""

    notes: list[Note]
    usage: Usage
    stretches: int = 0


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's update: one part for each section of the notes, questions and a glossary.

    Raises:
        BadInput: no papers, or several of which the question names none.
        NotFound: a paper that is not in the reader's library.
    """
    paper = the_paper(state, context)
    chunks = context.papers.page_chunks(state["scope"].user_id, paper.id)
    usage = Usage(full_text_tokens=state["full_text_tokens"])
    read = _Read([], usage)
    if context.chat is not None:
        read = _by_model(state, context, context.chat, hits_of(own_text(chunks), paper.title))
        read.usage = usage.plus(read.usage)
    draft = Draft(context)
    _write(draft, read.notes, paper, chunks, state["question"], context)
    spent = read.usage.prompt_tokens + read.usage.completion_tokens
    mode: Literal["llm", "extractive"] = "llm" if read.notes else "extractive"
    detail = say("“{title}”, {count:d} passages", title=paper.title[:80], count=len(chunks))
    return StepResult(draft.update(mode, read.usage), detail, spent)


def the_paper(state: TurnState, context: TurnContext) -> PaperInScope:
    """Return the one paper of the scope, or the one whose title the question names.

    Raises:
        BadInput: there is none, or it cannot be told which of several is meant.
        NotFound: a paper that is not in the reader's library.
    """
    papers = papers_of(state, context)
    if not papers:
        raise BadInput(
            say("There are no papers to ask about yet."),
            hint=say("Add one first."),
            code="NO_PAPERS",
        )
    if len(papers) == 1:
        return papers[0]
    asked = content(normalise(state["question"]).casefold())
    named = sorted(
        ((_named(paper.title, asked), at) for at, paper in enumerate(papers)), reverse=True
    )
    (share, best), (second, _) = named[:2]
    if share >= _NAMED and share > second:
        return papers[best]
    raise BadInput(
        say("This is done for one paper at a time; there are {count:d} here.", count=len(papers)),
        hint=say("Choose one paper, or name it by its title."),
        code="ONE_PAPER",
    )


def _named(title: str, asked: frozenset[str]) -> float:
    words = content(normalise(title).casefold())
    return len(words & asked) / len(words) if words else 0.0


# --- with a model -------------------------------------------------------------------------------


def _by_model(
    state: TurnState, context: TurnContext, chat: ChatModel, hits: Sequence[Hit]
) -> _Read:
    """Return a model's notes on the whole text, merged; what failed is told in a notice."""
    system = _system(state["question"], range(1, 100))
    room = min(
        STRETCH, context.context_tokens - RESERVE - estimate_tokens(system + state["question"]) - 50
    )
    stretches = batches(hits, lambda hit: estimate_tokens(hit.chunk.text) + PER_PASSAGE, room)
    stretches = _fair(stretches, context)
    mapped = map_pieces(
        stretches,
        lambda stretch: _notes_on(stretch, state["question"], context, chat),
        cancelled=context.cancelled,
        progress=lambda done, total: context.emit(
            StepProgress(
                "deep_read", say("{done:d} of {total:d} stretches read", done=done, total=total)
            )
        ),
    )
    usage = Usage()
    notes: list[Note] = []
    for of_stretch, spent in mapped.kept:
        notes += of_stretch
        usage = usage.plus(spent)
    _tell(mapped, len(stretches), context)
    read = _Read([], usage, len(stretches))
    for section in SECTIONS:
        own = [note for note in notes if note.part == _part(section)]
        merged, spent = _merged(own, section, state["question"], context, chat)
        read.notes += merged
        read.usage = read.usage.plus(spent)
    read.notes += [note for note in notes if note.part in ("question", "term")]
    return read


def _fair(stretches: Sequence[Sequence[Hit]], context: TurnContext) -> list[Sequence[Hit]]:
    """Return the stretches that are read: all, or as many as a turn may take, from all over."""
    if len(stretches) <= MOST_STRETCHES:
        return list(stretches)
    step = (len(stretches) - 1) / (MOST_STRETCHES - 1)
    context.emit(
        Notice(
            "LONG_PAPER",
            say(
                "The paper is very long: {read:d} of its {total:d} stretches are read.",
                read=MOST_STRETCHES,
                total=len(stretches),
            ),
            say("Ask about a chapter to have it read closely."),
        )
    )
    return [stretches[round(i * step)] for i in range(MOST_STRETCHES)]


def _tell(mapped: Mapped[tuple[list[Note], Usage]], total: int, context: TurnContext) -> None:
    """Say how much of the paper the model did not note, and why."""
    missing = sum(result is None for result in mapped.results)
    if not missing or context.cancelled.is_set():
        return
    if mapped.reason is not None:
        context.emit(Notice(mapped.reason.code, mapped.reason.message, mapped.reason.hint))
    context.emit(
        Notice(
            "NOTES_MISSING",
            say(
                "The model gave no usable notes on {missing:d} of {total:d} stretches.",
                missing=missing,
                total=total,
            ),
            say("What it did not note is filled with the paper's own sentences."),
        )
    )


def _notes_on(
    stretch: Sequence[Hit], question: str, context: TurnContext, chat: ChatModel
) -> tuple[list[Note], Usage] | None:
    system = _system(question, range(1, len(stretch) + 1))
    offered = offer(
        stretch,
        system=system,
        question=question,
        context_tokens=context.context_tokens,
        reserve=RESERVE,
    )
    user = render("deep_read_user", passages=offered.passages, question=offered.question)
    reply = ask(
        chat, [Message("system", system), Message("user", user)], NotesOfModel, context.cancelled
    )
    if reply.value is None:
        return None
    sources = {n: (hit,) for n, hit in enumerate(offered.hits, start=1)}
    return [*_taken(reply.value, sources)], reply.usage


def _taken(reply: NotesOfModel, sources: Mapping[int, Sequence[Hit]]) -> list[Note]:
    """Return the notes of a reply that say something, each on one line."""
    notes = [Note(note.part, _line(note.text), sources) for note in reply.notes]
    terms = [
        Note("term", _line(term.meaning), sources, strip(_line(term.term))) for term in reply.terms
    ]
    return [
        note
        for note in [*notes[: 2 * _NOTES_OF_A_STRETCH], *terms[:MOST_TERMS]]
        if strip(note.text).strip() and len(note.text) <= _LONGEST_NOTE and len(note.term) <= 80
    ]


def _line(text: str) -> str:
    return " ".join(text.split())


def _system(question: str, numbers: Sequence[int]) -> str:
    return render(
        "deep_read_system",
        numbers=_listed(numbers),
        language=_language(question),
        most=_NOTES_OF_A_STRETCH,
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"[{n}]" for n in numbers)


def _language(question: str) -> str:
    return "Chinese" if is_chinese(question) else "English"


def _part(section: Section) -> str:
    """Return the name by which the model's notes go to a section."""
    name = section.look.aspect.name
    return "evidence" if name == "results" else name


def _merged(
    notes: list[Note], section: Section, question: str, context: TurnContext, chat: ChatModel
) -> tuple[list[Note], Usage]:
    """Return a section's notes, merged until they are few; those that could not be stay as they are."""
    spent: list[Usage] = []

    def merge(run: Sequence[Note]) -> list[Note] | None:
        system = render(
            "deep_read_merge_system",
            part=section.look.aspect.title(False),
            most=max(2, min(section.most, len(run) - 1)),
            ordered=_part(section) == "method",
            numbers=_listed(range(1, len(run) + 1)),
            language=_language(question),
        )
        user = render("deep_read_merge_user", notes=[defuse(strip(note.text)) for note in run])
        reply = ask(
            chat,
            [Message("system", system), Message("user", user)],
            MergedByModel,
            context.cancelled,
        )
        spent.append(reply.usage)
        if reply.value is None:
            return None
        sources = {n: _all_sources(note) for n, note in enumerate(run, start=1)}
        lines = [_line(text) for text in reply.value.sentences]
        return [
            Note(_part(section), line, sources)
            for line in lines[: section.most]
            if strip(line).strip() and len(line) <= _LONGEST_NOTE
        ] or None

    few, folding = fold(
        notes,
        merge,
        cost=lambda note: estimate_tokens(note.text) + PER_PASSAGE,
        room=min(STRETCH, context.context_tokens - RESERVE - 400),
        most=section.most,
        cancelled=context.cancelled,
    )
    if folding.reason is not None:
        context.emit(Notice(folding.reason.code, folding.reason.message, folding.reason.hint))
    total = Usage()
    for usage in spent:
        total = total.plus(usage)
    return few[: 3 * section.most], total


def _all_sources(note: Note) -> list[Hit]:
    """Return the passages a note cites."""
    found = {
        hit.chunk.id: hit for n in cited(note.text) if n in note.sources for hit in note.sources[n]
    }
    return list(found.values())


# --- writing ------------------------------------------------------------------------------------


def _write(
    draft: Draft,
    notes: Sequence[Note],
    paper: PaperInScope,
    chunks: Sequence[Chunk],
    question: str,
    context: TurnContext,
) -> None:
    """Finish the parts: by the model's notes where there are any, else in the paper's own words."""
    chinese = is_chinese(question)
    missing = [s for s in SECTIONS if not any(note.part == _part(s) for note in notes)]
    asked = [*{note.text: note for note in notes if note.part == "question"}.values()]
    own: dict[str, list[Candidate]] = {}
    if not context.cancelled.is_set() and (missing or not asked):
        own = chosen(paper, chunks, context)
    stopped = context.cancelled.is_set()
    for section in SECTIONS:
        items = [draft.adopt(n.text, n.sources) for n in notes if n.part == _part(section)]
        if not items:
            found = own.get(section.look.aspect.name, [])
            items = [quoted(draft, candidate) for candidate in found]
        if not items and not stopped:
            items = [draft.remark(NOT_SAID[chinese])]
        if items:
            draft.add_text(section.look.aspect.title(chinese), items)
    items = [draft.adopt(note.text, note.sources) for note in asked[:MOST_QUESTIONS]]
    if not items and not context.cancelled.is_set():
        raised = questions(own.get("limits", []), chunks, paper.title, chinese)
        items = [
            draft.remark(renumber(text, lambda n: ()), [draft.quote(c.hit, c.text)])
            for text, c in raised
        ]
    if items:
        draft.add_text(QUESTIONS.title(chinese), items)
    _write_glossary(draft, notes, paper, chunks, chinese, context.cancelled.is_set)


def _write_glossary(
    draft: Draft,
    notes: Sequence[Note],
    paper: PaperInScope,
    chunks: Sequence[Chunk],
    chinese: bool,
    stopped: Callable[[], bool],
) -> None:
    terms = {note.term.casefold(): note for note in reversed(notes) if note.term}
    rows = [(n.term, draft.adopt(n.text, n.sources)) for n in [*terms.values()][::-1][:MOST_TERMS]]
    if not rows:
        found = glossary(chunks, paper.title, stopped)
        rows = [(term, quoted(draft, c)) for term, c in found]
    if rows:
        draft.add_table(
            GLOSSARY.title(chinese),
            [MEANING[chinese]],
            [term for term, _ in rows],
            [[[item]] for _, item in rows],
        )
