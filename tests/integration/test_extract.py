"""The form about a paper and the table of its results, with a loopback model and without one."""

import json
import re

import pytest

from core.agent.state import TurnRequest
from core.types import LOCAL_USER
from tests.fixtures.model_server import Reply, failure
from tests.integration.conftest import Room

FORM, FIGURES = "What the paper says", "Results in figures"
ASK = "Extract the key facts of this paper as a table"
_PASSAGE = re.compile(r'<passage n="(\d+)"[^>]*>\s*(.*?)\s*</passage>', re.DOTALL)


_NUMBER = re.compile(r"(?<![\w.])0\.\d+(?![\w.])")


def filled(body):
    """Answer as a model would: fields and results that cite a passage with a number in it."""
    passages = [(int(n), text) for n, text in _PASSAGE.findall(body["messages"][1]["content"])]
    n, value = next(
        ((n, m.group()) for n, text in passages if (m := _NUMBER.search(text))), (1, "7")
    )
    right = {"metric": "score", "value": value, "on": "", "passages": [n]}
    return json.dumps(
        {
            "task": [{"text": "Joining two ranked lists", "passages": [n, 77]}],
            "method": [{"text": f"A sum of scores [{n}]", "passages": []}],
            "results": [right, {**right, "value": "0.91703"}],
        }
    )


def part(result, title):
    (found,) = [part for part in result["parts"] if part["title"] == title]
    return found


def table(result, title):
    """Return a part's rows as texts with verdicts: head, then one list of sentences a column."""
    found, said = part(result, title), result["sentences"]
    return [
        (head, [[(said[i]["text"], said[i]["verdict"]) for i in cell] for cell in row])
        for head, row in zip(found["heads"], found["rows"], strict=True)
    ]


def test_without_a_model_fields_and_values_are_the_papers_own(room):
    result = room.ask(room.offline, ASK, "fusion", intent="extract").result
    assert result["mode"] == "extractive"
    assert list(part(result, FORM)["heads"]) == [
        "Task", "Method", "Data", "Metrics", "Results", "Limitations",
    ]  # fmt: skip
    values = table(result, FIGURES)
    assert all(text for _, row in values for text, _ in row[0])
    found = {
        (head, row[0][0][0].split(" [")[0], *(t.split(" [")[0] for t, _ in row[1]))
        for head, row in values
    }
    assert ("nDCG@10", "0.719", "SciFact") in found
    assert ("nDCG@10", "0.854", "SciFact", "Standardised, w = 0.4") in found
    assert ("recall@5", "0.441", "QASPER", "Dense only") in found
    assert "confirmed on questions" in dict(table(result, FORM))["Limitations"][0][0][0]
    cells = [s for s in result["sentences"] if s["citations"]]
    assert len(cells) > 20
    assert all(s["verdict"] == "supported" for s in cells)
    assert {c["page"] for c in result["citations"]} == {1, 2}


def test_a_follow_up_is_put_to_the_model_as_it_would_be_asked_alone(room):
    room.model.reply = Reply(text=filled)
    runner, conversation = room.modelled.runner, None
    for question in ("Extract the embedding model", "And its weights?"):
        scope = (room.papers["fusion"],)
        turn = runner.start(
            TurnRequest(LOCAL_USER, question, scope, conversation, intent="extract")
        )
        (*_, done) = runner.follow(LOCAL_USER, turn.id)
        conversation = turn.conversation_id
    forms = [r.body["messages"][1]["content"] for r in room.model.requests]
    forms = [content for content in forms if "<passage" in content]
    assert "the embedding model's weights?" in forms[-1]
    assert part(done.data, FORM)["heads"][-1] == "embedding model's weights"


def test_a_chinese_form_of_several_papers_names_each_and_keeps_units(room):
    question = "把这些论文的关键信息和硬件环境提取成表格"
    result = room.ask(room.offline, question, "crosslang", "localfirst", intent="extract").result
    titles = [part["title"] for part in result["parts"] if part["kind"] == "table"]
    assert len(titles) == 4
    assert titles[0].startswith("跨语言检索")
    assert part(result, titles[0])["heads"][-1] == "硬件环境"
    times = {head: row[0][0][0] for head, row in table(result, titles[3])}
    assert times["识别一页扫描件"].startswith("5.4 秒 [")
    assert {s["verdict"] for s in result["sentences"] if s["citations"]} == {"supported"}


def test_a_model_fills_the_form_and_each_cell_is_checked(room):
    room.model.reply = Reply(text=filled)
    asked = room.ask(room.modelled, ASK, "fusion", intent="extract")
    result = asked.result
    assert result["mode"] == "llm"
    assert not asked.notices
    (request,) = room.model.requests
    assert request.body["response_format"]["type"] == "json_schema"
    assert result["usage"]["prompt_tokens"] > 500
    form = dict(table(result, FORM))
    assert form["Task"][0][0][0].startswith("Joining two ranked lists [1]"), form
    assert form["Task"][1][0][1] == "supported"
    assert form["Limitations"] == [[("No sentence about this was found.", None)], []]
    assert [s["removed"] for s in result["sentences"] if s["removed"]] == [[999]]
    (_, right), (_, wrong) = table(result, FIGURES)
    assert re.fullmatch(r"0\.\d+ \[\d\]", right[0][0][0])
    assert right[0][0][1] == "supported"
    assert wrong[0][0][1] == "unsupported"
    assert [c["n"] for c in result["citations"]] == list(range(1, len(result["citations"]) + 1))


FAILURES = {
    "always 500": (failure(500, "boom"), "MODEL_SERVER"),
    "wrong key": (failure(401, "bad key"), "MODEL_KEY"),
    "cut off": (Reply(text=filled, drop_after=9), "MODEL_CUT_OFF"),
    "no JSON": (Reply(text="Here is your form: it is a good paper."), "MODEL_MALFORMED"),
    "another shape": (Reply(text='{"task": "joining"}'), "MODEL_MALFORMED"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_model_leaves_the_papers_own_words(room, case):
    room.model.reply, code = FAILURES[case]
    asked = room.ask(room.modelled, ASK, "citations", intent="extract")
    assert asked.notices == [code]
    assert asked.result["mode"] == "extractive"
    assert "not yet a place of its own" in asked.result["answer"]
    assert "k-secret" not in str(asked.events)


def test_what_the_model_filled_in_is_kept_when_it_fails_later(room):
    room.model.enqueue(Reply(text=filled))
    room.model.reply = failure(500, "boom")
    asked = room.ask(room.modelled, ASK, "fusion", "citations", intent="extract")
    assert asked.notices == ["MODEL_SERVER"]
    assert asked.result["mode"] == "llm"
    assert "Joining two ranked lists" in asked.result["answer"]
    assert "not yet a place of its own" in asked.result["answer"]


def test_stop_keeps_the_papers_that_are_done(room):
    room.model.enqueue(Reply(text=filled))
    room.model.reply = Reply(text=filled, first_delay=20)
    runner = room.modelled.runner
    scope = (room.papers["fusion"], room.papers["citations"])
    turn = runner.start(TurnRequest(LOCAL_USER, ASK, paper_ids=scope, intent="extract"))
    for event in runner.follow(LOCAL_USER, turn.id):
        if event.kind == "token" and FIGURES in event.data["text"]:
            runner.cancel(LOCAL_USER, turn.id)
    assert event.data["stopped"]
    assert {part["title"].split(":")[0] for part in event.data["parts"]} == {
        "How Lectern Fuses Dense and Lexical Retrieval"
    }


def test_papers_that_say_nothing_give_empty_fields(bench):
    ask = Room(bench, bench, None, {}).ask
    assert ask(bench, ASK, intent="extract").failure["code"] == "NO_PAPERS"
    text = "# Apples\n\n" + "Apples are round and grow on old trees in gardens. " * 9
    bench.ingestor.ingest(LOCAL_USER, "apples.md", text.encode())
    result = ask(bench, ASK, intent="extract").result
    form = dict(table(result, FORM))
    assert form["Data"] == form["Limitations"] == [[("No sentence about this was found.", None)]]
