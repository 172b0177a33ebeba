"""The connection pool, and the one place that understands how people spell DATABASE_URL."""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
from pgvector.psycopg import register_vector
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import Dialect, ExceptionContext

from core.errors import DatabaseDown
from core.wording import say

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 10
_URL_HINT = say("It should look like postgresql://user:password@host:5432/database.")
_DOWN_CLASSES = ("08", "53", "57", "58")  # connection, resources, operator, system error
_CANCELLED = "57014"
_CHANGED = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedObject,
    psycopg.errors.UndefinedFunction,
)
"""What a statement meets when tables or the extension were taken away while Lectern ran."""


@dataclass(frozen=True, slots=True, repr=False)
class DatabaseUrls:
    """One Postgres address as each library wants it; both hold the password."""

    sqlalchemy: URL
    psycopg: str
    """A `postgresql://` URL, which libpq, psycopg_pool and DBOS take too."""


def database_urls(text: str) -> DatabaseUrls:
    """Return a Postgres address, in whatever spelling it came, as each library wants it.

    Takes `postgres://`, `postgresql://`, `postgresql+DRIVER://`, several hosts, Unix sockets and
    libpq's `host=… dbname=…`; parameters of other clients (`pgbouncer=true`) are left out.

    Raises:
        DatabaseDown: when it is not a Postgres address; the text itself is not repeated, since
            it may hold a password.
    """
    values = _parameters(text)
    plain = _render(values)
    host, port = values.pop("host", ""), values.pop("port", "")
    user, password = values.pop("user", None), values.pop("password", None)
    database = values.pop("dbname", None)
    if not _is_one_host(host):
        values |= {key: value for key, value in (("host", host), ("port", port)) if value}
        host = port = ""
    url = URL.create(
        "postgresql+psycopg",
        username=user,
        password=password,
        host=host or None,
        port=int(port) if port else None,
        database=database,
        query=values,
    )
    return DatabaseUrls(url, plain)


def _is_one_host(host: str) -> bool:
    return bool(host) and not host.startswith(("/", "@")) and "," not in host


def _render(values: Mapping[str, str]) -> str:
    """Spell a URL that libpq takes: unlike others it reads neither `+` nor a blank as a blank."""
    quoted = {key: quote(value, safe="") for key, value in values.items()}
    login = quoted.pop("user", "")
    login += f":{quoted.pop('password')}" if "password" in quoted else ""
    address = ""
    if _is_one_host(values.get("host", "")):
        host = values["host"]
        address = f"[{host}]" if ":" in host else quoted["host"]
        address += f":{quoted['port']}" if "port" in quoted else ""
        quoted = {key: value for key, value in quoted.items() if key not in ("host", "port")}
    database = quoted.pop("dbname", "")
    options = "&".join(f"{key}={value}" for key, value in quoted.items())
    query = f"?{options}" if options else ""
    return f"postgresql://{login}{'@' if login else ''}{address}/{database}{query}"


def _parameters(text: str) -> dict[str, str]:
    text = re.sub(r"""^(['"])(.*)\1$""", r"\2", text.strip())
    scheme = re.match(r"([\w+.-]+)://", text)
    try:
        found = conninfo_to_dict(_plain_url(text) if scheme else text)
    except psycopg.ProgrammingError:
        raise DatabaseDown(say("DATABASE_URL cannot be understood."), hint=_URL_HINT) from None
    values = {key: str(value) for key, value in found.items() if value is not None}
    ports = values.get("port", "").split(",")
    if not values or not all(re.fullmatch(r"\d{0,5}", port) for port in ports):
        raise DatabaseDown(say("DATABASE_URL names no database."), hint=_URL_HINT)
    return values


def _plain_url(text: str) -> str:
    scheme, _, rest = text.partition("://")
    if scheme.partition("+")[0].lower() not in ("postgres", "postgresql"):
        raise DatabaseDown(
            say("DATABASE_URL is for {scheme}, not for Postgres.", scheme=scheme.partition("+")[0]),
            hint=_URL_HINT,
        )
    address, _, query = rest.partition("?")
    authority, slash, path = address.partition("/")
    login, at, hosts = authority.rpartition("@")
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()} | {"ssl"}
    pairs = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)
    kept = [(key, _ssl(value) if key == "ssl" else value) for key, value in pairs if key in known]
    options = urlencode([("sslmode" if k == "ssl" else k, v) for k, v in kept], quote_via=quote)
    return f"postgresql://{login.replace('@', '%40')}{at}{hosts}{slash}{path}?{options}"


def _ssl(value: str) -> str:
    return {"true": "require", "1": "require", "false": "disable"}.get(value.lower(), value)


def make_engine(url: str, revive: Callable[[], object] | None = None) -> Engine:
    """Return a pool on any spelling of a Postgres address; nothing is connected yet.

    Connections know pgvector's types as soon as the extension is there. A server that is down,
    full or refuses us, or whose tables were taken away, raises `DatabaseDown` from whatever
    statement found out; where `revive` can start it again (the embedded server), it is called once
    and the connection tried again.
    """
    engine = create_engine(
        database_urls(url).sqlalchemy,
        pool_pre_ping=True,
        pool_size=10,
        max_overflow=20,
        hide_parameters=True,  # they hold the text of people's papers
        connect_args={"connect_timeout": _CONNECT_SECONDS},
    )
    if revive is not None:
        event.listen(engine, "do_connect", _reviving(revive))
    event.listen(engine, "checkout", _know_vectors)
    event.listen(engine, "handle_error", _say_database_down, retval=True)
    return engine


def _reviving(revive: Callable[[], object]) -> Callable[..., Any]:
    def connect(dialect: Dialect, _record: Any, arguments: Any, options: Any) -> Any:
        try:
            return dialect.connect(*arguments, **options)
        except psycopg.OperationalError as error:
            if not means_down(error):
                raise
            log.warning("the database does not answer: starting it again")
            revive()
            return dialect.connect(*arguments, **options)

    return connect


def _know_vectors(connection: "psycopg.Connection[Any]", record: Any, _proxy: Any) -> None:
    if record.info.get("vectors"):
        return
    connection.autocommit = True  # so that looking the types up leaves no transaction open
    try:
        register_vector(connection)
        record.info["vectors"] = True
    except psycopg.ProgrammingError:
        record.info["vectors"] = False  # no extension yet: looked for again next time
    finally:
        connection.autocommit = False


def _say_database_down(context: ExceptionContext) -> DatabaseDown | None:
    error = context.original_exception
    if isinstance(error, _CHANGED):
        log.error("the database is not as this Lectern made it: %s", error)
        return _database_changed(error)
    if context.is_pre_ping or not means_down(error):
        return None
    return database_down(error)


def _database_changed(error: BaseException) -> DatabaseDown:
    return DatabaseDown(
        say("The database lacks something of Lectern's: {cause}", cause=_first_line(error)),
        hint=say(
            "Somebody or another Lectern has changed it: start Lectern again; if it stays so, "
            "restore the database from a backup."
        ),
    )


def means_down(error: BaseException) -> bool:
    """Return whether a driver's error says that the server, not the statement, is at fault."""
    if not isinstance(error, psycopg.OperationalError) or error.sqlstate == _CANCELLED:
        return False
    return error.sqlstate is None or error.sqlstate[:2] in _DOWN_CLASSES


def database_down(error: BaseException) -> DatabaseDown:
    """Return the failure to show for a driver's error (libpq never puts a password in one)."""
    return DatabaseDown(
        say("The database cannot be used now: {cause}", cause=_first_line(error)),
        hint=say("Try again; if it stays so, check that its server runs and its disk has space."),
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
