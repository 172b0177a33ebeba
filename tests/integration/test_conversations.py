"""Conversations are kept, in order, for their owner only."""

import threading
from uuid import uuid4

import pytest

from core.db.conversations import ConversationStore, StoredEvent
from core.errors import NotFound

ME, OTHER = uuid4(), uuid4()


@pytest.fixture
def store(database):
    return ConversationStore(database)


def begin(store, conversation=None, question="Why?", user=ME, runner=1):
    return store.begin_turn(user, conversation, question, runner=runner)


def test_turns_of_a_conversation_are_counted_in_order(store):
    first = begin(store)
    second = begin(store, first.conversation_id, "And how?")
    turns = store.turns(ME, first.conversation_id)
    assert [(turn.position, turn.question) for turn in turns] == [(1, "Why?"), (2, "And how?")]
    assert second.conversation_id == first.conversation_id


def test_two_tabs_asking_at_once_get_two_places(store):
    conversation = begin(store).conversation_id
    threads = [threading.Thread(target=begin, args=(store, conversation)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [turn.position for turn in store.turns(ME, conversation)] == list(range(1, 10))


def test_events_come_back_in_order_and_after_a_place(store):
    turn = begin(store)
    store.add_events(turn.id, [StoredEvent(n, "token", {"text": str(n)}) for n in (1, 2, 3)])
    assert [event.data["text"] for event in store.events(ME, turn.id)] == ["1", "2", "3"]
    assert [event.seq for event in store.events(ME, turn.id, after=2)] == [3]


@pytest.mark.parametrize("read", ["turns", "turn", "events", "begin"])
def test_another_users_ids_are_ids_that_do_not_exist(store, read):
    turn = begin(store)
    with pytest.raises(NotFound) as theirs:
        _read(store, read, OTHER, turn.id, turn.conversation_id)
    with pytest.raises(NotFound) as nobodys:
        _read(store, read, OTHER, uuid4(), uuid4())
    assert theirs.value.message == nobodys.value.message


def _read(store, what, user, turn, conversation):
    if what == "turns":
        return store.turns(user, conversation)
    if what == "begin":
        return begin(store, conversation, user=user)
    return getattr(store, what)(user, turn)


def test_a_turn_whose_runner_died_is_stopped_with_what_it_had_written(store):
    number, claim = store.claim_runner()
    turn = begin(store, runner=number)
    store.add_events(
        turn.id, [StoredEvent(n, "token", {"text": t}) for n, t in ((1, "Ha"), (2, "lf"))]
    )
    assert store.stop_orphans() == 0
    claim.invalidate()
    claim.close()
    assert store.stop_orphans() == 1
    kept = store.turn(ME, turn.id)
    assert (kept.state, kept.answer) == ("stopped", "Half")


def test_nul_and_lone_surrogates_do_not_break_a_turn(store):
    turn = begin(store, question="a\x00b \ud800 c")
    store.end_turn(turn.id, "finished", answer="x\x00y", sentences=[{"text": "\x00\udfff"}])
    assert "\x00" not in store.turn(ME, turn.id).answer
