"""A finished review: its text with the passages beside it, its references, and files of it."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.db.conversations import TurnRow
from core.db.reviews import ReviewRow
from core.review import exports
from core.review.document import numbers
from core.review.sources import ABSTRACT
from ui import review
from ui.answers import citation_table
from ui.evidence import Shown
from ui.frame import LIBRARY, Session, link
from ui.history import file_name
from ui.language import _, ngettext, translated
from ui.parts import show_answer
from ui.safe import plain
from ui.turnview import TurnView, from_row

_FIGURE = re.compile(r"\d")
_MARKER = re.compile(r"\[\d+\]")


def as_turn(row: ReviewRow) -> TurnRow:
    """Return a finished review as the turn whose citations the evidence pane shows."""
    document = row.document or {}
    return TurnRow(
        id=row.id,
        conversation_id=row.id,
        position=1,
        question=row.topic,
        selected="",
        scope=None,
        state="finished",
        intent="review",
        mode=document["mode"],
        answer="",
        citations=tuple(document["citations"]),
        sentences=tuple(_cautioned(document)),
        steps=(),
        usage=document["stats"]["usage"],
        notices=(),
        error=None,
        started_at=row.created_at,
        parts=tuple(document["parts"]),
    )


def shown_numbers(row: ReviewRow) -> Shown:
    """Return the number of the paper for that of each passage."""
    document = row.document or {}
    return {int(n): number for n, number in document["reference_of"].items()}


def show(session: Session, row: ReviewRow) -> None:
    """Draw a finished review."""
    document = row.document or {}
    view = from_row(as_turn(row))
    view.shown = shown_numbers(row)
    _summary(row, document)
    for notice in row.notices:
        said = f"{translated(notice['text'])} {translated(notice.get('hint', ''))}"
        st.info(plain(said), icon=":material/info:")
    show_answer(session, view)
    _references(session, document)
    _table(view)
    _failed(document)


def _summary(row: ReviewRow, document: Mapping[str, Any]) -> None:
    stats = document["stats"]
    full, short = stats["full_text"], stats["abstract_only"]
    parts = [
        ":material/verified: " + review.verified(document),
        ngettext("{count} paper in full", "{count} papers in full", full).format(count=full),
    ]
    if short:
        parts.append(
            ngettext(
                "{count} by its abstract only", "{count} by their abstracts only", short
            ).format(count=short)
        )
    if document["mode"] == "extractive":
        parts.append(_("in the papers' own words: no language model was used"))
    if stats["removed_numbers"]:
        parts.append(
            ngettext(
                "{count} invented number removed",
                "{count} invented numbers removed",
                stats["removed_numbers"],
            ).format(count=stats["removed_numbers"])
        )
    parts.append(_("{seconds} s").format(seconds=f"{stats['seconds']:.0f}"))
    st.caption(" · ".join(parts))


def _cautioned(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the sentences; one with a figure that rests on abstracts alone says so."""
    evidence = {r["n"]: r["evidence"] for r in document["references"]}
    found = []
    for sentence in document["sentences"]:
        cited = numbers(document, sentence["citations"])
        figure = _FIGURE.search(_MARKER.sub("", sentence["text"]))
        if cited and figure and all(evidence.get(n) == ABSTRACT for n in cited):
            reason = _("This figure rests on an abstract only: look it up in the full text.")
            sentence = {**sentence, "caution": {"word": _("abstract only"), "reason": reason}}
        found.append(sentence)
    return found


def _references(session: Session, document: Mapping[str, Any]) -> None:
    heading = _("References")
    st.markdown(f"#### {heading}")
    with st.container(gap="small", key="references"):
        for entry in document["references"]:
            with st.container(gap=None):
                link(
                    session,
                    LIBRARY,
                    f"[{entry['n']}] {entry['title']}",
                    icon=":material/article:",
                    paper=entry["paper_id"],
                )
                st.caption(_about(entry))


def _about(entry: Mapping[str, Any]) -> str:
    authors = ", ".join(entry["authors"][:5]) + (" …" if len(entry["authors"]) > 5 else "")
    if entry["evidence"] == ABSTRACT:
        badge = ":material/short_text: " + _("abstract only")
    else:
        badge = ":material/article: " + _("full text")
    parts = [plain(authors), str(entry["year"] or ""), badge]
    if address := exports.address(entry):
        where = _("source")
        parts.append(f"[{where}]({address})")
    return " · ".join(part for part in parts if part)


def _table(view: TurnView) -> None:
    if view.citations:
        citation_table(view, open_=False)


def _failed(document: Mapping[str, Any]) -> None:
    failed = document["stats"]["failed"]
    if not failed:
        return
    count = ngettext(
        "{count} paper could not be read", "{count} papers could not be read", len(failed)
    )
    with st.expander(count.format(count=len(failed)), icon=":material/error:", expanded=True):
        for entry in failed:
            st.markdown(f"{plain(entry['title'])}: {plain(translated(entry['reason']))}")


# --- files ----------------------------------------------------------------------------------------


def downloads(row: ReviewRow) -> None:
    """Draw what a finished review can be taken away as."""
    document = row.document or {}
    labels = {
        "md": ("Markdown", "text/markdown"),
        "docx": (
            "Word",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        "zip": (_("LaTeX with BibTeX"), "application/zip"),
        "bib": ("BibTeX", "application/x-bibtex"),
        "csv": (_("Table of evidence (CSV)"), "text/csv"),
        "json": (_("Everything (JSON)"), "application/json"),
    }
    with st.popover("", icon=":material/download:", help=_("Export"), type="tertiary"):
        for ending, (label, mime) in labels.items():
            st.download_button(
                label,
                partial(_written, row, document, ending),
                file_name=file_name(row.topic, ending, "review"),
                mime=mime,
                key=f"export-review-{ending}",
                on_click="ignore",
                width="stretch",
            )


def _written(row: ReviewRow, document: Mapping[str, Any], ending: str) -> Any:
    day = row.updated_at.date()
    if ending == "md":
        return exports.to_markdown(document, translated, made_on=day)
    if ending == "docx":
        return exports.to_docx(document, translated, made_on=day)
    if ending == "zip":
        return exports.to_zip(document, translated, made_on=day)
    if ending == "bib":
        return exports.to_bibtex(document)
    return exports.to_csv(document) if ending == "csv" else exports.to_json(document)
