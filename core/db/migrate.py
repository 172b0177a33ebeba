"""Bringing a database to this version's tables, safely from several processes at once."""

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from core.errors import DatabaseDown
from core.wording import say

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

VERSION_TABLE = "lectern_version"
HEAD = "0007"
"""The newest migration: a database that is there needs no Alembic, which takes long to import."""
_FOLDER = Path(__file__).with_name("migrations")
_LOCK = int.from_bytes(b"lectern", "big")
_VECTOR_HINT = say(
    "Install pgvector on the server (https://github.com/pgvector/pgvector), or unset DATABASE_URL "
    "to use the embedded one."
)
_OLDEST_VECTOR = (0, 5)
"""The first pgvector with the index (HNSW) that readings are searched by."""
_UPDATE_HINT = say(
    "Install a newer pgvector on the server and have the database's administrator run "
    "ALTER EXTENSION vector UPDATE, or unset DATABASE_URL to use the embedded server."
)
_PERMISSION_HINT = say(
    "Let the database's administrator run CREATE EXTENSION vector and grant CREATE on the schema, "
    "then start Lectern again."
)


def upgrade(engine: Engine) -> None:
    """Create or update all tables, in one transaction under an advisory lock.

    Raises:
        DatabaseDown: when pgvector is missing, too old or may not be created, or when the tables
            are a newer Lectern's.
    """
    with engine.begin() as connection:
        if _version(connection) == HEAD:
            return
        from alembic import command
        from alembic.script import ScriptDirectory

        config = _config()
        scripts = ScriptDirectory.from_config(config)
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        _check_not_newer(connection, scripts)
        _create_extension(connection)
        _check_extension(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _version(connection: Connection) -> str | None:
    if connection.scalar(text("SELECT to_regclass(:table)"), {"table": VERSION_TABLE}) is None:
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608
    return found


def _check_not_newer(connection: Connection, scripts: "ScriptDirectory") -> None:
    version = _version(connection)
    known = {script.revision for script in scripts.walk_revisions()}
    if version is not None and version not in known:
        raise DatabaseDown(
            say(
                "The database was written by a newer Lectern (its tables are at {version}).",
                version=version,
            ),
            hint=say("Update Lectern, or use another database."),
        )


def _create_extension(connection: Connection) -> None:
    try:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except (DBAPIError, DatabaseDown) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error.__cause__
        if isinstance(cause, psycopg.errors.InsufficientPrivilege):
            raise DatabaseDown(
                say("This user may not create pgvector in the database."), hint=_PERMISSION_HINT
            ) from error
        # Its control file is not there, or its library is not.
        if isinstance(cause, psycopg.errors.FeatureNotSupported | psycopg.errors.UndefinedFile):
            raise DatabaseDown(say("The database has no pgvector."), hint=_VECTOR_HINT) from error
        raise


def _check_extension(connection: Connection) -> None:
    version = vector_version(connection)
    if numbered(version) < _OLDEST_VECTOR:
        raise DatabaseDown(
            say(
                "The database's pgvector is {version}, Lectern needs 0.5 or newer.", version=version
            ),
            hint=_UPDATE_HINT,
        )


def vector_version(connection: Connection) -> str:
    """Return the version of pgvector in the database.

    Raises:
        DatabaseDown: there is none (any more).
    """
    query = text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    found: str | None = connection.scalar(query)
    if found is None:
        raise DatabaseDown(say("The database has no pgvector."), hint=_VECTOR_HINT)
    return found


def numbered(version: str) -> tuple[int, ...]:
    """Return a version as numbers that can be compared: (0, 8, 1)."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())
