"""A turn chooses its way and understands its question: with a loopback model and without one."""

import sys
import time
from types import ModuleType

import pytest

from core.agent import intents
from core.agent.intents import Intent
from core.agent.state import StepResult, TurnRequest
from core.cli import _parser
from core.types import LOCAL_USER
from tests.fixtures.model_server import Reply, failure
from tests.integration.conftest import Asked
from ui.ways import options

QUESTION = "How are the scores of the retrieval paths combined?"


def chosen(asked):
    (step,) = [data for data in asked.of_kind("step_finished") if data["node"] == "route"]
    return step


def ask(bench, question, **request):
    turn = bench.runner.start(TurnRequest(LOCAL_USER, question, **request))
    return turn, Asked(list(bench.runner.follow(LOCAL_USER, turn.id)))


def test_an_intent_is_one_entry_and_a_module(make_bench, sample, monkeypatch):
    """Found by router, graph, timeline, picker and command line, with no other edit."""
    entry = Intent(
        "count_words",
        "Count words",
        "Count the words of the question.",
        "tag",
        ("count_words", "verify"),
        ("Count the words of my question.", "数一数问题里的词"),
    )
    step = ModuleType("core.agent.nodes.count_words")
    step.TITLE = "Count"
    step.run = lambda state, context: StepResult(
        {"answer": f"{len(state['question'].split())} words."}, "counted"
    )
    monkeypatch.setitem(sys.modules, step.__name__, step)
    monkeypatch.setattr(intents, "INTENTS", (*intents.INTENTS, entry))
    bench = make_bench()
    bench.ingestor.ingest(LOCAL_USER, sample.name, sample.read_bytes())
    _, asked = ask(bench, "Please count the words of my question")
    steps = asked.of_kind("step_finished")
    assert [data["node"] for data in steps] == ["route", "count_words", "verify"]
    assert steps[0]["detail"].startswith("Count words (nearest example, 0.")
    assert steps[1]["detail"] == "counted"
    assert asked.result["intent"] == "count_words"
    assert asked.result["answer"] == "7 words."
    assert "count_words" in options()
    assert _parser().parse_args(["ask", "?", "--intent", "count_words"]).intent == "count_words"


def test_a_forced_intent_wins_without_asking(room):
    room.model.asides["Choice"] = Reply('{"intent": "deep_read", "confidence": 1}')
    asked = room.ask(room.modelled, "Read this paper deeply", "fusion", intent="chat")
    assert asked.result["intent"] == "chat"
    assert room.model.asked_aside == []
    assert chosen(asked)["detail"].endswith("(chosen by you)")


def test_the_model_chooses_from_the_table(room):
    room.model.asides["Choice"] = Reply('```json\n{"intent": "deep_read", "confidence": 0.8}\n```')
    asked = room.ask(room.modelled, QUESTION, "fusion", intent="")
    assert asked.result["intent"] == "deep_read"
    assert chosen(asked)["detail"].endswith("(chosen by the model)")
    assert chosen(asked)["tokens"] > 0
    body = room.model.asked_aside[0].body
    listed = body["response_format"]["json_schema"]["schema"]["properties"]["intent"]["enum"]
    assert listed == [entry.name for entry in intents.all_intents()]


@pytest.mark.parametrize(
    "text",
    [
        "deep_read",
        '{"intent": null}',
        '{"intent": "poetry", "confidence": 1}',
        '{"intent": "chat"}',
    ],
)
def test_a_choice_of_no_use_leaves_it_to_the_wording(room, text):
    room.model.asides["Choice"] = Reply(text)
    room.model.reply = Reply("They are weighed [1].")
    asked = room.ask(room.modelled, QUESTION, "fusion", intent="")
    assert asked.result["intent"] == "chat"
    assert asked.result["mode"] == "llm"
    assert asked.notices == []


def test_a_model_that_fails_to_choose_is_told_once_and_not_asked_again(room):
    room.model.asides["Choice"] = failure(401, "bad key")
    asked = room.ask(room.modelled, QUESTION, "fusion", intent="")
    assert asked.notices == ["MODEL_KEY"]
    assert room.model.requests == []
    assert asked.result["mode"] == "extractive"
    assert asked.result["citations"]


def test_tokens_of_all_steps_are_added_up(room):
    room.model.reply = Reply("They are weighed [1].")
    forced = room.ask(room.modelled, QUESTION, "fusion", intent="chat").result["usage"]
    asked = room.ask(room.modelled, QUESTION, "fusion", intent="")
    assert asked.result["usage"]["prompt_tokens"] == forced["prompt_tokens"] + (
        chosen(asked)["tokens"]
        - asked.result["usage"]["completion_tokens"]
        + forced["completion_tokens"]
    )
    assert not asked.result["usage"]["estimated"]


def rewritten(asked):
    (step,) = [data for data in asked.of_kind("step_finished") if data["node"] == "rewrite"]
    return step["detail"]


def follow_up(room, bench, question):
    papers = (room.papers["fusion"],)
    first, _ = ask(bench, QUESTION, paper_ids=papers, intent="chat")
    _, asked = ask(
        bench, question, paper_ids=papers, intent="chat", conversation_id=first.conversation_id
    )
    return asked


def test_a_follow_up_is_answered_as_what_it_means_without_a_model(room):
    asked = follow_up(room, room.offline, "Why?")
    assert rewritten(asked) == f"{QUESTION} Why?"
    assert asked.result["citations"]
    alone = follow_up(room, room.offline, "Which languages are covered?")
    assert rewritten(alone) == "Which languages are covered?"


def test_the_model_rewrites_and_answers_the_rewritten_question(room):
    meant = "What is the weakness of fusing the scores?"
    room.model.asides["Rewritten"] = Reply(f'{{"question": "{meant}"}}')
    room.model.reply = Reply("They are weighed [1].")
    asked = follow_up(room, room.modelled, "And its weakness?")
    assert rewritten(asked) == meant
    prompt = room.model.requests[-1].body["messages"][-1]["content"]
    assert prompt.endswith(f"Question: {meant}")
    aside = room.model.asked_aside[-1].body["messages"][-1]["content"]
    assert QUESTION in aside
    assert "They are weighed" in aside


@pytest.mark.parametrize("text", ["no", "{}", '{"question": ""}', '{"question": "评分怎么融合？"}'])
def test_a_rewriting_of_no_use_leaves_it_to_the_rules(room, text):
    room.model.asides["Rewritten"] = Reply(text)
    room.model.reply = Reply("They are weighed [1].")
    asked = follow_up(room, room.modelled, "Why?")
    assert rewritten(asked) == f"{QUESTION} Why?"
    assert asked.notices == []


def test_a_model_that_fails_to_rewrite_is_told_once(room):
    room.model.asides["Rewritten"] = failure(401, "bad key")
    asked = follow_up(room, room.modelled, "Why?")
    assert asked.notices == ["MODEL_KEY"]
    assert rewritten(asked) == f"{QUESTION} Why?"
    assert asked.result["mode"] == "extractive"


def test_stop_while_the_model_chooses(room):
    room.model.asides["Choice"] = Reply("late", first_delay=20.0)
    runner = room.modelled.runner
    turn = runner.start(TurnRequest(LOCAL_USER, QUESTION))
    while not room.model.asked_aside:
        time.sleep(0.02)
    runner.cancel(LOCAL_USER, turn.id)
    asked = Asked(list(runner.follow(LOCAL_USER, turn.id)))
    assert asked.result["stopped"]
    assert room.model.requests == []
