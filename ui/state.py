"""What one browser session remembers between page runs: all of it, in one typed object.

Widget values vanish when the page changes; what must survive is kept here instead.
"""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import streamlit as st

from core.memory.memory import ArxivSuggestion
from core.tools.searches import Searching
from ui.asked import Asked

_KEY = "lectern"


@dataclass(frozen=True, slots=True)
class Selected:
    """A passage the reader marked and wants to ask about."""

    text: str
    paper_id: UUID
    title: str


@dataclass(frozen=True, slots=True)
class Removal:
    """Something removed that can be had back.

    `kind` is `paper`, `conversation`, `review` or `reading`.

    `at`: the moment by which readings are had back. `remembered`: which of removed papers are still
    in the reading memory.
    """

    kind: str
    ids: tuple[UUID, ...]
    title: str
    at: datetime | None = None
    remembered: tuple[UUID, ...] = ()


@dataclass
class State:
    """The session's state.

    `scope`: the papers the next question is about, none means all; `scope_of`: in which conversation
    ('' in a new one). `intent`: what the next question wants, '' when it decides itself. `problem` is
    a sentence to show on the next run, then forgotten; `said` one that something worked. `going`: the page to open when the next run
    begins; `address`: page and parameters of the last run.
    `from_arxiv`: what was last found on arXiv, None when nothing was looked for.
    `asked`: what was last searched for, `search` its way and what came of it; `chosen`: arXiv ids of the papers chosen among what was found.
    `pane_pages`: where the reader has turned beside a citation, by turn and number.
    """

    language_known: bool = False
    scope: tuple[UUID, ...] = ()
    scope_of: str = ""
    selected: Selected | None = None
    intent: str = ""
    removal: Removal | None = None
    problem: str = ""
    said: str = ""
    from_arxiv: list[ArxivSuggestion] | None = None
    asked: Asked | None = None
    search: Searching | None = None
    chosen: tuple[str, ...] = ()
    going: tuple[str, dict[str, str]] | None = None
    address: tuple[str, dict[str, str]] = ("", {})
    pane_pages: dict[str, int] = field(default_factory=dict)


def ticked(key: str) -> list[int]:
    """Return the rows that are ticked in the table of that key; none while it was never drawn."""
    return list(st.session_state[key]["selection"]["rows"]) if key in st.session_state else []


def tick(key: str, rows: list[int]) -> None:
    """Have just these rows ticked in the table of that key, which is drawn next."""
    if ticked(key) != rows:
        st.session_state[key] = {"selection": {"rows": rows}}


def state() -> State:
    """Return this session's state, made at its first use."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = State()
    found: State = st.session_state[_KEY]
    return found
