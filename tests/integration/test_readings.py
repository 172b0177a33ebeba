"""Reading memory on a real server: what is remembered, whose it is, and what resembles what."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import pytest
from sqlalchemy import Engine

from core.db.accounts import AccountStore
from core.errors import BadInput, NotFound
from core.memory.readings import NewReading, ReadingStore, Votes
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
    store.remember(user, NewReading(paper, "论文 T", summary, vector, model))


def similar(store, user=LOCAL_USER):
    found = store.similar(user, towards(1.0), "m", PAPER)
    return [(one.reading.paper_id, round(one.score, 3)) for one in found]


def test_votes_reorder_similar_readings_within_their_limits(readings):
    assert similar(readings) == [(NEAR, 0.9), (FAR, 0.7)]
    for beside in (PAPER, uuid4()):
        readings.vote(LOCAL_USER, FAR, beside, 1)
        readings.vote(LOCAL_USER, FAR, beside, 1)
    assert similar(readings) == [(FAR, 1.05), (NEAR, 0.9)]
    for paper, vote in ((FAR, 1), (NEAR, -1)) * 6:
        readings.vote(LOCAL_USER, paper, uuid4(), vote)
    assert similar(readings) == [(FAR, 1.4), (NEAR, 0.225)]
    assert readings.votes(LOCAL_USER) == {FAR: Votes(8, 0), NEAR: Votes(0, 6)}
    assert readings.votes_beside(LOCAL_USER, PAPER) == {FAR: 1}
    readings.clear_votes(LOCAL_USER, FAR)
    readings.clear_votes(LOCAL_USER, NEAR)
    assert similar(readings) == [(NEAR, 0.9), (FAR, 0.7)]


def test_a_vote_can_be_taken_back(readings):
    readings.vote(LOCAL_USER, NEAR, PAPER, -1)
    assert similar(readings) == [(FAR, 0.7), (NEAR, 0.675)]
    readings.vote(LOCAL_USER, NEAR, PAPER, 0)
    assert similar(readings) == [(NEAR, 0.9), (FAR, 0.7)]
    with pytest.raises(ValueError, match="vote"):
        readings.vote(LOCAL_USER, NEAR, PAPER, 2)


def test_what_was_forgotten_can_be_had_back_with_its_votes_until_it_is_purged(readings):
    readings.vote(LOCAL_USER, NEAR, PAPER, -1)
    at = readings.forget(LOCAL_USER, [NEAR])
    assert similar(readings) == [(FAR, 0.7)]
    assert readings.votes(LOCAL_USER) == {}
    with pytest.raises(NotFound):
        readings.restore(OTHER, at)
    readings.restore(LOCAL_USER, at)
    assert similar(readings) == [(FAR, 0.7), (NEAR, 0.675)]
    at = readings.forget(LOCAL_USER)
    assert readings.history(LOCAL_USER) == []
    remember(readings, NEAR, 0.8)
    readings.restore(LOCAL_USER, at)
    assert [score for _, score in similar(readings)] == [0.7, 0.6]
    at = readings.forget(LOCAL_USER)
    assert readings.purge(at) == 0
    assert readings.purge(at + timedelta(seconds=1)) == 3
    with pytest.raises(NotFound):
        readings.restore(LOCAL_USER, at)


def test_a_summary_is_changed_with_its_vector(readings):
    readings.edit(LOCAL_USER, NEAR, "My own words.", towards(0.2), "m")
    assert readings.reading(LOCAL_USER, NEAR).summary == "My own words."
    assert similar(readings) == [(FAR, 0.7), (NEAR, 0.2)]
    for user, paper in ((OTHER, NEAR), (LOCAL_USER, uuid4())):
        with pytest.raises(NotFound):
            readings.edit(user, paper, "Ha.", towards(0.2), "m")


def test_remembering_can_be_paused(readings):
    assert not readings.paused(LOCAL_USER)
    for _ in range(2):
        readings.pause(LOCAL_USER, True)
    assert readings.paused(LOCAL_USER)
    assert not readings.paused(OTHER)
    readings.pause(LOCAL_USER, False)
    assert not readings.paused(LOCAL_USER)


def test_readings_of_another_model_are_embedded_again_unless_they_changed_meanwhile(readings):
    stale = readings.stale("newer", 8, 10)
    assert {one.title for one in stale} == {"论文 T"}
    readings.edit(LOCAL_USER, NEAR, "Changed.", towards(0.3), "m")
    readings.renew("newer", stale, np.array([towards(0.5, 8)] * 3))
    assert len(readings.stale("newer", 8, 10)) == 1
    found = readings.similar(LOCAL_USER, towards(1.0, 8), "newer", PAPER)
    assert [(one.reading.paper_id, round(one.score, 3)) for one in found] == [(FAR, 0.5)]
    papers, vectors = readings.vectors(LOCAL_USER, "newer")
    assert set(papers) == {FAR, PAPER}
    assert vectors.shape == (2, 8)


def test_another_model_and_another_dimension_are_not_compared(readings):
    remember(readings, uuid4(), model="other")
    remember(readings, uuid4(), dimension=7)
    assert [paper for paper, _ in similar(readings)] == [NEAR, FAR]


def test_reading_again_refreshes_one_row_and_keeps_its_votes(readings):
    before = {row.paper_id: row for row in readings.history(LOCAL_USER)}[NEAR]
    readings.vote(LOCAL_USER, NEAR, PAPER, 1)
    remember(readings, NEAR, 0.5, summary="Newer.")
    (latest, *others) = readings.history(LOCAL_USER)
    assert (latest.id, latest.summary, latest.votes) == (before.id, "Newer.", Votes(1))
    assert latest.read_at > before.read_at
    assert len(others) == 2
    assert similar(readings)[1] == (NEAR, 0.625)
    readings.forget(LOCAL_USER, [NEAR])
    with pytest.raises(NotFound):
        readings.forget(LOCAL_USER, [NEAR])
    assert [paper for paper, _ in similar(readings)] == [FAR]


def test_users_never_see_each_others_readings_and_a_guests_go_with_the_guest(readings, database):
    AccountStore(database).seen(OTHER, "guest")
    remember(readings, NEAR, 0.1, OTHER)
    assert similar(readings, OTHER) == [(NEAR, 0.1)]
    readings.vote(OTHER, NEAR, PAPER, -1)
    assert similar(readings)[0] == (NEAR, 0.9)
    AccountStore(database).purge_guests(datetime.now(UTC) + timedelta(minutes=1))
    assert readings.history(OTHER) == []
    assert len(readings.history(LOCAL_USER)) == 3


@pytest.mark.parametrize(("title", "vector"), [(" ", towards(1)), ("T", np.zeros(0))])
def test_a_reading_has_a_title_and_a_vector(readings, title, vector):
    with pytest.raises(ValueError, match="title"):
        readings.remember(LOCAL_USER, NewReading(NEAR, title, "", vector, "m"))


@pytest.mark.parametrize("nobody", [None, "", "somebody", 7])
def test_who_is_not_known_has_no_readings(readings, nobody):
    for call in (
        lambda: readings.history(nobody),
        lambda: readings.forget(nobody),
        lambda: readings.vote(nobody, NEAR, PAPER, 1),
        lambda: readings.paused(nobody),
        lambda: similar(readings, nobody),
        lambda: remember(readings, NEAR, user=nobody),
    ):
        with pytest.raises(BadInput, match="who is asking"):
            call()
