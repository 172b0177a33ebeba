"""The conversation on the Ask page: its turns so far, the one that runs, and the next question."""

from dataclasses import replace
from uuid import UUID

import streamlit as st

from core.agent.intents import intent
from core.agent.state import TurnRequest
from core.db.conversations import TurnRow
from core.errors import LecternError, NotFound
from core.types import PaperRow
from ui import rerun, turnfoot, ways
from ui.answers import show_turn
from ui.frame import ASK, Session, error_text, fragment, go, parameter_id
from ui.history import stop_running
from ui.language import _
from ui.papers import names, suggestions
from ui.safe import plain
from ui.state import Selected, state
from ui.turnview import TurnView, from_events, from_row

POLL_SECONDS = 0.2
RERUN_SECONDS = 0.5
IDLE_SECONDS = 3.0
"""How often an idle page looks whether another tab has asked something."""
QUOTED = 160


def conversation_id() -> UUID | None:
    """Return the conversation the page's address names."""
    return parameter_id("conversation")


def load(session: Session, conversation: UUID | None) -> list[TurnRow]:
    """Return the conversation's turns; says so when it is not there (any more)."""
    if conversation is None:
        return []
    try:
        return session.bench.conversations.turns(session.user, conversation)
    except NotFound:
        st.query_params.pop("conversation", None)
        st.info(_("That conversation is not here (any more). Your next question starts a new one."))
        return []


def show(session: Session, turns: list[TurnRow]) -> None:
    """Draw all turns; the running ones fill in as they go."""
    reruns = (
        session.bench.conversations.repeats(session.user, turns[0].conversation_id) if turns else {}
    )
    for turn in turns:
        if turn.state == "running":
            _running(session, turn)
            continue
        show_turn(session, from_row(turn), last=turn is turns[-1])
        turnfoot.draw(session, turn)
        if turn.id in reruns:
            _rerun(session, turn, reruns[turn.id])
    if turns and turns[-1].state != "running":
        _watch_for_others(session, turns)


def _running(session: Session, turn: TurnRow) -> None:
    """Watch a turn; one that another process runs is read from the database."""
    bench = session.bench
    ours = bench.runner.is_live(turn.id)
    ended = _so_far(session, turn)
    if ended.state != "running":  # its row says so in a moment, or never if the database was away
        show_turn(session, ended, last=True)
        return

    def watch() -> None:
        try:
            view = _so_far(session, turn)
            elsewhere_over = not ours and _is_over(session, turn)
        except NotFound:  # deleted in another tab: the page says so
            st.rerun()
        if view.state != "running" or elsewhere_over:
            # Before anything is drawn: a click on what this fragment drew last would be lost.
            st.rerun()
        show_turn(session, view, last=True)
        if ours:
            st.button(
                _("Stop"),
                key=f"stop-{turn.id}",
                icon=":material/stop_circle:",
                on_click=_stop,
                args=(session, turn.id),
            )

    fragment(watch, POLL_SECONDS if ours else IDLE_SECONDS)


def _rerun(session: Session, turn: TurnRow, again: TurnRow) -> None:
    """Show what changed in a rerun; one that is still running is watched to its end."""
    if again.state != "running":
        rerun.show(session, turn, again)
        return

    def watch() -> None:
        if session.bench.conversations.turn(session.user, again.id).state != "running":
            st.rerun()
        st.status(_("Running the question again…"), state="running")
        st.button(
            _("Stop"),
            key=f"stop-{again.id}",
            icon=":material/stop_circle:",
            on_click=_stop,
            args=(session, again.id),
        )

    fragment(watch, RERUN_SECONDS)


def _is_over(session: Session, turn: TurnRow) -> bool:
    """Whether a turn that another process ran has ended, or has lost its process."""
    session.bench.conversations.stop_orphans()
    return session.bench.conversations.turn(session.user, turn.id).state != "running"


def _stop(session: Session, turn: UUID) -> None:
    try:
        session.bench.runner.cancel(session.user, turn)
    except NotFound:
        return  # its conversation has been deleted: it is stopped
    except LecternError as error:
        state().problem = error_text(error)


def _so_far(session: Session, turn: TurnRow) -> TurnView:
    events = session.bench.runner.events(session.user, turn.id)
    return from_events(from_row(turn), events)


def _watch_for_others(session: Session, turns: list[TurnRow]) -> None:
    """Redraw the page when another tab has gone on with this conversation."""
    conversation = turns[-1].conversation_id

    def look() -> None:
        try:
            now = session.bench.conversations.conversation(session.user, conversation)
        except NotFound:
            st.rerun()
        if now.turns != len(turns):
            st.rerun()

    fragment(look, IDLE_SECONDS)


def restore_scope(turns: list[TurnRow]) -> None:
    """Take up the papers the conversation was last about, once it is opened.

    A passage marked in another conversation is let go.
    """
    opened = str(turns[-1].conversation_id) if turns else ""
    if opened != state().scope_of:
        state().selected = None
        state().scope = (turns[-1].scope or ()) if turns else ()
        state().scope_of = opened


def choose_papers(session: Session, rows: list[PaperRow]) -> None:
    """Draw the scope picker: which papers the next question is about; none means all.

    The list is sent to the browser only when it is opened: it may have a thousand papers.
    """
    titles = names(rows)
    given = [paper for paper in state().scope if paper in titles]
    box = st.popover(
        plain(_about_which([titles[paper] for paper in given])),
        icon=":material/filter_list:",
        key="scope-box",
        on_change="rerun",
        type="tertiary",
    )
    if not box.open:
        return
    key = f"scope-{hash(tuple(given))}"
    box.multiselect(
        _("Ask about"),
        list(titles),
        default=given,
        format_func=titles.__getitem__,
        placeholder=_("All papers"),
        key=key,
        on_change=_scope,
        args=(key,),
    )


def _about_which(titles: list[str]) -> str:
    if not titles:
        return _("About all papers")
    if len(titles) == 1:
        return _("About {title}").format(title=titles[0])
    return _("About {count} papers").format(count=len(titles))


def _scope(key: str) -> None:
    state().scope = tuple(st.session_state[key])


def first_questions(session: Session, rows: list[PaperRow]) -> None:
    """Offer questions to begin with."""
    scope = state().scope
    asked_about = [row for row in rows if not scope or row.paper_id in scope]
    wanted = ways.opening(intent(state().intent)) if state().intent else ""
    suggested = [wanted] if wanted else suggestions(asked_about) or _general_questions()
    st.caption(_("Try one of these, or ask your own"))
    with st.container(gap="xsmall"):
        for number, question in enumerate(suggested):
            st.button(
                question,
                key=f"suggestion-{number}-{hash(question)}",
                icon=":material/help:",
                on_click=ask,
                args=(session, question),
                type="tertiary",
            )


def _general_questions() -> list[str]:
    return [
        _("What problem does the paper address?"),
        _("What are the main results?"),
        _("How does it compare with earlier work?"),
    ]


def question_box(session: Session) -> None:
    """Draw the box for the next question, with the passage it is about when one is marked."""
    marked = state().selected
    if marked:
        with st.container(
            border=True, horizontal=True, vertical_alignment="center", wrap=False, key="passage"
        ):
            st.markdown(f":material/format_quote: {plain(_short(marked.text))}", width="stretch")
            st.button(
                "",
                key="unselect",
                icon=":material/close:",
                help=_("Ask without this passage"),
                on_click=_unselect,
                type="tertiary",
            )
    usual = _("Ask about this passage") if marked else _("Ask about your papers")
    st.chat_input(
        ways.placeholder() or usual,
        key="question",
        on_submit=_submitted,
        args=(session,),
    )


def _short(text: str) -> str:
    return text if len(text) <= QUOTED else text[:QUOTED] + "…"


def _unselect() -> None:
    state().selected = None


def _submitted(session: Session) -> None:
    ask(session, st.session_state["question"] or "")


def ask(session: Session, question: str) -> None:
    """Start a turn; a callback, so that no redraw of the page can lose the question.

    A question asked while an answer is being written stops that answer: what it wrote is kept.
    """
    conversation = conversation_id()
    scope = state().scope or None
    request = TurnRequest(
        session.user,
        question,
        paper_ids=scope,
        conversation_id=conversation,
        intent=state().intent,
    )
    if state().selected:
        request = _about(request, state().selected)
    try:
        if conversation:
            stop_running(session, conversation)
        turn = session.bench.runner.start(request)
    except LecternError as error:
        state().problem = error_text(error)
        return
    state().selected, state().intent = None, ""
    go(ASK, conversation=str(turn.conversation_id))


def begin(session: Session, paper: UUID, name: str) -> None:
    """Start a conversation about one paper with what an intent is asked by; a callback."""
    question = ways.opening(intent(name))
    request = TurnRequest(session.user, question, paper_ids=(paper,), intent=name)
    try:
        turn = session.bench.runner.start(request)
    except LecternError as error:
        state().problem = error_text(error)
        return
    go(ASK, conversation=str(turn.conversation_id))


def _about(request: TurnRequest, marked: Selected | None) -> TurnRequest:
    if marked is None:
        return request
    papers = request.paper_ids or (marked.paper_id,)
    return replace(request, selected=marked.text, paper_ids=papers)
