"""SIGKILL in the middle of adding a paper: afterwards it is not there, or it is there whole."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from sqlalchemy import Engine, text

from core.db.papers import PaperStore
from core.ingest.backfill import Backfill
from core.ingest.pipeline import Ingestor
from core.ingest.worker import Worker
from core.models.embed import load_embedders
from core.retrieval.tokenize import tokenize
from core.types import LOCAL_USER
from tests.fixtures.pdfs import lines, made_pdf

ROOT = Path(__file__).resolve().parents[2]
TEXT = [f"Line {n} of a page that is long enough to be cut into chunks." for n in range(48)]
PAPER = made_pdf([lines(72, 750, 10, TEXT) for _ in range(12)])

CHILD = """
import os, signal, sys, pathlib
from core.db.engine import make_engine
from core.db.papers import PaperStore
from core.ingest.pipeline import Ingestor
from core.ingest.worker import Worker
from core.models.embed import load_embedders
from core.retrieval.tokenize import tokenize
from core.types import LOCAL_USER
import core.db.papers as papers

url, path, stage = sys.argv[1:]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def report(step):
    if step.stage == stage and (stage == "vectors" or step.done >= step.total // 2):
        die()

if stage.startswith("after "):
    name = stage.removeprefix("after ")
    real = getattr(papers, name)
    def then_die(*args):
        real(*args)
        die()
    setattr(papers, name, then_die)

engine = make_engine(url)
use = load_embedders(["use-multilingual"])
ingestor = Ingestor(PaperStore(engine), Worker(), use, tokenize)
done = ingestor.ingest(LOCAL_USER, "paper.pdf", pathlib.Path(path).read_bytes(), on_progress=report)
die()
"""
STAGES = [
    "reading",
    "sections",
    "chunks",
    "vectors",
    "saving",
    "after insert_paper",
    "after insert_file",
    "after insert_chunks",
    "after insert_vectors",
    "after put_into_library",
    "at the end",
]


def counts(database: Engine) -> dict[str, int]:
    with database.connect() as connection:
        return {
            table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() or 0
            for table in ("papers", "files", "pages", "chunks", "embeddings", "library")
        }


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_killed(stage: str, database: Engine, database_url: str, tmp_path: Path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(PAPER)
    before = {process.pid for process in _readers()}
    child = subprocess.run(
        [sys.executable, "-c", CHILD, database_url, str(path), stage],
        cwd=ROOT,
        timeout=200,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()[-2000:]
    _settle(database)
    found = counts(database)
    if stage == "at the end":
        assert found["papers"] == found["files"] == found["library"] == 1
        assert found["pages"] == 12
        assert found["chunks"] == found["embeddings"] > 12
    else:
        assert not any(found.values()), found
        worker = Worker()
        store = PaperStore(database)
        use = load_embedders(["use-multilingual"])
        done = Ingestor(store, worker, [], tokenize).ingest(LOCAL_USER, "paper.pdf", PAPER)
        worker.close()
        assert not done.duplicate
        if stage == "vectors":
            assert Backfill(database, store, use).fill() == done.chunks
    _gone(before)


def _settle(database: Engine) -> None:
    """Wait until the server has noticed that the killed client is gone."""
    deadline = time.monotonic() + 10
    others = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND state <> 'idle'"
    )
    with database.connect() as connection:
        while connection.execute(others).scalar() and time.monotonic() < deadline:
            time.sleep(0.05)


def _readers() -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        command = process.info["cmdline"] or []
        if "core.ingest.worker" in command and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def _gone(before: set[int]) -> None:
    """The reading process of the killed child has ended too."""
    parents = {process.pid: process for process in _readers() if process.pid not in before}
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        orphans = [process for process in parents.values() if _orphan(process)]
        if not orphans:
            return
        time.sleep(0.2)
    pytest.fail(f"left behind: {orphans}")


def _orphan(process: psutil.Process) -> bool:
    try:
        command = process.cmdline()
        return not command or not psutil.pid_exists(int(command[-1]))
    except psutil.NoSuchProcess:
        return False
