"""What retrieval saves: prompt tokens and the wait for the first token, and what it costs in recall.

The same prompt is built twice for each question, with the k passages found and with the whole text
in their place.
"""

import hashlib
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from pydantic import SecretStr

from core.agent.nodes.answer import prompt
from core.agent.state import TurnRequest, TurnState, initial_state
from core.bench.isolated import isolated_workbench
from core.bench.loopback import prefill_server
from core.db.papers import StoredFile
from core.models.budget import Message, estimate_messages, estimate_tokens
from core.models.chat import ChatModel, Endpoint
from core.retrieval.tokenize import tokenize
from core.types import (
    LOCAL_USER,
    Chunk,
    ChunkDraft,
    Hit,
    Page,
    PaperMeta,
    ParsedPaper,
    Scope,
    Scores,
)
from core.workbench import Workbench

CHARACTERS = 84_000
K = 5
PREFILL_TOKENS_PER_SECOND = 5_000.0
QUESTIONS = (
    "What problem does the paper address?",
    "Which data sets were used?",
    "How does the method work, step by step?",
    "What are the main results?",
    "What are the limitations?",
)
_NO_LIMIT = 10_000_000
_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class _Judged:
    """A question of a labelled paper with the positions of the paragraphs that answer it."""

    question: str
    evidence: frozenset[int]


def run(
    pdf: Path,
    qasper: Path | None = None,
    *,
    prefill_tokens_per_second: float = PREFILL_TOKENS_PER_SECOND,
) -> dict[str, Any]:
    """Measure on a paper of at least 84,000 characters, and recall on a QASPER-like folder.

    Args:
        pdf: the paper; its text is cut to 84,000 characters for the whole-text prompt.
        qasper: a folder with paragraphs.jsonl and questions.jsonl, or None to leave recall out.
        prefill_tokens_per_second: how fast the simulated model reads a prompt. The delays of the
            first token are proportional to 1 / this; only their ratio says something.
    """
    with isolated_workbench() as bench:
        paper = bench.ingestor.ingest(LOCAL_USER, pdf.name, pdf.read_bytes()).paper_id
        bench.backfill.fill()
        text = "\n".join(page.text for page in bench.papers.pages(LOCAL_USER, paper))[:CHARACTERS]
        result = {
            "characters": len(text),
            "k": K,
            "questions": len(QUESTIONS),
            "tokens_are": "estimated",
            **_prompt_sizes(bench, paper, text),
            **_first_token(bench, paper, text, prefill_tokens_per_second),
        }
        if qasper is not None:
            result["recall"] = _recall(bench, qasper)
        return result


def _prompt_sizes(bench: Workbench, paper: UUID, text: str) -> dict[str, Any]:
    passages = [estimate_messages(_with_passages(bench, paper, q)) for q in QUESTIONS]
    whole = [estimate_messages(_with_whole_text(paper, text, q)) for q in QUESTIONS]
    ratios = [full / part for full, part in zip(whole, passages, strict=True)]
    return {
        "prompt_tokens": round(statistics.mean(passages)),
        "full_text_prompt_tokens": round(statistics.mean(whole)),
        "full_text_tokens": estimate_tokens(text),
        "times_fewer": round(statistics.mean(ratios), 1),
        "times_fewer_worst": round(min(ratios), 1),
    }


def _first_token(bench: Workbench, paper: UUID, text: str, rate: float) -> dict[str, Any]:
    with prefill_server(rate) as url:
        chat = ChatModel(Endpoint(url, "loopback", SecretStr("none"), "LLM_API_KEY"), 300.0)
        chat.load()
        chat.stream(_with_whole_text(paper, "warm-up", QUESTIONS[0])).read()
        after = [_wait(chat, partial(_with_passages, bench, paper, q)) for q in QUESTIONS]
        before = [_wait(chat, partial(_with_whole_text, paper, text, q)) for q in QUESTIONS]
    return {
        "prefill_tokens_per_second_simulated": rate,
        "first_token_seconds_full_text": round(statistics.median(before), 3),
        "first_token_seconds": round(statistics.median(after), 3),
    }


def _wait(chat: ChatModel, build: Callable[[], Sequence[Message]]) -> float:
    """Return the seconds from the question (search included) to the first piece of answer."""
    began = time.perf_counter()
    with chat.stream(build()) as reply:
        next(reply)
        waited = time.perf_counter() - began
        reply.read()
    return waited


def _with_passages(bench: Workbench, paper: UUID, question: str) -> list[Message]:
    found = bench.searcher.search(question, Scope(LOCAL_USER, (paper,)), K)
    return prompt(_state(paper, question, list(found.hits)), _NO_LIMIT)[0]


def _with_whole_text(paper: UUID, text: str, question: str) -> list[Message]:
    whole = Chunk(0, paper, "", 1, "", "body", text)
    return prompt(_state(paper, question, [Hit(whole, Scores())]), _NO_LIMIT)[0]


def _state(paper: UUID, question: str, hits: list[Hit]) -> TurnState:
    request = TurnRequest(LOCAL_USER, question, paper_ids=(paper,))
    return {**initial_state(request, [], 0), "hits": hits}


def _recall(bench: Workbench, folder: Path) -> dict[str, Any]:
    """Evidence recall in the top 5 of each question's own paper: fused, and each path alone.

    `not_worse`: the upper end of the 95% interval (paired bootstrap over questions) of fused minus
    the better path is not below zero.
    """
    rows = [
        _paths(bench, paper, judged)
        for paper, questions in _add_labelled(bench, folder)
        for judged in questions
    ]
    recalls = np.asarray(rows)
    fused, dense, bm25 = recalls.mean(axis=0)
    better = 1 if dense >= bm25 else 2
    difference = recalls[:, 0] - recalls[:, better]
    picks = np.random.default_rng(0).integers(0, len(difference), (_RESAMPLES, len(difference)))
    low, high = np.percentile(difference[picks].mean(axis=1), [2.5, 97.5])
    return {
        "n": len(rows),
        "hybrid@5": round(float(fused), 3),
        "dense@5": round(float(dense), 3),
        "bm25@5": round(float(bm25), 3),
        "difference_95%": [round(float(low), 3), round(float(high), 3)],
        "not_worse": bool(high >= 0),
    }


def _paths(bench: Workbench, paper: UUID, judged: _Judged) -> tuple[float, float, float]:
    """Return the recall of the fused order, of the first dense path and of BM25."""
    chunks = bench.papers.chunks([paper])
    scope = Scope(LOCAL_USER, (paper,))
    hits = bench.searcher.search(judged.question, scope, len(chunks)).hits
    position = {chunk.id: n for n, chunk in enumerate(chunks)}

    def recall(ordered: Sequence[Hit]) -> float:
        top = {position[hit.chunk.id] for hit in ordered[:K]}
        return len(top & judged.evidence) / len(judged.evidence)

    return (
        recall(hits),
        recall(sorted(hits, key=lambda hit: -(hit.scores.dense or 0.0))),
        recall(sorted(hits, key=lambda hit: -(hit.scores.bm25 or 0.0))),
    )


def _add_labelled(bench: Workbench, folder: Path) -> list[tuple[UUID, list[_Judged]]]:
    """Store each labelled paper with its paragraphs as chunks, and return its questions."""
    paragraphs = _rows(folder / "paragraphs.jsonl")
    papers: dict[str, list[dict[str, Any]]] = {}
    for row in paragraphs:
        papers.setdefault(row["paper"], []).append(row)
    questions: dict[str, list[_Judged]] = {name: [] for name in papers}
    for row in _rows(folder / "questions.jsonl"):
        place = {found["pid"]: n for n, found in enumerate(papers[row["paper"]])}
        evidence = frozenset(place[pid] for pid in row["evidence_pids"] if pid in place)
        if evidence:
            questions[row["paper"]].append(_Judged(row["question"], evidence))
    return [(_store(bench, name, found), questions[name]) for name, found in papers.items()]


def _store(bench: Workbench, name: str, paragraphs: Sequence[dict[str, Any]]) -> UUID:
    texts = [row["text"] for row in paragraphs]
    drafts = tuple(ChunkDraft(1, row["section"], "body", row["text"], ()) for row in paragraphs)
    data = "\n".join(texts).encode()
    parsed = ParsedPaper(
        PaperMeta(title=name, language="en"), (Page(1, 612, 792, data.decode()),), drafts
    )
    return bench.papers.add(
        LOCAL_USER,
        f"{name}.pdf",
        StoredFile(hashlib.sha256(data).hexdigest(), data, len(data)),
        parsed,
        [" ".join(tokenize(text)) for text in texts],
        {embedder.name: embedder.encode(texts) for embedder in bench.embedders},
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
