"""Home: what to do first, and where one left off."""

import streamlit as st

from ui import home
from ui.frame import page
from ui.history import undo_bar
from ui.papers import queue

with page() as session:
    papers = session.bench.papers.papers(session.user)
    undo_bar(session)
    with st.container(key="home"):
        if not papers:
            home.welcome(session)
            queue(session, brief=True)
        else:
            queue(session, brief=True)
            home.desk(session, papers)
