"""How long a reader waits: question to first sentence of the answer, without a model."""

import statistics
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from core.agent.events import Token
from core.agent.state import TurnRequest
from core.bench.isolated import isolated_workbench
from core.types import LOCAL_USER
from core.workbench import Workbench

QUESTIONS = (
    "What problem does the paper address?",
    "Which data sets were used?",
    "What are the main results?",
    "这篇论文的主要方法是什么？",
    "What are the limitations?",
    "How does it compare with earlier work?",
    "结论是什么？",
    "Why does the approach work?",
)
ROUNDS = 5


def run(pdf: Path) -> dict[str, Any]:
    """Ask each question ROUNDS times of one paper; seconds, and as multiples of the query's vector.

    The vector of a question is the one piece of work no answer can do without: the ratio to it
    says how much the rest adds, on any machine.
    """
    with isolated_workbench() as bench:
        paper = bench.ingestor.ingest(LOCAL_USER, pdf.name, pdf.read_bytes())
        cold = _first_sentence(bench, paper.paper_id, QUESTIONS[0])
        times = [
            _first_sentence(bench, paper.paper_id, question)
            for _ in range(ROUNDS)
            for question in QUESTIONS
        ]
        vector = _vector_seconds(bench)
    p50 = statistics.median(times)
    return {
        "n": len(times),
        "paper_pages": paper.pages,
        "first_sentence_p50_ms": round(p50 * 1000, 1),
        "first_sentence_p95_ms": round(statistics.quantiles(times, n=20)[-1] * 1000, 1),
        "cold_ms": round(cold * 1000, 1),
        "query_vector_ms": round(vector * 1000, 1),
        "ratio_to_query_vector": round(p50 / vector, 1),
    }


def _first_sentence(bench: Workbench, paper_id: UUID, question: str) -> float:
    """Return the seconds from asking to the first piece of answer; then let the turn end."""
    began = time.perf_counter()
    turn = bench.runner.start(TurnRequest(LOCAL_USER, question, paper_ids=(paper_id,)))
    first = None
    for event in bench.runner.follow(LOCAL_USER, turn.id):
        if event.kind == Token.kind and first is None:
            first = time.perf_counter() - began
    if first is None:
        raise RuntimeError(f"no answer to {question!r}")
    return first


def _vector_seconds(bench: Workbench) -> float:
    """Return the median seconds to embed a question never seen before."""
    times = []
    for number, question in enumerate(QUESTIONS * ROUNDS):
        began = time.perf_counter()
        bench.embedders[0].encode([f"{question} ({number})"])
        times.append(time.perf_counter() - began)
    return statistics.median(times)
