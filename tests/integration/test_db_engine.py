"""The pool against a server that comes, goes and refuses."""

import threading
from pathlib import Path

import numpy as np
import psycopg
import pytest
from pgvector import Vector
from sqlalchemy import Engine, text

from core.db.embedded import EmbeddedPostgres
from core.db.engine import make_engine
from core.db.migrate import upgrade
from core.db.papers import PaperStore
from core.errors import DatabaseDown
from core.types import LOCAL_USER
from tests.fixtures.database import rename


def test_vectors_are_known_on_every_connection(database: Engine) -> None:
    barrier = threading.Barrier(3)
    found = []

    def ask() -> None:
        with database.connect() as connection:
            barrier.wait()
            found.append(connection.execute(text("SELECT '[1,2]'::vector")).scalar_one())

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [Vector([1, 2])] * 3


def test_a_connection_older_than_the_extension_learns_about_it(database_server: str) -> None:
    with psycopg.connect(database_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE young")
    engine = make_engine(rename(database_server, "young"))
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    upgrade(engine)
    with engine.connect() as connection:
        value = connection.execute(text("SELECT '[3,4]'::vector")).scalar_one()
    np.testing.assert_array_equal(value.to_numpy(), [3, 4])
    engine.dispose()
    with psycopg.connect(database_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE young WITH (FORCE)")


def test_looking_for_vectors_leaves_no_transaction_open(database: Engine) -> None:
    with database.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert driver.autocommit is False


@pytest.mark.parametrize("change", ["host", "password", "database"])
def test_a_server_that_is_not_there_or_refuses_is_database_down(
    database_url: str, tmp_path: Path, change: str
) -> None:
    password = database_url.split(":")[2].partition("@")[0]
    url = {
        "host": f"postgresql://ann:s3cret@/lib?host={tmp_path}",
        "password": database_url.replace(password, "s3cret"),
        "database": rename(database_url, "no_such_database"),
    }[change]
    engine = make_engine(url)
    for action in (lambda: engine.connect(), lambda: PaperStore(engine).papers(LOCAL_USER)):
        with pytest.raises(DatabaseDown) as caught:
            action()
        assert "s3cret" not in caught.value.message
        assert password not in caught.value.message
        assert caught.value.hint
    engine.dispose()


def test_errors_do_not_repeat_what_was_to_be_stored(database: Engine) -> None:
    with database.connect() as connection, pytest.raises(Exception, match="no_such") as caught:
        connection.execute(text("INSERT INTO no_such VALUES (:text)"), {"text": "private words"})
    assert "private words" not in str(caught.value)


def test_the_pool_outlives_a_crash_of_the_server(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "postgres")
    engine = make_engine(server.start())
    try:
        upgrade(engine)
        store = PaperStore(engine)
        assert store.papers(LOCAL_USER) == []
        server.stop()
        for _ in range(2):
            with pytest.raises(DatabaseDown):
                store.papers(LOCAL_USER)
            with pytest.raises(DatabaseDown), engine.connect() as connection:
                connection.execute(text("SELECT 1"))
        server.start()
        assert store.papers(LOCAL_USER) == []
    finally:
        engine.dispose()
        server.stop()


def test_a_server_that_ends_in_the_middle_of_a_transaction_is_database_down(
    database: Engine, database_server: str
) -> None:
    store = PaperStore(database)

    def end(pid: int) -> None:
        with psycopg.connect(database_server, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", [pid])

    def cut_off_in_the_store() -> None:
        with store._transaction() as cursor:
            end(cursor.connection.info.backend_pid)
            cursor.execute("SELECT 1")

    def cut_off_in_the_engine() -> None:
        with database.begin() as connection:
            end(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
            connection.execute(text("SELECT 1"))

    for cut_off in (cut_off_in_the_store, cut_off_in_the_engine):
        with pytest.raises(DatabaseDown):
            cut_off()
    assert store.papers(LOCAL_USER) == []
