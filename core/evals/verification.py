"""Do verdicts tell what a passage says from what it does not?

Two sets: minimal pairs of our own (a claim that its passage supports, and the same with a number,
unit, name, negation or direction turned), and SciFact's claims against the abstract that supports
or contradicts them and against near misses: the abstract with most words in common that is not
cited for the claim.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.evals.sets import read_jsonl
from core.evidence.closest import Encoder
from core.evidence.verdict import assess
from core.retrieval.bm25 import Bm25Index
from core.retrieval.tokenize import query_terms, tokenize

CALLED = {"SUPPORT": "supported", "CONTRADICT": "contradicted", "MISS": "near miss"}


def pairs(paths: Sequence[Path], embedder: Encoder) -> dict[str, Any]:
    """Judge the minimal pairs; by half and kind, the share of claims with the right verdict.

    `flips` is the share of pairs in which only the true claim is called supported.

    Raises:
        BadInput: the set is not there or malformed.
    """
    rows = [
        {**row, "said": assess(row["claim"], [row["passage"]], embedder).label}
        for path in paths
        for row in read_jsonl(path)
    ]
    return {
        half: {
            kind: _pair_figures(
                [r for r in rows if r["half"] == half and kind in ("all", r["kind"])]
            )
            for kind in ("all", *dict.fromkeys(r["kind"] for r in rows if r["half"] == half))
        }
        for half in dict.fromkeys(row["half"] for row in rows)
    }


def _pair_figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    right = [row["said"] == row["label"] or row["said"] in row["also"] for row in rows]
    by_pair: dict[str, dict[str, bool]] = {}
    for row in rows:
        said = by_pair.setdefault(row["id"], {})
        said[row["label"]] = row["said"] == "supported"
    flips = [said["supported"] and not said["contradicted"] for said in by_pair.values()]
    passed = [said["contradicted"] for said in by_pair.values()]
    return {
        "pairs": len(by_pair),
        "accuracy": round(float(np.mean(right)), 3),
        "flips": round(float(np.mean(flips)), 3),
        "false_claims_supported": int(sum(passed)),
        "wrong": [
            f"{r['id']} {r['label']}: {r['said']}"
            for r, g in zip(rows, right, strict=True)
            if not g
        ],
    }


class _Judged(NamedTuple):
    claim: int
    against: str
    label: str
    support: float


def scifact(folder: Path, embedder: Encoder) -> dict[str, Any]:
    """Judge SciFact's claims; AUC of the strength of support, accuracy at a threshold.

    The threshold is chosen on the claims with an even number and used on those with an odd one.

    Raises:
        BadInput: the set is not there or malformed.
    """
    judged = [
        _Judged(int(claim), against, *_support(text, passage, embedder))
        for claim, text, against, passage in _claims(folder)
    ]
    halves = {
        "choose": [one for one in judged if one.claim % 2 == 0],
        "report": [one for one in judged if one.claim % 2],
    }
    threshold = _best_threshold(halves["choose"])
    return {
        "threshold": round(threshold, 4),
        **{half: _figures(found, threshold) for half, found in halves.items()},
    }


def _support(claim: str, passage: str, embedder: Encoder) -> tuple[str, float]:
    found = assess(claim, [passage], embedder)
    return found.label, found.support


def _claims(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the claims with evidence: number, claim, what the passage is to it, the passage."""
    rows = list(read_jsonl(folder / "corpus.jsonl"))
    texts = {str(row["doc_id"]): f"{row['title']} {' '.join(row['abstract'])}" for row in rows}
    names = list(texts)
    index = Bm25Index([tokenize(text) for text in texts.values()])
    for row in read_jsonl(folder / "claims.jsonl"):
        if not row["evidence"]:
            continue
        labels = {str(found["doc_id"]): found["label"] for found in row["evidence"]}
        for name, label in labels.items():
            yield row["id"], row["claim"], label, texts[name]
        cited = {*labels, *map(str, row["cited_doc_ids"])}
        order = np.argsort(-index.scores(query_terms(row["claim"])), kind="stable")
        nearest = next(names[i] for i in order if names[i] not in cited)
        yield row["id"], row["claim"], "MISS", texts[nearest]


def _figures(judged: Sequence[_Judged], threshold: float) -> dict[str, Any]:
    strengths, truths = _arrays(judged)
    others = {
        CALLED[kind]: round(auc(*_arrays([j for j in judged if j.against in ("SUPPORT", kind)])), 3)
        for kind in ("CONTRADICT", "MISS")
    }
    return {
        "n": len(judged),
        "auc": round(auc(strengths, truths), 3),
        "auc_against": others,
        "accuracy": round(float(np.mean((strengths >= threshold) == truths)), 3),
        "always_no": round(float(np.mean(~truths)), 3),
        "verdicts": {
            CALLED[kind]: {
                label: sum(j.label == label for j in judged if j.against == kind)
                for label in ("supported", "partly", "contradicted", "unsupported")
            }
            for kind in CALLED
        },
    }


def _arrays(judged: Sequence[_Judged]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return strengths of support, and whether the passage supports the claim."""
    return (
        np.array([one.support for one in judged], dtype=np.float64),
        np.array([one.against == "SUPPORT" for one in judged], dtype=np.bool_),
    )


def _best_threshold(judged: Sequence[_Judged]) -> float:
    """Return the strength from which most claims are called right."""
    strengths, truths = _arrays(judged)
    tried = np.unique(strengths)
    right = [float(np.mean((strengths >= value) == truths)) for value in tried]
    return float(tried[int(np.argmax(right))])


def auc(strengths: NDArray[np.float64], truths: NDArray[np.bool_]) -> float:
    """Return the probability that a true one is stronger than a false one; ties count half."""
    true, false = strengths[truths][:, None], strengths[~truths][None, :]
    if not true.size or not false.size:
        return float("nan")
    return float(np.mean((true > false) + 0.5 * (true == false)))
