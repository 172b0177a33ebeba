"""Reading memory on a real server: what is remembered, whose it is, and what resembles what."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest
from sqlalchemy import Engine

from core.db.accounts import AccountStore
from core.errors import NotFound
from core.memory.readings import ReadingStore
from core.types import LOCAL_USER

OTHER, NEAR, FAR, PAPER = uuid4(), uuid4(), uuid4(), uuid4()


def towards(cosine: float, dimension: int = 4) -> np.ndarray:
    """Return a unit vector of that cosine with the first axis."""
    vector = np.zeros(dimension, dtype=np.float32)
    vector[:2] = cosine, np.sqrt(1 - cosine**2)
    return vector


@pytest.fixture
def readings(database: Engine) -> ReadingStore:
    store = ReadingStore(database)
    for paper, cosine in ((NEAR, 0.9), (FAR, 0.7), (PAPER, 1.0)):
        remember(store, paper, cosine)
    return store


def remember(store, paper, cosine=0.9, user=LOCAL_USER, model="m", dimension=4, summary="S."):
    vector = towards(cosine, dimension)
    store.remember(
        user, paper, title="论文 T", summary=summary, vector=vector, embedding_model=model
    )


def similar(store, user=LOCAL_USER):
    found = store.similar(user, towards(1.0), "m", PAPER)
    return [(one.reading.paper_id, round(one.score, 3)) for one in found]


def test_votes_reorder_similar_readings_within_their_limits(readings):
    assert similar(readings) == [(NEAR, 0.9), (FAR, 0.7)]
    for _ in range(2):
        readings.feedback(LOCAL_USER, FAR, 1)
    assert similar(readings) == [(FAR, 1.05), (NEAR, 0.9)]
    for paper, vote in ((FAR, 1), (NEAR, -1)) * 6:
        readings.feedback(LOCAL_USER, paper, vote)
    assert similar(readings) == [(FAR, 1.4), (NEAR, 0.225)]


def test_another_model_and_another_dimension_are_not_compared(readings):
    remember(readings, uuid4(), model="other")
    remember(readings, uuid4(), dimension=7)
    assert [paper for paper, _ in similar(readings)] == [NEAR, FAR]


def test_reading_again_refreshes_one_row_and_keeps_its_votes(readings):
    before = {row.paper_id: row for row in readings.history(LOCAL_USER)}[NEAR]
    readings.feedback(LOCAL_USER, NEAR, 1)
    remember(readings, NEAR, 0.5, summary="Newer.")
    (latest, *others) = readings.history(LOCAL_USER)
    assert (latest.id, latest.summary, latest.useful) == (before.id, "Newer.", 1)
    assert latest.read_at > before.read_at
    assert len(others) == 2
    assert similar(readings)[1] == (NEAR, 0.625)
    readings.forget(LOCAL_USER, NEAR)
    with pytest.raises(NotFound):
        readings.forget(LOCAL_USER, NEAR)
    assert [paper for paper, _ in similar(readings)] == [FAR]


def test_users_never_see_each_others_readings_and_a_guests_go_with_the_guest(readings, database):
    AccountStore(database).seen(OTHER, "guest")
    remember(readings, NEAR, 0.1, OTHER)
    assert similar(readings, OTHER) == [(NEAR, 0.1)]
    readings.feedback(OTHER, NEAR, -1)
    assert similar(readings)[0] == (NEAR, 0.9)
    AccountStore(database).purge_guests(datetime.now(UTC) + timedelta(minutes=1))
    assert readings.history(OTHER) == []
    assert len(readings.history(LOCAL_USER)) == 3


@pytest.mark.parametrize(("title", "vector"), [(" ", towards(1)), ("T", np.zeros(0))])
def test_a_reading_has_a_title_and_a_vector(readings, title, vector):
    with pytest.raises(ValueError, match="title"):
        readings.remember(
            LOCAL_USER, NEAR, title=title, summary="", vector=vector, embedding_model="m"
        )
