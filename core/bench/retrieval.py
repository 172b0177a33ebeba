"""How long searching takes in one paper and in a library of 1,000 papers (50,000 chunks).

The papers are made up, the parts are real: the embedders that are set encode every question, and
the paper store, Postgres, Chroma and the searcher are those of the application.
"""

import hashlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import psutil
from rank_bm25 import BM25Okapi

from core.bench.isolated import isolated_workbench
from core.db.papers import StoredFile
from core.models.embed import Embedder, Vectors
from core.retrieval.library import LibraryIndex
from core.retrieval.search import Searcher
from core.retrieval.tokenize import tokenize
from core.types import LOCAL_USER, Box, ChunkDraft, Page, PaperMeta, ParsedPaper, Scope, Span
from core.workbench import Workbench

T = TypeVar("T")

SUBJECTS = (
    ("graph neural networks", "图神经网络"),
    ("protein folding", "蛋白质折叠"),
    ("perovskite solar cells", "钙钛矿太阳能电池"),
    ("federated learning", "联邦学习"),
    ("monetary policy", "货币政策"),
    ("gravitational waves", "引力波"),
    ("speech recognition", "语音识别"),
    ("soil erosion", "土壤侵蚀"),
    ("homomorphic encryption", "同态加密"),
    ("gene expression", "基因表达"),
)
ASPECTS = (
    ("limitations of", "的局限"),
    ("data sets for", "的数据集"),
    ("error rates in", "的错误率"),
    ("a survey of", "综述"),
    ("training cost of", "的训练成本"),
    ("theory behind", "的理论基础"),
    ("measurements of", "的测量"),
    ("applications of", "的应用"),
)
CHINESE_SHARE = 0.25
CHUNK_CHARACTERS = 1_000
NOISE = 1.2
"""Length of what is added to the unit vector of a chunk's topic."""
BASELINE_DOCUMENTS = 2_500
WARM_UP = 5


@dataclass(frozen=True, slots=True)
class _Timing:
    """Seconds of each question, and of the stages within."""

    total: list[float]
    stages: dict[str, list[float]]

    def summary(self) -> dict[str, Any]:
        milliseconds = [1000 * seconds for seconds in self.total]
        embedding = [1000 * seconds for seconds in self.stages["embed"]]
        rest = [a - b for a, b in zip(milliseconds, embedding, strict=True)]
        return {
            "n": len(milliseconds),
            "p50_ms": round(statistics.median(milliseconds), 1),
            "p95_ms": round(statistics.quantiles(milliseconds, n=20)[-1], 1),
            "without_embedding_p50_ms": round(statistics.median(rest), 1),
            "stages_p50_ms": {
                name: round(1000 * statistics.median(values), 1)
                for name, values in self.stages.items()
            },
        }


def run(papers: int = 1_000, chunks: int = 50) -> dict[str, Any]:
    """Fill a library, then time questions about one paper and about all, and a plain baseline.

    The baseline scans all vectors with numpy and asks rank-bm25 over a sample, whose time is
    scaled up to the whole library: it grows in proportion to the number of documents.
    """
    with isolated_workbench() as bench:
        embedders = bench.embedders
        for embedder in embedders:
            embedder.encode(["warm"])
        before = _resident_mb()
        maker = Maker(embedders)
        library, loading = _timed(lambda: [maker.add(bench, chunks) for _ in range(papers)])
        report: dict[str, Any] = {
            "papers": papers,
            "chunks": papers * chunks,
            "models": [embedder.name for embedder in embedders],
            "load_seconds": round(loading, 1),
            "resident_mb_before": before,
        }
        report |= _questions(bench, maker, library)
        report["baseline"] = _baseline(bench, maker, library, report["library"]["p50_ms"])
        report["resident_mb_after"] = _resident_mb()
        return report


def _questions(bench: Workbench, maker: "Maker", library: Sequence[UUID]) -> dict[str, Any]:
    everything = Scope(LOCAL_USER)
    ask = _Asker(bench.searcher, maker.questions())
    report: dict[str, Any] = {"first_ever_question_ms": ask.first(everything)}
    bench.library_index.bm25(LOCAL_USER, ["warm"], 1)
    report["library_while_syncing"] = ask.many(20, lambda _: everything).summary()
    _, syncing = _timed(lambda: bench.library_index.sync(LOCAL_USER))
    report["sync_seconds"] = round(syncing, 1)
    ask.many(WARM_UP, lambda _: everything)
    report["library"] = ask.many(100, lambda _: everything).summary()
    one = Scope(LOCAL_USER, (library[0],))
    report["one_paper_first_ms"] = ask.first(one)
    report["one_paper"] = ask.many(100, lambda _: one).summary()
    report["each_time_another_paper"] = ask.many(
        50, lambda i: Scope(LOCAL_USER, (library[1 + i % (len(library) - 1)],))
    ).summary()
    report["chroma_recall_at_10"] = _recall(bench, maker, library)
    report["resident_mb_with_index"] = _resident_mb()
    report |= _restart(bench, ask)
    return report


def _restart(bench: Workbench, ask: "_Asker") -> dict[str, Any]:
    """Time the first questions of a new index on the same folder: what a new process pays."""
    bench.library_index.close()
    settings = bench.settings
    everything = Scope(LOCAL_USER)
    with LibraryIndex(bench.papers, settings.data_dir, settings.chroma_url) as index:
        again = ask.through(Searcher(bench.papers, bench.embedders, index, None))
        first = again.first(everything)
        return {"first_after_restart_ms": first, "second_after_restart_ms": again.first(everything)}


def _recall(bench: Workbench, maker: "Maker", library: Sequence[UUID]) -> dict[str, float]:
    """Return, by model, the share of the exact 10 nearest that the index lists."""
    report = {}
    for embedder in bench.embedders:
        ids, vectors = bench.papers.vectors(library, embedder.name)
        shares = []
        for query in embedder.encode(list(maker.topics)):
            found = bench.library_index.dense(LOCAL_USER, embedder.name, query, 10)
            best = ids[np.argsort(-(vectors @ query), kind="stable")[:10]].tolist()
            shares.append(len({i for i, _ in found} & set(best)) / 10)
        report[embedder.name] = round(statistics.fmean(shares), 3)
    return report


def _baseline(
    bench: Workbench, maker: "Maker", library: Sequence[UUID], ours_ms: float
) -> dict[str, Any]:
    questions = maker.topics[:: len(maker.topics) // 20]
    matrices = [
        (embedder, bench.papers.vectors(library, embedder.name)[1]) for embedder in bench.embedders
    ]
    terms = [text.split() for _, text in bench.papers.terms(library[: _sample(maker)])]
    okapi = BM25Okapi(terms)
    scale = len(matrices[0][1]) / len(terms)
    dense, lexical = [], []
    for question in questions:
        queries = [embedder.encode([question])[0] for embedder in bench.embedders]
        dense.append(_timed(partial(_scan, matrices, queries))[1])
        lexical.append(scale * _timed(partial(okapi.get_scores, tokenize(question)))[1])
    total = 1000 * (statistics.median(dense) + statistics.median(lexical))
    return {
        "numpy_scan_p50_ms": round(1000 * statistics.median(dense), 1),
        "rank_bm25_p50_ms_scaled_up": round(1000 * statistics.median(lexical), 1),
        "rank_bm25_documents": len(terms),
        "times_ours": round(total / ours_ms, 1),
    }


def _sample(maker: "Maker") -> int:
    return max(1, BASELINE_DOCUMENTS // maker.chunks)


def _scan(matrices: Sequence[tuple[Embedder, Vectors]], queries: Sequence[Vectors]) -> None:
    for (_, matrix), query in zip(matrices, queries, strict=True):
        np.argpartition(-(matrix @ query), 10)


class _Asker:
    """Times questions, each of them new, so that no remembered vector answers."""

    def __init__(self, searcher: Searcher, questions: Iterator[str]) -> None:
        self._searcher = searcher
        self._questions = questions

    def through(self, searcher: Searcher) -> "_Asker":
        return _Asker(searcher, self._questions)

    def first(self, scope: Scope) -> float:
        """Return the milliseconds of one question."""
        question = next(self._questions)
        return round(1000 * _timed(lambda: self._searcher.search(question, scope, 5))[1], 1)

    def many(self, count: int, scope: Callable[[int], Scope]) -> _Timing:
        timing = _Timing([], {})
        for i in range(count):
            question = next(self._questions)
            result, seconds = _timed(partial(self._searcher.search, question, scope(i), 5))
            if not result.hits:
                raise AssertionError(f"nothing found for {question!r}")
            timing.total.append(seconds)
            for name, value in result.seconds.items():
                timing.stages.setdefault(name, []).append(value)
        return timing


class Maker:
    """Papers about topics: texts with Zipf's frequencies, vectors around the topic's own."""

    def __init__(self, embedders: Sequence[Embedder]) -> None:
        self._rng = np.random.default_rng(7)
        self.topics = tuple(
            f"{aspect[0]} {subject[0]}" if language == 0 else f"{subject[1]}{aspect[1]}"
            for subject in SUBJECTS
            for aspect in ASPECTS
            for language in (0, 1)
        )
        self._centres = {e.name: e.encode(list(self.topics)) for e in embedders}
        self._words = np.array([_word(self._rng) for _ in range(60_000)])
        characters = [chr(0x4E00 + i) for i in self._rng.permutation(3_000)]
        pairs = self._rng.integers(len(characters), size=(20_000, 2))
        self._chinese_words = np.array([characters[i] + characters[j] for i, j in pairs])
        self._made = 0
        self.chunks = 1

    def questions(self) -> Iterator[str]:
        """Yield questions that differ, about the topics in turn, in both languages."""
        i = 0
        while True:
            topic = self.topics[i % len(self.topics)]
            tail = self._words[int(self._rng.integers(2_000))]
            yield f"{topic} {tail} {i}"
            i += 1

    def add(self, bench: Workbench, chunks: int) -> UUID:
        """Store one more paper and return its id."""
        self.chunks = chunks
        name = f"paper-{self._made}"
        chinese = self._made % round(1 / CHINESE_SHARE) == 0
        topics = self._rng.integers(len(self.topics) // 2, size=chunks) * 2 + int(chinese)
        drafts = tuple(self._draft(int(topic), chinese, i) for i, topic in enumerate(topics))
        data = name.encode()
        self._made += 1
        return bench.papers.add(
            LOCAL_USER,
            f"{name}.pdf",
            StoredFile(hashlib.sha256(data).hexdigest(), data, len(data)),
            ParsedPaper(
                PaperMeta(title=name, language="zh" if chinese else "en"),
                tuple(Page(n, 595, 842, "") for n in range(1, chunks // 5 + 2)),
                drafts,
            ),
            [" ".join(tokenize(draft.text)) for draft in drafts],
            {model: self._vectors(centres[topics]) for model, centres in self._centres.items()},
        )

    def _draft(self, topic: int, chinese: bool, position: int) -> ChunkDraft:
        text = f"{self.topics[topic]} {self._text(chinese)}"
        lines = tuple(
            Span(start, min(start + 80, len(text)), Box(0.1, 0.1 + start / 2e3, 0.9, 0.5))
            for start in range(0, len(text), 80)
        )
        return ChunkDraft(position // 5 + 1, f"Section {position // 10}", "body", text, lines)

    def _text(self, chinese: bool) -> str:
        """Return about CHUNK_CHARACTERS characters."""
        if chinese:
            return "".join(self._zipf(self._chinese_words, CHUNK_CHARACTERS // 2))
        return " ".join(self._zipf(self._words, CHUNK_CHARACTERS // 6))

    def _zipf(self, items: "np.ndarray[Any, np.dtype[np.str_]]", count: int) -> list[str]:
        """Draw items; the r-th is drawn in proportion to 1 / r."""
        ranks = np.exp(self._rng.random(count) * np.log(len(items))).astype(int) - 1
        return [str(item) for item in items[ranks]]

    def _vectors(self, centres: Vectors) -> Vectors:
        noise = self._rng.standard_normal(centres.shape, dtype=np.float32)
        noise *= NOISE / np.sqrt(centres.shape[1])
        vectors = centres + noise
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _word(rng: np.random.Generator) -> str:
    syllables = rng.integers(1, 4)
    return "".join(
        "bcdfghklmnprstvz"[rng.integers(16)] + "aeiou"[rng.integers(5)] for _ in range(syllables)
    ) + str("nrst"[rng.integers(4)])


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def _resident_mb() -> int:
    return int(psutil.Process().memory_info().rss) >> 20
