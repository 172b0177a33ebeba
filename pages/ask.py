"""Ask: a conversation about one's papers, with the evidence beside it."""

import streamlit as st

from ui import conversation, evidence, history, ways
from ui.frame import LIBRARY, link, page
from ui.language import _
from ui.papers import queue, sample_button

with page() as session:
    number = conversation.conversation_id()
    turns = conversation.load(session, number)
    papers = session.bench.papers.papers(session.user)
    conversation.restore_scope(turns)

    with st.sidebar:
        st.divider()
        history.recent(session, number)
        queue(session, brief=True)

    history.undo_bar(session)
    opened = evidence.current(turns)
    beside = st.columns([6, 5], gap="medium") if opened else None
    with beside[0] if beside else st.container(key="conversation-alone"):
        if turns:
            row = session.bench.conversations.conversation(session.user, turns[0].conversation_id)
            history.header(session, row, turns)
            history.costs(session, turns)
        if papers:
            with st.container(horizontal=True, gap="xsmall", key="about-what"):
                conversation.choose_papers(session, papers)
                ways.choose()
            if not turns:
                st.header(_("What would you like to know?"), anchor=False)
                conversation.first_questions(session, papers)
        elif not turns:
            st.header(_("There is nothing to ask about yet"), anchor=False)
            st.markdown(_("Add a paper first, or try it with the sample papers."))
            sample_button(session)
            link(session, LIBRARY, _("Add your own papers"), icon=":material/library_books:")
        conversation.show(session, turns)
    if beside and opened:
        with beside[1]:
            evidence.show_citation(session, *opened)
    if papers:
        conversation.question_box(session)
