"""Fits `core/extractive/fitted.json` on the tuning questions; the reporting half is never read.

`EMBEDDING_MODELS=use-multilingual python -m core.evals.fit_refusal --data-dir DIR` takes minutes.
Sentence weights: listwise softmax over the candidates of each answerable question; SciFact's
claims and rationales count too. Refusal: logistic regression; beside the tuning questions as they
are it sees each answerable one again without the answer's passages, and the shared QASPER and
PubMedQA questions with and without passages that answer.
"""

import argparse
import json
import logging
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from core.evals.qa import Question, joined, read_questions
from core.evals.sets import read_jsonl
from core.extractive.answer import (
    FEATURES,
    REFUSAL_FEATURES,
    Fitted,
    Scored,
    probability,
    refusal_features,
    score,
    select,
)
from core.extractive.candidates import Candidate
from core.models.embed import Embedder, Vectors
from core.types import LOCAL_USER, Chunk, Hit, Scope, Scores
from core.workbench import Workbench, open_workbench

HITS = 12
"""As many as the agent retrieves."""
WIDE = 40
"""Hits from which the answer's passages are taken away."""
PUBMED = 25
SCIFACT = 60
LEAST_ANSWERED = 0.84
"""A question that the paper answers must seldom be refused, whatever that costs in the others."""
LEAST_KEPT = 1.0
"""The share of the answers found with five sentences that a smaller `drop` must keep."""

PRIOR = Fitted(
    weights=(1.0, 0.3, 0.4, 0.3, 0.4, 0.2, 0.4, -0.3, -0.2),
    refusal=(0.0,) * len(REFUSAL_FEATURES),
    threshold=0.5,
    drop=0.3,
)
"""Where the fit begins and what it is pulled towards: set by hand, in the order of FEATURES."""

Array = NDArray[np.float64]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its hits and what is known of it.

    `holds` says which candidates hold the answer, None where that is not labelled. `weight` counts
    in the refusal, `ranking` in the order of sentences. `group` names the paper, for leaving one
    out. `real`: a tuning question as it is, not made from another.
    """

    question: str
    hits: tuple[Hit, ...]
    answerable: bool
    weight: float
    group: str
    real: bool = False
    ranking: float = 0.0
    holds: Callable[[Candidate], bool] | None = None


def tuning_examples(
    questions: Sequence[Question], search: Callable[[Question, int], Sequence[Hit]]
) -> Iterator[Example]:
    """Yield each question as it is, and each answerable one without the answer's passages."""
    for question in questions:
        hits = tuple(search(question, WIDE))
        holds = _holder(question) if question.answerable else None
        yield Example(
            question.question,
            hits[:HITS],
            question.answerable,
            1.0,
            question.file,
            real=True,
            ranking=1.0,
            holds=holds,
        )
        if question.answerable:
            silent = [h for h in hits if h.chunk.page not in question.pages]
            silent = [h for h in silent if not re.search(question.must_match, h.chunk.text)]
            yield Example(question.question, tuple(silent[:HITS]), False, 0.3, question.file)


def _holder(question: Question) -> Callable[[Candidate], bool]:
    def holds(candidate: Candidate) -> bool:
        return question.matches(candidate.hit.chunk.page, joined(candidate.text))

    return holds


def qasper_examples(folder: Path, embedder: Embedder) -> Iterator[Example]:
    """Yield QASPER's questions on their own papers, and without their evidence."""
    papers: dict[str, list[tuple[str, str]]] = {}
    for row in read_jsonl(folder / "paragraphs.jsonl"):
        papers.setdefault(row["paper"], []).append((row["pid"], row["text"]))
    vectors = {name: embedder.encode([t for _, t in found]) for name, found in papers.items()}
    for row in read_jsonl(folder / "questions.jsonl"):
        passages, gold = papers[row["paper"]], set(row["evidence_pids"])
        hits = rank(
            row["question"],
            [text for _, text in passages],
            vectors[row["paper"]],
            embedder,
            row["paper"],
        )
        pids = {_chunk_id(i): pid for i, (pid, _) in enumerate(passages)}
        yield Example(row["question"], hits[:HITS], bool(gold), 0.5, row["paper"])
        if gold:
            silent = tuple(h for h in hits if pids[h.chunk.id] not in gold)
            yield Example(row["question"], silent[:HITS], False, 0.3, row["paper"])


def pubmed_examples(folder: Path, embedder: Embedder) -> Iterator[Example]:
    """Yield PubMedQA questions on their own abstract, and on another one."""
    rows = list(read_jsonl(folder / "questions.jsonl"))[:PUBMED]
    for i, row in enumerate(rows):
        for answerable, source in ((True, row), (False, rows[(i + 1) % len(rows)])):
            passages = source["contexts"]
            vectors = embedder.encode(passages)
            hits = rank(row["question"], passages, vectors, embedder, source["id"])
            yield Example(row["question"], hits[:HITS], answerable, 0.1, f"pubmed-{row['id']}")


def scifact_examples(folder: Path, embedder: Embedder) -> Iterator[Example]:
    """Yield SciFact claims on the abstracts that speak of them, for the order of sentences only."""
    abstracts = {str(r["doc_id"]): r["abstract"] for r in read_jsonl(folder / "corpus.jsonl")}
    labelled = (row for row in read_jsonl(folder / "claims.jsonl") if row["evidence"])
    for row in islice(labelled, SCIFACT):
        evidence = row["evidence"][0]
        abstract = abstracts[str(evidence["doc_id"])]
        gold = {abstract[i].strip() for i in evidence["sentences"]}
        passages = [" ".join(abstract[i : i + 4]) for i in range(0, len(abstract), 4)]
        vectors = embedder.encode(passages)
        hits = rank(row["claim"], passages, vectors, embedder, str(evidence["doc_id"]))
        yield Example(
            row["claim"],
            hits[:HITS],
            True,
            0.0,
            f"scifact-{row['id']}",
            ranking=0.3,
            holds=partial(_is_one_of, gold),
        )


def _is_one_of(gold: Collection[str], candidate: Candidate) -> bool:
    return candidate.text.strip() in gold


def rank(
    question: str, passages: Sequence[str], vectors: Vectors, embedder: Embedder, paper: str
) -> tuple[Hit, ...]:
    """Return the passages as hits, nearest to the question first."""
    dense = vectors @ embedder.encode([question])[0]
    paper_id = uuid5(NAMESPACE_URL, paper)
    order = np.argsort(-dense, kind="stable")
    return tuple(_hit(int(i), passages[int(i)], paper_id, float(dense[i])) for i in order)


def _hit(i: int, text: str, paper_id: UUID, cosine: float) -> Hit:
    chunk = Chunk(_chunk_id(i), paper_id, "", i + 1, "", "body", text)
    return Hit(chunk, Scores(dense=cosine))


def _chunk_id(i: int) -> int:
    return i + 1


def fit_weights(scored: Sequence[tuple[Example, Scored]], start: Fitted) -> tuple[float, ...]:
    """Return sentence weights: gradient ascent on the listwise softmax likelihood.

    The prior pulls towards `start`, so that few questions cannot carry a weight far.
    """
    lists = [(e.ranking, s.features, mask) for e, s in scored if (mask := _mask(e, s)).any()]
    prior = np.asarray(start.weights) * _SHARPNESS
    weights = prior.copy()
    for _ in range(2_000):
        gradient = -_RIDGE * (weights - prior)
        for share, features, mask in lists:
            gradient += (
                share
                * features.T
                @ (_softmax(features @ weights, mask) - _softmax(features @ weights))
            )
        weights = np.clip(weights + 0.02 * gradient, _LOWEST, _HIGHEST)
    weights /= max(1e-9, weights[0])  # the scale is free: one point is one of cosine
    return tuple(float(w) for w in np.round(weights, 3))


_SHARPNESS = 8.0
"""Softmax temperature: a lead of 0.5 makes a sentence e^4 times as likely."""
_RIDGE = 0.2
_AGAINST = ("brief", "caption")
_LOWEST = np.array([-np.inf if name in _AGAINST else 0.0 for name in FEATURES])
_HIGHEST = np.array([0.0 if name in _AGAINST else np.inf for name in FEATURES])
"""What speaks for a sentence may count nothing, but not against it."""


def _mask(example: Example, scored: Scored) -> NDArray[np.bool_]:
    holds = example.holds
    return np.array([holds is not None and holds(c) for c in scored.candidates], dtype=bool)


def _softmax(points: Array, mask: NDArray[np.bool_] | None = None) -> Array:
    points = points if mask is None else np.where(mask, points, -np.inf)
    raised = np.exp(points - points.max())
    return np.asarray(raised / raised.sum())


def fit_logistic(rows: Array, answerable: Array, weights: Array) -> tuple[float, ...]:
    """Return the coefficients of a ridge logistic regression (Newton's method).

    Both classes weigh the same; columns are standardised for the penalty; the last is constant.
    """
    share = np.where(answerable > 0, weights[answerable > 0].sum(), weights[answerable == 0].sum())
    mass = weights / share * weights.sum() / 2
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    mean[-1], scale[-1] = 0.0, 1.0
    scale[scale == 0] = 1.0
    standard = (rows - mean) / scale
    penalty = np.eye(rows.shape[1]) * _PENALTY
    penalty[-1, -1] = 1e-6
    beta = np.zeros(rows.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-standard @ beta))
        gradient = standard.T @ (mass * (answerable - p)) - penalty @ beta
        hessian = (standard * (mass * p * (1 - p))[:, None]).T @ standard + penalty
        beta = beta + np.linalg.solve(hessian, gradient)
    beta = beta / scale
    beta[-1] -= float(beta[:-1] @ mean[:-1])
    return tuple(float(b) for b in np.round(beta, 3))


_PENALTY = 1.0


def fit(examples: Sequence[Example], embedder: Embedder) -> tuple[Fitted, dict[str, Any]]:
    """Return what is fitted, and the figures of the tuning questions left out paper by paper."""
    scored = [(e, s) for e in examples if (s := score(e.question, e.hits, embedder)).candidates]
    log.info("%d questions scored", len(scored))
    chances = _held_out(scored)
    final = _fit_once(scored, PRIOR)
    final = replace(final, threshold=_best_threshold(chances), drop=_least_drop(scored, final))
    return final, _report(scored, final, chances)


def _fit_once(scored: Sequence[tuple[Example, Scored]], start: Fitted) -> Fitted:
    values = replace(start, weights=fit_weights(scored, start))
    counted = [(e, s) for e, s in scored if e.weight]
    rows = np.array([refusal_features(s, values) for _, s in counted])
    answerable = np.array([float(e.answerable) for e, _ in counted])
    weights = np.array([e.weight for e, _ in counted])
    return replace(values, refusal=fit_logistic(rows, answerable, weights))


class Chance(NamedTuple):
    """A question judged by values fitted without its paper."""

    example: Example
    probability: float
    found: bool


def _held_out(scored: Sequence[tuple[Example, Scored]]) -> list[Chance]:
    """Judge the tuning questions, and those made of them, with their paper left out."""
    chances = []
    for group in dict.fromkeys(e.group for e, _ in scored if e.real):
        values = _fit_once([(e, s) for e, s in scored if e.group != group], PRIOR)
        for example, result in scored:
            if example.group == group:
                chance = probability(refusal_features(result, values), values)
                chances.append(Chance(example, chance, _found(example, result, values)))
    return chances


def _found(example: Example, scored: Scored, values: Fitted) -> bool:
    holds = example.holds
    return holds is not None and any(holds(c) for c in select(scored, values))


def _best_threshold(chances: Sequence[Chance]) -> float:
    """Return the threshold with the best mean of refused and answered shares; the lowest such.

    Of those considered, each answers LEAST_ANSWERED of the answerable.
    """
    grid = [
        t
        for t in np.round(np.arange(0.05, 0.96, 0.01), 2)
        if _shares(chances, float(t))[1] >= LEAST_ANSWERED
    ]
    return float(max(grid, key=lambda t: (round(sum(_shares(chances, float(t))), 6), -t)))


def _shares(chances: Sequence[Chance], threshold: float) -> tuple[float, float]:
    """Return (refused of the unanswerable, answered of the answerable), by weight."""
    unanswerable = [c for c in chances if not c.example.answerable]
    answerable = [c for c in chances if c.example.answerable]
    return (
        _weighted(unanswerable, [c.probability < threshold for c in unanswerable]),
        _weighted(answerable, [c.probability >= threshold for c in answerable]),
    )


def _weighted(chances: Sequence[Chance], values: Sequence[bool]) -> float:
    return float(np.average(values, weights=[c.example.weight for c in chances]))


def _least_drop(scored: Sequence[tuple[Example, Scored]], values: Fitted) -> float:
    """Return the smallest `drop` that keeps LEAST_KEPT of what five sentences find."""
    labelled = [(e, s) for e, s in scored if e.real and e.holds is not None]

    def found(drop: float) -> int:
        return sum(_found(e, s, replace(values, drop=drop)) for e, s in labelled)

    most = found(9.0)
    grid = [round(0.05 * i, 2) for i in range(1, 21)]
    return next((drop for drop in grid if found(drop) >= LEAST_KEPT * most), 1.0)


def _report(
    scored: Sequence[tuple[Example, Scored]], final: Fitted, chances: Sequence[Chance]
) -> dict[str, Any]:
    """Return the figures of the tuning questions as they are."""
    real = [c for c in chances if c.example.real]
    refused, answered = _shares(real, final.threshold)
    lengths = [len(select(s, final)) for e, s in scored if e.real and e.answerable]
    return {
        "examples": len(scored),
        "refused_unanswerable": round(refused, 3),
        "answered_answerable": round(answered, 3),
        "sentence_found": round(float(np.mean([c.found for c in real if c.example.answerable])), 3),
        "sentences": round(float(np.mean(lengths)), 2),
    }


def write(path: Path, values: Fitted) -> None:
    """Write the fitted values as the project keeps them."""
    data = {
        "weights": dict(zip(FEATURES, values.weights, strict=True)),
        "refusal": dict(zip(REFUSAL_FEATURES, values.refusal, strict=True)),
        "threshold": values.threshold,
        "drop": values.drop,
    }
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def _searcher(
    bench: Workbench, questions: Sequence[Question], papers: Path
) -> Callable[[Question, int], Sequence[Hit]]:
    ids = {}
    for name in dict.fromkeys(question.file for question in questions):
        path = papers / name
        ids[name] = bench.ingestor.ingest(LOCAL_USER, path.name, path.read_bytes()).paper_id
        log.info("read %s", name)

    def search(question: Question, k: int) -> Sequence[Hit]:
        scope = Scope(LOCAL_USER, (ids[question.file],))
        return bench.searcher.search(question.question, scope, k).hits

    return search


def main() -> None:
    """Fit, print the figures as JSON, and write the values."""
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, default=root / "data/evals/qa_tune.jsonl")
    parser.add_argument("--shared", type=Path, default=root.parent / "shared/data")
    parser.add_argument("--data-dir", type=Path, required=True, help="a throw-away folder")
    parser.add_argument("--out", type=Path, default=root / "core/extractive/fitted.json")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    questions = read_questions(options.questions)
    with open_workbench(options.data_dir) as bench:
        embedder = bench.embedders[0]
        examples = [
            *tuning_examples(questions, _searcher(bench, questions, options.shared)),
            *qasper_examples(options.shared / "qa_qasper", embedder),
            *pubmed_examples(options.shared / "qa_pubmedqa", embedder),
            *scifact_examples(options.shared / "ret_scifact", embedder),
        ]
        values, figures = fit(examples, embedder)
    write(options.out, values)
    log.info("%s", json.dumps(figures))


if __name__ == "__main__":
    main()
