"""Runs turns in threads of their own, outside any page. Pages and the CLI watch, and may stop them.

A live turn's events are kept in memory and stored as they come, so a page can attach late, reload,
or come back after a restart. When the database is away the turn goes on and says what is not kept.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast
from uuid import UUID

import psycopg
from langchain_core.runnables import RunnableConfig
from sqlalchemy.exc import SQLAlchemyError

from core.agent.events import (
    Event,
    Notice,
    StepFinished,
    StepStarted,
    Token,
    TurnFailed,
    TurnFinished,
    TurnResult,
)
from core.agent.graph import Graph, build_graph
from core.agent.state import Exchange, TurnContext, TurnRequest, TurnState, initial_state
from core.db.conversations import ConversationStore, StoredEvent, TurnRow
from core.db.text import storable
from core.errors import DatabaseDown, LecternError, NotFound
from core.wording import say

log = logging.getLogger(__name__)

TURNS_AT_ONCE, TURNS_OF_A_USER = 12, 4
"""More have to wait: nobody's questions may hold up everybody's."""
LAST_SECONDS = 5.0
"""What turns get to end in when the runner is closed."""
HISTORY_TURNS = 6
FLUSH_SECONDS = 0.1
"""Tokens are gathered this long before they are stored, so that a fast model is not slowed."""


@dataclass
class _LiveTurn:
    """A turn of this process: its events so far, and a bell for those who wait."""

    user_id: UUID
    row: TurnRow
    cancelled: threading.Event = field(default_factory=threading.Event)
    bell: threading.Condition = field(default_factory=threading.Condition)
    events: list[StoredEvent] = field(default_factory=list)
    stored: int = 0
    over: bool = False
    thread: threading.Thread | None = None


class _Places:
    """How many turns run, in all and by user."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._taken: Counter[UUID] = Counter()

    def take(self, user_id: UUID, cancelled: threading.Event, wait: bool = True) -> bool:
        """Take a place, waiting for one; False when there is none, or the wait was called off."""
        with self._free:
            while self._full(user_id):
                if not wait or cancelled.is_set():
                    return False
                self._free.wait(FLUSH_SECONDS)
            self._taken[user_id] += 1
            return True

    def give_back(self, user_id: UUID) -> None:
        """Let the next one in."""
        with self._free:
            self._taken -= Counter([user_id])
            self._free.notify_all()

    def _full(self, user_id: UUID) -> bool:
        mine, all_ = self._taken[user_id], self._taken.total()
        return mine >= TURNS_OF_A_USER or all_ >= TURNS_AT_ONCE


class Runner:
    """Starts, watches and stops turns."""

    def __init__(
        self,
        graph: Graph,
        conversations: ConversationStore,
        context: Callable[[Callable[[Event], None], threading.Event], TurnContext],
        full_text_tokens: Callable[[TurnRequest], int],
    ) -> None:
        self._graph = graph
        self._conversations = conversations
        self._context = context
        self._full_text_tokens = full_text_tokens
        self._live: dict[UUID, _LiveTurn] = {}
        self._lock = threading.Lock()
        self._places = _Places()
        self._closing = False
        self._number, self._claim = conversations.claim_runner()
        conversations.stop_orphans()

    def start(self, request: TurnRequest) -> TurnRow:
        """Begin a turn and return its row at once.

        Raises:
            NotFound: the user has no such conversation, or no such turn to repeat.
            BadInput: the user is not known.
            DatabaseDown: nothing can be stored.
        """
        request = replace(
            request, question=storable(request.question), selected=storable(request.selected)
        )
        row = self._conversations.begin_turn(
            request.user_id,
            request.conversation_id,
            request.question,
            runner=self._number,
            scope=request.paper_ids,
            selected=request.selected,
            forced=request.intent,
            repeats=request.repeats,
        )
        turn = _LiveTurn(request.user_id, row)
        # A daemon: the interpreter waits for all others before it tells anybody that it ends.
        turn.thread = threading.Thread(
            target=self._run, args=(turn, request), name="turn", daemon=True
        )
        with self._lock:
            self._live[row.id] = turn
        turn.thread.start()
        return row

    def cancel(self, user_id: UUID, turn_id: UUID) -> None:
        """Ask a turn to stop; what it has written is kept. No effect on one that is over.

        Raises:
            NotFound: the user has no such turn.
        """
        turn = self._live.get(turn_id)
        if turn is None:
            self._conversations.turn(user_id, turn_id)
            return
        if turn.user_id != user_id:
            raise NotFound(say("There is no such turn."))
        turn.cancelled.set()

    def events(self, user_id: UUID, turn_id: UUID, after: int = 0) -> list[StoredEvent]:
        """Return the events above `after` that there are by now, without waiting.

        Raises:
            NotFound: the user has no such turn.
        """
        turn = self._live.get(turn_id)
        if turn is None:
            return self._conversations.events(user_id, turn_id, after)
        if turn.user_id != user_id:
            raise NotFound(say("There is no such turn."))
        with turn.bell:
            return turn.events[after:]

    def repeat(self, user_id: UUID, turn_id: UUID) -> TurnRow:
        """Run a turn of old again, with the library and the model of today; see `start`.

        Raises:
            NotFound: the user has no such turn.
            DatabaseDown: nothing can be stored.
        """
        old = self._conversations.turn(user_id, turn_id)
        request = TurnRequest(
            user_id,
            old.question,
            paper_ids=old.scope,
            conversation_id=old.conversation_id,
            selected=old.selected,
            intent=old.forced,
            repeats=old.id,
        )
        return self.start(request)

    def is_live(self, turn_id: UUID) -> bool:
        """Whether the turn is running in this process."""
        turn = self._live.get(turn_id)
        return turn is not None and not turn.over

    def follow(self, user_id: UUID, turn_id: UUID) -> Iterator[StoredEvent]:
        """Yield a turn's events from its first to its last, waiting for those to come."""
        turn = self._live.get(turn_id)
        if turn is None or turn.user_id != user_id:
            yield from self.events(user_id, turn_id)
            return
        seen = 0
        while True:
            with turn.bell:
                turn.bell.wait_for(lambda: len(turn.events) > seen or turn.over)  # noqa: B023
                fresh, over = turn.events[seen:], turn.over
            yield from fresh
            seen += len(fresh)
            if over and not fresh:
                return

    def close(self) -> None:
        """Stop all turns and wait for them, but not long: the next start marks what is left."""
        self._closing = True
        with self._lock:
            turns = list(self._live.values())
        for turn in turns:
            turn.cancelled.set()
        until = time.monotonic() + LAST_SECONDS
        for turn in turns:
            if turn.thread:
                turn.thread.join(max(0.0, until - time.monotonic()))
        self._claim.close()

    def _run(self, turn: _LiveTurn, request: TurnRequest) -> None:
        storer = threading.Thread(target=self._store_events, args=(turn,), daemon=True)
        storer.start()

        def emit(event: Event) -> None:
            _append(turn, event)

        try:
            state = self._in_its_place(turn, request, emit)
            ending = _ending(state, turn.cancelled.is_set())
        except LecternError as error:
            ending = TurnFailed(error.code, error.message, error.hint)
        except Exception:  # the last boundary of the turn's thread: the reader is told
            if self._closing:
                log.warning("a turn was cut short by the end of the program", exc_info=True)
                return  # it is stored as running without a runner: the next start marks it stopped
            log.exception("a turn broke")
            ending = TurnFailed(
                "INTERNAL_ERROR",
                say("Lectern made a mistake answering this."),
                say("Ask again; the details are in the log."),
            )
        try:
            self._conversations.end_turn(turn.row.id, **_columns(ending, turn))
        except (SQLAlchemyError, DatabaseDown):
            log.warning("a finished turn could not be stored", exc_info=True)
            emit(Notice("not_saved", say("The database is away: this answer is not being kept.")))
        emit(ending)
        with turn.bell:
            turn.over = True
            turn.bell.notify_all()
        storer.join()
        if turn.stored == len(turn.events):
            with self._lock:
                self._live.pop(turn.row.id, None)

    def _in_its_place(
        self, turn: _LiveTurn, request: TurnRequest, emit: Callable[[Event], None]
    ) -> TurnState:
        user = turn.user_id
        if not self._places.take(user, turn.cancelled, wait=False):
            began, title = time.monotonic(), say("Wait for earlier questions to be answered")
            emit(StepStarted("wait", title))
            taken = self._places.take(user, turn.cancelled)
            seconds = round(time.monotonic() - began, 3)
            emit(StepFinished("wait", title, "done" if taken else "stopped", seconds))
            if not taken:
                return initial_state(request, [], 0)
        try:
            return self._invoke(turn, request, emit)
        finally:
            self._places.give_back(user)

    def _invoke(
        self, turn: _LiveTurn, request: TurnRequest, emit: Callable[[Event], None]
    ) -> TurnState:
        history = self._history(turn)
        request = replace(request, conversation_id=turn.row.conversation_id)
        state = initial_state(request, history, self._full_text_tokens(request))
        # beside the conversation, not in it
        thread = turn.row.id if request.repeats else turn.row.conversation_id
        config = RunnableConfig(configurable={"thread_id": str(thread)})
        context = self._context(emit, turn.cancelled)
        if request.without_model:
            context = replace(context, chat=None, vision=None)
        reached: dict[str, Any] = {**state}
        try:
            for values in self._graph.stream(
                state, config, context=context, stream_mode="values", durability="exit"
            ):
                reached = dict(values)
        except psycopg.Error:
            # The checkpoint, not the turn, needs the database: what the steps made is not lost.
            log.warning("a turn could not be checkpointed", exc_info=True)
            if not reached["intent"]:
                reached = dict(build_graph().invoke(state, context=context))
        return cast(TurnState, reached)

    def _history(self, turn: _LiveTurn) -> list[Exchange]:
        if turn.row.position == 1:
            return []
        turns = self._conversations.turns(turn.user_id, turn.row.conversation_id)
        repeated = [row.position for row in turns if row.id == turn.row.repeats]
        end = repeated[0] if repeated else turn.row.position
        done = [row for row in turns if row.position < end and row.answer]
        return [Exchange(row.question, row.answer) for row in done[-HISTORY_TURNS:]]

    def _store_events(self, turn: _LiveTurn) -> None:
        while True:
            with turn.bell:
                turn.bell.wait_for(lambda: len(turn.events) > turn.stored or turn.over)
                fresh, over = turn.events[turn.stored :], turn.over
            if fresh:
                try:
                    self._conversations.add_events(turn.row.id, fresh)
                except (SQLAlchemyError, DatabaseDown):
                    log.warning("events of a turn could not be stored", exc_info=True)
                    return
                turn.stored += len(fresh)
            elif over:
                return
            _pause(turn)


def _pause(turn: _LiveTurn) -> None:
    with turn.bell:
        turn.bell.wait_for(lambda: turn.over, FLUSH_SECONDS)


def _append(turn: _LiveTurn, event: Event) -> None:
    with turn.bell:
        turn.events.append(StoredEvent(len(turn.events) + 1, event.kind, event.to_json()))
        turn.bell.notify_all()


def _ending(state: TurnState, stopped: bool) -> TurnFinished | TurnFailed:
    if state["error"] is not None:
        return TurnFailed(**state["error"])
    result = TurnResult(
        intent=state["intent"],
        mode=state["mode"],
        answer=state["answer"],
        citations=tuple(state["citations"]),
        sentences=tuple(state["sentences"]),
        usage=state["usage"],
        refused=state["refused"],
        parts=tuple(state["parts"]),
    )
    return TurnFinished(result, stopped)


def _columns(ending: TurnFinished | TurnFailed, turn: _LiveTurn) -> dict[str, Any]:
    """Return what the turn's row keeps. A failed turn keeps what had been written by then."""
    shared = {"steps": _data(turn, StepFinished.kind), "notices": _data(turn, Notice.kind)}
    if isinstance(ending, TurnFailed):
        written = "".join(data["text"] for data in _data(turn, Token.kind))
        return {"state": "failed", "error": ending.to_json(), "answer": written, **shared}
    result = ending.result.to_json()
    kept = ("intent", "mode", "answer", "citations", "sentences", "usage", "parts")
    state = "stopped" if ending.stopped else "finished"
    return {"state": state, **shared, **{key: result[key] for key in kept}}


def _data(turn: _LiveTurn, kind: str) -> list[dict[str, Any]]:
    return [event.data for event in turn.events if event.kind == kind]
