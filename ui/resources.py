"""Everything the server keeps between page runs. A user's data only under their own id."""

import atexit
import threading
from uuid import UUID

import streamlit as st

from core.workbench import Workbench, open_workbench


@st.cache_resource(show_spinner="Starting Lectern…")
def workbench() -> Workbench:
    """Return the one workbench of this server."""
    bench = open_workbench()
    closer = threading.Thread(target=_close_at_the_end, args=(bench,), daemon=True)
    closer.start()
    atexit.register(closer.join)
    bench.start()
    return bench


def _close_at_the_end(bench: Workbench) -> None:
    """Close the workbench when the main thread ends: `atexit` alone comes too late for that.

    The interpreter first waits for all threads, also LangGraph's, and those for the model's answer.
    """
    threading.main_thread().join()
    bench.close()


@st.cache_data(max_entries=64, show_spinner=False)
def page_picture(_bench: Workbench, user: UUID, paper: UUID, page: int) -> bytes:
    """Return a page as PNG, drawn once; the user is part of the cache's key."""
    return _bench.reader.picture(user, paper, page)
