"""One reading in detail: its summary, what it rests on, and what it stands beside."""

from uuid import UUID

import streamlit as st

from core.agent.intents import intent
from core.errors import LecternError, NotFound
from core.memory.memory import WEIGHT
from core.memory.readings import Reading, Similar, Votes
from ui.frame import ASK, LIBRARY, MEMORY, Session, callback, error_text, go, link
from ui.language import _, ngettext, translated
from ui.safe import plain
from ui.state import Removal, state

SUMMARISE = "personalized_summary"
SHOWN = 4
"""Lines of a summary that are shown at once."""
_PAPER = "paper"
_THUMBS = {1: 1, 0: -1}
"""What Streamlit's thumbs are as votes."""


def open_reading() -> str:
    """Return the paper whose reading the page's address names, '' for none."""
    return st.query_params.get(_PAPER, "")


def close() -> None:
    """Close the reading: it leaves the address."""
    st.query_params.pop(_PAPER, None)


def opened(readings: list[Reading]) -> Reading | None:
    """Return the reading that the address names; says so when it is not there."""
    wanted = open_reading()
    for row in readings:
        if str(row.paper_id) == wanted:
            return row
    if wanted:
        close()
        st.info(_("That reading is not in your memory (any more)."))
    return None


def show(session: Session, row: Reading) -> None:
    """Draw a reading, what can be done with it, and the readings like it."""
    here = _in_library(session, row.paper_id)
    with st.container(key="recollection"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(plain(row.title), anchor=False, width="stretch")
            st.button(
                "",
                key="close-reading",
                icon=":material/close:",
                help=_("Close"),
                on_click=close,
                type="tertiary",
            )
        by = row.model_name or _("the paper's own sentences")
        st.caption(plain(_("Read on {day} · summary: {who}").format(day=row.day, who=by)))
        _summary(row.summary)
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover(_("Edit"), icon=":material/edit:", type="tertiary"):
                _edit(session, row)
            st.button(
                _("Forget"),
                key="forget-reading",
                icon=":material/delete:",
                type="tertiary",
                on_click=forget,
                args=(session, row),
            )
        _where(session, row, here)
        _weight(session, row)
        if here:
            _related(session, row.paper_id)


def _summary(text: str) -> None:
    lines = [plain(line) for line in text.splitlines() if line.strip()]
    st.markdown("\n\n".join(lines[:SHOWN]))
    if len(lines) > SHOWN:
        with st.expander(_("All of the summary")):
            st.markdown("\n\n".join(lines[SHOWN:]))


def _where(session: Session, row: Reading, here: bool) -> None:
    if here:
        link(
            session,
            LIBRARY,
            _("Open the paper"),
            icon=":material/article:",
            paper=str(row.paper_id),
        )
    else:
        st.caption(_("The paper is no longer in your library."))
    if row.conversation_id and _conversation_there(session, row.conversation_id):
        link(
            session,
            ASK,
            _("The conversation in which it was read"),
            icon=":material/forum:",
            conversation=str(row.conversation_id),
        )


def _weight(session: Session, row: Reading) -> None:
    st.caption(_counted(row.votes))
    if row.votes != Votes():
        st.button(
            _("Take back all votes on it"),
            key="clear-votes",
            icon=":material/undo:",
            type="tertiary",
            on_click=_clear,
            args=(session, row.paper_id),
        )


def _counted(votes: Votes) -> str:
    useful = ngettext("{count} time useful", "{count} times useful", votes.useful)
    useless = ngettext("{count} time not useful", "{count} times not useful", votes.not_useful)
    said = (useful.format(count=votes.useful), useless.format(count=votes.not_useful))
    return _("Weight {weight}: {useful}, {useless}").format(
        weight=f"{votes.weight:.2f}", useful=said[0], useless=said[1]
    )


def _related(session: Session, paper: UUID) -> None:
    st.subheader(_("Related readings"), anchor=False)
    try:
        found = session.bench.memory.related(session.user, paper)
        votes = session.bench.readings.votes_beside(session.user, paper)
    except LecternError as error:
        st.info(plain(error_text(error)), icon=":material/info:")
        return
    related(session, paper, found, votes)


def related(session: Session, paper: UUID, found: list[Similar], votes: dict[UUID, int]) -> None:
    """Draw the readings that resemble a paper, each with its place in the memory and thumbs."""
    if not found:
        st.caption(_("None yet."))
        return
    for one in found:
        with st.container(gap=None, key=f"readings-related-{one.reading.paper_id}"):
            link(
                session,
                MEMORY,
                one.reading.title,
                icon=":material/history_edu:",
                paper=str(one.reading.paper_id),
            )
            said = _("read on {day} · closeness {cosine} × weight {weight}").format(
                day=one.reading.day,
                cosine=f"{one.cosine:.2f}",
                weight=f"{one.reading.weight:.2f}",
            )
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(said, width="content")
                thumbs(session, one.reading.paper_id, paper, votes.get(one.reading.paper_id, 0))
    st.caption(weight_words())


def under_answer(session: Session, paper: UUID, read: list[UUID]) -> None:
    """Draw, under a summary, the readings it stands beside, as the memory has them now."""
    kept = {row.paper_id: row for row in session.bench.readings.history(session.user)}
    there = [kept[other] for other in read if other in kept]
    if not there:
        return
    vote = session.bench.readings.votes_beside(session.user, paper)
    with st.container(key=f"readings-beside-{paper}", gap="xsmall"):
        st.caption(_("The readings it stands beside. Was each useful here?"))
        for row in there:
            _beside(session, row, paper, vote.get(row.paper_id, 0))


def _beside(session: Session, row: Reading, paper: UUID, vote: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        label = _("{title}, read on {day}").format(title=row.title, day=row.day)
        link(session, MEMORY, label, icon=":material/history_edu:", paper=str(row.paper_id))
        thumbs(session, row.paper_id, paper, vote)


def thumbs(session: Session, paper: UUID, beside: UUID, vote: int) -> None:
    """Draw the question whether a paper was useful beside another."""
    key = f"vote-{beside}-{paper}-{vote}"
    if key not in st.session_state:
        st.session_state[key] = _thumb(vote)
    st.feedback("thumbs", key=key, on_change=_voted, args=(session, paper, beside, key, vote))


def _thumb(vote: int) -> int | None:
    return next((thumb for thumb, meant in _THUMBS.items() if meant == vote), None)


def weight_words() -> str:
    """Return how votes count."""
    return plain(
        _(
            "Thumbs say whether a paper is useful there. Its weight is {formula}; the 50 closest "
            "papers are ordered by closeness × weight."
        ).format(formula=translated(WEIGHT))
    )


def mark(session: Session, paper: UUID) -> None:
    """Draw, beside a paper of the library, that it was read or the way to say so; and its summary."""
    try:
        row = session.bench.readings.reading(session.user, paper)
    except NotFound:
        st.button(
            _("Mark as read"),
            key="mark-read",
            icon=":material/task_alt:",
            on_click=_mark,
            args=(session, paper),
        )
    else:
        label = _("Read on {day}").format(day=row.day)
        link(session, MEMORY, label, icon=":material/history_edu:", paper=str(paper))
    st.button(
        translated(intent(SUMMARISE).title),
        key="summarise-one",
        icon=":material/auto_stories:",
        on_click=_summarise,
        args=(paper,),
    )


def _summarise(paper: UUID) -> None:
    state().scope, state().scope_of, state().intent = (paper,), "", SUMMARISE
    go(ASK)


@callback
def _mark(session: Session, paper: UUID) -> None:
    session.bench.memory.mark_read(session.user, paper)


@callback
def forget(session: Session, row: Reading) -> None:
    """Take a reading out; it can be had back."""
    at = session.bench.readings.forget(session.user, [row.paper_id])
    state().removal = Removal("reading", (row.paper_id,), row.title, at)
    close()


def _edit(session: Session, row: Reading) -> None:
    with st.form(f"edit-{row.id}", border=False):
        key = f"summary-{row.id}-{hash(row.summary)}"
        st.text_area(_("Summary, in your own words"), row.summary, height=260, key=key)
        st.form_submit_button(_("Save"), on_click=_edited, args=(session, row.paper_id, key))


@callback
def _edited(session: Session, paper: UUID, key: str) -> None:
    session.bench.memory.edit(session.user, paper, st.session_state[key])


@callback
def _voted(session: Session, paper: UUID, beside: UUID, key: str, before: int) -> None:
    chosen = st.session_state[key]
    st.session_state[key] = _thumb(before)  # shown until the vote is stored, which changes the key
    vote = 0 if chosen is None else _THUMBS[chosen]
    session.bench.readings.vote(session.user, paper, beside, vote)


@callback
def _clear(session: Session, paper: UUID) -> None:
    session.bench.readings.clear_votes(session.user, paper)


def _in_library(session: Session, paper: UUID) -> bool:
    try:
        session.bench.papers.paper(session.user, paper)
    except NotFound:
        return False
    return True


def _conversation_there(session: Session, conversation: UUID) -> bool:
    try:
        session.bench.conversations.conversation(session.user, conversation)
    except NotFound:
        return False
    return True
