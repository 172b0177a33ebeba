"""The library as a list to search, sort and choose from, and one paper in detail."""

from uuid import UUID

import streamlit as st

from core.errors import LecternError
from core.ingest.versions import versions_of
from core.types import PaperRow
from ui import recollection, structure
from ui.evidence import PAGE, PAPER, close, show_page
from ui.frame import ASK, LIBRARY, Session, error_text, go, link, parameter_id
from ui.language import _, ngettext
from ui.papers import about, table, title_of
from ui.safe import plain
from ui.state import Removal, state, tick, ticked

ROWS_HIGH = 15


def opened(session: Session, rows: list[PaperRow]) -> PaperRow | None:
    """Return the paper that the page's address names; says so when it is not there."""
    if not st.query_params.get(PAPER):
        return None
    wanted = parameter_id(PAPER)
    for row in rows:
        if row.paper_id == wanted:
            return row
    close()
    st.info(_("That paper is not in your library (any more)."))
    return None


def show(session: Session, rows: list[PaperRow]) -> None:
    """Draw the list: search, sort, choose; then what to do with the chosen."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    wanted = left.text_input(
        _("Search titles, authors and abstracts"), key="shelf-search", icon=":material/search:"
    )
    orders = {
        "added": _("Newest first"),
        "title": _("Title"),
        "year": _("Year"),
        "author": _("First author"),
    }
    order = right.selectbox(_("Sort by"), list(orders), format_func=orders.__getitem__)
    shown = _sorted([row for row in rows if _matches(row, wanted or "")], order)
    if not shown:
        st.info(_("No paper matches these words."))
        return
    count = ngettext("{count} paper", "{count} papers", len(shown)).format(count=len(shown))
    st.caption(count)
    key = f"shelf-{hash((wanted, order, len(shown)))}"
    _tick_opened(shown, key)
    st.dataframe(
        table(shown),
        key=key,
        hide_index=True,
        height=min(len(shown) + 1, ROWS_HIGH) * 35 + 3,
        on_select=lambda: _chosen(shown, key),
        selection_mode="multi-row",
        column_config={
            "title": st.column_config.TextColumn(_("Title"), width=340),
            "authors": st.column_config.TextColumn(_("Authors"), width=180),
            "year": st.column_config.TextColumn(_("Year"), width=60),
            "pages": st.column_config.NumberColumn(_("Pages"), width=60),
            "added": st.column_config.TextColumn(_("Added"), width=90),
        },
    )
    chosen = [shown[at] for at in ticked(key) if at < len(shown)]
    _acts(session, chosen)


def _tick_opened(shown: list[PaperRow], key: str) -> None:
    """Have the paper that is open ticked, and no single one when none is."""
    opened = parameter_id(PAPER)
    if opened or len(ticked(key)) == 1:
        tick(key, [at for at, row in enumerate(shown) if row.paper_id == opened])


def _chosen(shown: list[PaperRow], key: str) -> None:
    rows = ticked(key)
    close()
    if len(rows) == 1:
        st.query_params[PAPER] = str(shown[rows[0]].paper_id)


def _acts(session: Session, chosen: list[PaperRow]) -> None:
    if len(chosen) == 1:
        return  # what can be done with one stands beside its pages
    if not chosen:
        st.caption(_("Tick a paper to open it, several to ask about them or remove them."))
        return
    with st.container(horizontal=True):
        ids = tuple(row.paper_id for row in chosen)
        count = len(chosen)
        st.button(
            _("Ask about {count} papers").format(count=count),
            key="ask-chosen",
            type="primary",
            icon=":material/forum:",
            on_click=ask_about,
            args=(ids,),
        )
        st.button(
            _("Remove {count} papers").format(count=count),
            key="remove-chosen",
            icon=":material/delete:",
            on_click=remove,
            args=(session, chosen),
        )


def ask_about(papers: tuple[UUID, ...]) -> None:
    """Go to a new conversation about these papers."""
    state().scope, state().scope_of = papers, ""
    go(ASK)


def remove(session: Session, chosen: list[PaperRow]) -> None:
    """Take papers out of the library; they can be had back."""
    gone: list[PaperRow] = []
    remembered: set[UUID] = set()
    try:
        remembered = {row.paper_id for row in session.bench.readings.history(session.user)}
        for row in chosen:
            session.bench.papers.remove(session.user, row.paper_id)
            gone.append(row)
    except LecternError as error:
        state().problem = error_text(error)
    if gone:
        more = _(" and {count} more").format(count=len(gone) - 1) if len(gone) > 1 else ""
        ids = tuple(row.paper_id for row in gone)
        read = tuple(paper for paper in ids if paper in remembered)
        state().removal = Removal("paper", ids, title_of(gone[0]) + more, remembered=read)
    close()


def details(session: Session, row: PaperRow) -> None:
    """Draw one paper: what it is, what one can do with it, and its pages."""
    with st.container(key="reading"):
        st.subheader(plain(title_of(row)), anchor=False)
        st.caption(plain(about(row)))
        _versions(session, row)
        with st.container(horizontal=True):
            st.button(
                _("Ask about it"),
                key="ask-one",
                type="primary",
                icon=":material/forum:",
                on_click=ask_about,
                args=((row.paper_id,),),
            )
            st.button(
                _("Remove"),
                key="remove-one",
                icon=":material/delete:",
                on_click=remove,
                args=(session, [row]),
            )
            recollection.mark(session, row.paper_id)
        if row.meta.abstract:
            with st.expander(_("Abstract")):
                st.markdown(plain(row.meta.abstract))
        structure.show(session, row.paper_id, title_of(row))
        show_page(session, row.paper_id, title_of(row), _page_of_address(), [])


def _versions(session: Session, row: PaperRow) -> None:
    """Lead to the same work in another form, where it is in the library too."""
    for other in versions_of(row.paper_id, row.meta, session.bench.papers.papers(session.user)):
        label = _("Another version: {title} ({file}, added {day})").format(
            title=title_of(other), file=other.filename, day=other.added_at[:10]
        )
        icon = ":material/content_copy:"
        link(session, LIBRARY, label, icon=icon, paper=str(other.paper_id))


def _page_of_address() -> int:
    number = st.query_params.get(PAGE, "")
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 6 else 1


def _matches(row: PaperRow, wanted: str) -> bool:
    text = " ".join((title_of(row), *row.meta.authors, row.meta.abstract, row.filename)).casefold()
    return all(word in text for word in wanted.casefold().split())


def _sorted(rows: list[PaperRow], order: str) -> list[PaperRow]:
    if order == "title":
        return sorted(rows, key=lambda row: title_of(row).casefold())
    if order == "year":
        return sorted(rows, key=lambda row: -(row.meta.year or 0))
    if order == "author":
        return sorted(rows, key=lambda row: (row.meta.authors or ("\uffff",))[0].casefold())
    return rows
