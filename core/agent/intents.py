"""The intents, as one table. Router, edges, timeline, pickers and the CLI are derived from it.

To add an intent: one entry here, and a module in `nodes/` for every step name that is new.
"""

from dataclasses import dataclass

from core.errors import BadInput
from core.wording import say


@dataclass(frozen=True, slots=True)
class Intent:
    """What a reader may want, and the steps that do it (module names in `core.agent.nodes`).

    `icon` is the name of a Material symbol. `examples` are questions that mean this, in English
    and Chinese: without a model the router goes by the nearest. `starts`: whether the first of them
    can be asked as it stands, without words of the reader's own.
    """

    name: str
    title: str
    description: str
    icon: str
    way: tuple[str, ...]
    examples: tuple[str, ...] = ()
    starts: bool = True


INTENTS: tuple[Intent, ...] = (
    Intent(
        name="chat",
        title=say("Answer a question"),
        description=say("Answer a question about the papers from their passages."),
        icon="chat",
        way=("rewrite", "retrieve", "answer", "verify"),
        examples=(
            "How many participants were included?",
            "Which data set was used for training?",
            "Why does the loss diverge?",
            "What does this term mean?",
            "What are the limitations?",
            "What is this paper about?",
            "What are the main results?",
            "How does the method work?",
            "Explain this formula.",
            "What else?",
            "Does the model generalise to other domains?",
            "有多少名参与者？",
            "用的是什么数据集？",
            "为什么会这样？",
            "这个词是什么意思？",
            "有什么局限？",
            "这篇文章讲什么？",
            "主要结果是什么？",
            "这个方法怎么工作？",
            "解释一下这个公式。",
            "还有呢？",
            "模型能推广到其他领域吗？",
        ),
    ),
    Intent(
        name="deep_read",
        title=say("Read deeply"),
        description=say("Read one paper from beginning to end into notes, with a glossary."),
        icon="menu_book",
        way=("deep_read", "verify"),
        examples=(
            "Read this paper deeply and take notes.",
            "Give me detailed reading notes on the whole paper.",
            "Walk me through this paper section by section.",
            "Explain the paper's problem, idea, method and evidence in depth.",
            "Help me understand this paper thoroughly from beginning to end.",
            "精读这篇论文。",
            "帮我做一份详细的阅读笔记。",
            "从头到尾带我读一遍这篇文章。",
            "逐步讲解这篇论文的问题、思路、方法和证据。",
            "深入解读全文，并列出术语表。",
        ),
    ),
    Intent(
        name="extract",
        title=say("Extract the facts"),
        description=say(
            "Fill in a form about each paper: task, method, data, results with units, limits."
        ),
        icon="table",
        way=("rewrite", "retrieve", "extract", "verify"),
        examples=(
            "Extract the task, method, data and results of this paper into a table.",
            "Fill in a table with the data sets, metrics and numbers.",
            "List all reported results with their units.",
            "Pull the key facts out of these papers as CSV.",
            "Give me a structured record of the paper: method, sample size, outcome, limitations.",
            "把这篇论文的任务、方法、数据、指标和结果提取成表格。",
            "抽取文中的所有实验数值和单位。",
            "列出论文用到的数据集和评价指标。",
            "帮我把关键信息整理成结构化的表。",
            "提取样本量、方法和主要结果，导出 CSV。",
        ),
    ),
)

DEFAULT_INTENT = "chat"


def all_intents() -> tuple[Intent, ...]:
    """Return the table. Whoever needs it asks here, so that one entry is all an intent takes."""
    return INTENTS


def intent(name: str) -> Intent:
    """Return the intent of that name.

    Raises:
        BadInput: there is none.
    """
    for entry in all_intents():
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in all_intents())
    raise BadInput(
        say("There is no intent “{name}”.", name=name),
        hint=say("Choose one of: {known}.", known=known),
        code="UNKNOWN_INTENT",
    )


def step_names() -> tuple[str, ...]:
    """Return every step of every way once, in the order of first use."""
    return tuple(dict.fromkeys(step for entry in all_intents() for step in entry.way))


def step_after(intent_name: str, step: str | None) -> str | None:
    """Return the step that follows on the intent's way: its first after None, None at its end."""
    way = intent(intent_name).way
    position = 0 if step is None else way.index(step) + 1
    return way[position] if position < len(way) else None
