"""Draws turns: the question, the steps, the answer sentence by sentence, the citation table."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from ui import meter
from ui.evidence import cite, cited, close
from ui.frame import Session
from ui.language import _, ngettext, translated
from ui.parts import show_answer, verdict_words
from ui.safe import plain
from ui.state import tick, ticked
from ui.turnview import TurnView, checked, verdicts_of

STEP_ICONS = {
    "running": ":material/hourglass_top:",
    "done": ":material/check:",
    "failed": ":material/error:",
    "stopped": ":material/stop:",
}


SIGNS = {"supported": "✓", "partly": "◐", "contradicted": "✗", "unsupported": "○"}


def show_turn(session: Session, view: TurnView, *, last: bool) -> None:
    """Draw one turn in the two bubbles of a chat."""
    with st.chat_message("user", avatar=":material/person:"):
        if view.selected:
            st.caption(f":material/format_quote: {plain(view.selected[:300])}")
        st.markdown(plain(view.question))
    with st.chat_message("assistant", avatar=":material/menu_book:"):
        _steps(view)
        _answer(session, view)
        for notice in view.notices:
            said = f"{translated(notice['text'])} {translated(notice.get('hint', ''))}"
            st.info(plain(said), icon=":material/info:")
        if view.state == "stopped":
            st.caption("■ " + _("Stopped here. What was written is kept."))
        if view.error:
            said = f"{translated(view.error['message'])} {translated(view.error['hint'])}"
            st.error(plain(said), icon=":material/error:")
        if view.citations and view.state != "running":
            citation_table(view, open_=last)


def _steps(view: TurnView) -> None:
    running = view.state == "running"
    seconds = sum(step.get("seconds", 0.0) for step in view.steps)
    tokens = sum(step.get("tokens", 0) for step in view.steps)
    label = ngettext("{count} step", "{count} steps", len(view.steps)).format(count=len(view.steps))
    label += " · " + _("{seconds} s").format(seconds=f"{seconds:.1f}")
    if tokens:
        label += " · " + _("{count} tokens").format(count=f"{tokens:,}")
    with st.status(_("Working…") if running else label, state=_status(view), expanded=running):
        for step in view.steps:
            _step(step)


def _step(step: Mapping[str, Any]) -> None:
    took = ""
    if "seconds" in step:
        took = " · " + _("{seconds} s").format(seconds=f"{step['seconds']:.2f}")
    if step.get("tokens"):
        took += " · " + _("{count} tokens").format(count=f"{step['tokens']:,}")
    icon = STEP_ICONS[step.get("state", "done")]
    st.markdown(f"{icon} **{plain(translated(step['title']))}**{took}")
    if step.get("detail"):
        st.caption(plain(translated(step["detail"])))


def _status(view: TurnView) -> Any:
    return {"running": "running", "failed": "error"}.get(view.state, "complete")


def _answer(session: Session, view: TurnView) -> None:
    if not view.sentences:
        if view.text:
            st.markdown(plain(view.text))
        return
    show_answer(session, view)
    _small_print(session, view)


def _small_print(session: Session, view: TurnView) -> None:
    good, all_ = checked(view.sentences)
    parts = [_("{good} of {all} sentences supported").format(good=good, all=all_)] if all_ else []
    if view.mode == "extractive" and all_:
        parts.append(_("in the papers' own words: no language model was used"))
    parts.append(meter.of_turn(session.bench.settings, view.usage))
    if any(parts):
        st.caption(" · ".join(part for part in parts if part))


def citation_table(view: TurnView, *, open_: bool) -> None:
    """Draw the table of an answer's citations; a row opens its passage."""
    count = len(view.citations)
    label = ngettext("{count} citation", "{count} citations", count).format(count=count)
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    key, shown = f"citations-{view.id}", cited(view)
    tick(key, [at for at, citation in enumerate(view.citations) if citation["n"] == shown])
    with st.expander(label, expanded=open_, icon=":material/format_list_numbered:"):
        st.dataframe(
            _table(view),
            key=key,
            hide_index=True,
            on_select=lambda: _chosen(view, key),
            selection_mode="single-row",
            column_config={
                "n": number("[n]", width=40),
                "quote": text(_("Quote"), width=210),
                "verdict": text(_("Verdict"), width=120),
                "page": number(_("Page"), width=50),
                "paper": text(_("Paper"), width=180),
                "section": text(_("Section"), width=120),
                "dense": number(_("Dense"), format="%.2f"),
                "bm25": number("BM25", format="%.2f"),
                "fused": number(_("Fused"), format="%.2f"),
                "rerank": number(_("Rerank"), format="%.2f"),
            },
        )


def _table(view: TurnView) -> list[dict[str, Any]]:
    words = verdict_words()
    return [
        {
            "n": view.shown.get(citation["n"], citation["n"]),
            "quote": citation["quote"],
            "verdict": ", ".join(
                f"{SIGNS[label]} {words[label]}"
                for label in verdicts_of(citation["n"], view.sentences)
            ),
            "page": citation["page"],
            "paper": citation["title"],
            "section": citation["section"],
            **{name: score for name, score in citation["scores"].items() if score is not None},
        }
        for citation in view.citations
    ]


def _chosen(view: TurnView, key: str) -> None:
    rows = ticked(key)
    if rows:
        cite(view, view.citations[rows[0]]["n"])
    else:
        close()
