"""Draws turns: the question, the steps, the answer sentence by sentence, the citation table."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from ui.safe import plain
from ui.turnview import TurnView, table

STEP_ICONS = {"running": "⏳", "done": "✓", "failed": "✗", "stopped": "■"}
VERDICT_MARKS = {
    "supported": "✓",
    "partly": "◐ partly supported",
    "contradicted": "✗ contradicted by its passage",
    "unsupported": "○ not supported by a passage",
}
COLUMNS = ("n", "page", "quote", "verdict", "paper", "section", "dense", "bm25", "fused", "rerank")


def show_turn(view: TurnView) -> None:
    """Draw one turn in the two bubbles of a chat."""
    with st.chat_message("user"):
        st.markdown(plain(view.question))
    with st.chat_message("assistant"):
        _steps(view)
        _answer(view)
        for notice in view.notices:
            st.info(plain(notice), icon=":material/info:")
        if view.state == "stopped":
            st.caption("■ Stopped here. What was written is kept.")
        if view.error:
            st.error(plain(f"{view.error['message']} {view.error['hint']}"))
        if view.citations:
            _citations(view)


def _steps(view: TurnView) -> None:
    running = view.state == "running"
    seconds = sum(step.get("seconds", 0.0) for step in view.steps)
    label = "Working…" if running else f"{len(view.steps)} steps, {seconds:.1f} s"
    with st.status(label, state=_status(view), expanded=running):
        for step in view.steps:
            icon = STEP_ICONS[step.get("state", "done")]
            took = f" · {step['seconds']:.2f} s" if "seconds" in step else ""
            st.markdown(f"{icon} **{plain(step['title'])}**{took}")
            if step.get("detail"):
                st.caption(plain(step["detail"]))


def _status(view: TurnView) -> Any:
    return {"running": "running", "failed": "error"}.get(view.state, "complete")


def _answer(view: TurnView) -> None:
    if not view.sentences:
        if view.text:
            st.markdown(plain(view.text))
        return
    st.markdown(" ".join(_sentence(sentence) for sentence in view.sentences))
    saved = view.usage.get("full_text_tokens", 0)
    spent = view.usage.get("prompt_tokens", 0)
    if view.mode == "llm" and spent:
        st.caption(f"{spent:,} prompt tokens instead of {saved:,} for the whole text")
    elif view.mode == "extractive":
        st.caption("In the papers' own words: no language model was used.")


def _sentence(sentence: Mapping[str, Any]) -> str:
    text = plain(sentence["text"])
    verdict = sentence["verdict"]
    if verdict is None:
        return text
    if verdict == "supported":
        return f"{text} :green[✓]"
    return f"{text} :orange[({VERDICT_MARKS[verdict]}: {plain(sentence['reason'])})]"


def _citations(view: TurnView) -> None:
    number = st.column_config.NumberColumn
    st.dataframe(
        table(view.citations, view.sentences),
        hide_index=True,
        column_order=COLUMNS,
        column_config={
            "n": number("[n]", width=40),
            "page": number("Page", width=50),
            "quote": st.column_config.TextColumn("Quote", width=360),
            "verdict": "Verdict",
            "paper": st.column_config.TextColumn("Paper", width=220),
            "section": "Section",
            "dense": number("Dense", format="%.2f"),
            "bm25": number("BM25", format="%.2f"),
            "fused": number("Fused", format="%.2f"),
            "rerank": number("Rerank", format="%.2f"),
        },
    )
