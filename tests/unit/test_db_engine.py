"""Every spelling of DATABASE_URL."""

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from core.db.engine import database_down, database_urls, make_engine, means_down
from core.errors import DatabaseDown

PLAIN = {"user": "ann", "password": "s3cret", "host": "db.example", "port": "5433", "dbname": "lib"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://ann:s3cret@db.example:5433/lib", PLAIN),
        ("postgres://ann:s3cret@db.example:5433/lib", PLAIN),
        ("postgresql+psycopg://ann:s3cret@db.example:5433/lib", PLAIN),
        ("postgresql+asyncpg://ann:s3cret@db.example:5433/lib", PLAIN),
        (" 'postgres://ann:s3cret@db.example:5433/lib'\n", PLAIN),
        ("host=db.example port=5433 user=ann password=s3cret dbname=lib", PLAIN),
        (
            "postgres://ann:s3cret@db.example:5433/lib?sslmode=require&channel_binding=prefer",
            PLAIN | {"sslmode": "require", "channel_binding": "prefer"},
        ),
        ("postgres://ann:s3cret@db.example:5433/lib?ssl=true", PLAIN | {"sslmode": "require"}),
        (
            "postgres://ann:s3cret@db.example:5433/lib?pgbouncer=true&application_name=a%20b+c",
            PLAIN | {"application_name": "a b+c"},
        ),
        (
            "postgres://ann:p%40s%2Fs%3A%25@db.example/lib",
            {"user": "ann", "password": "p@s/s:%", "host": "db.example", "dbname": "lib"},
        ),
        (
            "postgres://ann:p@s@db.example/lib",
            {"user": "ann", "password": "p@s", "host": "db.example", "dbname": "lib"},
        ),
        (
            "postgresql://ann:s3cret@/lib?host=/srv/a%20b",
            {"user": "ann", "password": "s3cret", "host": "/srv/a b", "dbname": "lib"},
        ),
        (
            "postgresql://ann@%2Fsrv%2Frun/lib",
            {"user": "ann", "host": "/srv/run", "dbname": "lib"},
        ),
        (
            "host='/srv/a b' dbname=文献 password='a b''c'",
            None,
        ),
        (
            "host='/srv/a b' dbname=文献 password='a b\\'c'",
            {"host": "/srv/a b", "dbname": "文献", "password": "a b'c"},
        ),
        (
            "postgresql://one:5433,two:5434/lib?target_session_attrs=read-write",
            {
                **{"host": "one,two", "port": "5433,5434", "dbname": "lib"},
                "target_session_attrs": "read-write",
            },
        ),
        ("postgresql://[::1]:5433/lib", {"host": "::1", "port": "5433", "dbname": "lib"}),
        ("postgresql:///lib", {"dbname": "lib"}),
        ("password=s3cret host=db", {"password": "s3cret", "host": "db"}),
        ("dbname=lib port=5433", {"dbname": "lib", "port": "5433"}),
    ],
)
def test_a_spelling_means_the_same_to_every_library(
    text: str, expected: dict[str, str] | None
) -> None:
    if expected is None:
        with pytest.raises(DatabaseDown):
            database_urls(text)
        return
    urls = database_urls(text)
    assert conninfo_to_dict(urls.psycopg) == expected
    engine = make_engine(text)
    arguments = engine.dialect.create_connect_args(urls.sqlalchemy)[1]
    arguments.pop("context")
    assert {key: str(value) for key, value in arguments.items()} == expected
    assert urls.sqlalchemy.drivername == "postgresql+psycopg"
    assert "s3cret" not in f"{engine!r} {urls!r} {urls.sqlalchemy!r}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "sqlite:///s3cret.db",
        "mysql://ann:s3cret@db/lib",
        "postgresql://ann:s3cret@db:port/lib",
        "postgresql://ann:s3cret@db:99999999999/lib",
        "ann:s3cret@db/lib",
        "password=s3cret unknown=1",
        "postgresql://ann:s3cret%zz@db/lib",
        "postgresql://[::1:s3cret/lib",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_the_password(text: str) -> None:
    with pytest.raises(DatabaseDown) as caught:
        database_urls(text)
    assert "s3cret" not in f"{caught.value} {caught.value.to_json()}"
    assert caught.value.__cause__ is None
    assert "postgresql://" in caught.value.hint


def test_which_errors_mean_that_the_server_is_down() -> None:
    down = psycopg.errors
    assert all(
        means_down(error())
        for error in (
            psycopg.OperationalError,
            down.AdminShutdown,
            down.DiskFull,
            down.TooManyConnections,
        )
    )
    assert not any(
        means_down(error())
        for error in (down.QueryCanceled, down.DeadlockDetected, down.UniqueViolation, ValueError)
    )
    assert (
        "connection refused"
        in database_down(psycopg.OperationalError("connection refused\nx")).message
    )
