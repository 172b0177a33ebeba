"""From bytes to a stored paper and back, on a real database with the real model."""

import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from PIL import Image
from sqlalchemy import Engine, text

from core.db.papers import PaperStore
from core.errors import Cancelled, NotFound, UnreadableFile
from core.ingest.backfill import Backfill
from core.ingest.pdf import draw
from core.ingest.pipeline import Ingestor, Progress
from core.ingest.worker import Worker
from core.models.embed import Embedder, Vectors, load_embedders
from core.retrieval.tokenize import tokenize
from core.types import LOCAL_USER
from tests.fixtures.pdfs import lines, made_pdf

SENTENCES = [f"Sentence {n} of this paper says something about reading." for n in range(40)]
REFERENCES = ["[1] A. Author. A cited work. 2019.", "[2] B. Writer. Another work. 2020."]
PAPER = made_pdf(
    [
        [(150, 750, 18, "Reading with <|endoftext|> in it"), *lines(72, 700, 10, SENTENCES)],
        [
            (72, 740, -12, "1 Introduction"),
            *lines(72, 720, 10, SENTENCES[:20]),
            (72, 420, -12, "References"),
            *lines(72, 400, 10, REFERENCES),
        ],
    ]
)


class Spy:
    """The real multilingual encoder under another name, counting and failing to order."""

    languages = None
    dimension = 512
    ready = True

    def __init__(self, real: Embedder, name: str, failing: bool = False, pause: float = 0.0):
        self.name = name
        self.failing = failing
        self.encoded = 0
        self._real = real
        self._pause = pause

    def encode(self, texts: list[str]) -> Vectors:
        if self.failing:
            raise RuntimeError("the weights are broken")
        time.sleep(self._pause)
        self.encoded += len(texts)
        return self._real.encode(texts)


@pytest.fixture(scope="module")
def use() -> Embedder:
    return load_embedders(["use-multilingual"])[0]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture
def store(database: Engine) -> PaperStore:
    return PaperStore(database)


@pytest.fixture
def ingestor(store: PaperStore, worker: Worker, use: Embedder) -> Ingestor:
    return Ingestor(store, worker, [use], tokenize)


def rows(database: Engine) -> dict[str, int]:
    with database.connect() as connection:
        return {
            table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() or 0
            for table in ("papers", "files", "pages", "chunks", "embeddings", "library")
        }


def test_a_paper_is_searchable_when_ingest_returns(ingestor, store, use):
    seen: list[Progress] = []
    done = ingestor.ingest(LOCAL_USER, "论文 ../第一.pdf", PAPER, on_progress=seen.append)
    assert (done.duplicate, done.pages, done.meta.title) == (
        False,
        2,
        "Reading with <|endoftext|> in it",
    )
    row = store.paper(LOCAL_USER, done.paper_id)
    assert (row.filename, row.pages, row.chunks) == ("第一.pdf", 2, done.chunks)
    chunks = store.chunks([done.paper_id], references=True)
    assert any("<|endoftext|>" in chunk.text for chunk in chunks)
    ids, vectors = store.vectors([done.paper_id], use.name)
    assert set(ids) == {chunk.id for chunk in chunks if chunk.kind != "references"}
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    terms = dict(store.terms([done.paper_id], references=True))
    assert terms == {chunk.id: " ".join(tokenize(chunk.text)) for chunk in chunks}
    assert list(dict.fromkeys(step.stage for step in seen)) == [
        "reading",
        "sections",
        "chunks",
        "vectors",
        "saving",
    ]
    assert store.file(LOCAL_USER, done.paper_id).data == PAPER


def test_the_same_bytes_are_one_paper_for_everybody(ingestor, store, database):
    first = ingestor.ingest(LOCAL_USER, "a.pdf", PAPER)
    other = UUID(int=7)
    with pytest.raises(NotFound):
        store.paper(other, first.paper_id)
    again = ingestor.ingest(LOCAL_USER, "b.pdf", PAPER)
    theirs = ingestor.ingest(other, "c.pdf", PAPER)
    assert (again.paper_id, again.duplicate) == (first.paper_id, True)
    # nobody learns that somebody else has the file
    assert (theirs.paper_id, theirs.duplicate) == (first.paper_id, False)
    assert again.seconds < 0.5
    assert theirs.chunks == first.chunks
    assert rows(database)["papers"] == 1
    assert rows(database)["library"] == 2


def test_threads_adding_the_same_file_make_one_paper(ingestor, database):
    found: list[UUID] = []

    def add() -> None:
        found.append(ingestor.ingest(LOCAL_USER, "a.pdf", PAPER).paper_id)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert rows(database)["papers"] == 1


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("empty.pdf", b"", "EMPTY_FILE"),
        ("page.pdf", b"<html></html>", "NO_TEXT"),
        ("letter.docx", b"PK\x03\x04 word/document.xml", "NOT_A_PDF"),
        ("cut.pdf", PAPER[:300], "DAMAGED"),
        ("blank.pdf", made_pdf([[], []]), "NO_TEXT"),
    ],
)
def test_bad_files_leave_nothing(ingestor, database, name, data, code):
    with pytest.raises(UnreadableFile) as caught:
        ingestor.ingest(LOCAL_USER, name, data)
    assert caught.value.code == code
    assert not any(rows(database).values())


def test_passwords(ingestor, store, shared: Path, worker):
    data = (shared / "pdf_edge" / "encrypted__issue6010_2.pdf").read_bytes()
    codes = []
    for password in ("", "wrong"):
        with pytest.raises(UnreadableFile) as caught:
            ingestor.ingest(LOCAL_USER, "locked.pdf", data, password=password)
        codes.append(caught.value.code)
    assert codes == ["PASSWORD_NEEDED", "PASSWORD_WRONG"]
    done = ingestor.ingest(LOCAL_USER, "locked.pdf", data, password="æøå")
    assert worker.render(store.file(LOCAL_USER, done.paper_id).data, 1).startswith(b"\x89PNG")
    with pytest.raises(UnreadableFile):  # the bytes alone do not open it for somebody else
        ingestor.ingest(UUID(int=7), "locked.pdf", data)
    theirs = ingestor.ingest(UUID(int=7), "for my eyes.pdf", data, password="æøå")
    assert theirs.paper_id == done.paper_id
    titles = [store.papers(user)[0].meta.title for user in (LOCAL_USER, UUID(int=7))]
    assert titles == ["locked", "for my eyes"]  # what one calls a file is nobody else's
    assert store.titles([done.paper_id], UUID(int=7)) == {done.paper_id: "for my eyes"}


def test_a_stop_leaves_nothing(ingestor, database):
    for stage in ("reading", "sections", "chunks", "vectors", "saving"):
        reached: list[str] = []
        with pytest.raises(Cancelled):
            ingestor.ingest(
                LOCAL_USER,
                "a.pdf",
                PAPER,
                on_progress=lambda step, reached=reached: reached.append(step.stage),
                cancelled=lambda reached=reached, stage=stage: stage in reached,
            ) if stage != "saving" else _stop_before_saving(ingestor)
        assert not any(rows(database).values()), stage
    assert not ingestor.ingest(LOCAL_USER, "a.pdf", PAPER).duplicate


@pytest.mark.slow
def test_a_scan_stopped_between_pages_leaves_nothing_and_is_read_another_time(
    ingestor, store, database
):
    page = made_pdf([lines(20, 80, 11, ["Words on a scan"])], size="160 120")
    pages = [Image.open(io.BytesIO(draw(page, 1, 2.5)))] * 4
    out = io.BytesIO()
    pages[0].save(out, "PDF", resolution=180, save_all=True, append_images=pages[1:])
    reached: list[tuple[str, int]] = []
    for stop in (2, 5):
        step = ("recognising", stop)
        reached.clear()
        try:
            done = ingestor.ingest(
                LOCAL_USER,
                "scan.pdf",
                out.getvalue(),
                on_progress=lambda at: reached.append((at.stage, at.done)),
                cancelled=lambda step=step: step in reached,
            )
        except Cancelled:
            assert stop == 2
            assert not any(rows(database).values())
    assert ("recognising", 4) in reached
    row = store.paper(LOCAL_USER, done.paper_id)
    assert row.read_by == "ocr"
    assert row.confidence > 0.9
    assert done.pages == 4


def _stop_before_saving(ingestor: Ingestor) -> None:
    def stop(step: Progress) -> None:
        if step.stage == "saving" and step.done == 0:
            raise Cancelled("stopped")

    ingestor.ingest(LOCAL_USER, "a.pdf", PAPER, on_progress=stop)


def test_a_paper_without_a_title_is_called_by_its_file(ingestor):
    data = made_pdf([lines(72, 700, 10, SENTENCES)])
    assert ingestor.ingest(LOCAL_USER, "my_first paper.pdf", data).meta.title == "my first paper"


def test_backfill_brings_the_rest_and_starts_again(ingestor, store, use, database):
    done = ingestor.ingest(LOCAL_USER, "a.pdf", PAPER)
    second = Spy(use, "second")
    backfill = Backfill(database, store, [use, second], batch=2, idle_seconds=0.1)
    backfill.start()
    backfill.start()
    _wait(
        lambda: (
            store.vector_counts([done.paper_id])[done.paper_id]
            == {
                use.name: done.chunks,
                "second": done.chunks,
            }
        )
    )
    assert second.encoded == done.chunks
    assert backfill.states()["second"].done == done.chunks
    assert backfill.stop()
    other = made_pdf([lines(72, 700, 10, SENTENCES[3:])])
    more = ingestor.ingest(LOCAL_USER, "b.pdf", other)
    backfill.start()
    _wait(lambda: store.vector_counts([more.paper_id])[more.paper_id].get("second") == more.chunks)
    assert backfill.stop()
    assert second.encoded == done.chunks + more.chunks


def test_backfill_survives_a_failing_model_and_says_why(ingestor, store, use, database):
    done = ingestor.ingest(LOCAL_USER, "a.pdf", PAPER)
    broken, second = Spy(use, "broken", failing=True), Spy(use, "second")
    backfill = Backfill(database, store, [broken, second], retry_seconds=0.1)
    backfill.start()
    _wait(lambda: store.vector_counts([done.paper_id])[done.paper_id].get("second") == done.chunks)
    state = backfill.states()["broken"]
    assert (state.state, state.reason) == ("failed", "the weights are broken")
    broken.failing = False
    _wait(lambda: store.vector_counts([done.paper_id])[done.paper_id].get("broken") == done.chunks)
    _wait(lambda: backfill.states()["broken"].state == "idle")
    assert backfill.stop()


def test_two_backfills_do_not_do_the_same_work(ingestor, store, use, database):
    done = ingestor.ingest(LOCAL_USER, "a.pdf", PAPER)
    spies = [Spy(use, "second", pause=0.05) for _ in range(2)]
    fills = [Backfill(database, store, [spy], batch=2, idle_seconds=0.05) for spy in spies]
    for fill in fills:
        fill.start()
    _wait(lambda: store.vector_counts([done.paper_id])[done.paper_id].get("second") == done.chunks)
    assert all(fill.stop() for fill in fills)
    assert sum(spy.encoded for spy in spies) == done.chunks


def test_without_a_usable_model_keywords_still_find_it(store, worker, database):
    class Missing:
        name = "missing"
        languages = None
        dimension = 3
        ready = False

        def encode(self, texts: list[str]) -> Vectors:
            from core.errors import Unavailable

            raise Unavailable("The embedding model missing cannot be loaded.")

    done = Ingestor(store, worker, [Missing()], tokenize).ingest(LOCAL_USER, "a.pdf", PAPER)
    assert len(store.terms([done.paper_id], references=True)) == done.chunks
    assert store.vector_counts([done.paper_id]) == {done.paper_id: {}}


def _wait(condition, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_a_file_of_400_pages_goes_in_and_its_pages_keep_their_numbers(ingestor, store):
    user = uuid4()
    text = "Page {0} reports that sample number {0} weighed {1} grams after the treatment."
    data = made_pdf([lines(72, 700, 11, [text.format(n, n * 7)]) for n in range(1, 401)])
    added = ingestor.ingest(user, "400 pages.pdf", data)
    assert added.pages == 400
    chunks = store.chunks([added.paper_id])
    assert {chunk.page for chunk in chunks} == set(range(1, 401))
    assert all(f"sample number {chunk.page} " in chunk.text for chunk in chunks)
