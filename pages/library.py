"""Library: the papers one has, how they come in, and each to be read page by page."""

import streamlit as st

from ui import history, shelf
from ui.frame import SEARCH, link, page
from ui.language import _
from ui.papers import queue, sample_button, upload_form

with page(_("Library")) as session:
    papers = session.bench.papers.papers(session.user)
    history.undo_bar(session)
    opened = shelf.opened(session, papers)
    beside = st.columns([6, 5], gap="medium") if opened else None
    with beside[0] if beside else st.container():
        upload_form(session)
        if not papers:
            sample_button(session)
        queue(session)
        if papers:
            shelf.show(session, papers)
        else:
            st.info(_("No papers yet. Choose files above and press Add."))
            link(session, SEARCH, _("Search for papers"), icon=":material/travel_explore:")
    if beside and opened:
        with beside[1]:
            shelf.details(session, opened)
