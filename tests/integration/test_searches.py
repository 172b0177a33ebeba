"""Searches in the background: watched, stopped, not asked twice; what is waited for is told."""

import threading
import time
from dataclasses import replace
from uuid import uuid4

import pytest

from core.tools import searches as module
from core.tools.catalogue import paper_search
from core.tools.searches import Searches
from core.types import LOCAL_USER
from tests.fixtures.arxiv_server import BROKEN, FOUND, SLOW, loopback_arxiv, rate_limited


@pytest.fixture
def arxiv():
    with loopback_arxiv() as server:
        yield server


@pytest.fixture
def make_searches(arxiv, make_bench):
    def make(**settings) -> Searches:
        values = {"ARXIV_API_URL": arxiv.url, "ARXIV_SECONDS": 0} | settings
        return make_bench(**values).searches

    return make


def ended(search, seconds: float = 20.0):
    until = time.monotonic() + seconds
    while search.answer is None and time.monotonic() < until:
        time.sleep(0.01)
    assert search.answer is not None
    return search.answer


def test_what_was_found_is_not_asked_again_by_the_same_user(arxiv, make_searches):
    searches = make_searches()
    first = searches.start(LOCAL_USER, topic="fusion", number=2)
    assert ended(first)["ok"]
    assert searches.start(LOCAL_USER, number=2, topic="fusion") is first
    assert len(arxiv.asked) == 1
    assert searches.start(LOCAL_USER, topic="fusion", number=3) is not first
    assert searches.start(uuid4(), topic="fusion", number=2) is not first
    assert first.seconds < 20


def test_it_is_asked_again_when_it_is_old_or_failed(arxiv, make_searches, monkeypatch):
    searches = make_searches()
    arxiv.answers = [(404, {}, b""), FOUND]
    first = searches.start(LOCAL_USER, topic="fusion")
    assert ended(first)["error"]["code"] == "INVALID_ARGS"
    second = searches.start(LOCAL_USER, topic="fusion")
    assert second is not first
    assert ended(second)["ok"]
    monkeypatch.setattr(module, "KEPT_SECONDS", 0)
    assert searches.start(LOCAL_USER, topic="fusion") is not second


def test_a_search_that_is_stopped_is_over_at_once(arxiv, make_searches):
    """Also while a request waits for its answer; what comes of that changes nothing."""
    arxiv.answers = [SLOW, FOUND]
    searches = make_searches()
    search = searches.start(LOCAL_USER, topic="fusion")
    until = time.monotonic() + 10
    while not arxiv.asked and time.monotonic() < until:
        time.sleep(0.01)
    search.stop()
    assert ended(search, 0.1)["error"]["code"] == "CANCELLED"
    time.sleep(2)
    assert search.answer["error"]["code"] == "CANCELLED"
    search.stop()
    assert len(arxiv.asked) == 1
    assert ended(searches.start(LOCAL_USER, topic="fusion"))["ok"]


def test_closing_stops_all(make_searches):
    searches = make_searches(ARXIV_SECONDS=3600)
    waiting = [searches.start(LOCAL_USER, topic=f"fusion {n}") for n in range(7)]
    searches.close()
    codes = [ended(search, 1)["error"] for search in waiting]
    assert [error["code"] for error in codes if error].count("CANCELLED") >= 6


def test_no_more_run_at_once_than_may(make_searches):
    searches = make_searches(ARXIV_SECONDS=3600)
    waiting = [searches.start(LOCAL_USER, topic=f"fusion {n}") for n in range(module.AT_ONCE + 3)]
    until = time.monotonic() + 10
    said: list[str] = []
    while time.monotonic() < until:
        said = [search.doing for search in waiting if search.answer is None]
        # one has its turn at arXiv at once, and its place goes to the next
        if len(said) < len(waiting) and said.count("Waiting until other searches are over…") == 2:
            break
        time.sleep(0.01)
    assert said.count("Waiting until other searches are over…") == 2


def test_what_is_kept_is_bounded(make_searches, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 2)
    searches = make_searches(ARXIV_SECONDS=3600)
    first, *_ = [searches.start(LOCAL_USER, topic=f"fusion {n}") for n in range(4)]
    assert ended(first, 10)
    assert len(searches._kept) == 2


def test_it_is_told_why_and_how_long_one_waits(arxiv, make_bench):
    arxiv.answers = [rate_limited("1"), BROKEN, FOUND]
    bench = make_bench(ARXIV_API_URL=arxiv.url, ARXIV_SECONDS=0)
    said: list[str] = []
    box = bench.toolbox(LOCAL_USER, threading.Event(), said.append)
    assert paper_search(replace(box, first_pause=0.01), topic="fusion")["ok"]
    assert "arXiv asks to wait before the next search. Trying again in 1 s…" in said
    assert any(text.startswith("arXiv answers 500. Trying again in ") for text in said)
    assert said[-1] == "Comparing the papers found with the topic…"
