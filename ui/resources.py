"""Everything the server keeps between page runs. A user's data only under their own id."""

import atexit
from uuid import UUID

import streamlit as st

from core.workbench import Workbench, open_workbench


@st.cache_resource(show_spinner="Starting Lectern…")
def workbench() -> Workbench:
    """Return the one workbench of this server."""
    bench = open_workbench()
    atexit.register(bench.close)
    bench.start()
    return bench


@st.cache_data(max_entries=64, show_spinner=False)
def page_picture(_bench: Workbench, user: UUID, paper: UUID, page: int) -> bytes:
    """Return a page as PNG, drawn once; the user is part of the cache's key."""
    return _bench.reader.picture(user, paper, page)
