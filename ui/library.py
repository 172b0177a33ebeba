"""Adding papers and choosing among them."""

import json
from pathlib import Path
from uuid import UUID

import streamlit as st

from core.errors import LecternError, UnreadableFile
from core.ingest.pipeline import Progress
from core.types import PaperRow
from core.workbench import Workbench
from ui.safe import plain

DELETE = ":material/delete:"
SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"


def add_papers(bench: Workbench, user: UUID) -> None:
    """Draw the upload box; read what is put in it, one file after the other."""
    with st.form("upload", clear_on_submit=True, border=False):
        files = st.file_uploader("Add papers (PDF)", type="pdf", accept_multiple_files=True)
        password = st.text_input("Password, if the file has one", type="password")
        sent = st.form_submit_button("Add", type="primary")
    if sent and not files:
        st.warning("Choose a PDF first, then press Add.")
    if sent:
        _add(bench, user, [(file.name, file.getvalue()) for file in files], password)


def sample_button(bench: Workbench, user: UUID) -> None:
    """Offer the sample papers that come with Lectern."""
    samples = sorted(SAMPLES.glob("*.pdf"))
    if samples and st.button("Try with the sample papers"):
        _add(bench, user, [(path.name, path.read_bytes()) for path in samples], "")
        st.rerun()


def suggestions(rows: list[PaperRow]) -> list[str]:
    """Return questions to begin with, when the sample papers are in the library."""
    titles = {row.meta.title for row in rows}
    papers = json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))["papers"]
    return [
        paper["questions"][0][paper["language"]] for paper in papers if paper["title"] in titles
    ]


def _add(bench: Workbench, user: UUID, files: list[tuple[str, bytes]], password: str) -> None:
    for name, data in files:
        with st.status(plain(f"Reading {name}")) as status:
            try:
                done = bench.ingestor.ingest(
                    user,
                    name,
                    data,
                    password=password,
                    on_progress=lambda at: status.update(label=plain(_progress(name, at))),  # noqa: B023
                )
            except LecternError as error:
                status.update(label=plain(f"{name} was not added"), state="error", expanded=True)
                st.error(plain(f"{error.message} {error.hint}"))
                if isinstance(error, UnreadableFile) and error.code.startswith("PASSWORD"):
                    st.caption("Choose the file again and fill in its password.")
                continue
            what = "was already there" if done.duplicate else f"{done.pages} pages"
            status.update(label=plain(f"{done.meta.title or name}: {what}"), state="complete")
    bench.backfill.wake()


def _progress(name: str, at: Progress) -> str:
    return f"{name}: {at.stage} {at.done}/{at.total}" if at.total > 1 else f"{name}: {at.stage}"


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
