"""Accounts, and what housekeeping takes away: all of it, nothing else, and not too early."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from core.db.accounts import AccountStore
from core.db.conversations import ConversationStore
from core.db.engine import make_engine
from core.db.papers import PaperStore
from core.db.reviews import ReviewStore
from core.errors import BadInput, DatabaseDown, NotFound
from core.housekeeping import GUEST, UNDO, Housekeeping
from core.memory.readings import ReadingStore
from tests.fixtures.papers import made_file, made_paper, made_terms

A_MINUTE = timedelta(minutes=1)


@pytest.fixture
def accounts(database: Engine) -> AccountStore:
    return AccountStore(database)


@pytest.fixture
def papers(database: Engine) -> PaperStore:
    return PaperStore(database)


@pytest.fixture
def conversations(database: Engine) -> ConversationStore:
    return ConversationStore(database)


@pytest.fixture
def housekeeping(papers, conversations, accounts, database):
    keeping = Housekeeping(
        papers,
        conversations,
        accounts,
        ReadingStore(database),
        ReviewStore(database),
        pause_seconds=0.05,
    )
    yield keeping
    keeping.close()


def add(papers: PaperStore, user: UUID, content: bytes) -> UUID:
    return papers.add(user, "a.pdf", made_file(content), made_paper(), made_terms(), {})


def rows(database: Engine, table: str = "accounts") -> list[dict]:
    with database.connect() as connection:
        return [dict(row._mapping) for row in connection.execute(text(f"SELECT * FROM {table}"))]


def age(database: Engine, **seconds: float) -> None:
    """Make all accounts be seen so much longer ago, or papers be added, or library rows removed."""
    columns = {"accounts": "seen_at", "papers": "created_at", "library": "removed_at"}
    with database.begin() as connection:
        for table, by in seconds.items():
            column = columns[table]
            statement = f"UPDATE {table} SET {column} = {column} - make_interval(secs => :by)"
            connection.execute(text(statement), {"by": by})


def test_seen_is_written_once_a_minute(accounts, database) -> None:
    user = uuid4()
    accounts.seen(user, "guest")
    (first,) = rows(database)
    accounts.seen(user, "guest")
    assert rows(database) == [first]
    age(database, accounts=61)
    accounts.seen(user, "guest")
    (again,) = rows(database)
    assert again["seen_at"] > first["seen_at"]
    assert again["created_at"] == first["created_at"]


def test_who_signed_in_is_no_guest_any_more(accounts, database) -> None:
    user = uuid4()
    for kind, stored in (("guest", "guest"), ("login", "login"), ("guest", "login")):
        accounts.seen(user, kind)
        assert [row["kind"] for row in rows(database)] == [stored]
    age(database, accounts=61)
    accounts.seen(user, "guest")
    assert [row["kind"] for row in rows(database)] == ["login"]
    with pytest.raises(ValueError, match="king"):
        accounts.seen(user, "king")


def test_seen_by_many_at_once_is_one_account(accounts, database) -> None:
    users = [uuid4() for _ in range(3)]
    barrier = threading.Barrier(12)

    def see(at: int) -> None:
        barrier.wait()
        for _ in range(10):
            accounts.seen(users[at % 3], "guest")
            accounts.purge_guests(datetime.now(UTC) - timedelta(microseconds=at))

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(see, range(12))) == [None] * 12
    for user in users:
        accounts.seen(user, "guest")
    assert sorted(row["user_id"] for row in rows(database)) == sorted(users)


def test_a_language_is_remembered(accounts, database) -> None:
    me, other = uuid4(), uuid4()
    accounts.seen(me, "local")
    accounts.seen(other, "local")
    assert accounts.language(me) == accounts.language(uuid4()) == ""
    accounts.set_language(me, "zh")
    age(database, accounts=61)
    accounts.seen(me, "local")
    assert (accounts.language(me), accounts.language(other)) == ("zh", "")
    for bad in ("de", "", "EN", "zh\x00"):
        with pytest.raises(BadInput):
            accounts.set_language(me, bad)
    with pytest.raises(NotFound):
        accounts.set_language(uuid4(), "en")


def test_a_guest_goes_with_all_that_is_theirs(
    accounts, papers, conversations, database, housekeeping
) -> None:
    guest, fresh, member = uuid4(), uuid4(), uuid4()
    accounts.seen(guest, "guest")
    accounts.seen(member, "login")
    age(database, accounts=(GUEST + A_MINUTE).total_seconds(), papers=0)
    accounts.seen(fresh, "guest")
    alone, shared = add(papers, guest, b"1"), add(papers, guest, b"2")
    add(papers, member, b"2")
    turn = conversations.begin_turn(guest, None, "Mine?", runner=1)
    kept = [conversations.begin_turn(user, None, "Ours?", runner=1) for user in (fresh, member)]
    checkpointed = _checkpoints(database, [turn.conversation_id, kept[0].conversation_id])

    gone = housekeeping.tidy()

    assert gone == {
        "guests": 1,
        "conversations": 0,
        "readings": 0,
        "reviews": 0,
        "papers": 0,
    }  # the paper is too young to go
    assert papers.library(guest) == ()
    assert papers.library(member) == (shared,)
    assert conversations.conversations(guest) == []
    assert [len(conversations.conversations(user)) for user in (fresh, member)] == [1, 1]
    assert sorted(row["user_id"] for row in rows(database)) == sorted([fresh, member])
    assert checkpointed() == {str(kept[0].conversation_id)}
    age(database, papers=(UNDO + A_MINUTE).total_seconds())
    assert housekeeping.tidy()["papers"] == 1
    assert set(papers.titles([alone, shared])) == {shared}


def _checkpoints(database: Engine, conversations: list[UUID]):
    """Set the checkpointer up as the app does, with a checkpoint a conversation."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.postgres import PostgresSaver

    url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        for conversation in conversations:
            place = {"configurable": {"thread_id": str(conversation), "checkpoint_ns": ""}}
            checkpoint = {**empty_checkpoint(), "channel_values": {"question": ["a", "b"]}}
            stored = saver.put(place, checkpoint, {}, {"question": 1})
            saver.put_writes(stored, [("question", "x")], "task")

    def left() -> set[str]:
        tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
        found = [{row["thread_id"] for row in rows(database, table)} for table in tables]
        assert found[0] == found[1] == found[2]
        return found[0]

    assert left() == set(map(str, conversations))
    return left


def test_nothing_goes_while_it_can_be_undone(papers, database, housekeeping) -> None:
    me = uuid4()
    paper = add(papers, me, b"1")
    papers.remove(me, paper)
    age(database, papers=90 * 86_400, library=(UNDO - A_MINUTE).total_seconds())
    assert housekeeping.tidy()["papers"] == 0
    papers.restore(me, paper)
    assert papers.library(me) == (paper,)
    papers.remove(me, paper)
    age(database, library=(UNDO + A_MINUTE).total_seconds())
    assert housekeeping.tidy()["papers"] == 1
    with pytest.raises(NotFound):
        papers.restore(me, paper)


def test_a_conversation_goes_a_week_after_its_removal(
    conversations, housekeeping, database
) -> None:
    me = uuid4()
    turn = conversations.begin_turn(me, None, "Hm?", runner=1)
    checkpointed = _checkpoints(database, [turn.conversation_id])
    conversations.remove(me, turn.conversation_id)
    assert housekeeping.tidy(datetime.now(UTC) + UNDO - A_MINUTE)["conversations"] == 0
    conversations.restore(me, turn.conversation_id)
    conversations.remove(me, turn.conversation_id)
    assert checkpointed() == {str(turn.conversation_id)}
    assert housekeeping.tidy(datetime.now(UTC) + UNDO + A_MINUTE)["conversations"] == 1
    assert checkpointed() == set()


def test_the_thread_gets_over_a_database_that_is_away(
    database: Engine, accounts, papers, conversations, caplog
) -> None:
    nowhere = make_engine("postgresql://nobody@127.0.0.1:1/none")
    away = AccountStore(nowhere)
    with pytest.raises(DatabaseDown):
        away.seen(uuid4(), "guest")
    keeping = Housekeeping(
        papers,
        conversations,
        away,
        ReadingStore(database),
        ReviewStore(database),
        pause_seconds=0.05,
    )
    guest = uuid4()
    accounts.seen(guest, "guest")
    age(database, accounts=2 * GUEST.total_seconds())
    with caplog.at_level(logging.WARNING, "core.housekeeping"):
        keeping.start()
        _wait(lambda: len(caplog.records) >= 2)
    assert all("has to wait" in record.message for record in caplog.records)
    away._engine = database  # it is back
    _wait(lambda: rows(database) == [])
    keeping.close()
    assert keeping._thread is not None
    assert not keeping._thread.is_alive()
    nowhere.dispose()


def _wait(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_workbench_starts_it_and_ends_it(bench) -> None:
    bench.housekeeping.start()
    thread = bench.housekeeping._thread
    assert thread.is_alive()
    bench.close()
    assert not thread.is_alive()
