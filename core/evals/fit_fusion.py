"""Fit the weights of the fusion on the development halves: `python -m core.evals.fit_fusion`.

Seven numbers: BM25's share in three cases by two scopes, and how strong MiniLM is beside USE.
Coordinate search on a coarse grid, held to PRIOR where the data do not tell (see `_choose`).
Figures are out of fold: the queries of each fold are ranked with a table that was fitted on the
others. The table that is written is fitted on all.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.evals.retrieval import (
    METRICS,
    Recalled,
    hybrid_order,
    measure,
    per_query,
    recall_all,
    show,
    summary,
)
from core.evals.sets import (
    RetrievalSet,
    among,
    as_library,
    in_papers,
    load,
    shared_sets,
    zh_to_en,
)
from core.models.embed import MINILM_NAME, USE_NAME, Embedder, load_embedders
from core.retrieval.weights import BM25, TABLE, FusionTable, ScopeKind, Shares

FOLDS = 5
_SHARES = tuple(round(0.05 * step, 2) for step in range(7, 17))
"""Of 50 passages one matches a proper noun, which gives it a z-score of 7 by BM25. Below a share of
0.35 it does not come among the first five if its cosine is the lowest of all (z = -2.3 against 1.5)."""
_CROSS_SHARES = tuple(round(0.05 * step, 2) for step in range(11))
_STRENGTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_ROUNDS = 2
PRIOR = FusionTable(
    paper=Shares(same=0.35, same_strong=0.4, cross=0.2),
    library=Shares(same=0.6, same_strong=0.4, cross=0.2),
    strength={USE_NAME: 1.0, MINILM_NAME: 2.0, "other": 2.0},
    cross_limit=4.0,
)
"""What was measured before this fit, on more papers than are here now: see docs/evaluation.md."""
SCOPES: tuple[ScopeKind, ...] = ("paper", "library")

Rows = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass
class Fold:
    """A development set as one choice of dense paths saw it, and its metrics by table."""

    data: RetrievalSet
    recalled: Sequence[Recalled]
    known: dict[str, Rows] = field(default_factory=dict)

    def rows(self, table: FusionTable) -> Rows:
        """Return the fusion's metrics of every query, shape (queries, 3)."""
        key = self._key(table)
        if key not in self.known:
            self.known[key] = np.array(
                [
                    measure(hybrid_order(found, self.data.scope, table), found.query.relevant)
                    for found in self.recalled
                ]
            )
        return self.known[key]

    def _key(self, table: FusionTable) -> str:
        """Return the numbers of a table that change anything in this set."""
        shares = table.shares(self.data.scope)
        same, strong = self._kinds
        parts: list[object] = [shares.same] if True in same else []
        parts += [shares.cross] if False in same else []
        parts += [shares.same_strong, sorted(table.strength.items())] if strong else []
        return repr(parts)

    @cached_property
    def _kinds(self) -> tuple[set[bool], bool]:
        """Whether candidates are in the query's language, and whether a strong path saw any."""
        same = {lang == found.language for found in self.recalled for lang in found.languages}
        strong = any(found.found.scores.keys() - {USE_NAME, BM25} for found in self.recalled)
        return same, strong

    def fold(self, number: int) -> Mask:
        """Return which queries are in a fold, shape (queries,)."""
        order = np.random.default_rng(0).permutation(len(self.recalled))
        return np.asarray(order % FOLDS == number, dtype=np.bool_)


def development_sets(data: Path, questions: Path) -> list[RetrievalSet]:
    """Return the sets that weights are fitted on: abstracts, papers, and two languages mixed."""
    own = in_papers(questions, data)
    pairs, chinese = data / "zh_en_daily_arxiv", load(data / "zh_csl")
    return [
        *shared_sets(data),
        own,
        as_library(own),
        among(zh_to_en(pairs), chinese),
        among(zh_to_en(pairs, pure=True), chinese),
    ]


def without_strong(found: Recalled) -> Recalled:
    """Return a query as it would have been seen with USE and BM25 alone."""
    scores = {p: column for p, column in found.found.scores.items() if p in (USE_NAME, BM25)}
    return replace(found, found=replace(found.found, scores=scores))


def fit(weak: Sequence[Fold], strong: Sequence[Fold], left_out: int | None) -> FusionTable:
    """Return the table that does best on the queries outside one fold (None: on all).

    `weak`: sets seen with USE and BM25; `strong`: with MiniLM too.
    """
    table = PRIOR
    for _ in range(_ROUNDS):
        for scope in SCOPES:
            table = _fit_share(table, scope, "same", weak, left_out)
            table = _fit_share(table, scope, "cross", weak, left_out)
        if strong:
            table = _fit_strength(table, strong, left_out)
            for scope in SCOPES:
                table = _fit_share(table, scope, "same_strong", strong, left_out)
    return table


def _fit_share(
    table: FusionTable, scope: ScopeKind, name: str, folds: Sequence[Fold], left_out: int | None
) -> FusionTable:
    concerned = [fold for fold in folds if fold.data.scope == scope]
    shares = _CROSS_SHARES if name == "cross" else _SHARES
    tables = [_with_share(table, scope, name, share) for share in shares]
    wanted = shares.index(_shares(PRIOR.shares(scope))[name])
    return _choose(tables, wanted, concerned, left_out)


def _fit_strength(table: FusionTable, folds: Sequence[Fold], left_out: int | None) -> FusionTable:
    tables = [
        replace(table, strength={**table.strength, MINILM_NAME: value, "other": value})
        for value in _STRENGTHS
    ]
    return _choose(tables, _STRENGTHS.index(PRIOR.strength[MINILM_NAME]), folds, left_out)


def _with_share(table: FusionTable, scope: ScopeKind, name: str, share: float) -> FusionTable:
    shares = Shares(**{**_shares(table.shares(scope)), name: share})
    return replace(table, paper=shares) if scope == "paper" else replace(table, library=shares)


def _shares(shares: Shares) -> dict[str, float]:
    return {"same": shares.same, "same_strong": shares.same_strong, "cross": shares.cross}


def _choose(
    tables: Sequence[FusionTable],
    wanted: int,
    folds: Sequence[Fold],
    left_out: int | None,
) -> FusionTable:
    """Return the table nearest to number `wanted` that is within one standard error of the best.

    The rule of Breiman et al. (Classification and Regression Trees, 1984), with the error of the
    paired difference: some twenty questions must not move a weight that hundreds have set.
    """
    goals = [_goals(table, folds, left_out) for table in tables]
    best = max(goals, key=_mean)
    close = [
        i
        for i, goal in enumerate(goals)
        if _mean(best) - _mean(goal) <= _standard_error(best, goal)
    ]
    return tables[min(close, key=lambda i: abs(i - wanted))]


def _goals(table: FusionTable, folds: Sequence[Fold], left_out: int | None) -> list[Rows]:
    """Return, by set, the mean of nDCG@10 and recall@5 of each query, shape (queries,)."""
    goals = []
    for fold in folds:
        rows = fold.rows(table)[:, :2].mean(axis=1)
        goals.append(rows if left_out is None else rows[~fold.fold(left_out)])
    return goals


def _mean(goals: Sequence[Rows]) -> float:
    """Return the mean over sets, each set counting the same."""
    return float(np.mean([goal.mean() for goal in goals]))


def _standard_error(first: Sequence[Rows], second: Sequence[Rows]) -> float:
    """Return the standard error of the difference of two means over sets, paired by query."""
    variances = [np.var(a - b) / len(a) for a, b in zip(first, second, strict=True)]
    return float(np.sqrt(np.sum(variances)) / len(variances))


def out_of_fold(weak: Sequence[Fold], strong: Sequence[Fold]) -> list[Rows]:
    """Return the metrics of `strong`, else `weak`, each query by a table fitted without it."""
    shown = strong or weak
    rows = [np.zeros((len(fold.recalled), len(METRICS))) for fold in shown]
    for number in range(FOLDS):
        table = fit(weak, strong, number)
        for fold, result in zip(shown, rows, strict=True):
            mask = fold.fold(number)
            result[mask] = fold.rows(table)[mask]
    return rows


def _report(folds: Sequence[Fold], hybrids: Iterable[Rows], table: FusionTable) -> Iterable[str]:
    for fold, hybrid in zip(folds, hybrids, strict=True):
        rows = per_query(fold.recalled, fold.data.scope, table)
        yield show(fold.data.name, summary({**rows, "hybrid": hybrid}))


def to_json(table: FusionTable) -> Mapping[str, object]:
    """Return the table as `fusion.json` has it."""
    return {
        "paper": _shares(table.paper),
        "library": _shares(table.library),
        "strength": dict(table.strength),
        "cross_limit": table.cross_limit,
    }


def _seen(
    sets: Sequence[RetrievalSet], embedders: Sequence[Embedder], cache: Path | None
) -> list[Fold]:
    folds = []
    for data in sets:
        sys.stderr.write(f"scoring {data.name}\n")
        folds.append(Fold(data, recall_all(data, embedders, cache)))
    return folds


def main() -> None:
    """Fit, print out-of-fold figures with USE alone and with MiniLM, and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of shared sets")
    parser.add_argument("--questions", type=Path, default=Path("data/evals/qa_tune.jsonl"))
    parser.add_argument("--cache", type=Path, help="a folder for passages' vectors")
    parser.add_argument("--models", default=f"{USE_NAME},{MINILM_NAME}")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    embedders = load_embedders(options.models.split(","))
    for embedder in embedders:
        embedder.encode(["load"])
    strong = _seen(development_sets(options.data, options.questions), embedders, options.cache)
    weak = [Fold(fold.data, [without_strong(f) for f in fold.recalled]) for fold in strong]
    if len(embedders) == 1:
        strong = []
    table = fit(weak, strong, None)
    for line in _report(weak, out_of_fold(weak, []), table):
        sys.stdout.write(line + "\n")
    if strong:
        for line in _report(strong, out_of_fold(weak, strong), table):
            sys.stdout.write(line + "\n")
    text = json.dumps(to_json(table), indent=2) + "\n"
    sys.stdout.write(text)
    if not options.dry_run:
        Path(str(files("core.retrieval") / TABLE)).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
