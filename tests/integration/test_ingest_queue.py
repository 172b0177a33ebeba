"""Files are added in the background, each to its own end, for their owner only."""

import time
from pathlib import Path
from uuid import uuid4

import pytest
from alembic import command

from core.db.migrate import _config, upgrade
from core.errors import NotFound, Unavailable
from core.ingest.queue import OVER
from core.types import LOCAL_USER


def wait(bench, user=LOCAL_USER):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        entries = bench.add_queue.entries(user)
        if all(entry.state in OVER for entry in entries):
            return entries
        time.sleep(0.05)
    raise AssertionError("files are still on their way")


def test_one_bad_file_does_not_stop_the_others(bench, sample):
    bench.add_queue.submit(LOCAL_USER, "../../bad.pdf", b"PK\x03\x04")
    bench.add_queue.submit(LOCAL_USER, sample.name, sample.read_bytes())
    bench.add_queue.submit(LOCAL_USER, "again.pdf", sample.read_bytes())
    bad, good, again = wait(bench)
    assert (bad.name, bad.state, bad.code) == ("bad.pdf", "failed", "NOT_A_PDF")
    assert bad.message
    assert (good.state, good.pages, good.duplicate) == ("done", 3, False)
    assert again.duplicate
    assert len(bench.papers.papers(LOCAL_USER)) == 1


def test_a_file_that_waits_can_be_stopped_and_leaves_nothing(bench, sample):
    entry = bench.add_queue.submit(LOCAL_USER, sample.name, sample.read_bytes())
    bench.add_queue.stop(LOCAL_USER, entry)
    assert [done.state for done in wait(bench)] == ["stopped"]
    assert bench.papers.papers(LOCAL_USER) == []
    bench.add_queue.dismiss(LOCAL_USER, entry)
    assert bench.add_queue.entries(LOCAL_USER) == []


def test_nobody_else_sees_stops_or_dismisses_it(bench, sample):
    other = uuid4()
    entry = bench.add_queue.submit(LOCAL_USER, sample.name, sample.read_bytes())
    bench.add_queue.stop(other, entry)
    assert [done.state for done in wait(bench)] == ["done"]
    bench.add_queue.dismiss(other, entry)
    assert bench.add_queue.entries(other) == []
    assert len(bench.add_queue.entries(LOCAL_USER)) == 1


@pytest.mark.parametrize("password", ["", "\udcff", "x\x00", "pässwört" * 100])
def test_odd_passwords_are_only_wrong(bench, shared, password):
    locked = shared / "pdf_edge" / "encrypted__issue6010_1.pdf"
    bench.add_queue.submit(LOCAL_USER, "locked.pdf", locked.read_bytes(), password)
    (entry,) = wait(bench)
    assert entry.code == ("PASSWORD_WRONG" if password else "PASSWORD_NEEDED")


def test_a_locked_file_can_be_tried_again_without_choosing_it_again(bench, shared):
    locked = shared / "pdf_edge" / "encrypted__docling_user_1234_paper_page.pdf"
    entry = bench.add_queue.submit(LOCAL_USER, "locked.pdf", locked.read_bytes())
    assert [(e.code, e.locked) for e in wait(bench)] == [("PASSWORD_NEEDED", True)]
    bench.add_queue.unlock(uuid4(), entry, "1234")
    bench.add_queue.unlock(LOCAL_USER, entry, "4321")
    assert [(e.code, e.locked) for e in wait(bench)] == [("PASSWORD_WRONG", True)]
    bench.add_queue.unlock(LOCAL_USER, entry, "1234")
    assert [(e.id, e.state, e.locked) for e in wait(bench)] == [(entry, "done", False)]
    bench.add_queue.unlock(LOCAL_USER, entry, "1234")
    assert [e.state for e in wait(bench)] == ["done"]


def test_files_wait_on_the_disk_and_are_gone_when_they_are_over(bench, shared, sample):
    locked = (shared / "pdf_edge" / "encrypted__docling_user_1234_paper_page.pdf").read_bytes()
    folder = Path(bench.add_queue._folder.name)
    first = bench.add_queue.submit(LOCAL_USER, "locked.pdf", locked)
    bench.add_queue.submit(LOCAL_USER, sample.name, sample.read_bytes())
    wait(bench)
    assert [path.name for path in folder.iterdir()] == [str(first)]
    bench.add_queue.dismiss(LOCAL_USER, first)
    assert list(folder.iterdir()) == []
    bench.add_queue.close()
    assert not folder.exists()


def test_a_full_disk_is_one_sentence_and_nothing_is_in_line(bench, sample, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Unavailable, match="no room"):
        bench.add_queue.submit(LOCAL_USER, sample.name, b"x")
    assert bench.add_queue.entries(LOCAL_USER) == []


def test_another_version_is_told_and_both_are_kept(bench, shared):
    whole = shared / "pdf_papers" / "dpr_acl_two_column.pdf"
    part = shared / "pdf_papers" / "dpr_first_2_pages.pdf"
    bench.add_queue.submit(LOCAL_USER, part.name, part.read_bytes())
    bench.add_queue.submit(LOCAL_USER, whole.name, whole.read_bytes())
    first, second = wait(bench)
    assert (first.versions, second.versions) == ((), (first.title,))
    assert len(bench.papers.papers(LOCAL_USER)) == 2


def test_a_bibtex_file_that_was_stopped_changes_nothing(bench, sample):
    bench.add_queue.submit(LOCAL_USER, sample.name, sample.read_bytes())
    title = b"How Lectern Fuses Dense and Lexical Retrieval"
    listed = b"@article{a,\n title={" + title + b"},\n year={1999}}"
    entry = bench.add_queue.submit(LOCAL_USER, "list.bib", listed)
    bench.add_queue.stop(LOCAL_USER, entry)
    assert [one.state for one in wait(bench)] == ["done", "stopped"]
    assert bench.papers.papers(LOCAL_USER)[0].meta.year != 1999
    bench.add_queue.submit(LOCAL_USER, "list.bib", listed)
    wait(bench)
    assert bench.papers.papers(LOCAL_USER)[0].meta.year == 1999


def as_before_structure(engine):
    """Take the database back to the tables of the version that kept no structure, and forth."""
    config = _config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0002")
    upgrade(engine)


def test_a_paper_of_an_earlier_version_is_read_anew_and_stays_the_same_paper(bench, sample):
    added = bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
    paper, papers = added.paper_id, bench.papers
    there = papers.structure(LOCAL_USER, paper)
    chunks, vectors = papers.chunks([paper], references=True), papers.vector_counts([paper])
    as_before_structure(bench.engine)
    assert papers.structure(LOCAL_USER, paper) is None
    assert papers.chunks([paper], references=True) == chunks

    first = bench.add_queue.read_anew(LOCAL_USER, paper, "A paper")
    assert bench.add_queue.read_anew(LOCAL_USER, paper, "A paper") == first
    (entry,) = wait(bench)
    assert (entry.state, entry.anew) == ("done", paper)
    assert papers.structure(LOCAL_USER, paper) == there
    assert there.references
    assert papers.chunks([paper], references=True) == chunks
    assert papers.vector_counts([paper]) == vectors

    papers.fill_structure(LOCAL_USER, paper, type(there)())
    assert papers.structure(LOCAL_USER, paper) == there
    with pytest.raises(NotFound):
        bench.ingestor.read_anew(uuid4(), paper)
