"""Fit how much words count beside meaning: `python -m core.evals.fit_relevance --data ../shared/data`.

Two numbers, written to `core/tools/relevance.json`: for papers in the topic's language, and in
another. Chosen on the choosing half of `data/evals/relevance.jsonl` and on the shared sets, by mean
reciprocal rank, each kind of case counting the same. Of the weights within one standard error of the
best, the one nearest to EVEN is taken: some dozen cases must not move it for nothing.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from core.evals.relevance import CHOOSE, Scored, by_kind, own_cases, score, shared_cases
from core.models.embed import USE_NAME, load_embedders
from core.tools.relevance import TABLE, Array, Weights, combine

EVEN = 0.5
GRID = tuple(round(0.05 * step, 2) for step in range(20))
Curves = Mapping[str, Sequence[Array]]
"""By kind, for each weight of GRID the reciprocal ranks of its cases."""


def curves(rows: Sequence[Scored]) -> dict[str, list[Array]]:
    """Return the reciprocal rank of each case by weight, by kind."""
    return {
        kind: [np.array([_reciprocal(row, words) for row in found]) for words in GRID]
        for kind, found in by_kind(rows).items()
    }


def _reciprocal(row: Scored, words: float) -> float:
    scores = combine(row.found.embedding, row.found.tfidf, row.cross, Weights(words, words))
    return row.place(scores).reciprocal


def choose(seen: Curves) -> float:
    """Return the weight nearest to EVEN that is within one standard error of the best.

    The rule of Breiman et al. (Classification and Regression Trees, 1984), with the error of the
    paired difference.
    """
    means = [np.mean([kind[at].mean() for kind in seen.values()]) for at in range(len(GRID))]
    best = int(np.argmax(means))
    close = [at for at in range(len(GRID)) if means[best] - means[at] <= _error(seen, best, at)]
    return GRID[min(close, key=lambda at: abs(GRID[at] - EVEN))]


def _error(seen: Curves, one: int, other: int) -> float:
    """Return the standard error of the difference of two weights' means over kinds."""
    variances = [np.var(kind[one] - kind[other]) / len(kind[one]) for kind in seen.values()]
    return float(np.sqrt(np.sum(variances)) / len(variances))


def main() -> None:
    """Fit, print the mean reciprocal rank by kind and weight, and write the weights."""
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of shared sets")
    parser.add_argument("--cases", type=Path, default=root / "data/evals/relevance.jsonl")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    own = [case for case in own_cases(options.cases) if case.split == CHOOSE]
    rows = score([*own, *shared_cases(options.data)], load_embedders([USE_NAME])[0])
    found = {}
    for name, there in (
        ("same", [row for row in rows if not row.cross.any()]),
        ("cross", [row for row in rows if row.cross.all()]),
    ):
        seen = curves(there)
        found[name] = choose(seen)
        for kind, by_weight in seen.items():
            means = " ".join(f"{one.mean():.3f}" for one in by_weight)
            sys.stdout.write(f"{name:6}{kind:28}{len(by_weight[0]):5}  {means}\n")
    text = json.dumps(found, indent=2) + "\n"
    sys.stdout.write(text)
    if not options.dry_run:
        Path(str(files("core.tools") / TABLE)).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
