"""Migrations on a real server: they agree with the models, and can be run by many at once."""

import subprocess
import sys
from uuid import uuid4

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

from core.db.engine import make_engine
from core.db.migrate import HEAD, VERSION_TABLE, upgrade
from core.db.orm import Base
from core.errors import DatabaseDown
from tests.conftest import ROOT
from tests.fixtures.database import rename


@pytest.fixture
def empty_url(database_server: str):
    name = f"empty_{uuid4().hex}"
    with psycopg.connect(database_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield rename(database_server, name)
    with psycopg.connect(database_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_models_and_migrations_agree(database: Engine) -> None:
    with database.connect() as connection:
        options = {"version_table": VERSION_TABLE, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []


def test_upgrading_again_changes_nothing(database: Engine) -> None:
    upgrade(database)
    with database.connect() as connection:
        versions = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).all()
    assert versions == [(HEAD,)]


def test_the_newest_migration_is_the_one_a_database_is_compared_with() -> None:
    scripts = ScriptDirectory(str(ROOT / "core" / "db" / "migrations"))
    assert scripts.get_current_head() == HEAD


def test_two_processes_upgrade_at_once(empty_url: str) -> None:
    code = (
        "import sys; from core.db.engine import make_engine; from core.db.migrate import upgrade;"
        "upgrade(make_engine(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, empty_url]
    runs = [
        subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [(run.wait(60), run.communicate()[1]) for run in runs] == [(0, ""), (0, "")]
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("SELECT count(*) FROM papers").fetchone() == (0,)


def test_a_failing_migration_leaves_nothing(empty_url: str) -> None:
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE library (mine text)")
    engine = make_engine(empty_url)
    with pytest.raises(Exception, match="already exists"):
        upgrade(engine)
    engine.dispose()
    with psycopg.connect(empty_url) as connection:
        names = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchall()
    assert names == [("library",)]


def test_tables_of_a_newer_version_are_refused(database: Engine) -> None:
    with database.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(DatabaseDown, match="newer Lectern"):
        upgrade(database)


def test_not_being_allowed_to_create_the_extension_says_what_to_do(empty_url: str) -> None:
    role = f"limited_{uuid4().hex}"
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
    _, _, rest = empty_url.partition("@")
    engine = make_engine(f"postgresql://{role}:x@{rest}")
    with pytest.raises(DatabaseDown) as caught:
        upgrade(engine)
    engine.dispose()
    assert "CREATE EXTENSION vector" in caught.value.hint
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {role}")
