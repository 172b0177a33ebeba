"""System: which parts of Lectern work, with which models, and how much there is."""

import streamlit as st

from ui import system
from ui.frame import page
from ui.language import _

with page(_("System")) as session:
    states = st.container()
    system.sizes(session)
    system.versions()
    with states:
        system.parts(session)
