"""One page of a paper: its picture or text, what is cited on it, and text that can be selected."""

import base64
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypedDict

import streamlit as st

from core.types import Box
from ui.components.register import register

_mount = register("lectern_page", "dom.js", "selection.js", "marks.js", "page.js", style="page.css")

Kind = Literal["quote", "close", "cite", "turn"]
_KINDS: tuple[Kind, ...] = ("quote", "close", "cite", "turn")


class Mark(NamedTuple):
    """Where citation `n` stands on the page; `quote` finds it where there are no boxes.

    `shown` is the number written there, where it is another.
    """

    n: int
    boxes: Sequence[Box]
    current: bool = False
    quote: str = ""
    shown: int | None = None


class PageEvent(NamedTuple):
    """What the reader did: `number` is the page to turn to or the citation chosen."""

    kind: Kind
    number: int = 0
    text: str = ""


class PageLabels(TypedDict):
    """The words of the page pane. `picture` has `{page}` and `{pages}`, `citation` has `{n}`."""

    picture: str
    citation: str
    page: str
    previous: str
    next: str
    zoom_in: str
    zoom_out: str
    fit: str
    close: str
    ask_about: str


def page_view(
    *,
    key: str,
    picture: bytes | None,
    size: tuple[float, float],
    text: str | None,
    lines: Sequence[tuple[str, Box]],
    marks: Sequence[Mark],
    found: Sequence[Box],
    page: int,
    pages: int,
    labels: PageLabels,
    height: int,
    opened: int = 0,
    find: str = "",
    on_event: Callable[[PageEvent], None] | None = None,
) -> PageEvent | None:
    """Draw page `page` (from 1) and return what the reader did in this run, if anything.

    After a `turn` the caller must draw that page; until then the pane shows that it waits.

    Args:
        key: names the pane; it keeps zoom and place under the same key.
        picture: the page as PNG; None for a paper that has only `text`.
        size: of the page, in points.
        text: the page's text, drawn when there is no picture.
        lines: the lines of print in reading order, to select from on the picture.
        marks: the citations on this page; the current one is scrolled to.
        found: boxes of what was searched for.
        page: the page drawn.
        pages: how many the paper has.
        labels: all words, translated.
        height: of the pane, in pixels.
        opened: change it to scroll to the current mark once more.
        find: what was searched for, marked where there are no boxes.
        on_event: told the event before the script runs, which saves a second run.
    """
    handled = f"{key}:handled"
    result = _mount(
        key=key,
        data={
            "picture": picture and base64.b64encode(picture).decode(),
            "size": size,
            "text": text or "",
            "lines": lines if picture else (),
            "marks": [mark._asdict() for mark in marks],
            "found": found,
            "find": "" if picture else find,
            "page": page,
            "pages": pages,
            "labels": labels,
            "height": height,
            "opened": opened,
            "handled": st.session_state.get(handled, 0),
        },
        **{f"on_{kind}_change": partial(_tell, key, kind, on_event) for kind in _KINDS},
    )
    if on_event is None and result.get("turn"):
        st.session_state[handled] = result.turn["request"]
    events = (_event(kind, result.get(kind)) for kind in _KINDS)
    return next((event for event in events if event), None)


def _tell(key: str, kind: Kind, on_event: Callable[[PageEvent], None] | None) -> None:
    """Pass an event on, and note which turn of a page the next drawing answers."""
    value = st.session_state[key].get(kind)
    event = _event(kind, value)
    if on_event is None or event is None:
        return
    if kind == "turn":
        st.session_state[f"{key}:handled"] = value["request"]
    on_event(event)


def _event(kind: Kind, value: Any) -> PageEvent | None:
    if not value:
        return None
    if kind == "turn":
        return PageEvent(kind, number=int(value["page"]))
    if kind == "cite":
        return PageEvent(kind, number=int(value))
    return PageEvent(kind, text=value if kind == "quote" else "")
