"""The evidence pane: a page of a paper with the cited passages on it, beside the conversation."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from core.db.conversations import TurnRow
from core.errors import LecternError, NotFound
from core.reading import Found
from core.types import Box, Citation
from ui.components import Mark, PageEvent, PageLabels, page_view
from ui.frame import ASK, LIBRARY, Session, go, link, show_error
from ui.language import _, ngettext
from ui.resources import page_picture
from ui.safe import plain, web_link
from ui.state import Selected, state
from ui.turnview import TurnView

TURN, NUMBER = "turn", "n"
"""Parameters of the address: which citation of which turn is open, so that a link shows it too."""
PAPER, PAGE = "paper", "page"
"""The same for a paper that is open in the library."""
HEIGHT = 720
SHOWN = 30
"""Places listed; all of them are marked on their pages."""
REVIEWED = "review"
"""The intent of what is no turn but a review: its page has no box for a question."""
NAMED = 12
"""Citations of an answer that all have a button in the pane."""
SHORT = 24
"""Characters of what is searched for that stand beside the button."""


def cite(view: TurnView, n: int) -> None:
    """Open the pane at citation `n` of a turn."""
    open_citation(view.id, n)


def open_citation(turn: UUID | None, n: int) -> None:
    """Open the pane at a citation; the page's address then says so."""
    st.query_params.update({TURN: str(turn), NUMBER: str(n)})
    state().pane_pages.clear()


def close() -> None:
    """Close the pane: what it shows leaves the address."""
    for name in (TURN, NUMBER, PAPER, PAGE):
        st.query_params.pop(name, None)


def cited(view: TurnView) -> int | None:
    """Return the number of the citation of this turn that the pane shows."""
    if st.query_params.get(TURN) != str(view.id):
        return None
    number = st.query_params.get(NUMBER, "")
    return int(number) if number.isdecimal() and number.isascii() else None


def current(turns: list[TurnRow]) -> tuple[TurnRow, dict[str, Any]] | None:
    """Return the turn and citation the address names, or None when there is no such one."""
    wanted, number = st.query_params.get(TURN), st.query_params.get(NUMBER)
    for turn in turns:
        for citation in turn.citations:
            if str(turn.id) == wanted and str(citation["n"]) == number:
                return turn, citation
    return None


Shown = Mapping[int, int]


def show_citation(
    session: Session, turn: TurnRow, citation: Mapping[str, Any], shown: Shown | None = None
) -> None:
    """Draw the pane for a citation of a turn; `shown` has the numbers that are written instead."""
    with st.container(key="evidence"):
        with st.container(key="asked"):
            st.caption(f":material/help: {plain(turn.question)}")
        _head(session, turn, citation, shown or {})
        _page_of_citation(session, turn, citation, shown or {})


def _head(session: Session, turn: TurnRow, citation: Mapping[str, Any], shown: Shown) -> None:
    title = _named(citation, shown)
    if citation.get("url"):
        st.markdown(f":material/public: {web_link(title, citation['url'])}")
        where = _("cited: not in your library")
    else:
        link(
            session,
            LIBRARY,
            title,
            icon=":material/article:",
            paper=citation["paper_id"],
            page=str(citation["page"]),
        )
        where = _("cited: page {page}").format(page=citation["page"])
    section = f" · {plain(citation['section'])}" if citation["section"] else ""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="cites"):
        for other in _neighbours(turn, citation, shown):
            st.button(
                _("page {page}").format(page=other["page"]) if shown else f"[{other['n']}]",
                key=f"cite-{other['n']}",
                type="primary" if other["n"] == citation["n"] else "tertiary",
                on_click=open_citation,
                args=(turn.id, other["n"]),
                help=plain(other["quote"][:200]),
            )
        st.caption(f"{where}{section}", width="stretch")


def _named(citation: Mapping[str, Any], shown: Shown) -> str:
    title = citation["title"] or _("Untitled")
    number = shown.get(citation["n"])
    return f"[{number}] {title}" if number else title


def _neighbours(turn: TurnRow, citation: Mapping[str, Any], shown: Shown) -> list[dict[str, Any]]:
    """Return the citations to go on to: all of them, or where they are many those of this page.

    Where a number is that of a paper, all passages of it: none where there is but this one.
    """
    every = list(turn.citations)
    if shown:
        every = [other for other in every if other["file"] == citation["file"]]
        every.sort(key=lambda other: other["page"])
    if len(every) <= NAMED:
        return [] if shown and len(every) == 1 else every
    place = citation["file"], citation["page"]
    return [other for other in every if (other["file"], other["page"]) == place]


def _page_of_citation(
    session: Session, turn: TurnRow, citation: Mapping[str, Any], shown: Shown
) -> None:
    if citation.get("url"):
        _as_stored(citation)
        st.button(_("Close"), key="close-outside", icon=":material/close:", on_click=close)
        return
    try:
        paper = session.bench.reader.cited(session.user, Citation.from_json(citation))
    except NotFound:
        _as_stored(citation)
        return
    opened = f"{turn.id} {citation['n']}"
    at = state().pane_pages.get(opened, citation["page"])
    marks = [
        Mark(
            other["n"],
            [Box(*box) for box in other["boxes"]],
            other["n"] == citation["n"],
            other["quote"],
            shown.get(other["n"]),
        )
        for other in turn.citations
        if other["file"] == citation["file"] and other["page"] == at
    ]
    show_page(session, paper, citation["title"], at, marks, turn=turn, opened=opened)


def _as_stored(citation: Mapping[str, Any]) -> None:
    """Show the passage as the citation keeps it: its paper is gone, or never was in the library."""
    said = (
        _("This paper is not in your library. This is the text that was found of it.")
        if citation.get("url")
        else _("This paper is no longer in your library. This is the passage as it was cited.")
    )
    st.info(said, icon=":material/info:")
    st.markdown(plain(citation["passage"] or citation["quote"]))


def show_page(
    session: Session,
    paper: UUID,
    title: str,
    at: int,
    marks: list[Mark],
    *,
    turn: TurnRow | None = None,
    opened: str = "",
) -> None:
    """Draw a page with its marks, and the ways about the paper: outline and search.

    `turn` and `opened` name the citation that is open; without them the page's address says which
    page is, and follows when it is turned.

    Raises:
        NotFound: the paper is not in the user's library.
    """
    reader = session.bench.reader
    pages = reader.page_count(session.user, paper)
    at = min(max(at, 1), pages)
    key = f"pane-{paper}"
    found = _ways_about(session, paper, key, opened)
    picture = _picture(session, paper, at)
    page_view(
        key=key,
        picture=picture,
        size=reader.size(session.user, paper, at),
        text=None if picture else reader.page_text(session.user, paper, at),
        lines=reader.lines(session.user, paper, at),
        marks=marks,
        found=[box for place in found if place.page == at for box in place.boxes],
        page=at,
        pages=pages,
        labels=_labels(),
        height=HEIGHT,
        opened=hash(opened),
        find=(st.session_state.get(f"{key}-find") or "").strip(),
        on_event=partial(_obey, opened, Selected("", paper, title), turn),
    )


def _obey(opened: str, paper: Selected, turn: TurnRow | None, event: PageEvent) -> None:
    if event.kind == "turn":
        turn_to(opened, event.number)
    elif event.kind == "cite" and turn:
        open_citation(turn.id, event.number)
    elif event.kind == "quote":
        state().selected = replace(paper, text=event.text)
        if turn is None or turn.intent == REVIEWED:
            state().scope, state().scope_of = (paper.paper_id,), ""
            go(ASK)
    elif event.kind == "close":
        close()


def turn_to(opened: str, page: int) -> None:
    """Turn to a page beside the citation that is open, or, where none is, in the address."""
    if opened:
        state().pane_pages[opened] = page
    else:
        st.query_params[PAGE] = str(page)


def _picture(session: Session, paper: UUID, at: int) -> bytes | None:
    """Return the page drawn; None when it is text only, or cannot be drawn (which is said)."""
    if not session.bench.reader.drawable(session.user, paper):
        return None
    try:
        return page_picture(session.bench, session.user, paper, at)
    except NotFound:
        raise
    except LecternError as error:
        show_error(error)
        return None


def _ways_about(session: Session, paper: UUID, key: str, opened: str) -> list[Found]:
    """Draw outline and search, and return the places found."""
    with st.container(horizontal=True, gap="xsmall", key="ways"):
        box = _box(_("Outline"), ":material/toc:", f"{key}-contents")
        if box.open:
            with box:
                _outline(session, paper, key, opened)
        with _box(_("Find"), ":material/search:", f"{key}-search"):
            found = _find(session, paper, key, opened)
        wanted = st.session_state[f"{key}-find"].strip()
        if wanted:
            st.button(
                plain(_short(wanted)),
                key=f"{key}-unfind",
                icon=":material/close:",
                help=_("End the search"),
                on_click=_end_search,
                args=(key,),
                type="tertiary",
            )
        return found


def _box(label: str, icon: str, key: str) -> PopoverContainer:
    return st.popover(label, icon=icon, key=key, on_change="rerun", type="tertiary")


def _short(text: str) -> str:
    return text if len(text) <= SHORT else text[:SHORT] + "…"


def _end_search(key: str) -> None:
    st.session_state[f"{key}-find"] = ""


def _outline(session: Session, paper: UUID, key: str, opened: str) -> None:
    headings = session.bench.reader.outline(session.user, paper)
    if not headings:
        st.caption(_("This paper has no sections that could be recognised."))
    with st.container(gap=None):
        for number, heading in enumerate(headings):
            st.button(
                f"{plain(heading.title)} :gray[{heading.page}]",
                key=f"{key}-outline-{number}",
                on_click=_choose,
                args=(opened, heading.page, f"{key}-contents"),
                type="tertiary",
            )


def _choose(opened: str, page: int, box: str) -> None:
    """Turn to what was chosen in a box, and close the box: it covers the page."""
    turn_to(opened, page)
    st.session_state[box] = False


def _find(session: Session, paper: UUID, key: str, opened: str) -> list[Found]:
    wanted = st.text_input(_("Find in this paper"), key=f"{key}-find", max_chars=200)
    if not (wanted or "").strip():
        return []
    found = session.bench.reader.find(session.user, paper, wanted)
    count = ngettext("{count} place", "{count} places", len(found)).format(count=len(found))
    st.caption(count if found else _("Not found in this paper."))
    with st.container(gap=None):
        for number, place in enumerate(found[:SHOWN]):
            st.button(
                f":gray[{place.page}] {plain(place.snippet)}",
                key=f"{key}-found-{number}",
                on_click=_choose,
                args=(opened, place.page, f"{key}-search"),
                type="tertiary",
            )
    return found


def _labels() -> PageLabels:
    return {
        "picture": _("Page {page} of {pages}"),
        "citation": _("Citation {n}"),
        "page": _("Page"),
        "previous": _("Previous page"),
        "next": _("Next page"),
        "zoom_in": _("Larger"),
        "zoom_out": _("Smaller"),
        "fit": _("Fit the width"),
        "close": _("Close"),
        "ask_about": _("Ask about this"),
    }
