"""Everything the server keeps between page runs. No user's data lives here."""

import atexit

import streamlit as st

from core.workbench import Workbench, open_workbench


@st.cache_resource(show_spinner="Starting Lectern…")
def workbench() -> Workbench:
    """Return the one workbench of this server."""
    bench = open_workbench()
    atexit.register(bench.close)
    bench.start()
    return bench
