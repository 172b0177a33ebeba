"""What happens to the reading memory when something is missing: one table, row by row."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.agent.runner import Runner
from core.agent.state import TurnRequest
from core.db.engine import make_engine
from core.errors import BadInput, DatabaseDown, Unavailable
from core.memory.memory import ReadingMemory
from core.memory.readings import NewReading, ReadingStore
from core.types import LOCAL_USER
from tests.fixtures.database import kill_postgres
from tests.fixtures.papers import unit_vectors
from tests.integration.conftest import Asked, Room

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
GUIDE = "A guide to a first reading"


class NoEmbedder:
    """An embedder whose model cannot be used any more."""

    name, dimension, languages = "use-multilingual", 512, ("en", "zh")

    def encode(self, texts: Any) -> Any:
        raise Unavailable("The model cannot be used here.")


@dataclass(frozen=True)
class Case:
    """A fault, and what a summary made under it says and leaves.

    `fault` takes the room and returns what the turn works with instead: readings or embedder.
    """

    fault: Callable[[Room], dict[str, Any]]
    notices: list[str]
    branch: str
    saved: bool


def no_database(room: Room) -> dict[str, Any]:
    return {"readings": ReadingStore(make_engine(NOWHERE))}


def no_table(room: Room) -> dict[str, Any]:
    """A server whose administrator gave no extension has no such table either."""
    engine = room.offline.engine.execution_options(schema_translate_map={None: "nowhere"})
    return {"readings": ReadingStore(engine)}


def unknown_user(room: Room) -> dict[str, Any]:
    """The store is asked for somebody whose id is no UUID."""

    class Nobody(ReadingStore):
        def similar(self, user_id: Any, *arguments: Any, **named: Any) -> Any:
            return super().similar("somebody", *arguments, **named)  # type: ignore[arg-type]

        def paused(self, user_id: Any) -> bool:
            return super().paused(None)  # type: ignore[arg-type]

    return {"readings": Nobody(room.offline.engine)}


def nothing_read(room: Room) -> dict[str, Any]:
    return {}


def wrong_dimension(room: Room) -> dict[str, Any]:
    vector = unit_vectors(1, 7)[0]
    new = NewReading(room.papers["crosslang"], "T", "S.", vector, "use-multilingual")
    room.offline.readings.remember(LOCAL_USER, new)
    return {}


def embedding_fails(room: Room) -> dict[str, Any]:
    return {"embedder": NoEmbedder()}


TABLE = {
    "no database": Case(no_database, ["not_recalled", "not_saved"], "first_reading", False),
    "no table": Case(no_table, ["not_recalled", "not_saved"], "first_reading", False),
    "no known user": Case(unknown_user, ["not_recalled", "not_saved"], "first_reading", False),
    "empty profile": Case(nothing_read, [], "first_reading", True),
    "wrong dimension": Case(wrong_dimension, [], "first_reading", True),
    "embedding fails": Case(embedding_fails, ["not_recalled", "not_saved"], "first_reading", False),
}


@pytest.fixture
def room(room: Room):
    with room.offline.engine.begin() as connection:
        connection.execute(text("DELETE FROM user_paper_profile"))
    return room


@pytest.mark.parametrize("name", TABLE)
def test_a_summary_is_written_and_nothing_is_claimed_that_is_not_so(room, name):
    case = TABLE[name]
    parts = case.fault(room)
    before = {row.paper_id for row in room.offline.readings.history(LOCAL_USER)}
    asked = summarised(room, parts)
    assert asked.notices == case.notices
    assert all(notice["text"] for notice in asked.of_kind("notice"))
    assert asked.of_kind("recalled")[0]["branch"] == case.branch
    assert GUIDE in asked.result["answer"]
    last = asked.of_kind("step_finished")[-1]
    assert (last["detail"] == "Not remembered") == (not case.saved)
    after = {row.paper_id for row in room.offline.readings.history(LOCAL_USER)}
    assert after - before == ({room.papers["fusion"]} if case.saved else set())


def summarised(room: Room, parts: dict[str, Any]) -> Asked:
    """Run a personalised summary with some parts replaced."""
    bench = room.offline

    def context(emit: Any, cancelled: Any) -> Any:
        return replace(bench._turn_context(emit, cancelled), **parts)

    runner = Runner(bench.graph, bench.conversations, context, lambda request: 0)
    try:
        request = TurnRequest(
            LOCAL_USER, "Summarise", (room.papers["fusion"],), intent="personalized_summary"
        )
        turn = runner.start(request)
        return Asked(list(runner.follow(LOCAL_USER, turn.id)))
    finally:
        runner.close()


@pytest.mark.parametrize(
    ("engine_url", "user", "failure"),
    [
        (NOWHERE, LOCAL_USER, DatabaseDown),
        ("", None, BadInput),
        ("", "", BadInput),
        ("", "somebody", BadInput),
        ("", 7, BadInput),
    ],
)
def test_every_call_of_the_memory_fails_as_one_failure_a_page_can_show(
    room, engine_url, user, failure
):
    engine = make_engine(engine_url) if engine_url else room.offline.engine
    readings = ReadingStore(engine)
    memory = ReadingMemory(
        readings,
        room.offline.papers,
        lambda: room.offline.searcher,
        lambda: room.offline.embedders[0],
        lambda: room.offline.arxiv_search,
    )
    paper, vector = room.papers["fusion"], unit_vectors(1)[0]
    calls: list[Callable[[], Any]] = [
        lambda: readings.history(user),
        lambda: readings.reading(user, paper),
        lambda: readings.remember(user, NewReading(paper, "T", "S", vector, "m")),
        lambda: readings.edit(user, paper, "S", vector, "m"),
        lambda: readings.forget(user),
        lambda: readings.similar(user, vector, "m", paper),
        lambda: readings.vectors(user, "m"),
        lambda: readings.votes(user),
        lambda: readings.vote(user, paper, paper, 1),
        lambda: readings.pause(user, True),
        lambda: memory.landscape(user),
        lambda: memory.suggestions(user),
        lambda: memory.export(user),
    ]
    for call in calls:
        with pytest.raises(failure) as error:
            call()
        assert error.value.message
        assert error.value.hint


def test_a_database_that_stops_and_comes_back_keeps_what_was_said_to_be_kept(make_bench):
    bench = make_bench(DATABASE_URL="")
    vector = unit_vectors(1)[0]
    bench.readings.remember(LOCAL_USER, NewReading(uuid4(), "Before", "S.", vector, "m"))
    for title in ("During", "After"):
        kill_postgres(bench.settings.data_dir / "postgres")
        bench.readings.remember(LOCAL_USER, NewReading(uuid4(), title, "S.", vector, "m"))
        assert bench.readings.history(LOCAL_USER)[0].title == title
    assert len(bench.readings.history(LOCAL_USER)) == 3
