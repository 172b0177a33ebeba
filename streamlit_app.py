"""The page one opens: add papers, ask, and see what every sentence of the answer rests on."""

from pathlib import Path

import streamlit as st

from core.errors import LecternError
from ui.conversation import show_conversation
from ui.identity import current_user
from ui.library import add_papers, choose_papers, paper_list, sample_button, suggestions
from ui.resources import workbench
from ui.safe import plain

ICON = Path(__file__).parent / "ui" / "icon.svg"
st.set_page_config(page_title="Lectern", page_icon=str(ICON), layout="wide")

try:
    bench = workbench()
    user = current_user(bench)
    papers = bench.papers.papers(user)
except LecternError as error:
    st.error(plain(f"{error.message} {error.hint}"))
    st.stop()

with st.sidebar:
    st.title(":material/menu_book: Lectern")
    add_papers(bench, user)
    papers = bench.papers.papers(user)
    paper_list(bench, user, papers)

if not papers:
    st.header("Ask your papers, see the evidence")
    st.markdown(
        "Add a PDF on the left, then ask about it in English or Chinese. Every sentence of an "
        "answer names the passage and the page it rests on."
    )
    sample_button(bench, user)
else:
    scope = choose_papers(bench, user, papers)
    show_conversation(bench, user, scope, suggestions(papers))
