"""The reading memory as a whole: the list of readings, what to read next, and what may be kept."""

from functools import partial
from typing import Any

import streamlit as st

from core.errors import LecternError, Unavailable
from core.ingest.identifiers import recognise
from core.memory.memory import ArxivSuggestion, Suggestion
from core.memory.readings import Reading, Votes
from core.memory.transfer import MOST_BYTES
from ui import landscape
from ui.conversation import begin
from ui.frame import HOME, LIBRARY, Session, callback, error_text, link, show_error
from ui.language import _, ngettext
from ui.papers import title_of
from ui.recollection import SUMMARISE, close, open_reading, thumbs, weight_words
from ui.safe import plain
from ui.state import Removal, state, tick, ticked

ROWS_HIGH = 12
IMPORT = "readings-file"


def welcome(session: Session) -> None:
    """Say how something comes to be remembered."""
    st.info(
        _(
            "Nothing has been read yet. When an agent reads a paper deeply for you or summarises it "
            "for you, or you mark a paper as read in the library, it is remembered here, and the "
            "next paper is explained against it."
        ),
        icon=":material/psychology:",
    )
    if session.bench.papers.papers(session.user):
        link(session, LIBRARY, _("Open the library"), icon=":material/library_books:")
    else:
        link(session, HOME, _("Add a paper first"), icon=":material/upload_file:")


def paused_banner(session: Session) -> None:
    """Say that nothing is being remembered, while that is so."""
    if session.bench.readings.paused(session.user):
        st.warning(
            _("Remembering is paused: what agents read for you leaves no trace here."),
            icon=":material/pause_circle:",
        )


def waiting_notice(session: Session) -> None:
    """Say that readings are not compared with others yet, while that is so, or why none can be."""
    try:
        count = session.bench.memory.waiting(session.user)
    except Unavailable as error:
        st.info(plain(error_text(error)), icon=":material/info:")
        return
    if count:
        said = ngettext(
            "{count} reading is not compared with others yet: it is embedded in the background.",
            "{count} readings are not compared with others yet: they are embedded in the background.",
            count,
        )
        st.info(said.format(count=count), icon=":material/hourglass_top:")


def show(session: Session, readings: list[Reading]) -> None:
    """Draw the chosen view of the readings."""
    views = {
        "history": (_("History"), partial(_history, readings)),
        "map": (_("Map and topics"), partial(landscape.show, session)),
        "next": (_("Read next"), partial(_suggestions, session)),
    }
    chosen = st.segmented_control(
        _("View"),
        list(views),
        format_func=lambda name: views[name][0],
        default="history",
        required=True,
        key="memory-view",
        label_visibility="collapsed",
    )
    views[chosen or "history"][1]()


# --- the list -----------------------------------------------------------------------------------


def _history(readings: list[Reading]) -> None:
    wanted = st.text_input(
        _("Search titles and summaries"), key="memory-search", icon=":material/search:"
    )
    shown = [row for row in readings if _matches(row, wanted or "")]
    if not shown:
        st.info(_("No reading matches these words."))
        return
    count = ngettext("{count} reading", "{count} readings", len(shown)).format(count=len(shown))
    st.caption(count + " · " + _("Tick one to open it."))
    key = f"readings-{hash((wanted, len(shown)))}"
    tick(key, [at for at, row in enumerate(shown) if str(row.paper_id) == open_reading()])
    st.dataframe(
        [_row(row) for row in shown],
        key=key,
        hide_index=True,
        height=min(len(shown) + 1, ROWS_HIGH) * 35 + 3,
        on_select=lambda: _chosen(shown, key),
        selection_mode="single-row",
        column_config={
            "title": st.column_config.TextColumn(_("Title"), width=340),
            "day": st.column_config.TextColumn(_("Read on"), width=90),
            "weight": st.column_config.NumberColumn(_("Weight"), width=70, format="%.2f"),
            "by": st.column_config.TextColumn(_("Summary by"), width=140),
        },
    )


def _row(row: Reading) -> dict[str, Any]:
    by = row.model_name or _("the paper's own sentences")
    return {"title": row.title, "day": row.day, "weight": row.weight, "by": by}


def _matches(row: Reading, wanted: str) -> bool:
    text = f"{row.title} {row.summary}".casefold()
    return all(word in text for word in wanted.casefold().split())


def _chosen(shown: list[Reading], key: str) -> None:
    rows = ticked(key)
    close()
    if rows:
        st.query_params["paper"] = str(shown[rows[0]].paper_id)


# --- what to read next --------------------------------------------------------------------------


def _suggestions(session: Session) -> None:
    with st.spinner(_("Looking through your library…")):
        found = session.bench.memory.suggestions(session.user)
        given = {
            one.paper.paper_id: session.bench.readings.votes_beside(
                session.user, one.paper.paper_id
            ).get(one.paper.paper_id, 0)
            for one in found
        }
    if state().said:
        st.success(state().said, icon=":material/check:")
        state().said = ""
    if found:
        st.caption(
            _("Papers of your library that you have not read, the closest to your readings first.")
        )
    else:
        st.info(_("No unread paper in your library is close to what you have read."))
        link(session, LIBRARY, _("Add more papers"), icon=":material/library_books:")
    for one in found:
        _suggestion(session, one, given[one.paper.paper_id])
    _on_arxiv(session)
    st.caption(weight_words())


def _on_arxiv(session: Session) -> None:
    if st.button(
        _("Look on arXiv"),
        key="look-on-arxiv",
        icon=":material/travel_explore:",
        help=_("Sends the terms of your topics to arXiv, nothing else."),
    ):
        with st.spinner(_("Asking arXiv…")):
            _look(session)
    for one in state().from_arxiv or ():
        _found(session, one)
    if state().from_arxiv == []:
        st.info(_("arXiv has nothing new on your topics."))


def _look(session: Session) -> None:
    try:
        state().from_arxiv = session.bench.memory.on_arxiv(session.user)
    except LecternError as error:
        state().from_arxiv = None
        show_error(error)


def _found(session: Session, one: ArxivSuggestion) -> None:
    number, authors = one.paper["arxiv_id"], one.paper["authors"]
    with st.container(border=True, key=f"on-arxiv-{one.id}", gap="xsmall"):
        st.markdown(f"**{plain(one.paper['title'])}**")
        who = ", ".join(authors[:3]) + (" …" if len(authors) > 3 else "")
        st.caption(plain(f"{who} · {one.paper['year']} · arXiv:{number}"))
        st.caption(plain(_why(one.because, one.cosine, one.votes)))
        with st.expander(_("Abstract")):
            st.markdown(plain(one.paper["abstract"]))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                _("Add to the library"),
                key=f"add-{one.id}",
                icon=":material/add:",
                on_click=_add,
                args=(session, one),
            )
            vote = session.bench.readings.votes_beside(session.user, one.id).get(one.id, 0)
            thumbs(session, one.id, one.id, vote)


@callback
def _add(session: Session, one: ArxivSuggestion) -> None:
    session.bench.add_queue.fetch(session.user, recognise(f"arXiv:{one.paper['arxiv_id']}"))
    state().from_arxiv = [other for other in state().from_arxiv or () if other.id != one.id]
    state().said = _("It is being fetched: the side bar shows how far it is.")


def _why(because: Reading, cosine: float, votes: Votes) -> str:
    why = _("Close to “{title}”, which you read on {day}").format(
        title=because.title, day=because.day
    )
    score = _("closeness {cosine} × weight {weight}").format(
        cosine=f"{cosine:.2f}", weight=f"{votes.weight:.2f}"
    )
    return f"{why} · {score}"


def _suggestion(session: Session, one: Suggestion, vote: int) -> None:
    paper = one.paper.paper_id
    with st.container(border=True, key=f"suggested-{paper}", gap="xsmall"):
        link(
            session,
            LIBRARY,
            title_of(one.paper),
            icon=":material/article:",
            paper=str(paper),
        )
        st.caption(plain(_why(one.because, one.cosine, one.votes)))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                _("Summarise it for me"),
                key=f"summarise-{paper}",
                icon=":material/auto_stories:",
                on_click=begin,
                args=(session, paper, SUMMARISE),
            )
            thumbs(session, paper, paper, vote)


# --- in your hands ------------------------------------------------------------------------------


def in_your_hands(session: Session, readings: list[Reading]) -> None:
    """Draw what can be done with the memory as a whole: pause, export, import, delete."""
    with st.expander(_("Keep, take away, delete"), icon=":material/tune:", key="memory-hands"):
        paused = session.bench.readings.paused(session.user)
        key = f"remembering-{paused}"
        st.toggle(
            _("Remember what is read for me"),
            value=not paused,
            key=key,
            on_change=_pause,
            args=(session, key, paused),
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.download_button(
                _("Export as JSON"),
                partial(session.bench.memory.export, session.user),
                file_name="lectern-readings.json",
                mime="application/json",
                key="export-readings",
                icon=":material/download:",
                on_click="ignore",
                disabled=not readings,
            )
            if readings:
                _delete_all(session, readings)
        with st.form("import-readings", border=False, clear_on_submit=True):
            st.file_uploader(
                _("Import readings (JSON)"),
                type=["json"],
                key=IMPORT,
                max_upload_size=MOST_BYTES // 10**6,
            )
            st.form_submit_button(
                _("Import"), icon=":material/upload:", on_click=_import, args=(session,)
            )
        if state().said:
            st.success(state().said, icon=":material/check:")
            state().said = ""


def _delete_all(session: Session, readings: list[Reading]) -> None:
    count = len(readings)
    with st.popover(_("Delete all"), icon=":material/delete:", key="delete-readings"):
        st.markdown(
            ngettext(
                "Your one reading and your votes go. You can undo this on this page.",
                "All {count} readings and your votes go. You can undo this on this page.",
                count,
            ).format(count=count)
        )
        st.button(
            _("Delete all readings"),
            key="delete-readings-now",
            type="primary",
            on_click=_forget_all,
            args=(session, readings),
        )


@callback
def _forget_all(session: Session, readings: list[Reading]) -> None:
    at = session.bench.readings.forget(session.user)
    count = len(readings)
    title = ngettext("{count} reading", "{count} readings", count).format(count=count)
    state().removal = Removal("reading", tuple(row.paper_id for row in readings), title, at)
    close()


@callback
def _pause(session: Session, key: str, paused: bool) -> None:
    wanted = not st.session_state[key]
    st.session_state[key] = not paused  # shown until it is stored, which changes the key
    session.bench.readings.pause(session.user, wanted)


@callback
def _import(session: Session) -> None:
    file = st.session_state[IMPORT]
    if file is None:
        state().problem = _("Choose a file first.")
        return
    count = session.bench.memory.import_file(session.user, file.getvalue())
    state().said = ngettext(
        "{count} reading was added.", "{count} readings were added.", count
    ).format(count=count)
