"""A page's picture of a turn, folded from events, equals the one read from the stored row."""

from core.db.conversations import StoredEvent
from ui.turnview import from_events, table

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
    view = from_events("Why?", events(STARTED, ("token", {"text": "Ye"}), ("token", {"text": "s"})))
    assert (view.state, view.text) == ("running", "Yes")
    assert [step["state"] for step in view.steps] == ["running"]


def test_a_finished_turn_is_complete():
    view = from_events("Why?", events(STARTED, DONE, FINISHED))
    assert view.state == "finished"
    assert view.steps == [{**DONE[1]}]
    assert view.sentences == [SENTENCE]


def test_a_stopped_turn_says_so():
    stopped = ("turn_finished", {**FINISHED[1], "stopped": True})
    assert from_events("Why?", events(stopped)).state == "stopped"


def test_a_failed_turn_keeps_what_was_written():
    failure = (
        "turn_failed",
        {"code": "MODEL_KEY", "message": "Bad key.", "hint": "Set LLM_API_KEY."},
    )
    view = from_events("Why?", events(STARTED, ("token", {"text": "Half"}), failure))
    assert (view.state, view.text, view.error["code"]) == ("failed", "Half", "MODEL_KEY")


def test_the_table_gathers_the_verdicts_on_a_citation():
    other = {**SENTENCE, "verdict": "partly"}
    rows = table([CITATION, {**CITATION, "n": 2}], [SENTENCE, other, SENTENCE])
    assert [row["verdict"] for row in rows] == ["supported, partly", ""]
    assert rows[0]["page"] == 3
    assert rows[0]["dense"] == 0.5
