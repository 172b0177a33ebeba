"""Conversations are kept, in order, for their owner only."""

import threading
import unicodedata
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.db.conversations import TITLE_LENGTH, ConversationStore, StoredEvent, cut, title_of
from core.errors import BadInput, NotFound

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


def test_an_answer_is_rated_and_the_rating_taken_back(store):
    turn = begin(store)
    store.rate(ME, turn.id, -1, "the wrong \x00paper")
    assert store.turn(ME, turn.id).rating == -1
    assert store.turn(ME, turn.id).rating_reason == "the wrong \N{REPLACEMENT CHARACTER}paper"
    assert store.ratings(ME) == (0, 1)
    store.rate(ME, turn.id, 1)
    assert store.ratings(ME) == (1, 0)
    store.rate(ME, turn.id, None)
    assert store.ratings(ME) == (0, 0)
    with pytest.raises(BadInput):
        store.rate(ME, turn.id, 5)


def test_a_turn_repeats_one_of_its_own_conversation_only(store):
    turn, elsewhere = begin(store), begin(store)
    again = store.begin_turn(ME, turn.conversation_id, "Why?", runner=1, repeats=turn.id)
    last = store.begin_turn(ME, turn.conversation_id, "Why?", runner=1, repeats=turn.id)
    assert (again.position, last.position) == (-1, -2)
    assert store.repeats(ME, turn.conversation_id)[turn.id].id == last.id
    assert store.conversation(ME, turn.conversation_id).turns == 1
    for target in (elsewhere.id, again.id, uuid4()):
        with pytest.raises(NotFound):
            store.begin_turn(ME, turn.conversation_id, "Why?", runner=1, repeats=target)


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


def test_the_list_has_the_one_last_asked_in_first(store):
    first = begin(store, question="About rates")
    second = begin(store, question="About 稀疏注意力")
    begin(store, user=OTHER)
    begin(store, first.conversation_id, "More on 100% of them")
    rows = store.conversations(ME)
    assert [(row.title, row.turns) for row in rows] == [("About rates", 2), ("About 稀疏注意力", 1)]
    assert rows[0] == store.conversation(ME, first.conversation_id)
    assert rows[0].updated_at > rows[1].updated_at
    assert [row.id for row in store.conversations(ME, limit=1)] == [first.conversation_id]
    assert second.selected == ""


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("RATES", True),
        ("100%", True),
        ("稀疏", True),
        ("über", True),
        ("  a_b ", True),
        ("back\\slash", True),
        ("1%0", False),
        ("%", True),
        ("a.b", False),
        ("axb", False),
        ("_______________________________________________________________________", False),
        ("\\", True),
        ("", True),
        (" \n", True),
        ("\x00\ud800", False),
    ],
)
def test_search_is_literal_and_whatever_the_case(store, search, found):
    turn = begin(store, question="First")
    begin(store, turn.conversation_id, "Rates of 100% a_b 稀疏 ÜBER back\\slash")
    assert bool(store.conversations(ME, search=search)) is found
    assert store.conversations(OTHER, search=search) == []


def test_a_title_is_the_beginning_of_the_first_question(store):
    assert store.conversation(ME, begin(store).conversation_id).title == "Why?"
    long = "What do these papers say about the fusion of dense and lexical retrieval, " * 2
    title = title_of(long)
    assert (
        title == "What do these papers say about the fusion of dense and lexical retrieval, What…"
    )
    assert title_of("a\n\tb\x07 c") == "a b c"
    chinese = title_of("这些论文" * 40)
    assert (len(chinese), chinese[-1]) == (TITLE_LENGTH, "…")


@given(st.text(), st.integers(1, 40))
def test_a_cut_title_is_short_and_breaks_no_character(line, length):
    shown = cut(line, length)
    assert len(shown) <= length
    if shown != line:
        kept = shown[:-1]
        assert line.startswith(kept)
        assert not kept or not unicodedata.combining(line[len(kept)])


def test_an_emoji_is_not_cut_in_two():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert cut("x" * 6 + family + "y" * 9, 10) == "xxxxxx…"
    assert cut("xxxxe\u0301yyyyy", 6) == "xxxx…"


def test_rename_keeps_the_place_in_the_list(store):
    old, new = begin(store), begin(store)
    store.rename(ME, old.conversation_id, "  A \x00 talk\nabout 论文 ")
    rows = store.conversations(ME)
    assert [row.id for row in rows] == [new.conversation_id, old.conversation_id]
    assert rows[1].title == "A \ufffd talk about 论文"
    store.rename(ME, old.conversation_id, "词" * 300)
    assert len(store.conversation(ME, old.conversation_id).title) == 200


@pytest.mark.parametrize("blank", ["", " \n", "\u200b\u200e", "\u3000", "\x07"])
def test_a_blank_title_is_refused(store, blank):
    turn = begin(store)
    with pytest.raises(BadInput):
        store.rename(ME, turn.conversation_id, blank)
    assert store.conversation(ME, turn.conversation_id).title == "Why?"


def test_what_reopening_needs_is_kept(store):
    turn = store.begin_turn(ME, None, "Why?", runner=1, scope=[OTHER], selected="a passage")
    kept = store.turn(ME, turn.id)
    assert kept == turn
    assert (kept.selected, kept.scope) == ("a passage", (OTHER,))
    assert abs(datetime.now(UTC) - kept.started_at) < timedelta(minutes=1)


def test_purge_takes_what_was_removed_long_enough_ago(store, database):
    kept, undone, gone = begin(store), begin(store), begin(store)
    store.add_events(gone.id, [StoredEvent(1, "token", {"text": "x"})])
    for turn in (undone, gone):
        store.remove(ME, turn.conversation_id)
    store.restore(ME, undone.conversation_id)
    assert store.purge(datetime.now(UTC) - timedelta(minutes=1)) == 0
    assert store.purge(datetime.now(UTC) + timedelta(minutes=1)) == 1
    ids = {row.id for row in store.conversations(ME)}
    assert ids == {kept.conversation_id, undone.conversation_id}
    with pytest.raises(NotFound):
        store.restore(ME, gone.conversation_id)
    with database.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM turn_events")) == 0
