"""A real server on which pgvector is missing, in part or as a whole, too old, or taken away."""

import shutil
from collections.abc import Callable
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import text

from core.db.binaries import find_programs
from core.db.engine import make_engine
from core.db.migrate import upgrade
from core.doctor import examine
from core.errors import DatabaseDown
from core.memory.readings import NewReading
from core.types import LOCAL_USER
from tests.fixtures.database import OtherServer, rename
from tests.fixtures.papers import unit_vectors

PAGES = ("streamlit_app.py", "pages/ask.py", "pages/library.py", "pages/memory.py")


def no_files(server: OtherServer) -> None:
    """As a distribution's server comes."""


def no_library(server: OtherServer) -> None:
    """An installation that was moved or only half removed."""
    _install(server, "0.8.5")


def too_old(server: OtherServer) -> None:
    _install(server, "0.4.4")
    shutil.copy(_own_library(), server.library)


def _install(server: OtherServer, version: str) -> None:
    script = next(find_programs().parent.glob("share/**/extension/vector--?.?.?.sql"))
    shutil.copy(script, server.extension(f"vector--{version}.sql"))
    server.extension("vector.control").write_text(
        f"default_version = '{version}'\nmodule_pathname = '$libdir/vector'\nrelocatable = true\n"
    )


def _own_library():
    return next(find_programs().parent.glob("lib/**/vector.*"))


@pytest.fixture
def bare_url(bare_server: OtherServer):
    """The URL of an empty database of the server; its installation is as it was in the end."""
    name = f"bare_{uuid4().hex}"
    with psycopg.connect(bare_server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield rename(bare_server.url, name)
    with psycopg.connect(bare_server.url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    folder = bare_server.extension("vector.control").parent
    for file in [*folder.glob("vector*"), bare_server.library]:
        file.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("installed", "message", "hint"),
    [
        (no_files, "The database has no pgvector.", "Install pgvector on the server"),
        (no_library, "The database has no pgvector.", "Install pgvector on the server"),
        (too_old, "pgvector is 0.4.4, Lectern needs 0.5", "ALTER EXTENSION vector UPDATE"),
    ],
)
def test_it_is_said_what_to_do_and_nothing_is_left_behind(
    bare_server: OtherServer,
    bare_url: str,
    installed: Callable[[OtherServer], None],
    message: str,
    hint: str,
) -> None:
    installed(bare_server)
    engine = make_engine(bare_url)
    with pytest.raises(DatabaseDown) as caught:
        upgrade(engine)
    engine.dispose()
    assert message in caught.value.message
    assert hint in caught.value.hint
    with psycopg.connect(bare_url) as connection:
        tables = connection.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchall() == []


def test_every_page_and_the_doctor_say_so_and_go_on_once_it_is_installed(
    bare_server: OtherServer, bare_url: str, make_bench, open_page
) -> None:
    bench = make_bench(DATABASE_URL=bare_url)
    for path in PAGES:
        page = open_page(bench, path)
        assert not page.exception
        assert ["The database has no pgvector\\. Install" in said.value for said in page.error] == [
            True
        ]
    broken = {part["part"]: part for part in examine(bench)}["database"]
    assert broken["state"] == "broken"
    assert broken["why"] == "The database has no pgvector."
    assert "Install pgvector" in broken["hint"]
    page = open_page(bench, "pages/system.py")
    assert not page.exception
    assert "has no pgvector" in page.error[0].value
    _install(bare_server, "0.8.5")
    shutil.copy(_own_library(), bare_server.library)
    page = open_page(bench, "pages/memory.py")
    assert not page.exception
    assert not page.error
    assert "Nothing has been read yet" in page.info[0].value


def test_an_extension_that_is_taken_away_while_the_app_runs_is_said(bench, open_page) -> None:
    vector = unit_vectors(1)[0]
    bench.readings.remember(LOCAL_USER, NewReading(uuid4(), "T", "S.", vector, "m"))
    with bench.engine.begin() as connection:
        connection.execute(text("DROP EXTENSION vector CASCADE"))
    page = open_page(bench, "pages/memory.py")
    assert not page.exception
    assert "lacks something of Lectern" in page.info[0].value
    with pytest.raises(DatabaseDown, match="lacks something of Lectern"):
        bench.readings.remember(LOCAL_USER, NewReading(uuid4(), "T", "S.", vector, "m"))
    states = {part["part"]: (part["state"], part["why"]) for part in examine(bench)}
    assert states["database"] == ("broken", "The database has no pgvector.")
