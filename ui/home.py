"""The first page: a welcome for who has nothing yet, else the desk as one left it."""

import streamlit as st

from core.types import PaperRow
from ui.conversation import first_questions
from ui.frame import LIBRARY, REVIEW, SEARCH, Session, link
from ui.history import recent
from ui.language import _
from ui.papers import about, being_read, sample_button, title_of
from ui.safe import plain

RECENT = 6


def welcome(session: Session) -> None:
    """Say what Lectern does and offer the two ways to begin."""
    reading = being_read(session)
    title = _("Your papers are being read…") if reading else _("Ask your papers, see the evidence")
    st.header(title, anchor=False)
    st.markdown(
        _(
            "Add papers, then ask about them in English or Chinese. Every sentence of an answer "
            "names the passage it rests on, shows it on its page, and says whether the passage "
            "really supports it."
        )
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if not reading:
            sample_button(session)
        link(session, LIBRARY, _("Add your own papers"), icon=":material/upload_file:")
        link(session, SEARCH, _("Search for papers"), icon=":material/travel_explore:")
        link(session, REVIEW, _("Write a literature review"), icon=":material/history_edu:")
    if session.bench.chat is None:
        st.caption(
            _(
                "No language model is set up: answers are chosen from the papers' own sentences. "
                "The README says how to add one."
            )
        )


def desk(session: Session, papers: list[PaperRow]) -> None:
    """Show what one was at: the newest conversations and papers, and a way to go on."""
    begun = bool(session.bench.conversations.conversations(session.user, limit=1))
    title = _("Go on reading") if begun else _("Ask your first question")
    st.header(title, anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(_("Conversations"), anchor=False)
        recent(session, None, RECENT)
        first_questions(session, papers)
    with right:
        st.subheader(_("Papers"), anchor=False)
        link(session, LIBRARY, _("All papers, and add more"), icon=":material/library_books:")
        link(session, REVIEW, _("Write a literature review"), icon=":material/history_edu:")
        for row in papers[:RECENT]:
            with st.container(gap=None):
                link(
                    session,
                    LIBRARY,
                    title_of(row),
                    icon=":material/article:",
                    paper=str(row.paper_id),
                )
                st.caption(plain(about(row)))
