"""Memory: what one has read, how it hangs together, what to read next, and control over all of it."""

import streamlit as st

from ui import history, memory, recollection
from ui.frame import page
from ui.language import _
from ui.papers import queue

with page(_("Memory")) as session:
    readings = session.bench.readings.history(session.user)
    with st.sidebar:
        queue(session, brief=True)
    history.undo_bar(session)
    memory.paused_banner(session)
    if readings:
        memory.waiting_notice(session)
    opened = recollection.opened(readings)
    beside = st.columns([6, 5], gap="medium") if opened else None
    with beside[0] if beside else st.container():
        if readings:
            memory.show(session, readings)
        else:
            memory.welcome(session)
        memory.in_your_hands(session, readings)
    if beside and opened:
        with beside[1]:
            recollection.show(session, opened)
