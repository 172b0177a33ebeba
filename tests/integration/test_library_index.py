"""The index over a whole library, on a real PostgreSQL and a real Chroma."""

import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from sqlalchemy import Engine, text

from core.db.papers import PaperStore
from core.retrieval import library as library_module
from core.retrieval.bm25 import Bm25Index
from core.retrieval.library import LibraryIndex
from tests.fixtures.libraries import (
    DIMENSION,
    MODEL,
    add_paper,
    add_papers,
    random_vectors,
    unit,
)

Scored = list[tuple[int, float]]


@pytest.fixture
def store(database: Engine) -> PaperStore:
    return PaperStore(database)


@pytest.fixture
def make_index(store: PaperStore, tmp_path: Path) -> Iterator[Callable[[], LibraryIndex]]:
    made: list[LibraryIndex] = []

    def make() -> LibraryIndex:
        made.append(LibraryIndex(store, tmp_path))
        return made[-1]

    yield make
    for index in made:
        index.close()


@pytest.fixture
def index(make_index: Callable[[], LibraryIndex]) -> LibraryIndex:
    return make_index()


@pytest.fixture
def user() -> UUID:
    return uuid4()


def exact(store: PaperStore, user: UUID, query: np.ndarray, k: int, model: str = MODEL) -> Scored:
    """The truth, by numpy over what the store gives."""
    papers = store.library(user)
    body = {chunk.id for chunk in store.chunks(papers)}
    ids, vectors = store.vectors(papers, model)
    pairs = zip(ids.tolist(), (vectors @ query).tolist(), strict=True)
    kept = [(i, s) for i, s in pairs if i in body]
    return sorted(kept, key=lambda pair: (-pair[1], pair[0]))[:k]


def assert_exact(found: Scored, truth: Scored) -> None:
    assert [i for i, _ in found] == [i for i, _ in truth]
    assert np.allclose([s for _, s in found], [s for _, s in truth], atol=1e-5)


def recall(found: Scored, truth: Scored) -> float:
    return len({i for i, _ in found} & {i for i, _ in truth}) / len(truth)


def rows_in_chroma(tmp_path: Path) -> int:
    with sqlite3.connect(tmp_path / "chroma" / "chroma.sqlite3") as connection:
        return int(connection.execute("SELECT count(*) FROM embeddings").fetchone()[0])


def only_chroma(index: LibraryIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make searching Postgres instead an error."""

    def refuse(*_: object) -> Scored:
        raise AssertionError("Postgres was searched, not Chroma")

    monkeypatch.setattr(index._source, "nearest", refuse)
    monkeypatch.setattr(index._source, "nearest_of", refuse)


class TestDense:
    def test_the_first_question_is_answered_exactly_and_without_opening_chroma(
        self, store, index, user, tmp_path
    ):
        add_papers(store, user, 5)
        query = random_vectors(1, 99)[0]
        assert_exact(index.dense(user, MODEL, query, 10), exact(store, user, query, 10))
        assert not (tmp_path / "chroma").exists()

    def test_chroma_finds_what_exact_search_finds(self, store, index, user, monkeypatch):
        add_papers(store, user, 100)
        index.sync(user)
        only_chroma(index, monkeypatch)
        queries = random_vectors(40, 99)
        found = [
            recall(index.dense(user, MODEL, q, 10), exact(store, user, q, 10)) for q in queries
        ]
        assert np.mean(found) >= 0.95

    def test_cosines_are_those_of_the_vectors(self, store, index, user):
        add_papers(store, user, 10)
        index.sync(user)
        query = random_vectors(1, 99)[0]
        truth = dict(exact(store, user, query, 200))
        for chunk_id, cosine in index.dense(user, MODEL, query, 50):
            assert cosine == pytest.approx(truth[chunk_id], abs=1e-5)

    def test_a_new_paper_is_found_at_once_and_synced_behind(
        self, store, index, user, tmp_path, monkeypatch
    ):
        add_papers(store, user, 5)
        index.sync(user)
        vectors = random_vectors(3, 7)
        paper = add_paper(store, user, "new", ["a", "b", "c"], vectors)
        ids = [chunk.id for chunk in store.chunks([paper])]
        assert index.dense(user, MODEL, vectors[1], 1)[0][0] == ids[1]
        wait_for(lambda: rows_in_chroma(tmp_path) == 103)
        only_chroma(index, monkeypatch)
        wait_for(lambda: index.status().rows == 103)
        assert index.dense(user, MODEL, vectors[1], 1)[0][0] == ids[1]

    def test_a_removed_paper_is_gone_at_once_and_restored_at_once(
        self, store, index, user, tmp_path
    ):
        papers = add_papers(store, user, 5)
        index.sync(user)
        query = random_vectors(20, 2)[4]  # a chunk of the third paper
        [(best, cosine)] = index.dense(user, MODEL, query, 1)
        assert cosine == pytest.approx(1.0, abs=1e-5)
        for _ in range(3):
            store.remove(user, papers[2])
            assert_exact(index.dense(user, MODEL, query, 30), exact(store, user, query, 30))
            assert best not in {i for i, _ in index.dense(user, MODEL, query, 100)}
            index.sync(user)
            assert rows_in_chroma(tmp_path) == 80
            store.restore(user, papers[2])
            assert index.dense(user, MODEL, query, 1)[0][0] == best
            index.sync(user)
            assert index.dense(user, MODEL, query, 1)[0][0] == best

    def test_enough_is_found_although_chroma_still_has_many_removed(self, store, index, user):
        papers = add_papers(store, user, 30)
        index.sync(user)
        for paper in papers[:27]:
            store.remove(user, paper)
        query = random_vectors(20, 2)[4]  # nearest: the removed
        assert_exact(index.dense(user, MODEL, query, 20), exact(store, user, query, 20))

    def test_chunks_of_the_reference_list_are_not_in_the_index(self, store, index, user, tmp_path):
        vectors = random_vectors(6)
        paper = add_paper(store, user, "cited", ["t"] * 6, vectors, references=2)
        body = [chunk.id for chunk in store.chunks([paper])]
        for _ in range(2):
            assert sorted(i for i, _ in index.dense(user, MODEL, vectors[5], 10)) == body
            index.sync(user)
        assert rows_in_chroma(tmp_path) == 4
        assert sorted(i for i, _ in index.bm25(user, ["t"], 10)) == body

    def test_vectors_that_come_later_are_found(self, store, index, user, monkeypatch):
        monkeypatch.setattr(library_module, "RETRY_SECONDS", 0.0)
        add_papers(store, user, 3)
        paper = add_paper(store, user, "late", ["a", "b"], None)
        index.sync(user)
        ids = [chunk.id for chunk in store.chunks([paper])]
        vectors = random_vectors(2, 55)
        assert not {i for i, _ in index.dense(user, MODEL, vectors[0], 100)} & set(ids)
        store.add_vectors(MODEL, ids, vectors)
        assert index.dense(user, MODEL, vectors[0], 1)[0][0] == ids[0]
        wait_for(lambda: index.dense(user, MODEL, vectors[0], 1) and index.status().rows == 62)

    def test_users_never_see_each_others_chunks(self, store, index, tmp_path):
        alice, bob = uuid4(), uuid4()
        add_papers(store, alice, 4, seed=1)
        shared = add_paper(store, alice, "both", ["s t"], random_vectors(1, 77))
        store.add_to_library(bob, shared, "both.pdf")
        add_papers(store, bob, 4, seed=2)
        own = {u: {c.id for c in store.chunks(store.library(u))} for u in (alice, bob)}
        for _ in range(2):
            for who in (alice, bob):
                found = index.dense(who, MODEL, random_vectors(20, 10_001)[0], 500)
                assert {i for i, _ in found} == own[who]
                assert {i for i, _ in index.bm25(who, ["common", "s"], 500)} == own[who]
                index.sync(who)

    def test_an_empty_library_has_nothing(self, index, user):
        query = random_vectors(1)[0]
        for _ in range(3):
            assert index.dense(user, MODEL, query, 5) == []
            assert index.bm25(user, ["a"], 5) == []
        index.sync(user)

    def test_a_name_of_a_model_can_be_anything(self, store, index, user):
        vectors = random_vectors(2)
        model = "../模型 名/BAAI::bge-large-zh-v1.5" * 20
        add_paper(store, user, "p", ["a", "b"], vectors, model=model)
        index.sync(user)
        assert_exact(
            index.dense(user, model, vectors[0], 2), exact(store, user, vectors[0], 2, model)
        )
        assert index.status().problem == ""


class TestLargeLibrary:
    """What holds when an index lacks more than is searched beside it."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(library_module, "EXACT_ROWS", 10)
        monkeypatch.setattr(library_module, "SMALL", 10)

    def test_nobody_waits_for_the_first_sync(self, store, index, user, monkeypatch):
        add_papers(store, user, 20)
        release = threading.Event()
        sync = library_module.ChromaView.sync

        def slow(view, *rest):
            assert release.wait(30)
            return sync(view, *rest)

        monkeypatch.setattr(library_module.ChromaView, "sync", slow)
        queries = random_vectors(10, 99)
        for query in queries:
            assert_exact(index.dense(user, MODEL, query, 10), exact(store, user, query, 10))
        [view] = index._all_views()
        wait_for(lambda: view.memory is not None)
        monkeypatch.setattr(index._source, "nearest", None)  # from here on: by memory
        for query in queries:
            assert_exact(index.dense(user, MODEL, query, 10), exact(store, user, query, 10))
        release.set()
        wait_for(lambda: view.chroma.rows() == 400 and view.memory is None)
        assert recall(index.dense(user, MODEL, queries[0], 10), exact(store, user, queries[0], 10))

    def test_without_the_lock_search_is_exact_also_after_adds_and_removals(
        self, store, make_index, user, monkeypatch
    ):
        monkeypatch.setattr(library_module, "RETRY_SECONDS", 0.0)
        papers = add_papers(store, user, 10)
        owner, other = make_index(), make_index()
        owner.sync(user)
        query = random_vectors(1, 99)[0]

        def both_right() -> None:
            for _ in range(4):
                for index in (owner, other):
                    truth = exact(store, user, query, 10)
                    assert_exact(index.dense(user, MODEL, query, 10), truth)
                time.sleep(0.05)

        both_right()
        assert (owner.status().owner, other.status().owner) == (True, False)
        [view] = other._all_views()
        wait_for(lambda: bool(other.dense(user, MODEL, query, 1)) and view.memory is not None)
        add_papers(store, user, 3, seed=5)
        both_right()
        store.remove(user, papers[1])
        both_right()
        store.restore(user, papers[1])
        both_right()
        owner.close()
        wait_for(lambda: bool(other.dense(user, MODEL, query, 1)) and view.chroma.rows() == 260)
        assert other.status().owner
        assert_exact(other.dense(user, MODEL, query, 10), exact(store, user, query, 10))

    def test_memory_is_bounded(self, store, make_index, user, tmp_path, monkeypatch):
        monkeypatch.setattr(library_module, "MAX_BYTES", 1000)
        add_papers(store, user, 10)
        owner, other = make_index(), make_index()
        owner.sync(user)
        query = random_vectors(1, 99)[0]
        for _ in range(5):
            assert_exact(other.dense(user, MODEL, query, 10), exact(store, user, query, 10))
            time.sleep(0.05)
        [view] = other._all_views()
        assert view.memory is None


class TestHealing:
    QUERY = random_vectors(1, 99)[0]

    def synced(self, store: PaperStore, index: LibraryIndex, user: UUID) -> None:
        add_papers(store, user, 10)
        index.sync(user)

    def right(self, store: PaperStore, index: LibraryIndex, user: UUID) -> None:
        found = index.dense(user, MODEL, self.QUERY, 10)
        assert_exact(found, exact(store, user, self.QUERY, 10))

    def test_rows_deleted_behind_our_back_come_back(
        self, store, index, make_index, user, tmp_path, monkeypatch
    ):
        self.synced(store, index, user)
        best = [str(i) for i, _ in exact(store, user, self.QUERY, 10)]
        client = index._client.open()
        [collection] = client.list_collections()
        collection.delete(ids=best)
        index.close()
        again = make_index()
        self.right(store, again, user)
        self.right(store, again, user)
        wait_for(lambda: again.status().rows == 200)
        assert rows_in_chroma(tmp_path) == 200
        only_chroma(again, monkeypatch)
        self.right(store, again, user)

    def test_rows_deleted_while_we_run_come_back_at_sync(self, store, index, user, monkeypatch):
        self.synced(store, index, user)
        [collection] = index._client.open().list_collections()
        collection.delete(ids=[str(i) for i, _ in exact(store, user, self.QUERY, 10)])
        index.sync(user)
        only_chroma(index, monkeypatch)
        self.right(store, index, user)

    def test_a_wrong_vector_is_put_right(self, store, index, user, monkeypatch):
        self.synced(store, index, user)
        [(best, _)] = exact(store, user, self.QUERY, 1)
        [collection] = index._client.open().list_collections()
        collection.update(ids=[str(best)], embeddings=-self.QUERY[np.newaxis])
        index.sync(user)
        only_chroma(index, monkeypatch)
        self.right(store, index, user)

    def test_foreign_rows_are_deleted(self, store, index, user, tmp_path):
        self.synced(store, index, user)
        [collection] = index._client.open().list_collections()
        collection.add(ids=["999999"], embeddings=self.QUERY[np.newaxis])
        self.right(store, index, user)
        index.sync(user)
        assert rows_in_chroma(tmp_path) == 200

    @pytest.mark.parametrize("damage", ["zeros", "cut", "text", "header", "gone", "folder", "hnsw"])
    def test_a_damaged_folder_heals(
        self, store, index, make_index, user, tmp_path, damage, monkeypatch
    ):
        self.synced(store, index, user)
        index.close()
        damage_folder(tmp_path / "chroma", damage)
        again = make_index()
        for _ in range(3):
            self.right(store, again, user)
        again.sync(user)
        assert again.status() == library_module.IndexStatus(True, "", 200, "")
        only_chroma(again, monkeypatch)
        self.right(store, again, user)

    @pytest.mark.parametrize("damage", ["zeros", "gone", "folder"])
    def test_a_folder_damaged_while_we_run_heals(
        self, store, index, user, tmp_path, damage, monkeypatch
    ):
        self.synced(store, index, user)
        damage_folder(tmp_path / "chroma", damage)
        for _ in range(3):
            self.right(store, index, user)
        index.sync(user)
        wait_for(lambda: rows_in_chroma(tmp_path) == 200)
        only_chroma(index, monkeypatch)
        self.right(store, index, user)

    def test_a_collection_made_anew_by_somebody_heals(self, store, index, user, monkeypatch):
        self.synced(store, index, user)
        client = index._client.open()
        [collection] = client.list_collections()
        client.delete_collection(collection.name)
        self.right(store, index, user)
        index.sync(user)
        only_chroma(index, monkeypatch)
        self.right(store, index, user)

    def test_a_model_that_now_has_another_dimension_heals(
        self, store, index, user, database, monkeypatch
    ):
        self.synced(store, index, user)
        with database.begin() as connection:
            connection.execute(text("DELETE FROM embeddings"))
        ids = [chunk.id for chunk in store.chunks(store.library(user))]
        wider = random_vectors(len(ids), 3, dimension=96)
        store.add_vectors(MODEL, ids, wider)
        for _ in range(2):
            assert index.dense(user, MODEL, wider[5], 1)[0][0] == ids[5]
        index.sync(user)
        assert index.status().problem == ""
        only_chroma(index, monkeypatch)
        assert index.dense(user, MODEL, wider[5], 1)[0][0] == ids[5]

    def test_mixed_dimensions_are_neither_a_crash_nor_a_mix(self, store, index, user):
        self.synced(store, index, user)
        wide = random_vectors(4, 8, dimension=96)
        paper = add_paper(store, user, "wide", ["w"] * 4, wide)
        wide_ids = [chunk.id for chunk in store.chunks([paper])]
        narrow = set(range(1, 1_000)) - set(wide_ids)
        for _ in range(2):
            for _ in range(2):
                found = index.dense(user, MODEL, self.QUERY, 300)
                assert len(found) == 200
                assert {i for i, _ in found} <= narrow
                assert sorted(i for i, _ in index.dense(user, MODEL, wide[0], 300)) == wide_ids
            index.sync(user)

    def test_a_folder_that_cannot_be_written_leaves_exact_search(
        self, store, make_index, user, tmp_path
    ):
        (tmp_path / "chroma").write_text("a file where the folder should be")
        (tmp_path / "chroma").chmod(0o400)
        (tmp_path / "chroma.lock").mkdir()
        index = make_index()
        add_papers(store, user, 3)
        for _ in range(3):
            self.right(store, index, user)
        index.sync(user)
        assert index.status().problem
        self.right(store, index, user)


def damage_folder(folder: Path, damage: str) -> None:
    database = folder / "chroma.sqlite3"
    data = database.read_bytes()
    if damage == "gone":
        database.unlink()
    elif damage == "folder":
        shutil.rmtree(folder)
    elif damage == "hnsw":
        segments = [file for path in folder.iterdir() if path.is_dir() for file in path.iterdir()]
        assert segments
        for file in segments:
            file.write_bytes(b"\xff" * 100)
    else:
        database.write_bytes(
            {
                "zeros": bytes(len(data)),
                "cut": data[: len(data) // 2],
                "text": b"not a database",
                "header": data[:4096] + b"\xff" * 36864 + data[40960:],
            }[damage]
        )


class TestBm25:
    def truth(self, store: PaperStore, user: UUID, terms: list[str], k: int) -> Scored:
        rows = store.terms(store.library(user))
        scores = Bm25Index([text.split() for _, text in rows]).scores(terms)
        pairs = [(i, float(s)) for (i, _), s in zip(rows, scores, strict=True) if s > 0]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]

    def zipf_paper(self, store: PaperStore, user: UUID, name: str, chunks: int = 20) -> UUID:
        rng = np.random.default_rng(abs(hash(name)) % 2**32)
        texts = [
            " ".join(f"w{n}" for n in rng.zipf(1.3, size=rng.integers(1, 60)).clip(max=500))
            for _ in range(chunks)
        ]
        return add_paper(store, user, name, texts, None)

    QUERIES = (["w1", "w7", "w13"], ["w2"], ["w499", "w1", "w1"], ["nowhere"], ["w3", "nowhere"])

    def assert_same(self, found: Scored, truth: Scored, tolerance: float = 1e-4) -> None:
        assert np.allclose([s for _, s in found], [s for _, s in truth], rtol=tolerance)
        best = dict(truth)
        for chunk_id, score in found[: len(found) // 2]:
            assert best[chunk_id] == pytest.approx(score, rel=tolerance)

    def test_scores_are_those_of_a_paper(self, store, index, user):
        for i in range(10):
            self.zipf_paper(store, user, f"z{i}")
        for terms in self.QUERIES:
            self.assert_same(index.bm25(user, terms, 50), self.truth(store, user, terms, 50))

    def test_no_terms_find_nothing(self, store, index, user):
        add_papers(store, user, 1)
        assert index.bm25(user, [], 5) == []

    def test_chunks_without_terms_are_no_error(self, store, index, user):
        add_paper(store, user, "empty", ["", ""], None)
        assert index.bm25(user, ["a"], 5) == []
        add_paper(store, user, "some", ["", "a b"], None)
        assert len(index.bm25(user, ["a"], 5)) == 1

    def test_a_large_index_is_patched_at_once_and_rebuilt_behind(
        self, store, index, user, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(library_module, "SMALL", 10)
        papers = [self.zipf_paper(store, user, f"z{i}") for i in range(10)]
        index.bm25(user, ["w1"], 5)
        rebuild, started, release = LibraryIndex._rebuild, threading.Event(), threading.Event()

        def held(self, *rest):
            started.set()
            assert release.wait(30)
            rebuild(self, *rest)

        monkeypatch.setattr(LibraryIndex, "_rebuild", held)
        new = add_paper(store, user, "new", ["w1 brandnew", "w2 w3"], None)
        ids = [chunk.id for chunk in store.chunks([new])]
        assert [i for i, _ in index.bm25(user, ["brandnew"], 5)] == [ids[0]]
        for terms in self.QUERIES:
            found = dict(index.bm25(user, terms, 300))
            truth = dict(self.truth(store, user, terms, 300))
            assert found.keys() == truth.keys()
            for chunk_id, score in truth.items():
                assert found[chunk_id] == pytest.approx(score, rel=0.25)
        store.remove(user, papers[0])
        gone = {chunk.id for chunk in store.chunks([papers[0]])}
        assert not gone & {i for i, _ in index.bm25(user, ["w1", "w2"], 500)}
        store.restore(user, papers[0])
        assert gone <= {i for i, _ in index.bm25(user, [f"w{i}" for i in range(501)], 500)}
        assert started.wait(10)
        release.set()
        slot = index._keywords[user]
        wait_for(lambda: slot.index is not None and len(slot.index.ids) == 202)
        for terms in self.QUERIES:
            self.assert_same(index.bm25(user, terms, 50), self.truth(store, user, terms, 50))

    def test_it_is_built_once_for_many_threads(self, store, index, user, monkeypatch):
        add_papers(store, user, 10)
        built: list[int] = []
        build = library_module.TermIndex.build

        def counted(*arguments):
            built.append(1)
            time.sleep(0.1)
            return build(*arguments)

        monkeypatch.setattr(library_module.TermIndex, "build", counted)
        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda _: index.bm25(user, ["p3", "c4"], 3), range(16)))
        assert len(built) == 1
        assert all(each == found[0] for each in found)

    def test_a_new_process_reads_it_from_disk(
        self, store, index, make_index, user, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(library_module, "SMALL", 10)
        papers = [self.zipf_paper(store, user, f"z{i}") for i in range(5)]
        before = [index.bm25(user, terms, 20) for terms in self.QUERIES]
        monkeypatch.setattr(library_module.TermIndex, "build", None)
        again = make_index()
        assert [again.bm25(user, terms, 20) for terms in self.QUERIES] == before
        store.remove(user, papers[0])
        gone = {chunk.id for chunk in store.chunks([papers[0]])}
        third = make_index()
        assert not gone & {i for i, _ in third.bm25(user, ["w1", "w2"], 500)}

    @pytest.mark.parametrize("damage", [b"", b"nonsense", None])
    def test_a_damaged_file_is_made_anew(
        self, store, index, make_index, user, tmp_path, damage, monkeypatch
    ):
        monkeypatch.setattr(library_module, "SMALL", 10)
        for i in range(5):
            self.zipf_paper(store, user, f"z{i}")
        before = index.bm25(user, ["w1", "w7"], 20)
        [file] = (tmp_path / "bm25").iterdir()
        data = bytearray(file.read_bytes())
        if damage is None:
            data[len(data) // 2] ^= 0xFF
        else:
            data[:] = damage
        file.write_bytes(data)
        assert make_index().bm25(user, ["w1", "w7"], 20) == before

    def test_sync_makes_it_anew_from_the_stored_terms(
        self, store, index, user, database, monkeypatch
    ):
        monkeypatch.setattr(library_module, "SMALL", 10)
        self.zipf_paper(store, user, "z")
        assert index.bm25(user, ["fresh"], 5) == []
        with database.begin() as connection:
            connection.execute(text("UPDATE chunks SET terms = 'fresh'"))
        index.sync(user)
        assert len(index.bm25(user, ["fresh"], 5)) == 5

    def test_a_file_of_another_database_is_not_believed(
        self, store, index, user, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(library_module, "SMALL", 10)
        self.zipf_paper(store, user, "z")
        index.bm25(user, ["w1"], 5)
        [file] = (tmp_path / "bm25").iterdir()
        other = uuid4()
        file.rename(file.with_name(f"{other.hex}.npz"))
        add_paper(store, other, "own", ["w1 w2"] * 30, None)
        assert {i for i, _ in index.bm25(other, ["w1"], 500)} == {
            chunk.id for chunk in store.chunks(store.library(other))
        }

    def test_indexes_of_many_users_are_bounded(self, store, index, monkeypatch):
        users = [uuid4() for _ in range(4)]
        for who in users:
            self.zipf_paper(store, who, f"z{who}")
            index.bm25(who, ["w1"], 5)
        assert len(index._keywords) == 4
        size = max(slot.index.nbytes for slot in index._keywords.values() if slot.index)
        monkeypatch.setattr(library_module, "MAX_BYTES", 2 * size)
        who = uuid4()
        self.zipf_paper(store, who, "last")
        assert index.bm25(who, ["w1"], 5)
        assert list(index._keywords)[-1] == who
        assert len(index._keywords) <= 3
        assert index.bm25(users[0], ["w1"], 5)


def test_queries_and_changes_and_syncs_at_the_same_time(store, index, user, monkeypatch):
    """What stays in the library throughout is found by every question."""
    monkeypatch.setattr(library_module, "RETRY_SECONDS", 0.0)
    add_papers(store, user, 6, seed=1)
    coming = add_papers(store, user, 6, seed=2)
    [(best, _)] = exact(store, user, random_vectors(20, 10_003)[7], 1)
    query = unit(random_vectors(20, 10_003)[7])
    stop = threading.Event()

    def ask() -> int:
        count = 0
        while not stop.is_set():
            assert index.dense(user, MODEL, query, 5)[0][0] == best
            assert len(index.bm25(user, ["p3", "c7"], 25)) == 25
            count += 1
        return count

    def change() -> None:
        for round_ in range(4):
            for paper in coming:
                (store.restore if round_ % 2 else store.remove)(user, paper)
                index.sync(user)

    with ThreadPoolExecutor(5) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        try:
            pool.submit(change).result()
        finally:
            stop.set()
        assert all(future.result() > 3 for future in asking)
    index.sync(user)
    assert index.status().rows == 240
    assert_exact(index.dense(user, MODEL, query, 10), exact(store, user, query, 10))


def test_closing_lets_go_and_can_be_done_twice(store, make_index, user):
    add_papers(store, user, 2)
    first = make_index()
    first.sync(user)
    first.close()
    first.close()
    second = make_index()
    second.sync(user)
    assert second.status().owner
    assert second.status().rows == 40
    assert DIMENSION == 64


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)
