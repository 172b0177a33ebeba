"""Papers side by side, with a loopback model and without one."""

import json
import re
from uuid import uuid4

import pytest

from core.agent.choosing import PaperInScope
from core.agent.nodes.compare import compared
from core.agent.state import TurnRequest
from core.errors import BadInput
from core.types import LOCAL_USER, Scope
from tests.fixtures.model_server import Reply, failure

ASK = "Compare these papers"
TABLE, TERMS, FIGURES = "Side by side", "Terms they share", "Measures they share"
LABELS = {
    ("Task", 0): "ways of joining the two|how to join them",
    ("Data", 0): "development halves|QASPER",
    ("Data", 1): "231 篇",
    ("Metrics", 0): "nDCG@10.*recall@5",
    ("Metrics", 1): "nDCG@10.*命中率",
    ("Limitations", 0): "confirmed on questions",
    ("Limitations", 1): "只有 231 篇|一种多语言编码器|开发集",
}


def columns(body):
    """Answer as a model would: cells that cite a passage, then differences that cite the cells."""
    system, user = (message["content"] for message in body["messages"])
    if "<note" in user:
        return json.dumps(
            {
                "agreements": ["Both measure retrieval [1][3]."],
                "differences": ["One has more [2][88]."],
            }
        )
    n = int(re.findall(r'<passage n="(\d+)"', user)[0])
    asked = [{"text": "Sets of its own", "passages": [n, 55]}] if '"asked"' in system else []
    return json.dumps(
        {"task": [{"text": "Finding passages", "passages": [n]}], "method": asked, "asked": asked}
    )


def cell(result, title, head, at):
    (part,) = [part for part in result["parts"] if part["title"] == title]
    row = part["rows"][list(part["heads"]).index(head)]
    return [result["sentences"][i] for i in row[at]]


def test_without_a_model_each_cell_is_the_papers_own_sentence(room):
    result = room.ask(room.offline, ASK, "fusion", "crosslang", intent="compare").result
    assert result["mode"] == "extractive"
    (table, *_) = result["parts"]
    assert list(table["columns"]) == [
        "How Lectern Fuses Dense and Lexical Retrieval", "跨语言检索：中文问题与英文论文",
    ]  # fmt: skip
    owners = [str(room.papers["fusion"]), str(room.papers["crosslang"])]
    owner = {c["n"]: str(c["paper_id"]) for c in result["citations"]}
    for (head, at), pattern in LABELS.items():
        sentences = cell(result, TABLE, head, at)
        assert re.search(pattern, " ".join(s["text"] for s in sentences)), head
        assert {owner[n] for s in sentences for n in s["citations"]} == {owners[at]}
    assert (
        cell(result, TERMS, "BM25", 0)[0]["citations"]
        != cell(result, TERMS, "BM25", 1)[0]["citations"]
    )
    assert cell(result, FIGURES, "nDCG@10", 1)[0]["text"].startswith("0.9")
    assert {s["verdict"] for s in result["sentences"] if s["citations"]} == {"supported"}


def test_the_whole_library_can_be_compared_in_chinese_with_an_aspect_of_the_readers(room):
    result = room.ask(room.offline, "比较这些论文的内嵌数据库", intent="compare").result
    (table, *_) = result["parts"]
    assert len(table["columns"]) == 4
    assert table["heads"][-1] == "内嵌数据库"
    at = next(i for i, title in enumerate(table["columns"]) if "内嵌" in title)
    assert "数据库" in cell(result, "并排比较", "内嵌数据库", at)[0]["text"]


@pytest.mark.parametrize(("count", "code"), [(0, "NO_PAPERS"), (1, None), (7, None)])
def test_two_to_six_papers_are_compared(count, code):
    paper = PaperInScope(uuid4(), "A paper", False, Scope(LOCAL_USER))
    with pytest.raises(BadInput) as caught:
        compared([paper] * count)
    assert caught.value.code == (code or "TWO_TO_SIX_PAPERS")
    assert caught.value.hint


def test_one_paper_cannot_be_compared(room):
    assert "2 to 6" in room.ask(room.offline, ASK, "fusion", intent="compare").failure["hint"]


def test_a_model_writes_each_column_and_then_what_differs(room):
    room.model.reply = Reply(text=columns)
    asked = room.ask(room.modelled, ASK, "fusion", "crosslang", intent="compare")
    result = asked.result
    assert result["mode"] == "llm"
    assert not asked.notices
    first, second, last = (r.body["messages"][1]["content"] for r in room.model.requests)
    assert "跨语言检索" not in first
    assert "How Lectern Fuses" not in second
    assert last.count("<note n=") == 2
    assert cell(result, TABLE, "Task", 0)[0]["text"].startswith("Finding passages [")
    assert cell(result, TABLE, "Data", 1)[0]["text"] == "No sentence about this was found."
    assert asked.said("Agreements").startswith("Both measure retrieval [1]")
    assert [s["removed"] for s in result["sentences"] if s["removed"]] == [[999], [999]]
    assert result["usage"]["prompt_tokens"] > 500


FAILURES = {
    "always 500": ([], failure(500, "boom"), "MODEL_SERVER", "extractive"),
    "cut off": ([], Reply(text=columns, drop_after=5), "MODEL_CUT_OFF", "extractive"),
    "another shape": ([], Reply(text='{"task": 3}'), "MODEL_MALFORMED", "extractive"),
    "500 later": ([Reply(text=columns)], failure(500, "boom"), "MODEL_SERVER", "llm"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_model_leaves_the_papers_own_words(room, case):
    script, room.model.reply, code, mode = FAILURES[case]
    room.model.enqueue(*script)
    asked = room.ask(room.modelled, ASK, "fusion", "crosslang", intent="compare")
    assert asked.notices == [code]
    assert asked.result["mode"] == mode
    assert "231 篇" in cell(asked.result, TABLE, "Data", 1)[0]["text"]
    assert "BM25" in asked.said(TERMS)
    assert "k-secret" not in str(asked.events)


def test_stop_keeps_the_columns_that_are_done(room):
    room.model.enqueue(Reply(text=columns))
    room.model.reply = Reply(text=columns, first_delay=20)
    runner = room.modelled.runner
    scope = (room.papers["fusion"], room.papers["crosslang"])
    turn = runner.start(TurnRequest(LOCAL_USER, ASK, paper_ids=scope, intent="compare"))
    for event in runner.follow(LOCAL_USER, turn.id):
        if event.kind == "step_progress" and event.data["detail"].startswith("1 of"):
            runner.cancel(LOCAL_USER, turn.id)
    assert event.data["stopped"]
    (table,) = event.data["parts"]
    assert list(table["columns"]) == ["How Lectern Fuses Dense and Lexical Retrieval"]
