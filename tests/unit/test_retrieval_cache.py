import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import numpy as np
import pytest

from core.retrieval.cache import PaperCache
from core.retrieval.tokenize import tokenize
from core.types import Chunk

MODEL = "use-multilingual"


class Papers:
    """Papers in memory that count how often they are read."""

    def __init__(self, chunks_each: int = 10) -> None:
        self.chunks_each = chunks_each
        self.reads: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.embedded = True
        self.fail = False

    def count(self, what: str) -> None:
        with self.lock:
            self.reads[what] += 1

    def chunks(self, paper_ids, *, references=False):
        self.count("chunks")
        time.sleep(0.02)
        if self.fail:
            raise ConnectionError("gone")
        (paper,) = paper_ids
        first = paper.int % 1_000_000 * 100
        return [
            Chunk(first + i, paper, "f", 1, "", "body", f"passage {i} of paper {first}")
            for i in range(self.chunks_each)
        ]

    def terms(self, paper_ids, *, references=False):
        self.count("terms")
        rows = Papers.chunks(self, paper_ids)
        return [(chunk.id, " ".join(tokenize(chunk.text))) for chunk in rows]

    def vectors(self, paper_ids, model):
        self.count(model)
        ids = [chunk.id for chunk in Papers.chunks(self, paper_ids)][::-1]
        n = len(ids) if self.embedded else len(ids) // 2
        return np.array(ids[:n], dtype=np.int64), np.eye(len(ids), 64, dtype=np.float32)[:n]


def test_sixteen_threads_on_a_cold_paper_build_it_once():
    source, paper = Papers(), uuid4()
    cache = PaperCache(source)
    together = threading.Barrier(16)

    def get(_: int) -> int:
        together.wait()
        return id(cache.get(paper, [MODEL]))

    with ThreadPoolExecutor(16) as pool:
        bundles = set(pool.map(get, range(16)))
    assert len(bundles) == 1
    assert source.reads["terms"] == 1
    assert source.reads[MODEL] == 1


def test_papers_do_not_wait_for_each_other():
    source = Papers()
    cache = PaperCache(source)
    slow, entered, release = uuid4(), threading.Event(), threading.Event()
    real = source.chunks

    def chunks(paper_ids, *, references=False):
        if paper_ids == [slow]:
            entered.set()
            assert release.wait(10)
        return real(paper_ids, references=references)

    source.chunks = chunks
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.get, slow)
        assert entered.wait(10)
        assert len(cache.get(uuid4()).ids) == 10
        release.set()
        assert len(waiting.result(10).ids) == 10


def test_vectors_stand_in_the_order_of_the_chunks():
    bundle = PaperCache(Papers()).get(uuid4(), [MODEL])
    vectors = bundle.vectors(MODEL)
    # The source gives them backwards: row i is chunk n - 1 - i.
    assert np.argmax(vectors, axis=1).tolist() == list(range(9, -1, -1))


def test_the_bound_holds_and_the_least_recently_used_goes_first():
    source = Papers()
    one = PaperCache(source)
    first = uuid4()
    one.get(first, [MODEL])
    size = one.nbytes
    cache = PaperCache(source, max_bytes=int(3.5 * size))
    papers = [uuid4() for _ in range(3)]
    for paper in papers:
        cache.get(paper, [MODEL])
    kept = cache.get(papers[0], [MODEL])
    cache.get(uuid4(), [MODEL])
    assert len(cache) == 3
    assert cache.nbytes <= 3.5 * size
    assert cache.get(papers[0], [MODEL]) is kept
    before = source.reads["terms"]
    cache.get(papers[1], [MODEL])
    assert source.reads["terms"] == before + 1


def test_a_paper_larger_than_the_bound_is_served_and_not_kept():
    cache = PaperCache(Papers(), max_bytes=10)
    assert len(cache.get(uuid4(), [MODEL]).ids) == 10
    assert cache.nbytes == 0


def test_vectors_that_arrive_later_come_in_by_themselves():
    source, paper = Papers(), uuid4()
    source.embedded = False
    cache = PaperCache(source)
    assert cache.get(paper, [MODEL]).vectors(MODEL) is None
    size = cache.nbytes
    source.embedded = True
    assert cache.get(paper, [MODEL]).vectors(MODEL).shape == (10, 64)
    assert cache.nbytes > size
    reads = source.reads[MODEL]
    cache.get(paper, [MODEL])
    assert source.reads[MODEL] == reads
    assert source.reads["terms"] == 1


def test_an_invalidated_paper_is_read_again():
    source, paper = Papers(), uuid4()
    cache = PaperCache(source)
    cache.get(paper, [MODEL])
    cache.invalidate(paper)
    assert len(cache) == 0
    cache.get(paper, [MODEL])
    assert source.reads["terms"] == 2


def test_a_failed_build_is_tried_again():
    source, paper = Papers(), UUID(int=5)
    cache = PaperCache(source)
    source.fail = True
    with pytest.raises(ConnectionError):
        cache.get(paper)
    source.fail = False
    assert len(cache.get(paper).ids) == 10
