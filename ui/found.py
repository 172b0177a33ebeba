"""A paper that a search found, as a card: what it is, how well it fits, and how it comes in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

import streamlit as st

from core.errors import LecternError
from core.ingest.identifiers import recognise
from core.ingest.queue import OVER, Adding
from core.tools.found import Found, identity
from core.types import PaperRow
from ui.frame import LIBRARY, Session, error_text, link
from ui.language import _, translated
from ui.safe import plain
from ui.state import state

Paper = Mapping[str, Any]

AUTHORS = 5
FOLDED = 280
"""Characters: a longer abstract is folded after three lines."""
APART = 0.5
"""Standard deviations from the mean: within them a paper fits as the others do."""
FEW = 3
"""Papers: fewer are not compared with each other."""
ARXIV, DOI = "https://arxiv.org/abs/", "https://doi.org/"


@dataclass(frozen=True, slots=True)
class Numbered:
    """A paper found: its number `n` in the search, and its places by meaning and by words."""

    n: int
    paper: Paper
    by_meaning: int
    by_words: int
    of: int

    @property
    def scores(self) -> Mapping[str, float]:
        """How well it fits: `embedding`, `tfidf`, `combined`."""
        scores: Mapping[str, float] = self.paper["relevance"]
        return scores


@dataclass(frozen=True, slots=True)
class Here:
    """What of the papers found is in the library, by identity, and on its way, by queue name."""

    held: Mapping[str, PaperRow]
    adding: Mapping[str, Adding]

    def row(self, paper: Paper) -> PaperRow | None:
        """Return the paper of the library that it is."""
        return self.held.get(identity(cast(Found, paper)))

    def entry(self, paper: Paper) -> Adding | None:
        """Return its entry in the queue."""
        return self.adding.get(f"arXiv:{paper['arxiv_id']}")

    def moving(self, paper: Paper) -> bool:
        """Return whether it is being added."""
        entry = self.entry(paper)
        return entry is not None and entry.state not in OVER

    def addable(self, paper: Paper) -> bool:
        """Return whether it can be added: it is on arXiv, not here and not on its way."""
        return bool(paper["arxiv_id"]) and not self.row(paper) and not self.moving(paper)


def numbered(papers: Sequence[Paper], offset: int) -> list[Numbered]:
    """Number papers in the order they came, with their places by meaning and by words."""
    meaning = _places([paper["relevance"]["embedding"] for paper in papers])
    words = _places([paper["relevance"]["tfidf"] for paper in papers])
    return [
        Numbered(offset + at + 1, paper, meaning[at], words[at], len(papers))
        for at, paper in enumerate(papers)
    ]


def _places(scores: Sequence[float]) -> list[int]:
    """Return each score's place, from 1; equal scores share one."""
    return [1 + sum(other > score for other in scores) for score in scores]


def card(session: Session, one: Numbered, here: Here) -> None:
    """Draw a paper found."""
    paper = one.paper
    with st.container(border=True, key=f"found-{one.n}", gap="xsmall"):
        with st.container(horizontal=True, wrap=False, key=f"found-head-{one.n}"):
            if here.addable(paper):
                _choice(paper)
            st.markdown(f"**\\#{one.n} {plain(paper['title'])}**")
        st.caption(plain(_about(paper)))
        st.caption(_fit(one))
        _abstract(one)
        with st.container(horizontal=True, vertical_alignment="center", key=f"found-foot-{one.n}"):
            _state(session, one, here)
            _links(paper)
        _why_not(paper, here)


def _choice(paper: Paper) -> None:
    number = paper["arxiv_id"]
    key = f"choose-{number}"
    st.session_state[key] = number in state().chosen
    st.checkbox(
        _("Choose {title}").format(title=plain(paper["title"])),
        key=key,
        label_visibility="collapsed",
        on_change=_chosen,
        args=(number, key),
        width="content",
    )


def _chosen(number: str, key: str) -> None:
    others = tuple(other for other in state().chosen if other != number)
    state().chosen = (*others, number) if st.session_state[key] else others


def _about(paper: Paper) -> str:
    """Return one line: who, when, in which categories."""
    authors = list(paper["authors"])
    who = ", ".join(authors[:AUTHORS])
    if len(authors) > AUTHORS:
        who += " " + _("and {count} more").format(count=len(authors) - AUTHORS)
    parts = (who, str(paper["year"] or _("no year")), ", ".join(paper["categories"]))
    return " · ".join(part for part in parts if part)


def _fit(one: Numbered) -> str:
    """Return how well a paper fits, in words and figures."""
    meaning = _("meaning {score}").format(score=f"{one.scores['embedding']:.2f}")
    words = _("words {score}").format(score=f"{one.scores['tfidf']:.2f}")
    if one.of >= FEW:
        meaning += " " + _("(place {place})").format(place=one.by_meaning)
        words += " " + _("(place {place})").format(place=one.by_words)
    if not one.scores["tfidf"]:
        words = _("no word shared")
    return " · ".join(part for part in (_compared(one), meaning, words) if part)


def _compared(one: Numbered) -> str:
    if one.of < FEW:
        return ""
    if one.scores["combined"] >= APART:
        return _("Fits better than most here")
    if one.scores["combined"] <= -APART:
        return _("Fits less than most here")
    return _("Fits about as the others here")


def _abstract(one: Numbered) -> None:
    """Draw the abstract; a long one folded: the theme shows three lines until all is opened."""
    text = plain(one.paper["abstract"])
    if not text:
        st.caption(_("No abstract is known."))
    elif len(one.paper["abstract"]) <= FOLDED:
        st.markdown(text)
    else:
        with st.container(key=f"found-abstract-{one.n}", gap=None):
            st.markdown(text)
            with st.expander(_("Whole abstract"), key=f"whole-{one.n}"):
                st.markdown(text)


def _state(session: Session, one: Numbered, here: Here) -> None:
    """Draw whether a paper is in the library, or how it comes in."""
    paper, row = one.paper, here.row(one.paper)
    if row:
        icon = ":material/library_add_check:"
        link(session, LIBRARY, _("In your library"), icon=icon, paper=str(row.paper_id))
    elif here.moving(paper):
        st.markdown(":material/hourglass_top: " + _("Being added…"), width="content")
    elif paper["arxiv_id"]:
        st.button(
            _("Add"),
            key=f"add-{one.n}",
            icon=":material/add:",
            help=_("Fetch it from arXiv and put it into your library"),
            on_click=add,
            args=(session, (paper["arxiv_id"],)),
        )


def _why_not(paper: Paper, here: Here) -> None:
    """Say why a paper is not, or cannot be, in the library."""
    if here.row(paper):
        return
    entry = here.entry(paper)
    if entry and entry.state == "failed":
        why = f"{translated(entry.message)} {translated(entry.hint)}"
        st.error(_("Not added: {why}").format(why=plain(why)), icon=":material/error:")
    if not paper["arxiv_id"]:
        why = _(
            "It is not on arXiv, so Lectern cannot fetch it: download it where you may, and add the "
            "file in the library."
        )
        st.caption(":material/info: " + why)


def _links(paper: Paper) -> None:
    for label, address in _addresses(paper).items():
        st.link_button(label, address, type="tertiary", icon=":material/open_in_new:")


def _addresses(paper: Paper) -> dict[str, str]:
    """Return where more of a paper is, by what is said of it; each address once."""
    pages = {
        "arxiv": _("arXiv page"),
        "openalex": _("OpenAlex page"),
        "crossref": _("Publisher's page"),
    }
    doi = f"{DOI}{quote(paper['doi'], safe='/:()')}" if paper["doi"] else ""
    known = (
        (pages[paper["source"]], paper["url"]),
        (pages["arxiv"], f"{ARXIV}{paper['arxiv_id']}" if paper["arxiv_id"] else ""),
        ("DOI", doi),
        (_("Open copy"), paper["open_copy"]),
    )
    found: dict[str, str] = {}
    for label, address in known:
        if address and label not in found and address not in found.values():
            found[label] = address
    return found


def add(session: Session, numbers: Sequence[str]) -> None:
    """Have papers of arXiv fetched and added; what failed before of them is put away."""
    queue, before = session.bench.add_queue, _by_name(session)
    for number in numbers:
        entry = before.get(f"arXiv:{number}")
        if entry and entry.state not in OVER:
            continue
        if entry:
            queue.dismiss(session.user, entry.id)
        try:
            queue.fetch(session.user, recognise(f"arXiv:{number}"))
        except LecternError as error:
            state().problem = f"{number}: {error_text(error)}"
    state().chosen = tuple(other for other in state().chosen if other not in numbers)


def here(session: Session, held: Mapping[str, PaperRow]) -> Here:
    """Return what is in the library or on its way."""
    return Here(held, _by_name(session))


def _by_name(session: Session) -> dict[str, Adding]:
    return {entry.name: entry for entry in session.bench.add_queue.entries(session.user)}
