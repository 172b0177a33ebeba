"""How much each path counts, by case. Made by `core.evals.fit_fusion`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ScopeKind = Literal["paper", "library"]
BM25 = "bm25"


@dataclass(frozen=True, slots=True)
class Case:
    """What the weights depend on.

    `overlap`: the share of the query's distinct terms that the passages contain, 0 to 1.
    """

    scope: ScopeKind = "paper"
    overlap: float = 1.0


_TABLE = {
    "paper": {"use-multilingual": 0.3, "all-MiniLM-L6-v2": 0.4, "bm25": 0.3, "other": 0.4},
    "library": {"use-multilingual": 0.2, "all-MiniLM-L6-v2": 0.4, "bm25": 0.4, "other": 0.4},
}


def path_weights(paths: Sequence[str], case: Case) -> dict[str, float]:
    """Return one weight a path; they add up to 1."""
    row = _TABLE[case.scope]
    raw = {path: row.get(path, row["other"]) for path in paths}
    if BM25 in raw and len(raw) > 1:
        raw[BM25] *= min(1.0, 2.0 * case.overlap)
    total = sum(raw.values())
    return {path: weight / total for path, weight in raw.items()}
