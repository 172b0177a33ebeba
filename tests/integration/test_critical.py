"""The critical review of a paper, with a loopback model and without one."""

import json
import re

import pytest

from core.agent.absences import missing
from core.agent.state import TurnRequest
from core.types import LOCAL_USER
from tests.fixtures.model_server import Reply, failure
from tests.integration.conftest import Room

ASK = "Review this paper critically"
ADMITTED, ABSENT, NEXT = "What the authors admit", "Looked for and not found", "What to check next"
LABELS = {
    "fusion": {
        "Comparisons and ablations made": "We compare five rules on four sets",
        "Samples, spread and significance": "a paired bootstrap is the honest way",
        "Threats to validity": "development halves|favours shared words",
        ADMITTED: "titles, not spoken questions",
        ABSENT: "ablation",
    },
    "citations": {
        "Claims and the evidence for them": ".",
        ADMITTED: "single cell of a table|judgement made by rules",
        ABSENT: "significance test",
        NEXT: r"significance test\\?",
    },
}


def weighed(body):
    """Answer as a model would, with an invented number and a wrong figure."""
    n = int(re.findall(r'<passage n="(\d+)"', body["messages"][1]["content"])[0])
    claim = {
        "claim": "Fusion matters",
        "claim_passages": [n],
        "evidence": "",
        "evidence_passages": [],
    }
    return json.dumps(
        {
            "claims": [claim, {**claim, "evidence": "It wins by 93.7%", "evidence_passages": [n]}],
            "threats": [{"text": "Four sets were used", "passages": [n, 66]}],
            "missing": ["Why is there no learned fusion?", "The authors hid 41 failed runs"],
            "next": ["The sample is biased. Does it hold for speech?"],
        }
    )


@pytest.mark.parametrize("name", LABELS)
def test_without_a_model_the_papers_words_are_put_side_by_side(room, name):
    asked = room.ask(room.offline, ASK, name, intent="critical")
    for title, pattern in LABELS[name].items():
        assert re.search(pattern, asked.said(title)), (title, asked.said(title))
    result = asked.result
    assert result["mode"] == "extractive"
    for sentence in result["sentences"]:
        expected = "supported" if sentence["citations"] else None
        assert sentence["verdict"] == expected, sentence


def test_a_chinese_review_speaks_chinese_and_says_what_was_looked_for(room):
    asked = room.ask(room.offline, "批判性地评价这篇论文", "crosslang", intent="critical")
    assert "一种多语言编码器" in asked.said("有效性威胁") + asked.said("作者承认的局限")
    assert "显著性检验" in asked.said("查找过但没有找到")
    assert {s["verdict"] for s in asked.result["sentences"]} == {"supported", None}


def test_a_model_weighs_and_each_point_is_checked(room):
    room.model.reply = Reply(text=weighed)
    asked = room.ask(room.modelled, ASK, "fusion", intent="critical")
    result = asked.result
    assert result["mode"] == "llm"
    assert not asked.notices
    assert room.model.requests[0].body["response_format"]["type"] == "json_schema"
    wrong = [s for s in result["sentences"] if "93.7" in s["text"]]
    assert [s["verdict"] for s in wrong] == ["unsupported"]
    assert "No sentence elsewhere" in asked.said("Claims and the evidence for them")
    assert [s["removed"] for s in result["sentences"] if s["removed"]] == [[999]]
    assert asked.said("Questions to the authors").startswith("Why is there no learned fusion? The")
    assert asked.said(NEXT).startswith("The sample is biased. Does it hold for speech? ")
    verdicts = {s["text"]: s["verdict"] for s in result["sentences"]}
    assert verdicts["Why is there no learned fusion?"] is None
    assert verdicts["Does it hold for speech?"] is None
    assert verdicts["The authors hid 41 failed runs"] == "unsupported"
    assert verdicts["The sample is biased."] == "unsupported"
    assert "ablation" in asked.said(ABSENT), "what is absent is told by rules"


FAILURES = {
    "always 500": (failure(500, "boom"), "MODEL_SERVER"),
    "cut off": (Reply(text=weighed, drop_after=9), "MODEL_CUT_OFF"),
    "another shape": (Reply(text='{"claims": "none"}'), "MODEL_MALFORMED"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_model_leaves_the_papers_own_words(room, case):
    room.model.reply, code = FAILURES[case]
    asked = room.ask(room.modelled, ASK, "fusion", intent="critical")
    assert asked.notices == [code]
    assert asked.result["mode"] == "extractive"
    assert "titles, not spoken" in asked.said(ADMITTED)
    assert "k-secret" not in str(asked.events)


def test_stop_writes_nothing_more(room):
    room.model.reply = Reply(text=weighed, first_delay=20)
    runner = room.modelled.runner
    scope = (room.papers["fusion"],)
    turn = runner.start(TurnRequest(LOCAL_USER, ASK, paper_ids=scope, intent="critical"))
    for event in runner.follow(LOCAL_USER, turn.id):
        if event.kind == "step_started" and event.data["node"] == "critique":
            runner.cancel(LOCAL_USER, turn.id)
    assert event.data["stopped"]
    assert event.data["parts"] == []


def test_a_paper_without_anything_to_weigh_says_so(bench):
    ask = Room(bench, bench, None, {}).ask
    assert ask(bench, ASK, intent="critical").failure["code"] == "NO_PAPERS"
    text = "# Apples\n\n" + "Apples are round and grow on old trees in gardens. " * 9
    bench.ingestor.ingest(LOCAL_USER, "apples.md", text.encode())
    asked = ask(bench, ASK, intent="critical")
    assert asked.said("Threats to validity") == "No sentence about this was found."
    assert asked.said(ABSENT).count("(looked for:") == 7


def test_what_is_there_is_not_called_absent():
    everything = (
        "The code is available. Significant at the 0.05 level. Averaged over five runs. An ablation. "
        "The baseline. A limitation. Funded by a grant."
    )
    assert missing([everything]) == []
    assert (
        missing(
            ["代码已开源。做了显著性检验，标准差为 1。消融实验。与基线相比。局限。受基金资助。"]
        )
        == []
    )
