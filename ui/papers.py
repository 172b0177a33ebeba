"""Papers as pages name them, and where they come in: the upload box, the samples, the queue."""

import json
import math
from collections.abc import Collection
from pathlib import Path
from typing import Any
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import LecternError
from core.ingest.identifiers import recognise, stands_for
from core.ingest.pipeline import STAGES, Stage
from core.ingest.queue import OVER, Adding
from core.types import PaperRow
from ui.evidence import PAPER, close
from ui.frame import Session, error_text, fragment
from ui.language import _, current_language, ngettext, translated
from ui.safe import plain
from ui.state import state

STOP = ":material/stop_circle:"
KINDS = ["pdf", "html", "htm", "md", "markdown", "txt", "bib"]
"""Endings that the upload box offers; what a file is, its content decides."""
POLL_SECONDS = 0.5
SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"


def title_of(row: PaperRow) -> str:
    """Return what a paper is called: its title, else its file's name."""
    return row.meta.title or row.filename or _("Untitled")


def about(row: PaperRow) -> str:
    """Return one line about a paper: who, when, how long, and how it was read if not from its text."""
    authors = list(row.meta.authors)
    who = ", ".join(authors[:3]) + (" …" if len(authors) > 3 else "")
    pages = ngettext("{count} page", "{count} pages", row.pages).format(count=row.pages)
    parts = (who, str(row.meta.year or ""), pages, _read_by(row))
    return " · ".join(part for part in parts if part)


def _read_by(row: PaperRow) -> str:
    if row.read_by == "abstract":
        return _("abstract only")
    if row.read_by != "ocr":
        return ""
    if row.confidence is None:
        return _("scanned pages read by OCR")
    share = math.floor(100 * row.confidence)
    return _("scanned pages read by OCR ({share}% sure)").format(share=share)


def upload_form(session: Session) -> None:
    """Draw the upload box; what is put in it is read in the background, whatever one does here."""
    with st.form("upload", clear_on_submit=True, border=False):
        st.file_uploader(_("Add papers"), KINDS, accept_multiple_files=True, key="files")
        st.text_input(
            _("Or paste a DOI, an arXiv id or an address"),
            key="paper-id",
            max_chars=500,
            placeholder="arXiv:1706.03762",
        )
        st.form_submit_button(
            _("Add"), type="primary", icon=":material/add:", on_click=_submit, args=(session,)
        )


def _submit(session: Session) -> None:
    # what is known of papers comes after the papers
    files = sorted(st.session_state["files"], key=lambda file: file.name.lower().endswith(".bib"))
    for file in files:
        _add(session, file.name, file.getvalue())
    pasted = (st.session_state["paper-id"] or "").strip()
    if pasted:
        _open_or_fetch(session, pasted)
    st.session_state["nothing-chosen"] = not (files or pasted)


def _open_or_fetch(session: Session, pasted: str) -> None:
    """Open the paper that an identifier names if it is there, else have it fetched."""
    try:
        wanted = recognise(pasted)
        for row in session.bench.papers.papers(session.user):
            if stands_for(wanted, row.meta):
                close()
                st.query_params[PAPER] = str(row.paper_id)
                return
        session.bench.add_queue.fetch(session.user, wanted)
    except LecternError as error:
        state().problem = error_text(error)


def sample_button(session: Session) -> None:
    """Offer the sample papers that come with Lectern."""
    st.button(
        _("Try with the sample papers"),
        type="primary",
        icon=":material/science:",
        on_click=_add_samples,
        args=(session,),
    )


def _add_samples(session: Session) -> None:
    for path in sorted(SAMPLES.glob("*.pdf")):
        _add(session, path.name, path.read_bytes())


def _add(session: Session, name: str, data: bytes) -> None:
    try:
        session.bench.add_queue.submit(session.user, name, data)
    except LecternError as error:
        state().problem = error_text(error)


def suggestions(rows: list[PaperRow]) -> list[str]:
    """Return questions to begin with, when the sample papers are in the library.

    They are in the page's language, whatever the language of their papers.
    """
    language = current_language()
    titles = {row.meta.title for row in rows}
    papers = json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))["papers"]
    asked = [paper["questions"][0] for paper in papers if paper["title"] in titles]
    return [question.get(language, question["en"]) for question in asked]


def queue(session: Session, *, brief: bool = False, told: Collection[str] = ()) -> None:
    """Draw the files on their way, afresh while any moves; one that is over redraws the page.

    `brief` leaves out those that are done; `told` are those whose failure the page itself tells.
    """
    if st.session_state.pop("nothing-chosen", False):
        st.warning(_("Choose files or paste an identifier first, then press Add."))
    entries = session.bench.add_queue.entries(session.user)
    if not (_shown(entries, brief, told) if brief else entries):
        return
    moving = any(entry.state not in OVER for entry in entries)
    before = sum(entry.state in OVER for entry in entries)

    def draw() -> None:
        now = session.bench.add_queue.entries(session.user)
        for entry in _shown(now, brief, told):
            _entry(session, entry)
        still = any(entry.state not in OVER for entry in now)
        if still != moving or sum(entry.state in OVER for entry in now) != before:
            session.bench.backfill.wake()
            st.rerun()

    with st.container(key="queue", gap="xsmall"):
        fragment(draw, POLL_SECONDS if moving else None)
        if not brief:
            _added(session, [entry for entry in entries if _is_added(entry)])


def being_read(session: Session) -> bool:
    """Whether any of the user's files is on its way."""
    return any(entry.state not in OVER for entry in session.bench.add_queue.entries(session.user))


def _shown(entries: list[Adding], brief: bool, told: Collection[str]) -> list[Adding]:
    """Return the files to tell of one by one: those on their way, and those with news."""
    entries = [one for one in entries if one.state != "failed" or one.name not in told]
    if brief:
        return [entry for entry in entries if entry.state != "done"]
    return [entry for entry in entries if not _is_added(entry)]


def _is_added(entry: Adding) -> bool:
    return entry.state == "done" and not entry.message and not entry.versions


def _added(session: Session, entries: list[Adding]) -> None:
    """Draw one line for the papers that were added, however many."""
    if not entries:
        return
    count = ngettext("{count} paper added", "{count} papers added", len(entries))
    with _line("queue-added"):
        with st.expander(count.format(count=len(entries)), icon=":material/check:"):
            for entry in entries:
                st.markdown(f"{plain(entry.title or entry.name)}{_done(entry)}")
        st.button(
            _("Clear"),
            key="queue-clear",
            help=_("Clear this list; the papers stay in the library"),
            on_click=_dismiss,
            args=(session, [entry.id for entry in entries]),
            type="tertiary",
        )


def _line(key: str) -> DeltaGenerator:
    return st.container(
        horizontal=True, vertical_alignment="center", wrap=False, border=False, key=key
    )


def _entry(session: Session, entry: Adding) -> None:
    with _line(f"line-{entry.id}"):
        left = st.container()
        _act(session, entry)
    name = plain(entry.name)
    if entry.state == "failed":
        why = f"{translated(entry.message)} {translated(entry.hint)}"
        left.error(f"{name}: {plain(why)}", icon=":material/error:")
        if entry.locked:
            _password(session, entry, left)
    elif entry.state == "stopped":
        left.warning(_("{file}: stopped, nothing of it was stored.").format(file=name))
    elif entry.state == "done" and entry.message:
        what = f"{translated(entry.message)} {translated(entry.hint)}"
        left.markdown(f":green[:material/check:] {name}: {plain(what)}")
    else:
        left.progress(_share(entry), text=f"{name}: {plain(_stage(entry))}")


def _act(session: Session, entry: Adding) -> None:
    """Draw what can be done: stop a file on its way, or put away what is said of one."""
    over = entry.state in OVER
    label, icon, act = (_("OK"), None, _dismiss) if over else (_("Stop"), STOP, _stop)
    st.button(
        label,
        key=f"adding-{entry.id}",
        icon=icon,
        type="tertiary",
        help=_("Clear this message") if over else None,
        on_click=act,
        args=(session, [entry.id]),
    )


def _password(session: Session, entry: Adding, place: DeltaGenerator) -> None:
    """Ask for a file's password where it was refused; Enter tries it."""
    key = f"password-{entry.id}"
    place.text_input(
        _("Password of {file}").format(file=plain(entry.name)),
        type="password",
        key=key,
        placeholder=_("Its password, then Enter"),
        label_visibility="collapsed",
        on_change=_unlock,
        args=(session, entry.id, key),
    )


def _unlock(session: Session, entry: UUID, key: str) -> None:
    session.bench.add_queue.unlock(session.user, entry, st.session_state[key])


def _done(entry: Adding) -> str:
    if entry.duplicate:
        return " :gray[" + _("was there already") + "]"
    pages = ngettext("{count} page", "{count} pages", entry.pages).format(count=entry.pages)
    same = "; ".join(entry.versions)
    version = _("another version of {titles}; both are kept").format(titles=plain(same))
    return f" :gray[{pages}" + (f" · {version}]" if same else "]")


def _stop(session: Session, entries: list[UUID]) -> None:
    for entry in entries:
        session.bench.add_queue.stop(session.user, entry)


def _dismiss(session: Session, entries: list[UUID]) -> None:
    for entry in entries:
        session.bench.add_queue.dismiss(session.user, entry)


def _share(entry: Adding) -> float:
    """Return how much of the work is done: stages count alike, and each by its own progress."""
    if entry.progress is None:
        return 0.0
    at = entry.progress
    within = at.done / at.total if at.total else 0.0
    return min(1.0, (STAGES.index(at.stage) + within) / len(STAGES))


def _stage(entry: Adding) -> str:
    if entry.progress is None:
        return _("waiting")
    at = entry.progress
    counted = f" {at.done}/{at.total}" if at.total > 1 else ""
    return _stage_words()[at.stage] + counted


def _stage_words() -> dict[Stage, str]:
    return {
        "fetching": _("fetching the file"),
        "reading": _("reading the pages"),
        "recognising": _("recognising scanned text"),
        "sections": _("finding its sections"),
        "chunks": _("dividing it into passages"),
        "vectors": _("making it searchable"),
        "saving": _("storing it"),
    }


def names(rows: list[PaperRow]) -> dict[UUID, str]:
    """Return what each paper is called."""
    return {row.paper_id: title_of(row) for row in rows}


def table(rows: list[PaperRow]) -> list[dict[str, Any]]:
    """Return the library as rows of a table."""
    return [
        {
            "title": title_of(row),
            "authors": ", ".join(row.meta.authors),
            "year": str(row.meta.year or ""),
            "pages": row.pages,
            "added": row.added_at[:10],
        }
        for row in rows
    ]
