"""The parts of `bench tokens` that can be wrong: the simulated prefill and the sums."""

import time

import pytest
from pydantic import SecretStr

from core.bench.loopback import prefill_server
from core.models.budget import Message, estimate_messages
from core.models.chat import ChatModel, Endpoint


@pytest.mark.parametrize("words", [200, 2000])
def test_the_first_token_waits_for_the_prompt_and_for_nothing_else(words: int) -> None:
    prompt = [Message("user", "word " * words)]
    with prefill_server(1000.0) as url:
        chat = ChatModel(Endpoint(url, "loopback", SecretStr("none"), "LLM_API_KEY"))
        chat.stream([Message("user", "warm-up")]).read()
        start = time.monotonic()
        with chat.stream(prompt) as reply:
            next(reply)
            waited = time.monotonic() - start
            assert reply.read() == "The passages say so [1]."
    expected = estimate_messages(prompt) / 1000.0
    assert expected * 0.9 < waited < expected + 1.0
