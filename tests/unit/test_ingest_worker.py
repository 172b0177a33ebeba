"""The reading process: limits, crashes, and that it never outlives its starter."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from core.errors import Cancelled, UnreadableFile
from core.ingest.worker import Worker
from tests.fixtures.pdfs import lines, made_pdf

ROOT = Path(__file__).resolve().parents[2]
SMALL = made_pdf([lines(72, 700, 10, ["One line of text, and nothing else on the page."])])
LARGE = made_pdf([lines(20, 780, 6, ["many words on one line " * 9] * 120, 6)] * 400)


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.close()


def process_of(worker: Worker) -> psutil.Process:
    return psutil.Process(worker._process.pid)


def test_it_stays_warm_and_closes(worker):
    assert worker.parse(SMALL)[0].chunks
    first = process_of(worker)
    assert worker.parse(SMALL)[0].pages[0].text.startswith("One line")
    assert process_of(worker) == first
    worker.close()
    assert not first.is_running()
    assert worker.parse(SMALL)[0].chunks


def test_a_file_that_takes_too_long_is_stopped_and_the_next_one_read():
    worker = Worker(parse_seconds=30)
    worker.parse(SMALL)
    worker._parse_seconds = 0.3
    started = time.monotonic()
    with pytest.raises(UnreadableFile) as caught:
        worker.parse(LARGE)
    assert caught.value.code == "TOO_SLOW"
    assert time.monotonic() - started < 5
    worker._parse_seconds = 30
    assert worker.parse(SMALL)[0].chunks
    worker.close()


def test_a_crash_is_an_error_and_the_next_file_is_read(worker):
    def kill(*_):
        os.kill(process_of(worker).pid, signal.SIGKILL)

    with pytest.raises(UnreadableFile) as caught:
        worker.parse(LARGE, None, kill)
    assert caught.value.code == "DAMAGED"
    assert worker.parse(SMALL)[0].chunks


def test_the_user_s_stop_comes_through_and_leaves_no_half_answer(worker):
    def stop(*_):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        worker.parse(LARGE, None, stop)
    assert worker.parse(SMALL)[0].chunks


def test_too_little_memory_is_an_error_not_a_crash_of_ours():
    worker = Worker(memory=64 * 1024 * 1024)
    with pytest.raises(UnreadableFile):
        worker.parse(LARGE)
    worker.close()


def test_many_threads_share_it(worker):
    failures = []

    def run():
        try:
            assert worker.render(SMALL, 1, 1.0).startswith(b"\x89PNG")
            assert worker.parse(SMALL)[0].chunks
        except Exception as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_pages_are_drawn_at_the_scale_asked_for(worker):
    png = worker.render(SMALL, 1, 2.0)
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (1224, 1584)
    with pytest.raises(UnreadableFile):
        worker.render(SMALL, 2)
    huge = worker.render(SMALL, 1, 1_000.0)
    assert int.from_bytes(huge[16:20]) * int.from_bytes(huge[20:24]) <= 16_100_000


@pytest.mark.parametrize("busy", [False, True])
def test_it_dies_with_its_starter(busy, tmp_path):
    (tmp_path / "large.pdf").write_bytes(LARGE * 1)
    script = f"""
import sys, pathlib
from core.ingest.worker import Worker
worker = Worker()
worker.warm()
print(worker._process.pid, flush=True)
if {busy}:
    worker.parse(pathlib.Path(sys.argv[1]).read_bytes())
sys.stdin.read()
"""
    starter = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "large.pdf")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with starter:
        pid = int(starter.stdout.readline())
        time.sleep(1.0)
        starter.kill()
        starter.wait()
    deadline = time.monotonic() + 15
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.1)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_the_process_gets_no_secrets(worker, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    worker.warm()
    assert "OPENAI_API_KEY" not in process_of(worker).environ()
