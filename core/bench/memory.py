"""How long similar readings take to find among 10,000 of a reader's own and as many of others.

The vectors are made up (unit vectors about 200 topics); store, server and index are the real ones.
"""

import re
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from sqlalchemy import Engine, event

from core.bench.isolated import isolated_workbench
from core.memory.readings import NEAREST, NewReading, ReadingStore
from core.models.embed import Vectors
from core.types import LOCAL_USER

ROWS, DIMENSION, TOPICS, QUESTIONS = 10_000, 512, 200, 200
MODEL = "use-multilingual"
NOISE = 1.0
"""Length of what is added to the unit vector of a reading's topic."""


def run(rows: int = ROWS) -> dict[str, Any]:
    """Fill a database of the bench's own and time `similar` in it."""
    with isolated_workbench() as workbench:
        return measure(workbench.engine, rows)


def measure(engine: Engine, rows: int) -> dict[str, Any]:
    """Fill a database with so many readings of two users and time `similar` in it."""
    store = ReadingStore(engine)
    random = np.random.default_rng(7)
    centres = _unit(random.normal(size=(TOPICS, DIMENSION)))
    mine = _about(centres, rows, random)
    began = time.perf_counter()
    papers = fill(store, LOCAL_USER, mine)
    fill(store, uuid4(), _about(centres, rows, random))
    filled = time.perf_counter() - began
    with engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE user_paper_profile")
        connection.commit()
    questions = _about(centres, QUESTIONS, random)
    store.similar(LOCAL_USER, questions[0], MODEL, uuid4())
    seconds, recalled = [], []
    for question in questions:
        began = time.perf_counter()
        found = store.similar(LOCAL_USER, question, MODEL, uuid4(), NEAREST)
        seconds.append(time.perf_counter() - began)
        exact = {papers[at] for at in np.argsort(-(mine @ question))[:NEAREST]}
        recalled.append(len(exact & {one.reading.paper_id for one in found}) / NEAREST)
    with explained(engine) as plans:
        store.similar(LOCAL_USER, questions[0], MODEL, uuid4())
    return {
        "rows": rows,
        "of_others": rows,
        "fill_seconds": round(filled, 1),
        "similar_ms_p50": round(1000 * statistics.median(seconds), 1),
        "similar_ms_p95": round(1000 * statistics.quantiles(seconds, n=20)[-1], 1),
        "exact_scan_ms_p50": round(1000 * _exact_scan(mine, questions), 1),
        f"recall@{NEAREST}": round(statistics.mean(recalled), 3),
        "plan": plans[0],
    }


def fill(store: ReadingStore, user: UUID, vectors: Vectors) -> list[UUID]:
    """Have a user read papers of these vectors; return their ids."""
    papers = [uuid4() for _ in vectors]
    new = [
        NewReading(paper, f"Paper {at}", "It was read.", vector, MODEL)
        for at, (paper, vector) in enumerate(zip(papers, vectors, strict=True))
    ]
    store.remember(user, *new)
    return papers


@contextmanager
def explained(engine: Engine) -> Iterator[list[str]]:
    """Collect how the server carries out each statement that compares vectors, as it is sent."""
    plans: list[str] = []

    def explain(
        _connection: Any, cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool
    ) -> None:
        if "<=>" in statement:
            with cursor.connection.cursor() as beside:
                beside.execute("EXPLAIN " + statement, parameters)
                plan = "\n".join(row[0] for row in beside.fetchall())
                plans.append(re.sub(r"'\[[^]]*\]'", "'[…]'", plan))

    event.listen(engine, "before_cursor_execute", explain)
    try:
        yield plans
    finally:
        event.remove(engine, "before_cursor_execute", explain)


def _about(centres: Vectors, rows: int, random: np.random.Generator) -> Vectors:
    topics = centres[random.integers(len(centres), size=rows)]
    noise = _unit(random.normal(size=topics.shape))
    return _unit(topics + NOISE * noise)


def _unit(vectors: Any) -> Vectors:
    found = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(found, dtype=np.float32)


def _exact_scan(vectors: Vectors, questions: Vectors) -> float:
    """Return the median seconds that comparing with all vectors in memory takes: the baseline."""
    seconds = []
    for question in questions:
        began = time.perf_counter()
        np.argpartition(-(vectors @ question), NEAREST)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)
