"""Conversations and turns: stored self-contained, so that no later change can shift a citation."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    Connection,
    Engine,
    ScalarSelect,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from core.db.orm import ConversationTable, TurnEventTable, TurnTable
from core.db.text import storable, storable_json
from core.errors import NotFound

TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A stored turn; `state` is running, finished, stopped or failed."""

    id: UUID
    conversation_id: UUID
    position: int
    question: str
    scope: tuple[UUID, ...] | None
    state: str
    intent: str
    mode: str
    answer: str
    citations: tuple[dict[str, Any], ...]
    sentences: tuple[dict[str, Any], ...]
    steps: tuple[dict[str, Any], ...]
    usage: dict[str, Any]
    notices: tuple[dict[str, Any], ...]
    error: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of a turn with its place in the order, counted from 1."""

    seq: int
    kind: str
    data: dict[str, Any]


class ConversationStore:
    """All access to conversations. Another user's ids behave like ids that do not exist."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim_runner(self) -> tuple[int, Connection]:
        """Return a new runner's number and the connection that holds its lock while it lives."""
        number = secrets.randbits(62)
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(select(func.pg_advisory_lock(number)))
        return number, connection

    def stop_orphans(self) -> int:
        """Mark as stopped the turns whose runner is gone (crash, kill); return how many."""
        with self._engine.begin() as connection:
            running = select(TurnTable.runner).where(TurnTable.state == "running").distinct()
            runners = list(connection.scalars(running))
            gone = [
                number
                for number in runners
                if connection.scalar(select(func.pg_try_advisory_xact_lock(number)))
            ]
            if not gone:
                return 0
            stopped = connection.execute(
                update(TurnTable)
                .where(TurnTable.state == "running", TurnTable.runner.in_(gone))
                .values(state="stopped", finished_at=func.now(), answer=_written())
            )
            return stopped.rowcount

    def begin_turn(
        self,
        user_id: UUID,
        conversation_id: UUID | None,
        question: str,
        *,
        runner: int,
        scope: Sequence[UUID] | None = None,
        selected: str = "",
    ) -> TurnRow:
        """Store a new running turn, in a new conversation when `conversation_id` is None.

        Raises:
            NotFound: the user has no such conversation.
        """
        with Session(self._engine) as session, session.begin():
            if conversation_id is None:
                conversation = ConversationTable(
                    id=uuid4(), user_id=user_id, title=storable(question[:TITLE_LENGTH])
                )
                session.add(conversation)
                session.flush()
            else:
                conversation = self._own(session, user_id, conversation_id)
                conversation.updated_at = datetime.now(UTC)
            last = session.scalar(
                select(func.max(TurnTable.position)).where(
                    TurnTable.conversation_id == conversation.id
                )
            )
            turn = TurnTable(
                id=uuid4(),
                conversation_id=conversation.id,
                position=(last or 0) + 1,
                runner=runner,
                question=storable(question),
                selected=storable(selected),
                scope=None if scope is None else [str(paper) for paper in scope],
            )
            session.add(turn)
            session.flush()
            return _turn_row(turn)

    def end_turn(self, turn_id: UUID, state: str, **columns: Any) -> None:
        """Store what a turn came to."""
        with self._engine.begin() as connection:
            connection.execute(
                update(TurnTable)
                .where(TurnTable.id == turn_id)
                .values(state=state, finished_at=func.now(), **storable_json(columns))
            )

    def add_events(self, turn_id: UUID, events: Sequence[StoredEvent]) -> None:
        """Append events of a turn."""
        rows = [
            {
                "turn_id": turn_id,
                "seq": event.seq,
                "kind": event.kind,
                "data": storable_json(event.data),
            }
            for event in events
        ]
        with self._engine.begin() as connection:
            connection.execute(insert(TurnEventTable), rows)

    def events(self, user_id: UUID, turn_id: UUID, after: int = 0) -> list[StoredEvent]:
        """Return a turn's stored events with `seq` above `after`, in order.

        Raises:
            NotFound: the user has no such turn.
        """
        self.turn(user_id, turn_id)
        query = (
            select(TurnEventTable)
            .where(TurnEventTable.turn_id == turn_id, TurnEventTable.seq > after)
            .order_by(TurnEventTable.seq)
        )
        with Session(self._engine) as session:
            return [
                StoredEvent(row.seq, row.kind, dict(row.data)) for row in session.scalars(query)
            ]

    def turn(self, user_id: UUID, turn_id: UUID) -> TurnRow:
        """Return one turn.

        Raises:
            NotFound: the user has no such turn.
        """
        query = (
            select(TurnTable)
            .join(ConversationTable, ConversationTable.id == TurnTable.conversation_id)
            .where(TurnTable.id == turn_id, ConversationTable.user_id == user_id)
        )
        with Session(self._engine) as session:
            turn = session.scalar(query)
            if turn is None:
                raise NotFound("There is no such turn.")
            return _turn_row(turn)

    def turns(self, user_id: UUID, conversation_id: UUID) -> list[TurnRow]:
        """Return the turns of a conversation in order.

        Raises:
            NotFound: the user has no such conversation.
        """
        with Session(self._engine) as session:
            self._own(session, user_id, conversation_id)
            query = (
                select(TurnTable)
                .where(TurnTable.conversation_id == conversation_id)
                .order_by(TurnTable.position)
            )
            return [_turn_row(turn) for turn in session.scalars(query)]

    def _own(self, session: Session, user_id: UUID, conversation_id: UUID) -> ConversationTable:
        """Return the conversation, locked against a second turn taking the same position."""
        query = (
            select(ConversationTable)
            .where(
                ConversationTable.id == conversation_id,
                ConversationTable.user_id == user_id,
                ConversationTable.removed_at.is_(None),
            )
            .with_for_update()
        )
        conversation = session.scalar(query)
        if conversation is None:
            raise NotFound(
                "There is no such conversation.", hint="Start a new one by leaving its id out."
            )
        return conversation


def _written() -> ScalarSelect[str]:
    """What a turn's stored tokens add up to, in order."""
    in_order: Any = aggregate_order_by(literal_column("''"), TurnEventTable.seq)
    text = func.string_agg(TurnEventTable.data["text"].astext, in_order)
    return (
        select(func.coalesce(text, ""))
        .where(TurnEventTable.turn_id == TurnTable.id, TurnEventTable.kind == "token")
        .scalar_subquery()
    )


def _turn_row(turn: TurnTable) -> TurnRow:
    return TurnRow(
        id=turn.id,
        conversation_id=turn.conversation_id,
        position=turn.position,
        question=turn.question,
        scope=None if turn.scope is None else tuple(UUID(paper) for paper in turn.scope),
        state=turn.state or "running",
        intent=turn.intent or "",
        mode=turn.mode or "",
        answer=turn.answer or "",
        citations=tuple(turn.citations or ()),
        sentences=tuple(turn.sentences or ()),
        steps=tuple(turn.steps or ()),
        usage=dict(turn.usage or {}),
        notices=tuple(turn.notices or ()),
        error=turn.error,
    )
