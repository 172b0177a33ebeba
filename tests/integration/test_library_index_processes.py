"""Several processes on one library: beside an embedded Chroma, and through a Chroma server."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from sqlalchemy import Engine

from core.db.papers import PaperStore
from core.retrieval import library as library_module
from core.retrieval.library import LibraryIndex
from tests.fixtures.libraries import MODEL, add_paper, add_papers, random_vectors

QUERY = random_vectors(1, 99)[0]
HANGS = 30

PROCESS = """
import json, sys
from pathlib import Path
from uuid import UUID
import numpy as np
from core.db.engine import make_engine
from core.db.papers import PaperStore
from core.retrieval.library import LibraryIndex

url, folder, chroma_url, user = sys.argv[1:]
store = PaperStore(make_engine(url))
index = LibraryIndex(store, Path(folder), chroma_url)
user = UUID(user)
for line in sys.stdin:
    name, *arguments = json.loads(line)
    if name == "dense":
        model, vector = arguments
        answer = index.dense(user, model, np.array(vector, dtype=np.float32), 10)
    elif name == "bm25":
        answer = index.bm25(user, arguments, 10)
    elif name == "sync":
        answer = index.sync(user)
    elif name == "status":
        status = index.status()
        answer = [status.owner, status.rows, status.problem]
    else:
        getattr(store, name)(user, UUID(arguments[0]))
        answer = None
    print(json.dumps(answer), flush=True)
index.close()
"""


class Process:
    """Another process with the same library; its answers come as JSON."""

    def __init__(self, url: str, folder: Path, chroma_url: str, user: UUID) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROCESS, url, str(folder), chroma_url, str(user)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *command: object) -> object:
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.popen.stdin.write(json.dumps(command) + "\n")
        self.popen.stdin.flush()
        return json.loads(self.popen.stdout.readline())

    def dense(self, vector: np.ndarray = QUERY) -> list[tuple[int, float]]:
        found = self("dense", MODEL, vector.tolist())
        assert isinstance(found, list)
        return [(chunk_id, score) for chunk_id, score in found]

    def end(self) -> None:
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.popen.stdin.close()
        assert self.popen.wait(HANGS) == 0
        self.popen.stdout.close()

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def user() -> UUID:
    return uuid4()


@pytest.fixture
def store(database: Engine) -> PaperStore:
    return PaperStore(database)


@pytest.fixture
def start(database_url: str, tmp_path: Path, user: UUID) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def make(chroma_url: str = "") -> Process:
        started.append(Process(database_url, tmp_path, chroma_url, user))
        return started[-1]

    yield make
    for process in started:
        if process.popen.poll() is None:
            process.kill()


def truth(store: PaperStore, user: UUID, vector: np.ndarray = QUERY) -> list[tuple[int, float]]:
    ids, vectors = store.vectors(store.library(user), MODEL)
    pairs = zip(ids.tolist(), (vectors @ vector).tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:10]


def assert_right(
    found: list[tuple[int, float]], store: PaperStore, user: UUID, vector: np.ndarray = QUERY
) -> None:
    expected = truth(store, user, vector)
    assert [i for i, _ in found] == [i for i, _ in expected]
    assert np.allclose([s for _, s in found], [s for _, s in expected], atol=1e-5)


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)


@pytest.mark.parametrize("exact_rows", [1_000, 10])
def test_two_processes_on_one_folder_are_both_right(
    store, user, start, tmp_path, monkeypatch, exact_rows
):
    monkeypatch.setattr(library_module, "EXACT_ROWS", exact_rows)
    monkeypatch.setattr(library_module, "RETRY_SECONDS", 0.0)
    papers = add_papers(store, user, 10)
    other = start()
    other("sync")
    assert other("status") == [True, 200, ""]
    with LibraryIndex(store, tmp_path) as index:
        index.sync(user)
        assert not index.status().owner

        def both_right() -> None:
            for _ in range(3):
                assert_right(index.dense(user, MODEL, QUERY, 10), store, user)
                assert_right(other.dense(), store, user)
                terms = ["p3", "common"]
                assert other("bm25", *terms) == [list(p) for p in index.bm25(user, terms, 10)]

        both_right()
        own = random_vectors(3, 41)
        added = add_paper(store, user, "added here", ["x"] * 3, own)
        both_right()
        assert_right(other.dense(own[1]), store, user, own[1])
        other("remove", str(papers[0]))
        both_right()
        other("sync")
        store.restore(user, papers[0])
        both_right()
        store.remove(user, added)
        both_right()
        other.end()
        index.sync(user)
        assert index.status() == library_module.IndexStatus(True, "", 200, "")
        assert_right(index.dense(user, MODEL, QUERY, 10), store, user)


def test_the_lock_of_a_killed_process_is_free(store, user, start, tmp_path):
    add_papers(store, user, 5)
    other = start()
    other("sync")
    other.kill()
    with LibraryIndex(store, tmp_path) as index:
        index.sync(user)
        assert index.status() == library_module.IndexStatus(True, "", 100, "")
        assert_right(index.dense(user, MODEL, QUERY, 10), store, user)


def test_a_process_killed_while_it_syncs_leaves_nothing_wrong(store, user, start, tmp_path):
    add_papers(store, user, 60, chunks=50)
    for _ in range(3):
        other = start()
        assert other.popen.stdin is not None
        other.popen.stdin.write('["sync"]\n')
        other.popen.stdin.flush()
        wait_for(lambda: (tmp_path / "chroma" / "chroma.sqlite3").exists())
        time.sleep(0.3)
        other.kill()
    with LibraryIndex(store, tmp_path) as index:
        assert_right(index.dense(user, MODEL, QUERY, 10), store, user)
        index.sync(user)
        assert index.status() == library_module.IndexStatus(True, "", 3_000, "")
        assert_right(index.dense(user, MODEL, QUERY, 10), store, user)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real `chroma run`."""
    folder = tmp_path_factory.mktemp("chroma-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    command = [program, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(lambda: answers(port), 60)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_several_processes_share_a_chroma_server(store, user, start, tmp_path, server, monkeypatch):
    monkeypatch.setattr(library_module, "RETRY_SECONDS", 0.0)
    papers = add_papers(store, user, 10)
    other = start(server)
    with LibraryIndex(store, tmp_path, server) as index:
        index.sync(user)
        other("sync")
        assert index.status() == library_module.IndexStatus(False, server, 200, "")
        assert other("status") == [False, 200, ""]
        assert not (tmp_path / "chroma").exists()

        def both_right() -> None:
            for _ in range(3):
                assert_right(index.dense(user, MODEL, QUERY, 10), store, user)
                assert_right(other.dense(), store, user)

        both_right()
        add_paper(store, user, "added here", ["x"] * 3, random_vectors(3, 41))
        both_right()
        own = random_vectors(20, 2)[4]  # of the third paper
        store.remove(user, papers[2])
        other("sync")  # takes it out of the server's collection
        store.restore(user, papers[2])
        # This process has not seen the library without it, and must not trust the collection.
        assert_right(index.dense(user, MODEL, own, 10), store, user, own)
        both_right()
        index.sync(user)
        with monkeypatch.context() as patch:
            patch.setattr(index._source, "nearest", None)
            patch.setattr(index._source, "nearest_of", None)
            assert_right(index.dense(user, MODEL, own, 10), store, user, own)
    other.end()


def test_a_server_that_is_not_there_leaves_exact_search(store, user, tmp_path):
    add_papers(store, user, 3)
    with LibraryIndex(store, tmp_path, "http://127.0.0.1:9") as index:
        for _ in range(3):
            assert_right(index.dense(user, MODEL, QUERY, 10), store, user)
        index.sync(user)
        assert index.status().problem
        assert_right(index.dense(user, MODEL, QUERY, 10), store, user)


def test_a_server_that_comes_back_empty_is_filled_again(store, user, tmp_path, server):
    add_papers(store, user, 5)
    with LibraryIndex(store, tmp_path, server) as index:
        index.sync(user)
        client = index._client.open()
        assert client is not None
        client.delete_collection(f"{index._all_views()[0].chroma._name}")
        assert_right(index.dense(user, MODEL, QUERY, 10), store, user)
        index.sync(user)
        assert index.status().rows == 100
        assert_right(index.dense(user, MODEL, QUERY, 10), store, user)
