"""A workbench on a real database, in a folder of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from core.agent.examples import Examples
from core.agent.state import TurnRequest
from core.config import Settings
from core.db.conversations import StoredEvent
from core.ingest.worker import Worker
from core.models.embed import Embedder, load_embedders
from core.types import LOCAL_USER
from core.workbench import Workbench
from tests.conftest import ROOT
from tests.fixtures.database import fresh_database
from tests.fixtures.model_server import LoopbackServer
from ui import frame
from ui.identity import Visitor

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


@cache
def _examples(embedder: Embedder) -> Examples:
    """The router's examples, encoded once for all workbenches."""
    return Examples(embedder)


def _bench(
    database_url: str, folder: Path, embedders: list[Embedder], worker: Worker, **settings: object
) -> Workbench:
    """Build a workbench with parts that outlive it; settings by their environment names."""

    class Bench(Workbench):
        worker = property(lambda self: shared_worker)
        embedders = property(lambda self: shared_embedders)
        examples = property(lambda self: _examples(shared_embedders[0]))

    shared_worker, shared_embedders = worker, embedders
    values = {
        "DATABASE_URL": database_url,
        "LECTERN_DATA_DIR": folder,
        "EMBEDDING_MODELS": MODEL,
        **settings,
    }
    kind = Bench if values["EMBEDDING_MODELS"] == MODEL else Workbench
    return kind(Settings(_env_file=None, **values))


@pytest.fixture
def make_bench(
    database_url: str, tmp_path: Path, embedders: list[Embedder], worker: Worker
) -> Iterator[Callable[..., Workbench]]:
    """Build workbenches; settings by their environment names. All are closed in the end."""
    benches = []

    def make(**settings: object) -> Workbench:
        benches.append(_bench(database_url, tmp_path / "data", embedders, worker, **settings))
        return benches[-1]

    yield make
    for bench in benches:
        bench.close()


@pytest.fixture
def bench(make_bench: Callable[..., Workbench]) -> Workbench:
    """A workbench without any key."""
    return make_bench()


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Open a page over a workbench, without a browser; the address's parameters by name."""

    def opened(bench: Workbench, path: str, user: Any = LOCAL_USER, **parameters: str) -> AppTest:
        monkeypatch.setattr(frame, "workbench", lambda: bench)
        monkeypatch.setattr(frame, "visitor", lambda single_user: Visitor(user, "local"))
        page = AppTest.from_file(str(ROOT / frame.HOME), default_timeout=30)
        if path != frame.HOME:
            page.switch_page(str(ROOT / path))
        for name, value in parameters.items():
            page.query_params[name] = value
        return page.run()

    return opened


@dataclass
class Asked:
    """A turn that is over: its events as they came."""

    events: list[StoredEvent]

    @property
    def result(self) -> dict[str, Any]:
        assert self.events[-1].kind == "turn_finished", self.events[-1].data
        return self.events[-1].data

    @property
    def failure(self) -> dict[str, Any]:
        assert self.events[-1].kind == "turn_failed"
        return self.events[-1].data

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [event.data for event in self.events if event.kind == kind]

    @property
    def notices(self) -> list[str]:
        return [notice["code"] for notice in self.of_kind("notice")]

    def said(self, title: str) -> str:
        """Return the sentences of the part of that title, its cells included."""
        (part,) = [part for part in self.result["parts"] if part["title"] == title]
        cells = [i for row in part["rows"] for cell in row for i in cell]
        return " ".join(self.result["sentences"][i]["text"] for i in [*part["items"], *cells])


@dataclass
class Room:
    """The sample papers, read once for many tests, and who may be asked about them.

    Tests add nothing to the library. `model` is the loopback server of `modelled`.
    """

    offline: Workbench
    modelled: Workbench
    model: LoopbackServer
    papers: dict[str, UUID]

    def ask(self, bench: Workbench, question: str, *names: str, intent: str) -> Asked:
        """Run a turn over the named papers (none: all) to its end."""
        scope = tuple(self.papers[name] for name in names) or None
        request = TurnRequest(LOCAL_USER, question, paper_ids=scope, intent=intent)
        turn = bench.runner.start(request)
        return Asked(list(bench.runner.follow(LOCAL_USER, turn.id)))


@pytest.fixture(scope="session")
def _room(
    database_server: str,
    tmp_path_factory: pytest.TempPathFactory,
    embedders: list[Embedder],
    worker: Worker,
) -> Iterator[Room]:
    folder, model = tmp_path_factory.mktemp("room"), LoopbackServer()
    loopback = {"LLM_BASE_URL": model.url, "LLM_API_KEY": "k-secret", "LLM_MODEL": "loop"}
    sight = {"VISION_MODEL": "sees", "LLM_CONTEXT_TOKENS": 3500}
    with fresh_database(database_server) as url:
        offline = _bench(url, folder / "a", embedders, worker)
        modelled = _bench(url, folder / "b", embedders, worker, **loopback, **sight)
        papers = {
            path.stem: offline.ingestor.ingest(LOCAL_USER, path.name, path.read_bytes()).paper_id
            for path in sorted((ROOT / "data" / "samples").glob("*.pdf"))
        }
        yield Room(offline, modelled, model, papers)
        modelled.close()
        offline.close()
    model.stop()


@pytest.fixture
def room(_room: Room) -> Room:
    """The room, with a model server that has forgotten what was asked before."""
    _room.model.reset()
    return _room
