"""Conversations and turns: stored self-contained, so that no later change can shift a citation."""

import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    ScalarSelect,
    Select,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from core.db.orm import ConversationTable, TurnEventTable, TurnTable
from core.db.text import storable, storable_json
from core.db.users import known_user
from core.errors import BadInput, NotFound
from core.wording import say

TITLE_LENGTH = 80
"""Of a title made from a question, in characters."""
NAME_LENGTH = 200
"""Of a title somebody gave, in characters."""
REASON_LENGTH = 1000
"""Of what a reader says to a rating, in characters."""
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A stored turn; `state` is running, finished, stopped or failed.

    `forced`: the intent the reader chose, if any. `repeats`: the turn it runs again, if one.
    `rating`: 1 (useful) or -1, None without one.
    """

    id: UUID
    conversation_id: UUID
    position: int
    question: str
    selected: str
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
    started_at: datetime
    parts: tuple[dict[str, Any], ...] = ()
    forced: str = ""
    repeats: UUID | None = None
    rating: int | None = None
    rating_reason: str = ""


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation as its owner's list shows it; `turns` counts them."""

    id: UUID
    title: str
    updated_at: datetime
    turns: int


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of a turn with its place in the order, counted from 1."""

    seq: int
    kind: str
    data: dict[str, Any]


class ConversationStore:
    """All access to conversations. Another user's ids behave like ids that do not exist.

    So does a removed conversation, for everything but `restore`.
    """

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
        forced: str = "",
        repeats: UUID | None = None,
    ) -> TurnRow:
        """Store a new running turn, in a new conversation when `conversation_id` is None.

        One that `repeats` another of the conversation stands beside it, not in the conversation.

        Raises:
            NotFound: the user has no such conversation, or it has no such turn to repeat.
            BadInput: the user is not known.
        """
        known_user(user_id)
        with Session(self._engine) as session, session.begin():
            if conversation_id is None:
                conversation = ConversationTable(
                    id=uuid4(), user_id=user_id, title=title_of(question)
                )
                session.add(conversation)
                session.flush()
            else:
                conversation = self._own(session, user_id, conversation_id, lock=True)
                conversation.updated_at = datetime.now(UTC)
            turn = TurnTable(
                id=uuid4(),
                conversation_id=conversation.id,
                position=_next_position(session, conversation.id, repeats),
                forced=forced,
                repeats=repeats,
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
            .where(
                TurnTable.id == turn_id,
                ConversationTable.user_id == user_id,
                ConversationTable.removed_at.is_(None),
            )
        )
        with Session(self._engine) as session:
            turn = session.scalar(query)
            if turn is None:
                raise NotFound(say("There is no such turn."))
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
                .where(TurnTable.conversation_id == conversation_id, TurnTable.repeats.is_(None))
                .order_by(TurnTable.position)
            )
            return [_turn_row(turn) for turn in session.scalars(query)]

    def repeats(self, user_id: UUID, conversation_id: UUID) -> dict[UUID, TurnRow]:
        """Return the newest rerun of each turn of a conversation that was run again.

        Raises:
            NotFound: the user has no such conversation.
        """
        with Session(self._engine) as session:
            self._own(session, user_id, conversation_id)
            query = (
                select(TurnTable)
                .where(TurnTable.conversation_id == conversation_id, TurnTable.repeats.is_not(None))
                .order_by(TurnTable.position.desc())
            )
            return {
                row.repeats: row for row in map(_turn_row, session.scalars(query)) if row.repeats
            }

    def rate(self, user_id: UUID, turn_id: UUID, rating: int | None, reason: str = "") -> None:
        """Keep what the reader thinks of an answer: 1, -1, or None to take it back.

        Raises:
            BadInput: another rating.
            NotFound: the user has no such turn.
        """
        if rating not in (1, -1, None):
            raise BadInput(say("A rating is 1 or -1."))
        self.turn(user_id, turn_id)
        values = {"rating": rating, "rating_reason": storable(reason)[:REASON_LENGTH]}
        with self._engine.begin() as connection:
            connection.execute(update(TurnTable).where(TurnTable.id == turn_id).values(**values))

    def ratings(self, user_id: UUID) -> tuple[int, int]:
        """Return how many answers the user found useful, and how many not."""
        query = (
            select(
                func.count().filter(TurnTable.rating > 0), func.count().filter(TurnTable.rating < 0)
            )
            .join(ConversationTable, ConversationTable.id == TurnTable.conversation_id)
            .where(ConversationTable.user_id == user_id, ConversationTable.removed_at.is_(None))
        )
        with self._engine.connect() as connection:
            good, bad = connection.execute(query).one()
        return good, bad

    def conversations(
        self, user_id: UUID, *, search: str = "", limit: int = 50
    ) -> list[ConversationRow]:
        """Return a user's conversations, the one last asked in first.

        With `search`: those with that text, whatever its case, in their title or a question.
        """
        query = _rows(user_id).order_by(ConversationTable.updated_at.desc(), ConversationTable.id)
        wanted = " ".join(storable(search).split())
        if wanted:
            asked = select(TurnTable.id).where(
                TurnTable.conversation_id == ConversationTable.id,
                TurnTable.question.icontains(wanted, autoescape=True),
            )
            titled = ConversationTable.title.icontains(wanted, autoescape=True)
            query = query.where(or_(titled, asked.exists()))
        with self._engine.connect() as connection:
            return [_conversation_row(row) for row in connection.execute(query.limit(limit))]

    def conversation(self, user_id: UUID, conversation_id: UUID) -> ConversationRow:
        """Return one conversation.

        Raises:
            NotFound: the user has no such conversation.
        """
        query = _rows(user_id).where(ConversationTable.id == conversation_id)
        with self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise _no_such()
        return _conversation_row(row)

    def rename(self, user_id: UUID, conversation_id: UUID, title: str) -> None:
        """Give a conversation another title, of at most `NAME_LENGTH` characters.

        Raises:
            BadInput: the title has nothing in it to be seen.
            NotFound: the user has no such conversation.
        """
        shown = cut(_one_line(title), NAME_LENGTH)
        if not shown:
            raise BadInput(say("A conversation needs a title."), hint=say("Type a few words."))
        with Session(self._engine) as session, session.begin():
            self._own(session, user_id, conversation_id, lock=True).title = shown

    def remove(self, user_id: UUID, conversation_id: UUID) -> None:
        """Take a conversation off the list; `restore` undoes it.

        Raises:
            NotFound: the user has no such conversation.
        """
        with Session(self._engine) as session, session.begin():
            conversation = self._own(session, user_id, conversation_id, lock=True)
            conversation.removed_at = datetime.now(UTC)

    def restore(self, user_id: UUID, conversation_id: UUID) -> None:
        """Undo a removal; does nothing to a conversation that was not removed.

        Raises:
            NotFound: the user never had it, or it has been purged.
        """
        with self._engine.begin() as connection:
            restored = connection.execute(
                update(ConversationTable)
                .where(
                    ConversationTable.id == conversation_id, ConversationTable.user_id == user_id
                )
                .values(removed_at=None)
            )
        if restored.rowcount == 0:
            raise _no_such()

    def purge(self, before: datetime) -> int:
        """Delete for good the conversations removed before that time; return how many."""
        with self._engine.begin() as connection:
            gone = connection.scalars(
                delete(ConversationTable)
                .where(ConversationTable.removed_at < before)
                .returning(ConversationTable.id)
            ).all()
            forget_threads(connection, gone)
        return len(gone)

    def _own(
        self, session: Session, user_id: UUID, conversation_id: UUID, *, lock: bool = False
    ) -> ConversationTable:
        """Return the conversation; `lock`ed, no second turn can take the same position."""
        query = select(ConversationTable).where(
            ConversationTable.id == conversation_id,
            ConversationTable.user_id == user_id,
            ConversationTable.removed_at.is_(None),
        )
        conversation = session.scalar(query.with_for_update() if lock else query)
        if conversation is None:
            raise _no_such()
        return conversation


def title_of(question: str) -> str:
    """Return a title made from a question: its beginning, on one line."""
    return cut(_one_line(question), TITLE_LENGTH)


def cut(line: str, length: int) -> str:
    """Return `line` in at most `length` characters, ended by … between words if it is too long.

    Where no word ends in the last third (Chinese, an address) it is cut between characters, never
    before an accent or inside an emoji.
    """
    if len(line) <= length:
        return line
    end = length - 1
    space = line.rfind(" ", length * 2 // 3, end + 1)
    if space > 0:
        end = space
    while end > 0 and _joined(line[end - 1], line[end]):
        end -= 1
    return line[:end].rstrip() + "…"


def forget_threads(connection: Connection, conversations: Sequence[UUID]) -> None:
    """Delete what LangGraph's checkpointer keeps of conversations, where it keeps anything."""
    threads = [str(conversation) for conversation in conversations]
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
        if threads and connection.scalar(select(func.to_regclass(table).is_not(None))):
            statement = text(f"DELETE FROM {table} WHERE thread_id = ANY(:threads)")  # noqa: S608
            connection.execute(statement, {"threads": threads})


def _one_line(title: str) -> str:
    shown = "".join(c for c in storable(title) if c.isspace() or _is_seen(c))
    line = " ".join(shown.split())
    return line if any(unicodedata.category(c)[0] not in "CM" for c in line) else ""


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf") or character == _JOINER


def _joined(before: str, after: str) -> bool:
    """Whether two characters are drawn as one: an accent, a skin tone, parts of an emoji."""
    modifies = unicodedata.category(after)[0] == "M" or "\U0001f3fb" <= after <= "\U0001f3ff"
    return modifies or _JOINER in (before, after)


def _next_position(session: Session, conversation: UUID, repeats: UUID | None) -> int:
    """Turns count from 1 up; those that repeat one count from -1 down."""
    own = TurnTable.conversation_id == conversation
    if repeats is None:
        return max(session.scalar(select(func.max(TurnTable.position)).where(own)) or 0, 0) + 1
    known = select(TurnTable.id).where(own, TurnTable.id == repeats, TurnTable.repeats.is_(None))
    if session.scalar(known) is None:
        raise NotFound(say("There is no such turn."))
    return min(session.scalar(select(func.min(TurnTable.position)).where(own)) or 0, 0) - 1


def _no_such() -> NotFound:
    return NotFound(
        say("There is no such conversation."), hint=say("Start a new one by leaving its id out.")
    )


def _rows(user_id: UUID) -> Select[UUID, str, datetime, int]:
    """Return the query for `ConversationRow`s of a user."""
    turns = (
        select(func.count())
        .select_from(TurnTable)
        .where(TurnTable.conversation_id == ConversationTable.id, TurnTable.repeats.is_(None))
        .scalar_subquery()
    )
    return select(
        ConversationTable.id, ConversationTable.title, ConversationTable.updated_at, turns
    ).where(ConversationTable.user_id == user_id, ConversationTable.removed_at.is_(None))


def _conversation_row(row: Row[UUID, str, datetime, int]) -> ConversationRow:
    return ConversationRow(*row)


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
        selected=turn.selected or "",
        scope=None if turn.scope is None else tuple(UUID(paper) for paper in turn.scope),
        state=turn.state or "running",
        intent=turn.intent or "",
        mode=turn.mode or "",
        answer=turn.answer or "",
        citations=tuple(turn.citations or ()),
        sentences=tuple(turn.sentences or ()),
        steps=tuple(turn.steps or ()),
        parts=tuple(turn.parts or ()),
        usage=dict(turn.usage or {}),
        notices=tuple(turn.notices or ()),
        error=turn.error,
        started_at=turn.started_at,
        forced=turn.forced or "",
        repeats=turn.repeats,
        rating=turn.rating,
        rating_reason=turn.rating_reason or "",
    )
