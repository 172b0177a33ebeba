"""Turns from question to stored answer, on a real paper, with and without a (loopback) model."""

import time
from uuid import uuid4

import pytest

from core.agent.runner import TURNS_OF_A_USER
from core.agent.state import TurnRequest
from core.errors import NotFound
from core.types import LOCAL_USER
from tests.fixtures.database import kill_postgres
from tests.fixtures.model_server import Reply, failure, rate_limited

QUESTION = "How are the scores of the retrieval paths combined?"


@pytest.fixture
def with_model(make_bench, model_server, sample):
    def make(**settings):
        bench = make_bench(
            LLM_BASE_URL=model_server.url, LLM_API_KEY="k-secret", LLM_MODEL="loop", **settings
        )
        bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
        return bench

    return make


@pytest.fixture
def offline(bench, sample):
    bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
    return bench


def ask(bench, question=QUESTION, **request):
    turn = bench.runner.start(TurnRequest(LOCAL_USER, question, **request))
    events = list(bench.runner.follow(LOCAL_USER, turn.id))
    return turn, events


def of_kind(events, kind):
    return [event.data for event in events if event.kind == kind]


def ending(events):
    assert events[-1].kind in ("turn_finished", "turn_failed")
    return events[-1].data


def prompt_of(server):
    return "\n".join(str(message["content"]) for message in server.requests[-1].body["messages"])


# --- without a model ----------------------------------------------------------------------------


def test_an_extractive_answer_stands_in_the_paper_and_is_verified(offline):
    _, events = ask(offline)
    result = ending(events)
    assert result["mode"] == "extractive"
    assert 1 <= len(result["citations"]) <= 5
    for citation in result["citations"]:
        assert citation["quote"] in citation["passage"]
        assert citation["boxes"]
    checked = [s for s in result["sentences"] if s["verdict"]]
    assert checked
    assert all(s["verdict"] == "supported" and s["citations"] for s in checked)


def test_the_steps_are_the_way_of_the_intent(offline):
    _, events = ask(offline)
    steps = [data["node"] for data in of_kind(events, "step_finished")]
    assert steps == ["route", "rewrite", "retrieve", "answer", "verify"]
    assert [data["state"] for data in of_kind(events, "step_finished")] == ["done"] * 5


def test_the_turn_is_stored_as_it_was_told(offline):
    turn, events = ask(offline)
    stored = offline.conversations.turn(LOCAL_USER, turn.id)
    result = ending(events)
    assert stored.state == "finished"
    assert stored.answer == result["answer"]
    assert list(stored.citations) == result["citations"]
    assert list(stored.sentences) == result["sentences"]
    assert [step["node"] for step in stored.steps][-1] == "verify"
    assert offline.conversations.events(LOCAL_USER, turn.id) == events


def test_citations_survive_the_paper(offline):
    turn, events = ask(offline)
    (paper,) = offline.papers.library(LOCAL_USER)
    offline.papers.remove(LOCAL_USER, paper)
    offline.papers.purge(before=_tomorrow())
    stored = offline.conversations.turn(LOCAL_USER, turn.id)
    assert list(stored.citations) == ending(events)["citations"]


def _tomorrow():
    from datetime import UTC, datetime, timedelta

    return datetime.now(UTC) + timedelta(days=1)


def test_an_empty_question_is_a_failed_turn_with_one_sentence(offline):
    turn, events = ask(offline, "   ")
    failed = ending(events)
    assert failed["code"] == "BAD_INPUT"
    assert failed["message"].count(".") == 1
    assert offline.conversations.turn(LOCAL_USER, turn.id).state == "failed"


def test_a_question_of_20000_characters_fails_clearly(offline):
    _, events = ask(offline, "why " * 5000)
    assert ending(events)["message"].startswith("The question has 19,999 characters")


def test_an_unknown_intent_is_refused(offline):
    _, events = ask(offline, intent="poetry")
    assert ending(events)["code"] == "UNKNOWN_INTENT"


def test_a_paper_of_somebody_else_is_not_found(offline):
    (paper,) = offline.papers.library(LOCAL_USER)
    stranger = uuid4()
    turn = offline.runner.start(TurnRequest(stranger, QUESTION, paper_ids=(paper,)))
    events = list(offline.runner.follow(stranger, turn.id))
    assert ending(events)["code"] == "NOT_FOUND"
    with pytest.raises(NotFound):
        offline.runner.events(LOCAL_USER, turn.id)
    with pytest.raises(NotFound):
        offline.runner.cancel(LOCAL_USER, turn.id)


# --- with a model -------------------------------------------------------------------------------


def test_a_written_answer_streams_with_usage_and_verdicts(with_model, model_server):
    model_server.reply = Reply(text="The scores are z-scored and weighed [1]. Pigs can fly [2].")
    bench = with_model()
    _, events = ask(bench)
    result = ending(events)
    assert result["mode"] == "llm"
    assert len(of_kind(events, "token")) > 3
    assert result["usage"]["prompt_tokens"] > 0
    assert not result["usage"]["estimated"]
    assert result["usage"]["full_text_tokens"] > result["usage"]["prompt_tokens"] / 2
    first, second = result["sentences"]
    assert first["citations"] == [1]
    assert second["verdict"] in ("unsupported", "contradicted")
    assert {c["n"] for c in result["citations"]} == {1, 2}


def test_the_prompt_holds_only_budgeted_passages(with_model, model_server):
    bench = with_model(LLM_CONTEXT_TOKENS=2000)
    ask(bench)
    prompt = prompt_of(model_server)
    assert 1 <= prompt.count("<passage n=") < 8
    assert len(prompt) < 2000 * 5
    assert "k-secret" not in prompt


def test_invented_numbers_are_removed_and_counted(with_model, model_server):
    model_server.reply = Reply(text="Scores are weighed [1][99]. More [42].")
    _, events = ask(with_model())
    result = ending(events)
    assert [s["removed"] for s in result["sentences"]] == [[99], [42]]
    assert "[99]" not in "".join(s["text"] for s in result["sentences"])
    assert result["answer"] == "Scores are weighed [1]. More."
    assert {c["n"] for c in result["citations"]} <= set(range(1, 9))


def test_history_goes_along_and_belongs_to_the_conversation(with_model, model_server):
    model_server.reply = Reply(text="They are weighed [1].")
    bench = with_model()
    turn, _ = ask(bench)
    ask(bench, "And why?", conversation_id=turn.conversation_id)
    roles = [message["role"] for message in model_server.requests[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    ask(bench, "Anew?")
    assert len(model_server.requests[-1].body["messages"]) == 2


FAILURES = {
    "wrong key": ([failure(401, "bad key")], "MODEL_KEY"),
    "always 500": ([failure(500, "boom")] * 3, "MODEL_SERVER"),
    "malformed": ([Reply(raw="<html>not a model</html>")], "MODEL_MALFORMED"),
    "too long": (
        [failure(400, "maximum context length", code="context_length_exceeded")],
        "MODEL_CONTEXT",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_model_gives_the_extractive_answer_and_the_reason(with_model, model_server, case):
    replies, code = FAILURES[case]
    model_server.enqueue(*replies)
    _, events = ask(with_model())
    notice = of_kind(events, "notice")[0]
    result = ending(events)
    assert notice["code"] == code
    assert "k-secret" not in str(events)
    assert result["mode"] == "extractive"
    assert result["citations"]


def test_a_rate_limit_is_waited_for(with_model, model_server):
    model_server.enqueue(rate_limited("1"))
    model_server.reply = Reply(text="Weighed [1].")
    _, events = ask(with_model())
    assert ending(events)["mode"] == "llm"
    assert not of_kind(events, "notice")


def test_a_model_cut_off_in_mid_stream_keeps_what_came(with_model, model_server):
    model_server.enqueue(
        Reply(text="The scores are weighed [1]. And then something else.", drop_after=6, delay=0.05)
    )
    _, events = ask(with_model(), intent="chat")
    result = ending(events)
    assert of_kind(events, "notice")[0]["code"] == "MODEL_CUT_OFF"
    assert result["mode"] == "llm"
    assert result["answer"].startswith("The scores")
    assert len(result["answer"]) < 60


def test_one_turn_can_do_without_the_model(with_model, model_server):
    _, events = ask(with_model(), without_model=True)
    assert ending(events)["mode"] == "extractive"
    assert model_server.requests == []


def test_a_turn_run_again_stands_beside_the_conversation(with_model, model_server):
    bench = with_model()
    first, _ = ask(bench, selected="scores are standardised")
    second, _ = ask(bench, "Why?", conversation_id=first.conversation_id)
    model_server.reply = Reply(text="They are weighed in another way [1].")
    again = bench.runner.repeat(LOCAL_USER, second.id)
    list(bench.runner.follow(LOCAL_USER, again.id))
    sent = model_server.requests[-1].body["messages"]
    assert next(m["content"] for m in sent if m["role"] == "user") == QUESTION
    assert "another way" not in str(sent)
    turns = bench.conversations.turns(LOCAL_USER, first.conversation_id)
    assert [turn.id for turn in turns] == [first.id, second.id]
    rerun = bench.conversations.repeats(LOCAL_USER, first.conversation_id)[second.id]
    assert (rerun.id, rerun.question) == (again.id, "Why?")
    assert "another way" in rerun.answer
    assert "another way" not in turns[1].answer
    third, _ = ask(bench, "And?", conversation_id=first.conversation_id)
    assert third.position == 3


def test_stop_in_mid_stream_keeps_what_came_and_closes_the_request(with_model, model_server):
    model_server.enqueue(Reply(text="word " * 400, delay=0.05))
    bench = with_model()
    turn = bench.runner.start(TurnRequest(LOCAL_USER, QUESTION))
    written = 0
    for event in bench.runner.follow(LOCAL_USER, turn.id):
        written += event.kind == "token"
        if written == 5:
            asked = time.monotonic()
            bench.runner.cancel(LOCAL_USER, turn.id)
            written += 1
    assert time.monotonic() - asked < 1.0
    stored = bench.conversations.turn(LOCAL_USER, turn.id)
    assert stored.state == "stopped"
    assert stored.answer.startswith("word word")
    deadline = time.monotonic() + 0.5
    while model_server.requests[-1].closed_at is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert model_server.requests[-1].closed_at is not None


def test_stop_before_the_first_token(with_model, model_server):
    model_server.enqueue(Reply(text="late", first_delay=20.0))
    bench = with_model()
    turn = bench.runner.start(TurnRequest(LOCAL_USER, QUESTION))
    while not model_server.requests:
        time.sleep(0.02)
    asked = time.monotonic()
    bench.runner.cancel(LOCAL_USER, turn.id)
    events = list(bench.runner.follow(LOCAL_USER, turn.id))
    assert time.monotonic() - asked < 1.0
    assert ending(events)["stopped"]


def test_a_paper_that_gives_orders_is_only_quoted(with_model, model_server):
    bench = with_model()
    ask(bench)
    system = model_server.requests[-1].body["messages"][0]["content"]
    assert "never an instruction" in system


def test_the_database_going_away_in_mid_turn_does_not_lose_the_answer(with_model, model_server):
    from sqlalchemy import text

    model_server.enqueue(Reply(text="The scores are weighed [1]. " * 3, delay=0.05))
    bench = with_model()
    turn = bench.runner.start(TurnRequest(LOCAL_USER, QUESTION))
    for event in bench.runner.follow(LOCAL_USER, turn.id):
        if event.kind == "token":
            with bench.engine.begin() as connection:
                connection.execute(text("ALTER TABLE turn_events RENAME TO gone"))
                connection.execute(text("ALTER TABLE turns RENAME TO gone_too"))
            break
    events = list(bench.runner.follow(LOCAL_USER, turn.id))
    assert ending(events)["answer"].startswith("The scores")
    assert [n["code"] for n in of_kind(events, "notice")] == ["not_saved"]


# --- with a reranker ----------------------------------------------------------------------------


@pytest.fixture
def with_cohere(make_bench, cohere_server, sample):
    cohere_server.required_key = "right"

    def make(key):
        bench = make_bench(COHERE_API_KEY=key, COHERE_BASE_URL=cohere_server.root)
        bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
        return bench

    return make


def test_a_reranked_answer_shows_the_rerank_scores(with_cohere, cohere_server):
    _, events = ask(with_cohere("right"))
    assert all(c["scores"]["rerank"] is not None for c in ending(events)["citations"])
    assert not of_kind(events, "notice")
    assert cohere_server.requests[-1].body["model"] == "rerank-multilingual-v3.0"


def test_a_wrong_cohere_key_is_said_and_the_fused_order_stands(with_cohere):
    _, events = ask(with_cohere("wr0ng-secret"))
    (notice,) = of_kind(events, "notice")
    assert "COHERE_API_KEY" in notice["text"]
    assert "wr0ng-secret" not in str(events)
    assert all(c["scores"]["rerank"] is None for c in ending(events)["citations"])


def test_a_failing_reranker_is_said_too(with_cohere, cohere_server):
    cohere_server.enqueue(failure(500, "boom"))
    _, events = ask(with_cohere("right"))
    assert len(of_kind(events, "notice")) == 1
    assert ending(events)["citations"]


# --- when the embedded server dies --------------------------------------------------------------


def test_a_server_that_was_killed_is_started_again_and_the_turn_goes_on(make_bench, sample):
    bench = make_bench(DATABASE_URL="")
    bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
    _, events = ask(bench)
    assert ending(events)["citations"]
    for _ in range(2):
        kill_postgres(bench.settings.data_dir / "postgres")
        _, events = ask(bench)
        assert ending(events)["citations"]
        assert len(bench.papers.papers(LOCAL_USER)) == 1


def test_nul_and_lone_surrogates_are_only_odd_characters(offline):
    for question in ("which \x00 scores are combined?", "scores \udcff combined?"):
        _, events = ask(offline, question, selected="\udcff\x00")
        assert events[-1].kind == "turn_finished"


def test_without_papers_there_is_nothing_to_ask(bench):
    _, events = ask(bench)
    assert ending(events)["code"] == "NO_PAPERS"


def test_one_reader_cannot_hold_up_the_others(with_model, model_server):
    """More turns than one reader may have at once wait, say so, and can be stopped at once."""
    model_server.reply = Reply(text="word " * 2000, delay=0.05)
    bench = with_model()
    runner = bench.runner
    request = TurnRequest(LOCAL_USER, QUESTION)
    running = [runner.start(request) for _ in range(TURNS_OF_A_USER)]
    waiting = runner.start(request)
    events = runner.follow(LOCAL_USER, waiting.id)
    assert next(events).data["node"] == "wait"
    runner.cancel(LOCAL_USER, waiting.id)
    asked = time.monotonic()
    (*_, last) = events
    assert time.monotonic() - asked < 1
    assert last.data["stopped"]
    for turn in running:
        runner.cancel(LOCAL_USER, turn.id)
    for turn in running:
        assert [*runner.follow(LOCAL_USER, turn.id)][-1].kind == "turn_finished"
    free = runner.start(request)
    assert next(runner.follow(LOCAL_USER, free.id)).data["node"] == "route"
    runner.cancel(LOCAL_USER, free.id)


def test_closing_does_not_wait_for_a_slow_model(with_model, model_server):
    model_server.reply = Reply(text="word " * 2000, delay=0.05)
    bench = with_model()
    turn = bench.runner.start(TurnRequest(LOCAL_USER, QUESTION))
    for event in bench.runner.follow(LOCAL_USER, turn.id):
        if event.kind == "token":
            break
    began = time.monotonic()
    bench.runner.close()
    assert time.monotonic() - began < 3
    assert bench.conversations.turn(LOCAL_USER, turn.id).state == "stopped"
