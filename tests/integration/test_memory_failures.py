"""What happens to the reading memory when something is missing: one table, row by row."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.agent.events import Event, StepStarted
from core.agent.runner import Runner
from core.agent.state import TurnRequest
from core.db.embedded import EmbeddedPostgres
from core.db.engine import make_engine
from core.errors import BadInput, DatabaseDown, LecternError, Unavailable
from core.memory.memory import ReadingMemory
from core.memory.readings import NewReading, ReadingStore
from core.types import LOCAL_USER
from core.workbench import Workbench
from tests.conftest import ROOT
from tests.fixtures.database import kill_postgres
from tests.fixtures.papers import unit_vectors
from tests.integration.conftest import Asked, Room

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
GUIDE = "A guide to a first reading"
MEMORY, ASK, LIBRARY = "pages/memory.py", "pages/ask.py", "pages/library.py"


class NoEmbedder:
    """An embedder whose model cannot be used any more."""

    name, dimension, languages = "use-multilingual", 512, ("en", "zh")

    def encode(self, texts: Any) -> Any:
        raise Unavailable("The model cannot be used here.")


@dataclass
class Stage:
    """Where a row of the table is played: who asks about which paper, on what.

    `heard` is told of the turn's events as they come; `back` brings back what was missing.
    """

    bench: Workbench
    paper: UUID
    user: Any = LOCAL_USER
    parts: dict[str, Any] = field(default_factory=dict)
    heard: Callable[[Event], None] = lambda event: None
    back: Callable[[], None] = lambda: None


Fault = Callable[[pytest.FixtureRequest], AbstractContextManager[Stage]]


@dataclass(frozen=True)
class Case:
    """A fault, what a summary made under it comes to, and what the page says.

    `turn`: the codes of its notices, or the failure it is refused with. `said`: on `page`, looked at
    after the turn, or `before` it. `marked`: what "Mark as read" is answered with.
    """

    fault: Fault
    turn: list[str] | type[LecternError]
    saved: bool
    page: str
    said: str
    before: bool = False
    marked: str = ""


@contextmanager
def no_database(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield Stage(request.getfixturevalue("make_bench")(DATABASE_URL=NOWHERE), uuid4())


@contextmanager
def no_extension(request: pytest.FixtureRequest) -> Iterator[Stage]:
    url = request.getfixturevalue("bare_server").url
    yield Stage(request.getfixturevalue("make_bench")(DATABASE_URL=url), uuid4())


@contextmanager
def no_user(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield replace(in_room(request), user=None)


@contextmanager
def no_uuid(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield replace(in_room(request), user="somebody")


@contextmanager
def nothing_read(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield in_room(request)


@contextmanager
def embedding_fails(request: pytest.FixtureRequest) -> Iterator[Stage]:
    stage = in_room(request)
    _ = stage.bench.searcher, stage.bench.examples  # the room's stay as they are
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(stage.bench), "embedders", property(lambda self: [NoEmbedder()]))
        yield stage


@contextmanager
def wrong_dimension(request: pytest.FixtureRequest) -> Iterator[Stage]:
    stage = in_room(request)
    vector, name = unit_vectors(1, 7)[0], stage.bench.embedders[0].name
    other = request.getfixturevalue("room").papers["crosslang"]
    stage.bench.readings.remember(LOCAL_USER, NewReading(other, "T", "S.", vector, name))
    yield stage


@contextmanager
def database_stops(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A server of one's own ends just before the turn would have remembered."""
    with TemporaryDirectory() as name:
        server = EmbeddedPostgres(Path(name))
        bench = request.getfixturevalue("make_bench")(DATABASE_URL=server.start())
        sample = ROOT / "data" / "samples" / "fusion.pdf"
        paper = bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes()).paper_id

        def heard(event: Event) -> None:
            if isinstance(event, StepStarted) and event.node == "remember":
                server.stop()

        try:
            yield Stage(bench, paper, heard=heard, back=lambda: server.start())
        finally:
            bench.close()
            server.stop()


def in_room(request: pytest.FixtureRequest) -> Stage:
    room = request.getfixturevalue("room")
    return Stage(room.offline, room.papers["fusion"])


TABLE = {
    "no database": Case(
        no_database, DatabaseDown, False, MEMORY, "The database cannot be used now"
    ),
    "extension missing": Case(
        no_extension, DatabaseDown, False, MEMORY, "The database has no pgvector"
    ),
    "no user id": Case(no_user, BadInput, False, MEMORY, "Lectern does not know who is asking"),
    "a user id that is no UUID": Case(
        no_uuid, BadInput, False, MEMORY, "Lectern does not know who is asking"
    ),
    "empty profile": Case(nothing_read, [], True, MEMORY, "Nothing has been read yet", before=True),
    "embedding fails": Case(
        embedding_fails,
        ["not_recalled", "not_saved"],
        False,
        ASK,
        "This reading could not be remembered",
        marked="The model cannot be used here",
    ),
    "wrong dimension": Case(
        wrong_dimension, [], True, MEMORY, "1 reading is not compared with others yet"
    ),
    "database stopped in mid-session and back again": Case(
        database_stops, ["not_saved", "not_saved"], False, MEMORY, "The database cannot be used now"
    ),
}


@pytest.fixture
def room(room: Room):
    """The room of a reader who has read nothing yet."""
    with room.offline.engine.begin() as connection:
        connection.execute(text("DELETE FROM user_paper_profile"))
    return room


@pytest.mark.parametrize("name", TABLE)
def test_each_fault_gives_its_result_and_its_notice_and_claims_nothing(name, request, open_page):
    case = TABLE[name]
    with case.fault(request) as stage:
        if case.before:
            assert case.said in notices(open_page(stage.bench, case.page, stage.user))
        conversation = ""
        if isinstance(case.turn, list):
            conversation = remembered_or_not(case, stage)
        else:
            with pytest.raises(case.turn) as refused:
                summarised(stage)
            assert refused.value.hint
        page = open_page(stage.bench, case.page, stage.user, conversation=conversation)
        assert not page.exception
        assert (case.said in notices(page)) != case.before
        if case.marked:
            page = open_page(stage.bench, LIBRARY, stage.user, paper=str(stage.paper))
            page.button(key="mark-read").click().run()
            assert not page.exception
            assert case.marked in notices(page)
        stage.back()
        if isinstance(stage.user, UUID) and isinstance(case.turn, list):
            known = {row.paper_id for row in stage.bench.readings.history(stage.user)}
            assert (stage.paper in known) == case.saved
            page = open_page(stage.bench, MEMORY)
            assert not page.exception
            assert not page.error


def remembered_or_not(case: Case, stage: Stage) -> str:
    """Check the turn's own words; return its conversation."""
    asked, conversation = summarised(stage)
    assert asked.notices == case.turn
    assert all(notice["text"] for notice in asked.of_kind("notice"))
    assert asked.of_kind("recalled")[0]["branch"] == "first_reading"
    assert GUIDE in asked.result["answer"]
    last = asked.of_kind("step_finished")[-1]["detail"]
    assert (last == "Not remembered") == (not case.saved)
    return conversation


def notices(page: Any) -> str:
    """Return what the page says in boxes, as text."""
    boxes = [*page.error, *page.warning, *page.info, *page.success]
    return "\n".join(box.value.replace("\\", "") for box in boxes)


def summarised(stage: Stage) -> tuple[Asked, str]:
    """Run a personalised summary with the stage's parts; return it and its conversation."""
    bench = stage.bench

    def context(emit: Callable[[Event], None], cancelled: Any) -> Any:
        def told(event: Event) -> None:
            stage.heard(event)
            emit(event)

        return replace(bench._turn_context(told, cancelled), **stage.parts)

    runner = Runner(bench.graph, bench.conversations, context, lambda request: 0)
    try:
        request = TurnRequest(
            stage.user, "Summarise", (stage.paper,), intent="personalized_summary"
        )
        turn = runner.start(request)
        asked = Asked(list(runner.follow(stage.user, turn.id)))
        return asked, str(turn.conversation_id)
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


@contextmanager
def disk_full(bench: Workbench, table: str) -> Iterator[None]:
    """Have every change of a table fail as on a full disk, while it can still be read."""
    with bench.engine.begin() as connection:
        connection.execute(
            text(
                "CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'No space left' USING ERRCODE = 'disk_full'; END $$"
            )
        )
        connection.execute(
            text(
                f"CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION full_disk()"
            )
        )
    yield
    with bench.engine.begin() as connection:
        connection.execute(text(f"DROP TRIGGER full_disk ON {table}"))


def test_what_was_pressed_and_not_stored_is_not_shown_as_done(bench, open_page):
    new = NewReading(uuid4(), "Kept", "S.", unit_vectors(1)[0], bench.embedders[0].name)
    bench.readings.remember(LOCAL_USER, new)
    page = open_page(bench, MEMORY, paper=str(new.paper_id))
    with disk_full(bench, "reading_pauses"):
        page.toggle(key="remembering-False").set_value(False).run()
        assert not page.exception
        assert "No space left" in notices(page)
        assert page.toggle(key="remembering-False").value
        assert not bench.readings.paused(LOCAL_USER)
    page.button(key="forget-reading").click().run()
    assert bench.readings.history(LOCAL_USER) == []
    with disk_full(bench, "user_paper_profile"):
        page.button(key="undo-button").click().run()
        assert not page.exception
        assert "No space left" in notices(page)
    page.button(key="undo-button").click().run()
    assert [row.title for row in bench.readings.history(LOCAL_USER)] == ["Kept"]
