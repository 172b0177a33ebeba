"""The conversation on a page: its turns so far, the one that runs, and the next question."""

from uuid import UUID

import streamlit as st

from core.agent.state import TurnRequest
from core.db.conversations import TurnRow
from core.errors import LecternError, NotFound
from core.workbench import Workbench
from ui.answers import show_turn
from ui.safe import plain
from ui.turnview import from_events, from_row

POLL_SECONDS = 0.2
OTHERS_POLL_SECONDS = 2.0


def show_conversation(
    bench: Workbench, user: UUID, scope: tuple[UUID, ...] | None, suggested: list[str]
) -> None:
    """Draw the conversation named in the address, and take the next question."""
    conversation = _conversation_id()
    if conversation and st.button("New conversation", icon=":material/edit_square:"):
        st.query_params.pop("conversation", None)
        st.rerun()
    running = _show_turns(bench, user, conversation) if conversation else False
    suggestion = None
    if conversation is None and suggested:
        suggestion = st.pills("Try one of these, or ask your own", suggested)
    question = st.chat_input("Ask about your papers", disabled=running) or suggestion
    if not question:
        return
    request = TurnRequest(user, question, paper_ids=scope, conversation_id=conversation)
    try:
        turn = bench.runner.start(request)
    except LecternError as error:
        st.error(plain(f"{error.message} {error.hint}"))
        return
    st.query_params["conversation"] = str(turn.conversation_id)
    st.rerun()


def _conversation_id() -> UUID | None:
    try:
        return UUID(st.query_params.get("conversation", ""))
    except ValueError:
        return None


def _show_turns(bench: Workbench, user: UUID, conversation: UUID) -> bool:
    """Draw all turns and return whether one is running."""
    try:
        turns = bench.conversations.turns(user, conversation)
    except NotFound:
        st.query_params.pop("conversation", None)
        st.info("That conversation is not here (any more). Your next question starts a new one.")
        return False
    for turn in turns:
        if turn.state == "running":
            _running_turn(bench, user, turn)
            return True
        show_turn(from_row(turn))
    return False


def _running_turn(bench: Workbench, user: UUID, turn: TurnRow) -> None:
    """Watch a turn; one that another process runs is read from the database, and cannot be stopped."""
    ours = bench.runner.is_live(turn.id)

    @st.fragment(run_every=POLL_SECONDS if ours else OTHERS_POLL_SECONDS)
    def watch() -> None:
        view = from_events(turn.question, bench.runner.events(user, turn.id))
        show_turn(view)
        orphaned = not ours and bench.conversations.stop_orphans()
        if view.state != "running" or orphaned:
            st.rerun()
        if ours and st.button("Stop", icon=":material/stop_circle:"):
            bench.runner.cancel(user, turn.id)

    watch()
