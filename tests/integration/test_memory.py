"""Reading memory as a whole: marked, edited, taken away and brought back, suggested, re-embedded."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from core.bench.memory import MODEL, explained, measure
from core.errors import BadInput, NotFound, Unavailable
from core.ingest.backfill import Backfill
from core.memory.readings import NewReading, ReadingStore
from core.types import LOCAL_USER
from tests.conftest import ROOT
from tests.fixtures.arxiv_server import feed, loopback_arxiv
from tests.fixtures.papers import unit_vectors

SAMPLES = ROOT / "data" / "samples"


@pytest.fixture
def papers(bench) -> dict[str, UUID]:
    names = ("fusion", "citations", "crosslang")
    return {
        name: bench.ingestor.ingest(
            LOCAL_USER, f"{name}.pdf", (SAMPLES / f"{name}.pdf").read_bytes()
        ).paper_id
        for name in names
    }


def test_a_paper_is_marked_edited_related_and_what_is_left_is_suggested(bench, papers):
    memory, readings = bench.memory, bench.readings
    memory.mark_read(LOCAL_USER, papers["fusion"])
    (row,) = readings.history(LOCAL_USER)
    assert row.title == "How Lectern Fuses Dense and Lexical Retrieval"
    assert row.summary.endswith(".")
    assert row.summary == bench.papers.paper(LOCAL_USER, row.paper_id).meta.abstract
    (related,) = memory.related(LOCAL_USER, papers["citations"])
    assert related.reading.paper_id == papers["fusion"]
    assert related.cosine > 0.4
    suggested = memory.suggestions(LOCAL_USER)
    assert {one.paper.paper_id for one in suggested} == {papers["citations"], papers["crosslang"]}
    assert {one.because.paper_id for one in suggested} == {papers["fusion"]}
    last = suggested[-1].paper.paper_id
    readings.vote(LOCAL_USER, suggested[0].paper.paper_id, suggested[0].paper.paper_id, -1)
    for beside in (last, uuid4(), uuid4(), uuid4()):
        readings.vote(LOCAL_USER, last, beside, 1)
    assert memory.suggestions(LOCAL_USER)[0].paper.paper_id == last
    memory.edit(LOCAL_USER, row.paper_id, "  Bananas are yellow fruit. ")
    assert readings.reading(LOCAL_USER, row.paper_id).summary == "Bananas are yellow fruit."
    assert memory.related(LOCAL_USER, papers["citations"])[0].cosine < related.cosine
    for summary in ("", " \n", "x" * 20_001):
        with pytest.raises(BadInput, match="characters"):
            memory.edit(LOCAL_USER, row.paper_id, summary)
    with pytest.raises(NotFound):
        memory.edit(LOCAL_USER, papers["citations"], "Not read.")
    for paper in papers.values():
        memory.mark_read(LOCAL_USER, paper)
    assert memory.suggestions(LOCAL_USER) == []


def test_a_map_has_a_point_a_reading_and_topics_have_terms(bench, papers):
    assert bench.memory.landscape(LOCAL_USER).points == ()
    for paper in papers.values():
        bench.memory.mark_read(LOCAL_USER, paper)
    found = bench.memory.landscape(LOCAL_USER)
    assert {point.reading.paper_id for point in found.points} == set(papers.values())
    assert sum(len(topic.readings) for topic in found.topics) == 3
    assert all(topic.terms for topic in found.topics)


def test_arxiv_is_asked_by_topic_and_what_is_known_is_not_suggested(make_bench):
    with loopback_arxiv() as arxiv:
        bench = make_bench(ARXIV_API_URL=arxiv.url, ARXIV_SECONDS=0)
        with pytest.raises(BadInput, match="English"):
            bench.memory.on_arxiv(LOCAL_USER)
        assert arxiv.asked == []
        vector = bench.embedders[0].encode(["On rank fusion of retrieval"])[0]
        new = NewReading(
            uuid4(),
            "Rank fusion",
            "Fusion of rank lists by retrieval.",
            vector,
            bench.embedders[0].name,
        )
        bench.readings.remember(LOCAL_USER, new)
        bench.readings.remember(
            LOCAL_USER, NewReading(uuid4(), "On fusion math/0301001v1", "S.", vector, "m")
        )
        (found,) = bench.memory.on_arxiv(LOCAL_USER)
        assert '(all:"fusion" AND all:"rank")' in arxiv.asked[0]["search_query"]
        assert found.paper["arxiv_id"] == "2301.00001"
        assert found.because.title == "Rank fusion"
        bench.readings.vote(LOCAL_USER, found.id, found.id, -1)
        assert bench.memory.on_arxiv(LOCAL_USER)[0].score == pytest.approx(0.75 * found.cosine)
        arxiv.answers = [(200, {}, feed())]
        assert bench.memory.on_arxiv(LOCAL_USER) == []
        arxiv.answers = [(429, {"Retry-After": "99"}, b"")]
        with pytest.raises(Unavailable) as error:
            bench.memory.on_arxiv(LOCAL_USER)
        assert error.value.code == "RATE_LIMITED"


def test_what_is_exported_comes_back_and_the_later_reading_stays(bench):
    store = bench.readings
    vector = bench.embedders[0].encode(["T"])[0]
    one, other = uuid4(), uuid4()
    store.remember(LOCAL_USER, NewReading(one, "论文 <b>", "甲。\nB.", vector, "m", "model"))
    store.remember(LOCAL_USER, NewReading(other, "Other", "", vector, "m"))
    exported = bench.memory.export(LOCAL_USER)
    before = store.history(LOCAL_USER)
    assert bench.memory.import_file(LOCAL_USER, exported) == 0
    stranger = uuid4()
    assert bench.memory.import_file(stranger, exported) == 2
    theirs = store.history(stranger)
    assert [(r.title, r.summary, r.read_at, r.model_name) for r in theirs] == [
        (r.title, r.summary, r.read_at, r.model_name) for r in before
    ]
    store.forget(LOCAL_USER)
    assert bench.memory.import_file(LOCAL_USER, exported) == 2
    later = json.loads(exported)
    later["readings"][0] |= {"read_at": "2050-01-01T00:00:00+00:00", "summary": "Later."}
    later["readings"].append(later["readings"][0] | {"read_at": "2049-01-01T00:00:00Z"})
    assert bench.memory.import_file(LOCAL_USER, json.dumps(later).encode()) == 1
    assert store.history(LOCAL_USER)[0].summary == "Later."


def test_a_large_file_is_added_at_once_and_embedded_in_the_background(bench):
    rows = [
        {"paper_id": str(uuid4()), "title": f"Paper {number}", "summary": "S.",
         "read_at": "2026-11-30T10:00:00+00:00"}
        for number in range(230)
    ]  # fmt: skip
    data = json.dumps({"format": "lectern-readings-1", "readings": rows}).encode()
    assert bench.memory.import_file(LOCAL_USER, data) == 230
    assert len(bench.readings.history(LOCAL_USER)) == 230
    model = bench.embedders[0].name
    assert len(bench.readings.vectors(LOCAL_USER, model)[0]) == 200
    assert bench.memory.refresh() == 30
    assert len(bench.readings.vectors(LOCAL_USER, model)[0]) == 230


@pytest.mark.parametrize(
    "change",
    [
        lambda good: b"",
        lambda good: b"\xff\xfe",
        lambda good: b"[" * 100_000,
        lambda good: b"[]",
        lambda good: json.dumps({**good, "format": "other"}).encode(),
        lambda good: json.dumps({**good, "readings": {}}).encode(),
        lambda good: broken(good, title=" "),
        lambda good: broken(good, summary=None),
        lambda good: broken(good, summary="x" * 20_001),
        lambda good: broken(good, read_at="2026-11-30T10:00:00"),
        lambda good: broken(good, read_at="yesterday"),
        lambda good: broken(good, paper_id="7"),
        lambda good: b" " * 20_000_001,
    ],
)
def test_a_file_that_is_none_is_refused_and_nothing_is_added(bench, change):
    entry = {
        "paper_id": str(uuid4()),
        "title": "T",
        "summary": "S.",
        "read_at": "2026-11-30T10:00:00+00:00",
    }
    good = {"format": "lectern-readings-1", "readings": [entry]}
    with pytest.raises(BadInput, match=r"file of readings"):
        bench.memory.import_file(LOCAL_USER, change(good))
    assert bench.readings.history(LOCAL_USER) == []


def broken(good: dict, **fields: object) -> bytes:
    """Return the file with a second, bad entry: the first must not be added alone."""
    return json.dumps(
        {**good, "readings": [*good["readings"], good["readings"][0] | fields]}
    ).encode()


def test_readings_of_another_model_are_embedded_again_in_the_background(bench):
    vector = unit_vectors(1, 7)[0]
    users = [LOCAL_USER, uuid4()]
    for user in users:
        bench.readings.remember(user, NewReading(uuid4(), "On BM25", "Words.", vector, "older"))
    filling = Backfill(bench.engine, bench.papers, [], refresh=bench.memory.refresh)
    assert filling.fill() == 2
    assert filling.fill() == 0
    query = np.asarray(bench.embedders[0].encode(["On BM25\nWords."])[0])
    for user in users:
        (found,) = bench.readings.similar(user, query, bench.embedders[0].name, uuid4())
        assert found.cosine == pytest.approx(1.0, abs=1e-3)


def test_the_index_serves_similar_readings_and_an_older_pgvector_scans(database, monkeypatch):
    figures = measure(database, 1_500)
    assert "Index Scan using readings_" in figures["plan"]
    assert figures["recall@50"] > 0.9
    store = ReadingStore(database)
    monkeypatch.setattr(store, "_version", (0, 5, 1))
    query = unit_vectors(1, seed=4)[0]
    with explained(database) as plans:
        found = store.similar(LOCAL_USER, query, MODEL, uuid4(), 50)
    assert "readings_" not in plans[0]
    papers, vectors = store.vectors(LOCAL_USER, MODEL)
    nearest = np.argsort(-(vectors @ query))[:50]
    assert [one.reading.paper_id for one in found] == [papers[at] for at in nearest]


PAPERS = [uuid4() for _ in range(3)]
ACTS = st.tuples(
    st.integers(0, 1),
    st.sampled_from(["remember", "edit", "forget", "restore", "vote", "clear"]),
    st.sampled_from(PAPERS),
)


class Alone:
    """A user, and what they would have if there were nobody else."""

    def __init__(self, store: ReadingStore, user: UUID) -> None:
        self.store, self.user = store, user
        self.kept: dict[UUID, str] = {}
        self.votes: set[UUID] = set()
        self.gone: tuple[datetime, dict[UUID, str], set[UUID]] | None = None

    def remember(self, paper: UUID, said: str) -> None:
        self.store.remember(self.user, NewReading(paper, said, said, VECTOR, "m"))
        self.kept[paper], self.gone = said, None

    def edit(self, paper: UUID, said: str) -> None:
        if paper in self.kept:
            self.store.edit(self.user, paper, said, VECTOR, "m")
            self.kept[paper] = said
        else:
            with pytest.raises(NotFound):
                self.store.edit(self.user, paper, said, VECTOR, "m")

    def vote(self, paper: UUID, said: str) -> None:
        self.store.vote(self.user, paper, paper, 1)
        self.votes.add(paper)
        self.gone = None

    def clear(self, paper: UUID, said: str) -> None:
        assert self.store.clear_votes(self.user, paper) >= (paper in self.votes)
        self.votes.discard(paper)
        self.gone = None

    def forget(self, paper: UUID, said: str) -> None:
        if paper not in {*self.kept, *self.votes}:
            with pytest.raises(NotFound):
                self.store.forget(self.user, [paper])
            return
        before = dict(self.kept), set(self.votes)
        self.gone = (self.store.forget(self.user, [paper]), *before)
        self.kept.pop(paper, None)
        self.votes.discard(paper)

    def restore(self, paper: UUID, said: str) -> None:
        if self.gone:
            self.store.restore(self.user, self.gone[0])
            _, self.kept, self.votes = self.gone
            self.gone = None

    def check(self) -> None:
        history = self.store.history(self.user)
        assert {row.paper_id: row.summary for row in history} == self.kept
        found = self.store.similar(self.user, VECTOR, "m", uuid4(), 50)
        assert {one.reading.paper_id for one in found} == set(self.kept)
        assert set(self.store.votes(self.user)) == self.votes


@given(st.lists(ACTS, max_size=25))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_two_users_do_each_has_what_they_would_have_alone(database, acts):
    store = ReadingStore(database)
    with database.begin() as connection:
        for table in ("user_paper_profile", "reading_votes"):
            connection.execute(text(f"DELETE FROM {table}"))
    users = [Alone(store, uuid4()), Alone(store, uuid4())]
    for number, (who, act, paper) in enumerate(acts):
        getattr(users[who], act)(paper, f"{who} {number}")
        other = users[1 - who]
        if other.gone:
            with pytest.raises(NotFound):
                store.restore(users[who].user, other.gone[0])
    for user in users:
        user.check()


VECTOR = unit_vectors(1, 8)[0]


def test_what_was_forgotten_goes_for_good_after_a_week(bench):
    bench.readings.remember(LOCAL_USER, NewReading(uuid4(), "T", "S.", VECTOR, "m"))
    bench.readings.forget(LOCAL_USER)
    assert bench.housekeeping.tidy()["readings"] == 0
    later = datetime.now(UTC) + timedelta(days=7, minutes=1)
    assert bench.housekeeping.tidy(later)["readings"] == 1
