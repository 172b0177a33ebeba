"""What a rerun is said to have changed."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from core.changes import changes
from core.db.conversations import TurnRow


def cited(quote, page=1):
    return {"n": 1, "file": "f", "page": page, "quote": quote, "title": "T"}


BEFORE = TurnRow(
    id=uuid4(),
    conversation_id=uuid4(),
    position=1,
    question="Why?",
    selected="",
    scope=None,
    state="finished",
    intent="chat",
    mode="extractive",
    answer="It is so. [1]",
    citations=(cited("It is so."), cited("Gone.", 2)),
    sentences=({"verdict": "supported"}, {"verdict": "partly"}, {"verdict": None}),
    steps=({"seconds": 0.5}, {"seconds": 1.0}),
    usage={},
    notices=(),
    error=None,
    started_at=datetime.now(UTC),
)


def test_the_same_run_changed_nothing():
    found = changes(BEFORE, replace(BEFORE, answer="It  is so. [1]"))
    assert found.same_text
    assert (found.kept, found.gone, found.new) == (2, (), ())
    assert found.before == found.after
    assert (found.before.supported, found.before.checked, found.before.seconds) == (1, 2, 1.5)


def test_passages_that_went_and_came_are_told_whatever_their_number():
    moved = {**cited("It is\nso."), "n": 7}
    after = replace(
        BEFORE,
        answer="Otherwise.",
        mode="llm",
        citations=(moved, cited("New.", 3)),
        usage={"prompt_tokens": 90, "completion_tokens": 10},
    )
    found = changes(BEFORE, after)
    assert not found.same_text
    assert found.kept == 1
    assert [citation["quote"] for citation in found.gone] == ["Gone."]
    assert [citation["quote"] for citation in found.new] == ["New."]
    assert (found.before.tokens, found.after.tokens) == (0, 100)
