"""A workbench on a real database, in a folder of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.config import Settings
from core.ingest.worker import Worker
from core.models.embed import Embedder, load_embedders
from core.workbench import Workbench

MODEL = "use-multilingual"


@pytest.fixture(scope="session")
def embedders() -> list[Embedder]:
    """The light set-up's embedder, loaded once: that takes a second and more."""
    return load_embedders([MODEL])


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    """A reading process for all workbenches: it keeps nothing of one file for the next."""
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture
def make_bench(
    database_url: str, tmp_path: Path, embedders: list[Embedder], worker: Worker
) -> Iterator[Callable[..., Workbench]]:
    """Build workbenches; settings by their environment names. All are closed in the end."""
    benches = []

    class Bench(Workbench):
        """With parts that outlive it."""

        worker = property(lambda self: shared_worker)
        embedders = property(lambda self: shared_embedders)

    shared_worker, shared_embedders = worker, embedders

    def make(**settings: object) -> Workbench:
        values = {
            "DATABASE_URL": database_url,
            "LECTERN_DATA_DIR": tmp_path / "data",
            "EMBEDDING_MODELS": MODEL,
            **settings,
        }
        kind = Bench if values["EMBEDDING_MODELS"] == MODEL else Workbench
        benches.append(kind(Settings(_env_file=None, **values)))
        return benches[-1]

    yield make
    for bench in benches:
        bench.close()


@pytest.fixture
def bench(make_bench: Callable[..., Workbench]) -> Workbench:
    """A workbench without any key."""
    return make_bench()
