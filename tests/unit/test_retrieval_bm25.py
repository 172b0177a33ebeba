import numpy as np
import pytest

from core.retrieval.bm25 import Bm25Index
from core.retrieval.termindex import TermIndex
from core.retrieval.tokenize import query_terms, tokenize

TEXTS = [
    "Bumblebee runs secure inference of transformers",
    "The garden is full of flowers and of bees",
    "",
    "Secure computation needs many rounds; secure inference needs few",
    "同态加密的自举",
]


def index(texts: list[str]) -> Bm25Index:
    return Bm25Index([tokenize(text) for text in texts])


def test_the_passage_with_the_rare_word_is_first():
    scores = index(TEXTS).scores(query_terms("What is Bumblebee?"))
    assert int(np.argmax(scores)) == 0
    assert (scores[1:] == 0).all()


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_nothing_to_index_scores_nothing(texts):
    assert index(texts).scores(["a"]).tolist() == [0.0] * len(texts)


@pytest.mark.parametrize("texts", [["secure inference"], ["secure inference", "secure sums"]])
def test_a_match_never_counts_against_a_passage_of_a_tiny_paper(texts):
    scores = index(texts).scores(query_terms("secure"))
    assert (scores > 0).all()


def test_a_query_without_known_terms_scores_zero():
    assert index(TEXTS).scores(["zebra"]).tolist() == [0.0] * len(TEXTS)
    assert index(TEXTS).scores([]).tolist() == [0.0] * len(TEXTS)


def test_merged_papers_score_as_one_index_over_all_their_chunks():
    terms = query_terms("secure inference 自举")
    merged = Bm25Index.merged([index(TEXTS[:1]), index([]), index([""]), index(TEXTS)])
    together = index([TEXTS[0], "", *TEXTS])
    assert len(merged) == len(together)
    np.testing.assert_allclose(merged.scores(terms), together.scores(terms))


def test_merging_leaves_the_parts_as_they_were():
    first, second = index(TEXTS[:2]), index(TEXTS[3:])
    before = first.scores(query_terms("secure")).copy()
    Bm25Index.merged([first, second])
    np.testing.assert_array_equal(first.scores(query_terms("secure")), before)


def test_a_paper_scores_as_a_library_does():
    terms = query_terms("secure inference 自举")
    ids = np.arange(len(TEXTS), dtype=np.int64)
    library = TermIndex.build(
        ids,
        np.full(len(TEXTS), b"\0" * 16),
        [(i, " ".join(tokenize(text))) for i, text in enumerate(TEXTS)],
    )
    np.testing.assert_allclose(library.scores(terms), index(TEXTS).scores(terms), rtol=1e-5)
