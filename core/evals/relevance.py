"""Is the paper that fits a topic best put first? By meaning, by words and by both.

A case is a topic and the papers it is compared with, as `paper_search` compares what it found: of a
topic in Chinese the list of terms tells the English words. Of the project's own cases one half is for
choosing the weights (`core.evals.fit_relevance`), the other is reported. The shared sets, where a
query is to find its own paper among 20 others, are development material as a whole.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput
from core.evals.sets import RetrievalSet, en_to_zh, load, read_jsonl, zh_to_en
from core.models.embed import Embedder, Vectors
from core.tools.relevance import Array, Relevance, across, relevance
from core.tools.topics import in_english

OTHERS = 20
CHOOSE = "choose"


@dataclass(frozen=True, slots=True)
class Case:
    """A topic, the texts (title and abstract) it is compared with, and which of them fit it.

    `split`: the half it is of, '' where there are no halves.
    """

    query: str
    kind: str
    papers: tuple[str, ...]
    relevant: frozenset[int]
    split: str = ""


class Place(NamedTuple):
    """Where a relevant paper came: the chance that one is first, and 1 / the best one's rank.

    Papers of equal score stand in any order.
    """

    first: float
    reciprocal: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A case with its papers' scores, and which of them are in another language than the topic."""

    case: Case
    found: Relevance
    cross: NDArray[np.bool_]

    def place(self, scores: Array) -> Place:
        """Return where scores of the papers, shape (n,), put a relevant one."""
        right = np.isin(np.arange(len(scores)), list(self.case.relevant))
        first = scores == scores.max()
        best = scores[right].max()
        ahead = (scores > best).sum() + (scores[~right] == best).sum() / 2
        return Place(float((first & right).sum() / first.sum()), float(1 / (1 + ahead)))


class Remembering:
    """An embedder that encodes each text once: the same papers stand in many cases."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.languages = embedder.languages
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        return self._embedder.dimension

    @property
    def ready(self) -> bool:
        """Whether the weights are in memory."""
        return self._embedder.ready

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, shape (len(texts), dimension)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._embedder.encode(new), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32)


def run(path: Path, shared: Path | None, embedder: Embedder) -> dict[str, Any]:
    """Score every case of a file, and of the shared sets if there are any.

    Returns:
        `n`, `top1` and `mrr` by way of scoring, `per_kind` top 1; the same for each half of a file
        that has halves (`halves`), and for each shared set (`shared`).

    Raises:
        BadInput: a set is not there or malformed.
    """
    rows = score(own_cases(path), embedder)
    halves = sorted({row.case.split for row in rows} - {""})
    result = _figures(rows)
    if halves:
        result["halves"] = {
            half: _figures([row for row in rows if row.case.split == half]) for half in halves
        }
    if shared is not None:
        found = by_kind(score(shared_cases(shared), embedder))
        result["shared"] = {kind: _means(rows) for kind, rows in found.items()}
    return result


def score(cases: Iterable[Case], embedder: Embedder) -> list[Scored]:
    """Return cases with the scores that `paper_search` would give to their papers."""
    once = Remembering(embedder)
    return [
        Scored(
            case,
            relevance(case.query, case.papers, once, _english(case.query)),
            across(case.query, case.papers),
        )
        for case in cases
    ]


def _english(query: str) -> str:
    return in_english(query, None, threading.Event()).text


def own_cases(path: Path) -> list[Case]:
    """Return the cases of a file as data/evals/README.md describes it.

    Raises:
        BadInput: it is not there, is empty, or a line is no case.
    """
    cases = []
    for number, row in enumerate(read_jsonl(path), start=1):
        try:
            cases.append(_case(row))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{path.name}, case {number} is no case: {error!r}") from error
    if not cases:
        raise BadInput(f"{path.name} holds no cases")
    return cases


def _case(row: Mapping[str, Any]) -> Case:
    papers = tuple(f"{paper['title']}\n{paper['abstract']}" for paper in row["candidates"])
    relevant = frozenset(int(at) for at in row["relevant"])
    if not relevant or not relevant <= set(range(len(papers))):
        raise ValueError("relevant has to name candidates")
    return Case(str(row["query"]), str(row["kind"]), papers, relevant, str(row.get("split", "")))


def shared_cases(shared: Path) -> list[Case]:
    """Return each query of the shared sets with its own paper among OTHERS that stand beside it.

    Raises:
        BadInput: a set is not there or malformed.
    """
    pairs = shared / "zh_en_daily_arxiv"
    sets = {
        "zh summary, en abstract": zh_to_en(pairs),
        "the same, no Latin letters": zh_to_en(pairs, pure=True),
        "en title, zh summary": en_to_zh(pairs),
        "en question, en abstract": load(shared / "qa_pubmedqa"),
        "zh title, zh abstract": load(shared / "zh_csl"),
    }
    return [case for kind, data in sets.items() for case in _among(kind, data)]


def _among(kind: str, data: RetrievalSet) -> Iterator[Case]:
    size = len(data.passages)
    for query in data.queries:
        (own,) = query.relevant
        steps = range(-OTHERS // 2, OTHERS // 2 + 1)
        near = list(dict.fromkeys((own + step) % size for step in steps))
        papers = tuple(data.passages[at] for at in near)
        yield Case(query.text, kind, papers, frozenset({near.index(own)}))


def _figures(rows: Sequence[Scored]) -> dict[str, Any]:
    kinds = {kind: _means(found) for kind, found in by_kind(rows).items()}
    per_kind = {kind: {"n": found["n"], **found["top1"]} for kind, found in kinds.items()}
    return {**_means(rows), "per_kind": per_kind}


def by_kind(rows: Iterable[Scored]) -> dict[str, list[Scored]]:
    """Return cases by kind, kinds in the order in which they come."""
    found: dict[str, list[Scored]] = {}
    for row in rows:
        found.setdefault(row.case.kind, []).append(row)
    return found


def _means(rows: Sequence[Scored]) -> dict[str, Any]:
    places = {
        way: [row.place(getattr(row.found, way)) for row in rows] for way in Relevance._fields
    }
    return {
        "n": len(rows),
        "top1": {way: _mean(place.first for place in found) for way, found in places.items()},
        "mrr": {way: _mean(place.reciprocal for place in found) for way, found in places.items()},
    }


def _mean(values: Iterable[float]) -> float:
    return round(float(np.mean(list(values))), 3)
