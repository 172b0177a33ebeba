"""Which parts of this Lectern work, which are off, which are broken, and what to do about it."""

import shutil
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlalchemy import text

from core.db.migrate import vector_version
from core.errors import LecternError
from core.models.embed import missing_embedders
from core.wording import say
from core.workbench import Workbench

_GIGABYTE = 1_000_000_000
_LITTLE_SPACE = 2 * _GIGABYTE


class Part(NamedTuple):
    """One part: `state` is on, off (not set up, and fine so) or broken."""

    part: str
    state: str
    why: str
    hint: str = ""


def examine(workbench: Workbench) -> list[dict[str, str]]:
    """Look at every part in turn; one that is broken never hides the others."""
    return [part._asdict() for part in examination(workbench)]


def examination(workbench: Workbench) -> Iterator[Part]:
    """Yield the parts as they are looked at: a server that does not answer takes its time."""
    for check in _CHECKS:
        yield from _run(check, workbench)


def _run(check: "Check", workbench: Workbench) -> Iterator[Part]:
    try:
        yield from check(workbench)
    except LecternError as error:
        name = check.__name__.strip("_").replace("_", " ")
        yield Part(name, "broken", error.message, error.hint)


def _data_folder(workbench: Workbench) -> Iterator[Part]:
    folder = workbench.settings.data_dir
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < _LITTLE_SPACE:
        hint = say("Free some space, or set LECTERN_DATA_DIR to a folder on another disk.")
        yield Part(
            say("data folder"),
            "broken",
            say("only {free:.1f} GB free", free=free / _GIGABYTE),
            hint,
        )
    else:
        yield Part(
            say("data folder"),
            "on",
            say("{folder}, {free:.0f} GB free", folder=folder, free=free / _GIGABYTE),
        )


def _database(workbench: Workbench) -> Iterator[Part]:
    with workbench.engine.connect() as connection:
        server = connection.scalar(text("SHOW server_version"))
        vector = vector_version(connection)
        collation = connection.execute(
            text(
                "SELECT datcollversion, pg_database_collation_actual_version(oid) "
                "FROM pg_database WHERE datname = current_database()"
            )
        ).one()
    if workbench.settings.database_url:
        why = say("PostgreSQL {version}, your own (DATABASE_URL)", version=server)
    else:
        why = say("PostgreSQL {version}, embedded", version=server)
    yield Part(say("database"), "on", why)
    yield Part(say("pgvector"), "on", say("version {version}", version=vector))
    recorded, actual = collation
    if recorded is not None and recorded != actual:
        yield Part(
            say("collation"),
            "broken",
            say(
                "the database was made with collation version {recorded}, the server has {actual}",
                recorded=recorded,
                actual=actual,
            ),
            say("Reindex the database, then ALTER DATABASE … REFRESH COLLATION VERSION."),
        )


def _library_index(workbench: Workbench) -> Iterator[Part]:
    status = workbench.library_index.status()
    if status.problem:
        hint = say("Answers still come, from exact search in Postgres.")
        yield Part(say("library index"), "broken", status.problem, hint)
    elif status.url:
        yield Part(
            say("library index"),
            "on",
            say("Chroma server at {url}", url=status.url),
        )
    elif status.owner:
        yield Part(
            say("library index"),
            "on",
            say("Chroma in the data folder"),
        )
    else:
        why = say("another Lectern has Chroma open: this one searches Postgres exactly")
        yield Part(say("library index"), "on", why)


def _embeddings(workbench: Workbench) -> Iterator[Part]:
    names = workbench.settings.embedding_model_names
    missing = missing_embedders(names)
    for name in names:
        if name in missing:
            hint = say("Install all of requirements.txt, or take it out of EMBEDDING_MODELS.")
            yield Part(say("embeddings {name}", name=name), "off", missing[name], hint)
        else:
            yield Part(say("embeddings {name}", name=name), "on", say("installed"))


def _chat_model(workbench: Workbench) -> Iterator[Part]:
    if workbench.chat is None:
        yield Part(
            say("chat model"),
            "off",
            say("answers are chosen from the papers' own sentences"),
            say("Set DEEPSEEK_API_KEY, OPENAI_API_KEY, or LLM_BASE_URL with LLM_MODEL."),
        )
        return
    workbench.chat.check()
    yield Part(
        say("chat model"),
        "on",
        say("{model} at {url}", model=workbench.chat.name, url=workbench.chat.endpoint.url),
    )


def _reranker(workbench: Workbench) -> Iterator[Part]:
    if workbench.reranker is None:
        yield Part(
            say("reranker"), "off", say("passages keep the fused order"), say("Set COHERE_API_KEY.")
        )
        return
    workbench.reranker.check()
    yield Part(say("reranker"), "on", workbench.settings.cohere_rerank_model)


def _reading(workbench: Workbench) -> Iterator[Part]:
    workbench.worker.warm()
    yield Part(say("reading"), "on", say("the worker process answers"))


Check = Callable[[Workbench], Iterator[Part]]
_CHECKS: tuple[Check, ...] = (
    _data_folder,
    _database,
    _library_index,
    _embeddings,
    _chat_model,
    _reranker,
    _reading,
)
