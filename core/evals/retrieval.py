"""Retrieval quality: nDCG and recall of each path and of the fusion, on labelled sets.

Scores are made and fused by the code that search uses: a set in papers is scored in full, as
search does from its cache; a library through lists of the best of each path, as from its index.
"""

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.evals.sets import Query, RetrievalSet, load, shared_sets
from core.models.embed import Embedder, Vectors, load_embedders
from core.retrieval.bm25 import Bm25Index
from core.retrieval.dense import cosine, embed_query, usable
from core.retrieval.fuse import Array, Candidates, best_first, combine, union
from core.retrieval.language import language_of
from core.retrieval.search import POOL
from core.retrieval.termindex import TermIndex
from core.retrieval.tokenize import query_terms, tokenize
from core.retrieval.weights import BM25, FusionTable, fitted
from core.types import Language

METRICS = ("ndcg@10", "recall@5", "recall@20")
_BATCH = 64
_RESAMPLES = 10_000
_NO_OWNER = b"\0" * 16


@dataclass(frozen=True, slots=True)
class Recalled:
    """One query as the paths saw it; candidates are indices of the set's passages."""

    query: Query
    language: Language
    embedders: tuple[Embedder, ...]
    found: Candidates
    languages: tuple[Language, ...]
    seconds: float


def encode_passages(embedder: Embedder, texts: Sequence[str], cache: Path | None) -> Vectors:
    """Return unit vectors, shape (len(texts), dim), kept in the folder `cache` if there is one."""
    mark = hashlib.sha256("\0".join((embedder.name, *texts)).encode("utf-8", "replace"))
    kept = cache / f"{mark.hexdigest()[:32]}.npy" if cache else None
    if kept and kept.is_file():
        return np.asarray(np.load(kept), dtype=np.float32)
    # Texts of like length go together: a batch takes as long as its longest.
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    for start in range(0, len(order), _BATCH):
        rows = order[start : start + _BATCH]
        vectors[rows] = embedder.encode([texts[i] for i in rows])
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, vectors)
    return vectors


def recall_all(
    data: RetrievalSet, embedders: Sequence[Embedder], cache: Path | None = None
) -> list[Recalled]:
    """Return every query of a set with the scores of its candidates on each path."""
    source = (_Papers if data.scope == "paper" else _Library)(data)
    languages = [language_of(text) for text in data.passages]
    asked = {language_of(query.text) for query in data.queries}
    vectors = {
        e.name: _readable(e, data.passages, languages, cache)
        for e in embedders
        if e.languages is None or e.languages & asked
    }
    return [_recall(query, source, vectors, languages, embedders) for query in data.queries]


def _readable(
    embedder: Embedder, texts: Sequence[str], languages: Sequence[Language], cache: Path | None
) -> Vectors:
    """Return unit vectors, and zeros for texts in languages that the model does not know."""
    known = embedder.languages
    rows = [i for i, lang in enumerate(languages) if known is None or lang in known]
    vectors = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    vectors[rows] = encode_passages(embedder, [texts[i] for i in rows], cache)
    return vectors


def _recall(
    query: Query,
    source: "_Papers | _Library",
    vectors: Mapping[str, Vectors],
    languages: Sequence[Language],
    embedders: Sequence[Embedder],
) -> Recalled:
    start = perf_counter()
    language = language_of(query.text)
    through = usable(embedders, language)
    queries = embed_query(through, query.text)
    found = source.search(query, queries, vectors, query_terms(query.text))
    return Recalled(
        query,
        language,
        tuple(through),
        found,
        tuple(languages[i] for i in found.ids),
        perf_counter() - start,
    )


class _Papers:
    """Each query searches one paper, scored in full."""

    def __init__(self, data: RetrievalSet) -> None:
        within = {query.within or tuple(range(len(data.passages))) for query in data.queries}
        self._rows = {rows: np.array(rows, dtype=np.int64) for rows in within}
        self._bm25 = {
            rows: Bm25Index([tokenize(data.passages[i]) for i in rows]) for rows in within
        }
        self._all = tuple(range(len(data.passages)))

    def search(
        self,
        query: Query,
        queries: Mapping[str, Vectors],
        vectors: Mapping[str, Vectors],
        terms: Sequence[str],
    ) -> Candidates:
        """Return the scores of all passages of the query's paper."""
        rows = self._rows[query.within or self._all]
        scores: dict[str, Array] = {
            model: cosine(vectors[model][rows], vector) for model, vector in queries.items()
        }
        scores[BM25] = self._bm25[query.within or self._all].scores(terms)
        return Candidates(rows, scores)


class _Library:
    """Queries search all passages, through lists of the best of each path."""

    def __init__(self, data: RetrievalSet) -> None:
        ids = np.arange(len(data.passages), dtype=np.int64)
        documents = ((i, " ".join(tokenize(text))) for i, text in enumerate(data.passages))
        self._bm25 = TermIndex.build(ids, np.full(len(ids), _NO_OWNER), documents)

    def search(
        self,
        query: Query,
        queries: Mapping[str, Vectors],
        vectors: Mapping[str, Vectors],
        terms: Sequence[str],
    ) -> Candidates:
        """Return the union of the best passages by each path."""
        lists = {
            model: _best(cosine(vectors[model], vector), above=-math.inf)
            for model, vector in queries.items()
        }
        lists[BM25] = _best(np.asarray(self._bm25.scores(terms), dtype=np.float64), above=0.0)
        return union(lists, POOL)


def _best(scores: Array, *, above: float) -> list[tuple[int, float]]:
    order = best_first(scores, np.arange(len(scores), dtype=np.int64))[:POOL]
    return [(int(i), float(scores[i])) for i in order if scores[i] > above]


def hybrid_order(found: Recalled, scope: str, table: FusionTable) -> NDArray[np.int64]:
    """Return the candidates of a query in fused order."""
    _, fused = combine(
        found.found.scores,
        found.languages,
        found.language,
        "paper" if scope == "paper" else "library",
        found.embedders,
        table,
    )
    return np.asarray(found.found.ids[best_first(fused, found.found.ids)])


def path_order(found: Recalled, path: str) -> NDArray[np.int64]:
    """Return what one path alone finds, best first. BM25 finds only what shares a term."""
    ids, scores = found.found.ids, found.found.scores.get(path)
    if scores is None:
        return np.zeros(0, dtype=np.int64)
    order = best_first(scores, ids)
    return np.asarray(ids[order[scores[order] > 0.0] if path == BM25 else order])


def measure(order: NDArray[np.int64], relevant: Mapping[int, float]) -> tuple[float, float, float]:
    """Return nDCG@10 (Järvelin and Kekäläinen, 2002; linear gain), recall@5 and recall@20."""
    top = [relevant.get(int(i), 0.0) for i in order[:20]]
    ideal = sorted(relevant.values(), reverse=True)
    found = np.array(top) > 0
    return (
        _dcg(top[:10]) / _dcg(ideal[:10]),
        float(found[:5].sum()) / len(relevant),
        float(found.sum()) / len(relevant),
    )


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def paired_bootstrap(better: Array, base: Array, seed: int = 0) -> tuple[float, float, float]:
    """Return p and a 95% interval for the mean of the paired differences `better` - `base`.

    p is two-sided: twice the smaller share of resampled means on one side of zero, both counting
    a mean of zero (Efron and Tibshirani, An Introduction to the Bootstrap, 1993).
    """
    difference = better - base
    random = np.random.default_rng(seed)
    means = np.array(
        [
            difference[random.integers(0, len(difference), len(difference))].mean()
            for _ in range(_RESAMPLES)
        ]
    )
    side = min(float((means <= 0).mean()), float((means >= 0).mean()))
    low, high = np.quantile(means, (0.025, 0.975))
    return min(1.0, 2 * side), float(low), float(high)


def per_query(
    recalled: Sequence[Recalled], scope: str, table: FusionTable
) -> dict[str, NDArray[np.float64]]:
    """Return the metrics of each query by path and for 'hybrid', shape (queries, 3)."""
    paths = list(dict.fromkeys(path for found in recalled for path in found.found.scores))
    rows = {
        path: np.array([measure(path_order(f, path), f.query.relevant) for f in recalled])
        for path in paths
    }
    rows["hybrid"] = np.array(
        [measure(hybrid_order(f, scope, table), f.query.relevant) for f in recalled]
    )
    return rows


def summary(rows: Mapping[str, NDArray[np.float64]]) -> dict[str, Any]:
    """Return mean figures; `dense` is the best single dense path by nDCG@10.

    `against_best_path`: by metric, the best single path and the paired difference from it.
    """
    means = {
        name: dict(zip(METRICS, array.mean(axis=0), strict=True)) for name, array in rows.items()
    }
    dense = [name for name in rows if name not in (BM25, "hybrid")]
    best = max(dense, key=lambda name: means[name]["ndcg@10"])
    against = {}
    for i, metric in enumerate(METRICS):
        rival = max((*dense, BM25), key=lambda name: means[name][metric])
        p, low, high = paired_bootstrap(rows["hybrid"][:, i], rows[rival][:, i])
        difference = means["hybrid"][metric] - means[rival][metric]
        against[metric] = {
            "path": rival,
            "difference": _round(difference),
            "p": _round(p),
            "interval": [_round(low), _round(high)],
        }
    return {
        "n": len(rows["hybrid"]),
        "dense": _rounded(means[best]),
        "bm25": _rounded(means[BM25]),
        "hybrid": _rounded(means["hybrid"]),
        "paths": {name: _rounded(means[name]) for name in dense},
        "against_best_path": against,
    }


def run_set(
    data: RetrievalSet,
    embedders: Sequence[Embedder],
    *,
    cache: Path | None = None,
    table: FusionTable | None = None,
) -> dict[str, Any]:
    """Return the figures of one set; see `run`."""
    for embedder in embedders:
        embedder.encode(["load"])
    recalled = recall_all(data, embedders, cache)
    start = perf_counter()
    rows = per_query(recalled, data.scope, table or fitted())
    # Ranking each path for the figures is in this, so the time is not less than a search takes.
    ranking = perf_counter() - start
    seconds = sum(found.seconds for found in recalled) + ranking
    return {**summary(rows), "ms_per_query": _round(1000 * seconds / len(recalled))}


def run(data: Path, embedders: Sequence[Embedder], *, cache: Path | None = None) -> dict[str, Any]:
    """Return nDCG@10, recall@5 and recall@20 of dense, BM25 and hybrid retrieval on a folder.

    Args:
        data: a folder in BEIR layout, like `qa_qasper`, or one of the other shared sets.
        embedders: the dense paths; all of them are loaded.
        cache: a folder for the passages' vectors, outside the project.

    Raises:
        BadInput: the folder holds no retrieval set.
    """
    return run_set(load(data), embedders, cache=cache)


def _round(value: float) -> float:
    return round(float(value), 4)


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: _round(value) for name, value in figures.items()}


def show(name: str, figures: Mapping[str, Any]) -> str:
    """Return the figures of a set as lines of text, one a path."""
    lines = [f"{name} (n = {figures['n']})"]
    rows = {**figures["paths"], BM25: figures["bm25"], "hybrid": figures["hybrid"]}
    for path, means in rows.items():
        cells = "  ".join(f"{metric} {means[metric]:.3f}" for metric in METRICS)
        lines.append(f"  {path:20} {cells}")
    for metric, row in figures["against_best_path"].items():
        lines.append(
            f"  {metric}: {row['difference']:+.3f} against {row['path']}, p = {row['p']:.3f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table of all shared development sets."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of shared sets")
    parser.add_argument("--cache", type=Path, help="a folder for passages' vectors")
    parser.add_argument("--models", default="use-multilingual,all-MiniLM-L6-v2")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedders = load_embedders(options.models.split(","))
    for data in shared_sets(options.data):
        if options.only and data.name not in options.only:
            continue
        figures = run_set(data, embedders, cache=options.cache)
        text = (
            json.dumps({"set": data.name, **figures}) if options.json else show(data.name, figures)
        )
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
