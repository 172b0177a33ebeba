"""What a search came to: its way, what was found and in which order, or why nothing was."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.tools.envelope import Failure
from core.tools.found import SOURCES, in_library
from core.tools.searches import Searching
from ui import searchform
from ui.asked import LAST_OFFSET, Asked, from_address, to_address
from ui.found import Here, Numbered, add, card, here, numbered
from ui.frame import ASK, LIBRARY, REVIEW, Session, fragment, link
from ui.language import _, ngettext, translated
from ui.safe import plain
from ui.searchform import ask, limited, source_names
from ui.state import state

POLL_SECONDS = 0.3
ORDER = "order"


def asked() -> Asked:
    """Return what the address asks; a page opened without goes on with what was asked last."""
    named = from_address()
    if not named.topic and state().asked:
        to_address(state().asked)
        return state().asked
    state().asked = named if named.topic else None
    return named


def welcome() -> None:
    """Say what the page does, before anything is asked."""
    st.info(
        _(
            "Type a topic, in English or Chinese, and press Enter. What arXiv, OpenAlex or Crossref "
            "finds is ranked by meaning and by words, and can be added to your library."
        ),
        icon=":material/travel_explore:",
    )


def show(session: Session, asked: Asked) -> None:
    """Draw what a search came to, or that it is on its way."""
    search = _search(session, asked)
    if search.answer is None:
        _on_its_way(search)
    elif search.answer["error"]:
        _failed(session, asked, search.answer["error"])
    elif search.answer["data"]:
        _found(session, asked, search.answer["data"])
    _further(session, asked)


def told(session: Session, asked: Asked) -> Collection[str]:
    """Return the names in the queue of the papers shown: what fails of them their cards say."""
    answer = _search(session, asked).answer if asked.topic else None
    papers = answer["data"]["papers"] if answer and answer["data"] else []
    return {f"arXiv:{paper['arxiv_id']}" for paper in papers}


def _search(session: Session, asked: Asked) -> Searching:
    """Return the search the page shows, begun when it is another than before."""
    now, given = state().search, asked.arguments()
    if now and now.given == given:
        return now
    if now:
        now.stop()
    state().search = session.bench.searches.start(session.user, **given)
    return state().search


def _on_its_way(search: Searching) -> None:
    def draw() -> None:
        if search.answer is not None:
            st.rerun()
        seconds = _("{seconds} s").format(seconds=int(search.seconds))
        st.status(f"{plain(translated(search.doing))} ({seconds})", state="running")
        st.button(_("Stop"), key="stop-search", icon=":material/stop_circle:", on_click=search.stop)

    with st.container(key="searching"):
        fragment(draw, POLL_SECONDS)


def _further(session: Session, asked: Asked) -> None:
    """Draw where one can go from a search: pages that take a topic are linked here."""
    label = _("Write a review on this topic")
    link(session, REVIEW, label, icon=":material/history_edu:", topic=asked.topic)
    st.button(
        _("Clear this search"),
        key="clear-search",
        icon=":material/close:",
        type="tertiary",
        on_click=searchform.forget,
    )


# --- nothing ------------------------------------------------------------------------------------


def _failed(session: Session, asked: Asked, error: Failure) -> None:
    """Say why nothing was found, and offer what to do next."""
    code = error["code"]
    said = f"{translated(error['message'])} {_hint(error)}"
    if code in ("EMPTY_RESULT", "CANCELLED"):
        st.info(plain(said), icon=_ICONS.get(code, ":material/search_off:"))
    else:
        st.warning(plain(said), icon=_ICONS.get(code, ":material/error:"))
    if code == "NETWORK":
        st.caption(_("Everything else in Lectern works without a network."))
    with st.container(horizontal=True, vertical_alignment="center", key="search-ways-on"):
        if error["retryable"] or code in ("CANCELLED", "PARSE_ERROR"):
            st.button(
                _("Try again"), key="search-again", icon=":material/refresh:", on_click=_again
            )
        if code == "EMPTY_RESULT" and asked.offset:
            _offer(_("Back to the first page"), "first_page", replace(asked, offset=0))
        elif code == "EMPTY_RESULT" and limited(asked):
            _offer(_("Search without filters"), "filter_alt_off", _unlimited(asked))
        if code != "CANCELLED":
            _elsewhere(asked)
        _own_library(session)


def _hint(error: Failure) -> str:
    """Return what to do, with the seconds that the other side asks for where it does."""
    if not error["retry_after"]:
        return translated(error["hint"])
    count = round(error["retry_after"])
    again = ngettext("Try again in {count} second.", "Try again in {count} seconds.", count)
    return again.format(count=count)


_ICONS = {
    "RATE_LIMITED": ":material/hourglass_top:",
    "NETWORK": ":material/wifi_off:",
    "TIMEOUT": ":material/timer_off:",
    "CANCELLED": ":material/stop_circle:",
}


def _again() -> None:
    state().search = None


def _unlimited(asked: Asked) -> Asked:
    return Asked(asked.topic, source=asked.source, sort=asked.sort, number=asked.number)


def _elsewhere(asked: Asked) -> None:
    """Offer the same search in the next source."""
    other = SOURCES[(SOURCES.index(asked.source) + 1) % len(SOURCES)]
    label = _("Search {source} instead").format(source=source_names()[other])
    _offer(label, "swap_horiz", replace(asked, source=other, offset=0))


def _offer(label: str, icon: str, instead: Asked) -> None:
    st.button(label, key=f"offer-{icon}", icon=f":material/{icon}:", on_click=ask, args=(instead,))


def _own_library(session: Session) -> None:
    if session.bench.papers.papers(session.user):
        label = _("Ask your own library instead")
        link(session, ASK, label, icon=":material/forum:")
    else:
        link(session, LIBRARY, _("Add your own papers"), icon=":material/upload_file:")


# --- something ----------------------------------------------------------------------------------


def _found(session: Session, asked: Asked, data: dict[str, Any]) -> None:
    papers = numbered(data["papers"], data["offset"])
    rows = session.bench.papers.papers(session.user)
    around = here(session, in_library(data["papers"], rows))
    _understood(data)
    span = _span(data)
    with st.container(horizontal=True, vertical_alignment="bottom", key="search-tools"):
        order = _order(asked)
        st.markdown(span, width="stretch")
        _choosing(session, papers, around)
    if order == "beside":
        _side_by_side(papers)
    for one in _ordered(papers, order):
        card(session, one, around)
    if state().chosen:
        _add_chosen(session, "add-chosen-below")
    _paging(asked, data, span)


def _understood(data: dict[str, Any]) -> None:
    """Say what a Chinese topic was searched by, and what of it was not understood."""
    if data["translated_by"] and data["topic"]:
        by_model = _("Searched for: {topic} (translated by the model)")
        by_list = _("Searched for: {topic} (translated by a list of terms)")
        said = by_model if data["translated_by"] == "model" else by_list
        st.caption(":material/translate: " + said.format(topic=plain(data["topic"])))
    if data["unknown_terms"]:
        terms = "、".join(data["unknown_terms"])
        st.warning(
            _(
                "Not in the list of terms, and left out: {terms}. For a closer search, put the "
                "topic in English."
            ).format(terms=plain(terms)),
            icon=":material/translate:",
        )


def _span(data: dict[str, Any]) -> str:
    first, last = data["offset"] + 1, data["offset"] + len(data["papers"])
    return _("{first}–{last} of {total}").format(
        first=f"{first:,}", last=f"{last:,}", total=f"{max(data['total'], last):,}"
    )


def _order(asked: Asked) -> str:
    """Draw the choice of the order, and return it; it stands in the address."""
    words = {
        "together": _("Together"),
        "meaning": _("By meaning"),
        "words": _("By words"),
        "beside": _("Side by side"),
    }
    if asked.sort != "relevance":
        words = {"date": _("By date"), **words}
    usual = next(iter(words))
    chosen = st.query_params.get(ORDER, "")
    st.session_state["search-order"] = chosen if chosen in words else usual
    shown: str = st.segmented_control(
        _("Order of these papers"),
        list(words),
        format_func=words.__getitem__,
        key="search-order",
        required=True,
        on_change=_reorder,
        width="content",
    )
    return shown


def _reorder() -> None:
    st.query_params[ORDER] = st.session_state["search-order"]


def _ordered(papers: Sequence[Numbered], order: str) -> list[Numbered]:
    if order == "meaning":
        return sorted(papers, key=lambda one: one.by_meaning)
    if order == "words":
        return sorted(papers, key=lambda one: one.by_words)
    if order in ("together", "beside"):
        return sorted(papers, key=lambda one: -one.scores["combined"])
    return list(papers)


def _side_by_side(papers: Sequence[Numbered]) -> None:
    """Draw the two orders beside each other; a paper has the same number in both."""
    with st.container(border=True, key="search-beside"):
        left, right = st.columns(2, gap="medium")
        left.markdown("**" + _("By meaning") + "**")
        left.markdown(_listed(_ordered(papers, "meaning"), "embedding"))
        right.markdown("**" + _("By words") + "**")
        if any(one.scores["tfidf"] for one in papers):
            right.markdown(_listed(_ordered(papers, "words"), "tfidf"))
        else:
            right.caption(_("The topic shares no word with these papers."))


def _listed(papers: Sequence[Numbered], score: str) -> str:
    lines = [
        f"{place}. **\\#{one.n}** {plain(one.paper['title'])} · {one.scores[score]:.2f}"
        for place, one in enumerate(papers, 1)
    ]
    return "\n".join(lines)


def _choosing(session: Session, papers: Sequence[Numbered], around: Here) -> None:
    """Draw what can be done with the chosen papers; those of other pages of results count too."""
    addable = [one.paper["arxiv_id"] for one in papers if around.addable(one.paper)]
    chosen = state().chosen
    if not addable and not chosen:
        return
    _add_chosen(session, "add-chosen")
    every = tuple(dict.fromkeys((*chosen, *addable)))
    if len(every) > len(chosen):
        label, after = _("Choose all here"), every
    else:
        label, after = _("Choose none"), ()
    st.button(label, key="choose-all", type="tertiary", on_click=_choose, args=(after,))


def _add_chosen(session: Session, key: str) -> None:
    chosen = state().chosen
    st.button(
        _("Add chosen ({count})").format(count=len(chosen)),
        key=key,
        type="primary",
        icon=":material/library_add:",
        disabled=not chosen,
        on_click=add,
        args=(session, chosen),
    )


def _choose(numbers: tuple[str, ...]) -> None:
    state().chosen = numbers


def _paging(asked: Asked, data: dict[str, Any], span: str) -> None:
    before, after = asked.offset - asked.number, asked.offset + asked.number
    if before < 0 and after >= data["total"]:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="search-paging"):
        st.button(
            _("Previous"),
            key="previous-page",
            icon=":material/chevron_left:",
            disabled=before < 0,
            on_click=ask,
            args=(replace(asked, offset=max(before, 0)),),
        )
        st.caption(span, width="content")
        st.button(
            _("Next"),
            key="next-page",
            icon=":material/chevron_right:",
            disabled=after >= min(data["total"], LAST_OFFSET),
            on_click=ask,
            args=(replace(asked, offset=after),),
        )
