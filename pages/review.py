"""Review: from a topic to a literature review, with the passage behind every number beside it."""

import streamlit as st

from ui import evidence, history, review, reviewed
from ui.frame import page
from ui.language import _
from ui.papers import queue

with page(_("Review")) as session:
    with st.sidebar:
        queue(session, brief=True)
    history.undo_bar(session)
    row = review.opened(session)
    if row is None:
        review.begin(session)
        st.subheader(_("Your reviews"), anchor=False)
        review.listed(session)
    else:
        opened = evidence.current([reviewed.as_turn(row)]) if row.document else None
        beside = st.columns([6, 5], gap="medium") if opened else None
        with beside[0] if beside else st.container(key="review-alone"):
            review.head(session, row, reviewed.downloads)
            if row.working:
                review.working(session, row)
            elif row.state in ("stopped", "failed"):
                review.broken(session, row)
            if row.state == "choosing":
                review.choosing(session, row)
            elif row.document:
                reviewed.show(session, row)
            review.try_again(session, row)
            if row.papers and not row.working and row.state != "choosing":
                with st.expander(_("Choose other papers"), icon=":material/checklist:"):
                    review.choosing(session, row, again=True)
        if beside and opened:
            with beside[1]:
                evidence.show_citation(session, *opened, reviewed.shown_numbers(row))
