"""Pasted claims and lists of references against the papers, with a loopback model and without one."""

import json

import pytest

from core.agent.claims import claims_of, of_the_text, pasted, references_of
from core.agent.state import TurnRequest
from core.types import LOCAL_USER
from tests.fixtures.model_server import Reply, failure
from tests.integration.conftest import Room

ENGLISH = (
    "Check these claims: The dense path maps Chinese and English text into one space of 512 dimensions [7]. "
    "It uses an encoder with 768 dimensions. Participants were paid for their annotations."
)
CHINESE = "核查以下说法：\n1. 跨语言检索中，数据文件夹没有加密。\n2. 数据文件夹经过加密。\n3. 作者对两百名大学生做了问卷调查。"
LIST = """[1] The Lectern project. How Lectern Fuses Dense and Lexical Retrieval. Lectern papers, 2026.
[2] J. Devlin, M. Chang. BERT: Pre-training of deep bidirectional transformers. NAACL, 2019."""


def check(room, question, bench=None, *names):
    return room.ask(bench or room.offline, question, *names, intent="verify_sources")


def verdicts(asked):
    return [sentence["verdict"] for sentence in asked.result["sentences"]]


def test_every_claim_keeps_its_words_and_gets_its_verdict_and_passages(room):
    asked = check(room, ENGLISH)
    (part,) = asked.result["parts"]
    assert (part["kind"], part["title"]) == ("claims", "Claims")
    assert verdicts(asked) == ["supported", "contradicted", "unsupported"]
    first = asked.result["sentences"][0]
    assert first["text"].startswith(
        "The dense path maps Chinese and English text into one space of 512"
    )
    assert "dimensions [7]" not in first["text"], "the reader's own [7] is none of ours"
    assert all(1 <= len(s["citations"]) <= 3 for s in asked.result["sentences"])
    quotes = {c["n"]: c["quote"] for c in asked.result["citations"]}
    assert any("512 dimensions" in quotes[n] for n in first["citations"])
    assert asked.result["mode"] == "extractive"


def test_claims_in_chinese(room):
    asked = check(room, CHINESE)
    assert asked.result["parts"][0]["title"] == "说法"
    assert verdicts(asked)[1:] == ["contradicted", "unsupported"]


def test_a_list_of_references_says_what_is_in_the_library_and_judges_nothing_else(room):
    asked = check(room, f"Which of these are in my library?\n{LIST}")
    (part,) = asked.result["parts"]
    assert part["kind"] == "table"
    assert len(part["heads"]) == 2
    said = [
        [" ".join(asked.result["sentences"][i]["text"] for i in cell) for cell in row]
        for row in part["rows"]
    ]
    assert said[0][0].startswith("In the library")
    assert "Lectern therefore standardises" in said[0][1] or "This paper reports" in said[0][1]
    assert said[1] == ["Not in the library.", ""]
    judged = [s for s in asked.result["sentences"] if s["verdict"]]
    assert judged
    assert all(s["verdict"] == "supported" for s in judged)
    narrowed = check(room, LIST, None, "crosslang").result
    assert all("Not in the library." in s["text"] for s in narrowed["sentences"])


def test_a_model_splits_the_text_and_the_rules_judge(room):
    claims = [
        "The dense path maps Chinese and English text into one space of 512 dimensions.",
        "The dense path uses an encoder with 768 dimensions.",
        "The dense path was trained by 40 experts.",
    ]
    room.model.reply = Reply(text=json.dumps({"claims": claims}))
    asked = check(room, ENGLISH, room.modelled)
    texts = [s["text"].split(" [")[0] for s in asked.result["sentences"]]
    assert texts == [*claims[:2], "Participants were paid for their annotations."]
    assert verdicts(asked) == ["supported", "contradicted", "unsupported"]
    assert asked.result["mode"] == "llm"
    assert asked.result["usage"]["prompt_tokens"] > 50
    (request,) = room.model.requests
    assert request.body["response_format"]["json_schema"]["schema"]["required"] == ["claims"]
    assert "<text_to_check>\nThe dense path" in request.body["messages"][1]["content"]


FAILURES = {
    "always 500": (failure(500, "boom"), "MODEL_SERVER"),
    "cut off": (Reply(text='{"claims": ["The dense path', drop_after=4), "MODEL_CUT_OFF"),
    "no JSON": (Reply(text="All of it is true."), "MODEL_MALFORMED"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_model_leaves_the_sentences_as_they_stand(room, case):
    room.model.reply, code = FAILURES[case]
    asked = check(room, ENGLISH, room.modelled)
    assert asked.notices == [code]
    assert verdicts(asked) == ["supported", "contradicted", "unsupported"]
    assert asked.result["mode"] == "extractive"


def test_what_cannot_be_checked_is_said(room, bench):
    assert check(room, "Check these claims:").failure["code"] == "NO_CLAIMS"
    assert check(room, "Hello!").failure["code"] == "NO_CLAIMS"
    empty = Room(bench, bench, room.model, {})
    assert check(empty, ENGLISH).failure["code"] == "NO_PAPERS"


def test_no_more_than_forty_are_checked_and_the_rest_is_told(room):
    many = "\n".join(f"- Set {n} has {n} passages in the library." for n in range(1, 46))
    asked = check(room, f"Check these claims:\n{many}", None, "fusion")
    assert len(asked.result["sentences"]) == 40
    assert asked.of_kind("notice")[0]["text"] == "Only the first 40 of 45 are checked."


def test_the_order_is_taken_off_and_questions_become_claims():
    assert pasted("Is it true that BM25 is lexical?", "") == "BM25 is lexical"
    assert pasted("只测量了一种编码器，对吗？", "") == "只测量了一种编码器"
    assert pasted("check this", "BM25 is lexical.") == "BM25 is lexical."
    assert pasted("BM25 checks: it counts terms.", "") == "BM25 checks: it counts terms."
    assert claims_of("Hello! BM25 counts terms. Does it?") == ["BM25 counts terms."]


def test_sentences_are_no_references_and_references_are():
    assert not references_of("BERT was introduced in 2018. Smith et al. (2019) showed it works.")
    assert len(references_of(LIST)) == 2
    assert len(references_of("@article{a, title={A study of many things}, year=2020}")) == 1


def test_a_model_neither_adds_a_claim_nor_loses_one():
    text = "DPR beats BM25 by 9% and is fast. It was not tested on TREC."
    assert of_the_text(["DPR beats BM25 by 9%.", "DPR was tested on TREC."], text)[-1].startswith(
        "It was not"
    )
    assert of_the_text(["DPR beats BM25 by 19%."], text) == claims_of(text)


def test_stop_keeps_the_claims_that_were_looked_up(room):
    many = "\n".join(f"- Set {n} has {n} passages in the library." for n in range(1, 41))
    runner = room.offline.runner
    request = TurnRequest(LOCAL_USER, f"Check these claims:\n{many}", intent="verify_sources")
    turn = runner.start(request)
    for event in runner.follow(LOCAL_USER, turn.id):
        if event.kind == "step_progress":
            runner.cancel(LOCAL_USER, turn.id)
    assert event.data["stopped"]
    (part,) = event.data["parts"]
    assert 1 <= len(part["items"]) < 40
