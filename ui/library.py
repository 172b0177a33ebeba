"""Adding papers and choosing among them."""

import json
from pathlib import Path
from uuid import UUID

import streamlit as st

from core.ingest.pipeline import STAGES
from core.ingest.queue import OVER, Adding
from core.types import PaperRow
from core.workbench import Workbench
from ui.safe import plain

CLOSE, DELETE, STOP = ":material/close:", ":material/delete:", ":material/stop_circle:"
POLL_SECONDS = 0.5
SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"


def add_papers(bench: Workbench, user: UUID) -> None:
    """Draw the upload box; what is put in it is read in the background, whatever one does here."""
    with st.form("upload", clear_on_submit=True, border=False):
        files = st.file_uploader("Add papers (PDF)", type="pdf", accept_multiple_files=True)
        password = st.text_input("Password, if the file has one", type="password")
        sent = st.form_submit_button("Add", type="primary")
    if sent and not files:
        st.warning("Choose a PDF first, then press Add.")
    if sent:
        for file in files:
            bench.add_queue.submit(user, file.name, file.getvalue(), password)
    _show_queue(bench, user)


def sample_button(bench: Workbench, user: UUID) -> None:
    """Offer the sample papers that come with Lectern."""
    samples = sorted(SAMPLES.glob("*.pdf"))
    if samples and st.button("Try with the sample papers"):
        for path in samples:
            bench.add_queue.submit(user, path.name, path.read_bytes())
        st.rerun()


def _show_queue(bench: Workbench, user: UUID) -> None:
    """Draw the files on their way, afresh while any moves; a new paper redraws the whole page."""
    for entry in bench.add_queue.entries(user):
        if entry.state == "done":  # it is in the list below: a word is enough
            what = "was there already" if entry.duplicate else f"added, {entry.pages} pages"
            st.toast(plain(f"{entry.title or entry.name}: {what}"), icon=":material/check:")
            bench.add_queue.dismiss(user, entry.id)
    entries = bench.add_queue.entries(user)
    if not entries:
        return
    moving = any(entry.state not in OVER for entry in entries)

    @st.fragment(run_every=POLL_SECONDS if moving else None)
    def draw() -> None:
        now = bench.add_queue.entries(user)
        for entry in now:
            _show_entry(bench, user, entry)
        done = any(entry.state == "done" for entry in now)
        if done or moving != any(entry.state not in OVER for entry in now):
            bench.backfill.wake()
            st.rerun()

    draw()


def _show_entry(bench: Workbench, user: UUID, entry: Adding) -> None:
    left, right = st.columns([6, 1], vertical_alignment="center")
    if entry.state == "failed":
        left.error(plain(f"{entry.name}: {entry.message} {entry.hint}"), icon=":material/error:")
    elif entry.state == "stopped":
        left.warning(plain(f"{entry.name}: stopped, nothing of it was stored."))
    else:
        left.progress(_share(entry), text=plain(_stage(entry)))
    over = entry.state in OVER
    label, icon = ("Dismiss", CLOSE) if over else ("Stop adding", STOP)
    if right.button("", key=f"adding-{entry.id}", icon=icon, help=plain(f"{label} {entry.name}")):
        act = bench.add_queue.dismiss if over else bench.add_queue.stop
        act(user, entry.id)
        st.rerun()


def _share(entry: Adding) -> float:
    """Return how much of the work is done: stages count alike, and each by its own progress."""
    if entry.progress is None:
        return 0.0
    at = entry.progress
    within = at.done / at.total if at.total else 0.0
    return min(1.0, (STAGES.index(at.stage) + within) / len(STAGES))


def _stage(entry: Adding) -> str:
    if entry.progress is None:
        return f"{entry.name}: waiting"
    at = entry.progress
    counted = f" {at.done}/{at.total}" if at.total > 1 else ""
    return f"{entry.name}: {at.stage}{counted}"


def suggestions(rows: list[PaperRow]) -> list[str]:
    """Return questions to begin with, when the sample papers are in the library."""
    titles = {row.meta.title for row in rows}
    papers = json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))["papers"]
    return [
        paper["questions"][0][paper["language"]] for paper in papers if paper["title"] in titles
    ]


def choose_papers(bench: Workbench, user: UUID, rows: list[PaperRow]) -> tuple[UUID, ...] | None:
    """Draw the scope picker and return the chosen papers; None means the whole library."""
    names = {row.paper_id: row.meta.title or row.filename or "Untitled" for row in rows}
    chosen = st.multiselect(
        "Ask about", list(names), format_func=names.__getitem__, placeholder="All papers"
    )
    return tuple(chosen) or None


def paper_list(bench: Workbench, user: UUID, rows: list[PaperRow]) -> None:
    """Draw the papers with a way to remove each, and to undo the last removal."""
    removed = st.session_state.get("removed_paper")
    if removed and st.button(f"Undo removing {plain(removed[1])}", icon=":material/undo:"):
        bench.papers.restore(user, removed[0])
        st.session_state.removed_paper = None
        st.rerun()
    for row in rows:
        title = row.meta.title or row.filename or "Untitled"
        left, right = st.columns([6, 1], vertical_alignment="center")
        year = f", {row.meta.year}" if row.meta.year else ""
        left.markdown(f"{plain(title)}  \n:gray[{row.pages} pages{year}]")
        label = f"Remove {title}"
        if right.button("", key=f"remove-{row.paper_id}", help=plain(label), icon=DELETE):
            bench.papers.remove(user, row.paper_id)
            st.session_state.removed_paper = (row.paper_id, title)
            st.rerun()
