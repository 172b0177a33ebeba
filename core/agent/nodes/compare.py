"""Puts two to six papers side by side: a row for each aspect, a column for each paper.

With a model each column is written from that paper's passages alone, and agreements and differences
from the cells. Without one, cells are the papers' sentences, and below stand the terms and the
measures that several of them have.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from core.agent.asking import Requests, alone, ground, in_turns
from core.agent.choosing import (
    NOT_SAID,
    SEEN,
    Look,
    PaperInScope,
    asked_for,
    choose,
    in_order,
    look_for,
    papers_of,
    passages,
    quoted,
)
from core.agent.draft import INVENTED, Draft
from core.agent.events import StepProgress
from core.agent.looks import DATA, LIMITS, METHOD, METRICS, RESULTS, TASK
from core.agent.measures import Measured, in_sentence, in_table
from core.agent.prompts import render
from core.agent.state import StepResult, TurnContext, TurnState
from core.errors import BadInput
from core.evidence.language import is_chinese
from core.evidence.numbering import defuse, renumber, strip
from core.extractive.answer import shown
from core.extractive.candidates import Candidate, candidates
from core.models.budget import Message, cut
from core.types import Hit
from core.wording import say

TITLE = say("Put papers side by side")
FEWEST, MOST = 2, 6
RESERVE = 1_200
"""Tokens kept for a reply."""
ASPECTS = (TASK, METHOD, DATA, METRICS, RESULTS, LIMITS)
_MEANINGS = {
    "task": "the problem it works on",
    "method": "how it does so",
    "data": "data sets, samples and their sizes",
    "metrics": "how success is measured",
    "results": "the main results, with figures",
    "limits": "the limits its authors admit",
}
_SENTENCES = {"task": 1, "metrics": 1}
_MOST_ROWS = 6
"""Terms and measures in common that are shown."""
_LONGEST, _LONGEST_TITLE = 400, 100

_SIDE_BY_SIDE = ("Side by side", "并排比较")
_TERMS = ("Terms they share", "共有的术语")
_FIGURES = ("Measures they share", "共有的指标与数值")
_AGREE = ("Agreements", "一致之处")
_DIFFER = ("Differences", "不同之处")
_NOTHING = (
    "No sentence with a term or a measure that they share was found.",
    "没有找到含有共同术语或指标的句子。",
)


_TERM = re.compile(
    r"(?<![A-Za-z0-9@-])[A-Za-z]*[A-Z][A-Za-z]*(?:[A-Z]|\d|@\d+)[A-Za-z0-9@]*(?<!s)(?![A-Za-z0-9])"
)
_LISTED = re.compile(r"\[[A-Z]\]//|Proceedings of|arXiv:\d")
"""In an entry of a list of references that was not told from the text."""


class Said(BaseModel):
    """One sentence of a cell."""

    text: str
    passages: list[int] = Field(default_factory=list)


class Column(BaseModel):
    """What the model is asked for about one paper."""

    task: list[Said] = Field(default_factory=list)
    method: list[Said] = Field(default_factory=list)
    data: list[Said] = Field(default_factory=list)
    metrics: list[Said] = Field(default_factory=list)
    results: list[Said] = Field(default_factory=list)
    limits: list[Said] = Field(default_factory=list)
    asked: list[Said] = Field(default_factory=list)


class Differences(BaseModel):
    """What the model is asked for about all of them."""

    agreements: list[str] = Field(default_factory=list)
    differences: list[str] = Field(default_factory=list)


@dataclass(slots=True)
class _Noted:
    """A cell's sentence for the last request: whose, of what, and the numbers it cites."""

    paper: str
    aspect: str
    text: str
    numbers: Sequence[int]


@dataclass(slots=True)
class _Side:
    """One paper: its title as a column has it, its passages by aspect, and its cells."""

    paper: PaperInScope
    title: str
    hits: dict[str, list[Hit]]
    cells: list[list[int]] = field(default_factory=list)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's parts: the table, and below it what the papers share and where they differ.

    Raises:
        BadInput: there are fewer than two papers in scope, or more than six.
        NotFound: a paper of the scope is not in the reader's library.
    """
    papers = compared(papers_of(state, context))
    chinese = is_chinese(state["question"])
    asked = asked_for(alone(state), ASPECTS)
    looks = (*ASPECTS, look_for(asked)) if asked else ASPECTS
    draft, requests = Draft(context), Requests(state, context)
    sides: list[_Side] = []
    notes: list[_Noted] = []
    for done, paper in enumerate(papers):
        detail = say("{done:d} of {total:d} papers", done=done, total=len(papers))
        context.emit(StepProgress("compare", detail))
        hits = {k.aspect.name: passages(k, paper, context, 2 * SEEN) for k in looks}
        side = _Side(paper, _column(paper, sides), hits)
        notes += _fill(side, looks, draft, requests, context, chinese)
        if context.cancelled.is_set():
            break
        sides.append(side)
    _add_table(draft, sides, looks, chinese)
    if sides and not context.cancelled.is_set():
        _add_below(draft, sides, notes, requests, chinese)
    detail = say("{papers:d} papers, {rows:d} aspects", papers=len(sides), rows=len(looks))
    return StepResult(draft.update(requests.mode, requests.usage), detail, requests.tokens)


def compared(papers: Sequence[PaperInScope]) -> list[PaperInScope]:
    """Return the papers if they can stand side by side.

    Raises:
        BadInput: they are fewer than two, or more than six.
    """
    if not papers:
        raise BadInput(
            say("There are no papers to ask about yet."),
            hint=say("Add one first."),
            code="NO_PAPERS",
        )
    if not FEWEST <= len(papers) <= MOST:
        raise BadInput(
            say("A comparison needs 2 to 6 papers; there are {count:d} here.", count=len(papers)),
            hint=say("Choose 2 to 6 papers to compare."),
            code="TWO_TO_SIX_PAPERS",
        )
    return list(papers)


def _column(paper: PaperInScope, before: Sequence[_Side]) -> str:
    """Return the title of a paper's column; the second of two that are alike gets a number."""
    title = paper.title[:_LONGEST_TITLE]
    same = sum(side.paper.title[:_LONGEST_TITLE] == title for side in before)
    return f"{title} ({same + 1})" if same else title


def _fill(
    side: _Side,
    looks: Sequence[Look],
    draft: Draft,
    requests: Requests,
    context: TurnContext,
    chinese: bool,
) -> list[_Noted]:
    """Fill a paper's cells; return what the model wrote in them."""
    rows = [(k.aspect.name, _MEANINGS.get(k.aspect.name, k.aspect.title(chinese))) for k in looks]
    reply = requests.about(
        "compare",
        in_turns([hits[:6] for hits in side.hits.values()]),
        Column,
        RESERVE,
        rows=rows,
        language=_language(chinese),
    )
    if reply is None:
        if not context.cancelled.is_set():
            side.cells = [_sentences(side, look, draft) for look in looks]
        return []
    column, hits = reply
    notes = []
    for look in looks:
        said = [s for s in getattr(column, look.aspect.name)[:2] if s.text.strip()]
        side.cells.append([])
        for entry in said:
            text = " ".join(entry.text.split())[:_LONGEST]
            place, quotes = ground(draft, text, entry.passages[:4], hits, context.embedder)
            side.cells[-1].append(place)
            numbers = [n for n, _ in quotes]
            notes.append(_Noted(side.title, look.aspect.title(False), strip(text), numbers))
    return notes


def _sentences(side: _Side, look: Look, draft: Draft) -> list[int]:
    name = look.aspect.name
    found = choose(look, side.hits[name][:SEEN], _SENTENCES.get(name, 2))
    return [quoted(draft, candidate) for candidate in in_order(found)]


def _add_table(draft: Draft, sides: Sequence[_Side], looks: Sequence[Look], chinese: bool) -> None:
    if not sides:
        return
    heads = [look.aspect.title(chinese) for look in looks]
    rows = [
        [side.cells[at] or [draft.remark(NOT_SAID[chinese])] for side in sides]
        for at in range(len(looks))
    ]
    draft.add_table(_SIDE_BY_SIDE[chinese], [side.title for side in sides], heads, rows)


def _add_below(
    draft: Draft,
    sides: Sequence[_Side],
    notes: Sequence[_Noted],
    requests: Requests,
    chinese: bool,
) -> None:
    """Add agreements and differences in prose, else the terms and measures in common."""
    found = _differences(notes, requests, chinese)
    written = False
    if found is not None:
        for title, texts in ((_AGREE, found.agreements), (_DIFFER, found.differences)):
            lines = [" ".join(text.split())[:_LONGEST] for text in texts[:4] if text.strip()]
            if lines:
                items = [draft.state(_by_notes(line, notes)) for line in lines]
                draft.add_text(title[chinese], items)
                written = True
    if not written:
        shared = [_add_terms(draft, sides, chinese), _add_figures(draft, sides, chinese)]
        if not any(shared):
            draft.add_text(_TERMS[chinese], [draft.remark(_NOTHING[chinese])])


# --- by a model ---------------------------------------------------------------------------------


def _differences(notes: Sequence[_Noted], requests: Requests, chinese: bool) -> Differences | None:
    if len({note.paper for note in notes}) < FEWEST:
        return None
    numbers = ", ".join(f"[{n}]" for n in range(1, len(notes) + 1))
    system = render("compare_differences_system", numbers=numbers, language=_language(chinese))
    share = max(40, requests.room(system, RESERVE) // len(notes))
    told = [
        {
            "n": n,
            "paper": note.paper,
            "aspect": note.aspect,
            "text": cut(defuse(note.text), share),
        }
        for n, note in enumerate(notes, start=1)
    ]
    user = render("compare_differences_user", notes=told, question=requests.question)
    return requests.reply([Message("system", system), Message("user", user)], Differences)


def _by_notes(line: str, notes: Sequence[_Noted]) -> str:
    """Return a sentence citing the passages of the notes that it cites."""

    def meant(n: int) -> Sequence[int]:
        return notes[n - 1].numbers if 1 <= n <= len(notes) else (INVENTED,)

    return renumber(line, meant)


def _language(chinese: bool) -> str:
    return "Chinese" if chinese else "English"


# --- by extraction ------------------------------------------------------------------------------


def _add_terms(draft: Draft, sides: Sequence[_Side], chinese: bool) -> bool:
    """Add the names that several papers use, each with a sentence of theirs; return if any is."""
    said = [_own_sentences(side) for side in sides]
    counts = [Counter(term for c in own for term in _terms(c)) for own in said]
    common = Counter(term for count in counts for term in count)
    shared = [term for term, papers in common.items() if papers >= FEWEST]
    shared.sort(key=lambda term: (-common[term], -min(c[term] for c in counts), term))
    rows = []
    for term in shared[:_MOST_ROWS]:
        holders = [next((c for c in own if term in _terms(c)), None) for own in said]
        rows.append([[quoted(draft, c)] if c else [] for c in holders])
    if rows:
        titles = [side.title for side in sides]
        draft.add_table(_TERMS[chinese], titles, shared[:_MOST_ROWS], rows)
    return bool(rows)


def _terms(candidate: Candidate) -> frozenset[str]:
    """Return what a sentence names by an acronym or a name with capitals or digits in it."""
    return frozenset(match.group() for match in _TERM.finditer(candidate.text))


def _own_sentences(side: _Side) -> list[Candidate]:
    hits = in_turns([hits[:SEEN] for hits in side.hits.values()])
    return [c for c in candidates(hits) if len(c.text) <= _LONGEST and not _LISTED.search(c.text)]


def _add_figures(draft: Draft, sides: Sequence[_Side], chinese: bool) -> bool:
    """Add what was measured in several papers, with each one's values; return if anything was."""
    measured = [_measured(side) for side in sides]
    common = Counter(metric for own in measured for metric in own)
    shared = [metric for metric, papers in common.items() if papers >= FEWEST][:_MOST_ROWS]
    rows = [
        [
            [i for hit, m in own.get(metric, [])[:2] for i in _value(draft, hit, m)]
            for own in measured
        ]
        for metric in shared
    ]
    if rows:
        heads = [next(own[k][0][1].metric for own in measured if k in own) for k in shared]
        draft.add_table(_FIGURES[chinese], [side.title for side in sides], heads, rows)
    return bool(rows)


def _measured(side: _Side) -> dict[str, list[tuple[Hit, Measured]]]:
    """Return a paper's values by what they measure, those of its sentences first."""
    hits = side.hits[RESULTS.aspect.name]
    found = [(c.hit, m) for c in choose(RESULTS, hits[:SEEN], SEEN) for m in in_sentence(c.text)]
    found += [(h, m) for h in hits if h.chunk.kind == "table" for m in in_table(h.chunk.text)]
    by_metric: dict[str, list[tuple[Hit, Measured]]] = {}
    for hit, value in found:
        by_metric.setdefault(value.metric.casefold(), []).append((hit, value))
    return by_metric


def _value(draft: Draft, hit: Hit, measured: Measured) -> list[int]:
    number = [draft.quote(hit, measured.quote)]
    return [
        draft.state(measured.value, number),
        *(draft.state(shown(label), number) for label in measured.on),
    ]
