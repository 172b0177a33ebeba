"""A workbench on a real database, in a folder of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.config import Settings
from core.workbench import Workbench


@pytest.fixture
def make_bench(database_url: str, tmp_path: Path) -> Iterator[Callable[..., Workbench]]:
    """Build workbenches; settings by their environment names. All are closed in the end."""
    benches = []

    def make(**settings: object) -> Workbench:
        values = {
            "DATABASE_URL": database_url,
            "LECTERN_DATA_DIR": tmp_path / "data",
            "EMBEDDING_MODELS": "use-multilingual",
            **settings,
        }
        benches.append(Workbench(Settings(_env_file=None, **values)))
        return benches[-1]

    yield make
    for bench in benches:
        bench.close()


@pytest.fixture
def bench(make_bench: Callable[..., Workbench]) -> Workbench:
    """A workbench without any key."""
    return make_bench()
