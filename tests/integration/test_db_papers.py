"""PaperStore on a real server."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import perf_counter
from uuid import UUID, uuid4

import numpy as np
import pytest
from sqlalchemy import Engine, text

from core.db.paper_rows import paper_row
from core.db.papers import PaperStore
from core.errors import BadInput, NotFound
from core.types import LOCAL_USER, Box, ChunkDraft, PaperMeta, Structure, Table
from tests.fixtures.papers import made_file, made_paper, made_terms, unit_vectors

OTHER = UUID("00000000-0000-4000-8000-0000000000ff")
TABLES = ("papers", "files", "pages", "chunks", "embeddings", "library")


@pytest.fixture
def store(database: Engine) -> PaperStore:
    return PaperStore(database)


def add(store: PaperStore, user: UUID = LOCAL_USER, name: str = "a.pdf", content: bytes = b"1"):
    vectors = {"use": unit_vectors(3)}
    return store.add(user, name, made_file(content), made_paper(), made_terms(), vectors)


def counts(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {
            table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
            for table in TABLES
        }


def test_what_goes_in_comes_out(store: PaperStore) -> None:
    parsed, vectors = made_paper(), unit_vectors(3)
    file = made_file()
    terms = made_terms()
    paper_id = store.add(LOCAL_USER, "论文.pdf", file, parsed, terms, {"use": vectors})

    row = store.paper(LOCAL_USER, paper_id)
    assert store.papers(LOCAL_USER) == [row]
    assert row.meta == parsed.meta
    assert (row.pages, row.chunks, row.read_by, row.filename) == (2, 3, "ocr", "论文.pdf")
    assert row.confidence == parsed.confidence
    assert store.structure(LOCAL_USER, paper_id) == parsed.structure
    assert row.characters == sum(len(page.text) for page in parsed.pages)
    assert datetime.fromisoformat(row.added_at) <= datetime.now(UTC)
    assert store.pages(LOCAL_USER, paper_id) == list(parsed.pages)
    assert store.file(LOCAL_USER, paper_id) == file
    chunks = store.chunks([paper_id], references=True)
    drafts = [ChunkDraft(c.page, c.section, c.kind, c.text, c.spans) for c in chunks]
    assert drafts == list(parsed.chunks)
    assert {(c.paper_id, c.file) for c in chunks} == {(paper_id, file.sha256)}
    assert [c.id for c in store.chunks([paper_id])] == [c.id for c in chunks[:2]]
    expected = [(c.id, term) for c, term in zip(chunks, terms, strict=True)]
    assert store.terms([paper_id], references=True) == expected
    assert store.chunks_by_id([chunks[1].id, 10**9]) == {chunks[1].id: chunks[1]}
    assert store.titles([paper_id, uuid4()]) == {paper_id: parsed.meta.title}
    ids, found = store.vectors([paper_id], "use")
    assert ids.tolist() == [c.id for c in chunks]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, vectors)


def test_chunks_come_by_paper_and_reading_order(store: PaperStore) -> None:
    papers = [add(store, content=bytes([n])) for n in range(3)]
    chunks = store.chunks(papers, references=True)
    places = [(c.paper_id, c.id) for c in chunks]
    assert places == sorted(places)
    assert [number for number, _ in store.terms(papers)] == [c.id for c in store.chunks(papers)]
    assert store.vectors(papers, "use")[0].tolist() == [c.id for c in chunks]


def test_characters_postgres_refuses_do_not_break_anything(store: PaperStore) -> None:
    bad = "a\x00b\ud800c 中"
    parsed = made_paper()
    page = replace(parsed.pages[0], text=bad, label=bad)
    chunk = replace(parsed.chunks[0], text=bad, section=bad)
    meta = PaperMeta(bad, (bad,), None, bad, "zh", bad, bad)
    structure = Structure(tables=(Table(1, bad, Box(0, 0, 1, 1), ((bad,),)),))
    parsed = replace(parsed, meta=meta, pages=(page,), chunks=(chunk,), structure=structure)
    paper_id = store.add(LOCAL_USER, bad, made_file(), parsed, [bad], {})
    good = "a\ufffdb\ufffdc 中"
    row = store.paper(LOCAL_USER, paper_id)
    assert row.meta == PaperMeta(good, (good,), None, good, "zh", good, good)
    assert row.filename == good
    assert store.pages(LOCAL_USER, paper_id)[0].text == good
    assert store.chunks([paper_id])[0].text == good
    assert store.structure(LOCAL_USER, paper_id).tables[0].rows == ((good,),)
    assert store.terms([paper_id])[0][1] == good
    assert store.resolve(LOCAL_USER, bad) == paper_id
    with pytest.raises(NotFound):
        store.resolve(LOCAL_USER, "no\x00such\udfff")


@pytest.mark.parametrize("table", TABLES)
def test_a_failure_anywhere_leaves_nothing(store: PaperStore, database: Engine, table: str) -> None:
    add(store, content=b"before")
    before = counts(database)
    with database.begin() as connection:
        connection.execute(
            text(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'refused'; END $$"
            )
        )
        connection.execute(
            text(
                f"CREATE TRIGGER refuse AFTER INSERT ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
            )
        )
    with pytest.raises(Exception, match="refused"):
        add(store, content=b"after")
    assert counts(database) == before
    with database.begin() as connection:
        connection.execute(text(f"DROP TRIGGER refuse ON {table}"))
    assert add(store, content=b"after")


def test_lists_of_different_length_are_refused_before_anything(
    store: PaperStore, database: Engine
) -> None:
    with pytest.raises(ValueError, match="2 rows of use for 3 chunks"):
        store.add(
            LOCAL_USER, "a", made_file(), made_paper(), made_terms(), {"use": unit_vectors(2)}
        )
    with pytest.raises(ValueError, match="1 rows of terms"):
        store.add(LOCAL_USER, "a", made_file(), made_paper(), ["one"], {})
    assert not any(counts(database).values())


def test_the_same_bytes_at_once_are_one_paper(store: PaperStore, database: Engine) -> None:
    barrier = threading.Barrier(8)

    def race(n: int) -> UUID:
        barrier.wait()
        return add(store, LOCAL_USER if n % 2 else OTHER, f"{n}.pdf")

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(race, range(8)))
    assert len(ids) == 1
    assert counts(database) == {
        **{"papers": 1, "files": 1, "pages": 2, "chunks": 3, "embeddings": 3, "library": 2}
    }
    assert store.find_file(made_file(b"1").sha256) == ids.pop()
    assert store.find_file("0" * 64) is None


def test_another_users_paper_does_not_exist(store: PaperStore) -> None:
    paper_id = add(store)
    file = made_file(b"1").sha256
    for call in (
        store.paper,
        store.structure,
        store.pages,
        store.file,
        store.remove,
        store.restore,
    ):
        with pytest.raises(NotFound) as caught:
            call(OTHER, paper_id)
        with pytest.raises(NotFound) as made_up:
            call(OTHER, unknown := uuid4())
        assert caught.value.message.replace(str(paper_id), str(unknown)) == made_up.value.message
    with pytest.raises(NotFound):
        store.library(OTHER, [paper_id])
    for wanted in (str(paper_id), str(paper_id)[:8], file, "a.pdf"):
        with pytest.raises(NotFound):
            store.resolve(OTHER, wanted)
    assert store.papers(OTHER) == []
    assert store.library(OTHER) == ()
    assert store.library(LOCAL_USER) == (paper_id,)


def test_the_remembered_list_follows_every_change(store: PaperStore, database: Engine) -> None:
    first, second = add(store, content=b"0"), add(store, content=b"1")
    elsewhere = PaperStore(database)

    def listed() -> list[tuple[UUID, str]]:
        rows = store.papers(LOCAL_USER)
        assert rows == PaperStore(database).papers(LOCAL_USER)
        rows.clear()  # the caller's own
        return [(row.paper_id, row.filename) for row in store.papers(LOCAL_USER)]

    assert {paper for paper, _ in listed()} == {first, second}
    elsewhere.remove(LOCAL_USER, first)
    assert [paper for paper, _ in listed()] == [second]
    elsewhere.restore(LOCAL_USER, first)
    assert {paper for paper, _ in listed()} == {first, second}
    elsewhere.add_to_library(LOCAL_USER, first, "another name.pdf")
    assert (first, "another name.pdf") in listed()
    for paper in (first, second):
        elsewhere.remove(LOCAL_USER, paper)
    assert listed() == []


def test_a_list_is_read_once_until_the_library_changes(
    store: PaperStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store)
    read = []
    monkeypatch.setattr("core.db.papers.paper_row", lambda row: read.append(row) or paper_row(row))
    assert store.papers(LOCAL_USER) == store.papers(LOCAL_USER)
    assert len(read) == 1


def test_removing_and_undoing(store: PaperStore) -> None:
    keep, paper_id = add(store, content=b"0"), add(store, content=b"1")
    add(store, OTHER, content=b"1")
    full = store.library_version(LOCAL_USER)
    store.remove(LOCAL_USER, paper_id)
    assert store.library(LOCAL_USER) == (keep,)
    assert [row.paper_id for row in store.papers(LOCAL_USER)] == [keep]
    assert store.library_version(LOCAL_USER) != full
    assert store.library(OTHER) == (paper_id,)
    for call in (store.paper, store.structure, store.pages, store.file, store.remove):
        with pytest.raises(NotFound):
            call(LOCAL_USER, paper_id)
    with pytest.raises(NotFound):
        store.resolve(LOCAL_USER, str(paper_id))
    store.restore(LOCAL_USER, paper_id)
    store.restore(LOCAL_USER, paper_id)
    assert store.library(LOCAL_USER) == (keep, paper_id)
    assert store.library_version(LOCAL_USER) == full
    store.remove(LOCAL_USER, paper_id)
    store.add_to_library(LOCAL_USER, paper_id, "x/新 name.pdf")
    assert store.paper(LOCAL_USER, paper_id).filename == "新 name.pdf"
    with pytest.raises(NotFound):
        store.add_to_library(LOCAL_USER, uuid4(), "a.pdf")


def test_purging_takes_what_nobody_holds_any_more(store: PaperStore, database: Engine) -> None:
    held, shared_one, gone, recent = (add(store, content=bytes([n])) for n in range(4))
    add(store, OTHER, content=bytes([1]))
    for paper_id in (shared_one, gone, recent):
        store.remove(LOCAL_USER, paper_id)
    month = timedelta(days=30)
    with database.begin() as connection:
        age = {"age": month * 2, "ids": [held, shared_one, gone]}
        connection.execute(
            text("UPDATE papers SET created_at = created_at - :age WHERE id = ANY(:ids)"), age
        )
        connection.execute(
            text("UPDATE library SET removed_at = removed_at - :age WHERE paper_id = ANY(:ids)"),
            age,
        )
    assert store.purge(datetime.now(UTC) - month) == 1
    assert set(store.titles([held, shared_one, gone, recent])) == {held, shared_one, recent}
    assert store.library(OTHER) == (shared_one,)
    with pytest.raises(NotFound):
        store.restore(LOCAL_USER, gone)
    store.restore(LOCAL_USER, recent)
    assert counts(database)["chunks"] == 9
    assert add(store, content=bytes([2])) != gone


def test_adding_while_purging_never_loses_the_paper(store: PaperStore) -> None:
    for _ in range(20):
        paper_id = add(store)
        store.remove(LOCAL_USER, paper_id)
        with ThreadPoolExecutor(2) as pool:
            added = pool.submit(add, store)
            purged = pool.submit(store.purge, datetime.now(UTC) + timedelta(seconds=5))
            wait((added, purged))
            purged.result()
            assert store.library(LOCAL_USER) == (added.result(),)
            assert len(store.chunks([added.result()], references=True)) == 3
        store.remove(LOCAL_USER, added.result())


def test_purge_waits_for_an_undo_in_progress(store: PaperStore, database: Engine) -> None:
    paper_id = add(store)
    store.remove(LOCAL_USER, paper_id)
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as connection:
            connection.execute(
                text("SELECT id FROM papers WHERE id = :id FOR KEY SHARE"), {"id": paper_id}
            )
            purged = pool.submit(store.purge, datetime.now(UTC) + timedelta(seconds=60))
            waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
            with database.connect() as watch:
                while watch.execute(waiting).scalar_one() == 0:
                    assert not purged.done()
                    watch.rollback()
            connection.execute(text("UPDATE library SET removed_at = NULL"))
        assert purged.result() == 0
    assert store.library(LOCAL_USER) == (paper_id,)


def test_resolving_what_people_type(store: PaperStore) -> None:
    paper_id = add(store, name="../../etc/Ru\u0308ckblick 论文.pdf")
    other = add(store, name="twice.pdf", content=b"2")
    add(store, name="C:\\papers\\twice.pdf", content=b"3")
    sha256 = made_file(b"1").sha256
    for wanted in (
        str(paper_id),
        f" {str(paper_id).upper()} ",
        paper_id.hex,
        str(paper_id)[:8],
        sha256,
        sha256.upper(),
        "R\u00fcckblick 论文.pdf",
        "some/folder/Ru\u0308ckblick 论文.pdf",
    ):
        assert store.resolve(LOCAL_USER, wanted) == paper_id, wanted
    with pytest.raises(BadInput, match="fits 2 papers") as caught:
        store.resolve(LOCAL_USER, "twice.pdf")
    assert not isinstance(caught.value, NotFound)
    assert str(other) in caught.value.hint
    for wanted in ("", " ", "x" * 20_000, str(paper_id)[:3], str(uuid4()), "%", "_" * 8, "/", "'"):
        with pytest.raises(NotFound):
            store.resolve(LOCAL_USER, wanted)


def test_an_id_prefix_that_fits_two_papers_is_refused(store: PaperStore, database: Engine) -> None:
    first, second = add(store, content=b"1"), add(store, content=b"2")
    with database.begin() as connection:
        for table, column in (("papers", "id"),):
            connection.execute(text("SET CONSTRAINTS ALL DEFERRED"))
            connection.execute(
                text(
                    f"INSERT INTO {table} SELECT ('abcdef' || substr({column}::text, 7))::uuid, "
                    "title, authors, year, abstract, language, doi, arxiv_id, read_by, created_at "
                    f"FROM {table}"
                )
            )
        connection.execute(
            text("UPDATE library SET paper_id = ('abcdef' || substr(paper_id::text, 7))::uuid")
        )
    with pytest.raises(BadInput, match="fits 2 papers"):
        store.resolve(LOCAL_USER, "abcd")
    for paper_id in (first, second):
        assert store.resolve(LOCAL_USER, f"abcdef{str(paper_id)[6:13]}").hex[6:] == paper_id.hex[6:]


def test_a_librarys_papers_in_order(store: PaperStore) -> None:
    ids = [add(store, content=bytes([n])) for n in range(3)]
    assert store.library(LOCAL_USER) == tuple(ids)
    assert store.library(LOCAL_USER, [ids[2], ids[0], ids[2]]) == (ids[2], ids[0])
    assert store.library(LOCAL_USER, []) == ()
    with pytest.raises(NotFound):
        store.library(LOCAL_USER, [ids[0], uuid4()])


def test_the_second_path_fills_in(store: PaperStore) -> None:
    paper_id, other = add(store), add(store, content=b"2")
    assert store.missing_vectors("use", 10) == []
    missing = store.missing_vectors("mini", 4)
    chunks = store.chunks([paper_id, other], references=True)
    assert missing == [(c.id, c.text) for c in sorted(chunks, key=lambda c: c.id)[:4]]
    assert store.vectors([paper_id], "mini")[1].shape == (0, 0)
    vectors = unit_vectors(3, 384)
    ids = [number for number, _ in missing]
    store.add_vectors("mini", [*ids[:2], 10**9], vectors)
    assert store.vector_counts([paper_id, other]) == {
        paper_id: {"use": 3, "mini": 2},
        other: {"use": 3},
    }
    found_ids, found = store.vectors([paper_id], "mini")
    assert found_ids.tolist() == ids[:2]
    np.testing.assert_array_equal(found, vectors[:2])
    assert [number for number, _ in store.missing_vectors("mini", 1)] == [ids[2]]
    store.add_vectors("mini", [], unit_vectors(0, 384))
    with pytest.raises(ValueError, match="3 vectors for 1 chunks"):
        store.add_vectors("mini", ids[:1], vectors)


def test_a_model_that_changed_its_dimension_is_never_mixed(store: PaperStore) -> None:
    papers = [add(store), add(store, content=b"2")]
    chunks = sorted(store.chunks(papers, references=True), key=lambda c: c.id)
    store.add_vectors("use", [chunks[-1].id], unit_vectors(1, 256))
    ids, found = store.vectors(papers, "use")
    assert found.shape == (1, 256)
    assert ids.tolist() == [chunks[-1].id]
    store.add_vectors("use", [c.id for c in chunks], unit_vectors(6, 256, seed=1))
    assert store.vectors(papers, "use")[1].shape == (6, 256)


def test_a_paper_without_chunks_is_a_paper(store: PaperStore) -> None:
    parsed = replace(made_paper(), chunks=(), pages=())
    empty = {"use": unit_vectors(0)}
    paper_id = store.add(LOCAL_USER, "a.pdf", made_file(), parsed, [], empty)
    assert store.paper(LOCAL_USER, paper_id).chunks == 0
    assert store.chunks([paper_id]) == []
    assert store.vectors([paper_id], "use")[0].shape == (0,)


def test_writing_and_reading_a_paper_of_usual_size_is_quick(store: PaperStore) -> None:
    parsed, terms, vectors = made_paper(50), made_terms(50), unit_vectors(50)
    writing, reading = [], []
    for n in range(12):
        start = perf_counter()
        paper_id = store.add(
            LOCAL_USER, "a.pdf", made_file(bytes([n])), parsed, terms, {"use": vectors}
        )
        writing.append(perf_counter() - start)
        start = perf_counter()
        assert store.vectors([paper_id], "use")[1].shape == (50, 512)
        reading.append(perf_counter() - start)
    # Ten times what an idle machine takes: this is for catching a wrong way, not a busy machine.
    assert min(writing) < 0.2
    assert min(reading) < 0.02


def test_metadata_a_user_sets_is_theirs_alone(store: PaperStore) -> None:
    paper_id = add(store)
    store.add_to_library(OTHER, paper_id, "b.pdf")
    read = store.paper(LOCAL_USER, paper_id).meta
    assert store.papers(LOCAL_USER)[0].meta == read  # remembered from here on
    store.set_meta(
        LOCAL_USER, paper_id, PaperMeta(title="Mine 我的", authors=("B. Wolf",), year=1999)
    )
    mine = replace(read, title="Mine 我的", authors=("B. Wolf",), year=1999)
    assert store.paper(LOCAL_USER, paper_id).meta == store.papers(LOCAL_USER)[0].meta == mine
    assert store.titles([paper_id], LOCAL_USER) == {paper_id: "Mine 我的"}
    assert store.paper(OTHER, paper_id).meta == read
    assert store.titles([paper_id], OTHER) == {paper_id: read.title}
    store.set_meta(LOCAL_USER, paper_id, PaperMeta())
    assert store.papers(LOCAL_USER)[0].meta == read
