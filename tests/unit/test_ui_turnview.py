"""A page's picture of a turn, folded from events, equals the one read from the stored row."""

from datetime import UTC, datetime
from uuid import uuid4

from core.db.conversations import StoredEvent, TurnRow
from ui.turnview import checked, from_events, verdicts_of

CITATION = {
    "n": 1,
    "paper_id": "p",
    "title": "T",
    "file": "f",
    "page": 3,
    "section": "2",
    "quote": "q",
    "boxes": [],
    "scores": {"dense": 0.5, "bm25": 1.0, "fused": 0.7, "rerank": None},
    "passage": "",
}
SENTENCE = {
    "text": "Yes [1].",
    "citations": [1],
    "verdict": "supported",
    "reason": "",
    "removed": [],
}


def events(*pairs):
    return [StoredEvent(i, kind, data) for i, (kind, data) in enumerate(pairs, 1)]


ROW = TurnRow(
    id=uuid4(),
    conversation_id=uuid4(),
    position=1,
    question="Why?",
    selected="",
    scope=None,
    state="running",
    intent="",
    mode="",
    answer="",
    citations=(),
    sentences=(),
    steps=(),
    usage={},
    notices=(),
    error=None,
    started_at=datetime.now(UTC),
)
STARTED = ("step_started", {"node": "answer", "title": "Answer"})
DONE = (
    "step_finished",
    {
        "node": "answer",
        "title": "Answer",
        "state": "done",
        "seconds": 0.1,
        "detail": "2 sentences",
        "tokens": 0,
    },
)
FINISHED = (
    "turn_finished",
    {
        "answer": "Yes [1].",
        "citations": [CITATION],
        "usage": {},
        "sentences": [SENTENCE],
        "mode": "extractive",
        "stopped": False,
    },
)


def test_a_running_turn_shows_what_there_is():
    view = from_events(ROW, events(STARTED, ("token", {"text": "Ye"}), ("token", {"text": "s"})))
    assert (view.state, view.text) == ("running", "Yes")
    assert [step["state"] for step in view.steps] == ["running"]


def test_a_finished_turn_is_complete():
    view = from_events(ROW, events(STARTED, DONE, FINISHED))
    assert view.state == "finished"
    assert view.steps == [{**DONE[1]}]
    assert view.sentences == [SENTENCE]


def test_a_stopped_turn_says_so():
    stopped = ("turn_finished", {**FINISHED[1], "stopped": True})
    assert from_events(ROW, events(stopped)).state == "stopped"


def test_a_failed_turn_keeps_what_was_written():
    failure = (
        "turn_failed",
        {"code": "MODEL_KEY", "message": "Bad key.", "hint": "Set LLM_API_KEY."},
    )
    view = from_events(ROW, events(STARTED, ("token", {"text": "Half"}), failure))
    assert (view.state, view.text, view.error["code"]) == ("failed", "Half", "MODEL_KEY")


def test_the_verdicts_on_a_citation_each_once():
    other = {**SENTENCE, "verdict": "partly"}
    unchecked = {**SENTENCE, "verdict": None}
    sentences = [SENTENCE, other, unchecked, SENTENCE]
    assert verdicts_of(1, sentences) == ["supported", "partly"]
    assert verdicts_of(2, sentences) == []


def test_how_many_sentences_are_supported():
    other = {**SENTENCE, "verdict": "partly"}
    assert checked([SENTENCE, other, {**SENTENCE, "verdict": None}]) == (1, 2)
    assert checked([]) == (0, 0)
