"""A paper told by what its reader has read before, with a loopback model and without one."""

import json
import re
from datetime import datetime
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.agent.relations import FIRST_READING
from core.agent.state import TurnRequest
from core.cli import _parser
from core.errors import NotFound
from core.types import LOCAL_USER
from tests.fixtures.model_server import Reply, failure
from tests.integration.conftest import Asked, Room

INTENT = "personalized_summary"
BODY = ["Background", "Method", "Results", "Limitations", "What to read next"]
FUSION = "How Lectern Fuses Dense and Lexical Retrieval"
TODAY = datetime.now().astimezone().date().isoformat()
_PASSAGE = re.compile(r'<passage n="(\d+)" paper="([^"]*)"[^>]*>\s*(.*?)\s*</passage>', re.DOTALL)


@pytest.fixture
def room(room: Room):
    """The room of a reader who has read nothing yet."""
    with room.offline.engine.begin() as connection:
        connection.execute(text("DELETE FROM user_paper_profile"))
    return room


def read(room: Room, name: str, bench=None, question: str = "Summarise this for me") -> Asked:
    return room.ask(bench or room.offline, question, name, intent=INTENT)


def titles(asked: Asked) -> list[str]:
    return [part["title"] for part in asked.result["parts"] if part["title"]]


def history(room: Room) -> list[str]:
    return [row.title for row in room.offline.readings.history(LOCAL_USER)]


def everything(asked: Asked) -> str:
    """Return all that a reader sees of a turn."""
    result = asked.result
    seen = [result["answer"], result["parts"], result["sentences"], asked.of_kind("step_finished")]
    return json.dumps([*seen, asked.of_kind("token")], ensure_ascii=False)


def test_b_is_told_beside_a_with_its_date_and_after_forgetting_a_it_is_not(room):
    first = read(room, "fusion")
    assert titles(first) == ["A guide to a first reading", *BODY]
    assert FIRST_READING.search(everything(first)), "the check below can fail"
    assert history(room) == [FUSION]
    second = read(room, "citations")
    assert titles(second) == [f"Beside “{FUSION}”", "New to you here", "What you can skip", *BODY]
    beside = second.said(f"Beside “{FUSION}”")
    assert f"You read this on {TODAY}. What it did:" in beside
    assert "Lectern" in beside
    (recalled,) = second.of_kind("recalled")
    assert recalled["branch"] == "history"
    assert [row["paper_id"] for row in recalled["related"]] == [str(room.papers["fusion"])]
    cited = {c["paper_id"] for c in second.result["citations"]}
    assert {str(room.papers[name]) for name in ("fusion", "citations")} <= cited
    judged = [s["verdict"] for s in second.result["sentences"] if s["verdict"]]
    assert judged.count("supported") > 15
    assert not FIRST_READING.search(everything(second))
    room.offline.readings.forget(LOCAL_USER, [room.papers["fusion"]])
    again = read(room, "citations")
    assert again.of_kind("recalled")[0]["branch"] == "first_reading"
    assert "Beside" not in str(titles(again))


def test_a_deep_read_is_remembered_by_what_it_found_in_the_paper(room):
    room.ask(room.offline, "精读这篇", "fusion", intent="deep_read")
    (reading,) = room.offline.readings.history(LOCAL_USER)
    assert reading.title == FUSION
    assert reading.embedding_model == room.offline.embedders[0].name
    assert reading.model_name == ""
    assert reading.conversation_id
    assert "standardises the scores" in reading.summary
    assert not re.search(r"\[\d+\]|没有找到", reading.summary)
    asked = read(room, "crosslang", question="结合我读过的论文，总结这一篇")
    assert f"你在 {TODAY} 读过这一篇" in asked.said(f"与《{FUSION}》相比")
    assert not FIRST_READING.search(everything(asked))


def test_votes_and_other_readers_decide_what_is_recalled(room):
    bench, papers = room.offline, room.papers
    for name in ("fusion", "crosslang"):
        read(room, name)
    related = read(room, "citations").of_kind("recalled")[0]["related"]
    for _ in range(4):
        bench.readings.vote(LOCAL_USER, papers[_named(papers, related[0])], uuid4(), -1)
    again = read(room, "citations").of_kind("recalled")[0]["related"]
    assert [r["paper_id"] for r in again] == [r["paper_id"] for r in reversed(related)]
    assert again[-1]["weight"] == 0.25
    stranger = uuid4()
    bench.papers.add_to_library(stranger, papers["citations"], "c.pdf")
    turn = bench.runner.start(
        TurnRequest(stranger, "Summarise", (papers["citations"],), intent=INTENT)
    )
    theirs = Asked(list(bench.runner.follow(stranger, turn.id)))
    assert theirs.of_kind("recalled")[0]["related"] == []
    assert FUSION not in theirs.result["answer"].split("What to read next")[0]
    assert [row.user_id for row in _rows(bench) if row.user_id == stranger] == [stranger]


def _named(papers, row):
    return next(name for name, paper in papers.items() if str(paper) == row["paper_id"])


def _rows(bench):
    with bench.engine.connect() as connection:
        return connection.execute(text("SELECT user_id FROM user_paper_profile")).all()


# --- with a model -------------------------------------------------------------------------------


def summary(body):
    """Answer as a model would; what it says of a first reading must not come through."""
    found = _PASSAGE.findall(body["messages"][1]["content"])
    points = [{"text": t.split(".")[0] + ".", "passages": [int(n), 99]} for n, _, t in found[:3]]
    clumsy = {"text": "As this is your first reading on the topic, begin here.", "passages": []}
    lists = ("guide", "new", "skip", "background", "method", "results", "limits")
    value = {key: [*points[:1], clumsy] for key in lists}
    return json.dumps({**value, "related": [{"reading": 1, "relation": [clumsy, *points]}]})


def test_a_model_gets_the_readings_fenced_and_its_clumsy_words_are_left_out(room):
    room.model.reply = Reply(text=summary)
    first = read(room, "fusion", room.modelled)
    (request,) = room.model.requests
    assert "first reading" in request.body["messages"][0]["content"]
    assert first.result["mode"] == "llm"
    assert "begin here" in first.result["answer"]
    assert room.offline.readings.history(LOCAL_USER)[0].model_name == "loop"
    room.model.requests.clear()
    second = read(room, "citations", room.modelled)
    (request,) = room.model.requests
    system, user = (message["content"] for message in request.body["messages"])
    assert not FIRST_READING.search(system + user)
    assert f'<reading n="1" paper="{FUSION}" read_on="{TODAY}">' in user
    assert {paper for _, paper, _ in _PASSAGE.findall(user)} >= {FUSION}
    assert second.result["mode"] == "llm"
    assert not FIRST_READING.search(everything(second))
    assert f"You read this on {TODAY}" in second.said(f"Beside “{FUSION}”")
    assert any(s["removed"] for s in second.result["sentences"])


@pytest.mark.parametrize(
    ("reply", "notice"),
    [
        (failure(500, "boom"), "MODEL_SERVER"),
        (Reply(text=summary, drop_after=9), "MODEL_CUT_OFF"),
        (Reply(text="I have read it."), "MODEL_MALFORMED"),
    ],
)
def test_a_failing_model_leaves_both_papers_own_words(room, reply, notice):
    room.model.reply = reply
    read(room, "fusion")
    asked = read(room, "citations", room.modelled)
    assert asked.notices == [notice]
    assert asked.result["mode"] == "extractive"
    assert "Lectern" in asked.said(f"Beside “{FUSION}”")


# --- what is not remembered ---------------------------------------------------------------------


def test_a_stopped_turn_is_not_remembered(room):
    room.model.reply = Reply(text=summary, first_delay=20)
    runner, scope = room.modelled.runner, (room.papers["fusion"],)
    turn = runner.start(TurnRequest(LOCAL_USER, "Summarise", scope, intent=INTENT))
    for event in runner.follow(LOCAL_USER, turn.id):
        if event.kind == "step_started" and event.data["node"] == "summarise":
            runner.cancel(LOCAL_USER, turn.id)
    assert event.data["stopped"]
    assert history(room) == []


def test_what_cannot_be_stored_is_not_called_remembered(room):
    with room.offline.engine.begin() as connection:
        connection.execute(text("ALTER TABLE user_paper_profile RENAME TO away"))
    try:
        asked = read(room, "fusion")
    finally:
        with room.offline.engine.begin() as connection:
            connection.execute(text("ALTER TABLE away RENAME TO user_paper_profile"))
    assert asked.notices == ["not_recalled", "not_saved"]
    assert asked.of_kind("step_finished")[-1]["detail"] == "Not remembered"
    assert titles(asked)[1:] == BODY
    assert history(room) == []


def test_one_paper_has_to_be_chosen(room):
    failed = room.ask(room.offline, "Summarise this for me", intent=INTENT).failure
    assert failed["code"] == "ONE_PAPER"
    assert history(room) == []


def test_the_commands_give_branch_related_and_history(room):
    paper = str(room.papers["citations"])
    read(room, "fusion")
    done = command(room, "summarize", paper)
    assert (done["paper_id"], done["branch"]) == (paper, "history")
    (related,) = done["related"]
    assert set(related) == {"paper_id", "title", "read_at", "score", "weight"}
    assert FUSION in done["summary"]
    assert done["citations"]
    assert done["sentences"]
    latest, earlier = command(room, "history")
    assert (latest["paper_id"], earlier["title"]) == (paper, FUSION)
    assert set(latest) == {"paper_id", "title", "summary", "read_at", "embedding_model"}
    assert command(room, "forget", FUSION)["forgotten"]
    assert history(room) == [latest["title"]]
    with pytest.raises(NotFound):
        command(room, "forget", FUSION)


def command(room, *words):
    options = _parser().parse_args([*words, "--json"])
    return json.loads(json.dumps(options.run(room.offline, options)))
