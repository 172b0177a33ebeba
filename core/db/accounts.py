"""Who has been here: a row a user, so that guests can be purged and a language remembered."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from sqlalchemy import Connection, Engine, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from core.db.conversations import forget_threads
from core.db.orm import (
    AccountTable,
    ConversationTable,
    LibraryTable,
    ReadingPauseTable,
    ReadingTable,
    ReadingVoteTable,
    ReviewTable,
)
from core.db.users import known_user
from core.errors import BadInput, NotFound
from core.wording import say

AccountKind = Literal["local", "login", "guest"]
LANGUAGES = ("en", "zh")


class AccountStore:
    """All access to accounts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def seen(self, user_id: UUID, kind: AccountKind) -> None:
        """Note that a user is here; written at most once a minute, so it may be called often.

        Who has been local or signed in once is never made a guest.

        Raises:
            ValueError: there is no such kind.
            BadInput: the user is not known.
        """
        known_user(user_id)
        if kind not in get_args(AccountKind):
            raise ValueError(f"no kind of account: {kind}")
        new = insert(AccountTable).values(user_id=user_id, kind=kind, language="")
        rises = (AccountTable.kind == "guest") & (new.excluded.kind != "guest")
        stale = AccountTable.seen_at < func.now() - text("interval '1 minute'")
        with self._engine.begin() as connection:
            # Even an upsert that changes nothing locks the row, and its commit waits for the disk.
            fresh = select(AccountTable.kind).where(AccountTable.user_id == user_id, ~stale)
            known = connection.scalar(fresh)
            if known is not None and (known != "guest" or kind == "guest"):
                return
            connection.execute(
                new.on_conflict_do_update(
                    index_elements=[AccountTable.user_id],
                    set_={
                        "seen_at": func.now(),
                        "kind": func.coalesce(
                            func.nullif(AccountTable.kind, "guest"), new.excluded.kind
                        ),
                    },
                    where=rises | stale,
                )
            )

    def language(self, user_id: UUID) -> str:
        """Return the language a user chose, '' when unknown."""
        query = select(AccountTable.language).where(AccountTable.user_id == user_id)
        with self._engine.connect() as connection:
            return connection.scalar(query) or ""

    def set_language(self, user_id: UUID, language: str) -> None:
        """Remember the language a user chose.

        Raises:
            BadInput: it is not one of `LANGUAGES`.
            NotFound: the user has never been `seen`.
        """
        if language not in LANGUAGES:
            raise BadInput(say("Lectern speaks English (en) and Chinese (zh) only."))
        with self._engine.begin() as connection:
            known = connection.execute(
                update(AccountTable)
                .where(AccountTable.user_id == user_id)
                .values(language=language)
            )
        if known.rowcount == 0:
            raise NotFound(say("There is no such account."))

    def purge_guests(self, before: datetime) -> int:
        """Delete guests not seen since `before` and all that is theirs; return how many.

        Papers that no library holds any more are left to `PaperStore.purge`.
        """
        with self._engine.begin() as connection:
            gone = connection.scalars(
                delete(AccountTable)
                .where(AccountTable.kind == "guest", AccountTable.seen_at < before)
                .returning(AccountTable.user_id)
            ).all()
            _forget(connection, gone)
        return len(gone)


def _forget(connection: Connection, users: Sequence[UUID]) -> None:
    for table in (LibraryTable, ReadingTable, ReadingVoteTable, ReadingPauseTable, ReviewTable):
        connection.execute(delete(table).where(table.user_id.in_(users)))
    conversations = connection.scalars(
        delete(ConversationTable)
        .where(ConversationTable.user_id.in_(users))
        .returning(ConversationTable.id)
    ).all()
    forget_threads(connection, conversations)
