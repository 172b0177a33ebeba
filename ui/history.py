"""Conversations as a list, and what can be done with one: rename, export, delete, and undo."""

from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import streamlit as st

from core import exports
from core.db.conversations import ConversationRow, TurnRow
from ui import meter
from ui.frame import ASK, REVIEW, Session, callback, go, link
from ui.language import _, translated
from ui.safe import plain
from ui.state import Removal, state

LISTED = 8
FORMATS = (
    ("md", "text/markdown"),
    ("bib", "application/x-bibtex"),
    ("csv", "text/csv"),
    ("json", "application/json"),
)


def recent(session: Session, current: UUID | None, limit: int = LISTED) -> None:
    """Draw links to the newest conversations."""
    rows = session.bench.conversations.conversations(session.user, limit=limit)
    with st.container(key="conversations", gap=None):
        link(session, ASK, _("New conversation"), icon=":material/edit_square:")
        for row in rows:
            here = row.id == current
            icon = ":material/arrow_right:" if here else ":material/chat_bubble_outline:"
            link(session, ASK, row.title, icon=icon, conversation=str(row.id))


def header(session: Session, row: ConversationRow, turns: list[TurnRow]) -> None:
    """Draw a conversation's title with what can be done with it."""
    with st.container(horizontal=True, vertical_alignment="center", key="conversation-head"):
        st.subheader(plain(row.title), anchor=False, width="stretch")
        with st.popover("", icon=":material/edit:", help=_("Rename"), type="tertiary"):
            _rename(session, row)
        with st.popover("", icon=":material/download:", help=_("Export"), type="tertiary"):
            _export(session, row, turns)
        st.button(
            "",
            icon=":material/delete:",
            key="delete-conversation",
            help=_("Delete this conversation"),
            type="tertiary",
            on_click=remove,
            args=(session, row),
        )


def costs(session: Session, turns: list[TurnRow]) -> None:
    """Say what the conversation's answers have cost so far, where a model wrote them."""
    said = meter.of_conversation(session.bench.settings, [turn.usage for turn in turns])
    if said:
        st.caption(said)


@callback
def remove(session: Session, row: ConversationRow) -> None:
    """Delete a conversation, stopping what is being written in it; it can be had back."""
    stop_running(session, row.id)
    session.bench.conversations.remove(session.user, row.id)
    state().removal = Removal("conversation", (row.id,), row.title)
    if st.query_params.get("conversation") == str(row.id):
        go(ASK)


def stop_running(session: Session, conversation: UUID) -> None:
    """Stop the answers being written in a conversation.

    Raises:
        NotFound: the user has no such conversation.
    """
    for turn in session.bench.conversations.turns(session.user, conversation):
        if turn.state == "running":
            session.bench.runner.cancel(session.user, turn.id)


def undo_bar(session: Session) -> None:
    """Offer to have back what was removed last."""
    removal = state().removal
    if removal is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="undo"):
        st.markdown(":material/delete: " + _removed(removal), width="stretch")
        if removal.remembered:
            st.button(
                _("Forget what was read there too"),
                key="forget-too",
                icon=":material/history_edu:",
                on_click=_forget_too,
                args=(session,),
            )
        st.button(
            _("Undo"), key="undo-button", icon=":material/undo:", on_click=_undo, args=(session,)
        )
        st.button(
            "",
            key="undo-dismiss",
            icon=":material/close:",
            help=_("Dismiss"),
            on_click=_forget_removal,
            type="tertiary",
        )


@callback
def _forget_too(session: Session) -> None:
    """Forget the readings of papers that were just removed; the same undo has both back."""
    removal = state().removal
    if removal is None:
        return
    at = session.bench.readings.forget(session.user, removal.remembered)
    state().removal = replace(removal, at=at, remembered=())


def _removed(removal: Removal) -> str:
    return _("Removed: {title}").format(title=plain(removal.title))


def _forget_removal() -> None:
    state().removal = None


@callback
def _undo(session: Session) -> None:
    removal = state().removal
    if removal is None:
        return
    bench = session.bench
    restore = {
        "paper": bench.papers.restore,
        "conversation": bench.conversations.restore,
        "review": bench.reviews.restore,
    }
    for number in removal.ids if removal.kind in restore else ():
        restore[removal.kind](session.user, number)
    if removal.at:
        bench.readings.restore(session.user, removal.at)
    state().removal = None  # not before: what could not be had back now may be had back later
    if removal.kind == "conversation":
        go(ASK, conversation=str(removal.ids[0]))
    elif removal.kind == "review":
        go(REVIEW, review=str(removal.ids[0]))


def _rename(session: Session, row: ConversationRow) -> None:
    with st.form(f"rename-{row.id}", border=False):
        key = f"new-title-{row.id}"
        st.text_input(_("Title"), row.title, max_chars=200, key=key)
        st.form_submit_button(_("Rename"), on_click=_renamed, args=(session, row.id, key))


@callback
def _renamed(session: Session, conversation: UUID, key: str) -> None:
    session.bench.conversations.rename(session.user, conversation, st.session_state[key])


def _export(session: Session, row: ConversationRow, turns: list[TurnRow]) -> None:
    labels = {
        "md": _("Markdown with footnotes"),
        "bib": _("BibTeX of the cited papers"),
        "csv": _("Table of citations (CSV)"),
        "json": _("Everything (JSON)"),
    }
    for ending, mime in FORMATS:
        st.download_button(
            labels[ending],
            partial(_written, session, row, turns, ending),
            file_name=file_name(row.title, ending),
            mime=mime,
            key=f"export-{ending}",
            on_click="ignore",
            width="stretch",
        )


def _written(session: Session, row: ConversationRow, turns: list[TurnRow], ending: str) -> Any:
    papers = {paper.paper_id: paper.meta for paper in session.bench.papers.papers(session.user)}
    if ending == "json":
        return exports.to_json(row.title, turns, papers)
    if ending == "csv":
        return exports.to_csv(turns)
    if ending == "bib":
        return exports.to_bibtex(turns, papers)
    return exports.to_markdown(row.title, turns, papers, translated)


def file_name(title: str, ending: str, otherwise: str = "conversation") -> str:
    """Return a name that every file system takes."""
    kept = "".join(c if c.isalnum() else " " for c in title)
    return f"{'-'.join(kept.split())[:60] or otherwise}.{ending}"
