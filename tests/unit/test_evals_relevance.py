"""The cases of `eval relevance`, and the figures made of them."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput
from core.evals.fit_relevance import EVEN, GRID, choose
from core.evals.registry import OWN_SETS
from core.evals.relevance import Case, Scored, own_cases, run
from core.models.embed import load_embedders
from core.retrieval.tokenize import query_terms, tokenize
from core.tools.relevance import Relevance, Weights, across, combine, fitted

CASES = own_cases(OWN_SETS / "relevance.jsonl")
PAPERS = [
    {"title": "Rank fusion for search", "abstract": "We fuse the rankings of two engines."},
    {"title": "Bees in cities", "abstract": "We count wild bees in thirty parks."},
]


def case(query: str, relevant: list[int], kind: str = "keyword") -> str:
    row = {"query": query, "kind": kind, "candidates": PAPERS, "relevant": relevant}
    return json.dumps(row) + "\n"


def test_the_halves_are_alike_and_share_no_paper() -> None:
    halves = {half: [c for c in CASES if c.split == half] for half in ("choose", "report")}
    assert sum(map(len, halves.values())) == len(CASES) >= 60
    for cases in halves.values():
        kinds = [case.kind for case in cases]
        assert {kind: kinds.count(kind) for kind in kinds} == {
            "cross": 12,
            "paraphrase": 12,
            "keyword": 12,
        }
        assert all(6 <= len(case.papers) <= 8 for case in cases)
    chosen, reported = ({p for c in cases for p in c.papers} for cases in halves.values())
    assert not chosen & reported


@pytest.mark.parametrize("case", [c for c in CASES if c.kind == "cross"], ids=lambda c: c.query)
def test_cross_cases_are_in_two_languages(case: Case) -> None:
    assert across(case.query, case.papers).all()


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.kind == "paraphrase"], ids=lambda c: c.query
)
def test_paraphrases_share_no_word_with_what_they_mean(case: Case) -> None:
    """Single Chinese characters are no words."""
    words = {term for term in query_terms(case.query) if term.isascii() or len(term) > 1}
    for at in case.relevant:
        assert not words & set(tokenize(case.papers[at]))


def test_the_figures_tell_a_right_label_from_a_wrong_one(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(case("fusion of rankings", [0]) + case("wild bees", [0], "paraphrase"))
    found = run(path, None, load_embedders(["use-multilingual"])[0])
    assert found["n"] == 2
    assert found["top1"] == {"embedding": 0.5, "tfidf": 0.5, "combined": 0.5}
    assert found["per_kind"] == {
        "keyword": {"n": 1, "embedding": 1.0, "tfidf": 1.0, "combined": 1.0},
        "paraphrase": {"n": 1, "embedding": 0.0, "tfidf": 0.0, "combined": 0.0},
    }
    assert found["mrr"]["combined"] == 0.75
    assert "halves" not in found


@pytest.mark.parametrize("relevant", [[], [2], [-1]])
def test_a_label_outside_the_candidates_is_refused(tmp_path: Path, relevant: list[int]) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(case("bees", relevant))
    with pytest.raises(BadInput, match="case 1 is no case"):
        run(path, None, load_embedders(["use-multilingual"])[0])


def test_equal_scores_are_a_draw() -> None:
    level = np.zeros(4)
    one = Case("q", "keyword", ("a", "b", "c", "d"), frozenset({0}))
    scored = Scored(one, Relevance(level, level, level), np.zeros(4, dtype=bool))
    assert scored.place(level) == (0.25, 0.4)
    assert scored.place(np.array([1.0, 0, 0, 0])) == (1.0, 1.0)


def test_words_count_less_across_languages() -> None:
    close, shared = np.array([0.9, 0.1, 0.5]), np.array([0.0, 0.6, 0.0])
    weights = Weights(same=1.0, cross=0.0)
    assert combine(close, shared, np.zeros(3, dtype=bool), weights).argmax() == 1
    assert combine(close, shared, np.ones(3, dtype=bool), weights).argmax() == 0
    assert 0 < fitted().cross < fitted().same < 1


def test_the_weight_moves_only_for_what_the_cases_tell() -> None:
    even = GRID.index(EVEN)
    flat = [np.full(50, 0.8) for _ in GRID]
    assert choose({"kind": flat}) == EVEN
    low = [np.full(50, 0.9 if words <= 0.2 else 0.5) for words in GRID]
    assert choose({"kind": low}) == 0.2
    noisy = [column.copy() for column in flat]
    noisy[even - 4][:2] = 1.0, 0.7
    assert choose({"kind": noisy}) == EVEN
