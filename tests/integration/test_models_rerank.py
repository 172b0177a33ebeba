"""Cohere's reranker against a real server on loopback."""

import json
import time
from typing import Any

import pytest

from core.config import Settings
from core.errors import RerankFailed
from core.models.rerank import Reranker, reranker
from tests.fixtures.model_server import LoopbackServer, Reply

TEXTS = ["nothing of the kind", "attention is all you need", "we need a 注意力 mechanism"]
KEY = "co-very-secret-0123456789"


def _reranker(server: LoopbackServer, **values: Any) -> Reranker:
    given = {"COHERE_API_KEY": KEY, "COHERE_BASE_URL": server.root}
    found = reranker(Settings(_env_file=None, **{**given, **values}))
    assert found is not None
    return found


def _failure(ranker: Reranker) -> RerankFailed:
    with pytest.raises(RerankFailed) as caught:
        ranker.rerank("attention", TEXTS, 3)
    assert KEY not in json.dumps(caught.value.to_json())
    assert caught.value.hint
    return caught.value


def test_no_key_no_reranker() -> None:
    assert reranker(Settings(_env_file=None)) is None


def test_best_first_with_indices_into_the_texts(cohere_server: LoopbackServer) -> None:
    cohere_server.reply = Reply(scores=[0.02, 0.4, 0.9])
    ranked = _reranker(cohere_server).rerank("注意力", TEXTS, 2)
    assert ranked == [(2, 0.9), (1, 0.4)]
    sent = cohere_server.requests[0]
    assert sent.path == "/v2/rerank"
    assert sent.key == KEY
    assert sent.body["model"] == "rerank-multilingual-v3.0"
    assert sent.body["documents"] == TEXTS
    assert sent.body["top_n"] == 2


def test_asks_nothing_of_the_server_for_no_texts(cohere_server: LoopbackServer) -> None:
    assert _reranker(cohere_server).rerank("q", [], 5) == []
    assert cohere_server.requests == []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "RERANK_KEY"),
        (403, "RERANK_KEY"),
        (429, "RERANK_RATE_LIMIT"),
        (404, "RERANK_SERVER"),
        (500, "RERANK_SERVER"),
    ],
)
def test_each_failure_has_its_code_after_one_try(
    cohere_server: LoopbackServer, status: int, code: str
) -> None:
    cohere_server.reply = Reply(status=status, raw=json.dumps({"message": f"no, {KEY}"}))
    assert _failure(_reranker(cohere_server)).code == code
    assert len(cohere_server.requests) == 1


def test_a_wrong_key_is_named_by_its_setting(cohere_server: LoopbackServer) -> None:
    cohere_server.required_key = "another"
    assert "COHERE_API_KEY" in _failure(_reranker(cohere_server)).message
    with pytest.raises(RerankFailed):
        _reranker(cohere_server).check()


@pytest.mark.parametrize(
    "raw",
    [
        "<html>",
        "{}",
        '{"id": "1", "results": "none"}',
        '{"id": "1", "results": [{"index": 7, "relevance_score": 0.5}]}',
        '{"id": "1", "results": [{"index": 0, "relevance_score": 1}, {"index": 0}]}',
    ],
)
def test_nonsense_is_said_to_be_nonsense(cohere_server: LoopbackServer, raw: str) -> None:
    cohere_server.reply = Reply(raw=raw)
    assert _failure(_reranker(cohere_server)).code == "RERANK_MALFORMED"


def test_a_slow_server_costs_no_more_than_the_timeout(cohere_server: LoopbackServer) -> None:
    cohere_server.reply = Reply(first_delay=20)
    ranker = _reranker(cohere_server)
    start = time.monotonic()
    assert _failure(ranker).code == "RERANK_NETWORK"
    assert time.monotonic() - start < 7


def test_nobody_there(cohere_server: LoopbackServer) -> None:
    ranker = _reranker(cohere_server, COHERE_BASE_URL="http://127.0.0.1:9")
    assert _failure(ranker).code == "RERANK_NETWORK"
