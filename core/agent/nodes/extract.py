"""Fills in a form about each paper: task, method, data, metrics, results with units, limitations.

With a model the fields are short and stand beside the paper's words; without one, and whenever the
model fails, the fields are sentences of the paper and the results are values found in them.
"""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from core.agent.asking import Requests, alone, ground, in_turns, in_words
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
from core.agent.draft import Draft
from core.agent.events import StepProgress
from core.agent.looks import DATA, LIMITS, METHOD, METRICS, RESULTS, TASK
from core.agent.measures import Measured, in_sentence, in_table
from core.agent.state import StepResult, TurnContext, TurnState
from core.evidence.language import is_chinese
from core.extractive.answer import shown
from core.types import Hit
from core.wording import say

TITLE = say("Fill in the form")
MOST_PAPERS = 6
RESERVE = 1_400
"""Tokens kept for the reply: a full form in either language."""
FIELDS = (TASK, METHOD, DATA, METRICS, RESULTS, LIMITS)
_SENTENCES = {"task": 1, "method": 2, "data": 2, "metrics": 1, "results": 2, "limits": 3}
_KEYS = {"results": "findings", "limits": "limitations"}
"""Where the form names an aspect otherwise."""
_MOST_ENTRIES, _MOST_VALUES = 4, 12
_LONGEST = 400
_SEEN_FOR_TABLES = 80
"""Passages among which a paper's tables are looked for: all of most papers."""

_FORM = ("What the paper says", "论文提供的信息")
_NUMBERS = ("Results in figures", "数值结果")
_COLUMNS = (("Value", "In the paper's words"), ("内容", "原文"))
_VALUE_COLUMNS = (("Value", "On what", "In the paper's words"), ("数值", "对象", "原文"))
_CHOSEN = (
    "Of each table the highest value of a column is listed, or the lowest where less is better; "
    "see the paper for the rest.",
    "表格中每列只列出最高的数值（误差、用时等列出最低的），其余请看原文。",
)
_LEFT_OUT = (
    "{count:d} more papers are in scope; choose them to have their fields extracted.",
    "范围内还有 {count:d} 篇论文，选中它们即可提取。",
)


Told = tuple[int, list[int]]
"""A statement's place, and those of the sentences it rests on."""


class Said(BaseModel):
    """One entry of a field."""

    text: str
    passages: list[int] = Field(default_factory=list)


class Value(BaseModel):
    """One result."""

    metric: str
    value: str
    on: str = ""
    passages: list[int] = Field(default_factory=list)


class Form(BaseModel):
    """What the model is asked to fill in."""

    task: list[Said] = Field(default_factory=list)
    method: list[Said] = Field(default_factory=list)
    data: list[Said] = Field(default_factory=list)
    metrics: list[Said] = Field(default_factory=list)
    findings: list[Said] = Field(default_factory=list)
    results: list[Value] = Field(default_factory=list)
    limitations: list[Said] = Field(default_factory=list)
    asked: list[Said] = Field(default_factory=list)


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's parts: for each paper a form, and a table of its results.

    Raises:
        NotFound: a paper of the scope is not in the reader's library.
    """
    chinese = is_chinese(state["question"])
    papers = most_relevant(papers_of(state, context), state["hits"])
    draft, requests = Draft(context), Requests(state, context)
    asked = asked_for(alone(state), FIELDS)
    looks = (*FIELDS, look_for(asked)) if asked else FIELDS
    values = 0
    for done, paper in enumerate(papers[:MOST_PAPERS]):
        if context.cancelled.is_set():
            break
        _tell_progress(context, done, min(len(papers), MOST_PAPERS))
        several = paper.title if len(papers) > 1 else ""
        values += _Sheet(paper, looks, context, chinese, several).fill(draft, requests)
    if len(papers) > MOST_PAPERS:
        left = _LEFT_OUT[chinese].format(count=len(papers) - MOST_PAPERS)
        draft.add_text("", [draft.remark(left)])
    detail = say("{count:d} values from {papers:d} papers", count=values, papers=len(papers))
    return StepResult(draft.update(requests.mode, requests.usage), detail, requests.tokens)


def most_relevant(
    papers: Sequence[PaperInScope], hits: Sequence[Hit], most: int = MOST_PAPERS
) -> list[PaperInScope]:
    """Return the papers in their order, those first that the question's own passages are from.

    Few enough papers keep their order: it is the reader's.
    """
    if len(papers) <= most:
        return list(papers)
    found = list(dict.fromkeys(hit.chunk.paper_id for hit in hits))
    return sorted(papers, key=lambda p: found.index(p.id) if p.id in found else len(found))


def _tell_progress(context: TurnContext, done: int, total: int) -> None:
    if total > 1:
        detail = say("{done:d} of {total:d} papers", done=done, total=total)
        context.emit(StepProgress("extract", detail))


class _Sheet:
    """One paper's form on its way into the draft."""

    def __init__(
        self,
        paper: PaperInScope,
        looks: Sequence[Look],
        context: TurnContext,
        chinese: bool,
        heading: str,
    ) -> None:
        self._looks = looks
        self._context = context
        self._chinese = chinese
        self._heading = heading
        self._hits = {
            look.aspect.name: passages(
                look, paper, context, _SEEN_FOR_TABLES if look is RESULTS else SEEN
            )
            for look in looks
        }

    def fill(self, draft: Draft, requests: Requests) -> int:
        """Add the form and the results to the draft; return how many results there are."""
        asked = next((k.aspect.title(self._chinese) for k in self._looks if k not in FIELDS), "")
        reply = requests.about(
            "extract",
            in_turns([hits[:6] for hits in self._hits.values()]),
            Form,
            RESERVE,
            asked=asked,
            language="Chinese" if self._chinese else "English",
        )
        if reply is not None:
            return self._by_model(draft, *reply)
        return 0 if self._context.cancelled.is_set() else self._by_extraction(draft)

    # --- by a model -----------------------------------------------------------------------------

    def _by_model(self, draft: Draft, form: Form, hits: Sequence[Hit]) -> int:
        rows = []
        for look in self._looks:
            name = _KEYS.get(look.aspect.name, look.aspect.name)
            entries = getattr(form, name)[:_MOST_ENTRIES]
            rows.append((look, [self._told(draft, e, hits) for e in entries if e.text.strip()]))
        self._add_form(draft, rows)
        values = [v for v in form.results[:_MOST_VALUES] if v.value.strip()]
        cells = [self._value_row(draft, value, hits) for value in values]
        self._add_values(draft, [_line(value.metric, 80) for value in values], cells)
        return len(values)

    def _told(self, draft: Draft, entry: Said, hits: Sequence[Hit]) -> Told:
        """State what the model wrote, and the sentences of the paper it rests on."""
        text = _line(entry.text, _LONGEST)
        place, quotes = ground(draft, text, entry.passages[:4], hits, self._context.embedder)
        return place, [draft.state(in_words(quote), [n]) for n, quote in quotes]

    def _value_row(self, draft: Draft, value: Value, hits: Sequence[Hit]) -> list[list[int]]:
        claim = _line(f"{value.metric} {value.value} {value.on}", _LONGEST)
        cited, embedder = value.passages[:4], self._context.embedder
        place, quotes = ground(draft, _line(value.value, 60), cited, hits, embedder, claim)
        on = _line(value.on, 120)
        what = [ground(draft, on, cited, hits, embedder, claim).place] if on else []
        return [[place], what, [draft.state(in_words(quote), [n]) for n, quote in quotes]]

    # --- by extraction --------------------------------------------------------------------------

    def _by_extraction(self, draft: Draft) -> int:
        self._add_form(draft, [(look, self._sentences(draft, look)) for look in self._looks])
        values = self._values()
        self._add_values(
            draft,
            [measured.metric for _, measured in values],
            [self._found_row(draft, *value) for value in values],
            any(measured.quote.startswith("|") for _, measured in values),
        )
        return len(values)

    def _sentences(self, draft: Draft, look: Look) -> list[Told]:
        hits = self._hits[look.aspect.name][:SEEN]
        found = choose(look, hits, _SENTENCES.get(look.aspect.name, 2))
        return [(quoted(draft, candidate), []) for candidate in in_order(found)]

    def _values(self) -> list[tuple[Hit, Measured]]:
        """Return what was measured: in the sentences that tell results, then in the tables."""
        hits = self._hits["results"]
        told = choose(RESULTS, hits[:SEEN], _MOST_VALUES)
        found = [(c.hit, m) for c in in_order(told) for m in in_sentence(c.text)]
        tables = [hit for hit in hits if hit.chunk.kind == "table"]
        tables.sort(key=lambda hit: (hit.chunk.page, hit.chunk.id))
        rows = [(hit, m) for hit in tables for m in in_table(hit.chunk.text)]
        kept = {(m.metric.casefold(), m.value, m.on): (hit, m) for hit, m in [*found, *rows][::-1]}
        return [*kept.values()][::-1][: 2 * _MOST_VALUES]

    def _found_row(self, draft: Draft, hit: Hit, measured: Measured) -> list[list[int]]:
        number = [draft.quote(hit, measured.quote)]
        return [
            [draft.state(measured.value, number)],
            [draft.state(shown(label), number) for label in measured.on],
            [draft.state(in_words(measured.quote), number)],
        ]

    # --- parts ----------------------------------------------------------------------------------

    def _add_form(self, draft: Draft, rows: Sequence[tuple[Look, list[Told]]]) -> None:
        titled = self._titled(_FORM[self._chinese])
        words = any(words for _, told in rows for _, words in told)
        columns = _COLUMNS[self._chinese] if words else _COLUMNS[self._chinese][1:]
        cells = []
        for _, told in rows:
            value = [i for i, _ in told] or [draft.remark(NOT_SAID[self._chinese])]
            quotes = list(dict.fromkeys(i for _, quoted in told for i in quoted))
            cells.append([value, quotes] if words else [value])
        heads = [look.aspect.title(self._chinese) for look, _ in rows]
        draft.add_table(titled, columns, heads, cells)

    def _add_values(
        self,
        draft: Draft,
        heads: Sequence[str],
        rows: Sequence[Sequence[list[int]]],
        from_tables: bool = False,
    ) -> None:
        titled = self._titled(_NUMBERS[self._chinese])
        if rows:
            draft.add_table(titled, _VALUE_COLUMNS[self._chinese], heads, rows)
            if from_tables:
                draft.add_text("", [draft.remark(_CHOSEN[self._chinese])])
        else:
            draft.add_text(titled, [draft.remark(NOT_SAID[self._chinese])])

    def _titled(self, title: str) -> str:
        return f"{self._heading}: {title}" if self._heading else title


def _line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]
