"""Measure the figures of sample papers 1 and 3 again: `python -m data.samples.measure --data DIR`.

DIR is the folder of test material (`../shared/data`). Writes the parts `fusion`,
`cross_language` and `tokens` of figures.json and leaves the others. Uses the app's own tokens,
encoder and z-scores; the passages of each set are ranked in full. Takes some minutes.
"""

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import bm25s
import numpy as np
from numpy.typing import NDArray

from core.models.embed import MultilingualUSE
from core.retrieval.fuse import z_scores
from core.retrieval.tokenize import tokenize

FIGURES = Path(__file__).with_name("figures.json")
SOURCE = "python -m data.samples.measure, development half of the test material"
RRF_K = 60
DEPTH = 100
"""How many passages a path lists for reciprocal rank fusion."""
WEIGHTS = tuple(round(i / 10, 1) for i in range(11))

Array = NDArray[np.float64]

_OTHER_SCRIPTS = re.compile(r"[^\W\u4e00-\u9fff]+")
"""Letters and digits that are not Chinese characters: Latin and Greek above all."""


@dataclass(frozen=True, slots=True)
class Task:
    """Queries over one set of passages; `relevant[i]`: positions of the answers to query i."""

    queries: Sequence[str]
    passages: Sequence[str]
    relevant: Sequence[frozenset[int]]


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pubmedqa(data: Path) -> list[Task]:
    """Return PubMedQA: a question finds the abstract it was asked about."""
    rows = _rows(data / "qa_pubmedqa" / "questions.jsonl")
    return [_known_items([r["question"] for r in rows], [" ".join(r["contexts"]) for r in rows])]


def csl(data: Path) -> list[Task]:
    """Return CSL: a Chinese title finds its abstract."""
    rows = _rows(data / "zh_csl" / "papers.jsonl")
    return [_known_items([r["title"] for r in rows], [r["abstract"] for r in rows])]


def scifact(data: Path) -> list[Task]:
    """Return SciFact: a claim finds the abstracts with evidence for or against it."""
    corpus = _rows(data / "ret_scifact" / "corpus.jsonl")
    position = {row["doc_id"]: i for i, row in enumerate(corpus)}
    claims = [c for c in _rows(data / "ret_scifact" / "claims.jsonl") if c["evidence"]]
    return [
        Task(
            [claim["claim"] for claim in claims],
            [row["title"] + " " + " ".join(row["abstract"]) for row in corpus],
            [frozenset(position[e["doc_id"]] for e in claim["evidence"]) for claim in claims],
        )
    ]


def qasper(data: Path) -> list[Task]:
    """Return QASPER, one task a paper: a question finds its evidence paragraphs there."""
    folder = data / "qa_qasper"
    paragraphs, questions = _rows(folder / "paragraphs.jsonl"), _rows(folder / "questions.jsonl")
    tasks = []
    for paper in sorted({row["paper"] for row in questions if row["evidence_pids"]}):
        own = [row for row in paragraphs if row["paper"] == paper]
        position = {row["pid"]: i for i, row in enumerate(own)}
        asked = [row for row in questions if row["paper"] == paper and row["evidence_pids"]]
        relevant = [frozenset(position[pid] for pid in row["evidence_pids"]) for row in asked]
        texts = [row["text"] for row in own]
        tasks.append(Task([row["question"] for row in asked], texts, relevant))
    return tasks


def across_languages(data: Path) -> dict[str, Task]:
    """Return the three tasks of paper 3 over the same papers."""
    rows = _rows(data / "zh_en_daily_arxiv" / "pairs.jsonl")
    english = [row["title_en"] + ". " + row["abstract_en"] for row in rows]
    chinese = [row["zh_tldr"] for row in rows]
    bare = [_OTHER_SCRIPTS.sub("", text) for text in chinese]
    return {
        "zh_en": _known_items(chinese, english),
        "zh_en_bare": _known_items(bare, english),
        "en_zh_bare": _known_items([row["title_en"] for row in rows], bare),
    }


def _known_items(queries: Sequence[str], passages: Sequence[str]) -> Task:
    return Task(queries, passages, [frozenset([i]) for i in range(len(queries))])


class Dense:
    """Cosines by the multilingual sentence encoder."""

    def __init__(self) -> None:
        self._model = MultilingualUSE()
        self._known: dict[tuple[str, ...], Array] = {}

    def vectors(self, texts: Sequence[str]) -> Array:
        """Return one unit vector a text; the same texts are encoded once."""
        key = tuple(texts)
        if key not in self._known:
            self._known[key] = np.asarray(self._model.encode(texts), dtype=np.float64)
        return self._known[key]

    def scores(self, task: Task) -> Array:
        """Return shape (queries, passages)."""
        return self.vectors(task.queries) @ self.vectors(task.passages).T


def bm25_scores(task: Task, terms: Callable[[str], list[str]] = tokenize) -> Array:
    """Return shape (queries, passages); a query that shares no term with any passage: zeros."""
    index = bm25s.BM25()
    index.index([terms(text) for text in task.passages], show_progress=False)
    rows = []
    for query in task.queries:
        known = [term for term in terms(query) if term in index.vocab_dict]
        rows.append(index.get_scores(known) if known else np.zeros(len(task.passages)))
    return np.vstack(rows).astype(np.float64)


def z_scored(dense: Array, bm25: Array, weight: float) -> Array:
    """Return weight * z(dense) + (1 - weight) * z(bm25), by query."""
    pairs = zip(dense, bm25, strict=True)
    return np.vstack([weight * z_scores(d) + (1 - weight) * z_scores(b) for d, b in pairs])


def reciprocal_ranks(*paths: Array) -> Array:
    """Return the sum of 1 / (60 + rank) over the paths that list a passage (Cormack 2009)."""
    total = np.zeros_like(paths[0])
    for scores in paths:
        ranks = (-scores).argsort(axis=1, kind="stable").argsort(axis=1) + 1
        listed = (ranks <= DEPTH) & (scores != 0)
        total += np.where(listed, 1.0 / (RRF_K + ranks), 0.0)
    return total


def ndcg10(scores: Array, relevant: frozenset[int]) -> float:
    """Return nDCG@10 of one query with binary relevance; a score of zero is not retrieved."""
    order = _best(scores, 10)
    gains = sum(1 / np.log2(rank + 2) for rank, i in enumerate(order) if i in relevant)
    ideal = sum(1 / np.log2(rank + 2) for rank in range(min(len(relevant), 10)))
    return float(gains / ideal)


def recall5(scores: Array, relevant: frozenset[int]) -> float:
    """Return the share of the relevant passages among the first five."""
    return len(relevant.intersection(_best(scores, 5))) / len(relevant)


def recall1(scores: Array, relevant: frozenset[int]) -> float:
    """Return the share of the relevant passages that stand first."""
    return len(relevant.intersection(_best(scores, 1))) / len(relevant)


def _best(scores: Array, k: int) -> list[int]:
    return [int(i) for i in np.argsort(-scores, kind="stable")[:k] if scores[i] != 0]


Measure = Callable[[Array, frozenset[int]], float]


def _mean(measure: Measure, tasks: Sequence[Task], scored: Sequence[Array]) -> float:
    values = [
        measure(row, wanted)
        for task, scores in zip(tasks, scored, strict=True)
        for row, wanted in zip(scores, task.relevant, strict=True)
    ]
    return round(float(np.mean(values)), 4)


def fusion_figures(tasks: Sequence[Task], measure: Measure, dense_path: Dense) -> dict:
    """Return what the tables and the curve of paper 1 show of one set."""
    dense = [dense_path.scores(task) for task in tasks]
    bm25 = [bm25_scores(task) for task in tasks]
    both = list(zip(dense, bm25, strict=True))
    return {
        "passages": sum(len(task.passages) for task in tasks),
        "queries": sum(len(task.queries) for task in tasks),
        "dense": _mean(measure, tasks, dense),
        "bm25": _mean(measure, tasks, bm25),
        "rrf": _mean(measure, tasks, [reciprocal_ranks(d, b) for d, b in both]),
        "zscored": [
            [weight, _mean(measure, tasks, [z_scored(d, b, weight) for d, b in both])]
            for weight in WEIGHTS
        ],
    }


def cross_figures(task: Task, dense_path: Dense) -> dict:
    """Return what Table 1 of paper 3 shows of one task."""
    dense, bm25 = dense_path.scores(task), bm25_scores(task)
    ways = {"dense": dense, "bm25": bm25, "rrf": reciprocal_ranks(dense, bm25)}
    ways["zscored"] = z_scored(dense, bm25, 0.5)
    measures = {"ndcg10": ndcg10, "recall1": recall1, "recall5": recall5}
    figures: dict = {
        way: {name: _mean(measure, [task], [scores]) for name, measure in measures.items()}
        for way, scores in ways.items()
    }
    return figures | {"cosine": _cosines(dense), "length": _by_length(task, dense)}


def _cosines(dense: Array) -> dict[str, float]:
    """Return the mean cosine of a query with its own passage and with all others."""
    own = np.eye(len(dense), dtype=bool)
    means = {"own": dense[own], "other": dense[~own]}
    return {name: round(float(np.mean(values)), 3) for name, values in means.items()}


def _by_length(task: Task, dense: Array) -> dict[str, float]:
    """Return the dense path's nDCG@10 over the shorter and the longer half of the queries."""
    values = [ndcg10(row, wanted) for row, wanted in zip(dense, task.relevant, strict=True)]
    order = sorted(range(len(values)), key=lambda i: (len(task.queries[i]), i))
    middle = len(order) // 2
    halves = {"shorter": order[:middle], "longer": order[middle:]}
    return {name: round(float(np.mean([values[i] for i in h])), 4) for name, h in halves.items()}


def main() -> None:
    """Measure and write figures.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    dense = Dense()
    sets = {"scifact": scifact, "pubmedqa": pubmedqa, "csl": csl, "qasper": qasper}
    fusion = {"source": SOURCE} | {
        name: fusion_figures(load(data), recall5 if name == "qasper" else ndcg10, dense)
        for name, load in sets.items()
    }
    words = scifact(data)
    white_space = _mean(ndcg10, words, [bm25_scores(words[0], str.split)])
    tokens = {"source": SOURCE, "white_space": white_space, "lectern": fusion["scifact"]["bm25"]}
    tasks = across_languages(data)
    crossed = {"source": SOURCE, "papers": len(tasks["zh_en"].passages)} | {
        name: cross_figures(task, dense) for name, task in tasks.items()
    }
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    figures |= {"fusion": fusion, "cross_language": crossed, "tokens": tokens}
    text = json.dumps(figures, ensure_ascii=False, indent=2)
    FIGURES.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
