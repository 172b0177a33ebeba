"""Searching a loopback arXiv: what is found, and every way in which nothing is."""

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from core.pace import Pace
from core.tools import arxiv_search
from core.tools.arxiv_search import ArxivSearch, Query, written
from core.tools.envelope import ToolFailure, enveloped
from core.tools.retry import retried
from tests.fixtures.arxiv_server import FOUND, SLOW, Arxiv, feed, loopback_arxiv


@pytest.fixture
def arxiv() -> Iterator[Arxiv]:
    with loopback_arxiv() as server:
        yield server


@pytest.fixture
def search(arxiv: Arxiv, tmp_path: Path) -> ArxivSearch:
    return ArxivSearch(Pace(tmp_path, "arxiv", 0), arxiv.url)


def test_papers_come_with_what_is_known_of_them(arxiv, search):
    envelope = search(topic="rank fusion", number=2)
    assert envelope["ok"]
    assert envelope["meta"]["source"] == "arxiv"
    first, second = envelope["data"]["papers"]
    assert first == {
        "source": "arxiv",
        "arxiv_id": "2301.00001",
        "version": 2,
        "title": "On fusion 2301.00001v2",
        "authors": ["Ada Müller", "王小明"],
        "year": 2023,
        "abstract": "It joins two rankings.",
        "categories": ["cs.IR"],
        "doi": "",
        "url": "https://arxiv.org/abs/2301.00001v2",
        "open_copy": "https://arxiv.org/pdf/2301.00001v2",
    }
    assert envelope["data"]["total"] == 2
    assert second["arxiv_id"] == "math/0301001"
    assert arxiv.asked[0]["search_query"] == "all:rank AND all:fusion"
    assert arxiv.asked[0]["max_results"] == "2"


@pytest.mark.parametrize(
    ("given", "query"),
    [
        ({"topic": 'state-of-the-art "rank fusion"'}, 'all:state-of-the-art AND all:"rank fusion"'),
        ({"topic": "ti:fusion  AND au:li"}, "ti:fusion AND au:li"),
        ({"topic": "fusion", "categories": ("cs.IR", "hep-th")},
         "(all:fusion) AND (cat:cs.IR OR cat:hep-th)"),
        ({"topic": "fusion", "year_from": 2020},
         "(all:fusion) AND (submittedDate:[202001010000 TO 210012312359])"),
        ({"topic": "fusion", "author": "Geoffrey E. Hinton"},
         "(all:fusion) AND (au:Geoffrey AND au:E AND au:Hinton)"),
        ({"topic": "fusion) OR (x", "year_to": 2019},
         "(all:fusion AND all:OR AND all:x) AND (submittedDate:[190001010000 TO 201912312359])"),
    ],
)  # fmt: skip
def test_a_query_is_written_as_arxiv_reads_it(given, query):
    assert written(Query(**given)) == query


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"topic": ""},
        {"topic": "x" * 501},
        {"topic": "?!"},
        {"topic": "检索融合"},
        {"topic": "x", "number": 0},
        {"topic": "x", "categories": ["cs.IR OR all:x"]},
        {"topic": "x", "sort": "date"},
        {"topic": "x", "years": 3},
    ],
)
def test_what_cannot_be_asked_is_not_asked(arxiv, search, given):
    error = search(**given)["error"]
    assert (error["code"], error["retryable"]) == ("INVALID_ARGS", False)
    assert error["message"]
    assert error["hint"]
    assert arxiv.asked == []


@pytest.mark.parametrize(
    ("answers", "code", "tries"),
    [
        ([(200, {}, feed())], "EMPTY_RESULT", 1),
        ([(400, {}, b"")], "INVALID_ARGS", 1),
        ([(200, {}, b"<html><body>maintenance</body></html>")], "PARSE_ERROR", 1),
        ([(200, {}, b"{}")], "PARSE_ERROR", 1),
        ([(500, {}, b"")], "UPSTREAM_ERROR", 3),
        ([(429, {}, b"")], "RATE_LIMITED", 3),
        ([(429, {"Retry-After": "0"}, b""), FOUND], "", 2),
        ([(429, {"Retry-After": "3600"}, b"")], "RATE_LIMITED", 1),
        ([(503, {}, b""), (500, {}, b""), FOUND], "", 3),
        ([(200, {"Content-Length": "99999"}, b"<feed")], "NETWORK", 3),
        ([(302, {"Location": "http://127.0.0.1:1/evil"}, b"")], "NETWORK", 3),
        ([SLOW], "TIMEOUT", 3),
    ],
)
def test_every_failure_has_its_code_and_only_some_are_tried_again(
    arxiv, search, monkeypatch, answers, code, tries
):
    monkeypatch.setattr(arxiv_search, "SECONDS", (0.3, 0.3))
    arxiv.answers = answers
    envelope = search(topic="fusion", first_pause=0.01)
    assert (envelope["error"] or {"code": ""})["code"] == code
    assert len(arxiv.asked) == tries
    assert envelope["ok"] == (not code)


def test_nobody_there(search, tmp_path):
    away = ArxivSearch(Pace(tmp_path, "arxiv", 0), "http://127.0.0.1:1/api")
    assert away(topic="fusion", first_pause=0.01)["error"]["code"] == "NETWORK"


def test_retry_after_is_waited_for(arxiv, search):
    arxiv.answers = [(429, {"Retry-After": "1"}, b""), FOUND]
    assert search(topic="fusion", first_pause=0.01)["ok"]
    assert 1.0 <= arxiv.at[1] - arxiv.at[0] < 3


def test_a_search_that_is_stopped_asks_no_more(arxiv, search, tmp_path):
    stop = threading.Event()
    stop.set()
    slow = ArxivSearch(Pace(tmp_path / "slow", "arxiv", 60), arxiv.url)
    assert slow(stop, topic="fusion")["ok"]
    assert slow(stop, topic="fusion")["error"]["code"] == "CANCELLED"
    arxiv.answers = [(500, {}, b"")]
    began = time.monotonic()
    assert search(stop, topic="fusion")["error"]["code"] == "UPSTREAM_ERROR"
    assert time.monotonic() - began < 1


def test_requests_keep_their_distance_over_several_clients_of_a_folder(tmp_path):
    paces = [Pace(tmp_path, "arxiv", 0.3) for _ in range(3)]
    at: list[float] = []

    def ask(pace: Pace) -> None:
        pace.wait(lambda: False)
        at.append(time.monotonic())

    threads = [threading.Thread(target=ask, args=(pace,)) for pace in paces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    at.sort()
    assert min(later - earlier for earlier, later in pairwise(at)) > 0.25


def test_our_own_mistake_is_called_so(caplog):
    envelope = enveloped("here", lambda: {}["missing"])
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert not envelope["error"]["retryable"]
    assert "KeyError" in caplog.text
    known = retried(lambda: enveloped("here", _not_found), threading.Event())
    assert (known["error"]["code"], known["error"]["hint"]) == ("NOT_FOUND", "Look elsewhere.")


def _not_found():
    raise ToolFailure("NOT_FOUND", "There is none.", "Look elsewhere.")


def test_recorded_answers_are_read(arxiv, search, shared):
    recorded = shared / "arxiv_atom" / "xml"
    arxiv.answers = [(200, {}, next(recorded.glob("q_testing_s0_m10_*")).read_bytes())]
    papers = search(topic="testing", number=10)["data"]["papers"]
    assert len(papers) == 10
    assert all(paper["title"] and paper["authors"] and paper["abstract"] for paper in papers)
    arxiv.answers = [(200, {}, next(recorded.glob("id_0000.0000_*")).read_bytes())]
    assert search(topic="testing")["error"]["code"] == "EMPTY_RESULT"
    arxiv.answers = [(400, {}, next(recorded.glob("id_abc_*")).read_bytes())]
    assert search(topic="testing")["error"]["code"] == "INVALID_ARGS"
