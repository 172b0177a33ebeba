"""Researches a question beyond the library, with tools.

A model calls them in a bounded loop and answers from what they found. Without one the library and
arXiv are searched once, and the answer is what the papers themselves say.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from core.agent.asking import alone, in_words
from core.agent.draft import Draft
from core.agent.events import Notice
from core.agent.findings import Findings
from core.agent.prompting import offer
from core.agent.prompts import render
from core.agent.state import StepResult, TurnContext, TurnState
from core.agent.toolloop import Steps, run_loop, stopping
from core.agent.topic import Topic, topic_of
from core.errors import BadInput, Cancelled, ModelFailed
from core.evidence.language import is_chinese
from core.evidence.numbering import cited
from core.evidence.sentences import sentences
from core.evidence.support import best_quote
from core.extractive.answer import answer
from core.models.toolchat import ToolChat
from core.tools.catalogue import paper_search, search_library
from core.tools.envelope import Envelope
from core.types import Hit, Usage
from core.wording import say

TITLE = say("Research")
PASSAGES, PAPERS = 8, 10
"""What is searched for without a model."""
QUOTED = 4
"""Sentences of the library, and of what was found outside, that are shown when no model writes."""
_KEPT = 4_000
"""Tokens of a result that is kept without a model."""
_FEW = 2
"""Words of a topic with which the search is tried again when all of them find nothing."""

_HOW = (
    "No language model was used. Your library{and_} searched for “{topic}”; the sentences below are "
    "the papers' own.",
    "没有使用语言模型。以“{topic}”检索了文献库{and_}，以下均为论文原句。",
)
_AND = ((" was", ""), (" and arXiv were", "和 arXiv"))
_NO_TOPIC = (
    "Name a topic in the question to have arXiv searched for it.",
    "请在问题中写明主题，以便在 arXiv 上检索。",
)
_NOT_WRITTEN = (
    "The model gave no answer. This is what had been found.",
    "模型没有给出回答。以下是已经找到的内容。",
)
_NOTHING = ("Nothing was found.", "没有找到任何内容。")
_LIBRARY = ("In your library", "文献库中")
_CLOSEST = ("Closest passages in your library", "文献库中最接近的段落")
_OUTSIDE = ("In what was found outside", "在库外检索到的内容中")
_FOUND = ("Papers found", "检索到的论文")
_COUNTED = (
    "{count:d} papers were found outside your library.",
    "在文献库之外检索到 {count:d} 篇论文。",
)
_ONE = ("One paper was found outside your library.", "在文献库之外检索到 1 篇论文。")


def run(state: TurnState, context: TurnContext) -> StepResult:
    """Set the draft's parts: the answer, and the papers that were found outside the library.

    Raises:
        BadInput: an empty question.
    """
    if not alone(state).strip():
        raise BadInput(
            say("The question is empty."), hint=say("Type a question or a few key words.")
        )
    scope = state["scope"]
    findings = Findings(Draft(context), context.papers)
    with stopping(context.cancelled, context.limits) as stop:
        box = replace(context.toolbox(scope.user_id, stop), chat=lambda: context.chat)
        steps = Steps(context, box, "research", scope.paper_ids or ())
        research = _Research(state, context, findings, steps)
        if context.chat is None:
            research.by_searching()
        else:
            research.by_model(ToolChat(chat=context.chat, cancelled=stop))
    detail = say(
        "{count:d} steps, {papers:d} papers found",
        count=steps.count,
        papers=len(findings.listed({})),
    )
    update = research.draft.update("llm" if research.written else "extractive", research.usage)
    tokens = research.usage.prompt_tokens + research.usage.completion_tokens
    return StepResult(update, detail, tokens)


class _Research:
    """One research on its way into a draft. `written`: whether a model wrote the answer."""

    def __init__(
        self, state: TurnState, context: TurnContext, findings: Findings, steps: Steps
    ) -> None:
        self._state = state
        self._context = context
        self._findings = findings
        self._steps = steps
        self._chinese = is_chinese(state["question"])
        self.draft = findings.draft
        self.written = False
        self.usage = Usage(full_text_tokens=state["full_text_tokens"])

    # --- by a model -----------------------------------------------------------------------------

    def by_model(self, model: ToolChat) -> None:
        """Let the model research; when it has no answer, show what had been found."""
        system = render(
            "research_system",
            steps=self._context.limits.steps,
            language="Chinese" if self._chinese else "English",
        )
        try:
            text = run_loop(
                model, self._context, self._steps, self._findings, system, self._messages(system)
            )
        except Cancelled:
            text = model.written
        except ModelFailed as error:
            self._context.emit(Notice(error.code, error.message, error.hint))
            text = model.written if cited(model.written) else ""
        self.usage = self.usage.plus(model.spent)
        self.written = bool(text.strip())
        if self.written:
            for paragraph in re.split(r"\n[ \t]*\n", text):
                said = [self.draft.state(sentence) for sentence in sentences(paragraph)]
                self.draft.add_text("", said)
        else:
            self.draft = Draft(self._context)  # what was offered under numbers is not cited
            self._remark(_NOT_WRITTEN[self._chinese])
            about = [alone(self._state)]
            self._quote(_LIBRARY, self._nearest(self._findings.passages.values(), about))
            self._quote(_OUTSIDE, self._nearest(self._findings.outside.values(), about))
        self._list()

    def _messages(self, system: str) -> list[AnyMessage]:
        chosen = offer(
            [],
            system=system,
            question=alone(self._state),
            context_tokens=self._context.context_tokens,
            reserve=self._context.context_tokens * 3 // 4,  # for what the tools will find
            selected=self._state["selected"],
            history=self._state["history"],
        )
        history: list[AnyMessage] = [
            HumanMessage(message.content) if message.role == "user" else AIMessage(message.content)
            for message in chosen.history
        ]
        user = render(
            "research_user",
            selected=chosen.selected,
            papers=[{"id": str(id_), "title": title} for id_, title in self._in_scope().items()],
            question=chosen.question,
        )
        return [*history, HumanMessage(user)]

    # --- by searching once ----------------------------------------------------------------------

    def by_searching(self) -> None:
        """Search the library and arXiv, and show what they say in their own words."""
        topic = self._topic()
        query = topic.text or alone(self._state)
        self._keep(
            search_library.name,
            self._steps.call(search_library, {"query": query[:1000], "number": PASSAGES}),
        )
        if topic.text:
            self._search_arxiv(topic)
        self.draft = Draft(self._context)
        where = _AND[bool(topic.text)][self._chinese]
        self._remark(_HOW[self._chinese].format(and_=where, topic=query[:80]))
        if not topic.text:
            self._remark(_NO_TOPIC[self._chinese])
        passages = list(self._findings.passages.values())
        if passages:
            chosen = answer(query, passages, self._context.embedder, chinese=self._chinese)
            by_text = {hit.chunk.text: hit for hit in passages}
            quotes = [(by_text[one.passage], one.quote) for one in chosen.citations]
            self._quote(_CLOSEST if chosen.refused else _LIBRARY, quotes)
        self._quote(_OUTSIDE, self._nearest(self._findings.outside.values(), [query]))
        self._list()

    def _topic(self) -> Topic:
        """Return what the question is about; where it names nothing, the one paper in scope."""
        topic, titles = topic_of(alone(self._state)), self._in_scope()
        if topic.text or len(titles) != 1:
            return topic
        (title,) = titles.values()
        return topic._replace(text=topic_of(title).text)

    def _search_arxiv(self, topic: Topic) -> None:
        given = {
            "topic": topic.text,
            "number": PAPERS,
            **({"sort": "submitted"} if topic.recent else {}),
            **({"year_from": topic.year_from} if topic.year_from else {}),
        }
        envelope = self._steps.call(paper_search, given)
        words, error = topic.text.split(), envelope["error"]
        if error and error["code"] == "EMPTY_RESULT" and len(words) > _FEW:
            envelope = self._steps.call(paper_search, {**given, "topic": " ".join(words[:_FEW])})
            error = envelope["error"]
        if error:
            self._context.emit(Notice(error["code"], error["message"], error["hint"]))
        self._keep(paper_search.name, envelope)

    def _keep(self, tool: str, envelope: Envelope) -> None:
        self._findings.told(tool, envelope, _KEPT)

    # --- parts ----------------------------------------------------------------------------------

    def _in_scope(self) -> dict[str, str]:
        scope = self._state["scope"]
        titles = self._context.papers.titles(scope.paper_ids or (), scope.user_id)
        return {str(paper): title for paper, title in titles.items()}

    def _nearest(self, hits: Iterable[Hit], about: Sequence[str]) -> list[tuple[Hit, str]]:
        """Return of the first hits the sentence nearest to what is asked about."""
        return [
            (hit, best_quote(about, hit.chunk.text, self._context.embedder))
            for hit in islice(hits, QUOTED)
        ]

    def _quote(self, title: tuple[str, str], quotes: Sequence[tuple[Hit, str]]) -> None:
        draft = self.draft
        said = [draft.state(in_words(text), [draft.quote(hit, text)]) for hit, text in quotes]
        if said:
            draft.add_text(title[self._chinese], said)

    def _list(self) -> None:
        papers = self._findings.listed(self.draft.outside())
        if papers:
            told = _ONE[self._chinese] if len(papers) == 1 else _COUNTED[self._chinese]
            counted = self.draft.remark(told.format(count=len(papers)))
            self.draft.add_papers(_FOUND[self._chinese], papers, [counted])
        elif not self.written and not (self._findings.passages or self._findings.outside):
            self._remark(_NOTHING[self._chinese])

    def _remark(self, text: str) -> None:
        self.draft.add_text("", [self.draft.remark(text)])
