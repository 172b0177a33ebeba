"""The chat model against a real server on loopback."""

import asyncio
import json
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from core.config import DEEPSEEK_URL, OPENAI_URL, Settings
from core.errors import Cancelled, ModelFailed
from core.models.budget import Message
from core.models.chat import (
    DEEPSEEK_MODEL,
    OPENAI_MODEL,
    ChatModel,
    _Request,
    chat_model,
    endpoint,
)
from tests.fixtures.model_server import (
    CONTEXT_EXCEEDED,
    MALFORMED_BODY,
    MALFORMED_STREAM,
    SERVER_ERROR,
    UNAUTHORIZED,
    LoopbackServer,
    Reply,
    failure,
    rate_limited,
)

PROMPT = [
    Message("system", "Answer from the passages."),
    Message("user", "Attention is all there is in this model, they say. Really?\n问题：什么？"),
]
SECRET = "sk-very-secret-0123456789"


def _settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


def _model(server: LoopbackServer, **values: Any) -> ChatModel:
    given = {"LLM_BASE_URL": server.url, "LLM_MODEL": "loopback-model", "LLM_API_KEY": SECRET}
    model = chat_model(_settings(**{**given, **values}))
    assert model is not None
    return model


def _failure(model: ChatModel) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        model.stream(PROMPT).read()
    shown = json.dumps(caught.value.to_json())
    assert SECRET not in shown
    assert caught.value.hint
    return caught.value


def test_streams_in_pieces_with_the_usage_of_the_server(model_server: LoopbackServer) -> None:
    model_server.reply = Reply(text="Transformers 只用注意力 [1].\n\nNothing else.")
    reply = _model(model_server).stream(PROMPT)
    pieces = list(reply)
    assert len(pieces) > 5
    assert "".join(pieces) == reply.text == "Transformers 只用注意力 [1].\n\nNothing else."
    assert reply.finish_reason == "stop"
    assert not reply.usage.estimated
    assert reply.usage.completion_tokens == len(pieces)
    sent = model_server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.key == SECRET
    assert sent.body["messages"] == [
        {"role": message.role, "content": message.content} for message in PROMPT
    ]


def test_odd_text_goes_out_as_it_is_or_harmless(model_server: LoopbackServer) -> None:
    text = "<|endoftext|> \x00 🙂 注意力 \ud800"
    _model(model_server).stream([Message("user", text)]).read()
    sent = model_server.requests[0].body["messages"][0]["content"]
    assert sent == text.replace("\ud800", "?")


def test_text_arrives_before_the_answer_is_complete(model_server: LoopbackServer) -> None:
    model_server.reply = Reply(text="one two three four five six", delay=0.2)
    model = _model(model_server)
    model.load()
    reply = model.stream(PROMPT)
    start = time.monotonic()
    next(reply)
    first = time.monotonic() - start
    reply.read()
    assert first < 0.6
    assert time.monotonic() - start > 1.0


def test_usage_is_an_estimate_that_says_so_when_the_server_reports_none(
    model_server: LoopbackServer,
) -> None:
    model_server.reply = Reply(text="Ten words.", usage=False)
    reply = _model(model_server).stream(PROMPT)
    reply.read()
    assert reply.usage.estimated
    assert 20 < reply.usage.prompt_tokens < 50
    assert 1 <= reply.usage.completion_tokens <= 5


def test_a_form_that_the_server_refuses_is_asked_for_in_weaker_ways(
    model_server: LoopbackServer,
) -> None:
    """In the words of llama.cpp for a schema it cannot take, then of one that knows no forms."""
    model_server.enqueue(
        failure(400, "Unable to generate parser for this template. JSON schema error at #: no"),
        failure(400, "response_format is not supported"),
    )
    model = _model(model_server)
    assert model.stream(PROMPT, schema={"type": "object"}).read()
    asked = [request.body.get("response_format") for request in model_server.requests]
    assert [form and form["type"] for form in asked] == ["json_schema", "json_object", None]


def test_a_server_that_does_not_know_stream_options_is_asked_without(
    model_server: LoopbackServer,
) -> None:
    model_server.enqueue(failure(400, "Unrecognized request argument: stream_options"))
    model = _model(model_server)
    reply = model.stream(PROMPT)
    assert reply.read()
    assert reply.usage.estimated
    model.stream(PROMPT).read()
    with_options = ["stream_options" in request.body for request in model_server.requests]
    assert with_options == [True, False, False]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (UNAUTHORIZED, "MODEL_KEY"),
        (failure(403, "no"), "MODEL_KEY"),
        (failure(402, "Insufficient Balance"), "MODEL_KEY"),
        (SERVER_ERROR, "MODEL_SERVER"),
        (CONTEXT_EXCEEDED, "MODEL_CONTEXT"),
        (failure(400, "the request exceeds the available context size"), "MODEL_CONTEXT"),
        (failure(404, "model not found"), "MODEL_FAILED"),
        (failure(400, "something odd"), "MODEL_FAILED"),
        (MALFORMED_BODY, "MODEL_MALFORMED"),
        (Reply(raw='{"choices": "none"}'), "MODEL_MALFORMED"),
        (MALFORMED_STREAM, "MODEL_MALFORMED"),
        (Reply(text=""), "MODEL_MALFORMED"),
        (Reply(raw='data: {"choices": 7}\n\n'), "MODEL_MALFORMED"),
        (Reply(raw='data: {"error": {"message": "overloaded"}}\n\n'), "MODEL_SERVER"),
    ],
)
def test_each_failure_has_its_code(model_server: LoopbackServer, reply: Reply, code: str) -> None:
    model_server.reply = reply
    assert _failure(_model(model_server)).code == code


def test_a_bad_key_is_named_by_its_setting_and_not_tried_again(
    model_server: LoopbackServer,
) -> None:
    model_server.required_key = "another"
    error = _failure(_model(model_server))
    assert "LLM_API_KEY" in error.message
    assert len(model_server.requests) == 1
    model = chat_model(_settings(LLM_BASE_URL=model_server.url, DEEPSEEK_API_KEY="sk-bad"))
    assert model is not None
    assert "DEEPSEEK_API_KEY" in _failure(model).message


def test_a_key_that_no_header_can_carry_never_leaves(model_server: LoopbackServer) -> None:
    error = _failure(_model(model_server, LLM_API_KEY="sk-你的密钥"))
    assert error.code == "MODEL_KEY"
    assert model_server.requests == []


def test_waits_as_long_as_retry_after_says(model_server: LoopbackServer) -> None:
    model_server.enqueue(rate_limited("1"))
    assert _model(model_server).stream(PROMPT).read()
    first, second = model_server.requests
    assert 0.95 < second.at - first.at < 2.5


def test_does_not_wait_for_minutes(model_server: LoopbackServer) -> None:
    model_server.reply = rate_limited("600")
    start = time.monotonic()
    assert _failure(_model(model_server)).code == "MODEL_RATE_LIMIT"
    assert time.monotonic() - start < 10
    assert len(model_server.requests) == 1


def test_tries_again_after_an_error_of_the_server_but_not_for_ever(
    model_server: LoopbackServer,
) -> None:
    model_server.enqueue(SERVER_ERROR)
    assert _model(model_server).stream(PROMPT).read()
    assert len(model_server.requests) == 2
    model_server.reply = SERVER_ERROR
    _failure(_model(model_server))
    assert len(model_server.requests) == 2 + 3


@pytest.mark.parametrize(
    "reply", [Reply("a b c d e f", drop_after=3), Reply("a b c d e f", stop_after=3)]
)
def test_what_came_before_the_cut_stays(model_server: LoopbackServer, reply: Reply) -> None:
    model_server.reply = reply
    answer = _model(model_server).stream(PROMPT)
    pieces = []
    with pytest.raises(ModelFailed) as caught:
        pieces.extend(answer)
    assert caught.value.code == "MODEL_CUT_OFF"
    assert answer.text == "a b c"
    assert answer.usage.estimated
    assert len(model_server.requests) == 1


def test_a_silent_server_is_a_timeout(model_server: LoopbackServer) -> None:
    model_server.reply = Reply(first_delay=10)
    start = time.monotonic()
    assert _failure(_model(model_server, LLM_TIMEOUT=1)).code == "MODEL_TIMEOUT"
    assert time.monotonic() - start < 8
    assert model_server.requests[0].done.wait(1)
    assert model_server.requests[0].closed_at is not None


def test_silence_in_the_middle_is_a_timeout_that_keeps_the_text(
    model_server: LoopbackServer,
) -> None:
    model_server.reply = Reply("one two", delay=10)
    reply = _model(model_server, LLM_TIMEOUT=1).stream(PROMPT)
    with pytest.raises(ModelFailed) as caught:
        reply.read()
    assert caught.value.code == "MODEL_TIMEOUT"
    assert reply.text == "one"


def test_a_long_answer_may_take_longer_than_the_timeout(model_server: LoopbackServer) -> None:
    model_server.reply = Reply("one two three four five six seven", delay=0.3)
    assert _model(model_server, LLM_TIMEOUT=1.5).stream(PROMPT).read().endswith("seven")


def test_nobody_there_is_a_network_failure(model_server: LoopbackServer) -> None:
    model = _model(model_server, LLM_BASE_URL="http://user:pass@127.0.0.1:9/v1?key=x")
    error = _failure(model)
    assert error.code == "MODEL_NETWORK"
    assert "pass" not in error.message
    assert "key=x" not in error.message


@pytest.mark.parametrize(
    ("reply", "before"),
    [(Reply(first_delay=30), False), (Reply("many words follow", delay=30), True)],
    ids=["before the first token", "between tokens"],
)
def test_cancel_closes_the_request_while_the_server_is_silent(
    model_server: LoopbackServer, reply: Reply, before: bool
) -> None:
    model_server.reply = reply
    cancelled = threading.Event()
    answer = _model(model_server).stream(PROMPT, cancelled)
    if before:
        assert next(answer) == "many"
    _wait_for(lambda: bool(model_server.requests))
    at: list[float] = []

    def cancel() -> None:
        at.append(time.monotonic())
        cancelled.set()

    threading.Timer(0.2, cancel).start()
    with pytest.raises(Cancelled):
        answer.read()
    assert time.monotonic() - at[0] < 0.5
    request = model_server.requests[0]
    assert request.done.wait(2)
    assert request.closed_at is not None
    assert request.closed_at - at[0] < 0.5
    assert answer.text == ("many" if before else "")
    assert list(answer) == []


def test_cancel_ends_the_wait_for_another_try(model_server: LoopbackServer) -> None:
    model_server.reply = rate_limited("15")
    cancelled = threading.Event()
    answer = _model(model_server).stream(PROMPT, cancelled)
    _wait_for(lambda: bool(model_server.requests))
    threading.Timer(0.2, cancelled.set).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        answer.read()
    assert time.monotonic() - start < 1


def test_leaving_the_block_closes_the_request(model_server: LoopbackServer) -> None:
    model_server.reply = Reply("a b c d", delay=30)
    with _model(model_server).stream(PROMPT) as answer:
        next(answer)
    assert model_server.requests[0].done.wait(1)
    assert model_server.requests[0].closed_at is not None


def test_many_threads_share_one_model(model_server: LoopbackServer) -> None:
    model_server.reply = Reply(lambda body: body["messages"][0]["content"] * 20, delay=0.002)
    model = _model(model_server)
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        answers[number] = model.stream([Message("user", f"n{number} ")]).read()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: f"n{number} " * 20 for number in range(8)}
    _wait_for(lambda: all(thread.name != "chat-reply" for thread in threading.enumerate()), 5)


def test_check_asks_for_the_models(model_server: LoopbackServer) -> None:
    model = _model(model_server)
    model.check()
    assert model_server.requests[0].path == "/v1/models"
    model_server.required_key = "another"
    with pytest.raises(ModelFailed) as caught:
        model.check()
    assert caught.value.code == "MODEL_KEY"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, None),
        ({"DEEPSEEK_API_KEY": "d"}, (DEEPSEEK_URL, DEEPSEEK_MODEL, "d", "DEEPSEEK_API_KEY")),
        ({"OPENAI_API_KEY": "o"}, (OPENAI_URL, OPENAI_MODEL, "o", "OPENAI_API_KEY")),
        (
            {"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o", "LLM_MODEL": "m"},
            (DEEPSEEK_URL, "m", "d", "DEEPSEEK_API_KEY"),
        ),
        (
            {"LLM_BASE_URL": "http://localhost:11434/v1", "LLM_MODEL": "qwen3"},
            ("http://localhost:11434/v1", "qwen3", "none", "LLM_API_KEY"),
        ),
        (
            {"LLM_BASE_URL": "https://llm.example/v1", "LLM_API_KEY": "k", "OPENAI_API_KEY": "o"},
            ("https://llm.example/v1", "", "k", "LLM_API_KEY"),
        ),
        (
            {"LLM_BASE_URL": "https://llm.example/v1", "LLM_MODEL": "m", "OPENAI_API_KEY": "o"},
            ("https://llm.example/v1", "m", "none", "LLM_API_KEY"),
        ),
        (
            {"LLM_BASE_URL": "https://api.deepseek.com", "DEEPSEEK_API_KEY": "d"},
            ("https://api.deepseek.com", DEEPSEEK_MODEL, "d", "DEEPSEEK_API_KEY"),
        ),
    ],
)
def test_which_server_gets_which_key(
    values: dict[str, str], expected: tuple[str, str, str, str] | None
) -> None:
    place = endpoint(_settings(**values))
    found = place and (place.url, place.model, place.key.get_secret_value(), place.key_setting)
    assert found == expected


@pytest.mark.parametrize(
    "values",
    [{"LLM_BASE_URL": "localhost:11434", "LLM_MODEL": "m"}, {"LLM_BASE_URL": "http://[::1/v1"}],
)
def test_settings_that_cannot_work_say_so(values: dict[str, str]) -> None:
    model = chat_model(_settings(**values))
    assert model is not None
    with pytest.raises(ModelFailed) as caught:
        model.stream(PROMPT).read()
    assert caught.value.hint
    with pytest.raises(ModelFailed):
        model.check()


def _wait_for(condition: Callable[[], bool], seconds: float = 15) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.01)


def test_a_request_that_swallows_a_cancellation_is_cancelled_again():
    """Seen under the HTTP client: without a second try the model writes on to its last word."""
    cancelled = []

    async def stubborn() -> None:
        while len(cancelled) < 2:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(1)
        await asyncio.sleep(60)

    ends = queue.SimpleQueue()
    request = _Request(stubborn(), ends)
    request.cancel()
    assert ends.get(timeout=2).error is None
    assert len(cancelled) == 2
