"""A turn beside its rerun: what today's library and model make of the same question."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.agent.intents import all_intents
from core.changes import Changes, Side, changes
from core.db.conversations import TurnRow
from ui.frame import Session
from ui.language import _, translated
from ui.safe import plain

LISTED = 12
"""Citations named on each side."""


def show(session: Session, before: TurnRow, after: TurnRow) -> None:
    """Draw what changed between a turn and its newest rerun, which is over."""
    with st.expander(_("Run again: what changed"), expanded=True, icon=":material/compare:"):
        if after.error:
            st.error(plain(translated(after.error["message"])), icon=":material/error:")
            return
        found = changes(before, after)
        st.dataframe(_figures(found), hide_index=True, key=f"figures-{after.id}")
        if found.same_text:
            st.markdown(_("The answer is word for word the same."))
        else:
            left, right = st.columns(2)
            _text(left, _("Before"), before)
            _text(right, _("Now"), after)
        _passages(_("Passages no longer cited"), found.gone)
        _passages(_("Passages newly cited"), found.new)


def _figures(found: Changes) -> list[dict[str, str]]:
    rows = {
        _("Way"): _way,
        _("Written by"): _mode,
        _("Sentences supported"): lambda side: f"{side.supported} / {side.checked}",
        _("Citations"): lambda side: str(side.citations),
        _("Tokens"): lambda side: f"{side.tokens:,}",
        _("Seconds"): lambda side: f"{side.seconds:.1f}",
    }
    figures = [
        {" ": name, _("Before"): show(found.before), _("Now"): show(found.after)}
        for name, show in rows.items()
    ]
    kept = {" ": _("Citations kept"), _("Before"): str(found.kept), _("Now"): str(found.kept)}
    return [*figures, kept]


def _way(side: Side) -> str:
    titles = {entry.name: entry.title for entry in all_intents()}
    return translated(titles.get(side.intent, side.intent))


def _mode(side: Side) -> str:
    return _("a language model") if side.mode == "llm" else _("the papers' own sentences")


def _text(column: Any, title: str, turn: TurnRow) -> None:
    column.caption(title)
    column.markdown(plain(turn.answer))


def _passages(title: str, citations: Sequence[Mapping[str, Any]]) -> None:
    if not citations:
        return
    st.caption(title)
    lines = [
        f"- {plain(citation['title'])}, {_('page {page}').format(page=citation['page'])}: "
        f"“{plain(citation['quote'][:200])}”"
        for citation in citations[:LISTED]
    ]
    st.markdown("\n".join(lines))
