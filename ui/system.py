"""What the System page shows: the same states as `python -m core doctor`, models, sizes, versions."""

import platform
from importlib.metadata import version

import streamlit as st

from core.doctor import examine
from ui.frame import Session
from ui.language import _, translated
from ui.safe import plain

PACKAGES = ("streamlit", "langchain", "langgraph", "chromadb", "sqlalchemy", "pypdfium2")


def parts(session: Session) -> None:
    """Draw the state of every part. A guest sees the states, not the owner's folders."""
    words = {
        "on": ":green[:material/check_circle:] " + _("on"),
        "off": ":gray[:material/do_not_disturb_on:] " + _("off"),
        "broken": ":red[:material/error:] " + _("broken"),
    }
    with st.spinner(_("Looking at every part…")):
        found = examine(session.bench)
    broken = [part for part in found if part["state"] == "broken"]
    if broken:
        st.error(_("Something is broken: see below what to do."), icon=":material/error:")
    else:
        st.success(_("Everything that is set up works."), icon=":material/check_circle:")
    owner = session.visitor.kind != "guest"
    for part in found:
        left, middle, right = st.columns([2, 1, 6])
        left.markdown(f"**{plain(translated(part['part']))}**")
        middle.markdown(words[part["state"]])
        if owner:
            hint = f"  \n:gray[{plain(translated(part['hint']))}]" if part["hint"] else ""
            right.markdown(plain(translated(part["why"])) + hint)


def sizes(session: Session) -> None:
    """Draw how much there is in this user's library."""
    st.subheader(_("Your library"), anchor=False)
    rows = session.bench.papers.papers(session.user)
    with st.container(horizontal=True):
        st.metric(_("Papers"), f"{len(rows):,}")
        st.metric(_("Pages"), f"{sum(row.pages for row in rows):,}")
        st.metric(_("Passages"), f"{sum(row.chunks for row in rows):,}")


def versions() -> None:
    """Draw the versions a bug report should name."""
    st.subheader(_("Versions"), anchor=False)
    shown = [f"Python {platform.python_version()}"]
    shown += [f"{name} {version(name)}" for name in PACKAGES]
    st.code("\n".join(shown), language=None)
