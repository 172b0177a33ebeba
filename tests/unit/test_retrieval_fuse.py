import json
from dataclasses import replace

import numpy as np
import pytest

from core.models.embed import MINILM_NAME, USE_NAME, MultilingualUSE, SentenceTransformerEmbedder
from core.retrieval.fuse import Case, best_first, combine, fuse, hide_foreign, union, z_scores
from core.retrieval.weights import BM25, FusionTable, Shares, fitted

HALF = Shares(same=0.5, same_strong=0.5, cross=0.5)
TABLE = FusionTable(HALF, HALF, {USE_NAME: 1.0, MINILM_NAME: 2.0, "other": 2.0}, 4.0)


def case(n: int, same: bool = True) -> Case:
    return Case("paper", np.full(n, same))


def test_union_gives_what_a_path_did_not_list_its_lowest_score():
    found = union({USE_NAME: [(7, 0.9), (8, 0.4)], BM25: [(9, 12.0), (7, 3.0)]}, k=2)
    assert found.ids.tolist() == [7, 8, 9]
    assert found.scores[USE_NAME].tolist() == [0.9, 0.4, 0.4]
    assert found.scores[BM25].tolist() == [3.0, 3.0, 12.0]


def test_union_knows_that_a_short_list_of_bm25_is_all_there_is():
    found = union({USE_NAME: [(7, 0.9), (8, 0.4)], BM25: [(9, 12.0)]}, k=2)
    assert found.scores[BM25].tolist() == [0.0, 0.0, 12.0]


def test_union_of_nothing():
    found = union({USE_NAME: [], BM25: []}, k=5)
    assert len(found.ids) == 0
    assert fuse(found.scores, case(0), TABLE).shape == (0,)


def test_a_path_that_found_nothing_does_not_move_the_order():
    found = union({USE_NAME: [(1, 0.9), (2, 0.5), (3, 0.1)], BM25: []}, k=3)
    fused = fuse(found.scores, case(3), TABLE)
    assert found.ids[best_first(fused, found.ids)].tolist() == [1, 2, 3]


@pytest.mark.parametrize("scores", [[], [3.0], [2.0, 2.0, 2.0], [0.0, 0.0]])
def test_scores_without_spread_are_zero(scores):
    assert z_scores(np.array(scores)).tolist() == [0.0] * len(scores)


def test_z_scores_pass_over_what_was_not_seen():
    z = z_scores(np.array([1.0, np.nan, 3.0]))
    assert z[0] == -1.0
    assert z[2] == 1.0
    assert np.isnan(z[1])


def test_a_hit_that_only_keywords_find_survives_the_fusion():
    """Cutting a union that lists cosine first to five drops it: fusing must not."""
    dense = np.linspace(0.6, 0.2, 51)
    keyword = np.zeros(51)
    keyword[50] = 9.0
    ids = np.arange(51)
    fused = fuse({USE_NAME: dense, BM25: keyword}, case(51), fitted())
    assert 50 in best_first(fused, ids)[:5]


def test_a_chunk_without_vectors_is_judged_by_the_paths_that_saw_it():
    dense = np.array([0.9, 0.1, np.nan])
    keyword = np.array([1.0, 0.0, 5.0])
    fused = fuse({USE_NAME: dense, BM25: keyword}, case(3), TABLE)
    assert best_first(fused, np.arange(3))[0] == 2
    assert not np.isnan(fused).any()


def test_no_path_saw_anything():
    fused = fuse({USE_NAME: np.array([np.nan, np.nan])}, case(2), TABLE)
    assert fused.tolist() == [0.0, 0.0]


def test_across_languages_one_shared_term_is_held_back():
    dense = np.linspace(1.0, 0.0, 60)
    keyword = np.zeros(60)
    keyword[59] = 3.0
    at_home = fuse({USE_NAME: dense, BM25: keyword}, case(60), TABLE)
    abroad = fuse({USE_NAME: dense, BM25: keyword}, case(60, same=False), TABLE)
    assert at_home[59] > 2.0 > abroad[59]


def test_a_foreign_passage_is_not_punished_for_sharing_no_terms():
    same = np.array([True, True, True, False])
    dense = np.array([0.2, 0.3, 0.1, 0.9])
    keyword = np.array([9.0, 8.0, 1.0, 0.0])
    fused = fuse({USE_NAME: dense, BM25: keyword}, Case("library", same), TABLE)
    assert int(np.argmax(fused)) == 3


def test_shared_terms_count_less_where_the_nearest_passages_are_foreign():
    """A Chinese question in a library of both: chance characters in common must not win."""
    same = np.array([False] * 10 + [True] * 10)
    near_abroad = np.concatenate([np.linspace(0.9, 0.8, 10), np.linspace(0.3, 0.2, 10)])
    keyword = np.zeros(20)
    keyword[15] = 9.0
    table = replace(TABLE, library=Shares(same=0.6, same_strong=0.6, cross=0.1))
    abroad = fuse({USE_NAME: near_abroad, BM25: keyword}, Case("library", same), table)
    assert int(np.argmax(abroad)) == 0
    at_home = fuse({USE_NAME: near_abroad[::-1], BM25: keyword}, Case("library", same), table)
    assert int(np.argmax(at_home)) == 15


def test_a_model_does_not_judge_languages_it_does_not_know():
    models = [MultilingualUSE(), SentenceTransformerEmbedder(MINILM_NAME)]
    scores = {USE_NAME: np.array([0.1, 0.2]), MINILM_NAME: np.array([0.9, 0.8])}
    mixed = hide_foreign(scores, ["zh", "en"], models)
    assert np.isnan(mixed[MINILM_NAME]).tolist() == [True, False]
    assert set(hide_foreign(scores, ["zh", "zh"], models)) == {USE_NAME}


def test_combine_says_which_paths_took_part():
    models = [MultilingualUSE(), SentenceTransformerEmbedder(MINILM_NAME)]
    scores = {
        USE_NAME: np.array([0.1, 0.2]),
        MINILM_NAME: np.array([0.9, 0.8]),
        BM25: np.array([0.0, 1.0]),
    }
    seen, fused = combine(scores, ["zh", "zh"], "en", "paper", models, TABLE)
    assert set(seen) == {USE_NAME, BM25}
    assert int(np.argmax(fused)) == 1


def test_equal_scores_keep_a_stable_order():
    assert best_first(np.zeros(3), np.array([30, 10, 20])).tolist() == [1, 2, 0]


def test_the_fitted_table_is_whole_and_is_what_the_fit_writes():
    from core.evals.fit_fusion import to_json

    table = fitted()
    for shares in (table.paper, table.library):
        assert all(0.0 <= share < 1.0 for share in (shares.same, shares.same_strong, shares.cross))
    assert FusionTable.from_json(json.loads(json.dumps(to_json(table)))) == table
    assert replace(table, cross_limit=1.0) != table
