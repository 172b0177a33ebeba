"""What the System page shows: the same states as `python -m core doctor`, models, sizes, versions."""

import platform
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from queue import Empty, SimpleQueue

import streamlit as st

from core.doctor import Part, examination
from core.workbench import Workbench
from ui.frame import Session
from ui.language import _, translated
from ui.safe import plain

PACKAGES = ("streamlit", "langchain", "langgraph", "chromadb", "sqlalchemy", "pypdfium2")
WAIT_SECONDS = 0.1


def parts(session: Session) -> None:
    """Draw the state of every part. A guest sees the states, not the owner's folders."""
    words = {
        "on": ":green[:material/check_circle:] " + _("on"),
        "off": ":gray[:material/do_not_disturb_on:] " + _("off"),
        "broken": ":red[:material/error:] " + _("broken"),
    }
    owner = session.visitor.kind != "guest"
    verdict, broken = st.empty(), False
    for part in _as_found(session.bench):
        broken = broken or part.state == "broken"
        lines = [f"**{plain(translated(part.part))}** · {words[part.state]}"]
        if owner:
            lines += [plain(translated(text)) for text in (part.why, part.hint) if text]
        st.markdown("  \n".join(lines))
    if broken:
        verdict.error(_("Something is broken: see below what to do."), icon=":material/error:")
    else:
        verdict.success(_("Everything that is set up works."), icon=":material/check_circle:")


def _as_found(bench: Workbench) -> Iterator[Part]:
    """Yield the parts as they are found, from another thread: who does not want to wait can leave.

    A page run ends only where it calls Streamlit, so it must not wait long for anything else.
    """
    found: SimpleQueue[Part | None] = SimpleQueue()
    pool = ThreadPoolExecutor(1, "doctor")
    looking = pool.submit(lambda: [found.put(part) for part in examination(bench)])
    looking.add_done_callback(lambda _done: found.put(None))
    pool.shutdown(wait=False)
    waiting = st.empty()
    while not looking.done() or not found.empty():
        try:
            part = found.get(timeout=WAIT_SECONDS)
        except Empty:
            waiting.caption(_("Looking at every part…"))
            continue
        if part:
            yield part
    waiting.empty()
    looking.result()


def sizes(session: Session) -> None:
    """Draw how much there is in this user's library."""
    st.subheader(_("Your library"), anchor=False)
    rows = session.bench.papers.papers(session.user)
    with st.container(horizontal=True):
        st.metric(_("Papers"), f"{len(rows):,}")
        st.metric(_("Pages"), f"{sum(row.pages for row in rows):,}")
        st.metric(_("Passages"), f"{sum(row.chunks for row in rows):,}")
        good, bad = session.bench.conversations.ratings(session.user)
        st.metric(_("Answers found useful"), f"{good:,}")
        st.metric(_("Answers found not useful"), f"{bad:,}")


def versions() -> None:
    """Draw the versions a bug report should name."""
    st.subheader(_("Versions"), anchor=False)
    st.code(_installed(), language=None)


@cache
def _installed() -> str:
    shown = [f"Python {platform.python_version()}"]
    shown += [f"{name} {version(name)}" for name in PACKAGES]
    return "\n".join(shown)
