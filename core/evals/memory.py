"""Do similar readings hit the right topic? Papers of one topic against others, in both languages.

A case is a paper whose topic is known; the reader has read five papers of each topic, its own
among them. A hit: one of the three readings found for it is of its topic. Every second topic (by
name) is of the half for choosing, the others are reported. The Chinese disciplines are many and near
to each other: they are asked all at once, and four at a time, as a reader with four interests has them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import numpy as np

from core.evals.sets import read_jsonl
from core.memory.readings import SIMILAR, NewReading, ReadingStore
from core.memory.vectors import text_of
from core.models.embed import Embedder

READ, MOST_ASKED = 5, 20
"""Papers of each topic that were read, and at most so many that are asked about."""
AT_ONCE = 4
_ENOUGH = 10
"""Papers that a topic has to have."""
_ARXIV_TOPICS = ("cs.AI", "cs.CL", "cs.CV", "cs.IT")


@dataclass(frozen=True, slots=True)
class _Paper:
    id: UUID
    title: str
    about: str
    asked_as: str
    topic: str


_Topics = dict[str, list[_Paper]]


def run(shared: Path, readings: ReadingStore, embedder: Embedder) -> dict[str, Any]:
    """Return for each kind and half how many cases there are, and the share of hits.

    Args:
        shared: the folder with `zh_csl` and `zh_en_daily_arxiv`.
        readings: an empty store.
        embedder: the first of the dense paths.

    Raises:
        BadInput: the sets are not there or malformed.
    """
    kinds: dict[str, Sequence[_Paper]] = {
        "zh, four disciplines": _chinese(shared / "zh_csl" / "papers.jsonl"),
        "zh, all disciplines": _chinese(shared / "zh_csl" / "papers.jsonl"),
        "en, by category": _english(shared / "zh_en_daily_arxiv" / "pairs.jsonl", _in_english),
        "zh asked, en read": _english(shared / "zh_en_daily_arxiv" / "pairs.jsonl", _in_chinese),
    }
    return {
        kind: {
            half: _share(
                _asked(readers, readings, embedder)
                for readers in _readers(topics, AT_ONCE if "four" in kind else len(topics))
            )
            for half, topics in _halves(papers).items()
        }
        for kind, papers in kinds.items()
    }


def _chinese(path: Path) -> list[_Paper]:
    return [
        _Paper(_id(row["id"]), row["title"], row["abstract"], "", row["discipline"])
        for row in read_jsonl(path)
    ]


def _english(path: Path, asked_as: Callable[[dict[str, Any]], str]) -> list[_Paper]:
    """Return the papers of one category alone: of several, none is the topic."""
    return [
        _Paper(
            _id(row["id"]), row["title_en"], row["abstract_en"], asked_as(row), *row["categories"]
        )
        for row in read_jsonl(path)
        if len(row["categories"]) == 1 and row["categories"][0] in _ARXIV_TOPICS
    ]


def _in_english(row: dict[str, Any]) -> str:
    return ""


def _in_chinese(row: dict[str, Any]) -> str:
    return f"{row['zh_tldr']}\n{row['zh_method']}"


def _id(name: str) -> UUID:
    return uuid5(NAMESPACE_URL, name)


def _halves(papers: Sequence[_Paper]) -> dict[str, _Topics]:
    """Return topics of enough papers in two halves; few topics are halved by their papers."""
    topics: dict[str, list[_Paper]] = defaultdict(list)
    for paper in papers:
        topics[paper.topic].append(paper)
    large = {name: topics[name] for name in sorted(topics) if len(topics[name]) >= _ENOUGH}
    if len(large) >= 8:
        names = list(large)
        return {
            "choosing": {name: large[name] for name in names[::2]},
            "report": {name: large[name] for name in names[1::2]},
        }
    return {
        "choosing": {name: found[::2] for name, found in large.items()},
        "report": {name: found[1::2] for name, found in large.items()},
    }


def _readers(topics: _Topics, at_once: int) -> Iterator[_Topics]:
    """Yield the topics of one reader after another; a last one of fewer topics is left out."""
    names = list(topics)
    for start in range(0, len(names) - at_once + 1, at_once):
        yield {name: topics[name] for name in names[start : start + at_once]}


def _asked(topics: _Topics, readings: ReadingStore, embedder: Embedder) -> list[list[bool]]:
    """Have a new reader read some papers; return for each further one which readings were right."""
    user = uuid4()
    read = [paper for papers in topics.values() for paper in papers[:READ]]
    vectors = embedder.encode([text_of(paper.title, paper.about) for paper in read])
    new = [
        NewReading(paper.id, paper.title, paper.about, np.asarray(vector), embedder.name)
        for paper, vector in zip(read, vectors, strict=True)
    ]
    readings.remember(user, *new)
    topic_of = {paper.id: paper.topic for paper in read}
    asked = [paper for papers in topics.values() for paper in papers[READ : READ + MOST_ASKED]]
    queries = embedder.encode([p.asked_as or text_of(p.title, p.about) for p in asked])
    found = [
        readings.similar(user, np.asarray(vector), embedder.name, paper.id, SIMILAR)
        for paper, vector in zip(asked, queries, strict=True)
    ]
    return [
        [topic_of[one.reading.paper_id] == paper.topic for one in similar]
        for paper, similar in zip(asked, found, strict=True)
    ]


def _share(readers: Iterable[list[list[bool]]]) -> dict[str, Any]:
    right = [one for asked in readers for one in asked]
    return {
        "n": len(right),
        "top3": round(sum(any(one) for one in right) / len(right), 3),
        "top1": round(sum(one[0] for one in right) / len(right), 3),
    }
