"""Reading notes on a whole paper, with a loopback model and without one."""

import json
import re
from functools import partial

import pytest

from core.agent.reading_notes import glossary
from core.agent.state import TurnRequest
from core.models.budget import estimate_tokens
from core.types import LOCAL_USER
from tests.fixtures.model_server import Reply, failure
from tests.integration.conftest import Room

ENGLISH = ["Problem", "Idea", "Method, step by step", "Evidence", "Limitations", "Questions to ask"]
ONE = {
    "notes": [{"part": "idea", "text": "Scores are standardised and added [1]."}],
    "terms": [],
}
_PASSAGE = re.compile(r'<passage n="(\d+)"[^>]*>\s*(.*?)\s*</passage>', re.DOTALL)


def notes(body):
    """Answer as a model would: a note a passage while reading, one sentence when merging."""
    system = body["messages"][0]["content"]
    if "merge" in system:
        return json.dumps({"sentences": ["Merged from the notes [1][2]."]})
    user = body["messages"][1]["content"]
    parts = ("problem", "idea", "method", "evidence", "limits")
    found = [
        {"part": parts[int(n) % 5], "text": f"{text.split('.')[0][:200]} [{n}][77]."}
        for n, text in _PASSAGE.findall(user)
    ]
    terms = [{"term": "BM25", "meaning": "A lexical path [1]."}]
    question = {"part": "question", "text": "Does it hold elsewhere?"}
    return json.dumps({"notes": [*found[:8], question], "terms": terms})


def test_without_a_model_the_paper_speaks_for_itself(room):
    asked = room.ask(room.offline, "Read this deeply", "fusion", intent="deep_read")
    result = asked.result
    assert [part["title"] for part in result["parts"]][:6] == ENGLISH
    assert result["mode"] == "extractive"
    assert not asked.notices
    assert "confirmed on questions that were never looked at" in asked.said("Limitations")
    assert "Lectern standardises the scores" in asked.said("Method, step by step")
    judged = [s for s in result["sentences"] if s["verdict"]]
    assert len(judged) > 12
    assert all(s["verdict"] == "supported" for s in judged)
    assert not any("References" in c["section"] for c in result["citations"])
    questions = [s for s in result["sentences"] if "”?" in s["text"]]
    assert questions
    assert all(s["verdict"] is None and s["citations"] for s in questions)


@pytest.mark.parametrize(
    ("question", "names"),
    [("精读这篇论文", ["crosslang"]), ("精读《跨语言检索：中文问题与英文论文》", [])],
)
def test_one_paper_is_chosen_or_named_and_notes_speak_the_questions_language(room, question, names):
    assert "231 篇" in room.ask(room.offline, question, *names, intent="deep_read").said("局限")


def test_of_several_papers_one_has_to_be_chosen(room):
    failure = room.ask(room.offline, "Read this deeply", intent="deep_read").failure
    assert failure["code"] == "ONE_PAPER"
    assert "Choose one paper" in failure["hint"]


def test_a_paper_that_says_nothing_of_a_part_says_so_without_a_citation(bench):
    ask = partial(Room(bench, bench, None, {}).ask, bench, "Read this", intent="deep_read")
    assert ask().failure["code"] == "NO_PAPERS"
    text = "# Apples\n\n## Introduction\n\n" + "Apples are round and grow on trees in gardens. " * 9
    bench.ingestor.ingest(LOCAL_USER, "apples.md", text.encode())
    asked = ask()
    assert asked.said("Evidence") == "No sentence about this was found."
    (silent, *_) = [
        s for s in asked.result["sentences"] if s["text"] == "No sentence about this was found."
    ]
    assert silent["verdict"] is None
    assert not silent["citations"]


def test_a_model_reads_every_stretch_and_its_numbers_are_the_answers_own(room):
    room.model.reply = Reply(text=notes)
    asked = room.ask(room.modelled, "Read this deeply", "fusion", intent="deep_read")
    result = asked.result
    bodies = [request.body for request in room.model.requests]
    reading = [b for b in bodies if "take reading notes" in b["messages"][0]["content"]]
    merging = [b for b in bodies if "You merge" in b["messages"][0]["content"]]
    assert len(reading) > 2
    assert merging
    for body in bodies:
        assert body["response_format"]["type"] == "json_schema"
        assert estimate_tokens(str(body["messages"])) < room.modelled.settings.llm_context_tokens
    texts = " ".join(
        text for b in reading for _, text in _PASSAGE.findall(b["messages"][1]["content"])
    )
    assert "Standardised scores" in texts
    assert "Probabilistic Relevance" not in texts, "references are not read"
    assert result["mode"] == "llm"
    assert result["usage"]["prompt_tokens"] > 1000
    assert not asked.notices
    assert "Merged from the notes" in asked.said("Idea")
    numbers = [c["n"] for c in result["citations"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert any(s["removed"] for s in result["sentences"])
    assert "[77]" not in str(result["sentences"])
    assert asked.said("Questions to ask") == "Does it hold elsewhere?"
    assert [list(part["heads"]) for part in result["parts"] if part["title"] == "Glossary"] == [
        ["BM25"]
    ]
    progress = [data["detail"] for data in asked.of_kind("step_progress")]
    assert progress[-1] == f"{len(reading)} of {len(reading)} stretches read"


FAILURES = {
    "always 500": (failure(500, "boom"), "MODEL_SERVER"),
    "wrong key": (failure(401, "bad key"), "MODEL_KEY"),
    "cut off": (Reply(text=notes, drop_after=9), "MODEL_CUT_OFF"),
    "no JSON": (Reply(text="I have read it. It is good."), "NOTES_MISSING"),
    "another shape": (Reply(text='{"notes": [{"part": "poem", "text": "O"}]}'), "NOTES_MISSING"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_model_leaves_the_papers_own_words(room, case):
    room.model.reply, code = FAILURES[case]
    asked = room.ask(room.modelled, "Read this deeply", "fusion", intent="deep_read")
    assert asked.notices[0] == code
    assert asked.result["mode"] == "extractive"
    assert "confirmed on questions" in asked.said("Limitations")
    assert "k-secret" not in str(asked.events)


def test_what_the_model_noted_is_kept_when_it_fails_later(room):
    room.model.enqueue(Reply(text=json.dumps(ONE)))
    room.model.reply = Reply(text="nothing of use")
    asked = room.ask(room.modelled, "Read this deeply", "fusion", intent="deep_read")
    assert asked.notices == ["NOTES_MISSING"]
    assert asked.result["mode"] == "llm"
    assert "standardised and added" in asked.said("Idea")
    assert "confirmed on questions" in asked.said("Limitations")


def test_stop_keeps_what_was_noted(room):
    room.model.enqueue(Reply(text=json.dumps(ONE)))
    room.model.reply = Reply(text=notes, first_delay=20)
    runner = room.modelled.runner
    scope = (room.papers["fusion"],)
    turn = runner.start(TurnRequest(LOCAL_USER, "Read this", paper_ids=scope, intent="deep_read"))
    for event in runner.follow(LOCAL_USER, turn.id):
        if event.kind == "step_progress":
            runner.cancel(LOCAL_USER, turn.id)
    assert event.data["stopped"]
    assert [part["title"] for part in event.data["parts"]] == ["Idea"]


def test_terms_are_defined_in_the_papers_words(room):
    chunks = room.offline.papers.page_chunks(LOCAL_USER, room.papers["citations"])
    assert [(term, c.text) for term, c in glossary(chunks, "", lambda: False)] == [
        ("PDF page", "A PDF page is a set of characters with positions.")
    ]


def test_a_real_paper_is_read_checked_and_its_tables_taken_out_without_a_model(bench, shared):
    folder = shared / "pdf_papers"
    added = {
        name: bench.ingestor.ingest(LOCAL_USER, name, (folder / name).read_bytes()).paper_id
        for name in ("dpr_first_2_pages.pdf", "otsl_2305.03393_page9_table.pdf")
    }
    desk = Room(bench, bench, None, added)
    dpr, otsl = added
    notes = desk.ask(bench, "精读这篇论文", dpr, intent="deep_read")
    assert "dense representations alone" in notes.said("思路")
    judged = [s["verdict"] for s in notes.result["sentences"] if s["verdict"]]
    assert set(judged) == {"supported"}
    claims = "Check: DPR outperforms BM25 by 9%-19% absolute in top-20 passage retrieval accuracy. The reader was trained on 40 TPUs."
    checked = desk.ask(bench, claims, dpr, intent="verify_sources").result["sentences"]
    assert [s["verdict"] for s in checked] == ["supported", "unsupported"]
    tables = desk.ask(bench, "Extract table 1 as data", otsl, intent="extract_charts").result[
        "parts"
    ]
    assert [part["title"] for part in tables] == ["Table 1"]
    assert "OTSL" in str(tables[0]["exhibit"]["rows"])
