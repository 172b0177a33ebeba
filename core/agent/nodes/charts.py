"""Shows figures cut out of the papers and tables as data; a vision model may read a chart's data."""

from collections.abc import Sequence
from itertools import zip_longest
from uuid import UUID

from core.agent.charts import (
    SCALE,
    ChartOfModel,
    Item,
    Owned,
    chunk_of,
    cut_out,
    items_of,
    rows_of,
    wanted,
)
from core.agent.choosing import PaperInScope, papers_of
from core.agent.draft import Draft
from core.agent.events import Notice, StepProgress
from core.agent.prompts import render
from core.agent.state import StepResult, TurnContext, TurnState
from core.compress import map_pieces
from core.errors import BadInput, NotFound
from core.evidence.language import is_chinese
from core.extractive.answer import shown
from core.models.budget import Message
from core.models.chat import ChatModel
from core.models.structured import ask
from core.types import Exhibit, Hit, Mode, Scores, Usage
from core.wording import say

TITLE = say("Find figures and tables")
MOST_PAPERS = 6
MOST_SHOWN = 24
MOST_SEEN = 8
"""Pictures that a vision model is shown in a turn."""
_AT_ONCE = 2

_NONE = (
    "The paper does not contain a figure or table that could be read.",
    "论文没有给出可以读取的图表。",
)
_UNNAMED = {
    ("figure", False): "Figure, page {page}",
    ("figure", True): "图，第 {page} 页",
    ("table", False): "Table, page {page}",
    ("table", True): "表，第 {page} 页",
}
_LABELS = {
    ("figure", False): "Figure {number}",
    ("figure", True): "图 {number}",
    ("table", False): "Table {number}",
    ("table", True): "表 {number}",
}

Rows = tuple[tuple[str, ...], ...]


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's update: one part for each figure or table that the question means.

    Raises:
        BadInput: no papers.
        NotFound: a paper that is not in the reader's library.
    """
    papers = papers_of(state, context)
    if not papers:
        raise BadInput(
            say("There are no papers to ask about yet."),
            hint=say("Add one first."),
            code="NO_PAPERS",
        )
    user_id = state["scope"].user_id
    found = _asked_for(state["question"], _all_of(papers, user_id, context), context)
    read, usage = _read_by_model(found, user_id, context)
    usage = Usage(full_text_tokens=state["full_text_tokens"]).plus(usage)
    draft = Draft(context)
    chinese = is_chinese(state["question"])
    several = len({owned.paper_id for owned in found}) > 1
    for owned, rows in zip(found, read, strict=True):
        _show(draft, owned, rows, user_id, context, chinese, several)
    if not found:
        draft.add_text("", [draft.remark(_NONE[chinese])])
    mode: Mode = "llm" if any(read) else "extractive"
    tables = sum(owned.item.kind == "table" for owned in found)
    detail = say(
        "{figures:d} figures, {tables:d} tables", figures=len(found) - tables, tables=tables
    )
    return StepResult(
        draft.update(mode, usage), detail, usage.prompt_tokens + usage.completion_tokens
    )


def _all_of(
    papers: Sequence[PaperInScope], user_id: UUID, context: TurnContext
) -> list[list[Owned]]:
    """Return the items of each paper, of the first few; say of which papers none are known."""
    if len(papers) > MOST_PAPERS:
        context.emit(
            Notice(
                "MANY_PAPERS",
                say(
                    "Figures and tables of the first {most:d} of {total:d} papers are shown.",
                    most=MOST_PAPERS,
                    total=len(papers),
                ),
                say("Choose the papers to look at."),
            )
        )
    found = []
    for paper in papers[:MOST_PAPERS]:
        structure = context.papers.structure(user_id, paper.id)
        if structure is None:
            context.emit(
                Notice(
                    "NO_STRUCTURE",
                    say(
                        "Figures and tables of “{title}” were never looked for.", title=paper.title
                    ),
                    say("Have it read anew in the library."),
                )
            )
            continue
        found.append([Owned(paper.id, paper.title, item) for item in items_of(structure)])
    return found


def _asked_for(
    question: str, by_paper: Sequence[Sequence[Owned]], context: TurnContext
) -> list[Owned]:
    """Return what the question means, of every paper in turn if there is more than can be shown."""
    every = [owned for items in by_paper for owned in items]
    found = wanted(question, every)
    if found is None and every:
        context.emit(
            Notice(
                "NO_SUCH_EXHIBIT",
                say("No figure or table here has the number or kind asked for; all are shown."),
                say("Ask for one of those that are there."),
            )
        )
    meant = every if found is None else found
    if len(meant) <= MOST_SHOWN:
        return meant
    context.emit(
        Notice(
            "MANY_EXHIBITS",
            say(
                "{shown:d} of {total:d} figures and tables are shown.",
                shown=MOST_SHOWN,
                total=len(meant),
            ),
            say("Name one by its number or by words of its caption."),
        )
    )
    turns = zip_longest(*([o for o in items if o in meant] for items in by_paper))
    chosen = [owned for turn in turns for owned in turn if owned is not None][:MOST_SHOWN]
    return [owned for owned in meant if owned in chosen]


def _read_by_model(
    found: Sequence[Owned], user_id: UUID, context: TurnContext
) -> tuple[list[Rows | None], Usage]:
    """Return for each item the data a vision model read of it, None where it read none."""
    read: list[Rows | None] = [None] * len(found)
    vision = context.vision
    figures = [at for at, owned in enumerate(found) if owned.item.kind == "figure"][:MOST_SEEN]
    if vision is None or not figures:
        return read, Usage()
    mapped = map_pieces(
        figures,
        lambda at: _look(found[at], user_id, context, vision),
        cancelled=context.cancelled,
        progress=lambda done, total: context.emit(
            StepProgress("charts", say("{done:d} of {total:d} pictures", done=done, total=total))
        ),
        at_once=_AT_ONCE,
    )
    usage = Usage()
    unread = 0
    for at, result in zip(figures, mapped.results, strict=True):
        if result is not None:
            read[at] = result[0]
            unread += result[1]
            usage = usage.plus(result[2])
    if mapped.reason is not None:
        context.emit(Notice(mapped.reason.code, mapped.reason.message, mapped.reason.hint))
    if unread:
        context.emit(
            Notice(
                "CHART_UNREAD",
                say(
                    "What the model read of {count:d} pictures cannot be a chart's data.",
                    count=unread,
                ),
                say("They are shown without data."),
            )
        )
    return read, usage


def _look(
    owned: Owned, user_id: UUID, context: TurnContext, vision: ChatModel
) -> tuple[Rows | None, bool, Usage] | None:
    """Return a chart's data as read, whether a reading was thrown away, and its tokens."""
    item = owned.item
    try:
        page = context.reader.picture(user_id, owned.paper_id, item.page, SCALE)
    except NotFound:
        return None  # a paper without pages to draw
    user = render("chart_user", caption=item.caption)
    messages = [
        Message("system", render("chart_system")),
        Message("user", user, (cut_out(page, item.box),)),
    ]
    reply = ask(vision, messages, ChartOfModel, context.cancelled)
    if reply.value is not None and not reply.value.chart:
        return None, False, reply.usage
    rows = None if reply.value is None else rows_of(reply.value)
    return rows, rows is None, reply.usage


def _show(
    draft: Draft,
    owned: Owned,
    read: Rows | None,
    user_id: UUID,
    context: TurnContext,
    chinese: bool,
    several: bool,
) -> None:
    """Finish the part of one figure or table: its caption is what is said of it."""
    item = owned.item
    chunks = context.papers.page_chunks(user_id, owned.paper_id, [item.page])
    chunk = chunk_of(item.caption, chunks)
    items = []
    if chunk is not None:
        number = draft.quote(Hit(chunk, Scores(), owned.title), item.caption)
        items.append(draft.state(shown(item.caption), [number]))
    exhibit = Exhibit(
        owned.paper_id,
        context.papers.file_facts(user_id, owned.paper_id).sha256,
        item.page,
        item.box,
        item.caption,
        read or item.rows,
        by_model=read is not None,
    )
    title = _title(item, chinese)
    draft.add_exhibit(f"{owned.title} · {title}" if several else title, exhibit, items)


def _title(item: Item, chinese: bool) -> str:
    if item.label is None:
        return _UNNAMED[item.kind, chinese].format(page=item.page)
    return _LABELS[item.kind, chinese].format(number=item.label[1])
