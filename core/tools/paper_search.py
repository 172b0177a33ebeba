"""The tool that finds papers on a topic, in arXiv or in one of the second sources."""

from typing import Any, Literal

from pydantic import Field

from core.tools.arxiv_search import Query, Results
from core.tools.envelope import ToolFailure
from core.tools.found import identity
from core.tools.registry import tool
from core.tools.relevance import relevance
from core.tools.toolbox import Toolbox
from core.tools.topics import Topic, in_english
from core.wording import say


class Search(Query):
    """What is looked for, and where."""

    source: Literal["arxiv", "openalex", "crossref"] = Field(
        "arxiv", description="arXiv; or OpenAlex or Crossref for what is published elsewhere."
    )


@tool(
    Search,
    source="arxiv",
    about="Find papers on a topic. Returns title, authors, year, abstract, ids and relevance of "
    "each. Give the topic as a few English terms; Chinese is translated.",
)
def paper_search(box: Toolbox, wanted: Search) -> dict[str, Any]:
    """Return the papers found, each once, best first where they are sorted by relevance.

    Data: `query` as it was sent; `topic` in English and `translated_by` (`model`, `terms` or '');
    `unknown_terms` of a Chinese topic; `total` papers there are, `offset` of the first; `papers`,
    each as in `Found`, with `relevance` (`embedding`, `tfidf`, `combined`).

    Raises:
        ToolFailure: with the code of what is wrong.
        Cancelled: it was stopped.
    """
    box.report(say("Putting the topic into words to search by…"))
    topic = in_english(wanted.topic, box.chat(), box.cancelled)
    results = _asked(box, wanted.model_copy(update={"topic": _usable(wanted, topic)}))
    box.report(say("Comparing the papers found with the topic…"))
    papers = list({identity(paper): paper for paper in reversed(results.papers)}.values())[::-1]
    texts = [f"{paper['title']}\n{paper['abstract']}" for paper in papers]
    fit = relevance(wanted.topic, texts, box.embedder(), topic.text)
    order = list(range(len(texts)))
    if wanted.sort == "relevance":
        order.sort(key=lambda at: -fit.combined[at])
    rows = [{**papers[at], "relevance": fit.of(at)} for at in order]
    return {
        "query": results.query,
        "topic": topic.text,
        "translated_by": topic.by,
        "unknown_terms": list(topic.unknown),
        "total": results.total,
        "offset": wanted.offset,
        "papers": rows,
    }


def _usable(wanted: Search, topic: Topic) -> str:
    """Return the topic to ask for; OpenAlex and Crossref have papers in Chinese too.

    Raises:
        ToolFailure: INVALID_ARGS when arXiv is to be asked for what could not be translated.
    """
    if topic.text or wanted.source != "arxiv":
        return topic.text or wanted.topic
    raise ToolFailure(
        "INVALID_ARGS",
        say(
            "No term of this Chinese topic is known, and arXiv's papers are found by English words."
        ),
        _in_other_words(topic.unknown),
    )


def _in_other_words(unknown: tuple[str, ...]) -> str:
    if not unknown:
        return say("Give the topic in English.")
    terms = "、".join(unknown)
    return say("Give the topic in English, or use other words for {terms}.", terms=terms)


def _asked(box: Toolbox, wanted: Search) -> Results:
    if wanted.source == "openalex":
        box.report(say("Asking {site}…", site="OpenAlex"))
        return box.openalex.search(wanted)
    if wanted.source == "crossref":
        box.report(say("Asking {site}…", site="Crossref"))
        return box.crossref.search(wanted)
    box.report(say("Waiting for arXiv, at the pace it asks everybody to keep…"))
    return box.arxiv.search(wanted, box.cancelled)
