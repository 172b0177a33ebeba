"""Who may own anything: a user whose id is known."""

from uuid import UUID

from core.errors import BadInput
from core.wording import say


def known_user(user_id: UUID) -> UUID:
    """Return a user's id as it is; whoever has none, or one that is no UUID, has nothing.

    Raises:
        BadInput: it is none.
    """
    if not isinstance(user_id, UUID):
        raise BadInput(
            say("Lectern does not know who is asking."), hint=say("Open Lectern again, or sign in.")
        )
    return user_id
