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
        way=("deep_read", "verify", "remember"),
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
        name="personalized_summary",
        title=say("Summary for you"),
        description=say(
            "Explain one paper against what you have read: what is new, what you can skip."
        ),
        icon="person_book",
        way=("recall", "summarise", "verify", "remember"),
        examples=(
            "Summarise this paper for me, given what I have read.",
            "How does this paper relate to what I read before?",
            "What is new here for me?",
            "What can I skip, knowing my earlier readings?",
            "A personalised summary, please.",
            "结合我读过的论文总结这一篇。",
            "这篇和我以前读的有什么关系？",
            "对我来说，这篇新在哪里？",
            "按我的阅读经历，哪些部分可以跳过？",
            "个性化总结这篇论文。",
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
    Intent(
        name="critical",
        title=say("Review critically"),
        description=say(
            "Weigh a paper's claims against its evidence: threats, admitted limits, what is missing."
        ),
        icon="gavel",
        way=("rewrite", "retrieve", "critique", "verify"),
        examples=(
            "Review this paper critically.",
            "What are the weaknesses of the evidence?",
            "Which claims are not backed up by the experiments?",
            "What would a sceptical reviewer say about this paper?",
            "Are baselines or ablations missing?",
            "Assess the threats to validity.",
            "批判性地评价这篇论文。",
            "这篇论文的论证有哪些漏洞？",
            "作者的主张有足够的证据吗？",
            "以审稿人的眼光挑挑毛病。",
            "实验缺少哪些基线或消融？",
        ),
    ),
    Intent(
        name="compare",
        title=say("Compare papers"),
        description=say(
            "Put 2 to 6 papers side by side, aspect by aspect, each cell with its source."
        ),
        icon="compare",
        way=("rewrite", "compare", "verify"),
        examples=(
            "Compare these papers.",
            "How do the two papers differ in method and results?",
            "Put the papers side by side.",
            "Which of these papers uses more data?",
            "What do these studies agree and disagree on?",
            "比较这几篇论文。",
            "这两篇论文的方法有什么不同？",
            "把它们的数据和结果放在一起对比。",
            "这些研究有哪些一致和分歧？",
            "几篇论文各有什么局限，列表对比。",
        ),
    ),
    Intent(
        name="verify_sources",
        title=say("Check claims"),
        description=say(
            "Check pasted sentences, or a list of references, against the papers: what is supported,"
            " contradicted, not said."
        ),
        icon="fact_check",
        way=("claims", "verify"),
        examples=(
            "Check these claims:",
            "Verify the following statements against my papers.",
            "Is this paragraph supported by the sources?",
            "Fact-check this passage of my draft.",
            "Which of these references are in my library, and what do they say?",
            "核查以下说法：",
            "这段话有文献支持吗？",
            "帮我核对下面的论断是否有依据。",
            "检查这些参考文献在不在我的库里。",
            "判断下列陈述是否与论文一致。",
        ),
        starts=False,
    ),
    Intent(
        name="extract_charts",
        title=say("Figures and tables"),
        description=say("Cut figures out of the papers and take tables out as data."),
        icon="bar_chart",
        way=("charts", "verify"),
        examples=(
            "Show all figures and tables of this paper.",
            "Extract table 2 as data.",
            "Get the numbers out of figure 3.",
            "Turn the chart into a data frame.",
            "Export the results table as CSV.",
            "提取论文中的所有图表。",
            "把表 2 导出为数据。",
            "读出图 3 中的数值。",
            "列出这篇论文的全部插图。",
            "把结果表格导出成 CSV。",
        ),
    ),
    Intent(
        name="research",
        title=say("Research a question"),
        description=say(
            "Search your library and arXiv with tools, and answer from what is found, with sources."
        ),
        icon="travel_explore",
        way=("rewrite", "research", "verify"),
        examples=(
            "Find new papers on this topic on the web.",
            "Search arXiv for recent work that cites this.",
            "Write a literature review on retrieval augmentation.",
            "Research the state of the art and report back.",
            "上网查找这个主题的最新论文。",
            "在 arXiv 上搜索相关工作。",
            "就这个方向写一份文献调研。",
            "调研一下这个领域的最新进展。",
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
