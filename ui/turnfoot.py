"""What can be done with an answer: say what one thinks of it, ask again, run it again."""

from dataclasses import replace
from functools import partial
from uuid import UUID

import streamlit as st

from core.agent.state import TurnRequest
from core.db.conversations import TurnRow
from core.errors import LecternError
from ui.frame import ASK, Session, error_text, go
from ui.language import _
from ui.recollection import SUMMARISE, under_answer
from ui.state import state

THUMBS = {1: 1, 0: -1}
"""What Streamlit's thumbs are as ratings."""


def draw(session: Session, turn: TurnRow) -> None:
    """Draw what stands under an answer that is over."""
    if turn.intent == SUMMARISE and turn.answer:
        _readings(session, turn)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=f"foot-{turn.id}"
    ):
        if turn.answer:
            _rating(session, turn)
            _reason(session, turn)
        if broke_off(turn):
            _button(
                _("Try again"),
                ":material/refresh:",
                f"retry-{turn.id}",
                partial(_ask, session, turn),
            )
            if session.bench.chat:
                without = partial(_ask, session, turn, without_model=True)
                label = _("Answer from the papers' own sentences")
                _button(label, ":material/format_quote:", f"extract-{turn.id}", without)
        elif turn.answer:
            _button(
                _("Run again"),
                ":material/replay:",
                f"again-{turn.id}",
                partial(_again, session, turn),
                _("Run this question again and compare"),
            )


def _readings(session: Session, turn: TurnRow) -> None:
    """Draw the earlier readings that a summary stands beside."""
    events = session.bench.runner.events(session.user, turn.id)
    for recalled in (event.data for event in events if event.kind == "recalled"):
        read = [UUID(one["paper_id"]) for one in recalled["related"]]
        under_answer(session, UUID(recalled["paper_id"]), read)


def broke_off(turn: TurnRow) -> bool:
    """Whether a turn did not come to its end, or its model did not."""
    failed = any(str(notice.get("code", "")).startswith("MODEL_") for notice in turn.notices)
    return turn.state in ("failed", "stopped") or failed


def _button(label: str, icon: str, key: str, act: partial[None], help: str | None = None) -> None:
    st.button(label, icon=icon, key=key, on_click=act, help=help, type="tertiary")


def _rating(session: Session, turn: TurnRow) -> None:
    key = f"rating-{turn.id}"
    if key not in st.session_state:
        st.session_state[key] = next((n for n, r in THUMBS.items() if r == turn.rating), None)
    st.feedback("thumbs", key=key, on_change=_rated, args=(session, turn, key))


def _rated(session: Session, turn: TurnRow, key: str) -> None:
    chosen = st.session_state[key]
    rating = None if chosen is None else THUMBS[chosen]
    _keep(session, turn, rating, turn.rating_reason if rating == turn.rating else "")


def _reason(session: Session, turn: TurnRow) -> None:
    if turn.rating is None:
        return
    box = st.popover(_("Why?"), type="tertiary", key=f"why-{turn.id}", on_change="rerun")
    if not box.open:
        return
    key = f"reason-{turn.id}"
    box.text_area(
        _("What was good, or what was wrong?"),
        turn.rating_reason,
        max_chars=1000,
        key=key,
        on_change=_said,
        args=(session, turn, key),
    )


def _said(session: Session, turn: TurnRow, key: str) -> None:
    _keep(session, turn, turn.rating, st.session_state[key] or "")
    st.session_state[f"why-{turn.id}"] = False


def _keep(session: Session, turn: TurnRow, rating: int | None, reason: str) -> None:
    try:
        session.bench.conversations.rate(session.user, turn.id, rating, reason)
    except LecternError as error:
        state().problem = error_text(error)


def _ask(session: Session, turn: TurnRow, *, without_model: bool = False) -> None:
    request = TurnRequest(
        session.user,
        turn.question,
        paper_ids=turn.scope,
        conversation_id=turn.conversation_id,
        selected=turn.selected,
        intent=turn.forced,
    )
    try:
        session.bench.runner.start(replace(request, without_model=without_model))
    except LecternError as error:
        state().problem = error_text(error)
        return
    go(ASK, conversation=str(turn.conversation_id))


def _again(session: Session, turn: TurnRow) -> None:
    try:
        session.bench.runner.repeat(session.user, turn.id)
    except LecternError as error:
        state().problem = error_text(error)
