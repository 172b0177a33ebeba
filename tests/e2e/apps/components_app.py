"""Both components on a page of their own, fed from a real paper, telling what they were told.

The address says what to draw: `show=hostile` hostile strings, `show=text` a paper without pictures.
`show=slow` takes its time. With `show=returned` what happened is taken from what the components return, not from callbacks.
"""

import time

import streamlit as st

from tests.e2e.apps.material import HOSTILE, PAGES, lines_of, marks, paper, picture, sentences
from ui.components import PageEvent, answer_text, page_view

ANSWER_LABELS = {
    "citations": {n: f"Citation {n}, page {n}, Fusion" for n in (1, 2, 3)},
    "verdicts": {
        "supported": "Supported",
        "partly": "Partly supported",
        "contradicted": "Contradicted",
        "unsupported": "Not supported",
    },
    "removed": "Numbers that do not exist: {numbers}",
}
PAGE_LABELS = {
    "picture": "Page {page} of {pages}",
    "citation": "Citation {n}",
    "page": "Page",
    "previous": "Previous page",
    "next": "Next page",
    "zoom_in": "Zoom in",
    "zoom_out": "Zoom out",
    "fit": "Fit width",
    "close": "Close",
    "ask_about": "Ask about this",
}


def opened(n: int) -> None:
    st.session_state.current = n
    st.session_state.opened = st.session_state.get("opened", 0) + 1
    tell(f"opened {n}")


def happened(event: PageEvent) -> None:
    tell(f"{event.kind} {event.number} {event.text}".strip())
    if event.kind == "turn":
        st.session_state.page = event.number
    if event.kind == "cite":
        st.session_state.current = event.number


def tell(what: str) -> None:
    st.session_state.setdefault("told", []).append(what)


st.set_page_config(layout="wide")
show = st.query_params.get("show", "")
returned = show == "returned"
number = st.session_state.get("page", 1)
drawn = (number - 1) % len(paper()[1].pages) + 1
current = st.session_state.get("current")
left, right = st.columns([1, 1])
with left:
    chosen = answer_text(
        [{"kind": "text", "title": "", "sentences": sentences(show == "hostile")}],
        key="answer",
        current=current,
        labels=ANSWER_LABELS,
        on_open=None if returned else opened,
    )
    st.button("Rerun")
    more = st.button("One more mark")
if show == "slow":
    time.sleep(0.4)
with right:
    page = paper()[1].pages[drawn - 1]
    event = page_view(
        key="pane",
        picture=None if show in ("text", "hostile") else picture(drawn),
        size=(page.width, page.height),
        text="\n\n".join(HOSTILE) if show == "hostile" else page.text,
        lines=lines_of(drawn),
        marks=[] if show == "hostile" else marks(drawn, current, more),
        find="FOUR  sets" if show == "text" else "",
        found=[lines_of(drawn)[5][1]],
        page=number,
        pages=PAGES,
        labels=PAGE_LABELS,
        height=720,
        opened=st.session_state.get("opened", 0),
        on_event=None if returned else happened,
    )
if returned and (chosen or event):
    if chosen:
        opened(chosen)
    if event:
        happened(event)
    st.rerun()
st.code("\n".join(st.session_state.get("told", ["nothing yet"])), language=None)
